//! What visitors may do, and scoring and jobs that need more.

use super::*;

#[test]
fn a_model_scores_a_few_texts_at_once_and_many_in_a_job() {
    let home = TestHome::new();
    let server = home.serve(&["--model", &tiny_model().to_string_lossy()]);
    let models = server.call(&GetServerInfoRequest {}).models;
    assert_eq!(
        models.iter().map(|it| &*it.spec).collect::<Vec<_>>(),
        ["tiny:bi", "tiny:late"]
    );

    let texts = ["a river", "hill"].map(str::to_owned).to_vec();
    let score = |ranker: &str| {
        let (ranker, query, texts) = (ranker.to_owned(), "where do rivers end", texts.clone());
        server.call(&ScoreDocumentsRequest {
            model: ranker,
            query: query.to_owned(),
            documents: texts,
        })
    };
    let bi = score("tiny:bi");
    assert_eq!(
        (bi.scores.len(), bi.truncated, bi.similarities),
        (2, vec![false; 2], Vec::new())
    );
    let late = score("tiny:late");
    let pieces: Vec<usize> = late
        .similarities
        .iter()
        .map(|it| it.document_tokens.len())
        .collect();
    assert_eq!((late.scores.len(), pieces), (2, vec![2, 4]));

    let job = server.call(&CreateScoringJobRequest {
        model: "tiny:bi".to_owned(),
        title: "Two pairs".to_owned(),
        queries: vec!["where do rivers end".to_owned()],
        documents: texts,
        pairs: vec![(0, 1), (0, 0)],
    });
    let id = || job.id.clone();
    let ended = server.call_until(&GetScoringJobRequest { job: id() }, |it| {
        it.state.is_finished()
    });
    assert_eq!(
        (ended.state, ended.n_scored, ended.n_pairs),
        (JobState::Done, 2, 2)
    );
    let scores = server.call(&GetJobScoresRequest { job: id() }).scores;
    for (in_job, at_once) in scores.iter().zip(bi.scores.iter().rev()) {
        assert!(
            (in_job.unwrap() - at_once).abs() < 1e-5,
            "{in_job:?} {at_once}"
        );
    }
    assert_eq!(
        server.call(&ListScoringJobsRequest {}),
        std::slice::from_ref(&ended)
    );
    // A job that has ended stays as it is, and its event stream reports that once.
    assert_eq!(server.call(&CancelScoringJobRequest { job: id() }), ended);
    assert_eq!(server.call(&ResumeScoringJobRequest { job: id() }), ended);
    let events = server.get(&GetScoringJobRequest { job: id() }.events_address());
    let events = events.text().unwrap();
    let told: Vec<&str> = events
        .lines()
        .filter_map(|it| it.strip_prefix("data: "))
        .collect();
    let told: Vec<ScoringJob> = told
        .iter()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(told, [ended]);
}

#[test]
fn visitors_need_the_token_for_what_costs() {
    let home = TestHome::new();
    home.run(&format!("import {} --to tiny", tiny_collection()))
        .expect_success();
    let server = home.serve(&["--listen", "0.0.0.0:0"]);
    let token = server.token.clone().expect("the first start prints it");
    assert!(token.len() >= 32, "{token}");
    assert!(!server.call(&GetServerInfoRequest {}).can_create_jobs);
    let jobs = |token: Option<&str>| {
        let request = server.request_for(&ListScoringJobsRequest {});
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        reply::<Vec<ScoringJob>>(request.send().unwrap()).map_err(|it| (it.0, it.1.error_type))
    };
    let refused = Err((401, "token".to_owned()));
    assert_eq!(jobs(None), refused);
    assert_eq!(jobs(Some("")), refused);
    assert_eq!(jobs(Some(&token[1..])), refused);
    assert_eq!(jobs(Some(&token)), Ok(Vec::new()));
    assert_eq!(server.get("/metrics").status().as_u16(), 401);
    assert_eq!(server.get("/health").status().as_u16(), 200);
    let with_host = server
        .request("GET", GetServerInfoRequest::PATH)
        .header("host", "axioscope.example");
    assert_eq!(
        with_host.send().unwrap().status().as_u16(),
        200,
        "visitors know it by its name"
    );
    drop(server);

    let again = home.serve(&["--listen", "0.0.0.0:0"]);
    assert_eq!(again.token, None, "it is shown once");
    let asked = again
        .request_for(&ListScoringJobsRequest {})
        .bearer_auth(&token);
    assert_eq!(asked.send().unwrap().status().as_u16(), 200);
    drop(again);

    let renewed = home.serve(&["--listen", "0.0.0.0:0", "--new-token"]);
    assert_ne!(renewed.token.as_ref(), Some(&token));
    let asked = renewed
        .request_for(&ListScoringJobsRequest {})
        .bearer_auth(&token);
    assert_eq!(asked.send().unwrap().status().as_u16(), 401);
    drop(renewed);

    // All of 127.0.0.0/8 is this machine.
    let local = home.serve(&["--listen", "127.0.0.2:0"]);
    assert!(local.call(&GetServerInfoRequest {}).can_create_jobs);
}

#[test]
fn visitors_see_a_study_while_it_is_published() {
    let home = crate::cli::studied();
    let server = home.serve(&["--listen", "0.0.0.0:0"]);
    let export = ExportStudyRequest {
        study: "small".to_owned(),
    };
    let names = || -> Vec<String> {
        let cards = server.call(&ListStudiesRequest {});
        cards.into_iter().map(|it| it.name).collect()
    };
    for _ in 0..2 {
        assert!(names().is_empty());
        assert_eq!(server.try_call(&export).unwrap_err().0, 404);
        home.run("study publish small").expect_success();
        assert_eq!(names(), ["small"]);
        assert_eq!(server.call(&export).definition.name, "small");
        home.run("study withdraw small").expect_success();
    }
}
