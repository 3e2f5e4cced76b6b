package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"writ/internal/canon"
	"writ/internal/ledger"
)

// maxFindings ends a check: a file with more is lost anyway.
const maxFindings = 1000

// Check reads everything, in one snapshot, and reports what does not hold: the
// pages and indexes of the file itself, gaps, time that runs backwards, a
// broken chain, idempotency keys that cannot be replayed, documents whose
// bytes are not those of their digest. It stops after 1000 findings.
func (s *Store) Check(ctx context.Context) ([]ledger.Finding, error) {
	tx, err := s.reader.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, broken(err, "check store")
	}
	c := &checker{ctx: ctx, tx: tx}
	err = c.all()
	if err = errors.Join(err, tx.Rollback()); err != nil && !errors.Is(err, errEnough) {
		return c.found, broken(err, "check store")
	}
	return c.found, nil
}

var errEnough = errors.New("enough findings")

type checker struct {
	ctx   context.Context
	tx    *sql.Tx
	found []ledger.Finding
}

func (c *checker) all() error {
	if err := c.integrity(); err != nil {
		return err
	}
	type workspace struct {
		number int64
		name   string
		folded int64
	}
	var all []workspace
	err := c.each("CheckWorkspaces", nil, func(scan scanner) error {
		var w workspace
		err := scan(&w.number, &w.name, &w.folded)
		all = append(all, w)
		return err
	})
	if err != nil {
		return err
	}
	for _, w := range all {
		if err := c.events(w.name, w.number, w.folded); err != nil {
			return err
		}
		if err := c.documents(w.name, w.number); err != nil {
			return err
		}
	}
	return c.leftovers()
}

// integrity asks SQLite about its own pages and whether indexes and tables agree.
func (c *checker) integrity() error {
	return c.each("Integrity", nil, func(scan scanner) error {
		var line string
		if err := scan(&line); err != nil || line == "ok" {
			return err
		}
		return c.add("", "database file", "%s", line)
	})
}

func (c *checker) events(workspace string, number, folded int64) error {
	var last struct {
		seq, ts int64
		hash    canon.Digest
	}
	err := c.each("CheckEvents", []any{number}, func(scan scanner) error {
		var at, ts, home int64
		var principal, key string
		var fingerprint, prev, hash []byte
		var body sql.RawBytes
		if err := scan(&at, &ts, &principal, &key, &fingerprint, &prev, &hash, &body, &home); err != nil {
			return err
		}
		seq := seqOf(at)
		where := fmt.Sprintf("event %d", seq)
		want := ledger.Chain(last.hash, seq, time.UnixMilli(ts), body)
		err := errors.Join(
			c.unless(seq == last.seq+1, workspace, where, "follows event %d: %d are missing", last.seq, seq-last.seq-1),
			c.unless(ts >= last.ts || last.seq == 0, workspace, where, "is dated before the event in front of it"),
			c.unless(string(prev) == string(last.hash[:]), workspace, where, "does not name the hash of the event in front of it"),
			c.unless(string(hash) == string(want[:]), workspace, where, "has a hash that is not that of its content"),
			c.unless(home == number, workspace, where, "stands in another workspace's log"),
			c.unless((key == "") == (principal == "") && (key == "") == (len(fingerprint) == 0) && (key == "" || len(fingerprint) == len(canon.Digest{})),
				workspace, where, "has an idempotency key that cannot be replayed"),
		)
		last.seq, last.ts = seq, ts
		copy(last.hash[:], hash)
		return err
	})
	if err != nil {
		return err
	}
	if err := c.unless(folded <= last.seq, workspace, "index of runs, lanes and spaces", "ends at event %d, beyond the log", folded); err != nil {
		return err
	}
	return c.each("CheckUnfolded", []any{number, place(number, folded)}, func(scan scanner) error {
		var at int64
		if err := scan(&at); err != nil {
			return err
		}
		return c.add(workspace, fmt.Sprintf("event %d", seqOf(at)), "is missing from the index of runs, lanes and spaces")
	})
}

func (c *checker) documents(workspace string, number int64) error {
	var last int64
	return c.each("CheckDocuments", []any{number}, func(scan scanner) error {
		var at, home int64
		var ref string
		var sum []byte
		var body sql.RawBytes
		if err := scan(&at, &ref, &sum, &body, &home); err != nil {
			return err
		}
		where, is := "document "+ref, canon.Sum(body)
		err := errors.Join(
			c.unless(seqOf(at) == last+1, workspace, where, "is number %d and follows number %d", seqOf(at), last),
			c.unless(string(sum) == string(is[:]), workspace, where, "has bytes that are not those of its digest"),
			c.unless(home == number, workspace, where, "stands among another workspace's documents"),
		)
		last = seqOf(at)
		return err
	})
}

// leftovers looks for rows that belong to nothing.
func (c *checker) leftovers() error {
	err := c.each("CheckScopes", nil, func(scan scanner) error {
		var scope string
		var at int64
		if err := scan(&scope, &at); err != nil {
			return err
		}
		return c.add("", "index of runs, lanes and spaces", "names event %d for %s, which is not its own", seqOf(at), scope)
	})
	if err != nil {
		return err
	}
	err = c.each("CheckCells", nil, func(scan scanner) error {
		var workspace sql.NullString
		var kind, key string
		if err := scan(&workspace, &kind, &key); err != nil {
			return err
		}
		return c.add(workspace.String, fmt.Sprintf("cell %s %s", kind, key), "has no workspace, no version, or a value although it is deleted")
	})
	if err != nil {
		return err
	}
	return c.each("CheckStrays", nil, func(scan scanner) error {
		var what string
		var number, count int64
		if err := scan(&what, &number, &count); err != nil {
			return err
		}
		return c.add("", fmt.Sprintf("workspace %d", number), "does not exist and has %d %s", count, what)
	})
}

// each runs the statement called name and hands every row to one.
func (c *checker) each(name string, args []any, one func(scanner) error) (err error) {
	text, err := query(name)
	if err != nil {
		return err
	}
	rows, err := c.tx.QueryContext(c.ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := one(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *checker) unless(ok bool, workspace, where, what string, args ...any) error {
	if ok {
		return nil
	}
	return c.add(workspace, where, what, args...)
}

func (c *checker) add(workspace, where, what string, args ...any) error {
	if len(c.found) == maxFindings {
		return errEnough
	}
	c.found = append(c.found, ledger.Finding{Workspace: workspace, Where: where, What: fmt.Sprintf(what, args...)})
	return nil
}
