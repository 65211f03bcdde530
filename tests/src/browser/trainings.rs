//! Trainings: the list, the form, and the page of a training while it goes on and afterwards.

use super::tab::{AriaRole, BrowserTab, with_tab};
use super::{demo_site, front_end, readability, with_operator_path};
use crate::harness::TestHome;
use crate::train::home_with_splits;

/// Settings with which a training takes a few seconds, apart from its number of epochs.
const SMALL: &str = "dimensions=16 max_document_terms=30";

/// Creates a home with an imported collection of three splits.
fn home() -> TestHome {
    let home = home_with_splits();
    home.run("import demo --to rivers").expect_success();
    home
}

/// Fills the form for a training of DRMM and sends it.
fn start(tab: &BrowserTab, name: &str, settings: &str) {
    tab.fill("Name", name);
    tab.choose("Network", "DRMM");
    tab.choose("Collection", "rivers");
    tab.fill("Changed settings of the recipe", settings);
    tab.click(AriaRole::Button, "Start training");
}

/// Waits until the figure of the learning curves has a panel for average precision.
fn wait_for_curves(tab: &BrowserTab) {
    tab.wait_until(
        "learning curves",
        "return document.querySelector('#learning-curves')?.closest('section')
             .querySelector('svg.drawing')?.getAttribute('aria-label').includes('Dev AP')",
    );
}

/// The number of updates of the drawn curves, as JavaScript.
const UPDATES_OF_CURVES: &str = "Number(document.querySelector('svg.drawing')
     .getAttribute('aria-label').match(/over ([\\d,]+) updates/)[1].replace(/,/g, ''))";

/// Waits until the state of the training is a word.
fn wait_for_state(tab: &BrowserTab, state: &str) {
    tab.wait_until(
        &format!("the state `{state}`"),
        &format!(
            "return document.querySelector('.training-state .verdict')?.innerText === '{state}'"
        ),
    );
}

/// Returns how many checkpoints the table of the learning curves has, and shows the figure again.
fn count_checkpoints(tab: &BrowserTab) -> u64 {
    let press = "document.querySelector('#learning-curves').closest('section')
         .querySelector('.takes [aria-pressed]').click()";
    tab.js(press, &[]);
    let rows = "section[aria-labelledby=learning-curves] tbody tr";
    tab.wait_for_element("the table", rows);
    let n_rows = tab.count(rows);
    tab.js(press, &[]);
    wait_for_curves(tab);
    n_rows
}

#[test]
fn a_training_is_followed_live_published_and_seen_by_a_visitor() {
    with_operator_path(home, |tab, home, _, path| {
        let visitor = tab.second_browser();
        visitor.open("/");
        visitor.follow_link("Trainings", "/trainings");
        visitor.wait_for_text("This server has not published a training yet.");
        assert!(!visitor.has(AriaRole::Button, "Start training"));
        readability::expect_readable(&visitor, "trainings, visitor, none");

        tab.open(path);
        tab.at_exactly("/");
        tab.open("/trainings");
        tab.wait_for_text("No trainings yet. Start one below");
        // What is wrong stands beside its field, whether the page or the server finds it.
        start(tab, "My DRMM", &format!("{SMALL} epochs=4"));
        tab.wait_for_text("`M` is not allowed: use lowercase letters, digits and hyphens");
        tab.fill("Name", "my-drmm");
        tab.fill("Changed settings of the recipe", "epochs=none");
        tab.click(AriaRole::Button, "Start training");
        tab.wait_for_element("an error beside the settings", "#wrong-settings .verdict");
        tab.expect_in_console("/api/trainings");
        readability::expect_readable(tab, "trainings, form");
        let settings = format!("{SMALL} epochs=4");
        tab.fill("Changed settings of the recipe", &settings);
        tab.choose("Test queries (split)", "test");
        tab.click(AriaRole::Button, "Start training");

        tab.wait_for_address("/trainings/my-drmm");
        tab.wait_for_text("not published: only operators see this page");
        wait_for_curves(tab);
        wait_for_state(tab, "done");
        assert_eq!(count_checkpoints(tab), 4);
        tab.expect_headings(&[
            "learning-curves",
            "axioms-learned",
            "effectiveness",
            "settings",
        ]);
        let learned = tab.text_of("#axioms-learned", ".notes");
        assert!(
            learned.contains("Learned first, after") || learned.contains("above chance"),
            "{learned}"
        );
        tab.wait_for_text("standard error");
        let said = tab.text_of("#effectiveness", "header .note");
        assert!(said.contains("test queries is 0."), "{said}");
        assert!(
            said.contains("Scored for another query, the same candidates give 0."),
            "{said}"
        );
        tab.wait_for_text("ranked for another query");
        let settings = tab.text_of("#settings", "dl");
        assert!(settings.contains("epochs=4"), "{settings}");
        let csv = tab.download(
            &home.path(""),
            "Save Learning curves as CSV",
            "my-drmm-learning-curves.csv",
        );
        assert!(csv.starts_with("updates,loss,AP"), "{csv}");
        assert_eq!(csv.lines().count(), 5, "{csv}");
        let svg = tab.download(
            &home.path(""),
            "Save Learning curves as SVG",
            "my-drmm-learning-curves.svg",
        );
        assert!(svg.starts_with("<svg") && svg.contains("TFC1"), "{svg}");
        readability::expect_readable(tab, "training, done");

        visitor.open("/trainings/my-drmm");
        visitor.wait_for_text("The training cannot be shown");
        visitor.expect_in_console("/api/trainings/my-drmm");
        tab.click(AriaRole::Button, "Publish");
        tab.wait_for_text("published");
        tab.find(AriaRole::Button, "Withdraw");
        visitor.open("/trainings");
        visitor.wait_for_text("AP 0.");
        visitor.click(AriaRole::Link, "my-drmm");
        wait_for_curves(&visitor);
        visitor.wait_for_text("ranked for another query");
        for operators in ["Withdraw", "Cancel", "Resume"] {
            assert!(!visitor.has(AriaRole::Button, operators), "{operators}");
        }
        tab.click(AriaRole::Button, "Withdraw");
        tab.find(AriaRole::Button, "Publish");
        visitor.open("/trainings");
        visitor.wait_for_text("This server has not published a training yet.");
    });
}

#[test]
fn a_canceled_training_keeps_its_curve_and_goes_on() {
    if front_end().is_none() {
        return;
    }
    let home = home();
    let server = home.serve(&[]);
    with_tab(&server.address, |tab| {
        tab.open("/trainings");
        start(
            tab,
            "long",
            &format!("{SMALL} epochs=100000 patience_epochs=none updates_per_epoch=500"),
        );
        tab.wait_for_address("/trainings/long");
        wait_for_state(tab, "running");
        wait_for_curves(tab);
        tab.wait_for_text("updates per second, about");
        let n_updates = tab.js(&format!("return {UPDATES_OF_CURVES}"), &[]);
        let n_before = count_checkpoints(tab);
        tab.wait_until(
            "another checkpoint",
            &format!("return ({UPDATES_OF_CURVES}) > {n_updates}"),
        );
        readability::expect_readable(tab, "training, running");
        tab.click(AriaRole::Button, "Cancel");
        wait_for_state(tab, "canceled");
        tab.wait_for_text("the last checkpoint is kept");
        let n_canceled = count_checkpoints(tab);
        assert!(n_canceled >= n_before);

        // The list says the same.
        tab.click(AriaRole::Link, "Trainings");
        tab.at_exactly("/trainings");
        tab.wait_for_text("not published");
        tab.wait_for_text("Canceled after");
        readability::expect_readable(tab, "trainings, one");
        tab.click(AriaRole::Link, "long");
        tab.click(AriaRole::Button, "Resume");
        wait_for_state(tab, "running");
        tab.wait_for_text("updates per second, about");
        assert!(count_checkpoints(tab) >= n_canceled);
        tab.click(AriaRole::Button, "Cancel");
        wait_for_state(tab, "canceled");
    });
}

#[test]
fn without_a_collection_the_page_says_how_to_get_one() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/trainings");
        tab.wait_for_text("No imported collection has relevance judgments and splits.");
        tab.wait_for_text("axioscope import");
    });
}
