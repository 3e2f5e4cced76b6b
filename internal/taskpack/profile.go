package taskpack

import (
	"writ/internal/canon"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// Profile is the portable, immutable ceiling of a task: what a candidate may
// use at most, by name and digest.
type Profile struct {
	Ref          string
	Revision     int64
	Images       []Image
	Network      string // ceiling
	Commands     []Exact
	Policy       Exact // zero when no patch is allowed
	Observations []Exact
	Actuations   []Exact
	FirstObserve bool // the first step must be an observation
	HIL          string
	Verifier     Exact
	Rollback     Rollback
	Capabilities []string
	Limits       Limits
	Value        canon.Value
	Bytes        []byte // canonical
}

// Image is one prepared image that a binding may pick.
type Image struct {
	Variant  string
	Manifest Exact
}

// Rollback says how an environment is undone.
type Rollback struct {
	Mode string
	Exact
}

// Digest is the digest of the canonical bytes. A profile never carries it.
func (p Profile) Digest() string { return proposal.DigestText(canon.Sum(p.Bytes)) }

// Target names the profile under a binding, for a proposal.
func (p Profile) Target(b Binding) proposal.Target {
	return proposal.Target{Profile: p.Ref, ProfileDigest: p.Digest(), Binding: b.Ref}
}

// ParseProfile reads a profile. Errors: TooLarge, Malformed, Invalid.
func ParseProfile(raw []byte) (Profile, error) {
	v, err := read(schema.TaskProfile, raw, maxOther)
	if err != nil {
		return Profile{}, err
	}
	environment, bench, faces := member(v, "environment"), member(v, "workbench"), member(v, "interfaces")
	experiment, verifier, rollback := member(v, "experiment"), member(v, "verifier"), member(v, "rollback")
	p := Profile{
		Ref: v.Str("profile/ref"), Revision: integer(v, "profile/revision"),
		Network:      environment.Str("runtime-network/ceiling"),
		Commands:     exactsOf(bench, "command-profiles"),
		Policy:       Exact{bench.Str("patch-policy/ref"), bench.Str("patch-policy/digest")},
		Observations: exactsOf(faces, "observation-descriptors"),
		Actuations:   exactsOf(faces, "actuation-descriptors"),
		FirstObserve: experiment.Str("first-step/class") == Observation,
		HIL:          experiment.Str("hil/mode"),
		Verifier:     exactOf(verifier),
		Rollback:     Rollback{Mode: rollback.Str("mode"), Exact: exactOf(rollback)},
		Capabilities: strs(v, "required-capability/ids"),
		Limits:       limitsOf(member(member(v, "deliberation"), "limits")),
		Value:        v, Bytes: v.Canonical(),
	}
	for _, i := range member(environment, "image-variants").Elems() {
		p.Images = append(p.Images, Image{
			Variant:  i.Str("variant/ref"),
			Manifest: Exact{i.Str("image-manifest/ref"), i.Str("image-manifest/digest")},
		})
	}
	for i, c := range p.Commands {
		if other, _ := find(p.Commands, c.Ref); other != c {
			return Profile{}, invalid("profile", canon.PointerToIndex("/workbench/command-profiles", i), "%s is pinned twice", c.Ref)
		}
	}
	return p, nil
}

func limitsOf(v canon.Value) Limits {
	return Limits{
		Passages: integer(v, "max/passages"), Experiments: integer(v, "max/experiments"), Cycles: integer(v, "max/cycles"),
		SolverPassages: integer(v, "max/solver-passages"), ReviewerPassages: integer(v, "max/reviewer-passages"),
		WallTimeMS: integer(v, "max/wall-time-ms"),
	}
}
