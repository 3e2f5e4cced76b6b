package host

import (
	"context"
	"errors"
	"time"

	"writ/internal/fault"
	"writ/internal/landing"
	"writ/internal/ledger"
)

// beat is how often a lease is renewed while its command runs.
const beat = 30 * time.Second

// qualify leases a qualification, runs the native command on the merged tree
// under it, and completes it with the proofs. The authority chooses who is next:
// a lease that would go to another run is left to that run.
func (j *job) qualify(ctx context.Context) error {
	s, _, err := j.authority(ctx, j.workspace, j.repo)
	if err != nil {
		return err
	}
	c, err := j.candidate(s)
	if err != nil {
		return err
	}
	switch c.Status {
	case landing.Qualified, landing.Landing:
		return j.move(ctx, Qualified)
	case landing.Queued, landing.Qualifying:
	default:
		return j.ended(ctx, c)
	}
	t, err := j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.Recover(s, j.Now())
	}, nil)
	if err != nil {
		return err
	}
	if c, err = j.candidate(t.State); err != nil {
		return err
	}
	switch {
	case c.Status == landing.Qualifying:
		f := leaseOf(t.State, c)
		if f == nil || *f != j.fences[c.CandidateID] {
			return j.abandon(ctx, c, f) // the process that held this lease is gone
		}
		return j.qualifyUnder(ctx, c, *f)
	case c.Status != landing.Queued: // that was its last attempt
		return j.ended(ctx, c)
	}
	t, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		t, err := landing.LeaseQualification(s, landing.LeaseQualificationParams{}, j.Now())
		if err == nil && (t.Lease == nil || t.Lease.CandidateID != j.task.Candidate) {
			err = errNotYet
		}
		return t, err
	}, nil)
	if err != nil {
		return err
	}
	j.fences[c.CandidateID] = t.Lease.Fence()
	return j.qualifyUnder(ctx, *t.Candidate, t.Lease.Fence())
}

// abandon gives back a lease that nobody works under, by ending the candidate;
// the change is submitted again with its age.
func (j *job) abandon(ctx context.Context, c landing.Candidate, f *landing.Fence) error {
	if f == nil {
		return fault.New(fault.Corrupt, "recover lease", "candidate %s is qualifying without a lease", c.CandidateID)
	}
	return j.settle(ctx, landing.Dequeued, "worker-lost", f, Recorded)
}

// qualifyUnder runs the command and hands in the proofs.
func (j *job) qualifyUnder(ctx context.Context, c landing.Candidate, f landing.Fence) error {
	n, err := j.native(ctx, c, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if moved := (*movedError)(nil); errors.As(err, &moved) {
		return j.settle(ctx, landing.Dequeued, landing.ReasonBaseMoved, &f, Recorded)
	}
	j.Crash("native command ended")
	switch code := fault.CodeOf(err); {
	case err == nil:
	case code == fault.Harness || code == fault.Blocked || code == fault.OnHold || code == fault.BaseMoved: // the answer about this change
		j.task.Failure, j.task.Reason = failure(err)
		return j.settle(ctx, landing.TerminalFailure, j.task.Reason, &f, Over, n.docs...)
	default: // the machine's: the lease is still held
		return err
	}
	proof, proofDoc, err := landing.BuildNativeProof(landing.NativeProof{
		SourceIdentityRoot: c.SourceIdentityRoot, SourcePatchRoot: c.SourcePatchRoot, PlanRoot: c.PlanRoot,
		ClosureRoot: c.ClosureRoot, DependencyRoot: c.DependencyRoot, Receipt: n.receipt,
		AffectedPaths: c.AffectedPaths, ShardEvidenceRoots: c.ShardEvidenceRoots, QualifiedAt: landing.At(j.Now()),
	})
	if err != nil {
		return err
	}
	_, contract, err := landing.BuildContract(c, f, proof)
	if err != nil {
		return err
	}
	source, err := j.sourceProofOf(ctx, c)
	if err != nil {
		return err
	}
	delete(j.fences, c.CandidateID) // after a completion that fails the lease is given up
	_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.CompleteQualification(s, landing.CompleteQualificationParams{
			Fence: f, SourceProof: source, NativeProof: proofDoc, Contract: contract,
		}, j.Now())
	}, func(t landing.Transition, b *batch) error {
		run := j.task.Run
		b.docs = append(b.docs, n.docs...)
		b.docs = append(b.docs,
			document(ledger.KindNativeProof, run, proofDoc),
			document(ledger.KindContract, run, contract),
			document(ledger.KindQualReceipt, run, t.Receipt))
		j.task.Phase = Qualified
		return nil
	})
	return err
}

// takeWarrant leases the landing warrant.
func (j *job) takeWarrant(ctx context.Context) error {
	s, c, err := j.landingState(ctx)
	if err != nil {
		return err
	}
	if c.Status != landing.Qualified {
		return j.astray(ctx, c)
	}
	if w := s.Warrant; w != nil && w.Admitted == nil && !landing.At(j.Now()).Time().Before(w.ExpiresAt.Time()) {
		_, err := j.transition(ctx, func(s landing.State) (landing.Transition, error) {
			return landing.ReleaseUnadmitted(s, landing.ReleaseParams{}, j.Now())
		}, nil)
		return err
	}
	_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		t, err := landing.LeaseLanding(s, landing.LeaseLandingParams{}, j.Now())
		if err == nil && (t.Warrant == nil || t.Warrant.CandidateID != j.task.Candidate) {
			err = errNotYet
		}
		return t, err
	}, func(landing.Transition, *batch) error {
		j.task.Phase = Landing
		return nil
	})
	return err
}

// settle ends the candidate by a decision of the host, with evidence of who and
// why, and moves the task.
func (j *job) settle(ctx context.Context, outcome landing.Status, reason string, f *landing.Fence, next Phase, docs ...ledger.NewDocument) error {
	evidence, err := landing.SettlementEvidence{
		Repository: j.repo.Alias, ProtectedBase: j.repo.Base, CandidateID: j.task.Candidate,
		Outcome: outcome, Reason: reason, Actor: j.Node(), ObservedAt: landing.At(j.Now()),
	}.Value()
	if err != nil {
		return err
	}
	_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.Settle(s, landing.SettleParams{
			PullRequestNumber: j.task.Change, SourceHead: j.task.SourceHead, CandidateID: j.task.Candidate,
			Outcome: outcome, Evidence: evidence, Reason: reason, Fence: f,
		}, j.Now())
	}, func(_ landing.Transition, b *batch) error {
		b.docs = append(b.docs, docs...)
		b.docs = append(b.docs, document(ledger.KindSettlement, j.task.Run, evidence))
		return j.over(ctx, next, b)
	})
	return err
}

// move changes the phase and nothing else.
func (j *job) move(ctx context.Context, p Phase) error {
	j.task.Phase = p
	return j.save(ctx, j.workspace, &j.task, batch{})
}
