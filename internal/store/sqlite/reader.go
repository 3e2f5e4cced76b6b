package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
)

// reader is the pool of connections that only read, with their statements.
type reader struct {
	db *sql.DB

	boundsOf, eventsInRange, eventsOfScope, eventByID                                 *sql.Stmt
	documentByRef, documentBySum, documents, documentsOfRun, documentsOfKinds, number *sql.Stmt
	cell, cells, cellsInState, workspaces                                             *sql.Stmt
}

func (r *reader) byName() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		"Bounds": &r.boundsOf, "EventsInRange": &r.eventsInRange, "EventsOfScope": &r.eventsOfScope, "EventByID": &r.eventByID,
		"DocumentByRef": &r.documentByRef, "DocumentBySum": &r.documentBySum, "Documents": &r.documents,
		"DocumentsOfRun": &r.documentsOfRun, "DocumentsOfKinds": &r.documentsOfKinds, "NumberOfWorkspace": &r.number,
		"Cell": &r.cell, "Cells": &r.cells, "CellsInState": &r.cellsInState, "Workspaces": &r.workspaces,
	}
}

func newReader(ctx context.Context, path string) (*reader, error) {
	db, err := sql.Open(driverName, dsn(path, forReading))
	if err != nil {
		return nil, broken(err, "open store")
	}
	n := max(4, 2*runtime.GOMAXPROCS(0))
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	r := &reader{db: db}
	if err := r.prepare(ctx); err != nil {
		return nil, errors.Join(broken(err, "open store"), r.close())
	}
	return r, nil
}

func (r *reader) prepare(ctx context.Context) error {
	err := readBack(func(pragma string) (value string, err error) {
		err = r.db.QueryRowContext(ctx, pragma).Scan(&value)
		return value, err
	})
	if err != nil {
		return err
	}
	for name, to := range r.byName() {
		text, err := query(name)
		if err == nil {
			*to, err = r.db.PrepareContext(ctx, text)
		}
		if err != nil {
			return fmt.Errorf("statement %s: %w", name, err)
		}
	}
	return nil
}

// close ends the pool and with it the statements.
func (r *reader) close() error { return r.db.Close() }

// bounds are the ends of a workspace's log.
type bounds struct {
	number   int64 // 0 when there is no such workspace
	folded   int64 // newest sequence number that scopes covers
	head     int64
	earliest int64
}

func (r *reader) bounds(ctx context.Context, workspace string) (b bounds, err error) {
	err = r.boundsOf.QueryRowContext(ctx, workspace).Scan(&b.number, &b.folded, &b.head, &b.earliest)
	if errors.Is(err, sql.ErrNoRows) {
		return bounds{}, nil
	}
	b.head, b.earliest = seqOf(b.head), seqOf(b.earliest)
	return b, broken(err, "read log")
}

// scanner reads the current row into dest.
type scanner func(dest ...any) error

// collect reads all rows through one.
func collect[T any](rows *sql.Rows, op string, one func(scanner) (T, error)) (out []T, err error) {
	defer func() { err = broken(errors.Join(err, rows.Close()), op) }()
	for rows.Next() {
		x, err := one(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// list encodes words for a statement that compares with any of them; "" when
// there are none.
func list(words []string) string {
	if len(words) == 0 {
		return ""
	}
	b, _ := json.Marshal(words) // strings always encode
	return string(b)
}
