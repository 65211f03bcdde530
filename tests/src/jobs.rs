//! A neural job whose server is killed in the middle.

use std::path::Path;
use std::time::Duration;

use shared::api::{
    CreateScoringJobRequest, GetJobScoresRequest, GetScoringJobRequest, JobScoresResponse,
    JobState, ScoringJob,
};

use crate::annotation::seeded_random::SeededRandom;
use crate::harness::{TestHome, TestServer, model, tiny_model};
use tests::postgres::TestDatabase;

/// The size of a job.
#[derive(Clone, Copy)]
pub(crate) struct JobSize {
    pub(crate) n_queries: u32,
    pub(crate) n_texts: u32,
    /// The maximum number of words per document.
    pub(crate) n_words: u32,
}

/// Slightly more pairs than a study with a hundred documents for each of 43 queries.
const USUAL: JobSize = JobSize {
    n_queries: 8,
    n_texts: 600,
    n_words: 70,
};

/// Creates a job with every pair of a query and a document.
fn job(ranker: String, size: JobSize) -> CreateScoringJobRequest {
    let words: Vec<&str> = "river bank water stone bridge harbour of the and a deep cold flood \
                            mud boat ferry carries sand slowly past old houses where grain was"
        .split_whitespace()
        .collect();
    // The documents are always the same.
    let mut random = SeededRandom::new(42);
    let mut text = |at: u32, n_words: u32| {
        let chosen = (0..n_words).map(|_| words[random.below(words.len() as u64) as usize]);
        format!("{at} {}", chosen.collect::<Vec<_>>().join(" "))
    };
    let JobSize {
        n_queries,
        n_texts,
        n_words,
    } = size;
    CreateScoringJobRequest {
        model: ranker,
        title: "Killed in the middle".to_owned(),
        queries: (0..n_queries).map(|at| text(at, 4)).collect(),
        documents: (0..n_texts)
            .map(|at| text(at, 10 + at % (n_words - 10)))
            .collect(),
        pairs: (0..n_texts)
            .flat_map(|text| (0..n_queries).map(move |query| (query, text)))
            .collect(),
    }
}

fn serve(home: &TestHome, model: &Path) -> TestServer {
    home.serve(&["--model", &model.to_string_lossy()])
}

/// Creates the job with the bi-encoder of the model.
fn create(server: &TestServer, size: JobSize) -> ScoringJob {
    let ranker = server
        .call(&shared::api::GetServerInfoRequest {})
        .models
        .remove(0)
        .spec;
    assert!(ranker.ends_with(":bi"), "{ranker}");
    server.call(&job(ranker, size))
}

fn bits(found: &JobScoresResponse) -> Vec<Option<u64>> {
    let scores = found.scores.iter();
    scores.map(|it| it.map(f64::to_bits)).collect()
}

/// Returns the number of pairs that this server process has committed.
fn n_scored(server: &TestServer) -> u64 {
    let metrics = server.get("/metrics").text().unwrap();
    let value = metrics
        .lines()
        .find_map(|it| it.strip_prefix("axioscope_pairs_scored_total "));
    value.map_or(0, |it| it.parse().unwrap())
}

#[test]
fn a_killed_job_goes_on_by_itself_and_ends_with_the_same_bits() {
    let Some(model) = model() else {
        return;
    };
    check_survives_kills(1, &model, USUAL);
}

#[test]
fn a_job_of_20_000_pairs_that_is_killed_ten_times_loses_and_repeats_none() {
    let size = JobSize {
        n_queries: 5,
        n_texts: 4_000,
        n_words: 250,
    };
    check_survives_kills(10, &tiny_model(), size);
}

/// A server of a PostgreSQL database that others serve as well.
fn serve_beside(home: &TestHome, database: &TestDatabase) -> TestServer {
    let mut program = home.program();
    program.env("DATABASE_URL", &database.url);
    home.serve_by(program, &["--model", &tiny_model().to_string_lossy()])
}

/// Two servers share a job. Ten times, at a random moment, one of them is killed and started again.
#[test]
fn two_servers_share_a_job_and_either_is_killed_ten_times() {
    let Some(database) = TestDatabase::new() else {
        return;
    };
    let homes = [TestHome::new(), TestHome::new()];
    let size = JobSize {
        n_queries: 5,
        n_texts: 6_000,
        n_words: 250,
    };
    let start = |at: usize| Some(serve_beside(&homes[at], &database));
    let mut servers = [start(0), start(1)];
    let mut random = SeededRandom::new(23);
    let job = create(servers[0].as_ref().unwrap(), size);
    let watch = GetScoringJobRequest {
        job: job.id.clone(),
    };
    let fetch = GetJobScoresRequest {
        job: job.id.clone(),
    };
    let mut have_both_worked = false;
    let mut committed: Vec<Option<u64>> = vec![None; job.n_pairs as usize];
    for n_kills in 0..10 {
        // The kills are spread over the job, and come at a random moment.
        let least = job.n_pairs * (n_kills + 1) / 12;
        let seen = servers[0].as_ref().unwrap();
        let reached = seen.call_until(&watch, |it| it.n_scored >= least);
        assert!(reached.n_scored < job.n_pairs, "it is in its middle");
        std::thread::sleep(Duration::from_millis(random.below(300)));
        let scored = servers.each_ref().map(|it| n_scored(it.as_ref().unwrap()));
        have_both_worked |= scored.iter().all(|it| *it > 0);
        let scores = bits(&servers[1].as_ref().unwrap().call(&fetch));
        for (before, after) in committed.iter().zip(&scores) {
            assert!(
                before.is_none() || before == after,
                "what was committed stays"
            );
        }
        committed = scores;
        let killed = random.below(2) as usize;
        servers[killed].take().unwrap().kill();
        servers[killed] = start(killed);
    }
    assert!(have_both_worked, "one server has done it all");
    let servers = servers.map(Option::unwrap);
    let ended = servers[1].call_until(&watch, |it| it.state.is_finished());
    assert_eq!(
        (ended.state, ended.n_scored, ended.error),
        (JobState::Done, job.n_pairs, None)
    );
    let found = servers[0].call(&fetch);
    for (before, after) in committed.iter().zip(bits(&found)) {
        assert!(
            before.is_none() || *before == after,
            "what was committed stays"
        );
    }
    drop(servers);

    let undisturbed = TestHome::new();
    let server = serve(&undisturbed, &tiny_model());
    let job = create(&server, size);
    let watch = GetScoringJobRequest {
        job: job.id.clone(),
    };
    server.call_until(&watch, |it| it.state.is_finished());
    let expected = server.call(&GetJobScoresRequest { job: job.id });
    assert!(expected.scores.iter().all(Option::is_some));
    assert!(
        bits(&found) == bits(&expected),
        "the scores have other bits"
    );
    assert_eq!(found.truncated, expected.truncated);
}

/// Kills the server `n_kills` times in the middle of a job, each time after it has committed
/// something, and compares the scores with those of an undisturbed job. Runs with each database.
pub(crate) fn check_survives_kills(n_kills: u32, model: &Path, size: JobSize) {
    let found: Vec<JobScoresResponse> = TestHome::of_each_database()
        .map(|home| disturbed(n_kills, &home, model, size))
        .collect();

    let undisturbed = TestHome::new();
    let server = serve(&undisturbed, model);
    let job = create(&server, size);
    server.call_until(
        &GetScoringJobRequest {
            job: job.id.clone(),
        },
        |it| it.state.is_finished(),
    );
    assert_eq!(n_scored(&server), job.n_pairs);
    let expected = server.call(&GetJobScoresRequest { job: job.id });
    assert!(expected.scores.iter().all(Option::is_some));
    for found in found {
        assert!(
            bits(&found) == bits(&expected),
            "the scores have other bits"
        );
        assert_eq!(found.truncated, expected.truncated);
    }
}

fn disturbed(n_kills: u32, home: &TestHome, model: &Path, size: JobSize) -> JobScoresResponse {
    let mut server = serve(home, model);
    let job = create(&server, size);
    assert_eq!(job.n_pairs, u64::from(size.n_queries * size.n_texts));
    let watch = GetScoringJobRequest {
        job: job.id.clone(),
    };
    let fetch = GetJobScoresRequest {
        job: job.id.clone(),
    };
    let mut n_done = 0;
    let mut committed: Vec<Option<u64>> = vec![None; job.n_pairs as usize];
    for _ in 0..n_kills {
        let killed = server.call_until(&watch, |it| {
            it.state == JobState::Running && n_scored(&server) > 0
        });
        // This process has only scored pairs that had no score before, so nothing was scored twice.
        let n_new = n_scored(&server);
        assert!(
            n_new <= server.call(&watch).n_scored - n_done,
            "{n_new} pairs were scored after {n_done} were there"
        );
        let scores = bits(&server.call(&fetch));
        server.kill();
        assert!(
            killed.n_scored < killed.n_pairs,
            "it was in its middle: {}",
            killed.n_scored
        );
        for (before, after) in committed.iter().zip(&scores) {
            assert!(
                before.is_none() || before == after,
                "what was committed stays"
            );
        }
        (n_done, committed) = (killed.n_scored, scores);
        server = serve(home, model);
    }
    let ended = server.call_until(&watch, |it| it.state.is_finished());
    assert_eq!(
        (ended.state, ended.n_scored, ended.error),
        (JobState::Done, job.n_pairs, None)
    );
    let kept = job.n_pairs - n_scored(&server);
    assert!(kept >= n_done, "{kept} of {n_done} were not scored again");
    let found = server.call(&fetch);
    for (before, after) in committed.iter().zip(bits(&found)) {
        assert!(
            before.is_none() || *before == after,
            "what was committed stays"
        );
    }
    found
}
