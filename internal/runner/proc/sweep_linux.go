package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// orphans lists the keeper's living children other than the program itself. Once
// the program has ended, these are the roots of everything that outlived it. In
// a process namespace without its own /proc nothing can be listed, and the sweep
// goes without names.
func (s *server) orphans(leader int) []Stray {
	var out []Stray
	for _, pid := range s.children() {
		if pid == leader {
			continue
		}
		name, group, dead := stat(pid)
		if !dead {
			out = append(out, Stray{PID: pid, Name: name, Escaped: group != leader})
		}
	}
	return out
}

// children returns the ids of the keeper's children, dead ones too.
func (s *server) children() []int {
	if s.pid == 1 && !s.report.FreshProc {
		return nil // /proc speaks of other ids
	}
	// The main thread starts every program, and adopts what they leave behind.
	b, err := s.kids.read("/proc/self/task/"+strconv.Itoa(s.pid)+"/children", s.buf[:])
	if err != nil {
		return childrenByParent(s.pid)
	}
	var out []int
	for _, f := range bytes.Fields(b) {
		if pid, err := strconv.Atoi(string(f)); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// childrenByParent looks through all processes, for kernels without lists of children.
func childrenByParent(parent int) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var out []int
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		if fields := statFields(pid); len(fields) > 1 && string(fields[1]) == strconv.Itoa(parent) {
			out = append(out, pid)
		}
	}
	return out
}

// stat returns a process's command name and group, and whether it is dead.
func stat(pid int) (name string, group int, dead bool) {
	comm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	fields := statFields(pid)
	if err != nil || len(fields) < 3 {
		return "", 0, true
	}
	group, _ = strconv.Atoi(string(fields[2])) // the kernel's own number
	return string(bytes.TrimSpace(comm)), group, fields[0][0] == 'Z' || fields[0][0] == 'X'
}

// statFields returns the fields of /proc/PID/stat after the command name: state,
// parent, group, and so on.
func statFields(pid int) [][]byte {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
}

// sweep kills and reaps until the keeper has no child left. Children of a killed
// process become the keeper's own, so going on until there is none finds all.
func (s *server) sweep(r *Result) {
	defer s.group.renew()
	deadline := time.Now().Add(killWait)
	pause := 100 * time.Microsecond
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECHILD:
			return
		case pid > 0:
			known := slices.ContainsFunc(r.Strays, func(s Stray) bool { return s.PID == pid })
			if !known && status.Signaled() && status.Signal() == unix.SIGKILL {
				r.Strays = append(r.Strays, Stray{})
			}
			continue
		}
		s.group.end()
		if s.pid == 1 {
			unix.Kill(-1, unix.SIGKILL) // everything in the namespace but the keeper
		} else {
			for _, pid := range s.children() {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		if time.Now().After(deadline) {
			r.Survivors = max(1, len(s.children()))
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, 10*time.Millisecond)
	}
}
