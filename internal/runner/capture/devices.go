package capture

import (
	"fmt"
	"strconv"
	"strings"
)

// devices counts the processors of drivers that say what they drive. A machine
// without such a driver cannot tell whether it has any.
func (h Host) devices() (n int, source string, err error) {
	found := false
	for _, driver := range []string{nvidiaDevices, amdDevices} {
		if len(h.glob(driver)) > 0 {
			found, source = true, strings.TrimPrefix(source+" "+driver, " ")
		}
	}
	if !found {
		return 0, nvidiaDevices, errAbsent
	}
	n = len(h.glob(nvidiaDevices + "/*"))
	for _, file := range h.glob(amdDevices + "/*/gpu_id") {
		id, err := h.number(file)
		if err != nil {
			return 0, file, err
		}
		if id != 0 { // 0 is the main processor
			n++
		}
	}
	return n, source, nil
}

// Where drivers of accelerators list them.
const (
	nvidiaDevices = "/proc/driver/nvidia/gpus"
	amdDevices    = "/sys/class/kfd/kfd/topology/nodes"
)

// HasDevice reports whether the machine has an accelerator, named by its index from
// 0 or by the UUID that its driver gives it. A machine without a driver that lists
// them is an error: it cannot tell.
func (h Host) HasDevice(name string) (bool, error) {
	n, _, err := h.devices()
	if err != nil {
		return false, err
	}
	if index, err := strconv.Atoi(name); err == nil {
		return index >= 0 && index < n, nil
	}
	for _, file := range h.glob(nvidiaDevices + "/*/information") {
		text, err := h.text(file)
		if err != nil {
			return false, err
		}
		if id, err := field(text, "GPU UUID"); err == nil && id == name {
			return true, nil
		}
	}
	return false, nil
}

// clock is the clock rate in MHz of all accelerators whose driver shows it as a
// list of levels, the one in use marked with a star.
func (h Host) clock() (mhz float64, source string, err error) {
	const pattern = "/sys/class/drm/card[0-9]*/device/pp_dpm_sclk"
	source, err = pattern, errAbsent
	for _, file := range h.glob(pattern) {
		text, readErr := h.text(file)
		if readErr != nil {
			return 0, file, readErr
		}
		own, levelErr := level(text)
		if levelErr != nil {
			return 0, file, levelErr
		}
		if err == nil && own != mhz {
			return 0, pattern, fmt.Errorf("accelerators run at %g and %g MHz", mhz, own)
		}
		mhz, source, err = own, file, nil
	}
	return mhz, source, err
}

// level reads the marked line of a list such as "0: 500Mhz\n1: 1800Mhz *".
func level(text string) (float64, error) {
	for line := range strings.Lines(text) {
		rest, marked := strings.CutSuffix(strings.TrimSpace(line), "*")
		if !marked {
			continue
		}
		_, value, _ := strings.Cut(rest, ":")
		value = strings.ToLower(strings.TrimSpace(value))
		return strconv.ParseFloat(strings.TrimSuffix(value, "mhz"), 64)
	}
	return 0, fmt.Errorf("no level in use in %q", text)
}
