package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"writ/internal/bisect"
	"writ/internal/fault"
	"writ/internal/verdict"
)

func TestChoosingTheCase(t *testing.T) {
	t.Parallel()
	row := func(name, quantity string, word verdict.Word, effect, base float64, measure string) verdict.Row {
		return verdict.Row{Workload: name, Quantity: quantity, Verdict: word, Effect: &effect, Baseline: &base, Measure: measure}
	}
	rows := []verdict.Row{
		row("A", "wall-time", verdict.Slower, 1.2, 1, verdict.Ratio),
		row("B", "wall-time", verdict.Slower, 3, 1, verdict.Ratio),
		row("C", "wall-time", verdict.Inconclusive, 9, 1, verdict.Ratio),
		row("D", "throughput", verdict.Slower, .25, 1, verdict.Ratio),
		row("E", "allocations", verdict.Slower, 100, 50, verdict.Difference),
	}
	for name, c := range map[string]struct {
		rows       []verdict.Row
		workload   string
		quantities []string
		want       string // "" when there is none
	}{
		"the largest":                  {rows, "", []string{"wall-time"}, "D"},
		"of times":                     {rows[:3], "", []string{"wall-time"}, "B"},
		"of two sorts":                 {[]verdict.Row{rows[0], rows[4]}, "", []string{"wall-time"}, "E"},
		"named":                        {rows, "A", []string{"wall-time"}, "A"},
		"named, and not slower":        {rows, "C", []string{"wall-time"}, "C"},
		"named, of several quantities": {rows, "C", []string{"wall-time", "cpu-time"}, ""},
		"none is slower":               {rows[2:3], "", []string{"wall-time"}, ""},
	} {
		a, _, _ := newApp(t, "")
		h := hunt{app: a}
		h.o.workload, h.o.quantities = c.workload, c.quantities
		got, err := h.choose(verdict.Document{Rows: c.rows})
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case (got == nil) != (c.want == ""), got != nil && got.Workload != c.want:
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
	h := hunt{}
	h.o.workload = "Z"
	if _, err := h.choose(verdict.Document{Rows: rows}); fault.CodeOf(err) != fault.Nothing {
		t.Errorf("a case that is not there: %v", err)
	}
}

// The first trial decides whether there is a search at all; later ones may fail.
func TestTheBadCommitHasToBeMeasured(t *testing.T) {
	t.Parallel()
	refusal := fault.New(fault.Target, "build revision", "it does not build\nline two")
	h := hunt{}
	if _, err := h.first(bisect.Trial{Mark: bisect.Broken}, refusal); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	h.search.Trials = []bisect.Trial{{Commit: "c", Mark: bisect.Bad}}
	if got, err := h.first(bisect.Trial{Mark: bisect.Broken}, refusal); err != nil || got.Mark != bisect.Broken {
		t.Errorf("%+v %v", got, err)
	}
	if got := firstLine(refusal); got != "it does not build" {
		t.Errorf("first line %q", got)
	}
}

func TestReplacingAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, text := range []string{"one", "two, and longer", ""} {
		if err := replaceFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q %v, want %q", got, err, text)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(filepath.Join(dir, "taken"), []byte("x")); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("over a folder: %v", err)
	}
	if err := replaceFile(filepath.Join(dir, "nosuch", "a.json"), nil); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("into no folder: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left: %v %v", left, err)
	}
}
