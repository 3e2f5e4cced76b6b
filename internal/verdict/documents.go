package verdict

import "writ/internal/canon"

// Schemas of the documents that this package writes.
const (
	ResultSetSchema = "writ.result-set/v1"
	VerdictSchema   = "writ.verdict/v1"
	GateSchema      = "writ.gate/v1"
	PolicySchema    = "writ.gate-policy/v1"
)

// ResultSet binds the results of one comparison by digest.
type ResultSet struct {
	Schema string    `json:"schema"`
	Items  []SetItem `json:"items"` // by producer, then ingest key
}

// SetItem is one result.
type SetItem struct {
	Producer     string `json:"producer"`
	IngestKey    string `json:"ingest_key"`
	SHA256       string `json:"sha256"`                  // 64 hex, of the canonical bytes
	WorkOrderRef string `json:"workorder_ref,omitempty"` // "sha256:" and hex; "" when the result names no order
}

// Document is the native verdict on one comparison.
type Document struct {
	Schema     string       `json:"schema"`
	Comparison string       `json:"comparison"` // digest of the comparison document
	ResultSet  string       `json:"result_set"` // digest of the result set
	RunKey     string       `json:"run_key"`
	Method     Method       `json:"method"`
	Policy     PolicyRef    `json:"policy"`
	Rounds     int          `json:"rounds"` // rounds that were planned
	Rows       []Row        `json:"rows"`   // by workload, parameters, quantity
	Failed     []Failure    `json:"failed"`
	Counts     map[Word]int `json:"counts"`
	Overall    Word         `json:"overall"` // the worst row, or invalid when an invariant failed
}

// Method says how the words were reached.
type Method struct {
	Name         string  `json:"name"`
	Version      string  `json:"version"`
	Alpha        float64 `json:"alpha"`
	Power        float64 `json:"power"`              // that mde is given for
	Multiplicity string  `json:"multiplicity"`       // over the gating rows
	Family       int     `json:"family"`             // number of gating rows
	Schedule     string  `json:"schedule,omitempty"` // as the results record it
	Seed         *int64  `json:"seed,omitempty"`     // of the slot order
}

// PolicyRef names a gate policy by content.
type PolicyRef struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"` // 64 hex, of the canonical bytes
}

// Measures of difference.
const (
	Ratio      = "ratio"      // contender over baseline
	Difference = "difference" // contender minus baseline, where zero is a legal value
)

// Row is the verdict on one case and quantity. Effect, interval and medians are
// contender against baseline whatever the direction; p-values and the words
// slower and faster follow the direction.
type Row struct {
	Workload   string                 `json:"workload"`
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
	Quantity   string                 `json:"quantity"`
	Unit       string                 `json:"unit,omitempty"`
	Direction  string                 `json:"direction,omitempty"`
	Gating     bool                   `json:"gating"`
	Measure    string                 `json:"measure"`
	Verdict    Word                   `json:"verdict"`
	Reason     string                 `json:"reason,omitempty"` // a code, for everything that needs one
	Hint       string                 `json:"hint,omitempty"`   // "slower" or "faster" when the interval leaves out zero without an answer

	Effect    *float64  `json:"effect,omitempty"`
	Interval  []float64 `json:"interval,omitempty"` // lower and upper; absent when it is infinite
	Level     *float64  `json:"level,omitempty"`    // attained by the interval
	Baseline  *float64  `json:"baseline,omitempty"` // median over rounds, in the unit
	Contender *float64  `json:"contender,omitempty"`
	Threshold float64   `json:"threshold"` // relative
	Floor     float64   `json:"floor"`     // absolute, in the unit

	N       int      `json:"n"`              // complete rounds
	Dropped int      `json:"dropped"`        // rounds that lack a side
	Need    int      `json:"need,omitempty"` // rounds that would have been enough, when n is not
	SD      *float64 `json:"sd,omitempty"`   // of the differences per round
	Sigma   *float64 `json:"sigma,omitempty"`
	MDE     *float64 `json:"mde,omitempty"` // smallest effect seen with the method's power

	PSlower     *float64 `json:"p_slower,omitempty"` // one-sided, beyond the threshold
	PFaster     *float64 `json:"p_faster,omitempty"`
	PHolm       *float64 `json:"p_holm,omitempty"` // p_slower within the family; gating rows
	PFasterHolm *float64 `json:"p_faster_holm,omitempty"`
	QSlower     *float64 `json:"q_slower,omitempty"` // Benjamini-Hochberg; rows that only report
	Warnings    []Note   `json:"warnings"`
}

// Note is a doubt about a row that does not change its word.
type Note struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// Failure is a condition of comparing that does not hold; with a workload and a
// quantity it spoils that row, without them it spoils all.
type Failure struct {
	Invariant  string                 `json:"invariant"`
	Detail     string                 `json:"detail"`
	Workload   string                 `json:"workload,omitempty"`
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
	Quantity   string                 `json:"quantity,omitempty"`
}

// Answer is what a gate says.
type Answer string

// The closed set of answers, strongest first: one row's answer yields to a
// stronger one of another row.
const (
	Block     Answer = "block"
	NotJudged Answer = "invalid"
	Hold      Answer = "hold"
	Pass      Answer = "pass"
)

// GateAnswer is what a policy makes of a verdict.
type GateAnswer struct {
	Schema  string         `json:"schema"`
	Verdict string         `json:"verdict"` // digest of the verdict document
	RunKey  string         `json:"run_key"`
	Policy  PolicyRef      `json:"policy"`
	Answer  Answer         `json:"answer"`
	Reasons []string       `json:"reasons"` // one line per row that did not pass, worst first; then what passed, summed up
	Counts  map[Answer]int `json:"counts"`  // gating rows by answer
}
