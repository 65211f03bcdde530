//! The tabs of a study's page, each with its own address.

use std::sync::Arc;

use leptos::prelude::*;
use shared::api::worker::LOCAL_STUDY;
use shared::study::controls::StudyPageControls;
use shared::study::overview::StudyOverview;

use super::address::controls_parameters;
use crate::routes::PageRoute;

/// A tab of a study's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StudyTab {
    Axioms,
    BehavioralTests,
    HumanJudgments,
    Figures,
    Reproducibility,
}

impl StudyTab {
    const ALL: [StudyTab; 5] = [
        StudyTab::Axioms,
        StudyTab::BehavioralTests,
        StudyTab::HumanJudgments,
        StudyTab::Figures,
        StudyTab::Reproducibility,
    ];

    /// Returns the tab that a page is, and the name of the study; none for other pages.
    pub(crate) fn of_page(page: &PageRoute) -> Option<(StudyTab, &str)> {
        match page {
            PageRoute::Study { study } => Some((StudyTab::Axioms, study)),
            PageRoute::BehavioralTests { study } => Some((StudyTab::BehavioralTests, study)),
            PageRoute::HumanJudgments { study } => Some((StudyTab::HumanJudgments, study)),
            PageRoute::Figures { study } => Some((StudyTab::Figures, study)),
            PageRoute::Reproducibility { study } => Some((StudyTab::Reproducibility, study)),
            _ => None,
        }
    }

    /// Returns the page of this tab.
    pub(super) fn page(self, study: String) -> PageRoute {
        match self {
            StudyTab::Axioms => PageRoute::Study { study },
            StudyTab::BehavioralTests => PageRoute::BehavioralTests { study },
            StudyTab::HumanJudgments => PageRoute::HumanJudgments { study },
            StudyTab::Figures => PageRoute::Figures { study },
            StudyTab::Reproducibility => PageRoute::Reproducibility { study },
        }
    }

    /// Returns the name of the tab.
    pub(super) fn name(self) -> &'static str {
        match self {
            StudyTab::Axioms => "Axioms",
            StudyTab::BehavioralTests => "Behavioral tests",
            StudyTab::HumanJudgments => "Human judgments",
            StudyTab::Figures => "Figures",
            StudyTab::Reproducibility => "Reproducibility",
        }
    }

    /// Returns the tab that a study shows at the address of this one: its behavioral tests in the
    /// place of axioms that it does not have.
    pub(super) fn shown_for(self, overview: &StudyOverview) -> StudyTab {
        match self {
            StudyTab::Axioms if !self.has_content(overview) => StudyTab::BehavioralTests,
            tab => tab,
        }
    }

    fn has_content(self, overview: &StudyOverview) -> bool {
        match self {
            StudyTab::Axioms | StudyTab::Figures => {
                !overview.columns.is_empty() || overview.n_behavioral_tests == 0
            }
            StudyTab::BehavioralTests => overview.n_behavioral_tests > 0,
            // Annotation tasks are on a server.
            StudyTab::HumanJudgments => overview.name != LOCAL_STUDY,
            StudyTab::Reproducibility => true,
        }
    }
}

/// Renders the links to the tabs of a study that have content.
#[component]
pub(super) fn StudyTabs(
    /// An overview of the study.
    frame: Arc<StudyOverview>,
    /// The controls, which the tabs share.
    controls: Memo<StudyPageControls>,
    /// The tab that is shown.
    shown: Memo<StudyTab>,
) -> impl IntoView {
    let tabs = StudyTab::ALL
        .into_iter()
        .filter(|it| it.has_content(&frame));
    let links = tabs.map(|tab| {
        let page = tab.page(frame.name.clone());
        let href = move || page.href_with(controls.with(controls_parameters));
        let current = move || (shown.get() == tab).then_some("page");
        view! { <a class="btn bare" href=href aria-current=current>{tab.name()}</a> }
    });
    let links = links.collect_view();
    view! { <nav class="parts" aria-label="Study">{links}</nav> }
}
