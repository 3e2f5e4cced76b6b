package results

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"writ/internal/canon"
	"writ/internal/history"
	"writ/internal/result"
	"writ/internal/store/sqlite"
)

// maxFindings ends a check: a file with more is lost anyway.
const maxFindings = 1000

// Check reads everything, in one snapshot, and reports what does not hold: the pages
// and indexes of the file, documents that do not have the bytes of their digest, and
// points that do not follow from their document. It stops after 1000 findings.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	const op = "check store"
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	c := &checker{ctx: ctx, tx: tx}
	for _, part := range []func() error{c.pages, c.orders, c.points, c.results} {
		if err := part(); err != nil {
			return c.found, sqlite.Broken(err, op)
		}
	}
	return c.found, nil
}

type checker struct {
	ctx    context.Context
	tx     *sql.Tx
	found  []string
	stored map[int64]map[string]float64 // values of a result by series
}

func (c *checker) note(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// each calls do for the rows of a query until there are enough findings.
func (c *checker) each(query string, do func(scan func(...any) error) error) error {
	rows, err := c.tx.QueryContext(c.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() && len(c.found) < maxFindings {
		if err := do(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *checker) pages() error {
	return c.each(`PRAGMA integrity_check(100)`, func(scan func(...any) error) error {
		var line string
		err := scan(&line)
		if err == nil && line != "ok" {
			c.note("file: %s", line)
		}
		return err
	})
}

func (c *checker) orders() error {
	return c.each(`SELECT sha256, body FROM orders`, func(scan func(...any) error) error {
		var sum, body []byte
		err := scan(&sum, &body)
		if err == nil && string(sum) != string(digest(body)) {
			c.note("order %x: its bytes have another digest", sum)
		}
		return err
	})
}

func (c *checker) points() error {
	c.stored = map[int64]map[string]float64{}
	return c.each(`SELECT p.result, s.print, p.value FROM points p JOIN series s ON s.id = p.series`, func(scan func(...any) error) error {
		var id int64
		var print string
		var value float64
		err := scan(&id, &print, &value)
		if c.stored[id] == nil {
			c.stored[id] = map[string]float64{}
		}
		c.stored[id][print] = value
		return err
	})
}

// results holds every document against its digest, and its points against it.
func (c *checker) results() error {
	return c.each(`SELECT id, sha256, body FROM results`, func(scan func(...any) error) error {
		var id int64
		var sum, body []byte
		if err := scan(&id, &sum, &body); err != nil {
			return err
		}
		if string(sum) != string(digest(body)) {
			c.note("result %x: its bytes have another digest", sum)
			return nil
		}
		r, err := result.Parse(body)
		if err != nil {
			c.note("result %x: %v", sum, err)
			return nil
		}
		values := history.Values(&r)
		if len(values) != len(c.stored[id]) {
			c.note("result %x: it has %d points, not %d", sum, len(c.stored[id]), len(values))
		}
		for _, v := range values {
			if got, ok := c.stored[id][v.Series.Print.Hex()]; ok && math.Float64bits(got) != math.Float64bits(v.Value) {
				c.note("result %x: series %s has %v, not %v", sum, v.Series.Print.Hex(), got, v.Value)
			}
		}
		return nil
	})
}

func digest(b []byte) []byte {
	d := canon.Sum(b)
	return d[:]
}
