package taskpack

import (
	"strconv"

	"writ/internal/canon"
	"writ/internal/ledger"
)

// Entry is the candidate as the ledger keeps it.
func (c Candidate) Entry(runID, event string) ledger.NewDocument {
	return ledger.NewDocument{Kind: ledger.KindCandidate, Ref: canon.ObjectRef(c.Sum), RunID: runID, Event: event, Body: c.Bytes}
}

// Entry is the patch as the ledger keeps it.
func (p Patch) Entry(runID, event string) ledger.NewDocument {
	return ledger.NewDocument{Kind: ledger.KindPatch, Ref: p.Ref, RunID: runID, Event: event, Body: p.Bytes}
}

// Entry is the profile as the ledger keeps it: under its digest, of no run.
func (p Profile) Entry(event string) ledger.NewDocument {
	return ledger.NewDocument{Kind: ledger.KindProfile, Ref: p.Digest(), Event: event, Body: p.Bytes}
}

// Entry is the binding as the ledger keeps it: under its digest, of no run. One
// revision of a binding has one content.
func (b Binding) Entry(event string) ledger.NewDocument {
	return ledger.NewDocument{
		Kind: ledger.KindBinding, Ref: b.Digest(), Event: event, Body: b.Bytes,
		Identity: ledger.KindBinding + "|" + b.Ref + "|" + strconv.FormatInt(b.Revision, 10),
	}
}

// Entry is the plan as the ledger keeps it. A plan is created once: the same ref
// with other bytes is a conflict that the ledger cannot see, so callers compare
// with Replay first.
func (p Plan) Entry(runID, event string) ledger.NewDocument {
	return ledger.NewDocument{Kind: ledger.KindPlan, Ref: p.Ref, RunID: runID, Event: event, Body: p.Bytes, Identity: ledger.KindPlan + "|" + p.Ref}
}

// Entry is the question as the ledger keeps it: asked once per run and step.
func (q Question) Entry(runID, event string) ledger.NewDocument {
	return ledger.NewDocument{Kind: ledger.KindRequest, Ref: q.Ref, RunID: runID, Event: event, Body: q.Bytes, Identity: ledger.KindRequest + "|" + q.Ref}
}

// Entry is the fact as the ledger keeps it: one per run and sequence number. A
// receipt that says "replayed" grants nothing: somebody else wrote that fact.
func (f Fact) Entry(runID, event string) ledger.NewDocument {
	return ledger.NewDocument{
		Kind: ledger.KindRunFact, Ref: f.Ref(), RunID: runID, Event: event, Body: f.Bytes,
		Identity: ledger.KindRunFact + "|" + f.Run + "|" + strconv.FormatInt(f.Sequence, 10),
	}
}

// Entry is the result as the ledger keeps it: under its digest.
func (r Result) Entry(runID, event string) ledger.NewDocument {
	return ledger.NewDocument{Kind: ledger.KindExperimentResult, Ref: r.Digest(), RunID: runID, Event: event, Body: r.Bytes}
}
