package server

import (
	"context"
	"net/http"
	"strconv"

	"writ/internal/host"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// ofRun is the parameter of what happens within a run.
type ofRun struct {
	Run string `path:"run"`
}

type acceptedOutput struct {
	Status   int
	Replayed string `header:"Writ-Replayed" doc:"true when the document was accepted before"`
	Body     host.Accepted
}

func accepted(a host.Accepted, err error) (*acceptedOutput, error) {
	switch {
	case err != nil:
		return nil, err
	case a.Replayed:
		return &acceptedOutput{Status: http.StatusOK, Replayed: "true", Body: a}, nil
	}
	return &acceptedOutput{Status: http.StatusCreated, Body: a}, nil
}

// accept returns the handler for one kind of signed document.
func (s *Server) accept(kind string) func(context.Context, journal.Principal, *ofRun, []byte) (*acceptedOutput, error) {
	return func(ctx context.Context, p journal.Principal, in *ofRun, raw []byte) (*acceptedOutput, error) {
		return accepted(s.Host.Accept(ctx, host.Submission{Workspace: p.Workspace, RunID: in.Run, Kind: kind, By: p, Raw: raw}))
	}
}

// NewTurn asks for the turn document of a message.
type NewTurn struct {
	EventID string `json:"event_id" doc:"a message.posted event of this run's lane"`
}

func (s *Server) createTurn(ctx context.Context, p journal.Principal, in *ofRun, t NewTurn) (*acceptedOutput, error) {
	return accepted(s.Host.Turn(ctx, p.Workspace, in.Run, t.EventID))
}

// NewManifest asks for the evidence of a review.
type NewManifest struct {
	Proposal string `json:"proposal_ref" doc:"a proposal of this run"`
}

func (s *Server) createManifest(ctx context.Context, p journal.Principal, in *ofRun, m NewManifest) (*acceptedOutput, error) {
	return accepted(s.Host.Manifest(ctx, p.Workspace, in.Run, m.Proposal, p.ID))
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
	Documents []DocRef `json:"documents" nullable:"false"`
}

func (s *Server) listDocuments(ctx context.Context, p journal.Principal, in *struct {
	Run   string   `path:"run"`
	Kinds []string `query:"kind,explode" doc:"only these kinds; may be repeated"`
}) (*answer[docList], error) {
	if _, err := s.run(ctx, p.Workspace, in.Run); err != nil {
		return nil, err
	}
	docs, err := s.Store.Documents(ctx, p.Workspace, ledger.DocumentFilter{RunID: in.Run, Kinds: in.Kinds})
	return &answer[docList]{docList{docRefs(docs)}}, err
}

func docRefs(docs []ledger.Document) []DocRef {
	out := make([]DocRef, len(docs))
	for i, d := range docs {
		out[i] = DocRef{d.Kind, d.Ref, d.SHA256.Hex(), d.Event, d.StoredAt.UTC().Format(stamp)}
	}
	return out
}

const stamp = "2006-01-02T15:04:05.000Z"

// getDocument serves the accepted bytes of one document.
func (s *Server) getDocument(x *exchange, r *http.Request) error {
	doc, err := s.Store.Document(r.Context(), x.by.Workspace, r.PathValue("ref"))
	if err != nil {
		return err
	}
	h := x.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(doc.Body)))
	h.Set("Writ-Kind", doc.Kind)
	h.Set("ETag", `"`+doc.SHA256.Hex()+`"`)
	_, _ = x.Write(doc.Body) // a short answer shows in Content-Length
	return nil
}

// getDocket writes the bundle of a run.
func (s *Server) getDocket(x *exchange, r *http.Request) error {
	x.Header().Set("Content-Type", "application/json")
	err := s.Host.Docket(r.Context(), x.by.Workspace, r.PathValue("run"), x)
	if err == nil || !x.begun {
		return err
	}
	x.report(newProblem(err), err)
	panic(http.ErrAbortHandler) // cut the connection: half a docket must not look whole
}

// Request is a question that waits for a human.
type Request struct {
	Ref      string  `json:"request_ref"`
	RunID    string  `json:"run_id"`
	Document rawJSON `json:"document" doc:"the request, operator-task-hil-request.v1"`
}

type inbox struct {
	Requests []Request `json:"requests" nullable:"false"`
}

// listInbox shows the requests that have no answer and whose run still waits.
func (s *Server) listInbox(ctx context.Context, p journal.Principal, _ *struct{}) (*answer[inbox], error) {
	tasks, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellTask, State: "waiting"})
	if err != nil {
		return nil, err
	}
	out := inbox{Requests: []Request{}}
	for _, t := range tasks {
		unanswered, err := s.unanswered(ctx, p.Workspace, t.Key)
		if err != nil {
			return nil, err
		}
		out.Requests = append(out.Requests, unanswered...)
	}
	return &answer[inbox]{out}, nil
}

func (s *Server) unanswered(ctx context.Context, workspace, run string) ([]Request, error) {
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
