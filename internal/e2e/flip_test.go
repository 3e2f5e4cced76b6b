//go:build !race

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/ledger"
)

func timeOf(e docket.Event) time.Time { return time.UnixMilli(e.TS).UTC() }

// places are the bytes of a text that are flipped: the first, the middle and the last.
func places(text string) []int {
	switch len(text) {
	case 0:
		return nil
	case 1:
		return []int{0}
	}
	return []int{0, len(text) / 2, len(text) - 1}
}

// flipped is the text with one bit of one byte changed, so that it stays text.
func flipped(text string, at int) string {
	b := []byte(text)
	b[at] ^= 1
	return string(b)
}

// flip is one member of a docket and how to change a byte of it.
type flip struct {
	what string
	size string                    // the text of which a byte is changed
	do   func(*docket.Bundle, int) // changes the byte at a place
	name func(docket.Station) bool // whether what was found is it; nil for any
}

// flips are all flips of an exhibit's docket.
func (x exhibit) flips() []flip {
	var out []flip
	top := func(what string, of func(*docket.Bundle) *string) {
		out = append(out, flip{what, *of(x.b), func(b *docket.Bundle, at int) { *of(b) = flipped(*of(b), at) }, nil})
	}
	top("schema", func(b *docket.Bundle) *string { return &b.Schema })
	top("workspace_id", func(b *docket.Bundle) *string { return &b.Workspace })
	top("run_id", func(b *docket.Bundle) *string { return &b.Run })
	top("lane_id", func(b *docket.Bundle) *string { return &b.Lane })
	top("host_node", func(b *docket.Bundle) *string { return &b.Host })
	top("exported_at", func(b *docket.Bundle) *string { return &b.Exported })
	top("signature", func(b *docket.Bundle) *string { return &b.Signature })
	for i, e := range x.b.Events {
		here := func(s docket.Station) bool {
			return s.Kind == "event" && strings.HasPrefix(s.Document, "seq ") && within(s.Document, e.Seq)
		}
		add := func(what string, of func(*docket.Event) *string) {
			out = append(out, flip{fmt.Sprintf("%s of event %d", what, e.Seq), *of(&x.b.Events[i]), func(b *docket.Bundle, at int) {
				p := of(&b.Events[i])
				*p = flipped(*p, at)
			}, here})
		}
		add("body", func(e *docket.Event) *string { return &e.Body })
		add("hash", func(e *docket.Event) *string { return &e.Hash })
		add("prev", func(e *docket.Event) *string { return &e.Prev })
		out = append(out,
			flip{fmt.Sprintf("seq of event %d", e.Seq), "n", func(b *docket.Bundle, _ int) { b.Events[i].Seq ^= 1 }, nil},
			flip{fmt.Sprintf("time of event %d", e.Seq), "n", func(b *docket.Bundle, _ int) { b.Events[i].TS ^= 1 }, here})
	}
	for i, d := range x.b.Documents {
		add := func(what string, of func(*docket.Document) *string) {
			out = append(out, flip{what + " of " + d.Ref, *of(&x.b.Documents[i]), func(b *docket.Bundle, at int) {
				p := of(&b.Documents[i])
				*p = flipped(*p, at)
			}, func(s docket.Station) bool { return s.Document == d.Ref }})
		}
		add("body", func(d *docket.Document) *string { return &d.Body })
		add("kind", func(d *docket.Document) *string { return &d.Kind })
		add("ref", func(d *docket.Document) *string { return &d.Ref })
		add("sha256", func(d *docket.Document) *string { return &d.SHA256 })
		add("event_id", func(d *docket.Document) *string { return &d.Event })
	}
	for i, blob := range x.b.Blobs {
		out = append(out,
			flip{"body of blob " + blob.SHA256, string(blob.Body), func(b *docket.Bundle, at int) { b.Blobs[i].Body[at] ^= 1 },
				func(s docket.Station) bool { return s.Document == blob.SHA256 }},
			flip{"sha256 of blob " + blob.SHA256, blob.SHA256, func(b *docket.Bundle, at int) { b.Blobs[i].SHA256 = flipped(b.Blobs[i].SHA256, at) },
				func(s docket.Station) bool { return s.Kind == "blob" }})
	}
	for i, o := range x.b.Git {
		here := func(s docket.Station) bool { return s.Kind == "git object" }
		out = append(out,
			flip{"body of git object " + o.ID, string(o.Body), func(b *docket.Bundle, at int) { b.Git[i].Body[at] ^= 1 },
				func(s docket.Station) bool { return s.Document == o.ID }},
			flip{"id of git object " + o.ID, o.ID, func(b *docket.Bundle, at int) { b.Git[i].ID = flipped(b.Git[i].ID, at) }, here},
			flip{"type of git object " + o.ID, o.Type, func(b *docket.Bundle, at int) { b.Git[i].Type = flipped(b.Git[i].Type, at) }, here})
	}
	return out
}

// within reports whether "seq N" is the event or the one behind it.
func within(name string, seq int64) bool {
	return name == fmt.Sprintf("seq %d", seq) || name == fmt.Sprintf("seq %d", seq+1)
}

// everyByte flips single bytes of a docket and wants each to be found, and what
// was changed to be named.
func (x exhibit) everyByte(t *testing.T) {
	for _, f := range x.flips() {
		for _, at := range places(f.size) {
			b := clone(x.b)
			f.do(b, at)
			what := fmt.Sprintf("byte %d of %s", at, f.what)
			if s := x.found(t, what, b); f.name != nil && !f.name(s) {
				t.Errorf("%s, %s: found as %s %s: %s", x.name, what, s.Kind, s.Document, s.Why)
			}
		}
	}
}

// everyDocument is an attacker who has the host's key and makes everything fit
// again after changing a byte of a document: digests, the journal, the seal. Some
// documents of each kind are tried, all of them on demand.
func (x exhibit) everyDocument(t *testing.T) {
	tried := map[string]int{}
	for i, d := range x.b.Documents {
		if tried[d.Kind]++; x.leaves(d.Kind, tried[d.Kind]) {
			continue
		}
		for _, at := range spread(d.Body) {
			b := clone(x.b)
			b.Documents[i].Body = flipped(d.Body, at)
			rehash(t, b, nil)
			x.reseal(t, b)
			what := fmt.Sprintf("byte %d of %s, all digests made to fit", at, d.Ref)
			x.names(t, what, x.found(t, what, b), d)
		}
	}
}

// spread are places all over a document, few of them unless more are wanted.
func spread(text string) []int {
	n := 3
	if thorough() {
		n = 24
	}
	out := []int{0, len(text) - 1}
	for i := 1; i < n; i++ {
		out = append(out, i*len(text)/n)
	}
	return out
}

// leaves reports whether the n-th document of a kind is left alone: some are as
// good as all, and in the large docket only what the small ones do not have.
func (x exhibit) leaves(kind string, n int) bool {
	switch {
	case thorough():
		return false
	case x.name == "moved":
		return n > 1 || !strings.HasPrefix(kind, "landing-") && kind != ledger.KindVerdict && kind != ledger.KindGate
	}
	return n > 2
}

// thorough reports whether every byte is to be tried, however long it takes.
func thorough() bool { return os.Getenv("WRIT_TEST_EVERY_BYTE") != "" }

// names checks that what was found is the document that was changed, or one that
// depends on it.
func (x exhibit) names(t *testing.T, what string, s docket.Station, d docket.Document) {
	t.Helper()
	if s.Document == d.Ref || mentions(s.Document, d) || s.Name == "whole" && s.Document == d.Ref {
		return
	}
	for _, other := range x.b.Documents {
		if other.Ref == s.Document && mentions(other.Body, d) {
			return
		}
	}
	t.Errorf("%s, %s: found at station %s as %s %s: %s", x.name, what, s.Name, s.Kind, s.Document, s.Why)
}

// everySignature flips the bytes of every signature, with all digests made to fit:
// each byte of the proposal's and the seal's, and every sixth of the others'.
func (x exhibit) everySignature(t *testing.T) {
	n := 0
	for i, d := range x.b.Documents {
		v, err := canon.Parse([]byte(d.Body))
		if err != nil {
			t.Fatal(err)
		}
		signature, ok := v.Get("signature")
		if !ok {
			continue
		}
		value := signature.Str("value")
		start := strings.Index(d.Body, value)
		for at := range value {
			if at%6 != n%6 && d.Kind != ledger.KindProposal && !thorough() {
				continue
			}
			b := clone(x.b)
			b.Documents[i].Body = flipped(d.Body, start+at)
			rehash(t, b, nil)
			what := fmt.Sprintf("byte %d of the signature of %s", at, d.Ref)
			if s := x.found(t, what, b); s.Document != d.Ref {
				t.Errorf("%s: found as %s %s: %s", what, s.Kind, s.Document, s.Why)
			}
		}
		n++
	}
	for at := range x.b.Signature {
		b := clone(x.b)
		b.Signature = flipped(b.Signature, at)
		if s := x.found(t, fmt.Sprintf("byte %d of the seal", at), b); s.Name != "whole" {
			t.Errorf("byte %d of the seal: found at %s: %s", at, s.Name, s.Why)
		}
	}
	if n != 7 { // proposal, review, decision, three answers, execution record
		t.Errorf("%d signatures", n)
	}
}

// everyFile flips bytes of the file itself: it is refused, does not verify, or
// says the very same in another spelling.
func (x exhibit) everyFile(t *testing.T) {
	var file bytes.Buffer
	if err := x.b.Write(&file); err != nil {
		t.Fatal(err)
	}
	step := file.Len()/150 + 1
	if thorough() {
		step = 7
	}
	for at := 0; at < file.Len(); at += step {
		for _, bit := range []byte{1, 0x20} {
			raw := bytes.Clone(file.Bytes())
			raw[at] ^= bit
			b, err := docket.Read(bytes.NewReader(raw))
			if err != nil || reflect.DeepEqual(b, x.b) {
				continue
			}
			x.found(t, fmt.Sprintf("bit %d of byte %d of the file", bit, at), b)
		}
	}
}

// TestTamperedDockets tampers with the dockets of real runs, one after the other
// so that they are made once. Checking a docket has one goroutine, so the race
// detector would only make thousands of checks slow: see unit in the Makefile.
func TestTamperedDockets(t *testing.T) {
	t.Parallel()
	all := exhibits(t)
	landed, moved, blocked := all[0], all[1], all[2]
	run := func(name string, test func(*testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			test(t)
			t.Log(time.Since(start))
		})
	}
	for _, x := range all {
		run(x.name+"/every document", x.everyDocument)
	}
	for _, x := range []exhibit{landed, blocked} {
		run(x.name+"/every byte", x.everyByte)
	}
	for _, x := range []exhibit{landed, moved} {
		run(x.name+"/without each document", x.withoutEach)
	}
	run("landed/without each event", landed.withoutEvent)
	run("landed/twice", landed.twice)
	run("landed/swapped", landed.swapped)
	run("landed/smuggled", func(t *testing.T) { landed.smuggled(t, moved) })
	run("blocked/smuggled", func(t *testing.T) { blocked.smuggled(t, landed) })
	for _, x := range all {
		run(x.name+"/relabelled", x.relabelled)
		run(x.name+"/unpinned", x.unpinned)
		run(x.name+"/stored", x.stored)
	}
	run("blocked/forged", blocked.forged)
	run("blocked/every signature", blocked.everySignature)
	run("blocked/every byte of the file", blocked.everyFile)
	if thorough() {
		run("moved/every byte", moved.everyByte)
		run("landed/every signature", landed.everySignature)
		run("landed/every byte of the file", landed.everyFile)
	}
}
