package capture

import (
	"regexp"
	"runtime"
	"slices"
	"strings"

	"writ/internal/result"
)

// System reads the facts that stay the same while an environment is prepared: a
// change of any of them makes two measurements hard to compare.
func (h Host) System() Block {
	r := reading{result.Before, Block{}}
	h.processor(r)
	h.frequency(r)
	h.kernel(r)
	h.memory(r)
	h.limits(r)
	kind, source := h.virtualisation()
	r.put("virtualization", "", source, kind, nil)
	n, source, err := h.devices()
	r.put("gpu.count", "1", source, n, err)
	return r.block
}

// Tuning reads what somebody may change while a measurement runs: how the clock rate
// is governed, whether cores are shared, and how fast accelerators are clocked. All
// but the last are facts of System too.
func (h Host) Tuning(when string) Block {
	r := reading{when, Block{}}
	h.frequency(r)
	h.threading(r)
	h.accelerators(r)
	return r.block
}

func (h Host) accelerators(r reading) {
	mhz, source, err := h.clock()
	r.put("gpu.clock_mhz", "MHz", source, mhz, err)
}

func (h Host) threading(r reading) {
	smt, err := h.flag("/sys/devices/system/cpu/smt/active")
	r.put("cpu.smt", "", "/sys/devices/system/cpu/smt/active", smt, err)
}

func (h Host) processor(r reading) {
	const path = "/proc/cpuinfo"
	info, err := h.text(path)
	for name, key := range map[string]string{
		"cpu.model":     "model name",
		"cpu.vendor":    "vendor_id",
		"cpu.family":    "cpu family",
		"cpu.stepping":  "stepping",
		"cpu.microcode": "microcode",
	} {
		value, fieldErr := "", err
		if err == nil {
			value, fieldErr = field(info, key)
		}
		r.put(name, "", path, value, fieldErr)
	}
	r.put("os.arch", "", "build", runtime.GOARCH, nil)
	const online = "/sys/devices/system/cpu/online"
	list, err := h.text(online)
	r.put("cpu.online", "", online, list, err)
	cores := 0
	if err == nil {
		cores, err = cpuCount(list)
	}
	r.put("cpu.logical_cores", "1", online, cores, err)
	h.listed(r, "cpu.isolated", "/sys/devices/system/cpu/isolated")
	h.word(r, "cpu.smt_control", "/sys/devices/system/cpu/smt/control")
	h.threading(r)
}

// word records a one-word file.
func (h Host) word(r reading, name, path string) {
	s, err := h.text(path)
	if err == nil && s == "" {
		err = errAbsent
	}
	r.put(name, "", path, s, err)
}

// listed records a list of processors; an empty list is a fact.
func (h Host) listed(r reading, name, path string) {
	s, err := h.text(path)
	if err == nil && s == "" {
		s = "none"
	}
	r.put(name, "", path, s, err)
}

// frequency records how the clock rate is governed, over all processors: a single
// one with another governor shows as a second word.
func (h Host) frequency(r reading) {
	for name, file := range map[string]string{"cpu.governor": "scaling_governor", "cpu.frequency_driver": "scaling_driver"} {
		pattern := "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/" + file
		var words []string
		err := error(errAbsent)
		for _, path := range h.glob(pattern) {
			var w string
			if w, err = h.text(path); err != nil {
				break
			}
			words = append(words, w)
		}
		slices.Sort(words)
		r.put(name, "", pattern, strings.Join(slices.Compact(words), ","), err)
	}
	source := "/sys/devices/system/cpu/cpufreq/boost"
	boost, err := h.flag(source)
	if err != nil && statusOf(err) == result.Unavailable {
		source = "/sys/devices/system/cpu/intel_pstate/no_turbo"
		var off bool
		off, err = h.flag(source)
		boost = !off
	}
	r.put("cpu.boost", "", source, boost, err)
}

func (h Host) kernel(r reading) {
	h.word(r, "kernel.release", "/proc/sys/kernel/osrelease")
	aslr, err := h.number("/proc/sys/kernel/randomize_va_space")
	r.put("kernel.aslr", "1", "/proc/sys/kernel/randomize_va_space", aslr, err)
	h.word(r, "kernel.numa_balancing", "/proc/sys/kernel/numa_balancing")
	h.word(r, "clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource")
	const release = "/etc/os-release"
	text, err := h.text(release)
	name := ""
	if err == nil {
		name, err = assigned(text, "PRETTY_NAME")
	}
	r.put("os.name", "", release, name, err)
	version, source, err := h.libc()
	r.put("libc.version", "", source, version, err)
}

// assigned returns the value of NAME="value" in a file of shell assignments.
func assigned(text, name string) (string, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return strings.Trim(value, `"'`), nil
		}
	}
	return "", errAbsent
}

var glibcBanner = regexp.MustCompile(`GNU C Library[^\n]{0,80}version (\d+\.\d+(?:\.\d+)?)`)

// libc finds the C library by looking for its own banner, without running anything.
func (h Host) libc() (version, source string, err error) {
	for _, pattern := range []string{"/lib/*-linux-gnu/libc.so.6", "/usr/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		for _, path := range h.glob(pattern) {
			b, err := h.large(path)
			if err != nil {
				return "", path, err
			}
			if m := glibcBanner.FindSubmatch(b); m != nil {
				return "glibc " + string(m[1]), path, nil
			}
		}
	}
	for _, path := range h.glob("/lib/ld-musl-*.so.1") {
		return "musl", path, nil
	}
	return "", "/lib", errAbsent
}

func (h Host) memory(r reading) {
	const path = "/proc/meminfo"
	info, err := h.text(path)
	var total int64
	if err == nil {
		total, err = kibibytes(info, "MemTotal")
	}
	r.put("memory.total", "By", path, total, err)
	for name, file := range map[string]string{"memory.thp": "enabled", "memory.thp_defrag": "defrag"} {
		source := "/sys/kernel/mm/transparent_hugepage/" + file
		text, err := h.text(source)
		if err == nil {
			text, err = chosen(text)
		}
		r.put(name, "", source, text, err)
	}
}

// virtualisation names the outermost layer that can be told: a container hides a
// virtual machine.
func (h Host) virtualisation() (kind, source string) {
	if s, err := h.text("/proc/sys/kernel/osrelease"); err == nil && strings.Contains(strings.ToLower(s), "microsoft") {
		return "wsl", "/proc/sys/kernel/osrelease"
	}
	for _, path := range []string{"/.dockerenv", "/run/.containerenv", "/run/systemd/container"} {
		if len(h.glob(path)) > 0 {
			return "container", path
		}
	}
	if s, err := h.text("/proc/1/cgroup"); err == nil {
		for _, mark := range []string{"docker", "kubepods", "containerd", "lxc"} {
			if strings.Contains(s, mark) {
				return "container", "/proc/1/cgroup"
			}
		}
	}
	if s, err := h.text("/proc/cpuinfo"); err == nil {
		if flags, err := field(s, "flags"); err == nil && slices.Contains(strings.Fields(flags), "hypervisor") {
			return "vm", "/proc/cpuinfo"
		}
	}
	return "bare-metal", "/proc/cpuinfo"
}
