package capture

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/result"
)

// laptop is a bare machine with everything that the kernel can offer.
var laptop = map[string]string{
	"proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 142\nmodel name\t: Intel(R) Core(TM) i7\nstepping\t: 10\nmicrocode\t: 0xf4\ncpu MHz\t\t: 1800.000\nflags\t\t: fpu vme\n\n" +
		"processor\t: 1\nmodel name\t: Intel(R) Core(TM) i7\ncpu MHz\t\t: 2200.000\nflags\t\t: fpu vme\n",
	"proc/meminfo":                       "MemTotal:       16303428 kB\nMemFree:         1000 kB\nMemAvailable:    8000000 kB\n",
	"proc/loadavg":                       "0.52 0.58 0.59 3/1000 12345\n",
	"proc/stat":                          "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 50 0 25 400 25 0 0 0 0 0\nctxt 5000\n",
	"proc/pressure/cpu":                  "some avg10=1.25 avg60=0.50 avg300=0.10 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	"proc/pressure/memory":               "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	"proc/pressure/io":                   "nonsense\n",
	"proc/sys/kernel/osrelease":          "6.9.0\n",
	"proc/sys/kernel/hostname":           "laptop\n",
	"proc/sys/kernel/randomize_va_space": "2\n",
	"proc/sys/kernel/numa_balancing":     "0\n",
	"proc/sys/kernel/random/boot_id":     "11111111-2222-3333-4444-555555555555\n",
	"proc/self/status":                   "Name:\tx\nCpus_allowed_list:\t0-3\n",
	"proc/self/cgroup":                   "0::/user.slice/session.scope\n",
	"proc/self/mountinfo":                "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
	"proc/1/cgroup":                      "0::/init.scope\n",
	"etc/os-release":                     "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
	"lib/x86_64-linux-gnu/libc.so.6":     "\x7fELF...GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n",

	"sys/devices/system/cpu/online":                                    "0-3\n",
	"sys/devices/system/cpu/isolated":                                  "\n",
	"sys/devices/system/cpu/smt/active":                                "1\n",
	"sys/devices/system/cpu/smt/control":                               "on\n",
	"sys/devices/system/cpu/intel_pstate/no_turbo":                     "1\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":             "performance\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":             "powersave\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_driver":               "intel_pstate\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_driver":               "intel_pstate\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":             "1000000\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq":             "3000000\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "4\n",
	"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "6\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource":  "tsc\n",
	"sys/kernel/mm/transparent_hugepage/enabled":                       "always [madvise] never\n",
	"sys/kernel/mm/transparent_hugepage/defrag":                        "always defer\n",
	"sys/class/thermal/thermal_zone0/temp":                             "45000\n",
	"sys/class/thermal/thermal_zone1/temp":                             "61500\n",
	"sys/fs/cgroup/user.slice/cpu.max":                                 "150000 100000\n",
	"sys/fs/cgroup/user.slice/session.scope/cpu.max":                   "max 100000\n",
	"sys/fs/cgroup/user.slice/session.scope/memory.max":                "2147483648\n",
	"sys/fs/cgroup/user.slice/memory.max":                              "max\n",
	"sys/fs/cgroup/user.slice/session.scope/cpu.stat":                  "usage_usec 1\nnr_periods 10\nnr_throttled 3\nthrottled_usec 1500\n",
}

// values flattens a block to what tests compare.
func values(b Block) map[string]any {
	out := map[string]any{}
	for name, o := range b {
		if o.Status != result.SeenOK {
			out[name] = "(" + o.Status + ")"
			continue
		}
		if n, ok := o.Value.Float(); ok {
			out[name] = n
		} else {
			out[name] = o.Value.Any()
		}
	}
	return out
}

func TestSystemOfAFullMachine(t *testing.T) {
	t.Parallel()
	got := values(Host{Root: files(t, t.TempDir(), laptop)}.System())
	delete(got, "os.arch") // of the build
	want := map[string]any{
		"cpu.model": "Intel(R) Core(TM) i7", "cpu.vendor": "GenuineIntel", "cpu.family": "6", "cpu.stepping": "10", "cpu.microcode": "0xf4",
		"cpu.online": "0-3", "cpu.logical_cores": 4.0, "cpu.isolated": "none", "cpu.smt": true, "cpu.smt_control": "on",
		"cpu.governor": "performance,powersave", "cpu.frequency_driver": "intel_pstate", "cpu.boost": false,
		"kernel.release": "6.9.0", "kernel.aslr": 2.0, "kernel.numa_balancing": "0", "clock.source": "tsc",
		"os.name": "Debian GNU/Linux 12", "libc.version": "glibc 2.36",
		"memory.total": 16303428.0 * 1024, "memory.thp": "madvise", "memory.thp_defrag": "(error)",
		"cgroup.cpu_quota": 1.5, "cgroup.memory_max": 2147483648.0, "cpu.affinity": "0-3", "virtualization": "bare-metal", "gpu.count": "(unavailable)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("system facts (-want +got):\n%s", diff)
	}
}

func TestNothingIsDroppedOrInvented(t *testing.T) {
	t.Parallel()
	full, bare := Host{Root: files(t, t.TempDir(), laptop)}, Host{Root: t.TempDir()}
	if diff := cmp.Diff(full.System().Names(), bare.System().Names()); diff != "" {
		t.Errorf("names depend on the machine (-full +bare):\n%s", diff)
	}
	for name, o := range bare.System() {
		if name != "os.arch" && name != "virtualization" && (o.Status != result.Unavailable || !o.Value.IsNull()) {
			t.Errorf("%s on a machine with nothing: %+v", name, o)
		}
	}
	a, b := bare.Condition(result.Before), bare.Condition(result.After)
	for name, o := range Between(a, b) {
		if o.Status != result.Unavailable || !o.Value.IsNull() {
			t.Errorf("%s on a machine with nothing: %+v", name, o)
		}
	}
}

func TestUnreadableIsNotAbsent(t *testing.T) {
	t.Parallel()
	root := files(t, t.TempDir(), laptop)
	files(t, root, map[string]string{
		"proc/sys/kernel/randomize_va_space": "two",
		"proc/loadavg":                       "x",
		"sys/devices/system/cpu/online":      "3-0",
		"sys/fs/cgroup/user.slice/cpu.max":   "lots",
	})
	h := Host{Root: root}
	for name, o := range h.System() {
		want := map[string]bool{"kernel.aslr": true, "cpu.logical_cores": true, "cgroup.cpu_quota": true, "memory.thp_defrag": true}[name]
		if got := o.Status == result.SeenError; got != want {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if o := h.Condition(result.Before).Block["load.avg_1m"]; o.Status != result.SeenError {
		t.Errorf("load: %+v", o)
	}
}

func TestConditionBetween(t *testing.T) {
	t.Parallel()
	root := files(t, t.TempDir(), laptop)
	h := Host{Root: root}
	before := h.Condition(result.Before)
	files(t, root, map[string]string{
		"proc/loadavg":      "1.50 0.58 0.59 7/1000 12345\n",
		"proc/stat":         "cpu  160 0 60 880 50 0 0 50 0 0\nctxt 5750\n",
		"proc/pressure/cpu": "some avg10=3.50 avg60=0.50 avg300=0.10 total=1600\n",
		"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "9\n",
		"sys/fs/cgroup/user.slice/session.scope/cpu.stat":                  "nr_throttled 5\nthrottled_usec 2500\n",
	})
	between := Between(before, h.Condition(result.After))
	want := map[string]any{
		"load.avg_1m": 0.52, "load.avg_1m.after": 1.5, "load.running": 3.0, "load.running.after": 7.0,
		"psi.cpu.some_avg10": 1.25, "psi.cpu.some_avg10.after": 3.5, "psi.cpu.some_added": 600.0,
		"psi.memory.some_avg10": 0.0, "psi.memory.some_avg10.after": 0.0, "psi.memory.some_added": 0.0,
		"psi.io.some_avg10": "(error)", "psi.io.some_avg10.after": "(error)", "psi.io.some_added": "(error)",
		"temperature.max": 61.5, "temperature.max.after": 61.5, "cpu.freq_mhz": 2000.0, "cpu.freq_mhz.after": 2000.0,
		"memory.available": 8000000.0 * 1024, "memory.available.after": 8000000.0 * 1024,
		"boot_id":         "11111111-2222-3333-4444-555555555555",
		"cpu.steal_share": 0.25, "cpu.busy_share": 0.35, "thermal.throttle_count": 3.0, "kernel.context_switches": 750.0,
		"cgroup.cpu_throttled_periods": 2.0, "cgroup.cpu_throttled_time": 1000.0,
	}
	if diff := cmp.Diff(want, values(between)); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	for name, o := range between {
		if o.When != result.Before && o.When != result.After || o.Source == "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	files(t, root, map[string]string{
		"proc/sys/kernel/random/boot_id": "99999999-2222-3333-4444-555555555555\n",
		"proc/stat":                      "cpu  1 0 1 1 0 0 0 0 0 0\nctxt 1\n",
	})
	rebooted := Between(before, h.Condition(result.After))
	if o := rebooted["boot_id.after"]; o.Status != result.SeenOK {
		t.Errorf("a second boot is not named: %+v", o)
	}
	if o := rebooted["kernel.context_switches"]; o.Status != result.SeenError {
		t.Errorf("a counter that went backwards: %+v", o)
	}
}

func TestOldControlGroups(t *testing.T) {
	t.Parallel()
	root := files(t, t.TempDir(), laptop)
	files(t, root, map[string]string{
		"proc/self/cgroup":                                "4:memory:/a\n2:cpu,cpuacct:/a/b\n0::/\n",
		"proc/self/mountinfo":                             "1 1 0:1 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n2 1 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n3 1 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us":  "-1\n",
		"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us": "100000\n",
		"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us":    "50000\n",
		"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us":   "100000\n",
		"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.stat":          "nr_periods 1\nnr_throttled 2\nthrottled_time 3000\n",
		"sys/fs/cgroup/memory/a/memory.limit_in_bytes":    "9223372036854771712\n",
	})
	h := Host{Root: root}
	got := values(h.System())
	if got["cgroup.cpu_quota"] != 0.5 || got["cgroup.memory_max"] != NoLimit {
		t.Errorf("quota %v, memory %v", got["cgroup.cpu_quota"], got["cgroup.memory_max"])
	}
	c := h.Condition(result.Before)
	if n := c.counters["cgroup.cpu_throttled_time"]; n.err != nil || n.value != 3 {
		t.Errorf("throttled time %+v", n)
	}
}

func TestVirtualisation(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]map[string]string{
		"vm":         {"proc/cpuinfo": "flags\t: fpu hypervisor\n"},
		"container":  {"proc/1/cgroup": "0::/docker/abc\n", "proc/cpuinfo": "flags\t: hypervisor\n"},
		"wsl":        {"proc/sys/kernel/osrelease": "5.15.0-Microsoft-standard-WSL2\n"},
		"bare-metal": nil,
	} {
		tree := maps.Clone(laptop)
		maps.Copy(tree, change)
		if got, _ := (Host{Root: files(t, t.TempDir(), tree)}).virtualisation(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	got := Host{Root: files(t, t.TempDir(), laptop)}.Machine()
	if want := `{"cores":4,"cpu":"Intel(R) Core(TM) i7","runner":"laptop"}`; string(got.Identity.Canonical()) != want {
		t.Errorf("got %s, want %s", got.Identity.Canonical(), want)
	}
	empty := Host{Root: t.TempDir()}.Machine()
	if want := `{"cores":"unknown","cpu":"unknown","runner":"unknown-"}`; string(empty.Identity.Canonical()) != want {
		t.Errorf("got %s, want %s", empty.Identity.Canonical(), want)
	}
}

// TestThisMachine makes sure that the real kernel files are understood: nothing
// that is there may be an error.
func TestThisMachine(t *testing.T) {
	t.Parallel()
	h := Host{}
	block := h.System()
	maps.Copy(block, Between(h.Condition(result.Before), h.Condition(result.After)))
	for name, o := range block {
		if o.Status == result.SeenError {
			t.Errorf("%s: cannot read %s", name, o.Source)
		}
		if _, err := canon.From(o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"cpu.logical_cores", "kernel.release", "memory.total", "load.avg_1m", "boot_id"} {
		if block[name].Status != result.SeenOK {
			t.Errorf("%s: %+v", name, block[name])
		}
	}
}

func FuzzKernelText(f *testing.F) {
	for _, text := range laptop {
		f.Add(text)
	}
	for _, text := range []string{"0-9223372036854775807", "MemTotal: 9223372036854775807 kB", "MemTotal: 99999999999999999999 kB", "-1-2", "[]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if avg, total, err := pressureLine(text); err != nil && (avg != 0 || total != 0) {
			t.Errorf("pressure %v %v with %v", avg, total, err)
		}
		if all, _, _, _, err := cpuTicks(text); err != nil && all != 0 {
			t.Errorf("ticks %v with %v", all, err)
		}
		if n, err := cpuCount(text); err == nil && n < 1 {
			t.Errorf("processor list %q counts %d", text, n)
		}
		if n, err := kibibytes(text, "MemTotal"); err != nil && n != 0 {
			t.Errorf("bytes %d with %v", n, err)
		}
		if w, err := chosen(text); err != nil && w != "" {
			t.Errorf("choice %q with %v", w, err)
		}
		field(text, "flags")
		statValue(text, "nr_throttled")
		mountOf(text, "cgroup2", "")
		mountOf(text, "cgroup", "cpu")
		assigned(text, "PRETTY_NAME")
	})
}
