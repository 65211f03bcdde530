//! Tests of jobs in the database: locks, batches, states and scores.

use shared::api::JobState;
use shared::score::rescoring::{ScoreStabilityRecord, ScoringEnvironment};

use super::*;
use crate::models::PairScore;
use crate::store::jobs::BatchCommitOutcome;

/// Returns a database with a job of some documents.
async fn store_with_job(place: &TestFolder, n_texts: u32) -> (Database, NewScoringJob) {
    let (store, job) = (place.store().await, job(n_texts));
    store.add_job_with_batches(&job).await.unwrap();
    (store, job)
}

#[tokio::test]
async fn jobs_of_one_database_are_worked_on_from_one_folder() {
    let Some(place) = TestFolder::postgres() else {
        return;
    };
    let beside = TestFolder::sqlite();
    let (store, other) = (place.store().await, place.store().await);
    let mut lock = store
        .lock_jobs_for_process(place.folder.lock().unwrap())
        .await
        .unwrap();
    let refused = other
        .lock_jobs_for_process(beside.folder.lock().unwrap())
        .await;
    let Err(error) = refused else {
        panic!("two work on the same jobs")
    };
    assert!(matches!(error, Error::DatabaseInUse { .. }), "{error}");
    // A connection that the server has closed is opened again.
    lock.ensure_held().await.unwrap();
    place.server.as_ref().unwrap().execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
         WHERE locktype = 'advisory' AND database = (
             SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    lock.ensure_held().await.unwrap();
    drop(lock);
    assert!(
        other
            .lock_jobs_for_process(beside.folder.lock().unwrap())
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_batch_is_committed_once() {
    for place in TestFolder::each() {
        let (store, job) = store_with_job(&place, 4).await;
        let batch = store
            .next_unfinished_batch_of_job(&job.id, None)
            .await
            .unwrap()
            .unwrap();
        let places: Vec<u32> = batch.texts.iter().map(|it| it.0).collect();
        assert_eq!(places, [0, 1]);
        let scores = |score| {
            [0, 1].map(|pair| PairScore {
                pair,
                score,
                truncated: pair == 1,
            })
        };

        let first = store
            .commit_batch_scores(&job.id, batch.number, &scores(0.1))
            .await
            .unwrap();
        let again = store
            .commit_batch_scores(&job.id, batch.number, &scores(0.2))
            .await
            .unwrap();
        assert_eq!(
            (first, again),
            (
                BatchCommitOutcome::Committed,
                BatchCommitOutcome::AlreadyCommitted
            )
        );
        assert_eq!(store.job_scores_so_far(&job.id).await.unwrap(), scores(0.1));
        assert_eq!(store.job(&job.id).await.unwrap().n_scored, 2);

        // If one pair has a score already, the whole batch is rolled back.
        let next = store
            .next_unfinished_batch_of_job(&job.id, None)
            .await
            .unwrap()
            .unwrap();
        assert!(
            store
                .commit_batch_scores(&job.id, next.number, &scores(0.3))
                .await
                .is_err()
        );
        assert_eq!(
            store
                .next_unfinished_batch_of_job(&job.id, None)
                .await
                .unwrap()
                .unwrap()
                .number,
            next.number
        );
        assert_eq!(store.job(&job.id).await.unwrap().n_scored, 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_commit_a_batch_at_once_one_does() {
    for place in TestFolder::each() {
        let stores = [place.store().await, place.store().await];
        stores[0].add_job_with_batches(&job(100)).await.unwrap();
        let commit = |at: usize| {
            let store = stores[at % 2].clone();
            let scores = [0.1, 1e-300, -0.0, f64::MIN_POSITIVE / 2.0];
            let scores: Vec<PairScore> = (0..50)
                .map(|pair| PairScore {
                    pair,
                    score: scores[pair as usize % 4],
                    truncated: false,
                })
                .collect();
            let committed = async move {
                let id = "0".repeat(32);
                store.commit_batch_scores(&id, 0, &scores).await.unwrap()
            };
            tokio::spawn(committed)
        };
        let all: Vec<_> = (0..8).map(commit).collect();
        let mut n_now = 0;
        for it in all {
            n_now += usize::from(it.await.unwrap() == BatchCommitOutcome::Committed);
        }
        assert_eq!(n_now, 1);
        let id = "0".repeat(32);
        assert_eq!(stores[0].job(&id).await.unwrap().n_scored, 50);
        let found = stores[1].job_scores_so_far(&id).await.unwrap();
        let bits = |it: &PairScore| it.score.to_bits();
        assert_eq!(bits(&found[1]), 1e-300_f64.to_bits());
        assert_eq!(bits(&found[2]), 0.0_f64.to_bits());
        assert_eq!(bits(&found[3]), (f64::MIN_POSITIVE / 2.0).to_bits());
    }
}

#[tokio::test]
async fn a_job_that_is_done_has_its_scores_and_no_texts() {
    for place in TestFolder::each() {
        let (store, job) = store_with_job(&place, 2).await;
        let scores = [0, 1].map(|pair| PairScore {
            pair,
            score: f64::from(pair),
            truncated: false,
        });
        store
            .commit_batch_scores(&job.id, 0, &scores[..1])
            .await
            .unwrap();
        store
            .commit_batch_scores(&job.id, 1, &scores[1..])
            .await
            .unwrap();
        let columns = store.job_scores_by_text_hash(&job.id).await.unwrap();
        assert_eq!(columns.scores, [0.0, 1.0]);
        let river = shared::collection::text_hash("river");
        assert_eq!(columns.query_hashes, [river.clone(), river]);
        let certificate = ScoreStabilityRecord {
            environment: ScoringEnvironment::with_unknown_activation("cpu", "f32"),
            rescored: Vec::new(),
        };
        store
            .finish_job_and_delete_texts(&job.id, Some(&certificate))
            .await
            .unwrap();
        let state = store.job(&job.id).await.unwrap().state;
        assert_eq!(state, JobState::Queued, "only a running job ends");
        assert_eq!(
            store.job_score_stability_check(&job.id).await.unwrap(),
            None
        );
        store.mark_job_running(&job.id).await.unwrap();
        store
            .finish_job_and_delete_texts(&job.id, Some(&certificate))
            .await
            .unwrap();
        let kept = store.job_score_stability_check(&job.id).await.unwrap();
        assert_eq!(kept, Some(certificate));
        let n_texts: i64 = sqlx::query_scalar("SELECT count(*) FROM job_texts")
            .fetch_one(&store.pool)
            .await
            .unwrap();
        assert_eq!(n_texts, 0);
        assert_eq!(store.job_scores_so_far(&job.id).await.unwrap(), scores);
        assert_eq!(
            store.unfinished_job_ids().await.unwrap(),
            Vec::<String>::new()
        );
    }
}

#[tokio::test]
async fn a_job_waits_runs_stops_and_goes_on() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let id = "0".repeat(32);
        store.add_job_with_batches(&job(2)).await.unwrap();
        let state = async || {
            let job = store.job(&id).await.unwrap();
            (job.state, job.error)
        };
        store.mark_job_running(&id).await.unwrap();
        assert_eq!(state().await, (JobState::Running, None));
        store.requeue_running_jobs().await.unwrap();
        assert_eq!(state().await, (JobState::Queued, None));
        store.mark_job_failed(&id, "it broke").await.unwrap();
        let problem = Some("it broke".to_owned());
        assert_eq!(state().await, (JobState::Failed, problem));
        store.requeue_canceled_or_failed_job(&id).await.unwrap();
        assert_eq!(state().await, (JobState::Queued, None));
        store.cancel_job(&id).await.unwrap();
        assert_eq!(state().await, (JobState::Canceled, None));
        assert_eq!(store.list_jobs().await.unwrap().len(), 1);
        assert_eq!(
            store
                .unfinished_job_documents_at_indices(&id, &[1])
                .await
                .unwrap(),
            ["1 rivers and their banks"]
        );
        assert_eq!(
            store.job_without_documents(&id).await.unwrap().pairs,
            [(0, 0), (0, 1)]
        );
    }
}
