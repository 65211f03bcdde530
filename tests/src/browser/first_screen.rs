//! What a visitor sees before scrolling, how the header works on a phone, and what titles say.

use serde_json::json;

use super::demo_site;
use super::tab::{AriaRole, ColorScheme, with_tab};

/// The size of a desktop screen and of a phone.
const SCREENS: [(u32, u32); 2] = [(1440, 900), (390, 844)];

/// The first cell, instance or button of each page.
const PAGES: [(&str, &str); 11] = [
    ("/", "a.card"),
    ("/studies/demo", "[role=grid] a.cell[data-step]"),
    (
        "/studies/demo/rankers/bm25/probes/tfc1/instances",
        "a.line .verdict",
    ),
    ("/studies/demo/probes/tfc1/instances/0", "article.doc"),
    ("/studies/demo/behavioral-tests", ".effects button.cell"),
    ("/studies/demo/figures", ".drawn svg.drawing"),
    ("/studies/demo/reproducibility", ".provenance li"),
    ("/studies/demo/compare", ".finding"),
    ("/playground", "#playground-query"),
    ("/workbench", "#files-picker"),
    ("/reproductions", "table.data"),
];

#[test]
fn each_page_has_its_first_result_or_button_on_the_first_screen() {
    with_tab(demo_site::origin(), |tab| {
        let mut below = Vec::new();
        for (width, height) in SCREENS {
            tab.look(width, height, ColorScheme::Light);
            for (address, first) in PAGES {
                tab.open(address);
                tab.wait_for_element(first, first);
                let top = tab.js(
                    "return document.querySelector(arguments[0]).getBoundingClientRect().top
                         + window.scrollY",
                    &[json!(first)],
                );
                let top = top.as_f64().unwrap();
                if top >= f64::from(height) {
                    below.push(format!("{address}: {top} of {height} at {width}"));
                }
            }
        }
        assert!(below.is_empty(), "{}", below.join("\n"));
    });
}

#[test]
fn on_a_phone_pages_are_in_a_menu_and_a_tapped_cell_shows_its_panel() {
    with_tab(demo_site::origin(), |tab| {
        tab.look(390, 844, ColorScheme::Light);
        tab.open("/studies/demo");
        tab.wait_for_element("a cell", "[role=grid] a.cell[data-step]");
        assert!(!tab.has(AriaRole::Link, "Workbench"));
        tab.click(AriaRole::Button, "Menu");
        tab.press(thirtyfour::Key::Escape);
        tab.wait_for_count("a closed menu", "#pages.open", "=== 0");
        tab.click(AriaRole::Button, "Menu");
        tab.click(AriaRole::Link, "Workbench");
        tab.wait_for_address("/workbench");
        tab.wait_for_count("a closed menu", "#pages.open", "=== 0");

        tab.open("/studies/demo");
        tab.wait_for_element("a panel", ".study .panel h2");
        // Not the selected cell, on which a click opens the list of instances.
        tab.click_at("[role=gridcell]:not([aria-selected='true']) > a.cell[data-step]");
        tab.wait_until(
            "the panel in view",
            "const top = document.querySelector('.study .panel').getBoundingClientRect().top;
             return top > -2 && top < 700",
        );
    });
}

#[test]
fn titles_say_what_a_page_is_about_and_the_skip_link_moves_the_focus() {
    with_tab(demo_site::origin(), |tab| {
        for (address, title) in [
            (
                "/studies/demo/figures",
                "Figures, Glaciers, bread and bridges · Axioscope",
            ),
            ("/studies/demo/compare", "Compare rankers, demo · Axioscope"),
            ("/people", "People · Axioscope"),
            ("/join", "Join · Axioscope"),
            ("/about", "About · Axioscope"),
        ] {
            tab.open(address);
            let is_set = format!("return document.title === {}", json!(title));
            tab.wait_until(title, &is_set);
        }
        tab.js("document.querySelector('a.skip').focus()", &[]);
        tab.press(thirtyfour::Key::Enter);
        tab.wait_until("the focus", "return document.activeElement.id === 'main'");
    });
}

#[test]
fn an_opened_page_has_the_focus_and_going_back_returns_it_to_the_link() {
    const HEADING: &str = "return document.activeElement.matches('main h1')";
    with_tab(demo_site::origin(), |tab| {
        tab.open("/studies/demo");
        tab.wait_for_count("the map", "[role=grid] a.cell[data-step]", ">= 12");
        tab.js(
            "document.querySelector(`a.cell[tabindex='0']`).focus()",
            &[],
        );
        tab.press(thirtyfour::Key::Enter);
        tab.wait_for_count("rows", "a.line", "> 5");
        tab.wait_until("the heading of the list", HEADING);
        tab.js("document.querySelector('#row-1').focus()", &[]);
        tab.press(thirtyfour::Key::Enter);
        tab.wait_for_element("the documents", ".docs:not(.waiting)");
        tab.wait_until("the heading of the instance", HEADING);
        tab.back();
        tab.wait_until("the row", "return document.activeElement.id === 'row-1'");
        tab.back();
        let cell = "return document.activeElement.matches(`a.cell[tabindex='0']`)";
        tab.wait_until("the cell", cell);
    });
}

/// The names of the programs that the page has loaded.
const PROGRAMS: &str = "return performance.getEntriesByType('resource')
    .map(it => it.name.split('/').pop().replace(/-[0-9a-f]{1,16}/, ''))
    .filter(it => it.endsWith('.wasm')).sort()";

#[test]
fn an_annotator_loads_a_small_program_and_the_main_one_with_another_page() {
    with_tab(demo_site::origin(), |tab| {
        for address in ["/annotation/tasks", "/annotation/tasks/7/", "/join"] {
            tab.open(address);
            tab.wait_for_element("a heading", "main h1");
            let loaded = tab.js(PROGRAMS, &[]);
            assert_eq!(loaded, json!(["annotation_bg.wasm"]), "{address}");
        }
        tab.click(AriaRole::Link, "Studies");
        tab.wait_for_element("a study", "a.card");
        assert_eq!(tab.js(PROGRAMS, &[]), json!(["frontend_bg.wasm"]));
        tab.back();
        tab.wait_for_address("/join");
        // An address that no page has is not one that the small program is loaded for again.
        tab.open("/annotation/tasks/99999999999");
        tab.wait_for_text("The address may be mistyped");
        tab.click(AriaRole::Link, "Studies");
        tab.wait_for_element("a study", "a.card");
    });
}
