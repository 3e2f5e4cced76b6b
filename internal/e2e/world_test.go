package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"writ/client"
	"writ/internal/author"
	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/ident"
	"writ/internal/node"
	"writ/internal/proposal"
	"writ/internal/store/sqlite"
	"writ/internal/verdict"
)

// patience is how long a test waits for anything that has to come.
const patience = 2 * time.Minute

// member is a participant with a key and a token.
type member struct {
	id  string
	key ident.PrivateKey
	c   *client.Client
}

// world is a repository, a node that lands on it, and the people around.
type world struct {
	t       testing.TB
	dir     string
	sample  *sample
	node    *node.Node // in this process, or nil
	address string
	clock   *clock
	log     *log
	crash   func(point string) // called by the host between commits

	workspace      string
	admin          *client.Client
	solver, critic member // an agent that proposes, another that reviews
	ann, bob       member // people: ann decides and approves, bob may do nothing
	harness        string
	deadline       time.Duration // of runs that are asked for; 0 for none

	space           string           // in which runs are asked for; "" for none
	last            *docket.Bundle   // of the run whose aftermath was looked at
	acknowledged    map[string]int64 // events that clients wrote and were told of
	rounds, samples int
}

// clock is real time, moved forward when a test says so.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// log keeps what a node logs, for when its test fails.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is everything so far.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newWorld makes a repository and starts a node in this process.
func newWorld(t *testing.T) *world {
	t.Helper()
	needContainment(t)
	w := bareWorld(t, t.TempDir())
	w.start()
	t.Cleanup(w.stop)
	w.people()
	return w
}

// bareWorld is a world whose node was not started yet.
func bareWorld(t testing.TB, dir string) *world {
	t.Helper()
	ctx := t.Context()
	s, err := newSample(ctx, filepath.Join(dir, "origin.git"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, sample: s, clock: &clock{}, log: &log{}, rounds: 6, samples: 1, crash: func(string) {}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.log.String())
		}
	})
	return w
}

func (w *world) data() string { return filepath.Join(w.dir, "data") }

func (w *world) start() {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	w.node, err = node.Start(w.t.Context(), node.Params{
		Data: w.data(), Listen: "127.0.0.1:0", Version: "e2e", Self: self, Now: w.clock.now,
		Log:   slog.New(slog.NewTextHandler(w.log, nil)),
		Crash: func(point string) { w.crash(point) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if f := w.node.First; f != nil {
		w.address, w.workspace = w.node.Address, f.Workspace
		w.admin = w.client(f.Token)
	}
}

// leave ends everybody's connections.
func (w *world) leave() {
	for _, c := range []*client.Client{w.admin, w.solver.c, w.critic.c, w.ann.c, w.bob.c} {
		if c != nil {
			c.Close()
		}
	}
}

// stop ends the node.
func (w *world) stop() {
	w.leave()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.node.Close(ctx); err != nil {
		w.t.Errorf("the node closed badly: %v", err)
	}
}

var work = []string{"events:read", "events:write", "runs:work", "chain:write"}

// people makes participants, keys, tokens and the repository's configuration.
func (w *world) people() {
	w.t.Helper()
	h, err := w.admin.CreateParticipant(w.t.Context(), client.Participant{Kind: "harness", Name: "coder"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.harness = h.ID
	person := []string{"events:read", "events:write", "lanes:route", "chain:write", "approve", "docket:read", "landing:write"}
	w.solver = w.member(client.Participant{Kind: "agent", Name: "solver", HarnessID: h.ID, Roles: []string{proposal.RoleImplementer}}, work...)
	w.critic = w.member(client.Participant{Kind: "agent", Name: "critic", Roles: []string{proposal.RoleReviewer}}, work...)
	w.ann = w.member(client.Participant{Kind: "person", Name: "ann", Roles: []string{"chair", "operator"}}, person...)
	w.bob = w.member(client.Participant{Kind: "person", Name: "bob"}, person...)
	w.configure(lenient())
}

// lenient lets pass what a busy machine cannot tell: what is tested here is not
// the judging. Only a change that is slower is blocked.
func lenient() verdict.GatePolicy {
	p := verdict.DefaultPolicy()
	p.Name = "e2e/lenient"
	p.Actions = maps.Clone(p.Actions)
	for word, answer := range p.Actions {
		if answer == verdict.Hold {
			p.Actions[word] = verdict.Pass
		}
	}
	return p
}

func (w *world) configure(p verdict.GatePolicy) {
	w.t.Helper()
	config, err := canon.Marshal(map[string]any{
		"remote": w.sample.repo.Dir, "base": "main", "rounds": w.rounds, "sample_ms": w.samples, "gate_policy": p,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.admin.PutRepository(w.t.Context(), "e2e", "sample", config); err != nil {
		w.t.Fatal(err)
	}
}

// member makes a participant with a key of its own and a token.
func (w *world) member(p client.Participant, scopes ...string) member {
	w.t.Helper()
	seed := [32]byte{}
	copy(seed[:], w.workspace[len(w.workspace)-20:]+p.Name)
	key := ident.FromSeed(seed)
	p.NodeID = key.Public().Node()
	made, err := w.admin.CreateParticipant(w.t.Context(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	token, err := w.admin.CreateToken(w.t.Context(), made.ID, scopes, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return member{made.ID, key, w.client(token.Text)}
}

// ask is ann asking the solver, and the solver taking the run.
func (w *world) ask() (run string) {
	w.t.Helper()
	request := map[string]any{"goal": "Make Distinct faster.", "specialist_id": w.solver.id, "autonomy": 1}
	if w.space != "" {
		request["space_id"] = w.space
	}
	if w.deadline > 0 {
		request["deadline"] = w.clock.now().Add(w.deadline).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	e, _, err := w.ann.c.Append(w.t.Context(), client.NewKey(), "run.requested", request)
	if err != nil {
		w.t.Fatal(err)
	}
	a, _, err := w.solver.c.Append(w.t.Context(), client.NewKey(), "run.accepted", map[string]any{"run_id": e.RunID, "attempt": 1})
	if err != nil {
		w.t.Fatal(err)
	}
	w.acknowledged = map[string]int64{e.ID: e.Seq, a.ID: a.Seq}
	return e.RunID
}

func (w *world) propose(run, folder string) (client.DocRef, error) {
	return author.Propose(w.t.Context(), w.solver.c, w.solver.key, author.ProposeParams{
		Run: run, Base: w.sample.head, Message: "sample: " + folder + " form\n\nOf run " + run + ".", Files: changes(folder),
	})
}

func (w *world) review(run, verdict string) (client.DocRef, error) {
	return author.Review(w.t.Context(), w.critic.c, w.critic.key, author.ReviewParams{Run: run, Verdict: verdict, Findings: []string{"Read it."}})
}

func (w *world) decide(run string) (client.DocRef, error) {
	return author.Decide(w.t.Context(), w.ann.c, w.ann.key, author.DecideParams{Run: run, Decision: proposal.DecisionAdmit, Reason: "reviewed", At: w.clock.now()})
}

func (w *world) answer(run, request string, approve bool) (client.DocRef, error) {
	return author.Answer(w.t.Context(), w.ann.c, w.ann.key, author.AnswerParams{Run: run, Request: request, Approve: approve, At: w.clock.now()})
}

// admit brings a proposal as far as people have to: it is reviewed and decided.
func (w *world) admit(folder string) (run string) {
	w.t.Helper()
	run = w.ask()
	if _, err := w.propose(run, folder); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.review(run, proposal.VerdictAccept); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.decide(run); err != nil {
		w.t.Fatal(err)
	}
	return run
}

// told is the part of an event that tests look at.
type told struct {
	client.Event
	Kind         string `json:"kind"`
	Ref          string `json:"ref"`
	SHA256       string `json:"sha256"`
	RequestID    string `json:"request_id"`
	Step         string `json:"step"`
	Note         string `json:"note"`
	Code         string `json:"code"`
	Message      string `json:"message"`
	Reason       string `json:"reason"`
	Cause        string `json:"cause"`
	LandedCommit string `json:"landedCommit"`
	Outcome      string `json:"outcome"`
}

// watch reads the run's events until see says that it has seen enough.
func (w *world) watch(run string, see func(told) bool) told {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for e, err := range w.ann.c.Subscribe(ctx, 0, client.Filter{Run: run}) {
		v := told{Event: e}
		if err == nil {
			err = json.Unmarshal(e.Raw, &v)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if v.Event = e; see(v) {
			return v
		}
	}
	w.t.Fatalf("run %s: nothing more came within %s", run, patience)
	return told{}
}

func isEnd(kind string) bool {
	switch kind {
	case "run.completed", "run.failed", "run.cancelled", "run.expired", "run.declined":
		return true
	}
	return false
}

// follow answers every question until the run has ended.
func (w *world) follow(run string) told {
	w.t.Helper()
	return w.watch(run, func(e told) bool {
		if e.Type == "run.approval_requested" {
			if _, err := w.answer(run, e.Ref, true); err != nil {
				w.t.Fatal(err)
			}
		}
		return isEnd(e.Type)
	})
}

// until waits for the first event that fits.
func (w *world) until(run string, fits func(told) bool) told { return w.watch(run, fits) }

// bundle is the docket of a run as anybody gets it.
func (w *world) bundle(run string) *docket.Bundle {
	w.t.Helper()
	body, err := w.ann.c.Docket(w.t.Context(), run)
	if err != nil {
		w.t.Fatal(err)
	}
	defer body.Close()
	b, err := docket.Read(body)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// trust pins everybody in their roles.
func (w *world) trust() *docket.Trust {
	w.t.Helper()
	h, err := w.ann.c.Host(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	ann := []string{w.ann.key.Public().Node()}
	return &docket.Trust{
		Schema: docket.TrustSchema, Hosts: []string{h.NodeID}, Authors: []string{w.solver.key.Public().Node()},
		Reviewers: []string{w.critic.key.Public().Node()}, Chairs: ann, Operators: ann,
	}
}

// verified checks that the docket of a run verifies, and returns what it says.
func (w *world) verified(run string) docket.Report {
	w.t.Helper()
	r := docket.Verify(w.bundle(run), w.trust())
	if r.Answer != docket.Verified {
		w.t.Errorf("the docket of %s: %v", run, r.Err())
	}
	return r
}

// documents are the refs of a run's documents of some kinds.
func (w *world) documents(run string, kinds ...string) []client.DocRef {
	w.t.Helper()
	docs, err := w.ann.c.Documents(w.t.Context(), run, kinds...)
	if err != nil {
		w.t.Fatal(err)
	}
	return docs
}

// head is how many events the journal has.
func (w *world) head() int64 {
	w.t.Helper()
	page, err := w.ann.c.Events(w.t.Context(), 0, 1, client.Filter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Head
}

// tip is where main is.
func (w *world) tip() string {
	w.t.Helper()
	tip, err := w.sample.tip(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return tip
}

// sound checks the ledger of a node that is not running.
func (w *world) sound() {
	w.t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(w.data(), "writ.db")})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	findings, err := s.Check(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range findings {
		w.t.Errorf("the ledger: %v", f)
	}
}

// verify is nil for a docket that verifies.
func verify(b *docket.Bundle, trust *docket.Trust) error { return docket.Verify(b, trust).Err() }
