package landing

import (
	"fmt"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// LeaseQualificationParams asks for a lease for whoever is next.
type LeaseQualificationParams struct {
	LeaseSeconds int64 // 0: the policy's time; never more than that

	// RequestID makes the call repeatable (W9: without it, a caller that lost the
	// answer leases a second candidate and orphans the first). Granted is what was
	// kept under that id from an earlier answer, or nil.
	RequestID string
	Granted   *Grant
}

func (p *LeaseQualificationParams) shape(c *codec) {
	c.optNumber("leaseSeconds", &p.LeaseSeconds)
	c.optText("requestId", &p.RequestID)
	optNested(c, "granted", &p.Granted)
}

// Grant is what a lease request was given. It is kept beside the document, under
// the request id, in the commit that stores the state.
type Grant struct {
	RequestID string
	Fence     Fence
	GrantedAt Timestamp
}

const grantSchema = "writ.landing-lease-grant/v1"

func (g *Grant) shape(c *codec) {
	c.constant("schema", grantSchema)
	c.text("requestId", &g.RequestID)
	nested(c, "fence", &g.Fence)
	c.stamp("grantedAt", &g.GrantedAt)
}

// Value returns the record to keep.
func (g Grant) Value() (canon.Value, error) { return write(nil, &g) }

// ParseGrant reads a kept record.
func ParseGrant(v canon.Value) (Grant, error) {
	var g Grant
	err := read(nil, v, &g)
	return g, err
}

// LeaseQualification recovers expired leases, then grants one lease to the
// oldest candidate that may be qualified now. The caller cannot choose whom.
func LeaseQualification(s State, p LeaseQualificationParams, now time.Time) (Transition, error) {
	p.RequestID = trim(p.RequestID)
	w, err := begin(s, OpLeaseQualification, &p, now)
	if err != nil {
		return Transition{}, err
	}
	duration, err := seconds(p.LeaseSeconds, w.Policy.QualificationLeaseSeconds)
	if err != nil {
		return Transition{}, err
	}
	if p.Granted != nil {
		return w.retain(p)
	}
	w.recoverLeases()
	if int64(len(w.Leases)) >= w.Policy.MaxQualificationLeases {
		return w.finish(LeasesFull)
	}
	grants, blocked := w.qualificationOrder(1, w.old.StateRoot)
	w.reasons(blocked)
	switch {
	case len(grants) > 0:
		w.grantLease(grants[0], duration, p.RequestID)
		return w.finish(LeaseAcquired)
	case len(blocked) > 0:
		return w.finish(LeaseUnsafe)
	}
	return w.finish(NothingQueued)
}

// retain answers a repeated request with the lease that it was given.
func (w *step) retain(p LeaseQualificationParams) (Transition, error) {
	if p.Granted.RequestID != p.RequestID {
		return Transition{}, fault.New(fault.Invalid, "lease qualification", "grant is of another request").At("/granted/requestId")
	}
	i := w.lease(p.Granted.Fence.CandidateID)
	if i < 0 || w.Leases[i].Fence() != p.Granted.Fence {
		return Transition{}, fault.New(fault.StaleToken, "lease qualification", "the lease of request %q is over", p.RequestID).
			Help("use a new request id for another lease")
	}
	if w.Leases[i].ExpiresAt.expired(w.now) {
		return Transition{}, leaseExpired("lease qualification", w.Leases[i].ExpiresAt)
	}
	w.out.Lease, w.out.Grant = &w.Leases[i], p.Granted
	return w.finish(LeaseRetained)
}

func (w *step) grantLease(c *Candidate, duration int64, request string) {
	w.QualificationCounter++
	l := Lease{
		CandidateID: c.CandidateID, Generation: w.QualificationCounter,
		Token:    w.token(leaseSchema, c.CandidateID, w.QualificationCounter),
		IssuedAt: w.now, HeartbeatAt: w.now, ExpiresAt: w.now.plus(duration),
	}
	w.touch(c)
	c.Status, c.QualificationAttempts = Qualifying, intp(c.Attempts()+1)
	w.Leases = append(w.Leases, l)
	w.out.Lease, w.out.Candidate = &l, c
	if request != "" {
		w.out.Grant = &Grant{RequestID: request, Fence: l.Fence(), GrantedAt: w.now}
	}
	w.detail(text("candidateId", c.CandidateID), text("qualificationLeaseToken", l.Token),
		number("qualificationLeaseGeneration", l.Generation), text("expiresAt", string(l.ExpiresAt)))
}

// recoverLeases ends every expired lease: its candidate goes back to its place
// in the queue, or ends when that was its last attempt.
func (w *step) recoverLeases() (tokens []string) {
	kept := w.Leases[:0:0]
	for _, l := range w.Leases {
		if !l.ExpiresAt.expired(w.now) {
			kept = append(kept, l)
			continue
		}
		tokens = append(tokens, l.Token)
		c := w.touch(w.find(l.CandidateID))
		if c.Attempts() < w.Policy.Attempts() {
			c.Status = Queued
			continue
		}
		// The message and its root are part of the document for good.
		why := newReason(HeartbeatExpired, c, w.old.StateRoot,
			fmt.Sprintf("Qualification heartbeat expired after %d attempts.", c.Attempts()))
		c.Status = TerminalFailure
		c.Terminal = &Terminal{Outcome: TerminalFailure, EvidenceRoot: why.Root(), Reason: string(HeartbeatExpired), SettledAt: w.now}
		w.reasons([]Reason{why})
	}
	if kept == nil {
		kept = []Lease{}
	}
	w.Leases = kept
	if tokens != nil {
		w.detail(textList("recoveredQualificationTokens", tokens))
	}
	return tokens
}

func leaseExpired(op string, at Timestamp) error {
	return fault.New(fault.LeaseExpired, op, "expired at %s", at).With("expiresAt", string(at))
}

// heldLease finds the live lease that the fence names. The order of the
// refusals is part of the contract: token, generation, expiry.
func (w *step) heldLease(op string, f Fence) (int, error) {
	i := w.lease(f.CandidateID)
	switch {
	case i < 0 || w.Leases[i].Token != f.Token:
		return -1, fault.New(fault.StaleToken, op, "candidate does not hold this qualification lease")
	case w.Leases[i].Generation != f.Generation:
		return -1, fault.New(fault.Fenced, op, "lease has generation %d, not %d", w.Leases[i].Generation, f.Generation)
	case w.Leases[i].ExpiresAt.expired(w.now):
		return -1, leaseExpired(op, w.Leases[i].ExpiresAt)
	}
	return i, nil
}

// HeartbeatQualificationParams renews a lease.
type HeartbeatQualificationParams struct {
	Fence        Fence
	LeaseSeconds int64
}

func (p *HeartbeatQualificationParams) shape(c *codec) {
	nested(c, "fence", &p.Fence)
	c.optNumber("leaseSeconds", &p.LeaseSeconds)
}

// HeartbeatQualification renews a live lease from now on.
func HeartbeatQualification(s State, p HeartbeatQualificationParams, now time.Time) (Transition, error) {
	p.Fence = p.Fence.normal()
	w, err := begin(s, OpHeartbeatQualification, &p, now)
	if err != nil {
		return Transition{}, err
	}
	duration, err := seconds(p.LeaseSeconds, w.Policy.QualificationLeaseSeconds)
	if err != nil {
		return Transition{}, err
	}
	i, err := w.heldLease("renew qualification lease", p.Fence)
	if err != nil {
		return Transition{}, err
	}
	l := &w.Leases[i]
	w.out.Lease = l
	w.detail(text("candidateId", l.CandidateID), text("qualificationLeaseToken", l.Token))
	if l.HeartbeatAt == w.now {
		return w.finish(LeaseRenewedDuplicate)
	}
	l.HeartbeatAt, l.ExpiresAt, w.changed = w.now, w.now.plus(duration), true
	w.detail(text("expiresAt", string(l.ExpiresAt)))
	return w.finish(LeaseRenewed)
}
