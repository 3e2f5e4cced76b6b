// Package runner executes work orders: it refuses what it cannot honour, runs one
// process per case, and writes one result for every planned entry, whatever
// happens.
//
// Invariants: nothing runs before the whole order is accepted; the plan is fixed
// and written down before the first case; each result is on disk, complete, as
// soon as its case has ended; what was ordered, what was done and what was seen
// are recorded apart; no file of an earlier run is written over.
//
// The package never builds, checks out or tunes anything, never repeats a case
// because of its values, and judges nothing.
package runner

import (
	"context"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/policy"
	"writ/internal/result"
	"writ/internal/runner/capture"
)

// Params is everything that running an order needs besides the order.
type Params struct {
	Order     order.Order
	Dir       string      // where results go; made when absent
	Harnesses harness.Set // the adapters of this build
	Place     Place       // nil: a place of its own on this machine, without containment
	Policies  policy.Set  // environment policies that orders may name
	Slot      *int        // position over all orders of a comparison; nil outside of one

	AllowCollectors bool             // run commands that come with the order
	AllowList       string           // further variables that may be recorded, comma-separated
	Runner          result.Runner    // how results name this program
	Host            capture.Host     // the machine; the zero value is this one
	Slim            bool             // the report has no results: a long run does not fit into memory
	Progress        func(Event)      // called from the running goroutine; may be nil
	Now             func() time.Time // nil: the system's clock

	sample float64 // seconds that the iteration count of the order was chosen for; 0 when the order chose it
}

// Report is what an order came to.
type Report struct {
	Order   order.Order     // resolved
	Entries []Entry         // in the order of the plan
	Results []result.Result // beside Entries; none when Params.Slim
	Files   []string        // beside Entries: names in Params.Dir
	Counts  map[result.Status]int
}

// Entry says of one planned entry what its result says at greater length.
type Entry struct {
	ID       string // in the plan
	Workload string
	Quantity string
	Status   result.Status
	Reason   string
	Samples  int // observations that count
	Digest   canon.Digest
}

// Exit returns the exit status of the command line for a finished order:
// fault.ExitOK when every entry is a success, partial or skipped, and
// fault.ExitFinding when some entry is an error or censored.
func (r Report) Exit() int {
	if r.Counts[result.Failed]+r.Counts[result.Censored] > 0 {
		return fault.ExitFinding
	}
	return fault.ExitOK
}

func (r *Report) add(files []string, results []result.Result, slim bool) {
	r.Files = append(r.Files, files...)
	if !slim {
		r.Results = append(r.Results, results...)
	}
	if r.Counts == nil {
		r.Counts = map[result.Status]int{}
	}
	for _, x := range results {
		m := x.Measurement
		r.Counts[m.Status]++
		r.Entries = append(r.Entries, Entry{x.PlanEntry(), x.Coordinates.Workload.Name, x.Coordinates.Quantity.Name, m.Status, m.Reason, len(m.Counted()), x.Digest()})
	}
}

// Run executes one order. A draft is resolved first, by the harness's own
// listing. An error before the first case means that the order was refused and
// nothing was written (fault.Refused, fault.Target and other codes that exit with
// status 2, or fault.Nothing for an empty listing); afterwards only what breaks
// the run itself is an error: fault.Cancelled when ctx ended, fault.Internal when
// the machine fails. The report then holds what was measured until then.
func Run(ctx context.Context, p Params) (Report, error) {
	p, done, err := p.settle(ctx)
	if err != nil {
		return Report{}, err
	}
	defer done()
	run, err := accept(ctx, p)
	if err != nil {
		return Report{}, err
	}
	if err := run.open(); err != nil {
		return Report{}, err
	}
	err = run.all(ctx)
	return run.report, err
}

// all runs every case, one after the other, and closes the run.
func (r *run) all(ctx context.Context) error {
	track := newTracker(r.Progress, r.Now, len(r.cases))
	ev := Event{Slot: r.Slot, Round: r.order.Round}
	var last moment
	for i := range r.cases {
		a, err := r.begin(ctx, i, last, track, ev)
		if err == nil {
			last, err = a.after, r.end(i, a, track, ev)
		}
		if err != nil {
			return r.close(err)
		}
	}
	return r.close(nil)
}

// Plan resolves an order without running it: what would be done. Listing its
// cases may run the benchmark program.
func Plan(ctx context.Context, p Params) (order.Order, error) {
	p, done, err := p.settle(ctx)
	if err != nil {
		return order.Order{}, err
	}
	defer done()
	s, err := find(ctx, p)
	if err != nil {
		return order.Order{}, err
	}
	return s.resolve(ctx)
}

// settle fills in defaults. done releases what it made.
func (p Params) settle(ctx context.Context) (_ Params, done func(), err error) {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Runner.Name == "" {
		p.Runner.Name = "writ"
	}
	closePlace := func() {}
	if p.Place == nil {
		local, err := Here(ctx)
		if err != nil {
			return p, closePlace, err
		}
		p.Place = local
		closePlace = func() { local.Close() }
	}
	host, release := p.Host.Keep()
	p.Host = host
	return p, func() { closePlace(); _ = release() }, nil // nothing was written through them
}
