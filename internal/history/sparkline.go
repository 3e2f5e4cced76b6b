package history

import (
	"math"
	"slices"
	"strings"
)

// bars are the heights of a sparkline, the lowest first.
var bars = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws values as a line of bars between their smallest and their
// largest, at most width of them: where there are more values, each bar is the
// median of as many neighbours. Equal values are a line at half height.
func Sparkline(values []float64, width int) string {
	if len(values) == 0 || width < 1 {
		return ""
	}
	if len(values) > width {
		short := make([]float64, width)
		for i := range short {
			short[i] = median(values[i*len(values)/width : (i+1)*len(values)/width])
		}
		values = short
	}
	low, high := slices.Min(values), slices.Max(values)
	var b strings.Builder
	for _, v := range values {
		at := len(bars)/2 - 1
		if high > low {
			at = int(math.Floor((v/2 - low/2) / (high/2 - low/2) * float64(len(bars)))) // halves: the span may be beyond the largest number
		}
		b.WriteRune(bars[min(max(at, 0), len(bars)-1)])
	}
	return b.String()
}
