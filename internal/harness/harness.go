// Package harness is what a runner knows of benchmark harnesses: how to find a
// suite, which programs to start for its cases, and what their output means.
//
// Invariants: a harness starts nothing itself and reads no clock: it names
// programs and translates bytes, and the same bytes always give the same answer.
// What a harness cannot honour exactly is missing from its capabilities, so that
// an order that needs it is refused. A value that is not in the output, or is not
// a finite number, is never replaced by another.
//
// The package computes no statistics and never repeats a harness's own loop.
package harness

import (
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Harness adapts one benchmark harness. Its methods are pure, apart from looking
// at the suite's own file, and safe for concurrent use.
type Harness interface {
	// Capabilities says what orders may ask for. What the runner around the harness
	// adds (collectors, policies, schedules) is not in it.
	Capabilities() order.Capabilities
	// Producer names the adapter in results.
	Producer() result.Producer
	// Defaults are the precision settings that apply where an order has none.
	Defaults() order.Precision
	// Environment lists variables that change how the harness measures, and may be
	// recorded when they are inherited.
	Environment() []string
	// Locate finds one suite of an order. A suite that is not there is
	// fault.Target; settings that cannot be honoured are fault.Refused.
	Locate(o order.Order, s order.Suite) (Suite, error)
	// Listing returns the programs that list the cases of a suite.
	Listing(s Suite) []Invocation
	// Cases reads what the programs of Listing wrote. A listing that failed is
	// fault.Harness. An empty listing is no error.
	Cases(s Suite, listed []Output) ([]order.Case, error)
	// Invocation returns the one program that runs one case with all its
	// repetitions.
	Invocation(s Suite, name string, p order.Precision) (Invocation, error)
	// Read translates what that program wrote. It returns one Measured for each of
	// quantities, whatever happened.
	Read(s Suite, name string, p order.Precision, quantities []string, out Output) Reading
}

// Prober is a harness that has to ask a suite's program about itself before it can
// plan anything: its flags differ from version to version, or it is an interpreter
// that may lack the harness. A runner asks once, right after Locate.
type Prober interface {
	// Probes returns the programs that tell.
	Probes(s Suite) []Invocation
	// Settle completes a suite with what they wrote. A program that cannot be
	// measured is fault.Target.
	Settle(s Suite, told []Output) (Suite, error)
}

// Suite is one benchmark program that was found.
type Suite struct {
	Adapter   string
	Program   string // absolute path of the file that is executed
	Dir       string // absolute working directory of its cases
	SourceDir string // directory whose checkout is the subject; "" when the order does not say
	Filter    string // in the harness's own syntax; "" selects everything

	Label         string                 // qualifies the names of its cases: "<Label>.<name>"; "" when it does not
	Configuration map[string]string      // how the program was built, as it says itself
	Runtime       map[string]string      // what runs it: comparison_context.runtime
	Protocol      map[string]canon.Value // fixed settings of the harness, as protocol members
	Version       string                 // of the harness
	Processors    int                    // how many the cases may use; 0 when that is not set
	Traits        map[string]string      // what Locate and a Prober found out, for the adapter's own use

	// Shared says that equal bytes of Program do not mean equal code, because it is
	// an interpreter or loads libraries of the subject: results must not name it as
	// the file that was measured.
	Shared bool
}

// Invocation is a program to start. Variables go on top of the environment. See
// Exchange for Inputs and Outputs.
type Invocation struct {
	Argv      []string
	Dir       string
	Variables map[string]string
	Inputs    []File // are there before the program starts
	Outputs   []File // are read when it has ended; the first is the native output
}

// Output is how an invocation ended and what it wrote.
type Output struct {
	Result proc.Result
	Stdout []byte
	Stderr []byte
	Files  map[string][]byte // content of Outputs by name; what was not written is not in it
	Unread map[string]string // why Outputs that are there could not be read, by name
}

// Reading is what one case gave.
type Reading struct {
	Quantities      map[string]Measured
	InnerIterations []int                // of each repetition that counts, in order
	Attempted       int                  // repetitions that were ordered, warm-ups not counted
	Warmups         int                  // repetitions that were done and thrown away
	Levels          []result.LevelCounts // of harnesses with levels of their own, outermost first; nil for the plain one
	Facts           map[string]string
	Message         string   // the harness's own words about a failure; "" when there are none
	Warnings        []string // tokens for quality.warnings
}

// Measured is the outcome for one quantity.
type Measured struct {
	Status       result.Status
	Reason       string // "" exactly for success
	Values       []float64
	Groups       []string // beside Values: the process that each came of; nil when all are of one
	Summaries    []result.Summary
	Unit         string // of Values, UCUM
	OriginalUnit string // as the harness spells it
	Message      string // why values are missing, when Reading.Message does not say it
}

// All returns a reading in which every quantity has the same outcome without
// values.
func All(quantities []string, status result.Status, reason, message string) Reading {
	r := Reading{Quantities: make(map[string]Measured, len(quantities)), Message: message}
	for _, q := range quantities {
		info, _ := result.Known(q)
		r.Quantities[q] = Measured{Status: status, Reason: reason, Unit: info.Unit}
	}
	return r
}

// Bare takes the label off the name of a case of s. A name without it stays as it
// is: whoever writes a plan by hand may leave it out.
func (s Suite) Bare(name string) string {
	if s.Label == "" {
		return name
	}
	return strings.TrimPrefix(name, s.Label+".")
}

// Owner returns the index of the suite that a planned case belongs to: the one
// whose label it has, or the only one. -1 means that no suite has it.
func Owner(suites []Suite, name string) int {
	owner := -1
	for i, s := range suites {
		if s.Label != "" && strings.HasPrefix(name, s.Label+".") && (owner < 0 || len(s.Label) > len(suites[owner].Label)) {
			owner = i
		}
	}
	if owner < 0 && len(suites) == 1 {
		return 0
	}
	return owner
}

// Set is a fixed choice of harnesses.
type Set []Harness

// Find returns the harness with the adapter name of an order's suite, or
// fault.Refused.
func (s Set) Find(adapter string) (Harness, error) {
	i := slices.IndexFunc(s, func(h Harness) bool { return h.Capabilities().Adapter == adapter })
	if i < 0 {
		names := make([]string, len(s))
		for j, h := range s {
			names[j] = h.Capabilities().Adapter
		}
		slices.Sort(names)
		return nil, fault.New(fault.Refused, "find harness", "no adapter for %q", adapter).
			At("/suites/0/adapter").Help("this build has %q", names)
	}
	return s[i], nil
}
