package taskpack

import (
	"time"

	"writ/internal/fault"
	"writ/internal/proposal"
)

// Do is what the holder of the environment does next.
type Do string

// The things to do. Each ends in a fact (or in an answer), after which the run
// is asked again.
const (
	DoAllocate Do = "allocate" // make the environment, record FactAllocated
	DoAsk      Do = "ask"      // put the question about Step, wait for the answer
	DoStart    Do = "start"    // record FactStarted, carry out Step, record its outcome
	DoVerify   Do = "verify"   // evaluate, record FactEvaluated
	DoRecord   Do = "record"   // record Fact
	DoDestroy  Do = "destroy"  // destroy what is left, record FactDestruction
	DoNothing  Do = "nothing"  // the run is terminal
)

// Action is one transition of a run.
type Action struct {
	Do   Do
	Step PlanStep // DoAsk and DoStart
	Fact Fact     // DoRecord: complete it with Append
}

// NextFacts is what holds now, apart from the run's own facts.
type NextFacts struct {
	// Restarted says that the caller was not the one who started the open step,
	// or has lost track of it: then nobody can know whether its effect happened.
	Restarted bool
	// Fence is the outcome of Fence for the upcoming step, or for the allocation
	// when there is no environment yet.
	Fence error
	// Standing is where the upcoming step stands with the person.
	Standing Standing
}

// Next says what is to be done. An open step of another life of the process is
// recorded as unknown, its run concludes unknown, and it is never started again.
// It fails with fault.State when the run was not admitted, or when a step is
// open that the caller itself is carrying out.
func (r Run) Next(f NextFacts) (Action, error) {
	switch r.Phase() {
	case PhaseNone:
		return Action{}, fault.New(fault.State, "next", "run %s is not admitted", r.Ref)
	case PhaseRollback:
		return Action{Do: DoDestroy}, nil
	case PhaseTerminal:
		return Action{Do: DoNothing}, nil
	}
	if open, ok := r.Open(); ok {
		if !f.Restarted {
			return Action{}, fault.New(fault.State, "next", "step %s is being carried out", open.ID)
		}
		return record(Fact{Kind: FactOutcome, Step: open.ID, Outcome: StepUnknown}), nil
	}
	if n := len(r.Steps); n > 0 {
		switch last := r.Steps[n-1]; last.Outcome {
		case StepUnknown:
			return conclude(proposal.OutcomeUnknown, ""), nil
		case StepRefused:
			return conclude(proposal.OutcomeRefused, last.Refusal), nil
		}
	}
	if r.Evaluated != nil {
		if r.Evaluated.Passed {
			return conclude(proposal.OutcomeVerified, ""), nil
		}
		return conclude(proposal.OutcomeFailed, ""), nil
	}
	if r.Cancel {
		return conclude(proposal.OutcomeCancel, ""), nil
	}
	step, more := r.Upcoming()
	if !more {
		return Action{Do: DoVerify}, nil
	}
	if f.Fence != nil {
		code := CodeOf(f.Fence)
		if code == "" {
			return Action{}, f.Fence
		}
		return conclude(proposal.OutcomeRefused, code), nil
	}
	if r.Environment == "" {
		return Action{Do: DoAllocate}, nil
	}
	return r.begin(step, f.Standing), nil
}

func (r Run) begin(step PlanStep, standing Standing) Action {
	if !step.Answer {
		return Action{Do: DoStart, Step: step}
	}
	switch standing {
	case Approved:
		return Action{Do: DoStart, Step: step}
	case Denied:
		return record(Fact{Kind: FactOutcome, Step: step.ID, Outcome: StepRefused, Refusal: HILDenied})
	case Late:
		return record(Fact{Kind: FactOutcome, Step: step.ID, Outcome: StepRefused, Refusal: HILExpired})
	}
	return Action{Do: DoAsk, Step: step}
}

func record(f Fact) Action { return Action{Do: DoRecord, Fact: f} }

func conclude(outcome string, code Code) Action {
	return record(Fact{Kind: FactConcluded, Outcome: outcome, Refusal: code})
}

// DestroyLimit is how long a destruction may stay unconfirmed before a person
// has to look.
const DestroyLimit = 10 * time.Minute

// DestroyOverdue says whether the destruction of a concluded run is overdue at
// now; it refuses with rollback/destroy-unconfirmed.
func (r Run) DestroyOverdue(now time.Time) error {
	if r.Phase() != PhaseRollback || now.Before(r.Ends.Add(DestroyLimit)) {
		return nil
	}
	return refuse("rollback/destroy-unconfirmed", "run %s concluded at %s and its environment is still not confirmed gone", r.Ref, proposal.Instant(r.Ends))
}
