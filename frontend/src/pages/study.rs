//! One study: how often each ranker orders texts as each axiom says.

pub(crate) mod address;
mod panel;
mod head;
mod cite;
mod certificates;
mod export;
mod findings;
mod own_copy;
#[cfg(feature = "lab")]
pub(crate) mod behaviours;
#[cfg(feature = "lab")]
pub(crate) mod said;

use std::sync::Arc;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map, use_url};
use shared::api::Look;
use shared::api::people::{Me, Role};
use shared::api::review::Results;
use shared::api::worker::LOCAL;
use shared::plot::{self, Theme};
use shared::report;
use shared::study::dials::Dials;
use shared::study::overview::Overview;
use shared::verdict::Outcome;

use crate::apart::Part;
use crate::api;
use crate::keys::{self, Press};
use crate::later::Later;
use crate::page::Page;
use crate::widgets::dials::{DialBar, Reach, Splits, Turned};
use crate::widgets::download;
use crate::widgets::error::Failure;
use crate::widgets::heatmap::{HeatMap, Spot, WaitingMap, Who};
use crate::widgets::table::DataTable;
use crate::widgets::takes::Takes;
use address::{ListView, Shape, StudyView};
use certificates::Certificates;
use findings::Findings;
use head::Head;
use own_copy::OwnCopy;
use panel::CellPanel;

pub(crate) use panel::{margin, margin_digits, margin_label, texts_said};

/// The page.
#[component]
pub(crate) fn Study() -> impl IntoView {
    let url = use_url();
    let query = use_query_map();
    let study = Memo::new(move |_| match Page::parse(url.read().path()) {
        Some(Page::Study { study }) => study,
        _ => String::new(),
    });
    let view = Memo::new(move |_| StudyView::read(&|key| query.read().get(key)));
    let dials = Memo::new(move |_| view.get().dials);
    let look = LocalResource::new(move || {
        let request = Look {
            study: study.get(),
            dials: dials.get(),
        };
        async move {
            let answer = api::call(&request).await.map(Arc::new);
            (request, answer)
        }
    });
    let phase = Memo::new(move |_| match look.get() {
        None => Phase::Waiting,
        // The name has changed, and the answer is still that of the other study.
        Some((request, _)) if request.study != study.get() => Phase::Waiting,
        Some((_, Err(error))) => Phase::Failed(error),
        Some((_, Ok(overview))) => Phase::Shown(Frame(overview)),
    });
    let latest = Memo::new(
        move |before: Option<&Option<Arc<Overview>>>| match look.get() {
            Some((_, Ok(overview))) => Some(overview),
            Some((_, Err(_))) | None => before.cloned().flatten(),
        },
    );
    let busy = Memo::new(move |_| look.get().is_none_or(|it| it.0.dials != dials.get()));
    move || match phase.get() {
        Phase::Waiting => view! { <Waiting/> }.into_any(),
        Phase::Failed(error) => {
            let retry = Callback::new(move |()| look.refetch());
            let usual = (dials.get_untracked() != Dials::default()).then(|| {
                let href = Page::Study {
                    study: study.get_untracked(),
                }
                .href();
                view! {
                    <p class="note"><a href=href>"Open the study with its own settings"</a></p>
                }
            });
            view! {
                <Title text="Study"/>
                <Crumbs title=study.get_untracked()/>
                <h1>"The study cannot be shown"</h1>
                <Failure error retry/>
                {usual}
            }
            .into_any()
        }
        Phase::Shown(Frame(frame)) => {
            let first = frame.clone();
            let overview = Memo::new(move |_| latest.get().unwrap_or_else(|| first.clone()));
            let study = study.get_untracked();
            let again = Callback::new(move |()| look.refetch());
            view! { <Loaded study frame overview view busy again/> }.into_any()
        }
    }
}

/// Where the page stands.
#[derive(Clone, PartialEq)]
enum Phase {
    Waiting,
    Failed(api::Error),
    Shown(Frame),
}

/// An overview by its rows and columns: the page is built once for all states of its dials.
#[derive(Clone)]
struct Frame(Arc<Overview>);

impl PartialEq for Frame {
    fn eq(&self, other: &Frame) -> bool {
        let rankers = |it: &Frame| {
            let rows = it.0.rankers.iter().map(|it| it.ranker.fingerprint.clone());
            rows.collect::<Vec<String>>()
        };
        let (a, b) = (&self.0, &other.0);
        let about = |it: &Overview| {
            (
                it.hash.clone(),
                it.title.clone(),
                it.withheld,
                it.n_behaviours,
            )
        };
        a.name == b.name
            && about(a) == about(b)
            && a.probes
                .iter()
                .map(|it| it.probe)
                .eq(b.probes.iter().map(|it| it.probe))
            && rankers(self) == rankers(other)
    }
}

#[component]
fn Loaded(
    study: String,
    frame: Arc<Overview>,
    overview: Memo<Arc<Overview>>,
    view: Memo<StudyView>,
    busy: Memo<bool>,
    /// Asks for the study again.
    again: Callback<()>,
) -> impl IntoView {
    let navigate = use_navigate();
    let withheld = frame.withheld.then(|| study.clone());
    let name = StoredValue::new(study.clone());
    let go = Callback::new(move |view: StudyView| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&name.with_value(|it| view.href(it)), options);
    });
    let dials = Memo::new(move |_| view.get().dials);
    let settle = Callback::new(move |dials: Dials| {
        go.run(StudyView {
            dials,
            ..view.get_untracked()
        });
    });
    let turned = Turned::new(dials.into(), settle);
    let reach = Reach::of(&frame);
    let first = frame.clone();
    let selected = Memo::new(move |_| select(&first, view.get().cell));
    // The panel follows a focus that has rested for a moment.
    let rest = Later::after_ms(150);
    let focus = Callback::new(move |spot: Spot| {
        rest.run(move || {
            let now = view.get_untracked();
            if now.cell != Some(spot) {
                go.run(StudyView {
                    cell: Some(spot),
                    ..now
                });
            }
        });
    });
    let way = move |spot: Spot, outcome: Option<Outcome>| match (selected.get(), spot.who) {
        (None, _) | (_, Who::Relevance) => None,
        (Some(_), Who::Ranker(row)) => {
            let list = ListView {
                dials: dials.get(),
                outcome,
                ..ListView::default()
            };
            Some(name.with_value(|it| list.href(it, spot.probe, row)))
        }
    };
    let href = Callback::new(move |spot: Spot| way(spot, None));
    let open = use_navigate();
    let for_keys = reach.clone();
    keys::on_key(move |key| {
        let now = turned.dials.get_untracked();
        match key {
            "[" => turned.soon(for_keys.by(&now, -1)),
            "]" => turned.soon(for_keys.by(&now, 1)),
            "m" => turned.at_once(for_keys.next_mode(&now)),
            "v" => {
                let spot = untrack(move || selected.get());
                let Some(href) = spot.and_then(|it| untrack(|| way(it, Some(Outcome::Violated))))
                else {
                    return Press::Passed;
                };
                open(&href, NavigateOptions::default());
            }
            _ => return Press::Passed,
        }
        Press::Taken
    });
    let title = frame.title.clone();
    let told = study.clone();
    let no_axioms = frame.probes.is_empty();
    let behaviours = (frame.n_behaviours > 0).then(|| {
        let path = Page::Behaviours {
            study: study.clone(),
        };
        view! {
            <div class="behaving">
                <Part path=path.href() until="Fetching the behaviours"/>
            </div>
        }
    });
    let said = Page::Said {
        study: study.clone(),
    };
    let is_said = RwSignal::new(false);
    let of = study.clone();
    leptos::task::spawn_local(async move {
        let found = has_said(of).await;
        // The reader may be on another page by now.
        is_said.try_set(found);
    });
    let bar = match no_axioms {
        false => view! { <DialBar reach turned/> }.into_any(),
        true => view! { <SplitBar reach turned/> }.into_any(),
    };
    let body = match selected.get_untracked() {
        None if no_axioms => ().into_any(),
        None => view! {
            <p class="ahead">
                "No ranker has scored this study yet. Score it on a terminal with "
                <code>"axioscope study resume"</code> ", or in the Workbench."
            </p>
        }
        .into_any(),
        Some(fallback) => {
            let spot = Signal::derive(move || selected.get().unwrap_or(fallback));
            let shape = Signal::derive(move || view.get().shape);
            let turn = Callback::new(move |()| {
                let now = view.get_untracked();
                let shape = match now.shape {
                    Shape::Map => Shape::Table,
                    Shape::Table => Shape::Map,
                };
                go.run(StudyView { shape, ..now });
            });
            view! {
                <div class="study">
                    <div>
                        <Figure frame overview spot focus href busy shape turn/>
                    </div>
                    <CellPanel study overview spot dials/>
                </div>
            }
            .into_any()
        }
    };
    let own_copy = withheld.map(|study| view! { <OwnCopy study done=again/> });
    view! {
        <Title text=title.clone()/>
        <Crumbs title/>
        <Head overview/>
        {own_copy}
        {(!no_axioms).then(|| view! { <Findings study=told overview view/> })}
        {bar}
        {body}
        <Show when=move || is_said.get()>
            <div class="said-here">
                <Part path=said.href() until=""/>
            </div>
        </Show>
        {behaviours}
        <Certificates overview/>
    }
}

/// Whether the section of what people say has something to show, or somebody who can change that.
/// What it is, the section reads itself: the first page is small.
async fn has_said(study: String) -> bool {
    if study == LOCAL || !matches!(api::server().await, Ok(Some(_))) {
        return false;
    }
    let said = api::call_text(&Results { study }).await;
    // Why there is no answer, the section says as well.
    if said.map_or(true, |it| it.trim() != "[]") {
        return true;
    }
    let who = api::call(&Me {}).await;
    who.is_ok_and(|it| it.role >= Role::Curator)
}

/// The dial that is left where a study has no axiom.
#[component]
fn SplitBar(reach: Reach, turned: Turned) -> impl IntoView {
    let chosen = Signal::derive(move || turned.dials.get().split);
    let turn = Callback::new(move |split| turned.change(|it| it.split = split));
    (!reach.splits.is_empty()).then(|| {
        view! {
            <div class="section bar" role="group" aria-label="Which samples are counted">
                <Splits splits=reach.splits chosen turn/>
            </div>
        }
    })
}

/// The cell of the address if the study has it, or else the first.
fn select(overview: &Overview, wanted: Option<Spot>) -> Option<Spot> {
    let known = |it: &Spot| {
        let row = match it.who {
            Who::Ranker(row) => row < overview.rankers.len(),
            Who::Relevance => overview.probes.iter().any(|it| it.relevance.is_some()),
        };
        row && it.column(overview).is_some()
    };
    let first = overview.probes.first().map(|it| Spot {
        who: Who::Ranker(0),
        probe: it.probe,
    });
    wanted.filter(known).or(first.filter(known))
}

/// The map, or its table in the same place.
#[component]
fn Figure(
    frame: Arc<Overview>,
    overview: Memo<Arc<Overview>>,
    spot: Signal<Spot>,
    focus: Callback<Spot>,
    href: Callback<Spot, Option<String>>,
    busy: Memo<bool>,
    shape: Signal<Shape>,
    turn: Callback<()>,
) -> impl IntoView {
    let as_table = Memo::new(move |_| shape.get() == Shape::Table);
    let svg = Callback::new(move |()| {
        let overview = overview.get_untracked();
        let text = plot::to_svg(&plot::heatmap(&overview), Theme::Light);
        download::save(&format!("{}.svg", overview.name), "image/svg+xml", &text);
    });
    let csv = Callback::new(move |()| {
        let overview = overview.get_untracked();
        let tables = report::of_overview(&overview);
        if let Some(cells) = tables.iter().find(|it| it.name == "cells") {
            let name = format!("{}-cells.csv", overview.name);
            download::save(&name, "text/csv", &report::to_csv(cells));
        }
    });
    let body = move || match as_table.get() {
        true => {
            let table = move || {
                let mut tables = report::of_overview(&overview.get()).into_iter();
                tables.next().map(|mut table| {
                    // What was measured and how stands in the head of the page.
                    table.notes.clear();
                    view! { <DataTable table/> }
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
                    <strong>"How often each ranker orders texts as the axiom says."</strong>
                    " Blue follows it, rust goes against it, grey is a coin toss. Select a cell;
                    select it again for its instances."
                </p>
                <Takes of="heat map" table=as_table turn svg csv/>
            </figcaption>
            {body}
        </figure>
    }
}

/// Where the page is.
#[component]
fn Crumbs(
    /// Of the study.
    #[prop(into)]
    title: String,
) -> impl IntoView {
    view! {
        <nav class="crumbs" aria-label="You are here">
            <a href=Page::Studies.href()>"Studies"</a>
            <span>{title}</span>
        </nav>
    }
}

/// The page before its numbers: everything has its room.
#[component]
fn Waiting() -> impl IntoView {
    view! {
        <Title text="Study"/>
        <Crumbs title="…"/>
        <div class="head waiting">
            <div>
                <h1>"…"</h1>
                <p class="facts" role="status">"Counting"</p>
            </div>
        </div>
        <section class="findings waiting" aria-hidden="true"></section>
        <div class="section bar dials waiting" aria-hidden="true"></div>
        <div class="study">
            <div>
                <WaitingMap/>
            </div>
            <aside class="panel waiting" aria-hidden="true"></aside>
        </div>
    }
}
