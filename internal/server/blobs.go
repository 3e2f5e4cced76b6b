package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
)

type blobInfo struct {
	SHA256      string `json:"sha256"`
	Size        int64  `json:"size"`
	ObjectRef   string `json:"object_ref"`
	ArtifactRef string `json:"artifact_ref"`
}

// putBlob keeps bytes under their digest; the same bytes twice are kept once.
func (s *Server) putBlob(w http.ResponseWriter, r *http.Request) {
	if _, err := who(r.Context(), ScopeChain); err != nil {
		s.problem(w, r, err)
		return
	}
	if r.ContentLength > maxBlob {
		s.problem(w, r, tooLarge(maxBlob))
		return
	}
	d, n, err := s.Blobs.Put(r.Context(), http.MaxBytesReader(w, r.Body, maxBlob))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(blobInfo{d.Hex(), n, canon.ObjectRef(d), canon.ArtifactRef(d)})
}

// getBlob serves bytes of unknown origin: as an attachment, never as a page.
func (s *Server) getBlob(w http.ResponseWriter, r *http.Request) {
	if _, err := who(r.Context(), ScopeRead); err != nil {
		s.problem(w, r, err)
		return
	}
	d, err := canon.ParseHex(r.PathValue("sha256"))
	if err != nil {
		s.problem(w, r, fault.New(fault.NotFound, "read blob", "no blob %q", r.PathValue("sha256")))
		return
	}
	body, n, err := s.Blobs.Open(r.Context(), d)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	defer body.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(n, 10))
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("ETag", `"`+d.Hex()+`"`)
	h.Set("Cache-Control", "private, max-age=600, immutable")
	_, _ = io.Copy(w, body) // a short read shows in Content-Length
}

// getDocument serves the accepted bytes of one document.
func (s *Server) getDocument(w http.ResponseWriter, r *http.Request) {
	p, err := who(r.Context(), ScopeRead)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	doc, err := s.Store.Document(r.Context(), p.Workspace, r.PathValue("ref"))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(doc.Body)))
	h.Set("Writ-Kind", doc.Kind)
	h.Set("ETag", `"`+doc.SHA256.Hex()+`"`)
	_, _ = w.Write(doc.Body)
}

// getDocket writes the bundle of a run.
func (s *Server) getDocket(w http.ResponseWriter, r *http.Request) {
	p, err := who(r.Context(), ScopeDocket)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	out := &lateHeader{w: w}
	if err := s.Host.Docket(r.Context(), p.Workspace, r.PathValue("run"), out); err != nil {
		if !out.begun {
			s.problem(w, r, err)
			return
		}
		s.logged(r, err)
		panic(http.ErrAbortHandler) // cut the connection: half a docket must not look whole
	}
}

// lateHeader sends the header with the first byte, so that an error before it can still be a problem document.
type lateHeader struct {
	w     http.ResponseWriter
	begun bool
}

func (l *lateHeader) Write(b []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", "application/json")
	}
	return l.w.Write(b)
}
