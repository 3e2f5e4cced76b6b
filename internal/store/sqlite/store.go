// Package sqlite keeps the ledger in one SQLite file beside the process.
//
// One goroutine owns the only connection that writes. It gathers the commits
// that wait, writes them in one transaction with one fsync, and acknowledges
// them after that; readers have connections of their own and never wait for
// it. A second process on the same file is legal: transactions take the write
// lock at once, and everything cached is dropped when the file changed from
// outside.
//
// Invariants: an acknowledged commit is on disk; sequence numbers have no gaps
// and time never runs backwards within a workspace; a commit is there whole or
// not at all.
//
// The package never decides what an event means, never deletes an event or a
// document, and never acknowledges before the disk did.
package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"writ/internal/fault"
	"writ/internal/ledger"
)

// Options say where the store lives.
type Options struct {
	Path string           // the database file; it and its folder are made when missing
	Now  func() time.Time // dates commits that bring no time; nil is time.Now
	Hook Hook             // injected failures, for tests; nil in the program
}

// Store is a ledger.Store in a SQLite file. Use Open to get one.
type Store struct {
	path    string
	reader  *reader
	writer  *writer
	watch   *watch
	closing sync.Once
	err     error // of closing
}

var _ ledger.Store = (*Store)(nil)

// Open opens the database at o.Path, making or migrating it as needed. It
// refuses a database of a newer schema (fault.Schema), and one whose
// connection does not take the durability settings (fault.Unavailable).
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Path == "" {
		return nil, fault.New(fault.Usage, "open store", "no path given")
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Usage, "open store", "bad path %q", o.Path)
	}
	if err := touch(path); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "open store", "cannot use %s", path)
	}
	useDataSync()
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{path: path, watch: newWatch()}
	if s.writer, err = newWriter(ctx, path, o, s.watch); err != nil {
		return nil, err
	}
	if s.reader, err = newReader(ctx, path); err != nil {
		return nil, errors.Join(err, s.writer.release())
	}
	s.writer.start()
	return s, nil
}

// touch makes the file and its folder, readable by the owner only: the ledger
// holds what participants say to each other.
func touch(path string) error {
	if err := folder(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), syncFile(filepath.Dir(path)))
}

// folder makes dir and what is above it. Each new entry is synced, or the
// folder of a durable file could be lost.
func folder(dir string) error {
	switch _, err := os.Stat(dir); {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	above := filepath.Dir(dir)
	if err := folder(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncFile(above)
}

// Close waits until the commits that are queued are durable, and closes the
// file. Calls that come later fail with fault.Unavailable; so do waiting ones.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.writer.stop()
		s.watch.close()
		s.err = errors.Join(s.reader.close(), s.writer.release())
	})
	return s.err
}

// Workspaces lists the workspaces that have at least one event or cell, by name.
func (s *Store) Workspaces(ctx context.Context) ([]string, error) {
	rows, err := s.reader.workspaces.QueryContext(ctx)
	if err != nil {
		return nil, broken(err, "list workspaces")
	}
	return collect(rows, "list workspaces", func(scan scanner) (name string, err error) {
		err = scan(&name)
		return name, err
	})
}

// foreignPoll is how late a waiting reader hears of a commit that another
// process made. Those of this process are announced at once.
const foreignPoll = time.Second

// Wait returns the head of the workspace as soon as it is beyond after, or the
// context's error. A workspace that does not exist yet has head 0.
func (s *Store) Wait(ctx context.Context, workspace string, after int64) (int64, error) {
	for {
		// The channel comes first and the file second, so that a commit in
		// between is not missed.
		head, moved, err := s.watch.look(workspace)
		if err != nil {
			return 0, err
		}
		if head > after {
			return head, nil
		}
		b, err := s.reader.bounds(ctx, workspace)
		if err != nil {
			return 0, err
		}
		if b.head > after {
			s.watch.publish(workspace, b.head)
			return b.head, nil
		}
		select {
		case <-ctx.Done():
			return 0, broken(ctx.Err(), "wait for events")
		case <-moved:
		case <-time.After(foreignPoll):
		}
	}
}
