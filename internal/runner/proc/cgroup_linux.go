package proc

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroup is a control group (version 2) that every program of a keeper starts in. It
// is killed at once, however fast the programs in it start others. The zero value is
// none: then processes are found and killed one by one.
type cgroup struct {
	dir  string
	fd   int // of dir
	kill int // of its file cgroup.kill
	in   bool
	used bool // it was killed
}

const cgroupPrefix = "writ-keeper-"

// newCgroup makes a group below the keeper's own, where that can be written. It is
// named after the keeper's process id, as /proc has it.
func newCgroup() cgroup {
	parent := ownCgroup()
	pid, err := os.Readlink("/proc/self")
	if parent == "" || err != nil {
		return cgroup{}
	}
	removeStale(parent)
	g := cgroup{dir: filepath.Join(parent, cgroupPrefix+pid), fd: -1, kill: -1}
	if err := unix.Mkdir(g.dir, 0o755); err != nil {
		return cgroup{}
	}
	if g.kill, err = unix.Open(filepath.Join(g.dir, "cgroup.kill"), unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil { // kernel 5.14
		g.fd, err = unix.Open(g.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		g.remove()
		return cgroup{}
	}
	g.in = true
	return g
}

// ownCgroup is the directory of the group that this process is in, "" when there is
// no hierarchy of version 2 to be seen.
func ownCgroup() string {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	root, at := cgroupMount(string(mounts))
	for line := range strings.Lines(string(own)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok || at == "" {
			continue
		}
		if path, ok = strings.CutPrefix(path, strings.TrimSuffix(root, "/")); ok {
			return filepath.Join(at, path)
		}
	}
	return ""
}

// cgroupMount returns which part of the hierarchy of version 2 is mounted where.
func cgroupMount(mountinfo string) (root, at string) {
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		f := strings.Fields(before)
		if kind, _, _ := strings.Cut(after, " "); kind == "cgroup2" && len(f) > 4 {
			return f[3], f[4]
		}
	}
	return "", ""
}

// removeStale removes the groups of keepers that were killed. One that has processes
// stays: the kernel refuses.
func removeStale(parent string) {
	left, err := filepath.Glob(filepath.Join(parent, cgroupPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		pid := strings.TrimPrefix(filepath.Base(dir), cgroupPrefix)
		if _, err := os.Stat("/proc/" + pid); os.IsNotExist(err) {
			_ = unix.Rmdir(dir) // somebody else may have been faster
		}
	}
}

// end kills everything in the group.
func (g *cgroup) end() {
	if g.in {
		_, _ = unix.Write(g.kill, []byte("1")) // what is left is killed one by one
		g.used = true
	}
}

// renew makes a new group in the place of one that was killed. From kernel 6.14 on, a
// program that is started into such a group by a process outside of it is taken for
// one that was starting when it was killed, and dies at once.
func (g *cgroup) renew() {
	if g.used {
		g.remove()
		*g = newCgroup()
	}
}

// remove gives the group up. Its processes are gone; if one is not, the group stays
// for the next keeper to remove.
func (g cgroup) remove() {
	for _, fd := range []int{g.fd, g.kill} {
		if fd >= 0 && g.dir != "" {
			_ = unix.Close(fd)
		}
	}
	if g.dir != "" {
		_ = unix.Rmdir(g.dir)
	}
}
