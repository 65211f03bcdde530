//! A host of files only: the front end and an exported study, and no server.

use std::collections::BTreeMap;
use std::path::Path;

use shared::study::StudyDefinition;

use super::front_end;
use super::static_server::StaticServer;
use super::tab::{AriaRole, with_tab};
use crate::harness::{TestHome, demo_folder, study_file};

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
    home.make_study(definition.to_toml());
    home.run("study export demo --out studies").done();

    let mounts = BTreeMap::from([("/", dist), ("/studies", home.path("studies"))]);
    let host = StaticServer::start(mounts);
    with_tab(&host.origin, |tab| {
        tab.open("/");
        tab.click(AriaRole::Link, "Glaciers, bread and bridges");
        tab.at("/study/demo");
        tab.until_count("the map", "[role=grid] a.cell[data-step]", ">= 12");
        tab.click(AriaRole::Radio, "code");
        tab.at("/study/demo?mode=code");
        tab.open("/study/demo/lnc1/1?outcome=satisfied");
        tab.until_count("rows", "a.line", "> 5");
        tab.click_at("a.line");
        tab.see("Which term decided it");

        tab.open("/playground");
        tab.click(AriaRole::Button, "LNC1 example");
        tab.until_there("an axiom that applies", ".holds .verdict.ok");
        tab.see("Neural scoring is off: this page comes from a host of files only");

        tab.open("/workbench");
        tab.click(AriaRole::Button, "Load the sample");
        tab.until_count("three files", "table.files tbody tr", "=== 3");
        tab.click(AriaRole::Button, "Make the study");
        tab.see("Made in");
        tab.see("Neural scoring is off: this page comes from a host of files only");
    });
}

#[test]
fn a_study_without_its_texts_shows_them_from_a_readers_own_copy() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = TestHome::new();
    let rest = r#"pool = "rank:bm25:20"
probes = ["tfc1", "lnc2"]
modes = ["fixed"]
rankers = ["bm25", "ql"]"#;
    home.make_study(study_file("bare", "Bare", demo_folder(), rest));
    home.run("study export bare --out studies --without-texts")
        .done();
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
        tab.open("/study/bare/tfc1/0");
        tab.until_there("rows", "a.line");
        tab.click_at("a.line");
        tab.see("Withheld.");
        tab.see("The study came without its texts.");
        assert_eq!(tab.count(".doc p.text"), 0);
        tab.click(AriaRole::Link, "Bring your own copy of the collection");
        tab.at("/study/bare");
        tab.see("This study came without its texts.");
        const PICKER: &str = "section[aria-label='Withheld texts'] input";
        tab.bring(PICKER, &[&half]);
        tab.see("documents of this study are not in it");
        tab.bring(PICKER, &[&whole]);
        tab.until(
            "the texts",
            &format!("return !document.querySelector(\"{PICKER}\")"),
        );
        tab.click_at("[role=grid] a.cell[data-step]");
        tab.until_there("rows", "a.line");
        tab.click_at("a.line");
        tab.see("Why this is an instance");
        tab.until_count("texts", ".doc p.text", ">= 2");
    });
}
