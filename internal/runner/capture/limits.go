package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// NoLimit is the recorded value of a limit that is not set.
const NoLimit = "none"

// limits records what the control groups and the affinity mask leave of the
// machine.
func (h Host) limits(r reading) {
	quota, source, err := h.cpuQuota()
	r.put("cgroup.cpu_quota", "1", source, limitOr(quota), err)
	bytes, source, err := h.memoryLimit()
	r.put("cgroup.memory_max", "By", source, limitOr(bytes), err)
	const status = "/proc/self/status"
	text, err := h.text(status)
	allowed := ""
	if err == nil {
		allowed, err = field(text, "Cpus_allowed_list")
	}
	r.put("cpu.affinity", "", status, allowed, err)
}

func limitOr(v float64) any {
	if v == 0 {
		return NoLimit
	}
	return v
}

// group is where this process stands in one hierarchy of control groups.
type group struct {
	mount string // where the hierarchy is mounted
	path  string // group below it
}

// files returns the file of that name in the group and all its ancestors, from
// the inside out.
func (g group) files(name string) []string {
	var out []string
	for p := g.path; ; p = path.Dir(p) {
		out = append(out, path.Join(g.mount, p, name))
		if p == "/" || p == "." {
			return out
		}
	}
}

// group finds the group for a controller: first in the unified hierarchy, then in
// the one that the controller has for itself.
func (h Host) group(controller string) (g group, unified bool, err error) {
	if h.kept == nil {
		return h.find(controller)
	}
	p, known := h.kept.groups[controller]
	if !known {
		p.group, p.unified, p.err = h.find(controller)
		h.kept.groups[controller] = p
	}
	return p.group, p.unified, p.err
}

func (h Host) find(controller string) (g group, unified bool, err error) {
	membership, err := h.text("/proc/self/cgroup")
	if err != nil {
		return group{}, false, err
	}
	mounts, err := h.text("/proc/self/mountinfo")
	if err != nil {
		return group{}, false, err
	}
	for line := range strings.Lines(membership) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, name := range strings.Split(parts[1], ",") {
			if name == controller {
				if mount, ok := mountOf(mounts, "cgroup", controller); ok {
					return group{mount, parts[2]}, false, nil
				}
			}
		}
	}
	for line := range strings.Lines(membership) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			if mount, ok := mountOf(mounts, "cgroup2", ""); ok {
				return group{mount, p}, true, nil
			}
		}
	}
	return group{}, false, errAbsent
}

// mountOf finds the mount point of a file system type in mountinfo lines.
func mountOf(mounts, kind, controller string) (string, bool) {
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 || right[0] != kind {
			continue
		}
		if controller == "" || hasOption(right[2], controller) {
			return left[4], true
		}
	}
	return "", false
}

func hasOption(options, name string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == name {
			return true
		}
	}
	return false
}

// cpuQuota returns how many processors' worth of time may be used, the smallest
// over all ancestors; 0 when there is no limit.
func (h Host) cpuQuota() (cpus float64, source string, err error) {
	g, unified, err := h.group("cpu")
	if err != nil {
		return 0, "/proc/self/cgroup", err
	}
	name := "cpu.cfs_quota_us"
	if unified {
		name = "cpu.max"
	}
	return h.smallest(g.files(name), func(file, text string) (float64, error) {
		if !unified {
			quota, err := strconv.ParseFloat(text, 64)
			if err != nil || quota <= 0 {
				return 0, err
			}
			period, err := h.number(path.Join(path.Dir(file), "cpu.cfs_period_us"))
			if err != nil {
				return 0, err
			}
			if period <= 0 {
				return 0, fmt.Errorf("period %d", period)
			}
			return quota / float64(period), nil
		}
		quota, period, _ := strings.Cut(text, " ")
		if quota == "max" {
			return 0, nil
		}
		q, err1 := strconv.ParseFloat(quota, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		if errors.Join(err1, err2) != nil || p <= 0 {
			return 0, fmt.Errorf("quota %q", text)
		}
		return q / p, nil
	})
}

// memoryLimit returns the smallest limit in bytes; 0 when there is none.
func (h Host) memoryLimit() (bytes float64, source string, err error) {
	g, unified, err := h.group("memory")
	if err != nil {
		return 0, "/proc/self/cgroup", err
	}
	name := "memory.limit_in_bytes"
	if unified {
		name = "memory.max"
	}
	return h.smallest(g.files(name), func(_, text string) (float64, error) {
		if text == "max" {
			return 0, nil
		}
		v, err := strconv.ParseFloat(text, 64)
		if v >= 1<<62 {
			v = 0 // the old interface spells no limit as the largest page-aligned number
		}
		return v, err
	})
}

// smallest returns the smallest limit above 0 in any of the files. Files that are
// not there (the root group has none) set no limit; when none is there, the fact
// is unavailable.
func (h Host) smallest(files []string, parse func(file, text string) (float64, error)) (least float64, source string, err error) {
	source, found := files[0], false
	for _, f := range files {
		text, err := h.text(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, f, err
		}
		found = true
		v, err := parse(f, text)
		if err != nil {
			return 0, f, err
		}
		if v > 0 && (least == 0 || v < least) {
			least, source = v, f
		}
	}
	if !found {
		return 0, source, errAbsent
	}
	return least, source, nil
}

// large reads a file that may have some megabytes.
func (h Host) large(path string) ([]byte, error) {
	f, err := os.Open(h.path(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 16<<20))
}
