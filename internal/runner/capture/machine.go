package capture

import (
	"runtime"

	"writ/internal/canon"
	"writ/internal/result"
)

// MachineSchema is the form of the environment identity that Machine writes.
const MachineSchema = "machine/v1"

// Machine identifies the machine by host name, processor model and number of
// processors. A fact that cannot be read is spelled "unknown", so that a probe
// that failed never makes two machines equal by looking like a real value; with
// no host name at all, the boot stands in.
func (h Host) Machine() result.Environment {
	host, err := h.text("/proc/sys/kernel/hostname")
	if err != nil || host == "" {
		boot, _ := h.text("/proc/sys/kernel/random/boot_id") // unknown is spelled below
		host = "unknown-" + boot
	}
	model := "unknown"
	if info, err := h.text("/proc/cpuinfo"); err == nil {
		if m, err := field(info, "model name"); err == nil {
			model = m
		}
	}
	cores := canon.StringOf("unknown")
	if list, err := h.text("/sys/devices/system/cpu/online"); err == nil {
		if n, err := cpuCount(list); err == nil {
			cores = canon.IntOf(int64(n))
		}
	}
	return result.Environment{
		Schema:   MachineSchema,
		Identity: canon.MustFrom(map[string]canon.Value{"runner": canon.StringOf(host), "cpu": canon.StringOf(model), "cores": cores}),
		Metadata: canon.MustFrom(map[string]string{"architecture": runtime.GOARCH}),
	}
}
