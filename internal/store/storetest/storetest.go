// Package storetest is the conformance suite of ledger.Store. Whatever passes
// it is a store; what a store must do is what the suite asks, for every
// database alike. Each promise of the interface has a test that is named after
// it.
//
// The package is imported by tests only. It never looks behind the interface.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/ledger"
)

// Place makes room for one empty store and returns what opens it. The opener is
// called again, after Close, by tests of what must survive.
type Place func(t *testing.T) (open func() ledger.Store)

// Run runs the suite. Every test has a place of its own.
func Run(t *testing.T, place Place) {
	tests := []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"SequencesAreGapless", sequencesAreGapless},
		{"WorkspacesAreApart", workspacesAreApart},
		{"TimeNeverDecreases", timeNeverDecreases},
		{"HashesChain", hashesChain},
		{"AllOrNothing", allOrNothing},
		{"TakenEventIDFails", takenEventIDFails},
		{"MalformedCommitsAreRefused", malformedCommitsAreRefused},
		{"PoisonHarmsNobodyElse", poisonHarmsNobodyElse},
		{"GivenUpCommitsAreNeitherLostNorDoubled", givenUpCommitsAreNeitherLostNorDoubled},
		{"CloseFinishesWhatIsQueued", closeFinishesWhatIsQueued},

		{"ReplayWritesNothing", replayWritesNothing},
		{"ReplayReturnsThePrimaryEvent", replayReturnsThePrimaryEvent},
		{"ReplayComesBeforeCellVersions", replayComesBeforeCellVersions},
		{"OtherContentUnderAKeyFails", otherContentUnderAKeyFails},
		{"KeysAreScoped", keysAreScoped},
		{"KeysOutliveTheProcess", keysOutliveTheProcess},
		{"ConcurrentDuplicatesAppendOnce", concurrentDuplicatesAppendOnce},

		{"DocumentsAreFoundByRefAndDigest", documentsAreFoundByRefAndDigest},
		{"KnownRefKeepsItsBytes", knownRefKeepsItsBytes},
		{"KnownIdentityUnderAnotherRefFails", knownIdentityUnderAnotherRefFails},
		{"DocumentsKeepTheirOrder", documentsKeepTheirOrder},
		{"LargeDocuments", largeDocuments},

		{"CellsCompareAndSet", cellsCompareAndSet},
		{"DeletedCellsKeepCounting", deletedCellsKeepCounting},
		{"CellsAreFiltered", cellsAreFiltered},
		{"OneWinnerPerVersion", oneWinnerPerVersion},

		{"PagesCoverTheLog", pagesCoverTheLog},
		{"PagesEndByBytes", pagesEndByBytes},
		{"FiltersSelect", filtersSelect},
		{"FilteredCursorsMoveOn", filteredCursorsMoveOn},
		{"CursorAheadFails", cursorAheadFails},
		{"EventsAreFoundByID", eventsAreFoundByID},

		{"WaitWakes", waitWakes},
		{"WaitSeesThePast", waitSeesThePast},
		{"WaitEnds", waitEnds},
		{"ReadersSeeWhatWasAcknowledged", readersSeeWhatWasAcknowledged},

		{"EverythingSurvivesClose", everythingSurvivesClose},
		{"AgreesWithTheModel", agreesWithTheModel},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, newFixture(t, place))
		})
	}
}

// fixture is one store with shorthands. A failure of a shorthand ends the test.
type fixture struct {
	ledger.Store
	t    *testing.T
	open func() ledger.Store
}

func newFixture(t *testing.T, place Place) *fixture {
	f := &fixture{t: t, open: place(t)}
	f.Store = f.open()
	t.Cleanup(func() {
		if err := f.Store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

// reopen closes the store and opens it again.
func (f *fixture) reopen() {
	f.t.Helper()
	if err := f.Store.Close(); err != nil {
		f.t.Fatalf("close: %v", err)
	}
	f.Store = f.open()
}

const ws = "ws_01J00000000000000000000001"

// noon is the caller's clock where nothing else matters.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// event makes an event with a new id.
func event(typ string) ledger.NewEvent {
	id := ident.New(ident.Event)
	return ledger.NewEvent{ID: id, Type: typ, Actor: "per_1", Body: fmt.Appendf(nil, `{"id":%q,"type":%q}`, id, typ)}
}

// appending makes a commit of n new events.
func appending(n int) ledger.Commit {
	c := ledger.Commit{Workspace: ws, Now: noon}
	for range n {
		c.Events = append(c.Events, event("message.posted"))
	}
	return c
}

// once adds an idempotency key whose fingerprint is that of content.
func once(c ledger.Commit, key, content string) ledger.Commit {
	c.Once = &ledger.Once{Principal: "per_1", Key: key, Fingerprint: canon.Sum([]byte(content))}
	return c
}

func document(ref, body string) ledger.NewDocument {
	return ledger.NewDocument{Kind: ledger.KindProposal, Ref: ref, RunID: "run_1", Body: []byte(body)}
}

func cell(key string, expect int64, value string) ledger.CellWrite {
	return ledger.CellWrite{Kind: ledger.CellRun, Key: key, Expect: expect, State: "open", Value: []byte(value)}
}

// commit must succeed.
func (f *fixture) commit(c ledger.Commit) ledger.Receipt {
	f.t.Helper()
	r, err := f.Commit(f.t.Context(), c)
	if err != nil {
		f.t.Fatalf("commit: %v", err)
	}
	return r
}

// refuse must fail with code, and leave the log where it was.
func (f *fixture) refuse(code fault.Code, c ledger.Commit) *fault.Error {
	f.t.Helper()
	before := f.head()
	r, err := f.Commit(f.t.Context(), c)
	e, ok := fault.As(err)
	if !ok || e.Code != code {
		f.t.Fatalf("commit answered %+v, %v; want code %s", r, err, code)
	}
	if after := f.head(); after != before {
		f.t.Fatalf("a refused commit moved the head from %d to %d", before, after)
	}
	return e
}

func (f *fixture) page(q ledger.EventQuery) ledger.EventPage {
	f.t.Helper()
	p, err := f.Events(f.t.Context(), ws, q)
	if err != nil {
		f.t.Fatalf("read events: %v", err)
	}
	return p
}

func (f *fixture) head() int64 { f.t.Helper(); return f.page(ledger.EventQuery{Limit: 1}).Head }

// log reads all events of a workspace, page by page.
func (f *fixture) log(workspace string) []ledger.Event {
	f.t.Helper()
	return f.read(workspace, ledger.EventQuery{Limit: 1000})
}

// read reads all events that q selects, page by page.
func (f *fixture) read(workspace string, q ledger.EventQuery) []ledger.Event {
	f.t.Helper()
	var out []ledger.Event
	for {
		p, err := f.Events(context.WithoutCancel(f.t.Context()), workspace, q)
		if err != nil {
			f.t.Fatalf("read events: %v", err)
		}
		out = append(out, p.Events...)
		if p.NextAfter == p.Head {
			return out
		}
		if p.NextAfter <= q.After {
			f.t.Fatalf("the cursor stays at %d of %d", p.NextAfter, p.Head)
		}
		q.After = p.NextAfter
	}
}

// sound runs the store's own check.
func (f *fixture) sound() {
	f.t.Helper()
	found, err := f.Check(f.t.Context())
	if err != nil {
		f.t.Fatalf("check: %v", err)
	}
	for _, x := range found {
		f.t.Errorf("check: %s %s %s", x.Workspace, x.Where, x.What)
	}
}

// code must be that of err.
func (f *fixture) code(err error, want fault.Code) {
	f.t.Helper()
	if got := fault.CodeOf(err); got != want {
		f.t.Fatalf("got %v, want code %s", err, want)
	}
}
