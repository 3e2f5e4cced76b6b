package server

import (
	"net/http"

	"writ/internal/fault"
)

// open are the paths that need no token.
var open = map[string]bool{"/healthz": true, "/readyz": true, "/openapi.json": true}

// guard is what every request passes: it gets an id, must not come from a page
// of another origin, and must have a valid token unless the path is open. What
// goes wrong behind it, panics too, ends as a problem document.
func (s *Server) guard(next http.Handler) http.Handler {
	csrf := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := s.begin(w, r)
		defer x.end()
		defer x.rescue()
		if err := csrf.Check(r); err != nil {
			x.fail(fault.Wrap(err, fault.Forbidden, "authorise", "the request comes from a page of another origin"))
			return
		}
		if !open[r.URL.Path] {
			t, err := s.tokens.authenticate(r.Context(), s.Store, s.Now(), r.Header.Get("Authorization"))
			if err != nil {
				x.fail(err)
				return
			}
			x.by, x.token = t.principal, t
		}
		next.ServeHTTP(x, r)
	})
}
