package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Blob names kept bytes in each spelling that documents use.
type Blob struct {
	SHA256      string `json:"sha256"` // hex
	Size        int64  `json:"size"`   // bytes
	ObjectRef   string `json:"object_ref"`
	ArtifactRef string `json:"artifact_ref"`
}

// PutBlob keeps bytes under their digest.
func (c *Client) PutBlob(ctx context.Context, body []byte) (Blob, error) {
	return c.Upload(ctx, bytes.NewReader(body), int64(len(body)))
}

// Upload keeps size bytes under their digest; a file serves as it is. The bytes
// are read twice, to know their digest before the server names it, and must not
// change meanwhile.
func (c *Client) Upload(ctx context.Context, from io.ReaderAt, size int64) (Blob, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(from, 0, size))
	if err != nil {
		return Blob{}, fmt.Errorf("upload: %w", err)
	}
	if n != size {
		return Blob{}, fmt.Errorf("upload: %d bytes, %d were announced", n, size)
	}
	var out Blob
	q := call{method: http.MethodPost, path: "/v1/blobs", body: &payload{from, size}, media: "application/octet-stream"}
	if err := c.json(ctx, q, &out); err != nil {
		return Blob{}, err
	}
	if want := hex.EncodeToString(sum.Sum(nil)); out.SHA256 != want {
		return Blob{}, fmt.Errorf("upload: the server kept %s, the bytes are %s", out.SHA256, want)
	}
	return out, nil
}

// GetBlob reads kept bytes by their hex digest. The caller closes the reader,
// which ends with an error instead of io.EOF when the bytes are not those of the
// digest.
func (c *Client) GetBlob(ctx context.Context, sum string) (io.ReadCloser, error) {
	body, err := c.open(ctx, "/v1/blobs/"+url.PathEscape(sum))
	if err != nil {
		return nil, err
	}
	return &verified{ReadCloser: body, sum: sha256.New(), want: sum}, nil
}

// verified is a body that is held against its digest at its end.
type verified struct {
	io.ReadCloser
	sum  hash.Hash
	want string
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.sum.Write(p[:n])
	if err == io.EOF {
		if got := hex.EncodeToString(v.sum.Sum(nil)); got != v.want {
			return n, fmt.Errorf("download: the bytes are %s, not %s", got, v.want)
		}
	}
	return n, err
}

// Document reads a document by ref, or by "sha256:" and hex, as it was accepted.
func (c *Client) Document(ctx context.Context, ref string) ([]byte, error) {
	body, err := c.open(ctx, "/v1/documents/"+url.PathEscape(ref))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	if want, ok := strings.CutPrefix(ref, "sha256:"); ok {
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != want {
			return nil, fmt.Errorf("read document: the bytes are sha256:%x, not %s", sum, ref)
		}
	}
	return raw, nil
}

func (c *Client) open(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := c.do(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return nil, err
	}
	return r.Body, nil
}
