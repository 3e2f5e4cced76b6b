package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
)

// start finds the suite of an order for command lines in a folder of their own,
// and makes a driver for it. The scripts are by name.
func start(t *testing.T, parameters object, scripts map[string]string, env ...string) (*harnesstest.Driver, harness.Suite) {
	t.Helper()
	o := treeOrder(t.TempDir(), parameters)
	for name, text := range scripts {
		script(t, o.Target.Path, name, text)
	}
	d := harnesstest.Drive(t, Adapter{}, append([]string{"PATH=" + os.Getenv("PATH")}, env...)...)
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// cases is one case for each command line.
func cases(argv ...[]string) object {
	all := object{}
	for i, a := range argv {
		all[fmt.Sprint(i)] = a
	}
	return object{"cases": all}
}

// uncounted are the quantities that every machine has.
func uncounted() []string {
	return slices.DeleteFunc(Adapter{}.Capabilities().Quantities, func(q string) bool { return q == instructions })
}

func TestARealRun(t *testing.T) {
	t.Parallel()
	d, s := start(t, cases([]string{"sleep", "0.01"}), nil)
	got, out := d.Measure(s, "0", warm(times(4), 2), uncounted()...)
	for _, q := range uncounted() {
		m := got.Quantities[q]
		if m.Status != result.Success || len(m.Values) != 4 {
			t.Errorf("%s: %+v\n%s", q, m, out.Stderr)
		}
	}
	if got.Warmups != 2 || got.Message != "" || got.Warnings != nil || len(out.Stdout)+len(out.Stderr) > 0 {
		t.Errorf("got %+v\n%s", got, out.Stderr)
	}
	if ns, err := strconv.Atoi(got.Facts["clock_ns"]); err != nil || ns < 1 || ns > 1e6 {
		t.Errorf("facts %v", got.Facts)
	}
	sum := func(q string) (total float64) {
		for _, v := range got.Quantities[q].Values {
			total += v
		}
		return total
	}
	if wall := sum("wall-time"); wall < 0.04 || wall > out.Result.Wall.Seconds() {
		t.Errorf("%v s of sleeping in %v", wall, out.Result.Wall)
	}
	if sum("page-faults") != sum("page-faults-minor")+sum("page-faults-major") || sum("page-faults") < 40 {
		t.Errorf("%v page faults", sum("page-faults"))
	}
	if sum("context-switches-voluntary") < 4 || sum("context-switches") != sum("context-switches-voluntary")+sum("context-switches-involuntary") {
		t.Errorf("%v context switches", sum("context-switches"))
	}
}

// TestPeaksAreTheProgramsOwn: neither this process's memory nor an earlier
// repetition's is in them, and a child's that was waited for is.
func TestPeaksAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	large := make([]byte, 200<<20) // the process that plans has more than what it measures
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, s := start(t, cases([]string{"/bin/true"}, []string{self, "80"}, []string{"sh", "-c", self + " 80; true"}), nil, helperMode+"=memory")
	const quiet = 48 << 20 // bytes that a test program has at most
	got, out := d.Measure(s, "0", times(5), "peak-rss")
	for _, v := range got.Quantities["peak-rss"].Values {
		if v < 100<<10 || v > 8<<20 {
			t.Errorf("/bin/true had %v bytes", v)
		}
	}
	if m := got.Quantities["peak-rss"]; m.Status != result.Success {
		t.Fatalf("%+v, facts %v\n%s", m, got.Facts, out.Stderr)
	}
	for _, name := range []string{"1", "2"} {
		got, out = d.Measure(s, name, times(4), "peak-rss")
		m := got.Quantities["peak-rss"]
		if m.Status != result.Success {
			t.Fatalf("%+v\n%s", got, out.Stderr)
		}
		for i, v := range m.Values {
			if big := i%2 == 0; big != (v > 80<<20) || !big && v > quiet || big && v > 80<<20+quiet {
				t.Errorf("case %s: repetition %d of %v had %v bytes", name, i, m.Values, v)
			}
		}
	}
	if large[0] != 1 {
		t.Error("the memory of this process is gone")
	}
}

func TestProcessorTimeIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, s := start(t, cases([]string{self}, []string{"sh", "-c", self + "; true"}), nil, helperMode+"=busy")
	for _, name := range []string{"0", "1"} {
		got, _ := d.Measure(s, name, times(2), "cpu-time", "cpu-user-time", "cpu-system-time", "wall-time")
		for i, v := range got.Quantities["cpu-time"].Values {
			whole := got.Quantities["cpu-user-time"].Values[i] + got.Quantities["cpu-system-time"].Values[i]
			if v < 0.05 || v > 2 || v < whole-1e-9 || v > whole+1e-9 {
				t.Errorf("case %s: %v s, in two parts %v", name, v, whole)
			}
		}
	}
}

// TestWhatProgramsGet: what the order says, and nothing of how they are started.
func TestWhatProgramsGet(t *testing.T) {
	t.Parallel()
	parameters := cases([]string{"./tool", "a b", "", "$x"})
	parameters["output"], parameters["input"] = Keep, "data"
	d, s := start(t, parameters, map[string]string{
		"tool": `echo "$# $1 $3 in $(pwd) with $SAID"; cat; ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status; ulimit -Sn; env | sort | tr '\n' ' '; echo`,
		"data": "",
	}, "SAID=hello")
	if err := os.WriteFile(filepath.Join(s.Dir, "data"), []byte("read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, out := d.Measure(s, "0", times(3), "wall-time")
	if m := got.Quantities["wall-time"]; m.Status != result.Success {
		t.Fatalf("%+v\n%s", got, out.Stderr)
	}
	direct := string(d.Launch(harness.Invocation{Argv: []string{filepath.Join(s.Dir, "tool"), "a b", "", "$x"}, Dir: s.Dir}).Stdout)
	once := strings.Replace(direct, " with hello\n", " with hello\nread\n", 1)
	if !strings.HasPrefix(once, "3 a b $x in "+s.Dir+" with hello\nread\n") || !strings.Contains(once, "SigBlk:\t0000000000000000\n") {
		t.Errorf("started directly: %q", direct)
	}
	if diff := cmp.Diff(strings.Repeat(once, 3), string(out.Stdout)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestARealFailure has the ways to fail: the first repetition that does ends the
// case, and those before it are a part of the measurement.
func TestARealFailure(t *testing.T) {
	t.Parallel()
	d, s := start(t, object{"cases": object{
		"third":   []string{"./third"},
		"always":  []string{"sh", "-c", "exit 3"},
		"killed":  []string{"sh", "-c", "kill -ABRT $$"},
		"parent":  []string{"sh", "-c", "kill -9 $PPID"},
		"format":  []string{"./format"},
		"gone":    []string{"./gone"},
		"endless": []string{"sleep", "600"},
		"127":     []string{"sh", "-c", "exit 127"},
		"group":   []string{"sh", "-c", "kill 0; sleep 600"},
		"all":     []string{"sh", "-c", "kill -9 0"},
		"tidy":    []string{"sh", "-c", "trap 'echo >> tidied; exit 1' TERM; sleep 600 & wait"},
	}}, map[string]string{"third": "echo >> ran; [ $(wc -l < ran) -ne 3 ]", "gone": "", "format": ""})
	if err := os.WriteFile(filepath.Join(s.Dir, "format"), []byte("\x7fELF, but nothing else"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Dir, "gone")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		status          result.Status
		reason, message string
		values          int
	}{
		"third":   {result.Partial, result.ReasonPartial, "repetition 3 ended with status 1", 2},
		"always":  {result.Failed, result.ReasonHarnessError, "repetition 1 ended with status 3", 0},
		"killed":  {result.Failed, result.ReasonHarnessError, "repetition 1 was killed by signal 6 (aborted)", 0},
		"parent":  {result.Failed, result.ReasonHarnessError, "repetition 1: the loop was killed by signal 9", 0},
		"format":  {result.Failed, result.ReasonHarnessError, "cannot start ./format: exec format error", 0},
		"gone":    {result.Failed, result.ReasonHarnessError, "cannot start ./gone: no such file or directory", 0},
		"endless": {result.Failed, result.ReasonTimeout, "", 0},
		"127":     {result.Failed, result.ReasonHarnessError, "repetition 1 ended with status 127", 0},
		"group":   {result.Failed, result.ReasonHarnessError, "repetition 1 was killed by signal 15 (terminated)", 0},
		"all":     {result.Failed, result.ReasonHarnessError, "the process that repeats: killed by signal 9 (killed)", 0},
		"tidy":    {result.Failed, result.ReasonTimeout, "", 0},
	} {
		d.Timeout, d.Grace = time.Minute, time.Minute
		if want.reason == result.ReasonTimeout {
			d.Timeout = time.Second
		}
		got, out := d.Measure(s, name, times(5), "wall-time", "peak-rss")
		for q, m := range got.Quantities {
			if m.Status != want.status || m.Reason != want.reason || len(m.Values) != want.values || got.Message != want.message || out.Result.Survivors > 0 {
				t.Errorf("%s: %s: %+v, %q\n%s %+v", name, q, m, got.Message, out.Stderr, out.Result)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "tidied")); err != nil {
		t.Errorf("no time to tidy up: %v", err)
	}
}

func TestExpectedStatuses(t *testing.T) {
	t.Parallel()
	parameters := cases([]string{"sh", "-c", "exit 3"}, []string{"true"})
	parameters["exit"] = []int{3, 255}
	d, s := start(t, parameters, nil)
	if got, _ := d.Measure(s, "0", times(3), "wall-time"); got.Quantities["wall-time"].Status != result.Success {
		t.Errorf("an expected status: %+v", got)
	}
	if got, _ := d.Measure(s, "1", times(3), "wall-time"); got.Message != "repetition 1 ended with status 0" {
		t.Errorf("a status that is not expected: %+v", got)
	}
}

// TestNothingOutlivesARepetition: what is left behind is killed before the next
// one begins, wherever it went, and is not waited for.
func TestNothingOutlivesARepetition(t *testing.T) {
	t.Parallel()
	d, s := start(t, object{"cases": object{
		"group":   []string{"sh", "-c", "sleep 600 & true"},
		"session": []string{"sh", "-c", "setsid sh -c 'sleep 600 & sleep 600' & true"},
		"ended":   []string{"sh", "-c", "(exit 3) & (sleep 0.05; true) & exec true"},
	}}, nil)
	began := time.Now()
	for name, least := range map[string]int{"group": 3, "session": 3, "ended": 0} {
		got, out := d.Measure(s, name, times(3), "wall-time")
		if m := got.Quantities["wall-time"]; m.Status != result.Success || out.Result.Survivors > 0 || len(out.Result.Strays) > 0 {
			t.Errorf("%s: %+v, %+v", name, got, out.Result)
		}
		strays := 0
		fmt.Sscan(got.Facts["stray_processes"], &strays)
		if strays < least || slices.Contains(got.Warnings, warnStrays) != (strays > 0) {
			t.Errorf("%s: %d processes were killed, warnings %v", name, strays, got.Warnings)
		}
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestOutputIsKeptAndCapped: without a word it goes nowhere, however much it is.
func TestOutputIsKeptAndCapped(t *testing.T) {
	t.Parallel()
	d, s := start(t, cases([]string{"sh", "-c", "head -c 100000000 /dev/zero; echo words >&2"}), nil)
	got, out := d.Measure(s, "0", times(2), "wall-time")
	if m := got.Quantities["wall-time"]; m.Status != result.Success || len(out.Stdout)+len(out.Stderr) > 0 {
		t.Errorf("discarded: %+v, %d bytes", got, len(out.Stdout))
	}
	s.Traits[traitOutput] = Keep
	got, out = d.Measure(s, "0", times(2), "wall-time")
	if m := got.Quantities["wall-time"]; m.Reason != result.ReasonHarnessError || len(out.Stdout) > 64<<20 {
		t.Errorf("kept: %+v, %d bytes", got, len(out.Stdout))
	}
}

// TestInstructions: either the machine counts, and then plausibly, or the order is
// refused where it asks.
func TestInstructions(t *testing.T) {
	t.Parallel()
	o := treeOrder(t.TempDir(), cases([]string{"true"}, []string{"sh", "-c", "true; true; true"}))
	o.Quantities = []string{"wall-time", instructions}
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"))
	s, err := d.Suite(o)
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_INSTRUCTIONS, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	fd, none := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if none != nil {
		if e, ok := fault.As(err); !ok || e.Code != fault.Refused || e.Pointer != "/quantities/1" {
			t.Errorf("no counters: %v", err)
		}
		return
	}
	unix.Close(fd)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"0", "1"} {
		got, out := d.Measure(s, c, order.Precision{Repetitions: order.Times(3)}, instructions)
		m := got.Quantities[instructions]
		if m.Status != result.Success || m.Values[0] < 10000 || m.Values[0] > 1e9 {
			t.Errorf("%+v\n%s", got, out.Stderr)
		}
	}
}
