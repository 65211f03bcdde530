-- A batch is leased to one server, which alone may commit it. The number of the lease grows with
-- each one, so that a server whose lease has ended is recognized. Times are those of the database,
-- in milliseconds since 1970.
ALTER TABLE job_batches ADD COLUMN lease BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job_batches ADD COLUMN leased_until BIGINT NOT NULL DEFAULT 0;
-- The same for the last step of a job, after all batches.
ALTER TABLE jobs ADD COLUMN lease BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN leased_until BIGINT NOT NULL DEFAULT 0;
