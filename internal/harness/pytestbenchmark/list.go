package pytestbenchmark

import (
	_ "embed"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

//go:embed list.py
var lister []byte

const (
	listScript = "list.py"
	listFile   = "cases.json"
)

// Listing implements harness.Harness. Pytest's own listing is not enough: it has
// tests that measure nothing, too.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	argv := append([]string{s.Program, harness.InExchange(listScript), harness.InExchange(listFile)}, common(s)...)
	argv = append(argv, "--collect-only", "-q")
	if s.Filter != "" {
		argv = append(argv, "-k", s.Filter)
	}
	return []harness.Invocation{{
		Argv: append(argv, s.Traits[traitFile]), Dir: s.Dir, Variables: variables(),
		Inputs:  []harness.File{{Name: listScript, MediaType: "text/x-python", Bytes: lister}},
		Outputs: []harness.File{{Name: listFile, MediaType: "application/json"}},
	}}
}

// noTests is pytest's exit status when nothing was collected.
const noTests = 5

// Cases implements harness.Harness.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list tests"
	if len(listed) != 1 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	out := listed[0]
	failed := func(what string) error {
		e := fault.New(fault.Harness, op, "%s: pytest %s", what, out.End())
		if words := failureIn(out.Stdout); words != "" {
			e.Public += ": " + words
		} else if words := out.LastWords(); words != "" {
			e.Public += ": " + words
		}
		return e.Help("run it by hand with --collect-only --benchmark-only")
	}
	if !out.Result.OK() && out.Result.Exit != noTests {
		return nil, failed("the tests are not collected")
	}
	v, err := canon.Parse(out.Files[listFile])
	if err != nil {
		return nil, failed("the listing cannot be read")
	}
	var list struct {
		Cases  []string `json:"cases"`
		Status int      `json:"status"`
	}
	if err := v.Decode(&list); err != nil || list.Status != out.Result.Exit {
		return nil, failed("the listing is not complete")
	}
	var cases []order.Case
	for _, name := range list.Cases {
		if !isNode(name) {
			return nil, fault.New(fault.Harness, op, "%q is no node id of a test", harness.Clip(name))
		}
		cases = append(cases, order.Case{Name: name, From: s.Filter})
	}
	return cases, nil
}
