package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// Document finds a document by its ref, or by "sha256:<hex>" of its bytes. A
// ref that is spelt like a digest wins; of several documents with the same
// bytes the oldest does.
func (s *Store) Document(ctx context.Context, workspace, ref string) (ledger.Document, error) {
	d, err := scanDocument(workspace, s.reader.documentByRef.QueryRowContext(ctx, workspace, ref).Scan)
	if errors.Is(err, sql.ErrNoRows) && strings.HasPrefix(ref, "sha256:") {
		if sum, bad := canon.ParseRoot(ref); bad == nil {
			d, err = scanDocument(workspace, s.reader.documentBySum.QueryRowContext(ctx, workspace, sum[:]).Scan)
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.Document{}, fault.New(fault.NotFound, "read document", "no document %s", ref)
	}
	return d, broken(err, "read document")
}

// Documents lists documents in the order in which they were accepted.
func (s *Store) Documents(ctx context.Context, workspace string, f ledger.DocumentFilter) ([]ledger.Document, error) {
	const op = "list documents"
	var number int64
	err := s.reader.number.QueryRowContext(ctx, workspace).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, broken(err, op)
	}
	var rows *sql.Rows
	switch {
	case f.RunID != "":
		rows, err = s.reader.documentsOfRun.QueryContext(ctx, number, f.RunID, list(f.Kinds))
	case len(f.Kinds) > 0:
		rows, err = s.reader.documentsOfKinds.QueryContext(ctx, number, list(f.Kinds))
	default:
		rows, err = s.reader.documents.QueryContext(ctx, number)
	}
	if err != nil {
		return nil, broken(err, op)
	}
	return collect(rows, op, func(scan scanner) (ledger.Document, error) { return scanDocument(workspace, scan) })
}

func scanDocument(workspace string, scan scanner) (ledger.Document, error) {
	d := ledger.Document{Workspace: workspace}
	var at, ts int64
	var sum []byte
	err := scan(&at, &ts, &d.Kind, &d.Ref, &d.RunID, &d.Identity, &d.Event, &sum, &d.Body)
	d.Order, d.StoredAt = seqOf(at), time.UnixMilli(ts).UTC()
	copy(d.SHA256[:], sum)
	return d, err
}
