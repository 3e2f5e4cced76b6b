//go:build !race

package e2e

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// acceptance is the place of the event that accepted a document.
func acceptance(b *docket.Bundle, ref string) int {
	return slices.IndexFunc(b.Events, func(e docket.Event) bool {
		v, err := canon.Parse([]byte(e.Body))
		return err == nil && v.Str("type") == journal.DocumentAccepted && v.Str("ref") == ref
	})
}

// withoutEach leaves each document out, with the event that accepted it: found,
// although the seal fits again.
func (x exhibit) withoutEach(t *testing.T) {
	tried := map[string]int{}
	for i, d := range x.b.Documents {
		if tried[d.Kind]++; x.leaves(d.Kind, tried[d.Kind]) && d.Kind != ledger.KindLandingStep {
			continue
		}
		b := clone(x.b)
		b.Documents = slices.Delete(b.Documents, i, i+1)
		what := "without " + d.Ref
		if s := x.found(t, what+", its acceptance there", b); s.Document != d.Ref {
			t.Errorf("%s: found as %s %s", what, s.Kind, s.Document)
		}
		at := acceptance(b, d.Ref)
		b.Events = slices.Delete(b.Events, at, at+1)
		x.reseal(t, b) // events of other runs leave gaps as well
		if s := x.found(t, what, b); s.Name == "whole" && s.Kind == "docket" {
			t.Errorf("%s: only the seal tells", what)
		}
	}
}

// withoutEvent leaves each event out. Some prove nothing but that the host said
// so: then the seal finds it.
func (x exhibit) withoutEvent(t *testing.T) {
	for i, e := range x.b.Events {
		b := clone(x.b)
		b.Events = slices.Delete(b.Events, i, i+1)
		x.found(t, fmt.Sprintf("without event %d", e.Seq), b)
	}
}

// twice puts each event, document, blob and git object in a second time.
func (x exhibit) twice(t *testing.T) {
	for i, e := range x.b.Events {
		b := clone(x.b)
		b.Events = slices.Insert(b.Events, i, e)
		x.reseal(t, b)
		x.found(t, fmt.Sprintf("event %d twice", e.Seq), b)
	}
	for i, d := range x.b.Documents {
		b := clone(x.b)
		b.Documents = slices.Insert(b.Documents, i, d)
		x.reseal(t, b)
		if s := x.found(t, d.Ref+" twice", b); s.Document != d.Ref {
			t.Errorf("%s twice: found as %s", d.Ref, s.Document)
		}
		b = clone(x.b)
		x.accept(t, b, d) // the journal accepts it once more
		if s := x.found(t, d.Ref+" accepted twice", b); s.Document != d.Ref {
			t.Errorf("%s accepted twice: found as %s", d.Ref, s.Document)
		}
	}
	for i, blob := range x.b.Blobs {
		b := clone(x.b)
		b.Blobs = slices.Insert(b.Blobs, i, blob)
		x.reseal(t, b)
		x.found(t, "blob twice", b)
	}
	for i, o := range x.b.Git {
		b := clone(x.b)
		b.Git = slices.Insert(b.Git, i, o)
		x.reseal(t, b)
		x.found(t, "git object twice", b)
	}
}

// swapped puts neighbours in each other's place.
func (x exhibit) swapped(t *testing.T) {
	for i := range x.b.Events[1:] {
		b := clone(x.b)
		b.Events[i], b.Events[i+1] = b.Events[i+1], b.Events[i]
		x.reseal(t, b)
		x.found(t, fmt.Sprintf("event %d before its time", x.b.Events[i+1].Seq), b)
	}
	for i, d := range x.b.Documents[1:] {
		b := clone(x.b)
		b.Documents[i], b.Documents[i+1] = b.Documents[i+1], b.Documents[i]
		x.reseal(t, b)
		if s := x.found(t, d.Ref+" before its time", b); s.Document != d.Ref && s.Document != x.b.Documents[i].Ref {
			t.Errorf("%s before its time: found as %s", d.Ref, s.Document)
		}
	}
}

// accept appends the event that accepts a document, behind the last event.
func (x exhibit) accept(t *testing.T, b *docket.Bundle, d docket.Document) {
	t.Helper()
	last := b.Events[len(b.Events)-1]
	ids := journal.IDs{Event: ident.New(ident.Event), Workspace: b.Workspace, Run: b.Run, Lane: b.Lane}
	made := journal.Accepted(ids, ledger.NewDocument{Kind: d.Kind, Ref: d.Ref, RunID: b.Run, Body: []byte(d.Body)})
	e := docket.Event{Seq: last.Seq + 1, TS: last.TS, Prev: last.Hash, Body: string(made.Body)}
	e.Hash = link(t, e)
	b.Events = append(b.Events, e)
	x.reseal(t, b)
}

// smuggled puts each document of another run in, as if this run had accepted it,
// and everything else that is not its own.
func (x exhibit) smuggled(t *testing.T, from exhibit) {
	tried := map[string]int{}
	for _, d := range from.b.Documents {
		if tried[d.Kind]++; tried[d.Kind] > 2 && !thorough() {
			continue
		}
		b := clone(x.b)
		b.Documents = append(b.Documents, d)
		x.accept(t, b, d)
		what := "with " + d.Ref + " of another run"
		if s := x.found(t, what, b); s.Document != d.Ref && !strings.Contains(d.Body, s.Document) && s.Name != "land" {
			t.Errorf("%s: found at %s as %s %s: %s", what, s.Name, s.Kind, s.Document, s.Why)
		}
	}
	for _, e := range from.b.Events {
		b := clone(x.b)
		last := b.Events[len(b.Events)-1]
		e.Seq, e.TS, e.Prev = last.Seq+1, last.TS, last.Hash
		e.Hash = link(t, e)
		b.Events = append(b.Events, e)
		x.reseal(t, b)
		x.found(t, fmt.Sprintf("with event %d of another run", e.Seq), b)
	}
	for _, blob := range from.b.Blobs {
		if slices.ContainsFunc(x.b.Blobs, func(own docket.Blob) bool { return own.SHA256 == blob.SHA256 }) {
			continue
		}
		b := clone(x.b)
		b.Blobs = append(b.Blobs, blob)
		x.reseal(t, b)
		if s := x.found(t, "with a blob too many", b); s.Document != blob.SHA256 {
			t.Errorf("with blob %s too many: found as %s", blob.SHA256, s.Document)
		}
	}
	for _, o := range from.b.Git {
		if slices.ContainsFunc(x.b.Git, func(own docket.GitObject) bool { return own.ID == o.ID }) {
			continue
		}
		b := clone(x.b)
		b.Git = append(b.Git, o)
		x.reseal(t, b)
		if s := x.found(t, "with a git object too many", b); s.Document != o.ID {
			t.Errorf("with git object %s too many: found as %s", o.ID, s.Document)
		}
	}
	for i, blob := range x.b.Blobs {
		b := clone(x.b)
		b.Blobs = slices.Delete(b.Blobs, i, i+1)
		x.reseal(t, b)
		x.found(t, "without blob "+blob.SHA256, b)
	}
	for i, o := range x.b.Git {
		b := clone(x.b)
		b.Git = slices.Delete(b.Git, i, i+1)
		x.reseal(t, b)
		if s := x.found(t, "without git object "+o.ID, b); s.Document != o.ID {
			t.Errorf("without git object %s: found as %s %s", o.ID, s.Kind, s.Document)
		}
	}
}

// relabelled is the docket under other names, sealed again by its host or by another.
func (x exhibit) relabelled(t *testing.T) {
	other, err := ident.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func(*docket.Bundle){
		"of another workspace": func(b *docket.Bundle) { b.Workspace = ident.New(ident.Workspace) },
		"of another run":       func(b *docket.Bundle) { b.Run = ident.New(ident.Run) },
		"of another lane":      func(b *docket.Bundle) { b.Lane = ident.New(ident.Lane) },
		"of no lane":           func(b *docket.Bundle) { b.Lane = "" },
		"of another schema":    func(b *docket.Bundle) { b.Schema = "writ.docket/v2" },
	} {
		b := clone(x.b)
		do(b)
		x.reseal(t, b)
		x.found(t, what, b)
	}
	b := clone(x.b)
	b.Host = other.Public().Node()
	if err := b.Seal(other); err != nil {
		t.Fatal(err)
	}
	x.found(t, "of another host", b)
	if r := docket.Verify(b, nil); r.Answer != docket.Broken {
		t.Errorf("a docket that another host sealed is %s without pins", r.Answer)
	}
	if err := clone(x.b).Seal(other); err == nil {
		t.Error("a host seals the docket of another")
	}
}

// unpinned takes each pin away: whoever is not pinned is named.
func (x exhibit) unpinned(t *testing.T) {
	for name, list := range map[string]func(*docket.Trust) *[]string{
		"propose": func(p *docket.Trust) *[]string { return &p.Authors },
		"review":  func(p *docket.Trust) *[]string { return &p.Reviewers },
		"decide":  func(p *docket.Trust) *[]string { return &p.Chairs },
		"approve": func(p *docket.Trust) *[]string { return &p.Operators },
		"host":    func(p *docket.Trust) *[]string { return &p.Hosts },
	} {
		trust := *x.trust
		*list(&trust) = []string{x.trust.Reviewers[0]}
		if name == "review" {
			*list(&trust) = x.trust.Authors
		}
		y := x
		y.trust = &trust
		if s := y.found(t, name+" unpinned", x.b); !strings.Contains(s.Why, "not pinned") {
			t.Errorf("%s unpinned: %s", name, s.Why)
		}
	}
}
