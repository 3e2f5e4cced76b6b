package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/gobench"
	"writ/internal/ledger"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// harnesses are the adapters of this build.
func harnesses() harness.Set { return harness.Set{gobench.Adapter{Processors: 1}} }

// list is the case listing at the base commit: what will be measured is fixed
// before anything changes.
func (j *job) list(ctx context.Context, env *environment, s taskpack.Selection) (done, error) {
	base, err := j.build(ctx, env, "baseline", j.task.BaseHead, s)
	if err != nil {
		return done{}, err
	}
	plan, err := j.plan1(ctx, env, base)
	if err != nil {
		return done{}, err
	}
	cases := map[string]bool{}
	for _, e := range plan {
		cases[e.Case] = true
	}
	body, err := canon.Marshal(docket.Listing{Schema: docket.ListingSchema, Commit: j.task.BaseHead, Plan: plan})
	if err != nil {
		return done{}, err
	}
	ref, err := j.keepOutput(ctx, body)
	return done{evidence: []string{ref}, note: fmt.Sprintf(": %d cases", len(cases))}, err
}

// listed is what the list step of the run found, when it was asked for the same
// as the step s; else nil.
func (j *job) listed(ctx context.Context, run taskpack.Run, s taskpack.PlanStep) ([]order.Entry, error) {
	list, ok := j.plan.Step(taskpack.List)
	if !ok || list.Profile != taskpack.ProfileBenchmarkList || !slices.Equal(list.Arguments, s.Arguments) {
		return nil, nil
	}
	for _, state := range run.Steps {
		if state.ID != list.ID || len(state.Evidence) != 1 {
			continue
		}
		sum, err := canon.ParseRef("object-store", state.Evidence[0])
		if err != nil {
			return nil, err
		}
		raw, err := j.blob(ctx, sum, taskpack.MaxCandidate)
		if err != nil {
			return nil, err
		}
		l, err := docket.ParseListing(raw)
		return l.Plan, err
	}
	return nil, nil
}

// plan1 asks the suites of a side for their cases.
func (j *job) plan1(ctx context.Context, env *environment, b side) ([]order.Entry, error) {
	draft, err := j.order(b, order.RunKey(j.task.Run, "list", 1), "list", 0, 0, j.precision(nil), j.quantities(), nil)
	if err != nil {
		return nil, err
	}
	place, err := env.Observer(ctx) // a listing changes nothing: the trees are read-only for it
	if err != nil {
		return nil, err
	}
	resolved, err := runner.Plan(ctx, runner.Params{Order: draft, Harnesses: harnesses(), Place: place, Now: j.Now})
	if err != nil {
		return nil, err
	}
	return resolved.Plan, nil
}

// quantities are what the compare step of this host measures.
func (j *job) quantities() []string {
	if c, ok := j.tables.Commands[taskpack.ProfileBenchmarkCompare]; ok {
		return c.Quantities
	}
	return []string{"wall-time"}
}

// precision of an order: one sample per process. Without a calibration the
// harness chooses; a comparison fixes one for both sides.
func (j *job) precision(c *order.Calibration) order.Precision {
	if c == nil {
		c = &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: j.repo.sample()}
	}
	return order.Precision{Repetitions: order.Times(1), Warmup: &order.Warmup{Mode: order.None}, Calibration: c}
}

// compare measures base and change against each other and judges. The gate's
// answer decides nothing here: the verifier reads it.
func (j *job) compare(ctx context.Context, env *environment, planned []order.Entry, s taskpack.Selection) (done, error) {
	m, err := j.measureSides(ctx, env, taskpack.Compare, j.task.BaseHead, j.task.SourceHead, planned, s)
	if err != nil {
		return done{}, err
	}
	j.task.Comparison, j.task.ResultSet = m.comparison.SHA256.String(), m.resultSet.SHA256.String()
	j.task.ComparisonRef, j.task.ResultSetRef, j.task.Gate = m.comparison.Ref, m.resultSet.Ref, m.gate.Ref
	return done{
		docs:     m.docs,
		evidence: []string{canon.ObjectRef(m.comparison.SHA256), canon.ObjectRef(m.resultSet.SHA256), canon.ObjectRef(m.gate.SHA256)},
		note:     ": gate " + string(m.answer.Answer),
	}, nil
}

// measure is measureSides with the selection of the compare step.
func (j *job) measure(ctx context.Context, env *environment, step, base, contender string) (judged, error) {
	s, ok := j.compiled.plan.Step(taskpack.Compare)
	if !ok {
		return judged{}, fault.New(fault.State, "measure", "the plan has no step %s", taskpack.Compare)
	}
	selection, err := j.tables.Commands[s.Profile].Select(s.Arguments)
	if err != nil {
		return judged{}, err
	}
	return j.measureSides(ctx, env, step, base, contender, nil, selection)
}

// judged is a comparison with everything that it left behind.
type judged struct {
	docs                        []ledger.NewDocument
	comparison, resultSet, gate kept
	answer                      verdict.GateAnswer
}

// kept names a document and its bytes.
type kept struct {
	Ref    string
	SHA256 canon.Digest
}

// measureSides builds both sides, runs them in rounds, and judges the results.
// What is planned was listed before, or is what the base has: a case that the
// change lost is missing.
func (j *job) measureSides(ctx context.Context, env *environment, step, base, contender string, planned []order.Entry, s taskpack.Selection) (judged, error) {
	var sides [2]side
	for i, commit := range []string{base, contender} {
		var err error
		if sides[i], err = j.build(ctx, env, []string{"baseline", "contender"}[i], commit, s); err != nil {
			return judged{}, err
		}
	}
	if planned == nil {
		var err error
		if planned, err = j.plan1(ctx, env, sides[0]); err != nil {
			return judged{}, err
		}
	}
	n, err := j.comparisons(ctx, step)
	if err != nil {
		return judged{}, err
	}
	runKey := order.RunKey(j.task.Run, step, n+1)
	orders, results, err := j.session(ctx, env, sides, runKey, step, order.Seed(j.task.Plan, n), planned)
	if err != nil {
		return judged{}, err
	}
	return j.judge(ctx, orders, results, runKey, base)
}

// comparisons counts the comparisons that a step of the run has made.
func (j *job) comparisons(ctx context.Context, step string) (int, error) {
	docs, err := j.Store.Documents(ctx, j.workspace, ledger.DocumentFilter{RunID: j.task.Run, Kinds: []string{ledger.KindVerdict}})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, d := range docs {
		v, _, err := verdict.ParseVerdict(d.Body)
		if err != nil {
			return 0, err
		}
		if strings.HasPrefix(v.RunKey, j.task.Run+"."+step+".") {
			n++
		}
	}
	return n, nil
}

// judge makes the documents of a comparison and asks the gate.
func (j *job) judge(ctx context.Context, orders []order.Order, results []result.Result, runKey, base string) (judged, error) {
	policy, err := j.repo.policy()
	if err != nil {
		return judged{}, err
	}
	o, err := verdict.Judge(verdict.Params{
		Results: results, Policy: policy, RunKey: runKey, Baseline: base, Planned: verdict.Planned(orders...), Rounds: len(orders) / 2,
	})
	if err != nil {
		return judged{}, err
	}
	answer, err := verdict.Gate(policy, o.Verdict.Canonical())
	if err != nil {
		return judged{}, err
	}
	run := j.task.Run
	var m judged
	for _, x := range orders {
		m.docs = append(m.docs, ledger.NewDocument{Kind: ledger.KindOrder, Ref: x.Ref(), RunID: run, Body: x.Raw()})
	}
	for _, r := range results {
		m.docs = append(m.docs, ledger.NewDocument{Kind: ledger.KindResult, Ref: docket.ResultRef(r.Digest()), RunID: run, Body: r.Raw()})
	}
	stored, err := j.unseen(ctx, j.workspace, []ledger.NewDocument{{Kind: ledger.KindGatePolicy, Ref: docket.PolicyRef(policy.Ref().SHA256, run), RunID: run, Body: policy.Raw()}})
	if err != nil {
		return judged{}, err
	}
	m.docs = append(m.docs, stored...)
	keep := func(kind string, body []byte) kept {
		d := bytesDocument(kind, run, body)
		m.docs = append(m.docs, d)
		return kept{d.Ref, canon.Sum(body)}
	}
	m.comparison = keep(ledger.KindComparison, o.Comparison.Canonical())
	m.resultSet = keep(ledger.KindResultSet, o.ResultSet.Canonical())
	keep(ledger.KindVerdict, o.Verdict.Canonical())
	m.gate = keep(ledger.KindGate, answer.Raw())
	m.answer = answer
	return m, nil
}

// session runs both sides in rounds and returns every order and result.
func (j *job) session(ctx context.Context, env *environment, sides [2]side, runKey, step string, seed int64, plan []order.Entry) ([]order.Order, []result.Result, error) {
	dir, err := os.MkdirTemp(env.scratch, "session-")
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Unavailable, "measure", "no folder for results")
	}
	defer os.RemoveAll(dir)
	place, err := env.Observer(ctx) // neither side can change what the other is
	if err != nil {
		return nil, nil, err
	}
	s := runner.Session{
		Params: runner.Params{
			Dir: filepath.Join(dir, "results"), Harnesses: harnesses(), Place: place,
			Runner: result.Runner{Name: "writ", Version: j.Version}, Now: j.Now, Progress: j.pacing(ctx, step),
		},
		Rounds: j.tables.Commands[taskpack.ProfileBenchmarkCompare].Rounds, Seed: seed, SampleSeconds: j.repo.sample(),
		OrderFor: func(t runner.Turn) (order.Order, error) {
			b := sides[0]
			if t.Side == runner.Contender {
				b = sides[1]
			}
			return j.order(b, runKey, step, t.Round, seed, j.precision(t.Calibration), j.quantities(), plan)
		},
	}
	r, err := s.Run(ctx)
	return r.Orders, r.Results, err
}

// pacing tells the journal how far a session is, at most once a second.
func (j *job) pacing(ctx context.Context, step string) func(runner.Event) {
	var last time.Time
	return func(e runner.Event) {
		now := j.Now()
		if e.Total == 0 || e.Done < e.Total && now.Sub(last) < time.Second {
			return
		}
		last = now
		note := fmt.Sprintf("%d of %d processes, %s left", e.Done, e.Total, e.Left.Round(time.Second))
		j.progress(ctx, step, note, float64(e.Done)*100/float64(e.Total))
	}
}
