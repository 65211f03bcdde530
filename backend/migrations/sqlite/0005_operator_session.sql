-- Browsers that the operator signed in with the link that the server prints when it starts. They
-- belong to no person. Of a token only its SHA-256, in hex, is kept.
CREATE TABLE operator_session (
    token_sha256 TEXT    NOT NULL PRIMARY KEY,
    begun_ms     INTEGER NOT NULL,
    seen_ms      INTEGER NOT NULL,
    until_ms     INTEGER NOT NULL
) STRICT;
