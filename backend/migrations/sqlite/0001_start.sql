-- Studies that can be shown. What they hold lies in the folder studies/NAME/.
CREATE TABLE studies (
    name            TEXT    NOT NULL PRIMARY KEY,
    title           TEXT    NOT NULL,
    made            TEXT    NOT NULL,               -- 2026-11-20
    instances_hash  TEXT    NOT NULL,
    collection_hash TEXT    NOT NULL,
    n_instances     INTEGER NOT NULL,
    published       INTEGER NOT NULL DEFAULT 0 CHECK (published IN (0, 1)),
    revision        INTEGER NOT NULL DEFAULT 1      -- one more each time it is made again
) STRICT;

-- Who scored, so that numbers can be told apart.
CREATE TABLE rankers (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    spec        TEXT NOT NULL,
    label       TEXT NOT NULL,
    detail      TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('lexical', 'neural', 'file')),
    note        TEXT
) STRICT;

-- Long work: unique pairs of a query and a text that a model scores, batch by batch.
CREATE TABLE jobs (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL UNIQUE,
    title        TEXT    NOT NULL,
    ranker       TEXT    NOT NULL REFERENCES rankers (fingerprint),
    state        TEXT    NOT NULL
                 CHECK (state IN ('queued', 'running', 'done', 'cancelled', 'failed')),
    problem      TEXT,
    token_budget INTEGER NOT NULL,                  -- pieces in a batch
    n_threads    INTEGER NOT NULL,                  -- as many on every run: the same bits
    n_pairs      INTEGER NOT NULL,
    n_done       INTEGER NOT NULL DEFAULT 0,
    pairs        BLOB    NOT NULL,                  -- u32 query, u32 text, little-endian
    created      TEXT    NOT NULL                   -- RFC 3339
) STRICT;

CREATE INDEX jobs_by_state ON jobs (state, number);

-- Input of a job; gone once it is done.
CREATE TABLE job_queries (
    job   INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    query TEXT    NOT NULL,
    PRIMARY KEY (job, place)
) STRICT;

CREATE TABLE job_texts (
    job   INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    text  TEXT    NOT NULL,
    PRIMARY KEY (job, place)
) STRICT;

-- Planned when the job is made, and never changed.
CREATE TABLE job_batches (
    job     INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    batch   INTEGER NOT NULL,
    texts   BLOB    NOT NULL,                       -- u32 places in job_texts, little-endian
    done_at TEXT,
    PRIMARY KEY (job, batch)
) STRICT, WITHOUT ROWID;

-- The key refuses a second score for a pair.
CREATE TABLE job_scores (
    job       INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    pair      INTEGER NOT NULL,                     -- place in the pairs of the job
    score     REAL    NOT NULL,
    truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)),
    PRIMARY KEY (job, pair)
) STRICT, WITHOUT ROWID;

-- Files of the score store: scores/FINGERPRINT/NAME.parquet.
CREATE TABLE score_files (
    ranker  TEXT    NOT NULL REFERENCES rankers (fingerprint),
    name    TEXT    NOT NULL,
    n_pairs INTEGER NOT NULL,
    made    TEXT    NOT NULL,                       -- RFC 3339
    PRIMARY KEY (ranker, name)
) STRICT;

-- SHA-256 of the operator's token, in hex; at most one row.
CREATE TABLE operator (
    one          INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    token_sha256 TEXT    NOT NULL
) STRICT;
