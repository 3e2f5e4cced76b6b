package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

type blobInfo struct {
	SHA256      string `json:"sha256" doc:"hex"`
	Size        int64  `json:"size" doc:"bytes"`
	ObjectRef   string `json:"object_ref"`
	ArtifactRef string `json:"artifact_ref"`
}

// putBlob keeps bytes under their digest; the same bytes twice are kept once.
// The workspace remembers that it has them: the bytes of one are not there for
// another.
func (s *Server) putBlob(x *exchange, r *http.Request) error {
	in, err := x.body(maxBlob)
	if err != nil {
		return err
	}
	d, n, err := s.Blobs.Put(r.Context(), in)
	if in.err != nil { // the body did not arrive; not the disk that did not take it
		return cut(in.err, maxBlob)
	}
	if err != nil {
		return err
	}
	if _, err := s.Store.Commit(r.Context(), ledger.Commit{Workspace: x.by.Workspace, Now: s.Now(), Cells: ledger.HasBlob(d)}); err != nil {
		return err
	}
	x.Header().Set("Content-Type", "application/json")
	x.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(x).Encode(blobInfo{d.Hex(), n, canon.ObjectRef(d), canon.ArtifactRef(d)})
	return nil
}

// getBlob serves bytes of unknown origin: as an attachment, never as a page.
func (s *Server) getBlob(x *exchange, r *http.Request) error {
	missing := fault.New(fault.NotFound, "read blob", "there is no blob %s", r.PathValue("sha256"))
	d, err := canon.ParseHex(r.PathValue("sha256"))
	if err != nil {
		return missing
	}
	if _, err := s.Store.Cell(r.Context(), x.by.Workspace, ledger.CellBlob, d.Hex()); fault.CodeOf(err) == fault.NotFound {
		return missing
	} else if err != nil {
		return err
	}
	body, n, err := s.Blobs.Open(r.Context(), d)
	if err != nil {
		return err
	}
	defer body.Close()
	h := x.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(n, 10))
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("ETag", `"`+d.Hex()+`"`)
	h.Set("Cache-Control", "private, max-age=600, immutable")
	if r.Method == http.MethodHead {
		return nil
	}
	if err := copyLate(x, body); fault.CodeOf(err) == fault.Corrupt {
		x.report(newProblem(err), err)
		panic(http.ErrAbortHandler) // the bytes are not those of the digest
	}
	return nil // a client that left knows what it lacks by Content-Length
}

// copyLate copies r, whose end says whether it was whole, and holds back the last
// piece until that is known.
func copyLate(w io.Writer, r io.Reader) error {
	now, next := make([]byte, writeSize), make([]byte, writeSize)
	n, err := r.Read(now)
	for err == nil {
		var k int
		k, err = r.Read(next)
		if err != nil && err != io.EOF { //nolint:errorlint // readers return it bare
			return err
		}
		if _, werr := w.Write(now[:n]); werr != nil {
			return werr
		}
		now, next, n = next, now, k
	}
	if err != io.EOF { //nolint:errorlint // readers return it bare
		return err
	}
	_, err = w.Write(now[:n])
	return err
}
