package taskpack

import (
	"writ/internal/canon"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// The kinds of a step.
const (
	StepObserve = "observe"
	StepProcess = "process"
	StepPatch   = "patch"
	StepService = "service-control"
	StepActuate = "actuate"
)

// The steps of a change to a Go module, in order.
const (
	List    = "list"
	Change  = "change"
	Check   = "check"
	Compare = "compare"
)

// Step is one wish of a candidate. It names things of the host and cannot say
// what they are: no digest, no capability, no effect class, no shell text.
type Step struct {
	ID         string
	Kind       string
	Profile    string   // ref, for commands, patches and services
	Arguments  []string // for commands
	Descriptor string   // ref, for interfaces
	Operation  string   // for interfaces
	Patch      string   // ref, for patches
	Action     string   // for services
	Method     string   // for actuation
}

// Command reports whether the step runs a command profile.
func (s Step) Command() bool {
	return (s.Kind == StepObserve || s.Kind == StepProcess) && s.Descriptor == ""
}

// Candidate is an inert list of steps.
type Candidate struct {
	Steps []Step
	Value canon.Value
	Bytes []byte       // canonical; what the object store keeps
	Sum   canon.Digest // of Bytes
}

// Digest is the digest by which a proposal names the candidate.
func (c Candidate) Digest() string { return proposal.DigestText(c.Sum) }

// Named describes the candidate for a proposal, under a name for people.
func (c Candidate) Named(name string) proposal.Candidate { return proposal.CandidateOf(name, c.Sum) }

// ParseCandidate reads a candidate. Its digest is that of its canonical bytes,
// whatever spelling came in. Errors: TooLarge, Malformed, Invalid.
func ParseCandidate(raw []byte) (Candidate, error) {
	v, err := read(schema.TaskCandidate, raw, MaxCandidate)
	if err != nil {
		return Candidate{}, err
	}
	c := Candidate{Value: v, Bytes: v.Canonical()}
	c.Sum = canon.Sum(c.Bytes)
	seen := map[string]bool{}
	for i, e := range member(v, "steps").Elems() {
		at := canon.PointerToIndex("/steps", i)
		s := stepOf(e)
		if seen[s.ID] {
			return Candidate{}, invalid("candidate", canon.PointerTo(at, "step/id"), "step %q comes twice", s.ID)
		}
		seen[s.ID] = true
		c.Steps = append(c.Steps, s)
	}
	return c, nil
}

func stepOf(v canon.Value) Step {
	return Step{
		ID: v.Str("step/id"), Kind: v.Str("kind"), Profile: v.Str("profile/ref"), Arguments: strs(v, "arguments"),
		Descriptor: v.Str("descriptor/ref"), Operation: v.Str("operation"), Patch: v.Str("patch/ref"),
		Action: v.Str("action"), Method: v.Str("method/name"),
	}
}

// tree is the step as a candidate or plan spells it.
func (s Step) tree() map[string]any {
	t := map[string]any{"step/id": s.ID, "kind": s.Kind}
	switch {
	case s.Kind == StepActuate:
		t["descriptor/ref"], t["operation"], t["method/name"] = s.Descriptor, s.Operation, s.Method
	case s.Descriptor != "":
		t["descriptor/ref"], t["operation"] = s.Descriptor, s.Operation
	case s.Kind == StepPatch:
		t["profile/ref"], t["patch/ref"] = s.Profile, s.Patch
	case s.Kind == StepService:
		t["profile/ref"], t["action"] = s.Profile, s.Action
	default:
		t["profile/ref"], t["arguments"] = s.Profile, append([]string{}, s.Arguments...)
	}
	return t
}

// NewCandidate builds a candidate out of steps.
func NewCandidate(steps ...Step) (Candidate, error) {
	list := make([]map[string]any, 0, len(steps))
	for _, s := range steps {
		list = append(list, s.tree())
	}
	raw, err := canon.Marshal(map[string]any{
		"schema": proposal.ArtifactTaskPack, "schema/v": 1, "steps": list,
	})
	if err != nil {
		return Candidate{}, err
	}
	return ParseCandidate(raw)
}

// GoChange is the candidate of a change to a Go module: list the benchmarks of
// the base, write the files of the patch, run the tests, compare both sides.
// Arguments select packages and benchmarks as the command profiles allow.
func GoChange(patchRef string, packages, measured []string) (Candidate, error) {
	return NewCandidate(
		Step{ID: List, Kind: StepObserve, Profile: ProfileBenchmarkList, Arguments: measured},
		Step{ID: Change, Kind: StepPatch, Profile: PolicyModuleSources, Patch: patchRef},
		Step{ID: Check, Kind: StepProcess, Profile: ProfileTests, Arguments: packages},
		Step{ID: Compare, Kind: StepProcess, Profile: ProfileBenchmarkCompare, Arguments: measured},
	)
}
