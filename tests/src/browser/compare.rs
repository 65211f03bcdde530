//! The Compare rankers page: bars that link to queries, queries side by side, and runs that are
//! compared in the browser alone.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use thirtyfour::Key;

use super::demo_site;
use super::tab::{AriaRole, with_tab};

/// Waits for the figures and the list below them.
const SHOWN: &str = "return document.querySelectorAll('.drawn svg.drawing').length === 6
    && !!document.querySelector('table.asked tbody tr')
    && !document.querySelector('[aria-busy=true]')";

#[test]
fn a_bar_leads_to_its_queries_and_these_to_their_texts() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/studies/demo");
        tab.follow_link("Compare rankers", "/studies/demo/compare");
        tab.wait_until("the figures", SHOWN);
        tab.expect_headings(&[
            "hypotheses",
            "fractions",
            "buckets",
            "lengths",
            "change",
            "overlap",
            "answers",
            "bigrams",
            "queries",
            "sides",
        ]);
        assert_eq!(tab.count(".hypotheses li"), 4);
        // A bar is a button, so it can be selected by keyboard.
        tab.js(
            "document.querySelector('#lengths').closest('section').querySelector('g.pick').focus()",
            &[],
        );
        tab.press(Key::Enter);
        tab.wait_for_address("/studies/demo/compare?selection=length.");
        tab.wait_for_text("Show all queries");
        assert_eq!(tab.count("g.pick[aria-pressed=true]"), 1);
        tab.wait_until("the queries of the bar", SHOWN);
        tab.click_at("table.asked tbody a");
        tab.wait_until(
            "two texts",
            "return document.querySelectorAll('.sides article.side').length === 1
                && document.querySelectorAll('.sides article.doc').length >= 2",
        );
        assert!(tab.address().contains("query="), "{}", tab.address());
        // The address alone restores the same view.
        tab.reload();
        tab.wait_until("the figures", SHOWN);
        tab.wait_for_text("Back to the example queries");
        assert_eq!(tab.count("g.pick[aria-pressed=true]"), 1);
    });
}

#[test]
fn what_is_chosen_stands_in_the_address() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/studies/demo/compare");
        tab.wait_until("the figures", SHOWN);
        let first = tab.text("h1");
        tab.click(AriaRole::Button, "Swap rankers");
        tab.wait_for_address("/studies/demo/compare?a=ql&b=bm25");
        tab.wait_until("the figures", SHOWN);
        assert_ne!(tab.text("h1"), first);
        tab.choose("Minimum relevant grade", "3");
        tab.wait_for_address("/studies/demo/compare?a=ql&b=bm25&min_relevant_grade=3");
        tab.open("/studies/demo/compare?a=bm25&b=9");
        tab.wait_for_text("there is no ranker named `9`; there are bm25, ql");
        tab.expect_in_console("404");
        tab.click(AriaRole::Link, "Compare the first two rankers");
        tab.wait_until("the figures", SHOWN);
        assert_eq!(tab.text("h1"), first);
    });
}

/// Writes a file that a test uploads.
fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn two_runs_are_compared_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = "{\"_id\":\"d1\",\"text\":\"A ferry crosses the <b>river</b>.\"}\n\
                  {\"_id\":\"d2\",\"text\":\"The stone bridge.\"}\n\
                  {\"_id\":\"d3\",\"text\":\"Boats wait at the harbour wall.\"}\n";
    let queries = "{\"_id\":\"q1\",\"text\":\"river ferry\"}\n\
                   {\"_id\":\"q2\",\"text\":\"where is the stone bridge\"}\n";
    let files = [
        file(&folder, "corpus.jsonl", corpus),
        file(&folder, "queries.jsonl", queries),
        file(&folder, "qrels.txt", "q1 0 d1 1\nq2 0 d2 1\n"),
        file(
            &folder,
            "first.run",
            "q1 Q0 d1 1 3.5 a\nq1 Q0 d3 2 2.5 a\nq2 Q0 d3 1 1.5 a\n",
        ),
        file(
            &folder,
            "second.run",
            "q1 Q0 d2 1 9 b\nq2 Q0 d2 1 9 b\nq2 Q0 d1 2 8 b\n",
        ),
    ];
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    with_tab(demo_site::origin(), |tab| {
        tab.open("/workbench");
        tab.upload("#files-picker", &files);
        tab.follow_link(
            "Compare runs",
            "/studies/local/compare?a=run%3Afirst.run&b=run%3Asecond.run",
        );
        tab.wait_until("the figures", SHOWN);
        tab.wait_for_text("first and second");
        tab.wait_for_text("too few queries");
        tab.wait_for_text("river ferry");
        // The text of a document is shown as text, not as HTML.
        tab.wait_for_text("<b>");
        // The files are lost when the page is reloaded; the page says so, and what to do.
        tab.reload();
        tab.wait_for_text("There is no run `first.run`.");
        tab.follow_link("Go to the Workbench", "/workbench");
    });
}
