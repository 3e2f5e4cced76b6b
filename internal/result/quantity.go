package result

// Directions of a quantity.
const (
	LowerIsBetter  = "lower-is-better"
	HigherIsBetter = "higher-is-better"
)

// Centre says how the observations of one process become one number.
type Centre string

// The centres. The median is right for noisy times; what adds up is averaged,
// and a peak is a maximum.
const (
	Median  Centre = "median"
	Mean    Centre = "mean"
	Maximum Centre = "maximum"
)

// Info is what is known about a quantity by its name alone.
type Info struct {
	Unit      string // UCUM
	Direction string // "" when neither way is better
	ZeroLegal bool   // zero is an ordinary value, so ratios are undefined
	Centre    Centre
}

// The quantities that adapters share. The vocabulary is open: an unknown name is
// fine, has the unit that its result states, no zero and the median.
var quantities = map[string]Info{
	"wall-time":           {"s", LowerIsBetter, false, Median},
	"cpu-time":            {"s", LowerIsBetter, false, Median},
	"cpu-user-time":       {"s", LowerIsBetter, true, Median},
	"cpu-system-time":     {"s", LowerIsBetter, true, Median},
	"gpu-time":            {"s", LowerIsBetter, false, Median},
	"latency":             {"s", LowerIsBetter, false, Median},
	"time-to-first-token": {"s", LowerIsBetter, false, Median},
	"build-time":          {"s", LowerIsBetter, false, Median},
	"peak-rss":            {"By", LowerIsBetter, false, Maximum},
	"gpu-peak-memory":     {"By", LowerIsBetter, true, Maximum},
	"allocated-bytes":     {"By", LowerIsBetter, true, Mean},
	"allocations":         {"1", LowerIsBetter, true, Mean},
	"object-size":         {"By", LowerIsBetter, false, Median},
	"binary-size":         {"By", LowerIsBetter, false, Median},
	"instructions":        {"1", LowerIsBetter, false, Median},
	"cycles":              {"1", LowerIsBetter, false, Median},
	"estimated-cycles":    {"1", LowerIsBetter, false, Median},
	"cache-misses":        {"1", LowerIsBetter, true, Median},
	"branch-misses":       {"1", LowerIsBetter, true, Median},
	"page-faults":         {"1", LowerIsBetter, true, Median},
	"page-faults-minor":   {"1", LowerIsBetter, true, Median},
	"page-faults-major":   {"1", LowerIsBetter, true, Median},
	"context-switches":    {"1", LowerIsBetter, true, Median},

	"context-switches-voluntary":   {"1", LowerIsBetter, true, Median},
	"context-switches-involuntary": {"1", LowerIsBetter, true, Median},
	"throughput-bytes":             {"By/s", HigherIsBetter, false, Median},
	"throughput-items":             {"1/s", HigherIsBetter, false, Median},
	"energy":                       {"J", LowerIsBetter, false, Mean},
	"power":                        {"W", LowerIsBetter, false, Median},
	"cpu-frequency":                {"MHz", "", false, Median},
	"temperature":                  {"Cel", "", true, Median},
	"compression-ratio":            {"1", HigherIsBetter, false, Median},
	"score":                        {"1", HigherIsBetter, true, Median},
}

// Known returns what is known about a quantity by its name.
func Known(name string) (Info, bool) {
	i, ok := quantities[name]
	if !ok {
		i.Centre = Median
	}
	return i, ok
}
