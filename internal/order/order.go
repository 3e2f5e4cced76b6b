// Package order reads, resolves and writes work orders: the single document that
// says what is to be measured, at what, how, and for whom.
//
// Invariants: an order is read strictly and keeps the bytes that it came as; its
// hash covers every choice that shaped the run; resolving only adds what is
// missing; whatever a runner cannot honour exactly is refused with the place in
// the document, never dropped.
//
// The package runs nothing, finds nothing on disk and knows no harness: an
// adapter describes itself as data, see Capabilities.
package order

import "writ/internal/canon"

// SchemaVersion is the only version of the order format that this build reads.
const SchemaVersion = "benchx/work-order/0.1.0"

// State says whether the plan is fixed.
type State string

// Only a resolved order is executed, hashed and cited.
const (
	Draft    State = "draft"
	Resolved State = "resolved"
)

// Order is a work order as it was accepted. Its fields are for reading: hash and
// bytes belong to the document that was parsed or built.
type Order struct {
	SchemaVersion        string                 `json:"schema_version"`
	ID                   string                 `json:"work_order_id"` // a URI or UUID
	State                State                  `json:"state"`
	Project              string                 `json:"project,omitempty"` // "" gives thin results
	Suites               []Suite                `json:"suites"`
	Quantities           []string               `json:"quantities"`
	Target               Target                 `json:"target"`
	Collectors           []Collector            `json:"collectors,omitempty"`
	Benchmark            *Benchmark             `json:"benchmark,omitempty"` // nil: the target's own checkout
	Components           []Component            `json:"components,omitempty"`
	Build                *BuildFacts            `json:"build,omitempty"` // declared, never an instruction
	Precision            Precision              `json:"precision"`
	Schedule             *Schedule              `json:"schedule,omitempty"`
	Timeouts             Timeouts               `json:"timeouts"`
	EnvironmentPolicy    *PolicyRef             `json:"environment_policy,omitempty"`
	EnvironmentVariables map[string]string      `json:"environment_variables,omitempty"`
	WorkloadParameters   map[string]canon.Value `json:"workload_parameters,omitempty"`
	RunKey               string                 `json:"run_key"`
	Round                *int                   `json:"round,omitempty"`
	Labels               map[string]string      `json:"labels,omitempty"`
	Requester            Requester              `json:"requester"`
	Reason               string                 `json:"reason,omitempty"`
	Plan                 []Entry                `json:"plan,omitempty"`

	value  canon.Value
	raw    []byte
	digest canon.Digest // of value, plain
	domain canon.Digest // of value, with the format's own domain
}

// Suite selects cases of one benchmark program.
type Suite struct {
	Adapter    string      `json:"adapter"`
	Suite      string      `json:"suite"`
	Filter     string      `json:"filter,omitempty"` // the harness's own syntax, passed on unchanged
	Include    []string    `json:"include,omitempty"`
	Exclude    []string    `json:"exclude,omitempty"`
	Parameters canon.Value `json:"parameters,omitempty"` // object, or null when absent
}

// Source names a repository.
type Source struct {
	URI  string `json:"uri"`
	Type string `json:"type,omitempty"`
}

// Kinds of target.
const (
	WorkingTree = "working_tree"
	BuildTree   = "build"
	Artifact    = "artifact"
)

// Target is the code under test: something that is already there.
type Target struct {
	Kind       string      `json:"kind"`
	Path       string      `json:"path,omitempty"`       // working_tree and build
	SourceDir  string      `json:"source_dir,omitempty"` // checkout to identify, when not the path's own
	URI        string      `json:"uri,omitempty"`        // artifact
	SHA256     string      `json:"sha256,omitempty"`     // artifact: 64 hex
	Source     Source      `json:"source"`
	Revision   string      `json:"revision,omitempty"`  // artifact: taken on trust
	HowBuilt   canon.Value `json:"how_built,omitempty"` // text, or an object of facts
	Activation *string     `json:"activation,omitempty"`
	Shell      *string     `json:"shell,omitempty"`
	Provider   *Provider   `json:"provider,omitempty"`
}

// Provider says who described the target; for audits.
type Provider struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Collector is a command that prints one JSON object of facts.
type Collector struct {
	Name     string      `json:"name"`
	Command  []string    `json:"command"` // an argv; no shell
	TimeoutS float64     `json:"timeout_s,omitempty"`
	Verify   string      `json:"verify,omitempty"` // "how_built" or ""
	Expect   canon.Value `json:"expect,omitempty"`
	OnFail   string      `json:"on_fail,omitempty"` // "refuse", "warn", or "" for refuse
}

// Benchmark is where the benchmark code lives, when not in the target.
type Benchmark struct {
	Source   Source `json:"source"`
	Revision string `json:"revision,omitempty"`
}

// Component is a pinned part of the subject besides the primary one.
type Component struct {
	Name     string `json:"name,omitempty"`
	Role     string `json:"role"`
	Source   Source `json:"source"`
	Revision string `json:"revision"`
}

// BuildFacts declares the configuration of a target that was built before.
type BuildFacts struct {
	Profile  string      `json:"profile,omitempty"`
	Type     string      `json:"type,omitempty"`
	Compiler string      `json:"compiler,omitempty"`
	Flags    []string    `json:"flags,omitempty"`
	Options  canon.Value `json:"options,omitempty"`
}

// How sides of a comparison take turns.
const (
	Sequential  = "sequential"
	Alternating = "alternating"
	Random      = "random"
)

// Schedule is the order in which the sides of a comparison run.
type Schedule struct {
	Kind string `json:"kind"`
	Seed *int64 `json:"seed,omitempty"`
}

// Timeouts are limits in seconds.
type Timeouts struct {
	CaseS  float64 `json:"case_s"`  // one case, with all its repetitions
	OrderS float64 `json:"order_s"` // the whole order
}

// PolicyRef names an environment policy.
type PolicyRef struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Kinds of requester.
const (
	Scheduler = "scheduler"
	CI        = "ci"
	Workbench = "workbench"
	Person    = "person"
)

// Requester says for whom the order is.
type Requester struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Entry is one planned case and quantity: exactly one result comes of it.
type Entry struct {
	ID       string `json:"id"`
	Case     string `json:"case"`
	Quantity string `json:"quantity"`
	From     string `json:"from,omitempty"` // pattern it was expanded from; "" when written by hand
}

// Raw returns the bytes that the order was parsed from or built as.
func (o Order) Raw() []byte { return o.raw }

// Value returns the whole document.
func (o Order) Value() canon.Value { return o.value }

// Declared returns what the target's owner says about its preparation, under the
// names that results record it by. Absent, null, empty and blank all mean that
// nothing is declared.
func (t Target) Declared() map[string]canon.Value {
	out := map[string]canon.Value{}
	switch text, isText := t.HowBuilt.String(); {
	case isText && !blank(text), t.HowBuilt.Kind() == canon.Object:
		out["how_built"] = t.HowBuilt
	}
	for name, text := range map[string]*string{"activation": t.Activation, "shell": t.Shell} {
		if text != nil && !blank(*text) {
			out[name] = canon.StringOf(*text)
		}
	}
	if t.Provider != nil {
		out["target_provider"] = canon.MustFrom(t.Provider)
	}
	return out
}
