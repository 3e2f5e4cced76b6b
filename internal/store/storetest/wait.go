package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"writ/internal/fault"
	"writ/internal/ledger"
)

// patience bounds what must happen at once.
const patience = 30 * time.Second

// waitWakes lets many readers follow the log by cursor and Wait alone: each
// sees every event once and in order, without polling.
func waitWakes(t *testing.T, f *fixture) {
	const events = 200
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			after := int64(0)
			for after < events {
				head, err := f.Wait(ctx, ws, after)
				if err != nil || head <= after {
					t.Errorf("waiting behind %d: %d, %v", after, head, err)
					return
				}
				p, err := f.Events(ctx, ws, ledger.EventQuery{After: after, Limit: 1000})
				if err != nil || p.Head < head {
					t.Errorf("woken for %d, the log ends at %d, %v", head, p.Head, err)
					return
				}
				for _, e := range p.Events {
					if after++; e.Seq != after {
						t.Errorf("got event %d, want %d", e.Seq, after)
						return
					}
				}
			}
		})
	}
	for range events {
		f.commit(appending(1))
	}
	wg.Wait()
}

func waitSeesThePast(t *testing.T, f *fixture) {
	f.commit(appending(3))
	f.reopen() // nothing was announced in this process
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if head, err := f.Wait(ctx, ws, 2); err != nil || head != 3 {
		t.Errorf("got %d, %v", head, err)
	}
	if head, err := f.Wait(ctx, ws, 0); err != nil || head != 3 {
		t.Errorf("got %d, %v", head, err)
	}
}

func waitEnds(t *testing.T, f *fixture) {
	f.commit(appending(3))
	for _, name := range []string{ws, "ws_nobody"} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := f.Wait(ctx, name, 3)
			ended <- err
		}()
		other := appending(1)
		other.Workspace = "ws_other" // moves, but is not waited for
		f.commit(other)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.Cancelled {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := f.Wait(t.Context(), ws, 3)
		ended <- err
	}()
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("closed under a reader: %v", err)
	}
}
