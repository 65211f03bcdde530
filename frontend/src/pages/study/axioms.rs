//! The axioms of a study: how often each ranker satisfies each of them.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use shared::plot::{self, FigureTheme};
use shared::report;
use shared::study::controls::StudyPageControls;
use shared::study::findings::find_most_instructive_result;
use shared::study::overview::StudyOverview;
use shared::verdict::VerdictOutcome;

use super::address::{CellAddress, FigureDisplay, InstanceListView, StudyView};
use super::findings::{LargestFindingsList, finding_position};
use super::header::StudyDescription;
use super::panel::CellPanel;
use crate::debounce::DebounceTimer;
use crate::first_paint::InOwnTask;
use crate::keyboard::{self, KeyPressOutcome};
use crate::widgets::controls::{AllowedControlValues, DebouncedStudyControls, StudyControlBar};
use crate::widgets::download;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::heatmap::{HeatMap, HeatMapPosition, RankerOrRelevanceRow};
use crate::widgets::table::ReportTableView;

/// Renders the axioms of a study: the controls, the heat map with the details of a cell, and the
/// main findings in sentences.
#[component]
pub(super) fn AxiomsTab(
    /// The name of the study.
    study: String,
    /// An overview whose rows and columns are those of the study.
    frame: Arc<StudyOverview>,
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
    /// The view in the address.
    view: Memo<StudyView>,
    /// Whether the overview is that of previous controls.
    busy: Memo<bool>,
) -> impl IntoView {
    let navigate = use_navigate();
    let name = StoredValue::new(study.clone());
    let go = Callback::new(move |view: StudyView| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&name.with_value(|it| view.href(it)), options);
    });
    let dials = Memo::new(move |_| view.get().controls);
    let settle = Callback::new(move |dials: StudyPageControls| {
        go.run(StudyView {
            controls: dials,
            ..view.get_untracked()
        });
    });
    let turned = DebouncedStudyControls::new(dials.into(), settle);
    let reach = AllowedControlValues::from_overview(&frame);
    let first = frame.clone();
    let selected = Memo::new(move |_| {
        let wanted = view.get().cell.and_then(|it| it.position(&first));
        selected_cell(&first, wanted)
    });
    // The panel follows the focus after it has rested for a moment.
    let rest = DebounceTimer::with_delay_ms(150);
    let focus = Callback::new(move |spot: HeatMapPosition| {
        rest.schedule(move || {
            let now = view.get_untracked();
            let cell = CellAddress::new(spot, &overview.read_untracked());
            if now.cell != cell {
                go.run(StudyView { cell, ..now });
            }
        });
    });
    let way = move |spot: HeatMapPosition, outcome: Option<VerdictOutcome>| match (
        selected.get(),
        spot.row,
    ) {
        (None, _) | (_, RankerOrRelevanceRow::Relevance) => None,
        (Some(_), RankerOrRelevanceRow::Ranker(_)) => {
            let cell = CellAddress::new(spot, &overview.read())?;
            let list = InstanceListView {
                dials: dials.get(),
                outcome,
                ..InstanceListView::default()
            };
            Some(name.with_value(|it| list.href(it, cell.probe, &cell.ranker)))
        }
    };
    let href = Callback::new(move |spot: HeatMapPosition| way(spot, None));
    let open = use_navigate();
    let for_keys = reach.clone();
    keyboard::listen_for_key_presses(move |key| {
        let now = turned.controls.get_untracked();
        match key {
            "[" => turned.set_after_delay(for_keys.controls_with_delta_step(&now, -1)),
            "]" => turned.set_after_delay(for_keys.controls_with_delta_step(&now, 1)),
            "m" => turned.set_now(for_keys.controls_with_next_variant(&now)),
            "v" => {
                let spot = untrack(move || selected.get());
                let Some(href) =
                    spot.and_then(|it| untrack(|| way(it, Some(VerdictOutcome::Violated))))
                else {
                    return KeyPressOutcome::Ignored;
                };
                open(&href, NavigateOptions::default());
            }
            _ => return KeyPressOutcome::Ignored,
        }
        KeyPressOutcome::Handled
    });
    let told = study.clone();
    let body = match selected.get_untracked() {
        None => view! {
            <p class="ahead">
                "No ranker has scored this study yet. Score it on the command line with "
                <code>"axioscope study resume"</code> ", or in the Workbench."
            </p>
        }
        .into_any(),
        Some(fallback) => {
            let spot = Signal::derive(move || selected.get().unwrap_or(fallback));
            let shape = Signal::derive(move || view.get().display);
            let turn = Callback::new(move |()| {
                let now = view.get_untracked();
                let shape = match now.display {
                    FigureDisplay::Map => FigureDisplay::Table,
                    FigureDisplay::Table => FigureDisplay::Map,
                };
                go.run(StudyView {
                    display: shape,
                    ..now
                });
            });
            view! {
                <div class="study">
                    <div>
                        <InOwnTask>
                            <ResultFigure frame overview spot focus href busy shape turn/>
                        </InOwnTask>
                    </div>
                    <InOwnTask><CellPanel study overview spot dials/></InOwnTask>
                </div>
            }
            .into_any()
        }
    };
    view! {
        <InOwnTask><StudyControlBar reach turned/></InOwnTask>
        {body}
        <InOwnTask><LargestFindingsList study=told overview view/></InOwnTask>
        <InOwnTask><StudyDescription overview/></InOwnTask>
    }
}

/// Returns the cell of the address if the study has it, or else the most instructive one of the
/// study, or else its first one.
fn selected_cell(
    overview: &StudyOverview,
    wanted: Option<HeatMapPosition>,
) -> Option<HeatMapPosition> {
    let known = |it: &HeatMapPosition| {
        let row = match it.row {
            RankerOrRelevanceRow::Ranker(row) => row < overview.rows.len(),
            RankerOrRelevanceRow::Relevance => {
                overview.columns.iter().any(|it| it.qrels_cell.is_some())
            }
        };
        row && it.column_in_overview(overview).is_some()
    };
    let first = overview.columns.first().map(|it| HeatMapPosition {
        row: RankerOrRelevanceRow::Ranker(0),
        probe: it.probe,
    });
    // The row of relevance has no examples.
    let instructive = || {
        let found = find_most_instructive_result(overview).map(|it| finding_position(&it));
        found.filter(|it| it.row != RankerOrRelevanceRow::Relevance)
    };
    wanted
        .filter(known)
        .or_else(|| instructive().filter(known))
        .or(first.filter(known))
}

/// Renders the heat map, or its table in the same place.
#[component]
fn ResultFigure(
    frame: Arc<StudyOverview>,
    overview: Memo<Arc<StudyOverview>>,
    spot: Signal<HeatMapPosition>,
    focus: Callback<HeatMapPosition>,
    href: Callback<HeatMapPosition, Option<String>>,
    busy: Memo<bool>,
    shape: Signal<FigureDisplay>,
    turn: Callback<()>,
) -> impl IntoView {
    let as_table = Memo::new(move |_| shape.get() == FigureDisplay::Table);
    let svg = Callback::new(move |()| {
        let overview = overview.get_untracked();
        let text = plot::figure_to_svg(
            &plot::draw_study_heatmap_figure(&overview),
            FigureTheme::Light,
        );
        download::offer_text_download(&format!("{}.svg", overview.name), "image/svg+xml", &text);
    });
    let csv = Callback::new(move |()| {
        let overview = overview.get_untracked();
        let tables = report::study_tables(&overview);
        if let Some(cells) = tables.iter().find(|it| it.name == "cells") {
            let name = format!("{}-cells.csv", overview.name);
            download::offer_text_download(&name, "text/csv", &report::table_to_csv(cells));
        }
    });
    let body = move || match as_table.get() {
        true => {
            let table = move || {
                let mut tables = report::study_tables(&overview.get()).into_iter();
                tables.next().map(|mut table| {
                    // These notes are already in the header of the page.
                    table.notes.clear();
                    view! { <ReportTableView table/> }
                })
            };
            view! { <div class="in-place">{table}</div> }.into_any()
        }
        false => {
            let frame = frame.clone();
            view! { <HeatMap frame overview selected=spot focus href busy/> }.into_any()
        }
    };
    view! {
        <figure>
            <figcaption>
                <p>
                    <strong>"How often each ranker agrees with each axiom."</strong>
                    <span class="wide-only">
                        " Blue: agrees with the axiom; rust: contradicts it; gray: chance. Click \
                         a cell; click again to list its instances."
                    </span>
                </p>
                <FigureExportButtons of="heat map" table=as_table turn svg csv/>
            </figcaption>
            {body}
        </figure>
    }
}
