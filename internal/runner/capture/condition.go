package capture

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/result"
)

// Snapshot is the state of the machine at one moment: what it shows by itself, and
// counters whose growth tells something.
type Snapshot struct {
	Block    Block
	counters map[string]counter
}

type counter struct {
	value  float64
	source string
	err    error
}

// Condition reads what may change from minute to minute; when is result.Before or
// result.After.
func (h Host) Condition(when string) Snapshot {
	r := reading{when, Block{}}
	s := Snapshot{r.block, map[string]counter{}}
	h.load(r)
	h.pressure(r, s)
	h.ticks(s)
	h.heat(r, s)
	h.throttling(s)
	mhz, source, err := h.clockRate()
	r.put("cpu.freq_mhz", "MHz", source, mhz, err)
	info, err := h.text("/proc/meminfo")
	var free int64
	if err == nil {
		free, err = kibibytes(info, "MemAvailable")
	}
	r.put("memory.available", "By", "/proc/meminfo", free, err)
	h.word(r, result.BootID, "/proc/sys/kernel/random/boot_id")
	return s
}

// Again is the same state as one before the next measurement, for when nothing
// happened since.
func (s Snapshot) Again() Snapshot {
	block := make(Block, len(s.Block))
	for name, o := range s.Block {
		o.When = result.Before
		block[name] = o
	}
	return Snapshot{block, s.counters}
}

// Between merges the state before and after a measurement. Facts of the second
// moment get the suffix ".after"; counters become what was added in between. The
// boot is named once: a second name means that the machine was started again.
func Between(before, after Snapshot) Block {
	out := maps.Clone(before.Block)
	for name, rec := range after.Block {
		if name != result.BootID || !canon.Equal(rec.Value, before.Block[name].Value) {
			out[name+".after"] = rec
		}
	}
	r := reading{result.After, out}
	share := func(name, part, whole, unit string) {
		p, w := before.added(after, part), before.added(after, whole)
		err := errors.Join(p.err, w.err)
		if err == nil && w.value <= 0 {
			err = errAbsent // no time has passed
		}
		v := 0.0
		if err == nil {
			v = p.value / w.value
		}
		r.put(name, unit, p.source, v, err)
	}
	share("cpu.steal_share", "ticks.steal", "ticks.all", "1")
	share("cpu.busy_share", "ticks.busy", "ticks.all", "1")
	for name, unit := range map[string]string{
		"psi.cpu.some_added":           "us",
		"psi.memory.some_added":        "us",
		"psi.io.some_added":            "us",
		"thermal.throttle_count":       "1",
		"cgroup.cpu_throttled_periods": "1",
		"kernel.context_switches":      "1",
		"cgroup.cpu_throttled_time":    "us",
	} {
		c := before.added(after, name)
		r.put(name, unit, c.source, c.value, c.err)
	}
	return out
}

// added returns by how much a counter grew.
func (s Snapshot) added(after Snapshot, name string) counter {
	a, b := s.counters[name], after.counters[name]
	c := counter{value: b.value - a.value, source: b.source, err: errors.Join(a.err, b.err)}
	if a.source == "" || b.source == "" {
		c.err = errAbsent
	}
	if c.err == nil && c.value < 0 {
		c.err = fmt.Errorf("%s went backwards", name)
	}
	return c
}

func (h Host) load(r reading) {
	const path = "/proc/loadavg"
	text, err := h.text(path)
	fields := strings.Fields(text)
	if err == nil && len(fields) < 4 {
		err = fmt.Errorf("load %q", text)
	}
	load, running := 0.0, int64(0)
	if err == nil {
		load, err = strconv.ParseFloat(fields[0], 64)
	}
	r.put("load.avg_1m", "1", path, load, err)
	if err == nil {
		now, _, _ := strings.Cut(fields[3], "/")
		running, err = strconv.ParseInt(now, 10, 64)
	}
	r.put("load.running", "1", path, running, err)
}

// pressure reads how long work has waited for a resource.
func (h Host) pressure(r reading, s Snapshot) {
	for _, resource := range []string{"cpu", "memory", "io"} {
		path := "/proc/pressure/" + resource
		text, err := h.text(path)
		avg, total := 0.0, 0.0
		if err == nil {
			avg, total, err = pressureLine(text)
		}
		r.put("psi."+resource+".some_avg10", "%", path, avg, err)
		s.counters["psi."+resource+".some_added"] = counter{total, path, err}
	}
}

func pressureLine(text string) (avg10, total float64, err error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "some ")
		if !ok {
			continue
		}
		found := 0
		for _, f := range strings.Fields(rest) {
			name, value, _ := strings.Cut(f, "=")
			switch name {
			case "avg10":
				avg10, err = strconv.ParseFloat(value, 64)
				found++
			case "total":
				total, err = strconv.ParseFloat(value, 64)
				found++
			}
			if err != nil {
				return 0, 0, err
			}
		}
		if found == 2 {
			return avg10, total, nil
		}
	}
	return 0, 0, fmt.Errorf("pressure %q", text)
}

// ticks reads how the processors spent their time since boot: user, nice, system,
// idle, iowait, irq, softirq and steal.
func (h Host) ticks(s Snapshot) {
	const path = "/proc/stat"
	text, err := h.text(path)
	var all, idle, steal, switches float64
	if err == nil {
		all, idle, steal, switches, err = cpuTicks(text)
	}
	s.counters["ticks.all"] = counter{all, path, err}
	s.counters["ticks.busy"] = counter{all - idle - steal, path, err}
	s.counters["ticks.steal"] = counter{steal, path, err}
	s.counters["kernel.context_switches"] = counter{switches, path, err}
}

func cpuTicks(text string) (all, idle, steal, switches float64, err error) {
	seen := false
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "cpu ") && !strings.HasPrefix(line, "ctxt ") {
			continue // some lines count every interrupt of the machine
		}
		f := strings.Fields(line)
		switch {
		case len(f) >= 9 && f[0] == "cpu":
			seen = true
			for i, word := range f[1:9] {
				v, err := strconv.ParseFloat(word, 64)
				if err != nil {
					return 0, 0, 0, 0, err
				}
				all += v
				switch i {
				case 3, 4:
					idle += v
				case 7:
					steal = v
				}
			}
		case len(f) == 2 && f[0] == "ctxt":
			if switches, err = strconv.ParseFloat(f[1], 64); err != nil {
				return 0, 0, 0, 0, err
			}
		}
	}
	if !seen {
		return 0, 0, 0, 0, fmt.Errorf("no line of all processors")
	}
	return all, idle, steal, switches, nil
}

// heat reads the hottest sensor, and how often heat slowed a processor down.
func (h Host) heat(r reading, s Snapshot) {
	hottest, source, err := h.Temperature(nil)
	r.put("temperature.max", "Cel", source, hottest, err)

	const pattern = "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"
	count := counter{source: pattern, err: errAbsent}
	for _, path := range h.glob(pattern) {
		n, err := h.number(path)
		if count.err = err; err != nil {
			break
		}
		count.value += float64(n)
	}
	s.counters["thermal.throttle_count"] = count
}

// throttling reads how often a control group ran out of its processor quota.
func (h Host) throttling(s Snapshot) {
	periods := counter{source: "/proc/self/cgroup", err: errAbsent}
	spent := periods
	if g, _, err := h.group("cpu"); err == nil {
		path := g.files("cpu.stat")[0]
		text, err := h.text(path)
		periods, spent = counter{source: path, err: err}, counter{source: path, err: err}
		if err == nil {
			periods.value, periods.err = statValue(text, "nr_throttled")
			if spent.value, spent.err = statValue(text, "throttled_usec"); spent.err != nil {
				spent.value, spent.err = statValue(text, "throttled_time") // nanoseconds, in the old interface
				spent.value /= 1000
			}
		}
	}
	s.counters["cgroup.cpu_throttled_periods"] = periods
	s.counters["cgroup.cpu_throttled_time"] = spent
}

func statValue(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			return strconv.ParseFloat(f[1], 64)
		}
	}
	return 0, errAbsent
}

// clockRate returns the mean clock rate over the processors at this moment.
func (h Host) clockRate() (mhz float64, source string, err error) {
	const pattern = "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"
	if files := h.glob(pattern); len(files) > 0 {
		sum := 0.0
		for _, f := range files {
			khz, err := h.number(f)
			if err != nil {
				return 0, f, err
			}
			sum += float64(khz) / 1000
		}
		return sum / float64(len(files)), pattern, nil
	}
	const path = "/proc/cpuinfo"
	if h.kept != nil && h.kept.virtualMHz > 0 {
		return h.kept.virtualMHz, path, nil
	}
	text, err := h.text(path)
	if err != nil {
		return 0, path, err
	}
	sum, n := 0.0, 0
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(key) != "cpu MHz" {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return 0, path, err
		}
		sum, n = sum+v, n+1
	}
	if n == 0 {
		return 0, path, errAbsent
	}
	mhz = sum / float64(n)
	if flags, err := field(text, "flags"); err == nil && h.kept != nil && slices.Contains(strings.Fields(flags), "hypervisor") {
		h.kept.virtualMHz = mhz
	}
	return mhz, path, nil
}
