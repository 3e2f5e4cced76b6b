package jmh

import (
	"archive/zip"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/programs"
	"writ/internal/order"
)

// oneCase is a benchmark with one value for each of its parameters.
type oneCase struct {
	benchmark  string
	parameters []parameter // by name
}

type parameter struct{ name, value string }

// String is the name of the case: the benchmark, and behind a colon its parameters.
func (c oneCase) String() string {
	var b strings.Builder
	b.WriteString(c.benchmark)
	for i, p := range c.parameters {
		b.WriteString(map[bool]string{true: ":", false: ","}[i == 0] + p.name + "=" + p.value)
	}
	return b.String()
}

// parseCase reads the name of a case. Neither names of benchmarks nor values that the
// harness can be given hold a comma, and no name a colon.
func parseCase(name string) (oneCase, bool) {
	benchmark, rest, has := strings.Cut(name, ":")
	c := oneCase{benchmark: benchmark}
	if !isBenchmark(benchmark) || has && rest == "" {
		return c, false
	}
	if !has {
		return c, true
	}
	for _, part := range strings.Split(rest, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || !isBenchmark(key) || !isValue(value) || slices.ContainsFunc(c.parameters, func(p parameter) bool { return p.name == key }) {
			return c, false
		}
		c.parameters = append(c.parameters, parameter{key, value})
	}
	return c, true
}

// isBenchmark reports whether s can be the name of a benchmark or of a parameter:
// Java identifiers, with full stops between.
func isBenchmark(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '.' && r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// isValue reports whether the harness can be given a value and writes it back as it
// is: its list of values is separated by commas.
func isValue(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r == ',' || r < ' ' || r == 0x7f })
}

// Locate implements harness.Harness. The suite is a jar below the target's path,
// which is the working directory.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	const op = "locate suite"
	if err := programs.Refuse(Name, o, javaVariables...); err != nil {
		return harness.Suite{}, err
	}
	out, path, err := programs.Tree(Name, o, s)
	if err != nil {
		return out, err
	}
	if _, err := os.Stat(path); err != nil {
		return out, programs.Missing(err, path)
	}
	if out.Version, err = inspect(path); err != nil {
		return out, err
	}
	out.Traits[traitJar] = path
	if slices.Contains(o.Quantities, "allocated-bytes") {
		out.Traits[traitGC] = "yes"
		out.Protocol["profiler"] = canon.StringOf("gc") // the machine that measures does a little more
	}
	if v, given := s.Parameters.Get(ParamArguments); given {
		var arguments []string
		odd := func(s string) bool { return s == "" || s[0] != '-' || strings.ContainsAny(s, " \t\r\n\"'\x00") }
		if err := v.Decode(&arguments); err != nil || slices.ContainsFunc(arguments, odd) {
			return out, fault.New(fault.Refused, op, "arguments of the virtual machine are an array of texts that begin with -, without blanks and quotes").At("/suites/0/parameters/" + ParamArguments)
		}
		out.Traits[traitArguments] = strings.Join(arguments, " ")
	}
	for _, name := range slices.Sorted(maps.Keys(o.WorkloadParameters)) {
		value := text(o.WorkloadParameters[name])
		if !isBenchmark(name) || !isValue(value) {
			return out, fault.New(fault.Refused, op, "%s cannot be given the value %q: it takes lists of them, separated by commas", Name, value).At("/workload_parameters/" + name)
		}
		out.Traits[traitFixed+name] = value
	}
	out.Protocol["unit"] = canon.StringOf("ns")
	out.Program, err = programs.Find(o, s, ParamJava, a.Path, "java")
	return out, err
}

// Entries of a jar.
const (
	benchmarkList = "META-INF/BenchmarkList" // that the harness finds its benchmarks by
	coreVersion   = "META-INF/maven/org.openjdk.jmh/jmh-core/pom.properties"
)

// inspect makes sure that a jar has benchmarks, and returns the version of the harness
// in it; "1" when the jar does not say it.
func inspect(path string) (string, error) {
	const op = "locate suite"
	jar, err := zip.OpenReader(path)
	if err != nil {
		return "", fault.Wrap(err, fault.Target, op, "no jar: %s", path).At("/suites/0/suite")
	}
	defer jar.Close()
	version, listed := "1", false
	for _, f := range jar.File {
		switch f.Name {
		case benchmarkList:
			listed = true
		case coreVersion:
			if r, err := f.Open(); err == nil {
				text, err := io.ReadAll(io.LimitReader(r, 4096))
				if m := versionLine.FindSubmatch(text); err == nil && m != nil {
					version = string(m[1])
				}
				r.Close()
			}
		}
	}
	if !listed {
		return "", fault.New(fault.Target, op, "%s has no benchmarks: %s is not in it", path, benchmarkList).At("/suites/0/suite").
			Help("name the jar with everything in it, such as target/benchmarks.jar; the annotation processor of JMH must run when it is built")
	}
	return version, nil
}

var versionLine = regexp.MustCompile(`(?m)^version=([0-9A-Za-z.+-]+)\r?$`)

// Probes implements harness.Prober.
func (Adapter) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{{Argv: []string{s.Program, "-XshowSettings:properties", "-version"}, Dir: s.Dir, Variables: variables()}}
}

// property is one line of the launcher's settings.
var property = regexp.MustCompile(`(?m)^\s+(java\.version|java\.vendor|java\.vm\.name|java\.vm\.version) = (.*?)\r?$`)

// Settle implements harness.Prober.
func (Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	const op = "probe interpreter"
	if len(told) != 1 {
		return s, fault.New(fault.Internal, op, "%d probes", len(told))
	}
	s.Runtime = map[string]string{}
	for _, m := range property.FindAllStringSubmatch(string(told[0].Stderr)+"\n"+string(told[0].Stdout), -1) {
		s.Runtime[m[1]] = harness.Clip(m[2])
	}
	if s.Runtime["java.version"] == "" || !told[0].Result.OK() {
		return s, fault.New(fault.Target, op, "%s does not tell its version: it %s: %s", s.Program, told[0].End(), told[0].LastWords()).At("/suites/0/suite")
	}
	if s.Traits[traitArguments] != "" {
		s.Runtime["arguments"] = s.Traits[traitArguments]
	}
	return s, nil
}

// Listing implements harness.Harness.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	argv := []string{s.Program, "-jar", s.Traits[traitJar]}
	if s.Filter != "" {
		argv = append(argv, s.Filter)
	}
	argv = append(argv, "-lp")
	for _, p := range fixed(s) {
		argv = append(argv, "-p", p.name+"="+p.value)
	}
	return []harness.Invocation{{Argv: argv, Dir: s.Dir, Variables: variables()}}
}

// maxCases is how many combinations of parameters a listing may come to.
const maxCases = 100_000

// parameterLine is one parameter of a benchmark with its values.
var parameterLine = regexp.MustCompile(`^ +param "(.+)" = \{(.*)\}$`)

// Cases implements harness.Harness. A benchmark has a case for each combination of its
// parameters; those that the order fixes are no part of the name. One that is there
// for several modes is one.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list benchmarks"
	if len(listed) != 1 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	out := listed[0]
	failed := func(format string, args ...any) error {
		return fault.New(fault.Harness, op, format, args...).Help("run it by hand: java -jar %s -lp", s.Traits[traitJar])
	}
	if !out.Result.OK() {
		return nil, failed("the benchmarks are not listed: java %s: %s", out.End(), out.LastWords())
	}
	_, list, found := strings.Cut("\n"+string(out.Stdout), "\nBenchmarks:")
	if !found {
		return nil, failed("no list of benchmarks in what java printed")
	}
	_, list, _ = strings.Cut(list, "\n")
	var groups [][]oneCase // of each benchmark
	total := 0
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, " \r\n")
		switch m := parameterLine.FindStringSubmatch(line); {
		case line == "":
		case m != nil && len(groups) > 0:
			last := &groups[len(groups)-1]
			more, err := combine(s, *last, m[1], strings.Split(m[2], ", "))
			if total += len(more) - len(*last); err != nil {
				return nil, failed("%v", err)
			}
			*last = more
		case isBenchmark(line):
			groups, total = append(groups, []oneCase{{benchmark: line}}), total+1
		default:
			return nil, failed("%q is no line of a listing", harness.Clip(line))
		}
		if total > maxCases {
			return nil, failed("more than %d combinations of parameters", maxCases)
		}
	}
	var cases []order.Case
	seen := map[string]bool{}
	for _, c := range slices.Concat(groups...) {
		slices.SortFunc(c.parameters, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
		if name := c.String(); !seen[name] {
			seen[name] = true
			cases = append(cases, order.Case{Name: name, From: s.Filter})
		}
	}
	return cases, nil
}

// combine gives each case every value of one more parameter.
func combine(s harness.Suite, cases []oneCase, name string, values []string) ([]oneCase, error) {
	const op = "list benchmarks"
	if _, given := s.Traits[traitFixed+name]; given {
		return cases, nil
	}
	if len(cases)*len(values) > maxCases {
		return nil, fault.New(fault.Harness, op, "more than %d combinations of parameters", maxCases)
	}
	var out []oneCase
	for _, c := range cases {
		for _, v := range values {
			if !isBenchmark(name) || !isValue(v) || slices.ContainsFunc(c.parameters, func(p parameter) bool { return p.name == name }) {
				return nil, fault.New(fault.Harness, op, "parameter %q with the value %q cannot be selected", harness.Clip(name), harness.Clip(v))
			}
			out = append(out, oneCase{c.benchmark, append(slices.Clone(c.parameters), parameter{name, v})})
		}
	}
	return out, nil
}
