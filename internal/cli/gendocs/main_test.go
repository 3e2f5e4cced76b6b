package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPagesFollowFromTheProgram: what docs say of the program is what the
// program says.
func TestPagesFollowFromTheProgram(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			old, err := os.ReadFile(filepath.Join(root, "docs", filepath.FromSlash(p.page)))
			if err != nil {
				t.Fatal(err)
			}
			page, err := p.put(root, old)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(page), string(old)); diff != "" {
				t.Errorf("docs/%s has drifted: run go generate ./internal/cli\n%s", p.page, diff)
			}
		})
	}
}

func TestPut(t *testing.T) {
	t.Parallel()
	p := part{"x.md", "a", func(string) (string, error) { return "new", nil }}
	const begin, end = "<!-- begin a: made by go generate -->\n", "<!-- end a -->\n"
	got, err := p.put("", []byte("top\n"+begin+"old\n"+end+"bottom\n"))
	if want := "top\n" + begin + "\nnew\n" + end + "bottom\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, page := range []string{"", begin, end + begin, "<!-- begin b: made by go generate -->\n<!-- end b -->\n"} {
		if _, err := p.put("", []byte(page)); err == nil {
			t.Errorf("%q: a page without the part is taken", page)
		}
	}
}
