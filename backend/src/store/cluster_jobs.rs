//! Studies that several machines create: jobs, and the shards of each.
//!
//! A job is leased to one driver. The number of the lease grows with each driver, and only the
//! latest one may commit shards and end the job, so that a driver that was believed to be dead
//! cannot interfere. A committed shard stays committed.

use shared::api::JobState;
use shared::api::cluster::{ClusterExecutor, ClusterJob, ClusterStage};
use shared::error::Error as InputError;
use sqlx::AssertSqlSafe;

use crate::error::Error;
use crate::store::jobs::leases::LEASE;
use crate::store::{Database, may_be_stored};

/// A job to begin or to continue.
#[derive(Debug, Clone)]
pub(crate) struct NewClusterJob {
    pub id: String,
    pub study: String,
    pub build: String,
    pub storage: String,
}

/// A shard whose output counts.
#[derive(Debug, Clone)]
pub struct CommittedShard {
    /// The name of the shard.
    pub shard: String,
    /// The executor that has computed it.
    pub executor: String,
    /// The number of queries or pairs.
    pub n_rows: u64,
    /// The size of the output.
    pub n_bytes: u64,
    /// The SHA-256 of the output, in hex.
    pub sha256: String,
    /// How long it was computed.
    pub seconds: f64,
}

/// Whether a driver may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterLeaseState {
    Held,
    /// An operator has canceled the job.
    Canceled,
    /// Another driver has the job.
    Lost,
}

row! {
    struct JobRow {
        id: String,
        study: String,
        state: String,
        problem: Option<String>,
        has_driver: i64,
        build: String,
        storage: String,
        begun: i64,
        ended: Option<i64>,
    }
}

row! {
    struct StageRow {
        job: String,
        stage: String,
        n_shards: i64,
        n_committed: i64,
        n_attempts: i64,
        n_repeated: i64,
        n_rows: i64,
        n_bytes: i64,
        compute_ms: i64,
    }
}

row! {
    struct ExecutorRow {
        job: String,
        executor: String,
        n_shards: i64,
        compute_ms: i64,
    }
}

impl Database {
    /// Begins a job, or continues one whose driver has ended, and returns the number of the lease.
    /// Returns `None` while another driver has it.
    pub(crate) async fn lease_cluster_job(
        &self,
        job: &NewClusterJob,
    ) -> Result<Option<i64>, Error> {
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "INSERT INTO cluster_jobs (id, study, build, storage, state, begun, leased_until)
             VALUES ($1, $2, $3, $4, 'running', {now}, {now} + $5)
             ON CONFLICT (id) DO UPDATE SET
                 build = excluded.build, storage = excluded.storage, state = 'running',
                 problem = NULL, ended = NULL, lease = cluster_jobs.lease + 1,
                 leased_until = excluded.leased_until
             WHERE cluster_jobs.leased_until < {now}
             RETURNING lease"
        );
        let query = sqlx::query_as::<_, (i64,)>(AssertSqlSafe(sql))
            .bind(job.id.clone())
            .bind(job.study.clone())
            .bind(job.build.clone())
            .bind(job.storage.clone())
            .bind(LEASE.as_millis() as i64);
        Ok(self.find_row(query).await?.map(|it| it.0))
    }

    /// Renews the lease of a driver and says whether it may go on.
    pub(crate) async fn renew_cluster_lease(
        &self,
        id: &str,
        lease: i64,
    ) -> Result<ClusterLeaseState, Error> {
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "UPDATE cluster_jobs SET leased_until = {now} + $3
             WHERE id = $1 AND lease = $2 RETURNING state"
        );
        let query = sqlx::query_as::<_, (String,)>(AssertSqlSafe(sql))
            .bind(id.to_owned())
            .bind(lease)
            .bind(LEASE.as_millis() as i64);
        Ok(match self.find_row(query).await? {
            Some((state,)) if state == "running" => ClusterLeaseState::Held,
            Some(_) => ClusterLeaseState::Canceled,
            None => ClusterLeaseState::Lost,
        })
    }

    /// Adds the shards of a stage that are not known yet.
    pub(crate) async fn plan_cluster_shards(
        &self,
        id: &str,
        stage: &str,
        shards: &[String],
    ) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        for shard in shards {
            let statement = sqlx::query(
                "INSERT INTO cluster_shards (job, shard, stage) VALUES ($1, $2, $3)
                 ON CONFLICT (job, shard) DO NOTHING",
            )
            .bind(id.to_owned())
            .bind(shard.clone())
            .bind(stage.to_owned());
            self.execute_in(&mut transaction, statement).await?;
        }
        transaction.commit().await.map_err(|it| self.failed(it))
    }

    /// Sets how many attempts there were to compute a shard.
    pub(crate) async fn set_cluster_attempts(
        &self,
        id: &str,
        shard: &str,
        n_attempts: u64,
    ) -> Result<(), Error> {
        let statement =
            sqlx::query("UPDATE cluster_shards SET n_attempts = $3 WHERE job = $1 AND shard = $2")
                .bind(id.to_owned())
                .bind(shard.to_owned())
                .bind(n_attempts as i64);
        self.execute(statement).await?;
        Ok(())
    }

    /// Commits a shard, unless it is committed or another driver has the job. Returns whether it
    /// was committed now.
    pub(crate) async fn commit_cluster_shard(
        &self,
        id: &str,
        lease: i64,
        shard: &CommittedShard,
    ) -> Result<bool, Error> {
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "UPDATE cluster_shards SET executor = $4, n_rows = $5, n_bytes = $6, sha256 = $7,
                 compute_ms = $8, committed = {now}
             WHERE job = $1 AND shard = $3 AND committed IS NULL
                 AND (SELECT lease FROM cluster_jobs WHERE id = $1) = $2"
        );
        let statement = sqlx::query(AssertSqlSafe(sql))
            .bind(id.to_owned())
            .bind(lease)
            .bind(shard.shard.clone())
            .bind(shard.executor.clone())
            .bind(shard.n_rows as i64)
            .bind(shard.n_bytes as i64)
            .bind(shard.sha256.clone())
            .bind((shard.seconds * 1000.0) as i64);
        Ok(self.execute(statement).await? == 1)
    }

    /// Ends a job and its lease, if this driver has it. A canceled one stays canceled.
    pub(crate) async fn end_cluster_job(
        &self,
        id: &str,
        lease: i64,
        problem: Option<&str>,
    ) -> Result<(), Error> {
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "UPDATE cluster_jobs SET ended = {now}, leased_until = 0, problem = $3,
                 state = CASE WHEN state <> 'running' THEN state
                              WHEN $4 = 0 THEN 'done' ELSE 'failed' END
             WHERE id = $1 AND lease = $2"
        );
        let statement = sqlx::query(AssertSqlSafe(sql))
            .bind(id.to_owned())
            .bind(lease)
            .bind(problem.map(str::to_owned))
            .bind(i64::from(problem.is_some()));
        self.execute(statement).await?;
        Ok(())
    }

    /// Ends the running jobs of a study that have no driver and whose shards are all committed.
    pub(crate) async fn end_cluster_jobs_without_driver(&self, study: &str) -> Result<(), Error> {
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "UPDATE cluster_jobs SET ended = {now}, state = 'done'
             WHERE study = $1 AND state = 'running' AND leased_until < {now}
                 AND NOT EXISTS (SELECT 1 FROM cluster_shards
                                 WHERE job = cluster_jobs.id AND committed IS NULL)"
        );
        let statement = sqlx::query(AssertSqlSafe(sql)).bind(study.to_owned());
        self.execute(statement).await?;
        Ok(())
    }

    /// Cancels a running job. Its driver ends within seconds. Returns an error if there is no job
    /// of this id.
    pub(crate) async fn cancel_cluster_job(&self, id: &str) -> Result<(), Error> {
        if !may_be_stored(id) {
            return Err(InputError::name_not_found("job", id).into());
        }
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "UPDATE cluster_jobs SET
                 ended = CASE WHEN state = 'running' THEN {now} ELSE ended END,
                 state = CASE WHEN state = 'running' THEN 'canceled' ELSE state END
             WHERE id = $1"
        );
        match self
            .execute(sqlx::query(AssertSqlSafe(sql)).bind(id.to_owned()))
            .await?
        {
            0 => Err(InputError::name_not_found("job", id).into()),
            _ => Ok(()),
        }
    }

    /// Returns all jobs with their stages and executors, newest first.
    pub(crate) async fn list_cluster_jobs(&self) -> Result<Vec<ClusterJob>, Error> {
        let failed = |it| self.failed(it);
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "SELECT id, study, state, problem,
                    CAST(CASE WHEN leased_until >= {now} THEN 1 ELSE 0 END AS BIGINT) AS has_driver,
                    build, storage, begun, ended
             FROM cluster_jobs ORDER BY begun DESC, id"
        );
        let jobs: Vec<JobRow> = sqlx::query_as(AssertSqlSafe(sql))
            .fetch_all(&self.pool)
            .await
            .map_err(failed)?;
        // PostgreSQL sums integers to a type that the driver for any database does not read.
        let stages: Vec<StageRow> = sqlx::query_as(
            "SELECT job, stage, COUNT(*) AS n_shards, COUNT(committed) AS n_committed,
                    CAST(SUM(n_attempts) AS BIGINT) AS n_attempts,
                    CAST(SUM(CASE WHEN n_attempts > 1 THEN n_attempts - 1 ELSE 0 END) AS BIGINT)
                        AS n_repeated,
                    CAST(COALESCE(SUM(n_rows), 0) AS BIGINT) AS n_rows,
                    CAST(COALESCE(SUM(n_bytes), 0) AS BIGINT) AS n_bytes,
                    CAST(COALESCE(SUM(compute_ms), 0) AS BIGINT) AS compute_ms
             FROM cluster_shards GROUP BY job, stage
             ORDER BY CASE stage WHEN 'mine' THEN 0 WHEN 'score' THEN 1
                                 WHEN 'remote-score' THEN 2 ELSE 3 END",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        let executors: Vec<ExecutorRow> = sqlx::query_as(
            "SELECT job, executor, COUNT(*) AS n_shards,
                    CAST(COALESCE(SUM(compute_ms), 0) AS BIGINT) AS compute_ms
             FROM cluster_shards WHERE executor IS NOT NULL
             GROUP BY job, executor ORDER BY executor",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(failed)?;
        jobs.into_iter()
            .map(|job| job.into_job(&stages, &executors))
            .collect()
    }
}

impl JobRow {
    fn into_job(self, stages: &[StageRow], executors: &[ExecutorRow]) -> Result<ClusterJob, Error> {
        let state = match self.state.as_str() {
            "running" => JobState::Running,
            "done" => JobState::Done,
            "canceled" => JobState::Canceled,
            "failed" => JobState::Failed,
            other => {
                return Err(Error::CorruptData {
                    what: format!("job {}", self.id),
                    reason: format!("there is no state `{other}`"),
                });
            }
        };
        let stages = stages.iter().filter(|it| it.job == self.id);
        let executors = executors.iter().filter(|it| it.job == self.id);
        Ok(ClusterJob {
            stages: stages.map(StageRow::stage).collect(),
            executors: executors.map(ExecutorRow::executor).collect(),
            id: self.id,
            study: self.study,
            state,
            error: self.problem,
            has_driver: self.has_driver != 0,
            build: self.build,
            storage: self.storage,
            begun_ms: self.begun as u64,
            ended_ms: self.ended.map(|it| it as u64),
        })
    }
}

impl StageRow {
    fn stage(&self) -> ClusterStage {
        ClusterStage {
            name: self.stage.clone(),
            n_shards: self.n_shards as u64,
            n_committed: self.n_committed as u64,
            n_attempts: self.n_attempts as u64,
            n_repeated_attempts: self.n_repeated as u64,
            n_rows: self.n_rows as u64,
            n_bytes: self.n_bytes as u64,
            seconds: self.compute_ms as f64 / 1000.0,
        }
    }
}

impl ExecutorRow {
    fn executor(&self) -> ClusterExecutor {
        ClusterExecutor {
            name: self.executor.clone(),
            n_shards: self.n_shards as u64,
            seconds: self.compute_ms as f64 / 1000.0,
        }
    }
}
