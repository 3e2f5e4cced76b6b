package gobench

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/runner/proc"
)

// Listing implements harness.Harness: the functions of the binary, and one
// iteration of each, because only running shows sub-benchmarks.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	filter := s.Filter
	if filter == "" {
		filter = "."
	}
	return []harness.Invocation{
		{Argv: []string{s.Program, "-test.list=^Benchmark"}, Dir: s.Dir},
		{Argv: append(benchmarkFlags(s, filter), "-test.benchtime=1x", "-test.count=1"), Dir: s.Dir},
	}
}

// benchmarkFlags starts the command line of every run: no tests, no time limit of
// the binary's own, announced names.
func benchmarkFlags(s harness.Suite, pattern string) []string {
	return []string{
		s.Program, "-test.run=^$", "-test.bench=" + pattern, "-test.benchmem", "-test.v", "-test.timeout=0",
		"-test.cpu=" + strconv.Itoa(s.Processors),
	}
}

// Cases implements harness.Harness. Benchmarks that fail or skip are cases too;
// those that only hold sub-benchmarks are not.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list benchmarks"
	if len(listed) != 2 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	if r := listed[0].Result; !r.OK() {
		return nil, listingFailed(listed[0], "the binary does not list its benchmarks")
	}
	functions := map[string]bool{}
	for line := range strings.Lines(string(listed[0].Stdout)) {
		if name := strings.TrimSpace(line); isName(name) {
			functions[name] = true
		}
	}
	text, err := Parse(listed[1].Stdout)
	if err != nil {
		return nil, err
	}
	if !complete(listed[1], text) {
		return nil, listingFailed(listed[1], "running every benchmark once did not end well")
	}
	reported := map[string]bool{}
	for _, row := range text.Rows {
		if base, ok := BaseName(row.Name, s.Processors); ok {
			reported[base] = true
		}
	}
	for _, m := range text.Marks {
		reported[m.Name] = true
	}
	var out []order.Case
	for _, name := range text.Names {
		function, _, _ := strings.Cut(name, "/")
		if functions[function] && !isGroup(name, text, reported, s.Filter) {
			out = append(out, order.Case{Name: qualified(s, name), From: s.Filter})
		}
	}
	return out, nil
}

// crashed is the exit status of a Go program that panics. The last word says
// nothing then: the testing package may still print FAIL while the program dies.
const crashed = 2

// complete reports whether a listing got to its end, with failed benchmarks or
// without.
func complete(out harness.Output, text Text) bool {
	r := out.Result
	return r.Cause == proc.Exited && r.Signal == 0 && r.Exit != crashed && text.End != "" && (text.End == "PASS") == (r.Exit == 0)
}

func qualified(s harness.Suite, name string) string {
	if s.Label == "" {
		return name
	}
	return s.Label + "." + name
}

// isGroup reports whether a benchmark only holds others: some are announced below
// it, or the filter speaks of a deeper level and nothing was reported for it.
func isGroup(name string, text Text, reported map[string]bool, filter string) bool {
	if slices.ContainsFunc(text.Names, func(n string) bool { return strings.HasPrefix(n, name+"/") }) {
		return true
	}
	return !reported[name] && !selects(filter, name)
}

// selects reports whether a filter selects a benchmark as a case, and not just as
// the way to one below it.
func selects(filter, name string) bool {
	levels := strings.Split(name, "/")
	for _, alternative := range splitPattern(filter, '|') {
		patterns := splitPattern(alternative, '/')
		match := len(patterns) <= len(levels)
		for i := 0; match && i < len(patterns); i++ {
			re, err := regexp.Compile(patterns[i])
			match = err == nil && re.MatchString(levels[i])
		}
		if match {
			return true
		}
	}
	return false
}

// splitPattern splits at a separator outside of brackets, as the testing package
// does.
func splitPattern(s string, separator byte) []string {
	var out []string
	square, round, start := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '[':
			square++
		case c == ']':
			square = max(square-1, 0)
		case c == '(' && square == 0:
			round++
		case c == ')' && square == 0:
			round--
		case c == separator && square == 0 && round == 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

func listingFailed(out harness.Output, what string) error {
	r := out.Result
	e := fault.New(fault.Harness, "list benchmarks", "%s: %s, status %d", what, r.Cause, r.Exit)
	if words := lastWords(out.Stderr, out.Stdout); words != "" {
		e.Public += ": " + words
	}
	return e.Help("run the binary by hand with -test.run='^$' -test.bench=. -test.benchtime=1x, or set a filter")
}

// Pattern returns the -test.bench pattern that selects exactly one case. Levels
// are separated by slashes outside of brackets; escaped text has none.
func Pattern(name string) string {
	levels := strings.Split(name, "/")
	for i, l := range levels {
		levels[i] = "^" + regexp.QuoteMeta(l) + "$"
	}
	return strings.Join(levels, "/")
}

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	bare := s.Bare(name)
	if !isName(bare) {
		return harness.Invocation{}, fault.New(fault.Refused, "plan benchmark", "%q is no benchmark's name", name).At("/plan")
	}
	set, err := a.settings(p)
	if err != nil {
		return harness.Invocation{}, err
	}
	argv := append(benchmarkFlags(s, Pattern(bare)), "-test.benchtime="+set.benchtime, "-test.count="+strconv.Itoa(set.counted+set.warmups))
	return harness.Invocation{Argv: argv, Dir: s.Dir}, nil
}
