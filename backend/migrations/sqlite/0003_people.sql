-- People with a name. They are never deleted: what they did stays theirs.
CREATE TABLE person (
    no            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT    NOT NULL,
    name_key      TEXT    NOT NULL UNIQUE,              -- the name in lower case, normal form KC
    role          TEXT    NOT NULL CHECK (role IN ('annotator', 'curator', 'operator')),
    password_hash TEXT,                                 -- argon2id, in the form of PHC
    since_ms      INTEGER NOT NULL,
    seen_ms       INTEGER NOT NULL,                     -- to the hour
    revoked_ms    INTEGER
) STRICT;

-- Browsers in which somebody is signed in. Of a token only its SHA-256, in hex, is kept.
CREATE TABLE session (
    token_sha256 TEXT    NOT NULL PRIMARY KEY,
    person       INTEGER NOT NULL REFERENCES person (no),
    begun_ms     INTEGER NOT NULL,
    seen_ms      INTEGER NOT NULL,
    until_ms     INTEGER NOT NULL
) STRICT;

CREATE INDEX session_by_person ON session (person);

-- Links that let somebody in, once.
CREATE TABLE invitation (
    no           INTEGER PRIMARY KEY AUTOINCREMENT,
    token_sha256 TEXT    NOT NULL UNIQUE,
    role         TEXT    NOT NULL CHECK (role IN ('annotator', 'curator', 'operator')),
    person       INTEGER REFERENCES person (no),        -- whom it lets in again
    note         TEXT    NOT NULL,
    made_by      INTEGER REFERENCES person (no),        -- none: an operator without a name
    made_ms      INTEGER NOT NULL,
    until_ms     INTEGER NOT NULL,
    used_ms      INTEGER,
    used_by      INTEGER REFERENCES person (no),
    revoked_ms   INTEGER
) STRICT;
