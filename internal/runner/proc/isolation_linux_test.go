package proc

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/testkit"
)

// ground is a place for an isolated keeper: a writable directory with a copy of
// the test binary, and a directory next to it that programs must not change.
type ground struct {
	inside, outside, hidden string
	address                 string // a listener of the host
	iso                     Isolation
	command                 func(out *os.File) Command
}

func newGround(t *testing.T) ground {
	t.Helper()
	base, err := os.MkdirTemp("", "ground-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	g := ground{inside: filepath.Join(base, "inside"), outside: filepath.Join(base, "outside"), hidden: filepath.Join(base, "hidden")}
	below := filepath.Join(base, "below")
	for _, d := range []string{g.inside, g.outside, g.hidden, below,
		filepath.Join(g.inside, "tmp"), filepath.Join(g.inside, "layer"), filepath.Join(g.inside, "work"), filepath.Join(g.inside, "upper"), filepath.Join(g.inside, "kept")} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{filepath.Join(g.hidden, "secret"): "s", filepath.Join(below, "below"): "deep"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(g.inside, "program")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, program, self)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	g.address = l.Addr().String()
	g.iso = Isolation{User: true, Network: true, Processes: true, IPC: true, Files: true,
		Writable: g.inside, Temporary: filepath.Join(g.inside, "tmp"), Hide: []string{g.hidden, "/run", "/tmp", "/dev/shm"}, Keep: []string{filepath.Join(g.inside, "kept")}, BestEffort: true,
		Layer: []Layer{{At: filepath.Join(g.inside, "layer"), Lower: below, Upper: filepath.Join(g.inside, "upper"), Work: filepath.Join(g.inside, "work")}}}
	g.command = func(out *os.File) Command {
		return Command{Argv: []string{program, g.inside, g.outside, g.address}, Dir: g.inside, Stdout: out, Stderr: out,
			Env: []string{helperMode + "=isolated", "TMPDIR=" + filepath.Join(g.inside, "tmp")}}
	}
	return g
}

// namespaced starts an isolated keeper, or skips where the kernel denies it.
func namespaced(t *testing.T, iso Isolation) *Keeper {
	t.Helper()
	k, err := Start(t.Context(), iso)
	if fault.CodeOf(err) == fault.NotContained {
		testkit.Skip(t, "user namespaces: "+err.Error(), "sysctl -w user.max_user_namespaces=1000")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// facts parses the NAME=VALUE lines of the isolated helper.
func facts(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			out[name] = value
		}
	}
	return out
}

func TestIsolatedProgramsReachNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	k := namespaced(t, g.iso)
	out := output(t)
	r, err := k.Run(t.Context(), g.command(out))
	if err != nil || !r.OK() {
		t.Fatalf("%+v %v\n%s", r, err, read(t, out))
	}
	want := map[string]string{"write-inside": "true", "write-outside": "false", "read-hidden": "false", "dial": "false",
		"remount": "false", "tmp": "true", "system-tmp": "true", "system-shm": "true", "write-kept": "false", "setuid": "false", "loopback": "false", "parent": "1", "processes": "2",
		"layer": "deep", "write-layer": "true"}
	if k.Report.Layers == 0 { // an overlay is a convenience; kernels differ
		t.Log("no overlay here")
		want["layer"] = ""
	}
	if !k.Report.FreshProc {
		delete(want, "processes")
	}
	got := facts(read(t, out))
	if !k.Report.FreshProc {
		delete(got, "processes")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what a program can do (-want +got):\n%s", diff)
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if _, err := os.Stat(filepath.Join(dir, "writ-isolation-test")); err == nil {
			t.Errorf("a program wrote to the host's %s", dir)
		}
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(g.inside), "below", "below")); err != nil || string(b) != "deep" {
		t.Errorf("the lower layer was changed: %q %v", b, err)
	}
}

func TestReportSaysWhatIs(t *testing.T) {
	t.Parallel()
	plain := start(t, Isolation{})
	k := namespaced(t, Isolation{User: true, Network: true, Processes: true, IPC: true})
	a, b := plain.Report.Namespaces, k.Report.Namespaces
	for name, pair := range map[string][2]string{"user": {a.User, b.User}, "net": {a.Network, b.Network}, "pid": {a.PID, b.PID}, "ipc": {a.IPC, b.IPC}} {
		if pair[0] == "" || pair[0] == pair[1] {
			t.Errorf("%s namespace: host %q, isolated %q", name, pair[0], pair[1])
		}
	}
	if a.Mount != b.Mount {
		t.Errorf("mounts differ without being asked: %q %q", a.Mount, b.Mount)
	}
	if diff := cmp.Diff([]Interface{{Name: "lo", Loopback: true}}, k.Report.Interfaces); diff != "" {
		t.Errorf("interfaces (-want +got):\n%s", diff)
	}
	if k.Report.PID != 1 || k.Report.UID != os.Getuid() {
		t.Errorf("got pid %d uid %d", k.Report.PID, k.Report.UID)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := start(t, Isolation{}).Probe(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Errorf("from the host: %v", err)
	}
	for _, loopback := range []bool{false, true} {
		k := namespaced(t, Isolation{User: true, Network: true, Loopback: loopback})
		if err := k.Probe(t.Context(), "tcp", l.Addr().String()); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("isolated, loopback %t: got %v", loopback, err)
		}
	}
}

func TestPrivateLoopbackCanBeUsed(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.iso.Loopback = true
	k, out := namespaced(t, g.iso), output(t)
	if r, err := k.Run(t.Context(), g.command(out)); err != nil || !r.OK() {
		t.Fatalf("%+v %v", r, err)
	}
	got := facts(read(t, out))
	if got["loopback"] != "true" || got["dial"] != "false" {
		t.Errorf("loopback %s, dial %s; want true, false", got["loopback"], got["dial"])
	}
}

func TestStraysCannotLeaveAProcessNamespace(t *testing.T) {
	t.Parallel()
	for _, files := range []bool{true, false} {
		g := newGround(t)
		g.iso.Files = files
		if !files {
			g.iso.Layer = nil
		}
		k, out := namespaced(t, g.iso), output(t)
		c := g.command(out)
		c.Argv, c.Env = []string{c.Argv[0], "leave"}, []string{helperMode + "=tree"}
		r, err := k.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.Cause == Exited && r.Exit == 0 && r.Survivors == 0 && len(r.Strays) == 3) {
			t.Errorf("files %t: got %+v", files, r)
		}
		if left := programsUnder(g.inside); len(left) > 0 {
			t.Errorf("files %t: processes %v are still there", files, left)
		}
	}
}

func TestIsolatedProgramsDieWithTheKeeper(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	k, out := namespaced(t, g.iso), output(t)
	c := g.command(out)
	c.Argv, c.Env = c.Argv[:1], []string{helperMode + "=tree"}
	done := make(chan error, 1)
	go func() {
		_, err := k.Run(context.Background(), c)
		done <- err
	}()
	until(t, "the tree to stand", func() bool { return len(pids(read(t, out))) == 5 })
	if err := k.proc.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; fault.CodeOf(err) != fault.Internal {
		t.Errorf("got %v", err)
	}
	until(t, "all to follow", func() bool { return len(programsUnder(g.inside)) == 0 })
}

// programsUnder lists living processes whose program lies in dir, as the host sees them.
func programsUnder(dir string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	var out []int
	for _, l := range links {
		if exe, err := os.Readlink(l); err == nil && strings.HasPrefix(exe, dir+"/") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(l))); err == nil && alive(pid) {
				out = append(out, pid)
			}
		}
	}
	return out
}

// TestIsolationNeedsNoPrivilege repeats the central test as an ordinary user.
func TestIsolationNeedsNoPrivilege(t *testing.T) {
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
	program := filepath.Join(base, "test")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, program, self)
	cmd := exec.Command(program, "-test.run=^(TestIsolatedProgramsReachNothing|TestReportSaysWhatIs|TestProbe|TestPrivateLoopbackCanBeUsed|TestStraysCannotLeave)", "-test.v")
	cmd.Dir = base
	cmd.Env = []string{"TMPDIR=" + base, "WRIT_TEST_STRICT=" + os.Getenv("WRIT_TEST_STRICT")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	b, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(b), "--- PASS: TestIsolatedProgramsReachNothing") && !strings.Contains(string(b), "missing: user namespaces") {
		t.Errorf("%v\n%s", err, b)
	}
}

// TestSelfIsFoundWhereItsFileIsNot: also through another program, and by a keeper
// that has process ids of its own.
func TestSelfIsFoundWhereItsFileIsNot(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	hiding := g.iso
	hiding.Hide = append(slices.Clone(hiding.Hide), filepath.Dir(os.Args[0]))
	for name, iso := range map[string]Isolation{"open": {}, "isolated": hiding} {
		k, err := Start(t.Context(), iso)
		if fault.CodeOf(err) == fault.NotContained {
			testkit.Skip(t, "user namespaces: "+err.Error(), "sysctl -w user.max_user_namespaces=1000")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, argv := range [][]string{{Self}, {"/usr/bin/env", Self}, {"/usr/bin/env", "/usr/bin/env", Self}} {
			out := output(t)
			r, err := k.Run(t.Context(), Command{Argv: argv, Dir: "/", Env: []string{helperMode + "=env"}, Stdout: out})
			if err != nil || !r.OK() || !strings.Contains(read(t, out), helperMode+"=env") {
				t.Errorf("%s, %q: %+v %v\n%s", name, argv, r, err, read(t, out))
			}
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
}
