//! From the heat map of a study to the term that decided one instance.

use super::background_process::SharedServer;
use super::demo_site;
use super::tab::{AriaRole, BrowserTab, with_tab};
use crate::harness::{TestHome, study_file, tiny_collection};
use thirtyfour::Key;

/// Waits until the heat map and the panel show the latest numbers.
const SHOWN: &str = "return !!document.querySelector('[role=grid] a.cell[data-step]')
    && document.querySelector('[role=grid]').ariaBusy === 'false'
    && document.querySelector('aside.panel')?.ariaBusy === 'false'";

fn open(tab: &BrowserTab, address: &str) {
    tab.open(address);
    tab.wait_until("the map", SHOWN);
}

/// Returns the text of all cells once it differs from `before`.
fn other_numbers(tab: &BrowserTab, before: &str) -> String {
    for _ in 0..200 {
        tab.wait_until("the map", SHOWN);
        let now = numbers(tab);
        if now != before {
            return now;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("still\n{before}");
}

fn numbers(tab: &BrowserTab) -> String {
    let script = "return [...document.querySelectorAll('[role=grid] a.cell')]
        .map(it => it.getAttribute('aria-label')).join('\\n')";
    tab.js(script, &[]).as_str().unwrap().to_owned()
}

#[test]
fn arrow_keys_walk_over_the_map_and_the_panel_follows() {
    with_tab(demo_site::origin(), |tab| {
        open(tab, "/studies/demo");
        tab.click_at("#cell-0-tfc1");
        tab.wait_for_text("BM25 on TFC1");
        tab.press(Key::Right);
        tab.wait_for_address("/studies/demo?ranker=bm25&probe=tfc2");
        tab.wait_for_text("BM25 on TFC2");
        tab.press(Key::Down);
        tab.wait_for_address("/studies/demo?ranker=ql&probe=tfc2");
        tab.wait_for_text("QL on TFC2");
        tab.press(Key::End);
        tab.wait_for_address("/studies/demo?ranker=ql&probe=stmc3");
        tab.press(Key::Home);
        tab.wait_for_address("/studies/demo?ranker=ql&probe=tfc1");
        // The whole map has a single tab stop.
        assert_eq!(tab.count("[role=grid] a.cell[tabindex='0']"), 1);
        // The address alone restores the same view.
        open(tab, "/studies/demo?ranker=0&probe=tp");
        tab.wait_for_text("BM25 on TP");
    });
}

#[test]
fn another_reading_changes_numbers_and_address() {
    with_tab(demo_site::origin(), |tab| {
        open(tab, "/studies/demo");
        let fixed = numbers(tab);
        tab.click(AriaRole::Radio, "as implemented");
        tab.wait_for_address("/studies/demo?variant=code");
        let code = other_numbers(tab, &fixed);
        // The key cycles through the variants: `code` is the last, so `fixed` comes next.
        tab.press("m");
        tab.wait_until(
            "the first reading",
            "return !location.search.includes('variant')",
        );
        assert_eq!(other_numbers(tab, &code), fixed);
        tab.press("[");
        tab.wait_for_address("/studies/demo?length_tolerance=9");
        other_numbers(tab, &fixed);
        tab.wait_for_element(
            "a list of the same instances",
            ".panel > a[href*='length_tolerance=9']",
        );
    });
}

#[test]
fn what_stands_out_is_told_and_leads_to_its_cell() {
    with_tab(demo_site::origin(), |tab| {
        open(tab, "/studies/demo");
        let told = tab.js(
            "return [...document.querySelectorAll('.findings li')]
                .map(it => [it.querySelector('a').getAttribute('href'), it.innerText])",
            &[],
        );
        let told = told.as_array().unwrap();
        assert_eq!(told.len(), 3, "{told:?}");
        for finding in told {
            let (href, said) = (finding[0].as_str().unwrap(), finding[1].as_str().unwrap());
            // Every number has its interval.
            assert!(said.contains('[') && said.contains('.'), "{said}");
            assert!(href.starts_with("/studies/demo?ranker="), "{href}");
            tab.click_at(&format!(".findings a[href='{href}']"));
            tab.wait_for_address(href);
        }
    });
}

#[test]
fn every_figure_has_its_table() {
    with_tab(demo_site::origin(), |tab| {
        open(tab, "/studies/demo");
        tab.click(AriaRole::Button, "Table");
        tab.wait_for_address("/studies/demo?view=table");
        tab.wait_for_count("a table", ".in-place table tbody tr", ">= 2");
    });
}

#[test]
fn a_cell_leads_to_its_violations_and_one_of_them_to_its_terms() {
    with_tab(demo_site::origin(), |tab| {
        // Addresses that the page and its tabs had before lead to them.
        tab.open("/study/demo/behaviours");
        tab.wait_for_address("/studies/demo/behavioral-tests");
        tab.open("/study/demo/said");
        tab.wait_for_address("/studies/demo/human-judgments");
        tab.wait_for_text("Nobody has annotated instances of this study yet.");
        open(tab, "/study/demo?cell=lnc2.0");
        tab.wait_for_address("/studies/demo?probe=lnc2&ranker=0");
        tab.click_at("#cell-0-mtdc");
        tab.wait_for_address("/studies/demo?ranker=bm25&probe=mtdc");
        tab.press(Key::Enter);
        tab.wait_for_address("/studies/demo/rankers/bm25/probes/mtdc/instances");
        tab.wait_for_count("rows", "a.line", "> 5");

        tab.wait_until(
            "counts",
            "return /\\d violated/.test(document.body.innerText)",
        );
        tab.wait_for_count("some outcomes", "a.line .verdict", "> 5");
        let violated = tab.js(
            "return [...document.querySelectorAll('[role=radiogroup][aria-label=Verdict] label')]
                .map(it => it.textContent.replace(/\\s+/g, ' ').trim())
                .find(it => it.endsWith('violated'))",
            &[],
        );
        tab.click(AriaRole::Radio, violated.as_str().unwrap());
        tab.wait_for_address("/studies/demo/rankers/bm25/probes/mtdc/instances?outcome=violated");
        tab.wait_until(
            "violations only",
            "const lines = [...document.querySelectorAll('a.line .verdict')];
             return lines.length > 0 && lines.every(it => it.textContent.includes('violated'))",
        );

        tab.choose("Order", "closest call first");
        tab.wait_for_address("/studies/demo/rankers/bm25/probes/mtdc/instances?outcome=violated&sort=absolute-margin");
        tab.wait_until(
            "the new order",
            "return !document.querySelector('.listed .stale')",
        );

        tab.click_at("a.line");
        tab.wait_for_address("/studies/demo/probes/mtdc/instances/");
        instance(tab);
    });
}

fn instance(tab: &BrowserTab) {
    tab.wait_for_text("Why this is an instance");
    tab.wait_until(
        "preconditions that hold",
        "
        const rows = [...document.querySelectorAll('table.measured tbody tr')];
        return rows.length > 1 && rows.every(it => it.textContent.includes('satisfied'))",
    );
    tab.wait_for_text("Scores and verdicts");
    tab.wait_until(
        "a violation",
        "
        return [...document.querySelectorAll('section[aria-labelledby=said] tbody tr')]
            .some(it => it.textContent.includes('BM25') && it.textContent.includes('violated'))",
    );
    tab.wait_for_text("Contribution of each term");
    assert!(tab.count("section[aria-labelledby=terms] table tbody tr") >= 2);
    assert!(
        tab.count(".docs .doc mark") > 0,
        "query terms are marked in the texts"
    );

    let first = tab.address();
    tab.press("j");
    tab.wait_until(
        "the next instance",
        &format!(
            "return location.pathname + location.search !== {first:?}
            && !!document.querySelector('table.measured')"
        ),
    );
    tab.wait_until(
        "the list is still known",
        "return location.search.includes('outcome=violated')",
    );
    tab.press("k");
    tab.wait_for_address(first.split('?').next().unwrap());

    tab.wait_until(
        "the instance of the address",
        "return !document.querySelector('main [aria-busy=true]')",
    );
    let query = tab.text("h1.query");
    tab.wait_for_count("the texts", ".docs .doc", ">= 2");
    tab.press("p");
    tab.wait_for_address("/playground?study=demo&probe=mtdc");
    tab.wait_until(
        "the query",
        "return document.querySelector('#playground-query')?.value",
    );
    let asked = tab.js(
        "return document.querySelector('#playground-query').value",
        &[],
    );
    assert_eq!(asked.as_str().unwrap().trim(), query.trim());
    tab.wait_for_text("Opened from M-TDC instance");
    tab.wait_for_element("an axiom that applies", ".holds .verdict.ok");
}

#[test]
fn the_reproducibility_tab_says_how_the_study_was_made() {
    with_tab(demo_site::origin(), |tab| {
        open(tab, "/studies/demo");
        tab.click(AriaRole::Link, "Reproducibility");
        tab.wait_for_address("/studies/demo/reproducibility");
        tab.wait_for_count("facts", ".provenance li", "> 5");
        let facts = tab.text(".provenance");
        for fact in ["Candidate pool", "Analyzer", "Collection"] {
            assert!(
                facts.to_lowercase().contains(&fact.to_lowercase()),
                "{facts}"
            );
        }
        assert_eq!(tab.count("[role=grid]"), 0);
    });
}

#[test]
fn an_instance_without_a_variant_is_of_the_first_of_its_study() {
    let home = TestHome::new();
    let rest = r#"pool = "all"
probes = ["tfc1"]
variants = ["code"]
rankers = ["bm25"]"#;
    home.make_study(study_file("printed", "Printed", tiny_collection(), rest));
    home.run("study publish printed").expect_success();
    let served = SharedServer::start(home, &[]);
    with_tab(&served.origin, |tab| {
        tab.open("/studies/printed/probes/tfc1/instances/0");
        tab.wait_for_text("Why this is an instance");
        tab.wait_for_text("TFC1, as implemented");
        tab.click_at("a.btn[href^='/playground']");
        tab.wait_for_address("/playground?study=printed&probe=tfc1&number=0");
        tab.wait_for_text("Opened from TFC1 instance 1 of printed");
    });
}
