package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"time"
)

// size is one limit: what it bounds, and the constant that holds it.
type size struct {
	what string
	pkg  string // folder, from the module root
	name string
	unit func(int64) string
}

var bounds = []size{
	{"an event that a client writes", "internal/journal", "MaxBytes", inBytes},
	{"nesting of such an event", "internal/journal", "MaxDepth", levels},
	{"goal of a request, prompt or action", "internal/journal", "MaxGoal", characters},
	{"body of a message", "internal/journal", "maxBody", characters},
	{"hops of a trail; the first and the last seven are kept", "internal/journal", "MaxHops", plain},
	{"idempotency key", "internal/store/sqlite", "maxKey", characters},
	{"body of any other request", "internal/server", "maxDocument", inBytes},
	{"blob sent over HTTP", "internal/server", "maxBlob", inBytes},
	{"any blob", "internal/blob", "MaxBytes", inBytes},
	{"one stored document or event", "internal/store/sqlite", "maxBody", inBytes},
	{"events, documents and cells of one commit", "internal/store/sqlite", "maxPerWrite", plain},
	{"commits that share one sync", "internal/store/sqlite", "batchCommits", plain},
	{"events of one page", "internal/store/sqlite", "maxLimit", plain},
	{"any JSON text, unless said otherwise", "internal/canon", "DefaultBytes", inBytes},
	{"nesting of any JSON text", "internal/canon", "DefaultDepth", levels},
	{"message that a proposal or review comes from", "internal/proposal", "MaxContent", characters},
	{"evidence that a reviewer is shown", "internal/proposal", "MaxEvidenceBytes", inBytes},
	{"candidate", "internal/taskpack", "MaxCandidate", inBytes},
	{"patch, as a document", "internal/taskpack", "MaxPatch", inBytes},
	{"files of one patch together", "internal/taskpack", "MaxPatchContent", inBytes},
	{"rounds of one comparison that a repository may ask for", "internal/host", "maxRounds", plain},
	{"rounds that a verdict takes in", "internal/verdict", "MaxRounds", plain},
	{"steps of a series that are searched for changes", "internal/verdict", "MaxSeries", plain},
	{"time that a person has to answer a question", "internal/host", "answerWindow", span},
	{"time for proposing and reviewing in one run", "internal/host", "roomLife", span},
	{"native command of a landing", "internal/host", "nativeLimit", span},
	{"output of a step that is kept as evidence, from its end", "internal/host", "keepOutput", inBytes},
	{"output file of a contained program", "internal/runner/proc", "DefaultOutputLimit", inBytes},
	{"lease that a landing policy may give, seconds", "internal/landing", "MaxLeaseSeconds", plain},
	{"qualified candidates that may wait to land", "internal/landing", "MaxQualifiedBacklog", plain},
	{"clock that may be behind a landing state", "internal/landing", "MaxSkew", span},
	{"blob that a docket carries", "internal/docket", "maxPart", inBytes},
	{"docket that is read", "internal/docket", "maxBundle", inBytes},
}

// sizes lists the limits with the numbers that the source holds.
func sizes(root string) (string, error) {
	var p page
	rows := [][]string{{"what", "at most"}}
	for _, s := range bounds {
		n, err := s.value(root)
		if err != nil {
			return "", fmt.Errorf("%s of %s: %w", s.name, s.pkg, err)
		}
		rows = append(rows, []string{s.what, s.unit(n)})
	}
	p.table(rows)
	return p.String(), nil
}

// value finds the constant in the package and evaluates it: an expression of
// numbers and units of time.
func (s size) value(root string) (int64, error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(s.pkg), "*.go"))
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			return 0, err
		}
		if e := constantOf(file, s.name); e != nil {
			return evaluate(fset, e)
		}
	}
	return 0, fmt.Errorf("there is no such constant")
}

func constantOf(file *ast.File, name string) ast.Expr {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, n := range v.Names {
				if n.Name == name && i < len(v.Values) {
					return v.Values[i]
				}
			}
		}
	}
	return nil
}

func evaluate(fset *token.FileSet, e ast.Expr) (int64, error) {
	var text strings.Builder
	if err := printer.Fprint(&text, fset, e); err != nil {
		return 0, err
	}
	spelled := text.String()
	for name, d := range map[string]time.Duration{"time.Hour": time.Hour, "time.Minute": time.Minute, "time.Second": time.Second, "time.Millisecond": time.Millisecond} {
		spelled = strings.ReplaceAll(spelled, name, fmt.Sprint(int64(d)))
	}
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, spelled)
	if err != nil {
		return 0, err
	}
	n, exact := constant.Int64Val(constant.ToInt(v.Value))
	if !exact {
		return 0, fmt.Errorf("%s is no whole number", spelled)
	}
	return n, nil
}

func plain(n int64) string      { return fmt.Sprint(n) }
func levels(n int64) string     { return fmt.Sprintf("%d levels", n) }
func characters(n int64) string { return fmt.Sprintf("%d characters", n) }

func inBytes(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

func span(n int64) string {
	switch d := time.Duration(n); {
	case d%(24*time.Hour) == 0:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	default:
		return d.String()
	}
}
