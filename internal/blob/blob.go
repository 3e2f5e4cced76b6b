// Package blob keeps bytes under their SHA-256: candidates, patches, evidence
// and native output.
//
// Invariants: what Put has acknowledged is on disk and survives a crash; equal
// bytes are kept once; a file under a digest has that digest, and reading checks
// it again. Blobs are never changed. The package knows nothing of what it keeps,
// and deletes nothing.
package blob

import (
	"context"
	"io"
	"iter"

	"writ/internal/canon"
	"writ/internal/fault"
)

// MaxBytes is the largest blob: a producer that never ends must not fill the disk.
const MaxBytes = 1 << 30

// Store keeps blobs.
type Store interface {
	// Put reads r to its end and keeps the bytes. It MUST be durable before it
	// returns, and MUST keep nothing when r fails. More than MaxBytes fail with
	// fault.TooLarge; a fault of r is returned as it is.
	Put(ctx context.Context, r io.Reader) (canon.Digest, int64, error)
	// Open returns a blob and its size; fault.NotFound when there is none. The
	// caller closes it. Reading to the end fails with fault.Corrupt when the
	// bytes are not those of the digest.
	Open(ctx context.Context, d canon.Digest) (io.ReadCloser, int64, error)
	// Has reports whether there is a blob.
	Has(ctx context.Context, d canon.Digest) (bool, error)
	// List yields every digest, in order.
	List(ctx context.Context) iter.Seq2[canon.Digest, error]
}

// Get returns the bytes of a blob of at most limit bytes, checked against the
// digest. Errors: NotFound, TooLarge, Corrupt.
func Get(ctx context.Context, s Store, d canon.Digest, limit int64) ([]byte, error) {
	r, n, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if n > limit {
		return nil, fault.New(fault.TooLarge, "read blob", "%s has %d bytes, more than %d", d, n, limit)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return b, nil
}
