//! The guided tour, from the list of studies to the Playground.

use super::demo_site;
use super::tab::{AriaRole, BrowserTab, ColorScheme, with_tab};
use thirtyfour::Key;

/// Waits for a step whose subject is outlined and in view, and which has the focus.
fn wait_for_step(tab: &BrowserTab, step: u32, subject: &str) {
    tab.wait_for_text(&format!("Tour, step {step} of 5"));
    tab.wait_until(
        subject,
        &format!(
            "const subject = document.querySelector({subject:?})?.getBoundingClientRect();
             return document.body.dataset.tour === '{step}' && !!subject
                 && subject.top < innerHeight - 100 && subject.bottom > 0
                 && document.activeElement.classList.contains('tour')"
        ),
    );
}

#[test]
fn five_steps_lead_from_the_list_of_studies_to_the_playground() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/");
        tab.click(AriaRole::Link, "Take the tour (5 steps)");
        tab.wait_for_address("/studies/demo?tour=1");
        wait_for_step(tab, 1, ".study > div > figure");
        tab.click(AriaRole::Button, "Next");
        wait_for_step(tab, 2, ".study .panel");
        // The keyboard leads back and forth.
        tab.press(Key::Left);
        wait_for_step(tab, 1, ".study > div > figure");
        tab.press(Key::Right);
        wait_for_step(tab, 2, ".study .panel");
        tab.click(AriaRole::Button, "Next");
        wait_for_step(tab, 3, "section.listed");
        let address = tab.address();
        assert!(
            address.contains("/instances?outcome=violated&tour=3"),
            "{address}"
        );
        tab.wait_for_element("a row", "a.line .verdict");
        tab.click(AriaRole::Button, "Next");
        wait_for_step(tab, 4, "section[aria-labelledby=terms]");
        tab.click(AriaRole::Button, "Next");
        tab.wait_for_address("/playground?");
        wait_for_step(tab, 5, "main");
        assert!(!tab.has(AriaRole::Button, "Next"));
        tab.press(Key::Escape);
        tab.wait_for_count("no tour", ".tour", "=== 0");
        assert!(!tab.address().contains("tour"), "{}", tab.address());
    });
}

#[test]
fn a_step_has_an_address_and_follows_the_reader() {
    with_tab(demo_site::origin(), |tab| {
        tab.look(390, 844, ColorScheme::Light);
        tab.open("/studies/demo?tour=2");
        wait_for_step(tab, 2, ".study .panel");
        // A link of the page goes on with the tour.
        tab.wait_for_element("the violations", ".study .panel a.btn.main");
        tab.js(
            "document.querySelector('.study .panel a.btn.main').click()",
            &[],
        );
        wait_for_step(tab, 3, "section.listed");
        // It ends on a page that is not part of it.
        tab.open("/about?tour=3");
        tab.wait_for_element("the page", ".worked");
        assert_eq!(tab.count(".tour"), 0);
    });
}
