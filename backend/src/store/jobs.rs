//! Jobs with their input, their batches and their scores.
//!
//! A batch is committed in one transaction, which marks it as done, adds its scores and counts
//! them. A batch that is marked is never computed again, and the key of `job_scores` prevents a
//! second score for a pair. No pair is therefore committed twice, whenever a process is killed.

pub(crate) mod leases;

use leases::WorkLease;

use crate::error::Error;
use crate::models::{self, PairScore};
use crate::store::scores::RankerScoresByTextHash;
use crate::store::{Database, may_be_stored, places};
use shared::api::{JobState, ScoringJob};
use shared::error::Error as InputError;
use shared::score::rescoring::ScoreStabilityRecord;
use shared::score::{RankerInfo, RankerKind};
use sqlx::AssertSqlSafe;

/// A job to create, with its planned batches.
#[derive(Debug)]
pub(crate) struct NewScoringJob {
    pub id: String,
    pub title: String,
    pub ranker: RankerInfo,
    /// Maximum number of tokens in a batch.
    pub token_budget: u32,
    /// Number of threads of every run, since rounding depends on it.
    pub n_threads: u32,
    pub queries: Vec<String>,
    pub texts: Vec<String>,
    /// Indices into `queries` and `texts`.
    pub pairs: Vec<(u32, u32)>,
    /// The documents of each batch, as indices into `texts`.
    pub batches: Vec<Vec<u32>>,
}

/// The input of a job that a worker needs.
#[derive(Debug)]
pub(crate) struct ScoringJobWithoutDocuments {
    pub ranker: RankerInfo,
    pub token_budget: u32,
    pub n_threads: u32,
    pub queries: Vec<String>,
    pub pairs: Vec<(u32, u32)>,
}

/// A leased batch of a job.
#[derive(Debug)]
pub(crate) struct JobDocumentBatch {
    pub lease: WorkLease,
    /// Index and text of each document, in the planned order.
    pub texts: Vec<(u32, String)>,
}

row! {
    struct JobRow {
        id: String,
        title: String,
        state: String,
        problem: Option<String>,
        n_pairs: i64,
        n_done: i64,
        created: String,
        fingerprint: String,
        spec: String,
        label: String,
        detail: String,
        kind: String,
        note: Option<String>,
    }
}

impl Database {
    /// Creates a job with its batches in one transaction.
    pub(crate) async fn add_job_with_batches(&self, job: &NewScoringJob) -> Result<(), Error> {
        self.insert_ranker_if_absent(&job.ranker).await?;
        let mut transaction = self.begin().await?;
        let failed = |it| self.failed(it);
        let number: i64 = sqlx::query_scalar(
            "INSERT INTO jobs
                 (id, title, ranker, state, token_budget, n_threads, n_pairs, pairs, created)
             VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, $8)
             RETURNING number",
        )
        .bind(&job.id)
        .bind(&job.title)
        .bind(&job.ranker.fingerprint)
        .bind(i64::from(job.token_budget))
        .bind(i64::from(job.n_threads))
        .bind(job.pairs.len() as i64)
        .bind(to_bytes(
            job.pairs.iter().flat_map(|&(query, text)| [query, text]),
        ))
        .bind(now(Fraction::None))
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
        let queries = "INSERT INTO job_queries (job, place, query) VALUES ($1, $2, $3)";
        let texts = "INSERT INTO job_texts (job, place, text) VALUES ($1, $2, $3)";
        for (insert, rows) in [(queries, &job.queries), (texts, &job.texts)] {
            for (place, row) in rows.iter().enumerate() {
                let statement = sqlx::query(insert)
                    .bind(number)
                    .bind(place as i64)
                    .bind(row);
                self.execute_in(&mut transaction, statement).await?;
            }
        }
        for (batch, texts) in job.batches.iter().enumerate() {
            let statement =
                sqlx::query("INSERT INTO job_batches (job, batch, texts) VALUES ($1, $2, $3)")
                    .bind(number)
                    .bind(batch as i64)
                    .bind(to_bytes(texts.iter().copied()));
            self.execute_in(&mut transaction, statement).await?;
        }
        transaction.commit().await.map_err(failed)
    }

    /// Returns all stored jobs with their rankers, newest first.
    pub(crate) async fn list_jobs(&self) -> Result<Vec<ScoringJob>, Error> {
        let rows: Vec<JobRow> = sqlx::query_as(
            "SELECT id, title, state, problem, n_pairs, n_done, created,
                    fingerprint, spec, label, detail, kind, note
             FROM jobs JOIN rankers ON fingerprint = ranker ORDER BY number DESC",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        rows.into_iter().map(JobRow::into_job).collect()
    }

    /// Returns a stored job by its id; returns an error if there is none.
    pub(crate) async fn job(&self, id: &str) -> Result<ScoringJob, Error> {
        if !may_be_stored(id) {
            return Err(InputError::name_not_found("job", id).into());
        }
        let query = sqlx::query_as::<_, JobRow>(
            "SELECT id, title, state, problem, n_pairs, n_done, created,
                    fingerprint, spec, label, detail, kind, note
             FROM jobs JOIN rankers ON fingerprint = ranker WHERE id = $1",
        )
        .bind(id);
        let row = self.find_row(query).await?;
        row.ok_or_else(|| InputError::name_not_found("job", id))?
            .into_job()
    }

    /// Returns the ids of queued and running jobs, oldest first.
    pub(crate) async fn unfinished_job_ids(&self) -> Result<Vec<String>, Error> {
        sqlx::query_scalar(
            "SELECT id FROM jobs WHERE state IN ('queued', 'running') ORDER BY number",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))
    }

    /// Requeues the jobs that another process left running.
    pub(crate) async fn requeue_running_jobs(&self) -> Result<(), Error> {
        self.change(
            "UPDATE jobs SET state = 'queued' WHERE state = 'running'",
            &[],
        )
        .await
    }

    /// Marks a queued job as running.
    pub(crate) async fn mark_job_running(&self, id: &str) -> Result<(), Error> {
        self.change(
            "UPDATE jobs SET state = 'running' WHERE id = $1 AND state = 'queued'",
            &[id],
        )
        .await
    }

    /// Cancels a job that is queued or running; others are left unchanged.
    pub(crate) async fn cancel_job(&self, id: &str) -> Result<(), Error> {
        let sql = "UPDATE jobs SET state = 'cancelled'
                   WHERE id = $1 AND state IN ('queued', 'running')";
        self.change(sql, &[id]).await
    }

    /// Requeues a job that was canceled or has failed; others are left unchanged.
    pub(crate) async fn requeue_canceled_or_failed_job(&self, id: &str) -> Result<(), Error> {
        let sql = "UPDATE jobs SET state = 'queued', problem = NULL
                   WHERE id = $1 AND state IN ('cancelled', 'failed')";
        self.change(sql, &[id]).await
    }

    /// Marks a queued or running job as failed, with the reason.
    pub(crate) async fn mark_job_failed(&self, id: &str, problem: &str) -> Result<(), Error> {
        let sql = "UPDATE jobs SET state = 'failed', problem = $1
                   WHERE id = $2 AND state IN ('queued', 'running')";
        self.change(sql, &[problem, id]).await
    }

    async fn change(&self, sql: &'static str, values: &[&str]) -> Result<(), Error> {
        let mut query = sqlx::query(sql);
        for &value in values {
            query = query.bind(value.to_owned());
        }
        self.execute(query).await?;
        Ok(())
    }

    /// Returns the input of a job for a worker.
    pub(crate) async fn job_without_documents(
        &self,
        id: &str,
    ) -> Result<ScoringJobWithoutDocuments, Error> {
        let failed = |it| self.failed(it);
        let (number, token_budget, n_threads, pairs): (i64, i64, i64, Vec<u8>) =
            sqlx::query_as("SELECT number, token_budget, n_threads, pairs FROM jobs WHERE id = $1")
                .bind(id)
                .fetch_one(&self.pool)
                .await
                .map_err(failed)?;
        let queries =
            sqlx::query_scalar("SELECT query FROM job_queries WHERE job = $1 ORDER BY place")
                .bind(number)
                .fetch_all(&self.pool)
                .await
                .map_err(failed)?;
        let pairs = from_bytes(&pairs)
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[a, b]| (a, b))
            .collect();
        Ok(ScoringJobWithoutDocuments {
            ranker: self.job(id).await?.ranker,
            token_budget: token_budget as u32,
            n_threads: n_threads as u32,
            queries,
            pairs,
        })
    }

    /// Stores the scores of a batch and marks it as done. If it was done before, or if another
    /// server has leased it since, nothing is changed.
    pub(crate) async fn commit_batch_scores(
        &self,
        id: &str,
        lease: WorkLease,
        scores: &[PairScore],
    ) -> Result<BatchCommitOutcome, Error> {
        /// Each row has four values; SQLite allows 32,766 in a statement, PostgreSQL 65,535.
        const ROWS: usize = 8_000;

        let failed = |it| self.failed(it);
        let mut transaction = self.begin().await?;
        let number: i64 = sqlx::query_scalar("SELECT number FROM jobs WHERE id = $1")
            .bind(id)
            .fetch_one(&mut *transaction)
            .await
            .map_err(failed)?;
        let statement = sqlx::query(
            "UPDATE job_batches SET done_at = $1
             WHERE job = $2 AND batch = $3 AND done_at IS NULL AND lease = $4",
        )
        .bind(now(Fraction::Milliseconds))
        .bind(number)
        .bind(lease.work.batch())
        .bind(lease.number);
        let n_marked = self.execute_in(&mut transaction, statement).await?;
        if n_marked != 1 {
            return Ok(BatchCommitOutcome::LeaseEnded);
        }
        for rows in scores.chunks(ROWS) {
            let sql = format!(
                "INSERT INTO job_scores (job, pair, score, truncated) VALUES {}",
                places(rows.len(), 4)
            );
            let mut insert = sqlx::query(AssertSqlSafe(sql)).persistent(false);
            for it in rows {
                // SQLite does not store the sign of zero, so it is removed for both databases.
                insert = insert
                    .bind(number)
                    .bind(i64::from(it.pair))
                    .bind(it.score + 0.0)
                    .bind(i64::from(it.truncated));
            }
            self.execute_in(&mut transaction, insert).await?;
        }
        let statement = sqlx::query("UPDATE jobs SET n_done = n_done + $1 WHERE number = $2")
            .bind(scores.len() as i64)
            .bind(number);
        self.execute_in(&mut transaction, statement).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(BatchCommitOutcome::Committed)
    }

    /// Returns the scores that a job has computed so far, in the order of its pairs.
    pub(crate) async fn job_scores_so_far(&self, id: &str) -> Result<Vec<PairScore>, Error> {
        let rows: Vec<(i64, f64, i64)> = sqlx::query_as(
            "SELECT pair, score, truncated FROM job_scores
             WHERE job = (SELECT number FROM jobs WHERE id = $1) ORDER BY pair",
        )
        .bind(id)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let pair_score = |(pair, score, truncated)| PairScore {
            pair: pair as u32,
            score,
            truncated: truncated != 0,
        };
        Ok(rows.into_iter().map(pair_score).collect())
    }

    /// Returns the scores of a job in the columns of the score store.
    pub(crate) async fn job_scores_by_text_hash(
        &self,
        id: &str,
    ) -> Result<RankerScoresByTextHash, Error> {
        let work = self.job_without_documents(id).await?;
        let hashes = |texts: &[String]| -> Vec<String> {
            texts
                .iter()
                .map(|it| shared::collection::text_hash(it))
                .collect()
        };
        let texts: Vec<String> = sqlx::query_scalar(
            "SELECT text FROM job_texts
             WHERE job = (SELECT number FROM jobs WHERE id = $1) ORDER BY place",
        )
        .bind(id)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        let (query_hashes, text_hashes) = (hashes(&work.queries), hashes(&texts));
        let mut columns = RankerScoresByTextHash::default();
        for it in self.job_scores_so_far(id).await? {
            let (query, text) = work.pairs[it.pair as usize];
            columns
                .query_hashes
                .push(query_hashes[query as usize].clone());
            columns.text_hashes.push(text_hashes[text as usize].clone());
            columns.scores.push(it.score);
            columns.truncated.push(it.truncated);
        }
        Ok(columns)
    }

    /// Returns all documents of a job that is not done.
    pub(crate) async fn unfinished_job_documents(&self, id: &str) -> Result<Vec<String>, Error> {
        sqlx::query_scalar(
            "SELECT text FROM job_texts
             WHERE job = (SELECT number FROM jobs WHERE id = $1) ORDER BY place",
        )
        .bind(id)
        .fetch_all(&self.pool)
        .await
        .map_err(|it| self.failed(it))
    }

    /// Returns some of the documents of a job that is not done.
    pub(crate) async fn unfinished_job_documents_at_indices(
        &self,
        id: &str,
        places: &[u32],
    ) -> Result<Vec<String>, Error> {
        let mut texts = Vec::with_capacity(places.len());
        for place in places {
            let text = sqlx::query_scalar(
                "SELECT text FROM job_texts
                 WHERE job = (SELECT number FROM jobs WHERE id = $1) AND place = $2",
            )
            .bind(id)
            .bind(i64::from(*place))
            .fetch_one(&self.pool)
            .await
            .map_err(|it| self.failed(it))?;
            texts.push(text);
        }
        Ok(texts)
    }

    /// Returns the score stability check of a job that is done.
    pub(crate) async fn job_score_stability_check(
        &self,
        id: &str,
    ) -> Result<Option<ScoreStabilityRecord>, Error> {
        let found: Option<String> =
            sqlx::query_scalar("SELECT certificate FROM jobs WHERE id = $1")
                .bind(id)
                .fetch_one(&self.pool)
                .await
                .map_err(|it| self.failed(it))?;
        let read = |json: String| {
            serde_json::from_str(&json).map_err(|it| damaged(id, "certificate", &it.to_string()))
        };
        found.map(read).transpose()
    }

    /// Marks a running job as done and deletes its texts. All batches must be done and the scores
    /// must be in the score store. Other jobs, such as canceled ones, are left unchanged, and so
    /// is one whose last step another server has leased since.
    pub(crate) async fn finish_job_and_delete_texts(
        &self,
        id: &str,
        lease: WorkLease,
        certificate: Option<&ScoreStabilityRecord>,
    ) -> Result<(), Error> {
        let failed = |it| self.failed(it);
        let json = certificate.map(serde_json::to_string).transpose();
        let json = json.map_err(|it| damaged(id, "certificate", &it.to_string()))?;
        let mut transaction = self.begin().await?;
        let statement = sqlx::query(
            "UPDATE jobs SET state = 'done', certificate = $1
             WHERE id = $2 AND state = 'running' AND lease = $3",
        )
        .bind(json)
        .bind(id)
        .bind(lease.number);
        let n_ended = self.execute_in(&mut transaction, statement).await?;
        if n_ended == 0 {
            return Ok(());
        }
        let statement = sqlx::query(
            "INSERT INTO score_files (ranker, name, n_pairs, made)
             SELECT ranker, id, n_done, $1 FROM jobs WHERE id = $2 ON CONFLICT DO NOTHING",
        )
        .bind(now(Fraction::None))
        .bind(id);
        self.execute_in(&mut transaction, statement).await?;
        for sql in [
            "DELETE FROM job_queries WHERE job = (SELECT number FROM jobs WHERE id = $1)",
            "DELETE FROM job_texts WHERE job = (SELECT number FROM jobs WHERE id = $1)",
        ] {
            let statement = sqlx::query(sql).bind(id);
            self.execute_in(&mut transaction, statement).await?;
        }
        transaction.commit().await.map_err(failed)
    }
}

/// The result of committing a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchCommitOutcome {
    /// This call has committed the batch.
    Committed,
    /// The batch was committed before, or another server has leased it since.
    LeaseEnded,
}

impl JobRow {
    fn into_job(self) -> Result<ScoringJob, Error> {
        let state = match self.state.as_str() {
            "queued" => JobState::Queued,
            "running" => JobState::Running,
            "done" => JobState::Done,
            "cancelled" => JobState::Canceled,
            "failed" => JobState::Failed,
            other => return Err(damaged(&self.id, "state", other)),
        };
        let kind = match self.kind.as_str() {
            "lexical" => RankerKind::Lexical,
            "neural" => models::ranker_kind_of_spec(&self.spec),
            "file" => RankerKind::ScoreFile,
            other => return Err(damaged(&self.id, "kind", other)),
        };
        Ok(ScoringJob {
            ranker: RankerInfo {
                spec: self.spec,
                label: self.label,
                detail: self.detail,
                kind,
                fingerprint: self.fingerprint,
                note: self.note,
            },
            id: self.id,
            title: self.title,
            state,
            n_scored: self.n_done as u64,
            n_pairs: self.n_pairs as u64,
            pairs_per_s: 0.0,
            tokens_per_s: 0.0,
            error: self.problem,
            created_at: self.created,
        })
    }
}

fn damaged(job: &str, column: &str, found: &str) -> Error {
    Error::CorruptData {
        what: format!("job {job}"),
        reason: format!("its {column} is `{found}`"),
    }
}

/// The number of decimal places of the seconds.
enum Fraction {
    None,
    Milliseconds,
}

/// Returns the current time in UTC, in the format of RFC 3339.
fn now(fraction: Fraction) -> String {
    let now = jiff::Timestamp::now();
    match fraction {
        Fraction::None => format!("{now:.0}"),
        Fraction::Milliseconds => format!("{now:.3}"),
    }
}

fn to_bytes(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    numbers.flat_map(u32::to_le_bytes).collect()
}

fn from_bytes(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&it| u32::from_le_bytes(it))
        .collect()
}
