package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"writ/client"
	"writ/internal/docket"
	"writ/internal/store/sqlite"
	"writ/internal/taskpack"
)

// everyVariable makes the tests die at every single point, and not at a choice.
const everyVariable = "WRIT_TEST_EVERY_CRASH"

// inStep begins the points inside a step: who dies there leaves a step that is
// never run again.
var inStep = []string{"committed step-started", "started", "carried out"}

// survive goes the whole way while the server dies, and looks at what is left.
func (w *world) survive(s *supervisor) (end told, r docket.Report) {
	w.t.Helper()
	run := w.admit("fast")
	end = w.follow(run)
	return end, w.aftermath(s, run, end)
}

// aftermath checks what is left of a run whose server died on the way: the ledger
// is sound, what was acknowledged is there, the docket verifies, and main moved to
// what the docket shows or not at all.
func (w *world) aftermath(s *supervisor, run string, end told) docket.Report {
	w.t.Helper()
	s.then(func(l *life) { *l = life{Data: l.Data, Listen: l.Listen, Points: l.Points} })
	s.kill() // a last time: what is there is on disk
	r := w.verified(run)
	w.last = w.bundle(run)
	acknowledged := w.seen(run)
	w.leave()
	s.stop()
	w.sound()
	w.kept(acknowledged)
	switch tip := w.tip(); {
	case r.Landed != "" && tip != r.Landed, r.Landed == "" && tip != w.sample.head:
		w.t.Errorf("main is at %s, it was at %s, the docket shows %q", tip, w.sample.head, r.Landed)
	case (end.Type == "run.completed") != (r.Landed != "") || end.LandedCommit != r.Landed:
		w.t.Errorf("the run ended %s %s with %q, the docket shows %q", end.Type, end.Code, end.LandedCommit, r.Landed)
	}
	return r
}

// seen are the events that clients were told, by id.
func (w *world) seen(run string) map[string]int64 {
	w.t.Helper()
	out := map[string]int64{}
	w.watch(run, func(e told) bool { out[e.ID] = e.Seq; return isEnd(e.Type) })
	for id, seq := range w.acknowledged {
		out[id] = seq
	}
	return out
}

// kept checks that a ledger that nobody serves has these events, in their places.
func (w *world) kept(events map[string]int64) {
	w.t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(w.data(), "writ.db")})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	for id, seq := range events {
		if e, err := s.Event(ctx, w.workspace, id); err != nil || e.Seq != seq {
			w.t.Errorf("event %s was acknowledged as number %d: it is number %d, %v", id, seq, e.Seq, err)
		}
	}
}

// TestDeathAfterEveryCommit kills the server at every point between two commits
// that is not inside a step, one after the other in one run: each process comes as
// far as the next new point. The change lands all the same, once.
func TestDeathAfterEveryCommit(t *testing.T) {
	t.Parallel()
	needContainment(t)
	w, s := newMortalWorld(t)
	s.then(func(l *life) { l.Once, l.Spare = true, inStep })
	s.kill()
	end, r := w.survive(s)
	if end.Type != "run.completed" || r.Outcome != "landed" {
		t.Errorf("ended %s %s %s; the docket says %s", end.Type, end.Code, end.Message, r.Outcome)
	}
	points := w.points()
	slices.Sort(points)
	points = slices.Compact(points)
	if s.lives < len(points)-4*len(inStep) || s.lives < 25 {
		t.Errorf("%d processes for %d points: the server was to die at nearly each", s.lives, len(points))
	}
	t.Logf("%d processes, points:\n%s", s.lives, strings.Join(points, "\n"))
}

// TestDeathInAStep kills the server while a step is carried out: nobody can know
// what came of it, and the run says so and ends.
func TestDeathInAStep(t *testing.T) {
	t.Parallel()
	points := []string{"started " + taskpack.Change, "carried out " + taskpack.Compare}
	if os.Getenv(everyVariable) != "" {
		points = nil
		for _, step := range []string{taskpack.List, taskpack.Change, taskpack.Check, taskpack.Compare} {
			points = append(points, "started "+step, "carried out "+step)
		}
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			needContainment(t)
			w, s := newMortalWorld(t)
			s.then(func(l *life) { l.At = point })
			s.kill()
			end, r := w.survive(s)
			if end.Type != "run.failed" || end.Code != "execution_unknown" || r.Landed != "" {
				t.Errorf("ended %s %s %s", end.Type, end.Code, end.Message)
			}
		})
	}
}

// TestDeathWhileQualifying kills the server when the native command has ended and
// nothing of it is stored: the lease is given back, and the change is submitted
// again with its age and lands.
func TestDeathWhileQualifying(t *testing.T) {
	t.Parallel()
	needContainment(t)
	w, s := newMortalWorld(t)
	s.then(func(l *life) {
		l.Once, l.Spare = true, []string{"committed", "started", "carried out", "allocated", "admitted", "pushed"}
	})
	s.kill()
	end, r := w.survive(s)
	if end.Type != "run.completed" || r.Outcome != "landed" {
		t.Errorf("ended %s %s %s; the docket says %s", end.Type, end.Code, end.Message, r.Outcome)
	}
	if !slices.Contains(w.points(), "native command ended") {
		t.Error("the server never died there")
	}
	attempts := attemptsOf(t, w.last)
	if len(attempts) != 2 || attempts[0].reason != "worker-lost" || attempts[1].status != "merged" || attempts[0].enqueued != attempts[1].enqueued {
		t.Errorf("attempts to land: %+v", attempts)
	}
}

// TestDeathAtAnyTime kills the server from outside, whenever it is.
func TestDeathAtAnyTime(t *testing.T) {
	t.Parallel()
	flows := 2
	if os.Getenv(everyVariable) != "" {
		flows = 30
	}
	for i := range flows {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			needContainment(t)
			w, s := newMortalWorld(t)
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			ctx, enough := context.WithCancel(t.Context())
			killed := make(chan int, 1)
			go func() {
				n := 0
				for ; n < 2; n++ {
					select {
					case <-ctx.Done():
						killed <- n
						return
					case <-time.After(time.Duration(rng.IntN(4000)) * time.Millisecond):
						s.kill()
					}
				}
				killed <- n
			}()
			run := w.admit("fast")
			end := w.follow(run)
			enough()
			t.Logf("killed %d times; ended %s %s", <-killed, end.Type, end.Code)
			r := w.aftermath(s, run, end)
			if end.Type != "run.completed" && end.Code != "execution_unknown" || r.Outcome == "" {
				t.Errorf("ended %s %s %s", end.Type, end.Code, end.Message)
			}
		})
	}
}

// TestDeathAtEachPoint kills the server once at each point that an undisturbed run
// comes by, each time in a world of its own. It takes long, and is run on demand.
func TestDeathAtEachPoint(t *testing.T) {
	if os.Getenv(everyVariable) == "" {
		t.Log("run with " + everyVariable + "=1; TestDeathAfterEveryCommit dies at the same points in one run")
		return
	}
	needContainment(t)
	w, s := newMortalWorld(t)
	w.survive(s)
	points := w.points()
	for i, point := range points {
		t.Run(fmt.Sprintf("%d %s", i+1, point), func(t *testing.T) {
			w, s := newMortalWorld(t)
			s.then(func(l *life) { l.Kill = i + 1 })
			s.kill()
			end, _ := w.survive(s)
			unknown := slices.ContainsFunc(inStep, func(p string) bool { return strings.HasPrefix(point, p) })
			if unknown != (end.Code == "execution_unknown") || !unknown && end.Type != "run.completed" {
				t.Errorf("died at %s, ended %s %s %s", point, end.Type, end.Code, end.Message)
			}
		})
	}
}

// TestTheFirstStart: a data folder whose first start was cut short is set up by
// the next one, whatever was there, and the token is shown until it was.
func TestTheFirstStart(t *testing.T) {
	t.Parallel()
	w := bareWorld(t, t.TempDir())
	w.start() // nobody says that the token was shown
	first := *w.node.First
	w.stop()
	w.start()
	if w.node.First == nil || w.node.First.Workspace != first.Workspace || w.node.First.Admin != first.Admin || w.node.First.Token == first.Token {
		t.Fatalf("the second start sets up %+v, the first %+v", w.node.First, first)
	}
	for _, token := range []string{first.Token, w.node.First.Token} {
		c := client.New(w.node.Address, token)
		if me, err := c.Me(t.Context()); err != nil || me.ID != first.Admin {
			t.Errorf("a token of the admin is %s, %v", me.ID, err)
		}
		c.Close()
	}
	if err := w.node.Shown(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.stop()
	w.start()
	if w.node.First != nil {
		t.Errorf("the token is shown again: %+v", w.node.First)
	}
	w.stop()
	w.sound()
}
