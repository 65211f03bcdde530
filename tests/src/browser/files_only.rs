//! A host of files only: the front end and an exported study, and no server.

use std::collections::BTreeMap;
use std::path::Path;

use shared::study::Definition;

use super::front_end;
use super::host::Host;
use super::tab::{Role, with_tab};
use crate::harness::Home;

#[test]
fn without_a_server_studies_playground_and_workbench_work() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = Home::new();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let text = std::fs::read_to_string(demo.join("study.toml")).unwrap();
    let mut definition = Definition::from_toml("study.toml", &text).unwrap();
    definition
        .rankers
        .retain(|it| it.parse::<shared::rank::Ranker>().is_ok());
    definition.collection = demo.display().to_string();
    home.write("study.toml", definition.to_toml());
    home.run("study run study.toml").done();
    home.run("study export demo --out studies").done();

    let mounts = BTreeMap::from([("/", dist), ("/studies", home.path("studies"))]);
    let host = Host::start(mounts);
    with_tab(&host.origin, |tab| {
        tab.open("/");
        tab.click(Role::Link, "Glaciers, bread and bridges");
        tab.at("/study/demo");
        tab.until(
            "the map",
            "return document.querySelectorAll('[role=grid] a.cell[data-step]').length >= 12",
        );
        tab.click(Role::Radio, "code");
        tab.at("/study/demo?mode=code");
        tab.open("/study/demo/lnc1/1?outcome=satisfied");
        tab.until(
            "rows",
            "return document.querySelectorAll('a.line').length > 5",
        );
        tab.click_at("a.line");
        tab.see("Which term decided it");

        tab.open("/playground");
        tab.click(Role::Button, "LNC1 example");
        tab.until(
            "an axiom that applies",
            "return !!document.querySelector('.holds .verdict.ok')",
        );
        tab.see("Neural scoring is off: this page comes from a host of files only");

        tab.open("/workbench");
        tab.click(Role::Button, "Load the sample");
        tab.until(
            "three files",
            "return document.querySelectorAll('table.files tbody tr').length === 3",
        );
        tab.click(Role::Button, "Make the study");
        tab.see("Made in");
        tab.see("Neural scoring is off: this page comes from a host of files only");
    });
}

#[test]
fn a_study_without_its_texts_shows_them_from_a_readers_own_copy() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = Home::new();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let demo = demo.canonicalize().unwrap();
    home.write(
        "s.toml",
        format!(
            "format = 1\nname = \"bare\"\ntitle = \"Bare\"\ncollection = \"{}\"\n\
             pool = \"rank:bm25:20\"\nprobes = [\"tfc1\", \"lnc2\"]\nmodes = [\"fixed\"]\n\
             rankers = [\"bm25\", \"ql\"]\n[limits]\nlength_gap_terms = 10\nmin_terms = 1\n\
             repeat_from = 2\nrepeat_to = 4\nrepeated_terms = 240\nfilled_terms = 512\n\
             fillable_terms = 256\nseed = 42\n",
            demo.display()
        ),
    );
    home.run("study run s.toml").done();
    home.run("study export bare --out studies --without-texts")
        .done();
    let corpus = std::fs::read_to_string(demo.join("corpus.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(corpus.lines().next().unwrap()).unwrap();
    let told = home.read("studies/bare.json");
    assert!(
        !told.contains(first["text"].as_str().unwrap()),
        "a text is told"
    );
    let half = corpus.lines().take(100).collect::<Vec<_>>().join("\n");
    let half = home.write("corpus-half.jsonl", half);

    let mounts = BTreeMap::from([("/", dist), ("/studies", home.path("studies"))]);
    let host = Host::start(mounts);
    with_tab(&host.origin, |tab| {
        tab.open("/study/bare/tfc1/0");
        tab.until("rows", "return !!document.querySelector('a.line')");
        tab.click_at("a.line");
        tab.see("Withheld.");
        tab.see("The study came without its texts.");
        assert_eq!(tab.count(".doc p.text"), 0);
        tab.click(Role::Link, "Bring your own copy of the collection");
        tab.at("/study/bare");
        tab.see("This study came without its texts.");
        const PICKER: &str = "section[aria-label='Withheld texts'] input";
        tab.bring(PICKER, &[&half]);
        tab.see("documents of this study are not in it");
        tab.bring(PICKER, &[&demo.join("corpus.jsonl")]);
        tab.until(
            "the texts",
            &format!("return !document.querySelector(\"{PICKER}\")"),
        );
        tab.click_at("[role=grid] a.cell[data-step]");
        tab.until("rows", "return !!document.querySelector('a.line')");
        tab.click_at("a.line");
        tab.see("Why this is an instance");
        tab.until(
            "texts",
            "return document.querySelectorAll('.doc p.text').length >= 2",
        );
    });
}
