//! Disks that are full, folders that cannot be written, and databases of other programs.

use std::fs;

use expect_test::expect;

use super::{CORPUS, QUERIES, collection, study};
use crate::harness::{CommandOutput, TestHome};

/// Runs a line with a file size limit in KiB, as on a full disk.
#[cfg(unix)]
fn run_on_little_room(home: &TestHome, n_kib: u32, line: &str) -> CommandOutput {
    let program = home.program();
    let script = format!(
        "trap '' XFSZ; ulimit -f {n_kib}; exec '{}' --data data {line}",
        program.get_program().to_string_lossy()
    );
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", &script]).current_dir(home.path(""));
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => bash.env(name, value),
            None => bash.env_remove(name),
        };
    }
    CommandOutput::run(&mut bash)
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_nothing_half_is_left() {
    let row = |it: u32| {
        let mud = "mud ".repeat(it as usize % 13);
        format!("{{\"_id\": \"d{it}\", \"text\": \"river bank {it} {mud}\"}}\n")
    };
    let home = collection((0..3000).map(row).collect::<String>(), QUERIES);
    home.run("import c --to c").expect_success();
    home.run("study list").expect_success();
    home.run("mine --collection c --pool rank:bm25:200 --out good.parquet")
        .expect_success();
    home.write("study.toml", study(&[("pool", "rank:bm25:200")]));
    for (n_kib, line) in [
        (20, "import c --to more"),
        (
            1,
            "mine --collection c --pool rank:bm25:200 --out mined.parquet",
        ),
        (
            20,
            "rank --collection c --ranker bm25 --top 3000 --out a.run",
        ),
        (
            1,
            "pairs --collection c --instances good.parquet --out pairs.jsonl",
        ),
        (
            1,
            "score --collection c --instances good.parquet --ranker bm25 --out s.tsv",
        ),
        (4, "study run study.toml"),
    ] {
        let before = home.files();
        let message = run_on_little_room(&home, n_kib, line).expect_failure();
        assert!(message.contains("File too large"), "{line}: {message}");
        assert!(message.contains("free space"), "{line}: {message}");
        assert_eq!(home.files(), before, "{line}");
    }
    assert_eq!(home.run("study list").expect_success(), "");
    home.run("study run study.toml").expect_success();
}

#[cfg(unix)]
#[test]
fn a_database_that_cannot_grow_says_so_and_stays_whole() {
    let home = collection(CORPUS, QUERIES);
    home.run("import c --to c").expect_success();
    home.write("study.toml", study(&[]));
    run_on_little_room(&home, 8, "study list").expect_failure_with("axioscope.db");
    home.run("study run study.toml").expect_success();
    assert!(
        home.run("study list")
            .expect_success()
            .starts_with("small\t")
    );
}

#[test]
fn a_data_folder_that_cannot_be_written_is_named() {
    let home = collection(CORPUS, QUERIES);
    home.write("file", "a file where a folder should be");
    for data in ["file", "file/below", "/dev/null/data"] {
        let line = ["--data", data, "import", "c", "--to", "c"];
        let message = CommandOutput::run(home.program().args(line)).expect_failure();
        let named = message.contains(data) && message.contains("--data");
        assert!(named, "{message}");
    }
    assert_eq!(home.read("file"), "a file where a folder should be");
    for line in [
        "mine --collection c --pool all --out file/mined.parquet",
        "mine --collection c --pool all --out none/mined.parquet",
        "rank --collection c --ranker bm25 --out none/a.run",
    ] {
        let message = home.run(line).expect_failure();
        assert!(message.contains("choose another file"), "{line}: {message}");
    }
}

#[test]
fn a_database_from_the_future_is_left_as_it_is() {
    let home = TestHome::new();
    home.run("study list").expect_success();
    let database = home.path("data/axioscope.db");
    let mut bytes = fs::read(&database).unwrap();
    // SQLite stores `user_version` big-endian at byte 60 (sqlite.org/fileformat.html).
    bytes[60..64].copy_from_slice(&9999u32.to_be_bytes());
    fs::write(&database, &bytes).unwrap();
    let messages = [
        "study list",
        "study publish small",
        "serve --listen 127.0.0.1:0",
    ]
    .map(|line| home.run(line).expect_failure() + "\n");
    expect![[r#"
        data/axioscope.db: made by a later version of axioscope (layout 9999, this one knows 9); update axioscope, or choose another folder with `--data`
    "#]].assert_eq(&messages[0]);
    assert!(messages.iter().all(|it| *it == messages[0]), "{messages:?}");
    assert!(fs::read(&database).unwrap() == bytes, "it was changed");

    fs::write(&database, b"this is no database").unwrap();
    let message = home.run("study list").expect_failure() + "\n";
    expect![[r#"
        data/axioscope.db is damaged: it is no database; restore it from a copy, or choose another folder with `--data`
    "#]]
    .assert_eq(&message);
}

#[test]
fn an_empty_database_beside_studies_is_refused() {
    let home = collection(CORPUS, QUERIES);
    home.run("import c --to c").expect_success();
    home.write("study.toml", study(&[]));
    home.run("study run study.toml").expect_success();
    home.write("data/axioscope.db", "");
    for line in [
        "serve --listen 127.0.0.1:0",
        "study list",
        "backup b.tar.gz",
    ] {
        let message = home.run(line).expect_failure() + "\n";
        expect![[r#"
            data/axioscope.db is damaged: it is empty, and studies lie beside it that it should list; bring a backup into another folder by `axioscope restore`, or remove this file and list each study again by `axioscope study run` with the file `study.toml` of it
        "#]]
        .assert_eq(&message);
    }
    // This is the second solution that the message offers.
    fs::remove_file(home.path("data/axioscope.db")).unwrap();
    home.run("study run data/studies/small/study.toml")
        .expect_success();
    assert!(
        home.run("study list")
            .expect_success()
            .starts_with("small\t")
    );
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let home = TestHome::new();
    let _server = home.serve(&[]);
    let message = home.run("serve --listen 127.0.0.1:0").expect_failure() + "\n";
    expect![[r#"
        data is in use by another axioscope; stop that one, or choose another folder with `--data`
    "#]]
    .assert_eq(&message);
}
