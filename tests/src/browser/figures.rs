//! The figures of a study and the Reproductions page.

use serde_json::json;

use super::demo_site;
use super::tab::{AriaRole, BrowserTab, with_tab};

/// Selects a value in one of the fields of a page.
fn choose(tab: &BrowserTab, field: usize, value: &str) {
    let script = "const select = document.querySelectorAll('.choices select')[arguments[0]];
        select.value = arguments[1];
        select.dispatchEvent(new Event('change', {bubbles: true}));";
    tab.js(script, &[json!(field), json!(value)]);
}

#[test]
fn the_figures_of_a_study_follow_what_is_chosen() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/studies/demo");
        tab.follow_link("Figures", "/studies/demo/figures");
        tab.wait_for_element("the funnel", ".drawn svg.drawing");
        tab.expect_headings(&[
            "funnel",
            "preconditions",
            "tokenization",
            "compared",
            "overlap",
        ]);
        // A figure is replaced by its table, and shown again.
        let figures = tab.count("svg.drawing");
        tab.click(AriaRole::Button, "Table");
        tab.wait_until(
            "the table of the funnel",
            "return document.querySelector('#funnel').closest('section').querySelector('table')
                ?.innerText.includes('candidates')",
        );
        assert_eq!(tab.count("svg.drawing"), figures - 1);
        let told = tab.text("#compared");
        assert!(told.contains("Ranker comparison"), "{told}");
        choose(tab, 0, "code");
        tab.wait_until(
            "the other reading",
            "return location.search.includes('variant=code')
                && document.body.innerText.includes('variant code, from study demo')",
        );
        // The address names the ranker, and not its row, which changes with the rankers.
        choose(tab, 1, "ql");
        let is_compared = "const section = document.querySelector('#compared')?.closest('section');
            return location.search.includes('reference=ql')
                && document.querySelectorAll('.choices select')[1]?.value === 'ql'
                && section?.innerText.includes('BM25')";
        tab.wait_until_before_and_after_reload("the reference ranker of the address", is_compared);
        tab.open("/studies/demo/figures?reference=1");
        tab.wait_until(
            "the ranker in the second row",
            "return document.querySelectorAll('.choices select')[1]?.value === 'ql'",
        );
    });
}

#[test]
fn a_table_of_a_paper_stands_beside_a_study() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/reproductions");
        tab.wait_for_text("DistilBERT");
        // The first study fills our columns until another choice is made.
        tab.wait_for_text("Ours: study demo");
        choose(tab, 1, "");
        tab.wait_for_text("Choose a study to fill our columns.");
        choose(tab, 1, "demo");
        tab.wait_until(
            "ours",
            "return location.search.includes('study=demo')
                && document.body.innerText.includes('Ours: study demo')",
        );
        // The fraction of TP in the published code is one minus that of the axiom, minus its ties.
        let same = tab.js(
            "const rows = [...document.querySelectorAll('section:last-of-type tbody tr')]
                 .filter(it => it.innerText.includes('TP is inverted'));
             const cells = rows.map(row => [...row.querySelectorAll('td')].map(it => it.innerText));
             return cells.length === 2 && cells.every(it => it[1] === it[3])",
            &[],
        );
        assert_eq!(same, true);
        tab.open("/reproductions/rennings2019/tables/1");
        tab.wait_for_text("3,488,746");
    });
}
