package customjson

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

func second[T any](_ T, err error) error { return err }

func pointerOf(err error) string {
	if e, ok := fault.As(err); ok && fault.CodeOf(err) == fault.Refused {
		return e.Pointer
	}
	return ""
}

// TestInvocation is the precision matrix: arguments, or the place in the order that
// cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	two := 2
	fixed := order.Precision{Repetitions: order.Times(4), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 50}}
	adaptive := order.Precision{Repetitions: order.Times(4), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.00001}}
	counted := order.Precision{Repetitions: order.Times(4), Warmup: &order.Warmup{Mode: order.Count, NWarmup: &two}}
	timed := order.Precision{Repetitions: order.Times(4), Warmup: &order.Warmup{Mode: order.Time, Seconds: 0.5}}
	none := order.Precision{Repetitions: order.Times(4), Warmup: &order.Warmup{Mode: order.None}}
	out := harness.InExchange(nativeFile)
	convention := func(more ...string) []string {
		return append([]string{"/tree/bench", "--case", "a b", "--repetitions", "4", "--out", out}, more...)
	}
	for name, tc := range map[string]struct {
		parameters string
		p          order.Precision
		argv       []string
		refused    string // pointer
	}{
		"convention":             {`{}`, times(4), convention(), ""},
		"iterations":             {`{}`, fixed, convention("--iterations", "50"), ""},
		"seconds":                {`{}`, adaptive, convention("--seconds", "0.00001"), ""},
		"warm-up by count":       {`{}`, counted, convention("--warmups", "2"), ""},
		"warm-up by time":        {`{}`, timed, convention("--warmup-seconds", "0.5"), ""},
		"no warm-up":             {`{}`, none, convention(), ""},
		"one text":               {`{"run":["-n{repetitions}x","{{{case}}}"]}`, times(4), []string{"/tree/bench", "-n4x", "{a b}"}, ""},
		"command":                {`{"command":["/x","-u","{suite}"],"run":["{case}"]}`, times(4), []string{"/tree/bench", "-u", "/tree/bench", "a b"}, ""},
		"one case":               {`{"cases":["a b"],"run":[]}`, times(4), []string{"/tree/bench"}, ""},
		"two levels":             {`{}`, order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 3}, {Unit: "repetition", N: 3}}}}, nil, "/precision/repetitions/levels/1"},
		"no place: iterations":   {`{"run":["{case}"]}`, fixed, nil, "/precision/calibration/n_iterations"},
		"no place: seconds":      {`{"run":["{case}"]}`, adaptive, nil, "/precision/calibration/minimum_sample_seconds"},
		"no place: warm-ups":     {`{"run":["{case}"]}`, counted, nil, "/precision/warmup/n_warmup"},
		"no place: warm-up time": {`{"run":["{case}"]}`, timed, nil, "/precision/warmup/seconds"},
		"must be told":           {`{"run":["{case}","{iterations}"]}`, times(4), nil, "/suites/0/parameters/run"},
	} {
		inv, err := Adapter{}.Invocation(suite(tc.parameters), "a b", tc.p)
		if diff := cmp.Diff(tc.argv, inv.Argv); diff != "" || pointerOf(err) != tc.refused || (err == nil) != (tc.refused == "") {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for _, bad := range []string{"", "a\nb", "a\x00", "\xff"} {
		if _, err := (Adapter{}).Invocation(suite(`{}`), bad, times(1)); pointerOf(err) != "/plan" {
			t.Errorf("%q: %v", bad, err)
		}
	}
	inv, err := Adapter{}.Invocation(suite(`{"run":["{case}"]}`), "a", times(1))
	if err != nil || len(inv.Outputs) != 0 {
		t.Errorf("standard output: %+v %v", inv, err)
	}
}

func TestParametersThatAreRefused(t *testing.T) {
	t.Parallel()
	for parameters, pointer := range map[string]string{
		`{"run":"{case}"}`:                  "/suites/0/parameters/run",
		`{"run":["{case}",1]}`:              "/suites/0/parameters/run/1",
		`{"run":["{case}",["a",["b"]]]}`:    "/suites/0/parameters/run/1",
		`{"run":["{cases}"]}`:               "/suites/0/parameters/run/0",
		`{"run":["{case"]}`:                 "/suites/0/parameters/run/0",
		`{"run":["{case}","}"]}`:            "/suites/0/parameters/run/1",
		`{"run":["{case}","{parameter:}"]}`: "/suites/0/parameters/run/1",
		`{"run":["{case}","\u0000"]}`:       "/suites/0/parameters/run/1",
		`{"run":["once"]}`:                  "/suites/0/parameters/run",
		`{"list":["{case}"]}`:               "/suites/0/parameters/list/0",
		`{"command":["{out}"]}`:             "/suites/0/parameters/command/0",
		`{"command":[]}`:                    "/suites/0/parameters/command",
		`{"cases":"a"}`:                     "/suites/0/parameters/cases",
		`{"cases":["a",""]}`:                "/suites/0/parameters/cases",
		`{"cases":["a"],"list":["--list"]}`: "/suites/0/parameters/cases",
	} {
		dir := tree(t, map[string]string{"bench": "#!/bin/sh\n"})
		o := treeOrder(t, dir, "bench", parameters)
		if err := second(Adapter{}.Locate(o, o.Suites[0])); pointerOf(err) != pointer {
			t.Errorf("%s: %v, want a refusal at %s", parameters, err, pointer)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"bench": "#!/bin/sh\n", "tool": "#!/bin/sh\n"})
	o := treeOrder(t, dir, "bench", `{"command":["tool","{suite}"],"run":["{case}","--size={parameter:size}","{parameter:text}"]}`)
	o.WorkloadParameters = map[string]canon.Value{"size": canon.IntOf(7), "text": canon.StringOf("x y")}
	s, err := Adapter{Path: dir}.Locate(o, o.Suites[0])
	if err != nil {
		t.Fatal(err)
	}
	inv, err := Adapter{}.Invocation(s, "a", times(1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{dir + "/tool", dir + "/bench", "a", "--size=7", "x y"}, inv.Argv); diff != "" || inv.Dir != dir || !s.Shared || s.SourceDir != dir {
		t.Errorf("%+v (-want +got):\n%s", s, diff)
	}
	o.WorkloadParameters["depth"] = canon.IntOf(1)
	if err := second(Adapter{Path: dir}.Locate(o, o.Suites[0])); pointerOf(err) != "/workload_parameters/depth" {
		t.Errorf("a parameter without a place: %v", err)
	}
	for name, tc := range map[string]struct{ file, parameters string }{
		"no such suite":   {"none", `{}`},
		"not executable":  {"data", `{}`},
		"no such program": {"bench", `{"command":["no-such-program"]}`},
	} {
		dir := tree(t, map[string]string{"bench": ""})
		chmod(t, dir+"/data")
		o := treeOrder(t, dir, tc.file, tc.parameters)
		if err := second(Adapter{Path: dir}.Locate(o, o.Suites[0])); fault.CodeOf(err) != fault.Target {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	list := func(exit int, text string) []harness.Output {
		out := ended(exit, "")
		out.Stdout = []byte(text)
		return []harness.Output{out}
	}
	for name, tc := range map[string]struct {
		parameters string
		listed     []harness.Output
		want       []string
		code       fault.Code
	}{
		"lines":        {`{}`, list(0, "a\r\n\n b c\n"), []string{"a", " b c"}, ""},
		"array":        {`{}`, list(0, ` ["a","b/c"] `), []string{"a", "b/c"}, ""},
		"nothing":      {`{}`, list(0, ""), nil, ""},
		"given":        {`{"cases":["x","y"]}`, nil, []string{"x", "y"}, ""},
		"given nobody": {`{"cases":[]}`, nil, nil, ""},
		"failed":       {`{}`, list(1, "a\n"), nil, fault.Harness},
		"array cut":    {`{}`, list(0, `["a",`), nil, fault.Harness},
		"no names":     {`{}`, list(0, `[1]`), nil, fault.Harness},
		"control":      {`{}`, list(0, "a\tb\n"), nil, fault.Harness},
		"no listing":   {`{}`, nil, nil, fault.Internal},
	} {
		cases, err := Adapter{}.Cases(suite(tc.parameters), tc.listed)
		var got []string
		for _, c := range cases {
			got = append(got, c.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if got := (Adapter{}).Listing(suite(`{"cases":["x"]}`)); got != nil {
		t.Errorf("a listing that nobody needs: %+v", got)
	}
	if got := (Adapter{}).Listing(suite(`{"list":["-l"]}`)); len(got) != 1 || got[0].Argv[1] != "-l" {
		t.Errorf("listing %+v", got)
	}
}
