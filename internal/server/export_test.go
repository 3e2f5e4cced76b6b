package server

// Patterns are those of the mux, but for the one that takes everything else.
func (s *Server) Patterns() []string { return s.routes.patterns }
