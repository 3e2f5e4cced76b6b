package server

import (
	"context"

	"writ/internal/host"
	"writ/internal/journal"
)

func (s *Server) putRepository(ctx context.Context, p journal.Principal, in *struct {
	Owner string `path:"owner"`
	Name  string `path:"name"`
}, raw []byte) (*answer[rawJSON], error) {
	stored, err := s.Host.PutRepository(ctx, p.Workspace, in.Owner+"/"+in.Name, raw)
	return &answer[rawJSON]{stored}, err
}

type repositoryList struct {
	Repositories []rawJSON `json:"repositories" nullable:"false"`
}

func (s *Server) listRepositories(ctx context.Context, p journal.Principal, _ *struct{}) (*answer[repositoryList], error) {
	stored, err := s.Host.ListRepositories(ctx, p.Workspace)
	if err != nil {
		return nil, err
	}
	out := repositoryList{Repositories: make([]rawJSON, len(stored))}
	for i, b := range stored {
		out.Repositories[i] = b
	}
	return &answer[repositoryList]{out}, nil
}

// landing shows where a branch stands: who holds what, who waits and why.
func (s *Server) landing(ctx context.Context, p journal.Principal, in *struct {
	Repository string `query:"repository" required:"true" doc:"owner/name"`
	Base       string `query:"base" required:"true" doc:"branch"`
}) (*answer[rawJSON], error) {
	return encoded(s.Host.Landing(ctx, p.Workspace, in.Repository, in.Base))
}

func (s *Server) cancelLanding(ctx context.Context, p journal.Principal, _ *struct{}, in host.Cancel) (*answer[rawJSON], error) {
	return encoded(s.Host.Cancel(ctx, p.Workspace, in))
}
