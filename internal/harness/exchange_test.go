package harness_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
)

func TestExchange(t *testing.T) {
	t.Parallel()
	inv := harness.Invocation{
		Argv:      []string{"/bin/x", "--out=" + harness.InExchange("out.json"), "plain"},
		Variables: map[string]string{"WHERE": harness.Exchange, "A": "b"},
		Inputs:    []harness.File{{Name: "driver.py", Bytes: []byte("pass\n")}},
		Outputs:   []harness.File{{Name: "out.json"}, {Name: "absent"}, {Name: "link"}, {Name: "pipe"}, {Name: "huge"}, {Name: "folder"}, {Name: "inside"}},
	}
	if !inv.Exchanges() || (harness.Invocation{}).Exchanges() {
		t.Error("who exchanges?")
	}
	dir := t.TempDir()
	got, err := inv.In(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := inv
	want.Argv = []string{"/bin/x", "--out=" + dir + "/out.json", "plain"}
	want.Variables = map[string]string{"WHERE": dir, "A": "b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if inv.Argv[1] == got.Argv[1] {
		t.Error("the invocation itself was changed")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "driver.py")); err != nil || string(b) != "pass\n" {
		t.Errorf("input: %q %v", b, err)
	}
	if _, err := inv.In(dir); fault.CodeOf(err) != fault.Internal {
		t.Errorf("a directory that is not empty: %v", err)
	}

	outside := filepath.Join(t.TempDir(), "secret")
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "out.json"), []byte("{}"), 0o600),
		os.WriteFile(outside, []byte("secret"), 0o600),
		os.Symlink(outside, filepath.Join(dir, "link")),
		os.Symlink("out.json", filepath.Join(dir, "inside")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		os.WriteFile(filepath.Join(dir, "huge"), nil, 0o600),
		os.Truncate(filepath.Join(dir, "huge"), harness.MaxFile+1),
		os.Mkdir(filepath.Join(dir, "folder"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var out harness.Output
	if err := inv.Collect(dir, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"out.json": []byte("{}")}, out.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	const none, large = "no ordinary file", "larger than what is read of a file"
	if diff := cmp.Diff(map[string]string{"link": none, "inside": none, "pipe": none, "folder": none, "huge": large}, out.Unread); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
}

func TestExchangeNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "..", "a/b", "/a", ".hidden", "a b", "é", "a\x00"} {
		for _, inv := range []harness.Invocation{{Inputs: []harness.File{{Name: name}}}, {Outputs: []harness.File{{Name: name}}}} {
			dir := t.TempDir()
			_, in := inv.In(dir)
			if err := inv.Collect(dir, &harness.Output{}); fault.CodeOf(in) != fault.Internal && fault.CodeOf(err) != fault.Internal {
				t.Errorf("%q is taken", name)
			}
		}
	}
	if _, err := (harness.Invocation{}).In(filepath.Join(t.TempDir(), "none")); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no directory: %v", err)
	}
	if err := (harness.Invocation{}).Collect(filepath.Join(t.TempDir(), "none"), &harness.Output{}); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no directory: %v", err)
	}
}

// TestOutputsThatTheHarnessPlaces: a file is found by the end of its path, and only
// when there is one.
func TestOutputsThatTheHarnessPlaces(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{
		"home/group/case/new/sample.json", "home/group/case/base/sample.json", "home/report/index.html", "twice/a/end.json", "twice/b/c/end.json",
		"results/box/12345678-existing-py.json", "results/box/machine.json",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(outside, "in"), 0o700), os.WriteFile(filepath.Join(outside, "in", "secret"), nil, 0o600), os.Symlink(outside, filepath.Join(dir, "out")),
		os.Symlink("../home/report/index.html", filepath.Join(dir, "results", "link.html"))); err != nil {
		t.Fatal(err)
	}
	below := func(patterns ...string) (inv harness.Invocation) {
		for i, p := range patterns {
			inv.Outputs = append(inv.Outputs, harness.File{Name: "f" + strconv.Itoa(i), Below: p})
		}
		return inv
	}
	var out harness.Output
	inv := below("new/sample.json", "results/*/????????-existing-*.json", "end.json", "in/secret", "ew/sample.json", "results/link.html", "[", "home/group/case/new/sample.json", "x/home/group/case/new/sample.json")
	if err := inv.Collect(dir, &out); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"f0": []byte("home/group/case/new/sample.json"), "f1": []byte("results/box/12345678-existing-py.json"), "f7": []byte("home/group/case/new/sample.json")}
	if diff := cmp.Diff(files, out.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"f2": "not the only file of its kind", "f5": "no ordinary file"}, out.Unread); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
}
