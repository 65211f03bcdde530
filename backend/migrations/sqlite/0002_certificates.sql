-- What became of some scores of a finished job under other conditions, as JSON.
ALTER TABLE jobs ADD COLUMN certificate TEXT;
