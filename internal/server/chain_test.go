package server_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/client"
	"writ/internal/author"
	"writ/internal/canon"
	"writ/internal/gitcmd"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// chain is a run on a real repository, with the documents that people and agents
// signed, taken off the wire before they arrived.
type chain struct {
	*world
	head, run, lane string
}

const source = "package sample\n\n// Two is two.\nfunc Two() int { return 2 }\n"

// newChain makes a repository, asks for a run, and lets the solver take it.
func newChain(t *testing.T) *chain {
	t.Helper()
	c := &chain{world: newWorld(t, nil)}
	ctx := t.Context()
	repo, err := gitcmd.InitBare(ctx, filepath.Join(t.TempDir(), "origin.git"))
	c.must(err)
	tree, err := repo.WriteTree(ctx, "", []gitcmd.File{{Path: "go.mod", Content: []byte("module example.org/sample\n\ngo 1.26\n")}, {Path: "two.go", Content: []byte(source)}})
	c.must(err)
	c.head, err = repo.CommitTree(ctx, gitcmd.Commit{Tree: tree, Author: gitcmd.Person{Name: "Ann", Email: "ann@example.org", When: time.Now().UTC()}, Message: "sample\n"})
	c.must(err)
	c.must(repo.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", New: c.head}))
	c.ask(c.admin.token.Text, "PUT", "/v1/repositories/demo/sample", map[string]any{"remote": repo.Dir, "base": "main"}).expect(t, 200)
	c.run, c.lane = c.open("first")
	return c
}

// open asks for a run that the solver takes.
func (c *chain) open(key string) (run, lane string) {
	c.t.Helper()
	e := c.post(c.ann.token.Text, requestRun(key, c.solver.ID))
	run, lane = e.Str("run_id"), e.Str("lane_id")
	c.post(c.solver.token.Text, `{"v":1,"type":"run.accepted","idempotency_key":"`+key+`","run_id":"`+run+`","attempt":1}`)
	return run, lane
}

// taken catches what a client hands in before it arrives.
type taken struct {
	http.RoundTripper
	suffix string
	body   []byte
}

func (k *taken) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, k.suffix) {
		return k.RoundTripper.RoundTrip(r)
	}
	var err error
	if k.body, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 201, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, nil
}

// off returns what the member's client hands in at the end of do.
func (c *chain) off(m member, suffix string, do func(context.Context, *client.Client) error) []byte {
	c.t.Helper()
	k := &taken{RoundTripper: c.http.Transport, suffix: suffix}
	c.must(do(c.t.Context(), client.New(c.url, m.token.Text, client.WithHTTP(&http.Client{Transport: k}))))
	if len(k.body) == 0 {
		c.t.Fatalf("nothing was handed in at %s", suffix)
	}
	return k.body
}

func (c *chain) signProposal(run, text string) []byte {
	c.t.Helper()
	return c.off(c.solver, "/proposals", func(ctx context.Context, to *client.Client) error {
		_, err := author.Propose(ctx, to, c.solver.key, author.ProposeParams{
			Run: run, Base: c.head, Message: text,
			Files: []taskpack.File{{Root: taskpack.RootModule, Path: "two.go", Op: taskpack.OpWrite, Content: []byte(source + "\n// " + text + "\n")}},
		})
		return err
	})
}

func (c *chain) signReview(run, verdict string) []byte {
	c.t.Helper()
	return c.off(c.reviewer, "/reviews", func(ctx context.Context, to *client.Client) error {
		_, err := author.Review(ctx, to, c.reviewer.key, author.ReviewParams{Run: run, Verdict: verdict, Findings: []string{"let it be measured"}})
		return err
	})
}

func (c *chain) signDecision(run string) []byte {
	c.t.Helper()
	return c.off(c.ann, "/decisions", func(ctx context.Context, to *client.Client) error {
		_, err := author.Decide(ctx, to, c.ann.key, author.DecideParams{Run: run, Decision: proposal.DecisionAdmit, Reason: "reviewed", At: time.Now()})
		return err
	})
}

func (c *chain) signAnswer(run, question string) []byte {
	c.t.Helper()
	return c.off(c.ann, "/answers", func(ctx context.Context, to *client.Client) error {
		_, err := author.Answer(ctx, to, c.ann.key, author.AnswerParams{Run: run, Request: question, Approve: true, At: time.Now()})
		return err
	})
}

// accept hands in a document, which has to be taken.
func (c *chain) accept(m member, run, what string, body []byte) {
	c.t.Helper()
	c.ask(m.token.Text, "POST", "/v1/runs/"+run+"/"+what, body).expect(c.t, 201)
}

// question puts the question about the patch step of an admitted run, as the
// host's driver would; of is the task run that it says it is of, "" for the right one.
func (c *chain) question(run, of string) string {
	c.t.Helper()
	one := func(kind string) []byte {
		docs, err := c.store.Documents(c.t.Context(), c.ws, ledger.DocumentFilter{RunID: run, Kinds: []string{kind}})
		c.must(err)
		if len(docs) != 1 {
			c.t.Fatalf("%d documents of kind %s", len(docs), kind)
		}
		return docs[0].Body
	}
	plan, err := taskpack.ParsePlan(one(ledger.KindPlan))
	c.must(err)
	profile, err := taskpack.ParseProfile(one(ledger.KindProfile))
	c.must(err)
	binding, err := taskpack.ParseBinding(one(ledger.KindBinding))
	c.must(err)
	task, err := c.store.Cell(c.t.Context(), c.ws, ledger.CellTask, run)
	c.must(err)
	v, err := canon.Parse(task.Value)
	c.must(err)
	if of == "" {
		of = v.Str("task_run")
	}
	for _, s := range plan.Steps {
		if s.Kind != taskpack.StepPatch {
			continue
		}
		d, err := canon.ParseRef("artifact", s.Patch)
		c.must(err)
		raw := c.ask(c.ann.token.Text, "GET", "/v1/blobs/"+d.Hex(), nil).expect(c.t, 200).body
		patch, err := taskpack.ParsePatch(raw)
		c.must(err)
		q, err := taskpack.Ask(taskpack.AskParams{
			Plan: plan, Run: of, Binding: binding, Profile: profile, Step: s.ID, Patch: &patch, At: time.Now(), Expires: time.Now().Add(time.Hour),
		})
		c.must(err)
		_, err = c.store.Commit(c.t.Context(), ledger.Commit{Workspace: c.ws, Documents: []ledger.NewDocument{q.Entry(run, "")}, Cells: []ledger.CellWrite{
			{Kind: ledger.CellTask, Key: run, Expect: task.Version, State: "waiting", Value: task.Value},
		}})
		c.must(err)
		return q.Ref
	}
	c.t.Fatal("the plan has no patch step")
	return ""
}

// TestChain goes from the proposal to the answer: each document is kept byte for
// byte, announced in the journal, and the same one again is a replay.
func TestChain(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	for _, step := range []struct {
		by         member
		what, kind string
		sign       func() []byte
	}{
		{c.solver, "proposals", "proposal", func() []byte { return c.signProposal(c.run, "make two faster") }},
		{c.reviewer, "reviews", "review", func() []byte { return c.signReview(c.run, proposal.VerdictAccept) }},
		{c.ann, "decisions", "decision", func() []byte { return c.signDecision(c.run) }},
		{c.ann, "answers", "human-answer", func() []byte {
			ref := c.question(c.run, "")
			if body := string(c.ask(c.ann.token.Text, "GET", "/v1/inbox", nil).expect(t, 200).body); !strings.Contains(body, ref) {
				t.Errorf("the inbox lacks %s: %s", ref, body)
			}
			return c.signAnswer(c.run, ref)
		}},
	} {
		raw := step.sign()
		path := "/v1/runs/" + c.run + "/" + step.what
		var got struct {
			Kind, Ref, SHA256 string
			Seq               int64
			Replayed          bool
		}
		c.ask(step.by.token.Text, "POST", path, raw).expect(t, 201).read(t, &got)
		if got.Kind != step.kind || got.SHA256 != canon.Sum(raw).Hex() || got.Seq == 0 || got.Replayed {
			t.Errorf("%s: %+v", step.kind, got)
		}
		e, err := canon.Parse(c.page(t, "?limit=1&after="+itoa(got.Seq-1)).Events[0])
		c.must(err)
		if e.Str("type") != "document.accepted" || e.Str("ref") != got.Ref || e.Str("kind") != step.kind {
			t.Errorf("%s is announced as %s", step.kind, e.Canonical())
		}
		for _, ref := range []string{got.Ref, "sha256:" + got.SHA256} {
			r := c.ask(c.ann.token.Text, "GET", "/v1/documents/"+ref, nil).expect(t, 200)
			if !bytes.Equal(r.body, raw) || r.header.Get("Writ-Kind") != step.kind || r.header.Get("ETag") != `"`+got.SHA256+`"` {
				t.Errorf("%s is served as %q with %v", ref, r.body, r.header)
			}
		}
		before := c.state()
		r := c.ask(step.by.token.Text, "POST", path, raw).expect(t, 200)
		if r.header.Get("Writ-Replayed") != "true" || !strings.Contains(string(r.body), got.Ref) {
			t.Errorf("the replay answers %v %s", r.header, r.body)
		}
		c.unchanged(t, before)
	}
	if body := string(c.ask(c.ann.token.Text, "GET", "/v1/inbox", nil).expect(t, 200).body); body != `{"requests":[]}`+"\n" {
		t.Errorf("the inbox after the answer: %s", body)
	}
	docs, err := c.store.Documents(t.Context(), c.ws, ledger.DocumentFilter{RunID: c.run, Kinds: []string{ledger.KindProposal}})
	c.must(err)
	manifest := c.ask(c.reviewer.token.Text, "POST", "/v1/runs/"+c.run+"/manifests", map[string]string{"proposal_ref": docs[0].Ref}).expect(t, 200)
	if manifest.header.Get("Writ-Replayed") != "true" { // the review had it made
		t.Errorf("the evidence is made again: %s", manifest.body)
	}
	list := string(c.ask(c.ann.token.Text, "GET", "/v1/runs/"+c.run+"/documents?kind=proposal&kind=human-answer", nil).expect(t, 200).body)
	if !strings.Contains(list, `"human-answer"`) || !strings.Contains(list, `"proposal"`) || strings.Contains(list, `"review"`) {
		t.Errorf("documents of two kinds: %s", list)
	}
	c.ask(c.ann.token.Text, "GET", "/v1/runs/"+c.run, nil).expect(t, 200)
	c.ask(c.ann.token.Text, "GET", "/v1/runs/"+c.run+"/docket", nil).expect(t, 200)
	c.ask(c.ann.token.Text, "GET", "/v1/landing?repository=demo/sample&base=main", nil).expect(t, 200)
	c.ask(c.ann.token.Text, "GET", "/v1/host", nil).expect(t, 200)
	c.ask(c.ann.token.Text, "GET", "/v1/lanes?state=open", nil).expect(t, 200)
	c.ask(c.ann.token.Text, "GET", "/v1/lanes/"+c.lane, nil).expect(t, 200)
}
