-- The tables of ../sqlite/0007_own_data_and_canary.sql.

-- When a person deleted their account. The row then has nothing about them, but stays, so that what
-- they decided still is of one person.
ALTER TABLE person ADD COLUMN deleted_ms BIGINT;

-- The event that each server writes and reads back to check its database. In no backup.
CREATE TABLE canary (
    server TEXT COLLATE "C" NOT NULL PRIMARY KEY,   -- random, made at each start
    event  TEXT   NOT NULL,                         -- JSON, as in review_event
    at_ms  BIGINT NOT NULL
);
