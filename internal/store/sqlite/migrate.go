package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"writ/internal/fault"
)

// Migrations only go forward and are never edited once released; a test pins
// their digests.
//
//go:embed migrations/*.sql
var migrations embed.FS

// ledgerSteps are those of the ledger.
func ledgerSteps() fs.FS {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is a constant that fs.ValidPath takes
	}
	return steps
}

// migrate brings the database at path to the newest schema of steps, which holds
// numbered SQL files. conn is open on it. The version is read first, because that
// is a hundred times cheaper than asking the migration library.
func migrate(ctx context.Context, conn *direct, path string, steps fs.FS) error {
	newest, err := newestSchema(steps)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "open store", "migrations cannot be read")
	}
	have, err := schemaOf(conn)
	if err != nil {
		return broken(err, "open store")
	}
	if have < newest {
		if err := up(ctx, path, steps); err != nil {
			// Another process may have been faster.
			if again, _ := schemaOf(conn); again < newest {
				return broken(err, "migrate store")
			}
		}
		if have, err = schemaOf(conn); err != nil {
			return broken(err, "migrate store")
		}
	}
	if have > newest {
		return fault.New(fault.Schema, "open store", "%s has schema %d, this build knows schemas up to %d", path, have, newest).
			Help("use the build that wrote it, or a newer one").
			With("schema", strconv.FormatInt(have, 10)).
			With("known", strconv.FormatInt(newest, 10))
	}
	return nil
}

// newestSchema is the number of the last migration.
func newestSchema(steps fs.FS) (int64, error) {
	files, err := fs.Glob(steps, "*.sql")
	if err != nil {
		return 0, err
	}
	last := path.Base(files[len(files)-1])
	number, _, _ := strings.Cut(last, "_")
	return strconv.ParseInt(number, 10, 64)
}

// schemaOf reads the version that the migration library left, 0 in an empty
// database.
func schemaOf(conn *direct) (int64, error) {
	table, err := conn.ask("SELECT name FROM sqlite_schema WHERE name = '" + goose.DefaultTablename + "'")
	if err != nil || table == "" {
		return 0, err
	}
	version, err := conn.ask("SELECT coalesce(max(version_id), 0) FROM " + goose.DefaultTablename)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(version, 10, 64)
}

func up(ctx context.Context, path string, steps fs.FS) (err error) {
	db, err := sql.Open(driverName, dsn(path, forWriting))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, steps,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
