//! The state that the parts of the Curate page share.

use leptos::prelude::*;
use shared::annotation::PersonId;
use shared::api::GetStudyRequest;
use shared::api::annotation::{
    PersonIdWithName, TaskDefinitionResponse, TaskId, UpdateTaskRequest,
};
use shared::study::controls::StudyPageControls;

use crate::api;
use crate::api::mutation::MutatingRequestState;
use crate::location;
use crate::routes::PageRoute;

/// A tab of the page, encoded in the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CurationTab {
    Overview,
    Progress,
    Agreement,
    Adjudication,
    Results,
    Export,
}

impl CurationTab {
    pub(super) const ALL: [CurationTab; 6] = [
        CurationTab::Overview,
        CurationTab::Progress,
        CurationTab::Agreement,
        CurationTab::Adjudication,
        CurationTab::Results,
        CurationTab::Export,
    ];

    /// Returns the display name of the tab, as in `Overview`.
    pub(super) fn display_name(self) -> &'static str {
        match self {
            CurationTab::Overview => "Overview",
            CurationTab::Progress => "Progress",
            CurationTab::Agreement => "Agreement",
            CurationTab::Adjudication => "Adjudication",
            CurationTab::Results => "Results",
            CurationTab::Export => "Export",
        }
    }

    /// Returns the tab's name in the address, which is its display name in lower case.
    pub(super) fn query_parameter_value(self) -> String {
        self.display_name().to_lowercase()
    }

    pub(super) fn from_query_string(search: &str) -> CurationTab {
        let query_string_parameter =
            location::query_string_parameter(search, "tab").unwrap_or_default();
        let found = CurationTab::ALL
            .iter()
            .find(|it| it.query_parameter_value() == query_string_parameter);
        found.copied().unwrap_or(CurationTab::Overview)
    }

    pub(super) fn href(self, task: TaskId) -> String {
        let page = PageRoute::CurateTask { task }.href();
        match self {
            CurationTab::Overview => page,
            part => format!("{page}?tab={}", part.query_parameter_value()),
        }
    }
}

/// The state that the parts of the page share.
#[derive(Clone, Copy)]
pub(super) struct CurationPageState {
    pub(super) task: TaskId,
    pub(super) details: RwSignal<TaskDefinitionResponse>,
    /// The names of the study's rankers, by row; empty until they are loaded.
    pub(super) rankers: RwSignal<Vec<String>>,
    /// The state of the request that changes the task.
    pub(super) action: MutatingRequestState,
}

impl CurationPageState {
    pub(super) fn new(whole: TaskDefinitionResponse) -> CurationPageState {
        let desk = CurationPageState {
            task: whole.summary.task,
            details: RwSignal::new(whole),
            rankers: RwSignal::new(Vec::new()),
            action: MutatingRequestState::new(),
        };
        desk.load_ranker_names();
        desk
    }

    /// Loads the names of the rankers. Until then, and if the study is gone, the pages show row
    /// numbers.
    pub(super) fn load_ranker_names(self) {
        let study = self.details.with_untracked(|it| it.summary.study.clone());
        leptos::task::spawn_local(async move {
            let dials = StudyPageControls::default();
            if let Ok(found) = api::send_and_parse(&GetStudyRequest {
                study,
                controls: dials,
            })
            .await
            {
                let names = found.rows.into_iter().map(|it| it.ranker.label);
                self.rankers.try_set(names.collect());
            }
        });
    }

    /// Returns whether the annotators of the task are simulated, so that nobody can change anything
    /// about its answers.
    pub(super) fn is_simulated(self) -> bool {
        self.details.with_untracked(|it| it.summary.is_simulated)
    }

    /// Changes the task; `done` is called on success.
    pub(super) fn update_task(self, change: UpdateTaskRequest, done: impl Fn() + 'static) {
        self.action.send_unless_busy(change, move |whole| {
            self.details.set(whole);
            done();
        });
    }
}

/// Returns the name of a person for tables.
pub(super) fn person_display_name(names: &[PersonIdWithName], person: PersonId) -> String {
    let found = names.iter().find(|it| it.person == person);
    found.map_or_else(|| format!("annotator {}", person.0), |it| it.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names_for_people() {
        let words: Vec<String> = CurationTab::ALL
            .iter()
            .map(|it| it.query_parameter_value())
            .collect();
        assert_eq!(words[3], "adjudication");
        let href = CurationTab::Overview.href(TaskId(7));
        assert_eq!(href, "/annotation/tasks/7/curate");
        let href = CurationTab::Results.href(TaskId(7));
        assert_eq!(href, "/annotation/tasks/7/curate?tab=results");
    }

    #[test]
    fn somebody_unknown_has_a_number() {
        let named = PersonIdWithName {
            person: PersonId(2),
            name: "Ada".to_owned(),
            is_simulated: false,
        };
        let names = [named];
        assert_eq!(person_display_name(&names, PersonId(2)), "Ada");
        assert_eq!(person_display_name(&names, PersonId(3)), "annotator 3");
    }
}
