// Package cmdline reads the command lines that an order holds for itself, for
// adapters that measure any program.
//
// Invariants: a command line is a list of arguments and never a text for a shell;
// its program is found once, before anything runs, the way that the kernel and
// execvp find it, but never in the working directory by accident; what cannot be
// passed to a program is refused with its place in the order.
//
// The package starts nothing, and knows no harness.
package cmdline

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/programs"
	"writ/internal/order"
)

// Members of suites[].parameters.
const (
	// ParamArgv is the command line of the only case, which is named after its
	// program. Where the suite is a file, the file alone is the default.
	ParamArgv = "argv"
	// ParamCases has a command line for each case, by the case's name.
	ParamCases = "cases"
	// ParamExit lists the exit statuses with which a repetition counts. Default: 0.
	ParamExit = "exit"
)

const (
	op         = "locate suite"
	parameters = "/suites/0/parameters"
)

// Command is one program with its arguments.
type Command struct {
	Program string   `json:"program"` // absolute path of what is executed
	Argv    []string `json:"argv"`    // Argv[0] is the program as the order spells it
}

// Traits of a suite.
const (
	traitCase = "case." // before a case's name: its Command as JSON
	traitExit = "exit"  // expected statuses, separated by blanks
)

// Locate reads the command lines of a suite. The suite is a folder below the
// target's path, in which they run, or one program file there; a file runs in the
// target's path, and is then the program of every case. search is the search path
// of programs where the order has none of its own; "" is that of this process.
func Locate(adapter string, o order.Order, s order.Suite, search string) (harness.Suite, error) {
	if !filepath.IsLocal(s.Suite) {
		return harness.Suite{}, fault.New(fault.OutsidePath, op, "%q leaves the target's directory", s.Suite).At("/suites/0/suite")
	}
	base, err := filepath.Abs(o.Target.Path)
	if err != nil {
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "no working directory")
	}
	path := filepath.Join(base, s.Suite)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "neither a folder nor a program: %s", path).At("/suites/0/suite")
	case !info.IsDir() && !programs.Executable(path):
		return harness.Suite{}, fault.New(fault.Target, op, "not executable: %s", path).At("/suites/0/suite")
	}
	out := harness.Suite{Adapter: adapter, Dir: path, SourceDir: harness.FirstOf(o.Target.SourceDir, base), Traits: map[string]string{}}
	file := ""
	if !info.IsDir() {
		out.Dir, file = base, path
	}
	cases, err := read(s, file)
	if err != nil {
		return out, err
	}
	if err := place(&out, base, file, programs.SearchPath(o, search), cases); err != nil {
		return out, err
	}
	return out, statuses(&out, s)
}

// written is one command line, and where the order has it.
type written struct {
	name, pointer string
	argv          []string
}

// read takes the command lines out of the parameters, sorted by the names of
// their cases.
func read(s order.Suite, file string) ([]written, error) {
	one, isOne := s.Parameters.Get(ParamArgv)
	many, isMany := s.Parameters.Get(ParamCases)
	refuse := func(pointer, format string, args ...any) *fault.Error {
		return fault.New(fault.Refused, op, format, args...).At(pointer)
	}
	switch {
	case isOne && isMany:
		return nil, refuse(parameters+"/"+ParamArgv, "%s is one case, %s are several", ParamArgv, ParamCases)
	case isOne:
		pointer := parameters + "/" + ParamArgv
		argv, err := arguments(one, pointer)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(argv[0])
		if !isName(name) {
			return nil, refuse(pointer, "%q names no case", name)
		}
		return []written{{name, pointer, argv}}, nil
	case !isMany && file != "":
		name := filepath.Base(file)
		if !isName(name) {
			return nil, refuse("/suites/0/suite", "%q names no case", name)
		}
		return []written{{name, "/suites/0/suite", []string{file}}}, nil
	case !isMany:
		return nil, refuse(parameters, "no command line").Help("give %s, or %s by name", ParamArgv, ParamCases)
	case many.Kind() != canon.Object || many.Len() == 0:
		return nil, refuse(parameters+"/"+ParamCases, "cases are an object of command lines by name")
	}
	var out []written
	for _, m := range many.Members() {
		pointer := canon.PointerTo(parameters+"/"+ParamCases, m.Name)
		if !isName(m.Name) {
			return nil, refuse(pointer, "%q names no case", harness.Clip(m.Name))
		}
		argv, err := arguments(m.Value, pointer)
		if err != nil {
			return nil, err
		}
		out = append(out, written{m.Name, pointer, argv})
	}
	slices.SortFunc(out, func(a, b written) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// isName reports whether a case may be called so: a line of printable text.
func isName(s string) bool {
	return s != "" && s != "." && s != "/" && len(s) <= 200 && strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(c rune) bool { return !strconv.IsPrint(c) })
}

func arguments(v canon.Value, pointer string) ([]string, error) {
	bad := func(at, format string, args ...any) error {
		return fault.New(fault.Refused, op, format, args...).At(at).Help("a command line is a list of texts, the program first")
	}
	if v.Kind() != canon.Array || v.Len() == 0 {
		return nil, bad(pointer, "no command line")
	}
	var out []string
	for i, e := range v.Elems() {
		text, isText := e.String()
		at := pointer + "/" + strconv.Itoa(i)
		switch {
		case !isText:
			return nil, bad(at, "an argument is a text, not %s", e.Kind())
		case strings.ContainsRune(text, 0):
			return nil, bad(at, "an argument with a NUL byte cannot be passed")
		case i == 0 && text == "":
			return nil, bad(at, "the program has no name")
		}
		out = append(out, text)
	}
	return out, nil
}

// place finds the programs of all cases.
func place(out *harness.Suite, base, file, search string, cases []written) error {
	programs := map[string]bool{}
	for _, c := range cases {
		program, ok := find(c.argv[0], out.Dir, search)
		switch {
		case !ok:
			return fault.New(fault.Target, op, "no such program: %s", c.argv[0]).At(c.pointer).
				Help("give a path from %s, an absolute one, or the name of a program in PATH", out.Dir)
		case file != "" && !same(program, file):
			return fault.New(fault.Refused, op, "%s starts another program than the suite, which is %s", c.argv[0], filepath.Base(file)).At(c.pointer)
		}
		b, err := json.Marshal(Command{program, c.argv})
		if err != nil {
			return fault.Wrap(err, fault.Internal, op, "no command line")
		}
		out.Traits[traitCase+c.name] = string(b)
		programs[program] = true
		if out.Program == "" {
			out.Program = program
		}
	}
	inside, err := filepath.Rel(base, out.Program)
	out.Shared = len(programs) > 1 || err != nil || !filepath.IsLocal(inside) || harness.LoadsMore(out.Program)
	return nil
}

// statuses notes the exit statuses that are expected.
func statuses(out *harness.Suite, s order.Suite) error {
	v, given := s.Parameters.Get(ParamExit)
	if !given {
		out.Traits[traitExit] = "0"
		return nil
	}
	pointer := parameters + "/" + ParamExit
	if v.Kind() != canon.Array || v.Len() == 0 {
		return fault.New(fault.Refused, op, "expected exit statuses are a list of numbers").At(pointer)
	}
	set := map[string]bool{}
	for i, e := range v.Elems() {
		n, ok := e.Int()
		if !ok || n < 0 || n > 255 {
			return fault.New(fault.Refused, op, "%s is no exit status", e.Canonical()).At(pointer + "/" + strconv.Itoa(i)).Help("programs end with 0 to 255")
		}
		set[strconv.FormatInt(n, 10)] = true
	}
	out.Traits[traitExit] = strings.Join(slices.Sorted(maps.Keys(set)), " ")
	return nil
}

// Cases lists the cases of a suite in the order of their names.
func Cases(s harness.Suite) []order.Case {
	var out []order.Case
	for trait := range s.Traits {
		if name, ok := strings.CutPrefix(trait, traitCase); ok {
			out = append(out, order.Case{Name: name})
		}
	}
	slices.SortFunc(out, func(a, b order.Case) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Of returns the command line of a case. A case that the suite does not have is
// fault.Refused.
func Of(s harness.Suite, name string) (Command, error) {
	var c Command
	text, ok := s.Traits[traitCase+name]
	if !ok {
		return c, fault.New(fault.Refused, "plan case", "the suite has no case %q", harness.Clip(name)).At("/plan")
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fault.Wrap(err, fault.Internal, "plan case", "no command line")
	}
	return c, nil
}

// Expected are the exit statuses with which a repetition counts.
func Expected(s harness.Suite) []int {
	var out []int
	for _, f := range strings.Fields(s.Traits[traitExit]) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
