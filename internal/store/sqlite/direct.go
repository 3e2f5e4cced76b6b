package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	engine "modernc.org/sqlite"
)

// direct is a connection without database/sql around it. The writer is one
// goroutine with one connection and has no use for a pool, and at its rate the
// pool's locks and copies are a measurable part of a commit. It is not safe
// for concurrent use.
type direct struct{ conn driver.Conn }

func dial(dsn string) (*direct, error) {
	conn, err := new(engine.Driver).Open(dsn)
	if err != nil {
		return nil, err
	}
	return &direct{conn}, nil
}

func (d *direct) close() error { return d.conn.Close() }

// prepare compiles sql for use many times. Statements are closed with the
// connection's last user, see statements.close.
func (d *direct) prepare(sql string) (*statement, error) {
	stmt, err := d.conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), sql)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", sql, err)
	}
	return &statement{stmt: stmt, exec: stmt.(driver.StmtExecContext), query: stmt.(driver.StmtQueryContext)}, nil
}

// ask runs sql once and returns the first column of its first row as text, ""
// when there is no row.
func (d *direct) ask(sql string) (string, error) {
	s, err := d.prepare(sql)
	if err != nil {
		return "", err
	}
	row := make([]driver.Value, 1)
	found, err := s.row(row)
	if err = errors.Join(err, s.stmt.Close()); err != nil || !found {
		return "", err
	}
	return fmt.Sprint(row[0]), nil
}

// statement is a prepared statement. It takes no context on purpose: once a
// transaction has begun, no caller may interrupt it.
type statement struct {
	stmt  driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
}

// run executes and returns how many rows it changed.
func (s *statement) run(args []driver.NamedValue) (int64, error) {
	res, err := s.exec.ExecContext(context.Background(), args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row reads the first row into dest, as wide as the result, and says whether
// there was one.
func (s *statement) row(dest []driver.Value, args ...driver.Value) (found bool, err error) {
	rows, err := s.query.QueryContext(context.Background(), named(args...))
	if err != nil {
		return false, err
	}
	err = rows.Next(dest)
	if errors.Is(err, io.EOF) {
		return false, rows.Close()
	}
	return err == nil, errors.Join(err, rows.Close())
}

// named numbers the arguments of a statement.
func named(args ...driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}
