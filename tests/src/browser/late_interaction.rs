//! The Late interaction page: terms, plots, a query and its documents; and the attention of a
//! cross-encoder.

use std::sync::LazyLock;

use super::background_process::SharedServer;
use super::readability;
use super::tab::{AriaRole, BrowserTab, with_tab};
use crate::harness::{TestHome, study_file, study_lines, tiny_collection, tiny_model};
use crate::late_interaction::published;

/// A study with a lexical ranker, an analyzed late-interaction model, and a cross-encoder.
static SITE: LazyLock<SharedServer> = LazyLock::new(|| {
    let home = TestHome::new();
    let late = tiny_model();
    let cross = late.parent().unwrap().join("cross-tiny");
    let models = [&late, &cross].map(|it| it.to_string_lossy().into_owned());
    let rest = study_lines("all", &["tfc1"], &["bm25", "tiny:late", "cross-tiny:cross"]);
    home.write(
        "study.toml",
        study_file("tiny", "Tiny", tiny_collection(), &rest),
    );
    let given = models.each_ref().map(|it| format!("--model {it}"));
    let given = given.join(" ");
    home.run(&format!("study run study.toml {given}"))
        .expect_success();
    home.run("study publish tiny").expect_success();
    let model = format!("{}:late", models[0]);
    home.run(&format!(
        "late-interaction --study tiny --ranker {model} --base-model {model} --pool all --min-vectors 2"
    ))
    .expect_success();
    let given: Vec<&str> = given.split(' ').collect();
    SharedServer::start(home, &given)
});

/// Waits for four plots, including the one of the model before fine-tuning.
const SHOWN: &str = "return document.querySelectorAll('.plots svg.drawing').length === 4
    && document.querySelectorAll('#terms').length === 1";

/// Waits until the term is described, its row is marked, and the plots name it.
const RIVER: &str = "return document.querySelector('#term')?.textContent === 'river'
    && document.querySelectorAll('tr.chosen').length === 1
    && document.querySelector('tr.chosen button').ariaPressed === 'true'
    && [...document.querySelectorAll('.plots svg text')]
        .some(it => it.textContent === 'river')";

#[test]
fn a_word_leads_to_its_queries_and_these_to_their_texts() {
    with_tab(&SITE.origin, |tab| {
        tab.open("/studies/tiny");
        tab.follow_link(
            "Late interaction",
            "/studies/tiny/late-interaction/tiny-late-interaction",
        );
        tab.wait_until("the plots", SHOWN);
        tab.wait_for_text("not fine-tuned for late interaction");
        tab.wait_for_text("Before fine-tuning r =");
        // The table is closed at first, and selects the same terms as a click in a plot.
        tab.click_at("details.maps > summary");
        tab.click(AriaRole::Button, "river");
        tab.wait_for_address("/studies/tiny/late-interaction/tiny-late-interaction?term=river");
        tab.wait_until_before_and_after_reload("the word", RIVER);
        tab.wait_for_text("1 query contains it");

        tab.follow_link(
            "Show its documents: river bank",
            "/studies/tiny/late-interaction/tiny-late-interaction?term=river&query=0",
        );
        tab.wait_for_text("The top 10 of 12 candidate documents, ranked by this ranker.");
        assert_eq!(tab.count("table.asked tbody tr"), 10);
        tab.click_at("table.asked tbody a");
        tab.wait_for_address(
            "/studies/tiny/late-interaction/tiny-late-interaction?term=river&query=0&doc=",
        );
        let heat = "return document.querySelectorAll('.strip svg.drawing').length === 1
            && document.querySelectorAll('table.asked [aria-current=true]').length === 1";
        tab.wait_until("the heat map", heat);
        tab.wait_for_text("sum of best-match cosines");
        readability::expect_readable(tab, "inside");
        tab.reload();
        tab.wait_until("the heat map", heat);
        tab.wait_until("the word", RIVER);

        tab.follow_link("river bank", "/studies/tiny/rankers/tiny-late-interaction/probes/tfc1/instances?query_filter=river%20bank");
        tab.wait_for_element("its instances", "a.line .verdict");
        tab.back();
        tab.wait_until("the word", RIVER);
        // Any other query can be searched.
        tab.fill("Search queries", "FOX");
        tab.follow_link(
            "red fox",
            "/studies/tiny/late-interaction/tiny-late-interaction?term=river&query=1",
        );
        tab.wait_for_text("Query q2");
        assert!(!tab.address().contains("doc="), "{}", tab.address());
    });
}

#[test]
fn a_dot_chooses_its_word() {
    with_tab(&SITE.origin, |tab| {
        tab.open("/studies/tiny/late-interaction");
        tab.wait_until("the plots", SHOWN);
        let said = tab.text_of("#importance", ".dots svg g title");
        let word = said.split(':').next().unwrap().to_owned();
        tab.js(
            "const dot = document.querySelector('[aria-labelledby=importance] svg g');
             const at = dot.getBoundingClientRect();
             dot.dispatchEvent(new MouseEvent('click', {
                 bubbles: true,
                 clientX: at.left + at.width / 2,
                 clientY: at.top + at.height / 2,
             }))",
            &[],
        );
        tab.wait_for_address("/studies/tiny/late-interaction/tiny-late-interaction?term=");
        tab.wait_until(
            "the word",
            &format!("return document.querySelector('#term')?.textContent === '{word}'"),
        );
    });
}

#[test]
fn plots_have_tables_and_files() {
    let folder = tempfile::tempdir().unwrap();
    with_tab(&SITE.origin, |tab| {
        tab.open("/studies/tiny/late-interaction");
        tab.wait_until("the plots", SHOWN);
        tab.click(AriaRole::Button, "Table");
        tab.wait_until(
            "a table for the first plot",
            "return document.querySelector('#importance').closest('section')
                .querySelector('table thead')?.innerText.includes('importance')",
        );
        tab.click(AriaRole::Button, "Table");
        tab.wait_until("the plots", SHOWN);
        let take = |button: &str, name: &str| tab.download(folder.path(), button, name);
        let svg = take("Save Importance as SVG", "late-interaction-importance.svg");
        assert!(
            svg.starts_with("<svg") && svg.contains("<title>river: idf"),
            "{svg}"
        );
        let csv = take("Save Exact matches as CSV", "late-interaction-exact.csv");
        assert!(csv.contains("term,idf,ΔES"), "{csv}");
        let csv = take("Save Spectra as CSV", "late-interaction-spectra.csv");
        assert!(csv.contains("before fine-tuning"), "{csv}");
        let csv = take(
            "Save Correlation with idf as CSV",
            "late-interaction-correlations.csv",
        );
        assert!(csv.contains("0.667"), "{csv}");
    });
}

#[test]
fn an_address_with_an_unknown_ranker_says_so() {
    with_tab(&SITE.origin, |tab| {
        tab.open("/studies/tiny/late-interaction/tiny-latee");
        tab.wait_for_text("there is no ranker named `tiny-latee`; there are tiny-late-interaction");
        assert_eq!(tab.count(".plots"), 0);
        choose_ranker(tab, 1);
        tab.wait_for_address("/studies/tiny/late-interaction/tiny-late-interaction");
        tab.wait_until("the plots", SHOWN);
        assert!(!tab.text("main").contains("there is no ranker"));
    });
}

/// Focuses the list of rankers and selects the option at a position.
fn choose_ranker(tab: &BrowserTab, at: usize) {
    let script = "const select = document.querySelector('.choices select');
        select.dataset.kept = 'yes';
        select.focus();
        select.selectedIndex = arguments[0];
        select.dispatchEvent(new Event('change', {bubbles: true}));";
    tab.js(script, &[serde_json::json!(at)]);
}

#[test]
fn another_ranker_keeps_the_page_and_the_focus() {
    let home = published("two", "Two");
    let tiny = tiny_model();
    let colbert = tiny.parent().unwrap().join("colbert-tiny");
    for model in [
        format!("{}:late", tiny.display()),
        format!("{}:colbert", colbert.display()),
    ] {
        home.run(&format!(
            "late-interaction --study two --ranker {model} --pool all --min-vectors 2"
        ))
        .expect_success();
    }
    let served = SharedServer::start(home, &[]);
    // The list is the element in which the ranker was chosen, and the analysis is that of the
    // ranker in the address.
    let shown = "const select = document.querySelector('.choices select');
        const label = document.querySelector('.head .facts span')?.textContent;
        return select?.dataset.kept === 'yes' && document.activeElement === select
            && location.pathname === '/studies/two/late-interaction/' + select.value
            && !!label && select.selectedOptions[0].textContent.startsWith(label)";
    with_tab(&served.origin, |tab| {
        tab.open("/studies/two/late-interaction");
        tab.wait_for_element("the analysis", ".plots svg.drawing");
        for at in [1, 0] {
            choose_ranker(tab, at);
            tab.wait_until("the other ranker", shown);
        }
    });
}

#[test]
fn a_study_that_was_not_looked_into_says_how() {
    let served = SharedServer::start(published("plain", "Plain"), &[]);
    with_tab(&served.origin, |tab| {
        tab.open("/studies/plain/late-interaction");
        tab.wait_for_text("No late-interaction ranker of this study has been analyzed");
        tab.wait_for_text("axioscope late-interaction --study plain");
    });
}

/// Selects a layer and a head, each of which changes the maps.
fn choose_layer_and_head(tab: &BrowserTab) {
    let maps = "return document.querySelectorAll('.strips .strip svg').length >= 2
        && !!document.querySelector('#attention')";
    tab.wait_until("the maps", maps);
    // A keyboard user continues from the same drop-down list.
    let selects = "const at = document.querySelector('#attention').closest('section');
        const kept = [...at.querySelectorAll('select')];";
    tab.js(
        &format!("{selects} kept.forEach(it => it.dataset.kept = 'yes')"),
        &[],
    );
    for (select, option) in [("Layer", "1"), ("Head", "2")] {
        let before = tab.text_of("#attention", ".strips .note");
        tab.choose(select, option);
        let script = format!(
            "return document.querySelector('#attention').closest('section')
                .querySelector('.strips .note')?.innerText !== {}",
            serde_json::json!(before)
        );
        tab.wait_until(&format!("{select} {option}"), &script);
    }
    tab.wait_until(
        "the same selects",
        &format!("{selects} return kept.length === 3 && kept.every(it => it.dataset.kept)"),
    );
}

#[test]
fn an_instance_shows_where_a_cross_encoder_looks() {
    with_tab(&SITE.origin, |tab| {
        tab.open("/studies/tiny/probes/tfc1/instances/0?variant=fixed");
        tab.wait_for_text("Attention of cross-tiny");
        choose_layer_and_head(tab);
        tab.wait_for_text("Token matches of tiny late interaction");
        readability::expect_readable(tab, "instance, attention");
    });
}

#[test]
fn the_playground_shows_where_a_cross_encoder_looks() {
    with_tab(&SITE.origin, |tab| {
        tab.open("/playground");
        tab.fill("Query", "where do rivers end");
        tab.fill("Document A", "A river flows into the sea.");
        tab.fill("Document B", "The hill is in the east.");
        tab.wait_for_text("Attention of cross-tiny");
        choose_layer_and_head(tab);
        readability::expect_readable(tab, "playground, attention");
    });
}
