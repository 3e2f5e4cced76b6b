package repeat

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What follows runs in a copy of a Go process that has no Go runtime: no other
// thread, no heap, no signals, and soon nearly no memory. So nothing here may
// grow the stack, allocate, write a pointer, or call anything but a system call.

// keepStack is how much on either side of the stack pointer the loop keeps, in
// bytes: far more than what follows can use.
const keepStack = 16 << 10

// start makes the copy and lets the loop run in it. Every signal is blocked in
// between: the copy could not handle one.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) start() (pid int, errno unix.Errno) {
	call(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&m.all)), uintptr(unsafe.Pointer(&m.mask)), 8)
	r, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e == 0 && r == 0 {
		m.loop()
	}
	call(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&m.mask)), 0, 8)
	return int(r), e
}

//go:norace
//go:nosplit
//go:nocheckptr
func call(trap, a, b, c, d uintptr) (uintptr, unix.Errno) {
	r, _, e := syscall.RawSyscall6(trap, a, b, c, d, 0, 0)
	return r, e
}

// loop repeats, and never returns. It gives memory up and forks once more: the
// new process has never had more than is left, and nothing else is asked for the
// most that a process ever had.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) loop() {
	m.bind(m.parent)
	m.shrink()
	middle, _ := call(unix.SYS_GETPID, 0, 0, 0, 0)
	pid, e := call(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0)
	if e != 0 {
		m.fail(e)
	}
	if pid != 0 {
		call(unix.SYS_WAIT4, pid, uintptr(unsafe.Pointer(&m.lost)), 0, 0)
		m.exit()
	}
	m.bind(middle)
	m.self, _ = call(unix.SYS_GETPID, 0, 0, 0, 0)
	if _, e := call(unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0); e != 0 {
		m.fail(e)
	}
	if m.in >= 0 {
		m.put(m.in, 0)
	}
	if m.out >= 0 {
		m.put(m.out, 1)
		m.put(m.out, 2)
	}
	m.lookAtClock()
	for m.done < m.total {
		if m.in >= 0 {
			call(unix.SYS_LSEEK, 0, 0, 0, 0) // a pipe has no beginning to go to
		}
		m.once()
		m.sweep()
		if !m.asExpected() {
			break
		}
		m.writeDown()
		m.done++
	}
	m.read(fileStatus)
	m.finished = true
	m.exit()
}

// bind ends this process when the one that started it ends.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) bind(parent uintptr) {
	call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0)
	if above, _ := call(unix.SYS_GETPPID, 0, 0, 0, 0); above != parent {
		m.exit()
	}
}

//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) put(from, to int) {
	if _, e := call(unix.SYS_DUP3, uintptr(from), uintptr(to), 0, 0); e != 0 {
		m.fail(e)
	}
}

//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) exit() {
	for {
		call(unix.SYS_EXIT_GROUP, 0, 0, 0, 0)
	}
}

//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) fail(e unix.Errno) {
	m.failed = e
	m.exit()
}

// shrink gives up what is in memory but the code, the machine, and a bit of stack.
// The addresses stay good: the kernel itself writes to some of them, such as a
// thread's area for restartable sequences, and ends a process where it cannot.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) shrink() {
	var anchor byte
	here := uintptr(unsafe.Pointer(&anchor))
	low, high := (here-keepStack)&^0xffff, (here+keepStack+0xffff)&^0xffff
	for i := range m.spare {
		s := &m.spare[i]
		if s.from < low && s.to > low {
			m.drop(s.from, low)
		}
		if s.from < high && s.to > high {
			m.drop(high, s.to)
		}
		if s.to <= low || s.from >= high {
			m.drop(s.from, s.to)
		}
	}
}

//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) drop(from, to uintptr) {
	if from < to {
		call(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED, 0)
	}
}

//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) open(file int, flags uintptr) (uintptr, unix.Errno) {
	const here = ^uintptr(99) // AT_FDCWD; the path is absolute anyway
	return call(unix.SYS_OPENAT, here, uintptr(unsafe.Pointer(&m.pathOf[file&1])), flags|unix.O_CLOEXEC, 0)
}

// read fills text with a file of /proc.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) read(file int) bool {
	m.length = 0
	fd, e := m.open(file, unix.O_RDONLY)
	if e != 0 {
		return false
	}
	n, e := call(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&m.text)), unsafe.Sizeof(m.text), 0)
	call(unix.SYS_CLOSE, fd, 0, 0, 0)
	if e != 0 || n > unsafe.Sizeof(m.text) {
		return false
	}
	m.length = int(n)
	return true
}

// lookAtClock finds out how well time is known.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) lookAtClock() {
	for i := range 32 {
		call(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&m.begun)), 0, 0)
		call(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&m.end)), 0, 0)
		if d := m.elapsed(); i == 0 || d < m.clock {
			m.clock = d
		}
	}
}

//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) elapsed() int64 {
	return (int64(m.end.Sec)-int64(m.begun.Sec))*1e9 + int64(m.end.Nsec) - int64(m.begun.Nsec)
}

// once runs the program and takes its time.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) once() {
	attr := uintptr(0)
	if m.counting {
		attr = uintptr(unsafe.Pointer(&m.attr))
	}
	call(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&m.begun)), 0, 0)
	pid, errno := vfork(m.program, m.argv, m.env, uintptr(unsafe.Pointer(&m.mask)), m.self, &m.exec, attr, &m.counter)
	if errno != 0 {
		m.fail(unix.Errno(errno))
	}
	_, e := call(unix.SYS_WAIT4, pid, uintptr(unsafe.Pointer(&m.status)), 0, uintptr(unsafe.Pointer(&m.usage)))
	call(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&m.end)), 0, 0)
	if e != 0 {
		m.fail(e)
	}
	if m.counting {
		m.readCounter()
	}
}

// readCounter reads and closes the counter of the program that has ended.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) readCounter() {
	if m.counter > ^uintptr(4095) {
		m.fail(unix.Errno(-m.counter))
	}
	size := unsafe.Sizeof(m.counted)
	n, e := call(unix.SYS_READ, m.counter, uintptr(unsafe.Pointer(&m.counted)), size, 0)
	call(unix.SYS_CLOSE, m.counter, 0, 0, 0)
	if e != 0 {
		m.fail(e)
	}
	if n != size {
		m.fail(unix.EIO)
	}
}

// asExpected reports whether the program ended by itself with one of the statuses
// that were expected.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) asExpected() bool {
	return m.exec == 0 && m.status&0x7f == 0 && m.expected[m.status>>8&0xff]
}

// sweep makes sure that nothing of a repetition is alive. What outlived its
// program is a child of the loop now.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) sweep() {
	for {
		pid, e := call(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&m.ended)), unix.WNOHANG, 0)
		switch {
		case e == unix.ECHILD:
			return
		case e != 0:
			m.fail(e)
		case pid != 0:
			if m.ended&0x7f == uint32(unix.SIGKILL) {
				m.strays++
			}
			continue
		}
		if !m.listed || !m.read(fileChildren) {
			m.fail(errLeft)
		}
		child := uintptr(0)
		for i := range m.text {
			if i >= m.length {
				break
			}
			if c := m.text[i]; c >= '0' && c <= '9' {
				child = child*10 + uintptr(c-'0')
				continue
			}
			if child > 0 {
				call(unix.SYS_KILL, child, uintptr(unix.SIGKILL), 0, 0)
			}
			child = 0
		}
		pid, e = call(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&m.ended)), 0, 0)
		if e == 0 && pid != 0 && m.ended&0x7f == uint32(unix.SIGKILL) {
			m.strays++
		}
	}
}

// writeDown adds the repetition to the samples.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (m *machine) writeDown() {
	n, u := &m.note, &m.usage
	n.wall = m.elapsed()
	n.user = int64(u.Utime.Sec)*1e9 + int64(u.Utime.Usec)*1e3
	n.system = int64(u.Stime.Sec)*1e9 + int64(u.Stime.Usec)*1e3
	n.peak = int64(u.Maxrss) << 10
	n.minor, n.major = int64(u.Minflt), int64(u.Majflt)
	n.voluntary, n.involuntary = int64(u.Nvcsw), int64(u.Nivcsw)
	n.instructions, n.enabled, n.running = int64(m.counted.value), int64(m.counted.enabled), int64(m.counted.running)
	size := unsafe.Sizeof(m.note)
	if w, e := call(unix.SYS_WRITE, uintptr(m.notes), uintptr(unsafe.Pointer(&m.note)), size, 0); e != 0 || w != size {
		m.fail(unix.ENOSPC)
	}
}
