//! The Workbench page: makes a study from the user's files. Nothing is sent to a server until the
//! user asks for it.

mod state;
mod clear;
mod reading;
mod files;
mod form;
mod neural;
mod results;
mod run;
mod demo_files;
mod settings;
mod train;
mod upload;

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use shared::api::worker::{LOCAL_STUDY, WorkerRequest};
use wasm_bindgen::JsValue;
use web_sys::{File, HtmlInputElement};

use crate::api::{RequestError, worker};
use crate::keyboard::{self, KeyPressOutcome};
use crate::old_addresses::{WORKBENCH, with_old_names};
use crate::routes::PageRoute;
use settings::LocalStudyFormValues;
use state::{StudyRunState, StudyScoringJob, WorkbenchState};

/// Renders the Workbench page, which makes a study from local files in the browser.
#[component]
pub(crate) fn WorkbenchPage() -> impl IntoView {
    let query = use_query_map().get_untracked();
    let job = query.get("job").map(|id| StudyScoringJob {
        id,
        study_hash: with_old_names(WORKBENCH, |key| query.get(key))("instances")
            .unwrap_or_default(),
    });
    let bench = WorkbenchState {
        files: state::files_of_this_visit(),
        created_with: RwSignal::new(None),
        settings: RwSignal::new(LocalStudyFormValues::from_query_string(|key| {
            query.get(key)
        })),
        stop_list: RwSignal::new(None),
        vocabulary: RwSignal::new(None),
        run: RwSignal::new(StudyRunState::Idle),
        study: RwSignal::new(None),
        job: RwSignal::new(job),
        cleared: RwSignal::new_local(None),
    };
    write_address(bench);
    restore_local_study(bench);
    keyboard::listen_for_key_presses(move |key| match key {
        "o" => {
            files::open_file_picker();
            KeyPressOutcome::Handled
        }
        "Escape" => bench.cancel_study_computation(),
        _ => KeyPressOutcome::Ignored,
    });
    view! {
        <Title text="Workbench"/>
        <div class="head">
            <div>
                <h1>"Workbench"</h1>
                <p class="note">
                    "Which axioms do BM25 and QL violate on your own collection? Everything \
                     runs in this page; nothing leaves the browser until you send it."
                </p>
            </div>
            <div class="btns">
                <demo_files::LoadDemoFilesButton bench/>
                <label class="btn file">
                    "Open study file"
                    <input
                        type="file"
                        class="unseen"
                        on:change:target=move |it| open_study_file(bench, it)
                    />
                </label>
                <clear::ClearButton bench/>
            </div>
        </div>
        <div class="steps-2">
            <div>
                <files::FilesSection bench/>
            </div>
            <div>
                <run::ComputeStudySection bench/>
                <results::WorkbenchResultsSection bench/>
                <neural::WorkbenchNeuralRankers bench/>
                <upload::UploadStudySection bench/>
            </div>
            <div>
                <form::StudySettingsForm bench/>
            </div>
        </div>
    }
}

/// Writes the settings and the job to the address whenever they change.
fn write_address(bench: WorkbenchState) {
    let navigate = use_navigate();
    Effect::new(move |before: Option<String>| {
        let mut query = bench
            .settings
            .with(LocalStudyFormValues::to_non_default_query_pairs);
        if let Some(StudyScoringJob { id, study_hash: of }) = bench.job.get() {
            query.push(("job", id));
            query.push(("instances", of));
        }
        let address = PageRoute::Workbench.href_with(query);
        if before.is_some_and(|it| it != address) {
            let options = NavigateOptions {
                replace: true,
                scroll: false,
                ..Default::default()
            };
            navigate(&address, options);
        }
        address
    });
}

/// Loads the local study of an earlier visit, if there is one.
fn restore_local_study(bench: WorkbenchState) {
    leptos::task::spawn_local(async move {
        match worker::run_worker_task(WorkerRequest::GetLocalStudy, &JsValue::UNDEFINED).await {
            Ok(answered) => bench.apply_worker_message(answered.message),
            Err(error) => bench.run.set(StudyRunState::Failed(error)),
        }
    });
}

/// Opens a downloaded study as the local study.
fn open_study_file(bench: WorkbenchState, event: Targeted<Event, HtmlInputElement>) {
    let picker = event.target();
    let Some(file) = picker.files().and_then(|it| it.get(0)) else {
        return;
    };
    picker.set_value("");
    leptos::task::spawn_local(async move {
        clear::finish_clearing(bench).await;
        match load_study_file(&file).await {
            Ok(answered) => {
                bench.run.set(StudyRunState::Idle);
                bench.apply_worker_message(answered.message);
            }
            Err(error) => bench.run.set(StudyRunState::Failed(error)),
        }
    });
}

async fn load_study_file(file: &File) -> Result<worker::WorkerReply, RequestError> {
    let text = reading::read_file_text(file).await?;
    let ask = WorkerRequest::LoadStudy {
        study: LOCAL_STUDY.to_owned(),
        file: file.name(),
    };
    worker::run_worker_task(ask, &JsValue::from_str(&text)).await
}
