//! Jobs with the smallest model: uninterrupted, killed, canceled, failing.

use std::pin::pin;
use std::time::Duration;

use futures_util::poll;
use shared::score::rescoring::RescoringCondition;

use super::*;
use crate::models::{self, QueryDocumentPairsWithTexts};
use crate::store::DatabaseConfig;
use crate::store::partial_scores::PartialScores;
use crate::store::tests::TestFolder;

/// Returns a job of many small batches: 4 queries, 600 documents of up to 64 tokens.
pub(crate) fn create(ranker: &str) -> CreateScoringJobRequest {
    let words = ["river", "bank", "a", "of", "b", "water", "c", "d", "stone"];
    let text = |at: usize| {
        let n_words = 1 + at * 7 % 90;
        let word = |it: usize| words[(at * 31 + it * it) % words.len()];
        let text: Vec<&str> = (0..n_words).map(word).collect();
        format!("{} {at}", text.join(" "))
    };
    CreateScoringJobRequest {
        model: ranker.to_owned(),
        title: "A job".to_owned(),
        queries: words[..4].iter().map(|&it| it.to_owned()).collect(),
        documents: (0..600).map(text).collect(),
        pairs: (0..600)
            .flat_map(|text| [(text % 4, text), ((text + 1) % 4, text)])
            .collect(),
    }
}

/// Polls a future until `is_due` returns true, then drops it, as the server does when a client
/// disconnects. Whatever it waits for is there before it is polled again.
pub(crate) async fn drop_once(is_due: impl AsyncFn() -> bool, future: impl Future) {
    let mut future = pin!(future);
    while !is_due().await {
        let polled = poll!(&mut future);
        assert!(polled.is_pending(), "it is never due");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn on_sqlite() -> (TestFolder, JobQueue) {
    let place = TestFolder::sqlite();
    let jobs = open(&place).await;
    (place, jobs)
}

async fn open(place: &TestFolder) -> JobQueue {
    open_with_models(place, models::tests::tiny()).await
}

async fn open_with_models(place: &TestFolder, models: ModelRegistry) -> JobQueue {
    JobQueue::for_stored_jobs(place.folder.clone(), place.store().await, Arc::new(models))
}

/// Runs the worker until `enough` returns true for a change, then aborts it.
async fn work_until(jobs: &JobQueue, enough: impl Fn(&ScoringJob) -> bool) -> ScoringJob {
    let (_stop, stopping) = tokio::sync::watch::channel(false);
    let mut steps = jobs.subscribe_to_changes();
    let worker = tokio::spawn(run_job_worker(jobs.clone(), OtherServers::None, stopping));
    let job = loop {
        let step = steps.recv().await.unwrap();
        if enough(&step) {
            break step;
        }
    };
    worker.abort();
    let _ = worker.await;
    job
}

fn bits(scores: &JobScoresResponse) -> Vec<Option<u64>> {
    scores
        .scores
        .iter()
        .map(|it| it.map(f64::to_bits))
        .collect()
}

#[tokio::test]
async fn a_job_that_was_killed_ends_with_the_bits_of_one_that_was_not() {
    for ranker in ["tiny:bi", "tiny:late"] {
        let (_place, jobs) = on_sqlite().await;
        let id = jobs.submit_job(create(ranker)).await.unwrap().id;
        work_until(&jobs, |it| it.state.is_finished()).await;
        let expected = jobs.scores_so_far(&id).await.unwrap();
        assert!(expected.scores.iter().all(Option::is_some));
        assert!(!expected.truncated.is_empty());

        for place in TestFolder::each() {
            let jobs = open(&place).await;
            let id = jobs.submit_job(create(ranker)).await.unwrap().id;
            let killed = work_until(&jobs, |it| it.n_scored > 0).await;
            assert_eq!(killed.state, JobState::Running);
            assert!(killed.n_scored < killed.n_pairs, "it is in its middle");
            let before = jobs.scores_so_far(&id).await.unwrap();
            drop(jobs);

            let jobs = open(&place).await;
            let ended = work_until(&jobs, |it| it.state.is_finished()).await;
            assert_eq!(
                (ended.state, ended.n_scored),
                (JobState::Done, ended.n_pairs)
            );
            let found = jobs.scores_so_far(&id).await.unwrap();
            assert_eq!(bits(&found), bits(&expected));
            assert_eq!(found.truncated, expected.truncated);
            for (before, after) in bits(&before).iter().zip(bits(&found)) {
                assert!(
                    before.is_none() || *before == after,
                    "what was committed stays"
                );
            }
            let file = jobs
                .folder
                .score_file_path(&ended.ranker.fingerprint, &id)
                .unwrap();
            assert!(file.is_file());
        }
    }
}

#[tokio::test]
async fn a_finished_job_has_a_stability_check_of_its_scores() {
    for ranker in ["tiny:bi", "tiny:late"] {
        let (_place, jobs) = on_sqlite().await;
        let id = jobs.submit_job(create(ranker)).await.unwrap().id;
        assert_eq!(jobs.scores_so_far(&id).await.unwrap().rescoring, None);
        work_until(&jobs, |it| it.state.is_finished()).await;
        let JobScoresResponse {
            scores,
            rescoring: certificate,
            ..
        } = jobs.scores_so_far(&id).await.unwrap();
        let certificate = certificate.unwrap();
        assert!(certificate.is_valid_for_pair_count(scores.len()));
        assert_eq!(certificate.environment.device, "cpu");
        let conditions: Vec<RescoringCondition> =
            certificate.rescored.iter().map(|it| it.condition).collect();
        let expected = [
            RescoringCondition::Unbatched,
            RescoringCondition::ReversedBatches,
            RescoringCondition::F16,
        ];
        assert_eq!(conditions, expected);
        for it in certificate.rescored {
            // Sixteen pairs of each of the four queries.
            assert_eq!(it.pairs.len(), 64);
            for (&pair, again) in it.pairs.iter().zip(it.scores) {
                let score = scores[pair as usize].unwrap();
                let most = match it.condition {
                    RescoringCondition::F16 => 0.02 * score.abs().max(1.0),
                    _ => 1e-5,
                };
                assert!((score - again).abs() < most, "{score} and {again}");
            }
        }
    }
}

#[tokio::test]
async fn the_command_line_gives_the_bits_of_a_job() {
    let (_place, jobs) = on_sqlite().await;
    let asked = create("tiny:bi");
    let id = jobs.submit_job(asked.clone()).await.unwrap().id;
    work_until(&jobs, |it| it.state.is_finished()).await;
    let ranker = jobs.models.get_or_load_ranker("tiny:bi").unwrap();
    let scores = ranker
        .score_pairs(
            &QueryDocumentPairsWithTexts {
                queries: &asked.queries,
                documents: &asked.documents,
                pairs: &asked.pairs,
            },
            &mut PartialScores::empty_without_file(),
            |_| {},
        )
        .unwrap();
    let expected: Vec<Option<u64>> = scores.iter().map(|it| Some(it.score.to_bits())).collect();
    assert_eq!(bits(&jobs.scores_so_far(&id).await.unwrap()), expected);
}

#[tokio::test]
async fn a_doc2query_job_has_the_statistics_of_all_its_documents_also_after_a_kill() {
    let spec = "t5-gated:doc2query";
    let open = async |place: &TestFolder| {
        let named = [models::tests::fixture("t5-gated")];
        let models = ModelRegistry::with_models_or_default(&named, neural::Device::Cpu).unwrap();
        open_with_models(place, models).await
    };
    let mut asked = create(spec);
    asked.documents.truncate(60);
    asked.pairs.retain(|it| it.1 < 60);
    for place in TestFolder::each() {
        let jobs = open(&place).await;
        let id = jobs.submit_job(asked.clone()).await.unwrap().id;
        let killed = work_until(&jobs, |it| it.n_scored > 0).await;
        assert!(killed.n_scored < killed.n_pairs, "it is in its middle");
        drop(jobs);
        let jobs = open(&place).await;
        let ended = work_until(&jobs, |it| it.state.is_finished()).await;
        assert_eq!(ended.state, JobState::Done, "{:?}", ended.error);

        let ranker = jobs.models.get_or_load_ranker(spec).unwrap();
        let documents = asked.documents.iter().map(String::as_str);
        let queries = asked.queries.iter().map(String::as_str);
        let ranker = ranker
            .with_statistics_of_documents(documents, queries)
            .unwrap();
        let listed = QueryDocumentPairsWithTexts {
            queries: &asked.queries,
            documents: &asked.documents,
            pairs: &asked.pairs,
        };
        let draft = &mut PartialScores::empty_without_file();
        let scores = ranker.score_pairs(&listed, draft, |_| {}).unwrap();
        let expected: Vec<Option<u64>> = scores.iter().map(|it| Some(it.score.to_bits())).collect();
        assert_eq!(bits(&jobs.scores_so_far(&id).await.unwrap()), expected);
        let mut distinct = expected.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 20, "{}", distinct.len());
    }
}

#[tokio::test]
async fn jobs_take_turns() {
    let (_place, jobs) = on_sqlite().await;
    let first = jobs.submit_job(create("tiny:bi")).await.unwrap().id;
    let second = jobs.submit_job(create("tiny:late")).await.unwrap().id;
    work_until(&jobs, |it| it.id == second && it.n_scored > 0).await;
    let first = jobs.job(&first).await.unwrap();
    assert!(first.n_scored > 0 && first.n_scored < first.n_pairs);
}

#[tokio::test]
async fn a_job_that_was_cancelled_goes_on_where_it_stopped() {
    for place in TestFolder::each() {
        let jobs = open(&place).await;
        let id = jobs.submit_job(create("tiny:bi")).await.unwrap().id;
        work_until(&jobs, |it| it.n_scored > 0).await;
        let cancelled = jobs.cancel(&id).await.unwrap();
        assert_eq!(cancelled.state, JobState::Canceled);
        assert_eq!(
            jobs.cancel(&id).await.unwrap(),
            cancelled,
            "twice is as good as once"
        );
        let kept = jobs.scores_so_far(&id).await.unwrap();
        assert_eq!(
            kept.scores.iter().flatten().count() as u64,
            cancelled.n_scored
        );

        assert_eq!(
            jobs.resume_canceled_or_failed_job(&id).await.unwrap().state,
            JobState::Queued
        );
        let ended = work_until(&jobs, |it| {
            assert!(it.n_scored >= cancelled.n_scored, "nothing is done again");
            it.state.is_finished()
        })
        .await;
        assert_eq!(
            (ended.state, ended.n_scored),
            (JobState::Done, ended.n_pairs)
        );
        assert_eq!(
            jobs.resume_canceled_or_failed_job(&id).await.unwrap().state,
            JobState::Done
        );
    }
}

/// Returns a job of one pair.
fn small_job() -> CreateScoringJobRequest {
    let mut job = create("tiny:bi");
    (job.queries, job.documents) = (vec!["river".to_owned()], vec!["a bank".to_owned()]);
    job.pairs = vec![(0, 0)];
    job
}

/// Runs the worker, calls `change` when it has nothing to do, and returns the first job to end.
async fn next_to_end(jobs: &JobQueue, change: impl AsyncFnOnce()) -> ScoringJob {
    let (_stop, stopping) = tokio::sync::watch::channel(false);
    let mut steps = jobs.subscribe_to_changes();
    let worker = tokio::spawn(run_job_worker(jobs.clone(), OtherServers::None, stopping));
    tokio::time::sleep(Duration::from_millis(200)).await;
    change().await;
    let end = async {
        loop {
            let step = steps.recv().await.unwrap();
            if step.state.is_finished() {
                break step;
            }
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(20), end).await;
    worker.abort();
    ended.expect("the worker was woken")
}

#[tokio::test]
async fn a_job_runs_even_if_its_client_disconnects_once_it_is_stored() {
    let (_place, jobs) = on_sqlite().await;
    let is_stored = async || !jobs.list_jobs().await.unwrap().is_empty();
    let ended = next_to_end(&jobs, async || {
        drop_once(is_stored, jobs.submit_job(small_job())).await;
    });
    assert_eq!(ended.await.state, JobState::Done);
}

#[tokio::test]
async fn a_job_goes_on_even_if_its_client_disconnects_once_it_is_queued_again() {
    let (_place, jobs) = on_sqlite().await;
    let id = jobs.submit_job(small_job()).await.unwrap().id;
    jobs.cancel(&id).await.unwrap();
    let is_queued = async || jobs.job(&id).await.unwrap().state != JobState::Canceled;
    let ended = next_to_end(&jobs, async || {
        drop_once(is_queued, jobs.resume_canceled_or_failed_job(&id)).await;
    });
    assert_eq!(ended.await.state, JobState::Done);
}

#[tokio::test]
async fn watchers_learn_of_a_cancellation_even_if_its_client_disconnects() {
    let (_place, jobs) = on_sqlite().await;
    let id = jobs.submit_job(small_job()).await.unwrap().id;
    let mut steps = jobs.subscribe_to_changes();
    let is_canceled = async || jobs.job(&id).await.unwrap().state == JobState::Canceled;
    drop_once(is_canceled, jobs.cancel(&id)).await;
    let step = tokio::time::timeout(Duration::from_secs(10), steps.recv()).await;
    let step = step.expect("watchers are told").unwrap();
    assert_eq!((step.id, step.state), (id, JobState::Canceled));
}

#[tokio::test]
async fn a_job_whose_model_changed_fails_visibly() {
    let files = ["config.json", "tokenizer.json", "model.safetensors"];
    let (home, folder) = models::tests::copy_tiny("tiny", &files);
    let open = async || {
        let named = [folder.display().to_string()];
        let models = ModelRegistry::with_models_or_default(&named, neural::Device::Cpu).unwrap();
        let data = DataFolder::open(home.path().join("data")).unwrap();
        let database = DatabaseConfig::Sqlite(data.database_path());
        let store = Database::open_and_migrate(&database).await.unwrap();
        JobQueue::for_stored_jobs(data, store, Arc::new(models))
    };
    let id = open().await.submit_job(create("tiny:bi")).await.unwrap().id;
    let config = folder.join("config.json");
    let other = std::fs::read_to_string(&config).unwrap() + " ";
    std::fs::write(&config, other).unwrap();
    let jobs = open().await;
    let failed = work_until(&jobs, |it| it.state.is_finished()).await;
    assert_eq!((failed.id, failed.state), (id, JobState::Failed));
    let problem = failed.error.unwrap();
    assert!(
        problem.contains("is not the one that this job was made for"),
        "{problem}"
    );
}

#[tokio::test]
async fn who_asks_for_no_job_gets_none() {
    let (_place, jobs) = on_sqlite().await;
    let job = "nothing";
    for error in [
        jobs.job(job).await.unwrap_err(),
        jobs.cancel(job).await.unwrap_err(),
        jobs.resume_canceled_or_failed_job(job).await.unwrap_err(),
        jobs.scores_so_far(job).await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "there is no job named `nothing`");
    }
}
