//! The state that the parts of the form share.

use leptos::prelude::*;
use shared::api::annotation::{CreateTaskRequest, TaskDefinitionResponse};
use shared::api::{GetBehavioralTestsRequest, GetStudyRequest};
use shared::probe::Probe;
use shared::study::behavioral_tests::BehavioralTestOptions;
use shared::study::controls::{InstanceSubset, StudyPageControls};
use shared::study::overview::{StudyOverview, StudySummary};

use super::draft::{self, NewTaskDraft, NewTaskField, NewTaskFieldError};
use crate::api::mutation::{MutatingRequestState, spawn_unless_busy};
use crate::api::{self, RequestError};
use crate::debounce::DebounceTimer;
use crate::location::{self, PageLocation};
use crate::routes::PageRoute;
use crate::widgets::form::FormValuesAndErrors;

/// The state that the parts of the form share.
#[derive(Clone, Copy)]
pub(super) struct NewTaskForm {
    pub(super) draft: RwSignal<NewTaskDraft>,
    /// The draft with its errors, found by the page or by the server.
    pub(super) fields: FormValuesAndErrors<NewTaskDraft, NewTaskField>,
    /// The errors of the draft as typed.
    pub(super) errors: Memo<Vec<NewTaskFieldError>>,
    /// The error that the server found in a field, until the draft changes.
    pub(super) server_error: RwSignal<Option<NewTaskFieldError>>,
    /// The study to draw from; none until it is loaded.
    pub(super) study: RwSignal<Option<StudyOverview>>,
    /// The behavioral tests of the study.
    pub(super) behavioral_tests: RwSignal<Vec<Probe>>,
    /// The state of the request that creates the task, with errors that belong to no field.
    pub(super) action: MutatingRequestState,
    /// Whether the user has tried to create the task. Before that, an empty field is not an error.
    pub(super) was_submitted: RwSignal<bool>,
}

impl NewTaskForm {
    pub(super) fn new(studies: &[StudySummary]) -> NewTaskForm {
        let wanted = PageLocation::from_context_or_browser().query_parameter("study");
        let draft = draft::restore_or_create_draft(wanted, studies);
        let draft = RwSignal::new(draft);
        let wrong =
            Memo::new(move |_| draft.with(|it| it.to_annotation_task().err().unwrap_or_default()));
        let refused = RwSignal::new(None);
        let tried = RwSignal::new(false);
        let shown = move || {
            let is_shown = |it: &NewTaskFieldError| {
                tried.get() || !draft.with(|draft| draft.is_required_field_empty(it.field))
            };
            let all = wrong.get().into_iter().chain(refused.get());
            all.filter(is_shown).collect()
        };
        let form = NewTaskForm {
            draft,
            fields: FormValuesAndErrors {
                values: draft,
                errors: Signal::derive(shown),
            },
            errors: wrong,
            server_error: refused,
            study: RwSignal::new(None),
            behavioral_tests: RwSignal::new(Vec::new()),
            action: MutatingRequestState::new(),
            was_submitted: tried,
        };
        form.save_draft_on_change();
        form.reload_on_study_change();
        form
    }

    /// Renders a field for a number.
    pub(super) fn number_field(
        self,
        field: NewTaskField,
        label: &'static str,
        text: fn(&mut NewTaskDraft) -> &mut String,
    ) -> impl IntoView {
        self.fields.number_field(field, label, text)
    }

    /// Stores the draft whenever it changes, so that it survives a reload.
    pub(super) fn save_draft_on_change(self) {
        let rest = DebounceTimer::with_delay_ms(300);
        Effect::new(move |before: Option<()>| {
            let draft = self.draft.get();
            if before.is_some() {
                self.server_error.set(None);
            }
            rest.schedule(move || draft::store_draft_in_session_storage(&draft));
        });
    }

    /// Loads the probes and rankers of the study whenever another one is chosen.
    pub(super) fn reload_on_study_change(self) {
        let study = Memo::new(move |_| self.draft.with(|it| it.study.clone()));
        Effect::new(move |_| {
            let study = study.get();
            self.study.set(None);
            self.behavioral_tests.set(Vec::new());
            self.fetch_study(study);
        });
    }

    pub(super) fn fetch_study(self, study: String) {
        leptos::task::spawn_local(async move {
            let look = GetStudyRequest {
                study: study.clone(),
                controls: StudyPageControls::default(),
            };
            let found = api::send_and_parse(&look).await;
            // The user may have chosen another study, or left the page.
            let now = self.draft.try_with_untracked(|it| it.study == study);
            if now != Some(true) {
                return;
            }
            match found {
                Ok(found) => {
                    let has_behaviours = found.n_behavioral_tests > 0;
                    let has_relevant = found.columns.iter().any(|it| it.n_with_relevant > 0);
                    if !has_relevant {
                        self.draft.update(|it| {
                            if it.controls.subset == InstanceSubset::WithRelevant {
                                it.controls.subset = InstanceSubset::All;
                            }
                        });
                    }
                    self.action.error.set(None);
                    self.study.set(Some(found));
                    if has_behaviours {
                        self.fetch_behavioral_tests(study).await;
                    }
                }
                Err(error) => self.action.error.set(Some(error)),
            }
        });
    }

    pub(super) async fn fetch_behavioral_tests(self, study: String) {
        let asking = BehavioralTestOptions::default();
        let found = api::send_and_parse(&GetBehavioralTestsRequest {
            study: study.clone(),
            options: asking,
        })
        .await;
        let now = self.draft.try_with_untracked(|it| it.study == study);
        if now != Some(true) {
            return;
        }
        match found {
            Ok(found) => {
                let mut probes: Vec<Probe> = Vec::new();
                for row in found.rows {
                    if !probes.contains(&row.probe) {
                        probes.push(row.probe);
                    }
                }
                self.behavioral_tests.set(probes);
            }
            Err(error) => self.action.error.set(Some(error)),
        }
    }

    /// Shows an error of the server beside its field, or any other error below the form.
    pub(super) fn show_error(self, error: RequestError) {
        match &error {
            RequestError::Server(problem) => self
                .server_error
                .set(Some(NewTaskFieldError::from_server_error(problem))),
            RequestError::Network(_) | RequestError::File(_) => self.action.error.set(Some(error)),
        }
    }

    pub(super) fn create_task(self) {
        self.was_submitted.set(true);
        let Ok(task) = self.draft.with_untracked(NewTaskDraft::to_annotation_task) else {
            return;
        };
        let made = async move { api::send_and_parse(&CreateTaskRequest { task }).await };
        spawn_unless_busy(self.action.is_busy, made, move |made| match made {
            Ok(TaskDefinitionResponse { summary, .. }) => {
                draft::delete_draft();
                location::replace_browser_address(
                    &PageRoute::CurateTask { task: summary.task }.href(),
                );
            }
            Err(error) => self.show_error(error),
        });
    }
}
