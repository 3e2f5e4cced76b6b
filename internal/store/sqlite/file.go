package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"

	"writ/internal/fault"
)

// OpenFile opens a SQLite file that is no ledger, with the same settings: made when
// missing, readable by its owner only, durable at each commit, and brought to the
// newest of the numbered SQL files in steps. Transactions take the write lock when
// they begin. It refuses a file of a newer schema (fault.Schema), a damaged one
// (fault.Corrupt), and one whose connection does not take the settings
// (fault.Unavailable).
func OpenFile(ctx context.Context, path string, steps fs.FS) (_ *sql.DB, err error) {
	const op = "open store"
	if path, err = filepath.Abs(path); err != nil {
		return nil, fault.Wrap(err, fault.Usage, op, "bad path %q", path)
	}
	if err := touch(path); err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, op, "cannot use %s", path)
	}
	useDataSync()
	conn, err := dial(dsn(path, forBoth))
	if err != nil {
		return nil, broken(err, op)
	}
	err = readBack(conn.ask)
	if err == nil {
		err = migrate(ctx, conn, path, steps)
	}
	if err = errors.Join(broken(err, op), conn.close()); err != nil {
		return nil, Broken(err, op)
	}
	db, err := sql.Open(driverName, dsn(path, forBoth))
	return db, broken(err, op)
}

// Broken turns an error of a file that OpenFile opened into a fault.
func Broken(err error, op string) error { return broken(err, op) }
