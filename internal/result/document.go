// Package result reads and writes measurement results: one self-describing
// document per case, quantity and attempt. Failures, time-outs and skips are
// results too, so a result that is missing means that nobody tried, or that the
// runner died.
//
// Invariants: a result is one canonical byte string with one digest; its keys
// follow from what it says; the same execution has one attempt key; two results
// never share a file name. What was intended, what was done and what was seen
// are kept apart.
//
// The package measures nothing, estimates nothing and never repairs a document:
// a rule that is broken refuses it.
package result

import "writ/internal/canon"

// MessageVersion is the version of the result message that this build writes.
const MessageVersion = 5

// Document is everything that a result says. Open objects are null Values when
// absent.
type Document struct {
	SchemaVersion   int         `json:"schema_version"`
	Producer        Producer    `json:"producer"`
	IngestKey       string      `json:"ingest_key"`  // see IngestKey
	AttemptKey      string      `json:"attempt_key"` // see AttemptKey
	Project         string      `json:"project,omitempty"`
	Source          Source      `json:"source"`
	Revision        Revision    `json:"revision"`
	Benchmark       *Benchmark  `json:"benchmark,omitempty"`
	Coordinates     Coordinates `json:"coordinates"`
	Measurement     Measurement `json:"measurement"`
	ObservedContext canon.Value `json:"observed_context,omitempty"` // older readers look here
	Procedure       Procedure   `json:"-"`
	Provenance      Provenance  `json:"provenance"`
	Quality         *Quality    `json:"quality,omitempty"`
}

// Producer is the adapter that wrote the result. Only the name is part of keys.
type Producer struct {
	Name           string `json:"name"`
	Version        string `json:"version"`
	MappingVersion string `json:"mapping_version"`
}

// Source names a repository.
type Source struct {
	URI  string `json:"uri"`
	Type string `json:"type,omitempty"`
}

// Revision names a state of a source.
type Revision struct {
	Key         string `json:"key"`
	NativeOrder *int64 `json:"native_order,omitempty"`
	NativeTime  string `json:"native_time,omitempty"`
}

// Benchmark is the code that defined the workload; no revision when it is under
// no version control.
type Benchmark struct {
	Source   Source    `json:"source"`
	Revision *Revision `json:"revision,omitempty"`
}

// Coordinates say which results belong together.
type Coordinates struct {
	Workload          Workload    `json:"workload"`
	Subject           Subject     `json:"subject"`
	Quantity          Quantity    `json:"quantity"`
	ComparisonContext canon.Value `json:"comparison_context"` // harness, protocol, runtime; at least {}
	Environment       Environment `json:"environment"`
	ResourceSelection canon.Value `json:"resource_selection,omitempty"`
}

// Workload is the case and what varies it.
type Workload struct {
	Name       string                 `json:"name"` // a token; the harness's own spelling goes to Provenance.NativeID
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
	Dataset    canon.Value            `json:"dataset,omitempty"`
}

// Subject is the code under test.
type Subject struct {
	Name          string      `json:"name"`
	Components    []Component `json:"components"` // exactly one has the role "primary"
	Configuration canon.Value `json:"configuration,omitempty"`
}

// Primary is the role of the component whose revision heads the document.
const Primary = "primary"

// Component is one part of the subject.
type Component struct {
	Role     string `json:"role"`
	Source   string `json:"source,omitempty"`
	Revision string `json:"revision,omitempty"`
}

// Quantity is what was measured.
type Quantity struct {
	Name          string `json:"name"`
	Unit          string `json:"unit"`                // UCUM
	Direction     string `json:"direction,omitempty"` // LowerIsBetter, HigherIsBetter or ""
	Deterministic *bool  `json:"deterministic,omitempty"`
}

// Environment is where it ran. System holds facts that stay the same for a
// prepared environment, and what collectors reported; Condition holds what may
// differ from run to run.
type Environment struct {
	Schema    string              `json:"schema"`
	Identity  canon.Value         `json:"identity"`
	Metadata  canon.Value         `json:"metadata,omitempty"`
	System    canon.Value         `json:"system,omitempty"`
	Condition map[string]Observed `json:"condition,omitempty"`
}

// Procedure is what was really done. Extra holds members beyond the known ones.
type Procedure struct {
	InnerIterations      *int          `json:"inner_iterations,omitempty"`
	AttemptedRepetitions *int          `json:"attempted_repetitions,omitempty"`
	CompletedRepetitions *int          `json:"completed_repetitions,omitempty"`
	RepetitionLevels     []LevelCounts `json:"repetition_levels,omitempty"` // outermost first
	WarmupsPerformed     *int          `json:"warmups_performed,omitempty"`
	DurationSeconds      *float64      `json:"duration_seconds,omitempty"`
	CachesCleared        []string      `json:"caches_cleared,omitempty"`
	Slot                 *int          `json:"slot,omitempty"`  // position over all orders of the comparison
	Round                *int          `json:"round,omitempty"` // of the comparison
	TimeoutSeconds       *float64      `json:"timeout_seconds,omitempty"`

	Extra map[string]canon.Value `json:"-"`
}

// Members of Procedure.Extra in results that were measured after their order was
// interrupted: when the last sign of the run before is from, and when it went on.
const (
	StepInterrupted = "interrupted_at"
	StepResumed     = "resumed_at"
)

// LevelCounts counts repetitions at one level, as totals of the attempt.
type LevelCounts struct {
	Unit      string `json:"unit"`
	Attempted int    `json:"attempted"`
	Completed int    `json:"completed"`
}

// States of a checkout.
const (
	Clean   = "clean"
	Dirty   = "dirty"
	Unknown = "unknown"
)

// Provenance is for audits and never for identity.
type Provenance struct {
	RunKey              string                 `json:"run_key,omitempty"`
	Labels              map[string]string      `json:"labels,omitempty"`
	NativeID            string                 `json:"native_id,omitempty"`
	StartedAt           string                 `json:"started_at"` // RFC 3339 with Z, of the measurement
	EndedAt             string                 `json:"ended_at,omitempty"`
	SubjectDirty        string                 `json:"subject_dirty"` // Clean, Dirty or Unknown
	BenchmarkDirty      string                 `json:"benchmark_dirty"`
	SubjectTree         string                 `json:"subject_tree,omitempty"` // git tree id; none when unknown
	BenchmarkTree       string                 `json:"benchmark_tree,omitempty"`
	Runner              *Runner                `json:"runner,omitempty"`
	OriginalUnit        string                 `json:"original_unit,omitempty"`
	SourcePayloadURI    string                 `json:"source_payload_uri,omitempty"`
	SourcePayloadSHA256 string                 `json:"source_payload_sha256,omitempty"`
	CIURI               string                 `json:"ci_uri,omitempty"`
	References          []Reference            `json:"references,omitempty"`
	Artifacts           []Artifact             `json:"artifacts,omitempty"`
	Info                map[string]canon.Value `json:"info,omitempty"`
}

// Names in Provenance.Info.
const (
	InfoWorkOrder  = "workorder_ref" // "sha256:" and the hex digest of the order
	InfoDomainHash = "workorder_domain_sha256"
	InfoPolicyHash = "policy_domain_sha256" // of the environment policy
	InfoPlanEntry  = "plan_entry"           // id of the planned entry
	InfoRequester  = "requester"
	InfoReason     = "reason"
	InfoMessage    = "message" // text of the harness for a failure
	InfoExitStatus = "exit_status"
)

// Runner is the program that ran the order.
type Runner struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Ref names a result.
type Ref struct {
	Producer  string `json:"producer"`
	IngestKey string `json:"ingest_key"`
}

// Reference names a result that this one was made from.
type Reference struct {
	Role   string `json:"role"`
	Result Ref    `json:"result"`
}

// Kinds of artifact.
const (
	ArtifactOrder  = "work-order"
	ArtifactPolicy = "environment-policy"
	ArtifactTarget = "target" // the very file that was executed: equal digests on both sides need no statistics
	ArtifactNative = "native-output"
	ArtifactStdout = "stdout"
	ArtifactStderr = "stderr"
)

// Artifact is a file that was kept.
type Artifact struct {
	Kind      string `json:"kind"`
	MediaType string `json:"media_type"`
	URI       string `json:"uri"`
	SHA256    string `json:"sha256"` // 64 hex
	Schema    string `json:"schema,omitempty"`
}

// Quality holds the producer's own doubts.
type Quality struct {
	Warnings   []string    `json:"warnings,omitempty"` // tokens
	Validation canon.Value `json:"validation,omitempty"`
}
