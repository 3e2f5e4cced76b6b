package gitcmd_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/testkit"
)

// bare makes an empty bare repository.
func bare(t testing.TB) gitcmd.Repo {
	t.Helper()
	r, err := gitcmd.InitBare(t.Context(), filepath.Join(t.TempDir(), "repo.git"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var noon = time.Date(2026, 8, 12, 12, 0, 0, 0, time.UTC)

// commit stores a commit that changes files of its first parent. A content of
// "-" deletes the file.
func commit(t testing.TB, r gitcmd.Repo, files map[string]string, parents ...string) string {
	t.Helper()
	var changes []gitcmd.File
	for path, content := range files {
		changes = append(changes, gitcmd.File{Path: path, Content: []byte(content), Delete: content == "-"})
	}
	base := ""
	if len(parents) > 0 {
		base = parents[0]
	}
	tree, err := r.WriteTree(t.Context(), base, changes)
	if err != nil {
		t.Fatal(err)
	}
	who := gitcmd.Person{Name: "Ann", Email: "ann@example.org", When: noon}
	id, err := r.CommitTree(t.Context(), gitcmd.Commit{Tree: tree, Parents: parents, Author: who, Message: "change"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func setRef(t testing.TB, r gitcmd.Repo, ref, old, id string) {
	t.Helper()
	if err := r.UpdateRefs(t.Context(), gitcmd.RefUpdate{Ref: ref, Old: old, New: id}); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, want fault.Code) *fault.Error {
	t.Helper()
	e, ok := fault.As(err)
	if !ok || e.Code != want {
		t.Fatalf("got %v, want code %s", err, want)
	}
	return e
}

func TestVersion(t *testing.T) {
	t.Parallel()
	v, err := gitcmd.Version(t.Context())
	if err != nil || !strings.Contains(v, ".") {
		t.Errorf("%q, %v", v, err)
	}
}

func TestMissingGitIsUnavailable(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := gitcmd.Version(t.Context())
	if e := wantCode(t, err, fault.Unavailable); !strings.Contains(e.Hint, "install git") {
		t.Errorf("hint %q", e.Hint)
	}
}

func TestOldGitIsUnavailable(t *testing.T) {
	dir := t.TempDir()
	for version, want := range map[string]fault.Code{
		"1.9.1": fault.Unavailable, "2.37.9": fault.Unavailable, "2.38": "", "2.38.0.rc1": "", "2.100.0": "", "3.0": "", "2.38rc1": "", "2": fault.Unavailable, "nonsense": fault.Unavailable,
	} {
		script := fmt.Sprintf("#!/bin/sh\necho 'git version %s'\n", version)
		testkit.Program(t, filepath.Join(dir, "git"), []byte(script))
		t.Setenv("PATH", dir)
		if _, err := gitcmd.Version(t.Context()); fault.CodeOf(err) != want {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// A remote that never answers: the transport program is one of ours, which
// writes its process id and sleeps. Cancelling must kill it as well as git.
func TestCancelKillsTheWholeGroup(t *testing.T) {
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	script := "#!/bin/sh\necho $$ >" + pidFile + ".new\nmv " + pidFile + ".new " + pidFile + "\nexec sleep 1000\n"
	ssh := filepath.Join(dir, "ssh")
	testkit.Program(t, ssh, []byte(script))
	t.Setenv("GIT_SSH_COMMAND", ssh)
	r := bare(t)
	for name, c := range map[string]struct {
		ctx  func() (context.Context, context.CancelFunc)
		want fault.Code
	}{
		"cancelled": {func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, fault.Cancelled},
		"too late": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 300*time.Millisecond)
		}, fault.Timeout},
	} {
		os.Remove(pidFile)
		ctx, cancel := c.ctx()
		done := make(chan error, 1)
		go func() {
			_, err := r.ReadRefs(ctx, "ssh://nobody@example.invalid/x.git", "refs/heads/main")
			done <- err
		}()
		pid := waitForPID(t, pidFile)
		if c.want == fault.Cancelled {
			cancel()
		}
		err := <-done
		cancel()
		wantCode(t, err, c.want)
		if c.want == fault.Cancelled && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cause is lost: %v", name, err)
		}
		waitForDeath(t, pid)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func waitForPID(t *testing.T, file string) int {
	t.Helper()
	var pid int
	eventually(t, "process id", func() bool {
		raw, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		return err == nil
	})
	return pid
}

func waitForDeath(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "end of the transport", func() bool {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return true
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		return strings.HasPrefix(rest, "Z") // dead, and nobody has asked yet
	})
}

func TestErrorsShowTheCauseAndNoCredentials(t *testing.T) {
	t.Parallel()
	r := bare(t)
	_, err := r.ReadRefs(t.Context(), "https://user:hunter2@localhost:1/x.git?access_token=hunter3", "refs/heads/main")
	e := wantCode(t, err, fault.Forge)
	if text := err.Error() + e.Public + e.Hint; strings.Contains(text, "hunter") {
		t.Errorf("credentials in %s", text)
	}
	_, err = r.ReadRefs(t.Context(), filepath.Join(t.TempDir(), "none"), "refs/heads/main")
	if e := wantCode(t, err, fault.Forge); !strings.Contains(e.Public, "does not appear to be a git repository") {
		t.Errorf("cause %q", e.Public)
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"fatal: unable to access 'https://u:p@h/x/': no": "fatal: unable to access 'https://h/x/': no",
		"https://token@h/x ssh://git@h:22/y":             "https://h/x ssh://h:22/y",
		"https://h/x?private_token=abc&b=1":              "https://h/x?private_token=[hidden]&b=1",
		"https://h/x?b=1&ApiKey=abc":                     "https://h/x?b=1&ApiKey=[hidden]",
		"> Authorization: Basic dTpw":                    "> Authorization: Basic [hidden]",
		"mail ann@example.org about git@h:x.git":         "mail ann@example.org about git@h:x.git",
		"https://h/a@b":                                  "https://h/a@b",
	} {
		if got := gitcmd.Scrub(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestNothingIsReadAsAnOption(t *testing.T) {
	t.Parallel()
	r := bare(t)
	ctx := t.Context()
	touched := filepath.Join(t.TempDir(), "touched")
	for _, remote := range []string{"", "--upload-pack=touch " + touched, "ext::sh -c touch% " + touched, "-x", "a\nb", "fd::3"} {
		_, err := r.ReadRefs(ctx, remote, "refs/heads/main")
		wantCode(t, err, fault.Invalid)
		wantCode(t, r.Fetch(ctx, remote), fault.Invalid)
		wantCode(t, r.PushAtomic(ctx, remote, gitcmd.RefUpdate{Ref: "refs/heads/main", New: strings.Repeat("a", 40)}), fault.Invalid)
		_, err = gitcmd.Clone(ctx, remote, filepath.Join(t.TempDir(), "x"))
		wantCode(t, err, fault.Invalid)
	}
	for _, ref := range []string{
		"", "main", "refs/main", "-d", "refs/heads/", "refs/heads/a b", "refs/heads/a..b", "refs/heads/.a", "refs/heads/a.lock", "refs/heads/a.lock/b", "refs/heads/a:b",
		"refs/heads/a*", "refs/heads/@{u}", "refs/heads/a\n", "refs/heads/a.", "refs//a", "refs/heads/a~1", "refs/heads/a\\b", "refs/heads/a[b", "refs/heads/a?b", "refs/heads/a^",
	} {
		if gitcmd.CheckRef(ref) == nil {
			t.Errorf("ref %q accepted", ref)
		}
		_, err := r.Ref(ctx, ref)
		wantCode(t, err, fault.Invalid)
		_, err = r.ReadRefs(ctx, r.Dir, ref)
		wantCode(t, err, fault.Invalid)
	}
	for _, ref := range []string{"refs/heads/main", "refs/heads/dev/v4/v4.0", "refs/writ/fence/ä", "refs/heads/a.b-c_d@e"} {
		if err := gitcmd.CheckRef(ref); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"", "HEAD", "--output=" + touched, strings.Repeat("A", 40), strings.Repeat("a", 39), strings.Repeat("a", 41), strings.Repeat("g", 40)} {
		_, err := r.ReadObject(ctx, id)
		wantCode(t, err, fault.Invalid)
		_, err = r.LsTree(ctx, id)
		wantCode(t, err, fault.Invalid)
		_, err = r.MergeTree(ctx, id, id)
		wantCode(t, err, fault.Invalid)
		_, err = r.IsAncestor(ctx, id, id)
		wantCode(t, err, fault.Invalid)
		_, err = r.AddWorktree(ctx, filepath.Join(t.TempDir(), "w"), id)
		wantCode(t, err, fault.Invalid)
	}
	for _, spec := range []string{"", "--upload-pack=x", "a b", "a\nb"} {
		wantCode(t, r.Fetch(ctx, r.Dir, spec), fault.Invalid)
	}
	for _, revision := range []string{"", "--all", "-h", "no-such-branch", "a\nb", "HEAD:"} {
		_, err := r.ResolveCommit(ctx, revision)
		wantCode(t, err, fault.NotFound)
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("something ran that git was only told the name of")
	}
}
