package host

import (
	"context"
	"slices"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// generation of the activation: the shipped profile is part of the binary and
// was activated once.
const generation = 1

// compiled is a proposal turned into exact work.
type compiled struct {
	material
	plan    taskpack.Plan
	profile taskpack.Profile
	binding taskpack.Binding
	tables  taskpack.Tables
}

// compile resolves the proposal in this host's tables, and in nothing else.
func (h *Host) compile(ctx context.Context, workspace string, repo Repository, p proposal.Proposal) (compiled, error) {
	m, err := h.material(ctx, p)
	if err != nil {
		return compiled{}, err
	}
	c := compiled{material: m}
	if c.profile, err = repo.profile(); err != nil {
		return c, err
	}
	if c.binding, err = taskpack.BindProfile(c.profile, taskpack.BindParams{Workspace: workspace, Root: repo.root()}); err != nil {
		return c, err
	}
	c.tables = taskpack.ShippedTables(attested())
	for _, cmd := range repo.commands() {
		c.tables.Commands[cmd.Ref] = cmd
	}
	for ref, patch := range m.patches {
		c.tables.Patches[ref] = patch
	}
	c.plan, err = taskpack.Compile(taskpack.CompileParams{
		Candidate: m.candidate, Profile: c.profile, Binding: c.binding, Generation: generation, Tables: c.tables,
	})
	if err != nil {
		return c, err
	}
	return c, taskpack.RelatePlan(p, m.candidate, c.profile, c.binding, c.plan)
}

// admitted is the same as it was stored when the run was admitted: plan, profile,
// binding, and the commands that the plan pins.
func (h *Host) admitted(ctx context.Context, workspace string, t Task, p proposal.Proposal) (compiled, error) {
	m, err := h.material(ctx, p)
	if err != nil {
		return compiled{}, err
	}
	c := compiled{material: m}
	stored := func(kind, ref string, parse func([]byte) error) error {
		d, err := h.document(ctx, workspace, kind, docket.Own(ref, t.Run))
		if err == nil {
			err = parse(d.Body)
		}
		return err
	}
	if err := stored(ledger.KindPlan, t.Plan, func(b []byte) (err error) { c.plan, err = taskpack.ParsePlan(b); return err }); err != nil {
		return c, err
	}
	if err := stored(ledger.KindProfile, c.plan.Profile, func(b []byte) (err error) { c.profile, err = taskpack.ParseProfile(b); return err }); err != nil {
		return c, err
	}
	if err := stored(ledger.KindBinding, c.plan.Binding, func(b []byte) (err error) { c.binding, err = taskpack.ParseBinding(b); return err }); err != nil {
		return c, err
	}
	c.tables = taskpack.ShippedTables(attested())
	for ref, patch := range m.patches {
		c.tables.Patches[ref] = patch
	}
	for _, s := range c.plan.Steps {
		if !s.Command() {
			continue
		}
		sum, err := proposal.ParseDigest(s.Pinned)
		if err != nil {
			return c, err
		}
		raw, err := h.blob(ctx, sum, taskpack.MaxCandidate)
		if err != nil {
			return c, err
		}
		if c.tables.Commands[s.Profile], err = taskpack.ParseCommandProfile(raw); err != nil {
			return c, err
		}
	}
	return c, nil
}

// attested is what a fresh contained environment of this host is. Package
// contain refuses to make one where the kernel denies any of it.
func attested() taskpack.Containment {
	return taskpack.Containment{
		Exclusive: true, Pinned: true, Network: taskpack.NetworkNone,
		Destroyable: true, Confirms: true, EnvironmentOf: taskpack.EnvironmentWorktree,
	}
}

// admit compiles an admitted proposal and returns what goes in with the
// decision: profile, binding, plan, the first fact of the run, and the task.
func (h *Host) admit(ctx context.Context, workspace string, r run, p proposal.Proposal, rev proposal.Review, d proposal.Decision) (batch, error) {
	repo, err := h.repository(ctx, workspace)
	if err != nil {
		return batch{}, err
	}
	c, err := h.compile(ctx, workspace, repo, p)
	if err != nil {
		return batch{}, err
	}
	if err := measures(c.plan); err != nil {
		return batch{}, err
	}
	base, err := p.Base()
	if err != nil {
		return batch{}, err
	}
	open, err := h.openTasks(ctx, workspace)
	if err != nil {
		return batch{}, err
	}
	first, err := taskpack.Admit(taskpack.AdmitParams{
		Plan: c.plan, Profile: c.profile, Binding: c.binding, Generation: generation, Tables: c.tables, Open: open,
	})
	if err != nil {
		return batch{}, err
	}
	ref := taskpack.RunRef(c.plan.Ref, taskpack.RunKey(p))
	_, fact, err := taskpack.NewRun(c.plan, ref).Append(first, h.Now())
	if err != nil {
		return batch{}, err
	}
	t := Task{Run: r.ID, Lane: r.Lane, Space: r.Space, Phase: Running, Proposal: p.Ref, Review: rev.Ref, Decision: d.Ref, Plan: c.plan.Ref, TaskRun: ref, BaseHead: base}
	cell, err := t.write()
	if err != nil {
		return batch{}, err
	}
	if err := h.keepTables(ctx, workspace, c); err != nil {
		return batch{}, err
	}
	events, cells, err := h.takeOver(ctx, workspace, r.ID)
	if err != nil {
		return batch{}, err
	}
	return batch{
		events: events,
		docs: []ledger.NewDocument{
			{Kind: ledger.KindProfile, Ref: docket.Own(c.profile.Digest(), r.ID), RunID: r.ID, Body: c.profile.Bytes},
			{Kind: ledger.KindBinding, Ref: docket.Own(c.binding.Digest(), r.ID), RunID: r.ID, Body: c.binding.Bytes},
			{Kind: ledger.KindPlan, Ref: docket.Own(c.plan.Ref, r.ID), RunID: r.ID, Body: c.plan.Bytes},
			factDocument(r.ID, fact),
		},
		cells: append(cells, cell),
	}, nil
}

// keepTables keeps the host's own documents that the plan pins by digest, so that
// the plan can be compiled again by whoever has the docket.
func (h *Host) keepTables(ctx context.Context, workspace string, c compiled) error {
	for _, cmd := range c.tables.Commands {
		if _, err := h.putBlob(ctx, workspace, cmd.Value().Canonical()); err != nil {
			return err
		}
	}
	for _, policy := range c.tables.Policies {
		if _, err := h.putBlob(ctx, workspace, policy.Value().Canonical()); err != nil {
			return err
		}
	}
	return nil
}

// openTasks counts the runs of the workspace whose environment may still exist.
func (h *Host) openTasks(ctx context.Context, workspace string) (int, error) {
	n := 0
	cells, err := h.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellTask})
	if err != nil {
		return 0, err
	}
	for _, c := range cells {
		t, err := readTask(c)
		if err != nil {
			return 0, err
		}
		if t.Phase == Running || t.Phase == Waiting {
			n++
		}
	}
	return n, nil
}

// measures refuses a plan that no gate could judge: without a comparison of the
// change with its base there is nothing that could verify it.
func measures(p taskpack.Plan) error {
	at := func(id, profile string) int {
		return slices.IndexFunc(p.Steps, func(s taskpack.PlanStep) bool { return s.ID == id && s.Profile == profile })
	}
	change, compare := at(taskpack.Change, taskpack.PolicyModuleSources), at(taskpack.Compare, taskpack.ProfileBenchmarkCompare)
	if change < 0 || compare < change {
		return fault.New(fault.Plan, "compile candidate", "the steps change nothing, or do not compare the change with its base").At("/steps").
			With("refusal", string(taskpack.OutsideProfile)).Help("take the steps list, change, check and compare")
	}
	return nil
}

// keyOf is the key that a participant signs with.
func keyOf(p participant) (ident.PublicKey, error) {
	if p.NodeID == "" {
		return ident.PublicKey{}, fault.New(fault.Signer, "find key", "%s has no key", p.Name).Help("an admin registers one")
	}
	return ident.ParseNode(p.NodeID)
}

func factDocument(run string, f taskpack.Fact) ledger.NewDocument { return f.Entry(run, "") }

// answer checks a human answer against the question that the host keeps.
func (in *intake) answer() error {
	a, err := proposal.AsAnswer(in.doc)
	if err != nil {
		return err
	}
	stored, err := in.h.document(in.ctx, in.s.Workspace, ledger.KindRequest, a.Request)
	if err != nil {
		return err
	}
	q, err := taskpack.ParseQuestion(stored.Body)
	if err != nil {
		return err
	}
	t, err := in.h.task(in.ctx, in.s.Workspace, in.s.RunID)
	if err != nil {
		return err
	}
	if q.Run != t.TaskRun {
		return fault.New(fault.Relation, "accept answer", "the question is of another run").At("/request~1ref")
	}
	p, err := read(in.ctx, in.h, in.s.Workspace, proposal.KindProposal, t.Proposal, proposal.AsProposal)
	if err != nil {
		return err
	}
	who, err := in.h.participant(in.ctx, in.s.Workspace, in.s.By.ID)
	if err != nil {
		return err
	}
	approver := proposal.Approver{Kind: who.Kind, ID: who.ID}
	if who.has("operator") {
		approver.Binding = proposal.OperatorBinding(in.s.Workspace, who.ID)
	}
	if approver.Key, err = keyOf(who); err != nil {
		return err
	}
	err = proposal.CheckAnswer(a, proposal.ApprovalFacts{
		Request: q.Ref, RequestExpiry: q.Expires, Approver: approver, Author: p.Author, AuthorKey: p.Signer,
	}, in.h.Now())
	if err != nil {
		return err
	}
	if err := in.first(q); err != nil {
		return err
	}
	in.once = "answer|" + q.Ref // one answer per question, whoever gives it
	events, cells, err := in.h.decided(in.ctx, in.s.Workspace, in.run, q, a, who)
	if fault.CodeOf(err) == fault.State { // the lane heard of it in another way; the signed answer is what counts
		err = nil
	}
	in.extra.events, in.extra.cells = events, cells
	return err
}

// first refuses a second answer to a question: what was answered stands.
func (in *intake) first(q taskpack.Question) error {
	docs, err := in.h.Store.Documents(in.ctx, in.s.Workspace, ledger.DocumentFilter{RunID: in.s.RunID, Kinds: []string{ledger.KindAnswer}})
	if err != nil {
		return err
	}
	for _, d := range docs {
		v, err := canon.Parse(d.Body)
		if err != nil {
			return err
		}
		if v.Str("request/ref") == q.Ref {
			return answered(d.Ref)
		}
	}
	return nil
}

func answered(by string) error {
	e := fault.New(fault.ChangedReplay, "accept answer", "the question was answered before, with other content").At("/request~1ref").
		Help("an answer is never taken back; a new ask gives a new run")
	if by != "" {
		e = e.With("answer", by)
	}
	return e
}
