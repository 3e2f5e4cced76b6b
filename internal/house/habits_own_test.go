package house

import (
	"go/parser"
	"testing"
)

func TestSkipsAreFound(t *testing.T) {
	t.Parallel()
	const text = `package x
import ("testing"; "pgregory.net/rapid")
func TestA(t *testing.T) {
	t.Skip("one")
	rapid.Check(t, func(t *rapid.T) { t.Skip("a draw") })
	rapid.Check(t, func(rt *rapid.T) { t.Skipf("two"); rt.SkipNow() })
	t.Run("b", func(t *testing.T) { t.SkipNow() })
}
func need(tb testing.TB, b *testing.B) { tb.Skip(); b.Skip(); other.Skip() }
type s struct{}
func (s) Skip() { s{}.Skip() }
`
	tree, err := parser.ParseFile(fset, "x_test.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(skips(tree)); got != 5 {
		t.Errorf("%d plain skips, want 5", got)
	}
}

func TestUndocumentedNamesAreFound(t *testing.T) {
	t.Parallel()
	const text = `package x
type A int
// B is fine.
type B int
func C() {}
func (B) D() {}
func (b B) String() string { return "" }
type e int
func (e) F() {}
// Group.
const ( G = 1; H = 2 )
const ( I = 1 // one
 J = 2 )
var k, L = 1, 2
func (b *B) Close() error { return nil }
`
	tree, err := parser.ParseFile(fset, "x.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, d := range tree.Decls {
		for _, n := range undocumented(d) {
			got += n.Name
		}
	}
	if got != "ACDJ" {
		t.Errorf("found %s, want ACDJ", got)
	}
}
