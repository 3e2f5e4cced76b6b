package docket

import (
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"writ/internal/blob"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// Store is what collecting needs of a ledger.
type Store interface {
	Events(context.Context, string, ledger.EventQuery) (ledger.EventPage, error)
	Documents(context.Context, string, ledger.DocumentFilter) ([]ledger.Document, error)
}

// CollectParams names a run and where its parts are kept.
type CollectParams struct {
	Store     Store
	Blobs     blob.Store
	Repo      *gitcmd.Repo // clone that has the commits of the run; nil when there is none
	Workspace string
	Run       string
	Lane      string
	Host      string // node of the host
	Now       time.Time
}

// objectStore is the prefix of refs of kept bytes.
const objectStore = "object-store"

// maxPart is the largest blob that a docket carries, in bytes.
const maxPart = 16 << 20

// Collect gathers the docket of a run. It judges nothing: what is damaged or
// missing is left for Verify to find, so that a docket can always be shown.
func Collect(ctx context.Context, p CollectParams) (*Bundle, error) {
	b := &Bundle{Schema: Schema, Workspace: p.Workspace, Run: p.Run, Lane: p.Lane, Host: p.Host, Exported: p.Now.UTC().Format(time.RFC3339), Events: []Event{}, Documents: []Document{}, Blobs: []Blob{}, Git: []GitObject{}}
	if err := b.collectEvents(ctx, p); err != nil {
		return nil, err
	}
	docs, err := p.Store.Documents(ctx, p.Workspace, ledger.DocumentFilter{RunID: p.Run})
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		b.Documents = append(b.Documents, fromDocument(d))
	}
	if err := b.collectBlobs(ctx, p); err != nil {
		return nil, err
	}
	if p.Repo != nil {
		if err := b.collectGit(ctx, *p.Repo); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// collectEvents takes the events of the run and what was said in its lane.
func (b *Bundle) collectEvents(ctx context.Context, p CollectParams) error {
	seen := map[int64]bool{}
	for _, q := range []ledger.EventQuery{{RunID: p.Run, Limit: 1000}, {LaneID: p.Lane, Limit: 1000}} {
		if q.RunID == "" && q.LaneID == "" {
			continue
		}
		for {
			page, err := p.Store.Events(ctx, p.Workspace, q)
			if err != nil {
				return err
			}
			for _, e := range page.Events {
				if !seen[e.Seq] && (e.RunID == "" || e.RunID == p.Run) {
					seen[e.Seq] = true
					b.Events = append(b.Events, fromEvent(e))
				}
			}
			if page.NextAfter >= page.Head {
				break
			}
			q.After = page.NextAfter
		}
	}
	sort.Slice(b.Events, func(i, j int) bool { return b.Events[i].Seq < b.Events[j].Seq })
	if len(b.Events) == 0 {
		return fault.New(fault.NotFound, "collect docket", "there is no run %s", p.Run)
	}
	return nil
}

// collectBlobs takes the bytes that documents name: candidates and their
// patches, what reviewers were shown, the host's command profiles, and what
// steps wrote.
func (b *Bundle) collectBlobs(ctx context.Context, p CollectParams) error {
	seen := map[canon.Digest]bool{}
	take := func(d canon.Digest) ([]byte, error) {
		body, err := blob.Get(ctx, p.Blobs, d, maxPart)
		switch code := fault.CodeOf(err); {
		case code == fault.NotFound || code == fault.Corrupt:
			return nil, nil // Verify says what is missing
		case err != nil:
			return nil, err
		}
		if !seen[d] {
			seen[d] = true
			b.Blobs = append(b.Blobs, Blob{SHA256: d.Hex(), Body: body})
		}
		return body, nil
	}
	for _, d := range b.Documents {
		for _, sum := range blobsOf(d) {
			body, err := take(sum)
			if err != nil {
				return err
			}
			if d.Kind != ledger.KindProposal || body == nil {
				continue
			}
			for _, patch := range patchesOf(body) {
				if _, err := take(patch); err != nil {
					return err
				}
			}
		}
	}
	slices.SortFunc(b.Blobs, func(x, y Blob) int { return strings.Compare(x.SHA256, y.SHA256) })
	return nil
}

// blobsOf are the digests of blobs that a document names.
func blobsOf(d Document) []canon.Digest {
	v, err := canon.Parse([]byte(d.Body))
	if err != nil {
		return nil
	}
	var texts []string
	switch d.Kind {
	case ledger.KindProposal:
		c, _ := v.Get("candidate")
		texts = append(texts, c.Str("digest"))
	case ledger.KindManifest:
		texts = append(texts, v.Str("content/digest"))
	case ledger.KindPlan:
		if plan, err := taskpack.ParsePlan([]byte(d.Body)); err == nil {
			for _, s := range plan.Steps {
				texts = append(texts, s.Pinned)
			}
		}
	}
	var out []canon.Digest
	if d.Kind == ledger.KindRunFact {
		if f, err := taskpack.ParseFact([]byte(d.Body)); err == nil {
			for _, ref := range f.Evidence {
				if sum, err := canon.ParseRef(objectStore, ref); err == nil {
					out = append(out, sum)
				}
			}
		}
	}
	for _, t := range texts {
		if sum, err := proposal.ParseDigest(t); err == nil {
			out = append(out, sum)
		}
	}
	return out
}

func patchesOf(candidate []byte) []canon.Digest {
	c, err := taskpack.ParseCandidate(candidate)
	if err != nil {
		return nil
	}
	var out []canon.Digest
	for _, s := range c.Steps {
		if d, err := canon.ParseRef("artifact", s.Patch); err == nil {
			out = append(out, d)
		}
	}
	return out
}
