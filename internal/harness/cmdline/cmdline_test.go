package cmdline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness/programs"
	"writ/internal/order"
)

type object = map[string]any

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	tool, other := filepath.Join(dir, "tool"), filepath.Join(dir, "bin", "other")
	for name, tc := range map[string]struct {
		suite      string
		parameters any
		dir        string
		want       map[string]Command
		shared     bool
	}{
		"relative":       {".", object{"argv": []string{"./tool", "a", ""}}, dir, map[string]Command{"tool": {tool, []string{"./tool", "a", ""}}}, true},
		"absolute":       {".", object{"argv": []string{tool}}, dir, map[string]Command{"tool": {tool, []string{tool}}}, true},
		"searched for":   {"bin", object{"argv": []string{"tool"}}, filepath.Join(dir, "bin"), map[string]Command{"tool": {tool, []string{"tool"}}}, true},
		"folder":         {"bin", object{"argv": []string{"./other"}}, filepath.Join(dir, "bin"), map[string]Command{"other": {other, []string{"./other"}}}, true},
		"file":           {"tool", nil, dir, map[string]Command{"tool": {tool, []string{tool}}}, true},
		"file with argv": {"tool", object{"argv": []string{"./tool", "-x"}}, dir, map[string]Command{"tool": {tool, []string{"./tool", "-x"}}}, true},
		"cases": {".", object{"cases": object{"b": []string{"./tool", "1"}, "a é": []string{"bin/other"}}}, dir,
			map[string]Command{"b": {tool, []string{"./tool", "1"}}, "a é": {other, []string{"bin/other"}}}, true},
	} {
		o := orderOf(dir, tc.suite, tc.parameters)
		s, err := Locate("x", o, o.Suites[0], "relative:"+dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := map[string]Command{}
		for _, c := range Cases(s) {
			if got[c.Name], err = Of(s, c.Name); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || s.Dir != tc.dir || s.Shared != tc.shared || s.SourceDir != dir {
			t.Errorf("%s: %+v (-want +got):\n%s", name, s, diff)
		}
		if want := tc.want[Cases(s)[0].Name].Program; s.Program != want {
			t.Errorf("%s: the program is %s, not %s", name, s.Program, want)
		}
		if !slices.Equal(Expected(s), []int{0}) {
			t.Errorf("%s: expects %v", name, Expected(s))
		}
	}
	if _, err := Of(s0(t, dir), "no such"); fault.CodeOf(err) != fault.Refused {
		t.Errorf("got %v", err)
	}
}

// s0 is a suite with one case.
func s0(t *testing.T, dir string) (s suite) {
	t.Helper()
	o := orderOf(dir, "tool", object{"exit": []int{7, 0, 7, 12}})
	s, err := Locate("x", o, o.Suites[0], "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOnlyOneProgramIsTheSubject: equal bytes are equal code only for a program of
// the target that loads nothing of it.
func TestOnlyOneProgramIsTheSubject(t *testing.T) {
	t.Parallel()
	o := orderOf("/usr/bin", ".", object{"argv": []string{"/usr/bin/true"}})
	if s, err := Locate("x", o, o.Suites[0], ""); err != nil || s.Shared {
		t.Errorf("a program of the target: %+v %v", s, err)
	}
	o.Target.Path = t.TempDir()
	if s, err := Locate("x", o, o.Suites[0], ""); err != nil || !s.Shared {
		t.Errorf("a program from elsewhere: %+v %v", s, err)
	}
	o = orderOf("/usr/bin", ".", object{"cases": object{"a": []string{"/usr/bin/true"}, "b": []string{"/usr/bin/false"}}})
	if s, err := Locate("x", o, o.Suites[0], ""); err != nil || !s.Shared {
		t.Errorf("two programs: %+v %v", s, err)
	}
}

func TestLocateRefuses(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	const here = "/suites/0/parameters"
	for name, tc := range map[string]struct {
		suite      string
		parameters any
		code       fault.Code
		pointer    string
	}{
		"outside":           {"../x", nil, fault.OutsidePath, "/suites/0/suite"},
		"absent":            {"absent", object{"argv": []string{"true"}}, fault.Target, "/suites/0/suite"},
		"not executable":    {"data", nil, fault.Target, "/suites/0/suite"},
		"unnameable file":   {"odd name ", nil, fault.Target, "/suites/0/suite"},
		"nothing":           {".", nil, fault.Refused, here},
		"both":              {".", object{"argv": []string{"a"}, "cases": object{"a": []string{"a"}}}, fault.Refused, here + "/argv"},
		"text":              {".", object{"argv": "tool"}, fault.Refused, here + "/argv"},
		"empty":             {".", object{"argv": []string{}}, fault.Refused, here + "/argv"},
		"number":            {".", object{"argv": []any{"tool", 1}}, fault.Refused, here + "/argv/1"},
		"NUL":               {".", object{"argv": []string{"tool", "a\x00b"}}, fault.Refused, here + "/argv/1"},
		"no program":        {".", object{"argv": []string{"", "x"}}, fault.Refused, here + "/argv/0"},
		"nameless":          {".", object{"argv": []string{"/"}}, fault.Refused, here + "/argv"},
		"no cases":          {".", object{"cases": object{}}, fault.Refused, here + "/cases"},
		"list of cases":     {".", object{"cases": []string{"a"}}, fault.Refused, here + "/cases"},
		"broken case":       {".", object{"cases": object{"a/b": "x"}}, fault.Refused, here + "/cases/a~1b"},
		"name of two lines": {".", object{"cases": object{"a\nb": []string{"./tool"}}}, fault.Refused, here + "/cases/a\nb"},
		"long name":         {".", object{"cases": object{strings.Repeat("x", 201): []string{"./tool"}}}, fault.Refused, here + "/cases/" + strings.Repeat("x", 201)},
		"no such program":   {".", object{"cases": object{"a": []string{"nowhere"}}}, fault.Target, here + "/cases/a"},
		"no path":           {".", object{"argv": []string{"./nowhere"}}, fault.Target, here + "/argv"},
		"folder":            {".", object{"argv": []string{"./bin"}}, fault.Target, here + "/argv"},
		"another program":   {"tool", object{"argv": []string{"bin/other"}}, fault.Refused, here + "/argv"},
		"no statuses":       {"tool", object{"exit": []int{}}, fault.Refused, here + "/exit"},
		"one status":        {"tool", object{"exit": 1}, fault.Refused, here + "/exit"},
		"large status":      {"tool", object{"exit": []int{0, 256}}, fault.Refused, here + "/exit/1"},
		"half a status":     {"tool", object{"exit": []float64{0.5}}, fault.Refused, here + "/exit/0"},
		"status as text":    {"tool", object{"exit": []string{"0"}}, fault.Refused, here + "/exit/0"},
	} {
		o := orderOf(dir, tc.suite, tc.parameters)
		_, err := Locate("x", o, o.Suites[0], "relative")
		if e, ok := fault.As(err); !ok || e.Code != tc.code || e.Pointer != tc.pointer {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSearchPath(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	o := orderOf(dir, ".", object{"argv": []string{"other"}})
	if _, err := Locate("x", o, o.Suites[0], dir); fault.CodeOf(err) != fault.Target {
		t.Errorf("not there: %v", err)
	}
	o.EnvironmentVariables = map[string]string{"PATH": filepath.Join(dir, "bin")}
	if s, err := Locate("x", o, o.Suites[0], dir); err != nil || s.Program != filepath.Join(dir, "bin", "other") {
		t.Errorf("the order's own: %+v %v", s, err)
	}
	if _, ok := programs.Look("./tool", dir); ok {
		t.Error("a relative path was searched for")
	}
	if got := programs.SearchPath(order.Order{}, ""); got != os.Getenv("PATH") {
		t.Errorf("got %q", got)
	}
}

func TestExpected(t *testing.T) {
	t.Parallel()
	if got := Expected(s0(t, tree(t))); !slices.Equal(got, []int{0, 7, 12}) {
		t.Errorf("got %v", got)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	for name, want := range map[string]fault.Code{"data": "", "bin/other": "", "bin": fault.Target, "absent": fault.Target, "../x": fault.OutsidePath, "/etc/passwd": fault.OutsidePath, "": fault.OutsidePath} {
		path, err := File(dir, text(name))
		if fault.CodeOf(err) != want || (err == nil) != (path == filepath.Join(dir, name)) {
			t.Errorf("%q: %q %v", name, path, err)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	two := 2
	defaults := order.Precision{Repetitions: order.Times(10)}
	for name, tc := range map[string]struct {
		p    order.Precision
		want Counts
	}{
		"bare":    {order.Precision{Repetitions: order.Times(3)}, Counts{3, 0}},
		"level":   {order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: order.PlainUnit, N: 4}}}}, Counts{4, 0}},
		"none":    {order.Precision{Repetitions: order.Times(1), Warmup: &order.Warmup{Mode: order.None}}, Counts{1, 0}},
		"warm-up": {order.Precision{Repetitions: order.Times(1), Warmup: &order.Warmup{Mode: order.Count, NWarmup: &two}}, Counts{1, 2}},
	} {
		if got, err := Settle("x", defaults, tc.p); err != nil || got != tc.want {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}
