package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"writ/internal/fault"
)

// Backup writes a consistent copy of the live database to a new file at path.
// The copy is compact, has no write-ahead log and is on disk when Backup
// returns; a file that exists is never replaced.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	const op = "back up store"
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fault.New(fault.Conflict, op, "%s exists already", path).Help("name a new file")
	}
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Wrap(err, fault.Unavailable, op, "cannot remove %s", partial)
	}
	conn, err := dial(dsn(s.path, forWriting))
	if err != nil {
		return broken(err, op)
	}
	defer func() { err = errors.Join(err, broken(conn.close(), op)) }()
	vacuum, err := conn.prepare("VACUUM INTO ?1")
	if err != nil {
		return broken(err, op)
	}
	defer func() { err = errors.Join(err, broken(vacuum.stmt.Close(), op)) }()
	if _, err := vacuum.exec.ExecContext(ctx, named(partial)); err != nil {
		return errors.Join(broken(err, op), os.Remove(partial))
	}
	if err := settle(partial, path); err != nil {
		return fault.Wrap(err, fault.Unavailable, op, "cannot write %s", path)
	}
	return nil
}

// settle makes partial durable under the name path.
func settle(partial, path string) error {
	if err := syncFile(partial); err != nil {
		return err
	}
	if err := os.Link(partial, path); err != nil { // unlike a rename, never replaces
		return err
	}
	if err := os.Remove(partial); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
