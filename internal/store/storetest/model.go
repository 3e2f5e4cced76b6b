package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// model is what a store should do, said in maps.
type model struct {
	ids   map[string]bool
	log   []string                    // event ids in order
	keys  map[string]ledger.NewEvent  // once key -> primary event
	print map[string]canon.Digest     // once key -> fingerprint
	docs  map[string]string           // ref -> bytes
	owner map[string]string           // identity -> ref
	cells map[string]ledger.CellWrite // by key; Expect holds the version
}

func newModel() *model {
	return &model{map[string]bool{}, nil, map[string]ledger.NewEvent{}, map[string]canon.Digest{},
		map[string]string{}, map[string]string{}, map[string]ledger.CellWrite{}}
}

// commit answers like a store: a code, or "" and whether it was a replay.
func (m *model) commit(c ledger.Commit) (code fault.Code, replayed bool) {
	for i, d := range c.Documents {
		for _, other := range c.Documents[:i] {
			if d.Identity != "" && d.Identity == other.Identity && d.Ref != other.Ref {
				return fault.Idempotency, false
			}
		}
	}
	if o := c.Once; o != nil {
		if print, known := m.print[o.Key]; known && print != o.Fingerprint {
			return fault.Idempotency, false
		} else if known {
			return "", true
		}
	}
	for _, d := range c.Documents {
		if ref, known := m.owner[d.Identity]; known && d.Identity != "" && ref != d.Ref {
			return fault.Idempotency, false
		}
	}
	for _, w := range c.Cells {
		now := m.cells[w.Key]
		if current := now.Expect; w.Expect != ledger.AnyVersion &&
			(now.Delete && w.Expect != 0 || !now.Delete && w.Expect != current) {
			return fault.Conflict, false
		}
	}
	for _, e := range c.Events {
		if m.ids[e.ID] {
			return fault.EventID, false
		}
	}
	for _, e := range c.Events {
		m.ids[e.ID] = true
		m.log = append(m.log, e.ID)
	}
	if o := c.Once; o != nil {
		m.keys[o.Key], m.print[o.Key] = c.Events[o.Primary], o.Fingerprint
	}
	for _, d := range c.Documents {
		if _, known := m.docs[d.Ref]; !known {
			m.docs[d.Ref] = string(d.Body)
			m.owner[d.Identity] = d.Ref
		}
	}
	for _, w := range c.Cells {
		if now, there := m.cells[w.Key]; !w.Delete || there && !now.Delete {
			w.Expect = now.Expect + 1
			m.cells[w.Key] = w
		}
	}
	return "", false
}

// agreesWithTheModel runs random commits, replays and conflicts, with the store
// closed and opened in between, and compares every answer and the outcome.
// Every run has a workspace of its own.
func agreesWithTheModel(t *testing.T, f *fixture) {
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		m, next, workspace := newModel(), 0, fmt.Sprint("ws_", runs)
		for range rapid.IntRange(1, 25).Draw(rt, "commits") {
			if rapid.IntRange(0, 40).Draw(rt, "reopen") == 40 {
				f.reopen()
			}
			c := drawCommit(rt, &next)
			c.Workspace = workspace
			code, replayed := m.commit(c)
			r, err := f.Commit(context.Background(), c)
			if fault.CodeOf(err) != code || r.Replayed != replayed {
				rt.Fatalf("%+v\nanswered %+v, %v\nwant code %q, replayed %v", c, r, err, code, replayed)
			}
			if replayed && (len(r.Events) != 1 || r.Events[0].ID != m.keys[c.Once.Key].ID) {
				rt.Fatalf("key %s replayed %+v, want %s", c.Once.Key, r.Events, m.keys[c.Once.Key].ID)
			}
		}
		compare(rt, f, m, workspace)
	})
	f.sound()
}

// drawCommit draws from so few names that they meet all the time.
func drawCommit(rt *rapid.T, next *int) ledger.Commit {
	name := func(what string, n int) string { return fmt.Sprint(what, rapid.IntRange(0, n).Draw(rt, what)) }
	c := ledger.Commit{Now: noon}
	for range rapid.IntRange(0, 3).Draw(rt, "events") {
		*next++
		id := fmt.Sprint("evt_", *next)
		if rapid.IntRange(0, 11).Draw(rt, "old id") == 0 {
			id = fmt.Sprint("evt_", rapid.IntRange(1, *next).Draw(rt, "id"))
		}
		if !slices.ContainsFunc(c.Events, func(e ledger.NewEvent) bool { return e.ID == id }) {
			c.Events = append(c.Events, ledger.NewEvent{ID: id, Type: "t", Body: []byte(id)})
		}
	}
	if len(c.Events) > 0 && rapid.Bool().Draw(rt, "once") {
		c.Once = &ledger.Once{Principal: "p", Key: name("key", 4), Fingerprint: canon.Sum([]byte(name("content", 2))),
			Primary: rapid.IntRange(0, len(c.Events)-1).Draw(rt, "primary")}
	}
	for range rapid.IntRange(0, 2).Draw(rt, "documents") {
		d := ledger.NewDocument{Kind: "k", Ref: name("ref", 5), Body: []byte(name("body", 9))}
		if rapid.Bool().Draw(rt, "named") {
			d.Identity = name("identity", 3)
		}
		c.Documents = append(c.Documents, d)
	}
	for i := range rapid.IntRange(0, 2).Draw(rt, "cells") {
		c.Cells = append(c.Cells, ledger.CellWrite{Kind: "c", Key: name(fmt.Sprint("cell", i, "/"), 1),
			Expect: rapid.Int64Range(-1, 3).Draw(rt, "expect"), Value: []byte(name("value", 9)), Delete: rapid.IntRange(0, 3).Draw(rt, "delete") == 0})
	}
	if len(c.Events)+len(c.Documents)+len(c.Cells) == 0 {
		*next++
		c.Events = []ledger.NewEvent{{ID: fmt.Sprint("evt_", *next), Type: "t", Body: []byte("x")}}
	}
	return c
}

func compare(rt *rapid.T, f *fixture, m *model, workspace string) {
	var log []string
	for i, e := range f.log(workspace) {
		log = append(log, e.ID)
		if e.Seq != int64(i+1) {
			rt.Fatalf("event %d is numbered %d", i+1, e.Seq)
		}
	}
	if diff := cmp.Diff(m.log, log); diff != "" {
		rt.Fatalf("log (-model +store):\n%s", diff)
	}
	all, err := f.Documents(context.Background(), workspace, ledger.DocumentFilter{})
	if err != nil {
		rt.Fatal(err)
	}
	docs := map[string]string{}
	for _, d := range all {
		docs[d.Ref] = string(d.Body)
	}
	if diff := cmp.Diff(m.docs, docs); diff != "" {
		rt.Fatalf("documents (-model +store):\n%s", diff)
	}
	list, err := f.Cells(context.Background(), workspace, ledger.CellFilter{Kind: "c"})
	if err != nil {
		rt.Fatal(err)
	}
	got, want := map[string]ledger.Cell{}, map[string]ledger.Cell{}
	for _, c := range list {
		got[c.Key] = c
	}
	for key, w := range m.cells {
		if !w.Delete {
			want[key] = ledger.Cell{Kind: "c", Key: key, Version: w.Expect, Value: w.Value}
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("cells (-model +store):\n%s", diff)
	}
}
