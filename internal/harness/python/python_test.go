package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/testkit"
)

// tree has a suite, and folders with interpreters that are none.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"bench/mod.py": 0o644, "first/python3": 0o755, "second/python": 0o755, "second/python3": 0o755, "third/python": 0o644, "third/snake": 0o755,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho \"$0 here\" >&2; exit 3\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	in := func(names ...string) string {
		for i := range names {
			names[i] = filepath.Join(dir, names[i])
		}
		return strings.Join(names, ":")
	}
	for name, tc := range map[string]struct {
		search, ordered, parameter string
		want                       string // program below dir
	}{
		"python3 alone":         {in("first"), "", "", "first/python3"},
		"python before python3": {in("first", "second"), "", "", "second/python"},
		"not executable":        {in("third", "first"), "", "", "first/python3"},
		"the order's path":      {in("first"), in("second"), "", "second/python"},
		"relative folders":      {".:first:" + in("first"), "", "", "first/python3"},
		"by name":               {in("first", "third"), "", "snake", "third/snake"},
		"by path":               {"", "", in("third/snake"), "third/snake"},
	} {
		o := order.Order{Target: order.Target{Kind: order.WorkingTree, Path: dir}}
		s := order.Suite{Suite: "bench/./mod.py", Filter: "f"}
		if tc.ordered != "" {
			o.EnvironmentVariables = map[string]string{"PATH": tc.ordered}
		}
		if tc.parameter != "" {
			s.Parameters = canon.MustFrom(map[string]string{Param: tc.parameter})
		}
		got, file, err := Locate("a", o, s, tc.search)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Program != filepath.Join(dir, tc.want) || file != "bench/mod.py" || got.Dir != dir || got.SourceDir != dir || !got.Shared || got.Filter != "f" || got.Adapter != "a" {
			t.Errorf("%s: %+v %s", name, got, file)
		}
	}
}

func TestLocateRefusals(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	for name, tc := range map[string]struct {
		suite      string
		parameters any
		want       fault.Code
		pointer    string
	}{
		"outside":            {"../mod.py", nil, fault.OutsidePath, "/suites/0/suite"},
		"missing":            {"none.py", nil, fault.Target, "/suites/0/suite"},
		"no interpreter":     {"bench/mod.py", map[string]any{Param: "none"}, fault.Target, "/suites/0/suite"},
		"relative path":      {"bench/mod.py", map[string]any{Param: "first/python3"}, fault.Target, "/suites/0/suite"},
		"no executable path": {"bench/mod.py", map[string]any{Param: filepath.Join(dir, "third/python")}, fault.Target, "/suites/0/suite"},
		"a number":           {"bench/mod.py", map[string]any{Param: 3}, fault.Refused, "/suites/0/parameters/python"},
		"nothing":            {"bench/mod.py", map[string]any{Param: ""}, fault.Refused, "/suites/0/parameters/python"},
	} {
		o := order.Order{Target: order.Target{Path: dir}}
		_, _, err := Locate("a", o, order.Suite{Suite: tc.suite, Parameters: canon.MustFrom(tc.parameters)}, filepath.Join(dir, "first"))
		if e, _ := fault.As(err); fault.CodeOf(err) != tc.want || e.Pointer != tc.pointer {
			t.Errorf("%s: got %v, want %s at %s", name, err, tc.want, tc.pointer)
		}
	}
	o := order.Order{EnvironmentVariables: map[string]string{"PYTEST_ADDOPTS": "-x"}}
	if e, _ := fault.As(RefuseVariables("a", o, "X", "PYTEST_")); e == nil || e.Code != fault.Refused || e.Pointer != "/environment_variables/PYTEST_ADDOPTS" {
		t.Errorf("got %v", e)
	}
	if err := RefuseVariables("a", o, "PYPERF_"); err != nil {
		t.Error(err)
	}
}

func TestSettleRefusals(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/usr/bin/python3"}
	for name, out := range map[string]harness.Output{
		"no file":     harnesstest.Ended(0, nil),
		"status":      harnesstest.Ended(1, map[string][]byte{probeFile: []byte(`{}`)}),
		"no JSON":     harnesstest.Ended(0, map[string][]byte{probeFile: []byte(`{`)}),
		"other JSON":  harnesstest.Ended(0, map[string][]byte{probeFile: []byte(`{"python":3}`)}),
		"not there":   harnesstest.Ended(0, map[string][]byte{probeFile: []byte(`{"python":"3","missing":{"b":"no","a":"none"}}`)}),
		"more fields": harnesstest.Ended(0, map[string][]byte{probeFile: []byte(`{"new":1}`)}),
	} {
		_, _, err := Settle(s, out)
		if fault.CodeOf(err) != fault.Target {
			t.Errorf("%s: %v", name, err)
		}
		if name == "not there" && !strings.Contains(err.Error(), "a is not importable by /usr/bin/python3: none") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// prober only probes.
type prober struct{ harness.Harness }

func TestARealInterpreter(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		testkit.Skip(t, "a Python interpreter", "apt-get install -y python3")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "own.py"), []byte("print('stray')\n__version__ = 7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := harnesstest.Drive(t, prober{})
	s := harness.Suite{Program: program, Dir: dir}
	got, versions, err := Settle(s, d.Launch(Probe(s, "json", "own")))
	if err != nil {
		t.Fatal(err)
	}
	if versions["own"] != "7" || versions["json"] == "" || got.Runtime["implementation"] == "" || !strings.HasPrefix(got.Runtime["python"], "3.") {
		t.Errorf("got %+v %v", got, versions)
	}
	if _, _, err := Settle(s, d.Launch(Probe(s, "json", "no_such_module"))); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), "no_such_module") {
		t.Errorf("a missing module: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "__pycache__")); err == nil {
		t.Error("the interpreter wrote into the tree")
	}
	fake := harness.Suite{Program: filepath.Join(tree(t), "first", "python3"), Dir: dir}
	if _, _, err := Settle(fake, d.Launch(Probe(fake))); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), "python3 here") {
		t.Errorf("another program: %v", err)
	}
}
