package storetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

func documentsAreFoundByRefAndDigest(t *testing.T, f *fixture) {
	c := appending(1)
	in := ledger.NewDocument{
		Kind: ledger.KindDecision, Ref: "corpus-decision:sha256:abc", RunID: "run_7", Identity: "decision|node|k",
		Event: c.Events[0].ID, Body: []byte("{\"b\": 1}\n"),
	}
	c.Documents = []ledger.NewDocument{in}
	r := f.commit(c)
	sum := canon.Sum(in.Body)
	if diff := cmp.Diff([]ledger.DocumentReceipt{{Ref: in.Ref, SHA256: sum}}, r.Documents); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	want := ledger.Document{
		Workspace: ws, Kind: in.Kind, Ref: in.Ref, RunID: in.RunID, Identity: in.Identity, Event: in.Event,
		SHA256: sum, Body: in.Body, Order: 1, StoredAt: noon,
	}
	f.reopen()
	for _, ref := range []string{in.Ref, sum.String()} {
		got, err := f.Document(t.Context(), ws, ref)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", ref, err, diff)
		}
	}
	for _, ref := range []string{"", "nothing", "sha256:", "sha256:" + sum.Base64(), canon.Sum(nil).String()} {
		_, err := f.Document(t.Context(), ws, ref)
		f.code(err, fault.NotFound)
	}
	_, err := f.Document(t.Context(), "ws_other", in.Ref)
	f.code(err, fault.NotFound)

	// A ref in the spelling of a digest is a ref first.
	spelt := document(sum.String(), "other bytes")
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Documents: []ledger.NewDocument{spelt}})
	if got, err := f.Document(t.Context(), ws, sum.String()); err != nil || string(got.Body) != "other bytes" {
		t.Errorf("found %q, %v", got.Body, err)
	}
	f.sound()
}

func knownRefKeepsItsBytes(t *testing.T, f *fixture) {
	first, second := document("ref", `{"a":1}`), document("ref", `{ "a": 1 }`)
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Documents: []ledger.NewDocument{first}})
	r := f.commit(ledger.Commit{Workspace: ws, Now: noon, Documents: []ledger.NewDocument{second, document("new", "{}"), document("new", "{}")}})
	want := []ledger.DocumentReceipt{
		{Ref: "ref", SHA256: canon.Sum(first.Body), Replayed: true},
		{Ref: "new", SHA256: canon.Sum([]byte("{}"))},
		{Ref: "new", SHA256: canon.Sum([]byte("{}")), Replayed: true},
	}
	if diff := cmp.Diff(want, r.Documents); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	d, err := f.Document(t.Context(), ws, "ref")
	if err != nil || !bytes.Equal(d.Body, first.Body) {
		t.Errorf("stored %q, %v", d.Body, err)
	}
	all, err := f.Documents(t.Context(), ws, ledger.DocumentFilter{})
	if err != nil || len(all) != 2 {
		t.Errorf("%d documents, %v", len(all), err)
	}
	f.sound()
}

func knownIdentityUnderAnotherRefFails(t *testing.T, f *fixture) {
	named := func(ref string) ledger.NewDocument {
		d := document(ref, "{}")
		d.Identity = "proposal|node|key"
		return d
	}
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Documents: []ledger.NewDocument{named("a")}})
	if r := f.commit(ledger.Commit{Workspace: ws, Now: noon, Documents: []ledger.NewDocument{named("a")}}); !r.Documents[0].Replayed {
		t.Errorf("the same document again: %+v", r)
	}
	c := appending(1)
	c.Documents = []ledger.NewDocument{document("c", "{}"), named("b")}
	if e := f.refuse(fault.Idempotency, c); e.Get("ref") != "a" {
		t.Errorf("the refusal names %v", e.Data)
	}
	_, err := f.Document(t.Context(), ws, "c")
	f.code(err, fault.NotFound)

	// Two documents of one commit cannot share an identity either.
	x, y := named("x"), named("y")
	x.Identity, y.Identity = "other", "other"
	c = appending(1)
	c.Documents = []ledger.NewDocument{x, y}
	f.refuse(fault.Idempotency, c)
	f.sound()
}

func documentsKeepTheirOrder(t *testing.T, f *fixture) {
	kinds := []string{ledger.KindProposal, ledger.KindReview, ledger.KindDecision}
	var all, ofRun, ofKinds, ofBoth []string
	for i := range 30 {
		d := document(fmt.Sprintf("ref-%d", (i*7)%30), "{}")
		d.Kind, d.RunID = kinds[i%3], []string{"", "run_a", "run_b"}[i/10]
		f.commit(ledger.Commit{Workspace: ws, Now: noon, Documents: []ledger.NewDocument{d}})
		all = append(all, d.Ref)
		if d.RunID == "run_a" {
			ofRun = append(ofRun, d.Ref)
		}
		if i%3 != 1 {
			ofKinds = append(ofKinds, d.Ref)
		}
		if d.RunID == "run_b" && i%3 == 1 {
			ofBoth = append(ofBoth, d.Ref)
		}
	}
	f.reopen()
	for _, test := range []struct {
		filter ledger.DocumentFilter
		want   []string
	}{
		{ledger.DocumentFilter{}, all},
		{ledger.DocumentFilter{RunID: "run_a"}, ofRun},
		{ledger.DocumentFilter{Kinds: []string{ledger.KindDecision, ledger.KindProposal}}, ofKinds},
		{ledger.DocumentFilter{RunID: "run_b", Kinds: []string{ledger.KindReview}}, ofBoth},
		{ledger.DocumentFilter{RunID: "run_c"}, nil},
		{ledger.DocumentFilter{Kinds: []string{"nothing"}}, nil},
	} {
		docs, err := f.Documents(t.Context(), ws, test.filter)
		if err != nil {
			t.Fatal(err)
		}
		var refs []string
		for i, d := range docs {
			refs = append(refs, d.Ref)
			if i > 0 && d.Order <= docs[i-1].Order {
				t.Errorf("%+v: order %d follows %d", test.filter, d.Order, docs[i-1].Order)
			}
		}
		if diff := cmp.Diff(test.want, refs); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.filter, diff)
		}
	}
	if docs, err := f.Documents(t.Context(), "ws_nobody", ledger.DocumentFilter{}); err != nil || len(docs) != 0 {
		t.Errorf("an unknown workspace has %d documents, %v", len(docs), err)
	}
}

func largeDocuments(t *testing.T, f *fixture) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB, the limit
	d := document("large", "")
	d.Body = body
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Documents: []ledger.NewDocument{d}})
	f.reopen()
	got, err := f.Document(t.Context(), ws, "large")
	if err != nil || !bytes.Equal(got.Body, body) {
		t.Errorf("%d bytes came back, %v", len(got.Body), err)
	}
	f.sound()
}
