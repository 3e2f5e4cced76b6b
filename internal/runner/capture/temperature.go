package capture

import (
	"path"
	"slices"

	"writ/internal/order"
)

// Temperature reads the hottest sensor whose name matches one of the patterns, in
// degrees Celsius; no patterns mean every sensor. The name of a sensor is the type
// of its thermal zone, or the name of its chip. Sensors that are switched off do
// not count.
func (h Host) Temperature(patterns []string) (hottest float64, source string, err error) {
	source, err = "/sys/class/thermal", errAbsent
	for _, at := range sensors {
		for _, file := range h.glob(at.values) {
			if len(patterns) > 0 {
				name, nameErr := h.text(path.Join(path.Dir(file), at.name))
				if nameErr != nil || !slices.ContainsFunc(patterns, func(p string) bool { return order.Match(p, name) }) {
					continue
				}
			}
			milli, readErr := h.number(file)
			if readErr != nil {
				continue
			}
			if c := float64(milli) / 1000; err != nil || c > hottest {
				hottest, source, err = c, file, nil
			}
		}
	}
	return hottest, source, err
}

// sensors are where the kernel shows temperatures, with the file beside each that
// names it.
var sensors = []struct{ values, name string }{
	{"/sys/class/thermal/thermal_zone*/temp", "type"},
	{"/sys/class/hwmon/hwmon*/temp*_input", "name"},
}
