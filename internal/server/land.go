package server

import (
	"context"
	"encoding/json"

	"writ/internal/host"
)

func (s *Server) putRepository(ctx context.Context, in *struct {
	Owner   string `path:"owner"`
	Name    string `path:"name"`
	RawBody []byte `contentType:"application/json"`
}) (*answer[rawJSON], error) {
	p, err := who(ctx, ScopeAdmin)
	if err != nil {
		return nil, newProblem(err)
	}
	stored, err := s.Host.PutRepository(ctx, p.Workspace, in.Owner+"/"+in.Name, in.RawBody)
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[rawJSON]{stored}, nil
}

type repositoryList struct {
	Repositories []rawJSON `json:"repositories"`
}

func (s *Server) listRepositories(ctx context.Context, _ *struct{}) (*answer[repositoryList], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	stored, err := s.Host.ListRepositories(ctx, p.Workspace)
	if err != nil {
		return nil, newProblem(err)
	}
	out := repositoryList{Repositories: make([]rawJSON, len(stored))}
	for i, b := range stored {
		out.Repositories[i] = b
	}
	return &answer[repositoryList]{out}, nil
}

// landing shows where a branch stands: who holds what, who waits and why.
func (s *Server) landing(ctx context.Context, in *struct {
	Repository string `query:"repository" required:"true" doc:"owner/name"`
	Base       string `query:"base" required:"true" doc:"branch"`
}) (*answer[rawJSON], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	return encode(s.Host.Landing(ctx, p.Workspace, in.Repository, in.Base))
}

func (s *Server) cancelLanding(ctx context.Context, in *struct{ Body host.Cancel }) (*answer[rawJSON], error) {
	p, err := who(ctx, ScopeLanding)
	if err != nil {
		return nil, newProblem(err)
	}
	return encode(s.Host.Cancel(ctx, p.Workspace, in.Body))
}

// encode passes on what the host answers.
func encode(v any, err error) (*answer[rawJSON], error) {
	if err != nil {
		return nil, newProblem(err)
	}
	body, err := json.Marshal(v)
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[rawJSON]{body}, nil
}
