package host

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/landing"
	"writ/internal/ledger"
	"writ/internal/result"
	"writ/internal/taskpack"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// nativeCommand is what qualifies a merge: the project's tests, and the gate
// over the stored results, both on the merged tree in front of it.
const nativeCommand = `go test -count=1 ./... && "$WRIT" gate --results "$WRIT_RESULTS" --policy "$WRIT_POLICY" --tree .`

// roots are the producer roots of a candidate, with the documents behind them.
type roots struct {
	submission landing.Submission
	docs       []ledger.NewDocument
}

func (r *roots) add(run string, b landing.ProducerBody) (string, error) {
	kind := ledger.KindProducerRoot
	if _, ok := b.(*landing.DocketBinding); ok {
		kind = ledger.KindDocketBinding
	}
	v, root, err := landing.BuildProducer(b)
	if err != nil {
		return "", err
	}
	ref := docket.ProducerRef(root, run)
	if !slices.ContainsFunc(r.docs, func(d ledger.NewDocument) bool { return d.Ref == ref }) {
		r.docs = append(r.docs, ledger.NewDocument{Kind: kind, Ref: ref, RunID: run, Body: v.Canonical()})
	}
	return root, nil
}

// submit asks the authority to qualify and land the recorded change.
func (j *job) submit(ctx context.Context) error {
	merged, err := j.mergedTree(ctx)
	if code := fault.CodeOf(err); code == fault.BaseMoved || code == fault.State { // it conflicts, or has landed already
		_, message := failure(err)
		return j.end(ctx, code, message)
	}
	if err != nil {
		return err
	}
	if err := j.tidy(ctx); err != nil {
		return err
	}
	number, cells, err := j.change(ctx)
	if err != nil {
		return err
	}
	r, err := j.submission(ctx, number, merged)
	if err != nil {
		return err
	}
	kept, err := j.archived(ctx, number)
	if err != nil {
		return err
	}
	_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.Submit(s, landing.SubmitParams{Submission: r.submission, KeepAge: j.task.Candidate != "", Archived: kept}, j.Now())
	}, func(t landing.Transition, b *batch) error {
		docs, err := j.unseen(ctx, j.workspace, r.docs)
		b.docs = append(docs, b.docs...)
		b.cells = append(b.cells, cells...)
		j.task.Phase, j.task.Change, j.task.Candidate = Queued, number, t.Candidate.CandidateID
		return err
	})
	return err
}

// unseen leaves out what an earlier attempt of the run stored already.
func (h *Host) unseen(ctx context.Context, workspace string, docs []ledger.NewDocument) ([]ledger.NewDocument, error) {
	var out []ledger.NewDocument
	for _, d := range docs {
		_, err := h.Store.Document(ctx, workspace, d.Ref)
		switch fault.CodeOf(err) {
		case "":
		case fault.NotFound:
			out = append(out, d)
		default:
			return nil, err
		}
	}
	return out, nil
}

// tidy moves chains that ended a while ago out of the rooted document.
func (j *job) tidy(ctx context.Context) error {
	const keep = time.Hour // late events of an ending still find it
	s, _, err := j.authority(ctx, j.workspace, j.repo)
	if err != nil || len(s.Candidates) == 0 {
		return err
	}
	before := landing.At(j.Now().Add(-keep))
	_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.Archive(s, landing.ArchiveParams{Before: before}, j.Now())
	}, nil)
	return err
}

// submission computes every root from its body.
func (j *job) submission(ctx context.Context, change int64, merged string) (*roots, error) {
	r := &roots{}
	run := j.task.Run
	repo, err := j.clone(ctx, j.workspace, j.repo)
	if err != nil {
		return nil, err
	}
	baseTree, err := repo.TreeOf(ctx, j.task.BaseHead)
	if err != nil {
		return nil, err
	}
	files, err := lockFiles(ctx, repo, j.task.SourceTree)
	if err != nil {
		return nil, err
	}
	orders, identity, err := j.measuredBy(ctx)
	if err != nil {
		return nil, err
	}
	sub := landing.Submission{
		PullRequestNumber: change, SourceHead: j.task.SourceHead, DeliveryClass: landing.NativeProofRequired,
		AffectedPaths: j.affected(),
	}
	if sub.Command, err = command(); err != nil {
		return nil, err
	}
	binding := &landing.DocketBinding{
		RunID: run, Proposal: j.proposal.Ref, Decision: j.decision.Ref, Execution: j.task.Execution,
		ResultSet: j.task.ResultSet, Comparison: j.task.Comparison,
		BaseHead: j.task.BaseHead, SourceHead: j.task.SourceHead, SourceTree: j.task.SourceTree,
	}
	for _, x := range []struct {
		into *string
		body landing.ProducerBody
	}{
		{&sub.SourceRoot, binding},
		{&sub.SourceIdentityRoot, &landing.SourceIdentityBody{Repository: j.repo.Alias, ProtectedBase: j.repo.Base, ChangeNumber: change}},
		{&sub.SourcePatchRoot, &landing.SourcePatchBody{BaseTree: baseTree, SourceTree: j.task.SourceTree}},
		{&sub.PlanRoot, &landing.PlanBody{PlanRef: j.task.Plan, Orders: orders}},
		{&sub.ClosureRoot, &landing.ClosureBody{MergedTree: merged}},
		{&sub.DependencyRoot, &landing.DependencyBody{Files: files}},
		{&sub.ToolchainRoot, &landing.ToolchainBody{Tools: j.tools(ctx)}},
		{&sub.EnvironmentRoot, &landing.EnvironmentBody{Identity: identity}},
	} {
		if *x.into, err = r.add(run, x.body); err != nil {
			return nil, err
		}
	}
	evidence, err := r.add(run, &landing.EvidenceBody{ResultSet: j.task.ResultSet})
	if err != nil {
		return nil, err
	}
	sub.ShardEvidenceRoots = []string{evidence}
	for _, name := range j.repo.domainsOf(sub.AffectedPaths) {
		root, err := r.add(run, &landing.DomainBody{Name: name})
		if err != nil {
			return nil, err
		}
		sub.QualificationDomains = append(sub.QualificationDomains, root)
	}
	slices.Sort(sub.QualificationDomains)
	r.submission = sub
	return r, j.sourceProof(r)
}

// sourceProof adds the proof of which source was qualified.
func (j *job) sourceProof(r *roots) error {
	sub := &r.submission
	p, doc, err := landing.BuildSourceProof(landing.SourceProof{
		Repository: j.repo.Alias, ProtectedBase: j.repo.Base,
		SourceIdentityRoot: sub.SourceIdentityRoot, SourceHead: sub.SourceHead, SourcePatchRoot: sub.SourcePatchRoot,
		PlanRoot: sub.PlanRoot, ClosureRoot: sub.ClosureRoot, DependencyRoot: sub.DependencyRoot, ToolchainRoot: sub.ToolchainRoot,
		AffectedPaths: sub.AffectedPaths, ShardEvidenceRoots: sub.ShardEvidenceRoots, QualifiedAt: landing.At(j.Now()),
	})
	if err != nil {
		return err
	}
	sub.SourceProofRoot = p.Root
	r.docs = append(r.docs, document(ledger.KindSourceProof, j.task.Run, doc))
	return nil
}

// document keeps v under the digest of its canonical bytes.
func document(kind, run string, v canon.Value) ledger.NewDocument {
	return bytesDocument(kind, run, v.Canonical())
}

func bytesDocument(kind, run string, body []byte) ledger.NewDocument {
	return ledger.NewDocument{Kind: kind, Ref: docket.BytesRef(kind, body), RunID: run, Body: body}
}

func command() (*landing.Command, error) {
	c, err := landing.NewCommand(nativeCommand)
	return &c, err
}

// affected are the paths that the patches write or delete, sorted.
func (j *job) affected() []string {
	var out []string
	for _, p := range j.patches {
		for _, f := range p.Files {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// domainsOf are the names of the path groups that the paths touch; a path in no
// group means the whole repository.
func (r Repository) domainsOf(paths []string) []string {
	var out []string
	for _, p := range paths {
		name := "repository"
		for group, prefixes := range r.Domains {
			for _, prefix := range prefixes {
				if p == prefix || strings.HasPrefix(p, strings.TrimSuffix(prefix, "/")+"/") {
					name = group
				}
			}
		}
		out = append(out, name)
	}
	if slices.Contains(out, "repository") { // nothing else may be active beside it
		out = append(slices.Collect(maps.Keys(r.Domains)), "repository")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// lockNames are the files that pin dependencies.
var lockNames = []string{"go.sum", "go.work.sum", "Cargo.lock", "package-lock.json", "poetry.lock", "requirements.txt"}

func lockFiles(ctx context.Context, repo gitcmd.Repo, tree string) ([]landing.LockFile, error) {
	entries, err := repo.LsTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	files := []landing.LockFile{}
	for _, e := range entries {
		if !slices.Contains(lockNames, path.Base(e.Path)) || e.Kind != "blob" {
			continue
		}
		raw, err := repo.ReadFile(ctx, tree, e.Path)
		if err != nil {
			return nil, err
		}
		files = append(files, landing.LockFile{Path: e.Path, SHA256: canon.Sum(raw).Hex()})
	}
	return files, nil
}

// measuredBy returns the plain digests of the orders of the compare step, and the
// identity of the environment that every result names.
func (j *job) measuredBy(ctx context.Context) (orders []string, identity string, err error) {
	docs, err := j.measuredParts(ctx, taskpack.Compare)
	if err != nil {
		return nil, "", err
	}
	for _, d := range docs {
		if d.Kind == ledger.KindOrder {
			orders = append(orders, d.SHA256.String())
			continue
		}
		r, err := result.Parse(d.Body)
		if err != nil {
			return nil, "", err
		}
		own := docket.EnvironmentIdentity(r)
		if identity != "" && own != identity {
			return nil, "", fault.New(fault.Incomparable, "read results", "results of one comparison come from two environments")
		}
		identity = own
	}
	slices.Sort(orders)
	return orders, identity, nil
}
