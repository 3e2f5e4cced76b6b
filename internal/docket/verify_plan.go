package docket

import (
	"bytes"
	"fmt"

	"writ/internal/canon"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// material is what a proposal names, and what was compiled from it.
type material struct {
	candidate taskpack.Candidate
	patches   []taskpack.Patch // in the order of the steps
	profile   taskpack.Profile
	binding   taskpack.Binding
	plan      taskpack.Plan
	commands  map[string]taskpack.CommandProfile // that the plan pins
}

// planned reads candidate and patches by digest and checks that the plan was
// compiled from them, under the profile and binding that the proposal names.
func (v *verifier) planned() error {
	if v.proposal.Ref == "" {
		return v.missing()
	}
	var err error
	if v.material, err = v.materialOf(v.proposal); err != nil {
		return err
	}
	d, ok, err := v.sole(ledger.KindPlan)
	switch {
	case err != nil:
		return err
	case !ok && v.decision.Ref != "":
		return wrong(ledger.KindDecision, v.decision.Ref, "it admits, and nothing was compiled")
	case !ok:
		v.say("nothing was compiled")
		return v.missing()
	case v.decision.Ref == "":
		return wrong(d.Kind, d.Ref, "it was compiled though nothing was admitted")
	}
	if v.plan, err = taskpack.ParsePlan([]byte(d.Body)); err != nil {
		return at(d.Kind, d.Ref, err)
	}
	if err := d.named(Own(v.plan.Ref, v.b.Run)); err != nil {
		return err
	}
	if err := v.chosen(); err != nil {
		return err
	}
	if err := taskpack.RelatePlan(v.proposal, v.candidate, v.profile, v.binding, v.plan); err != nil {
		return at(d.Kind, d.Ref, err)
	}
	if err := v.recompile(d); err != nil {
		return err
	}
	v.use(d)
	v.say(fmt.Sprintf("compiled to %d steps, each pinned by digest", len(v.plan.Steps)))
	return nil
}

// chosen opens the profile and the binding under which the plan was compiled.
func (v *verifier) chosen() error {
	for _, x := range []struct {
		kind, digest string
		parse        func([]byte) error
	}{
		{ledger.KindProfile, v.plan.Profile, func(b []byte) (err error) { v.profile, err = taskpack.ParseProfile(b); return err }},
		{ledger.KindBinding, v.plan.Binding, func(b []byte) (err error) { v.binding, err = taskpack.ParseBinding(b); return err }},
	} {
		d, ok, err := v.sole(x.kind)
		if err == nil && !ok {
			err = wrong(x.kind, x.digest, "the plan names it and it is not in the docket")
		}
		if err != nil {
			return err
		}
		if err := x.parse([]byte(d.Body)); err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := d.named(Own(proposal.DigestText(canon.Sum([]byte(d.Body))), v.b.Run)); err != nil {
			return err
		}
		v.use(d)
	}
	return nil
}

// materialOf reads what a proposal names from the blobs.
func (v *verifier) materialOf(p proposal.Proposal) (material, error) {
	var m material
	sum, err := proposal.ParseDigest(p.Candidate.Digest)
	if err != nil {
		return m, at(ledger.KindProposal, p.Ref, err)
	}
	raw, err := v.blob(ledger.KindCandidate, p.Candidate.Artifact, sum)
	if err != nil {
		return m, err
	}
	if m.candidate, err = taskpack.ParseCandidate(raw); err != nil {
		return m, at(ledger.KindCandidate, p.Candidate.Artifact, err)
	}
	if m.candidate.Digest() != p.Candidate.Digest {
		return m, wrong(ledger.KindCandidate, p.Candidate.Artifact, "its canonical bytes have another digest")
	}
	for _, s := range m.candidate.Steps {
		if s.Patch == "" {
			continue
		}
		sum, err := canon.ParseRef("artifact", s.Patch)
		if err != nil {
			return m, at(ledger.KindPatch, s.Patch, err)
		}
		raw, err := v.blob(ledger.KindPatch, s.Patch, sum)
		if err != nil {
			return m, err
		}
		patch, err := taskpack.ParsePatch(raw)
		if err != nil {
			return m, at(ledger.KindPatch, s.Patch, err)
		}
		m.patches = append(m.patches, patch)
	}
	return m, nil
}

// recompile compiles the candidate again, in tables made of the host's own
// documents that the plan pins, and wants the same bytes.
func (v *verifier) recompile(d Document) error {
	tables := taskpack.ShippedTables(taskpack.Containment{
		Exclusive: true, Pinned: true, Network: taskpack.NetworkNone, Destroyable: true, Confirms: true,
		EnvironmentOf: taskpack.EnvironmentWorktree,
	}, v.patches...)
	v.commands = map[string]taskpack.CommandProfile{}
	for _, s := range v.plan.Steps {
		sum, err := proposal.ParseDigest(s.Pinned)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if s.Kind == taskpack.StepPatch {
			raw, err := v.blob("patch-policy", s.Profile, sum)
			if err != nil {
				return err
			}
			if policy := tables.Policies[s.Profile]; !bytes.Equal(raw, policy.Value().Canonical()) {
				return wrong("patch-policy", s.Profile, "it is not the one of this build")
			}
		}
		if !s.Command() {
			continue
		}
		raw, err := v.blob("command-profile", s.Profile, sum)
		if err != nil {
			return err
		}
		c, err := taskpack.ParseCommandProfile(raw)
		if err != nil {
			return at("command-profile", s.Profile, err)
		}
		tables.Commands[c.Ref], v.commands[c.Ref] = c, c
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
