-- The table of ../sqlite/0005_operator_session.sql.

-- Browsers that the operator signed in with the link that the server prints when it starts. They
-- belong to no person. Of a token only its SHA-256, in hex, is kept.
CREATE TABLE operator_session (
    token_sha256 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    begun_ms     BIGINT NOT NULL,
    seen_ms      BIGINT NOT NULL,
    until_ms     BIGINT NOT NULL
);
