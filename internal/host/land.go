package host

import (
	"context"

	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/forge/localgit"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/landing"
	"writ/internal/ledger"
)

// committer of merges.
const (
	mergeName  = "writ"
	mergeEmail = "writ@writ.invalid"
)

// land carries the warrant through: admission of the merge that was built on the
// base as it is, one atomic push under the fence, and the settlement from what
// the remote shows afterwards. After a crash it goes on from what the state and
// the remote say.
func (j *job) land(ctx context.Context) error {
	s, c, err := j.landingState(ctx)
	if err != nil {
		return err
	}
	if c.Status != landing.Landing {
		return j.astray(ctx, c)
	}
	f, err := j.remote(ctx)
	if err != nil {
		return err
	}
	if s.Warrant.Admitted == nil && j.why != "" {
		j.task.Failure, j.task.Reason = string(fault.Cancelled), j.why
		return j.giveBack(ctx, s, Over)
	}
	var m localgit.Merge
	if s.Warrant.Admitted == nil {
		if m, err = j.admitMerge(ctx, s, c, f); err != nil || j.task.Phase != Landing {
			return err
		}
	} else if m, err = f.Recall(ctx, j.repo.Base, s.Warrant.Admitted.MergeGroupHead); err != nil {
		return err
	}
	j.Crash("admitted")
	if j.why == "" {
		if err := j.push(ctx, f, m); err != nil {
			return err
		}
		j.Crash("pushed")
	}
	return j.settleLanding(ctx, f)
}

// pushes is how often in a row a remote may refuse a push, without the base or
// the fence having moved, before the attempt is given up.
const pushes = 3

// push makes the one push of the attempt. nil means that there is something to
// read back: the push was made, or the remote showed that it cannot be.
func (j *job) push(ctx context.Context, f *localgit.Forge, m localgit.Merge) error {
	err := f.Push(ctx, m)
	switch code := fault.CodeOf(err); {
	case code == fault.BaseMoved || code == fault.Fenced:
		return nil
	case err != nil && j.tries+1 >= pushes && code == fault.Forge:
		_, j.task.Reason = failure(err)
		return nil
	}
	return err // the remote did not say no: ask again
}

// astray goes on with a candidate that is no longer landing.
func (j *job) astray(ctx context.Context, c landing.Candidate) error {
	switch c.Status {
	case landing.Qualified:
		return j.move(ctx, Qualified)
	case landing.Queued, landing.Qualifying:
		return j.move(ctx, Queued)
	case landing.Landing:
		return j.move(ctx, Landing)
	default:
		return j.ended(ctx, c)
	}
}

// admitMerge builds the merge on the base as the remote has it now and binds the
// warrant to it. A base that moved so that the merge gives another tree sends
// the change back to qualification with its age.
func (j *job) admitMerge(ctx context.Context, s landing.State, c landing.Candidate, f *localgit.Forge) (localgit.Merge, error) {
	m, err := f.BuildMerge(ctx, localgit.MergeParams{
		Base: j.repo.Base, SourceHead: c.SourceHead, Name: mergeName, Email: mergeEmail, At: s.Warrant.IssuedAt.Time(),
		Message: "Merge change " + itoa(c.PullRequestNumber) + "\n\nWrit-Run: " + j.task.Run + "\nWrit-Candidate: " + c.CandidateID + "\n",
	})
	if fault.CodeOf(err) == fault.BaseMoved { // it does not merge any more
		j.task.Failure, j.task.Reason = failure(err)
		return m, j.giveBack(ctx, s, Over)
	}
	if err != nil {
		return m, err
	}
	closure, err := landing.ClosureRoot(m.Tree)
	if err != nil {
		return m, err
	}
	if closure != c.ClosureRoot {
		return m, j.movedBase(ctx, s, m)
	}
	attempt := landing.Attempt{Git: &landing.GitAttempt{
		Repository: j.repo.Alias, RunID: j.task.Run, RunAttempt: 1, JobID: ident.New(ident.Approval), RunnerID: j.Node(), RunnerName: "host",
		SourceHead: c.SourceHead, MergeGroupHead: m.Commit, ProtectedBase: j.repo.Base,
	}}
	_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.Admit(s, landing.AdmitParams{
			Fence: s.Warrant.Fence(), MergeGroupHead: m.Commit, Attempt: attempt, SourceContained: true, MergedTree: m.Tree,
		}, j.Now())
	}, func(t landing.Transition, b *batch) error {
		record, err := landing.RecomputeAdmission(t.State)
		if err != nil {
			return err
		}
		b.docs = append(b.docs, document(ledger.KindAdmission, j.task.Run, record.Document))
		j.task.MergeHead = m.Commit
		return nil
	})
	if fault.CodeOf(err) == fault.LeaseExpired {
		return m, j.giveBack(ctx, s, Qualified)
	}
	return m, err
}

// giveBack releases a warrant under which nothing was admitted; a change that
// cannot land is settled, another one waits for the warrant again.
func (j *job) giveBack(ctx context.Context, s landing.State, next Phase) error {
	fence := s.Warrant.Fence()
	_, err := j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.ReleaseUnadmitted(s, landing.ReleaseParams{Fence: &fence}, j.Now())
	}, func(landing.Transition, *batch) error {
		j.task.Phase = Qualified
		return nil
	})
	if err != nil || next != Over {
		return err
	}
	return j.settle(ctx, outcomeOf(j.task.Failure), j.task.Reason, nil, Over)
}

// outcomeOf is how a candidate ends that its run ends with.
func outcomeOf(failure string) landing.Status {
	switch fault.Code(failure) {
	case fault.Cancelled:
		return landing.Cancelled
	case fault.BaseMoved:
		return landing.Dequeued
	default:
		return landing.TerminalFailure
	}
}

// movedBase sends the change back to be qualified on the new base, as the next
// attempt of the same change and with its age.
func (j *job) movedBase(ctx context.Context, s landing.State, m localgit.Merge) error {
	next, err := j.submission(ctx, j.task.Change, m.Tree)
	if err != nil {
		return err
	}
	fence := s.Warrant.Fence()
	_, err = j.transition(ctx, func(s landing.State) (landing.Transition, error) {
		return landing.ReleaseForMovedBase(s, landing.MovedBaseParams{
			Fence: fence, ObservedBase: m.BaseHead, MergedTree: m.Tree, Next: next.submission,
		}, j.Now())
	}, func(t landing.Transition, b *batch) error {
		docs, err := j.unseen(ctx, j.workspace, next.docs)
		b.docs = append(docs, b.docs...)
		b.docs = append(b.docs, document(ledger.KindSettlement, j.task.Run, t.Evidence))
		if t.Candidate != nil {
			j.task.Candidate = t.Candidate.CandidateID
		}
		j.task.Phase = Queued
		return err
	})
	return err
}

// settleLanding ends the candidate with what the remote shows, and the run with it.
func (j *job) settleLanding(ctx context.Context, f *localgit.Forge) error {
	var readback landing.Readback
	_, err := j.transition(ctx, func(s landing.State) (t landing.Transition, err error) {
		if readback, err = f.Seal(ctx, localgit.SealParams{State: s, CancelAsked: j.why != "", Now: j.Now()}); err != nil {
			return t, err
		}
		fence := s.Warrant.Fence()
		return landing.Settle(s, landing.SettleParams{
			PullRequestNumber: j.task.Change, SourceHead: j.task.SourceHead, CandidateID: j.task.Candidate, Fence: &fence, Readback: readback,
		}, j.Now())
	}, func(t landing.Transition, b *batch) error {
		b.docs = append(b.docs, document(ledger.KindReadback, j.task.Run, readback.Document()))
		return j.landed(ctx, *t.Candidate, b)
	})
	return err
}

// landed moves the task after the settlement: a merge ends the run, a base that
// moved sends the change back, anything else ends it as failed.
func (j *job) landed(ctx context.Context, c landing.Candidate, b *batch) error {
	switch c.Status {
	case landing.Merged:
		terminal, err := docket.TerminalRoot(c)
		if err != nil {
			return err
		}
		j.task.Phase = Over
		return j.ending(ctx, journal.Completion{
			Summary:     "change " + itoa(c.PullRequestNumber) + " landed on " + j.repo.Base + " as " + j.task.MergeHead,
			CandidateID: c.CandidateID, Outcome: string(c.Status), TerminalRoot: terminal, LandedCommit: j.task.MergeHead,
		}.Payload(), b)
	case landing.Dequeued:
		j.task.Phase = Recorded // submitted again, with its age
		return nil
	case landing.Cancelled:
		j.task.Failure, j.task.Reason = string(fault.Cancelled), firstText(j.why, c.Terminal.Reason)
		return j.over(ctx, Over, b)
	default:
		j.task.Failure, j.task.Reason = string(fault.Forge), firstText(j.task.Reason, "landing ended "+string(c.Status)+": "+c.Terminal.Reason)
		return j.over(ctx, Over, b)
	}
}

// ended closes the run of a candidate that somebody else ended.
func (j *job) ended(ctx context.Context, c landing.Candidate) error {
	if c.Status == landing.Dequeued {
		return j.move(ctx, Recorded)
	}
	var b batch
	if err := j.landed(ctx, c, &b); err != nil {
		return err
	}
	return j.save(ctx, j.workspace, &j.task, b)
}

// Cancel names a candidate that is not to land.
type Cancel struct {
	Repository  string `json:"repository"`
	Base        string `json:"base"`
	CandidateID string `json:"candidate_id"`
	Reason      string `json:"reason"`
}

// Cancel settles a candidate that is not landing yet as cancelled. What is
// landing ends by what the remote shows, and by nothing else.
func (h *Host) Cancel(ctx context.Context, workspace string, c Cancel) (any, error) {
	s, err := h.branch(ctx, workspace, c.Repository, c.Base)
	if err != nil {
		return nil, err
	}
	found, ok := s.Candidate(c.CandidateID)
	if !ok {
		return nil, fault.New(fault.NotFound, "cancel landing", "there is no candidate %s", c.CandidateID)
	}
	if found.Status == landing.Landing || found.Status.Terminal() {
		return nil, fault.New(fault.State, "cancel landing", "candidate %s is %s", c.CandidateID, found.Status)
	}
	t, err := h.taskOf(ctx, workspace, c.CandidateID)
	if err != nil {
		return nil, err
	}
	j := &job{Host: h, workspace: workspace, task: t}
	if err := j.open(ctx); err != nil {
		return nil, err
	}
	j.task.Failure, j.task.Reason = string(fault.Cancelled), c.Reason
	if err := j.settle(ctx, landing.Cancelled, c.Reason, leaseOf(s, found), Over); err != nil {
		return nil, err
	}
	return map[string]string{"candidate_id": c.CandidateID, "outcome": string(landing.Cancelled)}, nil
}

// taskOf finds the task that submitted a candidate.
func (h *Host) taskOf(ctx context.Context, workspace, candidate string) (Task, error) {
	cells, err := h.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellTask})
	if err != nil {
		return Task{}, err
	}
	for _, cell := range cells {
		if t, err := readTask(cell); err == nil && t.Candidate == candidate {
			return t, nil
		}
	}
	return Task{}, fault.New(fault.NotFound, "find task", "no run submitted candidate %s", candidate)
}

// Landing returns the rooted document of a branch with its observation.
func (h *Host) Landing(ctx context.Context, workspace, repository, base string) (any, error) {
	s, err := h.branch(ctx, workspace, repository, base)
	if err != nil {
		return nil, err
	}
	v, err := s.Value()
	if err != nil {
		return nil, err
	}
	o, err := landing.Observe(s, h.Now())
	if err != nil {
		return nil, err
	}
	return map[string]any{"state": v.Any(), "observation": o.Any()}, nil
}

func (h *Host) branch(ctx context.Context, workspace, repository, base string) (landing.State, error) {
	r, err := h.repository(ctx, workspace)
	if err != nil {
		return landing.State{}, err
	}
	if r.Alias != repository || r.Base != base {
		return landing.State{}, fault.New(fault.NotFound, "read landing", "the workspace lands on %s %s", r.Alias, r.Base)
	}
	s, _, err := h.authority(ctx, workspace, r)
	return s, err
}
