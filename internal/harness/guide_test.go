package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/testkit"
)

const guide = "../../docs/adapters.md"

// TestTheGuideQuotesTheExample: the page about adapters shows an adapter that
// compiles and passes the tests below.
func TestTheGuideQuotesTheExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(example), ")\n\n") // without the imports
	if !found {
		t.Fatal("the example has no imports")
	}
	_, quoted, found := strings.Cut(string(page), "```go\n// Tally adapts")
	if !found {
		t.Fatalf("%s shows no example", guide)
	}
	quoted, _, _ = strings.Cut("// Tally adapts"+quoted, "```\n")
	if diff := cmp.Diff(code, quoted); diff != "" {
		t.Errorf("%s shows another example than internal/harness/example_test.go (-file +page):\n%s", guide, diff)
	}
}

// program is a benchmark program as the example adapts them.
const program = `#!/bin/sh
[ "$1" = --list ] && { printf 'quick\nslow\nbroken\nshort\nodd\n'; exit; }
echo "noise of $1"
case $1 in
quick) printf '0.5\n0.25\n0.125\n' >"$5" ;;
slow) sleep 600 ;;
broken) echo cannot run >&2; exit 3 ;;
short) printf '0.5\n' >"$5" ;;
odd) printf '0.5\nNaN\n' >"$5" ;;
esac
`

func TestTheExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Program(t, filepath.Join(dir, "bench"), []byte(program))
	o := order.Order{
		Suites: []order.Suite{{Adapter: "tally", Suite: "bench"}}, Quantities: []string{"wall-time"},
		Precision: order.Precision{Repetitions: order.Times(3)}, Target: order.Target{Kind: order.BuildTree, Path: dir},
	}
	if err := order.Check(o, Tally{}.Capabilities()); err != nil {
		t.Fatal(err)
	}
	d := harnesstest.Drive(t, Tally{}, "PATH="+os.Getenv("PATH"))
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := d.Cases(s)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]harness.Measured{
		"quick":  {Status: result.Success, Values: []float64{0.5, 0.25, 0.125}, Unit: "s", OriginalUnit: "s"},
		"slow":   {Status: result.Failed, Reason: result.ReasonTimeout, Unit: "s"},
		"broken": {Status: result.Failed, Reason: result.ReasonHarnessError, Unit: "s"},
		"short":  {Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{0.5}, Unit: "s", OriginalUnit: "s"},
		"odd":    {Status: result.Failed, Reason: result.ReasonMapping, Unit: "s"},
	}
	got := map[string]harness.Measured{}
	timeout := d.Timeout
	for _, c := range cases {
		if d.Timeout = timeout; c.Name == "slow" {
			d.Timeout = timeout / 300
		}
		r, _ := d.Measure(s, c.Name, o.Precision, o.Quantities...)
		got[c.Name] = r.Quantities["wall-time"]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
