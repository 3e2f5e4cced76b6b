package verdict

import (
	"strings"
	"testing"
)

// TestTableShowsEarlierValues: a column of its own, and none where nothing is known.
func TestTableShowsEarlierValues(t *testing.T) {
	t.Parallel()
	one := 1.0
	r := Report{RunKey: "k", Rows: []ReportRow{
		{Case: "A", Quantity: "wall-time", Text: "slower", Measure: Ratio, Effect: &one},
		{Case: "B", Quantity: "wall-time", Text: "faster", Measure: Ratio, Effect: &one},
	}}
	if head, _, _ := strings.Cut(r.Table(), "\n"); strings.Contains(head, "history") {
		t.Errorf("a column without values: %s", head)
	}
	r.Rows[1].History = "▁█"
	lines := strings.Split(r.Table(), "\n")
	if !strings.HasSuffix(lines[0], "history") || !strings.HasSuffix(lines[2], "▁█") || strings.Contains(lines[1], "▁") {
		t.Errorf("%s", r.Table())
	}
}
