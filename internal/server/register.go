package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"writ/internal/ledger"
)

// register adds the operations that huma serves. The raw ones are described in describeRaw.
func (s *Server) register(api huma.API) {
	op := func(id, method, path, summary string, tags ...string) huma.Operation {
		o := huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: tags, MaxBodyBytes: maxDocument}
		if method == http.MethodPost {
			o.DefaultStatus = http.StatusCreated
		}
		return o
	}
	verbatim := func(o huma.Operation) huma.Operation { // the host parses the body itself, strictly and once
		o.SkipValidateBody = true
		return o
	}
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete

	health := op("health", get, "/healthz", "whether the server answers", "server")
	health.Security = []map[string][]string{}
	huma.Register(api, health, s.health)
	huma.Register(api, op("me", get, "/v1/me", "who the server takes you for", "server"), s.me)
	huma.Register(api, op("host", get, "/v1/host", "the host's node and the shipped profile", "server"), s.host)

	huma.Register(api, op("create-participant", post, "/v1/participants", "add a person, harness or agent", "workspace"), s.createParticipant)
	huma.Register(api, op("list-participants", get, "/v1/participants", "list participants", "workspace"), s.listParticipants)
	huma.Register(api, op("create-token", post, "/v1/tokens", "make a token; its text is shown once", "workspace"), s.createToken)
	huma.Register(api, op("revoke-token", del, "/v1/tokens/{id}", "revoke a token at once", "workspace"), s.revokeToken)
	huma.Register(api, verbatim(op("put-repository", put, "/v1/repositories/{owner}/{name}", "configure a repository to land on", "workspace")), s.putRepository)
	huma.Register(api, op("list-repositories", get, "/v1/repositories", "list configured repositories", "workspace"), s.listRepositories)

	huma.Register(api, op("list-events", get, "/v1/events", "read the journal", "ask"), s.listEvents)
	huma.Register(api, op("get-event", get, "/v1/events/{id}", "read one event", "ask"), s.getEvent)
	huma.Register(api, op("list-runs", get, "/v1/runs", "list runs", "ask"), s.listRuns)
	huma.Register(api, op("get-run", get, "/v1/runs/{run}", "show a run, what it waits for and its documents", "ask"), s.getRun)
	renew := op("renew-run", post, "/v1/runs/{run}/renew", "a sign of life of whoever works on the run", "ask")
	renew.DefaultStatus = http.StatusOK
	huma.Register(api, renew, s.renewRun)
	huma.Register(api, op("list-lanes", get, "/v1/lanes", "list lanes", "ask"), s.listLanes)
	huma.Register(api, op("get-lane", get, "/v1/lanes/{lane}", "show a lane", "ask"), s.getLane)

	huma.Register(api, op("create-turn", post, "/v1/runs/{run}/turns", "build the turn document of a message", "propose"), s.createTurn)
	huma.Register(api, op("create-manifest", post, "/v1/runs/{run}/manifests", "fix the evidence for a review", "propose"), s.createManifest)
	huma.Register(api, verbatim(op("propose", post, "/v1/runs/{run}/proposals", "submit a signed proposal", "propose")), s.accept(ledger.KindProposal, ScopeChain))
	huma.Register(api, verbatim(op("review", post, "/v1/runs/{run}/reviews", "submit a signed review", "propose")), s.accept(ledger.KindReview, ScopeChain))
	huma.Register(api, verbatim(op("decide", post, "/v1/runs/{run}/decisions", "submit a signed decision", "propose")), s.accept(ledger.KindDecision, ScopeApprove))
	huma.Register(api, verbatim(op("answer", post, "/v1/runs/{run}/answers", "submit a signed human answer", "propose")), s.accept(ledger.KindAnswer, ScopeApprove))
	huma.Register(api, op("inbox", get, "/v1/inbox", "questions that wait for a human", "propose"), s.listInbox)
	huma.Register(api, op("list-documents", get, "/v1/runs/{run}/documents", "list the documents of a run", "prove"), s.listDocuments)

	huma.Register(api, op("landing", get, "/v1/landing", "the rooted state of one branch", "land"), s.landing)
	cancel := op("cancel-landing", post, "/v1/landing/cancel", "settle a candidate as cancelled", "land")
	cancel.DefaultStatus = http.StatusOK
	huma.Register(api, cancel, s.cancelLanding)
}

// describeRaw adds to the description what is served without huma: streams,
// raw bytes and the hot path.
func describeRaw(doc *huma.OpenAPI) {
	text := func(what, media string) *huma.Response {
		return &huma.Response{Description: what, Content: map[string]*huma.MediaType{media: {Schema: &huma.Schema{}}}}
	}
	query := func(name, what string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: what, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	path := func(name string) *huma.Param {
		return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	body := func(media string) *huma.RequestBody {
		return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{media: {Schema: &huma.Schema{}}}}
	}
	const jsonType, bytesType, problem = "application/json", "application/octet-stream", "application/problem+json"
	for _, o := range []*huma.Operation{
		{
			OperationID: "append-event", Method: http.MethodPost, Path: "/v1/events", Tags: []string{"ask"},
			Summary: "append an event; answered when it is durable", RequestBody: body(jsonType),
			Parameters: []*huma.Param{{Name: "Idempotency-Key", In: "header", Description: "same as the member idempotency_key", Schema: &huma.Schema{Type: huma.TypeString}}},
			Responses:  map[string]*huma.Response{"201": text("the event, wire form", jsonType), "200": text("the first event of a key that was used before", jsonType), "204": {Description: "appended; return=minimal was preferred"}, "default": text("a problem", problem)},
		},
		{
			OperationID: "stream-events", Method: http.MethodGet, Path: "/v1/stream", Tags: []string{"ask"},
			Summary:    "follow the journal as server-sent events",
			Parameters: []*huma.Param{query("after", "sequence number to continue after"), query("type", "only these types; may be repeated"), query("run", "only this run"), query("lane", "only this lane"), query("space", "only this space")},
			Responses:  map[string]*huma.Response{"200": text("id is the sequence number, event the type, data the wire form", "text/event-stream"), "default": text("a problem", problem)},
		},
		{
			OperationID: "put-blob", Method: http.MethodPost, Path: "/v1/blobs", Tags: []string{"propose"},
			Summary: "keep bytes under their digest", RequestBody: body(bytesType),
			Responses: map[string]*huma.Response{"201": text("digest and size", jsonType), "default": text("a problem", problem)},
		},
		{
			OperationID: "get-blob", Method: http.MethodGet, Path: "/v1/blobs/{sha256}", Tags: []string{"prove"},
			Summary: "read kept bytes", Parameters: []*huma.Param{path("sha256")},
			Responses: map[string]*huma.Response{"200": text("the bytes", bytesType), "default": text("a problem", problem)},
		},
		{
			OperationID: "get-document", Method: http.MethodGet, Path: "/v1/documents/{ref}", Tags: []string{"prove"},
			Summary: "read a document by ref or digest, as accepted", Parameters: []*huma.Param{path("ref")},
			Responses: map[string]*huma.Response{"200": text("the document", jsonType), "default": text("a problem", problem)},
		},
		{
			OperationID: "export-docket", Method: http.MethodGet, Path: "/v1/runs/{run}/docket", Tags: []string{"prove"},
			Summary: "the docket of a run, as one file that verifies offline", Parameters: []*huma.Param{path("run")},
			Responses: map[string]*huma.Response{"200": text("writ.docket/v1", jsonType), "default": text("a problem", problem)},
		},
	} {
		doc.AddOperation(o)
	}
}

// Health is the answer of /healthz.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

func (s *Server) health(context.Context, *struct{}) (*answer[Health], error) {
	return &answer[Health]{Health{"ok", s.Version}}, nil
}

// HostInfo names the host that compiles, runs and lands.
type HostInfo struct {
	NodeID     string `json:"node_id"`
	Version    string `json:"version"`
	ProfileRef string `json:"profile_ref"`
	ProfileDig string `json:"profile_digest"`
	BindingRef string `json:"binding_ref"`
}

func (s *Server) host(ctx context.Context, _ *struct{}) (*answer[HostInfo], error) {
	p, err := who(ctx, "")
	if err != nil {
		return nil, newProblem(err)
	}
	profile, digest, binding := s.Host.Target(ctx, p.Workspace)
	return &answer[HostInfo]{HostInfo{s.Host.Node(), s.Version, profile, digest, binding}}, nil
}
