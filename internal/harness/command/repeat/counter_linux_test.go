package repeat

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"writ/internal/testkit"
)

// TestCountersCountWhatIsExecuted takes an event that every kernel can count, page
// faults in user mode, in the place of instructions: of the program and of what it
// starts, each repetition by itself, and nothing of this process.
func TestCountersCountWhatIsExecuted(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // the loop dies with the thread that started it
	defer runtime.UnlockOSThread()
	faults := event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS}
	attr := faults.attributes(false)
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		testkit.Absent(t, "counters of the kernel: "+err.Error())
	}
	unix.Close(fd)
	counts := func(script string) Samples {
		p := Plan{Program: "/bin/sh", Argv: []string{"sh", "-c", script}, Repetitions: 3, Warmups: 1, Expected: []int{0}}
		m, notes, err := p.prepare()
		if err != nil {
			t.Fatal(err)
		}
		defer notes.Close()
		m.counting, m.attr = true, faults.attributes(true)
		p.Instructions = true
		s, err := p.carryOut(m, notes)
		if err != nil || s.Stopped != "" || len(s.Instructions) != 3 {
			t.Fatalf("%+v %v", s, err)
		}
		return s
	}
	alone, more := counts("true"), counts("sh -c true; sh -c true; true")
	for i, n := range alone.Instructions {
		if all := alone.Minor[i] + alone.Major[i]; n < all/4 || n > all {
			t.Errorf("%v of %v faults were counted", n, all)
		}
		if m := more.Instructions[i]; m < 2*n || m > more.Minor[i]+more.Major[i] {
			t.Errorf("%v faults with three processes, %v with one", m, n)
		}
	}
}
