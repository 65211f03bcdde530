//! What operators change about a study on its page: its visibility, title and description.

use std::sync::Arc;

use leptos::prelude::*;
use shared::api::ListStudiesRequest;
use shared::api::manage_studies::UpdateStudyRequest;
use shared::api::worker::LOCAL_STUDY;
use shared::error::Error;
use shared::study::overview::{StudyOverview, StudySummary};
use shared::user_text::{normalize_study_description, normalize_study_title};

use crate::api;
use crate::api::mutation::MutatingRequestState;
use crate::keyboard;
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::form::{
    FieldErrors, FormFieldError, FormFieldId, FormTextArea, FormTextField, FormValuesAndErrors,
};
use crate::widgets::section::Section;

/// The id of the first button of the section, which keeps the focus when the buttons change.
const FIRST_BUTTON: &str = "study-visibility";

/// The id of the heading of the section.
const MANAGE_SECTION: &str = "manage-study";

/// The state of the section. It outlives the page content, which a new title renders again.
#[derive(Clone, Copy)]
pub(super) struct StudyManagement {
    /// Whether the caller is an operator of the server.
    is_operator: Memo<bool>,
    /// Whether visitors see the study; none until that is known.
    is_published: RwSignal<Option<bool>>,
    activity: RwSignal<ManagementActivity>,
    /// What has been done last.
    notice: RwSignal<Option<&'static str>>,
    request: MutatingRequestState,
}

/// What the operator is doing in the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ManagementActivity {
    Reading,
    ConfirmingWithdrawal,
    EditingTexts,
}

impl StudyManagement {
    /// Creates the state of the section for the study of a page, which can change.
    pub(super) fn for_study(study: Memo<String>) -> StudyManagement {
        let is_operator = api::fetch_whether_operator();
        let state = StudyManagement {
            is_operator,
            is_published: RwSignal::new(None),
            activity: RwSignal::new(ManagementActivity::Reading),
            notice: RwSignal::new(None),
            request: MutatingRequestState::new(),
        };
        Effect::new(move |_| {
            let study = study.get();
            state.is_published.set(None);
            state.activity.set(ManagementActivity::Reading);
            state.notice.set(None);
            state.request.error.set(None);
            if is_operator.get() && study != LOCAL_STUDY {
                state.fetch_visibility(study);
            }
        });
        state
    }

    fn fetch_visibility(self, study: String) {
        leptos::task::spawn_local(async move {
            let listed = api::send_and_parse(&ListStudiesRequest {}).await;
            match listed {
                Ok(listed) => {
                    let found = listed.into_iter().find(|it| it.name == study);
                    let _ = self.is_published.try_set(found.map(|it| it.is_published));
                }
                Err(error) => {
                    let _ = self.request.error.try_set(Some(error));
                }
            }
        });
    }

    fn send(self, request: UpdateStudyRequest, notice: &'static str, done: impl Fn() + 'static) {
        self.notice.set(None);
        self.request
            .send_unless_busy(request, move |now: StudySummary| {
                self.is_published.set(Some(now.is_published));
                self.activity.set(ManagementActivity::Reading);
                self.notice.set(Some(notice));
                done();
            });
    }

    /// Returns whether visitors see the study, if the section is on the page.
    pub(super) fn visibility(self) -> Option<bool> {
        self.is_published.get().filter(|_| self.is_operator.get())
    }

    fn begin(self, activity: ManagementActivity) {
        self.notice.set(None);
        self.request.error.set(None);
        self.activity.set(activity);
    }
}

/// Renders the button that scrolls to the section; nothing for everybody but operators.
#[component]
pub(super) fn ManageStudyButton(
    /// The state of the section.
    state: StudyManagement,
) -> impl IntoView {
    let go = move |_| {
        if let Some(heading) = document().get_element_by_id(MANAGE_SECTION) {
            heading.scroll_into_view();
        }
        keyboard::focus_element_on_next_frame(FIRST_BUTTON);
    };
    view! {
        <Show when=move || state.visibility().is_some()>
            <button class="btn" type="button" on:click=go>"Manage"</button>
        </Show>
    }
}

/// Renders the section for operators; nothing for everybody else.
#[component]
pub(super) fn ManageStudySection(
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
    /// The state of the section.
    state: StudyManagement,
    /// Fetches the study again.
    again: Callback<()>,
) -> impl IntoView {
    if state.notice.get_untracked().is_some() {
        // A new title has rendered the page again.
        keyboard::focus_element_on_next_frame(FIRST_BUTTON);
    }
    view! {
        <Show when=move || state.visibility().is_some()>
            <Section
                id=MANAGE_SECTION
                name="Manage this study"
                class="section manage-study"
                note="Only operators see this section."
            >
                <StudyVisibilityBar overview state/>
                <p class="note" role="status">{move || state.notice.get()}</p>
                <Show when=move || state.activity.get() == ManagementActivity::EditingTexts>
                    <StudyTextForm overview state again/>
                </Show>
                <OptionalErrorMessage error=state.request.error/>
            </Section>
        </Show>
    }
}

/// Renders whether visitors see the study, and the buttons that change it.
#[component]
fn StudyVisibilityBar(overview: Memo<Arc<StudyOverview>>, state: StudyManagement) -> impl IntoView {
    let study = move || overview.read_untracked().name.clone();
    let is_published = Memo::new(move |_| state.is_published.get() == Some(true));
    let set_published = move |is_published: bool| {
        let request = UpdateStudyRequest {
            study: study(),
            is_published: Some(is_published),
            ..UpdateStudyRequest::default()
        };
        let notice = match is_published {
            true => "The study is published.",
            false => "The study is not published.",
        };
        let focus = || keyboard::focus_element_on_next_frame(FIRST_BUTTON);
        state.send(request, notice, focus);
    };
    let begin = move |activity| {
        state.begin(activity);
        keyboard::focus_element_on_next_frame(FIRST_BUTTON);
    };
    let is_busy = move || state.request.is_busy.get();
    let visibility = move || match is_published.get() {
        true => view! {
            <span class="verdict ok">"Published"</span>
            <span class="note">"Visitors see this study."</span>
        }
        .into_any(),
        false => view! {
            <span class="verdict out">"Not published"</span>
            <span class="note">"Visitors do not see this study."</span>
        }
        .into_any(),
    };
    let buttons = move || match (state.activity.get(), is_published.get()) {
        (ManagementActivity::ConfirmingWithdrawal, _) => view! {
            <span>
                "Visitors will no longer find the study, and links to it will stop working. \
                 Withdraw it?"
            </span>
            <button
                id=FIRST_BUTTON
                class="btn main"
                type="button"
                disabled=is_busy
                on:click=move |_| set_published(false)
            >
                "Withdraw the study"
            </button>
            <button
                class="btn"
                type="button"
                on:click=move |_| begin(ManagementActivity::Reading)
            >
                "Keep it published"
            </button>
        }
        .into_any(),
        (ManagementActivity::EditingTexts, _) => ().into_any(),
        (ManagementActivity::Reading, is_published) => {
            let change = move |_| match is_published {
                true => begin(ManagementActivity::ConfirmingWithdrawal),
                false => set_published(true),
            };
            view! {
                <button
                    id=FIRST_BUTTON
                    class="btn"
                    type="button"
                    disabled=is_busy
                    on:click=change
                >
                    {if is_published { "Withdraw" } else { "Publish" }}
                </button>
                <button
                    class="btn"
                    type="button"
                    disabled=is_busy
                    on:click=move |_| state.begin(ManagementActivity::EditingTexts)
                >
                    "Edit title and description"
                </button>
            }
            .into_any()
        }
    };
    view! {
        <div class="bar">
            <p class="btns">{visibility}</p>
            <div class="btns">{buttons}</div>
        </div>
    }
}

/// The title and the description as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StudyTexts {
    title: String,
    description: String,
}

/// A field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StudyTextField {
    Title,
    Description,
}

impl FormFieldId for StudyTextField {
    fn id(self) -> String {
        match self {
            StudyTextField::Title => "wrong-title".to_owned(),
            StudyTextField::Description => "wrong-description".to_owned(),
        }
    }
}

impl StudyTexts {
    /// Returns the texts as the server stores them, or the errors of the fields.
    fn normalized(&self) -> Result<StudyTexts, Vec<FormFieldError<StudyTextField>>> {
        let mut wrong = FieldErrors(Vec::new());
        let title = wrong.collect(StudyTextField::Title, check_study_title(&self.title));
        let description = normalize_study_description(&self.description);
        let description = description.map_err(Error::message_without_field);
        let description = wrong.collect(StudyTextField::Description, description);
        match (title, description) {
            (Some(title), Some(description)) => Ok(StudyTexts { title, description }),
            _ => Err(wrong.0),
        }
    }
}

/// Returns a title as the server stores it, or what to change.
pub(crate) fn check_study_title(title: &str) -> Result<String, String> {
    match title.trim() {
        "" => Err("enter a title".to_owned()),
        title => normalize_study_title(title).map_err(Error::message_without_field),
    }
}

/// Renders the form with the title and the description.
#[component]
fn StudyTextForm(
    overview: Memo<Arc<StudyOverview>>,
    state: StudyManagement,
    again: Callback<()>,
) -> impl IntoView {
    let now = overview.get_untracked();
    let values = RwSignal::new(StudyTexts {
        title: now.title.clone(),
        description: now.description.clone(),
    });
    let errors = Signal::derive(move || values.read().normalized().err().unwrap_or_default());
    let form = FormValuesAndErrors { values, errors };
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Ok(texts) = values.read_untracked().normalized() else {
            return;
        };
        let request = UpdateStudyRequest {
            study: now.name.clone(),
            title: Some(texts.title),
            description: Some(texts.description),
            is_published: None,
        };
        let notice = "Title and description are saved.";
        state.send(request, notice, move || again.run(()));
    };
    let cancel = move |_| {
        state.begin(ManagementActivity::Reading);
        keyboard::focus_element_on_next_frame(FIRST_BUTTON);
    };
    let is_off = move || state.request.is_busy.get() || !errors.read().is_empty();
    view! {
        <form class="study-texts" on:submit=save>
            <FormTextField
                form
                field=StudyTextField::Title
                label="Title"
                text=|it: &mut StudyTexts| &mut it.title
            />
            <FormTextArea
                form
                field=StudyTextField::Description
                label="Description"
                rows=5
                text=|it: &mut StudyTexts| &mut it.description
            />
            <p class="note">
                "Lists, exports and reports show both. Creating the study again with "
                <code>"axioscope study run"</code> " takes those of its study file."
            </p>
            <div class="btns">
                <button class="btn main" type="submit" disabled=is_off>"Save"</button>
                <button class="btn" type="button" on:click=cancel>"Cancel"</button>
            </div>
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_checked_as_the_server_checks_them() {
        let texts = |title: &str, description: &str| StudyTexts {
            title: title.to_owned(),
            description: description.to_owned(),
        };
        let fine = texts(" Rivers ", "Two\nlines ").normalized();
        assert_eq!(fine, Ok(texts("Rivers", "Two\nlines")));
        let wrong = texts("", "\u{202E}").normalized().unwrap_err();
        let fields: Vec<StudyTextField> = wrong.iter().map(|it| it.field).collect();
        assert_eq!(fields, [StudyTextField::Title, StudyTextField::Description]);
        assert_eq!(wrong[0].reason, "enter a title");
    }
}
