package contain

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/runner/proc"
)

// Confirmation records that an environment is gone: its programs were killed,
// its folder was removed, and a look afterwards found nothing.
type Confirmation struct {
	Schema      string `json:"schema"` // "writ.environment-destruction/v1"
	Kind        string `json:"kind"`
	Environment string `json:"environment/ref"`
	CreatedAt   string `json:"created-at,omitempty"` // RFC 3339; absent when the label was lost
	DestroyedAt string `json:"destroyed-at"`         // RFC 3339
	Files       int    `json:"files-removed"`
	Swept       bool   `json:"swept,omitempty"` // found and removed after its owner had died
}

const confirmationSchema = "writ.environment-destruction/v1"

// Ref is the content address of the confirmation.
func (c Confirmation) Ref() string { return canon.PlainRef(canon.MustFrom(c)) }

// Destroy ends every program, removes the folder and confirms it. It may be
// called again, also after an error: it goes on where it stopped, and once it has
// succeeded it returns the same confirmation.
func (e *Environment) Destroy(ctx context.Context) (Confirmation, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone != nil {
		return *e.gone, nil
	}
	for _, k := range []*proc.Keeper{e.observer, e.keeper} {
		if k == nil {
			continue
		}
		if err := k.Close(); err != nil {
			return Confirmation{}, fault.Wrap(err, fault.Internal, "destroy environment", "programs of %s could not be ended", e.id)
		}
	}
	c, err := remove(ctx, e.dir, e.params.Now)
	if err != nil {
		return Confirmation{}, err
	}
	if e.lock != nil {
		e.lock.Close()
	}
	e.gone = &c
	return c, nil
}

// Sweep destroys the environments under root whose owners have died, and returns
// a confirmation for each. Environments of living processes, and folders that are
// no environments, are left alone.
func Sweep(ctx context.Context, root string, now func() time.Time) ([]Confirmation, error) {
	const op = "sweep environments"
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "cannot read %s", root)
	}
	var out []Confirmation
	var failures []error
	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())
		if !entry.IsDir() || !isEnvironment(dir) {
			continue
		}
		lock, err := acquire(dir)
		if errors.Is(err, errOwned) {
			continue
		}
		if err != nil {
			failures = append(failures, fault.Wrap(err, fault.Internal, op, "cannot lock %s", dir))
			continue
		}
		c, err := remove(ctx, dir, now)
		lock.Close()
		if err != nil {
			failures = append(failures, err)
			continue
		}
		c.Swept = true
		out = append(out, c)
	}
	return out, errors.Join(failures...)
}

// isEnvironment reports whether a folder is one of ours, in any stage of being
// made or removed.
func isEnvironment(dir string) bool {
	if l, err := readLabel(dir); err == nil {
		return l.Kind == Kind
	}
	_, err := os.Lstat(filepath.Join(dir, lockFile)) // the label was not written yet, or is removed already
	return err == nil
}

func readLabel(dir string) (label, error) {
	b, err := os.ReadFile(filepath.Join(dir, labelFile))
	if err != nil {
		return label{}, err
	}
	var l label
	return l, json.Unmarshal(b, &l)
}

// remove deletes an environment's folder: what programs could touch first, the
// label and the lock last. Then it looks.
func remove(ctx context.Context, dir string, now func() time.Time) (Confirmation, error) {
	const op = "destroy environment"
	id := filepath.Base(dir)
	c := Confirmation{Schema: confirmationSchema, Kind: Kind, Environment: refPrefix + id}
	if l, err := readLabel(dir); err == nil {
		c.CreatedAt = l.Created.UTC().Format(time.RFC3339)
	}
	for _, part := range []string{"area", "repo.git", labelFile, lockFile, ""} {
		path := filepath.Join(dir, part)
		c.Files += count(path)
		if err := removeAll(ctx, path); err != nil {
			return Confirmation{}, fault.Wrap(err, fault.Internal, op, "%s could not be removed in full", id).
				Help("call destroy again; see what still uses %s", dir)
		}
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return Confirmation{}, fault.Wrap(err, fault.Internal, op, "%s is still there", id)
	}
	c.DestroyedAt = now().UTC().Format(time.RFC3339)
	return c, nil
}

// count counts the files below path, without following links.
func count(path string) int {
	n := 0
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil // what cannot be read now is removed all the same
	})
	return n
}

// removeAll removes a tree. Directories that programs made unwritable are opened
// up first; no link is followed.
func removeAll(ctx context.Context, path string) error {
	err := os.RemoveAll(path)
	if err == nil || ctx.Err() != nil {
		return err
	}
	filepath.WalkDir(path, func(p string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // whether it helped shows when it is removed
		}
		return ctx.Err()
	})
	return os.RemoveAll(path)
}
