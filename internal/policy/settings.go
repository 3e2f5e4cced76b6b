package policy

import (
	"slices"
	"strconv"
	"time"

	"writ/internal/canon"
)

// ThreadVariables are what libraries and runtimes read their number of threads
// from: what threads.max sets.
var ThreadVariables = []string{
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
	"GOMAXPROCS", "RAYON_NUM_THREADS",
}

// deviceVariables are what the runtimes of accelerators read the devices from that
// a process may see: what gpu.device sets.
var deviceVariables = []string{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"}

// launchVariables say whether the launch of a kernel waits for its end: what
// accel.sync sets. With events launches are asynchronous, and the harness times them
// by events of the device; with device-sync every launch waits, so that the clock of
// the host sees what the device did.
var launchVariables = []string{"CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING"}

const syncEvents = "events"

// deviceOrder gives the index of a device the same meaning in every process.
const deviceOrder, byBus = "CUDA_DEVICE_ORDER", "PCI_BUS_ID"

// Settings are what a policy has set on the measured process.
type Settings struct {
	Threads int    // at most so many; 0 when it is not set
	CPUs    string // processors it may run on, as the kernel spells them; "" when it is not set
	Device  string // the accelerator it sees, an index or a UUID; "" when it is not set
	Sync    string // how it waits for accelerators, "events" or "device-sync"; "" when it is not set
}

// Settings returns what the enforce rules of p come to, as far as this package
// knows how to do it; see Unhandled.
func (p Policy) Settings() Settings {
	var s Settings
	for _, r := range p.Rules {
		if r.Tier != Enforce {
			continue
		}
		switch r.Check {
		case ThreadsMax:
			n, _ := parameter(r, "n").Int()
			s.Threads = int(n)
		case CPUAffinity:
			cpus, err := ParseCPUs(r.Parameters.Str("cpus"))
			if err == nil {
				s.CPUs = cpus.String()
			}
		case AccelSync:
			s.Sync = r.Parameters.Str("mode")
		case GPUDevice:
			s.Device = r.Parameters.Str("uuid")
			if n, ok := parameter(r, "index").Int(); ok {
				s.Device = strconv.FormatInt(n, 10)
			}
		}
	}
	return s
}

// Variables returns the environment variables that put the settings into effect;
// nil when there are none.
func (s Settings) Variables() map[string]string {
	out := s.ThreadSettings()
	if out == nil && s.Device+s.Sync != "" {
		out = map[string]string{}
	}
	if s.Device != "" {
		for _, name := range deviceVariables {
			out[name] = s.Device
		}
		out[deviceOrder] = byBus
	}
	if s.Sync != "" {
		for _, name := range launchVariables {
			out[name] = map[bool]string{true: "0", false: "1"}[s.Sync == syncEvents]
		}
	}
	return out
}

// ThreadSettings are those of the variables that say how many threads to use.
func (s Settings) ThreadSettings() map[string]string {
	if s.Threads == 0 {
		return nil
	}
	out := make(map[string]string, len(ThreadVariables))
	for _, name := range ThreadVariables {
		out[name] = strconv.Itoa(s.Threads)
	}
	return out
}

// SetBy returns the check whose setting a variable is.
func SetBy(variable string) string {
	switch {
	case slices.Contains(ThreadVariables, variable):
		return ThreadsMax
	case slices.Contains(launchVariables, variable):
		return AccelSync
	}
	return GPUDevice
}

// Enforced returns the settings by check, as environment identities list them.
func (s Settings) Enforced() map[string]canon.Value {
	out := map[string]canon.Value{}
	if s.Threads > 0 {
		out[ThreadsMax] = canon.IntOf(int64(s.Threads))
	}
	if s.CPUs != "" {
		out[CPUAffinity] = canon.StringOf(s.CPUs)
	}
	if s.Sync != "" {
		out[AccelSync] = canon.StringOf(s.Sync)
	}
	if s.Device != "" {
		out[GPUDevice] = canon.StringOf(s.Device)
		if n, err := strconv.ParseInt(s.Device, 10, 32); err == nil {
			out[GPUDevice] = canon.IntOf(n)
		}
	}
	return out
}

// handled are the checks that this package turns into settings or judges.
var handled = map[string]bool{
	ThreadsMax: true, CPUAffinity: true, CPUGovernor: true, CPUBoost: true, CPUSMT: true, LoadQuiescent: true,
	HardwarePresent: true, TreeClean: true, Throttle: true, Temperature: true, GPUDevice: true, GPUClocks: true, AccelSync: true,
}

// Unhandled returns the index of the first rule that nothing here can carry out,
// and -1 when there is none.
func (p Policy) Unhandled() int {
	for i, r := range p.Rules {
		if !handled[r.Check] {
			return i
		}
	}
	return -1
}

// Patience is how long the load of the machine may take to settle before it is
// judged: the longest window of a rule about it.
func (p Policy) Patience() time.Duration {
	var longest float64
	for _, r := range p.Rules {
		if r.Check == LoadQuiescent && r.Tier == Verify {
			s, _ := parameter(r, "window_s").Float()
			longest = max(longest, s)
		}
	}
	return time.Duration(longest * float64(time.Second))
}

// Sampling is how the temperature is to be read while a case runs.
type Sampling struct {
	Every   time.Duration
	Sensors []string // patterns of sensor names; none means all
}

// defaultInterval is the time between two samples when a rule has none.
const defaultInterval = 5 * time.Second

// Sampling returns how the temperature is to be read; false when it is not.
func (p Policy) Sampling() (Sampling, bool) {
	for _, r := range p.Rules {
		if r.Check != Temperature {
			continue
		}
		s := Sampling{Every: defaultInterval}
		if v, given := r.Parameters.Get("sample_interval_s"); given {
			f, _ := v.Float()
			s.Every = time.Duration(f * float64(time.Second))
		}
		for _, e := range parameter(r, "sensors").Elems() {
			name, _ := e.String()
			s.Sensors = append(s.Sensors, name)
		}
		return s, true
	}
	return Sampling{}, false
}

// parameter returns a parameter of a rule, null when there is none.
func parameter(r Rule, name string) canon.Value {
	v, _ := r.Parameters.Get(name)
	return v
}
