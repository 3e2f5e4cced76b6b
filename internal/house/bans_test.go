package house

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// ban keeps an import out of some floors.
type ban struct {
	path   string // "/..." at the end takes in what is below
	lowest int
	top    int // last floor of the ban
	except []string
	reason string
}

var bans = []ban{
	{"database/sql/...", 1, 3, nil, "rules take facts and return decisions; a store fetches and writes"},
	{"modernc.org/...", 1, 6, []string{"internal/store/..."}, "the database stays behind the ledger, or every package would grow its own queries"},
	{"github.com/pressly/goose/...", 1, 6, []string{"internal/store/..."}, "migrations belong to the store"},
	{"net/...", 1, 3, []string{"internal/schema", "internal/journal", "internal/order", "internal/result"}, "rules reach nobody; URLs as text are the only exception"},
	{"net/http/...", 1, 4, nil, "only the ways in speak HTTP"},
	{"os/exec", 1, 3, nil, "rules start nothing"},
	{"os/exec", 4, 6, []string{"internal/gitcmd", "internal/runner/...", "internal/harness/...", "internal/host", "cmd/writ", "internal/cli", "internal/demo"}, "processes go through runner/proc or gitcmd, which kill what they start; only short questions to tools may not"},
	{"os", 1, 3, nil, "rules touch no disk and read no environment"},
	{"syscall", 1, 3, nil, "rules know no machine"},
	{"golang.org/x/sys/...", 1, 3, nil, "rules know no machine"},
	{"log/...", 1, 4, nil, "errors are returned and logged once, at the edge"},
	{"math/rand", 1, 6, nil, "seeds must be recorded: math/rand/v2 with an explicit source, or crypto/rand"},
	{"github.com/spf13/cobra", 1, 5, nil, "flags are read on the top floor only"},
	{"github.com/danielgtaylor/huma/...", 1, 6, []string{"internal/server"}, "the HTTP framework stays in one room, so it can be changed"},
	{"github.com/santhosh-tekuri/jsonschema/...", 1, 6, []string{"internal/schema"}, "one validator, one way to explain a failure"},
	{"github.com/oklog/ulid/...", 1, 6, []string{"internal/ident"}, "ids are made in one place"},
	{"encoding/json", 3, 3, []string{"internal/lane"}, "it keeps the last of two equal keys and repairs text; rules read with canon, and only cells of our own making are plain"},
	{"testing", 1, 6, []string{"internal/testkit", "internal/store/storetest", "internal/harness/harnesstest"}, "the program must not carry its tests"},
}

// TestBannedImports looks at the program, not at its tests.
func TestBannedImports(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		r, ok := roomOf(p.path)
		if !ok {
			continue // reported by TestArrowsPointDown
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, i := range f.imports() {
				for _, b := range bans {
					if b.hits(p.path, r.floor, i) {
						t.Errorf("%s imports %s: %s", f.name, i, b.reason)
					}
				}
			}
		}
	}
}

func (b ban) hits(path string, floor int, imported string) bool {
	return within(b.path, imported) && b.lowest <= floor && floor <= b.top &&
		!slices.ContainsFunc(b.except, func(e string) bool { return within(e, path) })
}

// clocks are the names of package time that know what time it is.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// TestRulesReadNoClock: a decision that depends on when it is asked cannot be
// replayed or verified. Callers pass now. ident is the one exception below
// floor 4: ids carry a time that nobody orders by.
func TestRulesReadNoClock(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		r, ok := roomOf(p.path)
		if !ok || r.floor < 1 || r.floor > 3 || p.path == "internal/ident" {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			each(f, "time", func(name string, n ast.Node) {
				if slices.Contains(clocks, name) {
					t.Errorf("%s uses time.%s: floor %d takes now as a parameter", where(f, n), name, r.floor)
				}
			})
		}
	}
}

// TestOnlyForgesSeal: a readback is believed because nobody but a reader of the
// remote can make one. The type cannot say that; this does.
func TestOnlyForgesSeal(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if within("internal/forge/...", p.path) || p.path == "internal/landing" {
			continue
		}
		for _, f := range p.files {
			each(f, module+"/internal/landing", func(name string, n ast.Node) {
				if strings.HasPrefix(name, "Seal") && !f.test {
					t.Errorf("%s calls landing.%s: only internal/forge may, it alone reads the remote", where(f, n), name)
				}
			})
		}
	}
}

// inits are the packages that need an init function.
var inits = map[string]string{
	"internal/runner/proc":            "a keeper is this program, started again: it must take over before anything else runs",
	"internal/harness/command/repeat": "what repeats a command is this program, started again, too",
	"internal/landing":                "the table of operations names functions that look into the table",
}

// TestOnlyMainExits: an exit in a library skips every deferred close, and an
// init function runs in every program that links the package.
func TestOnlyMainExits(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, f := range p.files {
			if f.test || f.ast.Name.Name == "main" {
				continue
			}
			each(f, "os", func(name string, n ast.Node) {
				if name == "Exit" {
					t.Errorf("%s calls os.Exit: return an error, main alone exits", where(f, n))
				}
			})
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && inits[p.path] == "" {
					t.Errorf("%s has an init function: it runs in every program that links the package, wanted or not", where(f, fn))
				}
			}
		}
	}
}

// each calls see for every name of an imported package that the file uses.
func each(f *file, path string, see func(name string, n ast.Node)) {
	local := ""
	for _, i := range f.ast.Imports {
		if strings.Trim(i.Path.Value, `"`) != path {
			continue
		}
		local = path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			local = i.Name.Name
		}
	}
	if local == "" {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local {
				see(s.Sel.Name, s)
			}
		}
		return true
	})
}
