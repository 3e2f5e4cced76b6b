package server

import (
	"context"

	"writ/internal/host"
	"writ/internal/ledger"
)

type chainInput struct {
	Run     string `path:"run"`
	RawBody []byte `contentType:"application/json"`
}

type acceptedOutput struct {
	Status   int
	Replayed string `header:"Writ-Replayed"`
	Body     host.Accepted
}

func accepted(a host.Accepted) *acceptedOutput {
	if a.Replayed {
		return &acceptedOutput{Status: 200, Replayed: "true", Body: a}
	}
	return &acceptedOutput{Status: 201, Body: a}
}

// accept returns the handler for one kind of signed document.
func (s *Server) accept(kind, scope string) func(context.Context, *chainInput) (*acceptedOutput, error) {
	return func(ctx context.Context, in *chainInput) (*acceptedOutput, error) {
		p, err := who(ctx, scope)
		if err != nil {
			return nil, newProblem(err)
		}
		a, err := s.Host.Accept(ctx, host.Submission{Workspace: p.Workspace, RunID: in.Run, Kind: kind, By: p, Raw: in.RawBody})
		if err != nil {
			return nil, newProblem(err)
		}
		return accepted(a), nil
	}
}

func (s *Server) createTurn(ctx context.Context, in *struct {
	Run  string `path:"run"`
	Body struct {
		EventID string `json:"event_id" doc:"a message.posted event of this run's lane"`
	}
}) (*acceptedOutput, error) {
	p, err := who(ctx, ScopeChain)
	if err != nil {
		return nil, newProblem(err)
	}
	a, err := s.Host.Turn(ctx, p.Workspace, in.Run, in.Body.EventID)
	if err != nil {
		return nil, newProblem(err)
	}
	return accepted(a), nil
}

func (s *Server) createManifest(ctx context.Context, in *struct {
	Run  string `path:"run"`
	Body struct {
		Proposal string `json:"proposal_ref"`
	}
}) (*acceptedOutput, error) {
	p, err := who(ctx, ScopeChain)
	if err != nil {
		return nil, newProblem(err)
	}
	a, err := s.Host.Manifest(ctx, p.Workspace, in.Run, in.Body.Proposal)
	if err != nil {
		return nil, newProblem(err)
	}
	return accepted(a), nil
}

// DocRef names a stored document.
type DocRef struct {
	Kind     string `json:"kind"`
	Ref      string `json:"ref"`
	SHA256   string `json:"sha256"`
	Event    string `json:"event_id,omitempty" doc:"the journal event that it came from"`
	StoredAt string `json:"stored_at"`
}

type docList struct {
	Documents []DocRef `json:"documents"`
}

func (s *Server) listDocuments(ctx context.Context, in *struct {
	Run   string   `path:"run"`
	Kinds []string `query:"kind"`
}) (*answer[docList], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	docs, err := s.Store.Documents(ctx, p.Workspace, ledger.DocumentFilter{RunID: in.Run, Kinds: in.Kinds})
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[docList]{docList{docRefs(docs)}}, nil
}

func docRefs(docs []ledger.Document) []DocRef {
	out := make([]DocRef, len(docs))
	for i, d := range docs {
		out[i] = DocRef{d.Kind, d.Ref, d.SHA256.Hex(), d.Event, d.StoredAt.UTC().Format(stamp)}
	}
	return out
}

const stamp = "2006-01-02T15:04:05.000Z"

// Request is a question that waits for a human.
type Request struct {
	Ref      string  `json:"request_ref"`
	RunID    string  `json:"run_id"`
	Document rawJSON `json:"document" doc:"the request, operator-task-hil-request.v1"`
}

type inbox struct {
	Requests []Request `json:"requests"`
}

// listInbox shows the requests that have no answer and whose run still waits.
func (s *Server) listInbox(ctx context.Context, _ *struct{}) (*answer[inbox], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	tasks, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellTask, State: "waiting"})
	if err != nil {
		return nil, newProblem(err)
	}
	out := inbox{Requests: []Request{}}
	for _, t := range tasks {
		open, err := s.openRequests(ctx, p.Workspace, t.Key)
		if err != nil {
			return nil, newProblem(err)
		}
		out.Requests = append(out.Requests, open...)
	}
	return &answer[inbox]{out}, nil
}

func (s *Server) openRequests(ctx context.Context, workspace, run string) ([]Request, error) {
	docs, err := s.Store.Documents(ctx, workspace, ledger.DocumentFilter{RunID: run, Kinds: []string{ledger.KindRequest, ledger.KindAnswer}})
	if err != nil {
		return nil, err
	}
	answered := map[string]bool{}
	for _, d := range docs {
		if d.Kind == ledger.KindAnswer {
			answered[member(d.Body, "request/ref")] = true
		}
	}
	var out []Request
	for _, d := range docs {
		if d.Kind == ledger.KindRequest && !answered[d.Ref] {
			out = append(out, Request{d.Ref, d.RunID, rawJSON(d.Body)})
		}
	}
	return out, nil
}
