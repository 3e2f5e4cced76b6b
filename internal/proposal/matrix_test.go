package proposal

import (
	"bytes"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// edit returns v with the member at path (names, outermost first) replaced, or
// removed when x is nil.
func edit(v canon.Value, x *canon.Value, path ...string) canon.Value {
	if len(path) > 1 {
		inner, _ := v.Get(path[0])
		return v.With(path[0], edit(inner, x, path[1:]...))
	}
	if x == nil {
		return v.Without(path[0])
	}
	return v.With(path[0], *x)
}

func set(v canon.Value, x any, path ...string) canon.Value {
	n := canon.MustFrom(x)
	return edit(v, &n, path...)
}

// TestOpenRefuses is the negative matrix of single documents: each row is right
// in everything but the one thing that its gate has to catch. Rows that are
// forged carry a right ref and signature.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	c := newChain()
	p, r, d, e := c.proposal.Value, c.review.Value, c.decision.Value, c.execution.Value
	stolen, _ := other(c).Value.Get("signature")
	for _, row := range []struct {
		name    string
		kind    Kind
		raw     []byte
		code    fault.Code
		pointer string
	}{
		// schema
		{"missing target", KindProposal, forge(KindProposal, p.Without("target"), c.author), fault.Invalid, "/target"},
		{"plan with target", KindProposal, forge(KindProposal, set(p, ArtifactPlan, "candidate", "artifact/type"), c.author), fault.Invalid, "/target"},
		{"local-agent executor", KindProposal, forge(KindProposal, set(p, map[string]string{"mode": ModeLocalAgent, "agent/ref": "agent:x"}, "executor"), c.author), fault.Invalid, "/executor/mode"},
		{"local-agent executor without agent", KindProposal, forge(KindProposal, set(set(p, ArtifactPlan, "candidate", "artifact/type").Without("target"), map[string]string{"mode": ModeLocalAgent}, "executor"), c.author), fault.Invalid, "/executor/agent~1ref"},
		{"other artifact type", KindProposal, forge(KindProposal, set(p, "other.v1", "candidate", "artifact/type"), c.author), fault.Invalid, "/candidate/artifact~1type"},
		{"untyped candidate", KindProposal, forge(KindProposal, edit(p, nil, "candidate", "artifact/type"), c.author), fault.Invalid, "/candidate/artifact~1type"},
		{"unknown member", KindProposal, forge(KindProposal, set(p, 1, "extra"), c.author), fault.Invalid, "/extra"},
		{"opting out of people", KindProposal, forge(KindProposal, set(p, false, "human-in-loop/required"), c.author), fault.Invalid, "/human-in-loop~1required"},
		{"other digest algorithm", KindProposal, forge(KindProposal, set(p, "object-store:sha512:"+canon.Sum(nil).Base64(), "candidate", "artifact-ref"), c.author), fault.Invalid, "/candidate/artifact-ref"},
		{"no-break space in a query", KindProposal, forge(KindProposal, set(p, "query:a\u00a0b", "query/id"), c.author), fault.Invalid, "/query~1id"},
		{"line separator in a room", KindProposal, forge(KindProposal, set(p, "room:a\u2028b", "room/id"), c.author), fault.Invalid, "/room~1id"},
		{"review with replacement", KindReview, forge(KindReview, set(r, map[string]string{"ref": "x"}, "replacement"), c.reviewer), fault.Invalid, "/replacement"},
		{"review that revises", KindReview, forge(KindReview, set(r, "revise", "verdict"), c.reviewer), fault.Invalid, "/verdict"},
		{"review with terminal state", KindReview, forge(KindReview, set(r, DigestText(canon.Sum(nil)), "terminal-state/digest"), c.reviewer), fault.Invalid, "/terminal-state~1digest"},
		{"decision with activation", KindDecision, forge(KindDecision, set(d, 1, "activation/generation"), c.chair), fault.Invalid, "/activation~1generation"},
		{"decision on untyped candidate", KindDecision, forge(KindDecision, edit(d, nil, "reviewed-candidate", "artifact/type"), c.chair), fault.Invalid, "/reviewed-candidate/artifact~1type"},
		{"refused without code", KindExecution, forge(KindExecution, set(e, OutcomeRefused, "outcome"), c.host), fault.Invalid, "/refusal~1code"},
		{"refusal outside the vocabulary", KindExecution, forge(KindExecution, set(set(e, OutcomeRefused, "outcome"), "plan/because", "refusal/code"), c.host), fault.Invalid, "/refusal~1code"},
		{"verified nowhere", KindExecution, forge(KindExecution, e.Without("environment/ref"), c.host), fault.Invalid, "/environment~1ref"},
		{"answer of another form", KindAnswer, forge(KindAnswer, set(c.answer.Value, "operator-task-hil-answer.v1", "schema"), c.operator), fault.Invalid, "/schema"},
		{"leap second", KindProposal, forge(KindProposal, set(p, "2026-06-30T23:59:60Z", "proposed-at"), c.author), fault.Invalid, "/proposed-at"},
		{"lower-case zone", KindProposal, forge(KindProposal, set(p, "2026-03-01T09:05:00z", "proposed-at"), c.author), fault.Invalid, "/proposed-at"},

		// version
		{"older proposal", KindProposal, forge(KindProposal, set(p, 1, "schema/v"), c.author), fault.UnknownKind, "/schema~1v"},
		{"no version", KindReview, forge(KindReview, r.Without("schema/v"), c.reviewer), fault.UnknownKind, "/schema~1v"},
		{"a review read as a decision", KindDecision, c.review.Raw, fault.UnknownKind, "/schema~1v"},

		// strict reading
		{"duplicate key", KindProposal, bytes.Replace(c.proposal.Raw, []byte(`"schema/v":2`), []byte(`"schema/v":2,"schema/v":2`), 1), fault.Malformed, ""},
		{"trailing data", KindProposal, append(bytes.Clone(c.proposal.Raw), '1'), fault.Malformed, ""},
		{"lone surrogate", KindProposal, bytes.Replace(c.proposal.Raw, []byte(`propose-1`), []byte(`\ud800`), 1), fault.Malformed, ""},
		{"invalid UTF-8", KindProposal, bytes.Replace(c.proposal.Raw, []byte(`propose-1`), []byte("\xff"), 1), fault.Malformed, ""},
		{"too large", KindAnswer, append(bytes.Clone(c.answer.Raw), bytes.Repeat([]byte(" "), 16<<10)...), fault.TooLarge, ""},
		{"not an object", KindAnswer, []byte(`[]`), fault.Invalid, ""},

		// spelling
		{"digest in a second spelling", KindProposal, forge(KindProposal, set(p, tail(c.proposal.Target.ProfileDigest), "target", "task-profile/digest"), c.author), fault.Spelling, "/target/task-profile~1digest"},
		{"ref in a second spelling", KindReview, forge(KindReview, set(r, tail(c.proposal.Ref), "proposal/ref"), c.reviewer), fault.Spelling, "/proposal~1ref"},
		{"own ref in a second spelling", KindReview, resign(set(r, tail(c.review.Ref), "review/ref"), "corpus-reasoning-experiment-review.v4", c.reviewer).Canonical(), fault.Spelling, "/review~1ref"},
		{"signature in a second spelling", KindProposal, set(p, tail(must2(p.At("/signature/value"))), "signature", "value").Canonical(), fault.Spelling, "/signature/value"},
		{"key with a letter that is not base58", KindProposal, set(p, spoil(must2(p.At("/signature/key~1public")), "0"), "signature", "key/public").Canonical(), fault.Spelling, "/signature/key~1public"},
		{"node with a letter that is not base58", KindProposal, forge(KindProposal, set(p, spoil(c.proposal.Node, "l"), "author/node-id"), c.author), fault.Spelling, "/author~1node-id"},

		// own ref, signer, signature
		{"changed bytes", KindProposal, set(p, "propose-2", "idempotency/key").Canonical(), fault.RefMismatch, "/proposal~1ref"},
		{"another normalization of the same text", KindReview, bytes.Replace(c.review.Raw, []byte("Caf\u00e9"), []byte("Cafe\u0301"), 1), fault.RefMismatch, "/review~1ref"},
		{"another spelling of the same instant", KindProposal, bytes.Replace(c.proposal.Raw, []byte(c.proposal.Value.Str("proposed-at")), []byte(strings.TrimSuffix(c.proposal.Value.Str("proposed-at"), "Z")+"+00:00"), 1), fault.RefMismatch, "/proposal~1ref"},
		{"signed by somebody else", KindProposal, forge(KindProposal, p, c.reviewer), fault.Signer, "/author~1node-id"},
		{"domain of another version", KindProposal, resign(p, "corpus-reasoning-experiment-proposal.v1", c.author).Canonical(), fault.Signature, "/signature/value"},
		{"domain of another kind", KindDecision, resign(d, "corpus-reasoning-experiment-review.v4", c.chair).Canonical(), fault.Signature, "/signature/value"},
		{"signature of another document of the same signer", KindProposal, p.With("signature", stolen).Canonical(), fault.Signature, "/signature/value"},

		// inside one document
		{"artifact of other bytes", KindProposal, forge(KindProposal, set(p, canon.ObjectRef(canon.Sum([]byte("x"))), "candidate", "artifact-ref"), c.author), fault.Relation, "/candidate/artifact-ref"},
		{"reviewed artifact of other bytes", KindDecision, forge(KindDecision, set(d, canon.ObjectRef(canon.Sum([]byte("x"))), "reviewed-candidate", "artifact-ref"), c.chair), fault.Relation, "/reviewed-candidate/artifact-ref"},
		{"foreign evidence", KindExecution, forge(KindExecution, e.With("evidence", canon.ArrayOf(set(firstEvidence(e), "environment:other", "environment/ref"))), c.host), fault.Relation, "/evidence/0/environment~1ref"},
		{"evidence without an environment", KindExecution, forge(KindExecution, set(e, OutcomeCancel, "outcome").Without("environment/ref"), c.host), fault.Relation, "/evidence/0/environment~1ref"},
		{"evidence at another address", KindExecution, forge(KindExecution, e.With("evidence", canon.ArrayOf(set(firstEvidence(e), canon.ObjectRef(canon.Sum(nil)), "artifact-ref"))), c.host), fault.Relation, "/evidence/0/artifact-ref"},
		{"content of another digest", KindTurn, forge(KindTurn, set(c.turn.Value, "other words", "content"), c.host), fault.Relation, "/content~1digest"},
		{"shown bytes of another address", KindManifest, forge(KindManifest, set(c.manifest.Value, canon.ObjectRef(canon.Sum(nil)), "content/ref"), c.host), fault.Relation, "/content~1ref"},

		// times
		{"expires as it starts", KindProposal, forge(KindProposal, set(p, p.Str("proposed-at"), "expires-at"), c.author), fault.Invalid, "/expires-at"},
		{"expires in another zone before it starts", KindProposal, forge(KindProposal, set(p, "2026-03-01T11:05:00+02:00", "expires-at"), c.author), fault.Invalid, "/expires-at"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(row.kind, row.raw)
			wantFault(t, err, row.code, row.pointer)
		})
	}
}

// other is a second proposal of the same author: other target, same candidate.
func other(c chain) Proposal {
	return must(SignProposal(ProposalParams{
		Turn: c.turn, Candidate: c.proposal.Candidate,
		Target: Target{Profile: c.proposal.Target.Profile, ProfileDigest: DigestText(canon.Sum([]byte("wider profile"))), Binding: c.proposal.Target.Binding},
		At:     at(5), Until: at(300), Key: "propose-1",
	}, c.author))
}

// tail returns another spelling of the same digest or signature: the last
// character with its spare bits changed.
func tail(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	i := strings.IndexByte(alphabet, s[len(s)-1])
	return s[:len(s)-1] + string(alphabet[i^1])
}

func spoil(s, letter string) string { return s[:len(s)-5] + letter + s[len(s)-4:] }

func must2(v canon.Value, ok bool) string {
	s, isText := v.String()
	if !ok || !isText {
		panic("no such text")
	}
	return s
}

func firstEvidence(e canon.Value) canon.Value {
	v, _ := e.At("/evidence/0")
	return v
}
