//! Leases of batches, so that several servers can work on the jobs of a PostgreSQL database.
//!
//! Each server leases the batch that it computes for a short time and renews the lease; the batches
//! of a killed server are free again when their leases end. A lease has a number that grows with
//! each lease of the batch, and only the latest one may commit. Only the clock of the database
//! counts.

use std::time::Duration;

use sqlx::AssertSqlSafe;

use super::{JobDocumentBatch, from_bytes};
use crate::error::Error;
use crate::store::{Database, DatabaseConfig};

/// How long a lease lasts that is not renewed.
pub(crate) const LEASE: Duration = Duration::from_secs(10);

/// What a server may hold a lease of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeasedWork {
    /// The batch with this number.
    Batch(i64),
    /// The last step of a job, after all batches.
    LastStep,
}

impl LeasedWork {
    /// Returns the number of the batch; `None` for the last step.
    pub(super) fn batch(self) -> Option<i64> {
        match self {
            LeasedWork::Batch(number) => Some(number),
            LeasedWork::LastStep => None,
        }
    }
}

/// A lease of a part of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkLease {
    pub work: LeasedWork,
    /// The number of the lease, which grows with each lease of the same work.
    pub number: i64,
}

impl Database {
    /// Leases the first batch of a job that is neither done nor leased.
    pub(crate) async fn lease_next_batch_of_job(
        &self,
        id: &str,
    ) -> Result<Option<JobDocumentBatch>, Error> {
        let failed = |it| self.failed(it);
        // Servers that ask at the same time get different batches.
        let skipping = match self.database {
            DatabaseConfig::Sqlite(_) => "",
            DatabaseConfig::Postgres(_) => "FOR UPDATE SKIP LOCKED",
        };
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "UPDATE job_batches SET lease = lease + 1, leased_until = {now} + $2
             WHERE job = (SELECT number FROM jobs WHERE id = $1) AND batch = (
                 SELECT batch FROM job_batches
                 WHERE job = (SELECT number FROM jobs WHERE id = $1)
                     AND done_at IS NULL AND leased_until < {now}
                 ORDER BY batch LIMIT 1 {skipping})
             RETURNING job, batch, lease, texts"
        );
        let query = sqlx::query_as::<_, (i64, i64, i64, Vec<u8>)>(AssertSqlSafe(sql))
            .bind(id)
            .bind(LEASE.as_millis() as i64);
        let found = self.find_row(query).await?;
        let Some((job, number, lease, places)) = found else {
            return Ok(None);
        };
        let mut texts = Vec::new();
        for place in from_bytes(&places) {
            let text: String =
                sqlx::query_scalar("SELECT text FROM job_texts WHERE job = $1 AND place = $2")
                    .bind(job)
                    .bind(i64::from(place))
                    .fetch_one(&self.pool)
                    .await
                    .map_err(failed)?;
            texts.push((place, text));
        }
        let lease = WorkLease {
            work: LeasedWork::Batch(number),
            number: lease,
        };
        Ok(Some(JobDocumentBatch { lease, texts }))
    }

    /// Leases the last step of a running job. Returns `None` if a batch is not done, or if another
    /// server has that lease.
    pub(crate) async fn lease_last_step_of_job(
        &self,
        id: &str,
    ) -> Result<Option<WorkLease>, Error> {
        let now = self.database.unix_time_ms_sql();
        let sql = format!(
            "UPDATE jobs SET lease = lease + 1, leased_until = {now} + $2
             WHERE id = $1 AND state = 'running' AND leased_until < {now} AND NOT EXISTS (
                 SELECT 1 FROM job_batches WHERE job = jobs.number AND done_at IS NULL)
             RETURNING lease"
        );
        let query = sqlx::query_as::<_, (i64,)>(AssertSqlSafe(sql))
            .bind(id)
            .bind(LEASE.as_millis() as i64);
        let found = self.find_row(query).await?;
        Ok(found.map(|(number,)| WorkLease {
            work: LeasedWork::LastStep,
            number,
        }))
    }

    /// Renews a lease. Does nothing if another server has leased the same work since.
    pub(crate) async fn renew_lease(&self, id: &str, lease: WorkLease) -> Result<(), Error> {
        let now = self.database.unix_time_ms_sql();
        let until = format!("{now} + {}", LEASE.as_millis());
        self.set_end_of_lease(id, lease, &until).await
    }

    /// Ends a lease, so that another server can do the work at once.
    pub(crate) async fn end_lease(&self, id: &str, lease: WorkLease) -> Result<(), Error> {
        self.set_end_of_lease(id, lease, "0").await
    }

    async fn set_end_of_lease(&self, id: &str, lease: WorkLease, until: &str) -> Result<(), Error> {
        let sql = match lease.work {
            LeasedWork::Batch(batch) => format!(
                "UPDATE job_batches SET leased_until = {until}
                 WHERE job = (SELECT number FROM jobs WHERE id = $1) AND lease = $2
                     AND batch = {batch}"
            ),
            LeasedWork::LastStep => {
                format!("UPDATE jobs SET leased_until = {until} WHERE id = $1 AND lease = $2")
            }
        };
        let statement = sqlx::query(AssertSqlSafe(sql));
        self.execute(statement.bind(id.to_owned()).bind(lease.number))
            .await?;
        Ok(())
    }

    /// Ends all leases. To be called only if no other server works on the jobs.
    pub(crate) async fn end_all_leases(&self) -> Result<(), Error> {
        self.change(
            "UPDATE job_batches SET leased_until = 0 WHERE leased_until > 0 AND done_at IS NULL",
            &[],
        )
        .await?;
        self.change(
            "UPDATE jobs SET leased_until = 0 WHERE leased_until > 0",
            &[],
        )
        .await
    }
}
