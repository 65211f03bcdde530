//! The Studies page, which lists the studies.

use super::demo_site;
use super::tab::{AriaRole, with_tab};

#[test]
fn a_card_says_what_the_study_is_and_leads_to_it() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/");
        tab.wait_for_text("Why does a ranker rank the way it does?");
        tab.wait_for_text("1 study, 2 rankers");
        let card = tab.text("a.card");
        for fact in ["64 queries", "512 documents", "instances", "BM25", "TFC1"] {
            assert!(card.contains(fact), "{fact} in {card}");
        }
        tab.follow_link("Glaciers, bread and bridges", "/studies/demo");
        tab.back();
        tab.at_exactly("/");
        tab.follow_link("Open a study", "/studies/demo");
    });
}

#[test]
fn an_address_that_no_page_has_says_so() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/no/such/page");
        tab.wait_for_text("Page not found");
        tab.click(AriaRole::Link, "See all studies");
        tab.at_exactly("/");
    });
}
