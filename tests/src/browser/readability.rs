//! Checks that every page is readable in light and dark, on a phone and on a desktop, and that
//! nothing overflows. With `AXIOSCOPE_SHOTS` a screenshot of each is saved there.

use serde_json::Value;

use super::tab::{AriaRole, BrowserTab, ColorScheme, with_tab};
use super::{axe, demo_site, workbench};
use crate::harness::path_from_environment;

/// The widths of a small phone, which a desktop screen also has at 400 %, and of a desktop screen.
const WIDTHS: [u32; 2] = [320, 1440];

/// Creates a readability test for each page. A line has the name of the page, its address, and an
/// element that is there once the page is loaded.
macro_rules! readable_pages {
    ($($page:ident: $address:literal, $there:literal;)*) => {$(
        #[test]
        fn $page() {
            check(stringify!($page), $address, $there);
        }
    )*};
}

readable_pages! {
    studies: "/", "a.card";
    study: "/studies/demo", "[role=grid] a.cell[data-step]";
    instances: "/studies/demo/rankers/bm25/probes/mtdc/instances?outcome=violated", "a.line .verdict";
    instance: "/studies/demo/probes/tfc1/instances/0?variant=fixed", "table.measured";
    playground: "/playground", "#playground-query";
    workbench: "/workbench", "#files-picker";
    about: "/about", ".worked";
    behavioral_tests: "/studies/demo/behavioral-tests", ".effects button.cell";
    human_judgments: "/studies/demo/human-judgments", ".tab .ahead";
    figures: "/studies/demo/figures", ".drawn svg.drawing";
    reproducibility: "/studies/demo/reproducibility", ".provenance li";
    trainings: "/trainings", "main h1";
    review: "/annotation/tasks", "main h1";
    differ: "/studies/demo/compare", "table.asked tbody tr";
    replay: "/reproductions?study=demo", "table.data";
    operator: "/operator", ".canaries .verdict.ok";
    documentation: "/docs/", "dl.pages";
    documentation_page: "/docs/axioms/", "article table";
    documentation_command_line: "/docs/command-line/", "article pre";
    documentation_http: "/docs/http-api/", "article table";
    documentation_search: "/docs/search/?q=axiom", "#search-results mark";
}

/// Checks that the page is readable at every width, in light and dark.
pub(super) fn expect_readable(tab: &BrowserTab, name: &str) {
    let Some(axe) = axe() else {
        return;
    };
    let mut wrong = Vec::new();
    for scheme in [ColorScheme::Light, ColorScheme::Dark] {
        for width in WIDTHS {
            tab.set_viewport(width, scheme);
            wrong.extend(look(tab, (name, width, scheme), &axe));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what is wrong with the page in its current state, and saves a screenshot.
fn look(
    tab: &BrowserTab,
    (name, width, scheme): (&str, u32, ColorScheme),
    axe: &str,
) -> Vec<String> {
    let place = format!("{name}, {width} px, {}", scheme.name());
    let found = violations(tab, axe).into_iter().chain(overflow(tab));
    let found = found.map(|it| format!("{place}: {it}")).collect();
    if let Some(folder) = path_from_environment("AXIOSCOPE_SHOTS") {
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{name}-{width}-{}.png", scheme.name()));
        tab.screenshot(width, scheme, &file);
    }
    found
}

fn check(name: &str, address: &str, there: &str) {
    let Some(axe) = axe() else {
        return;
    };
    let mut wrong = Vec::new();
    with_tab(demo_site::origin(), |tab| {
        for scheme in [ColorScheme::Light, ColorScheme::Dark] {
            for width in WIDTHS {
                tab.set_viewport(width, scheme);
                tab.open(address);
                tab.wait_for_element(there, there);
                fill(tab, name);
                wrong.extend(look(tab, (name, width, scheme), &axe));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fills pages that are empty at first.
fn fill(tab: &BrowserTab, name: &str) {
    match name {
        "study" => {
            let there = "return document.querySelector('aside.panel').ariaBusy === 'false'
                && !document.querySelector('aside.panel .loading')";
            tab.wait_until("the panel", there);
        }
        "playground" => tab.wait_for_element("an answer", ".holds .verdict.ok"),
        "workbench" => {
            tab.click(AriaRole::Button, "Load sample");
            workbench::wait_for_files(tab, 3);
            workbench::create_study(tab);
        }
        _ => (),
    }
}

/// Returns the violations that axe-core finds.
fn violations(tab: &BrowserTab, axe: &str) -> Vec<String> {
    // Contrast is too low in the middle of a color transition.
    tab.wait_until(
        "colours at rest",
        "return document.getAnimations().every(it => it.playState !== 'running'
            || it.effect.getComputedTiming().endTime === Infinity)",
    );
    tab.js(axe, &[]);
    let found = tab.js_async(
        "const {violations} = await axe.run(document, {resultTypes: ['violations']});
         return violations
             .map(it => `${it.id}: ${it.help}\\n` + it.nodes.slice(0, 4)
                 .map(node => `    ${node.target.join(' ')}  ${node.any.concat(node.all)
                     .map(why => why.message).join('; ')}`).join('\\n'))",
        &[],
    );
    let found = found.as_array().cloned().unwrap_or_default();
    found
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// Returns the elements that make the page wider than the screen.
fn overflow(tab: &BrowserTab) -> Option<String> {
    let found = tab.js(
        "const wide = document.documentElement.clientWidth;
         if (document.documentElement.scrollWidth <= wide) return null;
         const out = [...document.querySelectorAll('main *')]
             .filter(it => it.getBoundingClientRect().right > wide + 1)
             .filter(it => !it.closest('.scrolls, .drawn, .strip, .parts'));
         return out.slice(0, 4).map(it => it.tagName + '.' + it.className).join(', ')",
        &[],
    );
    found
        .as_str()
        .map(|it| format!("sticks out to the right: {it}"))
}
