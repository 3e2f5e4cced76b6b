package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// Resume continues an order whose run has died or was stopped: entries that have a
// result keep it, the others are measured now. It needs the same order, the same
// programs, the same machine with the same settings, and the same boot; anything
// else is fault.Refused. What is measured after the gap says when the gap was, so
// that nobody pairs it with what was measured before. Dir and, where there are
// several unfinished runs in it, Slot say which run; Order is not used. A run that
// is still alive is fault.Held, and one that is finished fault.NotFound.
func Resume(ctx context.Context, p Params) (Report, error) {
	a, path, err := unfinished(p.Dir, p.Slot)
	if err != nil {
		return Report{}, err
	}
	if p.Order, err = keptOrder(p.Dir, a.Order); err != nil {
		return Report{}, err
	}
	p.Slot, p.sample = a.Slot, a.Sample
	p, done, err := p.settle(ctx)
	if err != nil {
		return Report{}, err
	}
	defer done()
	lock, err := LockFolder(filepath.Dir(path))
	if err != nil {
		return Report{}, err
	}
	r, err := prepare(ctx, p, func(*run) error { return nil })
	if err == nil {
		err = r.takeUp(a, path)
	}
	if err != nil {
		return Report{}, errors.Join(err, lock.Close())
	}
	r.lock = lock
	err = errors.Join(r.tidy(), r.account.save(true))
	if err == nil {
		err = r.stock()
	}
	if err != nil {
		return Report{}, errors.Join(err, lock.Close())
	}
	err = r.all(ctx)
	r.report.arrange(r.order.Plan)
	return r.report, err
}

// unfinished finds the account of the one run in dir that has not ended.
func unfinished(dir string, slot *int) (account, string, error) {
	const op = "resume run"
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "artifacts", "*", "run.json"))
	if err != nil {
		return account{}, "", fault.Wrap(err, fault.Usage, op, "%s is no folder", dir)
	}
	var open []account
	var paths, slots []string
	for _, path := range files {
		a, err := loadAccount(path)
		if err != nil {
			return account{}, "", err
		}
		if a.State == stateFinished || slot != nil && (a.Slot == nil || *a.Slot != *slot) {
			continue
		}
		open, paths = append(open, a), append(paths, path)
		if a.Slot != nil {
			slots = append(slots, strconv.Itoa(*a.Slot))
		}
	}
	switch {
	case len(open) == 1:
		return open[0], paths[0], nil
	case len(open) > 1:
		return account{}, "", fault.New(fault.Usage, op, "%d runs in %s have not ended", len(open), dir).Help("say which slot: %s", strings.Join(slots, ", "))
	case len(files) == 0:
		return account{}, "", fault.New(fault.NotFound, op, "no run has begun in %s", dir)
	}
	return account{}, "", fault.New(fault.NotFound, op, "every run in %s has ended", dir)
}

func loadAccount(path string) (account, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return account{}, fault.Wrap(err, fault.Internal, "read account", "cannot read %s", path)
	}
	var a account
	if err := json.Unmarshal(raw, &a); err != nil || a.Schema != accountSchema {
		return account{}, fault.Wrap(err, fault.Corrupt, "read account", "%s is no account of a run", path)
	}
	return a, nil
}

// keptOrder reads the resolved order that a run has written down.
func keptOrder(dir, ref string) (order.Order, error) {
	const op = "resume run"
	path := filepath.Join(dir, "workorder-"+strings.TrimPrefix(ref, "sha256:")+".json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return order.Order{}, fault.Wrap(err, fault.Corrupt, op, "the order of the run is gone: %s", path)
	}
	o, err := order.Parse(raw)
	if err != nil || o.Ref() != ref {
		return order.Order{}, fault.Wrap(err, fault.Corrupt, op, "%s is not the order of the run", path)
	}
	return o, nil
}

// takeUp makes the run of an account this run's own: it compares what must be the
// same, keeps what has a result, and leaves the rest to be measured.
func (r *run) takeUp(a account, path string) error {
	mine := newAccount(r)
	if why := mine.Same.differs(a.Same); why != "" {
		return fault.New(fault.Refused, "resume run", "%s since the run was interrupted", why).
			Help("its results stay; run the order anew into another folder")
	}
	mine.StartedAt, mine.Gaps, mine.path = a.StartedAt, a.Gaps, path
	r.account, r.report.Order = mine, r.order
	last := r.lastSign(a)
	kept := map[string]bool{}
	for _, e := range r.order.Plan {
		name := r.fileName(e)
		x, err := r.earlier(name, e)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		kept[e.ID] = true
		r.account.add(e, x, name)
		r.report.add([]string{name}, []result.Result{x}, r.Slim)
	}
	now := r.Now()
	if last.After(now) {
		last = now
	}
	r.gap = &gap{stamp(last), stamp(now), r.order.Round}
	r.account.Gaps = append(r.account.Gaps, *r.gap)
	if started, err := time.Parse(time.RFC3339Nano, a.StartedAt); err == nil && last.After(started) {
		r.busy += last.Sub(started) // the order's limit counts what was spent before
	}
	return r.remaining(kept)
}

// remaining leaves the entries without a result, each with the number of attempts
// that its case has seen.
func (r *run) remaining(kept map[string]bool) error {
	var cases []planned
	for _, c := range r.cases {
		c.entries = slices.DeleteFunc(slices.Clone(c.entries), func(e order.Entry) bool { return kept[e.ID] })
		if len(c.entries) == 0 {
			continue
		}
		begun, err := filepath.Glob(filepath.Join(escapeGlob(r.artifacts), fmt.Sprintf("%04d*.stdout", c.index)))
		if err != nil {
			return fault.Wrap(err, fault.Internal, "resume run", "cannot look into %s", r.artifacts)
		}
		c.attempt = len(begun)
		cases = append(cases, c)
	}
	r.cases = cases
	return nil
}

// tidy removes what the dead process left half done.
func (r *run) tidy() error {
	err := clearSpares(r.artifacts)
	for _, c := range r.cases {
		for _, e := range c.entries {
			if gone := os.Remove(unfinishedName(filepath.Join(r.Dir, r.fileName(e)))); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}
	return err
}

// earlier reads the result that an entry has already.
func (r *run) earlier(name string, e order.Entry) (result.Result, error) {
	raw, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return result.Result{}, err
	}
	x, err := result.Parse(raw)
	if err != nil || x.WorkOrder() != r.order.Ref() || x.PlanEntry() != e.ID {
		return result.Result{}, fault.Wrap(err, fault.Corrupt, "resume run", "%s is no result of entry %s of this order", name, e.ID)
	}
	return x, nil
}

// lastSign is the last moment at which a run is known to have been alive.
func (r *run) lastSign(a account) time.Time {
	var last time.Time
	if ended, err := time.Parse(time.RFC3339Nano, a.EndedAt); err == nil {
		last = ended
	}
	files, err := os.ReadDir(r.artifacts)
	if err != nil {
		return last
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, filepath.Join(r.artifacts, f.Name()))
	}
	for _, e := range r.order.Plan {
		paths = append(paths, filepath.Join(r.Dir, r.fileName(e)))
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// gap is a time in which a run was not alive.
type gap struct {
	From  string `json:"interrupted_at"`
	To    string `json:"resumed_at"`
	Round *int   `json:"interrupted_at_round,omitempty"`
}

// steps are what results that come after the gap record of it.
func (g *gap) steps() map[string]canon.Value {
	if g == nil {
		return nil
	}
	out := map[string]canon.Value{result.StepInterrupted: canon.StringOf(g.From), result.StepResumed: canon.StringOf(g.To)}
	if g.Round != nil {
		out["interrupted_at_round"] = canon.IntOf(int64(*g.Round))
	}
	return out
}

// arrange puts results in the order of the plan.
func (r *Report) arrange(plan []order.Entry) {
	at := map[string]int{}
	for i, e := range plan {
		at[e.ID] = i
	}
	places := make([]int, len(r.Entries))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return at[r.Entries[a].ID] - at[r.Entries[b].ID] })
	r.Entries, r.Files = arranged(r.Entries, places), arranged(r.Files, places)
	if len(r.Results) > 0 {
		r.Results = arranged(r.Results, places)
	}
}

func arranged[T any](list []T, places []int) []T {
	out := make([]T, len(list))
	for i, from := range places {
		out[i] = list[from]
	}
	return out
}
