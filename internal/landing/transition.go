package landing

import (
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Bounds that the machine adds to a document's own policy.
const (
	MaxLeaseSeconds     = 86_400          // longest lease that a policy may give (W10)
	MaxQualifiedBacklog = 32              // finished qualifications that may wait to land (W12)
	MaxSkew             = 5 * time.Minute // how far a clock may be behind the document (W10)
)

// Action says what a transition did. Actions that end in -noop changed nothing,
// except where a lease was recovered on the way.
type Action string

// The actions.
const (
	Submitted              Action = "submitted"
	SubmitDuplicate        Action = "duplicate-noop"
	LeaseAcquired          Action = "qualification-lease-acquired"
	LeaseRetained          Action = "qualification-lease-retained-noop" // W9
	LeasesFull             Action = "qualification-bound-full-noop"
	LeaseUnsafe            Action = "qualification-safety-boundary-noop"
	NothingQueued          Action = "no-queued-candidate-noop"
	LeaseRenewed           Action = "qualification-heartbeat"
	LeaseRenewedDuplicate  Action = "duplicate-qualification-heartbeat-noop"
	QualificationCompleted Action = "qualification-completed-lease-released"
	WarrantAcquired        Action = "landing-warrant-acquired"
	WarrantRetained        Action = "exclusive-landing-warrant-retained-noop"
	WarrantExpired         Action = "expired-landing-warrant-stop-required-noop"
	WarrantBlocked         Action = "landing-overtake-bound-noop"
	NothingQualified       Action = "no-qualified-candidate-noop"
	HeadAdmitted           Action = "merge-group-head-admitted"
	HeadAdmittedDuplicate  Action = "duplicate-merge-group-head-noop"
	WarrantRenewed         Action = "landing-heartbeat"
	WarrantRenewedDup      Action = "duplicate-landing-heartbeat-noop"
	RecoveredStopRequired  Action = "expired-qualification-recovered-landing-stop-required"
	Recovered              Action = "expired-qualification-authority-recovered"
	NothingExpired         Action = "no-expired-authority-noop"
	Settled                Action = "terminal-authority-released"
	SettledDuplicate       Action = "duplicate-terminal-event-noop"
	SettleNotApplicable    Action = "terminal-event-not-applicable"
	WarrantReleased        Action = "unadmitted-landing-warrant-released" // W2
	BaseMoved              Action = "base-moved-resubmitted"
	Requeued               Action = "qualification-expired-requeued" // W12
	NothingToRequeue       Action = "no-stale-qualification-noop"
	Archiving              Action = "terminal-chains-archived"
	NothingToArchive       Action = "no-terminal-chain-noop"
)

// Transition is what an operation decided. The caller stores State with a
// compare-and-set on Before, and only when Changed; then it acts on the rest.
type Transition struct {
	State       State
	Before      string // root of the state that went in
	Changed     bool   // false: State is the state that went in, root and all
	Action      Action
	Receipt     canon.Value
	ReceiptRoot string
	Operation   Operation // what to record so that Replay gives the same root

	Lease     *Lease      // lease granted, retained or renewed
	Grant     *Grant      // what to keep under the request id of a lease call
	Warrant   *Warrant    // warrant granted, retained, admitted or renewed
	Candidate *Candidate  // candidate that the operation was about, as it is now
	Evidence  canon.Value // evidence document that the transition made itself, or null
	Archived  []Archived  // chains that left the document: keep them by change number
	Restored  []int64     // change numbers whose kept chain came back: forget the copy
	Reasons   []Reason
	Wake      Wake
}

// step is a transition under way: a copy to write to, and the facts that the
// receipt will tell.
type step struct {
	State
	old     State
	op      Operation
	now     Timestamp
	changed bool
	details []canon.Member
	out     Transition
}

// begin checks the state that came in, records the operation and makes the copy.
func begin(s State, op Op, p shaped, now time.Time) (*step, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	params, err := write(s.dialect(), p)
	if err != nil {
		return nil, err
	}
	t, err := clock(&s, now)
	if err != nil {
		return nil, err
	}
	w := &step{State: s, old: s, op: Operation{Op: op, Params: params, Now: At(now)}, now: t}
	w.Leases = slices.Clone(s.Leases)
	w.Candidates = slices.Clone(s.Candidates)
	if s.Warrant != nil {
		copied := *s.Warrant
		w.Warrant = &copied
	}
	return w, nil
}

// clock keeps time from running backwards inside a document. A clock that is a
// little behind the latest transition counts as that instant; one that is far
// behind is refused, because every expiry would be judged wrongly (W10).
func clock(s *State, now time.Time) (Timestamp, error) {
	t := At(now)
	if t >= s.UpdatedAt {
		return t, nil
	}
	if behind := s.UpdatedAt.Time().Sub(t.Time()); behind > MaxSkew {
		return "", fault.New(fault.Unavailable, "judge time", "clock is %s behind the document", behind).
			Help("correct the clock of this machine; the document was last changed at %s", s.UpdatedAt)
	}
	return s.UpdatedAt, nil
}

func (w *step) detail(members ...canon.Member) { w.details = append(w.details, members...) }

func (w *step) reasons(list []Reason) {
	w.out.Reasons = append(w.out.Reasons, list...)
}

// touch marks the copy as changed and returns the candidate in it.
func (w *step) touch(c *Candidate) *Candidate {
	w.changed = true
	c.UpdatedAt = w.now
	return c
}

// finish closes the transition: a changed copy gets its new root, an unchanged
// one is thrown away. A copy that breaks a rule is a defect of this package and
// never leaves it.
func (w *step) finish(action Action) (Transition, error) {
	t := w.out
	t.Action, t.Before, t.Changed, t.Operation = action, w.old.StateRoot, w.changed, w.op
	t.State = w.old
	if w.changed {
		next := w.State
		next.Generation++
		next.UpdatedAt = w.now
		next.StateRoot = ""
		_, err := write(next.dialect(), &next)
		if err == nil {
			err = next.rules()
		}
		if err != nil {
			return Transition{}, fault.Wrap(err, fault.Internal, "finish transition", "%s would break the document", action)
		}
		t.State = next
	}
	if t.Receipt.IsNull() {
		t.Receipt = w.receipt(action, t.State.StateRoot)
	}
	t.ReceiptRoot = canon.Root(t.Receipt)
	if t.Candidate != nil {
		if c, ok := t.State.Candidate(t.Candidate.CandidateID); ok {
			t.Candidate = &c
		}
	}
	t.Wake = NextWake(t.State)
	return t, nil
}

// receipt tells what was done. Nothing verifies its root; it names the two
// states that it lies between.
func (w *step) receipt(action Action, next string) canon.Value {
	members := []canon.Member{text("schema", receiptSchema), text("action", string(action))}
	members = append(members, w.details...)
	if len(w.out.Reasons) > 0 {
		list := make([]canon.Value, len(w.out.Reasons))
		for i, r := range w.out.Reasons {
			list[i] = r.withRoot()
		}
		members = append(members, value("reasons", canon.ArrayOf(list...)))
	}
	advice := nextAction[action]
	if action == WarrantExpired && w.old.Warrant.Admitted == nil {
		advice = "Release the warrant; no attempt was admitted for it."
	}
	members = append(members, text("nextAction", advice),
		text("expectedOldStateRoot", w.old.StateRoot), text("nextStateRoot", next))
	return object(members...)
}

// token mints the coordinate of a grant. The state before the transition is
// hashed but not stored, so a token cannot be made up from the state alone.
func (w *step) token(schema, candidate string, generation int64) string {
	return Token(schema, w.Repository, w.ProtectedBase, Fence{CandidateID: candidate, Generation: generation}, w.old.StateRoot, w.now)
}

// Token computes the token of a grant of f's generation.
func Token(schema, repository, base string, f Fence, oldStateRoot string, issuedAt Timestamp) string {
	return canon.Root(object(
		text("schema", schema),
		text("repository", repository),
		text("protectedBase", base),
		text("candidateId", f.CandidateID),
		number("generation", f.Generation),
		text("expectedOldStateRoot", oldStateRoot),
		text("issuedAt", string(issuedAt)),
	))
}

// seconds is how long a lease lasts: the policy's time, or a shorter one that
// the caller asks for. Longer than the policy is refused (W10).
func seconds(asked, policy int64) (int64, error) {
	if asked == 0 {
		return policy, nil
	}
	if asked < 1 || asked > policy {
		return 0, fault.New(fault.Invalid, "choose lease time", "%d s is not within 1 to %d", asked, policy).At("/leaseSeconds")
	}
	return asked, nil
}

// nextAction is the human line of a receipt.
var nextAction = map[Action]string{
	Submitted:             "Ask for a qualification lease.",
	SubmitDuplicate:       "Nothing; this attempt is under way.",
	LeaseAcquired:         "Run the native command and keep the lease alive.",
	LeaseRetained:         "Go on with the lease that this request was given.",
	LeasesFull:            "Wait until a lease is released.",
	LeaseUnsafe:           "Wait until the candidates in the way have ended.",
	NothingQueued:         "Wait for a submission.",
	LeaseRenewed:          "Go on.",
	LeaseRenewedDuplicate: "Go on.",
	WarrantAcquired:       "Admit one attempt before the warrant expires.",
	WarrantRetained:       "Admit or go on with the one attempt.",
	WarrantExpired:        "Stop the attempt, then settle it with a readback of the remote.",
	WarrantBlocked:        "Wait until the overtaken candidate has landed or ended.",
	NothingQualified:      "Wait until a qualification is complete.",
	WarrantRenewed:        "Go on.",
	WarrantRenewedDup:     "Go on.",
	RecoveredStopRequired: "Stop the landing attempt, then settle it with a readback of the remote.",
	Recovered:             "Ask for qualification leases again.",
	NothingExpired:        "Nothing.",
	Settled:               "Grant what the wake names.",
	SettledDuplicate:      "Nothing; this event is known.",
	SettleNotApplicable:   "Nothing; no candidate has this change and head.",
	WarrantReleased:       "Ask for the landing warrant again.",
	BaseMoved:             "Qualify the change again on the new base.",
	Requeued:              "Ask for qualification leases again.",
	NothingToRequeue:      "Nothing.",
	Archiving:             "Keep the chains where they can be found by change number.",
	NothingToArchive:      "Nothing.",
}
