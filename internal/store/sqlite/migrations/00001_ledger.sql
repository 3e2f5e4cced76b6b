-- +goose Up

CREATE TABLE workspaces (
    number INTEGER PRIMARY KEY,
    name   TEXT    NOT NULL UNIQUE,
    folded INTEGER NOT NULL DEFAULT 0 -- newest sequence number that scopes covers
) STRICT;

-- The log. place is the workspace's number in the upper bits and the sequence
-- number in the lower 44, so that one tree both keeps a workspace's events in
-- order and makes a sequence number unique.
CREATE TABLE events (
    place       INTEGER PRIMARY KEY,
    workspace   INTEGER NOT NULL,
    ts          INTEGER NOT NULL, -- Unix milliseconds
    id          TEXT    NOT NULL,
    type        TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    space_id    TEXT    NOT NULL, -- '' where there is none, here and below
    run_id      TEXT    NOT NULL,
    lane_id     TEXT    NOT NULL,
    principal   TEXT    NOT NULL, -- set on the primary event of an idempotent commit
    once_key    TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    prev        BLOB    NOT NULL,
    hash        BLOB    NOT NULL,
    body        BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_id ON events (workspace, id);

-- The key stands before the principal: clients make keys that grow with time,
-- so keys of one batch are neighbours whoever sent them, and share a page.
CREATE UNIQUE INDEX events_once ON events (workspace, once_key, principal) WHERE once_key <> '';

-- Where a run, a lane or a space has its events, up to workspaces.folded. Later
-- events are found by reading the end of the log.
CREATE TABLE scopes (
    scope TEXT    NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (scope, place)
) STRICT, WITHOUT ROWID;

-- place is made like that of an event, from the order of acceptance.
CREATE TABLE documents (
    place     INTEGER PRIMARY KEY,
    workspace INTEGER NOT NULL,
    ts        INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    ref       TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    identity  TEXT    NOT NULL,
    event_id  TEXT    NOT NULL,
    sha256    BLOB    NOT NULL,
    body      BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX documents_ref ON documents (workspace, ref);
CREATE UNIQUE INDEX documents_identity ON documents (workspace, identity) WHERE identity <> '';
CREATE INDEX documents_sha256 ON documents (workspace, sha256);
CREATE INDEX documents_run ON documents (workspace, run_id) WHERE run_id <> '';
CREATE INDEX documents_kind ON documents (workspace, kind);

-- A deleted cell keeps its row and its version, so that versions never restart.
CREATE TABLE cells (
    workspace INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    deleted   INTEGER NOT NULL,
    state     TEXT    NOT NULL,
    value     BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX cells_key ON cells (workspace, kind, key);
CREATE INDEX cells_state ON cells (workspace, kind, state, key) WHERE deleted = 0;
