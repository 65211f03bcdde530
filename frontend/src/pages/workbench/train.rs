//! Word vectors trained on the uploaded documents.

use leptos::prelude::*;
use shared::api::worker::{
    FileKind, StudyInputPart, TrainedVectorsSummary, WorkerPipelineStage, WorkerProgress,
    WorkerRequest, WorkerResponse,
};
use shared::text::Analyzer;
use shared::word_vectors::glove::GloveSettings;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, File};

use super::reading;
use super::state::{CollectionPartPresence, WorkbenchState};
use crate::api::{RequestError, worker};
use crate::number_format;
use crate::widgets::download;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::form::{TextField, TextInputBinding};
use crate::widgets::progress::ProgressBarView;

/// The state of the training.
#[derive(Debug, Clone, PartialEq)]
enum TrainingState {
    Idle,
    /// The number of the worker's task, to cancel it, and the latest progress.
    Running(u64, Option<WorkerProgress>),
    Done(TrainedVectorsSummary, Blob),
    Stopped,
    Failed(RequestError),
}

/// The settings of the training, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TrainingSettings {
    dims: String,
    window: String,
    min_count: String,
    passes: String,
}

impl Default for TrainingSettings {
    fn default() -> TrainingSettings {
        let usual = GloveSettings::default();
        TrainingSettings {
            dims: usual.n_dims.to_string(),
            window: usual.window.to_string(),
            min_count: usual.min_count.to_string(),
            passes: usual.n_epochs.to_string(),
        }
    }
}

impl TrainingSettings {
    /// Returns the parsed settings, or what is wrong with them.
    fn settings(&self) -> Result<GloveSettings, String> {
        let whole = |name: &str, text: &str| {
            let number = text.trim().parse::<u32>().ok().filter(|it| *it > 0);
            number.ok_or_else(|| format!("{name} must be a whole number of at least 1"))
        };
        let settings = GloveSettings {
            n_dims: whole("dimensions", &self.dims)? as usize,
            window: whole("window", &self.window)? as usize,
            min_count: whole("minimum occurrences", &self.min_count)?,
            n_epochs: whole("epochs", &self.passes)?,
            ..GloveSettings::default()
        };
        settings.validate().map_err(|it| it.to_string())?;
        Ok(settings)
    }
}

/// Renders the training form below the list of files, once there are documents.
#[component]
pub(super) fn TrainVectorsForm(bench: WorkbenchState) -> impl IntoView {
    let typed = RwSignal::new(TrainingSettings::default());
    let training = RwSignal::new_local(TrainingState::Idle);
    let has_texts = Memo::new(move |_| {
        bench.part_presence(StudyInputPart::Documents) == CollectionPartPresence::Present
    });
    let field = move |label: &'static str,
                      get: fn(&TrainingSettings) -> String,
                      set: fn(&mut TrainingSettings, String)| {
        let text = TextInputBinding {
            value: Signal::derive(move || typed.with(get)),
            set: Callback::new(move |text| typed.update(|it| set(it, text))),
        };
        view! { <TextField label text inputmode="numeric"/> }
    };
    let wrong = Memo::new(move |_| {
        let settings = typed.with(TrainingSettings::settings).err();
        settings.or_else(|| analyzer(bench).err())
    });
    let stage = Memo::new(move |_| training.with(std::mem::discriminant));
    let body = move || {
        let _ = stage.get();
        match training.get_untracked() {
            TrainingState::Idle => None,
            TrainingState::Running(..) => Some(view! { <TrainingProgress training/> }.into_any()),
            TrainingState::Stopped => {
                Some(view! { <p role="status">"Canceled. No vectors were trained."</p> }.into_any())
            }
            TrainingState::Failed(error) => {
                let retry = Callback::new(move |()| start(bench, typed, training));
                Some(view! { <LoadErrorMessage error retry/> }.into_any())
            }
            TrainingState::Done(trained, blob) => {
                Some(view! { <TrainingResult trained blob/> }.into_any())
            }
        }
    };
    let button = move || {
        let _ = stage.get();
        let running = matches!(training.get_untracked(), TrainingState::Running(..));
        if running {
            let stop = move |_| {
                if let TrainingState::Running(number, _) = training.get_untracked() {
                    worker::cancel_worker_task(number);
                }
            };
            return view! { <button class="btn" type="button" on:click=stop>"Cancel"</button> }
                .into_any();
        }
        view! {
            <button
                class="btn"
                type="button"
                disabled=move || wrong.get().is_some()
                on:click=move |_| start(bench, typed, training)
            >
                "Train"
            </button>
        }
        .into_any()
    };
    view! {
        <Show when=move || has_texts.get()>
            <details class="train">
                <summary>"Train word vectors on these documents"</summary>
                <p class="note">
                    "Trains GloVe vectors in this browser, for the axioms STMC1, STMC2 and \
                     STMC3. The tokenizer is the one in "
                    "the settings."
                </p>
                <div class="form">
                    {field("Dimensions", |it| it.dims.clone(), |it, text| it.dims = text)}
                    {field(
                        "Window (words on each side)",
                        |it| it.window.clone(),
                        |it, text| it.window = text,
                    )}
                    {field(
                        "Minimum occurrences",
                        |it| it.min_count.clone(),
                        |it, text| it.min_count = text,
                    )}
                    {field("Epochs", |it| it.passes.clone(), |it, text| it.passes = text)}
                </div>
                <p class="wrong" role="status">
                    {move || {
                        let wrong = wrong.get();
                        wrong.map(|it| view! { <span class="verdict failed">{it}</span> })
                    }}
                </p>
                <div class="btns">{button}</div>
                {body}
            </details>
        </Show>
    }
}

/// Returns the analyzer of the current settings, or why there is none.
fn analyzer(bench: WorkbenchState) -> Result<Analyzer, String> {
    let files = bench.files_of_study_definition();
    bench.settings.with(|it| it.analyzer(&files))
}

fn start(
    bench: WorkbenchState,
    typed: RwSignal<TrainingSettings>,
    training: RwSignal<TrainingState, LocalStorage>,
) {
    let settings = typed.with_untracked(TrainingSettings::settings);
    let (Ok(settings), Ok(analyzer)) = (settings, untrack(|| analyzer(bench))) else {
        return;
    };
    leptos::task::spawn_local(async move {
        training.set(TrainingState::Running(0, None));
        reading::reread_files_for_new_worker(bench).await;
        let name = format!("trained-{}d.txt", settings.n_dims);
        let asked = worker::start_worker_task(
            WorkerRequest::TrainVectors { analyzer, settings },
            &JsValue::UNDEFINED,
            move |step| {
                let _ = training.try_update(|it| {
                    if let TrainingState::Running(_, last) = it {
                        *last = Some(step);
                    }
                });
            },
        );
        training.set(TrainingState::Running(asked.task_number(), None));
        let next = match asked.wait_for_reply().await {
            Ok(answered) => match (answered.message, answered.attachment.dyn_into::<Blob>()) {
                (WorkerResponse::VectorsTrained(trained), Ok(blob)) => {
                    let parts = js_sys::Array::of1(&blob);
                    if let Ok(file) = File::new_with_blob_sequence(&parts, &name) {
                        reading::add_and_read_file(bench, file, Some(FileKind::Vectors));
                    }
                    TrainingState::Done(trained, blob)
                }
                _ => TrainingState::Stopped,
            },
            Err(error) => TrainingState::Failed(error),
        };
        // The page may have been left in the meantime.
        let _ = training.try_set(next);
    });
}

#[component]
fn TrainingProgress(training: RwSignal<TrainingState, LocalStorage>) -> impl IntoView {
    let step = move || {
        training.with(|it| match it {
            TrainingState::Running(_, step) => *step,
            _ => None,
        })
    };
    let done = move || step().map_or(0.0, |it| it.done as f64 / (it.total as f64).max(1.0));
    let words = move || match step() {
        None => "Starting".to_owned(),
        Some(it) => {
            let left = it
                .remaining_s
                .map_or("–".to_owned(), number_format::format_duration);
            let what = match it.stage {
                WorkerPipelineStage::Index => "Reading documents",
                WorkerPipelineStage::CountCooccurrences => "Counting co-occurrences",
                _ => "Training",
            };
            format!(
                "{what}: {} of {}, about {left} left in this stage",
                number_format::format_count(it.done),
                number_format::format_count(it.total)
            )
        }
    };
    view! {
        <p class="note">{words}</p>
        <ProgressBarView label="Training word vectors" done=Signal::derive(done)/>
    }
}

#[component]
fn TrainingResult(trained: TrainedVectorsSummary, blob: Blob) -> impl IntoView {
    let name = format!("trained-{}d.txt", trained.n_dims);
    let said = format!(
        "{} words of {} dimensions from {} co-occurrence pairs; mean weighted squared error \
         {:.4} in the first epoch, {:.4} in the last. They are in the file list.",
        number_format::format_count(trained.n_words),
        trained.n_dims,
        number_format::format_count(trained.n_cooccurrences),
        trained.loss[0],
        trained.loss[1]
    );
    view! {
        <p role="status">{said}</p>
        <div class="btns">
            <button
                class="btn"
                type="button"
                on:click=move |_| download::offer_blob_download(&name, &blob)
            >
                "Download vectors"
            </button>
        </div>
    }
}
