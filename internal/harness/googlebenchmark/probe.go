package googlebenchmark

import (
	"maps"
	"regexp"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness"
)

// Probes implements harness.Prober: the library's help lists the flags of the
// version that the program is linked with.
func (Adapter) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{{Argv: []string{s.Program, "--help"}, Dir: s.Dir, Variables: variables(s)}}
}

// flagLine is one flag of the help.
var flagLine = regexp.MustCompile(`\[--(benchmark_[a-z_]+)=([^\n]*)`)

// Settle implements harness.Prober. The version is a range: the library tells the
// exact one only after a measurement, and then it is among the facts.
func (Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	const op = "probe suite"
	if len(told) != 1 {
		return s, fault.New(fault.Internal, op, "%d probes", len(told))
	}
	out := told[0]
	var flags []string
	traits := maps.Clone(s.Traits)
	if traits == nil {
		traits = map[string]string{}
	}
	s.Version = "1.5+"
	for _, m := range flagLine.FindAllStringSubmatch(string(out.Stdout)+"\n"+string(out.Stderr), -1) {
		flags = append(flags, m[1])
		switch {
		case m[1] == "benchmark_min_time" && strings.Contains(m[2], "x`"):
			traits[traitSuffix] = "suffix"
			s.Version = "1.8+"
		case m[1] == "benchmark_min_warmup_time" && traits[traitSuffix] == "":
			s.Version = "1.6.2+"
		}
	}
	traits[traitFlags] = strings.Join(flags, " ")
	s.Traits = traits
	if !knows(s, "benchmark_out") || !knows(s, "benchmark_filter") {
		e := fault.New(fault.Target, op, "no Google Benchmark program: its help names no flags of the library, it %s", out.End())
		return s, e.At("/suites/0/suite").Help("its main function must pass the command line to benchmark::Initialize")
	}
	return s, nil
}
