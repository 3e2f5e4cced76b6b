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
	list := func(names []string) string {
		if len(names) == 0 {
			return "—"
		}
		return "`" + strings.Join(names, "` `") + "`"
	}
	var b strings.Builder
	b.WriteString("| adapter | targets | levels | calibration | warm-up | parameters | labels its cases | workload parameters |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, h := range set {
		c := h.Capabilities()
		levels := list(c.Levels)
		if c.Bare {
			levels += ", bare"
		}
		yes := map[bool]string{true: "yes", false: "no"}
		b.WriteString("| " + strings.Join([]string{
			"`" + c.Adapter + "`", list(c.Targets), levels, list(c.Calibration), list(c.Warmup), list(c.Parameters), yes[c.ManySuites], yes[c.WorkloadParameters],
		}, " | ") + " |\n")
	}
	b.WriteString("\n| adapter | quantities |\n| --- | --- |\n")
	for _, h := range set {
		c := h.Capabilities()
		b.WriteString("| `" + c.Adapter + "` | " + list(c.Quantities) + " |\n")
	}
	return b.String()
}
