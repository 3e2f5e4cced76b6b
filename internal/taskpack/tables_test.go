package taskpack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// TestRefusalsAreClosed holds the table against the schema, which has the same
// vocabulary and knows which retry class and next action belong to each code.
func TestRefusalsAreClosed(t *testing.T) {
	t.Parallel()
	rows := Refusals()
	if len(rows) != 45 {
		t.Errorf("%d codes, want 45", len(rows))
	}
	seen := map[Code]bool{}
	for _, r := range rows {
		if seen[r.Code] {
			t.Errorf("%s comes twice", r.Code)
		}
		seen[r.Code] = true
		v, err := RefusalDocument(r.Code, "operator-task-run:x", "workspace")
		if err != nil {
			t.Errorf("%s: %v", r.Code, err)
		}
		if err := schema.Validate(schema.Refusal, v.With("retry-class", canon.StringOf("whenever"))); err == nil {
			t.Errorf("%s: any retry class passes", r.Code)
		}
		e := refuse(r.Code, "x")
		if CodeOf(e) != r.Code || (e.Get("next") == "") != (r.Next == "none") {
			t.Errorf("%s: fault carries %q and %q", r.Code, CodeOf(e), e.Get("next"))
		}
	}
	if _, err := RefusalDocument("plan/because", ""); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a code outside the vocabulary: %v", err)
	}
	if CodeOf(nil) != "" || CodeOf(fault.New(fault.Internal, "", "")) != "" {
		t.Error("no refusal, no code")
	}
}

// TestMeet: the algebra only ever narrows.
func TestMeet(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"", EachStep, EachMutation})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		m := MeetHIL(a, b, c)
		if m != MeetHIL(c, a, b) || m != MeetHIL(m, m) || m != MeetHIL(MeetHIL(a, b), c) && (a != "" || b != "") {
			t.Fatalf("order or grouping matters: %q %q %q", a, b, c)
		}
		for _, x := range []string{a, b, c} {
			if x != "" && looser(modes, m, x) {
				t.Fatalf("%s is looser than %s", m, x)
			}
		}
		if !NeedsAnswer(m, Mutation) {
			t.Fatal("a mutation asks nobody")
		}
	})
	if MeetHIL() != EachStep || MeetHIL("whatever") != EachStep || MeetHIL(EachMutation, "") != EachMutation {
		t.Error("without a word, or with an unknown one, the strictest holds")
	}
	if NeedsAnswer(EachMutation, Observation) || !NeedsAnswer(EachStep, Observation) || !NeedsAnswer("?", Observation) {
		t.Error("observations are asked about under each-step only")
	}
}

func TestCheckBinding(t *testing.T) {
	t.Parallel()
	p := GoChangeProfile()
	b := must(LocalBinding("w", "workspace-root:r"))
	if err := CheckBinding(p, b); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		change func(*Profile, *Binding)
		code   Code
	}{
		{"looser network", func(_ *Profile, b *Binding) { b.Network = NetworkIsolated }, BindingOutside},
		{"unknown network", func(_ *Profile, b *Binding) { b.Network = "all" }, BindingOutside},
		{"looser asking", func(p *Profile, _ *Binding) { p.HIL = EachStep }, BindingOutside},
		{"no image", func(_ *Profile, b *Binding) { b.Image = "" }, BindingIncomplete},
		{"foreign image", func(_ *Profile, b *Binding) { b.Image = "image-variant:other" }, BindingOutside},
		{"more passages", func(_ *Profile, b *Binding) { b.Limits.Passages = 9 }, BindingOutside},
		{"more cycles than passages", func(_ *Profile, b *Binding) { b.Limits.Cycles = 9 }, BindingOutside},
		{"more time", func(_ *Profile, b *Binding) { b.Limits.WallTimeMS = 86400001 }, BindingOutside},
	} {
		p, b := p, b
		row.change(&p, &b)
		if got := CodeOf(CheckBinding(p, b)); got != row.code {
			t.Errorf("%s: got %q, want %q", row.name, got, row.code)
		}
	}
	stricter := b
	stricter.HIL = EachStep
	if err := CheckBinding(p, stricter); err != nil {
		t.Errorf("stricter than the profile: %v", err)
	}
}

func TestContainment(t *testing.T) {
	t.Parallel()
	if err := contained().Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Containment){
		"shared":           func(c *Containment) { c.Exclusive = false },
		"any image":        func(c *Containment) { c.Pinned = false },
		"host folder":      func(c *Containment) { c.SharesHost = true },
		"isolated network": func(c *Containment) { c.Network = NetworkIsolated },
		"unknown network":  func(c *Containment) { c.Network = "" },
		"actuation":        func(c *Containment) { c.Actuation = true },
		"credentials":      func(c *Containment) { c.Credentials = true },
		"not destroyable":  func(c *Containment) { c.Destroyable = false },
		"no confirmation":  func(c *Containment) { c.Confirms = false },
		"nothing is known": func(c *Containment) { *c = Containment{} },
	} {
		c := contained()
		change(&c)
		err := c.Check()
		wantRefusal(t, err, NotContained)
		if fault.CodeOf(err) != fault.NotContained {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCommandSelect(t *testing.T) {
	t.Parallel()
	rows := map[string]CommandProfile{}
	for _, c := range Commands() {
		rows[c.Ref] = c
	}
	for _, row := range []struct {
		ref  string
		args []string
		want Selection // zero: refused
	}{
		{ProfileTests, nil, Selection{Packages: []string{"./..."}}},
		{ProfileTests, []string{".", "./a/b", "./a/..."}, Selection{Packages: []string{".", "./a/b", "./a/..."}}},
		{ProfileBenchmarkList, nil, Selection{Packages: []string{"./..."}, Benchmarks: "."}},
		{ProfileBenchmarkCompare, []string{"bench=^BenchmarkEncode$/small", "./canon"}, Selection{Packages: []string{"./canon"}, Benchmarks: "^BenchmarkEncode$/small"}},
		{ProfileTests, []string{"bench=."}, Selection{}},
		{ProfileBenchmarkList, []string{"bench=a", "bench=b"}, Selection{}},
		{ProfileBenchmarkList, []string{"bench="}, Selection{}},
		{ProfileBenchmarkList, []string{"bench=("}, Selection{}},
		{ProfileTests, []string{"-exec=sh"}, Selection{}},
		{ProfileTests, []string{"./-exec"}, Selection{}},
		{ProfileTests, []string{"..."}, Selection{}},
		{ProfileTests, []string{"std"}, Selection{}},
		{ProfileTests, []string{"example.com/x"}, Selection{}},
		{ProfileTests, []string{"/etc"}, Selection{}},
		{ProfileTests, []string{"./../x"}, Selection{}},
		{ProfileTests, []string{"./a/../../x"}, Selection{}},
		{ProfileTests, []string{"./.git"}, Selection{}},
		{ProfileTests, []string{"./a b"}, Selection{}},
		{ProfileTests, []string{"./a\nb"}, Selection{}},
		{ProfileTests, []string{"./a//b"}, Selection{}},
		{ProfileTests, []string{"./a..."}, Selection{}},
		{ProfileTests, []string{"./"}, Selection{}},
		{ProfileTests, []string{""}, Selection{}},
	} {
		got, err := rows[row.ref].Select(row.args)
		if row.want.Packages == nil {
			if CodeOf(err) != OutsideProfile {
				t.Errorf("%s %q: got %+v, %v", row.ref, row.args, got, err)
			}
			continue
		}
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("%s %q: %v\n%s", row.ref, row.args, err, diff)
		}
	}
	tests := rows[ProfileTests]
	argv := tests.Command(Selection{Packages: []string{"./a", "./b"}})
	if diff := cmp.Diff([]string{"go", "test", "-count=1", "./a", "./b"}, argv); diff != "" {
		t.Error(diff)
	}
	if rows[ProfileBenchmarkCompare].Command(Selection{}) != nil {
		t.Error("a harness does the work of a comparison")
	}
}

func TestShippedDocuments(t *testing.T) {
	t.Parallel()
	p := GoChangeProfile()
	again := must(ParseProfile(p.Bytes))
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
	for _, c := range Commands() {
		if pin, ok := find(p.Commands, c.Ref); !ok || pin.Digest != c.Digest() {
			t.Errorf("%s is pinned as %+v", c.Ref, pin)
		}
	}
	if p.Policy != (Exact{PolicyModuleSources, ModuleSources().Digest()}) || !p.FirstObserve || p.HIL != EachMutation || p.Network != NetworkNone {
		t.Errorf("profile is %+v", p)
	}
	b := must(LocalBinding("ws_1", "workspace-root:r"))
	if b.Ref != "operator-task-local-binding:ws_1" || b.Revision != 1 || b.Paused || b.Profile != (Exact{ProfileGoChange, p.Digest()}) {
		t.Errorf("binding is %+v", b)
	}
	newer := must(BindProfile(p, BindParams{Workspace: "ws_1", Root: "workspace-root:r", Revision: 2}))
	if newer.Digest() == b.Digest() {
		t.Error("the revision is not part of the digest")
	}
	if _, err := LocalBinding("ws 1", "workspace-root:r"); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a workspace with a space: %v", err)
	}
	twice := append(Commands(), CommandProfile{Ref: ProfileTests})
	if _, err := GoChangeProfileWith(twice, ModuleSources()); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("one command pinned twice: %v", err)
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld()
	q := w.ask(Change, 30)
	again := must(ParseQuestion(q.Bytes))
	if diff := cmp.Diff(q, again); diff != "" {
		t.Error(diff)
	}
	if q.Ref != QuestionRef(w.run, Change) || q.Ref == QuestionRef(w.run, Check) || q.Ref == QuestionRef("operator-task-run:other", Change) {
		t.Error("a question is one of its run and step")
	}
	v, _ := q.Value.At("/patch~1files/0/content~1digest")
	if s, _ := v.String(); s != proposal.DigestText(canon.Sum(w.patch.Files[0].Content)) {
		t.Errorf("shows content %s", s)
	}
	_, err := ParseQuestion(q.Value.With("request/ref", canon.StringOf(QuestionRef(w.run, Check))).Canonical())
	wantFault(t, err, fault.RefMismatch, "/request~1ref")
	_, err = ParseQuestion(q.Value.With("expires-at", canon.StringOf(q.Value.Str("requested-at"))).Canonical())
	wantFault(t, err, fault.Invalid, "/expires-at")

	ask := AskParams{Plan: w.plan, Run: w.run, Binding: w.Binding, Profile: w.Profile, Step: Change, Patch: &w.patch, At: at(1), Expires: at(2)}
	other := must(NewPatch(PolicyModuleSources, write("other.go", "")))
	for _, row := range []struct {
		name   string
		change func(*AskParams)
		code   fault.Code
	}{
		{"no such step", func(a *AskParams) { a.Step = "other" }, fault.Invalid},
		{"nobody has to be asked", func(a *AskParams) { a.Step, a.Patch = List, nil }, fault.Invalid},
		{"patch not shown", func(a *AskParams) { a.Patch = nil }, fault.Invalid},
		{"another patch shown", func(a *AskParams) { a.Patch = &other }, fault.Relation},
		{"patch shown for a command", func(a *AskParams) { a.Step = Check }, fault.Invalid},
		{"another binding", func(a *AskParams) { a.Binding = must(LocalBinding("w", "workspace-root:r")) }, fault.Relation},
	} {
		a := ask
		row.change(&a)
		if _, err := Ask(a); fault.CodeOf(err) != row.code {
			t.Errorf("%s: got %v, want %s", row.name, err, row.code)
		}
	}

	s, _ := w.plan.Step(Change)
	if err := q.For(w.plan, "operator-task-run:other", s); fault.CodeOf(err) != fault.Relation {
		t.Errorf("question of another run: %v", err)
	}
	later := w.plan
	later.Generation++
	if err := q.For(later, w.run, s); fault.CodeOf(err) != fault.Relation {
		t.Errorf("question of another generation: %v", err)
	}
	s.Pinned = digestOf("another policy")
	if err := q.For(w.plan, w.run, s); fault.CodeOf(err) != fault.Relation {
		t.Errorf("question about another policy: %v", err)
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	w := newWorld()
	q := w.ask(Change, 30)                                                                   // until minute 50
	yes, no := w.answer(q, proposal.AnswerApprove, 35), w.answer(q, proposal.AnswerDeny, 35) // until minute 65
	stray := w.answer(w.ask(Check, 30), proposal.AnswerApprove, 35)
	for _, row := range []struct {
		name   string
		answer *proposal.Answer
		now    time.Time
		want   Standing
	}{
		{"open", nil, at(49), Pending},
		{"too late", nil, at(50), Late},
		{"yes", &yes, at(36), Approved},
		{"yes, used after the question expired", &yes, at(60), Approved},
		{"yes, used after it expired itself", &yes, at(65), Late},
		{"no", &no, at(36), Denied},
		{"no stays no", &no, at(1000), Denied},
		{"answer to another question", &stray, at(36), Late},
	} {
		if got := q.Stand(row.answer, row.now); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
	facts := proposal.ApprovalFacts{
		Approver: proposal.Approver{Binding: yes.Operator, Kind: proposal.ApproverPerson, ID: "per_D", Key: w.operator.Public()},
		Author:   w.proposal.Author,
	}
	if err := q.Accept(yes, facts, at(40)); err != nil {
		t.Error(err)
	}
	wantFault(t, q.Accept(stray, facts, at(40)), fault.Relation, "/request~1ref")
	wantFault(t, q.Accept(yes, facts, at(50)), fault.Expired, "/request~1ref")
	facts.Approver.Kind = "agent"
	wantFault(t, q.Accept(yes, facts, at(40)), fault.AgentApproval, "/node~1id")
}

func TestAdmitAndFence(t *testing.T) {
	t.Parallel()
	w := newWorld()
	if _, err := Admit(w.admit()); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		change func(*AdmitParams)
		code   Code
	}{
		{"one run is open", func(a *AdmitParams) { a.Open = 1 }, BudgetExhausted},
		{"binding changed", func(a *AdmitParams) {
			a.Binding = must(BindProfile(a.Profile, BindParams{Workspace: "ws_01J00000000000000000000001", Root: "workspace-root:repository.1", Revision: 2}))
		}, "local-binding/revision-stale"},
		{"binding paused", func(a *AdmitParams) { a.Binding.Paused = true }, BindingPaused},
		{"profile changed", func(a *AdmitParams) {
			a.Profile = must(GoChangeProfileWith(append(Commands(), CommandProfile{Ref: "command-profile:more"}), ModuleSources()))
		}, "local-binding/profile-changed"},
		{"generation moved on", func(a *AdmitParams) { a.Generation = 2 }, "package/generation-stale"},
		{"network came up", func(a *AdmitParams) { a.Tables.Environment.Network = NetworkIsolated }, NotContained},
		{"command gone", func(a *AdmitParams) { a.Tables.Commands = nil }, ProfileMissing},
		{"patch gone", func(a *AdmitParams) { a.Tables.Patches = nil }, OutsideProfile},
		{"host asks about every step now", func(a *AdmitParams) { a.Tables.HIL = EachStep }, ChangedReplay},
	} {
		a := w.admit()
		row.change(&a)
		_, err := Admit(a)
		if got := CodeOf(err); got != row.code {
			t.Errorf("%s: got %q (%v), want %q", row.name, got, err, row.code)
		}
	}
	s, _ := w.plan.Step(Check)
	s.Effect = Observation
	wantRefusal(t, Fence(w.admit(), s), ChangedReplay)
}
