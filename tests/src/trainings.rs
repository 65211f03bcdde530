//! Trainings as jobs of the server: the same bits as the command, events, cancellation, a killed
//! server, permissions, backups and invalid requests.

use serde_json::{Value, json};
use shared::api::training::{
    CancelTrainingRequest, CreateTrainingRequest, GetTrainingRequest, ListTrainingsRequest,
    ResumeTrainingRequest, TrainingJob, TrainingResponse, UpdateTrainingRequest,
};
use shared::api::{Endpoint, JobState};
use shared::training::LearningCurvePoint;

use crate::harness::{TestHome, TestServer, reply};
use crate::train::{SMALL, home_with_splits};

/// Creates a home with an imported collection of three splits.
fn home() -> TestHome {
    let home = home_with_splits();
    home.run("import demo --to rivers").expect_success();
    home
}

/// Returns a request with the options of the command `train`.
fn request(name: &str, options: &str) -> CreateTrainingRequest {
    let mut spec = json!({});
    let words: Vec<&str> = options.split_whitespace().collect();
    for option in words.chunks_exact(2) {
        let key = option[0].strip_prefix("--").unwrap();
        let value = json!(option[1]);
        match (key, &mut spec[key]) {
            ("set" | "augment", Value::Array(values)) => values.push(value),
            ("set" | "augment", none) => *none = json!([value]),
            (_, none) => *none = value,
        }
    }
    CreateTrainingRequest {
        name: name.to_owned(),
        collection: "rivers".to_owned(),
        spec: serde_json::from_value(spec).unwrap(),
    }
}

fn get(name: &str) -> GetTrainingRequest {
    GetTrainingRequest {
        training: name.to_owned(),
    }
}

fn cancel(name: &str) -> CancelTrainingRequest {
    CancelTrainingRequest {
        training: name.to_owned(),
    }
}

fn resume(name: &str) -> ResumeTrainingRequest {
    ResumeTrainingRequest {
        training: name.to_owned(),
    }
}

fn publish(name: &str, is_public: bool) -> UpdateTrainingRequest {
    UpdateTrainingRequest {
        training: name.to_owned(),
        is_public,
    }
}

/// Waits until a training has ended and returns it.
fn ended(server: &TestServer, name: &str) -> TrainingResponse {
    server.call_until(&get(name), |it| it.job.state.is_finished())
}

/// Returns the names and values of the server-sent events of a training, until it ends.
fn events(server: &TestServer, name: &str) -> Vec<(String, Value)> {
    let response = server.get(&get(name).events_address());
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let text = response.text().unwrap();
    let event = |block: &str| {
        let (name, data) = block.strip_prefix("event: ")?.split_once("\ndata: ")?;
        Some((name.to_owned(), serde_json::from_str(data).unwrap()))
    };
    text.split("\n\n").filter_map(event).collect()
}

fn of_json<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn a_training_of_the_server_is_that_of_the_command() {
    let home = home();
    let options = format!("--model drmm --test test --augment lnc2 {SMALL}");
    let line = format!("train --collection rivers {options} --out by-command --json");
    let expected = home.run(&line).json();
    let server = home.serve(&[]);

    let choices = server.call(&ListTrainingsRequest {}).choices.unwrap();
    assert!(choices.models.contains(&"conv-knrm".to_owned()));
    assert!(choices.recipes.contains(&"default".to_owned()));
    let collection = &choices.collections[0];
    assert_eq!(choices.collections.len(), 1);
    assert_eq!(collection.name, "rivers");
    assert_eq!(collection.splits, ["dev", "test", "train"]);

    let asked = request("my-drmm", &options);
    let created = server.call(&asked);
    assert_eq!((created.state, created.step), (JobState::Queued, 0));
    assert_eq!(created.request, asked);
    let events = events(&server, "my-drmm");
    let (first, last) = (&events[0], &events[events.len() - 1]);
    assert_eq!((&*first.0, &*last.0), ("training", "training"));
    assert_eq!(first.1["job"]["name"], "my-drmm");
    assert!(events.iter().any(|it| it.0 == "job"));

    let found = server.call(&get("my-drmm"));
    assert_eq!(of_json::<TrainingResponse>(&last.1), found);
    assert_eq!((found.job.state, found.job.error), (JobState::Done, None));
    assert_eq!(found.job.step, found.job.n_updates);
    let mut points: Vec<LearningCurvePoint> = of_json(&first.1["points"]);
    let later = events.iter().filter(|it| it.0 == "point");
    points.extend(later.map(|it| of_json::<LearningCurvePoint>(&it.1)));
    assert_eq!(points, found.points);
    let curve = home.read("data/trainings/my-drmm/curves.jsonl");
    assert_eq!(
        LearningCurvePoint::parse_lines("", curve.as_bytes()).unwrap(),
        points
    );
    assert_eq!(curve, home.read("by-command/curves.jsonl"));
    let summary = serde_json::to_value(&found.summary).unwrap();
    for key in ["sha256", "best", "dev", "test", "controls"] {
        assert_eq!(summary[key], expected[key], "{key}");
    }
    let tables: Vec<&str> = found.tables.iter().map(|it| &*it.name).collect();
    assert_eq!(
        tables,
        ["learning_curve", "axioms_learned", "effectiveness"]
    );
    // One that has ended is sent once.
    assert_eq!(self::events(&server, "my-drmm").len(), 1);

    let (status, error) = server.try_call(&asked).unwrap_err();
    assert_eq!(status, 409, "{error:?}");
    assert_eq!(server.call(&cancel("my-drmm")).state, JobState::Done);
    assert_eq!(server.call(&resume("my-drmm")).state, JobState::Done);
    let told = home.run("models inspect data/trainings/my-drmm");
    let told = told.expect_success();
    assert!(told.contains("spec\tmy-drmm:drmm\n"), "{told}");
}

#[test]
fn a_training_whose_server_is_killed_ends_with_the_same_weights() {
    let home = home();
    let options = "--model duet --set dimensions=16 --set epochs=60 --set patience_epochs=none \
                   --set updates_per_epoch=5";
    let line = format!("train --collection rivers {options} --out by-command --json");
    let expected = home.run(&line).json();
    let expected_curve = home.read("by-command/curves.jsonl");
    let n_updates = expected["steps"].as_u64().unwrap();
    let middle = |it: &TrainingJob| it.step > 0 && it.step < n_updates;

    let server = home.serve(&[]);
    server.call(&request("long", options));
    server.call(&request("short", &format!("--model drmm {SMALL}")));
    let begun = server.call_until(&get("long"), |it| it.points.len() > 2);
    assert_eq!(begun.job.state, JobState::Running);
    assert_eq!((begun.job.n_updates, begun.summary), (n_updates, None));
    // One at a time, in the order of creation.
    assert_eq!(server.call(&get("short")).job.state, JobState::Queued);
    assert_eq!(server.call(&cancel("long")).state, JobState::Canceled);
    assert_eq!(ended(&server, "short").job.state, JobState::Done);
    let canceled = server.call(&get("long")).job;
    assert_eq!(canceled.state, JobState::Canceled);
    assert!(middle(&canceled), "{canceled:?}");
    assert!(!home.path("data/trainings/long/training.json").exists());

    server.kill();
    let server = home.serve(&[]);
    let stays = server.call(&get("long")).job;
    assert_eq!(stays.state, JobState::Canceled);
    assert_eq!(server.call(&resume("long")).state, JobState::Queued);
    let mut server = server;
    for _ in 0..2 {
        let before = server.call(&get("long")).points.len();
        server.call_until(&get("long"), |it| it.points.len() > before + 1);
        home.run("backup backup.tar.gz").expect_success();
        let job = server.call(&get("long")).job;
        server.kill();
        assert_eq!(job.state, JobState::Running, "it was killed in its middle");
        server = home.serve(&[]);
    }
    // A backup of a running training continues where it is restored.
    let other = TestHome::new();
    let backup = home.path("backup.tar.gz");
    let restored = other.run_with(&["restore", &backup.to_string_lossy()]);
    restored.expect_success();
    let other_server = other.serve(&[]);
    for (home, server) in [(&home, &server), (&other, &other_server)] {
        let found = ended(server, "long");
        assert_eq!((found.job.state, found.job.error), (JobState::Done, None));
        assert_eq!(found.summary.unwrap().sha256, expected["sha256"]);
        let curve = home.read("data/trainings/long/curves.jsonl");
        assert!(curve == expected_curve, "{curve}");
    }
}

#[test]
fn visitors_see_published_trainings_only() {
    let home = home();
    let server = home.serve_with_auth(home.program(), &[]);
    let token = server.token.clone().unwrap();
    fn by_operator<E: Endpoint>(server: &TestServer, token: &str, asked: &E) -> E::Reply {
        reply(server.request_for(asked).bearer_auth(token).send().unwrap()).unwrap()
    }
    let asked = request("my-drmm", &format!("--model drmm {SMALL}"));
    let status = |it: Result<TrainingJob, (u16, _)>| it.map_err(|it| it.0);
    assert_eq!(status(server.try_call(&asked)), Err(401));
    by_operator(&server, &token, &asked);
    for refused in [
        server.try_call(&cancel("my-drmm")),
        server.try_call(&resume("my-drmm")),
        server.try_call(&publish("my-drmm", true)),
    ] {
        assert_eq!(status(refused), Err(401));
    }
    let sees = || server.try_call(&get("my-drmm")).map_err(|it| it.0);
    let address = get("my-drmm").events_address();
    let watches = || server.get(&address).status().as_u16();
    assert_eq!((sees(), watches()), (Err(404), 404));
    let unknown = server.try_call(&get("my-drmn")).unwrap_err();
    let hidden = server.try_call(&get("my-drmm")).unwrap_err();
    assert_eq!(hidden.1.error, unknown.1.error.replace("drmn", "drmm"));
    let listed = server.call(&ListTrainingsRequest {});
    assert_eq!((listed.trainings, listed.choices), (Vec::new(), None));

    assert!(by_operator(&server, &token, &publish("my-drmm", true)).is_public);
    assert_eq!(
        (sees().unwrap().job.name, watches()),
        ("my-drmm".to_owned(), 200)
    );
    assert_eq!(server.call(&ListTrainingsRequest {}).trainings.len(), 1);
    let state = ended(&server, "my-drmm").job.state;
    assert_eq!(state, JobState::Done);
    by_operator(&server, &token, &publish("my-drmm", false));
    assert_eq!((sees(), watches()), (Err(404), 404));
    by_operator(&server, &token, &publish("my-drmm", true));

    // A backup has the training, and it is published where it is restored.
    home.run("backup backup.tar.gz").expect_success();
    let other = TestHome::new();
    let backup = home.path("backup.tar.gz");
    other
        .run_with(&["restore", &backup.to_string_lossy()])
        .expect_success();
    let restored = other.serve_with_auth(other.program(), &[]);
    assert_eq!(restored.call(&get("my-drmm")), server.call(&get("my-drmm")));
    let weights =
        |home: &TestHome| std::fs::read(home.path("data/trainings/my-drmm/model.safetensors"));
    assert_eq!(weights(&home).unwrap(), weights(&other).unwrap());
}

#[test]
fn a_request_cannot_name_files_of_the_server() {
    let home = home();
    home.write("plain/corpus.jsonl", r#"{"_id": "d", "text": "a river"}"#);
    home.write("plain/queries.jsonl", r#"{"_id": "q", "text": "river"}"#);
    home.run("import plain --to plain").expect_success();
    home.write("recipe.toml", "name = \"mine\"");
    home.write("vectors.txt", "river 0.5 0.25\nbank 0.25 0.5\n");
    let server = home.serve(&[]);
    let long = "x".repeat(65);
    let cases = [
        ("name", json!("../x"), "a name has 1 to 64"),
        ("name", json!("My_DRMM"), "a name has 1 to 64"),
        ("name", json!(""), "a name has 1 to 64"),
        ("name", json!(long), "a name has 1 to 64"),
        ("collection", json!("demo"), "plain, rivers"),
        ("collection", json!("../demo"), "plain, rivers"),
        ("collection", json!("plain"), "no qrels or no splits"),
        ("model", json!("bert"), "drmm, anmm"),
        ("split", json!("training"), "dev, test, train"),
        ("dev", json!("valid"), "dev, test, train"),
        ("test", json!("eval"), "dev, test, train"),
        ("recipe", json!("recipe.toml"), "default, rennings2019"),
        ("recipe", json!("macavaney2022"), "default, rennings2019"),
        ("model", json!("colbert"), "drmm, anmm"),
        ("from", json!("/models/bert"), "only the command `train`"),
        ("variant", json!("odd"), "`odd` is not a valid value"),
        ("augment", json!(["instances:lnc1.parquet"]), "lnc2"),
        (
            "set",
            json!(["vectors=vectors.txt"]),
            "in the folder of the collection",
        ),
        (
            "set",
            json!(["words.vectors=../vectors.txt"]),
            "in the folder of the collection",
        ),
        ("set", json!(["rate=1"]), "a recipe has no key `rate`"),
        ("set", json!(["dropout=0.5"]), "this network has none"),
        (
            "set",
            json!(["function=margin-mse"]),
            "no scores of a teacher",
        ),
        ("pool", json!("run:bm25.run:10"), "only the command `train`"),
        ("pool", json!("some"), ""),
    ];
    for (field, value, part) in cases {
        let mut asked = serde_json::to_value(request("mine", "--model drmm")).unwrap();
        match asked.get_mut(field) {
            Some(known) => *known = value.clone(),
            None => asked["spec"][field] = value.clone(),
        }
        let sent = server
            .request("POST", "/api/trainings")
            .body(asked.to_string());
        let (status, error) = reply::<TrainingJob>(sent.send().unwrap()).unwrap_err();
        assert_eq!(status, 422, "{field} {value}: {error:?}");
        assert_eq!(error.field.as_deref(), Some(field), "{value}: {error:?}");
        assert!(error.error.contains(part), "{field} {value}: {error:?}");
    }
    assert_eq!(server.call(&ListTrainingsRequest {}).trainings, []);
    assert!(!home.path("data/trainings").exists());
}

#[test]
fn a_training_that_failed_says_why_and_is_resumed() {
    let home = home();
    let vectors = "data/collections/rivers/rivers.txt";
    home.write(vectors, "river one two\n");
    let server = home.serve(&[]);
    let options = format!("--model drmm --set vectors=rivers.txt {SMALL}");
    server.call(&request("my-drmm", &options));
    let failed = ended(&server, "my-drmm");
    let error = failed.job.error.unwrap();
    assert_eq!(failed.job.state, JobState::Failed);
    assert_eq!((failed.points, failed.tables), (Vec::new(), Vec::new()));
    assert!(error.contains("rivers.txt"), "{error}");
    let root = home.path("");
    assert!(!error.contains(&*root.to_string_lossy()), "{error}");

    home.write(vectors, "river 0.5 0.25\nbank 0.25 0.5\n");
    let resumed = server.call(&resume("my-drmm"));
    assert_eq!((resumed.state, resumed.error), (JobState::Queued, None));
    let done = ended(&server, "my-drmm").job;
    assert_eq!((done.state, done.error), (JobState::Done, None));
}
