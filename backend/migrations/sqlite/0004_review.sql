-- What people review: tasks with the items that were drawn, and everything that was done.
CREATE TABLE review_task (
    no             INTEGER PRIMARY KEY AUTOINCREMENT,
    study          TEXT    NOT NULL,
    study_hash     TEXT    NOT NULL,                -- of the instances and the texts that it had
    task           TEXT    NOT NULL,                -- JSON, as a curator wrote it
    state          TEXT    NOT NULL CHECK (state IN ('draft', 'open', 'closed')),
    results_public INTEGER NOT NULL DEFAULT 0 CHECK (results_public IN (0, 1)),
    made_ms        INTEGER NOT NULL,                -- since 1970, as all of these
    n_candidates   INTEGER NOT NULL
) STRICT;

-- Drawn when the task is made, and never changed. With the ids of query and texts, so that a file
-- of the task can be written whatever becomes of the study.
CREATE TABLE review_item (
    task  INTEGER NOT NULL REFERENCES review_task (no) ON DELETE CASCADE,
    no    INTEGER NOT NULL,
    item  TEXT    NOT NULL,                         -- JSON
    named TEXT    NOT NULL,                         -- JSON
    PRIMARY KEY (task, no)
) STRICT, WITHOUT ROWID;

-- The log. It only grows: the triggers below hold whoever writes to that.
CREATE TABLE review_event (
    task   INTEGER NOT NULL REFERENCES review_task (no),
    seq    INTEGER NOT NULL,                        -- in which order they came, from 0
    key    TEXT    NOT NULL,                        -- made where the event was made
    person INTEGER NOT NULL REFERENCES person (no),
    at_ms  INTEGER NOT NULL,
    event  TEXT    NOT NULL,                        -- JSON
    PRIMARY KEY (task, seq),
    UNIQUE (task, key)
) STRICT;

CREATE TRIGGER review_event_stays BEFORE UPDATE ON review_event
BEGIN
    SELECT RAISE(ABORT, 'what people did is never changed');
END;

CREATE TRIGGER review_event_is_kept BEFORE DELETE ON review_event
BEGIN
    SELECT RAISE(ABORT, 'what people did is never deleted');
END;

-- Items that are promised to somebody for a time.
CREATE TABLE review_lease (
    task     INTEGER NOT NULL REFERENCES review_task (no) ON DELETE CASCADE,
    item     INTEGER NOT NULL,
    person   INTEGER NOT NULL REFERENCES person (no),
    until_ms INTEGER NOT NULL,
    PRIMARY KEY (task, item, person)
) STRICT, WITHOUT ROWID;
