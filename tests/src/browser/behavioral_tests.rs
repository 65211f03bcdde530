//! The behavioral tests on the page of a study: controls, cells, details, and links to the samples.

use std::path::Path;
use std::sync::LazyLock;

use super::background_process::SharedServer;
use super::readability;
use super::tab::{AriaRole, BrowserTab, with_tab};
use crate::harness::{LIMITS, TestHome};
use thirtyfour::Key;

/// Waits until all cells are there, with the latest numbers.
const SHOWN: &str = "return document.querySelectorAll('.effects button.cell').length >= 10
    && !document.querySelector('.behaviours [aria-busy=true]')
    && !!document.querySelector('.behaviours .panel svg.drawing')";

/// A study with axioms and behavioral tests, `both`, and one without axioms, `alone`.
static SITE: LazyLock<SharedServer> = LazyLock::new(|| {
    let home = TestHome::new();
    let pair = |id: u32, a: &str, b: &str| {
        format!("{{\"_id\": \"{id}\", \"query\": \"river ice\", \"a\": \"{a}\", \"b\": \"{b}\"}}\n")
    };
    let pairs = [
        pair(1, "River ice.", "The ice that is on a river in winter."),
        pair(2, "Ice melts.", "Whatever is frozen, as ice is, will melt."),
        pair(3, "The same.", "The same."),
    ];
    home.write("short.jsonl", pairs.concat());
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let demo = demo.canonicalize().unwrap();
    for (name, axioms) in [("both", "\"tfc1\", "), ("alone", "")] {
        let file = format!("{name}.toml");
        home.write(
            &file,
            format!(
                "format = 1\nname = \"{name}\"\ntitle = \"How they behave\"\n\
                 collection = \"{}\"\nn_queries = 12\npool = \"rank:bm25:10\"\n\
                 probes = [{axioms}\"match\", \"prepend-query\", \"drop-query-terms\"]\n\
                 modes = [\"fixed\"]\nrankers = [\"bm25\", \"ql\"]\n{LIMITS}\
                 [[transfers]]\nname = \"short\"\nfile = \"short.jsonl\"\n",
                demo.display()
            ),
        );
        home.run(&format!("study run {file}")).expect_success();
        home.run(&format!("study publish {name}")).expect_success();
    }
    SharedServer::start(home, &[])
});

fn open(tab: &BrowserTab, address: &str) {
    tab.open(address);
    tab.wait_until("the behaviours", SHOWN);
}

/// Returns the text of all cells.
fn numbers(tab: &BrowserTab) -> String {
    tab.wait_until("the behaviours", SHOWN);
    let script = "return [...document.querySelectorAll('.effects button.cell')]
        .map(it => it.textContent).join('\\n')";
    tab.js(script, &[]).as_str().unwrap().to_owned()
}

/// Returns the text of all cells once it differs from `before`.
fn other_numbers(tab: &BrowserTab, before: &str) -> String {
    for _ in 0..200 {
        let now = numbers(tab);
        if now != before {
            return now;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("still\n{before}");
}

#[test]
fn another_width_changes_numbers_and_address() {
    with_tab(&SITE.origin, |tab| {
        // A study opens on its axioms, and its tabs keep the controls.
        tab.open("/studies/both?subset=untruncated");
        tab.wait_for_text("21 behavioral tests");
        tab.click(AriaRole::Link, "Behavioral tests");
        tab.wait_for_address("/studies/both/behavioral-tests?subset=untruncated");
        tab.click(AriaRole::Link, "Axioms");
        tab.wait_for_element("a map", "[role=grid] a.cell");
        assert_eq!(tab.count(".behaviours"), 0);
        open(tab, "/studies/both/behavioral-tests");
        let tuned = numbers(tab);
        tab.click(AriaRole::Radio, "0");
        tab.wait_for_address("/studies/both/behavioral-tests?test_tie_threshold=0");
        let zero = other_numbers(tab, &tuned);
        tab.click(AriaRole::Radio, "custom");
        tab.fill("ε, in score units", "-1");
        tab.wait_for_text("ε must be a number of at least 0");
        tab.fill("ε, in score units", "2.5");
        tab.wait_for_address("/studies/both/behavioral-tests?test_tie_threshold=2.5");
        other_numbers(tab, &zero);
        // The address alone restores the same view.
        open(tab, "/studies/both/behavioral-tests?test_tie_threshold=0");
        assert_eq!(numbers(tab), zero);
        // They were on the same page as the axioms before.
        open(
            tab,
            "/studies/both?test_tie_threshold=0&test=prepend-query&test_ranker=ql",
        );
        assert_eq!(numbers(tab), zero);
    });
}

#[test]
fn a_cell_opens_its_details_and_leads_to_its_samples() {
    with_tab(&SITE.origin, |tab| {
        open(tab, "/studies/both/behavioral-tests");
        tab.click_at("#effect-prepend-query-all-1");
        tab.wait_for_address("/studies/both/behavioral-tests?test=prepend-query&test_ranker=ql");
        tab.wait_for_text("QL on Prepend query");
        tab.wait_for_text("p (paired t test)");
        // Arrow keys move from cell to cell, and Enter selects one.
        tab.press(Key::Down);
        tab.press(Key::Left);
        tab.press(Key::Enter);
        tab.wait_for_address(
            "/studies/both/behavioral-tests?test=drop-query-terms&test_ranker=bm25",
        );
        tab.wait_for_text("BM25 on Drop query terms");
        let labels = "[aria-label=Documents] label";
        tab.click_at(&format!("{labels}:nth-child(2)"));
        tab.wait_for_address(
            "/studies/both/behavioral-tests?documents=relevant&test=drop-query-terms&test_ranker=bm25",
        );
        tab.wait_for_text("Relevant documents: grade");
        assert_eq!(tab.count("#effect-drop-query-terms-relevant-0"), 1);
        tab.choose("Ranker", "QL Dirichlet, μ 2500");
        tab.wait_for_address("/studies/both/behavioral-tests?matrix_ranker=ql&documents=relevant");
        assert_eq!(tab.count(".effects [aria-pressed=true]"), 1);
        // One of its three pairs has two identical documents.
        tab.wait_for_text("2 samples; excluded from 3 pairs: 1 identical");
        tab.click_at(".behaviours .panel a.btn");
        tab.wait_for_address(
            "/studies/both/rankers/bm25/probes/drop-query-terms/instances?tie_threshold=",
        );
        tab.wait_for_text("BM25 on Drop query terms");
        tab.wait_until(
            "samples",
            "return [...document.querySelectorAll('a.line .verdict')]
                .some(it => it.textContent === 'negative')",
        );
        tab.click_at("nav.crumbs a[href^='/studies/']");
        tab.wait_for_address("/studies/both/behavioral-tests?");
        tab.wait_until("the behaviours", SHOWN);
        tab.wait_for_text("BM25 on Drop query terms");
    });
}

#[test]
fn behaviours_alone_have_no_map() {
    with_tab(&SITE.origin, |tab| {
        // It has no tab for axioms, and opens on its behavioral tests.
        open(tab, "/studies/alone");
        assert!(!tab.has(AriaRole::Link, "Axioms"));
        assert_eq!(tab.count(".map, .findings"), 0);
        assert!(!tab.text("main").contains("No ranker has scored"));
        readability::expect_readable(tab, "behavioral tests");
        tab.open("/");
        tab.wait_for_text("How they behave");
    });
}
