package localgit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/forge/localgit"
	"writ/internal/gitcmd"
	"writ/internal/landing"
)

func (f *field) seal(g *localgit.Forge, s landing.State, cancel bool) landing.Readback {
	f.t.Helper()
	return must(g.Seal(f.t.Context(), localgit.SealParams{State: s, CancelAsked: cancel, Now: noon.Add(time.Minute)}))(f.t)
}

// settled checks that the authority takes the readback, and how.
func (f *field) settled(s landing.State, r landing.Readback, want landing.Status) {
	f.t.Helper()
	tr, err := landing.Settle(s, landing.SettleParams{PullRequestNumber: 1, SourceHead: f.change, Readback: r}, noon.Add(time.Minute))
	if err != nil {
		f.t.Fatal(err)
	}
	if tr.Candidate.Status != want || tr.State.Warrant != nil {
		f.t.Errorf("settled as %s, want %s", tr.Candidate.Status, want)
	}
}

func TestSealMerged(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	m := f.build(g)
	s := f.admitted(m)
	if err := g.Push(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	head := f.outside("later.go")
	before := f.refs()
	r := f.seal(g, s, true) // a cancel that came too late
	f.unchanged(before)
	v := r.View()
	want := landing.ReadbackView{BaseHead: head, Contained: true, LandedTree: m.Tree, FenceHead: f.ref(localgit.FenceRef(base)), Outcome: landing.Merged}
	got := landing.ReadbackView{BaseHead: v.BaseHead, Contained: v.Contained, LandedTree: v.LandedTree, FenceHead: v.FenceHead, Outcome: v.Outcome}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	f.settled(s, r, landing.Merged)
}

func TestSealGivesTheAttemptUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cancel, move bool
		want         landing.Status
	}{
		"nothing happened": {false, false, landing.TerminalFailure},
		"cancel asked":     {true, false, landing.Cancelled},
		"base moved":       {false, true, landing.Dequeued},
		"both":             {true, true, landing.Dequeued},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newField(t)
			g := f.forge()
			m := f.build(g)
			s := f.admitted(m)
			if c.move {
				f.outside("c.go")
			}
			r := f.seal(g, s, c.cancel)
			if got := r.View(); got.Outcome != c.want || got.FenceHead == m.Fence.Object || got.FenceHead != f.ref(localgit.FenceRef(base)) {
				t.Errorf("readback %+v", got)
			}
			before := f.refs()
			wantCode(t, g.Push(t.Context(), m), fault.Fenced)
			f.unchanged(before)
			if again := f.seal(g, s, c.cancel); again.View().Root != r.View().Root {
				t.Error("sealed twice, with two answers")
			}
			f.settled(s, r, c.want)
		})
	}
}

// The settler decides to give up while the holder's push is already on the
// remote's side: what counts is what the remote holds.
func TestSealAfterAPushWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	m := f.build(g)
	s := f.admitted(m)
	facts := must(g.Facts(t.Context(), m))(t)
	if facts.Contained || facts.FenceHead != m.Fence.Object || facts.BaseHead != f.first || facts.BuiltOn != f.first {
		t.Fatalf("facts before the push %+v", facts)
	}
	if err := g.Push(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if stands := must(g.AdvanceFence(t.Context(), base, m.Fence))(t); stands.MergeHead != m.Commit || stands.Generation != 2 {
		t.Errorf("the fence of the landing was replaced by %+v", stands)
	}
	f.settled(s, f.seal(g, s, true), landing.Merged)
}

func TestSealWhenTheFenceWasTakenDown(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	m := f.build(g)
	s := f.admitted(m)
	f.move(localgit.FenceRef(base), m.Fence.Object, "")
	r := f.seal(g, s, false)
	fence := must(g.ReadFence(t.Context(), base))(t)
	if fence.Generation != m.Fence.Generation+1 || r.View().FenceHead != fence.Object {
		t.Errorf("fence %+v", fence)
	}
	before := f.refs()
	wantCode(t, g.Push(t.Context(), m), fault.Fenced)
	f.unchanged(before)
}

func TestSealNeedsAnAdmittedMergeOfThisClone(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g, stranger := f.forge(), f.forge()
	m := f.build(g)
	_, err := g.Seal(t.Context(), localgit.SealParams{State: f.queued(m.Tree), Now: noon})
	wantCode(t, err, fault.State)
	before := f.refs()
	_, err = stranger.Seal(t.Context(), localgit.SealParams{State: f.admitted(m), Now: noon})
	wantCode(t, err, fault.NotFound)
	f.unchanged(before)
}

func TestSealOutside(t *testing.T) {
	t.Parallel()
	f := newField(t)
	g := f.forge()
	m := f.build(g)
	s := f.queued(m.Tree)
	id := s.Candidates[0].CandidateID
	p := localgit.OutsideParams{State: s, CandidateID: id, Now: noon.Add(time.Minute)}
	_, err := g.SealOutside(t.Context(), p)
	wantCode(t, err, fault.Evidence)
	// Somebody pushes the change by hand.
	if err := f.author.PushAtomic(t.Context(), f.remote.Dir, gitcmd.RefUpdate{Ref: branch, Old: f.first, New: f.change}); err != nil {
		t.Fatal(err)
	}
	r, err := g.SealOutside(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.View(); v.Kind != landing.OutsideReadback || v.BaseHead != f.change || v.Outcome != landing.Merged {
		t.Errorf("readback %+v", v)
	}
	p.CandidateID = root("f")
	_, err = g.SealOutside(t.Context(), p)
	wantCode(t, err, fault.NotFound)
	// A clone that never saw the change finds it in the base all the same.
	fresh := must(localgit.Open(t.Context(), localgit.Params{Remote: f.remote.Dir, Repository: alias, Dir: t.TempDir() + "/c.git"}))(t)
	p.CandidateID = id
	if _, err := fresh.SealOutside(t.Context(), p); err != nil {
		t.Error(err)
	}
}
