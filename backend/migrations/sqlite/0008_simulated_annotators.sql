-- Whether the row is a simulated annotator, which answers the items of the demo's annotation task.
-- It has no password, session or invitation, and no list of people has it.
ALTER TABLE person ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0 CHECK (simulated IN (0, 1));
