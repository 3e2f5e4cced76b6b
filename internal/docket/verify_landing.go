package docket

import (
	"reflect"
	"slices"

	"writ/internal/canon"
	"writ/internal/landing"
	"writ/internal/ledger"
)

// StepSchema of the record of one transition of the landing state: with the two
// states, anyone can run it again.
const StepSchema = "writ.landing-step/v1"

// step is one transition: which states, and what was asked in between.
type step struct {
	Schema    string      `json:"schema"`
	Before    string      `json:"before"`
	After     string      `json:"after"`
	Action    string      `json:"action"`
	Operation canon.Value `json:"operation"`
}

// landing runs every transition that this run made again, recomputes the roots
// that its candidates name from their bodies, and checks qualification,
// admission and readback against each candidate as it ended.
func (v *verifier) landing() error {
	steps := v.of(ledger.KindLandingStep)
	if len(steps) == 0 {
		return v.missing()
	}
	if v.execution().Ref == "" {
		return wrong(steps[0].Kind, steps[0].Ref, "the landing began without an execution record")
	}
	states, err := v.states()
	if err != nil {
		return err
	}
	var passed []landing.State
	for _, d := range steps {
		before, after, err := v.replay(d, states)
		if err != nil {
			return err
		}
		passed = append(passed, before, after)
	}
	root, err := v.bindingRoot()
	if err != nil {
		return err
	}
	for i, d := range steps[1:] {
		if err := continues(d, root, passed[2*i+1], passed[2*i+2]); err != nil {
			return err
		}
	}
	own, err := v.candidates(root, passed)
	if err != nil {
		return err
	}
	bodies, err := v.producerBodies()
	if err != nil {
		return err
	}
	for i, c := range own {
		if i > 0 && c.PredecessorCandidateID != own[i-1].CandidateID {
			return wrong("candidate", c.CandidateID, "it does not follow the attempt before it, %s", own[i-1].CandidateID)
		}
		if err := v.attempt(c, bodies); err != nil {
			return err
		}
	}
	v.last = own[len(own)-1]
	v.say("candidate " + v.last.CandidateID + " is " + string(v.last.Status) + "; every transition runs again to the same root")
	return nil
}

// states opens the snapshots of the branch.
func (v *verifier) states() (map[string]landing.State, error) {
	out := map[string]landing.State{}
	for _, d := range v.of(ledger.KindLandingState) {
		s, err := landing.Parse([]byte(d.Body), landing.ReadParams{Strict: true})
		if err != nil {
			return nil, at(d.Kind, d.Ref, err)
		}
		if err := d.named(StateRef(s.StateRoot, v.b.Run)); err != nil {
			return nil, err
		}
		out[s.StateRoot] = s
	}
	return out, nil
}

// replay runs one transition again.
func (v *verifier) replay(d Document, states map[string]landing.State) (before, after landing.State, err error) {
	var s step
	body, err := canon.Parse([]byte(d.Body))
	if err == nil {
		err = body.Decode(&s)
	}
	if err != nil {
		return before, after, at(d.Kind, d.Ref, err)
	}
	if err := d.named(BytesRef(d.Kind, []byte(d.Body))); err != nil {
		return before, after, err
	}
	for _, x := range []struct {
		root string
		into *landing.State
	}{{s.Before, &before}, {s.After, &after}} {
		found, ok := states[x.root]
		if !ok {
			return before, after, wrong(d.Kind, d.Ref, "state %s around it is not in the docket", x.root)
		}
		*x.into = found
		v.used[StateRef(x.root, v.b.Run)] = true
	}
	op, err := landing.ParseOperation(s.Operation)
	if err != nil {
		return before, after, at(d.Kind, d.Ref, err)
	}
	t, err := landing.Replay(before, op)
	if err != nil {
		return before, after, at(d.Kind, d.Ref, err)
	}
	switch {
	case s.Schema != StepSchema:
		err = wrong(d.Kind, d.Ref, "its schema is %q", s.Schema)
	case t.State.StateRoot != after.StateRoot:
		err = wrong(d.Kind, d.Ref, "%s leads to state %s, not to %s", op.Op, t.State.StateRoot, after.StateRoot)
	case string(t.Action) != s.Action:
		err = wrong(d.Kind, d.Ref, "it is %s, not %s", t.Action, s.Action)
	default:
		v.use(d)
	}
	return before, after, err
}

// continues checks that a transition comes after the one before it. Others may
// have moved the state in between, but not what is this run's: they neither grant
// nor renew its lease and warrant, and end them only by letting them expire.
func continues(d Document, root string, last, next landing.State) error {
	switch {
	case next.Repository != last.Repository || next.ProtectedBase != last.ProtectedBase:
		return wrong(d.Kind, d.Ref, "it is of %s %s, the run lands on %s %s", next.Repository, next.ProtectedBase, last.Repository, last.ProtectedBase)
	case next.Generation < last.Generation:
		return wrong(d.Kind, d.Ref, "it stands out of order")
	case next.Generation == last.Generation && next.StateRoot != last.StateRoot:
		return wrong(d.Kind, d.Ref, "it goes on from state %s, the transition before it led to %s", next.StateRoot, last.StateRoot)
	}
	for _, c := range next.Candidates {
		if c.SourceRoot != root {
			continue
		}
		was, ok := last.Candidate(c.CandidateID)
		was.LandingOvertakes, c.LandingOvertakes = nil, nil // others count as they pass
		same := reflect.DeepEqual(was, c) && slices.Equal(grantsOf(last, c.CandidateID), grantsOf(next, c.CandidateID))
		if !ok || !same && !expired(was, c) {
			return wrong(d.Kind, d.Ref, "candidate %s was moved before it, by no transition of this docket", c.CandidateID)
		}
	}
	return nil
}

// expired reports whether all that happened to a candidate is that its lease or
// its warrant was over.
func expired(was, now landing.Candidate) bool {
	switch {
	case was.Status == landing.Qualifying && now.Status == landing.TerminalFailure:
		return now.Terminal.Reason == string(landing.HeartbeatExpired)
	case was.Status == landing.Qualifying:
		return now.Status == landing.Queued
	case was.Status == landing.Landing:
		return now.Status == landing.Qualified && reflect.DeepEqual(was.Qualification, now.Qualification)
	}
	return false
}

// grantsOf are the lease and the warrant that a candidate holds, each in a word.
func grantsOf(s landing.State, candidate string) []string {
	var out []string
	for _, l := range s.Leases {
		if l.CandidateID == candidate {
			out = append(out, "lease "+l.Token+" "+string(l.HeartbeatAt))
		}
	}
	if w := s.Warrant; w != nil && w.CandidateID == candidate {
		out = append(out, "warrant "+w.Token+" "+string(w.HeartbeatAt))
		if w.Admitted != nil {
			out = append(out, "admitted "+w.Admitted.AdmissionRoot)
		}
	}
	return out
}

// candidates are the attempts of this run, oldest first, each as it was seen last.
func (v *verifier) candidates(root string, passed []landing.State) ([]landing.Candidate, error) {
	var out []landing.Candidate
	for _, s := range passed {
		for _, c := range s.Candidates {
			if c.SourceRoot != root {
				continue
			}
			same := func(x landing.Candidate) bool { return x.CandidateID == c.CandidateID }
			if i := slices.IndexFunc(out, same); i >= 0 {
				out[i] = c
				continue
			}
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		last := passed[len(passed)-1]
		return nil, wrong(ledger.KindLandingState, StateRef(last.StateRoot, v.b.Run), "no candidate has the docket binding %s as its source root", root)
	}
	return out, nil
}

// execution is the execution record's document.
func (v *verifier) execution() Document {
	d, _, _ := v.sole(ledger.KindExecution)
	return d
}

// bindingRoot recomputes the docket binding from what was verified before.
func (v *verifier) bindingRoot() (string, error) {
	d, ok, err := v.sole(ledger.KindDocketBinding)
	if err != nil {
		return "", err
	}
	want, root, err := landing.BuildProducer(&landing.DocketBinding{
		RunID: v.b.Run, Proposal: v.proposal.Ref, Decision: v.decision.Ref, Execution: v.execution().Ref,
		ResultSet: "sha256:" + v.measured.resultSet.SHA256, Comparison: "sha256:" + v.measured.comparison.SHA256,
		BaseHead: v.measured.baseline, SourceHead: v.measured.contender, SourceTree: v.measured.contenderTree,
	})
	if err != nil {
		return "", at(d.Kind, d.Ref, err)
	}
	if !ok {
		return "", wrong(ledger.KindDocketBinding, ProducerRef(root, v.b.Run), "the candidate is bound to no docket")
	}
	if d.Body != string(want.Canonical()) {
		return "", wrong(d.Kind, d.Ref, "it is not the binding of this docket's documents")
	}
	v.use(d)
	return root, d.named(ProducerRef(root, v.b.Run))
}

// attempt checks one candidate of the run, as far as it came.
func (v *verifier) attempt(c landing.Candidate, bodies map[string]landing.ProducerBody) error {
	tree, err := v.producers(c, bodies)
	if err != nil {
		return err
	}
	if err := v.sourceProof(c); err != nil {
		return err
	}
	if c.Qualification != nil {
		if err := v.qualified(c, tree); err != nil {
			return err
		}
	}
	switch {
	case c.Terminal == nil:
		return v.underWay(c)
	case c.Terminal.ReadbackRoot != "":
		return v.readback(c)
	case c.Terminal.Reason == string(landing.HeartbeatExpired):
		return nil // its evidence is the state itself
	}
	return v.settled(c)
}
