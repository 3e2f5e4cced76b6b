-- +goose Up

-- Every result that was accepted, in the order of arrival. body is the canonical
-- document and stays last: lists do not read it.
CREATE TABLE results (
    id          INTEGER PRIMARY KEY,
    sha256      BLOB    NOT NULL UNIQUE, -- of body
    producer    TEXT    NOT NULL,
    ingest_key  TEXT    NOT NULL,
    attempt_key TEXT    NOT NULL,
    project     TEXT    NOT NULL, -- its own or its machine's
    thin        INTEGER NOT NULL,
    workload    TEXT    NOT NULL,
    parameters  TEXT    NOT NULL, -- canonical JSON, '' for none
    quantity    TEXT    NOT NULL,
    comparison  BLOB    NOT NULL,
    status      TEXT    NOT NULL,
    reason      TEXT    NOT NULL, -- '' where there is none, here and below
    revision    TEXT    NOT NULL,
    tree        TEXT    NOT NULL,
    dirty       TEXT    NOT NULL,
    run_key     TEXT    NOT NULL,
    side        TEXT    NOT NULL,
    round       INTEGER,
    slot        INTEGER,
    started     INTEGER NOT NULL, -- Unix nanoseconds
    received    INTEGER NOT NULL, -- Unix milliseconds
    work_order  TEXT    NOT NULL,
    body        BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX results_key ON results (ingest_key, producer);
CREATE INDEX results_comparison ON results (comparison) WHERE status NOT IN ('success', 'partial');

-- The first sight of an attempt key and of a quantity decides what they mean.
CREATE TABLE attempts (
    attempt_key TEXT PRIMARY KEY,
    signature   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE units (
    project  TEXT NOT NULL,
    quantity TEXT NOT NULL,
    unit     TEXT NOT NULL,
    PRIMARY KEY (project, quantity)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
    id          INTEGER PRIMARY KEY,
    print       TEXT    NOT NULL UNIQUE, -- hex
    comparison  BLOB    NOT NULL,
    estimator   TEXT    NOT NULL, -- canonical JSON
    derived     INTEGER NOT NULL,
    project     TEXT    NOT NULL,
    thin        INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    workload    TEXT    NOT NULL,
    parameters  TEXT    NOT NULL,
    quantity    TEXT    NOT NULL,
    unit        TEXT    NOT NULL,
    direction   TEXT    NOT NULL,
    environment TEXT    NOT NULL -- canonical JSON of schema and identity
) STRICT;

CREATE TABLE points (
    series INTEGER NOT NULL,
    result INTEGER NOT NULL,
    value  REAL    NOT NULL,
    PRIMARY KEY (series, result)
) STRICT, WITHOUT ROWID;

CREATE TABLE orders (
    sha256 BLOB PRIMARY KEY, -- of body
    body   BLOB NOT NULL
) STRICT;
