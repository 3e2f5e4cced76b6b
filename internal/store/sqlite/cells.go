package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"writ/internal/fault"
	"writ/internal/ledger"
)

// Cell returns one cell.
func (s *Store) Cell(ctx context.Context, workspace, kind, key string) (ledger.Cell, error) {
	c, err := scanCell(kind, s.reader.cell.QueryRowContext(ctx, workspace, kind, key).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return ledger.Cell{}, fault.New(fault.NotFound, "read cell", "no %s %s", kind, key)
	}
	return c, broken(err, "read cell")
}

// Cells lists the cells of one kind by key. The filter must name the kind.
func (s *Store) Cells(ctx context.Context, workspace string, f ledger.CellFilter) ([]ledger.Cell, error) {
	if f.Kind == "" {
		return nil, fault.New(fault.Invalid, "list cells", "the filter names no kind")
	}
	args := []any{workspace, f.Kind, f.Prefix, after(f.Prefix)}
	stmt := s.reader.cells
	if f.State != "" {
		stmt, args = s.reader.cellsInState, append(args, f.State)
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, broken(err, "list cells")
	}
	return collect(rows, "list cells", func(scan scanner) (ledger.Cell, error) { return scanCell(f.Kind, scan) })
}

// after is a string above every key that starts with prefix: no UTF-8 text
// holds the byte 0xFF.
func after(prefix string) string { return prefix + "\xff" }

func scanCell(kind string, scan scanner) (ledger.Cell, error) {
	c := ledger.Cell{Kind: kind}
	err := scan(&c.Key, &c.Version, &c.State, &c.Value)
	return c, err
}
