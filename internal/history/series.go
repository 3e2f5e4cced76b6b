package history

import (
	"cmp"
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/result"
)

// MedianEstimator is the estimator of the series that a store derives itself.
var MedianEstimator = result.Estimator{Name: string(result.Median), MethodVersion: "benchx/median/v1", InputLevel: "observations"}

// Series is what one line of history is about: one case and quantity, measured in
// one way in one environment, summed up by one estimator.
type Series struct {
	Print      canon.Digest // result.SeriesPrint of the two below
	Comparison canon.Digest // result.HistoryPrint
	Estimator  result.Estimator
	Derived    bool // by the store; else the harness computed the values

	Project     string
	Thin        bool   // of results that name no project or no benchmark
	Source      string // normalised
	Workload    string
	Parameters  map[string]canon.Value
	Quantity    string
	Unit        string
	Direction   string
	Environment result.Environment // schema and identity
}

// Value is one number of a result and the series that it belongs to.
type Value struct {
	Series Series
	Value  float64
}

// Comparison is the identity that results of one line share, whatever the
// estimator.
func Comparison(r *result.Result) canon.Digest { return result.HistoryPrint(r.Document, Project(r)) }

// Values are the numbers that a result adds to history: the median of its counted
// observations, and every estimate of the harness. Results that are no success and
// not partial add none.
func Values(r *result.Result) []Value {
	m := r.Measurement
	if m.Status != result.Success && m.Status != result.Partial {
		return nil
	}
	line := Series{
		Comparison: Comparison(r), Project: Project(r), Thin: Thin(r), Source: result.NormalURI(r.Source.URI),
		Workload: r.Coordinates.Workload.Name, Parameters: r.Coordinates.Workload.Parameters,
		Quantity: r.Coordinates.Quantity.Name, Unit: r.Coordinates.Quantity.Unit, Direction: r.Coordinates.Quantity.Direction,
		Environment: result.Environment{Schema: r.Coordinates.Environment.Schema, Identity: r.Coordinates.Environment.Identity},
	}
	var out []Value
	add := func(e result.Estimator, derived bool, v float64) {
		s := line
		s.Estimator, s.Derived = e, derived
		s.Print = result.SeriesPrint(line.Comparison, result.EstimatorPrint(e))
		out = append(out, Value{s, v})
	}
	if seen := m.Counted(); len(seen) > 0 {
		add(MedianEstimator, true, median(seen))
	}
	for _, s := range m.Summaries {
		if s.Type == "estimate" && s.Estimator != nil && s.Value != nil && !slices.ContainsFunc(out, func(v Value) bool {
			return result.EstimatorPrint(v.Series.Estimator) == result.EstimatorPrint(*s.Estimator)
		}) {
			add(*s.Estimator, false, *s.Value)
		}
	}
	return out
}

// Point is one value of a series and where it comes from.
type Point struct {
	Value   float64 // in the unit of the series
	Started time.Time
	Result  result.Ref
	SHA256  canon.Digest // of the result's canonical bytes

	Status   result.Status // success or partial
	Revision string
	Tree     string // git tree id, "" when unknown
	Dirty    string // result.Clean, Dirty or Unknown
	RunKey   string
	Side     string // label of the comparison, "" for none
	Round    *int
	Slot     *int
}

// ByStart puts points in the order in which they were measured.
func ByStart(points []Point) []Point {
	out := slices.Clone(points)
	slices.SortFunc(out, compare)
	return out
}

func compare(a, b Point) int {
	return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Result.Producer, b.Result.Producer), cmp.Compare(a.Result.IngestKey, b.Result.IngestKey))
}

// ByAncestry puts points in the order of commits, the oldest first, and those of one
// commit in the order in which they were measured. Points of other revisions are
// returned apart.
func ByAncestry(points []Point, commits []string) (in, outside []Point) {
	place := make(map[string]int, len(commits))
	for i, c := range commits {
		place[c] = i
	}
	for _, p := range ByStart(points) {
		if _, ok := place[p.Revision]; ok {
			in = append(in, p)
		} else {
			outside = append(outside, p)
		}
	}
	slices.SortStableFunc(in, func(a, b Point) int { return cmp.Compare(place[a.Revision], place[b.Revision]) })
	return in, outside
}

// Clean splits points into those of committed code and the rest, which no commit
// accounts for.
func Clean(points []Point) (clean, rest []Point) {
	for _, p := range points {
		if p.Dirty == result.Clean {
			clean = append(clean, p)
		} else {
			rest = append(rest, p)
		}
	}
	return clean, rest
}

// median returns the median of x without changing it.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1] + (sorted[n/2]-sorted[n/2-1])/2
}
