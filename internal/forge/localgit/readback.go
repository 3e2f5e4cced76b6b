package localgit

import (
	"context"
	"time"

	"writ/internal/fault"
	"writ/internal/landing"
)

// SealParams of a readback.
type SealParams struct {
	State       landing.State // the state that will be settled; its warrant is admitted for a merge of ours
	CancelAsked bool
	Now         time.Time
}

// Seal finds out how the admitted attempt ended and seals it for settlement.
// Calling it gives the attempt up: unless the merge is part of the base already,
// the fence is advanced before the base is read for the last time, so that what
// was read stays true.
func (f *Forge) Seal(ctx context.Context, p SealParams) (landing.Readback, error) {
	w := p.State.Warrant
	if w == nil || w.Admitted == nil {
		return landing.Readback{}, fault.New(fault.State, "seal readback", "no attempt has been admitted")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m, err := f.recall(ctx, p.State.ProtectedBase, w.Admitted.MergeGroupHead)
	if err != nil {
		return landing.Readback{}, err
	}
	facts, err := f.ending(ctx, m)
	if err != nil {
		return landing.Readback{}, err
	}
	facts.State, facts.CancelAsked, facts.ObservedAt = p.State, p.CancelAsked, p.Now
	return landing.SealGit(facts)
}

// ending reads the remote until it says something final about the merge.
func (f *Forge) ending(ctx context.Context, m Merge) (landing.GitFacts, error) {
	facts, err := f.facts(ctx, m)
	if err != nil || facts.Contained {
		return facts, err
	}
	from := m.Fence
	if facts.FenceHead == "" { // taken down by somebody; the next one goes up in its place
		from.Object = ""
	}
	if facts.FenceHead == from.Object {
		if _, err := f.advance(ctx, m.Base, from); err != nil {
			return facts, err
		}
	}
	// Not contained, and the fence was seen to have moved on or was moved by us.
	// The base that is read from here on is final for this merge.
	return f.facts(ctx, m)
}

// Facts reads what the remote shows about a merge now, and changes nothing.
func (f *Forge) Facts(ctx context.Context, m Merge) (landing.GitFacts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.facts(ctx, m)
}

// facts reads the fence first. Read the other way round, a push in between would
// show a fence that has moved on beside a base that has not.
func (f *Forge) facts(ctx context.Context, m Merge) (landing.GitFacts, error) {
	out := landing.GitFacts{BuiltOn: m.BaseHead, FenceBefore: m.Fence.Object}
	fence, err := f.readFence(ctx, m.Base)
	if err != nil {
		return out, err
	}
	out.FenceHead = fence.Object
	if out.BaseHead, err = f.observe(ctx, m.Base); err != nil {
		return out, err
	}
	if out.Contained, err = f.clone.IsAncestor(ctx, m.Commit, out.BaseHead); err != nil || !out.Contained {
		return out, err
	}
	out.LandedTree, err = f.clone.TreeOf(ctx, m.Commit)
	return out, err
}

// OutsideParams names a candidate that somebody may have merged by other means.
type OutsideParams struct {
	State       landing.State
	CandidateID string
	Now         time.Time
}

// SealOutside seals that a candidate's head is part of the base though the
// authority never landed it. fault.Evidence when it is not.
func (f *Forge) SealOutside(ctx context.Context, p OutsideParams) (landing.Readback, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	head, err := f.observe(ctx, p.State.ProtectedBase)
	if err != nil {
		return landing.Readback{}, err
	}
	facts := landing.OutsideFacts{State: p.State, CandidateID: p.CandidateID, BaseHead: head, ObservedAt: p.Now}
	// A head that did not come with the base is no part of it.
	if c, ok := p.State.Candidate(p.CandidateID); ok && f.has(ctx, c.SourceHead) {
		if facts.Contained, err = f.clone.IsAncestor(ctx, c.SourceHead, head); err != nil {
			return landing.Readback{}, err
		}
	}
	return landing.SealOutside(facts)
}
