package asv

import (
	"regexp"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// nothing is a pattern that selects no benchmark: the tool then discovers and stops.
const nothing = "just-discover"

// Listing implements harness.Harness.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{start(s, "list", []string{"--bench", nothing}, benchmarks)}
}

// maxCases is how many combinations of parameters a listing may come to.
const maxCases = 100_000

// Cases implements harness.Harness: timing benchmarks, each combination of parameters
// by itself.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list benchmarks"
	if len(listed) != 1 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	out := listed[0]
	failed := func(format string, args ...any) error {
		return fault.New(fault.Harness, op, format, args...).Help("run asv check by hand, from the target's path")
	}
	found, err := ParseBenchmarks(out.Files[benchmarksFile])
	switch {
	case !out.Result.OK() || fault.CodeOf(err) == fault.Nothing:
		return nil, failed("the benchmarks are not discovered: asv %s: %s", out.End(), harness.FirstOf(words(out), out.LastWords()))
	case err != nil:
		return nil, failed("the benchmarks cannot be read: %v", err)
	}
	var cases []order.Case
	for _, b := range found {
		if len(cases)+b.Parameters.combinations() > maxCases {
			return nil, failed("more than %d combinations of parameters", maxCases)
		}
		for i := range b.Parameters.combinations() {
			name := b.Parameters.name(b.Name, i)
			if !isCase(name) {
				return nil, failed("%q cannot be selected", harness.Clip(name))
			}
			cases = append(cases, order.Case{Name: name})
		}
	}
	return cases, nil
}

// exception is the last line of a traceback, which the tool indents.
var exception = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_.]*(?:Error|Exception|Exit|Interrupt|Warning)(?:: .*)?)\s*$`)

// words are the last exception that the tool has shown.
func words(out harness.Output) (last string) {
	for _, stream := range []string{string(out.Stdout), string(out.Stderr)} {
		for line := range strings.Lines(stream) {
			if m := exception.FindStringSubmatch(line); m != nil {
				last = harness.Clip(m[1])
			}
		}
	}
	return last
}
