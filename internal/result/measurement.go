package result

import (
	"writ/internal/canon"
)

// Status says how an attempt went.
type Status string

// The closed set. Success and partial carry observations or an estimate and no
// constraint; censored carries a constraint instead; error and skipped carry
// neither. All but success carry a reason.
const (
	Success  Status = "success"
	Partial  Status = "partial"
	Censored Status = "censored"
	Failed   Status = "error"
	Skipped  Status = "skipped"
)

// Reasons that runners and adapters give. A harness's own reason is fine too, as
// long as it fits the pattern: lower case, digits, full stops and hyphens.
const (
	ReasonPartial       = "harness.partial"        // some repetitions are missing
	ReasonTimeout       = "timeout"                // the case reached its limit
	ReasonOrderTimeout  = "timeout-order"          // the order's limit came before the case started
	ReasonHarnessError  = "harness.error"          // the harness failed, crashed or exited without rows
	ReasonSkipped       = "harness.skipped"        // the harness skipped the case
	ReasonNotApplicable = "harness.not-applicable" // the case does not exist for these parameters
	ReasonNoOutput      = "harness.no-output"      // planned and never reported
	ReasonMapping       = "adapter.mapping-failed" // the output could not be translated
	ReasonTarget        = "target-unavailable"
)

// Measurement is the outcome and the evidence.
type Measurement struct {
	Status       Status        `json:"status"`
	Reason       string        `json:"reason,omitempty"`
	Constraint   *Constraint   `json:"constraint,omitempty"`
	Observations []Observation `json:"observations,omitempty"` // in order of time
	Derivation   *Estimator    `json:"derivation,omitempty"`
	Summaries    []Summary     `json:"summaries,omitempty"` // what the harness itself computed
}

// Constraint is what is known about a value that was not seen in full.
type Constraint struct {
	Kind           string   `json:"kind"` // lower_bound, upper_bound or interval
	Cause          string   `json:"cause"`
	Lower          *float64 `json:"lower,omitempty"`
	Upper          *float64 `json:"upper,omitempty"`
	LowerInclusive *bool    `json:"lower_inclusive,omitempty"`
	UpperInclusive *bool    `json:"upper_inclusive,omitempty"`
}

// Estimator says how a number was made from others.
type Estimator struct {
	Name          string           `json:"name"`
	MethodVersion string           `json:"method_version"`
	InputLevel    string           `json:"input_level"` // observations or estimates
	Parameters    canon.Value      `json:"parameters,omitempty"`
	Inputs        []EstimatorInput `json:"inputs,omitempty"`
}

// EstimatorInput is a quantity that plays a role.
type EstimatorInput struct {
	Role     string `json:"role"`
	Quantity string `json:"quantity"`
}

// Summary is a number that the harness computed. Which members it has depends on
// Type: estimate, statistic, confidence_interval, coverage_interval,
// source_bounds, standard_uncertainty or expanded_uncertainty.
type Summary struct {
	Type           string     `json:"type"`
	Source         string     `json:"source"` // always "producer"
	Estimator      *Estimator `json:"estimator,omitempty"`
	Name           string     `json:"name,omitempty"`
	Statistic      string     `json:"statistic,omitempty"`
	Label          string     `json:"label,omitempty"`
	Value          *float64   `json:"value,omitempty"`
	Level          *float64   `json:"level,omitempty"`
	Lower          *float64   `json:"lower,omitempty"`
	Upper          *float64   `json:"upper,omitempty"`
	CoverageFactor *float64   `json:"coverage_factor,omitempty"`
	Method         string     `json:"method,omitempty"`
}

// Observation is one value, with what is known about it. An observation that is
// only a value is written as a bare number.
type Observation struct {
	Value           float64
	Ordinal         *int   // position in order of time
	Slot            *int   // position over all orders
	Time            string // RFC 3339 with Z
	Group           string // what it shares a process with
	Pair            string
	Included        *bool // false: kept and not counted
	ExclusionReason string
}

type observationForm struct {
	Value           float64 `json:"value"`
	Ordinal         *int    `json:"ordinal,omitempty"`
	Slot            *int    `json:"slot,omitempty"`
	Time            string  `json:"time,omitempty"`
	Group           string  `json:"group,omitempty"`
	Pair            string  `json:"pair,omitempty"`
	Included        *bool   `json:"included,omitempty"`
	ExclusionReason string  `json:"exclusion_reason,omitempty"`
}

// Values returns bare observations.
func Values(values ...float64) []Observation {
	out := make([]Observation, len(values))
	for i, v := range values {
		out[i].Value = v
	}
	return out
}

// MarshalJSON writes the shorter of the two forms that loses nothing.
func (o Observation) MarshalJSON() ([]byte, error) {
	if o == (Observation{Value: o.Value}) {
		return canon.Marshal(o.Value)
	}
	return canon.Marshal(observationForm(o))
}

// UnmarshalJSON reads either form.
func (o *Observation) UnmarshalJSON(b []byte) error {
	v, err := canon.Parse(b)
	if err != nil {
		return err
	}
	if f, ok := v.Float(); ok {
		*o = Observation{Value: f}
		return nil
	}
	var form observationForm
	if err := v.Decode(&form); err != nil {
		return err
	}
	*o = Observation(form)
	return nil
}

// Counted returns the values of the observations that count, in order.
func (m Measurement) Counted() []float64 {
	out := make([]float64, 0, len(m.Observations))
	for _, o := range m.Observations {
		if o.Included == nil || *o.Included {
			out = append(out, o.Value)
		}
	}
	return out
}
