package taskpack

import (
	"slices"
	"time"

	"writ/internal/fault"
	"writ/internal/proposal"
)

// Phase is how far a run is.
type Phase string

// The phases. A run is terminal only when the owner of the environment has
// confirmed that nothing of it is left.
const (
	PhaseNone     Phase = "" // not admitted
	PhaseRunning  Phase = "running"
	PhaseRollback Phase = "rollback-pending"
	PhaseTerminal Phase = "terminal"
)

// StepState is what the facts say about one step.
type StepState struct {
	ID       string
	Started  bool
	Outcome  string // "" while there is none
	Refusal  Code
	Answer   string
	Evidence []string
}

// Run folds the facts of one run of one plan. It is a value: Apply returns
// another one and never changes its receiver.
type Run struct {
	Plan        Plan
	Ref         string
	Last        int64 // sequence of the newest fact, 0 for none
	Binding     string
	Environment string
	Steps       []StepState // of the plan's first steps, as far as facts speak of them
	Evaluated   *Fact
	Cancel      bool
	Outcome     string // "" until concluded
	Refusal     Code
	Confirmed   string // ref of the confirmed destruction
	Began, Ends time.Time
}

// NewRun is the run ref of plan before its first fact.
func NewRun(plan Plan, ref string) Run { return Run{Plan: plan, Ref: ref} }

// Fold applies stored facts in order.
func Fold(plan Plan, ref string, facts []Fact) (Run, error) {
	r := NewRun(plan, ref)
	for _, f := range facts {
		var err error
		if r, err = r.Apply(f); err != nil {
			return Run{}, err
		}
	}
	return r, nil
}

// Phase returns how far the run is.
func (r Run) Phase() Phase {
	switch {
	case r.Last == 0:
		return PhaseNone
	case r.Outcome == "":
		return PhaseRunning
	case r.Confirmed == "":
		return PhaseRollback
	}
	return PhaseTerminal
}

// Open returns the step that was started and has no outcome.
func (r Run) Open() (PlanStep, bool) {
	if n := len(r.Steps); n > 0 && r.Steps[n-1].Outcome == "" {
		return r.Plan.Steps[n-1], true
	}
	return PlanStep{}, false
}

// Upcoming returns the step that may start next; false when one is open, one
// did not complete, or all are done.
func (r Run) Upcoming() (PlanStep, bool) {
	if n := len(r.Steps); n < len(r.Plan.Steps) && (n == 0 || r.Steps[n-1].Outcome == StepCompleted) {
		return r.Plan.Steps[n], true
	}
	return PlanStep{}, false
}

// AllCompleted reports whether every step of the plan has completed.
func (r Run) AllCompleted() bool {
	return len(r.Steps) == len(r.Plan.Steps) && !slices.ContainsFunc(r.Steps, func(s StepState) bool { return s.Outcome != StepCompleted })
}

// Append completes f with run, next sequence and time, and applies it. The
// returned fact is what the store must create: if its number is taken there,
// somebody else drives this run and f counts for nothing.
func (r Run) Append(f Fact, now time.Time) (Run, Fact, error) {
	f.Run, f.Sequence, f.At = r.Ref, r.Last+1, now
	f, err := f.written()
	if err != nil {
		return Run{}, Fact{}, err
	}
	next, err := r.Apply(f)
	return next, f, err
}

// Apply adds the next fact. Errors: Relation (another run or plan), Conflict (a
// sequence number that is taken), Invalid (a gap), State (a fact that cannot
// follow).
func (r Run) Apply(f Fact) (Run, error) {
	switch {
	case f.Run != r.Ref:
		return Run{}, fault.New(fault.Relation, "run fact", "it is of run %s, not %s", f.Run, r.Ref)
	case f.Sequence <= r.Last:
		return Run{}, fault.New(fault.Conflict, "run fact", "sequence %d is taken, the run is at %d", f.Sequence, r.Last)
	case f.Sequence != r.Last+1:
		return Run{}, fault.New(fault.Invalid, "run fact", "sequence %d leaves a gap after %d", f.Sequence, r.Last).At("/sequence")
	case (r.Phase() == PhaseNone) != (f.Kind == FactAdmitted):
		return Run{}, wrong(f, "a run is admitted once, by its first fact")
	case r.Outcome != "" && f.Kind != FactDestruction:
		return Run{}, wrong(f, "the run has concluded")
	}
	r.Steps = slices.Clone(r.Steps)
	var err error
	switch f.Kind {
	case FactAdmitted:
		err = r.admitted(f)
	case FactAllocated:
		err = r.allocated(f)
	case FactStarted:
		err = r.started(f)
	case FactOutcome:
		err = r.ended(f)
	case FactEvaluated:
		err = r.evaluated(f)
	case FactCancel:
		err = r.cancelled(f)
	case FactConcluded:
		err = r.concluded(f)
	case FactDestruction:
		err = r.destroyed(f)
	default:
		err = wrong(f, "no such fact")
	}
	if err != nil {
		return Run{}, err
	}
	r.Last = f.Sequence
	return r, nil
}

func wrong(f Fact, format string, args ...any) error {
	return fault.New(fault.State, "run fact "+string(f.Kind), format, args...)
}

func (r *Run) admitted(f Fact) error {
	p := r.Plan
	if f.Plan != p.Ref || f.PlanDigest != p.Digest() || f.Profile != p.Profile || f.Chosen != p.Binding || f.Generation != p.Generation {
		return fault.New(fault.Relation, "run fact", "it admits another plan than %s", p.Ref).At("/fact")
	}
	r.Binding, r.Began = f.Binding, f.At
	return nil
}

func (r *Run) allocated(f Fact) error {
	if r.Environment != "" || r.Cancel {
		return wrong(f, "the run has an environment or is being cancelled")
	}
	r.Environment = f.Environment
	return nil
}

func (r *Run) started(f Fact) error {
	next, ok := r.Upcoming()
	switch {
	case !ok || next.ID != f.Step:
		return wrong(f, "step %s is not the next one; no step starts twice", f.Step)
	case r.Environment == "":
		return wrong(f, "there is no environment yet")
	case r.Cancel:
		return wrong(f, "the run is being cancelled")
	}
	r.Steps = append(r.Steps, StepState{ID: f.Step, Started: true})
	return nil
}

// ended records the outcome of the open step, or the refusal of the next one,
// which then never starts.
func (r *Run) ended(f Fact) error {
	if open, ok := r.Open(); ok {
		if open.ID != f.Step {
			return wrong(f, "step %s is open, not %s", open.ID, f.Step)
		}
		if open.Answer && f.Outcome == StepCompleted && f.Answer == "" {
			return wrong(f, "step %s needed a human answer and names none", f.Step)
		}
	} else {
		next, ok := r.Upcoming()
		if !ok || next.ID != f.Step || f.Outcome != StepRefused {
			return wrong(f, "step %s is not open; only the next step can be refused before it starts", f.Step)
		}
		r.Steps = append(r.Steps, StepState{ID: f.Step})
	}
	s := &r.Steps[len(r.Steps)-1]
	s.Outcome, s.Refusal, s.Answer, s.Evidence = f.Outcome, f.Refusal, f.Answer, f.Evidence
	return nil
}

func (r *Run) evaluated(f Fact) error {
	if r.Evaluated != nil || !r.AllCompleted() {
		return wrong(f, "the verifier speaks once, after all steps have completed")
	}
	r.Evaluated = &f
	return nil
}

func (r *Run) cancelled(f Fact) error {
	if r.Cancel {
		return wrong(f, "cancelling was asked before")
	}
	r.Cancel = true
	return nil
}

// concluded checks that the outcome is what the facts say. Only a passed
// evaluation verifies, and an unknown step leaves nothing but unknown.
func (r *Run) concluded(f Fact) error {
	if _, open := r.Open(); open {
		return wrong(f, "a step is open")
	}
	state := ""
	var refusal Code
	if n := len(r.Steps); n > 0 && r.Steps[n-1].Outcome != StepCompleted {
		state, refusal = r.Steps[n-1].Outcome, r.Steps[n-1].Refusal
	}
	fits := false
	switch f.Outcome {
	case proposal.OutcomeUnknown:
		fits = state != StepRefused
	case proposal.OutcomeRefused:
		fits = state != StepUnknown && r.Evaluated == nil && (state != StepRefused || refusal == f.Refusal)
	case proposal.OutcomeCancel:
		fits = state == "" && r.Cancel
	case proposal.OutcomeVerified:
		fits = r.Evaluated != nil && r.Evaluated.Passed
	case proposal.OutcomeFailed:
		fits = r.Evaluated != nil && !r.Evaluated.Passed
	}
	if !fits {
		return wrong(f, "the facts do not add up to %s", f.Outcome)
	}
	r.Outcome, r.Refusal, r.Ends = f.Outcome, f.Refusal, f.At
	return nil
}

func (r *Run) destroyed(f Fact) error {
	if r.Outcome == "" || r.Confirmed != "" {
		return wrong(f, "destruction is confirmed once, after the run has concluded")
	}
	r.Confirmed, r.Ends = f.Confirmation, f.At
	return nil
}
