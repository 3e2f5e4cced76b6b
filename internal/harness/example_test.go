package harness_test

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Tally adapts programs that know two command lines:
//
//	PROGRAM --list                        prints one case on each line
//	PROGRAM CASE --repeat N --out FILE    writes one time in seconds on each line
type Tally struct{}

// Capabilities is a promise: whatever is missing here is refused before anything
// runs. Tally has no calibration and no warm-up, so it takes no order that asks
// for one.
func (Tally) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter: "tally", Targets: []string{order.BuildTree}, Quantities: []string{"wall-time"},
		Levels: []string{order.PlainUnit}, Bare: true, Variables: true, CasePerProcess: true,
	}
}

func (Tally) Producer() result.Producer {
	return result.Producer{Name: "example/tally-adapter", Version: "0.1.0", MappingVersion: "tally-to-benchx/v1"}
}

func (Tally) Defaults() order.Precision { return order.Precision{Repetitions: order.Times(10)} }

func (Tally) Environment() []string { return nil }

// Locate looks at the file and starts nothing.
func (Tally) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	if !filepath.IsLocal(s.Suite) {
		return harness.Suite{}, fault.New(fault.OutsidePath, "locate suite", "%q leaves the target", s.Suite).At("/suites/0/suite")
	}
	program := filepath.Join(o.Target.Path, s.Suite)
	if info, err := os.Stat(program); err != nil || info.Mode()&0o111 == 0 {
		return harness.Suite{}, fault.Wrap(err, fault.Target, "locate suite", "no program: %s", program).At("/suites/0/suite")
	}
	return harness.Suite{Adapter: "tally", Program: program, Dir: o.Target.Path, SourceDir: o.Target.SourceDir}, nil
}

func (Tally) Listing(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{{Argv: []string{s.Program, "--list"}, Dir: s.Dir}}
}

// Cases: a listing that failed is no shorter listing.
func (Tally) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	if out := listed[0]; !out.Result.OK() {
		return nil, fault.New(fault.Harness, "list cases", "the program %s: %s", out.End(), out.LastWords())
	}
	var cases []order.Case
	for _, name := range strings.Fields(string(listed[0].Stdout)) {
		cases = append(cases, order.Case{Name: name})
	}
	return cases, nil
}

// Invocation names a file in the exchange directory. What the benchmark itself
// prints cannot get into it.
func (t Tally) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	if name == "" || name[0] == '-' {
		return harness.Invocation{}, fault.New(fault.Refused, "plan case", "%q is no case", name).At("/plan")
	}
	return harness.Invocation{
		Argv:    []string{s.Program, name, "--repeat", strconv.Itoa(p.Repetitions.Total()), "--out", harness.InExchange("times")},
		Dir:     s.Dir,
		Outputs: []harness.File{{Name: "times", Kind: result.ArtifactNative, MediaType: "text/plain"}},
	}, nil
}

// Read answers for every quantity, whatever happened: first how the program ended,
// then what is in the file, and only then the values.
func (t Tally) Read(_ harness.Suite, _ string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	text, written := out.Files["times"]
	switch {
	case out.Result.Cause == proc.TimedOut:
		return harness.All(quantities, result.Failed, result.ReasonTimeout, "")
	case !out.Result.OK() && !written:
		return harness.All(quantities, result.Failed, result.ReasonHarnessError, harness.FirstOf(out.LastWords(), out.End()))
	case !written:
		return harness.All(quantities, result.Failed, result.ReasonNoOutput, out.Unread["times"])
	}
	m := harness.Measured{Status: result.Success, Unit: "s", OriginalUnit: "s"}
	for line := range strings.Lines(string(text)) {
		number, whole := strings.CutSuffix(line, "\n")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !whole || !(v > 0) || math.IsInf(v, 0) {
			return harness.All(quantities, result.Failed, result.ReasonMapping, "no time: "+strconv.Quote(harness.Clip(line)))
		}
		m.Values = append(m.Values, v)
	}
	switch ordered := p.Repetitions.Total(); {
	case len(m.Values) > ordered:
		return harness.All(quantities, result.Failed, result.ReasonMapping, "more times than were ordered")
	case len(m.Values) == 0:
		return harness.All(quantities, result.Failed, result.ReasonNoOutput, "")
	case len(m.Values) < ordered || !out.Result.OK():
		m.Status, m.Reason = result.Partial, result.ReasonPartial
	}
	return harness.Reading{Quantities: map[string]harness.Measured{"wall-time": m}, Attempted: p.Repetitions.Total()}
}
