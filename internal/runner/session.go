package runner

import (
	"context"
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

// Session drives a comparison: in every round one order for each side, whose cases
// take turns, so that the two processes of a case run one right after the other.
// Which side goes first in a round is drawn from the seed, see First. Slots count
// over all orders, two to a round.
type Session struct {
	Params // Order, Slot and Progress of single orders are the session's

	Rounds int
	Seed   int64
	// OrderFor makes the order of one side in one round. All orders have one run key
	// and one plan; OrdersOf makes a suitable function.
	OrderFor func(Turn) (order.Order, error)
	// SampleSeconds, when above zero, is how long one repetition should take: every
	// case is run once on the baseline to find out how many iterations that are, and
	// both sides use that count from then on. Where one count does not suit all
	// cases, every process finds its own, for the same time. Where one execution is
	// one repetition, there is nothing to choose.
	SampleSeconds float64
	// Sequence says which side goes first in each round; Drawn when empty. The orders
	// have to record the same.
	Sequence Sequence
	// Check looks at both sides and at what is planned before anything runs; an error
	// refuses the session. nil accepts.
	Check func(sides [2]Subject, plan []order.Entry) error
	// Enough is asked after every round but the last whether the session may end
	// there. It gets everything that was measured; which rule it follows has to be
	// settled before the first round. nil runs all rounds.
	Enough func(SessionReport) (bool, error)
}

// Subject is what one side of a session is.
type Subject struct {
	Revision string   // commit, or what stands for it
	Tree     string   // id of the content; "" when it is not known
	Dirty    string   // result.Clean, Dirty or Unknown
	Programs []string // digests of programs that are all there is to a suite

	Environment result.Environment // of the machine, without conditions
	Context     canon.Value        // what has to be equal for two results to be compared, of the first suite
}

// Turn is one order's place in a session.
type Turn struct {
	Side        Side
	Round       int
	Slot        int
	Seed        int64
	Plan        []order.Entry      // nil when it has to be listed first: a draft is fine then
	Calibration *order.Calibration // nil: as the order itself says
}

// SessionReport is what a session came to.
type SessionReport struct {
	Results     []result.Result // by slot, then by plan
	Files       []string        // beside Results
	Orders      []order.Order   // by slot
	Counts      map[result.Status]int
	First       []Side // per round
	Plan        []order.Entry
	Calibration *order.Calibration // nil when the session chose none
}

// Exit is as for one order.
func (r SessionReport) Exit() int { return Report{Counts: r.Counts}.Exit() }

// spread is how many times SampleSeconds the slowest case may take when all cases
// share one iteration count.
const spread = 10

// Run executes the session. Errors are as for one order; the report holds the
// rounds that were completed, and what there is of the one that was not.
func (s Session) Run(ctx context.Context) (SessionReport, error) {
	if s.Rounds < 1 || s.OrderFor == nil || s.SampleSeconds < 0 {
		return SessionReport{}, fault.New(fault.Usage, "run session", "%d rounds of %g s samples", s.Rounds, s.SampleSeconds)
	}
	p, done, err := s.Params.settle(ctx)
	if err != nil {
		return SessionReport{}, err
	}
	defer done()
	s.Params = p
	out := SessionReport{First: s.Sequence.first(s.Seed, s.Rounds)}
	first, err := s.accept(ctx, Turn{Side: Baseline, Seed: s.Seed})
	if err != nil {
		return out, err
	}
	out.Plan = first.order.Plan
	if err := s.check(ctx, first); err != nil {
		return out, err
	}
	total := 2 * s.Rounds * len(first.cases)
	calibrates := func(mode string) bool {
		return !slices.ContainsFunc(first.harnesses, func(h harness.Harness) bool { return !slices.Contains(h.Capabilities().Calibration, mode) })
	}
	counts := first.barred.reason == "" && calibrates(order.Fixed)
	if s.SampleSeconds > 0 && counts {
		total += len(first.cases)
	}
	track := newTracker(s.Progress, s.Now, total)
	switch {
	case s.SampleSeconds > 0 && counts:
		if out.Calibration, err = s.calibrate(ctx, first, track); err != nil {
			return out, err
		}
	case s.SampleSeconds > 0 && calibrates(order.Adaptive):
		out.Calibration = &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: s.SampleSeconds}
	}
	for round, side := range out.First {
		if err := s.round(ctx, round, side, &out, track); err != nil {
			return out, err
		}
		if s.Enough == nil || round == s.Rounds-1 {
			continue
		}
		enough, err := s.Enough(out)
		if err != nil {
			return out, err
		}
		if enough {
			out.First = out.First[:round+1]
			break
		}
	}
	return out, nil
}

// check accepts the contender too, and has both sides looked at.
func (s Session) check(ctx context.Context, baseline *run) error {
	if s.Check == nil {
		return nil
	}
	plan := baseline.order.Plan
	contender, err := s.accept(ctx, Turn{Side: Contender, Slot: 1, Seed: s.Seed, Plan: plan})
	if err != nil {
		return err
	}
	return s.Check([2]Subject{baseline.side(), contender.side()}, plan)
}

// side is the subject of the run.
func (r *run) side() Subject {
	out := Subject{Revision: r.identity.Revision, Tree: r.identity.Tree, Dirty: r.identity.Dirty, Environment: r.environment, Context: r.compared(0)}
	for i, t := range r.targets {
		if !r.found[i].Shared {
			out.Programs = append(out.Programs, t.sha256)
		}
	}
	return out
}

// accept makes an order and accepts it.
func (s Session) accept(ctx context.Context, t Turn) (*run, error) {
	o, err := s.OrderFor(t)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Refused, "run session", format, args...).With("side", string(t.Side))
	}
	switch {
	case o.Round == nil || *o.Round != t.Round:
		return nil, refuse("the order for round %d is of another round", t.Round).At("/round")
	case t.Plan != nil && !slices.Equal(o.Plan, t.Plan):
		return nil, refuse("the order has a plan of its own").At("/plan").Help("both sides measure the cases that were listed on the baseline")
	}
	p := s.Params
	p.Order, p.Slot = o, &t.Slot
	if t.Calibration != nil && t.Calibration.Mode == order.Fixed {
		p.sample = s.SampleSeconds
	}
	return accept(ctx, p)
}

// round runs both orders of a round, case by case.
func (s Session) round(ctx context.Context, round int, first Side, out *SessionReport, track *tracker) error {
	sides := []Side{first, first.other()}
	var runs []*run
	for i, side := range sides {
		r, err := s.accept(ctx, Turn{Side: side, Round: round, Slot: 2*round + i, Seed: s.Seed, Plan: out.Plan, Calibration: out.Calibration})
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	if a, b := runs[0].order, runs[1].order; a.RunKey != b.RunKey {
		return fault.New(fault.Refused, "run session", "the sides have run keys %q and %q", a.RunKey, b.RunKey).At("/run_key")
	}
	for i, r := range runs {
		if err := r.open(); err != nil {
			for _, earlier := range runs[:i] {
				err = earlier.close(err)
			}
			return err
		}
	}
	err := s.turns(ctx, sides, runs, round, track)
	for _, r := range runs {
		if closing := r.close(err); err == nil {
			err = closing
		}
		out.Orders = append(out.Orders, r.order)
		out.Results, out.Files = append(out.Results, r.report.Results...), append(out.Files, r.report.Files...)
		if out.Counts == nil {
			out.Counts = map[result.Status]int{}
		}
		for status, n := range r.report.Counts {
			out.Counts[status] += n
		}
	}
	return err
}

// turns runs every case of both sides. The processes of a case come first, one
// right after the other; their results are written when both have ended.
func (s Session) turns(ctx context.Context, sides []Side, runs []*run, round int, track *tracker) error {
	var last moment
	for i := range runs[0].cases {
		var attempts []attempt
		var stopped error
		events := make([]Event, len(runs))
		for j, r := range runs {
			events[j] = Event{Side: sides[j], Slot: r.Slot, Round: &round, Rounds: s.Rounds}
			a, err := r.begin(ctx, i, last, track, events[j])
			if stopped = err; err != nil {
				break
			}
			last, attempts = a.after, append(attempts, a)
		}
		for j, a := range attempts {
			if err := runs[j].end(i, a, track, events[j]); err != nil {
				return err
			}
		}
		if stopped != nil {
			return stopped
		}
	}
	return nil
}

// OrdersOf makes orders from what the sides have in common with all their rounds.
// Side, round, seed, plan and calibration come from the turn.
func OrdersOf(baseline, contender order.BuildParams) func(Turn) (order.Order, error) {
	return func(t Turn) (order.Order, error) {
		p := baseline
		if t.Side == Contender {
			p = contender
		}
		p.Side, p.Round, p.Seed, p.Plan = string(t.Side), t.Round, t.Seed, t.Plan
		if t.Calibration != nil {
			p.Precision.Calibration = t.Calibration
		}
		return order.Build(p)
	}
}
