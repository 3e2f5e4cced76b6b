-- Every statement of the store, each under its name. Parameters are numbered.

-- ---------------------------------------------------------------- the writer

-- name: Begin
BEGIN IMMEDIATE;

-- name: Commit
COMMIT;

-- name: Rollback
ROLLBACK;

-- name: DataVersion
PRAGMA data_version;

-- name: Checkpoint
PRAGMA wal_checkpoint(PASSIVE);

-- name: Position
SELECT w.number, w.folded, e.place, e.ts, e.hash,
       (SELECT d.place FROM documents d
         WHERE d.place > w.number << 44 AND d.place < (w.number + 1) << 44
         ORDER BY d.place DESC LIMIT 1)
  FROM workspaces w
  LEFT JOIN events e ON e.place = (
       SELECT l.place FROM events l
        WHERE l.place > w.number << 44 AND l.place < (w.number + 1) << 44
        ORDER BY l.place DESC LIMIT 1)
 WHERE w.name = ?1;

-- name: InsertWorkspace
INSERT INTO workspaces (name) VALUES (?1) RETURNING number;

-- name: InsertEvent
INSERT INTO events (place, workspace, ts, id, type, actor, space_id, run_id, lane_id,
                    principal, once_key, fingerprint, prev, hash, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING;

-- name: OnceEvent
SELECT fingerprint, place, ts, id, type, actor, space_id, run_id, lane_id, prev, hash, body
  FROM events
 WHERE workspace = ?1 AND once_key = ?2 AND once_key <> '' AND principal = ?3;

-- name: PlaceOfEvent
SELECT place FROM events WHERE workspace = ?1 AND id = ?2;

-- name: InsertDocument
INSERT INTO documents (place, workspace, ts, kind, ref, run_id, identity, event_id, sha256, body)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING;

-- name: SumOfDocument
SELECT sha256 FROM documents WHERE workspace = ?1 AND ref = ?2;

-- name: RefOfIdentity
SELECT ref FROM documents WHERE workspace = ?1 AND identity = ?2 AND identity <> '';

-- name: VersionOfCell
SELECT version, deleted FROM cells WHERE workspace = ?1 AND kind = ?2 AND key = ?3;

-- name: PutCell
INSERT INTO cells (workspace, kind, key, version, deleted, state, value)
VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (workspace, kind, key) DO UPDATE
   SET version = excluded.version, deleted = excluded.deleted, state = excluded.state, value = excluded.value;

-- name: Fold
INSERT OR IGNORE INTO scopes (scope, place)
SELECT CASE which.n WHEN 0 THEN run_id WHEN 1 THEN lane_id ELSE space_id END AS holder, place
  FROM events
 CROSS JOIN (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2) which
 WHERE place > ?1 AND place <= ?2 AND holder <> '';

-- name: SetFolded
UPDATE workspaces SET folded = ?2 WHERE number = ?1;

-- --------------------------------------------------------------- the readers

-- name: Bounds
SELECT w.number, w.folded,
       coalesce((SELECT place FROM events
         WHERE place > w.number << 44 AND place < (w.number + 1) << 44
         ORDER BY place DESC LIMIT 1), 0),
       coalesce((SELECT place FROM events
         WHERE place > w.number << 44 AND place < (w.number + 1) << 44
         ORDER BY place LIMIT 1), 0)
  FROM workspaces w
 WHERE w.name = ?1;

-- name: EventsInRange
SELECT place, ts, id, type, actor, space_id, run_id, lane_id, prev, hash, body
  FROM events
 WHERE place > ?1 AND place <= ?2
   AND (?3 = '' OR run_id = ?3)
   AND (?4 = '' OR lane_id = ?4)
   AND (?5 = '' OR space_id = ?5)
   AND (?6 = '' OR type IN (SELECT value FROM json_each(?6)))
 ORDER BY place
 LIMIT ?7;

-- name: EventsOfScope
SELECT e.place, e.ts, e.id, e.type, e.actor, e.space_id, e.run_id, e.lane_id, e.prev, e.hash, e.body
  FROM scopes s
  CROSS JOIN events e ON e.place = s.place
 WHERE s.scope = ?8 AND s.place > ?1 AND s.place <= ?2
   AND (?3 = '' OR e.run_id = ?3)
   AND (?4 = '' OR e.lane_id = ?4)
   AND (?5 = '' OR e.space_id = ?5)
   AND (?6 = '' OR e.type IN (SELECT value FROM json_each(?6)))
 ORDER BY s.place
 LIMIT ?7;

-- name: EventByID
SELECT place, ts, id, type, actor, space_id, run_id, lane_id, prev, hash, body
  FROM events
 WHERE workspace = (SELECT number FROM workspaces WHERE name = ?1) AND id = ?2;

-- name: DocumentByRef
SELECT place, ts, kind, ref, run_id, identity, event_id, sha256, body
  FROM documents
 WHERE workspace = (SELECT number FROM workspaces WHERE name = ?1) AND ref = ?2;

-- name: DocumentBySum
SELECT place, ts, kind, ref, run_id, identity, event_id, sha256, body
  FROM documents
 WHERE place = (SELECT min(place) FROM documents
                 WHERE workspace = (SELECT number FROM workspaces WHERE name = ?1) AND sha256 = ?2);

-- name: Documents
SELECT place, ts, kind, ref, run_id, identity, event_id, sha256, body
  FROM documents
 WHERE place > ?1 << 44 AND place < (?1 + 1) << 44
 ORDER BY place;

-- name: DocumentsOfRun
SELECT place, ts, kind, ref, run_id, identity, event_id, sha256, body
  FROM documents
 WHERE workspace = ?1 AND run_id = ?2 AND run_id <> ''
   AND (?3 = '' OR kind IN (SELECT value FROM json_each(?3)))
 ORDER BY place;

-- name: DocumentsOfKinds
SELECT place, ts, kind, ref, run_id, identity, event_id, sha256, body
  FROM documents
 WHERE place IN (SELECT place FROM documents
                  WHERE workspace = ?1 AND kind IN (SELECT value FROM json_each(?2)))
 ORDER BY place;

-- name: NumberOfWorkspace
SELECT number FROM workspaces WHERE name = ?1;

-- name: Cell
SELECT key, version, state, value
  FROM cells
 WHERE workspace = (SELECT number FROM workspaces WHERE name = ?1)
   AND kind = ?2 AND key = ?3 AND deleted = 0;

-- name: Cells
SELECT key, version, state, value
  FROM cells
 WHERE workspace = (SELECT number FROM workspaces WHERE name = ?1)
   AND kind = ?2 AND key >= ?3 AND key < ?4 AND deleted = 0
 ORDER BY key;

-- name: CellsInState
SELECT key, version, state, value
  FROM cells
 WHERE workspace = (SELECT number FROM workspaces WHERE name = ?1)
   AND kind = ?2 AND state = ?5 AND key >= ?3 AND key < ?4 AND deleted = 0
 ORDER BY key;

-- name: Workspaces
SELECT name FROM workspaces w
 WHERE EXISTS (SELECT 1 FROM events WHERE place > w.number << 44 AND place < (w.number + 1) << 44)
    OR EXISTS (SELECT 1 FROM cells WHERE workspace = w.number)
 ORDER BY name;

-- ----------------------------------------------------------------- the check

-- name: Integrity
PRAGMA integrity_check(100);

-- name: CheckWorkspaces
SELECT number, name, folded FROM workspaces ORDER BY number;

-- name: CheckEvents
SELECT place, ts, principal, once_key, fingerprint, prev, hash, body, workspace
  FROM events
 WHERE place > ?1 << 44 AND place < (?1 + 1) << 44
 ORDER BY place;

-- name: CheckDocuments
SELECT place, ref, sha256, body, workspace
  FROM documents
 WHERE place > ?1 << 44 AND place < (?1 + 1) << 44
 ORDER BY place;

-- name: CheckUnfolded
SELECT e.place FROM events e
 WHERE e.place > ?1 << 44 AND e.place <= ?2
   AND ((e.run_id <> '' AND NOT EXISTS (SELECT 1 FROM scopes s WHERE s.scope = e.run_id AND s.place = e.place))
     OR (e.lane_id <> '' AND NOT EXISTS (SELECT 1 FROM scopes s WHERE s.scope = e.lane_id AND s.place = e.place))
     OR (e.space_id <> '' AND NOT EXISTS (SELECT 1 FROM scopes s WHERE s.scope = e.space_id AND s.place = e.place)))
 ORDER BY e.place;

-- name: CheckScopes
SELECT s.scope, s.place FROM scopes s
  LEFT JOIN events e ON e.place = s.place
 WHERE e.place IS NULL OR s.scope = '' OR s.scope NOT IN (e.run_id, e.lane_id, e.space_id)
 ORDER BY s.place;

-- name: CheckCells
SELECT w.name, c.kind, c.key FROM cells c
  LEFT JOIN workspaces w ON w.number = c.workspace
 WHERE c.version < 1 OR w.number IS NULL OR (c.deleted <> 0 AND length(c.value) > 0)
 ORDER BY 1, 2, 3;

-- name: CheckStrays
SELECT 'events', place >> 44, count(*) FROM events
 WHERE place >> 44 NOT IN (SELECT number FROM workspaces) GROUP BY 2
 UNION ALL
SELECT 'documents', place >> 44, count(*) FROM documents
 WHERE place >> 44 NOT IN (SELECT number FROM workspaces) GROUP BY 2;
