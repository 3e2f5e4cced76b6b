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

// event is something that can be counted.
type event struct {
	kind   uint32
	config uint64
}

var instructions = event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS}

// attributes describe a counter of user mode, of a process and its descendants. A
// waiting one begins when the process executes a program.
func (e event) attributes(waiting bool) unix.PerfEventAttr {
	attr := unix.PerfEventAttr{
		Type: e.kind, Config: e.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv | unix.PerfBitInherit,
	}
	if waiting {
		attr.Bits |= unix.PerfBitDisabled | unix.PerfBitEnableOnExec
	}
	return attr
}

// lookForCounters finds out what can be counted here, by counting.
func lookForCounters() Counters {
	attr := instructions.attributes(false)
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
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
