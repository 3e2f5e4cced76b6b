// Package demo is `writ demo`: it makes a sample repository, starts a server on
// it, and goes the whole way as a client would, from the ask to the landed
// commit and its verified docket.
//
// It uses nothing that a user could not use: the server is this same binary, run
// as a process of its own, and every step goes over HTTP.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"writ/client"
	"writ/internal/author"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/keyring"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// Params of a demo.
type Params struct {
	Self    string // path of this binary
	Dir     string // folder to work in; "" is a temporary one, which is kept when Keep is set
	Keep    bool
	Regress bool // propose a slower form, which has to be blocked
	Out     io.Writer
	Err     io.Writer // of the server, and of progress
	Live    bool      // Err is a terminal
	Now     func() time.Time
}

// Result is how a demo ended.
type Result struct {
	Dir       string        `json:"dir"`
	Run       string        `json:"run_id"`
	Outcome   string        `json:"outcome"` // landed, or the code of the failure
	Before    string        `json:"main_before"`
	After     string        `json:"main_after"`
	Docket    docket.Answer `json:"docket"`
	Export    string        `json:"export"`
	Trust     string        `json:"trust"`
	TookMS    int64         `json:"took_ms"`
	Documents int           `json:"documents"`
}

// Run goes the whole way. It fails when the change did not land, or, with
// Regress, when it was not blocked by the gate.
func Run(ctx context.Context, p Params) (Result, error) {
	began := p.Now()
	dir, err := folder(p)
	if err != nil {
		return Result{}, err
	}
	if p.Dir == "" && !p.Keep {
		defer os.RemoveAll(dir)
	}
	s, err := makeSample(ctx, dir, p.Now())
	if err != nil {
		return Result{}, err
	}
	srv, err := startServer(ctx, p, dir)
	if err != nil {
		return Result{}, err
	}
	w := &way{Params: p, dir: dir, sample: s, server: srv}
	r, err := w.walk(ctx)
	r.TookMS = p.Now().Sub(began).Milliseconds()
	return r, errors.Join(err, srv.stop())
}

func folder(p Params) (string, error) {
	if p.Dir == "" {
		return os.MkdirTemp("", "writ-demo-")
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return "", err
	}
	if entries, err := os.ReadDir(p.Dir); err != nil || len(entries) > 0 {
		return "", fault.New(fault.Conflict, "start demo", "%s is not empty", p.Dir).Help("pass an empty folder with --dir")
	}
	return filepath.Abs(p.Dir)
}

// way is the demo under way.
type way struct {
	Params
	dir    string
	sample sample
	server *process
	cast   cast
	run    string
	lane   string
}

// cast is who takes part: an agent that proposes, another that reviews, and a
// person who asks, decides and approves.
type cast struct {
	harness               string
	solver, reviewer, ann member
}

type member struct {
	id  string
	key ident.PrivateKey
	c   *client.Client
}

func (w *way) say(station, format string, args ...any) {
	fmt.Fprintf(w.Out, "%-9s %s\n", station, fmt.Sprintf(format, args...))
}

func (w *way) walk(ctx context.Context) (Result, error) {
	r := Result{Dir: w.dir, Before: w.sample.head}
	w.say("set up", "bare repository %s, main at %.12s", filepath.Join(w.dir, "origin.git"), w.sample.head)
	w.say("", "server %s, data in %s", w.server.address, filepath.Join(w.dir, "data"))
	for _, step := range []func(context.Context) error{w.setUp, w.ask, w.propose, w.decide, w.follow} {
		if err := step(ctx); err != nil {
			return r, err
		}
	}
	r.Run = w.run
	if err := w.prove(ctx, &r); err != nil {
		return r, err
	}
	return r, w.judge(ctx, &r)
}

// setUp makes keys, participants, tokens and the repository's configuration.
func (w *way) setUp(ctx context.Context) error {
	admin := client.New(w.server.address, w.server.first.Token)
	ring := keyring.At(filepath.Join(w.dir, "keys"))
	h, err := admin.CreateParticipant(ctx, client.Participant{Kind: "harness", Name: "coder"})
	if err != nil {
		return err
	}
	w.cast.harness = h.ID
	work := []string{"events:read", "events:write", "runs:work", "chain:write"}
	for _, m := range []struct {
		into   *member
		kind   keyring.Kind
		p      client.Participant
		scopes []string
	}{
		{&w.cast.solver, keyring.Agent, client.Participant{Kind: "agent", Name: "solver", HarnessID: h.ID, Roles: []string{proposal.RoleImplementer}}, work},
		{&w.cast.reviewer, keyring.Agent, client.Participant{Kind: "agent", Name: "reviewer", Roles: []string{proposal.RoleReviewer}}, work},
		{&w.cast.ann, keyring.Person, client.Participant{Kind: "person", Name: "ann", Roles: []string{"chair", "operator"}}, []string{"events:read", "events:write", "lanes:route", "chain:write", "approve", "docket:read"}},
	} {
		if _, err := ring.New(m.p.Name, m.kind); err != nil {
			return err
		}
		entry, key, err := ring.Load(m.p.Name)
		if err != nil {
			return err
		}
		m.p.NodeID = entry.NodeID
		made, err := admin.CreateParticipant(ctx, m.p)
		if err != nil {
			return err
		}
		token, err := admin.CreateToken(ctx, made.ID, m.scopes, 0)
		if err != nil {
			return err
		}
		*m.into = member{made.ID, key, client.New(w.server.address, token.Text)}
		w.say("", "%-8s %s %s", m.p.Name, m.p.Kind, entry.NodeID)
	}
	config := fmt.Sprintf(`{"remote":%q,"base":"main","rounds":12,"sample_ms":30}`, w.sample.repo.Dir)
	_, err = admin.PutRepository(ctx, "demo", "sample", []byte(config))
	return err
}

func (w *way) goal() string {
	if w.Regress {
		return "Make Distinct simpler."
	}
	return "Make Distinct faster."
}

// ask is ann asking, and the solver's harness taking the run.
func (w *way) ask(ctx context.Context) error {
	e, _, err := w.cast.ann.c.Append(ctx, client.NewKey(), "run.requested", map[string]any{
		"goal": w.goal(), "specialist_id": w.cast.solver.id, "autonomy": 1,
	})
	if err != nil {
		return err
	}
	w.run, w.lane = e.RunID, e.LaneID
	w.say("ask", "ann: %s  (%s in %s)", w.goal(), w.run, w.lane)
	_, _, err = w.cast.solver.c.Append(ctx, client.NewKey(), "run.accepted", map[string]any{"run_id": w.run, "attempt": 1})
	return err
}

// propose is the solver proposing a form and the reviewer accepting it.
func (w *way) propose(ctx context.Context) error {
	form, words := "fast", "sample: remember what was seen in a map\n\nOne pass instead of one per number."
	if w.Regress {
		form, words = "slower", "sample: keep a number where it comes first\n\nShorter to explain."
	}
	p := author.ProposeParams{Run: w.run, Base: w.sample.head, Message: words}
	for name, body := range files(form) {
		p.Files = append(p.Files, taskpack.File{Root: taskpack.RootModule, Path: name, Op: taskpack.OpWrite, Content: body})
	}
	d, err := author.Propose(ctx, w.cast.solver.c, w.cast.solver.key, p)
	if err != nil {
		return err
	}
	w.say("propose", "solver: %s  (%s)", strings.SplitN(words, "\n", 2)[0], d.Ref)
	d, err = author.Review(ctx, w.cast.reviewer.c, w.cast.reviewer.key, author.ReviewParams{
		Run: w.run, Proposal: d.Ref, Verdict: proposal.VerdictAccept, Findings: []string{"Same results in the same order; let it be measured."},
	})
	if err != nil {
		return err
	}
	w.say("review", "reviewer: accept  (%s)", d.Ref)
	return nil
}

// decide is ann admitting the reviewed candidate.
func (w *way) decide(ctx context.Context) error {
	d, err := author.Decide(ctx, w.cast.ann.c, w.cast.ann.key, author.DecideParams{Run: w.run, Decision: proposal.DecisionAdmit, Reason: "reviewed", At: w.Now()})
	if err != nil {
		return err
	}
	w.say("decide", "ann: admit  (%s)", d.Ref)
	return nil
}

// judge compares how it ended with how it should have.
func (w *way) judge(ctx context.Context, r *Result) error {
	var err error
	if r.After, err = w.sample.tip(ctx); err != nil {
		return err
	}
	moved := r.After != r.Before
	switch {
	case !w.Regress && r.Outcome == "landed" && moved:
		w.say("done", "main moved from %.12s to %.12s", r.Before, r.After)
	case w.Regress && r.Outcome == "gate_blocked" && !moved:
		w.say("done", "blocked by the gate; main is still at %.12s", r.After)
	default:
		return fault.New(fault.Blocked, "demo", "the run ended %s, main is at %.12s", r.Outcome, r.After).
			Help("if the gate held because it could not tell, the machine was too busy: run it again")
	}
	if w.Keep || w.Dir != "" {
		w.say("look", "writ docket show %s", r.Export)
		w.say("", "writ docket verify %s --trust %s", r.Export, r.Trust)
		w.say("", "git --git-dir %s log --graph main", filepath.Join(w.dir, "origin.git"))
	} else {
		w.say("look", "run again with --dir FOLDER to keep repository, server data and docket")
	}
	fmt.Fprintf(w.Out, "docket %s\n", r.Docket)
	if r.Docket != docket.Verified {
		return fault.New(fault.Unverified, "demo", "the docket is %s", r.Docket)
	}
	return nil
}
