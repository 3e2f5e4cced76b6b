package programs

import (
	"os"
	"path/filepath"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/testkit"
)

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Program(t, filepath.Join(dir, "b", "tool"), nil)
	testkit.Program(t, filepath.Join(dir, "b", "other"), nil)
	if err := os.WriteFile(filepath.Join(dir, "a", "tool"), nil, 0o644); err != nil { // no program
		t.Fatal(err)
	}
	both := filepath.Join(dir, "a") + ":" + filepath.Join(dir, "b")
	for name, tc := range map[string]struct {
		search, ordered, parameter string
		want                       string // below dir, "" for none
		code                       fault.Code
	}{
		"first that is executable": {both, "", "", "b/tool", ""},
		"the order's own path":     {"", both, "", "b/tool", ""},
		"an empty path":            {both, "/none", "", "", fault.Target},
		"by name":                  {both, "", "other", "b/other", ""},
		"by path":                  {"", "", dir + "/b/other", "b/other", ""},
		"relative":                 {both, "", "b/other", "", fault.Target},
		"no program":               {both, "", dir + "/a/tool", "", fault.Target},
		"nothing":                  {both, "", "", "", fault.Refused},
	} {
		o, s := order.Order{}, order.Suite{}
		if tc.ordered != "" {
			o.EnvironmentVariables = map[string]string{"PATH": tc.ordered}
		}
		if tc.parameter != "" || name == "nothing" {
			s.Parameters = canon.MustFrom(map[string]string{"with": tc.parameter})
		}
		got, err := Find(o, s, "with", tc.search, "none", "tool")
		if fault.CodeOf(err) != tc.code || err == nil && got != filepath.Join(dir, tc.want) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	o := order.Order{Target: order.Target{Kind: order.WorkingTree, Path: "/tree"}}
	s, path, err := Tree("a", o, order.Suite{Suite: "bench/x", Filter: "f"})
	if err != nil || path != "/tree/bench/x" || s.Dir != "/tree" || s.SourceDir != "/tree" || s.Filter != "f" || !s.Shared || s.Adapter != "a" {
		t.Errorf("%+v %q %v", s, path, err)
	}
	o.Target.Kind = order.BuildTree
	if s, _, _ := Tree("a", o, order.Suite{Suite: "x"}); s.SourceDir != "" {
		t.Errorf("a build does not say where its source is: %+v", s)
	}
	for _, outside := range []string{"../x", "/x", ""} {
		if _, _, err := Tree("a", o, order.Suite{Suite: outside}); fault.CodeOf(err) != fault.OutsidePath {
			t.Errorf("%q: %v", outside, err)
		}
	}
	if err := Missing(os.ErrNotExist, "/tree/x"); fault.CodeOf(err) != fault.Target {
		t.Errorf("%v", err)
	}
	o.EnvironmentVariables = map[string]string{"HARNESS_FLAG": "1", "OTHER": "2"}
	if e, ok := fault.As(Refuse("a", o, "HARNESS_")); !ok || e.Code != fault.Refused || e.Pointer != "/environment_variables/HARNESS_FLAG" {
		t.Errorf("%v", e)
	}
	if err := Refuse("a", o, "NONE_"); err != nil {
		t.Errorf("%v", err)
	}
}
