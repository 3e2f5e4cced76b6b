package landing

import (
	"time"

	"writ/internal/fault"
)

// Liveness is what shows that an admitted attempt still runs: what GitHub
// reports about it, or the runner of a plain git attempt that calls.
type Liveness struct {
	GitHub   *GitHubSnapshot
	RunnerID string
}

func (l *Liveness) shape(c *codec) {
	optNested(c, "gitHub", &l.GitHub)
	c.optText("runnerId", &l.RunnerID)
}

// HeartbeatLandingParams renews the warrant for the admitted attempt.
type HeartbeatLandingParams struct {
	Fence        Fence
	Attempt      Attempt
	Live         Liveness
	LeaseSeconds int64
}

func (p *HeartbeatLandingParams) shape(c *codec) {
	nested(c, "fence", &p.Fence)
	nested(c, "providerAttempt", &p.Attempt)
	nested(c, "live", &p.Live)
	c.optNumber("leaseSeconds", &p.LeaseSeconds)
}

// HeartbeatLanding renews the warrant of an admitted attempt that still runs.
// Before admission there is no heartbeat.
func HeartbeatLanding(s State, p HeartbeatLandingParams, now time.Time) (Transition, error) {
	const op = "renew landing warrant"
	p.Fence, p.Attempt = p.Fence.normal(), p.Attempt.normal()
	if p.Live.GitHub != nil {
		seen := p.Live.GitHub.normal()
		p.Live.GitHub = &seen
	}
	w, err := begin(s, OpHeartbeatLanding, &p, now)
	if err != nil {
		return Transition{}, err
	}
	duration, err := seconds(p.LeaseSeconds, w.Policy.LandingLeaseSeconds)
	if err != nil {
		return Transition{}, err
	}
	if err := w.heldWarrant(op, p.Fence); err != nil {
		return Transition{}, err
	}
	switch held := w.Warrant; {
	case held.ExpiresAt.expired(w.now):
		return Transition{}, leaseExpired(op, held.ExpiresAt)
	case held.Admitted == nil:
		return Transition{}, fault.New(fault.State, op, "no attempt has been admitted")
	case !held.Admitted.Attempt.Equal(p.Attempt):
		return Transition{}, fault.New(fault.Fenced, op, "another attempt was admitted")
	}
	if err := w.alive(p.Live); err != nil {
		return Transition{}, err
	}
	w.out.Warrant = w.Warrant
	w.detail(text("candidateId", w.Warrant.CandidateID), text("landingWarrantToken", w.Warrant.Token))
	if w.Warrant.HeartbeatAt == w.now {
		return w.finish(WarrantRenewedDup)
	}
	w.Warrant.HeartbeatAt, w.Warrant.ExpiresAt, w.changed = w.now, w.now.plus(duration), true
	w.detail(text("expiresAt", string(w.Warrant.ExpiresAt)))
	return w.finish(WarrantRenewed)
}

func (w *step) alive(l Liveness) error {
	const op = "renew landing warrant"
	held := w.Warrant
	if git := held.Admitted.Attempt.Git; git != nil {
		return hold(op, fact{"runner", l.RunnerID, git.RunnerID})
	}
	if l.GitHub == nil {
		return fault.New(fault.Evidence, op, "state of the attempt is not known").At("/live/gitHub")
	}
	s, c := *l.GitHub, w.landing()
	if err := s.isOf(op, &w.State, c, held.Admitted.Attempt.GitHub); err != nil {
		return err
	}
	started := s.Job.StartedAt
	return hold(op,
		fact{"run status", s.Run.Status, "in_progress"},
		fact{"run conclusion", s.Run.Conclusion, ""},
		fact{"job status", s.Job.Status, "in_progress"},
		fact{"job conclusion", s.Job.Conclusion, ""},
		fact{"pull request head", s.Pull.HeadSHA, c.SourceHead},
		fact{"start of the job under the warrant", started != "" && started.second() >= held.IssuedAt.second() && started <= w.now, true}, // W4
	)
}
