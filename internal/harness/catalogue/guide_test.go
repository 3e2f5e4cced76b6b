package catalogue

import (
	"os"
	"strings"
	"testing"

	"writ/internal/harness"
)

// TestTheGuideShowsTheMatrix: the page about adapters says what orders may ask for,
// and so does the program.
func TestTheGuideShowsTheMatrix(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := matrix(All()); !strings.Contains(string(page), want) {
		t.Errorf("docs/adapters.md does not hold this table:\n%s", want)
	}
}

// matrix is the table of what adapters take.
func matrix(set harness.Set) string {
	rows := [][]string{{"takes"}, {"---"}, {"targets"}, {"quantities"}, {"levels"}, {"calibration"}, {"warm-up"}, {"parameters"}, {"several suites"}}
	list := func(names []string) string { return "`" + strings.Join(names, "` `") + "`" }
	for _, h := range set {
		c := h.Capabilities()
		levels := list(c.Levels)
		if c.Bare {
			levels += ", bare"
		}
		several := "no"
		if c.ManySuites {
			several = "yes"
		}
		for i, cell := range []string{
			"`" + c.Adapter + "`", "---", list(c.Targets), list(c.Quantities), levels, list(c.Calibration), list(c.Warmup), list(c.Parameters), several,
		} {
			rows[i] = append(rows[i], cell)
		}
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	return b.String()
}
