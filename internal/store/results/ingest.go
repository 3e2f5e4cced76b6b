package results

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"writ/internal/canon"
	"writ/internal/history"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/store/sqlite"
)

// Ingest decides about results one after the other and keeps what is accepted, all
// in one transaction: an error means that nothing was. A rejection is no error.
// Orders are kept by digest, for whoever wants to know what was planned.
func (s *Store) Ingest(ctx context.Context, batch []result.Result, orders ...order.Order) (_ []history.Decision, err error) {
	const op = "ingest"
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	in := &intake{ctx: ctx, tx: tx, received: s.now().UnixMilli(), units: map[unitKey]string{}, series: map[canon.Digest]int64{}, statements: map[string]*sql.Stmt{}}
	out, err := in.all(batch, orders)
	if err == nil {
		err = tx.Commit()
	} else {
		err = errors.Join(err, tx.Rollback())
	}
	if err != nil {
		return nil, sqlite.Broken(err, op)
	}
	return out, nil
}

// intake is one transaction, with what it has looked up.
type intake struct {
	ctx        context.Context
	tx         *sql.Tx
	received   int64
	units      map[unitKey]string
	series     map[canon.Digest]int64
	statements map[string]*sql.Stmt // closed with the transaction
}

type unitKey struct{ project, quantity string }

func (in *intake) all(batch []result.Result, orders []order.Order) ([]history.Decision, error) {
	for _, o := range orders {
		digest := o.Digest()
		if err := in.exec(`INSERT OR IGNORE INTO orders (sha256, body) VALUES (?, ?)`, digest[:], o.Value().Canonical()); err != nil {
			return nil, err
		}
	}
	out := make([]history.Decision, len(batch))
	for i := range batch {
		r := &batch[i]
		known, err := in.known(r)
		if err != nil {
			return nil, err
		}
		if out[i] = history.Decide(r, known); out[i].Answer != history.Accepted {
			continue
		}
		if err := in.keep(r, known); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// known asks for what bears on a result.
func (in *intake) known(r *result.Result) (k history.Known, err error) {
	var sum []byte
	switch found, err := in.row(`SELECT sha256 FROM results WHERE ingest_key = ? AND producer = ?`, &sum, r.IngestKey, r.Producer.Name); {
	case err != nil:
		return k, err
	case found:
		k.Payload = new(canon.Digest)
		copy(k.Payload[:], sum)
		return k, nil // decides alone
	}
	key := unitKey{history.Project(r), r.Coordinates.Quantity.Name}
	unit, ok := in.units[key]
	if !ok {
		if _, err := in.row(`SELECT unit FROM units WHERE project = ? AND quantity = ?`, &unit, key.project, key.quantity); err != nil {
			return k, err
		}
		if unit != "" {
			in.units[key] = unit
		}
	}
	k.Unit = unit
	var signature []byte
	found, err := in.row(`SELECT signature FROM attempts WHERE attempt_key = ?`, &signature, r.AttemptKey)
	if found {
		k.Attempt = new(canon.Digest)
		copy(k.Attempt[:], signature)
	}
	return k, err
}

// keep writes an accepted result and its points.
func (in *intake) keep(r *result.Result, k history.Known) error {
	project, q := history.Project(r), r.Coordinates.Quantity
	if k.Unit == "" {
		in.units[unitKey{project, q.Name}] = q.Unit
		if err := in.exec(`INSERT INTO units (project, quantity, unit) VALUES (?, ?, ?)`, project, q.Name, q.Unit); err != nil {
			return err
		}
	}
	if k.Attempt == nil {
		signature := result.AttemptPrint(r)
		if err := in.exec(`INSERT INTO attempts (attempt_key, signature) VALUES (?, ?)`, r.AttemptKey, signature[:]); err != nil {
			return err
		}
	}
	started, err := time.Parse(time.RFC3339Nano, r.Provenance.StartedAt)
	if err != nil {
		return err // the schema has checked it
	}
	values := history.Values(r)
	var comparison canon.Digest
	if len(values) > 0 {
		comparison = values[0].Series.Comparison
	} else {
		comparison = history.Comparison(r)
	}
	sum, m, p := r.Digest(), r.Measurement, r.Provenance
	id, err := in.insert(`INSERT INTO results (sha256, producer, ingest_key, attempt_key, project, thin, workload, parameters, quantity, comparison,
		status, reason, revision, tree, dirty, run_key, side, round, slot, started, received, work_order, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, sum[:], r.Producer.Name, r.IngestKey, r.AttemptKey, project, history.Thin(r),
		r.Coordinates.Workload.Name, text(r.Coordinates.Workload.Parameters), q.Name, comparison[:],
		string(m.Status), m.Reason, r.Revision.Key, p.SubjectTree, p.SubjectDirty, p.RunKey, p.Labels["side"],
		r.Procedure.Round, r.Procedure.Slot, started.UnixNano(), in.received, r.WorkOrder(), r.Canonical())
	if err != nil {
		return err
	}
	for _, v := range values {
		series, err := in.seriesOf(v.Series)
		if err != nil {
			return err
		}
		if err := in.exec(`INSERT INTO points (series, result, value) VALUES (?, ?, ?)`, series, id, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// seriesOf returns the number of a series, which is made when it is new.
func (in *intake) seriesOf(s history.Series) (id int64, err error) {
	if id, ok := in.series[s.Print]; ok {
		return id, nil
	}
	found, err := in.row(`SELECT id FROM series WHERE print = ?`, &id, s.Print.Hex())
	if err != nil {
		return 0, err
	}
	if !found {
		id, err = in.insert(`INSERT INTO series (print, comparison, estimator, derived, project, thin, source, workload, parameters, quantity, unit, direction, environment)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, s.Print.Hex(), s.Comparison[:], string(canon.MustFrom(s.Estimator).Canonical()), s.Derived, s.Project, s.Thin,
			s.Source, s.Workload, text(s.Parameters), s.Quantity, s.Unit, s.Direction, string(canon.MustFrom(s.Environment).Canonical()))
		if err != nil {
			return 0, err
		}
	}
	in.series[s.Print] = id
	return id, nil
}

// text is a map of parameters as it is stored.
func text(parameters map[string]canon.Value) string {
	if len(parameters) == 0 {
		return ""
	}
	return string(canon.MustFrom(parameters).Canonical())
}

// statement prepares a statement once for the transaction.
func (in *intake) statement(text string) (*sql.Stmt, error) {
	if s, ok := in.statements[text]; ok {
		return s, nil
	}
	s, err := in.tx.PrepareContext(in.ctx, text)
	if err == nil {
		in.statements[text] = s
	}
	return s, err
}

func (in *intake) exec(text string, args ...any) error {
	_, err := in.insert(text, args...)
	return err
}

// insert runs a statement and returns the number of the row that it made.
func (in *intake) insert(text string, args ...any) (id int64, err error) {
	s, err := in.statement(text)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(in.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// row reads the one column of the one row, if there is one.
func (in *intake) row(text string, to any, args ...any) (found bool, err error) {
	s, err := in.statement(text)
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(in.ctx, args...).Scan(to)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
