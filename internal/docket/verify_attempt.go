package docket

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/landing"
	"writ/internal/ledger"
	"writ/internal/verdict"
)

// producerBodies opens the bodies behind the roots that candidates name.
func (v *verifier) producerBodies() (map[string]landing.ProducerBody, error) {
	bodies := map[string]landing.ProducerBody{}
	for _, d := range v.of(ledger.KindProducerRoot) {
		value, err := canon.Parse([]byte(d.Body))
		if err != nil {
			return nil, at(d.Kind, d.Ref, err)
		}
		body, root, err := landing.ParseProducer(value)
		if err != nil {
			return nil, at(d.Kind, d.Ref, err)
		}
		if err := d.named(ProducerRef(root, v.b.Run)); err != nil {
			return nil, err
		}
		bodies[root] = body
	}
	return bodies, nil
}

// producers holds every root of the candidate against its body, and the bodies
// against what was measured. It returns the tree that the candidate would land.
func (v *verifier) producers(c landing.Candidate, bodies map[string]landing.ProducerBody) (tree string, err error) {
	base, err := v.commit(v.measured.baseline)
	if err != nil {
		return "", err
	}
	body := func(name, root string) (landing.ProducerBody, error) {
		b, ok := bodies[root]
		if !ok {
			return nil, wrong(ledger.KindProducerRoot, root, "the body behind the %s root is not in the docket", name)
		}
		v.used[ProducerRef(root, v.b.Run)] = true
		return b, nil
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
			return ok && p.PlanRef == v.plan.Ref && slices.Equal(p.Orders, v.measured.orders)
		}},
		{"closure", c.ClosureRoot, func(b landing.ProducerBody) bool {
			m, ok := b.(*landing.ClosureBody)
			if ok {
				tree = m.MergedTree
			}
			return ok
		}},
		{"dependency", c.DependencyRoot, is[*landing.DependencyBody]},
		{"toolchain", c.ToolchainRoot, is[*landing.ToolchainBody]},
		{"environment", c.EnvironmentRoot, func(b landing.ProducerBody) bool {
			e, ok := b.(*landing.EnvironmentBody)
			return ok && e.Identity == v.measured.identity
		}},
	} {
		b, err := body(x.name, x.root)
		if err != nil {
			return "", err
		}
		if !x.fits(b) {
			return "", wrong(ledger.KindProducerRoot, x.root, "the body behind the %s root is not what was measured", x.name)
		}
	}
	for _, root := range c.ShardEvidenceRoots {
		b, err := body("evidence", root)
		if err != nil {
			return "", err
		}
		if e, ok := b.(*landing.EvidenceBody); !ok || e.ResultSet != "sha256:"+v.measured.resultSet.SHA256 {
			return "", wrong(ledger.KindProducerRoot, root, "the body behind the evidence root is not the result set")
		}
	}
	for _, root := range c.QualificationDomains {
		if b, err := body("domain", root); err != nil || !is[*landing.DomainBody](b) {
			return "", firstOf(err, wrong(ledger.KindProducerRoot, root, "it is no domain"))
		}
	}
	switch {
	case c.SourceHead != v.measured.contender:
		err = wrong("candidate", c.CandidateID, "its source head is %s, %s was measured", c.SourceHead, v.measured.contender)
	case len(c.ShardEvidenceRoots) != 1:
		err = wrong("candidate", c.CandidateID, "it names %d pieces of evidence, not one", len(c.ShardEvidenceRoots))
	case !slices.Equal(c.AffectedPaths, v.affected()):
		err = wrong("candidate", c.CandidateID, "it affects %v, the patches write %v", c.AffectedPaths, v.affected())
	}
	return tree, err
}

func is[T landing.ProducerBody](b landing.ProducerBody) bool { _, ok := b.(T); return ok }

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// affected are the paths that the patches write or delete, sorted.
func (v *verifier) affected() []string {
	var out []string
	for _, c := range v.changes() {
		out = append(out, c.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// rooted finds the document of a kind whose own root is the one that is named.
func (v *verifier) rooted(kind, root, what string, rootOf func(canon.Value) string) (found Document, value canon.Value, err error) {
	for _, d := range v.of(kind) {
		x, err := canon.Parse([]byte(d.Body))
		if err != nil {
			return d, x, at(d.Kind, d.Ref, err)
		}
		if rootOf(x) != root {
			continue
		}
		if err := d.named(BytesRef(kind, []byte(d.Body))); err != nil {
			return d, x, err
		}
		v.use(d)
		return d, x, nil
	}
	return found, value, wrong(kind, root, "%s and it is not in the docket", what)
}

func member(name string) func(canon.Value) string {
	return func(v canon.Value) string { return v.Str(name) }
}

// sourceProof checks which source the candidate was submitted for. The root of a
// proof leaves its time out: attempts may name one root and have a proof each.
func (v *verifier) sourceProof(c landing.Candidate) error {
	found := false
	for _, d := range v.of(ledger.KindSourceProof) {
		value, err := canon.Parse([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		p, err := landing.ParseSourceProof(value)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if p.Root != c.SourceProofRoot {
			continue
		}
		if p.SourceHead != c.SourceHead || p.ClosureRoot != c.ClosureRoot || p.SourcePatchRoot != c.SourcePatchRoot || p.PlanRoot != c.PlanRoot {
			return wrong(d.Kind, d.Ref, "it is not about candidate %s", c.CandidateID)
		}
		if err := d.named(BytesRef(d.Kind, []byte(d.Body))); err != nil {
			return err
		}
		v.use(d)
		found = true
	}
	if !found {
		return wrong(ledger.KindSourceProof, c.SourceProofRoot, "the candidate names it and it is not in the docket")
	}
	return nil
}

// qualified checks the documents of a qualification, and that the tree which it
// was made on is the measured one, or was measured for it.
func (v *verifier) qualified(c landing.Candidate, tree string) error {
	var d landing.QualificationDocuments
	q := c.Qualification
	for _, x := range []struct {
		kind   string
		root   string
		rootOf func(canon.Value) string
		into   *canon.Value
	}{
		{ledger.KindSourceProof, q.SourceProofRoot, member("proofRoot"), &d.SourceProof},
		{ledger.KindNativeProof, q.NativeProofRoot, member("proofRoot"), &d.NativeProof},
		{ledger.KindContract, q.ContractRoot, member("contractRoot"), &d.Contract},
		{ledger.KindQualReceipt, q.ReceiptRoot, canon.Root, &d.Receipt},
	} {
		var err error
		if _, *x.into, err = v.rooted(x.kind, x.root, "the candidate was qualified by it", x.rootOf); err != nil {
			return err
		}
	}
	if err := landing.VerifyQualification(c, d); err != nil {
		return at(ledger.KindContract, q.ContractRoot, err)
	}
	proof, err := landing.ParseNativeProof(d.NativeProof)
	if err != nil {
		return at(ledger.KindNativeProof, q.NativeProofRoot, err)
	}
	r, value, err := v.rooted(ledger.KindRunReceipt, proof.Receipt.Root, "the native proof holds it", member("receiptRoot"))
	if err != nil {
		return err
	}
	if held, _ := d.NativeProof.Get("nativeExecutionReceipt"); !canon.Equal(held, value) {
		return wrong(r.Kind, r.Ref, "it is not the receipt in the native proof")
	}
	v.say("qualified by the native command on the merged tree")
	if tree == v.measured.contenderTree {
		return nil
	}
	return v.remeasuredFor(c, tree, proof.Receipt.Binding.QualifiedBase)
}

// remeasuredFor checks the comparison that qualified a merge whose tree is not
// the one that the compare step measured.
func (v *verifier) remeasuredFor(c landing.Candidate, tree, base string) error {
	m, ok := v.remeasured[tree]
	if !ok || m.answer != verdict.Pass || m.baseline != base {
		return wrong("candidate", c.CandidateID, "it would land tree %s on %s, which no comparison of this docket passed", tree, base)
	}
	before, err := v.commit(m.baseline)
	if err != nil {
		return err
	}
	merge, err := v.commit(m.contender)
	if err != nil {
		return err
	}
	switch {
	case before.Tree != m.baselineTree:
		return wrong("commit", m.baseline, "its tree is %s, %s was measured", before.Tree, m.baselineTree)
	case merge.Tree != m.contenderTree:
		return wrong("commit", m.contender, "its tree is %s, %s was measured", merge.Tree, m.contenderTree)
	case !slices.Equal(merge.Parents, []string{m.baseline, c.SourceHead}):
		return wrong("commit", m.contender, "its parents are %v, not the base and the change", merge.Parents)
	}
	v.say("the base had moved: the merge was measured against " + m.baseline)
	return nil
}

// admission is the admission of a candidate's attempt; false when there is none.
func (v *verifier) admission(c landing.Candidate) (landing.Admission, canon.Value, bool, error) {
	for _, d := range v.of(ledger.KindAdmission) {
		value, err := canon.Parse([]byte(d.Body))
		if err != nil {
			return landing.Admission{}, value, false, at(d.Kind, d.Ref, err)
		}
		a, _, err := landing.ParseAdmission(value)
		if err != nil {
			return a, value, false, at(d.Kind, d.Ref, err)
		}
		if a.CandidateID != c.CandidateID {
			continue
		}
		v.use(d)
		if a.SourceHead != c.SourceHead || a.Attempt.Git != nil && a.Attempt.Git.RunnerID != v.b.Host {
			return a, value, false, wrong(d.Kind, d.Ref, "it is not of this host and change")
		}
		return a, value, true, d.named(BytesRef(d.Kind, []byte(d.Body)))
	}
	return landing.Admission{}, canon.Value{}, false, nil
}

// underWay looks at a candidate that has not ended: it may have been admitted.
func (v *verifier) underWay(c landing.Candidate) error {
	a, _, ok, err := v.admission(c)
	if err != nil || !ok {
		return err
	}
	m, err := v.commit(a.MergeGroupHead)
	if err != nil {
		return err
	}
	v.say("merge " + a.MergeGroupHead + " is admitted; what became of it was not read back yet")
	return v.merges(c, a.MergeGroupHead, m)
}

// settled checks why somebody ended a candidate that was not landing.
func (v *verifier) settled(c landing.Candidate) error {
	d, value, err := v.rooted(ledger.KindSettlement, c.Terminal.EvidenceRoot, "the candidate was ended by it", member("evidenceRoot"))
	if err != nil {
		return err
	}
	if value.Str("schema") == landing.MovedBaseSchema {
		e, err := landing.ParseMovedBaseEvidence(value)
		if err == nil && (e.Fence.CandidateID != c.CandidateID || c.Terminal.Reason != landing.ReasonBaseMoved) {
			err = wrong(d.Kind, d.Ref, "it is not about candidate %s", c.CandidateID)
		}
		return at(d.Kind, d.Ref, err)
	}
	e, err := landing.ParseSettlementEvidence(value)
	if err == nil && (e.CandidateID != c.CandidateID || e.Outcome != c.Terminal.Outcome || e.Reason != c.Terminal.Reason || e.Actor != v.b.Host) {
		err = wrong(d.Kind, d.Ref, "it says %s: %s, candidate %s ended %s: %s", e.Outcome, e.Reason, c.CandidateID, c.Terminal.Outcome, c.Terminal.Reason)
	}
	return at(d.Kind, d.Ref, err)
}

// readback checks the last leg: what was admitted is what the remote showed
// afterwards, and the landed commit is in the docket with that very tree.
func (v *verifier) readback(c landing.Candidate) error {
	d, value, err := v.rooted(ledger.KindReadback, c.Terminal.ReadbackRoot, "the candidate was ended by it", member("readbackRoot"))
	if err != nil {
		return err
	}
	a, admission, ok, err := v.admission(c)
	if err == nil && !ok {
		err = wrong(ledger.KindAdmission, c.CandidateID, "the candidate was admitted by it and it is not in the docket")
	}
	if err != nil {
		return err
	}
	if err := landing.VerifyLanding(c, admission, value); err != nil {
		return at(d.Kind, d.Ref, err)
	}
	view, err := landing.RecomputeReadback(value)
	if err != nil {
		return at(d.Kind, d.Ref, err)
	}
	m, err := v.commit(a.MergeGroupHead)
	if err != nil {
		return err
	}
	if err := v.merges(c, a.MergeGroupHead, m); err != nil {
		return err
	}
	if view.Outcome != landing.Merged {
		v.say("not landed: " + view.Reason)
		return nil
	}
	if m.Tree != view.LandedTree {
		return wrong("commit", a.MergeGroupHead, "its tree is %s, the remote showed %s", m.Tree, view.LandedTree)
	}
	v.landed = a.MergeGroupHead
	if m.Parents[0] == v.measured.baseline && m.Tree == v.measured.contenderTree {
		v.say("landed as " + v.landed + " with the very tree that was measured")
	} else {
		v.say("landed as " + v.landed + " on a base that had moved; the merged tree was qualified")
	}
	return nil
}

// merges checks that a merge commit is of the candidate's change and of the tree
// that was qualified.
func (v *verifier) merges(c landing.Candidate, head string, m commitObject) error {
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
	return nil
}
