package proc

import (
	"bytes"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	watchEvery = 50 * time.Millisecond // how often the output files are looked at
	killWait   = 5 * time.Second       // how long a killed process may take to go
)

// child is the program that runs.
type child struct {
	pid     int // also its process group and session
	pidfd   int
	out     []int // output files
	limit   int64
	grace   time.Duration
	cause   Cause
	forced  bool
	timeout time.Time // when it runs out of time; zero: never
	kill    time.Time // when the grace time ends; zero: not told to stop
	giveUp  time.Time // when to stop waiting for a killed program; zero: not killed
}

// run starts one program and answers when it and its descendants are gone.
func (s *server) run(req request, files []int) response {
	if !req.SameEnv {
		s.env = req.Env
	}
	fail := func(text string, err error) response {
		var errno syscall.Errno
		errors.As(err, &errno)
		return response{Op: opFailed, ID: req.ID, Text: text, Errno: errno}
	}
	if len(files) != 2 {
		return fail("output files are missing", unix.EBADF)
	}
	c := child{pidfd: -1, out: files, limit: req.Limit, grace: req.Grace, cause: Exited}
	program, argv, err := s.named(req.Argv)
	if err != nil {
		return fail("cannot find this executable", err)
	}
	started := time.Now()
	c.pid, err = syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Dir:   req.Dir,
		Env:   s.env,
		Files: []uintptr{uintptr(s.null), uintptr(files[0]), uintptr(files[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: &c.pidfd, UseCgroupFD: s.group.in, CgroupFD: s.group.fd},
	})
	if err != nil {
		return fail("cannot start "+program, err)
	}
	if c.pidfd < 0 {
		s.finish(&c)
		return fail("this kernel has no process descriptors", unix.ENOSYS)
	}
	defer unix.Close(c.pidfd)
	if req.Timeout > 0 {
		c.timeout = started.Add(req.Timeout)
	}
	s.watch(&c, req.ID)
	ended := time.Now()
	r := s.finish(&c)
	r.Wall = ended.Sub(started)
	r.Started, r.Ended = started.UTC(), started.Add(r.Wall).UTC() // a clock that is set meanwhile changes nothing
	r.Usage.RSSFloor = s.peak
	for _, f := range files {
		trim(f, c.limit)
	}
	return response{Op: opDone, ID: req.ID, Result: &r}
}

// named puts this executable in the places of Self. A program that is started
// through another one finds it as that of its keeper; only the keeper itself can
// say what /proc calls it where it has no /proc of its own.
func (s *server) named(argv []string) (program string, named []string, err error) {
	const own = "/proc/self/exe"
	i := slices.Index(argv, Self)
	if i < 0 {
		return argv[0], argv, nil
	}
	named = slices.Clone(argv)
	if named[i] = own; i > 0 {
		id, err := os.Readlink("/proc/self")
		if err != nil {
			return "", nil, err
		}
		named[i] = "/proc/" + id + "/exe"
	}
	return named[0], named, nil
}

// watch waits for the end of the program and enforces its limits. The program is
// left unreaped, so that its process group is still its own.
func (s *server) watch(c *child, id int64) {
	for {
		fds := []unix.PollFd{{Fd: int32(c.pidfd), Events: unix.POLLIN}, {Fd: socketFD, Events: unix.POLLIN}}
		_, err := unix.Poll(fds, c.patience(time.Now()))
		if err != nil && err != unix.EINTR {
			c.stop(Cancelled, 0)
		}
		if fds[0].Revents != 0 {
			return
		}
		if fds[1].Revents != 0 {
			req, _, err := s.receive()
			if err != nil { // the caller is gone
				unix.Kill(-c.pid, unix.SIGKILL)
				s.finish(c)
				s.exit()
			}
			if req.Op == opCancel && req.ID == id {
				c.stop(Cancelled, c.grace)
			}
		}
		now := time.Now()
		if !c.timeout.IsZero() && now.After(c.timeout) {
			c.stop(TimedOut, c.grace)
		}
		if c.overLimit() {
			c.stop(OutputLimit, 0)
		}
		if !c.kill.IsZero() && !now.Before(c.kill) && c.giveUp.IsZero() {
			unix.Kill(-c.pid, unix.SIGKILL)
			c.forced = true
			c.giveUp = now.Add(killWait)
		}
		if !c.giveUp.IsZero() && now.After(c.giveUp) {
			return
		}
	}
}

// patience returns how many milliseconds may pass until something is due.
func (c *child) patience(now time.Time) int {
	next := now.Add(watchEvery)
	for _, t := range []time.Time{c.timeout, c.kill, c.giveUp} {
		if !t.IsZero() && t.Before(next) && t.After(now) {
			next = t
		}
	}
	return int((next.Sub(now) + time.Millisecond - 1) / time.Millisecond)
}

// stop tells the program group to end; the first cause counts.
func (c *child) stop(cause Cause, grace time.Duration) {
	if c.cause != Exited {
		return
	}
	c.cause = cause
	c.timeout = time.Time{}
	c.kill = time.Now().Add(grace)
	if grace > 0 {
		unix.Kill(-c.pid, unix.SIGTERM)
	}
}

func (c *child) overLimit() bool {
	for _, f := range c.out {
		var st unix.Stat_t
		if unix.Fstat(f, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size > c.limit {
			return true
		}
	}
	return false
}

// trim cuts a file that outgrew its limit between two looks.
func trim(f int, limit int64) {
	var st unix.Stat_t
	if unix.Fstat(f, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size > limit {
		_ = unix.Ftruncate(f, limit) // the caller checks sizes again
	}
}

// finish kills what is left of the program's group, reaps the program, then
// finds, kills and reaps every descendant that got away. The order matters: as
// long as the program is not reaped, no other group can have its number.
func (s *server) finish(c *child) Result {
	r := Result{Cause: c.cause, Forced: c.forced, Exit: -1}
	r.Strays = s.orphans(c.pid)
	unix.Kill(-c.pid, unix.SIGKILL)
	var status unix.WaitStatus
	var usage unix.Rusage
	options := 0
	if !c.giveUp.IsZero() {
		options = unix.WNOHANG // it may be stuck in the kernel
	}
	pid, err := unix.Wait4(c.pid, &status, options, &usage)
	for err == unix.EINTR {
		pid, err = unix.Wait4(c.pid, &status, options, &usage)
	}
	if pid == c.pid {
		r.Usage = usageOf(&usage)
		if status.Signaled() {
			r.Signal = status.Signal()
		} else {
			r.Exit = status.ExitStatus()
		}
	}
	s.sweep(&r)
	return r
}

// ownPeak returns the most memory that this process ever had in use, in bytes;
// getrusage would say what the caller had when it started us. Unknown counts as
// more than any child has.
func (s *server) ownPeak() int64 {
	b, err := s.status.read("/proc/self/status", s.buf[:])
	if err != nil {
		return math.MaxInt64
	}
	_, rest, _ := bytes.Cut(b, []byte("VmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte(" kB"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return kib << 10
}

func usageOf(u *unix.Rusage) Usage {
	return Usage{
		User:            time.Duration(u.Utime.Nano()),
		System:          time.Duration(u.Stime.Nano()),
		MaxRSS:          u.Maxrss << 10,
		MinorFaults:     u.Minflt,
		MajorFaults:     u.Majflt,
		VoluntarySwitch: u.Nvcsw,
		Preempted:       u.Nivcsw,
	}
}
