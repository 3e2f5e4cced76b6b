package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/ledger"
	"writ/internal/store/sqlite"
)

// gate is a hook that holds the writer at one point until it is opened, and
// fails as told.
type gate struct {
	point   sqlite.Point
	reached chan struct{} // one value each time the writer arrives
	pass    chan error    // what the hook answers
	counts  sync.Map      // Point -> *atomic.Int64
}

func newGate(p sqlite.Point) *gate {
	return &gate{point: p, reached: make(chan struct{}), pass: make(chan error)}
}

func (g *gate) hook(p sqlite.Point) error {
	n, _ := g.counts.LoadOrStore(p, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	if p != g.point {
		return nil
	}
	select {
	case g.reached <- struct{}{}:
		return <-g.pass
	case err := <-g.pass: // closed: the gate stands open
		return err
	}
}

func (g *gate) count(p sqlite.Point) int64 {
	n, ok := g.counts.Load(p)
	if !ok {
		return 0
	}
	return n.(*atomic.Int64).Load()
}

// hooked opens a store with a hook.
func hooked(t *testing.T, h sqlite.Hook) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "writ.db"), Hook: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

const batchWorkspace = "ws_batch"

func single() ledger.Commit {
	return ledger.Commit{Workspace: batchWorkspace, Now: time.Now(), Events: []ledger.NewEvent{{
		ID: ident.New(ident.Event), Type: "message.posted", Body: []byte("{}"),
	}}}
}

type answer struct {
	receipt ledger.Receipt
	err     error
}

// commitLater commits in the background.
func commitLater(ctx context.Context, s *sqlite.Store, c ledger.Commit) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		r, err := s.Commit(ctx, c)
		out <- answer{r, err}
	}()
	return out
}

// until polls a condition that comes true soon.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func TestWaitingCommitsShareATransaction(t *testing.T) {
	t.Parallel()
	g := newGate(sqlite.AtBegin)
	s := hooked(t, g.hook)
	first := commitLater(t.Context(), s, single())
	<-g.reached
	var later []<-chan answer
	for range 50 {
		later = append(later, commitLater(t.Context(), s, single()))
	}
	until(t, "50 commits wait", func() bool { return s.Waiting() == 50 })
	close(g.pass)
	for _, a := range append(later, first) {
		if x := <-a; x.err != nil {
			t.Fatal(x.err)
		}
	}
	if n := g.count(sqlite.AtCommit); n != 1 {
		t.Errorf("51 commits took %d transactions, want 1: the later ones came in before it ended", n)
	}
}

func TestGivenUpWhileQueuedIsWithdrawn(t *testing.T) {
	t.Parallel()
	g := newGate(sqlite.AtBegin)
	s := hooked(t, g.hook)
	first := commitLater(t.Context(), s, single())
	<-g.reached
	ctx, cancel := context.WithCancel(t.Context())
	second := commitLater(ctx, s, single())
	until(t, "the second commit waits", func() bool { return s.Waiting() == 1 })
	cancel()
	if a := <-second; fault.CodeOf(a.err) != fault.Cancelled || !errors.Is(a.err, context.Canceled) {
		t.Errorf("withdrawn with %v", a.err)
	}
	close(g.pass)
	if a := <-first; a.err != nil || a.receipt.Events[0].Seq != 1 {
		t.Errorf("the other: %+v", a)
	}
	if r, err := s.Commit(t.Context(), single()); err != nil || r.Events[0].Seq != 2 {
		t.Errorf("the next: %+v, %v", r, err)
	}
}

func TestGivenUpWhileWrittenIsAnswered(t *testing.T) {
	t.Parallel()
	g := newGate(sqlite.AtCommit)
	s := hooked(t, g.hook)
	ctx, cancel := context.WithCancel(t.Context())
	a := commitLater(ctx, s, single())
	<-g.reached
	cancel()
	close(g.pass)
	if x := <-a; x.err != nil || x.receipt.Events[0].Seq != 1 {
		t.Errorf("a commit that was being written answered %+v", x)
	}
}

// TestFailedTransactionIsRetriedOneByOne makes a batch fail at each point,
// once: its members are tried alone and succeed, in order, without a gap.
func TestFailedTransactionIsRetriedOneByOne(t *testing.T) {
	t.Parallel()
	for _, point := range []sqlite.Point{sqlite.AtBegin, sqlite.AtWrite, sqlite.AtCommit, sqlite.AtCommitted} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			begin, fail := newGate(sqlite.AtBegin), atomic.Bool{}
			s := hooked(t, func(p sqlite.Point) error {
				if err := begin.hook(p); err != nil {
					return err
				}
				if p == point && fail.Swap(false) {
					return errors.New("injected")
				}
				return nil
			})
			blocker := commitLater(t.Context(), s, single())
			<-begin.reached
			var batch []<-chan answer
			for range 8 {
				batch = append(batch, commitLater(t.Context(), s, single()))
			}
			until(t, "8 commits wait", func() bool { return s.Waiting() == 8 })
			fail.Store(true)
			close(begin.pass)
			seen := map[int64]bool{}
			failed := 0
			for _, a := range append(batch, blocker) {
				switch x := <-a; {
				case x.err == nil:
					seen[x.receipt.Events[0].Seq] = true
				case fault.CodeOf(x.err) == fault.Internal:
					failed++ // alone in its transaction, there is no second try
				default:
					t.Error(x.err)
				}
			}
			page, err := s.Events(t.Context(), batchWorkspace, ledger.EventQuery{})
			if err != nil || page.Head != int64(9-failed) || len(seen) != 9-failed || failed > 1 {
				t.Errorf("%d failed, %d acknowledged, head %d, %v", failed, len(seen), page.Head, err)
			}
			if point == sqlite.AtCommitted && failed > 0 {
				t.Error("a durable commit was answered with an error")
			}
			sound(t, s)
		})
	}
}

// TestLastingFailureIsAnswered makes every transaction fail: callers hear of
// it, nothing is kept, and the store goes on once the failure is over.
func TestLastingFailureIsAnswered(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	s := hooked(t, func(p sqlite.Point) error {
		if p == sqlite.AtCommit && broken.Load() {
			return fault.New(fault.Unavailable, "commit", "the disk is full")
		}
		return nil
	})
	if _, err := s.Commit(t.Context(), single()); err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := s.Commit(t.Context(), single()); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("answered %v", err)
			}
		})
	}
	wg.Wait()
	broken.Store(false)
	r, err := s.Commit(t.Context(), single())
	if err != nil || r.Events[0].Seq != 2 {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
	sound(t, s)
}

// TestCleanRefusalsKeepTheirBatch counts transactions: commits that fail
// before they wrote do not undo the others.
func TestCleanRefusalsKeepTheirBatch(t *testing.T) {
	t.Parallel()
	g := newGate(sqlite.AtBegin)
	s := hooked(t, g.hook)
	blocker := commitLater(t.Context(), s, single())
	<-g.reached
	var good, bad []<-chan answer
	for range 8 {
		good = append(good, commitLater(t.Context(), s, single()))
		c := single()
		c.Cells = []ledger.CellWrite{{Kind: "run", Key: "none", Expect: 3}}
		bad = append(bad, commitLater(t.Context(), s, c))
	}
	until(t, "16 commits wait", func() bool { return s.Waiting() == 16 })
	close(g.pass)
	for _, a := range append(good, blocker) {
		if x := <-a; x.err != nil {
			t.Error(x.err)
		}
	}
	for _, a := range bad {
		if x := <-a; fault.CodeOf(x.err) != fault.Conflict {
			t.Error(x.err)
		}
	}
	if n := g.count(sqlite.AtCommit); n != 1 {
		t.Errorf("%d transactions, want 1", n)
	}
}
