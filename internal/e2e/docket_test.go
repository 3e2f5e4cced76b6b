//go:build !race

package e2e

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/keyring"
	"writ/internal/ledger"
)

// exhibit is a docket of a real run, with everything that an attacker could wish for.
type exhibit struct {
	name  string
	b     *docket.Bundle
	trust *docket.Trust
	key   ident.PrivateKey // of the host
}

// exhibitOf takes the docket of a run, and the key of the host that sealed it.
func exhibitOf(t *testing.T, w *world, name, run string) exhibit {
	t.Helper()
	_, key, err := keyring.At(filepath.Join(w.data(), "host")).Load("host")
	if err != nil {
		t.Fatal(err)
	}
	x := exhibit{name, w.bundle(run), w.trust(), key}
	if err := verify(x.b, x.trust); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return x
}

// exhibits goes the way three times: once undisturbed, once on a base that moves
// three times, and once with a change that is slower.
func exhibits(t *testing.T) []exhibit {
	t.Helper()
	worlds := []*world{newWorld(t), newWorld(t), newWorld(t)}
	worlds[1].rounds = 5
	worlds[1].configure(lenient())
	out := make([]exhibit, 3)
	var all sync.WaitGroup
	for i, way := range []func(*world) string{(*world).landed, (*world).moved, (*world).blocked} {
		all.Go(func() {
			run := way(worlds[i])
			out[i] = exhibitOf(t, worlds[i], []string{"landed", "moved", "blocked"}[i], run)
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return out
}

// clone is a copy that can be tampered with.
func clone(b *docket.Bundle) *docket.Bundle {
	x := *b
	x.Events, x.Documents = slices.Clone(b.Events), slices.Clone(b.Documents)
	x.Blobs, x.Git = slices.Clone(b.Blobs), slices.Clone(b.Git)
	for i := range x.Blobs {
		x.Blobs[i].Body = bytes.Clone(b.Blobs[i].Body)
	}
	for i := range x.Git {
		x.Git[i].Body = bytes.Clone(b.Git[i].Body)
	}
	return &x
}

// rehash makes the attacker's docket consistent again as far as no key is needed:
// digests of documents, the events that accepted them, and the chain.
func rehash(t testing.TB, b *docket.Bundle, renamed map[string]string) {
	t.Helper()
	sums := map[string]string{}
	for i := range b.Documents {
		d := &b.Documents[i]
		d.SHA256 = canon.Sum([]byte(d.Body)).Hex()
		sums[d.Ref] = d.SHA256
	}
	was := map[string]string{}
	for i := range b.Events {
		e := &b.Events[i]
		if body, err := canon.Parse([]byte(e.Body)); err == nil && body.Str("type") == journal.DocumentAccepted {
			ref := body.Str("ref")
			if to, ok := renamed[ref]; ok {
				ref = to
			}
			if sum, ok := sums[ref]; ok {
				body = body.With("ref", canon.StringOf(ref)).With("sha256", canon.StringOf(sum))
				e.Body = string(body.Canonical())
			}
		}
		if to, ok := was[e.Prev]; ok {
			e.Prev = to
		}
		was[e.Hash] = link(t, *e)
		e.Hash = was[e.Hash]
	}
}

// link is the hash of an event in its place.
func link(t testing.TB, e docket.Event) string {
	t.Helper()
	prev, err := canon.ParseHex(e.Prev)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Chain(prev, e.Seq, timeOf(e), []byte(e.Body)).Hex()
}

// reseal is the attacker having the key of the host as well.
func (x exhibit) reseal(t testing.TB, b *docket.Bundle) {
	t.Helper()
	if err := b.Seal(x.key); err != nil {
		t.Fatal(err)
	}
}

// found checks that a tampered docket does not verify, and returns what is named.
func (x exhibit) found(t testing.TB, what string, b *docket.Bundle) docket.Station {
	t.Helper()
	r := docket.Verify(b, x.trust)
	for _, s := range r.Stations {
		if s.State != docket.Failed {
			continue
		}
		if s.Document == "" || s.Kind == "" || strings.Contains(s.Why, "the verifier broke") {
			t.Errorf("%s, %s: found at station %s without a name: %s %s: %s", x.name, what, s.Name, s.Kind, s.Document, s.Why)
		}
		if r.Answer != docket.Broken {
			t.Errorf("%s, %s: a station failed and the answer is %s", x.name, what, r.Answer)
		}
		return s
	}
	t.Errorf("%s, %s: it is %s", x.name, what, r.Answer)
	return docket.Station{}
}

// mentions reports whether one text names another document: by its ref, or by the
// digest in it or of its bytes in any of the spellings.
func mentions(text string, d docket.Document) bool {
	sum, err := canon.ParseHex(d.SHA256)
	if err != nil {
		return false
	}
	names := []string{d.Ref, d.SHA256, sum.Base64()}
	if i := strings.Index(d.Ref, "sha256:"); i >= 0 {
		digest, _, _ := strings.Cut(d.Ref[i:], "@")
		names = append(names, digest)
	}
	var body struct {
		Proof    string `json:"proofRoot"`
		Contract string `json:"contractRoot"`
		Receipt  string `json:"receiptRoot"`
		Readback string `json:"readbackRoot"`
		Evidence string `json:"evidenceRoot"`
	}
	if v, err := canon.Parse([]byte(d.Body)); err == nil {
		names = append(names, canon.Root(v))
	}
	if json.Unmarshal([]byte(d.Body), &body) == nil {
		names = append(names, body.Proof, body.Contract, body.Receipt, body.Readback, body.Evidence)
	}
	for _, n := range names {
		if n != "" && strings.Contains(text, n) {
			return true
		}
	}
	return false
}
