package author

import (
	"context"
	"regexp"
	"strings"
	"time"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// ProposeParams is a change to a Go module as its author wants it.
type ProposeParams struct {
	Run     string
	Base    string          // full id of the commit that is changed
	Files   []taskpack.File // whole files and deletions; Root "" is the module
	Message string          // what the author says; its first line names the change, the host commits with it
	// Packages are the package patterns that are tested and measured; none: all.
	Packages   []string
	Benchmarks string        // Go -bench pattern, "" for all
	Life       time.Duration // until the proposal expires; 0: with the turn
}

var commitID = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Propose puts the bytes of a change into the object store, says in the lane what
// it is, and signs and hands in the proposal that names both. It is proposed at
// the instant of the message, so the same change said in the same words is the
// same proposal however often it is handed in.
//
// Errors: fault.Invalid and those of package taskpack for a change that no host
// would compile; fault.State when the server has no repository; *client.Error.
func Propose(ctx context.Context, c *client.Client, key ident.PrivateKey, p ProposeParams) (client.DocRef, error) {
	patch, candidate, err := p.build()
	if err != nil {
		return client.DocRef{}, err
	}
	run, err := c.Run(ctx, p.Run)
	if err != nil {
		return client.DocRef{}, err
	}
	target, err := targetOf(ctx, c)
	if err != nil {
		return client.DocRef{}, err
	}
	for _, body := range [][]byte{patch.Bytes, candidate.Bytes} {
		if _, err := c.PutBlob(ctx, body); err != nil {
			return client.DocRef{}, err
		}
	}
	once := keyOf("propose", p.Run, key.Public().Node(), p.Base, candidate.Digest(), p.Message)
	turn, err := speak(ctx, c, run, once, p.Message)
	if err != nil {
		return client.DocRef{}, err
	}
	signed, err := proposal.SignProposal(proposal.ProposalParams{
		Turn: turn, Candidate: candidate.Named(proposal.CandidateName(p.Message, p.Base)), Target: target,
		At: turn.From(), Until: until(turn.From(), p.Life), Key: once,
	}, key)
	if err != nil {
		return client.DocRef{}, err
	}
	return c.Propose(ctx, p.Run, signed.Raw)
}

// build makes the patch and the candidate, and tries the candidate's arguments
// on the shipped command profiles before anything is sent.
func (p ProposeParams) build() (patch taskpack.Patch, candidate taskpack.Candidate, err error) {
	const op = "build proposal"
	if !commitID.MatchString(p.Base) {
		return patch, candidate, fault.New(fault.Invalid, op, "base %q is not the full id of a commit", p.Base).
			Help("find it with: git rev-parse HEAD")
	}
	if strings.TrimSpace(p.Message) == "" {
		return patch, candidate, fault.New(fault.Invalid, op, "a proposal says what it is for: the message is empty")
	}
	if len(p.Files) == 0 {
		return patch, candidate, fault.New(fault.Invalid, op, "nothing is changed")
	}
	files := make([]taskpack.File, len(p.Files))
	for i, f := range p.Files {
		if f.Root == "" {
			f.Root = taskpack.RootModule
		}
		files[i] = f
	}
	if patch, err = taskpack.NewPatch(taskpack.PolicyModuleSources, files...); err != nil {
		return patch, candidate, err
	}
	measured := append([]string{}, p.Packages...)
	if p.Benchmarks != "" {
		measured = append(measured, "bench="+p.Benchmarks)
	}
	for _, profile := range taskpack.Commands() {
		arguments := measured
		if profile.Benchmarks == "" {
			arguments = p.Packages
		}
		if _, err := profile.Select(arguments); err != nil {
			return patch, candidate, err
		}
	}
	candidate, err = taskpack.GoChange(patch.Ref, p.Packages, measured)
	return patch, candidate, err
}

// targetOf is what a proposal for the server's host has to name.
func targetOf(ctx context.Context, c *client.Client) (proposal.Target, error) {
	h, err := c.Host(ctx)
	if err != nil {
		return proposal.Target{}, err
	}
	if h.ProfileRef == "" || h.ProfileDigest == "" || h.BindingRef == "" {
		return proposal.Target{}, fault.New(fault.State, "find target", "the workspace lands on no repository yet").
			Help("an admin configures one: writ init --repo PATH --base main --alias owner/name")
	}
	return proposal.Target{Profile: h.ProfileRef, ProfileDigest: h.ProfileDigest, Binding: h.BindingRef}, nil
}
