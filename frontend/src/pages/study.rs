//! The page of one study: a header, and a tab for its axioms, behavioral tests, human judgments,
//! figures and reproducibility.

pub(crate) mod address;
pub(crate) mod tabs;
mod axioms;
mod panel;
mod header;
mod cite;
mod export;
mod findings;
mod manage;
mod reproducibility;
mod restore_texts;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod behavioral_tests;
#[cfg(feature = "lazy-bundle")]
pub(crate) mod human_judgments;

use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_query_map, use_url};
use shared::api::GetStudyRequest;
use shared::api::worker::LOCAL_STUDY;
use shared::study::controls::StudyPageControls;
use shared::study::overview::StudyOverview;

use crate::api;
use crate::bundle_loader::LazyBundlePage;
use crate::first_paint::InOwnTask;
use crate::keyboard;
use crate::page_frame::NotFound;
use crate::routes::PageRoute;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::heatmap::HeatMapPlaceholder;
use address::StudyView;
use axioms::AxiomsTab;
use header::StudyHeader;
use manage::{ManageStudySection, StudyManagement};
use reproducibility::ReproducibilityTab;
use restore_texts::RestoreTextsFromFiles;
use tabs::{StudyTab, StudyTabs};

pub(crate) use manage::check_study_title;
pub(crate) use panel::{ListedDocuments, format_margin, margin_definition, margin_digits};

/// Renders the page of a study, with the tab of the address.
#[component]
pub(crate) fn StudyPage() -> impl IntoView {
    let url = use_url();
    let query = use_query_map();
    let page = Memo::new(move |_| PageRoute::parse(url.read().path(), ""));
    let study = Memo::new(move |_| {
        let page = page.read();
        let tab = page.as_ref().and_then(StudyTab::of_page);
        tab.map_or_else(String::new, |(_, study)| study.to_owned())
    });
    let tab = Memo::new(move |_| {
        let page = page.read();
        match page.as_ref().and_then(StudyTab::of_page) {
            // The behavioral tests were on the same page as the axioms before.
            Some((StudyTab::Axioms, _)) if query.read().get("test").is_some() => {
                StudyTab::BehavioralTests
            }
            tab => tab.map_or(StudyTab::Axioms, |it| it.0),
        }
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
    let management = StudyManagement::for_study(study);
    let busy = Memo::new(move |_| look.get().is_none_or(|it| it.0.controls != dials.get()));
    move || match phase.get() {
        PageLoadState::Waiting => view! { <StudyPlaceholder/> }.into_any(),
        // With other controls, a split or a variant may be unknown.
        PageLoadState::Failed(error)
            if error.is_server_error_of_type("unknown")
                && dials.get_untracked() == StudyPageControls::default()
                && study.get_untracked() != LOCAL_STUDY =>
        {
            view! { <NotFound/> }.into_any()
        }
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
            view! { <StudyContent study tab frame overview view busy management again/> }.into_any()
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
                it.description.clone(),
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
    tab: Memo<StudyTab>,
    frame: Arc<StudyOverview>,
    overview: Memo<Arc<StudyOverview>>,
    view: Memo<StudyView>,
    busy: Memo<bool>,
    management: StudyManagement,
    /// Fetches the study again.
    again: Callback<()>,
) -> impl IntoView {
    let controls = Memo::new(move |_| view.get().controls);
    let about = frame.clone();
    let shown = Memo::new(move |_| tab.get().shown_for(&about));
    let title = frame.title.clone();
    let page_title = {
        let title = title.clone();
        move || match tab.get() {
            StudyTab::Axioms => title.clone(),
            tab => format!("{}, {title}", tab.name()),
        }
    };
    let own_copy = frame.has_withheld_texts.then(|| {
        let study = study.clone();
        view! { <RestoreTextsFromFiles study done=again/> }
    });
    let for_content = frame.clone();
    let content = move || {
        let (study, frame) = (study.clone(), for_content.clone());
        match shown.get() {
            StudyTab::Axioms => view! { <AxiomsTab study frame overview view busy/> }.into_any(),
            StudyTab::Reproducibility => view! { <ReproducibilityTab overview/> }.into_any(),
            lazy @ (StudyTab::BehavioralTests | StudyTab::HumanJudgments | StudyTab::Figures) => {
                let path = lazy.page(study).href();
                view! { <LazyBundlePage path until="Loading"/> }.into_any()
            }
        }
    };
    let is_map_shown = move || shown.get() == StudyTab::Axioms;
    view! {
        <Title text=page_title/>
        <Show when=is_map_shown>
            <a class="skip" href="#heat-map" on:click=focus_heat_map>"Skip to the heat map"</a>
        </Show>
        <Crumbs title/>
        <InOwnTask><StudyHeader overview shown management/></InOwnTask>
        {own_copy}
        <InOwnTask><StudyTabs frame controls shown/></InOwnTask>
        <div class="tab"><InOwnTask>{content}</InOwnTask></div>
        <InOwnTask><ManageStudySection overview state=management again/></InOwnTask>
    }
}

/// Moves the focus to the cell of the heat map that can have it.
fn focus_heat_map(event: MouseEvent) {
    event.prevent_default();
    keyboard::focus_first_match("[role=grid] a.cell[tabindex='0']");
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
