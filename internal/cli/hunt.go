package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"writ/internal/bisect"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/order"
	"writ/internal/runner"
	"writ/internal/runner/revision"
	"writ/internal/verdict"
)

// hunt is a search that is under way.
type hunt struct {
	app    *app
	o      bisectOptions
	repo   gitcmd.Repo
	dir    string
	policy verdict.GatePolicy
	search bisect.Search
}

// sweep removes the worktrees that an earlier process of the search has left.
func (h *hunt) sweep(ctx context.Context) error {
	if h.search.Scratch == "" {
		return nil
	}
	if err := (revision.Yard{Repo: h.repo, Dir: h.search.Scratch}).Sweep(ctx); err != nil {
		return err
	}
	h.search.Scratch = ""
	return h.save()
}

// run tries commits until the search has ended.
func (h *hunt) run(ctx context.Context) (err error) {
	if _, more := h.search.Next(); !more {
		return nil
	}
	scratch, err := os.MkdirTemp("", "writ-bisect-")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "bisect", "no temporary folder")
	}
	h.search.Scratch = scratch
	if err := h.save(); err != nil {
		return errors.Join(err, os.RemoveAll(scratch))
	}
	shop, err := h.app.openWorkshop(ctx, h.o.sideOptions, scratch)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, shop.close(ctx))
		if h.search.Scratch = ""; err == nil {
			err = h.save()
		}
	}()
	good, err := shop.revision(ctx, commitFolder(0), "git:"+h.search.Commits[0], h.search.Commits[0])
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		commit, more := h.search.Next()
		if !more || h.o.tries > 0 && n > h.o.tries {
			return nil
		}
		h.app.say("trial %d: %s, commit %d of %d, at most %s left", len(h.search.Trials)+1, commit[:12], h.place(commit), len(h.search.Commits)-1, plural(h.search.Found().Left, "commit"))
		t, err := h.try(ctx, shop, good, commit)
		if err != nil {
			return err
		}
		if h.search, err = h.search.Add(t); err != nil {
			return err
		}
		if err := h.save(); err != nil {
			return err
		}
		h.app.say("%s is %s%s", commit[:12], t.Mark, because(t))
	}
}

// commitFolder is the folder of a commit: all paths have one length.
func commitFolder(n int) string { return fmt.Sprintf("commit-%06d", n) }

func because(t bisect.Trial) string {
	switch {
	case t.Row != nil:
		r := rowOf(*t.Row)
		return fmt.Sprintf(": %s %s %s", r.Text, r.Change(), r.Range())
	case t.Reason != "":
		return ": " + t.Reason
	}
	return ""
}

// try finds out about one commit.
func (h *hunt) try(ctx context.Context, shop *workshop, good contestant, commit string) (t bisect.Trial, err error) {
	t.Commit = commit
	if same, err := h.sameTree(ctx, commit); err != nil || same {
		t.Mark, t.Reason = bisect.Good, "it has the tree of the good commit"
		return t, err
	}
	name := commitFolder(h.place(commit))
	contender, err := shop.revision(ctx, name, "git:"+commit, commit)
	if fault.CodeOf(err) == fault.Target {
		t.Mark, t.Reason = bisect.Broken, firstLine(err)
		return h.first(t, err)
	}
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, shop.discard(context.WithoutCancel(ctx), name)) }()
	h.search.Attempts++
	if err := h.save(); err != nil {
		return t, err
	}
	t.RunKey = h.runKey(h.search.Attempts)
	dir := filepath.Join(h.dir, fmt.Sprintf("try-%04d", h.search.Attempts))
	judged, err := h.compare(ctx, shop, [2]contestant{good, contender}, t.RunKey, dir)
	switch code := fault.CodeOf(err); {
	case code == fault.Target || code == fault.Harness || code == fault.Nothing:
		t.Mark, t.Reason = bisect.Broken, firstLine(err)
		return h.first(t, err)
	case err != nil:
		return t, err
	}
	return h.verdict(t, judged.Document)
}

// first lets nobody search for a commit when the bad one cannot be measured.
func (h *hunt) first(t bisect.Trial, err error) (bisect.Trial, error) {
	if len(h.search.Trials) == 0 {
		return t, err
	}
	return t, nil
}

// sameTree reports whether a commit has the content of the good one.
func (h *hunt) sameTree(ctx context.Context, commit string) (bool, error) {
	a, err := h.repo.TreeOf(ctx, h.search.Commits[0])
	if err != nil {
		return false, err
	}
	b, err := h.repo.TreeOf(ctx, commit)
	return a == b, err
}

// compare measures a commit against the good one and judges the folder.
func (h *hunt) compare(ctx context.Context, shop *workshop, sides [2]contestant, runKey, dir string) (judged, error) {
	o := compareOptions{measureOptions: measureOptions{driveOptions: h.o.driveOptions}, method: verdict.MethodName}
	policy, file, err := h.judging()
	if err != nil {
		return judged{}, err
	}
	o.noiseDir = h.app.noiseDir()
	o.seed = order.Seed(fmt.Sprintf("bisect %d", h.search.Seed), h.search.Attempts)
	m := measurement{policy: policy}
	m.contest = contest{runKey: runKey, dir: dir, reason: "bisect: compare " + sides[0].commit[:12] + " with " + sides[1].commit[:12]}
	for i, name := range []runner.Side{runner.Baseline, runner.Contender} {
		m.contest.sides[i] = sides[i].labelled(map[string]string{labelSide: string(name)})
	}
	m.contest.check = h.app.checkSides(o, m)
	if _, err := h.app.drive(ctx, o.driveOptions, shop.place, m.contest); err != nil {
		return judged{}, err
	}
	read := judgeOptions{results: []string{dir}, runKeys: []string{runKey}, policy: file, profiles: profileNames(), noiseDir: h.app.noiseDir()}
	j, err := read.judge()
	if err != nil {
		return j, err
	}
	return j, keepDocuments(filepath.Join(dir, judgedFolder), documentsOf(j.Outcome))
}

// midwayFile is the policy of all trials but the first, for whoever judges them again.
const midwayFile = "midway.json"

// judging is the policy of the trial that comes next, and the file or name of it.
func (h *hunt) judging() (verdict.GatePolicy, string, error) {
	if !h.o.midway || len(h.search.Trials) == 0 || h.search.Trials[0].Row == nil {
		return h.policy, h.o.policy, nil
	}
	p, err := h.policy.Midway(*h.search.Trials[0].Row)
	if err != nil {
		return p, "", err
	}
	file := filepath.Join(h.dir, midwayFile)
	return p, file, replaceFile(file, p.Raw())
}

// verdict reads the row of the case that the search is about. The first trial
// settles which one that is.
func (h *hunt) verdict(t bisect.Trial, d verdict.Document) (bisect.Trial, error) {
	if h.search.Case == nil {
		c, err := h.choose(d)
		if err != nil {
			return t, err
		}
		h.search.Case = c
	}
	if h.search.Case != nil {
		for _, r := range d.Rows {
			if h.search.Case.Has(r) {
				t.Mark, t.Row = bisect.Of(r.Verdict), &r
				return t, nil
			}
		}
	}
	t.Mark, t.Reason = bisect.Unclear, "no case is slower"
	if len(d.Failed) > 0 {
		t.Reason = d.Failed[0].Detail
	}
	return t, nil
}

// choose settles the case: the one that was named, or the one that the bad commit is
// slowest in; nil when it is slower in none.
func (h *hunt) choose(d verdict.Document) (*bisect.Case, error) {
	var best *verdict.Row
	named, slower := 0, 0
	for i, r := range d.Rows {
		if h.o.workload != "" && r.Workload != order.Token(h.o.workload) {
			continue
		}
		named++
		if h.o.workload != "" && len(h.o.quantities) == 1 {
			best = &d.Rows[i]
			continue
		}
		if r.Verdict != verdict.Slower {
			continue
		}
		if slower++; best == nil || change(r) > change(*best) {
			best = &d.Rows[i]
		}
	}
	if named == 0 {
		return nil, fault.New(fault.Nothing, "bisect", "there is no case %q", h.o.workload).Help("the cases are as writ compare shows them")
	}
	if best == nil {
		return nil, nil
	}
	if slower > 1 {
		h.app.say("%d rows are slower; the search is about %s %s", slower, best.Workload, best.Quantity)
	}
	return &bisect.Case{Workload: best.Workload, Parameters: best.Parameters, Quantity: best.Quantity}, nil
}

// change is how much a row changed, either way, for finding the largest.
func change(r verdict.Row) float64 {
	if r.Effect == nil {
		return 0
	}
	if e := *r.Effect; r.Measure == verdict.Difference {
		return max(e, -e) / max(1, *r.Baseline)
	}
	return max(*r.Effect, 1 / *r.Effect) - 1
}

// firstLine is what went wrong, for a table.
func firstLine(err error) string {
	e, ok := fault.As(err)
	if !ok {
		return oneLine(err)
	}
	for i, r := range e.Public {
		if r == '\n' {
			return e.Public[:i]
		}
	}
	return e.Public
}
