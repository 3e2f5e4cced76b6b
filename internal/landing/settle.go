package landing

import (
	"reflect"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// SettleParams ends a candidate. With a readback, outcome, evidence and reason
// are the readback's and the caller's are ignored.
type SettleParams struct {
	PullRequestNumber int64
	SourceHead        string

	// CandidateID names the attempt. Change and head alone may name several, and
	// an event that comes late would end the wrong one (W13).
	CandidateID string

	Outcome      Status
	Evidence     canon.Value // the evidence document; its root is EvidenceRoot
	EvidenceRoot string      // may be left out when Evidence is given
	Reason       string
	Fence        *Fence // of the lease or warrant that the candidate holds
	Failure      *FailureBinding
	Readback     Readback  // mandatory for a landing candidate
	Archived     *Archived // kept chain of the change, if it left the document
}

func (p *SettleParams) shape(c *codec) {
	c.optNumber("pullRequestNumber", &p.PullRequestNumber)
	c.optSHA("sourceHead", &p.SourceHead)
	c.optRoot("candidateId", &p.CandidateID)
	c.optText("outcome", (*string)(&p.Outcome))
	c.tree("evidence", &p.Evidence, true)
	c.optRoot("evidenceRoot", &p.EvidenceRoot)
	c.optText("reason", &p.Reason)
	optNested(c, "fence", &p.Fence)
	optNested(c, "failure", &p.Failure)
	c.tree("readback", &p.Readback.document, true)
	optNested(c, "archived", &p.Archived)
	if c.reading && c.err == nil && !p.Readback.document.IsNull() {
		r, err := openReadback(p.Readback.document)
		if err != nil {
			c.err, _ = fault.As(err)
		}
		p.Readback = r
	}
}

// ending is what a settlement says, after a readback has had its say.
type ending struct {
	outcome  Status
	evidence string
	reason   string
	failure  *FailureBinding
}

// Settle ends a candidate. The landing candidate is ended only by a sealed
// readback of the remote, whatever the caller says. A repeat of the same ending
// changes nothing; another ending of an ended candidate is fault.Terminal.
func Settle(s State, p SettleParams, now time.Time) (Transition, error) {
	p.SourceHead, p.CandidateID, p.EvidenceRoot = lower(p.SourceHead), lower(p.CandidateID), lower(p.EvidenceRoot)
	p.Reason = trim(p.Reason)
	if p.Fence != nil {
		f := p.Fence.normal()
		p.Fence = &f
	}
	if p.Archived != nil && p.Archived.Root == "" {
		return Transition{}, refuse("/archived/archiveRoot", "is missing")
	}
	w, err := begin(s, OpSettle, &p, now)
	if err != nil {
		return Transition{}, err
	}
	end, err := p.ending()
	if err != nil {
		return Transition{}, err
	}
	c, err := w.target(p, end.evidence)
	if err != nil {
		return Transition{}, err
	}
	switch {
	case c == nil:
		return w.finish(SettleNotApplicable)
	case c.Status.Terminal():
		w.out.Candidate = c
		w.detail(text("candidateId", c.CandidateID))
		if err := sameEnding(c.Terminal, end); err != nil {
			return Transition{}, err
		}
		return w.finish(SettledDuplicate)
	}
	if err := w.mayEnd(c, p, end); err != nil {
		return Transition{}, err
	}
	w.end(c, end, p.Readback)
	return w.finish(Settled)
}

// ending resolves what is said: by the readback, else by the caller.
func (p *SettleParams) ending() (ending, error) {
	refused := func(at, format string, args ...any) (ending, error) {
		return ending{}, fault.New(fault.Invalid, "settle candidate", format, args...).At(at)
	}
	e := ending{p.Outcome, p.EvidenceRoot, p.Reason, p.Failure}
	if v := p.Readback.view; !p.Readback.IsZero() {
		e.outcome, e.evidence, e.reason = v.Outcome, v.EvidenceRoot, v.Reason
	} else {
		if !e.outcome.Terminal() {
			return refused("/outcome", "%q is no outcome", e.outcome)
		}
		if !p.Evidence.IsNull() {
			root, err := EvidenceRoot(p.Evidence)
			if err != nil {
				return ending{}, err
			}
			if e.evidence != "" && e.evidence != root {
				return ending{}, drift("/evidenceRoot", e.evidence, root)
			}
			e.evidence = root
		}
		if e.evidence == "" {
			return refused("/evidenceRoot", "is missing")
		}
	}
	if e.failure != nil && e.outcome != TerminalFailure {
		return refused("/failure", "binds a failure, but the outcome is %s", e.outcome)
	}
	return e, nil
}

// EvidenceRoot returns the root of an evidence document. A document that carries
// its own evidenceRoot must carry the right one.
func EvidenceRoot(v canon.Value) (string, error) {
	own, ok := v.Get("evidenceRoot")
	root := canon.Root(v.Without("evidenceRoot"))
	if stored, _ := own.String(); ok && stored != root {
		return "", drift("/evidenceRoot", stored, root)
	}
	return root, nil
}

// target finds the attempt that is meant; nil when there is none. By change and
// head alone it is the one that holds a grant, else the last; but an event whose
// evidence already ended an earlier attempt belongs to that one (W13).
func (w *step) target(p SettleParams, evidence string) (*Candidate, error) {
	id := p.CandidateID
	if v := p.Readback.view; !p.Readback.IsZero() {
		if id != "" && id != v.CandidateID {
			return nil, fault.New(fault.Evidence, "settle candidate", "readback is about candidate %s", v.CandidateID).At("/readback")
		}
		id = v.CandidateID
	}
	if id == "" && (p.PullRequestNumber == 0 || p.SourceHead == "") {
		return nil, fault.New(fault.Invalid, "settle candidate", "candidate is not named: give its id, or change and head")
	}
	pool := w.Candidates
	if a := p.Archived; a != nil && len(w.with(func(c *Candidate) bool { return c.PullRequestNumber == a.PullRequestNumber })) == 0 {
		if err := w.checkArchived(a.PullRequestNumber, a); err != nil {
			return nil, err
		}
		pool = append(pool[:len(pool):len(pool)], a.Candidates...)
	}
	var last, holder, known *Candidate
	for i := range pool {
		c := &pool[i]
		match := (p.PullRequestNumber == 0 || c.PullRequestNumber == p.PullRequestNumber) &&
			(p.SourceHead == "" || c.SourceHead == p.SourceHead)
		if id != "" && c.CandidateID == id {
			if !match {
				return nil, fault.New(fault.Invalid, "settle candidate", "candidate %s is of change %d at %s", id, c.PullRequestNumber, c.SourceHead).At("/candidateId")
			}
			return c, nil
		}
		if id != "" || !match {
			continue
		}
		last = c
		if c.Status == Qualifying || c.Status == Landing {
			holder = c
		}
		if c.Terminal != nil && c.Terminal.EvidenceRoot == evidence {
			known = c
		}
	}
	switch {
	case known != nil:
		return known, nil
	case holder != nil:
		return holder, nil
	}
	return last, nil
}

func sameEnding(t *Terminal, e ending) error {
	changed := func(what string) error {
		return fault.New(fault.Terminal, "settle candidate", "candidate ended before, with another %s", what).
			With("outcome", string(t.Outcome)).With("evidenceRoot", t.EvidenceRoot)
	}
	switch {
	case t.Outcome != e.outcome:
		return changed("outcome")
	case t.EvidenceRoot != e.evidence:
		return changed("evidence")
	case !reflect.DeepEqual(t.Failure, e.failure):
		return changed("failure binding")
	}
	return nil
}

// mayEnd checks who may end a live candidate, and how.
func (w *step) mayEnd(c *Candidate, p SettleParams, e ending) error {
	const op = "settle candidate"
	outside := p.Readback.view.Kind == OutsideReadback
	if !p.Readback.IsZero() {
		if !outside && c.Status != Landing {
			return fault.New(fault.Evidence, op, "readback is of a landing attempt, candidate is %s", c.Status).At("/readback")
		}
		if outside && c.Status == Landing {
			return fault.New(fault.NoReadback, op, "a landing candidate needs the readback of its own attempt")
		}
		if err := p.Readback.bind(&w.old, c); err != nil {
			return err
		}
	}
	if c.Status == Landing {
		if p.Readback.IsZero() {
			err := fault.New(fault.NoReadback, op, "a landing candidate is ended by a readback of the remote only")
			if w.Warrant.Admitted == nil {
				return err.Help("no attempt was admitted: release the warrant, then settle")
			}
			return err.Help("read the remote back after the attempt has ended")
		}
		if p.Fence != nil {
			return w.heldWarrant(op, *p.Fence)
		}
		return nil
	}
	if outside {
		return nil
	}
	if e.outcome == Merged {
		return fault.New(fault.NoReadback, op, "only the holder of the landing warrant can be merged").
			Help("a merge made by somebody else is recorded with a readback of the remote")
	}
	if i := w.lease(c.CandidateID); i >= 0 && (p.Fence == nil || *p.Fence != w.Leases[i].Fence()) {
		return fault.New(fault.StaleToken, op, "candidate holds a qualification lease and this is not its fence")
	}
	if p.Evidence.IsNull() { // W7: a bare root proves nothing to anybody
		return fault.New(fault.Evidence, op, "evidence document is missing").At("/evidence").
			Help("hand in the document whose root is given, such as a settlement evidence")
	}
	return nil
}

// end releases what the candidate holds and writes its terminal record. The
// attempt of the warrant is copied for the candidate that holds it and for no
// other (W6).
func (w *step) end(c *Candidate, e ending, r Readback) {
	released := canon.Null()
	t := &Terminal{Outcome: e.outcome, EvidenceRoot: e.evidence, Reason: e.reason, SettledAt: w.now, Failure: e.failure, ReadbackRoot: r.view.Root}
	authority := func(kind, token string) canon.Value { return object(text("kind", kind), text("token", token)) }
	if i := w.lease(c.CandidateID); i >= 0 {
		released = authority("qualification-lease", w.Leases[i].Token)
		w.Leases = append(w.Leases[:i:i], w.Leases[i+1:]...)
	}
	if c.Status == Landing {
		released = authority("landing-warrant", w.Warrant.Token)
		attempt := w.Warrant.Admitted.Attempt
		t.Attempt, w.Warrant = &attempt, nil
	}
	w.touch(c)
	c.Status, c.Terminal = e.outcome, t
	w.out.Candidate = c
	w.detail(text("candidateId", c.CandidateID), text("outcome", string(e.outcome)),
		text("evidenceRoot", e.evidence), value("releasedAuthority", released))
}

// SettlementEvidence is the evidence of an ending that somebody decided: who,
// and why.
type SettlementEvidence struct {
	Repository    string
	ProtectedBase string
	CandidateID   string
	Outcome       Status
	Reason        string
	Actor         string
	ObservedAt    Timestamp
	Root          string
}

func (e *SettlementEvidence) shape(c *codec) {
	c.constant("schema", "writ.settlement-evidence/v1")
	c.repository("repository", &e.Repository)
	c.base("protectedBase", &e.ProtectedBase)
	c.root("candidateId", &e.CandidateID)
	oneOf(c, "outcome", &e.Outcome, TerminalFailure, Dequeued, Cancelled)
	c.text("reason", &e.Reason)
	c.text("actor", &e.Actor)
	c.stamp("observedAt", &e.ObservedAt)
	c.self("evidenceRoot", &e.Root)
}

// Value returns the document with its root.
func (e SettlementEvidence) Value() (canon.Value, error) { return write(nil, &e) }

// ParseSettlementEvidence reads it and recomputes its root.
func ParseSettlementEvidence(v canon.Value) (SettlementEvidence, error) {
	var e SettlementEvidence
	err := read(nil, v, &e)
	return e, err
}
