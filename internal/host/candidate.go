package host

import (
	"bytes"
	"context"

	"writ/internal/blob"
	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// putBlob keeps bytes that readers of the workspace may fetch.
func (h *Host) putBlob(ctx context.Context, workspace string, body []byte) (canon.Digest, error) {
	d, _, err := h.Blobs.Put(ctx, bytes.NewReader(body))
	if err != nil {
		return d, err
	}
	_, err = h.Store.Commit(ctx, ledger.Commit{Workspace: workspace, Now: h.Now(), Cells: ledger.HasBlob(d)})
	return d, err
}

func (h *Host) blob(ctx context.Context, d canon.Digest, limit int64) ([]byte, error) {
	return blob.Get(ctx, h.Blobs, d, limit)
}

// material is the bytes behind a proposal.
type material struct {
	candidate taskpack.Candidate
	patches   map[string]taskpack.Patch // by ref
}

// material reads the candidate and its patches from the object store.
func (h *Host) material(ctx context.Context, p proposal.Proposal) (material, error) {
	d, err := proposal.ParseDigest(p.Candidate.Digest)
	if err != nil {
		return material{}, err
	}
	raw, err := h.blob(ctx, d, taskpack.MaxCandidate)
	if err != nil {
		return material{}, missing(err, "/candidate/digest", p.Candidate.Artifact)
	}
	m := material{patches: map[string]taskpack.Patch{}}
	if m.candidate, err = taskpack.ParseCandidate(raw); err != nil {
		return m, err
	}
	if m.candidate.Digest() != p.Candidate.Digest {
		return m, fault.New(fault.Spelling, "read candidate", "the stored candidate is not in canonical form").
			At("/candidate/digest").Help("store the canonical bytes (RFC 8785)")
	}
	for _, s := range m.candidate.Steps {
		if s.Kind != taskpack.StepPatch {
			continue
		}
		d, err := canon.ParseRef("artifact", s.Patch)
		if err != nil {
			return m, err
		}
		raw, err := h.blob(ctx, d, taskpack.MaxPatch)
		if err != nil {
			return m, missing(err, "/steps", s.Patch)
		}
		if m.patches[s.Patch], err = taskpack.ParsePatch(raw); err != nil {
			return m, err
		}
	}
	return m, nil
}

func missing(err error, at, ref string) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, "read candidate", "%s is not in the object store", ref).At(at).
		Help("send the bytes first, with POST /v1/blobs")
}

// checkCandidate refuses a proposal that this host could not compile today.
// Compiling it again at the decision is what counts.
func (h *Host) checkCandidate(ctx context.Context, workspace string, p proposal.Proposal) error {
	repo, err := h.repository(ctx, workspace)
	if err != nil {
		return err
	}
	base, err := p.Base()
	if err != nil {
		return err
	}
	if err := h.knowsCommit(ctx, workspace, repo, base); err != nil {
		return err
	}
	c, err := h.compile(ctx, workspace, repo, p)
	if err != nil {
		return err
	}
	if err := measures(c.plan); err != nil {
		return err
	}
	content, err := h.shown(ctx, p)
	if err == nil && len(content) > proposal.MaxEvidenceBytes {
		err = fault.New(fault.TooLarge, "check candidate", "a reviewer would have to be shown %d bytes, and is shown at most %d", len(content), proposal.MaxEvidenceBytes).
			At("/candidate/digest").Help("propose it in smaller changes")
	}
	return err
}

// shown is what a reviewer reads: the proposal, the candidate and its patches.
func (h *Host) shown(ctx context.Context, p proposal.Proposal) ([]byte, error) {
	m, err := h.material(ctx, p)
	if err != nil {
		return nil, err
	}
	var patches []taskpack.Patch
	for _, s := range m.candidate.Steps {
		if patch, ok := m.patches[s.Patch]; ok {
			patches = append(patches, patch)
		}
	}
	return docket.Shown(p, m.candidate, patches)
}
