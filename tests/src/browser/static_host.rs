//! A static host: the front end and an exported study, without a server.

use std::collections::BTreeMap;
use std::path::Path;

use shared::study::StudyDefinition;

use super::front_end;
use super::static_server::StaticServer;
use super::tab::{AriaRole, with_tab};
use crate::harness::{TestHome, demo_folder, study_file, study_lines};

#[test]
fn without_a_server_studies_playground_and_workbench_work() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = TestHome::new();
    let text = std::fs::read_to_string(Path::new(demo_folder()).join("study.toml")).unwrap();
    let mut definition = StudyDefinition::from_toml("study.toml", &text).unwrap();
    definition
        .rankers
        .retain(|it| it.parse::<shared::rank::LexicalRanker>().is_ok());
    definition.collection = demo_folder().to_owned();
    let vectors = definition.vectors.as_deref().unwrap();
    let line = format!(
        "vectors --collection {} --dims 20 --epochs 30 --out {vectors}",
        demo_folder()
    );
    home.run(&line).expect_success();
    home.make_study(definition.to_toml());
    home.run("study export demo --out studies").expect_success();

    let mounts = BTreeMap::from([("/", dist), ("/studies", home.path("studies"))]);
    let host = StaticServer::start(mounts);
    with_tab(&host.origin, |tab| {
        tab.open("/");
        tab.follow_link("Glaciers, bread and bridges", "/studies/demo");
        tab.wait_for_count("the map", "[role=grid] a.cell[data-step]", ">= 12");
        tab.click(AriaRole::Radio, "code");
        tab.wait_for_address("/studies/demo?variant=code");
        tab.open("/studies/demo/rankers/ql/probes/lnc1/instances?outcome=satisfied");
        tab.wait_for_count("rows", "a.line", "> 5");
        tab.click_at("a.line");
        tab.wait_for_text("Contribution of each term");

        tab.open("/playground");
        tab.click(AriaRole::Button, "LNC1 example");
        tab.wait_for_element("an axiom that applies", ".holds .verdict.ok");
        tab.wait_for_text("Neural rankers need a server, and this page comes from a static host");

        tab.open("/workbench");
        tab.click(AriaRole::Button, "Load sample");
        tab.wait_for_count("three files", "table.files tbody tr", "=== 3");
        tab.click(AriaRole::Button, "Create study");
        tab.wait_for_text("Created in");
        tab.wait_for_text("Neural rankers need a server, and this page comes from a static host");
    });
}

#[test]
fn a_study_without_its_texts_shows_them_from_a_readers_own_copy() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = TestHome::new();
    let rest = study_lines("rank:bm25:20", &["tfc1", "lnc2"], &["bm25", "ql"]);
    home.make_study(study_file("bare", "Bare", demo_folder(), &rest));
    home.run("study export bare --out studies --without-texts")
        .expect_success();
    let whole = Path::new(demo_folder()).join("corpus.jsonl");
    let whole = whole.canonicalize().unwrap();
    let corpus = std::fs::read_to_string(&whole).unwrap();
    let first: serde_json::Value = serde_json::from_str(corpus.lines().next().unwrap()).unwrap();
    let told = home.read("studies/bare.json");
    assert!(
        !told.contains(first["text"].as_str().unwrap()),
        "a text is told"
    );
    let half = corpus.lines().take(100).collect::<Vec<_>>().join("\n");
    let half = home.write("corpus-half.jsonl", half);

    let mounts = BTreeMap::from([("/", dist), ("/studies", home.path("studies"))]);
    let host = StaticServer::start(mounts);
    with_tab(&host.origin, |tab| {
        tab.open("/studies/bare/rankers/bm25/probes/tfc1/instances");
        tab.wait_for_element("rows", "a.line");
        tab.click_at("a.line");
        tab.wait_for_text("The text is not published.");
        tab.wait_for_text("This study was published without document texts.");
        assert_eq!(tab.count(".doc p.text"), 0);
        tab.follow_link("Add your copy of the collection", "/studies/bare");
        tab.wait_for_text("This study was published without document texts.");
        const PICKER: &str = "section[aria-label='Missing document texts'] input";
        tab.upload(PICKER, &[&half]);
        tab.wait_for_text("documents of this study are missing");
        tab.upload(PICKER, &[&whole]);
        tab.wait_until(
            "the texts",
            &format!("return !document.querySelector(\"{PICKER}\")"),
        );
        tab.click_at("[role=gridcell][aria-selected='true'] > a.cell");
        tab.wait_for_element("rows", "a.line");
        tab.click_at("a.line");
        tab.wait_for_text("Why this is an instance");
        tab.wait_for_count("documents", ".doc p.text", ">= 2");
    });
}
