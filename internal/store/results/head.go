package results

import (
	"context"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/store/sqlite"
)

// Stored is a result as the store keeps it.
type Stored struct {
	Received time.Time
	Project  string
	Body     []byte // canonical document, held against its digest
	SHA256   canon.Digest
}

// Head returns the newest results, the latest arrival first. A body that is not
// that of its digest is fault.Corrupt.
func (s *Store) Head(ctx context.Context, n int) ([]Stored, error) {
	return s.stored(ctx, "read results", `SELECT received, project, sha256, body FROM results ORDER BY id DESC LIMIT ?`, n)
}

// Unfinished returns the attempts at what a series measures that gave no value, the
// latest arrival first.
func (s *Store) Unfinished(ctx context.Context, comparison canon.Digest) ([]Stored, error) {
	return s.stored(ctx, "read results",
		`SELECT received, project, sha256, body FROM results WHERE comparison = ? AND status NOT IN ('success', 'partial') ORDER BY id DESC`, comparison[:])
}

func (s *Store) stored(ctx context.Context, op, query string, args ...any) ([]Stored, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	defer rows.Close()
	var out []Stored
	for rows.Next() {
		var x Stored
		var received int64
		var sum []byte
		if err := rows.Scan(&received, &x.Project, &sum, &x.Body); err != nil {
			return nil, sqlite.Broken(err, op)
		}
		x.Received = time.UnixMilli(received).UTC()
		if copy(x.SHA256[:], sum); canon.Sum(x.Body) != x.SHA256 {
			return nil, damaged("result %s", x.SHA256.Hex())
		}
		out = append(out, x)
	}
	return out, sqlite.Broken(rows.Err(), op)
}

// Result reads a stored result.
func (x Stored) Result() (result.Result, error) {
	r, err := result.Parse(x.Body)
	if err != nil {
		return r, fault.Wrap(err, fault.Corrupt, "read results", "result %s cannot be read", x.SHA256.Hex())
	}
	return r, nil
}

// Order returns the canonical bytes of a stored order; fault.NotFound for one that
// never came.
func (s *Store) Order(ctx context.Context, digest canon.Digest) ([]byte, error) {
	const op = "read order"
	rows, err := s.db.QueryContext(ctx, `SELECT body FROM orders WHERE sha256 = ?`, digest[:])
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, sqlite.Broken(err, op)
		}
		return nil, fault.New(fault.NotFound, op, "there is no order %s", digest)
	}
	var body []byte
	if err := rows.Scan(&body); err != nil {
		return nil, sqlite.Broken(err, op)
	}
	if canon.Sum(body) != digest {
		return nil, damaged("order %s", digest)
	}
	return body, nil
}
