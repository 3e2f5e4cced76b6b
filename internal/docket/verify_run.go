package docket

import (
	"bytes"
	"fmt"

	"writ/internal/canon"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// recompile compiles the candidate again, in tables made of the host's own
// documents that the plan pins, and wants the same bytes.
func (v *verifier) recompile(d Document) error {
	tables := taskpack.ShippedTables(taskpack.Containment{
		Exclusive: true, Pinned: true, Network: taskpack.NetworkNone, Destroyable: true, Confirms: true,
		EnvironmentOf: taskpack.EnvironmentWorktree,
	}, v.patches...)
	for _, s := range v.plan.Steps {
		if !s.Command() {
			continue
		}
		sum, err := proposal.ParseDigest(s.Pinned)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		raw, err := v.blob("command-profile", s.Profile, sum)
		if err != nil {
			return err
		}
		c, err := taskpack.ParseCommandProfile(raw)
		if err != nil {
			return at("command-profile", s.Profile, err)
		}
		tables.Commands[c.Ref] = c
	}
	fresh, err := taskpack.Compile(taskpack.CompileParams{
		Candidate: v.candidate, Profile: v.profile, Binding: v.binding, Generation: v.plan.Generation, Tables: tables,
	})
	if err != nil {
		return at(d.Kind, d.Ref, err)
	}
	if !bytes.Equal(fresh.Bytes, []byte(d.Body)) {
		return wrong(d.Kind, d.Ref, "the candidate compiles to another plan (%s)", fresh.Digest())
	}
	return nil
}

// ran folds the facts of the run: contiguous, each step begun once, and no
// mutation begun without its answer.
func (v *verifier) ran() error {
	docs := v.of(ledger.KindRunFact)
	if len(docs) == 0 || v.plan.Ref == "" {
		return v.missing()
	}
	run := taskpack.NewRun(v.plan, taskpack.RunRef(v.plan.Ref, taskpack.RunKey(v.proposal)))
	for _, d := range docs {
		f, err := taskpack.ParseFact([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if f.Ref() != d.Ref {
			return wrong(d.Kind, d.Ref, "it is fact %s", f.Ref())
		}
		if err := v.allowed(d, f); err != nil {
			return err
		}
		if run, err = run.Apply(f); err != nil {
			return at(d.Kind, d.Ref, err)
		}
	}
	v.run = run
	if run.Outcome == "" {
		v.say(fmt.Sprintf("the run is %s after %d facts", run.Phase(), run.Last))
		return nil
	}
	v.say(fmt.Sprintf("the run concluded %s; environment %s destroyed: %t", run.Outcome, run.Environment, run.Confirmed != ""))
	return nil
}

// allowed checks that a step which needs an answer had one when it began.
func (v *verifier) allowed(d Document, f taskpack.Fact) error {
	if f.Kind != taskpack.FactStarted {
		return nil
	}
	s, ok := v.plan.Step(f.Step)
	if !ok || !s.Answer {
		return nil // an unknown step is refused by the fold
	}
	began, _ := v.accepted(d.Ref)
	for _, a := range v.of(ledger.KindAnswer) {
		answer, err := view1(a, proposal.KindAnswer, proposal.AsAnswer)
		if err != nil {
			return err
		}
		given, ok := v.accepted(a.Ref)
		if answer.Request == taskpack.QuestionRef(f.Run, f.Step) && ok && given.Seq < began.Seq {
			if answer.Decision != proposal.AnswerApprove {
				return wrong(d.Kind, d.Ref, "step %s began although a human said no", f.Step)
			}
			if err := answer.Current(f.At); err != nil {
				return at(a.Kind, a.Ref, err)
			}
			return nil
		}
	}
	return wrong(d.Kind, d.Ref, "step %s began without the answer of a human", f.Step)
}

// recorded opens the execution record and holds it against everything before.
func (v *verifier) recorded() error {
	docs := v.of(ledger.KindExecution)
	if len(docs) == 0 {
		return v.missing()
	}
	if len(docs) > 1 {
		return wrong(ledger.KindExecution, docs[1].Ref, "a run has one execution record")
	}
	d := docs[0]
	e, err := view1(d, proposal.KindExecution, proposal.AsExecution)
	if err != nil {
		return err
	}
	if err := v.pinned(d.Kind, d.Ref, "host", e.Host, func(t *Trust) []string { return t.Hosts }); err != nil {
		return err
	}
	if v.b.Host != e.Host {
		return wrong(d.Kind, d.Ref, "it is signed by %s, the docket is of host %s", e.Host, v.b.Host)
	}
	if err := proposal.RelateExecution(v.proposal, v.review, v.decision, e); err != nil {
		return at(d.Kind, d.Ref, err)
	}
	if err := taskpack.RelateRecord(e, v.run); err != nil {
		return at(d.Kind, d.Ref, err)
	}
	if err := v.projected(e); err != nil {
		return err
	}
	if len(e.Evidence) > 0 {
		if err := v.evidence(d, e); err != nil {
			return err
		}
	}
	v.say("signed by host " + e.Host + ": " + e.Outcome)
	return nil
}

// projected recomputes the experiment result from the facts.
func (v *verifier) projected(e proposal.Execution) error {
	want, err := taskpack.Project(v.run)
	if err != nil {
		return at(ledger.KindExperimentResult, e.Result, err)
	}
	sum, err := proposal.ParseDigest(e.Result)
	if err != nil {
		return at(ledger.KindExecution, e.Ref, err)
	}
	d, err := v.sum(ledger.KindExperimentResult, sum)
	if err != nil {
		return err
	}
	if !bytes.Equal([]byte(d.Body), want.Bytes) {
		return wrong(d.Kind, d.Ref, "the facts add up to another result")
	}
	return nil
}

// evidence checks that the three pieces are the comparison, the result set and
// the gate's answer of this docket, and that the outcome is the gate's.
func (v *verifier) evidence(d Document, e proposal.Execution) error {
	m := v.measured
	for i, want := range []struct{ kind, ref string }{
		{ledger.KindComparison, m.comparison}, {ledger.KindResultSet, m.resultSet}, {ledger.KindGate, m.gate},
	} {
		sum, err := proposal.ParseDigest(e.Evidence[i].Digest)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		doc, err := v.sum(want.kind, sum)
		if err != nil {
			return err
		}
		if doc.Ref != want.ref {
			return wrong(d.Kind, d.Ref, "evidence %d is %s, the comparison of this run has %s", i, doc.Ref, want.ref)
		}
	}
	passed := m.answer == "pass"
	if (e.Outcome == proposal.OutcomeVerified) != passed {
		return wrong(d.Kind, d.Ref, "the outcome is %s, the gate answered %s", e.Outcome, m.answer)
	}
	return nil
}

// committed follows the approved bytes into Git: the commit that was measured
// has the approved base as its only parent, says what the proposal says, and its
// tree is the base's tree with exactly the approved files written.
func (v *verifier) committed() error {
	head := v.measured.contender
	if head == "" {
		return v.missing()
	}
	body, err := v.objects.get("commit", head)
	if err != nil {
		return at("commit", head, err)
	}
	c, err := parseCommit(body)
	if err != nil {
		return at("commit", head, err)
	}
	base, err := v.baseCommit()
	if err != nil {
		return err
	}
	if len(c.Parents) != 1 || c.Parents[0] != v.measured.baseline {
		return wrong("commit", head, "its parents are %v, not the measured base %s", c.Parents, v.measured.baseline)
	}
	if c.Tree != v.measured.contenderTree {
		return wrong("commit", head, "its tree is %s, %s was measured", c.Tree, v.measured.contenderTree)
	}
	if base.Tree != v.measured.baselineTree {
		return wrong("commit", v.measured.baseline, "its tree is %s, %s was measured", base.Tree, v.measured.baselineTree)
	}
	want := CommitFrom(v.proposal, v.turn)
	if c.Author != want.author() || c.Message != want.Message {
		return wrong("commit", head, "author, date or message is not the proposal's")
	}
	tree, err := v.objects.rewrite(base.Tree, v.changes())
	if err != nil {
		return at("tree", base.Tree, err)
	}
	if tree != c.Tree {
		return wrong("commit", head, "writing the approved files into the base gives tree %s, the commit has %s", tree, c.Tree)
	}
	v.say("commit " + head + " is the approved files written into " + v.measured.baseline + ", byte for byte")
	return nil
}

func (v *verifier) baseCommit() (commitObject, error) {
	id := v.measured.baseline
	body, err := v.objects.get("commit", id)
	if err != nil {
		return commitObject{}, at("commit", id, err)
	}
	c, err := parseCommit(body)
	return c, at("commit", id, err)
}

func (v *verifier) changes() []Change {
	var out []Change
	for _, p := range v.patches {
		for _, f := range p.Files {
			out = append(out, Change{Path: f.Path, Delete: f.Op == taskpack.OpDelete, Content: f.Content})
		}
	}
	return out
}

// digestOf reads a "sha256:" + hex name.
func digestOf(kind, ref, text string) (canon.Digest, error) {
	d, err := canon.ParseRoot(text)
	return d, at(kind, ref, err)
}
