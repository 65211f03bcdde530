-- A study that several machines create. One driver leases the job and alone may commit its shards;
-- the number of the lease grows with each driver. Times are those of the database, in milliseconds
-- since 1970.
CREATE TABLE cluster_jobs (
    -- SHA-256 of everything that determines the shards, in hex.
    id TEXT PRIMARY KEY,
    study TEXT NOT NULL,
    build TEXT NOT NULL,
    storage TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'canceled')),
    problem TEXT,
    begun BIGINT NOT NULL,
    ended BIGINT,
    lease BIGINT NOT NULL DEFAULT 1,
    leased_until BIGINT NOT NULL DEFAULT 0
);

-- Its shards. One with a hash is committed, once.
CREATE TABLE cluster_shards (
    job TEXT NOT NULL REFERENCES cluster_jobs (id) ON DELETE CASCADE,
    shard TEXT NOT NULL,
    stage TEXT NOT NULL,
    n_attempts BIGINT NOT NULL DEFAULT 0,
    executor TEXT,
    n_rows BIGINT,
    n_bytes BIGINT,
    sha256 TEXT,
    compute_ms BIGINT,
    committed BIGINT,
    PRIMARY KEY (job, shard)
);
