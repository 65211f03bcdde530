//! The page of one study: how often each ranker satisfies each axiom.

pub(crate) mod address;
mod panel;
mod header;
mod cite;
mod stability_check;
mod export;
mod findings;
mod restore_texts;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod behavioral_tests;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod human_judgments;

use std::sync::Arc;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map, use_url};
use shared::api::GetStudyRequest;
use shared::api::annotation::ListStudyHumanJudgmentsRequest;
use shared::api::people::{AccessRole, GetSessionRequest};
use shared::api::worker::LOCAL_STUDY;
use shared::plot::{self, FigureTheme};
use shared::report;
use shared::study::controls::StudyPageControls;
use shared::study::findings::find_most_instructive_result;
use shared::study::overview::StudyOverview;
use shared::verdict::VerdictOutcome;

use crate::api;
use crate::bundle_loader::LazyBundlePage;
use crate::debounce::DebounceTimer;
use crate::keyboard::{self, KeyPressOutcome};
use crate::routes::PageRoute;
use crate::widgets::controls::{
    AllowedControlValues, DebouncedStudyControls, QuerySplitSelect, StudyControlBar,
};
use crate::widgets::download;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::export_buttons::FigureExportButtons;
use crate::widgets::heatmap::{HeatMap, HeatMapPlaceholder, HeatMapPosition, RankerOrRelevanceRow};
use crate::widgets::table::ReportTableView;
use address::{CellAddress, FigureDisplay, InstanceListView, StudyView};
use findings::{LargestFindingsList, finding_position};
use header::{StudyDescription, StudyHeader};
use panel::CellPanel;
use restore_texts::RestoreTextsFromFiles;
use stability_check::StabilityCheckSummary;

pub(crate) use panel::{
    describe_documents_with_grades, format_margin, margin_definition, margin_digits,
};

/// Renders the Study page, which shows how often each ranker satisfies each axiom and its results
/// on the behavioral tests.
#[component]
pub(crate) fn StudyPage() -> impl IntoView {
    let url = use_url();
    let query = use_query_map();
    let study = Memo::new(move |_| {
        let page = PageRoute::parse(url.read().path());
        let study = page.as_ref().and_then(PageRoute::study_page_study);
        study.unwrap_or_default().to_owned()
    });
    let view = Memo::new(move |_| StudyView::from_address(&|key| query.read().get(key)));
    let dials = Memo::new(move |_| view.get().controls);
    let look = LocalResource::new(move || {
        let request = GetStudyRequest {
            study: study.get(),
            controls: dials.get(),
        };
        async move {
            let answer = api::send_and_parse(&request).await.map(Arc::new);
            (request, answer)
        }
    });
    let phase = Memo::new(move |_| match look.get() {
        None => PageLoadState::Waiting,
        // The study has changed, and the reply is still that of the previous one.
        Some((request, _)) if request.study != study.get() => PageLoadState::Waiting,
        Some((_, Err(error))) => PageLoadState::Failed(error),
        Some((_, Ok(overview))) => PageLoadState::Shown(OverviewFrame(overview)),
    });
    let latest = Memo::new(
        move |before: Option<&Option<Arc<StudyOverview>>>| match look.get() {
            Some((_, Ok(overview))) => Some(overview),
            Some((_, Err(_))) | None => before.cloned().flatten(),
        },
    );
    let busy = Memo::new(move |_| look.get().is_none_or(|it| it.0.controls != dials.get()));
    move || match phase.get() {
        PageLoadState::Waiting => view! { <StudyPlaceholder/> }.into_any(),
        PageLoadState::Failed(error) => {
            let retry = Callback::new(move |()| look.refetch());
            let usual = (dials.get_untracked() != StudyPageControls::default()).then(|| {
                let href = PageRoute::Study {
                    study: study.get_untracked(),
                }
                .href();
                view! {
                    <p class="note"><a href=href>"Open the study with its default settings"</a></p>
                }
            });
            view! {
                <Title text="Study"/>
                <Crumbs title=study.get_untracked()/>
                <h1>"The study cannot be shown"</h1>
                <LoadErrorMessage error retry/>
                {usual}
            }
            .into_any()
        }
        PageLoadState::Shown(OverviewFrame(frame)) => {
            let first = frame.clone();
            let overview = Memo::new(move |_| latest.get().unwrap_or_else(|| first.clone()));
            let study = study.get_untracked();
            let again = Callback::new(move |()| look.refetch());
            view! { <StudyContent study frame overview view busy again/> }.into_any()
        }
    }
}

/// The state of the page.
#[derive(Clone, PartialEq)]
enum PageLoadState {
    Waiting,
    Failed(api::RequestError),
    Shown(OverviewFrame),
}

/// An overview that is compared by its rows and columns only, so that the page is rendered once for
/// all values of its controls.
#[derive(Clone)]
struct OverviewFrame(Arc<StudyOverview>);

impl PartialEq for OverviewFrame {
    fn eq(&self, other: &OverviewFrame) -> bool {
        let rankers = |it: &OverviewFrame| {
            let rows = it.0.rows.iter().map(|it| it.ranker.fingerprint.clone());
            rows.collect::<Vec<String>>()
        };
        let (a, b) = (&self.0, &other.0);
        let about = |it: &StudyOverview| {
            (
                it.instances_hash.clone(),
                it.title.clone(),
                it.has_withheld_texts,
                it.n_behavioral_tests,
            )
        };
        a.name == b.name
            && about(a) == about(b)
            && a.columns
                .iter()
                .map(|it| it.probe)
                .eq(b.columns.iter().map(|it| it.probe))
            && rankers(self) == rankers(other)
    }
}

#[component]
fn StudyContent(
    study: String,
    frame: Arc<StudyOverview>,
    overview: Memo<Arc<StudyOverview>>,
    view: Memo<StudyView>,
    busy: Memo<bool>,
    /// Fetches the study again.
    again: Callback<()>,
) -> impl IntoView {
    let navigate = use_navigate();
    let withheld = frame.has_withheld_texts.then(|| study.clone());
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
    let title = frame.title.clone();
    let told = study.clone();
    let no_axioms = frame.columns.is_empty();
    let behaviours = (frame.n_behavioral_tests > 0).then(|| {
        let path = PageRoute::BehavioralTests {
            study: study.clone(),
        };
        view! {
            <div class="behaving">
                <LazyBundlePage path=path.href() until="Loading the behavioral tests"/>
            </div>
        }
    });
    let said = PageRoute::HumanJudgments {
        study: study.clone(),
    };
    let is_said = RwSignal::new(false);
    let of = study.clone();
    leptos::task::spawn_local(async move {
        let found = has_human_judgments(of).await;
        // The user may be on another page by now.
        is_said.try_set(found);
    });
    let bar = match no_axioms {
        false => view! { <StudyControlBar reach turned/> }.into_any(),
        true => view! { <SplitControl reach turned/> }.into_any(),
    };
    let body = match selected.get_untracked() {
        None if no_axioms => ().into_any(),
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
                        <ResultFigure frame overview spot focus href busy shape turn/>
                    </div>
                    <CellPanel study overview spot dials/>
                </div>
            }
            .into_any()
        }
    };
    let own_copy = withheld.map(|study| view! { <RestoreTextsFromFiles study done=again/> });
    view! {
        <Title text=title.clone()/>
        <Crumbs title/>
        <StudyHeader overview/>
        {own_copy}
        {bar}
        {body}
        {(!no_axioms).then(|| view! { <LargestFindingsList study=told overview view/> })}
        <StudyDescription overview/>
        <Show when=move || is_said.get()>
            <div class="said-here">
                <LazyBundlePage path=said.href() until=""/>
            </div>
        </Show>
        {behaviours}
        <StabilityCheckSummary overview/>
    }
}

/// Returns whether the human-judgments section has something to show, or the user could create a
/// task. The section loads its data itself, since the first page has to stay small.
async fn has_human_judgments(study: String) -> bool {
    if study == LOCAL_STUDY || !matches!(api::fetch_server_info().await, Ok(Some(_))) {
        return false;
    }
    let said = api::send_without_parsing(&ListStudyHumanJudgmentsRequest { study }).await;
    // An error counts as true, since the section shows the error.
    if said.map_or(true, |it| it.trim() != "[]") {
        return true;
    }
    let who = api::send_and_parse(&GetSessionRequest {}).await;
    who.is_ok_and(|it| it.role >= AccessRole::Curator)
}

/// Renders the split, the only control that remains if a study has no axiom.
#[component]
fn SplitControl(reach: AllowedControlValues, turned: DebouncedStudyControls) -> impl IntoView {
    let chosen = Signal::derive(move || turned.controls.get().split);
    let turn = Callback::new(move |split| turned.update_now(|it| it.split = split));
    (!reach.splits.is_empty()).then(|| {
        view! {
            <div class="section bar" role="group" aria-label="Split">
                <QuerySplitSelect splits=reach.splits chosen turn/>
            </div>
        }
    })
}

/// Returns the cell of the address if the study has it, or else the most instructive one, or else
/// the first.
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

/// Renders the breadcrumb of the page.
#[component]
fn Crumbs(
    /// The title of the study.
    #[prop(into)]
    title: String,
) -> impl IntoView {
    view! {
        <nav class="crumbs study-crumbs" aria-label="Breadcrumb">
            <a href=PageRoute::Studies.href()>"Studies"</a>
            <span>{title}</span>
        </nav>
    }
}

/// Renders a placeholder that reserves the space of the content.
#[component]
fn StudyPlaceholder() -> impl IntoView {
    view! {
        <Title text="Study"/>
        <Crumbs title="…"/>
        <div class="head waiting">
            <div>
                <h1>"…"</h1>
                <p class="facts" role="status">"Computing"</p>
            </div>
        </div>
        <div class="section bar dials waiting" aria-hidden="true"></div>
        <div class="study">
            <div>
                <HeatMapPlaceholder/>
            </div>
            <aside class="panel waiting" aria-hidden="true"></aside>
        </div>
        <section class="findings waiting" aria-hidden="true"></section>
    }
}
