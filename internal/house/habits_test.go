package house

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestOnePackageComment: a package that cannot say in one place what it is for
// and what it never does is two packages, or none.
func TestOnePackageComment(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		var found []string
		program := false
		for _, f := range p.files {
			if f.test {
				continue
			}
			program = true
			doc := f.ast.Doc
			if doc == nil {
				continue
			}
			found = append(found, f.name)
			want := "Package " + f.ast.Name.Name + " "
			if f.ast.Name.Name == "main" {
				want = "Command " + path.Base(p.path) + " "
			}
			if !strings.HasPrefix(doc.Text(), want) {
				t.Errorf("%s: the package comment begins %q, not %q", f.name, firstLine(doc.Text()), want)
			}
		}
		if program && len(found) != 1 {
			t.Errorf("%s has %d package comments %v; exactly one file has it", p.path, len(found), found)
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxLines is how long a file may be: more than that is more than one idea.
const maxLines = 500

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, f := range p.files {
			if f.lines > maxLines && !f.generated {
				t.Errorf("%s has %d lines; split it by idea, %d is the limit", f.name, f.lines, maxLines)
			}
		}
	}
}

// vague names say where code was put, not what it is, and collect everything.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base", "lib"}

func TestNamesSaySomething(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if slices.Contains(vague, path.Base(p.path)) {
			t.Errorf("%s: name the package after what it holds", p.path)
		}
		for _, f := range p.files {
			stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.name), ".go"), "_test")
			if slices.Contains(vague, stem) {
				t.Errorf("%s: name the file after its idea", f.name)
			}
		}
	}
}

// TestSkipsHaveAReason: a plain skip hides for ever that nothing was tested.
// testkit.Skip says what is missing, and fails when everything must be tested.
func TestSkipsHaveAReason(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if p.path == "internal/testkit" {
			continue
		}
		for _, f := range p.files {
			for _, n := range skips(f.ast) {
				t.Errorf("%s skips plainly: call testkit.Skip with what is missing and how to get it", where(f, n))
			}
		}
	}
}

// skips finds calls of Skip, Skipf and SkipNow on a parameter of a type of
// package testing. Other types have such methods too: that of a property test
// only passes over one draw.
func skips(tree *ast.File) []ast.Node {
	var found []ast.Node
	var walk func(n ast.Node, tests map[string]bool)
	inside := func(fn *ast.FuncType, body *ast.BlockStmt, outer map[string]bool) {
		if body == nil {
			return
		}
		tests := map[string]bool{}
		for name := range outer {
			tests[name] = outer[name]
		}
		for _, param := range fn.Params.List {
			for _, name := range param.Names {
				tests[name.Name] = ofTesting(param.Type)
			}
		}
		walk(body, tests)
	}
	walk = func(n ast.Node, tests map[string]bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				inside(n.Type, n.Body, tests)
				return false
			case *ast.FuncLit:
				inside(n.Type, n.Body, tests)
				return false
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, s.Sel.Name) {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && tests[x.Name] {
					found = append(found, n)
				}
			}
			return true
		})
	}
	walk(tree, nil)
	return found
}

func ofTesting(typ ast.Expr) bool {
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	s, ok := typ.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "testing"
}

// TestGoroutinesAreCounted: every package with tests checks at their end that
// nothing still runs.
func TestGoroutinesAreCounted(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if !p.hasTests() {
			continue
		}
		checked := false
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && f.test && fn.Name.Name == "TestMain" && slices.Contains(f.imports(), "go.uber.org/goleak") {
					checked = true
				}
			}
		}
		if !checked {
			t.Errorf("%s has tests and no TestMain with goleak: a leaked goroutine would never be seen", p.path)
		}
	}
}

// TestExportedNamesAreDocumented holds package by package what golint once
// asked for: whoever may call it can read what it does.
func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, f := range p.files {
			if f.test || f.generated {
				continue
			}
			for _, d := range f.ast.Decls {
				for _, n := range undocumented(d) {
					t.Errorf("%s: %s is exported and has no comment", where(f, n), n.Name)
				}
			}
		}
	}
}

// undocumented returns the exported names of a declaration that no comment is
// about: not their own, not that of their group.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !known(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil || d.Tok == token.IMPORT {
			return nil
		}
		var out []*ast.Ident
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
					out = append(out, s.Name)
				}
			case *ast.ValueSpec:
				if s.Doc == nil && s.Comment == nil && s.Names[0].IsExported() {
					out = append(out, s.Names[0])
				}
			}
		}
		return out
	}
	return nil
}

// exportedReceiver reports whether a method is one that others can see.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// known reports whether a method is one of those that everybody knows from an
// interface of the standard library.
func known(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "String", "Unwrap", "Close", "Len", "Less", "Swap", "Read", "Write", "MarshalJSON", "UnmarshalJSON"}, d.Name.Name)
}
