package house

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func goMod(t testing.TB, name string) *modfile.File {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.ParseLax(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func version(f *modfile.File, path string) string {
	for _, r := range f.Require {
		if r.Mod.Path == path {
			return r.Mod.Version
		}
	}
	return ""
}

// TestLibcIsTheOneOfSQLite: the database is machine-translated C that fits
// exactly one version of its C library. Another module may ask for a newer one,
// the go command then takes that, and everything still compiles.
func TestLibcIsTheOneOfSQLite(t *testing.T) {
	t.Parallel()
	const sqlite, libc = "modernc.org/sqlite", "modernc.org/libc"
	root := moduleRoot(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-json", sqlite)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var m struct{ Version, GoMod string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	ours, theirs := version(goMod(t, filepath.Join(root, "go.mod")), libc), version(goMod(t, m.GoMod), libc)
	if ours == "" || ours != theirs {
		t.Errorf("go.mod has %s %s, %s %s wants %s: pin that one", libc, ours, sqlite, m.Version, theirs)
	}
}

// TestModuleIsPlain: what builds here builds anywhere.
func TestModuleIsPlain(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Module.Mod.Path != module {
		t.Errorf("the module is called %s", f.Module.Mod.Path)
	}
	if len(f.Replace) > 0 || len(f.Exclude) > 0 {
		t.Error("go.mod replaces or excludes modules: nobody else could build the same")
	}
}

// TestImportsAreRequired: a module that the program imports is a direct one of
// go.mod, where a reader looks for it.
func TestImportsAreRequired(t *testing.T) {
	t.Parallel()
	f := goMod(t, filepath.Join(moduleRoot(t), "go.mod"))
	var required []string
	for _, r := range f.Require {
		required = append(required, r.Mod.Path)
	}
	for _, p := range packages(t) {
		for _, file := range p.files {
			for _, i := range file.imports() {
				first, _, _ := strings.Cut(i, "/")
				if !strings.Contains(first, ".") || file.generated {
					continue // the standard library, or ours
				}
				if !slices.ContainsFunc(required, func(m string) bool { return i == m || strings.HasPrefix(i, m+"/") }) {
					t.Errorf("%s imports %s, and go.mod requires no module of that path", file.name, i)
				}
			}
		}
	}
}
