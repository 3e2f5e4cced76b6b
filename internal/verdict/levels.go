package verdict

import "math"

// Levels splits the spread of one side into the part inside a process and the
// part between processes: what tells whether more processes or more samples are
// worth their time.
type Levels struct {
	Within, Between float64 // mean variance inside groups; variance of the group means
	Component       float64 // Between freed of what Within puts into it; may be negative
	Mean            float64 // mean of the group means
}

// SplitLevels needs at least two groups of the same size, each of two values or
// more; ok is false otherwise.
func SplitLevels(groups [][]float64) (l Levels, ok bool) {
	if len(groups) < 2 || len(groups[0]) < 2 {
		return Levels{}, false
	}
	size := len(groups[0])
	means := make([]float64, len(groups))
	for i, g := range groups {
		if len(g) != size {
			return Levels{}, false
		}
		sd := sampleSD(g)
		l.Within += float64(sd*sd) / float64(len(groups))
		means[i] = mean(g)
	}
	sd := sampleSD(means)
	l.Between = float64(sd * sd)
	l.Component = l.Between - l.Within/float64(size)
	l.Mean = mean(means)
	return l, true
}

// BestSamples returns how many samples one process should take when starting a
// process costs cost times as much as one sample: 1 when processes hardly
// differ more than their samples explain.
func (l Levels) BestSamples(cost float64) int {
	if l.Component <= 0 || l.Within <= 0 || cost <= 0 {
		return 1
	}
	return max(1, int(math.Ceil(math.Sqrt(cost*l.Within/l.Component))))
}

// HalfWidth returns half the t interval of the mean of n groups at level
// 1-alpha.
func (l Levels) HalfWidth(n int, alpha float64) float64 {
	return studentQuantile(1-alpha/2, float64(n-1)) * math.Sqrt(l.Between/float64(n))
}

// Fieller returns the interval of the ratio of two independent means, y over x,
// from their half-widths. ok is false when x is not clearly away from zero.
func Fieller(x, hx, y, hy float64) (lower, upper float64, ok bool) {
	below := x*x - hx*hx
	if below <= 0 {
		return 0, 0, false
	}
	inside := (x*y)*(x*y) - below*(y*y-hy*hy)
	if inside < 0 {
		return 0, 0, false
	}
	root := math.Sqrt(inside)
	return (x*y - root) / below, (x*y + root) / below, true
}
