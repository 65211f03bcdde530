//! The legend of the heat map, and its placeholder.

use std::sync::Arc;

use leptos::prelude::*;
use shared::probe::Probe;
use shared::report::format;
use shared::study::overview::StudyOverview;

use crate::widgets::term::{GlossaryTerm, Term};

/// Renders how to read a cell.
#[component]
pub(super) fn HeatMapLegend(
    /// The overview, for the number of tests.
    overview: Signal<Arc<StudyOverview>>,
) -> impl IntoView {
    let steps = (-5..=5).map(|it: i8| view! { <i data-step=it.to_string()></i> });
    let steps = steps.collect_view();
    let n_tests = move || format::format_count(overview.read().n_tests);
    let swapped = move || {
        let is_shown = overview.read().has_swapped_effectiveness();
        is_shown.then(|| {
            view! {
                <span>
                    <small class="swapped">".48"</small>
                    "effectiveness with the text of another query: what does not need the query"
                </span>
            }
        })
    };
    view! {
        <div class="scale" id="map-key">
            <div class="steps" aria-hidden="true">
                {steps} <span>"0 never"</span> <span>".5 chance"</span> <span>"1 always"</span>
            </div>
            <span>
                <IntervalExample line="M38 7h14" center="45" fill="var(--ink)"/>
                <Term of=GlossaryTerm::Interval>"95 % interval"</Term> " over queries"
            </span>
            <span>
                <IntervalExample line="M24 7h20" center="34" fill="var(--paper)"/>
                "not distinguishable from chance (" <Term of=GlossaryTerm::Holm>"Holm"</Term> ", "
                {n_tests} " tests)"
            </span>
            {swapped}
        </div>
    }
}

/// Renders an example of an interval in a cell.
#[component]
fn IntervalExample(
    /// The path of the line from the lower to the upper bound.
    line: &'static str,
    /// The horizontal place of the dot, which marks the fraction.
    center: &'static str,
    /// The color that fills the dot.
    fill: &'static str,
) -> impl IntoView {
    view! {
        <svg viewBox="0 0 60 14" aria-hidden="true">
            <path class="axis" d="M0 7h60M30 3v8"></path>
            <path d=line stroke="var(--ink)" stroke-width="3"></path>
            <circle
                cx=center
                cy="7"
                r="3.5"
                fill=fill
                stroke="var(--ink)"
                stroke-width="1.5"
            ></circle>
        </svg>
    }
}

/// Renders a hatched placeholder with the size of the heat map.
#[component]
pub(crate) fn HeatMapPlaceholder() -> impl IntoView {
    const ROWS: usize = 4;
    let n_columns = Probe::list_minable_paper_axioms(false).len();
    let rows = (0..ROWS).map(|row| {
        let cells = (0..n_columns).map(|column| {
            view! { <span class="cell loading" style=("--c", (column + 2).to_string())></span> }
        });
        let cells = cells.collect_view();
        view! { <div role="row" style=("--r", (row + 3).to_string())>{cells}</div> }
    });
    let rows = rows.collect_view();
    let columns = format!("minmax(124px, 1fr) repeat({n_columns}, var(--w))");
    let turned = format!("0 minmax(58px, 1fr) repeat({ROWS}, var(--w))");
    let turned_rows = format!("96px repeat({n_columns}, 38px)");
    view! {
        <div
            class="map by waiting"
            aria-hidden="true"
            style=("--wide", columns)
            style=("--turned-columns", turned)
            style=("--turned-rows", turned_rows)
        >
            {rows}
        </div>
    }
}
