package server_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/ident"
	"writ/internal/proposal"
	"writ/internal/server"
)

// bad is one way in which a document can be wrong.
type bad struct {
	name   string
	body   []byte
	status int
	code   string
	by     *member // who hands it in; nil: who should
	run    string  // into which run; "": the right one
}

// resign changes members of a document and signs it anew.
func resign(t *testing.T, kind proposal.Kind, v canon.Value, key ident.PrivateKey, change map[string]any) []byte {
	t.Helper()
	row, err := proposal.RowOf(kind)
	if err != nil {
		t.Fatal(err)
	}
	v = v.Without(row.Node)
	for name, x := range change {
		v = v.With(name, canon.MustFrom(x))
	}
	d, err := proposal.Sign(kind, v, key)
	if err != nil {
		t.Fatal(err)
	}
	return d.Raw
}

// broken is a valid document broken in every way that has to do with it alone.
func (c *chain) broken(t *testing.T, kind proposal.Kind, raw []byte, own member) []bad {
	t.Helper()
	v, err := canon.Parse(raw)
	c.must(err)
	row, err := proposal.RowOf(kind)
	c.must(err)
	text := string(raw)
	edit := func(old, by string) []byte {
		if !strings.Contains(text, old) {
			t.Fatalf("the %s has no %s", kind, old)
		}
		return []byte(strings.Replace(text, old, by, 1))
	}
	sig, _ := v.At("/signature/value")
	value, _ := sig.String()
	flipped := map[bool]string{true: "B", false: "A"}[value[0] == 'A'] + value[1:]
	other := value[:len(value)-1] + map[byte]string{'A': "B", 'Q': "R", 'g': "h", 'w': "x"}[value[len(value)-1]]
	strange := member{Participant: own.Participant, key: keyOf(99)}
	past := proposal.Instant(time.Now().Add(-3 * time.Hour))
	return []bad{
		{name: "no JSON", body: []byte("signed, honestly"), status: 400, code: "malformed"},
		{name: "empty", body: []byte{}, status: 400, code: "malformed"},
		{name: "truncated", body: raw[:len(raw)/2], status: 400, code: "malformed"},
		{name: "trailing", body: append(bytes.Clone(raw), '{', '}'), status: 400, code: "malformed"},
		{name: "invalid UTF-8", body: edit(`"signature"`, "\"signatur\xff\""), status: 400, code: "malformed"},
		{name: "duplicate key", body: edit("{", `{"schema/v":1,`), status: 400, code: "malformed"},
		{name: "no object", body: []byte(`[` + text + `]`), status: 400, code: "invalid"},
		{name: "null", body: []byte(`null`), status: 400, code: "invalid"},
		{name: "unknown member", body: edit("{", `{"zz":1,`), status: 400, code: "invalid"},
		{name: "wrong type", body: v.With(row.Until, canon.IntOf(7)).Canonical(), status: 400, code: "invalid"},
		{name: "member missing", body: v.Without(row.Until).Canonical(), status: 400, code: "invalid"},
		{name: "signature missing", body: v.Without("signature").Canonical(), status: 400, code: "invalid"},
		{name: "other version", body: v.With("schema/v", canon.IntOf(99)).Canonical(), status: 400, code: "unknown_kind"},
		{name: "too large", body: edit("{", "{"+strings.Repeat(" ", int(row.Size))), status: 413, code: "too_large"},
		{name: "other content under its ref", body: v.With(row.Until, canon.StringOf(proposal.Instant(time.Now().Add(time.Minute)))).Canonical(), status: 422, code: "ref_mismatch"},
		{name: "wrong signature", body: edit(value, flipped), status: 422, code: "signature_invalid"},
		{name: "second spelling", body: edit(value, other), status: 422, code: "not_canonical"},
		{name: "key of another", body: resign(t, kind, v, strange.key, nil), status: 422, code: "signer_mismatch"},
		{name: "expired", body: resign(t, kind, v, own.key, map[string]any{row.From: past, row.Until: proposal.Instant(time.Now().Add(-time.Hour))}), status: 422, code: "expired"},
		{name: "no such run", body: raw, run: ident.New(ident.Run), status: 404, code: "not_found"},
	}
}

// refuse hands in every bad document and checks that nothing is stored.
func (c *chain) refuse(t *testing.T, what string, own member, all []bad) {
	t.Helper()
	before := c.state()
	for _, b := range all {
		by, run := own, c.run
		if b.by != nil {
			by = *b.by
		}
		if b.run != "" {
			run = b.run
		}
		r := c.ask(by.token.Text, "POST", "/v1/runs/"+run+"/"+what, b.body)
		if r.status < 400 {
			t.Fatalf("%s, %s: was taken\n%s", what, b.name, r.body)
		}
		if p := r.problem(t); r.status != b.status || string(p.Code) != b.code {
			t.Errorf("%s, %s: answered %d %s, want %d %s\n%s", what, b.name, r.status, p.Code, b.status, b.code, r.body)
		}
	}
	c.unchanged(t, before)
}

// TestBadChain breaks each document of the chain in turn; the sound one is taken
// afterwards.
func TestBadChain(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	other, _ := c.open("second")
	ended, _ := c.open("third")
	c.post(c.solver.token.Text, `{"v":1,"type":"run.failed","idempotency_key":"end","run_id":"`+ended+`","attempt":1,"code":"x","message":"y","retryable":false}`)
	bob := c.join(c.ws, 20, server.Participant{Kind: "person", Name: "bob"}, personScopes)
	twin := c.join(c.ws, 5, server.Participant{Kind: "agent", Name: "twin", HarnessID: c.harness.ID, Roles: []string{"implementer"}}, workScopes) // has the solver's key
	value := func(raw []byte) canon.Value {
		v, err := canon.Parse(raw)
		c.must(err)
		return v
	}
	inner := func(v canon.Value, member, name, text string) any {
		m, _ := v.Get(member)
		return m.With(name, canon.StringOf(text))
	}
	digest := "sha256:" + canon.Plain(canon.Null()).Base64()

	p := c.signProposal(c.run, "make two faster")
	theirs := c.signProposal(other, "make two faster, too")
	v := value(p)
	c.refuse(t, "proposals", c.solver, append(c.broken(t, proposal.KindProposal, p, c.solver),
		bad{name: "handed in by another", body: p, by: &c.reviewer, status: 403, code: "forbidden"},
		bad{name: "handed in by one with the same key", body: p, by: &twin, status: 403, code: "forbidden"},
		bad{name: "of another run", body: theirs, status: 422, code: "relation_mismatch"},
		bad{name: "into another run", body: p, run: other, status: 422, code: "relation_mismatch"},
		bad{name: "into a run that ended", body: p, run: ended, status: 409, code: "run_terminal"},
		bad{name: "of another room", body: resign(t, proposal.KindProposal, v, c.solver.key, map[string]any{"room/id": "room:nowhere"}), status: 422, code: "relation_mismatch"},
		bad{name: "of no turn", body: resign(t, proposal.KindProposal, v, c.solver.key, map[string]any{"turn/id": strings.Replace(v.Str("turn/id"), v.Str("turn/id")[len(v.Str("turn/id"))-10:], "AAAAAAAAAA", 1)}), status: 404, code: "not_found"},
		bad{name: "for another host", body: resign(t, proposal.KindProposal, v, c.solver.key, map[string]any{"target": inner(v, "target", "task-profile/digest", digest)}), status: 422, code: "relation_mismatch"},
		bad{name: "about no commit", body: resign(t, proposal.KindProposal, v, c.solver.key, map[string]any{"candidate": inner(v, "candidate", "ref", "change:x@"+strings.Repeat("0", 40))}), status: 404, code: "not_found"},
		bad{name: "named freely", body: resign(t, proposal.KindProposal, v, c.solver.key, map[string]any{"candidate": inner(v, "candidate", "ref", "change:x")}), status: 400, code: "invalid"},
	))
	c.accept(c.solver, c.run, "proposals", p)
	c.accept(c.solver, other, "proposals", theirs)
	c.refuse(t, "proposals", c.solver, []bad{{name: "known, into another run", body: p, run: other, status: 422, code: "relation_mismatch"}})
	c.refuse(t, "reviews", c.reviewer, []bad{{name: "a proposal", body: p, by: &c.solver, status: 400, code: "unknown_kind"}})

	r := c.signReview(c.run, proposal.VerdictAccept)
	theirReview := c.signReview(other, proposal.VerdictAccept)
	v = value(r)
	c.refuse(t, "reviews", c.reviewer, append(c.broken(t, proposal.KindReview, r, c.reviewer),
		bad{name: "handed in by another", body: r, by: &c.solver, status: 403, code: "forbidden"},
		bad{name: "of another run", body: theirReview, status: 422, code: "relation_mismatch"},
		bad{name: "about another digest", body: resign(t, proposal.KindReview, v, c.reviewer.key, map[string]any{"proposal/digest": digest}), status: 422, code: "relation_mismatch"},
		bad{name: "about another proposal", body: resign(t, proposal.KindReview, v, c.reviewer.key, map[string]any{"proposal/ref": value(theirs).Str("proposal/ref")}), status: 422, code: "relation_mismatch"},
		bad{name: "about another candidate", body: resign(t, proposal.KindReview, v, c.reviewer.key, map[string]any{"candidate": inner(v, "candidate", "ref", "change:x@"+c.head)}), status: 422, code: "relation_mismatch"},
		bad{name: "of other evidence", body: resign(t, proposal.KindReview, v, c.reviewer.key, map[string]any{"evidence-state/digest": digest}), status: 422, code: "relation_mismatch"},
		bad{name: "by the author", body: resign(t, proposal.KindReview, v, c.solver.key, map[string]any{"reviewer": inner(v, "reviewer", "id", c.solver.ID)}), by: &c.solver, status: 422, code: "relation_mismatch"},
	))
	c.accept(c.reviewer, c.run, "reviews", r)
	c.accept(c.reviewer, other, "reviews", theirReview)

	d := c.signDecision(c.run)
	theirDecision := c.signDecision(other)
	v = value(d)
	c.refuse(t, "decisions", c.ann, append(c.broken(t, proposal.KindDecision, d, c.ann),
		bad{name: "handed in by another", body: d, by: &bob, status: 403, code: "forbidden"},
		bad{name: "by an agent", body: d, by: &c.solver, status: 403, code: "forbidden"},
		bad{name: "by somebody without the role", body: resign(t, proposal.KindDecision, v, bob.key, map[string]any{"chair": inner(v, "chair", "id", bob.ID)}), by: &bob, status: 403, code: "forbidden"},
		bad{name: "of another run", body: theirDecision, status: 422, code: "relation_mismatch"},
		bad{name: "about another review", body: resign(t, proposal.KindDecision, v, c.ann.key, map[string]any{"review/ref": value(theirReview).Str("review/ref")}), status: 422, code: "relation_mismatch"},
		bad{name: "about another digest", body: resign(t, proposal.KindDecision, v, c.ann.key, map[string]any{"review/digest": digest}), status: 422, code: "relation_mismatch"},
		bad{name: "about no proposal", body: resign(t, proposal.KindDecision, v, c.ann.key, map[string]any{"proposal/ref": v.Str("proposal/ref")[:len(v.Str("proposal/ref"))-10] + "AAAAAAAAAA"}), status: 404, code: "not_found"},
		bad{name: "not yet", body: resign(t, proposal.KindDecision, v, c.ann.key, map[string]any{"decided-at": proposal.Instant(time.Now().Add(time.Hour))}), status: 422, code: "not_yet_valid"},
	))
	c.accept(c.ann, c.run, "decisions", d)
	c.refuse(t, "decisions", c.ann, []bad{{name: "a second run at once", body: theirDecision, run: other, status: 422, code: "plan_refused"}})

	question := c.question(c.run, "")
	theirQuestion := c.question(c.run, "operator-task-run:sha256:"+canon.Plain(canon.Null()).Base64())
	a := c.signAnswer(c.run, question)
	v = value(a)
	c.refuse(t, "answers", c.ann, append(c.broken(t, proposal.KindAnswer, a, c.ann),
		bad{name: "handed in by another", body: a, by: &bob, status: 422, code: "signer_mismatch"},
		bad{name: "by an agent", body: a, by: &c.solver, status: 403, code: "forbidden"},
		bad{name: "by no operator", body: resign(t, proposal.KindAnswer, v, bob.key, map[string]any{"operator/binding-ref": proposal.OperatorBinding(c.ws, bob.ID)}), by: &bob, status: 403, code: "forbidden"},
		bad{name: "to another run's question", body: c.signAnswer(c.run, theirQuestion), status: 422, code: "relation_mismatch"},
		bad{name: "to no question", body: resign(t, proposal.KindAnswer, v, c.ann.key, map[string]any{"request/ref": question[:len(question)-10] + "AAAAAAAAAA"}), status: 404, code: "not_found"},
		bad{name: "for another operator", body: resign(t, proposal.KindAnswer, v, c.ann.key, map[string]any{"operator/binding-ref": proposal.OperatorBinding(c.ws, bob.ID)}), status: 403, code: "forbidden"},
	))
	deny := resign(t, proposal.KindAnswer, v, c.ann.key, map[string]any{"decision": proposal.AnswerDeny})
	c.accept(c.ann, c.run, "answers", a)
	c.refuse(t, "answers", c.ann, []bad{{name: "a second, other answer", body: deny, status: 409, code: "changed_replay"}})
}

// TestBadAsks breaks what asks the host to build documents.
func TestBadAsks(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	other, otherLane := c.open("second")
	m := c.post(c.solver.token.Text, message("m", "words", `"lane_id":"`+c.lane+`"`)).Str("id")
	elsewhere := c.post(c.solver.token.Text, message("e", "words", `"lane_id":"`+otherLane+`"`)).Str("id")
	asked := c.post(c.ann.token.Text, message("a", "words", `"lane_id":"`+c.lane+`"`)).Str("id")
	run := "/v1/runs/" + c.run
	turn := func(id string) string { return `{"event_id":"` + id + `"}` }
	before := c.state()
	for _, b := range []struct {
		name, path, body string
		status           int
		code, pointer    string
	}{
		{"malformed", run + "/turns", `{"event_id":`, 400, "malformed", ""},
		{"duplicate", run + "/turns", `{"event_id":"a","event_id":"` + m + `"}`, 400, "malformed", ""},
		{"unknown member", run + "/turns", `{"event_id":"` + m + `","zz":1}`, 400, "invalid", "/zz"},
		{"other case", run + "/turns", `{"Event_ID":"` + m + `"}`, 400, "invalid", "/Event_ID"},
		{"wrong type", run + "/turns", `{"event_id":7}`, 400, "invalid", "/event_id"},
		{"null", run + "/turns", `{"event_id":null}`, 400, "invalid", "/event_id"},
		{"missing", run + "/turns", `{}`, 400, "invalid", "/event_id"},
		{"no object", run + "/turns", `"` + m + `"`, 400, "invalid", ""},
		{"empty", run + "/turns", ``, 400, "malformed", ""},
		{"no event", run + "/turns", turn(ident.New(ident.Event)), 404, "not_found", ""},
		{"no run", "/v1/runs/" + ident.New(ident.Run) + "/turns", turn(m), 404, "not_found", ""},
		{"of another lane", run + "/turns", turn(elsewhere), 422, "relation_mismatch", ""},
		{"no message", "/v1/runs/" + other + "/turns", turn(m), 422, "relation_mismatch", ""},
		{"speaker without a role", run + "/turns", turn(asked), 403, "forbidden", ""},
		{"no proposal", run + "/manifests", `{"proposal_ref":"nothing"}`, 404, "not_found", ""},
		{"wrong type", run + "/manifests", `{"proposal_ref":[]}`, 400, "invalid", "/proposal_ref"},
		{"lease without attempt", run + "/renew", `{}`, 400, "invalid", "/attempt"},
		{"lease of attempt 0", run + "/renew", `{"attempt":0}`, 400, "invalid", "/attempt"},
		{"lease of half an attempt", run + "/renew", `{"attempt":1.5}`, 400, "invalid", "/attempt"},
		{"lease of another attempt", run + "/renew", `{"attempt":9}`, 409, "fenced", "/attempt"},
		{"landing of nothing", "/v1/landing/cancel", `{"repository":"demo/sample","base":"main","candidate_id":"x","reason":"y"}`, 404, "not_found", ""},
		{"landing elsewhere", "/v1/landing/cancel", `{"repository":"demo/other","base":"main","candidate_id":"x","reason":"y"}`, 404, "not_found", ""},
		{"landing without reason", "/v1/landing/cancel", `{"repository":"demo/sample","base":"main","candidate_id":"x"}`, 400, "invalid", "/reason"},
	} {
		token := c.solver.token.Text
		if strings.HasPrefix(b.path, "/v1/landing") {
			token = c.ann.token.Text
		}
		r := c.ask(token, "POST", b.path, b.body)
		if p := r.problem(t); r.status != b.status || string(p.Code) != b.code || p.Pointer != b.pointer {
			t.Errorf("%s: answered %d %s at %q, want %d %s at %q\n%s", b.name, r.status, p.Code, p.Pointer, b.status, b.code, b.pointer, r.body)
		}
	}
	c.unchanged(t, before)
	c.ask(c.solver.token.Text, "POST", run+"/turns", turn(m)).expect(t, 201)
	c.ask(c.solver.token.Text, "POST", run+"/turns", turn(m)).expect(t, 200)
	c.ask(c.solver.token.Text, "POST", run+"/renew", `{"attempt":1.0}`).expect(t, 200)
}
