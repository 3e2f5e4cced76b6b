package capture

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
)

func TestCheckoutTreeIDs(t *testing.T) {
	t.Parallel()
	git := through(t)
	dir := repository(t, git, map[string]string{"bench.cpp": "// work = 100\n"})
	check := func(name, dirty, tree string) Identity {
		t.Helper()
		id, err := Checkout(t.Context(), git, dir, t.TempDir())
		if err != nil {
			t.Fatal(name, err)
		}
		if id.Dirty != dirty || id.Tree != tree || id.VCS != "git" || !hexID.MatchString(id.Revision) {
			t.Errorf("%s: got %+v, want %s %s", name, id, dirty, tree)
		}
		return id
	}
	first := check("clean", Clean, "045f481beca8a3dc3cebbfae17a4e49d6366560a")
	head, err := git(t.Context(), dir, nil, "rev-parse", "HEAD^{tree}")
	if err != nil || strings.TrimSpace(string(head)) != first.Tree {
		t.Errorf("a clean checkout is not its commit's tree: %s %v", head, err)
	}
	files(t, dir, map[string]string{"bench.cpp": "// work = 102\n"})
	second := check("changed", Dirty, "8890417e55690b662ecfe3e362b6ca03438ab31c")
	if second.Revision != first.Revision {
		t.Error("the revision changed without a commit")
	}
	files(t, dir, map[string]string{"sub/new": ""})
	check("untracked", Dirty, "71e1e44a8377f0e80e171119cee0ed4d07bc0025")
	files(t, dir, map[string]string{".git/info/exclude": "ignored\n", "ignored": "x"})
	check("ignored", Dirty, "71e1e44a8377f0e80e171119cee0ed4d07bc0025")
}

func TestCheckoutFromASubdirectoryAndAWorktree(t *testing.T) {
	t.Parallel()
	git := through(t)
	dir := repository(t, git, map[string]string{"a/b.txt": "1\n"})
	want, err := Checkout(t.Context(), git, dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := git(t.Context(), dir, nil, "remote", "add", "origin", "https://example.org/a.git"); err != nil {
		t.Fatal(err)
	}
	want.Origin = "https://example.org/a.git"
	got, err := Checkout(t.Context(), git, filepath.Join(dir, "a"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subdirectory (-want +got):\n%s", diff)
	}
	tree := filepath.Join(t.TempDir(), "second")
	if _, err := git(t.Context(), dir, nil, "worktree", "add", "-q", "--detach", tree); err != nil {
		t.Fatal(err)
	}
	want.Top = tree
	if got, err = Checkout(t.Context(), git, tree, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("worktree (-want +got):\n%s", diff)
	}
}

// state is every file below dir with its content and, but for objects, its time of
// change: git marks objects that it would have written as recently wanted.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[name] = string(b)
		if !strings.Contains(name, "/objects/") {
			out[name] += info.ModTime().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCheckoutTouchesNothing(t *testing.T) {
	t.Parallel()
	git := through(t)
	dir := repository(t, git, map[string]string{"a.txt": "1\n", "b.txt": "2\n"})
	files(t, dir, map[string]string{"a.txt": "changed\n", "new.txt": "untracked\n"})
	if _, err := git(t.Context(), dir, nil, "add", "a.txt"); err != nil { // a half-made commit of the user
		t.Fatal(err)
	}
	before, scratch := state(t, dir), t.TempDir()
	if _, err := Checkout(t.Context(), git, dir, scratch); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, state(t, dir)); diff != "" {
		t.Errorf("the repository changed (-before +after):\n%s", diff)
	}
	if left := state(t, scratch); len(left) > 0 {
		t.Errorf("scratch files are left: %v", left)
	}
}

func TestCheckoutRefusals(t *testing.T) {
	t.Parallel()
	git := through(t)
	if _, err := Checkout(t.Context(), git, t.TempDir(), t.TempDir()); fault.CodeOf(err) != fault.Target {
		t.Errorf("outside git: got %v", err)
	}
	empty := t.TempDir()
	if _, err := git(t.Context(), empty, nil, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	if _, err := Checkout(t.Context(), git, empty, t.TempDir()); fault.CodeOf(err) != fault.Target {
		t.Errorf("no commit: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Checkout(ctx, git, empty, t.TempDir()); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("called off: got %v", err)
	}
	dir := repository(t, git, map[string]string{"a.txt": "1\n"})
	id, err := Checkout(t.Context(), git, dir, "/no/such/scratch")
	if err != nil || id.Dirty != Unknown || id.Tree != "" || id.Revision == "" {
		t.Errorf("no scratch: got %+v %v, want an unknown state", id, err)
	}
}

func TestDirectoryTreeIDs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tree map[string]string
		want string
	}{
		"two files":       {map[string]string{"a.txt": "hello\n", "sub/b.py": "x=1\n"}, "59a4a46c52fb11a87958481932493433d1d5c174"},
		"component order": {map[string]string{"a/b.txt": "1", "a-b.txt": "2"}, "950847adc4eadc630c984d2a214dd1656ff63c8f"},
		"skipped": {map[string]string{"a.txt": "hello\n", "sub/b.py": "x=1\n", ".git/x": "1", "sub/__pycache__/b.pyc": "2", ".benchx/c": "3"},
			"59a4a46c52fb11a87958481932493433d1d5c174"},
	} {
		dir := files(t, t.TempDir(), tc.tree)
		if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		got, err := Directory(t.Context(), dir)
		want := Identity{Top: dir, Revision: "directory-" + tc.want, Dirty: Dirty, Tree: tc.want, VCS: "directory"}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if _, err := Directory(t.Context(), filepath.Join(t.TempDir(), "missing")); fault.CodeOf(err) != fault.Target {
		t.Errorf("missing directory: got %v", err)
	}
}

func TestSubjectName(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://example.org/team/demo.git":  "demo",
		"https://example.org/team/demo/":     "demo",
		"https://example.org/demo?x=1#y":     "demo",
		"git@example.org:team/demo.git":      "demo",
		"git@example.org:demo.git":           "demo",
		"file:///home/a/my%20repo":           "my%20repo",
		"file:///home/a/two words":           "subject",
		"https://example.org":                "subject",
		"https://example.org/":               "subject",
		"":                                   "subject",
		"/srv/git/x.git":                     "x",
		"https://example.org/.git":           "subject",
		"ssh://git@example.org:22/a/b.c.git": "b.c",
	} {
		if got := SubjectName(uri); got != want {
			t.Errorf("SubjectName(%q) = %q, want %q", uri, got, want)
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	environ := []string{"LD_LIBRARY_PATH=/l", "MY_TOOL_PREFIX=/p", "SECRET_TOKEN=s", "GOMAXPROCS=2", "odd"}
	for operator, want := range map[string]map[string]string{
		"":                                 {"LD_LIBRARY_PATH": "/l"},
		"MY_TOOL_PREFIX, ,LD_LIBRARY_PATH": {"LD_LIBRARY_PATH": "/l", "MY_TOOL_PREFIX": "/p"},
	} {
		if diff := cmp.Diff(want, Environ(environ, nil, operator)); diff != "" {
			t.Errorf("operator %q (-want +got):\n%s", operator, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"LD_LIBRARY_PATH": "/l", "GOMAXPROCS": "2"}, Environ(environ, []string{"GOMAXPROCS"}, "")); diff != "" {
		t.Errorf("harness (-want +got):\n%s", diff)
	}
	if got := Environ([]string{"A=1"}, nil, ""); got != nil {
		t.Errorf("got %v, want nil", got)
	}
	want := []string{"A=3", "B=2", "C=4"}
	if diff := cmp.Diff(want, Merge([]string{"B=2", "A=1", "=x", "odd"}, map[string]string{"A": "3", "C": "4"})); diff != "" {
		t.Errorf("merge (-want +got):\n%s", diff)
	}
}
