package taskpack

import (
	"sync"

	"writ/internal/canon"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// ProfileGoChange names the shipped profile.
const ProfileGoChange = "operator-task-profile:writ-go-change"

// EnvironmentWorktree is the kind of environment in which changes run on one
// host: a private clone and worktrees, own caches, no network.
const EnvironmentWorktree = "writ-worktree/v1"

const imageWorktree = "image-variant:writ-worktree"

// The capabilities that steps need, by kind.
const (
	CapObserveCommand = "writ.command.observe"
	CapRunCommand     = "writ.command.run"
	CapReadInterface  = "writ.interface.read"
	CapApplyPatch     = "writ.patch.apply"
	CapControlService = "writ.service.control"
)

// GoChangeProfile is the shipped profile for changes to a Go module: the shipped
// commands and patch policy, no interfaces, no network, an observation first,
// and a human answer for each mutation.
func GoChangeProfile() Profile { return goChange() }

var goChange = sync.OnceValue(func() Profile {
	p, err := GoChangeProfileWith(Commands(), ModuleSources())
	if err != nil {
		panic("taskpack: shipped profile: " + err.Error())
	}
	return p
})

// GoChangeProfileWith is the same profile over a host's own commands and policy.
// It pins them by digest, so another set makes another profile.
func GoChangeProfileWith(commands []CommandProfile, policy PatchPolicy) (Profile, error) {
	pinned := make([]map[string]string, 0, len(commands))
	var check Exact
	for _, c := range commands {
		e := Exact{c.Ref, c.Digest()}
		pinned = append(pinned, e.tree())
		if c.Ref == ProfileBenchmarkCompare {
			check = e
		}
	}
	entry := owned("thematic-entry:writ-go-change", map[string]any{"about": "a change to a Go module, measured before it lands"})
	offer := owned("offer-template:writ-go-change", map[string]any{"offers": "none"})
	taxonomy := owned("taxonomy:writ", map[string]any{"topics": []string{"software/go", "software/performance"}})
	flow := owned("writ.change", map[string]any{"order": []string{proposal.RoleImplementer, proposal.RoleReviewer, "chair"}})
	agents := owned("agent-policy:writ", map[string]any{"agents": "propose and review; never approve"})
	image := owned("image-manifest:writ-worktree", map[string]any{"environment": EnvironmentWorktree})
	prepared := owned("prepared-system:writ-worktree", map[string]any{"environment": EnvironmentWorktree, "toolchain": "offline", "caches": "own"})
	verifier := owned("verifier:writ-gate", map[string]any{"judges": "writ.gate/v1", "mutates": false})
	rollback := owned("rollback:writ-worktree", map[string]any{"disposer": "environment.destroy", "confirmed": true})
	resources := owned("resource-envelope:writ-worktree", map[string]any{"concurrent-runs": 1})
	corpus := owned("refusal-corpus:operator-task", map[string]any{"codes": refusalCodes()})
	input, candidate, result := schemaPin("wire-schema:run-requested", schema.RunRequested),
		schemaPin("wire-schema:experiment-candidate", schema.TaskCandidate),
		schemaPin("wire-schema:comparison-document", schema.ComparisonDocument)

	v, err := build(schema.TaskProfile, map[string]any{
		"schema": "operator-task-profile.v1", "schema/v": 1, "profile/ref": ProfileGoChange, "profile/revision": 1,
		"thematic-profile": map[string]any{
			"domain": "corpus", "entry/ref": entry.Ref, "entry/revision": 1,
			"implementation/ref": "implementation:writ", "entry/digest": entry.Digest,
		},
		"catalog": map[string]any{
			"service/type":       "writ.change",
			"offer-template/ref": offer.Ref, "offer-template/digest": offer.Digest,
			"taxonomy/ref": taxonomy.Ref, "taxonomy/digest": taxonomy.Digest,
			"topics": []string{"software/go", "software/performance"},
		},
		"deliberation": map[string]any{
			"inference-flow/ref": flow.Ref, "inference-flow/digest": flow.Digest,
			"agent-policy/ref": agents.Ref, "agent-policy/digest": agents.Digest,
			"roles":  []string{proposal.RoleImplementer, proposal.RoleReviewer},
			"limits": map[string]any{"max/passages": 8, "max/experiments": 2, "max/wall-time-ms": 86400000},
		},
		"environment": map[string]any{
			"image-variants": []any{map[string]string{
				"variant/ref": imageWorktree, "image-manifest/ref": image.Ref, "image-manifest/digest": image.Digest,
			}},
			"prepared-system/ref": prepared.Ref, "prepared-system/digest": prepared.Digest,
			"runtime-network/ceiling": NetworkNone, "impact-class/max": "test",
		},
		"workbench": map[string]any{
			"command-profiles": pinned, "patch-policy/ref": policy.Ref, "patch-policy/digest": policy.Digest(),
		},
		"interfaces": map[string]any{"observation-descriptors": []any{}, "actuation-descriptors": []any{}},
		"experiment": map[string]any{
			"input-schema/ref": input.Ref, "input-schema/digest": input.Digest,
			"candidate-schema/ref": candidate.Ref, "candidate-schema/digest": candidate.Digest,
			"first-step/class": Observation, "hil/mode": EachMutation,
		},
		"verifier": map[string]any{
			"ref": verifier.Ref, "digest": verifier.Digest,
			"command-profile/ref": check.Ref, "command-profile/digest": check.Digest,
			"result-schema/ref": result.Ref, "result-schema/digest": result.Digest,
		},
		"rollback":                map[string]any{"mode": "recreate-prepared-system", "ref": rollback.Ref, "digest": rollback.Digest},
		"required-capability/ids": []string{CapObserveCommand, CapRunCommand, CapApplyPatch},
		"resource-envelope/ref":   resources.Ref, "resource-envelope/digest": resources.Digest,
		"refusal-corpus/ref": corpus.Ref, "refusal-corpus/digest": corpus.Digest,
	})
	if err != nil {
		return Profile{}, err
	}
	return ParseProfile(v.Canonical())
}

// owned pins a small document that this build is the owner of: its facts and its
// name, nothing else.
func owned(ref string, facts map[string]any) Exact {
	facts["schema"], facts["ref"] = "writ.owned-document/v1", ref
	return Exact{ref, digest(canon.MustFrom(facts))}
}

// schemaPin pins the text of an embedded schema.
func schemaPin(ref string, id schema.ID) Exact {
	v, err := canon.Parse(schema.Raw(id))
	if err != nil {
		panic("taskpack: schema " + string(id) + ": " + err.Error())
	}
	return Exact{ref, digest(v)}
}

func refusalCodes() []string {
	codes := make([]string, 0, len(refusals))
	for _, r := range refusals {
		codes = append(codes, string(r.Code))
	}
	return codes
}
