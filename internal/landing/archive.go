package landing

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Archived is the whole chain of a change whose attempts have all ended, on its
// way out of a document or back into it.
type Archived struct {
	Repository        string
	ProtectedBase     string
	PullRequestNumber int64
	StateRoot         string // state that the chain left
	ArchivedAt        Timestamp
	Candidates        []Candidate // in order
	Root              string
}

const archiveSchema = "writ.landing-archive/v1"

func (a *Archived) shape(c *codec) {
	c.constant("schema", archiveSchema)
	c.repository("repository", &a.Repository)
	c.base("protectedBase", &a.ProtectedBase)
	c.positive("pullRequestNumber", &a.PullRequestNumber)
	c.root("stateRoot", &a.StateRoot)
	c.stamp("archivedAt", &a.ArchivedAt)
	list(c, "candidates", &a.Candidates)
	c.self("archiveRoot", &a.Root)
}

// Value returns the document to keep.
func (a Archived) Value() (canon.Value, error) { return write(nil, &a) }

// ParseArchived reads a kept chain; fault.RootDrift when it was changed.
func ParseArchived(v canon.Value) (Archived, error) {
	var a Archived
	err := read(nil, v, &a)
	return a, err
}

// restore puts a kept chain back at the end, where its new attempt will follow.
func (w *step) restore(change int64, a *Archived) error {
	if a == nil || len(w.with(func(c *Candidate) bool { return c.PullRequestNumber == change })) > 0 {
		return nil
	}
	if err := w.checkArchived(change, a); err != nil {
		return err
	}
	w.Candidates = append(w.Candidates, a.Candidates...)
	w.out.Restored = append(w.out.Restored, change)
	w.detail(text("restoredArchiveRoot", a.Root))
	return nil
}

// checkArchived proves that a kept chain is one of this document: identities,
// order, all ended. Its root was compared when the operation was recorded.
func (w *step) checkArchived(change int64, a *Archived) error {
	chain := State{Repository: w.Repository, ProtectedBase: w.ProtectedBase, Candidates: a.Candidates}
	if a.Repository != w.Repository || a.ProtectedBase != w.ProtectedBase || a.PullRequestNumber != change {
		return fault.New(fault.Invalid, "read archive", "chain is of change %d of %s %s", a.PullRequestNumber, a.Repository, a.ProtectedBase)
	}
	for i, c := range a.Candidates {
		if c.PullRequestNumber != change || !c.Status.Terminal() {
			return broken(candidateAt(i), "is not an ended attempt of change %d", change)
		}
	}
	for _, check := range []func() error{chain.identityRules, chain.chainRules, chain.statusRules} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// ArchiveParams says what may leave the document.
type ArchiveParams struct {
	// Before keeps chains that ended at or after it in the document, so that late
	// events of a fresh ending still find it there. Empty: every ended chain.
	Before Timestamp
}

func (p *ArchiveParams) shape(c *codec) { c.optStamp("before", &p.Before) }

// Archive takes chains out of the document whose attempts have all ended. A
// whole chain leaves together and comes back together, so the document stays
// valid for the original reader, which wants every predecessor in it.
func Archive(s State, p ArchiveParams, now time.Time) (Transition, error) {
	w, err := begin(s, OpArchive, &p, now)
	if err != nil {
		return Transition{}, err
	}
	stays := map[int64]bool{}
	for _, c := range w.Candidates {
		if !c.Status.Terminal() || p.Before != "" && c.Terminal.SettledAt >= p.Before {
			stays[c.PullRequestNumber] = true
		}
	}
	kept := w.Candidates[:0:0]
	index := map[int64]int{}
	for _, c := range w.Candidates {
		n := c.PullRequestNumber
		if stays[n] {
			kept = append(kept, c)
			continue
		}
		at, ok := index[n]
		if !ok {
			at = len(w.out.Archived)
			index[n] = at
			w.out.Archived = append(w.out.Archived, Archived{
				Repository: w.Repository, ProtectedBase: w.ProtectedBase, PullRequestNumber: n,
				StateRoot: w.old.StateRoot, ArchivedAt: w.now,
			})
		}
		w.out.Archived[at].Candidates = append(w.out.Archived[at].Candidates, c)
	}
	if len(w.out.Archived) == 0 {
		return w.finish(NothingToArchive)
	}
	roots := make([]string, len(w.out.Archived))
	for i := range w.out.Archived {
		if _, err := write(w.dialect(), &w.out.Archived[i]); err != nil {
			return Transition{}, err
		}
		roots[i] = w.out.Archived[i].Root
	}
	if kept == nil {
		kept = []Candidate{}
	}
	w.Candidates, w.changed = kept, true
	w.detail(textList("archiveRoots", roots))
	return w.finish(Archiving)
}
