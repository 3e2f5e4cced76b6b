package sqlite

import (
	"database/sql/driver"

	"writ/internal/canon"
)

// foldAfter is how many events of a workspace may stand outside scopes. A
// filtered read looks through that many rows; a larger number makes appends
// cheaper, because one fold visits each page of scopes once for all of them.
const foldAfter = 512

// position is where a workspace stands inside the open transaction.
type position struct {
	number int64        // 0 while the workspace has no row
	seq    int64        // of the newest event
	ts     int64        // of it, Unix milliseconds
	hash   canon.Digest // of it
	order  int64        // of the newest document
	folded int64        // newest sequence number that scopes covers
}

// position returns where the workspace stands, reading it at first use.
func (w *writer) position(workspace string) (*position, error) {
	if p := w.positions[workspace]; p != nil {
		return p, nil
	}
	p := &position{}
	row := make([]driver.Value, 6)
	found, err := w.do.position.row(row, workspace)
	if err != nil {
		return nil, err
	}
	if found {
		p.number, p.folded = row[0].(int64), row[1].(int64)
		if at, ok := row[2].(int64); ok {
			p.seq, p.ts = seqOf(at), row[3].(int64)
			copy(p.hash[:], row[4].([]byte))
		}
		if at, ok := row[5].(int64); ok {
			p.order = seqOf(at)
		}
	}
	w.positions[workspace] = p
	return p, nil
}

// enter gives the workspace its row, if it has none.
func (w *writer) enter(p *position, workspace string) error {
	if p.number != 0 {
		return nil
	}
	row := make([]driver.Value, 1)
	if _, err := w.do.insertWorkspace.row(row, workspace); err != nil {
		return err
	}
	n := row[0].(int64)
	if n > maxNumbers {
		return errFull("workspaces", maxNumbers)
	}
	p.number = n
	return nil
}

// fold brings scopes up to date for the workspaces of the batch that lag behind.
func (w *writer) fold(batch []*request) error {
	for _, r := range batch {
		p := w.positions[r.commit.Workspace]
		if p == nil || p.seq-p.folded < foldAfter {
			continue
		}
		if _, err := w.do.fold.run(named(place(p.number, p.folded), place(p.number, p.seq))); err != nil {
			return err
		}
		if _, err := w.do.setFolded.run(named(p.number, p.seq)); err != nil {
			return err
		}
		p.folded = p.seq
	}
	return nil
}
