-- When a person deleted their account. The row then has nothing about them, but stays, so that what
-- they decided still is of one person.
ALTER TABLE person ADD COLUMN deleted_ms INTEGER;

-- The event that each server writes and reads back to check its database. In no backup.
CREATE TABLE canary (
    server TEXT    NOT NULL PRIMARY KEY,            -- random, made at each start
    event  TEXT    NOT NULL,                        -- JSON, as in review_event
    at_ms  INTEGER NOT NULL
) STRICT;
