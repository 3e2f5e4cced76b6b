package googlebenchmark

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/nativejson"
	"writ/internal/order"
	"writ/internal/result"
)

// Listing implements harness.Harness.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	argv := []string{s.Program, "--benchmark_list_tests=true", "--benchmark_filter=" + harness.FirstOf(s.Filter, everything)}
	return []harness.Invocation{{Argv: argv, Dir: s.Dir, Variables: variables(s)}}
}

// everything is the filter of a suite without one. It is always said: the library
// takes BENCHMARK_FILTER of its surroundings where no flag is.
const everything = "."

// variables are what every program of the suite gets: numbers must not be written
// the way of some language.
func variables(s harness.Suite) map[string]string {
	if locale, ok := s.Traits[traitLocale]; ok {
		return map[string]string{"LC_ALL": locale}
	}
	return nil
}

// Cases implements harness.Harness. Older libraries print one name on a line,
// newer ones can print JSON.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list benchmarks"
	if len(listed) != 1 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	out := listed[0]
	failed := func(what string) error {
		e := fault.New(fault.Harness, op, "%s: the program %s", what, out.End())
		if words := out.LastWords(); words != "" {
			e.Public += ": " + words
		}
		return e.Help("run it by hand with --benchmark_list_tests=true")
	}
	if !out.Result.OK() {
		return nil, failed("the benchmarks are not listed")
	}
	names, err := listedNames(string(out.Stdout))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && strings.Contains(string(out.Stderr), "Could not compile") {
		return nil, failed("the filter is no regular expression")
	}
	var cases []order.Case
	for _, name := range names {
		if !isName(name) {
			return nil, fault.New(fault.Harness, op, "%q is no benchmark's name", harness.Clip(name))
		}
		cases = append(cases, order.Case{Name: name, From: s.Filter})
	}
	return cases, nil
}

func listedNames(text string) ([]string, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return namesOfJSON([]byte(text))
	}
	var names []string
	for line := range strings.Lines(text) {
		if name := strings.TrimRight(line, "\r\n"); strings.TrimSpace(name) != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

func namesOfJSON(text []byte) (names []string, err error) {
	r, err := nativejson.New(text)
	if err != nil {
		return nil, err
	}
	found := false
	err = r.Object(func(member string) error {
		if member != "benchmarks" {
			return r.Skip()
		}
		found = true
		return r.Array(func() error {
			name := ""
			err := r.Object(func(member string) (err error) {
				if member != "name" {
					return r.Skip()
				}
				name, err = r.Text()
				return err
			})
			names = append(names, name)
			return err
		})
	})
	if err == nil {
		err = r.Done()
	}
	if err == nil && !found {
		err = r.Fail("no benchmarks in the listing")
	}
	return names, err
}

// isName reports whether a benchmark can be called so and be selected by a flag.
func isName(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\r\n")
}

// Pattern returns the filter that selects exactly one case. The library searches
// for an extended regular expression; in those, a backslash before any other
// character than these has no meaning that all implementations agree on.
func Pattern(name string) string {
	var b strings.Builder
	b.WriteByte('^')
	for i := range len(name) {
		if strings.IndexByte(`.[\()*+?{|^$`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	b.WriteByte('$')
	return b.String()
}

// nativeFile is what the library writes.
const nativeFile = "benchmark.json"

// unwanted are flags with the values that leave every repetition in the file, in
// the order of time. Those that the program does not know are left out: it has
// nothing to turn off then.
var unwanted = []string{
	"benchmark_report_aggregates_only=false", "benchmark_display_aggregates_only=false",
	"benchmark_enable_random_interleaving=false", "benchmark_dry_run=false",
	"benchmark_color=false", "benchmark_counters_tabular=false", "benchmark_format=console",
}

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	if !isName(name) {
		return harness.Invocation{}, fault.New(fault.Refused, "plan benchmark", "%q is no benchmark's name", harness.Clip(name)).At("/plan")
	}
	set, err := a.settle(s, p)
	if err != nil {
		return harness.Invocation{}, err
	}
	argv := []string{
		s.Program, "--benchmark_filter=" + Pattern(name),
		"--benchmark_out=" + harness.InExchange(nativeFile), "--benchmark_out_format=json",
		"--benchmark_repetitions=" + strconv.Itoa(set.counted), "--benchmark_min_time=" + set.minTime,
	}
	if knows(s, "benchmark_min_warmup_time") {
		argv = append(argv, "--benchmark_min_warmup_time="+harness.FirstOf(set.warmup, "0"))
	}
	for _, flag := range unwanted {
		if name, _, _ := strings.Cut(flag, "="); knows(s, name) {
			argv = append(argv, "--"+flag)
		}
	}
	return harness.Invocation{
		Argv: argv, Dir: s.Dir, Variables: variables(s),
		Outputs: []harness.File{{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json"}},
	}, nil
}
