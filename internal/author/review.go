package author

import (
	"context"
	"io"
	"strings"
	"time"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// ReviewParams is what a reviewer says about a proposal.
type ReviewParams struct {
	Run      string
	Proposal string        // ref; "" is the last one of the run
	Verdict  string        // a verdict of package proposal
	Findings []string      // 1 to 16, each 1 to 1024 characters
	Life     time.Duration // until the review expires; 0: with the proposal
}

// Shown is what a reviewer is to look at: the proposal, and the candidate and the
// files whose digests it names.
type Shown struct {
	Proposal  proposal.Proposal
	Candidate taskpack.Candidate
	Patches   []taskpack.Patch // in the order of the steps
}

// Show fetches a proposal ("" is the last one of the run) with every byte that it
// is about, each checked against the digest that names it.
func Show(ctx context.Context, c *client.Client, run, ref string) (Shown, error) {
	var s Shown
	var err error
	if ref == "" {
		if ref, err = Latest(ctx, c, run, proposal.KindProposal); err != nil {
			return s, err
		}
	}
	if s.Proposal, err = Read(ctx, c, proposal.KindProposal, ref, proposal.AsProposal); err != nil {
		return s, err
	}
	if s.Proposal.Query != proposal.QueryOf(run) {
		return s, fault.New(fault.Relation, "show proposal", "%s is of %s, not of run %s", ref, s.Proposal.Query, run)
	}
	sum, err := proposal.ParseDigest(s.Proposal.Candidate.Digest)
	if err != nil {
		return s, err
	}
	raw, err := get(ctx, c, sum, taskpack.MaxCandidate)
	if err != nil {
		return s, err
	}
	if s.Candidate, err = taskpack.ParseCandidate(raw); err != nil {
		return s, err
	}
	for _, step := range s.Candidate.Steps {
		if step.Kind != taskpack.StepPatch {
			continue
		}
		sum, err := canon.ParseRef("artifact", step.Patch)
		if err != nil {
			return s, err
		}
		raw, err := get(ctx, c, sum, taskpack.MaxPatch)
		if err != nil {
			return s, err
		}
		patch, err := taskpack.ParsePatch(raw)
		if err != nil {
			return s, err
		}
		s.Patches = append(s.Patches, patch)
	}
	return s, nil
}

// get reads kept bytes; the client checks them against the digest.
func get(ctx context.Context, c *client.Client, sum canon.Digest, limit int64) ([]byte, error) {
	r, err := c.GetBlob(ctx, sum.Hex())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fault.New(fault.TooLarge, "read bytes", "%s is larger than %d bytes", sum, limit)
	}
	return raw, nil
}

// Review has the host fix what there is to see, says the verdict in the lane, and
// signs and hands in a review of exactly those bytes.
func Review(ctx context.Context, c *client.Client, key ident.PrivateKey, p ReviewParams) (client.DocRef, error) {
	if len(p.Findings) == 0 {
		return client.DocRef{}, fault.New(fault.Invalid, "review", "a review says at least one finding")
	}
	shown, err := Show(ctx, c, p.Run, p.Proposal)
	if err != nil {
		return client.DocRef{}, err
	}
	if shown.Proposal.Signer == key.Public() {
		return client.DocRef{}, fault.New(fault.Relation, "review", "this key signed the proposal").
			With("proposal", shown.Proposal.Ref).Help("ask another reviewer")
	}
	run, err := c.Run(ctx, p.Run)
	if err != nil {
		return client.DocRef{}, err
	}
	evidence, err := fix(ctx, c, p.Run, shown.Proposal)
	if err != nil {
		return client.DocRef{}, err
	}
	once := keyOf("review", append([]string{shown.Proposal.Ref, key.Public().Node(), p.Verdict}, p.Findings...)...)
	turn, err := speak(ctx, c, run, once, p.Verdict+"\n\n"+strings.Join(p.Findings, "\n"))
	if err != nil {
		return client.DocRef{}, err
	}
	at := later(turn.From(), shown.Proposal.From())
	signed, err := proposal.SignReview(proposal.ReviewParams{
		Proposal: shown.Proposal, Turn: turn, Evidence: evidence, Verdict: p.Verdict, Findings: p.Findings,
		At: at, Until: until(at, p.Life), Key: once,
	}, key)
	if err != nil {
		return client.DocRef{}, err
	}
	for _, misfit := range []error{proposal.RelateReview(shown.Proposal, signed), proposal.RelateEvidence(signed, evidence)} {
		if misfit != nil {
			return client.DocRef{}, misfit
		}
	}
	return c.Review(ctx, p.Run, signed.Raw)
}

// fix has the host fix the evidence, and checks that the content which it names
// holds this proposal.
func fix(ctx context.Context, c *client.Client, run string, p proposal.Proposal) (proposal.Manifest, error) {
	ref, err := c.Manifest(ctx, run, p.Ref)
	if err != nil {
		return proposal.Manifest{}, err
	}
	m, err := Read(ctx, c, proposal.KindManifest, ref.Ref, proposal.AsManifest)
	if err != nil {
		return m, err
	}
	sum, err := proposal.ParseDigest(m.Content)
	if err != nil {
		return m, err
	}
	raw, err := get(ctx, c, sum, proposal.MaxEvidenceBytes)
	if err != nil {
		return m, err
	}
	content, err := canon.Parse(raw)
	if err != nil {
		return m, err
	}
	if shown, _ := content.Get("proposal"); !canon.Equal(shown, p.Value) {
		return m, fault.New(fault.Relation, "fix evidence", "the evidence %s does not show the proposal", m.Ref)
	}
	return m, nil
}
