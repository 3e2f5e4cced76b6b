package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
)

// declared returns every constant of type Code in the source.
func declared(t *testing.T) map[string]fault.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]fault.Code{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		out[spec.Names[0].Name] = fault.Code(text)
		return true
	})
	return out
}

func TestTableHasEveryCodeOnce(t *testing.T) {
	t.Parallel()
	codes := declared(t)
	if len(codes) < 40 {
		t.Fatalf("only %d constants found in the source", len(codes))
	}
	rows := fault.Codes()
	owner := map[fault.Code]string{}
	for name, c := range codes {
		if other, taken := owner[c]; taken {
			t.Errorf("%s and %s are both %q", name, other, c)
		}
		owner[c] = name
		if _, ok := rows[c]; !ok || !c.Known() {
			t.Errorf("%s is not in the table", name)
		}
	}
	for c := range rows {
		if owner[c] == "" {
			t.Errorf("%q is in the table and has no constant", c)
		}
	}
}

func TestRowsAreSane(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	exits := map[int]bool{
		fault.ExitFinding: true, fault.ExitRefused: true, fault.ExitInternal: true, fault.ExitConflict: true, fault.ExitForbidden: true, fault.ExitNotFound: true,
		fault.ExitUnavailable: true, fault.ExitBlocked: true, fault.ExitHeld: true, fault.ExitNothing: true, fault.ExitInterrupted: true,
	}
	summaries := map[string]fault.Code{}
	for c, r := range fault.Codes() {
		if !form.MatchString(string(c)) {
			t.Errorf("%q is not lower snake case", c)
		}
		if r.HTTP < 400 || r.HTTP > 599 {
			t.Errorf("%s: HTTP %d is no error", c, r.HTTP)
		}
		if !exits[r.Exit] {
			t.Errorf("%s: exit status %d is not one of ours", c, r.Exit)
		}
		if r.Summary == "" || strings.HasSuffix(r.Summary, ".") || r.Summary[0] < 'a' || r.Summary[0] > 'z' {
			if r.Summary != "not strict JSON" {
				t.Errorf("%s: summary %q", c, r.Summary)
			}
		}
		if other, taken := summaries[r.Summary]; taken {
			t.Errorf("%s and %s have the same summary", c, other)
		}
		summaries[r.Summary] = c
		if r.HTTP == 500 && r.Retry {
			t.Errorf("%s: a defect of ours does not go away by trying again", c)
		}
		if r.Exit == fault.ExitInternal && r.HTTP != 500 || r.Exit != fault.ExitInternal && r.HTTP == 500 {
			t.Errorf("%s: HTTP %d and exit status %d disagree about whose fault it is", c, r.HTTP, r.Exit)
		}
	}
}

func TestUnknownCodeIsInternal(t *testing.T) {
	t.Parallel()
	c := fault.Code("never_heard_of")
	if c.Known() || c.Of() != fault.Internal.Of() {
		t.Errorf("%+v", c.Of())
	}
	rows := fault.Codes()
	delete(rows, fault.Internal)
	if !fault.Internal.Known() {
		t.Error("the table can be changed from outside")
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"parse order: text ends (at byte 0)":         fault.New(fault.Malformed, "parse order", "text ends").AtByte(0),
		"parse order: /a/0: 5 is too small":          fault.New(fault.Invalid, "parse order", "%d is too small", 5).At("/a/0"),
		"open store: not available: file is missing": fault.Wrap(errors.New("file is missing"), fault.Unavailable, "open store", "not available"),
		"just this":                   fault.New(fault.Internal, "", "just this"),
		"x: /p: y (at byte 7): cause": fault.Wrap(errors.New("cause"), fault.Invalid, "x", "y").At("/p").AtByte(7).Help("do %s", "z").With("k", "v"),
	} {
		if got := err.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestErrorCarriesFacts(t *testing.T) {
	t.Parallel()
	e := fault.New(fault.Held, "lease", "held").At("/x").Help("wait until %d", 10).With("holder", "r-17").With("seq", "4")
	if e.Hint != "wait until 10" || e.Pointer != "/x" || e.Get("holder") != "r-17" || e.Get("seq") != "4" || e.Get("none") != "" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff([]fault.Attr{{Name: "holder", Value: "r-17"}, {Name: "seq", Value: "4"}}, e.Data); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, ok := e.ByteOffset(); ok {
		t.Error("an offset that nobody set")
	}
	if at, ok := e.AtByte(0).ByteOffset(); !ok || at != 0 {
		t.Errorf("offset %d, %v", at, ok)
	}
}

func TestChains(t *testing.T) {
	t.Parallel()
	inner := fault.New(fault.NotFound, "read event", "no event evt_1")
	outer := fmt.Errorf("settle run: %w", fault.Wrap(inner, fault.Conflict, "settle", "run moved"))
	if got := fault.CodeOf(outer); got != fault.Conflict {
		t.Errorf("code of the outermost: %s", got)
	}
	if e, ok := fault.As(outer); !ok || e.Op != "settle" {
		t.Errorf("As: %v", e)
	}
	if !errors.Is(outer, fault.New(fault.NotFound, "", "")) || !errors.Is(outer, fault.New(fault.Conflict, "", "")) {
		t.Error("a code in the chain is not found")
	}
	if errors.Is(outer, fault.New(fault.Gone, "", "")) || errors.Is(outer, fault.New(fault.NotFound, "", "no event evt_2")) || errors.Is(outer, fs.ErrNotExist) {
		t.Error("something is found that is not in the chain")
	}
	if !errors.Is(fault.Wrap(fs.ErrNotExist, fault.NotFound, "x", "y"), fs.ErrNotExist) {
		t.Error("the private cause is lost")
	}
	if fault.CodeOf(nil) != "" || fault.CodeOf(errors.New("x")) != fault.Internal {
		t.Error("codes of nil and of foreign errors")
	}
	if fault.Exit(nil) != fault.ExitOK || fault.Exit(outer) != fault.ExitConflict || fault.Exit(errors.New("x")) != fault.ExitInternal {
		t.Error("exit statuses")
	}
	if _, ok := fault.As(nil); ok {
		t.Error("a fault in nil")
	}
}
