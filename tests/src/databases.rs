//! SQLite and PostgreSQL: backups from one to the other while a server works, and the errors about
//! a database server that cannot be used.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use shared::api::annotation::{AnnotationTaskStatus, ListTasksRequest, TaskId, UpdateTaskRequest};
use shared::api::{
    CreateScoringJobRequest, GetJobScoresRequest, GetScoringJobRequest, JobState,
    ListStudiesRequest, ScoringJob,
};

use crate::deployment::packaging_file;
use crate::harness::{
    CommandOutput, TestHome, TestServer, study_file, study_lines, tiny_collection, tiny_model,
};

fn serve(home: &TestHome) -> TestServer {
    home.serve(&["--model", &tiny_model().to_string_lossy()])
}

/// Creates a job that is long enough to be interrupted.
fn create(server: &TestServer) -> ScoringJob {
    let ranker = server
        .call(&shared::api::GetServerInfoRequest {})
        .models
        .remove(0)
        .spec;
    let text = |at: u32| format!("{at} {}", "river bank stone ".repeat(1 + at as usize % 40));
    server.call(&CreateScoringJobRequest {
        model: ranker,
        title: "Backed up in the middle".to_owned(),
        queries: vec!["river".to_owned(), "bank".to_owned()],
        documents: (0..4_000).map(text).collect(),
        pairs: (0..4_000).flat_map(|it| [(0, it), (1, it)]).collect(),
    })
}

/// Returns the bits of all scores of a job, once it has ended.
fn ended(server: &TestServer, job: &ScoringJob) -> Vec<u64> {
    let id = || job.id.clone();
    let ended = server.call_until(&GetScoringJobRequest { job: id() }, |it| {
        it.state.is_finished()
    });
    assert_eq!((ended.state, ended.error), (JobState::Done, None));
    let scores = server.call(&GetJobScoresRequest { job: id() }).scores;
    scores.iter().map(|it| it.unwrap().to_bits()).collect()
}

fn make_study(home: &TestHome) {
    let rest = study_lines("all", &["tfc1"], &["bm25", "ql"]);
    home.make_study(study_file("small", "Small", tiny_collection(), &rest));
    home.run("study publish small").expect_success();
}

#[test]
fn a_backup_made_while_a_job_runs_goes_on_in_either_database() {
    for home in TestHome::of_each_database() {
        make_study(&home);
        let server = serve(&home);
        let job = create(&server);
        let watch = || GetScoringJobRequest {
            job: job.id.clone(),
        };
        server.call_until(&watch(), |it| it.n_scored > 0);
        let told = home.run("backup backup.tar.gz").expect_success();
        assert!(told.starts_with("backup.tar.gz holds "), "{told}");
        let expected = ended(&server, &job);
        let listed = home.run("study list").expect_success();
        let report = home.run("report small").expect_success();
        assert!(listed.contains("\tpublished\t"), "{listed}");
        drop(server);

        let backup = home.path("backup.tar.gz");
        for other in TestHome::of_each_database() {
            let restored = other.run_with(&["restore", &backup.to_string_lossy()]);
            let restored = restored.expect_success();
            let (_, counts) = told.split_once(" holds ").unwrap();
            assert_eq!(
                restored,
                format!("data holds {} again\n", counts.trim_end())
            );
            assert_eq!(other.run("study list").expect_success(), listed);
            assert_eq!(other.run("report small").expect_success(), report);
            let server = serve(&other);
            let n_done = server.call(&watch()).n_scored;
            assert!(n_done > 0 && n_done <= job.n_pairs, "{n_done}");
            assert!(
                ended(&server, &job) == expected,
                "the scores have other bits"
            );
            assert_eq!(server.call(&ListStudiesRequest {}).len(), 1);

            let refused = other.run_with(&["restore", &backup.to_string_lossy()]);
            refused.expect_failure_with("data: is not empty");
        }
    }
}

#[test]
fn a_backup_names_what_is_not_there() {
    let home = TestHome::new();
    home.expect_refused("backup backup.tar.gz", "data: is no folder");
    home.expect_refused("restore backup.tar.gz", "give the path of a backup");
    home.write("notes.txt", "no backup");
    home.expect_refused("restore notes.txt", "notes.txt is damaged");
}

#[test]
fn an_address_that_is_none_is_refused_before_anything_is_made() {
    let home = TestHome::new();
    for url in [
        "mysql://ann:s3cret@localhost/a",
        "postgres://ann:s3/cret@localhost/a",
    ] {
        for line in ["study list", "serve --listen 127.0.0.1:0", "restore none"] {
            let mut program = home.program();
            program.args(["--data", "data"]).args(line.split(' '));
            let refused = CommandOutput::run(program.env("DATABASE_URL", url)).expect_failure();
            assert!(refused.starts_with("DATABASE_URL: "), "{refused}");
            assert!(!refused.contains("cret"), "{refused}");
        }
    }
    assert!(!home.path("data/axioscope.db").exists());
}

#[test]
fn a_server_that_cannot_be_used_is_named_without_its_password() {
    let Some(home) = TestHome::with_postgres() else {
        return;
    };
    let database = home.database.as_ref().unwrap();
    let secret = database.password().split('%').next().unwrap();
    let list = |url: &str| {
        let mut program = home.program();
        program.args(["--data", "data", "study", "list"]);
        program
            .env("DATABASE_URL", url)
            .env("AXIOSCOPE_LOG", "trace");
        let ran = CommandOutput::run(&mut program);
        assert!(!ran.err.contains(secret), "{}", ran.err);
        ran
    };
    assert_eq!(list(&database.url).expect_success(), "");
    let wrong = format!("{}x", database.password());
    for (what, by, reason) in [
        (
            database.password(),
            wrong.as_str(),
            "check user and password",
        ),
        (database.name(), "nowhere", "make it by `createdb`"),
        (
            database.host(),
            "127.0.0.1:9",
            "start the server, or correct",
        ),
    ] {
        list(&database.url_with(what, by)).expect_failure_with(reason);
    }
}

/// Changes a byte of a file of the study and returns the name of the file.
fn damage(home: &TestHome) -> String {
    let files = home.files().into_iter();
    let mut files =
        files.filter(|it| it.starts_with("data/studies/small/") && it.ends_with(".parquet"));
    let file = files.next().unwrap();
    let mut bytes = fs::read(home.path(&file)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    home.write(&file, bytes);
    file
}

#[test]
fn a_backup_says_which_study_is_damaged() {
    let home = TestHome::new();
    make_study(&home);
    home.run("backup whole.tar.gz").expect_success();
    let damaged = damage(&home);
    let backup = home.run("backup damaged.tar.gz");
    assert_eq!(backup.code, Some(3), "{}", backup.err);
    backup.expect_stderr("warning: study small: ");
    backup.expect_stderr("keep an earlier one");
    // The guide restores the file by `tar`.
    let mut tar = Command::new("tar");
    tar.args(["-xzf", "whole.tar.gz", "--strip-components=1", "-C", "data"])
        .arg(damaged.replacen("data/", "files/", 1));
    CommandOutput::run(tar.current_dir(home.path(""))).expect_success();
    home.run("backup again.tar.gz").expect_success();
}

#[test]
#[cfg(unix)]
fn the_script_for_backups_keeps_earlier_ones_while_a_study_is_damaged() {
    for home in TestHome::of_each_database() {
        make_study(&home);
        let url = home.database.as_ref().map_or("", |it| &it.url);
        home.write("settings", format!("DATABASE_URL='{url}'\n"));
        let mut script = packaging_file("axioscope-backup");
        for (place, here) in [
            ("/etc/default/axioscope", "settings"),
            ("/var/lib/axioscope", "data"),
            ("/var/backups/axioscope", "backups"),
        ] {
            assert!(script.contains(place), "{place}");
            script = script.replace(place, &home.path(here).to_string_lossy());
        }
        home.write("script", script);
        let program = home.program();
        let folder = Path::new(program.get_program()).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let back_up = || {
            let mut sh = Command::new("sh");
            sh.arg(home.path("script")).env("PATH", &path);
            CommandOutput::run(sh.env_remove("DATABASE_URL"))
        };
        let n_backups = || fs::read_dir(home.path("backups")).unwrap().count();

        let first = back_up();
        assert_eq!(
            (first.out.as_str(), first.code),
            ("", Some(0)),
            "{}",
            first.err
        );
        assert_eq!(n_backups(), 1);
        let old = fs::File::create(home.path("backups/2026-01-01.tar.gz")).unwrap();
        let age = Duration::from_secs(20 * 24 * 60 * 60);
        old.set_modified(SystemTime::now() - age).unwrap();
        damage(&home);
        let failed = back_up();
        assert_eq!(failed.code, Some(3), "{}", failed.err);
        assert_eq!(n_backups(), 2);
        make_study(&home);
        back_up().expect_success();
        assert_eq!(n_backups(), 1);
    }
}

#[test]
fn a_command_without_the_address_of_the_server_begins_no_other_database() {
    let Some(home) = TestHome::with_postgres() else {
        return;
    };
    make_study(&home);
    let backup = ["backup", "backup.tar.gz"];
    let without_address = || {
        let mut program = home.program();
        program.env_remove("DATABASE_URL").args(["--data", "data"]);
        CommandOutput::run(program.args(backup))
    };
    let refused = without_address().expect_failure();
    let database = home.database.as_ref().unwrap();
    assert!(refused.contains("data/database-server.txt"), "{refused}");
    assert!(refused.contains(database.name()), "{refused}");
    assert!(refused.contains("set `DATABASE_URL`"), "{refused}");
    assert!(!refused.contains(database.password()), "{refused}");
    assert!(!home.path("data/axioscope.db").exists());
    assert!(!home.path("backup.tar.gz").exists());

    let complete = home.run_with(&backup).expect_success();
    fs::remove_file(home.path("data/database-server.txt")).unwrap();
    let empty = without_address().expect_success();
    assert_ne!(complete, empty);
}

#[test]
fn of_servers_with_folders_of_their_own_one_serves_annotation_tasks() {
    let Some(home) = TestHome::with_postgres() else {
        return;
    };
    let url = &home.database.as_ref().unwrap().url;
    let other = TestHome::new();
    let beside = || {
        let mut program = other.program();
        program.env("DATABASE_URL", url);
        let model = tiny_model();
        other.serve_by(program, &["--model", &model.to_string_lossy()])
    };
    let (server, second) = (serve(&home), beside());
    let changed = |server: &TestServer| {
        let asked = UpdateTaskRequest {
            task: TaskId(1),
            status: Some(AnnotationTaskStatus::Open),
            guidelines: None,
            are_results_public: None,
        };
        let (status, error) = server.try_call(&asked).unwrap_err();
        (status, error.error_type)
    };
    // There is no task, as the main server knows.
    assert_eq!(changed(&server).0, 404);
    assert_eq!(changed(&second), (503, "not-main-server".to_owned()));
    assert_eq!(second.call(&ListTasksRequest {}), []);
    // After the main server has been killed, the other one takes its place and goes on with its
    // job.
    let job = create(&server);
    let watch = GetScoringJobRequest {
        job: job.id.clone(),
    };
    server.call_until(&watch, |it| it.n_scored > 0);
    server.kill();
    let since = Instant::now();
    while changed(&second).0 != 404 {
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "nobody is the main server"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    ended(&second, &job);
}
