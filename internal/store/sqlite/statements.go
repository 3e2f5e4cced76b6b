package sqlite

import (
	"errors"
	"fmt"
)

// statements are the writer's prepared statements, named like the queries.
type statements struct {
	begin, commit, rollback, dataVersion, checkpoint *statement
	position, insertWorkspace                        *statement
	insertEvent, onceEvent, placeOfEvent             *statement
	insertDocument, sumOfDocument, refOfIdentity     *statement
	versionOfCell, putCell, fold, setFolded          *statement
}

func (s *statements) byName() map[string]**statement {
	return map[string]**statement{
		"Begin": &s.begin, "Commit": &s.commit, "Rollback": &s.rollback, "DataVersion": &s.dataVersion,
		"Checkpoint": &s.checkpoint,
		"Position":   &s.position, "InsertWorkspace": &s.insertWorkspace,
		"InsertEvent": &s.insertEvent, "OnceEvent": &s.onceEvent, "PlaceOfEvent": &s.placeOfEvent,
		"InsertDocument": &s.insertDocument, "SumOfDocument": &s.sumOfDocument, "RefOfIdentity": &s.refOfIdentity,
		"VersionOfCell": &s.versionOfCell, "PutCell": &s.putCell, "Fold": &s.fold, "SetFolded": &s.setFolded,
	}
}

func (s *statements) prepare(conn *direct) error {
	for name, to := range s.byName() {
		sql, err := query(name)
		if err == nil {
			*to, err = conn.prepare(sql)
		}
		if err != nil {
			return fmt.Errorf("statement %s: %w", name, err)
		}
	}
	return nil
}

func (s *statements) close() (err error) {
	for _, p := range s.byName() {
		if *p != nil {
			err = errors.Join(err, (*p).stmt.Close())
		}
	}
	return err
}
