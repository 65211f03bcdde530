//! The operator's page: models, health check, jobs, and studies on several machines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use shared::api::{CreateScoringJobRequest, GetScoringJobRequest};
use sqlx::{Connection, SqliteConnection};

use super::static_server::StaticServer;
use super::tab::{AriaRole, BrowserTab, with_tab};
use super::{front_end, readability, with_operator_path};
use crate::harness::{TestHome, TestServer, tiny_model};

const WEIGHTS: &str = "model.safetensors";

/// Copies the smallest model, so that a test may break it.
fn own_model(home: &TestHome) -> PathBuf {
    for file in ["config.json", "tokenizer.json", WEIGHTS] {
        let bytes = fs::read(tiny_model().join(file)).unwrap();
        home.write(&format!("models/own/{file}"), bytes);
    }
    home.path("models/own")
}

fn serve(home: &TestHome, listen: &str, model: &Path) -> TestServer {
    home.serve(&["--listen", listen, "--model", model.to_str().unwrap()])
}

/// Returns a job with 8 queries and this number of documents: 10,000 keep the smallest model busy
/// for a while.
fn job(title: &str, n_texts: u32) -> CreateScoringJobRequest {
    let text = |at: u32| format!("{at} {}", "river bank water stone bridge ".repeat(20));
    CreateScoringJobRequest {
        model: "own:late".to_owned(),
        title: title.to_owned(),
        queries: (0..8).map(|it| format!("river {it}")).collect(),
        documents: (0..n_texts).map(text).collect(),
        pairs: (0..n_texts)
            .flat_map(|text| (0..8).map(move |query| (query, text)))
            .collect(),
    }
}

/// Waits until the row of a model or a job contains some words.
fn see_in_row(tab: &BrowserTab, title: &str, words: &str) {
    let script = format!(
        "return [...document.querySelectorAll('.held > li')]
             .some(it => it.querySelector('h3').textContent === {}
                 && it.innerText.replace(/\\s+/g, ' ').includes({}))",
        json!(title),
        json!(words)
    );
    tab.wait_until(&format!("`{words}` in the row of {title}"), &script);
}

#[test]
fn the_operator_of_a_public_server_puts_a_model_right_and_its_job_goes_on() {
    if front_end().is_none() {
        return;
    }
    let home = TestHome::new();
    let model = own_model(&home);
    let local = serve(&home, "127.0.0.1:0", &model);
    let short = local.call(&job("Short", 1));
    local.call_until(&GetScoringJobRequest { job: short.id }, |it| {
        it.state.is_finished()
    });
    local.call(&job("Long", 10_000));
    local.kill();
    let weights = fs::read(model.join(WEIGHTS)).unwrap();
    fs::remove_file(model.join(WEIGHTS)).unwrap();

    let server = serve(&home, "0.0.0.0:0", &model);
    let token = server.token.clone().expect("the first start prints it");
    with_tab(&server.address, |tab| {
        tab.open("/operator");
        tab.wait_for_text("Only the operator of this server can see its models and jobs.");
        assert!(!tab.text("main").contains("own:"));
        tab.fill("Operator token", "wrong");
        tab.click(AriaRole::Button, "Use in this tab");
        tab.wait_for_text("The server does not recognize this token.");
        tab.fill("Operator token", &token);
        tab.click(AriaRole::Button, "Use in this tab");

        tab.wait_for_text("0 of 2 loaded");
        see_in_row(tab, "own:bi", "own:bi: has no model.safetensors");
        see_in_row(tab, "own:bi", "folder own");
        see_in_row(tab, "Short", "done");
        see_in_row(tab, "Short", "all 8 pairs scored");
        // The message may name the folder or the use of the model, depending on which opened it
        // first.
        see_in_row(tab, "Long", "has no model.safetensors");
        tab.wait_for_text("not healthy: model own:bi cannot be loaded");
        let said = tab.text("main");
        let place = home.path("").display().to_string();
        assert!(!said.contains(place.trim_end_matches('/')), "{said}");
        readability::expect_readable(tab, "operator, failed");

        home.write(&format!("models/own/{WEIGHTS}"), &weights);
        tab.click(AriaRole::Button, "Try again: own:bi");
        tab.wait_for_text("1 of 2 loaded");
        tab.wait_until(
            "the focus in the row",
            "return document.activeElement.innerText?.includes('own:bi')",
        );
        tab.click(AriaRole::Button, "Try again: own:late");
        tab.wait_for_text("2 of 2 loaded");
        see_in_row(tab, "own:late", "not fine-tuned for late interaction");
        see_in_row(tab, "own:late", "cpu, f32 reads at most 64 tokens");
        let inspected = home.run_with(&["models", "inspect", model.to_str().unwrap()]);
        let inspected = inspected.expect_success();
        tab.click(AriaRole::Button, "Hashes of own:bi");
        let hashes = tab.text(".held > li dl");
        for name in ["fingerprint\t", "weights sha256\t"] {
            let told = inspected.lines().find_map(|it| it.strip_prefix(name));
            assert!(hashes.contains(told.unwrap()), "{told:?} in {hashes}");
        }
        // Both models are checked, and nothing is wrong any more.
        tab.wait_for_count("three scores", ".canaries .verdict.ok", "=== 3");
        tab.expect_in_console("/health");

        tab.click(AriaRole::Button, "Resume: Long");
        see_in_row(tab, "Long", "running");
        see_in_row(tab, "Long", "per second,");
        tab.wait_for_text("1 running or waiting");
        tab.click(AriaRole::Button, "Cancel: Long");
        see_in_row(tab, "Long", "canceled after");
        see_in_row(tab, "Long", "of 80,000 pairs; their scores are kept");
        tab.wait_for_text("no active jobs");
        readability::expect_readable(tab, "operator, loaded");
    });
}

/// A study that is being created, with two planned shards, of which one is committed after an
/// executor was killed, and a name of an executor that is not HTML.
const CLUSTER_JOB: &str = "
    INSERT INTO cluster_jobs (id, study, build, storage, state, begun, leased_until)
    VALUES ('0a1b', 'rivers', '0.1.0 (53aa51172d14)',
        's3://' || replace(hex(zeroblob(60)), '0', 'b'), 'running', 1795176000000, 9e15);
    INSERT INTO cluster_shards
        (job, shard, stage, n_attempts, executor, n_rows, n_bytes, sha256, compute_ms, committed)
    VALUES ('0a1b', 'mine-000000', 'mine', 2, '<b>node</b>-1', 32, 4000, 'c', 7200000, 1),
        ('0a1b', 'mine-000001', 'mine', 1, NULL, NULL, NULL, NULL, NULL, NULL);";

/// Runs SQL statements in the SQLite database of a home.
fn execute(home: &TestHome, sql: &'static str) {
    let url = format!("sqlite://{}", home.path("data/axioscope.db").display());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = async {
        let mut connection = SqliteConnection::connect(&url).await?;
        sqlx::raw_sql(sql).execute(&mut connection).await?;
        connection.close().await
    };
    runtime.unwrap().block_on(done).unwrap();
}

#[test]
fn a_study_on_several_machines_is_followed_and_canceled() {
    with_operator_path(TestHome::new, |tab, home, _, path| {
        tab.open(path);
        tab.at_exactly("/");
        tab.open("/operator");
        tab.wait_for_text("axioscope-cluster run STUDY.toml creates a study on several machines");
        execute(home, CLUSTER_JOB);
        tab.reload();
        see_in_row(tab, "rivers", "running");
        see_in_row(tab, "rivers", "started 20 November 2026, 12:00 UTC");
        see_in_row(tab, "rivers", "Mining and lexical rankers 1 of 2");
        see_in_row(tab, "rivers", "1 repeated attempt: an executor ended");
        see_in_row(tab, "rivers", "Total: 2.00 executor hours.");
        tab.fill("Price of an executor hour", "a");
        tab.wait_for_text("`a` is not valid");
        tab.fill("Price of an executor hour", "0.75");
        see_in_row(
            tab,
            "rivers",
            "Total: 2.00 executor hours, which cost 1.50.",
        );
        tab.click_at(".held details summary");
        see_in_row(tab, "rivers", "<b>node</b>-1");
        readability::expect_readable(tab, "operator, cluster job");

        // The page follows the job, and notices that its driver was killed.
        execute(
            home,
            "UPDATE cluster_jobs SET leased_until = 0;
             UPDATE cluster_shards SET executor = 'node-2', n_rows = 8, n_bytes = 1000,
                 sha256 = 'd', compute_ms = 3600000, committed = 2
             WHERE shard = 'mine-000001';",
        );
        see_in_row(tab, "rivers", "Mining and lexical rankers 2 of 2");
        see_in_row(tab, "rivers", "2 executors");
        see_in_row(tab, "rivers", "It has no driver");

        tab.click(AriaRole::Button, "Cancel: rivers");
        tab.click(AriaRole::Button, "Keep it running");
        tab.wait_until(
            "the focus on the button",
            "return document.activeElement.innerText === 'Cancel'",
        );
        tab.click(AriaRole::Button, "Cancel: rivers");
        readability::expect_readable(tab, "operator, canceling a cluster job");
        tab.click(AriaRole::Button, "Cancel the study");
        see_in_row(tab, "rivers", "canceled");
        see_in_row(tab, "rivers", "It was canceled; the same");
        tab.wait_until(
            "the focus in the row",
            "return document.activeElement.querySelector('h3')?.innerText === 'rivers'",
        );
        tab.reload();
        see_in_row(tab, "rivers", "which cost 2.25.");
    });
}

#[test]
fn the_link_that_the_server_prints_makes_a_visitor_on_loopback_the_operator() {
    with_operator_path(TestHome::new, |tab, _, _, path| {
        tab.open("/operator");
        tab.wait_for_text("open the link that the server printed when it started");
        tab.open(path);
        tab.at_exactly("/");
        tab.open("/operator");
        tab.wait_for_text("This server has no neural model");
        tab.reload();
        tab.wait_for_text("This server has no neural model");
        // The operator continues even with a link that is used up.
        tab.open(path);
        tab.at_exactly("/");
        tab.open("/join");
        tab.click(AriaRole::Button, "Sign out");
        tab.wait_for_text("Sign in with your name and password.");
        tab.open(path);
        tab.wait_for_text("this link is no longer valid");
        tab.expect_in_console("/api/session/operator");
        readability::expect_readable(tab, "operator, visitor");
    });
}

#[test]
fn a_host_of_files_has_no_models_and_says_so() {
    let Some(dist) = front_end() else {
        return;
    };
    let host = StaticServer::start(BTreeMap::from([("/", dist)]));
    with_tab(&host.origin, |tab| {
        tab.open("/");
        tab.follow_link("Models and jobs", "/operator");
        tab.wait_for_text("Models and jobs need a server, and this page comes from a static host.");
    });
}

#[test]
fn a_server_without_a_model_says_how_to_add_one() {
    with_tab(super::demo_site::origin(), |tab| {
        tab.open("/operator");
        tab.wait_for_text("This server has no neural model");
        tab.wait_for_text("axioscope serve --model");
        tab.wait_for_text("No jobs yet.");
        tab.wait_for_text("bm25:k1=1.2,b=0.75");
    });
}
