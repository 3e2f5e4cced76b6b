package docket

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/journal"
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
// that its candidate names from their bodies, and checks qualification,
// admission and readback against the candidate as it ended.
func (v *verifier) landing() error {
	steps := v.of(ledger.KindLandingStep)
	if len(steps) == 0 {
		return v.missing()
	}
	states, err := v.states()
	if err != nil {
		return err
	}
	var last landing.State
	for _, d := range steps {
		if last, err = v.replay(d, states); err != nil {
			return err
		}
	}
	c, err := v.ownCandidate(last)
	if err != nil {
		return err
	}
	if err := v.producers(c); err != nil {
		return err
	}
	v.say("candidate " + c.CandidateID + " is " + string(c.Status) + "; every transition runs again to the same root")
	if c.Qualification != nil {
		if err := v.qualified(c); err != nil {
			return err
		}
	}
	if c.Terminal == nil || c.Terminal.ReadbackRoot == "" {
		return nil
	}
	return v.readback(c)
}

func (v *verifier) states() (map[string]landing.State, error) {
	out := map[string]landing.State{}
	for _, d := range v.of(ledger.KindLandingState) {
		s, err := landing.Parse([]byte(d.Body), landing.ReadParams{Strict: true})
		if err != nil {
			return nil, at(d.Kind, d.Ref, err)
		}
		out[s.StateRoot] = s
	}
	return out, nil
}

func (v *verifier) replay(d Document, states map[string]landing.State) (landing.State, error) {
	var s step
	body, err := canon.Parse([]byte(d.Body))
	if err == nil {
		err = body.Decode(&s)
	}
	if err != nil {
		return landing.State{}, at(d.Kind, d.Ref, err)
	}
	before, okBefore := states[s.Before]
	after, okAfter := states[s.After]
	if !okBefore || !okAfter {
		return landing.State{}, wrong(d.Kind, d.Ref, "a state around it (%s to %s) is not in the docket", s.Before, s.After)
	}
	op, err := landing.ParseOperation(s.Operation)
	if err != nil {
		return landing.State{}, at(d.Kind, d.Ref, err)
	}
	return after, at(d.Kind, d.Ref, landing.CheckTransition(before, op, after))
}

// ownCandidate is the newest candidate whose source root binds this docket.
func (v *verifier) ownCandidate(s landing.State) (landing.Candidate, error) {
	root, err := v.bindingRoot()
	if err != nil {
		return landing.Candidate{}, err
	}
	for _, c := range slices.Backward(s.Candidates) {
		if c.SourceRoot == root {
			return c, nil
		}
	}
	return landing.Candidate{}, wrong(ledger.KindLandingState, s.StateRoot, "no candidate in it has the docket binding %s as its source root", root)
}

// binding recomputes the docket binding from what was verified before.
func (v *verifier) bindingRoot() (string, error) {
	docs := v.of(ledger.KindDocketBinding)
	if len(docs) == 0 {
		return "", wrong(ledger.KindDocketBinding, "", "the candidate is bound to no docket")
	}
	execution := ""
	if e := v.of(ledger.KindExecution); len(e) > 0 {
		execution = e[0].Ref
	}
	want, root, err := landing.BuildProducer(&landing.DocketBinding{
		RunID: v.b.Run, Proposal: v.proposal.Ref, Decision: v.decision.Ref, Execution: execution,
		ResultSet: v.measured.resultSetDigest, Comparison: v.measured.comparisonDigest,
		BaseHead: v.measured.baseline, SourceHead: v.measured.contender, SourceTree: v.measured.contenderTree,
	})
	if err != nil {
		return "", at(docs[0].Kind, docs[0].Ref, err)
	}
	if docs[0].Body != string(want.Canonical()) {
		return "", wrong(docs[0].Kind, docs[0].Ref, "it is not the binding of this docket's documents")
	}
	return root, nil
}

// producers recomputes every root of the candidate from its body, and holds the
// bodies against what was measured.
func (v *verifier) producers(c landing.Candidate) error {
	bodies := map[string]landing.ProducerBody{}
	for _, d := range v.of(ledger.KindProducerRoot) {
		value, err := canon.Parse([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		body, root, err := landing.ParseProducer(value)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		bodies[root] = body
	}
	base, err := v.baseCommit()
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name, root string
		fits       func(landing.ProducerBody) bool
	}{
		{"source identity", c.SourceIdentityRoot, func(b landing.ProducerBody) bool {
			i, ok := b.(*landing.SourceIdentityBody)
			return ok && i.Repository == c.Repository && i.ProtectedBase == c.ProtectedBase && i.ChangeNumber == c.PullRequestNumber
		}},
		{"source patch", c.SourcePatchRoot, func(b landing.ProducerBody) bool {
			p, ok := b.(*landing.SourcePatchBody)
			return ok && p.BaseTree == base.Tree && p.SourceTree == v.measured.contenderTree
		}},
		{"plan", c.PlanRoot, func(b landing.ProducerBody) bool {
			p, ok := b.(*landing.PlanBody)
			orders := slices.Sorted(slices.Values(v.measured.orders))
			return ok && p.PlanRef == v.plan.Ref && slices.Equal(p.Orders, orders)
		}},
		{"closure", c.ClosureRoot, is[*landing.ClosureBody]},
		{"dependency", c.DependencyRoot, is[*landing.DependencyBody]},
		{"toolchain", c.ToolchainRoot, is[*landing.ToolchainBody]},
		{"environment", c.EnvironmentRoot, func(b landing.ProducerBody) bool {
			e, ok := b.(*landing.EnvironmentBody)
			return ok && e.Identity == v.measured.identity
		}},
		{"evidence", first(c.ShardEvidenceRoots), func(b landing.ProducerBody) bool {
			e, ok := b.(*landing.EvidenceBody)
			return ok && e.ResultSet == v.measured.resultSetDigest
		}},
	} {
		body, ok := bodies[x.root]
		if !ok {
			return wrong(ledger.KindProducerRoot, x.root, "the body behind the %s root is not in the docket", x.name)
		}
		if !x.fits(body) {
			return wrong(ledger.KindProducerRoot, x.root, "the body behind the %s root is not what was measured", x.name)
		}
	}
	if c.SourceHead != v.measured.contender {
		return wrong("candidate", c.CandidateID, "its source head is %s, %s was measured", c.SourceHead, v.measured.contender)
	}
	return nil
}

func is[T landing.ProducerBody](b landing.ProducerBody) bool { _, ok := b.(T); return ok }

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func (v *verifier) qualified(c landing.Candidate) error {
	var d landing.QualificationDocuments
	for _, x := range []struct {
		kind string
		root string
		into *canon.Value
	}{
		{ledger.KindSourceProof, c.Qualification.SourceProofRoot, &d.SourceProof},
		{ledger.KindNativeProof, c.Qualification.NativeProofRoot, &d.NativeProof},
		{ledger.KindContract, c.Qualification.ContractRoot, &d.Contract},
		{ledger.KindQualReceipt, "", &d.Receipt},
	} {
		found := false
		for _, doc := range v.of(x.kind) { // the newest attempt is the last
			value, err := canon.Parse([]byte(doc.Body))
			if err != nil {
				return at(doc.Kind, doc.Ref, err)
			}
			own := value.Str("proofRoot") + value.Str("contractRoot")
			if x.root == "" || own == x.root {
				*x.into, found = value, true
			}
		}
		if !found {
			return wrong(x.kind, x.root, "the candidate was qualified by it and it is not in the docket")
		}
	}
	if err := landing.VerifyQualification(c, d); err != nil {
		return at(ledger.KindContract, c.Qualification.ContractRoot, err)
	}
	v.say("qualified by the native command on the merged tree")
	return nil
}

// readback checks the last leg: what was admitted is what the remote showed
// afterwards, and the landed commit is in the docket with that very tree.
func (v *verifier) readback(c landing.Candidate) error {
	admissions, readbacks := v.of(ledger.KindAdmission), v.of(ledger.KindReadback)
	if len(admissions) == 0 || len(readbacks) == 0 {
		return wrong(ledger.KindReadback, c.Terminal.ReadbackRoot, "admission or readback is not in the docket")
	}
	a, r := admissions[len(admissions)-1], readbacks[len(readbacks)-1]
	admission, err := canon.Parse([]byte(a.Body))
	if err != nil {
		return at(a.Kind, a.Ref, err)
	}
	readback, err := canon.Parse([]byte(r.Body))
	if err != nil {
		return at(r.Kind, r.Ref, err)
	}
	if err := landing.VerifyLanding(c, admission, readback); err != nil {
		return at(r.Kind, r.Ref, err)
	}
	view, err := landing.RecomputeReadback(readback)
	if err != nil {
		return at(r.Kind, r.Ref, err)
	}
	if view.Outcome != landing.Merged {
		v.say("not landed: " + view.Reason)
		return nil
	}
	parsed, _, err := landing.ParseAdmission(admission)
	if err != nil {
		return at(a.Kind, a.Ref, err)
	}
	return v.landedCommit(c, parsed.MergeGroupHead, view.LandedTree)
}

func (v *verifier) landedCommit(c landing.Candidate, head, tree string) error {
	body, err := v.objects.get("commit", head)
	if err != nil {
		return at("commit", head, err)
	}
	m, err := parseCommit(body)
	if err != nil {
		return at("commit", head, err)
	}
	if m.Tree != tree {
		return wrong("commit", head, "its tree is %s, the remote showed %s", m.Tree, tree)
	}
	root, err := landing.ClosureRoot(m.Tree)
	if err != nil {
		return at("commit", head, err)
	}
	if root != c.ClosureRoot {
		return wrong("commit", head, "its tree %s is not the one that was qualified", m.Tree)
	}
	if len(m.Parents) != 2 || m.Parents[1] != c.SourceHead {
		return wrong("commit", head, "its parents are %v; the second has to be %s", m.Parents, c.SourceHead)
	}
	v.landed = head
	if m.Parents[0] == v.measured.baseline && m.Tree == v.measured.contenderTree {
		v.say("landed as " + head + " with the very tree that was measured")
	} else {
		v.say("landed as " + head + " on a base that had moved; the merged tree was qualified")
	}
	return nil
}

// ended checks that the journal's ending says what the landing says.
func (v *verifier) ended() error {
	e, ok := v.find(journal.RunCompleted)
	if !ok {
		for _, kind := range []string{journal.RunFailed, journal.RunDeclined, journal.RunCancelled, journal.RunExpired} {
			if e, ok := v.find(kind); ok {
				v.say(kind + " " + e.body.Str("code") + ": " + e.body.Str("message") + e.body.Str("reason") + e.body.Str("cause"))
				return nil
			}
		}
		v.say("the run has not ended")
		return v.missing()
	}
	done, _ := journal.ReadCompletion([]byte(e.Body))
	if v.landed == "" {
		if done.LandedCommit != "" {
			return wrong("event", e.ID, "it says that %s landed; the docket does not show it", done.LandedCommit)
		}
		return nil
	}
	steps := v.of(ledger.KindLandingStep)
	states, err := v.states()
	if err != nil {
		return err
	}
	last, err := v.replay(steps[len(steps)-1], states)
	if err != nil {
		return err
	}
	c, err := v.ownCandidate(last)
	if err != nil {
		return err
	}
	terminal, err := TerminalRoot(c)
	if err != nil {
		return at("candidate", c.CandidateID, err)
	}
	for _, x := range []struct{ what, got, want string }{
		{"candidate", done.CandidateID, c.CandidateID}, {"outcome", done.Outcome, string(c.Status)},
		{"terminal root", done.TerminalRoot, terminal}, {"landed commit", done.LandedCommit, v.landed},
	} {
		if x.got != x.want {
			return wrong("event", e.ID, "its %s is %s, the landing says %s", x.what, x.got, x.want)
		}
	}
	v.say("the journal was told: " + done.Summary)
	return nil
}

// TerminalRoot is the root of how a candidate ended, by which the journal names it.
func TerminalRoot(c landing.Candidate) (string, error) {
	t := c.Terminal
	body := map[string]any{
		"schema": "writ.landing-terminal/v1", "candidateId": c.CandidateID, "outcome": string(t.Outcome),
		"evidenceRoot": t.EvidenceRoot, "reason": t.Reason, "settledAt": string(t.SettledAt),
	}
	if t.ReadbackRoot != "" {
		body["readbackRoot"] = t.ReadbackRoot
	}
	v, err := canon.From(body)
	if err != nil {
		return "", err
	}
	return canon.Root(v), nil
}
