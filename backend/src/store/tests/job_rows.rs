//! Tests of jobs in the database: locks, batches, states and scores.

use shared::api::JobState;
use shared::score::rescoring::{ScoreStabilityRecord, ScoringEnvironment};

use super::*;
use crate::models::PairScore;
use crate::store::jobs::BatchCommitOutcome;
use crate::store::jobs::leases::{LeasedWork, WorkLease};
use crate::store::server_place::ServerPlace;

/// Returns a database with a job of some documents.
async fn store_with_job(place: &TestFolder, n_texts: u32) -> (Database, NewScoringJob) {
    let (store, job) = (place.store().await, job(n_texts));
    store.add_job_with_batches(&job).await.unwrap();
    (store, job)
}

#[tokio::test]
async fn of_the_servers_of_a_database_one_is_the_main_one() {
    let Some(place) = TestFolder::postgres() else {
        return;
    };
    let beside = TestFolder::sqlite();
    let (store, other) = (place.store().await, place.store().await);
    let join = async |store: &Database, folder: &TestFolder| {
        store
            .join_servers(folder.folder.lock().unwrap())
            .await
            .unwrap()
    };
    let mut first = join(&store, &place).await;
    let mut second = join(&other, &beside).await;
    let terms =
        |first: &ServerPlace, second: &ServerPlace| [first, second].map(|it| it.role().main_term());
    assert_eq!(terms(&first, &second), [1, 0]);
    second.renew().await.unwrap();
    assert_eq!(terms(&first, &second), [1, 0]);
    // A connection that the server has closed is opened again, and a new term begins, since another
    // server could have been the main one.
    place.server.as_ref().unwrap().execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
         WHERE locktype = 'advisory' AND database = (
             SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    first.renew().await.unwrap();
    second.renew().await.unwrap();
    assert_eq!(terms(&first, &second), [2, 0]);
    drop(first);
    // PostgreSQL takes a moment to notice that a connection has ended.
    for _ in 0..100 {
        second.renew().await.unwrap();
        if second.role().main_term() == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(second.role().main_term(), 1);
    // Nobody gets the database alone while it has a server, and no server joins while somebody has
    // it alone.
    let alone = || store.lock_for_process(place.folder.lock().unwrap());
    let Err(error) = alone().await else {
        panic!("a restored backup and a server write to one database")
    };
    assert!(matches!(error, Error::DatabaseInUse { .. }), "{error}");
    drop(second);
    let alone = alone().await.unwrap();
    let joined = other.join_servers(beside.folder.lock().unwrap()).await;
    assert!(matches!(joined, Err(Error::DatabaseInUse { .. })));
    drop(alone);
}

#[tokio::test]
async fn a_lease_that_has_ended_commits_nothing() {
    for place in TestFolder::each() {
        let (store, job) = store_with_job(&place, 4).await;
        let lease = async || store.lease_next_batch_of_job(&job.id).await.unwrap();
        let [first, second] = [lease().await.unwrap(), lease().await.unwrap()];
        assert_eq!(
            [first.lease.work, second.lease.work],
            [0, 1].map(LeasedWork::Batch)
        );
        assert!(lease().await.is_none(), "both are leased");
        // Nobody leases the last step while batches are not done.
        store.mark_job_running(&job.id).await.unwrap();
        let last_step = async || store.lease_last_step_of_job(&job.id).await.unwrap();
        assert_eq!(last_step().await, None);
        store.renew_lease(&job.id, first.lease).await.unwrap();
        store.end_lease(&job.id, first.lease).await.unwrap();
        let again = lease().await.unwrap();
        assert_eq!(
            (again.lease.work, again.lease.number),
            (LeasedWork::Batch(0), 2)
        );
        // The earlier lease neither commits nor ends the later one.
        let scores = |pairs: [u32; 2]| {
            pairs.map(|pair| PairScore {
                pair,
                score: 0.5,
                truncated: false,
            })
        };
        let commit = async |lease, pairs| {
            let scores = scores(pairs);
            store
                .commit_batch_scores(&job.id, lease, &scores)
                .await
                .unwrap()
        };
        store.end_lease(&job.id, first.lease).await.unwrap();
        assert!(lease().await.is_none());
        assert_eq!(
            commit(first.lease, [0, 1]).await,
            BatchCommitOutcome::LeaseEnded
        );
        assert_eq!(store.job(&job.id).await.unwrap().n_scored, 0);
        assert_eq!(
            commit(again.lease, [0, 1]).await,
            BatchCommitOutcome::Committed
        );
        assert_eq!(
            commit(second.lease, [2, 3]).await,
            BatchCommitOutcome::Committed
        );
        // One server does the last step.
        let step = last_step().await.unwrap();
        assert_eq!(last_step().await, None);
        store.end_lease(&job.id, step).await.unwrap();
        let later = last_step().await.unwrap();
        let state = async |lease| {
            let finished = store.finish_job_and_delete_texts(&job.id, lease, None);
            finished.await.unwrap();
            store.job(&job.id).await.unwrap().state
        };
        assert_eq!(state(step).await, JobState::Running);
        assert_eq!(state(later).await, JobState::Done);
        store.end_all_leases().await.unwrap();
    }
}

#[tokio::test]
async fn a_batch_is_committed_once() {
    for place in TestFolder::each() {
        let (store, job) = store_with_job(&place, 4).await;
        let batch = store
            .lease_next_batch_of_job(&job.id)
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
            .commit_batch_scores(&job.id, batch.lease, &scores(0.1))
            .await
            .unwrap();
        let again = store
            .commit_batch_scores(&job.id, batch.lease, &scores(0.2))
            .await
            .unwrap();
        assert_eq!(
            (first, again),
            (
                BatchCommitOutcome::Committed,
                BatchCommitOutcome::LeaseEnded
            )
        );
        assert_eq!(store.job_scores_so_far(&job.id).await.unwrap(), scores(0.1));
        assert_eq!(store.job(&job.id).await.unwrap().n_scored, 2);

        // If one pair has a score already, the whole batch is rolled back.
        let next = store
            .lease_next_batch_of_job(&job.id)
            .await
            .unwrap()
            .unwrap();
        assert!(
            store
                .commit_batch_scores(&job.id, next.lease, &scores(0.3))
                .await
                .is_err()
        );
        store.end_lease(&job.id, next.lease).await.unwrap();
        let again = store.lease_next_batch_of_job(&job.id).await.unwrap();
        assert_eq!(again.unwrap().lease.work, next.lease.work);
        assert_eq!(store.job(&job.id).await.unwrap().n_scored, 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_commit_a_batch_at_once_one_does() {
    for place in TestFolder::each() {
        let stores = [place.store().await, place.store().await];
        let job = job(100);
        stores[0].add_job_with_batches(&job).await.unwrap();
        let leased = stores[0].lease_next_batch_of_job(&job.id).await;
        let lease = leased.unwrap().unwrap().lease;
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
                store
                    .commit_batch_scores(&id, lease, &scores)
                    .await
                    .unwrap()
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
        for score in &scores {
            let batch = store
                .lease_next_batch_of_job(&job.id)
                .await
                .unwrap()
                .unwrap();
            let scores = std::slice::from_ref(score);
            store
                .commit_batch_scores(&job.id, batch.lease, scores)
                .await
                .unwrap();
        }
        let columns = store.job_scores_by_text_hash(&job.id).await.unwrap();
        assert_eq!(columns.scores, [0.0, 1.0]);
        let river = shared::collection::text_hash("river");
        assert_eq!(columns.query_hashes, [river.clone(), river]);
        let certificate = ScoreStabilityRecord {
            environment: ScoringEnvironment::with_unknown_activation("cpu", "f32"),
            rescored: Vec::new(),
        };
        let never_leased = WorkLease {
            work: LeasedWork::LastStep,
            number: 0,
        };
        store
            .finish_job_and_delete_texts(&job.id, never_leased, Some(&certificate))
            .await
            .unwrap();
        let state = store.job(&job.id).await.unwrap().state;
        assert_eq!(state, JobState::Queued, "only a running job ends");
        assert_eq!(
            store.job_score_stability_check(&job.id).await.unwrap(),
            None
        );
        store.mark_job_running(&job.id).await.unwrap();
        let lease = store
            .lease_last_step_of_job(&job.id)
            .await
            .unwrap()
            .unwrap();
        store
            .finish_job_and_delete_texts(&job.id, lease, Some(&certificate))
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
