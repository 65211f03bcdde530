//! The background worker, which scores a batch of each running job in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use shared::api::JobState;
use shared::score::QueryDocumentPairs;
use shared::score::rescoring::{self, ScoreStabilityRecord};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::{Error, run_blocking};
use crate::jobs::held_lease::HeldLease;
use crate::jobs::{JobQueue, Speed};
use crate::models::{
    EncodedQueries, NeuralRanker, PairScore, QueryDocumentPairsWithTexts, SequenceAndTokenCounts,
    TokenizedDocumentBatch, is_doc2query_spec,
};
use crate::store::jobs::{BatchCommitOutcome, ScoringJobWithoutDocuments};

/// Maximum number of jobs that run at once. Others wait, since each running job keeps its queries
/// in memory.
const AT_ONCE: usize = 4;

/// Time before the next attempt after a database error.
const PAUSE: Duration = Duration::from_secs(2);

/// Time after which a server looks for jobs that other servers were given.
const POLL: Duration = Duration::from_secs(2);

/// Time after which a server looks for work that other servers have not finished.
const WAIT_FOR_OTHERS: Duration = Duration::from_millis(500);

/// What the worker keeps of a job between two batches.
struct RunningJob {
    ranker: Arc<NeuralRanker>,
    prepared: Arc<EncodedQueries>,
    threads: Arc<rayon::ThreadPool>,
    /// The next batch, if it has been leased and loaded already.
    ahead: Option<PreparedBatch>,
    /// The write of the previous batch, while it is in progress.
    behind: Option<JoinHandle<Result<(), Error>>>,
}

/// A tokenized batch with its lease.
type PreparedBatch = (HeldLease, TokenizedDocumentBatch);

/// A model with the threads on which it runs.
type Computing = (Arc<NeuralRanker>, Arc<rayon::ThreadPool>);

impl RunningJob {
    fn computing(&self) -> Computing {
        (self.ranker.clone(), self.threads.clone())
    }

    /// Waits until all scored batches have been written.
    async fn settle(&mut self) -> Result<(), Error> {
        let Some(behind) = self.behind.take() else {
            return Ok(());
        };
        behind.await.unwrap_or_else(|error| {
            let what = "writing scores";
            tracing::error!("{what}: {error}");
            Err(Error::Panicked { what })
        })
    }
}

/// Works on jobs until `stopping` becomes true, and finishes the current batch. Other servers may
/// work on the same jobs if `others` says so; otherwise a job that is marked as running, or a
/// lease, was left by a process that has ended.
pub(crate) async fn run_job_worker(
    jobs: JobQueue,
    others: OtherServers,
    mut stopping: watch::Receiver<bool>,
) {
    let mut running = BTreeMap::new();
    let mut is_prepared = others == OtherServers::Possible;
    while !*stopping.borrow() {
        let turns = async {
            if !is_prepared {
                jobs.store.end_all_leases().await?;
                jobs.store.requeue_running_jobs().await?;
                is_prepared = true;
            }
            round(&jobs, others, &mut running, &stopping).await
        };
        let pause = match (turns.await, others) {
            (Ok(QueueState::Waiting), _) => continue,
            (Ok(QueueState::AtOthers), _) => WAIT_FOR_OTHERS,
            (Ok(QueueState::Empty), OtherServers::None) => Duration::MAX,
            (Ok(QueueState::Empty), OtherServers::Possible) => POLL,
            (Err(error), _) => {
                tracing::error!("the queue of jobs: {error}");
                PAUSE
            }
        };
        tokio::select! {
            () = jobs.wake.notified() => {}
            () = sleep(pause) => {}
            () = wait_for_shutdown_signal(&mut stopping) => {}
        }
    }
    for (id, mut job) in running {
        let ended = async {
            job.settle().await?;
            match &job.ahead {
                // The process may be gone before the lease is ended in the background.
                Some((held, _)) => jobs.store.end_lease(&id, held.lease).await,
                None => Ok(()),
            }
        };
        if let Err(error) = ended.await {
            tracing::error!("job {id}: {error}");
        }
    }
}

/// Whether other servers may work on the same jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherServers {
    /// There are none.
    None,
    /// There may be some.
    Possible,
}

/// Whether unfinished jobs remain.
enum QueueState {
    Waiting,
    /// What is left of them is being done by other servers.
    AtOthers,
    Empty,
}

/// What came of a turn of a job.
#[derive(PartialEq)]
enum TurnOutcome {
    Worked,
    /// What is left of the job is being done by other servers.
    AtOthers,
}

/// Processes one batch of each of the first [`AT_ONCE`] jobs.
async fn round(
    jobs: &JobQueue,
    others: OtherServers,
    running: &mut BTreeMap<String, RunningJob>,
    stopping: &watch::Receiver<bool>,
) -> Result<QueueState, Error> {
    let mut queue = jobs.store.unfinished_job_ids().await?;
    let is_stuck = |id: &String| {
        jobs.stuck
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains_key(id)
    };
    queue.retain(|id| !is_stuck(id));
    metrics::gauge!("axioscope_jobs_unfinished").set(queue.len() as f64);
    running.retain(|id, _| queue.contains(id));
    {
        let mut speeds = jobs.speeds.lock().unwrap_or_else(PoisonError::into_inner);
        speeds.retain(|id, _| running.contains_key(id));
    }
    let mut has_worked = false;
    for id in queue.iter().take(AT_ONCE) {
        if *stopping.borrow() {
            break;
        }
        let turned = turn(jobs, id, running, stopping).await;
        has_worked |= !matches!(turned, Ok(TurnOutcome::AtOthers));
        if let Err(error) = turned {
            running.remove(id);
            let problem = error.public_message();
            // A job whose model this server lacks is left to the servers that have it.
            let is_for_others =
                others == OtherServers::Possible && matches!(error, Error::ModelNotFound { .. });
            tracing::error!("job {id}: {error}");
            let stored = match is_for_others {
                true => Err(error),
                false => jobs.store.mark_job_failed(id, &problem).await,
            };
            if let Err(second) = stored {
                if !is_for_others {
                    tracing::error!("job {id}: {second}");
                }
                let mut stuck = jobs.stuck.lock().unwrap_or_else(PoisonError::into_inner);
                stuck.insert(id.clone(), problem);
            }
        }
        jobs.told(id).await?;
    }
    Ok(match (queue.is_empty(), has_worked) {
        (true, _) => QueueState::Empty,
        (false, true) => QueueState::Waiting,
        (false, false) => QueueState::AtOthers,
    })
}

/// Scores one batch of a job, or finishes the job. Meanwhile the next batch is loaded and
/// tokenized, and the previous one is written.
async fn turn(
    jobs: &JobQueue,
    id: &str,
    running: &mut BTreeMap<String, RunningJob>,
    stopping: &watch::Receiver<bool>,
) -> Result<TurnOutcome, Error> {
    jobs.store.mark_job_running(id).await?;
    if !running.contains_key(id) {
        jobs.told(id).await?;
        running.insert(id.to_owned(), begin(jobs, id).await?);
        let mut speeds = jobs.speeds.lock().unwrap_or_else(PoisonError::into_inner);
        let since = Instant::now();
        speeds.insert(
            id.to_owned(),
            Speed {
                since,
                n_pairs: 0,
                pairs_per_s: 0.0,
                n_tokens: 0,
                tokens_per_s: 0.0,
            },
        );
    }
    let Some(job) = running.get_mut(id) else {
        unreachable!("the job was just inserted");
    };
    let batch = match job.ahead.take() {
        Some(batch) => Some(batch),
        None => cut_next(jobs, id, job.computing()).await?,
    };
    let Some((lease, batch)) = batch else {
        job.settle().await?;
        let Some(lease) = jobs.store.lease_last_step_of_job(id).await? else {
            return Ok(TurnOutcome::AtOthers);
        };
        let lease = HeldLease::keep(jobs, id, lease);
        let computing = job.computing();
        running.remove(id);
        finish(jobs, id, &lease, computing, stopping).await?;
        return Ok(TurnOutcome::Worked);
    };
    let ((ranker, threads), prepared) = (job.computing(), job.prepared.clone());
    let score = run_blocking("scoring a batch", move || {
        // This includes concurrent requests to the same model.
        let before = ranker.sequence_and_token_counts();
        let scores = threads.install(|| ranker.score_tokenized_batch(&prepared, &batch))?;
        Ok(ScoredBatch {
            lease,
            scores,
            reads: ranker.sequence_and_token_counts().minus_earlier(before),
        })
    });
    let next = cut_next(jobs, id, job.computing());
    let (scored, next) = tokio::join!(score, next);
    let scored = scored?;
    job.settle().await?;
    let commit = commit(jobs.clone(), id.to_owned(), scored);
    job.behind = Some(tokio::spawn(commit));
    job.ahead = next?;
    Ok(TurnOutcome::Worked)
}

/// Leases and tokenizes the next batch that is neither done nor leased.
async fn cut_next(
    jobs: &JobQueue,
    id: &str,
    (ranker, threads): Computing,
) -> Result<Option<PreparedBatch>, Error> {
    let Some(batch) = jobs.store.lease_next_batch_of_job(id).await? else {
        return Ok(None);
    };
    let lease = HeldLease::keep(jobs, id, batch.lease);
    run_blocking("cutting texts into tokens", move || {
        let cut = threads.install(|| ranker.tokenize_document_batch(&batch.texts))?;
        Ok(Some((lease, cut)))
    })
    .await
}

/// The scores of a batch, and how much the model read for them.
struct ScoredBatch {
    lease: HeldLease,
    scores: Vec<PairScore>,
    reads: SequenceAndTokenCounts,
}

/// Writes the scores of a batch, then reports the change to watchers.
async fn commit(jobs: JobQueue, id: String, scored: ScoredBatch) -> Result<(), Error> {
    let ScoredBatch {
        lease,
        scores,
        reads,
    } = scored;
    let committed = jobs.store.commit_batch_scores(&id, lease.lease, &scores);
    match committed.await? {
        BatchCommitOutcome::Committed => count(&jobs, &id, scores.len() as u64, reads),
        BatchCommitOutcome::LeaseEnded => {
            tracing::warn!(
                "job {id}: {:?} was given to another server",
                lease.lease.work
            )
        }
    }
    jobs.told(&id).await?;
    Ok(())
}

/// Loads the model and encodes the queries of a job.
async fn begin(jobs: &JobQueue, id: &str) -> Result<RunningJob, Error> {
    let work = jobs.store.job_without_documents(id).await?;
    let models = jobs.models.clone();
    let documents = match is_doc2query_spec(&work.ranker.spec) {
        true => jobs.store.unfinished_job_documents(id).await?,
        false => Vec::new(),
    };
    run_blocking("encoding the queries of a job", move || {
        let ScoringJobWithoutDocuments {
            ranker: about,
            token_budget,
            n_threads,
            queries,
            pairs,
        } = work;
        let mut ranker = models.get_or_load_ranker(&about.spec)?;
        if ranker.about.fingerprint != about.fingerprint {
            return Err(Error::ModelNotFound {
                model: about.spec,
                reason: "is not the one that this job was made for; put that one back, or make \
                         a new job"
                    .to_owned(),
            });
        }
        if ranker.needs_term_statistics() {
            let documents = documents.iter().map(String::as_str);
            let queries = queries.iter().map(String::as_str);
            ranker = Arc::new(ranker.with_statistics_of_documents(documents, queries)?);
        }
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads as usize)
            .build()
            .map_err(|_| Error::ServerBusy {
                what: "other threads",
                retry_after_s: 60,
            })?;
        let prepared =
            threads.install(|| ranker.encode_queries_of_pairs(&queries, &pairs, token_budget))?;
        Ok(RunningJob {
            ranker,
            prepared: Arc::new(prepared),
            threads: Arc::new(threads),
            ahead: None,
            behind: None,
        })
    })
    .await
}

/// Writes the scores to the score store, checks their stability, and marks the job as done.
async fn finish(
    jobs: &JobQueue,
    id: &str,
    lease: &HeldLease,
    computing: Computing,
    stopping: &watch::Receiver<bool>,
) -> Result<(), Error> {
    let job = jobs.store.job(id).await?;
    if job.state != JobState::Running {
        return Ok(());
    }
    let columns = jobs.store.job_scores_by_text_hash(id).await?;
    let path = jobs.folder.score_file_path(&job.ranker.fingerprint, id)?;
    run_blocking("writing scores", move || columns.write_parquet_file(&path)).await?;
    let certificate = match certify(jobs, id, computing, stopping.clone()).await {
        Ok(certificate) => certificate,
        // The scores are complete even if this check fails.
        Err(error) => {
            tracing::warn!("job {id}: no certificate: {error}");
            None
        }
    };
    if *stopping.borrow() {
        // Another process repeats this step.
        return Ok(());
    }
    jobs.store
        .finish_job_and_delete_texts(id, lease.lease, certificate.as_ref())
        .await
}

/// Scores a sample of the pairs again (score stability check). Returns `None` if the process is
/// stopping.
async fn certify(
    jobs: &JobQueue,
    id: &str,
    (ranker, threads): Computing,
    stopping: watch::Receiver<bool>,
) -> Result<Option<ScoreStabilityRecord>, Error> {
    let ScoringJobWithoutDocuments { queries, pairs, .. } =
        jobs.store.job_without_documents(id).await?;
    let mut by_query = vec![Vec::new(); queries.len()];
    for &(query, text) in &pairs {
        by_query[query as usize].push(text);
    }
    let unique = QueryDocumentPairs::from_documents_by_query(by_query);
    let sample = rescoring::select_pairs_to_rescore(&unique, &[]);
    let chosen: Vec<(u32, u32)> = unique
        .iter()
        .map(|(query, text)| (query as u32, text))
        .collect();
    let chosen: BTreeSet<(u32, u32)> = sample.iter().map(|&it| chosen[it as usize]).collect();
    let sample: Vec<u32> = (0..pairs.len() as u32)
        .filter(|&it| chosen.contains(&pairs[it as usize]))
        .collect();
    let mut places: Vec<u32> = chosen.iter().map(|it| it.1).collect();
    places.sort_unstable();
    places.dedup();
    let texts = jobs
        .store
        .unfinished_job_documents_at_indices(id, &places)
        .await?;
    run_blocking("certifying scores", move || {
        let place = |it: &u32| {
            let (query, text) = pairs[*it as usize];
            (query, places.partition_point(|&it| it < text) as u32)
        };
        let pairs: Vec<(u32, u32)> = sample.iter().map(place).collect();
        let all: Vec<u32> = (0..pairs.len() as u32).collect();
        let run = QueryDocumentPairsWithTexts {
            queries: &queries,
            documents: &texts,
            pairs: &pairs,
        };
        let go_on = || !*stopping.borrow();
        let certificate =
            threads.install(|| ranker.rescore_sample_under_conditions(&run, &all, &go_on))?;
        Ok(certificate.map(|mut certificate| {
            for it in &mut certificate.rescored {
                it.pairs.clone_from(&sample);
            }
            certificate
        }))
    })
    .await
}

fn count(jobs: &JobQueue, id: &str, n_pairs: u64, reads: SequenceAndTokenCounts) {
    metrics::counter!("axioscope_pairs_scored_total").increment(n_pairs);
    let mut speeds = jobs.speeds.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(speed) = speeds.get_mut(id) {
        speed.n_pairs += n_pairs;
        let took_s = speed.since.elapsed().as_secs_f64();
        speed.pairs_per_s = speed.n_pairs as f64 / took_s.max(1e-3);
        speed.n_tokens += reads.tokens;
        speed.tokens_per_s = speed.n_tokens as f64 / took_s.max(1e-3);
    }
}

/// Waits until the process is told to stop.
pub(crate) async fn wait_for_shutdown_signal(stopping: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which happens only when the process stops.
    let _ = stopping.wait_for(|&it| it).await;
}

async fn sleep(pause: Duration) {
    match pause {
        Duration::MAX => std::future::pending().await,
        pause => tokio::time::sleep(pause).await,
    }
}
