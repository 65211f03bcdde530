//! The documentation: read without scripts, and searched with the keyboard.

use serde_json::json;
use thirtyfour::Key;

use super::demo_site;
use super::tab::{AriaRole, BrowserTab, ColorScheme, with_tab};

#[test]
fn a_section_is_found_and_opened_with_the_keyboard() {
    let field_has_focus = |tab: &BrowserTab| {
        tab.wait_until(
            "the field has the focus",
            "return document.activeElement.id === 'search'",
        );
    };
    with_tab(demo_site::origin(), |tab| {
        tab.open("/docs");
        tab.wait_for_text("Start with the tutorial");
        tab.click_at("dl.pages a");
        tab.wait_for_address("/docs/tutorial/");
        tab.wait_until("its script", "return document.readyState === 'complete'");
        tab.press("/");
        tab.press("length tolerance");
        tab.press(Key::Enter);
        tab.wait_for_address("/docs/search/?q=length+tolerance");
        tab.wait_for_count("results", "#search-results a", "> 2");
        let first = tab.text("#search-results li");
        assert!(first.starts_with("Glossary: Length tolerance"), "{first}");
        tab.wait_for_count("marked words", "#search-results li:first-child mark", "> 2");

        // The driver may press Enter on both pages, which leads from the field to the first result.
        tab.press(Key::Up);
        field_has_focus(tab);
        tab.press(Key::Down + Key::Down + Key::Up);
        tab.wait_until(
            "the first result has the focus",
            "return document.activeElement === document.querySelector('#search-results a')",
        );
        tab.press(Key::Up);
        field_has_focus(tab);
        tab.press(Key::Enter);
        tab.press(Key::Enter);
        tab.wait_for_address("/docs/glossary/#length-tolerance");
        tab.back();
        tab.wait_for_count("the same results", "#search-results a", "> 2");
    });
}

#[test]
fn the_pages_of_the_app_link_to_the_documentation() {
    with_tab(demo_site::origin(), |tab| {
        tab.open("/about");
        tab.follow_link("Privacy", "/docs/privacy/");
        tab.back();
        tab.follow_link("Documentation", "/docs/");
        tab.wait_for_text("Start with the tutorial");
    });
}

#[test]
fn a_search_says_what_it_found() {
    let status = |said: &str| {
        format!("return document.querySelector('#search-status').textContent.startsWith('{said}')")
    };
    with_tab(demo_site::origin(), |tab| {
        tab.open("/docs/search/");
        tab.wait_until("a hint", &status("Type words"));
        tab.press("zzz<b>");
        tab.wait_until("nothing found", &status("Nothing found for “zzz<b>”"));
        assert_eq!(tab.count("#search-results li"), 0);
        tab.open("/docs/search/?q=security-contact");
        tab.wait_until("two results", &status("2 sections"));
        tab.open("/docs/search/?q=the");
        tab.wait_for_count("the first results", "#search-results li", "=== 50");
        tab.wait_until(
            "that there are more",
            "
            return document.querySelector('#search-status').textContent
                .endsWith('; the first 50 are shown')",
        );
    });
}

#[test]
fn contents_fold_on_a_phone_and_stand_beside_the_text_elsewhere() {
    with_tab(demo_site::origin(), |tab| {
        tab.set_viewport(1440, ColorScheme::Light);
        tab.open("/docs/axioms/");
        let is_shown = "return document.querySelector('.chapters ul').checkVisibility(
            {contentVisibilityAuto: true})";
        tab.wait_until("the contents", is_shown);
        // The driver takes what is in a folded element for hidden, whatever is on the screen.
        tab.js("document.querySelector('.chapters ul ul a').focus()", &[]);
        tab.press(Key::Enter);
        tab.wait_for_address("/docs/axioms/#notation");
        tab.set_viewport(390, ColorScheme::Dark);
        tab.open("/docs/axioms/");
        tab.wait_until("folded contents", &is_shown.replace("return ", "return !"));
        tab.click_at(".chapters summary");
        tab.wait_until("the contents", is_shown);
        let wide = "return document.documentElement.scrollWidth";
        assert_eq!(tab.js(wide, &[]), json!(390));
        assert!(tab.has(AriaRole::Link, "Next"));
    });
}

#[test]
fn the_theme_of_the_app_is_that_of_the_documentation() {
    with_tab(demo_site::origin(), |tab| {
        tab.set_viewport(1440, ColorScheme::Dark);
        let paper = "return getComputedStyle(document.body).backgroundColor";
        tab.open("/docs/");
        assert_eq!(tab.js(paper, &[]), json!("rgb(22, 23, 26)"));
        tab.open("/about");
        tab.wait_for_text("About Axioscope");
        tab.press("t");
        tab.wait_until(
            "light",
            "return document.documentElement.dataset.theme === 'light'",
        );
        tab.open("/docs/");
        assert_eq!(tab.js(paper, &[]), json!("rgb(255, 255, 255)"));
    });
}
