package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const dependencies = "docs/adr/0011-dependencies.md"

// modulePath is a module or package path in the first cell of a table's row.
var modulePath = regexp.MustCompile("`([a-z0-9.-]+\\.[a-z]+/[^`]+)`")

// TestDependenciesAreRecorded: a module is linked only when somebody has written
// down what it is for and how to do without it.
func TestDependenciesAreRecorded(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), dependencies))
	if err != nil {
		t.Fatal(err)
	}
	var recorded []string
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range modulePath.FindAllStringSubmatch(cells[1], -1) {
				recorded = append(recorded, m[1])
			}
		}
	}
	if len(recorded) < 10 {
		t.Fatalf("only %v found in %s", recorded, dependencies)
	}
	used := map[string]bool{}
	for _, p := range packages(t) {
		for _, f := range p.files {
			for _, i := range f.imports() {
				if first, _, _ := strings.Cut(i, "/"); !strings.Contains(first, ".") {
					continue // the standard library, or ours
				}
				at := slices.IndexFunc(recorded, func(m string) bool { return within(m+"/...", i) })
				if at < 0 {
					t.Errorf("%s imports %s, which has no line in %s", f.name, i, dependencies)
					continue
				}
				used[recorded[at]] = true
			}
		}
	}
	for _, m := range recorded {
		if !used[m] {
			t.Errorf("%s has a line for %s, which nothing imports", dependencies, m)
		}
	}
}
