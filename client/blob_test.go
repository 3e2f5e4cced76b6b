package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// shelf keeps blobs, after refusing a number of them.
type shelf struct {
	refusals int
	lie      bool
	kept     map[string][]byte
	sizes    []int64
}

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		b := s.kept[filepath.Base(r.URL.Path)]
		if s.lie {
			b = append([]byte("x"), b...)
		}
		_, _ = w.Write(b)
		return
	}
	s.sizes = append(s.sizes, r.ContentLength)
	if s.refusals > 0 { // before the body is read
		s.refusals--
		refuse(w, 503, Error{Code: "unavailable", Retry: true})
		return
	}
	b, _ := io.ReadAll(r.Body)
	sum := fmt.Sprintf("%x", sha256.Sum256(b))
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.kept[sum] = b
	if s.lie {
		sum = "00"
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(Blob{SHA256: sum, Size: int64(len(b))})
}

func TestUploadsAndDownloads(t *testing.T) {
	t.Parallel()
	s := &shelf{refusals: 2}
	c, p := serve(t, s.serve)
	content := bytes.Repeat([]byte("0123456789"), 50_000)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := c.Upload(t.Context(), f, int64(len(content)))
	if noted(p, err) != nil || !bytes.Equal(s.kept[b.SHA256], content) {
		t.Fatalf("uploaded %+v, %v", b, err)
	}
	for _, n := range s.sizes {
		if n != int64(len(content)) {
			t.Errorf("sizes announced are %v", s.sizes)
		}
	}
	r, err := c.GetBlob(t.Context(), b.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
		t.Errorf("downloaded %d bytes, %v", len(got), err)
	}
	if b, err := c.PutBlob(t.Context(), nil); err != nil || b.Size != 0 {
		t.Errorf("nothing at all: %+v, %v", b, err)
	}
	if _, err := c.Upload(t.Context(), f, int64(len(content))+1); err == nil {
		t.Error("a file that is too short is uploaded")
	}
}

func TestBytesThatAreNotTheirDigest(t *testing.T) {
	t.Parallel()
	s := &shelf{lie: true, kept: map[string][]byte{"aa": []byte("y"), "sha256:aa": []byte("y")}}
	c, _ := serve(t, s.serve)
	if _, err := c.PutBlob(t.Context(), []byte("x")); err == nil {
		t.Error("an upload under another digest passes")
	}
	r, err := c.GetBlob(t.Context(), "aa")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); err == nil {
		t.Error("a download of other bytes passes")
	}
	if _, err := c.Document(t.Context(), "sha256:aa"); err == nil {
		t.Error("a document of other bytes passes")
	}
	if raw, err := c.Document(t.Context(), "corpus:sha256:x"); err != nil || string(raw) != "x" {
		t.Errorf("a ref that is no digest of the bytes: %s, %v", raw, err)
	}
}
