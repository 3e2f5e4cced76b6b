package repeat

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// counted is what the kernel says of a counter.
type counted struct {
	value   uint64
	enabled uint64 // ns that it should have counted
	running uint64 // ns that it did: less when it had to share the hardware
}

// openCounter opens a hardware counter of user mode. A waiting one counts nothing
// of this process, and everything of what its descendants execute.
func openCounter(event uint64, waiting bool) (int, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: event, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitInherit,
	}
	if waiting {
		attr.Bits |= unix.PerfBitDisabled | unix.PerfBitEnableOnExec
	}
	return unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// lookForCounters finds out what can be counted here, by counting.
func lookForCounters() Counters {
	fd, err := openCounter(unix.PERF_COUNT_HW_INSTRUCTIONS, false)
	if err != nil {
		return Counters{Why: fmt.Sprintf("the kernel opens no counter of instructions: %v", err)}
	}
	defer unix.Close(fd)
	var c counted
	b := unsafe.Slice((*byte)(unsafe.Pointer(&c)), unsafe.Sizeof(c))
	if n, err := unix.Read(fd, b); err != nil || n != len(b) {
		return Counters{Why: "the kernel does not say what it counted"}
	}
	if c.value == 0 || c.running == 0 {
		return Counters{Why: "the counter of instructions does not count"}
	}
	return Counters{Instructions: true}
}
