package customjson

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/programs"
	"writ/internal/order"
	"writ/internal/result"
)

// Members of suites[].parameters. All are arrays of texts; in the last, a group of
// arguments that only go together may be an array of its own.
const (
	// ParamCommand starts the program. Default: ["{suite}"].
	ParamCommand = "command"
	// ParamList are the arguments with which it prints its cases. Default:
	// ["--list"].
	ParamList = "list"
	// ParamCases are the cases of a program that cannot list them.
	ParamCases = "cases"
	// ParamRun are the arguments that run one case. See defaultRun.
	ParamRun = "run"
)

// Defaults of the parameters: the command line of programs that follow our
// convention.
var (
	defaultCommand = canon.MustFrom([]string{"{suite}"})
	defaultList    = canon.MustFrom([]string{"--list"})
	defaultRun     = canon.MustFrom([]any{
		"--case", "{case}", "--repetitions", "{repetitions}", "--out", "{out}", []string{"--iterations", "{iterations}"},
		[]string{"--seconds", "{seconds}"}, []string{"--warmups", "{warmups}"}, []string{"--warmup-seconds", "{warmup_seconds}"},
	})
)

// Traits of a suite: its parameters as JSON, with what the order fixes filled in.
const (
	traitSuite  = "suite"
	traitParams = "parameters"
	traitFixed  = "fixed." // before a placeholder: the value of a workload parameter
)

// arguments are a suite's parameters.
type arguments struct {
	command, list, run template
	cases              []string // nil when the program lists them
}

// readArguments reads the parameters of a suite, with defaults for those that are
// not there.
func readArguments(parameters canon.Value) (a arguments, err error) {
	const pointer = "/suites/0/parameters/"
	one := func(name string, fallback canon.Value, allowed ...string) template {
		v, given := parameters.Get(name)
		if !given {
			v = fallback
		}
		t, bad := parseTemplate(v, pointer+name, allowed...)
		if err == nil {
			err = bad
		}
		return t
	}
	a.command = one(ParamCommand, defaultCommand, holdSuite)
	a.list = one(ParamList, defaultList, holdSuite, holdParameter)
	a.run = one(ParamRun, defaultRun, holdSuite, holdCase, holdOut, holdRepetitions, holdIterations, holdSeconds, holdWarmups, holdWarmupSeconds, holdParameter)
	if err != nil {
		return a, err
	}
	refuse := func(member, format string, args ...any) error {
		return fault.New(fault.Refused, "read arguments", format, args...).At(pointer + member)
	}
	_, lists := parameters.Get(ParamList)
	cases, given := parameters.Get(ParamCases)
	if given && lists {
		return a, refuse(ParamCases, "cases are listed by the program or by the order, not by both")
	}
	if given {
		a.cases = []string{}
	}
	for _, c := range cases.Elems() {
		name, ok := c.String()
		if !ok || !isName(name) {
			return a, refuse(ParamCases, "%s is no name of a case", c.Canonical())
		}
		a.cases = append(a.cases, name)
	}
	switch {
	case len(a.command) == 0:
		return a, refuse(ParamCommand, "a command has at least the name of a program")
	case given && cases.Kind() != canon.Array:
		return a, refuse(ParamCases, "cases are an array of names")
	case !a.run.holds(holdCase) && len(a.cases) != 1:
		return a, refuse(ParamRun, "without {%s} the program has one case, and %s names it", holdCase, ParamCases)
	}
	return a, nil
}

// isName reports whether a case can be called so.
func isName(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Locate implements harness.Harness. The suite is a file or folder below the
// target's path, which is the working directory of the cases.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	const op = "locate suite"
	out, path, err := programs.Tree(Name, o, s)
	if err != nil {
		return out, err
	}
	if _, err := os.Stat(path); err != nil {
		return out, programs.Missing(err, path)
	}
	args, err := readArguments(s.Parameters)
	if err != nil {
		return out, err
	}
	out.Traits[traitSuite] = path
	out.Traits[traitParams] = "{}"
	if s.Parameters.Kind() == canon.Object {
		out.Traits[traitParams] = string(s.Parameters.Canonical())
	}
	for name, v := range o.WorkloadParameters {
		if !args.run.holds(holdParameter + name) {
			return out, fault.New(fault.Refused, op, "the arguments of the suite have no place for {%s%s}", holdParameter, name).At("/workload_parameters/"+name).
				Help("put it into suites[].parameters.%s", ParamRun)
		}
		out.Traits[traitFixed+holdParameter+name] = spell(v)
	}
	argv, _ := args.command.fill(map[string]string{holdSuite: path})
	switch program := argv[0]; {
	case filepath.IsAbs(program):
		out.Program = program
		if !programs.Executable(program) {
			return out, fault.New(fault.Target, op, "not executable: %s", program).At("/suites/0/suite").
				Help("name its interpreter in suites[].parameters.%s, such as [\"python3\", \"{suite}\"]", ParamCommand)
		}
	default:
		if out.Program, err = programs.Find(o, order.Suite{}, ParamCommand, a.Path, program); err != nil {
			return out, err
		}
	}
	return out, nil
}

// spell writes a workload parameter as an argument: texts as they are, the rest as
// JSON.
func spell(v canon.Value) string {
	if text, ok := v.String(); ok {
		return text
	}
	return string(v.Canonical())
}

// argv is the command line of a suite with arguments.
func argv(s harness.Suite, args arguments, more template, values map[string]string) ([]string, string) {
	all := map[string]string{holdSuite: s.Traits[traitSuite]}
	for trait, value := range s.Traits {
		if name, fixed := strings.CutPrefix(trait, traitFixed); fixed {
			all[name] = value
		}
	}
	for name, value := range values {
		all[name] = value
	}
	command, _ := args.command.fill(all)
	tail, missing := more.fill(all)
	return slices.Concat([]string{s.Program}, command[1:], tail), missing
}

// of reads the parameters that a suite was located with.
func of(s harness.Suite) (arguments, error) {
	v, err := canon.Parse([]byte(harness.FirstOf(s.Traits[traitParams], "{}")))
	if err != nil {
		return arguments{}, err
	}
	return readArguments(v)
}

// nativeFile is what the program writes.
const nativeFile = "samples.json"

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	const op = "plan case"
	if !isName(name) {
		return harness.Invocation{}, fault.New(fault.Refused, op, "%q is no name of a case", harness.Clip(name)).At("/plan")
	}
	args, err := of(s)
	if err != nil {
		return harness.Invocation{}, err
	}
	set, err := a.settle(p, args.run)
	if err != nil {
		return harness.Invocation{}, err
	}
	set.values[holdCase], set.values[holdOut] = name, harness.InExchange(nativeFile)
	line, missing := argv(s, args, args.run, set.values)
	if missing != "" {
		return harness.Invocation{}, fault.New(fault.Refused, op, "the suite has to be told {%s}, and the order does not say it", missing).
			At("/suites/0/parameters/" + ParamRun).Help("order it, or put the argument into an array of its own: then it is optional")
	}
	inv := harness.Invocation{Argv: line, Dir: s.Dir}
	if args.run.holds(holdOut) {
		inv.Outputs = []harness.File{{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json"}}
	}
	return inv, nil
}
