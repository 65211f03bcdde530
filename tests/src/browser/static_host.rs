//! A static host: the front end and an exported study, without a server.

use std::collections::BTreeMap;
use std::path::Path;

use shared::annotation::AnnotationTaskDefinition;
use shared::api::annotation::UpdateTaskRequest;
use shared::study::StudyDefinition;

use super::front_end;
use super::static_server::{RangeRequests, StaticServer};
use super::tab::{AriaRole, with_tab};
use crate::annotation;
use crate::harness::{TestHome, demo_folder, study_file, study_lines, tiny_model};

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
        tab.click(AriaRole::Radio, "as implemented");
        tab.wait_for_address("/studies/demo?variant=code");
        tab.open("/studies/demo/rankers/ql/probes/lnc1/instances?outcome=satisfied");
        tab.wait_for_count("rows", "a.line", "> 5");
        tab.click_at("a.line");
        tab.wait_for_text("Contribution of each term");

        // A worker that cannot start is started once more, and the page says when that fails, too.
        let list = "/studies/demo/rankers/ql/probes/lnc1/instances";
        host.refuse("/worker_bg.wasm", 1);
        tab.open(list);
        tab.wait_for_count("rows", "a.line", "> 5");
        assert_eq!(host.n_to_refuse(), 0);
        host.refuse("/worker_bg.wasm", 2);
        tab.open(list);
        tab.wait_for_text("The background worker stopped");
        tab.click(AriaRole::Button, "Try again");
        tab.wait_for_count("rows", "a.line", "> 5");
        tab.expect_in_console("404");

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

/// The rows of a list, as a reader sees them.
const ROWS: &str = "return [...document.querySelectorAll('a.line')].map(it => it.innerText)";

#[test]
fn a_study_in_slices_looks_like_the_whole_study() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = TestHome::new();
    let collection = demo_folder();
    home.run(&format!(
        "vectors --collection {collection} --dims 20 --epochs 30 --out words.txt"
    ))
    .expect_success();
    let axioms = ["tfc1", "lnc1", "lnc2", "stmc1"];
    let rest = study_lines("rank:bm25:20", &axioms, &["bm25", "ql", "bm25:k1=2"]);
    let rest = format!("{rest}\nvectors = \"words.txt\"");
    home.make_study(study_file("demo", "Demo", demo_folder(), &rest));
    let export = |layout: &str| {
        let line = format!("study export demo --out {layout} --layout {layout}");
        home.run(&line).expect_success();
        BTreeMap::from([("/", dist.clone()), ("/studies", home.path(layout))])
    };
    let whole = StaticServer::start(export("whole"));
    let ranges = StaticServer::start(export("ranges"));
    let chunks = StaticServer::start_with_ranges(export("chunks"), RangeRequests::Ignored);
    let ignored = StaticServer::start_with_ranges(export("ranges"), RangeRequests::Ignored);

    let list = "/studies/demo/rankers/ql/probes/lnc1/instances";
    // The first is prepared, the others are read from the rows of the order and of the queries.
    let lists = [
        "",
        "?outcome=satisfied",
        "?sort=margin-descending",
        "?sort=query",
    ];
    let lists: Vec<String> = lists.iter().map(|it| format!("{list}{it}")).collect();
    let pages = [
        ("/studies/demo", "[role=grid] a.cell[data-step]"),
        ("/studies/demo/figures", "svg"),
        ("/studies/demo/reproducibility", "main h2"),
        ("/studies/demo/compare", "main table"),
    ];
    let mut expected = Vec::new();
    let mut instances = Vec::new();
    with_tab(&whole.origin, |tab| {
        for address in &lists {
            tab.open(address);
            tab.wait_for_count("rows", "a.line", "> 5");
            expected.push(tab.js(ROWS, &[]));
        }
        for probe in ["lnc1", "lnc2", "stmc1"] {
            let list = format!("/studies/demo/rankers/ql/probes/{probe}/instances");
            tab.open(&list);
            tab.wait_for_element("rows", "a.line");
            tab.click_at("a.line");
            tab.wait_for_text("Contribution of each term");
            instances.push((tab.address(), tab.text("main")));
        }
    });
    for host in [&ranges, &chunks] {
        with_tab(&host.origin, |tab| {
            for (address, expected) in lists.iter().zip(&expected) {
                tab.open(address);
                tab.wait_for_count("rows", "a.line", "> 5");
                assert_eq!(tab.js(ROWS, &[]), *expected, "{address}");
            }
            // Only the file that names the others is read as a whole when the study is opened.
            let sent = host.take_sent("/studies/demo");
            assert!(sent.iter().any(|it| it.0.contains(".rows")), "{sent:?}");
            assert!(
                sent.iter().all(|it| !it.0.contains("word-vectors")),
                "{sent:?}"
            );
            for (address, instance) in &instances {
                tab.open(address);
                tab.wait_for_text("Contribution of each term");
                assert_eq!(tab.text("main"), *instance, "{address}");
            }
            for (address, element) in pages {
                tab.open(address);
                tab.wait_for_element(address, element);
                assert_eq!(tab.count("input[type=range]"), 0, "{address}");
            }
            tab.open(&format!("{list}?query_filter=glacier"));
            tab.wait_for_element("rows", "a.line");
            tab.open(&format!("{list}?length_tolerance=1"));
            tab.wait_for_text("This site has only files");
            tab.open("/studies/demo/figures?measure=1");
            tab.wait_for_text("This site has only files");
        });
    }
    with_tab(&ignored.origin, |tab| {
        tab.open(&lists[2]);
        tab.wait_for_text("export the study with `--layout chunks`");
    });
}

#[test]
fn late_interaction_and_public_judgments_are_shown_without_a_server() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = TestHome::new();
    annotation::make_study(&home);
    let server = home.serve(&[]);
    let [public, hidden] = ["Which text is better?", "Another task"].map(|title| {
        let task = AnnotationTaskDefinition {
            title: title.to_owned(),
            ..annotation::task(5, 1)
        };
        annotation::open_task(&server, task).summary.task
    });
    for (task, is_public) in [(public, true), (hidden, false)] {
        server.call(&UpdateTaskRequest {
            are_results_public: Some(is_public),
            ..annotation::unchanged(task)
        });
    }
    let (name, model) = (annotation::STUDY, tiny_model());
    let model = model.display();
    home.run(&format!(
        "late-interaction --study {name} --ranker {model}:late --pool rank:bm25:5 --min-vectors 2"
    ))
    .expect_success();
    for layout in ["whole", "ranges"] {
        // A server may be running meanwhile.
        home.run(&format!(
            "study export {name} --out {layout} --layout {layout}"
        ))
        .expect_success();
    }
    drop(server);

    for layout in ["whole", "ranges"] {
        let mounts = BTreeMap::from([("/", dist.clone()), ("/studies", home.path(layout))]);
        let host = StaticServer::start(mounts);
        with_tab(&host.origin, |tab| {
            tab.open(&format!("/studies/{name}/human-judgments"));
            tab.wait_for_text("Which text is better?");
            assert!(!tab.text("main").contains("Another task"));
            tab.open(&format!("/studies/{name}/late-interaction"));
            tab.wait_for_count("plots", ".plots svg.drawing", "> 0");
            tab.open(&format!("{}?query=0", tab.address()));
            tab.wait_for_text("candidate documents");
            tab.wait_for_count("documents", "table.asked tbody tr", "=== 10");
        });
    }
}

#[test]
fn a_study_without_its_texts_shows_them_from_a_readers_own_copy() {
    let Some(dist) = front_end() else {
        return;
    };
    let home = TestHome::new();
    let rest = study_lines("rank:bm25:20", &["tfc1", "lnc2"], &["bm25", "ql"]);
    home.make_study(study_file("bare", "Bare", demo_folder(), &rest));
    home.run("study export bare --out studies --without-texts --layout whole")
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
