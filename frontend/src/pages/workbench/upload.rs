//! Uploads the local study to the server, for operators.

use leptos::prelude::*;
use shared::api::worker::{LOCAL_STUDY, LocalStudySummary};
use shared::error::Error;
use shared::score::slug::slugify;
use shared::study::overview::StudySummary;
use shared::study::validate_study_name;

use super::state::WorkbenchState;
use crate::api::transport::upload::{StudyUpload, StudyUploadOptions};
use crate::api::{self, RequestError};
use crate::pages::study::check_study_title;
use crate::routes::PageRoute;
use crate::widgets::error_message::{LoadErrorMessage, failure_view};
use crate::widgets::form::{
    FieldErrors, FormFieldError, FormFieldId, FormTextField, FormValuesAndErrors, TextField,
    TextInputBinding,
};
use crate::widgets::progress::ProgressBarView;
use crate::widgets::section::Section;

/// The error type of a name that another study has.
const NAME_TAKEN: &str = "conflict";

/// The maximum number of characters of a suggested name.
const MAX_SUGGESTED_CHARS: usize = 40;

/// Renders the section that uploads the local study. Visitors, static hosts and a Workbench without
/// a study have none.
#[component]
pub(super) fn UploadStudySection(bench: WorkbenchState) -> impl IntoView {
    let is_operator = api::fetch_whether_operator();
    move || {
        let study = bench.study.get().filter(|_| is_operator.get())?;
        Some(view! { <UploadStudyForm study/> })
    }
}

/// The state of the upload.
#[derive(Clone, PartialEq)]
enum UploadState {
    /// Nothing is being sent.
    Idle,
    /// The study is being sent, or stored once everything has been sent.
    Sending,
    /// The upload was canceled.
    Canceled,
    /// The server has stored the study.
    Stored(StudySummary),
    /// The server has not stored the study. Has the options that were sent.
    Failed(RequestError, StudyUploadOptions),
}

/// The title and the name as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UploadFields {
    title: String,
    /// `None` until it is typed; it follows the title until then.
    name: Option<String>,
}

/// A field of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UploadField {
    Title,
    Name,
}

impl FormFieldId for UploadField {
    fn id(self) -> String {
        match self {
            UploadField::Title => "wrong-upload-title".to_owned(),
            UploadField::Name => "wrong-upload-name".to_owned(),
        }
    }
}

impl UploadFields {
    /// Returns the name as typed, or the one that is made from the title.
    fn name(&self) -> String {
        let suggested = || {
            let slug = slugify(&self.title);
            let end = slug.len().min(MAX_SUGGESTED_CHARS);
            slug[..end].trim_end_matches('-').to_owned()
        };
        self.name.clone().unwrap_or_else(suggested)
    }

    /// Returns what the server is told, or the errors of the fields.
    fn options(&self) -> Result<StudyUploadOptions, Vec<FormFieldError<UploadField>>> {
        let mut wrong = FieldErrors(Vec::new());
        let title = wrong.collect(UploadField::Title, check_study_title(&self.title));
        let name = self.name().trim().to_owned();
        let checked = match name.as_str() {
            LOCAL_STUDY => Err("this is the name of the study in each browser".to_owned()),
            name => validate_study_name(name).map_err(Error::message_without_field),
        };
        wrong.collect(UploadField::Name, checked);
        match title {
            Some(title) if wrong.0.is_empty() => Ok(StudyUploadOptions {
                name,
                title,
                replace: false,
            }),
            _ => Err(wrong.0),
        }
    }
}

/// Renders the form, and below it the progress and the result of the upload.
#[component]
fn UploadStudyForm(study: LocalStudySummary) -> impl IntoView {
    let values = RwSignal::new(UploadFields {
        title: study.title,
        name: None,
    });
    let errors = Signal::derive(move || values.read().options().err().unwrap_or_default());
    let form = FormValuesAndErrors { values, errors };
    let state = RwSignal::new(UploadState::Idle);
    let sent = RwSignal::new(0.0);
    let upload = StoredValue::new_local(None::<StudyUpload>);
    let begin = move |options: StudyUploadOptions| {
        let request = StudyUpload::new();
        upload.set_value(Some(request.clone()));
        sent.set(0.0);
        state.set(UploadState::Sending);
        leptos::task::spawn_local(async move {
            let note = move |fraction| {
                let _ = sent.try_set(fraction);
            };
            let reply = request.send(&options, note).await;
            // A canceled upload is not an error.
            let is_sending = |it: &UploadState| *it == UploadState::Sending;
            if state.try_with_untracked(is_sending) == Some(true) {
                state.set(match reply {
                    Ok(stored) => UploadState::Stored(stored),
                    Err(error) => UploadState::Failed(error, options),
                });
            }
        });
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if let Ok(options) = values.read_untracked().options() {
            begin(options);
        }
    };
    let cancel = Callback::new(move |()| {
        state.set(UploadState::Canceled);
        upload.with_value(|it| it.iter().for_each(StudyUpload::cancel));
    });
    let name = TextInputBinding {
        value: Signal::derive(move || values.read().name()),
        set: Callback::new(move |typed| values.update(|it| it.name = Some(typed))),
    };
    let mistake = form.input_error(UploadField::Name);
    let is_sending = Memo::new(move |_| state.get() == UploadState::Sending);
    let is_off = move || is_sending.get() || !errors.read().is_empty();
    let result = move || match state.get() {
        UploadState::Idle => ().into_any(),
        UploadState::Sending => view! { <UploadProgress sent cancel/> }.into_any(),
        UploadState::Canceled => {
            view! { <p class="note" role="status">"Canceled. Nothing was stored."</p> }.into_any()
        }
        UploadState::Stored(stored) => view! { <StoredStudyNotice stored/> }.into_any(),
        UploadState::Failed(error, options) if error.is_server_error_of_type(NAME_TAKEN) => {
            let taken = format!(
                "This server has a study named {} already. Choose another name, or replace it.",
                options.name
            );
            let replace = move |_| {
                begin(StudyUploadOptions {
                    replace: true,
                    ..options.clone()
                });
            };
            view! {
                {failure_view(Some(taken))}
                <div class="btns">
                    <button class="btn" type="button" on:click=replace>
                        "Replace the study on the server"
                    </button>
                </div>
            }
            .into_any()
        }
        UploadState::Failed(error, _) => view! { <LoadErrorMessage error/> }.into_any(),
    };
    view! {
        <Section
            id="upload-study"
            name="Upload to this server"
            note="Sends the study with its documents. Visitors do not see it until you publish it."
        >
            <form class="form" on:submit=submit>
                <FormTextField
                    form
                    field=UploadField::Title
                    label="Title"
                    text=|it: &mut UploadFields| &mut it.title
                />
                <TextField label="Name in addresses" text=name mistake/>
                <div class="btns">
                    <button class="btn main" type="submit" disabled=is_off>
                        {move || if is_sending.get() { "Uploading" } else { "Upload study" }}
                    </button>
                </div>
            </form>
            <div class="uploaded">{result}</div>
        </Section>
    }
}

/// Renders how much has been sent, and a button that cancels the upload while it can be.
#[component]
fn UploadProgress(
    /// The fraction that has been sent.
    sent: RwSignal<f64>,
    /// Cancels the upload.
    cancel: Callback<()>,
) -> impl IntoView {
    let is_sent = Memo::new(move |_| sent.get() >= 1.0);
    let words = move || match is_sent.get() {
        true => "Sent. The server is checking and storing the study.",
        false => "Sending the study",
    };
    view! {
        <div class="job">
            <ProgressBarView label="Uploading the study" done=sent/>
            <div class="bar">
                <p role="status">{words}</p>
                <Show when=move || !is_sent.get()>
                    <button class="btn" type="button" on:click=move |_| cancel.run(())>
                        "Cancel"
                    </button>
                </Show>
            </div>
        </div>
    }
}

/// Renders the message that the study is on the server, with the link to it.
#[component]
fn StoredStudyNotice(stored: StudySummary) -> impl IntoView {
    let href = PageRoute::Study {
        study: stored.name.clone(),
    }
    .href();
    view! {
        <p role="status">
            "The server has stored the study. Visitors do not see it until it is published, on its \
             page: "
            <a href=href>{stored.title}</a> "."
        </p>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(title: &str, name: Option<&str>) -> UploadFields {
        UploadFields {
            title: title.to_owned(),
            name: name.map(str::to_owned),
        }
    }

    #[test]
    fn the_name_follows_the_title_until_it_is_typed() {
        assert_eq!(
            typed("Ferries & bridges, 2026", None).name(),
            "ferries-bridges-2026"
        );
        assert_eq!(typed("Ferries", Some("mine")).name(), "mine");
        let long = typed(&"long title ".repeat(10), None);
        assert_eq!(long.name(), "long-title-long-title-long-title-long-ti");
        assert!(long.options().is_ok());
    }

    #[test]
    fn what_the_server_would_refuse_stands_beside_its_field() {
        let fields = |it: UploadFields| {
            let wrong = it.options().err().unwrap_or_default();
            wrong.into_iter().map(|it| it.field).collect::<Vec<_>>()
        };
        assert_eq!(fields(typed("Ferries", None)), []);
        assert_eq!(fields(typed("愛", None)), [UploadField::Name]);
        assert_eq!(fields(typed("Local", None)), [UploadField::Name]);
        assert_eq!(
            fields(typed("", Some("My study"))),
            [UploadField::Title, UploadField::Name]
        );
    }
}
