package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the import path of the repository.
const module = "writ"

// moduleRoot is the folder of go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// file is one Go file of the module.
type file struct {
	name      string // slash-separated, from the module root
	lines     int
	test      bool
	generated bool
	ast       *ast.File
}

// imports are the paths that the file imports.
func (f *file) imports() []string {
	var out []string
	for _, i := range f.ast.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// pkg is one folder with Go files. A test package outside of it, named …_test,
// counts as part of it.
type pkg struct {
	path  string // from the module root: "internal/canon"
	files []*file
}

// hasTests reports whether any test, fuzz target or example is in the package.
func (p *pkg) hasTests() bool {
	for _, f := range p.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil && isTest(fn.Name.Name) {
				return true
			}
		}
	}
	return false
}

func isTest(name string) bool {
	for _, prefix := range []string{"Test", "Fuzz", "Example", "Benchmark"} {
		if strings.HasPrefix(name, prefix) && name != "TestMain" {
			return true
		}
	}
	return false
}

var (
	fset     = token.NewFileSet()
	readOnce sync.Once
	read     map[string]*pkg
	readErr  error
)

// packages parses the module once: every Go file but those in hidden folders,
// testdata and modules of their own.
func packages(t testing.TB) map[string]*pkg {
	t.Helper()
	root := moduleRoot(t)
	readOnce.Do(func() { read, readErr = parse(root) })
	if readErr != nil {
		t.Fatal(readErr)
	}
	if len(read) < 10 {
		t.Fatalf("only %d packages found under %s", len(read), root)
	}
	return read
}

func parse(root string) (map[string]*pkg, error) {
	all := map[string]*pkg{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" {
				return fs.SkipDir
			}
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		f, err := parseFile(root, name)
		if err != nil {
			return err
		}
		dir := path.Dir(f.name)
		if all[dir] == nil {
			all[dir] = &pkg{path: dir}
		}
		all[dir].files = append(all[dir].files, f)
		return nil
	})
	return all, err
}

func parseFile(root, name string) (*file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	return &file{
		name: filepath.ToSlash(rel), lines: strings.Count(string(text), "\n"),
		test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(tree), ast: tree,
	}, nil
}

// where is the place of a node, for a failure.
func where(f *file, n ast.Node) string {
	return f.name + ":" + strconv.Itoa(fset.Position(n.Pos()).Line)
}
