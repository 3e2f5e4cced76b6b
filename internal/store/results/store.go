// Package results keeps measurement results in one SQLite file: the documents by
// digest, and beside them the series that they make up.
//
// Invariants: what package history decides is what happens, in one transaction for
// a whole batch, and it is on disk when it is acknowledged; a document is stored
// as its canonical bytes and is checked against its digest whenever it is read; a
// second process on the same file is legal.
//
// The package decides nothing about a result, never changes or deletes one, and
// reads no result that was not accepted.
package results

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/history"
	"writ/internal/store/sqlite"
)

// Migrations only go forward and are never edited once released.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Store is a store of results. Use Open to get one.
type Store struct {
	db  *sql.DB
	now func() time.Time
}

// Open opens the store in the file at path. With make it is made when it does not
// exist, else that is fault.NotFound. now dates arrivals; nil is time.Now. Other
// refusals are those of sqlite.OpenFile.
func Open(ctx context.Context, path string, make bool, now func() time.Time) (*Store, error) {
	if _, err := os.Stat(path); !make && errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "open store", "there is no store %s", path).Help("writ ingest makes one")
	}
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "open store", "migrations cannot be read")
	}
	db, err := sqlite.OpenFile(ctx, path, steps)
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = time.Now
	}
	return &Store{db, now}, nil
}

// Close closes the file.
func (s *Store) Close() error { return sqlite.Broken(s.db.Close(), "close store") }

// Filter selects series; empty members select all.
type Filter struct {
	Workload string // part of its name
	Quantity string // the whole name
	Project  string // the whole name
	Print    string // the beginning of the series' hex digest
}

// Line is a series and how much of it there is.
type Line struct {
	history.Series
	Points int
	Last   time.Time // start of the newest measurement
	Recent []float64 // values of the newest steps, in the order of measurement; see history.Steps
}

// A list shows that many steps of a series, made from at most that many points.
const (
	recent       = 60
	recentPoints = 20 * recent
)

// Series lists series by project, workload, parameters, quantity and estimator, with
// the number of their points and their newest values.
func (s *Store) Series(ctx context.Context, f Filter) ([]Line, error) {
	const op = "list series"
	rows, err := s.db.QueryContext(ctx, `SELECT s.id, s.print, s.comparison, s.estimator, s.derived, s.project, s.thin, s.source,
		s.workload, s.parameters, s.quantity, s.unit, s.direction, s.environment,
		(SELECT count(*) FROM points p WHERE p.series = s.id),
		(SELECT coalesce(max(r.started), 0) FROM points p JOIN results r ON r.id = p.result WHERE p.series = s.id)
		FROM series s
		WHERE (?1 = '' OR instr(s.workload, ?1) > 0) AND (?2 = '' OR s.quantity = ?2) AND (?3 = '' OR s.project = ?3) AND substr(s.print, 1, length(?4)) = ?4
		ORDER BY s.project, s.workload, s.parameters, s.quantity, s.derived DESC, s.print`, f.Workload, f.Quantity, f.Project, f.Print)
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	defer rows.Close()
	var out []Line
	var ids []int64
	for rows.Next() {
		l, id, err := scanLine(rows)
		if err != nil {
			return nil, sqlite.Broken(err, op)
		}
		out, ids = append(out, l), append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, sqlite.Broken(err, op)
	}
	for i, id := range ids {
		if out[i].Recent, err = s.newest(ctx, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func scanLine(rows *sql.Rows) (l Line, id int64, err error) {
	var print, estimator, parameters, environment string
	var comparison []byte
	var last int64
	if err := rows.Scan(&id, &print, &comparison, &estimator, &l.Derived, &l.Project, &l.Thin, &l.Source,
		&l.Workload, &parameters, &l.Quantity, &l.Unit, &l.Direction, &environment, &l.Points, &last); err != nil {
		return l, id, err
	}
	l.Last = time.Unix(0, last).UTC()
	if l.Print, err = canon.ParseHex(print); err != nil || len(comparison) != len(l.Comparison) {
		return l, id, damaged("series %q", print)
	}
	copy(l.Comparison[:], comparison)
	for _, part := range []struct {
		text string
		to   any
	}{{estimator, &l.Estimator}, {parameters, &l.Parameters}, {environment, &l.Environment}} {
		if part.text == "" {
			continue
		}
		v, err := canon.Parse([]byte(part.text))
		if err == nil {
			err = v.Decode(part.to)
		}
		if err != nil {
			return l, id, damaged("series %s", print)
		}
	}
	return l, id, nil
}

func damaged(format string, args ...any) error {
	return fault.New(fault.Corrupt, "read store", format+" is damaged", args...).Help("restore the file, or ingest the results anew into another one")
}

// newest returns the values of the newest steps of a series, in the order of
// measurement.
func (s *Store) newest(ctx context.Context, id int64) ([]float64, error) {
	const op = "list series"
	rows, err := s.db.QueryContext(ctx, `SELECT p.value, r.started, r.revision, r.tree, r.dirty, r.run_key FROM points p JOIN results r ON r.id = p.result WHERE p.series = ?
		ORDER BY r.started DESC, r.producer DESC, r.ingest_key DESC LIMIT ?`, id, recentPoints)
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	defer rows.Close()
	var points []history.Point
	for rows.Next() {
		var p history.Point
		var started int64
		if err := rows.Scan(&p.Value, &started, &p.Revision, &p.Tree, &p.Dirty, &p.RunKey); err != nil {
			return nil, sqlite.Broken(err, op)
		}
		p.Started = time.Unix(0, started)
		points = append(points, p)
	}
	slices.Reverse(points)
	out := []float64{}
	for _, s := range history.Steps(points) {
		out = append(out, s.Value)
	}
	return out[max(0, len(out)-recent):], sqlite.Broken(rows.Err(), op)
}

// Find returns the one series whose print begins with prefix: fault.NotFound when
// there is none, fault.Usage when there are several.
func (s *Store) Find(ctx context.Context, prefix string) (Line, error) {
	const op = "find series"
	found, err := s.Series(ctx, Filter{Print: prefix})
	switch {
	case err != nil:
		return Line{}, err
	case len(found) == 0:
		return Line{}, fault.New(fault.NotFound, op, "no series begins with %q", prefix).Help("writ series lists them")
	case len(found) > 1 && found[0].Print.Hex() != prefix:
		return Line{}, fault.New(fault.Usage, op, "%d series begin with %q, among them %s and %s", len(found), prefix, found[0].Print.Hex(), found[1].Print.Hex()).
			Help("give more of the digest")
	}
	return found[0], nil
}

// Points returns the points of a series in the order of measurement; none for a
// series that the store does not know.
func (s *Store) Points(ctx context.Context, print canon.Digest) ([]history.Point, error) {
	const op = "read series"
	rows, err := s.db.QueryContext(ctx, `SELECT p.value, r.started, r.producer, r.ingest_key, r.sha256, r.status, r.revision, r.tree, r.dirty, r.run_key, r.side, r.round, r.slot
		FROM series s JOIN points p ON p.series = s.id JOIN results r ON r.id = p.result WHERE s.print = ?`, print.Hex())
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	defer rows.Close()
	var out []history.Point
	for rows.Next() {
		var p history.Point
		var started int64
		var sum []byte
		if err := rows.Scan(&p.Value, &started, &p.Result.Producer, &p.Result.IngestKey, &sum, &p.Status, &p.Revision, &p.Tree, &p.Dirty, &p.RunKey, &p.Side, &p.Round, &p.Slot); err != nil {
			return nil, sqlite.Broken(err, op)
		}
		copy(p.SHA256[:], sum)
		p.Started = time.Unix(0, started).UTC()
		out = append(out, p)
	}
	return history.ByStart(out), sqlite.Broken(rows.Err(), op)
}
