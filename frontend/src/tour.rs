//! The guided tour: five steps from the heat map of a study to documents of one's own.
//!
//! The parameter `tour` of an address is the number of a step, counted from 1. The tour follows the
//! links of the pages, and so the data of the study: its third step lists the violations of the
//! selected cell, and its fourth shows the first of them.

use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_url};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::first_paint;
use crate::keyboard::{self, KeyPressOutcome};
use crate::routes::{PageRoute, parse_parameters, query_string};

/// The parameter of an address that has the number of the step.
const PARAMETER: &str = "tour";

/// A step of the tour.
struct TourStep {
    is_on: fn(&PageRoute) -> bool,
    title: &'static str,
    text: &'static str,
    /// What the step explains. The style sheet outlines it.
    subject: &'static str,
    /// The link to the page of the next step; none if it is on the same page.
    link_to_next: Option<&'static str>,
}

const STEPS: [TourStep; 5] = [
    TourStep {
        is_on: |it| matches!(it, PageRoute::Study { .. }),
        title: "Which ranker follows which axiom",
        text: "Rows are rankers, columns are axioms. A cell is the fraction of document pairs that \
               the ranker orders as the axiom predicts; .5 is chance.",
        subject: ".study > div > figure",
        link_to_next: None,
    },
    TourStep {
        is_on: |it| matches!(it, PageRoute::Study { .. }),
        title: "One cell in detail",
        text: "The page opens on a telling cell. The panel has its 95 % interval, how clearly the \
               ranker decides, and the most instructive violations.",
        subject: ".study .panel",
        link_to_next: Some(".study .panel a.btn.main"),
    },
    TourStep {
        is_on: |it| matches!(it, PageRoute::Instances { .. }),
        title: "The document pairs behind the cell",
        text: "Each row is a query with two documents, the one that the axiom ranks higher on the \
               left. The number is by how much the ranker's scores differ.",
        subject: "section.listed",
        link_to_next: Some("section.listed a.line"),
    },
    TourStep {
        is_on: |it| matches!(it, PageRoute::Instance { .. }),
        title: "Which term decided",
        text: "For a lexical ranker, this table takes the scores of one pair apart: the term with \
               the longest bar decided. Above it are the documents and the conditions of the axiom.",
        subject: "section[aria-labelledby=terms]",
        link_to_next: Some("main a.btn[href*='/playground']"),
    },
    TourStep {
        is_on: |it| matches!(it, PageRoute::Playground),
        title: "Your own documents",
        text: "Change the query or a document: axioms and scores are recomputed as you type. The \
               Workbench does the same for a whole collection of yours.",
        subject: "main",
        link_to_next: None,
    },
];

/// Returns the address of the first step for a study.
pub(crate) fn tour_href(study: &str) -> String {
    let page = PageRoute::Study {
        study: study.to_owned(),
    };
    with_step(&page.href(), "", Some(0))
}

/// Returns an address with the number of a step, or without one.
fn with_step(path: &str, search: &str, step: Option<usize>) -> String {
    let mut parameters = parse_parameters(search);
    parameters.retain(|it| it.0 != PARAMETER);
    parameters.extend(step.map(|it| (PARAMETER.to_owned(), (it + 1).to_string())));
    path.to_owned() + &query_string(parameters)
}

/// Returns the step that is shown on a page: the one that its address asks for, or else the
/// previous one, or the step of this page if the reader has followed a link during the tour.
fn step_on_page(before: Option<usize>, search: &str, page: Option<&PageRoute>) -> Option<usize> {
    let page = page?;
    let is_here = |at: &usize| STEPS.get(*at).is_some_and(|it| (it.is_on)(page));
    let asked = parse_parameters(search)
        .into_iter()
        .find(|it| it.0 == PARAMETER);
    let asked = asked.and_then(|it| it.1.parse::<usize>().ok()?.checked_sub(1));
    let during = |before: usize| {
        let same = Some(before).filter(is_here);
        same.or_else(|| (0..STEPS.len()).find(is_here))
    };
    asked.filter(is_here).or_else(|| during(before?))
}

/// Renders the current step of the tour; nothing unless the reader takes it.
#[component]
pub(crate) fn GuidedTour() -> impl IntoView {
    let url = use_url();
    let step = RwSignal::new(None::<usize>);
    let navigate = use_navigate();
    // The address at which each step was shown last.
    let places = StoredValue::new([const { None::<String> }; STEPS.len()]);
    let focused_before = StoredValue::new_local(None::<HtmlElement>);
    Effect::new(move |_| {
        let url = url.read();
        let page = PageRoute::parse(url.path(), url.search());
        let before = step.get_untracked();
        let next = step_on_page(before, url.search(), page.as_ref());
        if before.is_none() && next.is_some() {
            let focused = document().active_element();
            focused_before.set_value(focused.and_then(|it| it.dyn_into::<HtmlElement>().ok()));
        }
        if let Some(at) = next {
            let href = url.path().to_owned() + &query_string(parse_parameters(url.search()));
            let mut steps = places.get_value();
            steps[at] = Some(href);
            places.set_value(steps);
        }
        if before != next {
            step.set(next);
        }
    });
    let go = StoredValue::new_local(navigate);
    let here_with_step = move |step| {
        let url = url.read_untracked();
        with_step(url.path(), url.search(), step)
    };
    let open = move |href: String, replace: bool| {
        let options = NavigateOptions {
            replace,
            scroll: false,
            ..Default::default()
        };
        go.with_value(|it| it(&href, options));
    };
    let end = move || {
        step.set(None);
        let focused = focused_before.with_value(|it| it.clone().filter(|it| it.is_connected()));
        let main = || document().get_element_by_id("main")?.dyn_into().ok();
        if let Some(element) = focused.or_else(main) {
            let _ = element.focus();
        }
        open(here_with_step(None), true);
    };
    keyboard::listen_for_key_presses(move |key| match (key, step.get_untracked()) {
        // The key first closes a dialog.
        ("Escape", Some(_)) if !keyboard::is_dialog_open() => {
            end();
            KeyPressOutcome::Handled
        }
        _ => KeyPressOutcome::Ignored,
    });
    move || {
        let at = step.get()?;
        let next = Callback::new(move |()| {
            let Some(place) = STEPS[at].link_to_next else {
                open(here_with_step(Some(at + 1)), false);
                return;
            };
            // The link may not be there yet.
            when_present(place, move |link| {
                let href = link.get_attribute("href").unwrap_or_default();
                let (path, search) = href.split_once('?').unwrap_or((&href, ""));
                open(with_step(path, search, Some(at + 1)), false);
            });
        });
        let before = match at {
            0 => None,
            // The first two steps are on one page.
            1 => Some(here_with_step(Some(0))),
            _ => places.with_value(|it| it[at - 1].clone()),
        };
        let back = before.map(|href| Callback::new(move |()| open(href.clone(), false)));
        let end = Callback::new(move |()| end());
        Some(view! { <TourStepDialog at next back end/> })
    }
}

/// Renders one step as a dialog that does not block the page, and moves the focus to it.
#[component]
fn TourStepDialog(
    at: usize,
    next: Callback<()>,
    /// Shows the previous step; none if this is the first that the reader has seen.
    back: Option<Callback<()>>,
    end: Callback<()>,
) -> impl IntoView {
    let dialog = NodeRef::<html::Aside>::new();
    let TourStep {
        title,
        text,
        subject,
        ..
    } = STEPS[at];
    let is_last = at + 1 == STEPS.len();
    let body = document().body();
    Effect::new(move |_| {
        if let Some(body) = &body {
            let _ = body.set_attribute("data-tour", &(at + 1).to_string());
        }
        if let Some(dialog) = dialog.get() {
            let _ = dialog.focus();
        }
        when_present(subject, |it| it.scroll_into_view());
    });
    on_cleanup(|| {
        if let Some(body) = document().body() {
            let _ = body.remove_attribute("data-tour");
        }
    });
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "ArrowRight" if !is_last => next.run(()),
        "ArrowLeft" => {
            if let Some(back) = back {
                back.run(());
            }
        }
        _ => {}
    };
    view! {
        <aside
            node_ref=dialog
            class="tour"
            role="dialog"
            aria-labelledby="tour-title"
            tabindex="-1"
            on:keydown=on_key
        >
            <p class="label">{format!("Tour, step {} of {}", at + 1, STEPS.len())}</p>
            <h2 id="tour-title">{title}</h2>
            <p>{text}</p>
            <div class="btns">
                {back.map(|back| view! {
                    <button class="btn" type="button" on:click=move |_| back.run(())>
                        "Back"
                    </button>
                })}
                {(!is_last).then(|| view! {
                    <button class="btn main" type="button" on:click=move |_| next.run(())>
                        "Next"
                    </button>
                })}
                <button class="btn" type="button" on:click=move |_| end.run(())>
                    "End tour " <kbd>"Esc"</kbd>
                </button>
            </div>
        </aside>
    }
}

/// Calls a function with the first element that a selector matches, once the page is complete and
/// has one, and as long as the calling component lives.
fn when_present(selector: &'static str, act: impl Fn(HtmlElement) + 'static) {
    const PAUSE: Duration = Duration::from_millis(100);
    let find = move || {
        // Parts that are added later would move it.
        if first_paint::covers_page() {
            return None;
        }
        let found = document().query_selector(selector).ok().flatten()?;
        found.dyn_into::<HtmlElement>().ok()
    };
    if let Some(found) = find() {
        act(found);
        return;
    }
    let handle = StoredValue::new(None);
    let look = move || {
        if let Some(found) = find() {
            handle.with_value(|it: &Option<IntervalHandle>| it.map(|it| it.clear()));
            act(found);
        }
    };
    handle.set_value(set_interval_with_handle(look, PAUSE).ok());
    on_cleanup(move || {
        handle.with_value(|it| it.map(|it| it.clear()));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(before: Option<usize>, search: &str, path: &str) -> Option<usize> {
        step_on_page(before, search, PageRoute::parse(path, "").as_ref())
    }

    #[test]
    fn only_an_address_starts_the_tour() {
        let study = "/studies/demo";
        assert_eq!(step(None, "", study), None);
        assert_eq!(step(None, "?tour=2", study), Some(1));
        for wrong in ["tour=0", "tour=6", "tour=x", "tour=3"] {
            assert_eq!(step(None, wrong, study), None, "{wrong}");
        }
    }

    #[test]
    fn the_tour_follows_the_reader_and_ends_on_other_pages() {
        let list = "/studies/demo/rankers/ql/probes/tfc1/instances";
        assert_eq!(step(Some(1), "", "/studies/demo"), Some(1));
        assert_eq!(step(Some(1), "outcome=violated", list), Some(2));
        assert_eq!(step(Some(2), "tour=2", "/studies/demo"), Some(1));
        assert_eq!(step(Some(2), "", "/about"), None);
        assert_eq!(step(Some(2), "", "/nowhere"), None);
    }

    #[test]
    fn an_address_keeps_its_other_parameters() {
        assert_eq!(tour_href("demo"), "/studies/demo?tour=1");
        let with = with_step("/studies/demo", "?tour=1&variant=code", Some(1));
        assert_eq!(with, "/studies/demo?variant=code&tour=2");
        let without = with_step("/studies/demo", "tour=2&variant=code", None);
        assert_eq!(without, "/studies/demo?variant=code");
    }
}
