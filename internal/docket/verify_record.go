package docket

import (
	"bytes"
	"slices"

	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// recorded opens the execution record and holds it against everything before.
func (v *verifier) recorded() error {
	d, ok, err := v.sole(ledger.KindExecution)
	if err != nil {
		return err
	}
	if !ok {
		return v.missing()
	}
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
	if err := v.evidence(d, e); err != nil {
		return err
	}
	v.use(d)
	v.say("signed by host " + e.Host + ": " + e.Outcome)
	return nil
}

// projected recomputes the experiment result from the facts.
func (v *verifier) projected(e proposal.Execution) error {
	want, err := taskpack.Project(v.run)
	if err != nil {
		return at(ledger.KindExperimentResult, e.Result, err)
	}
	d, ok, err := v.sole(ledger.KindExperimentResult)
	if err == nil && !ok {
		err = wrong(ledger.KindExperimentResult, e.Result, "it is named but not in the docket")
	}
	if err != nil {
		return err
	}
	if !bytes.Equal([]byte(d.Body), want.Bytes) || e.Result != want.Digest() {
		return wrong(d.Kind, d.Ref, "the facts add up to another result")
	}
	v.use(d)
	return d.named(ExperimentRef(want.Digest()))
}

// evidence checks that the record, the compare step's outcome and the gate's
// evaluation name the comparison, the result set and the gate's answer of this
// docket, and that the outcome is the gate's.
func (v *verifier) evidence(d Document, e proposal.Execution) error {
	m := v.measured
	passed := m.answer == verdict.Pass
	if v.run.Evaluated != nil && (v.run.Evaluated.Passed != passed || v.run.Evaluated.Result != m.gate.Ref) {
		return wrong(d.Kind, d.Ref, "the verifier read gate answer %s, the docket has %s with answer %q", v.run.Evaluated.Result, m.gate.Ref, m.answer)
	}
	if (e.Outcome == proposal.OutcomeVerified) != (passed && v.run.Evaluated != nil) {
		return wrong(d.Kind, d.Ref, "the outcome is %s, the gate answered %q", e.Outcome, m.answer)
	}
	parts := []Document{m.comparison, m.resultSet, m.gate}
	for i := range e.Evidence {
		sum, err := proposal.ParseDigest(e.Evidence[i].Digest)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if i >= len(parts) || parts[i].SHA256 != sum.Hex() {
			return wrong(d.Kind, d.Ref, "evidence %d is not of the comparison of this run", i)
		}
	}
	for _, state := range v.run.Steps {
		if s, _ := v.plan.Step(state.ID); s.Profile != taskpack.ProfileBenchmarkCompare || state.Outcome != taskpack.StepCompleted {
			continue
		}
		var want []string
		for _, p := range parts {
			want = append(want, p.object())
		}
		if !slices.Equal(state.Evidence, want) {
			f := v.outcomeOf(state.ID)
			return wrong(f.Kind, f.Ref, "step %s left %v, the comparison of this run is %v", state.ID, state.Evidence, want)
		}
	}
	return nil
}
