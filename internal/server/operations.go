package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// register is the table of operations: what there is, which scope it needs, what
// it is called and what does it.
func (s *Server) register(t *routes) {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	const ok, made, none = http.StatusOK, http.StatusCreated, http.StatusNoContent

	typed(t, operation{id: "health", method: get, path: "/healthz", open: true, tag: "server", summary: "whether the process answers"}, ok, s.health)
	typed(t, operation{id: "ready", method: get, path: "/readyz", open: true, tag: "server", summary: "whether requests should be sent here"}, ok, s.ready)
	s.describeItself(t)
	typed(t, operation{id: "me", method: get, path: "/v1/me", tag: "server", summary: "who the server takes you for"}, ok, s.me)
	typed(t, operation{id: "host", method: get, path: "/v1/host", tag: "server", summary: "the host's node and the shipped profile"}, ok, s.host)

	posted(t, operation{id: "create-participant", method: post, path: "/v1/participants", scope: ScopeAdmin, tag: "workspace", summary: "add a person, harness or agent"}, made, s.createParticipant)
	typed(t, operation{id: "list-participants", method: get, path: "/v1/participants", scope: ScopeRead, tag: "workspace", summary: "list participants"}, ok, s.listParticipants)
	posted(t, operation{id: "create-token", method: post, path: "/v1/tokens", scope: ScopeAdmin, tag: "workspace", summary: "make a token; its text is shown once"}, made, s.createToken)
	typed(t, operation{id: "revoke-token", method: del, path: "/v1/tokens/{id}", scope: ScopeAdmin, tag: "workspace", summary: "revoke a token at once"}, none, s.revokeToken)
	verbatim(t, operation{id: "put-repository", method: put, path: "/v1/repositories/{owner}/{name}", scope: ScopeAdmin, tag: "workspace", summary: "configure the repository to land on"}, ok,
		"remote and base, and if wanted rounds, sample_ms, domains and gate_policy", s.putRepository)
	typed(t, operation{id: "list-repositories", method: get, path: "/v1/repositories", scope: ScopeRead, tag: "workspace", summary: "list configured repositories"}, ok, s.listRepositories)

	s.registerEvents(t)
	typed(t, operation{id: "list-runs", method: get, path: "/v1/runs", scope: ScopeRead, tag: "ask", summary: "list runs"}, ok, s.listRuns)
	typed(t, operation{id: "get-run", method: get, path: "/v1/runs/{run}", scope: ScopeRead, tag: "ask", summary: "show a run, what it waits for and its documents"}, ok, s.getRun)
	posted(t, operation{id: "renew-run", method: post, path: "/v1/runs/{run}/renew", scope: ScopeWork, tag: "ask", summary: "a sign of life of whoever works on the run"}, ok, s.renewRun)
	typed(t, operation{id: "list-lanes", method: get, path: "/v1/lanes", scope: ScopeRead, tag: "ask", summary: "list lanes"}, ok, s.listLanes)
	typed(t, operation{id: "get-lane", method: get, path: "/v1/lanes/{lane}", scope: ScopeRead, tag: "ask", summary: "show a lane and the way that led to it"}, ok, s.getLane)

	for _, d := range []*huma.Operation{
		posted(t, operation{id: "create-turn", method: post, path: "/v1/runs/{run}/turns", scope: ScopeChain, tag: "propose", summary: "build the turn document of a message"}, made, s.createTurn),
		posted(t, operation{id: "create-manifest", method: post, path: "/v1/runs/{run}/manifests", scope: ScopeChain, tag: "propose", summary: "fix the evidence for a review"}, made, s.createManifest),
		verbatim(t, operation{id: "propose", method: post, path: "/v1/runs/{run}/proposals", scope: ScopeChain, tag: "propose", summary: "submit a signed proposal"}, made, "a signed proposal, kept as it comes", s.accept(ledger.KindProposal)),
		verbatim(t, operation{id: "review", method: post, path: "/v1/runs/{run}/reviews", scope: ScopeChain, tag: "propose", summary: "submit a signed review"}, made, "a signed review, kept as it comes", s.accept(ledger.KindReview)),
		verbatim(t, operation{id: "decide", method: post, path: "/v1/runs/{run}/decisions", scope: ScopeApprove, tag: "propose", summary: "submit a signed decision"}, made, "a signed decision, kept as it comes", s.accept(ledger.KindDecision)),
		verbatim(t, operation{id: "answer", method: post, path: "/v1/runs/{run}/answers", scope: ScopeApprove, tag: "propose", summary: "submit a signed human answer"}, made, "a signed human answer, kept as it comes", s.accept(ledger.KindAnswer)),
	} {
		first := *d.Responses["201"]
		first.Description = "accepted before"
		d.Responses["200"] = &first
	}
	typed(t, operation{id: "inbox", method: get, path: "/v1/inbox", scope: ScopeRead, tag: "propose", summary: "questions that wait for a human"}, ok, s.listInbox)
	typed(t, operation{id: "list-documents", method: get, path: "/v1/runs/{run}/documents", scope: ScopeRead, tag: "prove", summary: "list the documents of a run"}, ok, s.listDocuments)

	typed(t, operation{id: "landing", method: get, path: "/v1/landing", scope: ScopeRead, tag: "land", summary: "the rooted state of one branch"}, ok, s.landing)
	posted(t, operation{id: "cancel-landing", method: post, path: "/v1/landing/cancel", scope: ScopeLanding, tag: "land", summary: "settle a candidate as cancelled"}, ok, s.cancelLanding)
	s.registerBytes(t)
}

// registerEvents adds the journal: the hot path, pages and streams.
func (s *Server) registerEvents(t *routes) {
	event := wireEvent(nil).Schema(t.api.OpenAPI().Components.Schemas)
	header := func(name, what string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: what, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	query := func(name, kind, what string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: what, Schema: &huma.Schema{Type: kind}}
	}
	types := query("type", huma.TypeArray, "only these types; may be repeated")
	types.Schema.Items, types.Explode = &huma.Schema{Type: huma.TypeString}, new(true)
	narrow := []*huma.Param{
		query("after", huma.TypeInteger, "sequence number to go on after; 0 or absent: from the first event"), types,
		query("run", huma.TypeString, "only this run"), query("lane", huma.TypeString, "only this lane"), query("space", huma.TypeString, "only this space"),
	}
	seq := map[string]*huma.Header{
		"Writ-Seq":      {Description: "position in the journal", Schema: &huma.Schema{Type: huma.TypeInteger}},
		"Writ-Replayed": {Description: "true when the key was used before", Schema: &huma.Schema{Type: huma.TypeString}},
	}

	d := t.raw(operation{id: "append-event", method: http.MethodPost, path: "/v1/events", scope: ScopeWrite, tag: "ask", summary: "append an event; answered when it is durable"}, s.appendEvent)
	d.Description = "The type of the event may need a further scope, such as lanes:route for run.requested."
	d.Parameters = []*huma.Param{header("Idempotency-Key", "same as the member idempotency_key; one of them is needed"), header("Prefer", "return=minimal: answer 204")}
	d.RequestBody = body("application/json", &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: "an event in its write form", Required: []string{"v", "type"},
		Properties: map[string]*huma.Schema{"v": {Type: huma.TypeInteger, Enum: []any{1}}, "type": {Type: huma.TypeString}, "idempotency_key": {Type: huma.TypeString, MinLength: new(1), MaxLength: new(200)}},
	})
	d.Responses["201"] = response("the event, wire form", "application/json", event)
	d.Responses["200"] = response("the first event of a key that was used before", "application/json", event)
	d.Responses["204"] = &huma.Response{Description: "appended, or replayed; return=minimal was preferred"}
	for _, status := range []string{"200", "201", "204"} {
		d.Responses[status].Headers = seq
	}

	d = t.raw(operation{id: "list-events", method: http.MethodGet, path: "/v1/events", scope: ScopeRead, tag: "ask", summary: "read the journal"}, s.listEvents)
	limit := query("limit", huma.TypeInteger, "at most this many events; 100 when absent")
	limit.Schema.Minimum, limit.Schema.Maximum = new(1.0), new(1000.0)
	d.Parameters = append([]*huma.Param{limit}, narrow...)
	d.Responses["200"] = response("a page", "application/json", schemaOf[eventPage](t.api))

	typed(t, operation{id: "get-event", method: http.MethodGet, path: "/v1/events/{id}", scope: ScopeRead, tag: "ask", summary: "read one event"}, http.StatusOK, s.getEvent)

	d = t.raw(operation{id: "stream-events", method: http.MethodGet, path: "/v1/stream", scope: ScopeRead, tag: "ask", summary: "follow the journal as server-sent events"}, s.stream)
	d.Description = "Each frame has the sequence number as id, the type as event and the wire form as data. Frames with the event mark hold {\"head_seq\":n}: nothing that matches is missing up to n. They come at least every 15 seconds."
	d.Parameters = append([]*huma.Param{header("Last-Event-ID", "goes before after")}, narrow...)
	d.Responses["200"] = response("frames, without end", "text/event-stream", &huma.Schema{Type: huma.TypeString})
}

// registerBytes adds what is kept and served byte for byte.
func (s *Server) registerBytes(t *routes) {
	bytes := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	d := t.raw(operation{id: "put-blob", method: http.MethodPost, path: "/v1/blobs", scope: ScopeChain, tag: "propose", summary: "keep bytes under their digest"}, s.putBlob)
	d.RequestBody = body("application/octet-stream", bytes)
	d.Responses["201"] = response("digest and size", "application/json", schemaOf[blobInfo](t.api))

	d = t.raw(operation{id: "get-blob", method: http.MethodGet, path: "/v1/blobs/{sha256}", scope: ScopeRead, tag: "prove", summary: "read kept bytes"}, s.getBlob)
	d.Responses["200"] = response("the bytes", "application/octet-stream", bytes)

	d = t.raw(operation{id: "get-document", method: http.MethodGet, path: "/v1/documents/{ref...}", scope: ScopeRead, tag: "prove", summary: "read a document by ref or digest, as accepted"}, s.getDocument)
	d.Responses["200"] = response("the document", "application/json", &huma.Schema{})

	d = t.raw(operation{id: "export-docket", method: http.MethodGet, path: "/v1/runs/{run}/docket", scope: ScopeDocket, tag: "prove", summary: "the docket of a run, as one file that verifies offline"}, s.getDocket)
	d.Responses["200"] = response("writ.docket/v1", "application/json", &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true})
}

// describeItself serves the description.
func (s *Server) describeItself(t *routes) {
	d := t.raw(operation{id: "openapi", method: http.MethodGet, path: "/openapi.json", open: true, tag: "server", summary: "this description"}, func(x *exchange, _ *http.Request) error {
		x.Header().Set("Content-Type", "application/openapi+json")
		_, _ = x.Write(t.describe())
		return nil
	})
	d.Responses["200"] = response("OpenAPI 3.1", "application/openapi+json", &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true})
}

// Health is the answer of /healthz and /readyz.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

func (s *Server) health(context.Context, journal.Principal, *struct{}) (*answer[Health], error) {
	return &answer[Health]{Health{"ok", s.Version}}, nil
}

// ready fails while the server drains or its ledger cannot be read.
func (s *Server) ready(ctx context.Context, _ journal.Principal, _ *struct{}) (*answer[Health], error) {
	if s.draining.Err() != nil {
		return nil, fault.New(fault.Unavailable, "", "the server is going away")
	}
	if _, err := s.Store.Cells(ctx, System, ledger.CellFilter{Kind: ledger.CellWorkspace}); err != nil {
		return nil, err
	}
	return &answer[Health]{Health{"ok", s.Version}}, nil
}

// HostInfo names the host that compiles, runs and lands.
type HostInfo struct {
	NodeID     string `json:"node_id"`
	Version    string `json:"version"`
	ProfileRef string `json:"profile_ref" doc:"what a proposal for this host has to name; empty while the workspace has no repository"`
	ProfileDig string `json:"profile_digest"`
	BindingRef string `json:"binding_ref"`
}

func (s *Server) host(ctx context.Context, p journal.Principal, _ *struct{}) (*answer[HostInfo], error) {
	profile, digest, binding := s.Host.Target(ctx, p.Workspace)
	return &answer[HostInfo]{HostInfo{s.Host.Node(), s.Version, profile, digest, binding}}, nil
}
