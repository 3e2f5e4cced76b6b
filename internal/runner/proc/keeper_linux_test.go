package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"writ/internal/fault"
)

func TestRunReportsHowAProgramEnded(t *testing.T) {
	t.Parallel()
	k := start(t, Isolation{})
	for _, tc := range []struct {
		name   string
		script string
		exit   int
		signal syscall.Signal
	}{
		{"success", "exit 0", 0, 0},
		{"status", "exit 7", 7, 0},
		{"signal", "kill -SEGV $$", -1, syscall.SIGSEGV},
		{"killed", "kill -KILL $$", -1, syscall.SIGKILL},
	} {
		r, err := k.Run(t.Context(), Command{Argv: []string{"/bin/sh", "-c", tc.script}, Dir: "/"})
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if r.Cause != Exited || r.Exit != tc.exit || r.Signal != tc.signal || r.Survivors != 0 {
			t.Errorf("%s: got %+v", tc.name, r)
		}
		if r.OK() != (tc.name == "success") {
			t.Errorf("%s: OK() = %t", tc.name, r.OK())
		}
		if r.Wall <= 0 || r.Started.IsZero() || r.Ended.Before(r.Started) {
			t.Errorf("%s: times %v %v %v", tc.name, r.Started, r.Ended, r.Wall)
		}
	}
}

func TestRunGivesNothingButWhatIsAsked(t *testing.T) {
	t.Parallel()
	k, out := start(t, Isolation{}), output(t)
	c := self("env", out)
	c.Env = append(c.Env, "ONLY=this")
	c.Dir = t.TempDir()
	if r, err := k.Run(t.Context(), c); err != nil || !r.OK() {
		t.Fatalf("%+v %v", r, err)
	}
	want := helperMode + "=env\nONLY=this\nwd " + c.Dir + " stdin 0 EOF\ntty true\n"
	if got := read(t, out); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestEachProgramHasItsOwnEnvironment: an environment that stays the same is not
// sent again, one that changes is, also after a program that did not start.
func TestEachProgramHasItsOwnEnvironment(t *testing.T) {
	t.Parallel()
	k := start(t, Isolation{})
	for i, want := range []string{"1", "1", "2", "2", "", "", "3", "4", "4", "1"} {
		program := "/bin/sh"
		var env []string
		switch {
		case want == "":
		case want == "3":
			program, env = "/nowhere", []string{"A=3"}
		default:
			env = []string{"A=" + want}
		}
		out := output(t)
		_, err := k.Run(t.Context(), Command{Argv: []string{program, "-c", "echo $A"}, Dir: "/", Env: env, Stdout: out})
		if (err != nil) != (want == "3") {
			t.Fatalf("%d: %v", i, err)
		}
		if got := strings.TrimSpace(read(t, out)); err == nil && got != want {
			t.Errorf("%d: A is %q, want %q", i, got, want)
		}
		if env != nil {
			env[0] = "A=changed" // the caller's own
		}
	}
}

func TestRunRefusesWhatCannotStart(t *testing.T) {
	t.Parallel()
	k := start(t, Isolation{})
	for name, c := range map[string]Command{
		"missing":  {Argv: []string{"/no/such/program"}, Dir: "/"},
		"no dir":   {Argv: []string{"/bin/true"}, Dir: "/no/such/dir"},
		"relative": {Argv: []string{"true"}, Dir: "/"},
		"empty":    {Dir: "/"},
		"rel dir":  {Argv: []string{"/bin/true"}, Dir: "x"},
	} {
		if _, err := k.Run(t.Context(), c); fault.CodeOf(err) != fault.Target {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := k.Run(t.Context(), Command{Argv: []string{"/bin/true", strings.Repeat("x", 4<<20)}, Dir: "/"})
	if fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("huge argument: got %v", err)
	}
	if r, err := k.Run(t.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"}); err != nil || !r.OK() {
		t.Errorf("the keeper is not usable after a refusal: %+v %v", r, err)
	}
}

func TestTimeoutKillsTheWholeTree(t *testing.T) {
	t.Parallel()
	k, out := start(t, Isolation{}), output(t)
	c := self("tree", out)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result, 1)
	go func() {
		r, err := k.Run(ctx, c)
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	until(t, "the tree to stand", func() bool { return len(pids(read(t, out))) == 5 })
	cancel()
	r := <-done
	if r.Cause != Cancelled || r.Survivors != 0 {
		t.Errorf("got %+v", r)
	}
	for _, pid := range pids(read(t, out)) {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

func TestTimeoutAsksFirstThenForces(t *testing.T) {
	t.Parallel()
	k := start(t, Isolation{})
	for mode, forced := range map[string]bool{"sleep": false, "stubborn": true} {
		c := self(mode, output(t))
		c.Timeout, c.Grace = 300*time.Millisecond, 200*time.Millisecond
		if mode == "sleep" {
			c.Grace = 10 * time.Second
		}
		r, err := k.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Cause != TimedOut || r.Forced != forced || r.Wall < c.Timeout || r.Wall > 9*time.Second {
			t.Errorf("%s: got %+v", mode, r)
		}
	}
}

func TestStraysAreFoundKilledAndNamed(t *testing.T) {
	t.Parallel()
	k, out := start(t, Isolation{}), output(t)
	r, err := k.Run(t.Context(), self("tree", out, "leave"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Cause != Exited || r.Exit != 0 || r.Survivors != 0 {
		t.Errorf("got %+v", r)
	}
	escaped := 0
	for _, s := range r.Strays {
		if s.Escaped {
			escaped++
		}
	}
	if len(r.Strays) != 3 || escaped != 2 {
		t.Errorf("got strays %+v, want three, two of them escaped", r.Strays)
	}
	for _, pid := range pids(read(t, out)) {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if r, err := k.Run(t.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"}); err != nil || len(r.Strays) != 0 {
		t.Errorf("the next run sees strays of the last: %+v %v", r, err)
	}
}

func TestOutputIsCapped(t *testing.T) {
	t.Parallel()
	k, out := start(t, Isolation{}), output(t)
	c := self("flood", out)
	c.OutputLimit = 1 << 20
	r, err := k.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Cause != OutputLimit || r.Signal != syscall.SIGKILL {
		t.Errorf("got %+v", r)
	}
	if info, err := os.Stat(out.Name()); err != nil || info.Size() > c.OutputLimit {
		t.Errorf("file has %d bytes, limit %d (%v)", info.Size(), c.OutputLimit, err)
	}
}

func TestMemoryOfAChildIsItsOwn(t *testing.T) {
	t.Parallel()
	big := make([]byte, 256<<20) // what a naive parent would hand down
	for i := 0; i < len(big); i += 4096 {
		big[i] = 1
	}
	k := start(t, Isolation{})
	small, err := k.Run(t.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if small.Usage.MaxRSS > 128<<20 || small.Usage.MaxRSS == 0 {
		t.Errorf("/bin/true used %d bytes", small.Usage.MaxRSS)
	}
	large, err := k.Run(t.Context(), self("memory", output(t)))
	if err != nil {
		t.Fatal(err)
	}
	if large.Usage.MaxRSS < 64<<20 || large.Usage.MaxRSS <= large.Usage.RSSFloor || large.Usage.User == 0 {
		t.Errorf("got %+v", large.Usage)
	}
	if big[0] != 1 {
		t.Error("unreachable: keeps the memory in use")
	}
}

func TestEverythingDiesWithTheCaller(t *testing.T) {
	t.Parallel()
	out := output(t)
	cmd := exec.Command(os.Args[0], out.Name())
	cmd.Env = []string{helperMode + "=runner"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the tree to stand", func() bool { return len(pids(read(t, out))) == 6 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as wanted
	for _, pid := range pids(read(t, out)) {
		until(t, "a process to follow its caller", func() bool { return !alive(pid) })
	}
}

func TestAClosedOrDeadKeeperSaysSo(t *testing.T) {
	t.Parallel()
	closed := start(t, Isolation{})
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := closed.Run(t.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"}); fault.CodeOf(err) != fault.State {
		t.Errorf("closed: got %v", err)
	}
	dead, err := Start(t.Context(), Isolation{})
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.proc.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := dead.Run(t.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"}); fault.CodeOf(err) != fault.Internal {
		t.Errorf("dead: got %v", err)
	}
	dead.Close()
}

func TestRunsOfOneKeeperDoNotOverlap(t *testing.T) {
	t.Parallel()
	k := start(t, Isolation{})
	results := make(chan Result, 4)
	for range 4 {
		go func() {
			r, err := k.Run(t.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"})
			if err != nil {
				t.Error(err)
			}
			results <- r
		}()
	}
	var all []Result
	for range 4 {
		all = append(all, <-results)
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.Started.Before(b.Ended) && b.Started.Before(a.Ended) {
				t.Errorf("overlap: %v–%v and %v–%v", a.Started, a.Ended, b.Started, b.Ended)
			}
		}
	}
}

func TestRunAfterCancelDoesNotStart(t *testing.T) {
	t.Parallel()
	k, out := start(t, Isolation{}), output(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := k.Run(ctx, self("sleep", out))
	if fault.CodeOf(err) != fault.Cancelled || !errors.Is(err, context.Canceled) || read(t, out) != "" {
		t.Errorf("got %v, output %q", err, read(t, out))
	}
}

// BenchmarkOverhead runs an empty program through the keeper and under os/exec in
// turns, and reports the medians and their difference.
func BenchmarkOverhead(b *testing.B) {
	for name, iso := range map[string]Isolation{"plain": {}, "isolated": {User: true, Network: true, Processes: true, IPC: true}} {
		b.Run(name, func(b *testing.B) { overhead(b, iso) })
	}
}

func overhead(b *testing.B, iso Isolation) {
	k, err := Start(b.Context(), iso)
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	var kept, bare []time.Duration
	for b.Loop() {
		t0 := time.Now()
		if r, err := k.Run(b.Context(), Command{Argv: []string{"/bin/true"}, Dir: "/"}); err != nil || !r.OK() {
			b.Fatal(r, err)
		}
		t1 := time.Now()
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
		kept, bare = append(kept, t1.Sub(t0)), append(bare, time.Since(t1))
	}
	slices.Sort(kept)
	slices.Sort(bare)
	m := len(kept) / 2
	b.ReportMetric(float64(kept[m]), "kept-ns")
	b.ReportMetric(float64(bare[m]), "bare-ns")
	b.ReportMetric(float64(kept[m]-bare[m]), "overhead-ns")
	b.ReportMetric(float64(kept[m])/float64(bare[m]), "ratio")
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		k, err := Start(b.Context(), Isolation{})
		if err != nil {
			b.Fatal(err)
		}
		k.Close()
	}
}
