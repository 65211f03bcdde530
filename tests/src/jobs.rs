//! A neural job that loses its server in the middle.

use shared::api::{CreateJob, Fetch, Job, JobScores, JobState, Watch};

use crate::harness::{Home, Server, model, skip};

const QUERIES: u32 = 8;
const TEXTS: u32 = 600;

/// As many pairs as a study of a hundred documents for each of 43 queries, and some more.
fn job(ranker: String) -> CreateJob {
    let words: Vec<&str> = "river bank water stone bridge harbour of the and a deep cold flood \
                            mud boat ferry carries sand slowly past old houses where grain was"
        .split_whitespace()
        .collect();
    // Knuth's MMIX generator: the same texts each time.
    let mut state = 42_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = |at: u32, n_words: u64| {
        let chosen = (0..n_words).map(|_| words[next(words.len() as u64) as usize]);
        format!("{at} {}", chosen.collect::<Vec<_>>().join(" "))
    };
    CreateJob {
        ranker,
        title: "Killed in the middle".to_owned(),
        queries: (0..QUERIES).map(|at| text(at, 4)).collect(),
        texts: (0..TEXTS)
            .map(|at| text(at, 10 + u64::from(at % 60)))
            .collect(),
        pairs: (0..TEXTS)
            .flat_map(|text| (0..QUERIES).map(move |query| (query, text)))
            .collect(),
    }
}

fn serve(home: &Home) -> Server {
    let model = model().expect("the test has looked for it");
    home.serve(&["--model", &model.to_string_lossy()])
}

/// Makes the job with the model's first use, as a bi-encoder.
fn create(server: &Server) -> Job {
    let ranker = server.ask(&shared::api::About {}).models.remove(0).spec;
    assert!(ranker.ends_with(":bi"), "{ranker}");
    server.ask(&job(ranker))
}

fn bits(scores: &JobScores) -> Vec<Option<u64>> {
    scores
        .scores
        .iter()
        .map(|it| it.map(f64::to_bits))
        .collect()
}

/// Pairs that this process has committed.
fn n_scored(server: &Server) -> u64 {
    let metrics = server.get("/metrics").text().unwrap();
    let value = metrics
        .lines()
        .find_map(|it| it.strip_prefix("axioscope_pairs_scored_total "));
    value.map_or(0, |it| it.parse().unwrap())
}

#[test]
fn a_killed_job_goes_on_by_itself_and_ends_with_the_same_bits() {
    if model().is_none() {
        let test = "jobs::a_killed_job_goes_on_by_itself_and_ends_with_the_same_bits";
        return skip(test, "the neural model is absent");
    }
    let home = Home::new();
    let server = serve(&home);
    let job = create(&server);
    assert!(job.n_pairs >= 4_300);
    let watch = Watch {
        job: job.id.clone(),
    };
    let killed = server.ask_until(&watch, |it| it.n_done > 0);
    let before = server.ask(&Fetch {
        job: job.id.clone(),
    });
    server.kill();
    assert_eq!(killed.state, JobState::Running);
    assert!(
        killed.n_done < killed.n_pairs,
        "it was in its middle: {}",
        killed.n_done
    );

    let server = serve(&home);
    let ended = server.ask_until(&watch, |it| it.state.ended());
    assert_eq!(
        (ended.state, ended.n_done, ended.problem),
        (JobState::Done, job.n_pairs, None)
    );
    let kept = job.n_pairs - n_scored(&server);
    assert!(
        kept >= killed.n_done,
        "{kept} of {} were not scored again",
        killed.n_done
    );
    let found = server.ask(&Fetch { job: job.id });
    for (before, after) in bits(&before).iter().zip(bits(&found)) {
        assert!(
            before.is_none() || *before == after,
            "what was committed stays"
        );
    }
    drop(server);

    let undisturbed = Home::new();
    let server = serve(&undisturbed);
    let job = create(&server);
    server.ask_until(
        &Watch {
            job: job.id.clone(),
        },
        |it| it.state.ended(),
    );
    assert_eq!(n_scored(&server), job.n_pairs);
    let expected = server.ask(&Fetch { job: job.id });
    assert!(expected.scores.iter().all(Option::is_some));
    assert!(
        bits(&found) == bits(&expected),
        "the scores have other bits"
    );
    assert_eq!(found.truncated, expected.truncated);
}
