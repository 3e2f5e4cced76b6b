package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Dir keeps blobs in a folder of files: ab/cd/<64 hex>.
type Dir struct{ root string }

var _ Store = (*Dir)(nil)

// abandoned is how old a half-written file is before it is taken for one that
// an earlier process left. Younger ones may belong to another process.
const abandoned = 24 * time.Hour

// Open opens the store in a folder, which is made when it is not there. What an
// earlier process left half written is removed after a day.
func Open(root string) (*Dir, error) {
	tmp := filepath.Join(root, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "open blobs", "%s cannot be made", tmp)
	}
	for _, dir := range []string{root, filepath.Dir(root)} {
		if err := syncDir(dir); err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "open blobs", "%s cannot be synced", dir)
		}
	}
	left, err := os.ReadDir(tmp)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "open blobs", "%s cannot be read", tmp)
	}
	for _, f := range left {
		info, err := f.Info()
		if err != nil || time.Since(info.ModTime()) < abandoned {
			continue // gone meanwhile, or still being written
		}
		if err := os.Remove(filepath.Join(tmp, f.Name())); err != nil {
			return nil, fault.Wrap(err, fault.Unavailable, "open blobs", "%s cannot be removed", f.Name())
		}
	}
	return &Dir{root}, nil
}

func (d *Dir) path(sum canon.Digest) string {
	name := sum.Hex()
	return filepath.Join(d.root, name[:2], name[2:4], name)
}

// Put implements Store: a temporary file, synced, renamed into place, and the
// folders synced. A damaged file under the same digest is replaced.
func (d *Dir) Put(ctx context.Context, r io.Reader) (canon.Digest, int64, error) {
	f, err := os.CreateTemp(filepath.Join(d.root, "tmp"), "put-")
	if err != nil {
		return canon.Digest{}, 0, wrap(err, "make a file")
	}
	sum, n, err := d.fill(ctx, f, r)
	if err == nil {
		err = d.place(ctx, f.Name(), sum)
	}
	if rerr := os.Remove(f.Name()); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, wrap(rerr, "remove a file"))
	}
	if err != nil {
		return canon.Digest{}, 0, err
	}
	return sum, n, nil
}

// fill writes r into f, syncs and closes it.
func (d *Dir) fill(ctx context.Context, f *os.File, r io.Reader) (sum canon.Digest, n int64, err error) {
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = wrap(cerr, "close a file")
		}
	}()
	h := sha256.New()
	src := &source{ctx: ctx, r: io.LimitReader(r, MaxBytes+1)}
	if n, err = io.Copy(io.MultiWriter(f, h), src); err != nil {
		if src.err != nil {
			return sum, 0, src.err
		}
		return sum, 0, wrap(err, "write a file")
	}
	if n > MaxBytes {
		return sum, 0, fault.New(fault.TooLarge, "put blob", "the bytes are more than %d", int64(MaxBytes))
	}
	if err = f.Sync(); err != nil {
		return sum, 0, wrap(err, "sync a file")
	}
	h.Sum(sum[:0])
	return sum, n, nil
}

// place moves a finished file to its name, unless the same bytes are there. The
// folders are synced either way: whoever put them there may not have come to it.
func (d *Dir) place(ctx context.Context, from string, sum canon.Digest) error {
	to := d.path(sum)
	dir := filepath.Dir(to)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return wrap(err, "make a folder")
	}
	if !d.sound(ctx, sum) {
		if err := os.Rename(from, to); err != nil {
			return wrap(err, "move a file into place")
		}
	}
	for _, folder := range []string{dir, filepath.Dir(dir), d.root} {
		if err := syncDir(folder); err != nil {
			return wrap(err, "sync a folder")
		}
	}
	return nil
}

// sound reports whether the blob is there and has its bytes.
func (d *Dir) sound(ctx context.Context, sum canon.Digest) bool {
	r, _, err := d.Open(ctx, sum)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, &source{ctx: ctx, r: r})
	return errors.Join(err, r.Close()) == nil
}

func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	return errors.Join(err, f.Close())
}

// Open implements Store.
func (d *Dir) Open(_ context.Context, sum canon.Digest) (io.ReadCloser, int64, error) {
	f, err := os.Open(d.path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fault.New(fault.NotFound, "open blob", "there is no blob %s", sum)
	}
	if err != nil {
		return nil, 0, wrap(err, "open a file")
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(wrap(err, "look at a file"), f.Close())
	}
	return &checked{f: f, h: sha256.New(), want: sum}, info.Size(), nil
}

// Has implements Store.
func (d *Dir) Has(_ context.Context, sum canon.Digest) (bool, error) {
	_, err := os.Stat(d.path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, wrap(err, "look at a file")
	}
	return true, nil
}

// List implements Store.
func (d *Dir) List(ctx context.Context) iter.Seq2[canon.Digest, error] {
	return func(yield func(canon.Digest, error) bool) {
		err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil:
				return wrap(ctx.Err(), "list blobs")
			case e.IsDir() && path == filepath.Join(d.root, "tmp"):
				return fs.SkipDir
			case e.IsDir():
				return nil
			}
			sum, err := canon.ParseHex(e.Name())
			if err != nil {
				return fault.New(fault.Corrupt, "list blobs", "%s is no blob", e.Name())
			}
			if !yield(sum, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(canon.Digest{}, err)
		}
	}
}

// Check reads every blob and returns those whose bytes are not their digest's.
func Check(ctx context.Context, s Store) ([]canon.Digest, error) {
	var bad []canon.Digest
	for sum, err := range s.List(ctx) {
		if err != nil {
			return bad, err
		}
		r, _, err := s.Open(ctx, sum)
		if err != nil {
			return bad, err
		}
		_, err = io.Copy(io.Discard, r)
		r.Close()
		switch fault.CodeOf(err) {
		case "":
		case fault.Corrupt:
			bad = append(bad, sum)
		default:
			return bad, err
		}
	}
	return bad, nil
}

// checked compares the digest when the end is reached.
type checked struct {
	f    *os.File
	h    hash.Hash
	want canon.Digest
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.f.Read(b)
	c.h.Write(b[:n])
	if err == io.EOF {
		var got canon.Digest
		c.h.Sum(got[:0])
		if got != c.want {
			return n, fault.New(fault.Corrupt, "read blob", "%s has the bytes of %s", c.want, got)
		}
	}
	return n, err
}

func (c *checked) Close() error { return c.f.Close() }

// source reads what is put, and tells a source that fails from a disk that
// does. It stops when its context ends.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = wrap(err, "read")
		return 0, s.err
	}
	n, err := s.r.Read(b)
	if _, known := fault.As(err); known {
		s.err = err
	} else if err != nil && err != io.EOF {
		s.err = fault.Wrap(err, fault.Unavailable, "put blob", "the bytes could not be read to their end")
	}
	return n, err
}

func wrap(err error, what string) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(err, fault.Cancelled, "keep blob", "given up by the caller")
	}
	return fault.Wrap(err, fault.Unavailable, "keep blob", "could not %s", what)
}
