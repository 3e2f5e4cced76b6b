package proposal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// TestPublishedCanonicalVector is the one canonical vector of the family that
// is public as text.
func TestPublishedCanonicalVector(t *testing.T) {
	t.Parallel()
	v := must(canon.Parse([]byte(`{"z":[3,2,1],"a":{"b":true,"a":"\u0105"},"n":1}`)))
	if got := DigestText(canon.Plain(v)); got != "sha256:r2bAYdhk5FfM2FDmWq2HlGY4jDKM2Dcg6SG84tw7g7o" {
		t.Errorf("got %s", got)
	}
}

// TestDocumentRules recomputes ref, digest, payload and signature of every
// signed kind with the standard library alone.
func TestDocumentRules(t *testing.T) {
	t.Parallel()
	for _, d := range newChain().documents() {
		row := must(RowOf(d.Kind))
		if !row.Signed() {
			continue
		}
		t.Run(string(d.Kind), func(t *testing.T) {
			t.Parallel()
			inner := sha256.Sum256(d.Value.Without(row.Self, "signature").Canonical())
			suffix := base64.RawURLEncoding.EncodeToString(inner[:])
			if want := row.Prefix + ":sha256:" + suffix; d.Ref != want {
				t.Errorf("ref is %s, want %s", d.Ref, want)
			}
			if want := "sha256:" + suffix; d.Digest() != want {
				t.Errorf("digest is %s, want %s", d.Digest(), want)
			}
			payload := d.Value.Without("signature").Canonical()
			if !strings.Contains(string(payload), `"`+row.Self+`":"`+d.Ref+`"`) {
				t.Error("the payload does not hold the own ref")
			}
			msg := []byte("orbiplex-sig-v1\x00")
			n := len(row.Domain)
			msg = append(msg, 0, 0, byte(n>>8), byte(n))
			msg = append(msg, row.Domain...)
			n = len(payload)
			msg = append(msg, 0, 0, 0, 0, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
			sum := sha256.Sum256(append(msg, payload...))
			sig, err := base64.RawURLEncoding.DecodeString(must2(d.Value.At("/signature/value")))
			if err != nil {
				t.Fatal(err)
			}
			public := d.Signer
			if !ed25519.Verify(public[:], sum[:], sig) {
				t.Error("the signature is not over the prehash")
			}
			if len(sig) != 64 || len(must2(d.Value.At("/signature/value"))) != 86 {
				t.Error("a signature has 64 bytes and 86 characters")
			}
			text := must2(d.Value.At("/signature/key~1public"))
			if len(text) != 48 || !strings.HasPrefix(text, "z6Mk") || d.Value.Str(row.Node) != "node:did:key:"+text {
				t.Errorf("key is spelled %s", text)
			}
		})
	}
}

func TestPrehash(t *testing.T) {
	t.Parallel()
	got := prehash("corpus-reasoning-experiment-proposal.v2", []byte(`{"a":1}`))
	want := sha256.Sum256([]byte("orbiplex-sig-v1\x00\x00\x00\x00\x27corpus-reasoning-experiment-proposal.v2\x00\x00\x00\x00\x00\x00\x00\x07{\"a\":1}"))
	if got != want {
		t.Errorf("got %s, want %s", hex.EncodeToString(got[:]), hex.EncodeToString(want[:]))
	}
	if moved := prehash("corpus-reasoning-experiment-proposal.v", []byte(`2{"a":1}`)); moved == got {
		t.Error("a byte moved from the domain to the payload makes the same prehash")
	}
}

func TestTurnDigestIsOfTheText(t *testing.T) {
	t.Parallel()
	c := newChain()
	sum := sha256.Sum256([]byte(c.turn.Content))
	if got, want := c.turn.Value.Str("content/digest"), "sha256:"+base64.RawURLEncoding.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestKinds checks that the table cannot mix two kinds up.
func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]Kind{}
	for _, r := range Kinds() {
		for _, unique := range []string{"self " + r.Self, "prefix " + r.Prefix, "schema " + string(r.Schema), "domain " + r.Domain} {
			if unique == "domain " {
				continue
			}
			if other, ok := seen[unique]; ok {
				t.Errorf("%s and %s share %s", other, r.Kind, unique)
			}
			seen[unique] = r.Kind
		}
		if r.Signed() != (r.Node != "") || r.Size <= 0 || r.Name == "" {
			t.Errorf("row of %s is not complete: %+v", r.Kind, r)
		}
	}
	if _, err := RowOf("corpus-turn"); fault.CodeOf(err) != fault.UnknownKind {
		t.Errorf("unknown kind: %v", err)
	}
	if _, err := Open("nothing", []byte(`{}`)); fault.CodeOf(err) != fault.UnknownKind {
		t.Errorf("open of an unknown kind: %v", err)
	}
	c := newChain()
	if _, err := AsReview(c.proposal.Document); fault.CodeOf(err) != fault.UnknownKind {
		t.Errorf("a proposal read as a review: %v", err)
	}
	if _, err := Sign(KindTurn, c.turn.Value, c.author); fault.CodeOf(err) != fault.Usage {
		t.Errorf("signing a turn: %v", err)
	}
	if _, err := Seal(KindReview, c.review.Value); fault.CodeOf(err) != fault.Usage {
		t.Errorf("sealing a review: %v", err)
	}
}

// TestIdentity: a repeated key with other bytes is a conflict, the same bytes
// are the same document.
func TestIdentity(t *testing.T) {
	t.Parallel()
	c := newChain()
	changed := other(c)
	if changed.Identity() != c.proposal.Identity() || changed.Ref == c.proposal.Ref {
		t.Errorf("reused key: %s with %s, %s with %s", c.proposal.Identity(), c.proposal.Ref, changed.Identity(), changed.Ref)
	}
	if want := "proposal|" + c.author.Public().Node() + "|propose-1"; c.proposal.Identity() != want {
		t.Errorf("got %s, want %s", c.proposal.Identity(), want)
	}
	moved := must(Sign(KindProposal, c.proposal.Value.Without("author/node-id"), c.reviewer))
	if moved.Identity() == c.proposal.Identity() {
		t.Error("keys of two nodes are in one scope")
	}
	if c.manifest.Identity() != "" {
		t.Errorf("a manifest has the identity %q", c.manifest.Identity())
	}
	again := must(SignDecision(DecisionParams{
		Proposal: c.proposal, Review: c.review, Chair: c.decision.Chair, Decision: DecisionBlock, Reason: "late", At: at(16), Until: at(100),
	}, c.chair))
	if again.Identity() != c.decision.Identity() {
		t.Error("a chair decides once per review")
	}
	entry := c.proposal.Entry(runID, "evt_1")
	if diff := cmp.Diff([]string{"proposal", c.proposal.Ref, runID, "evt_1", c.proposal.Identity()}, []string{entry.Kind, entry.Ref, entry.RunID, entry.Event, entry.Identity}); diff != "" {
		t.Error(diff)
	}
}

// TestRawIsKept: another spelling of the same signed tree is accepted, and the
// bytes that came are the bytes that are kept.
func TestRawIsKept(t *testing.T) {
	t.Parallel()
	c := newChain()
	raw := []byte(strings.Replace(string(c.proposal.Raw), `"schema/v":2`, "\n \"schema/v\" : 2.0", 1))
	d, err := Open(KindProposal, raw)
	if err != nil {
		t.Fatal(err)
	}
	if string(d.Raw) != string(raw) || !d.Same(c.proposal.Document) {
		t.Error("raw bytes or canonical form were lost")
	}
	raw[0] = '!'
	if d.Raw[0] != '{' {
		t.Error("the document shares memory with its source")
	}
}

func TestCurrent(t *testing.T) {
	t.Parallel()
	c := newChain()
	ms := time.Millisecond
	for _, row := range []struct {
		name string
		d    Document
		now  time.Time
		code fault.Code
	}{
		{"on the start", c.proposal.Document, at(5), ""},
		{"five seconds early", c.proposal.Document, at(5).Add(-5 * time.Second), ""},
		{"five seconds and a bit early", c.proposal.Document, at(5).Add(-5*time.Second - ms), fault.NotYet},
		{"a millisecond before the expiry", c.proposal.Document, at(300).Add(-ms), ""},
		{"on the expiry", c.proposal.Document, at(300), fault.Expired},
		{"a millisecond after the expiry", c.proposal.Document, at(300).Add(ms), fault.Expired},
		{"a turn has five seconds of grace", c.turn.Document, at(400).Add(5*time.Second - ms), ""},
		{"and no more", c.turn.Document, at(400).Add(5 * time.Second), fault.Expired},
		{"a record does not expire", c.execution.Document, at(1e6), ""},
		{"a record from the future", c.execution.Document, at(59), fault.NotYet},
		{"a manifest has no time", c.manifest.Document, time.Time{}, ""},
	} {
		if got := fault.CodeOf(row.d.Current(row.now)); got != row.code {
			t.Errorf("%s: got %q, want %q", row.name, got, row.code)
		}
	}
}

func TestBuildersRefuse(t *testing.T) {
	t.Parallel()
	c := newChain()
	_, err := SignReview(ReviewParams{Proposal: c.proposal, Turn: c.reviewTurn, Evidence: c.manifest, Verdict: VerdictAccept, Findings: []string{"\xff"}, At: at(1), Until: at(2), Key: "k"}, c.reviewer)
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("findings that are not text: %v", err)
	}
	_, err = SignReview(ReviewParams{Proposal: c.proposal, Turn: c.reviewTurn, Evidence: c.manifest, Verdict: VerdictAccept, At: at(1), Until: at(2), Key: "k"}, c.reviewer)
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("no findings: %v", err)
	}
	_, err = TurnFrom(Message{EventID: "evt", RunID: runID, LaneID: "lane", Assignment: c.solverRole, No: 1, Content: strings.Repeat("ą", MaxContent+1), Class: Public, At: at(1), Until: at(2)})
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("too long an utterance: %v", err)
	}
	long, err := TurnFrom(Message{EventID: "evt", RunID: runID, SpaceID: "spc_1", Assignment: c.solverRole, No: 1, Content: strings.Repeat("ą", MaxContent), Class: Public, At: at(1), Until: at(2)})
	if err != nil || long.Room != "room:spc_1" {
		t.Errorf("the longest utterance: %v in %s", err, long.Room)
	}
	plan := c.proposal
	plan.Target = nil
	_, err = SignExecution(ExecutionParams{Proposal: plan, Review: c.review, Decision: c.decision}, c.host)
	wantFault(t, err, fault.Invalid, "/target")
}

func TestClass(t *testing.T) {
	t.Parallel()
	if Public.Join(Personal) != Personal || Community.Join(Public) != Community || Class("?").Join(Public) != Personal {
		t.Error("the join of two classes is the narrower one, and what is unknown is Personal")
	}
	if !Public.Wider(Community) || Personal.Wider(Community) || Community.Wider(Community) {
		t.Error("Public is wider than Community is wider than Personal")
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	if got, err := RunOf(QueryOf(runID)); err != nil || got != runID {
		t.Errorf("got %s, %v", got, err)
	}
	for _, bad := range []string{"", "query:", "room:x"} {
		if _, err := RunOf(bad); err == nil {
			t.Errorf("%q names a run", bad)
		}
	}
	if !Narrow(time.Time{}).IsZero() || !Narrow(at(5), at(3), time.Time{}, at(4)).Equal(at(3)) || !Narrow(time.Time{}, at(9)).Equal(at(9)) {
		t.Error("the earliest stated time bounds")
	}
	var zero ident.PublicKey
	if (Document{}).Signer != zero {
		t.Error("an unsigned document has no signer")
	}
}
