package contain

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"writ/internal/fault"
	"writ/internal/harness/harnesstest"
	"writ/internal/testkit"
)

// TestSweepAfterACrash kills a process that owns an environment with a program in
// it, and cleans up behind it.
func TestSweepAfterACrash(t *testing.T) {
	t.Parallel()
	_, p := setup(t)
	mine := environment(t, p)
	up := filepath.Join(t.TempDir(), "up")
	cmd := exec.Command(os.Args[0], p.Root, p.Remote, up)
	cmd.Env = append(os.Environ(), helperMode+"=owner")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the program inside to be up", func() bool {
		b, err := os.ReadFile(up)
		return err == nil && len(b) > 0
	})
	if got, err := Sweep(t.Context(), p.Root, time.Now); err != nil || len(got) != 0 {
		t.Errorf("environments of the living were swept: %+v %v", got, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as wanted
	if err := os.Mkdir(filepath.Join(p.Root, "something-else"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := Sweep(t.Context(), p.Root, time.Now)
	if err != nil || len(got) != 1 || !got[0].Swept || got[0].CreatedAt == "" || got[0].Environment == mine.Ref() {
		t.Fatalf("got %+v %v", got, err)
	}
	id := strings.TrimPrefix(got[0].Environment, refPrefix)
	if _, err := os.Lstat(filepath.Join(p.Root, id)); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	until(t, "the programs to be gone", func() bool { return !mentioned(id) })
	for _, name := range []string{mine.ID(), "something-else"} {
		if _, err := os.Lstat(filepath.Join(p.Root, name)); err != nil {
			t.Errorf("%s was swept: %v", name, err)
		}
	}
	if again, err := Sweep(t.Context(), p.Root, time.Now); err != nil || len(again) != 0 {
		t.Errorf("second sweep: %+v %v", again, err)
	}
}

// mentioned reports whether any living process works in the environment.
func mentioned(id string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.Contains(to, id) {
			return true
		}
	}
	return false
}

func TestSweepFinishesWhatWasBegun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, files := range [][]string{{lockFile}, {lockFile, labelFile, "area/x"}} {
		for _, f := range files {
			path := filepath.Join(root, "half", f)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"kind":"writ-worktree/v1"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Sweep(t.Context(), root, time.Now); err != nil || len(got) != 1 {
			t.Errorf("%v: got %+v %v", files, got, err)
		}
	}
	if got, err := Sweep(t.Context(), filepath.Join(root, "none"), time.Now); err != nil || got != nil {
		t.Errorf("no root: got %+v %v", got, err)
	}
}

// TestARefusalLeavesNothing runs where no namespace can be made.
func TestARefusalLeavesNothing(t *testing.T) {
	t.Parallel()
	_, p := setup(t)
	cmd := exec.Command(os.Args[0], p.Root, p.Remote)
	cmd.Env = append(os.Environ(), helperMode+"=denied")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	b, err := cmd.CombinedOutput()
	if err != nil || strings.HasPrefix(string(b), "cannot set up") {
		testkit.Skip(t, "a user namespace to deny others in: "+string(b), "sysctl -w user.max_user_namespaces=1000")
	}
	if got := string(bytes.TrimSpace(b)); got != "code "+string(fault.NotContained) {
		t.Errorf("got %q", got)
	}
	if entries, err := os.ReadDir(p.Root); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// TestNeedsNoPrivilege repeats the tests of this package as an ordinary user.
func TestNeedsNoPrivilege(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		testkit.Skip(t, "root, to become an ordinary user (every other test here already ran as one)", "run as root")
	}
	base, err := os.MkdirTemp("", "unprivileged-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	s := harnesstest.New(t)
	program := filepath.Join(base, "test")
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, program, exe)
	cmd := exec.Command(program, "-test.v", "-test.run=^(TestProgramsInside|TestObservers|TestTheArea|TestDestroy|TestSweep|TestTheProof|TestARefusal)")
	cmd.Dir = base
	cmd.Env = []string{"HOME=" + filepath.Join(base, "home"), "TMPDIR=" + base, "PATH=" + os.Getenv("PATH"), harnesstest.PrebuiltVariable + "=" + prebuilt(t, base, s)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	b, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(b), "--- PASS: TestProgramsInside") {
		t.Errorf("%v\n%s", err, b)
	}
}

// prebuilt copies the sample's binary to where an ordinary user can read it.
func prebuilt(t *testing.T, base string, s harnesstest.Sample) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.Build, s.Binary))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(base, s.Binary)
	testkit.Program(t, path, b)
	return path
}
