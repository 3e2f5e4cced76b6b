package landing

import (
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Op names an operation.
type Op string

// The operations.
const (
	OpSubmit                 Op = "submit"
	OpLeaseQualification     Op = "lease-qualification"
	OpHeartbeatQualification Op = "heartbeat-qualification"
	OpCompleteQualification  Op = "complete-qualification"
	OpLeaseLanding           Op = "lease-landing"
	OpAdmit                  Op = "admit-merge-group"
	OpHeartbeatLanding       Op = "heartbeat-landing"
	OpRecover                Op = "recover"
	OpRelease                Op = "release-unadmitted"
	OpMovedBase              Op = "release-for-moved-base"
	OpRequeue                Op = "requeue-qualified"
	OpSettle                 Op = "settle"
	OpArchive                Op = "archive"
)

// Operation records what was asked and when, so that anyone who holds the state
// before can compute the state after.
type Operation struct {
	Op     Op
	Params canon.Value
	Now    Timestamp
}

func (o *Operation) shape(c *codec) {
	c.constant("schema", "writ.landing-operation/v1")
	oneOf(c, "op", &o.Op, slices.Sorted(func(yield func(Op) bool) {
		for op := range replays {
			if !yield(op) {
				return
			}
		}
	})...)
	c.tree("params", &o.Params, false)
	c.stamp("now", &o.Now)
}

// Value returns the record.
func (o Operation) Value() (canon.Value, error) { return write(nil, &o) }

// ParseOperation reads a record.
func ParseOperation(v canon.Value) (Operation, error) {
	var o Operation
	err := read(nil, v, &o)
	return o, err
}

// replays runs a recorded operation again.
var replays map[Op]func(State, canon.Value, time.Time) (Transition, error)

func init() {
	replays = map[Op]func(State, canon.Value, time.Time) (Transition, error){
		OpSubmit:                 replay(Submit),
		OpLeaseQualification:     replay(LeaseQualification),
		OpHeartbeatQualification: replay(HeartbeatQualification),
		OpCompleteQualification:  replay(CompleteQualification),
		OpLeaseLanding:           replay(LeaseLanding),
		OpAdmit:                  replay(Admit),
		OpHeartbeatLanding:       replay(HeartbeatLanding),
		OpRelease:                replay(ReleaseUnadmitted),
		OpMovedBase:              replay(ReleaseForMovedBase),
		OpRequeue:                replay(RequeueQualified),
		OpSettle:                 replay(Settle),
		OpArchive:                replay(Archive),
		OpRecover: replay(func(s State, _ RecoverParams, now time.Time) (Transition, error) {
			return Recover(s, now)
		}),
	}
}

func replay[T any, P part[T]](run func(State, T, time.Time) (Transition, error)) func(State, canon.Value, time.Time) (Transition, error) {
	return func(s State, v canon.Value, now time.Time) (Transition, error) {
		var p T
		if err := readAt(s.dialect(), v, P(&p), "/params"); err != nil {
			return Transition{}, err
		}
		return run(s, p, now)
	}
}

// Replay runs a recorded operation on the state before it. It is for checking a
// record: a readback in it is taken as the document that it is, so the result
// proves that the states follow from each other, and nothing about the remote.
func Replay(s State, o Operation) (Transition, error) {
	run, ok := replays[o.Op]
	if !ok {
		return Transition{}, fault.New(fault.UnknownKind, "replay operation", "%q is no operation", o.Op).At("/op")
	}
	return run(s, o.Params, o.Now.Time())
}

// CheckTransition replays a record and says whether it leads from one state to
// the other.
func CheckTransition(before State, o Operation, after State) error {
	t, err := Replay(before, o)
	if err != nil {
		return err
	}
	if t.State.StateRoot != after.StateRoot {
		return fault.New(fault.RootDrift, "check transition", "%s leads to %s, not to %s", o.Op, t.State.StateRoot, after.StateRoot).
			With("stored", after.StateRoot).With("computed", t.State.StateRoot)
	}
	return after.Check()
}
