package repeat

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestPeak(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]float64{
		"Name:\tx\nVmHWM:\t     344 kB\nVmRSS:\t 1 kB\n": 344 << 10, "VmHWM:\t12": 12 << 10, "": 1 << 52, "VmHWM:\tmany kB\n": 1 << 52, "VmHWM:\t-1 kB\n": 1 << 52,
		"VmHWM: 99999999999999999999 kB\n": 1 << 52,
	} {
		if got := peak([]byte(status)); got != want {
			t.Errorf("%q: %v, want %v", status, got, want)
		}
	}
}

// TestSpareMemory: nothing that runs is given up, and nothing else is kept.
func TestSpareMemory(t *testing.T) {
	t.Parallel()
	spans, err := spareMemory()
	if err != nil {
		t.Fatal(err)
	}
	holds := func(p unsafe.Pointer) bool {
		for _, s := range spans {
			if uintptr(p) >= s.from && uintptr(p) < s.to {
				return true
			}
		}
		return false
	}
	heap := make([]byte, 1<<20)
	for name, p := range map[string]unsafe.Pointer{"heap": unsafe.Pointer(&heap[0]), "data": unsafe.Pointer(&unwritten)} {
		if !holds(p) {
			t.Errorf("the %s stays", name)
		}
	}
	if f := (*machine).loop; holds(**(**unsafe.Pointer)(unsafe.Pointer(&f))) {
		t.Error("the code goes")
	}
}

var unwritten [1 << 10]byte

// TestWhy has the words for each way to stop.
func TestWhy(t *testing.T) {
	t.Parallel()
	p := Plan{Argv: []string{"./x"}, Warmups: 2, Repetitions: 3}
	for want, tc := range map[string]struct {
		m          machine
		loop       unix.WaitStatus
		incomplete bool
	}{
		"":                                 {machine{finished: true, done: 5, total: 5}, 0, false},
		"warm-up 2 ended with status 3":    {machine{finished: true, done: 1, total: 5, status: 3 << 8}, 0, false},
		"repetition 1 ended with status 1": {machine{finished: true, done: 2, total: 5, status: 1 << 8}, 0, false},
		"repetition 3 was killed by signal 6 (aborted)":                        {machine{finished: true, done: 4, total: 5, status: 6 | 0x80}, 0, false},
		"cannot start ./x: exec format error":                                  {machine{finished: true, done: 0, total: 5, exec: uintptr(unix.ENOEXEC)}, 0, false},
		"repetition 2: no space left on device":                                {machine{done: 3, total: 5, failed: unix.ENOSPC}, 0, true},
		"warm-up 2: processes outlived it, and this kernel does not list them": {machine{done: 1, total: 5, failed: errLeft}, 0, true},
		"warm-up 1: the loop was killed by signal 9":                           {machine{total: 5}, 9, true},
	} {
		if got, incomplete := p.why(&tc.m, tc.loop); got != want || incomplete != tc.incomplete {
			t.Errorf("got %q %t, want %q %t", got, incomplete, want, tc.incomplete)
		}
	}
}

// TestWhatCannotBePrepared is said before anything runs.
func TestWhatCannotBePrepared(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"no JSON": "{", "no input": `{"program":"/bin/true","argv":["true"],"repetitions":1,"input":"/no/such/file"}`} {
		plan := filepath.Join(t.TempDir(), "plan")
		if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := work([]string{plan, ""}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := work([]string{"/no/such/file", ""}); err == nil {
		t.Error("no plan: no error")
	}
	taken := filepath.Join(t.TempDir(), "taken")
	if err := write(taken, nil); err != nil {
		t.Fatal(err)
	}
	if err := write(taken, nil); err == nil {
		t.Error("a file was written over")
	}
}
