// Package noise holds what measuring one thing against itself has shown: how often
// a rule finds a difference where there is none, and how much the rounds of a case
// scatter on one machine. The second is what minimum detectable effects are
// computed from.
//
// Invariants: a document keeps the differences themselves, round by round, and
// every figure is computed from them; documents of two machines, kernels,
// microcodes or versions of the runner are never added up, and rounds of another
// precision never stand for those of this one; no round is left out because of its
// value.
//
// The package reads no file and no clock, and calls nothing slower or faster.
package noise

import (
	"math"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/verdict"
)

// Schema is the version of the document.
const Schema = "writ.noise/v1"

// Conditions are what noise belongs to. A change of any of them makes what was
// known about noise worthless.
type Conditions struct {
	Machine   string            `json:"machine_sha256"` // hex, of the environment's schema and identity
	Kernel    string            `json:"kernel,omitempty"`
	Microcode string            `json:"microcode,omitempty"`
	Runner    string            `json:"runner"` // name and version
	Policy    verdict.PolicyRef `json:"policy"` // that the words come from
}

// ConditionsOf reads conditions off what results record.
func ConditionsOf(e result.Environment, r result.Runner, p verdict.PolicyRef) Conditions {
	seen := func(name string) string {
		fact, _ := e.System.Get(name)
		if fact.Str("status") != result.SeenOK {
			return ""
		}
		return fact.Str("value")
	}
	return Conditions{
		Machine: canon.Plain(canon.MustFrom([]canon.Value{canon.StringOf(e.Schema), e.Identity})).Hex(),
		Kernel:  seen("kernel.release"), Microcode: seen("cpu.microcode"),
		Runner: strings.TrimSpace(r.Name + " " + r.Version), Policy: p,
	}
}

// SameMachine reports whether rounds under both conditions scatter alike, as far as
// conditions can tell: all but the policy is the same.
func (c Conditions) SameMachine(other Conditions) bool {
	other.Policy = c.Policy
	return c == other
}

// Key names the conditions: 16 hex digits.
func (c Conditions) Key() string { return canon.Plain(canon.MustFrom(c)).Hex()[:16] }

// Document is what is known about the noise under some conditions.
type Document struct {
	Schema     string     `json:"schema"`
	Conditions Conditions `json:"conditions"`
	Suites     []Suite    `json:"suites"` // in the order in which they were measured
}

// Suite is one comparison of a thing with itself.
type Suite struct {
	RunKey string `json:"run_key"`
	Seed   int64  `json:"seed"`
	At     string `json:"at"`    // when it was judged, RFC 3339
	First  string `json:"first"` // one letter a round: b or c, the side that went first
	Rows   []Row  `json:"rows"`
}

// Row is one case and quantity of a suite.
type Row struct {
	Workload    string                 `json:"workload"`
	Parameters  map[string]canon.Value `json:"parameters,omitempty"`
	Quantity    string                 `json:"quantity"`
	Precision   string                 `json:"precision"` // repetitions and warm-up of the protocol, canonical JSON
	Gating      bool                   `json:"gating"`
	Measure     string                 `json:"measure"` // of the differences: verdict.Ratio (then logarithms) or verdict.Difference
	Threshold   float64                `json:"threshold"`
	Word        verdict.Word           `json:"verdict"`
	Differences []float64              `json:"differences"`       // contender against baseline, per complete round, six digits
	Between     *float64               `json:"between,omitempty"` // share of the spread that lies between processes, 0 to 1
}

// New makes an empty document.
func New(c Conditions) Document {
	return Document{Schema: Schema, Conditions: c, Suites: []Suite{}}
}

// Parse reads a document: strict JSON, every member known, every number finite.
// Anything else is fault.Malformed, fault.UnknownKind or fault.Invalid.
func Parse(raw []byte) (Document, error) {
	const op = "parse noise"
	v, err := canon.Parse(raw)
	if err != nil {
		return Document{}, err
	}
	if s := v.Str("schema"); s != Schema {
		return Document{}, fault.New(fault.UnknownKind, op, "schema is %q", s).At("/schema").Help("this build reads %s", Schema)
	}
	var d Document
	if err := v.Decode(&d); err != nil {
		return Document{}, err
	}
	if len(d.Conditions.Machine) != 64 || strings.Trim(d.Conditions.Machine, "0123456789abcdef") != "" {
		return Document{}, fault.New(fault.Invalid, op, "machine_sha256 must be 64 hex digits").At("/conditions/machine_sha256")
	}
	keys := map[string]bool{}
	for i, s := range d.Suites {
		at := canon.PointerToIndex("/suites", i)
		switch {
		case s.RunKey == "" || keys[s.RunKey]:
			return Document{}, fault.New(fault.Invalid, op, "every suite has a run key of its own").At(at + "/run_key")
		case strings.Trim(s.First, "bc") != "":
			return Document{}, fault.New(fault.Invalid, op, "first must be letters b and c").At(at + "/first")
		}
		keys[s.RunKey] = true
		for j, r := range s.Rows {
			if broken := r.broken(len(s.First)); broken != "" {
				return Document{}, fault.New(fault.Invalid, op, "%s", broken).At(canon.PointerToIndex(at+"/rows", j))
			}
		}
	}
	return d, nil
}

func (r Row) broken(rounds int) string {
	switch {
	case r.Workload == "" || r.Quantity == "":
		return "a row has a workload and a quantity"
	case r.Measure != verdict.Ratio && r.Measure != verdict.Difference:
		return "measure must be ratio or difference"
	case !r.Word.Known():
		return "there is no verdict " + string(r.Word)
	case len(r.Differences) > rounds:
		return "there are more differences than rounds"
	case r.Between != nil && !(*r.Between >= 0 && *r.Between <= 1):
		return "between must be a share"
	case !(r.Threshold >= 0):
		return "a threshold must not be negative"
	}
	return ""
}

// Raw returns the canonical bytes of the document.
func (d Document) Raw() []byte { return canon.MustFrom(d).Canonical() }

// Add returns the document with one more suite. A run key that is there already is
// fault.Idempotency.
func (d Document) Add(s Suite) (Document, error) {
	if slices.ContainsFunc(d.Suites, func(other Suite) bool { return other.RunKey == s.RunKey }) {
		return d, fault.New(fault.Idempotency, "add suite", "the suite %s is counted already", s.RunKey)
	}
	d.Suites = append(slices.Clone(d.Suites), s)
	return d, nil
}

// Measured makes the suite of a judged comparison of a thing with itself. first is
// which side went first in each round, true for the contender.
func Measured(o verdict.Outcome, results []result.Result, first []bool, seed int64, at string) Suite {
	s := Suite{RunKey: o.Document.RunKey, Seed: seed, At: at, Rows: []Row{}}
	for _, contender := range first {
		s.First += map[bool]string{false: "b", true: "c"}[contender]
	}
	for i, row := range o.Document.Rows {
		r := Row{
			Workload: row.Workload, Parameters: row.Parameters, Quantity: row.Quantity, Gating: row.Gating, Measure: row.Measure,
			Threshold: row.Threshold, Word: row.Verdict, Differences: []float64{},
		}
		if i < len(o.Samples) {
			r.Differences = differences(o.Samples[i], row.Measure)
		}
		r.Precision, r.Between = r.processes(results)
		s.Rows = append(s.Rows, r)
	}
	return s
}

func differences(samples [2][]float64, measure string) []float64 {
	out := make([]float64, len(samples[0]))
	for i, base := range samples[0] {
		d := samples[1][i] - base
		if measure == verdict.Ratio {
			d = math.Log(samples[1][i]) - math.Log(base)
		}
		out[i] = digits(d)
	}
	return out
}

// processes looks at the results of a row: their precision, and how much of the
// spread lies between processes.
func (r Row) processes(results []result.Result) (precision string, between *float64) {
	var groups [][]float64
	key := keyOf(r.Workload, r.Parameters, r.Quantity)
	for _, x := range results {
		w := x.Coordinates.Workload
		if keyOf(w.Name, w.Parameters, x.Coordinates.Quantity.Name) != key {
			continue
		}
		precision = PrecisionOf(x.Coordinates.ComparisonContext)
		if counted := x.Measurement.Counted(); x.Measurement.Status == result.Success {
			groups = append(groups, counted)
		}
	}
	l, ok := verdict.SplitLevels(groups)
	if whole := l.Component + l.Within; ok && whole > 0 {
		share := digits(min(1, max(0, l.Component/whole)))
		between = &share
	}
	return precision, between
}

// PrecisionOf is what one process does: repetitions and warm-up, as the protocol in a
// comparison context records them. The number of iterations is left out: it is found anew for
// the same time.
func PrecisionOf(context canon.Value) string {
	protocol, _ := context.Get("protocol")
	part := map[string]canon.Value{}
	for _, name := range []string{"repetitions", "warmup"} {
		if v, ok := protocol.Get(name); ok {
			part[name] = v
		}
	}
	return string(canon.MustFrom(part).Canonical())
}

func keyOf(workload string, parameters map[string]canon.Value, quantity string) string {
	if len(parameters) == 0 {
		parameters = nil
	}
	return string(canon.MustFrom([]any{workload, parameters, quantity}).Canonical())
}
