package revision

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/runner/proc"
)

// yard is a repository with one commit, and a yard beside it.
func yard(t *testing.T, command ...string) (Yard, string) {
	t.Helper()
	dir := t.TempDir()
	repo, err := gitcmd.Init(t.Context(), filepath.Join(dir, "repo"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.WriteTree(t.Context(), "", []gitcmd.File{{Path: "source", Content: []byte("text\n"), Mode: gitcmd.ModeFile}})
	if err != nil {
		t.Fatal(err)
	}
	who := gitcmd.Person{Name: "t", Email: "t@example.org", When: time.Unix(1e9, 0).UTC()}
	commit, err := repo.CommitTree(t.Context(), gitcmd.Commit{Tree: tree, Author: who, Committer: who, Message: "first\n"})
	if err != nil {
		t.Fatal(err)
	}
	k, err := proc.Start(t.Context(), proc.Isolation{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return Yard{Repo: repo, Dir: filepath.Join(dir, "yard"), Command: command, Launcher: k, Environ: os.Environ()}, commit
}

// empty checks that nothing is left of a yard.
func empty(t *testing.T, y Yard) {
	t.Helper()
	if left, _ := os.ReadDir(y.Dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if trees, _ := os.ReadDir(filepath.Join(y.Repo.Dir, ".git", "worktrees")); len(trees) > 0 {
		t.Errorf("the repository remembers %v", trees)
	}
}

func TestBuilding(t *testing.T) {
	t.Parallel()
	y, commit := yard(t, "sh", "-c", `cp source {out}/made && test "$WRIT_OUT" = {out} && echo said`)
	var said bytes.Buffer
	y.Progress = &said
	var builds []Build
	for _, name := range []string{"a", "b"} {
		b, err := y.Make(t.Context(), name, commit)
		if err != nil {
			t.Fatal(err)
		}
		if made, err := os.ReadFile(filepath.Join(b.Out, "made")); string(made) != "text\n" {
			t.Errorf("%q %v", made, err)
		}
		if log, err := os.ReadFile(b.Log); string(log) != "said\n" {
			t.Errorf("%q %v", log, err)
		}
		if tree, err := os.ReadDir(b.Tree); err != nil || len(tree) != 2 { // and .git
			t.Errorf("the worktree holds %v", tree)
		}
		builds = append(builds, b)
	}
	if len(builds[0].Tree) != len(builds[1].Tree) || len(builds[0].Out) != len(builds[1].Out) {
		t.Errorf("paths of two lengths: %s %s", builds[0].Tree, builds[1].Tree)
	}
	if words, err := Split(strings.TrimSpace(strings.SplitN(said.String(), ": ", 2)[1])); err == nil && len(words) == 0 {
		t.Error("nothing was said")
	}
	if !strings.HasPrefix(said.String(), "building "+commit[:12]+": sh -c '") {
		t.Errorf("said %q", &said)
	}
	if err := y.Remove(t.Context(), builds[0]); err != nil {
		t.Error(err)
	}
	if err := y.Remove(t.Context(), builds[0]); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	if err := y.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	empty(t, y)
	if err := y.Sweep(t.Context()); err != nil {
		t.Errorf("swept twice: %v", err)
	}
}

func TestCheckingOutOnly(t *testing.T) {
	t.Parallel()
	y, commit := yard(t)
	b, err := y.Make(t.Context(), "a", commit)
	if err != nil || b.Log != "" {
		t.Fatalf("%+v %v", b, err)
	}
	// A process that died may have left the folder and not the repository's memory of
	// it, or the other way round.
	if err := os.RemoveAll(b.Tree); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(y.Dir, "b", "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := y.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	empty(t, y)
}

func TestBuildsThatFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		limit   time.Duration
		says    string
	}{
		"status":        {[]string{"sh", "-c", "echo why; exit 3"}, 0, "ended with status 3\nwhy"},
		"silent":        {[]string{"false"}, 0, "ended with status 1"},
		"no program":    {[]string{"nosuchprogram"}, 0, "there is no program nosuchprogram"},
		"no such path":  {[]string{"./build.sh"}, 0, "there is no program ./build.sh"},
		"a folder":      {[]string{"./"}, 0, "there is no program ./"},
		"no executable": {[]string{"./source"}, 0, "does not start"},
		"too long":      {[]string{"sleep", "60"}, 50 * time.Millisecond, "took more than 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y, commit := yard(t, c.command...)
			y.Limit = c.limit
			_, err := y.Make(t.Context(), "a", commit)
			if fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			empty(t, y)
		})
	}
}

func TestStoppingABuild(t *testing.T) {
	t.Parallel()
	y, commit := yard(t, "sh", "-c", "touch {out}/begun; sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stop, halt := context.WithCancel(ctx)
	go func() {
		defer halt()
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(y.Dir, "a", "out", "begun")); err == nil {
				return
			}
		}
	}()
	if _, err := y.Make(stop, "a", commit); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("got %v", err)
	}
	empty(t, y)
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"go test -c":            {"go", "test", "-c"},
		"  a\t b \n":            {"a", "b"},
		`sh -c 'a "b" c'`:       {"sh", "-c", `a "b" c`},
		`sh -c "a 'b'"`:         {"sh", "-c", "a 'b'"},
		`a'b c'd ''`:            {"ab cd", ""},
		`a;b && $C | *`:         {"a;b", "&&", "$C", "|", "*"},
		`make O={out}/x "é è" `: {"make", "O={out}/x", "é è"},
	} {
		if got, err := Split(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q %v, want %q", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "  ", `""`, `a 'b`, `a "`} {
		if got, err := Split(bad); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%q: %q %v", bad, got, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		argv := rapid.SliceOfN(rapid.StringMatching(`[a-z"{} ]{0,6}`), 1, 5).Draw(t, "argv")
		argv[0] = "p" + argv[0]
		if got, err := Split(spell(argv)); err != nil || !slices.Equal(got, argv) {
			t.Fatalf("%q is spelled %s and read as %q, %v", argv, spell(argv), got, err)
		}
	})
}
