package harness_test

import (
	"os"
	"path/filepath"
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
