package author

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/ident"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

const (
	runID, laneID = "run_1", "lane_1"
	workspaceID   = "ws_1"
	baseCommit    = "0123456789abcdef0123456789abcdef01234567"
)

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// world is a server in memory that does what the real one does for authors, and
// lies where a test wants it to.
type world struct {
	t        *testing.T
	mu       sync.Mutex
	clock    time.Time
	blobs    map[string][]byte
	docs     map[string]proposal.Document
	question taskpack.Question
	list     []client.DocRef
	events   map[string]client.Event // by principal and key
	texts    map[string]string       // by event id
	speakers map[string]string       // by event id
	roles    map[string]string       // by participant
	posted   int                     // messages
	handedIn int                     // signed documents

	noTarget bool
	document func(ref string, raw []byte) []byte // what is sent instead of a document
	blob     func(raw []byte) []byte             // what is sent instead of a blob
	turnText func(text string) string            // what a turn says instead
	shown    *canon.Value                        // what the evidence shows instead
}

type person struct {
	id  string
	key ident.PrivateKey
	c   *client.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, clock: began, blobs: map[string][]byte{}, docs: map[string]proposal.Document{},
		events: map[string]client.Event{}, texts: map[string]string{}, speakers: map[string]string{},
		roles: map[string]string{"agt_solver": proposal.RoleImplementer, "agt_critic": proposal.RoleReviewer},
	}
	return w
}

// as starts a server that takes every caller for one participant.
func (w *world) as(id string, seed byte) person {
	srv := httptest.NewServer(w.handler(id))
	c := client.New(srv.URL, "", client.WithTries(1))
	w.t.Cleanup(func() { c.Close(); srv.Close() })
	return person{id, ident.FromSeed([32]byte{seed}), c}
}

func (w *world) handler(who string) http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern string, do func(r *http.Request) any) {
		mux.HandleFunc(pattern, func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			defer w.mu.Unlock()
			switch v := do(r).(type) {
			case []byte:
				_, _ = rw.Write(v)
			case error:
				rw.WriteHeader(http.StatusNotFound)
				_, _ = fmt.Fprintf(rw, `{"status":404,"code":"not_found","detail":%q}`, v.Error())
			default:
				_ = json.NewEncoder(rw).Encode(v)
			}
		})
	}
	body := func(r *http.Request) []byte { b, _ := io.ReadAll(r.Body); return b }
	answer("GET /v1/me", func(*http.Request) any { return client.Me{Kind: "person", ID: who, WorkspaceID: workspaceID} })
	answer("GET /v1/host", func(*http.Request) any {
		if w.noTarget {
			return client.Host{NodeID: "node:did:key:x"}
		}
		p := taskpack.GoChangeProfile()
		return client.Host{ProfileRef: p.Ref, ProfileDigest: p.Digest(), BindingRef: taskpack.BindingRef(workspaceID)}
	})
	answer("GET /v1/runs/{run}", func(*http.Request) any {
		return client.Run{RunID: runID, LaneID: laneID, Ended: json.RawMessage("null")}
	})
	answer("GET /v1/runs/{run}/documents", func(r *http.Request) any {
		out := []client.DocRef{}
		for _, d := range w.list {
			if d.Kind == r.URL.Query().Get("kind") {
				out = append(out, d)
			}
		}
		return map[string]any{"documents": out}
	})
	answer("POST /v1/blobs", func(r *http.Request) any {
		raw := body(r)
		sum := canon.Sum(raw)
		w.blobs[sum.Hex()] = raw
		return client.Blob{SHA256: sum.Hex(), ObjectRef: canon.ObjectRef(sum)}
	})
	answer("GET /v1/blobs/{sha256}", func(r *http.Request) any {
		raw, ok := w.blobs[r.PathValue("sha256")]
		if !ok {
			return fmt.Errorf("no blob")
		}
		if w.blob != nil {
			raw = w.blob(raw)
		}
		return raw
	})
	answer("GET /v1/documents/{ref...}", func(r *http.Request) any {
		ref := r.PathValue("ref")
		raw := w.docs[ref].Raw
		if ref == w.question.Ref {
			raw = w.question.Bytes
		}
		if w.document != nil {
			raw = w.document(ref, raw)
		}
		if raw == nil {
			return fmt.Errorf("no document %s", ref)
		}
		return raw
	})
	answer("POST /v1/events", func(r *http.Request) any { return w.post(who, body(r)) })
	answer("POST /v1/runs/{run}/turns", func(r *http.Request) any { return w.turn(body(r)) })
	answer("POST /v1/runs/{run}/manifests", func(r *http.Request) any { return w.manifest(body(r)) })
	for path, kind := range map[string]proposal.Kind{
		"proposals": proposal.KindProposal, "reviews": proposal.KindReview, "decisions": proposal.KindDecision, "answers": proposal.KindAnswer,
	} {
		answer("POST /v1/runs/{run}/"+path, func(r *http.Request) any {
			d, err := proposal.Open(kind, body(r))
			if err != nil {
				return err
			}
			w.handedIn++
			return w.keep(d)
		})
	}
	return mux
}

func (w *world) keep(d proposal.Document) client.DocRef {
	ref := client.DocRef{Kind: string(d.Kind), Ref: d.Ref, SHA256: canon.Sum(d.Raw).Hex()}
	if _, ok := w.docs[d.Ref]; ok {
		ref.Replayed = true
		return ref
	}
	w.docs[d.Ref] = d
	w.list = append(w.list, ref)
	return ref
}

func (w *world) post(who string, raw []byte) any {
	v, err := canon.Parse(raw)
	if err != nil {
		return err
	}
	key := who + " " + v.Str("idempotency_key")
	if e, ok := w.events[key]; ok {
		return e
	}
	w.posted++
	w.clock = w.clock.Add(time.Second)
	e := client.Event{Seq: int64(w.posted), ID: fmt.Sprintf("evt_%d", w.posted), Type: v.Str("type"), TS: proposal.Instant(w.clock), LaneID: v.Str("lane_id")}
	w.events[key], w.texts[e.ID], w.speakers[e.ID] = e, v.Str("body"), who
	return e
}

func (w *world) turn(raw []byte) any {
	v, err := canon.Parse(raw)
	if err != nil {
		return err
	}
	id := v.Str("event_id")
	at := began
	for _, e := range w.events {
		if e.ID == id {
			at, _ = proposal.ParseInstant(e.TS)
		}
	}
	who := w.speakers[id]
	a, err := proposal.Assign(proposal.AssignParams{
		RunID: runID, LaneID: laneID, Participant: proposal.Participant(who), Role: w.roles[who],
		By: proposal.Subject{Kind: "node", ID: "node:did:key:host"}, At: began, Until: began.Add(72 * time.Hour),
	})
	if err != nil {
		return err
	}
	w.keep(a.Document)
	text := w.texts[id]
	if w.turnText != nil {
		text = w.turnText(text)
	}
	t, err := proposal.TurnFrom(proposal.Message{
		EventID: id, RunID: runID, LaneID: laneID, Assignment: a, No: 1, Content: text, Class: proposal.Community, At: at, Until: at.Add(48 * time.Hour),
	})
	if err != nil {
		return err
	}
	return w.keep(t.Document)
}

func (w *world) manifest(raw []byte) any {
	v, err := canon.Parse(raw)
	if err != nil {
		return err
	}
	p, err := proposal.AsProposal(w.docs[v.Str("proposal_ref")])
	if err != nil {
		return err
	}
	shown := p.Value
	if w.shown != nil {
		shown = *w.shown
	}
	content := canon.MustFrom(map[string]canon.Value{"proposal": shown}).Canonical()
	w.blobs[canon.Sum(content).Hex()] = content
	m, err := proposal.NewManifest(proposal.ManifestParams{
		Query: p.Query, Room: p.Room, Reader: proposal.Participant("agt_critic"), Flow: "writ.change:review", Content: content, Target: &p, Class: p.Class,
		Items: []proposal.Item{{Kind: "proposal", Ref: p.Ref, Digest: p.Digest(), Required: true, Included: true}},
	})
	if err != nil {
		return err
	}
	return w.keep(m.Document)
}

// ask compiles a change and puts the question about its check.
func (w *world) ask() taskpack.Question {
	w.t.Helper()
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	profile := taskpack.GoChangeProfile()
	binding, err := taskpack.BindProfile(profile, taskpack.BindParams{Workspace: workspaceID, Root: "repository:acme/sample"})
	must(err)
	patch, candidate, err := change().build()
	must(err)
	tables := taskpack.ShippedTables(taskpack.Containment{
		Exclusive: true, Pinned: true, Network: taskpack.NetworkNone, Destroyable: true, Confirms: true, EnvironmentOf: taskpack.EnvironmentWorktree,
	})
	tables.Patches[patch.Ref] = patch
	plan, err := taskpack.Compile(taskpack.CompileParams{Candidate: candidate, Profile: profile, Binding: binding, Generation: 1, Tables: tables})
	must(err)
	w.question, err = taskpack.Ask(taskpack.AskParams{
		Plan: plan, Run: taskpack.RunRef(plan.Ref, "key"), Binding: binding, Profile: profile, Step: taskpack.Check, At: began, Expires: began.Add(time.Hour),
	})
	must(err)
	return w.question
}

// change is the change that the tests propose.
func change() ProposeParams {
	return ProposeParams{
		Run: runID, Base: baseCommit, Message: "sum: add pairs\n\nHalf as many steps.", Life: time.Hour,
		Files: []taskpack.File{{Path: "sum.go", Op: taskpack.OpWrite, Content: []byte("package sum\n")}},
	}
}
