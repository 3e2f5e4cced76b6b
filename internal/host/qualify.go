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
// a candidate of another run is qualified first.
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
	if c, _ = t.State.Candidate(c.CandidateID); c.Status == landing.Qualifying {
		return j.abandon(ctx, t.State, c) // the process that held this lease is gone
	}
	t, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.LeaseQualification(s, landing.LeaseQualificationParams{}, j.Now())
	}, nil)
	if err != nil {
		return err
	}
	if t.Lease == nil {
		return fault.New(fault.Held, "lease qualification", "no lease: %s", t.Action).With("action", string(t.Action))
	}
	if t.Lease.CandidateID != j.task.Candidate {
		return j.abandonOther(ctx, *t.Lease)
	}
	return j.qualifyUnder(ctx, c, t.Lease.Fence())
}

// abandon gives back a lease that nobody works under, by ending the candidate;
// the change is submitted again with its age.
func (j *job) abandon(ctx context.Context, s landing.State, c landing.Candidate) error {
	for _, l := range s.Leases {
		if l.CandidateID == c.CandidateID {
			f := l.Fence()
			return j.settle(ctx, landing.Dequeued, "worker-lost", &f, Recorded)
		}
	}
	return fault.New(fault.Corrupt, "recover lease", "candidate %s is qualifying without a lease", c.CandidateID)
}

// abandonOther leaves a lease that was granted to a candidate of another run to
// that run's own turn: it finds the lease held and starts over.
func (j *job) abandonOther(ctx context.Context, l landing.Lease) error {
	return fault.New(fault.Held, "lease qualification", "the lease went to the older candidate %s", l.CandidateID).
		Help("its run is driven first")
}

// qualifyUnder runs the command and hands in the proofs.
func (j *job) qualifyUnder(ctx context.Context, c landing.Candidate, f landing.Fence) error {
	n, err := j.native(ctx, c, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if moved := (*movedError)(nil); errors.As(err, &moved) {
		return j.settle(ctx, landing.Dequeued, "base-moved", &f, Recorded)
	}
	if err != nil {
		j.task.Failure, j.task.Reason = failure(err)
		return j.settle(ctx, landing.TerminalFailure, j.task.Reason, &f, Over)
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
	t, err := j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.LeaseLanding(s, landing.LeaseLandingParams{}, j.Now())
	}, func(t landing.Transition, _ *batch) error {
		if t.Warrant != nil && t.Warrant.CandidateID == j.task.Candidate {
			j.task.Phase = Landing
		}
		return nil
	})
	switch {
	case err != nil || j.task.Phase == Landing:
		return err
	case t.Action == landing.WarrantExpired:
		_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
			return landing.ReleaseUnadmitted(s, landing.ReleaseParams{}, j.Now())
		}, nil)
		return err
	default:
		return fault.New(fault.Held, "lease landing", "no warrant: %s", t.Action).With("action", string(t.Action))
	}
}

// settle ends the candidate by a decision of the host, with evidence of who and
// why, and moves the task.
func (j *job) settle(ctx context.Context, outcome landing.Status, reason string, f *landing.Fence, next Phase) error {
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
