package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// perform carries out one step: it is recorded as started before it begins, and
// with what it left behind when it has ended.
func (j *job) perform(ctx context.Context, run taskpack.Run, s taskpack.PlanStep) error {
	env, err := j.inside(ctx, run)
	if err != nil {
		return err
	}
	answer := ""
	if s.Answer {
		_, a, err := j.question(ctx, s)
		if err != nil {
			return err
		}
		answer = a.Ref
	}
	run, started, err := run.Append(taskpack.Fact{Kind: taskpack.FactStarted, Step: s.ID}, j.Now())
	if err != nil {
		return err
	}
	j.task.Phase = Running
	if err := j.save(ctx, j.workspace, &j.task, batch{point: string(taskpack.FactStarted), docs: []ledger.NewDocument{factDocument(j.task.Run, started)}}); err != nil {
		return err
	}
	j.Crash("started " + s.ID)
	j.progress(ctx, s.ID, "step "+s.ID+" has begun", -1)

	d, err := j.carryOut(ctx, env, run, s)
	if ctx.Err() != nil {
		return ctx.Err() // the next start records the step as unknown
	}
	fact := taskpack.Fact{Kind: taskpack.FactOutcome, Step: s.ID, Outcome: taskpack.StepCompleted, Answer: answer, Evidence: d.evidence}
	if err != nil {
		fact.Outcome, fact.Refusal = taskpack.StepRefused, refusalOf(err)
		if j.task.Failure == "" {
			j.task.Failure, j.task.Reason = failure(err)
		}
	}
	j.Crash("carried out " + s.ID)
	j.progress(ctx, s.ID, "step "+s.ID+" "+fact.Outcome+d.note, 100)
	return j.keepOutcome(ctx, run, fact, batch{docs: d.docs})
}

// done is what a step left behind.
type done struct {
	evidence []string // refs of stored bytes
	docs     []ledger.NewDocument
	note     string
}

func (j *job) carryOut(ctx context.Context, env *environment, run taskpack.Run, s taskpack.PlanStep) (done, error) {
	switch s.Kind {
	case taskpack.StepPatch:
		return j.applyPatch(ctx)
	case taskpack.StepObserve, taskpack.StepProcess:
		profile, ok := j.tables.Commands[s.Profile]
		if !ok {
			return done{}, fault.New(fault.Plan, "run step", "no command profile %s", s.Profile).With("refusal", "workbench/command-profile-missing")
		}
		selection, err := profile.Select(s.Arguments)
		if err != nil {
			return done{}, err
		}
		switch {
		case profile.Harness == "":
			return j.command(ctx, env, profile, selection)
		case profile.Rounds == 0:
			return j.list(ctx, env, selection)
		default:
			planned, err := j.listed(ctx, run, s)
			if err != nil {
				return done{}, err
			}
			return j.compare(ctx, env, planned, selection)
		}
	default:
		return done{}, fault.New(fault.Plan, "run step", "this host cannot carry out %s", s.Kind).With("refusal", string(taskpack.UnknownAction))
	}
}

// refusalOf is the code of the closed vocabulary that an error comes to.
func refusalOf(err error) taskpack.Code {
	if code := taskpack.CodeOf(err); code != "" {
		return code
	}
	switch fault.CodeOf(err) {
	case fault.Timeout:
		return "verifier/timeout"
	case fault.NotContained:
		return taskpack.NotContained
	default:
		return "verifier/unavailable"
	}
}

// applyPatch writes the approved files as a commit. Nothing of the worktrees is
// touched: later steps check the commit out.
func (j *job) applyPatch(ctx context.Context) (done, error) {
	head, tree, err := j.writeCommit(ctx)
	if err != nil {
		return done{}, err
	}
	j.task.SourceHead, j.task.SourceTree = head, tree
	d := done{note: ": commit " + head}
	for ref := range j.patches {
		d.evidence = append(d.evidence, ref)
	}
	return d, nil
}

// errCheck is a check that did not pass. It is missing from the evidence, so
// nothing after it is run.
var errCheck = fault.New(fault.Plan, "run checks", "a check did not pass").With("refusal", string(taskpack.CheckMissing))

// command runs the argv of a profile in the changed tree.
func (j *job) command(ctx context.Context, env *environment, p taskpack.CommandProfile, s taskpack.Selection) (done, error) {
	commit := j.task.BaseHead
	if p.On == taskpack.OnChanged {
		commit = j.task.SourceHead
	}
	dir, err := j.tree(ctx, env, commit)
	if err != nil {
		return done{}, err
	}
	got, err := env.execute(ctx, p.Command(s), dir, time.Duration(p.Seconds)*time.Second)
	if err != nil {
		return done{}, err
	}
	ref, err := j.keepOutput(ctx, got.output)
	if err != nil {
		return done{}, err
	}
	d := done{evidence: []string{ref}, note: ": " + endOf(got)}
	if !got.OK() {
		j.task.Failure, j.task.Reason = "checks_failed", fmt.Sprintf("%s: %s\n%s", strings.Join(p.Command(s), " "), endOf(got), lastLines(got.output, 20))
		return d, errCheck
	}
	return d, nil
}

func endOf(o outcome) string {
	switch {
	case o.OK():
		return "passed"
	case o.Signal != 0:
		return "ended by signal " + o.Signal.String()
	case o.Exit != 0:
		return fmt.Sprintf("exit status %d", o.Exit)
	default:
		return string(o.Cause)
	}
}

func lastLines(b []byte, n int) string {
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

func (j *job) keepOutput(ctx context.Context, b []byte) (string, error) {
	d, err := j.putBlob(ctx, j.workspace, b)
	return canon.ObjectRef(d), err
}

// tree is the worktree of a commit inside, made when it is asked for first.
func (j *job) tree(ctx context.Context, env *environment, commit string) (string, error) {
	if dir, ok := env.trees[commit]; ok {
		return dir, nil
	}
	if err := env.Fetch(ctx, commit); err != nil {
		return "", err
	}
	dir, err := env.Worktree(ctx, commit)
	if err == nil {
		env.trees[commit] = dir
	}
	return dir, err
}

// verify says what the steps together mean: the checks passed and the gate said
// yes. It reads what the steps stored and runs nothing.
func (j *job) verify(ctx context.Context, run taskpack.Run) error {
	passed := j.task.Failure == "" && j.task.Gate != ""
	if j.task.Gate != "" {
		d, err := j.document(ctx, j.workspace, ledger.KindGate, j.task.Gate)
		if err != nil {
			return err
		}
		v, err := canon.Parse(d.Body)
		if err != nil {
			return err
		}
		if answer := verdict.Answer(v.Str("answer")); answer != verdict.Pass {
			passed = false
			if j.task.Failure == "" {
				j.task.Failure, j.task.Reason = "gate_blocked", gateReason(v)
			}
		}
	}
	return j.append(ctx, run, taskpack.Fact{
		Kind: taskpack.FactEvaluated, Result: orNone(j.task.Gate), Evaluation: "writ-evaluation:" + run.Ref, Passed: passed,
	}, batch{})
}

func orNone(ref string) string {
	if ref == "" {
		return "gate:none"
	}
	return ref
}

// gateReason is what people read when a gate did not pass.
func gateReason(gate canon.Value) string {
	lines := []string{"the gate answered " + gate.Str("answer")}
	reasons, _ := gate.Get("reasons")
	for _, r := range reasons.Elems() {
		if text, ok := r.String(); ok {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// record signs what happened. A verified run may land; any other is over.
func (j *job) record(ctx context.Context, run taskpack.Run) error {
	result, err := taskpack.Project(run)
	if err != nil {
		return err
	}
	proof, err := j.proof(ctx, run)
	if err != nil {
		return err
	}
	e, err := taskpack.Record(taskpack.RecordParams{Proposal: j.proposal, Review: j.review, Decision: j.decision, Run: run, Proof: proof, At: j.Now()}, j.Key)
	if err != nil {
		return err
	}
	b := batch{docs: []ledger.NewDocument{
		{Kind: ledger.KindExperimentResult, Ref: docket.ExperimentRef(result.Digest()), RunID: j.task.Run, Body: result.Bytes},
		{Kind: ledger.KindExecution, Ref: e.Ref, RunID: j.task.Run, Identity: e.Identity(), Body: e.Raw},
	}}
	j.task.Execution = e.Ref
	if run.Outcome == proposal.OutcomeVerified {
		j.task.Phase = Recorded
		return j.save(ctx, j.workspace, &j.task, b)
	}
	switch {
	case run.Outcome == proposal.OutcomeCancel:
		j.task.Failure, j.task.Reason = string(fault.Cancelled), j.why
	case j.task.Failure == "":
		j.task.Failure, j.task.Reason = "execution_"+strings.ReplaceAll(run.Outcome, "-", "_"), "the run ended "+run.Outcome+" "+string(run.Refusal)
	}
	if err := j.over(ctx, Over, &b); err != nil {
		return err
	}
	return j.save(ctx, j.workspace, &j.task, b)
}

// proof is the evidence of the compare step, when the gate spoke.
func (j *job) proof(ctx context.Context, run taskpack.Run) (*taskpack.Proof, error) {
	if run.Evaluated == nil || j.task.Gate == "" {
		return nil, nil
	}
	var p taskpack.Proof
	for _, x := range []struct {
		ref, kind string
		into      *canon.Digest
	}{
		{j.task.ComparisonRef, ledger.KindComparison, &p.Comparison},
		{j.task.ResultSetRef, ledger.KindResultSet, &p.ResultSet},
		{j.task.Gate, ledger.KindGate, &p.Gate},
	} {
		d, err := j.document(ctx, j.workspace, x.kind, x.ref)
		if err != nil {
			return nil, err
		}
		*x.into = d.SHA256
	}
	return &p, nil
}
