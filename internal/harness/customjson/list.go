package customjson

import (
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// Listing implements harness.Harness. Cases that the order names need none.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	args, err := of(s)
	if err != nil || args.cases != nil {
		return nil
	}
	line, _ := argv(s, args, args.list, nil)
	return []harness.Invocation{{Argv: line, Dir: s.Dir}}
}

// Cases implements harness.Harness: a name on each line, or one JSON array of names.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list cases"
	args, err := of(s)
	if err != nil {
		return nil, err
	}
	names := args.cases
	if names == nil {
		if len(listed) != 1 {
			return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
		}
		out := listed[0]
		if !out.Result.OK() {
			return nil, fault.New(fault.Harness, op, "the cases are not listed: the program %s: %s", out.End(), out.LastWords()).
				Help("run it by hand, or name the cases in suites[].parameters.%s", ParamCases)
		}
		if names, err = namesIn(string(out.Stdout)); err != nil {
			return nil, fault.Wrap(err, fault.Harness, op, "the listing is neither lines nor an array of names")
		}
	}
	var cases []order.Case
	for _, name := range names {
		if !isName(name) {
			return nil, fault.New(fault.Harness, op, "%q is no name of a case", harness.Clip(name))
		}
		cases = append(cases, order.Case{Name: name})
	}
	return cases, nil
}

func namesIn(text string) (names []string, err error) {
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			return nil, err
		}
		err = v.Decode(&names)
		return names, err
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			names = append(names, line)
		}
	}
	return names, nil
}
