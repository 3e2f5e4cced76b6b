package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/policy"
	"writ/internal/result"
	"writ/internal/runner/capture"
	"writ/internal/runner/proc"
)

// attempt is what happened to one case.
type attempt struct {
	reading   harness.Reading
	ran       bool // a process was started
	process   proc.Result
	started   time.Time
	ended     time.Time
	condition capture.Block
	after     moment
	noted     capture.Block // beside condition, for the policy
	stem      string        // of the output files; "" when there are none
	output    harness.Output
	files     []kept // beside standard output and error
	warnings  []string
}

// moment is the state of the machine when a program had ended.
type moment struct {
	seen capture.Snapshot
	at   time.Time
}

// still is how long the state after one program is that before the next, when the
// runner alone did something in between: the kernel counts in ticks of that length.
const still = 10 * time.Millisecond

// before is the state of the machine before a case. last is that after the program
// before it, of this run or of the other side.
func (r *run) before(last moment) capture.Snapshot {
	if age := r.Now().Sub(last.at); last.at.IsZero() || age < 0 || age > still {
		return r.Host.Condition(result.Before)
	}
	return last.seen.Again()
}

// begin runs a case, or finds out why it cannot run.
func (r *run) begin(ctx context.Context, i int, last moment, track *tracker, ev Event) (attempt, error) {
	c := r.cases[i]
	track.start(ev.about(c, len(r.cases)))
	began := r.Now()
	a, err := r.attempt(ctx, c, last)
	r.busy += r.Now().Sub(began)
	track.ran()
	return a, err
}

// end writes the results of a case that was begun.
func (r *run) end(i int, a attempt, track *tracker, ev Event) error {
	c := r.cases[i]
	results, err := r.write(c, a)
	if err != nil {
		return err
	}
	track.end(ev.about(c, len(r.cases)), results)
	return nil
}

// attempt runs the process of a case within what is left of both limits.
func (r *run) attempt(ctx context.Context, c planned, last moment) (attempt, error) {
	limit, left := seconds(r.order.Timeouts.CaseS), seconds(r.order.Timeouts.OrderS)-r.busy
	switch {
	case ctx.Err() != nil:
		return attempt{}, fault.Wrap(ctx.Err(), fault.Cancelled, "run order", "stopped")
	case r.barred.reason != "":
		return r.missed(c, r.barred.reason, r.barred.message), nil
	case c.suite < 0:
		return r.missed(c, result.ReasonNoOutput, "no suite holds the case"), nil
	case left <= 0:
		return r.missed(c, result.ReasonOrderTimeout, "the order's time was over before the case began"), nil
	default:
		if what := r.targets[c.suite].check(r.found[c.suite].Program); what != "" {
			return r.missed(c, result.ReasonTarget, what), nil
		}
	}
	if why := r.proveAffinity(ctx); why != "" && ctx.Err() == nil {
		return r.missed(c, policy.Failure{Check: policy.CPUAffinity}.Token(), why), nil
	}
	a := attempt{stem: filepath.Join(r.artifacts, c.stem())}
	before := r.before(last)
	stop := r.watch(&a)
	out, err := r.launch(ctx, c.invocation, a.stem, min(limit, left))
	stop()
	if err != nil {
		if fault.CodeOf(err) == fault.Target {
			e, _ := fault.As(err)
			a = r.missed(c, result.ReasonTarget, e.Public)
			a.stem = filepath.Join(r.artifacts, c.stem())
			return a, nil
		}
		return attempt{}, err
	}
	a.output = out
	a.ran, a.process, a.started, a.ended = true, out.Result, out.Result.Started, out.Result.Ended
	a.after = moment{r.Host.Condition(result.After), r.Now()}
	a.condition = capture.Between(before, a.after.seen)
	if a.files, err = keepExchange(c.invocation, a.stem, out); err != nil {
		return attempt{}, err
	}
	switch {
	case out.Result.Cause == proc.Cancelled:
		return attempt{}, fault.Wrap(ctx.Err(), fault.Cancelled, "run order", "stopped during %s", c.name)
	case out.Result.Cause == proc.TimedOut && left < limit:
		a.reading = harness.All(c.quantities(), result.Failed, result.ReasonOrderTimeout, "the order's time was over while the case ran")
	default:
		a.reading = r.harnesses[c.suite].Read(r.found[c.suite], r.own(c.suite, c.name), r.order.Precision, c.quantities(), out)
	}
	r.review(c, &a)
	if len(out.Result.Strays) > 0 {
		a.warnings = append(a.warnings, "stray-processes")
	}
	if out.Result.Survivors > 0 {
		r.barred = barred{reasonLeftover, fmt.Sprintf("%d processes of %s cannot be killed", out.Result.Survivors, c.name)}
	}
	return a, nil
}

// reasonLeftover is the reason of cases that were not run because processes of an
// earlier one cannot be got rid of: they would disturb the measurement.
const reasonLeftover = "environment.leftover-process"

// missed is the outcome of a case that was not run.
func (r *run) missed(c planned, reason, message string) attempt {
	now := r.Now()
	return attempt{
		reading: harness.All(c.quantities(), result.Failed, reason, message),
		started: now, ended: now,
		condition: r.Host.Condition(result.Before).Block, // the boot and the load, as for every other
	}
}

// write makes the results of a case and puts each on disk as a whole.
func (r *run) write(c planned, a attempt) ([]result.Result, error) {
	artifacts := r.artifactsOf(c, a)
	var files []string
	var results []result.Result
	for _, e := range c.entries {
		x, err := r.build(c, e, a, artifacts)
		if err != nil {
			return nil, err
		}
		name := r.fileName(e)
		if err := r.spares.write(filepath.Join(r.Dir, name), x.Raw()); err != nil {
			return nil, err
		}
		files, results = append(files, name), append(results, x)
		r.account.add(e, x, name)
	}
	r.report.add(files, results, r.Slim)
	return results, r.account.save(false)
}
