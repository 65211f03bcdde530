//! Running the study: from files to results, with speed, remaining time and cancel.

use leptos::prelude::*;
use shared::api::worker::{
    StudyInputPart, WorkerPipelineStage, WorkerProgress, WorkerRequest, WorkerResponse,
};
use shared::score::SCORE_FILE_PREFIX;
use wasm_bindgen::JsValue;

use super::reading;
use super::state::{CollectionPartPresence, FileReadState, StudyRunState, WorkbenchState};
use crate::api::worker;
use crate::number_format;
use crate::widgets::error_message::LoadErrorMessage;
use crate::widgets::progress::ProgressBarView;
use crate::widgets::section::Section;

fn start(bench: WorkbenchState) {
    let Ok(mut definition) = untrack(move || bench.study_definition()) else {
        return;
    };
    // An uploaded run is a ranker, too.
    let runs = untrack(move || bench.names_of_files(StudyInputPart::Run));
    let runs = runs
        .into_iter()
        .map(|it| format!("{SCORE_FILE_PREFIX}{it}"));
    definition.rankers.extend(runs);
    let settings = bench.settings.get_untracked();
    let today = String::from(js_sys::Date::new_0().to_iso_string());
    let made = today.chars().take(10).collect();
    leptos::task::spawn_local(async move {
        bench.run.set(StudyRunState::Running {
            number: 0,
            steps: Vec::new(),
        });
        reading::reread_files_for_new_worker(bench).await;
        let began = js_sys::Date::now();
        let ask = WorkerRequest::CreateStudy {
            definition: Box::new(definition),
            date: made,
        };
        let asked = worker::start_worker_task(ask, &JsValue::UNDEFINED, move |step| {
            apply_step(bench, step)
        });
        bench.run.set(StudyRunState::Running {
            number: asked.task_number(),
            steps: Vec::new(),
        });
        let took_s = || (js_sys::Date::now() - began) / 1000.0;
        let run = match asked.wait_for_reply().await.map(|it| it.message) {
            Ok(tell @ WorkerResponse::StudyReady(_)) => {
                bench.apply_worker_message(tell);
                bench.created_with.set(Some(settings));
                StudyRunState::Done { took_s: took_s() }
            }
            Ok(_) => StudyRunState::Canceled,
            Err(error) => StudyRunState::Failed(error),
        };
        let _ = bench.run.try_set(run);
    });
}

fn apply_step(bench: WorkbenchState, step: WorkerProgress) {
    let _ = bench.run.try_update(|run| {
        if let StudyRunState::Running { steps, .. } = run {
            match steps.iter_mut().find(|it| it.stage == step.stage) {
                Some(place) => *place = step,
                None => steps.push(step),
            }
        }
    });
}

/// Renders the section that runs the study.
#[component]
pub(super) fn ComputeStudySection(bench: WorkbenchState) -> impl IntoView {
    // The memo changes only from one kind of state to another, so the button keeps its focus and a
    // progress bar its animation while numbers change. A memo that is not read is not run, so it is
    // read and not only tracked.
    let stage = Memo::new(move |_| bench.run.with(std::mem::discriminant));
    let body = move || {
        let _ = stage.get();
        match bench.run.get_untracked() {
            StudyRunState::Idle => None,
            StudyRunState::Running { .. } => Some(view! { <RunProgress bench/> }.into_any()),
            StudyRunState::Done { took_s } => Some(
                view! {
                    <p role="status">
                        "Created in " {number_format::format_elapsed_time(took_s)} "."
                    </p>
                }
                .into_any(),
            ),
            StudyRunState::Canceled => {
                let kept = match bench.study.get_untracked() {
                    Some(_) => "Canceled. The previous study is still below.",
                    None => "Canceled. No study was created.",
                };
                Some(view! { <p role="status">{kept}</p> }.into_any())
            }
            StudyRunState::Failed(error) => {
                let again = Callback::new(move |()| start(bench));
                Some(view! { <LoadErrorMessage error retry=again/> }.into_any())
            }
        }
    };
    let missing = Memo::new(move |_| missing_input(bench));
    let button = move || {
        let _ = stage.get();
        let running = matches!(bench.run.get_untracked(), StudyRunState::Running { .. });
        if running {
            let stop = move |_| {
                let _ = bench.cancel_study_computation();
            };
            return view! {
                <button class="btn" type="button" on:click=stop>
                    "Cancel" <kbd>"Esc"</kbd>
                </button>
            }
            .into_any();
        }
        view! {
            <button
                class="btn main"
                type="button"
                disabled=move || missing.read().is_some()
                on:click=move |_| start(bench)
            >
                "Create study"
            </button>
        }
        .into_any()
    };
    let note = move || {
        let missing = missing.get();
        missing.unwrap_or_else(|| "Runs in the background in this browser.".to_owned())
    };
    let header = move || view! { <p class="note">{note}</p> {button} };
    view! {
        <Section id="run" name="Run" header>{body}</Section>
    }
}

/// Returns why the study cannot be run and what to do; none if it can.
fn missing_input(bench: WorkbenchState) -> Option<String> {
    let reading = bench.files.with(|files| {
        files
            .iter()
            .any(|it| matches!(it.state, FileReadState::Reading(_)))
    });
    if reading {
        return Some("Files are still being read.".to_owned());
    }
    let missing = match (
        bench.part_presence(StudyInputPart::Documents),
        bench.part_presence(StudyInputPart::Queries),
    ) {
        (CollectionPartPresence::Missing, CollectionPartPresence::Missing) => {
            "Add documents and queries, or load the sample."
        }
        (CollectionPartPresence::Missing, CollectionPartPresence::Present) => "Add documents.",
        (CollectionPartPresence::Present, CollectionPartPresence::Missing) => "Add queries.",
        (CollectionPartPresence::Present, CollectionPartPresence::Present) => {
            let wrong = bench.study_definition().err()?;
            let first = wrong.first()?;
            return Some(format!(
                "Correct the settings under {}: {}.",
                first.field.heading(),
                first.reason
            ));
        }
    };
    Some(missing.to_owned())
}

/// Renders the numbers and progress bars of a run.
#[component]
fn RunProgress(bench: WorkbenchState) -> impl IntoView {
    let step = move |stage: WorkerPipelineStage| {
        bench.run.with(|run| match run {
            StudyRunState::Running { steps, .. } => {
                steps.iter().copied().find(|it| it.stage == stage)
            }
            StudyRunState::Idle
            | StudyRunState::Done { .. }
            | StudyRunState::Canceled
            | StudyRunState::Failed(_) => None,
        })
    };
    let now = Memo::new(move |_| {
        WorkerPipelineStage::CREATE_STUDY
            .into_iter()
            .rev()
            .find_map(step)
    });
    let done = move || now.get().map_or(0.0, |it| share(&it));
    let big = move || {
        let percent = format!("{:.0} %", (done() * 100.0).floor());
        let (of, rate, unit, left) = match now.get() {
            None => (String::new(), "–".to_owned(), "", "–".to_owned()),
            Some(it) => (
                format!(
                    "of {} {}",
                    number_format::format_count(it.total),
                    stage_unit(it.stage)
                ),
                number_format::format_count(it.per_s.round() as u64),
                stage_unit(it.stage),
                it.remaining_s
                    .map_or("–".to_owned(), number_format::format_duration),
            ),
        };
        view! {
            <p><b class="run-now">{percent}</b><span class="label">{of}</span></p>
            <p><b class="run-now">{rate}</b><span class="label">{unit} " per second"</span></p>
            <p>
                <b class="run-now">{left}</b>
                <span class="label">"left in this stage (estimate)"</span>
            </p>
        }
    };
    let (audited, makes) = bench
        .settings
        .with_untracked(|it| (it.has_tokenization_audit, it.uses_derived_documents()));
    let stages = WorkerPipelineStage::CREATE_STUDY.into_iter().filter(|it| {
        (*it != WorkerPipelineStage::Audit || audited)
            && (*it != WorkerPipelineStage::Manipulate || makes)
    });
    let stages = stages.map(|stage| {
        let done = Signal::derive(move || step(stage).map_or(0.0, |it| share(&it)));
        let words = move || step(stage).map_or_else(String::new, |it| step_text(&it));
        view! {
            <li class="stage" class:done=move || done.get() == 1.0>
                <span>{stage_label(stage)}</span>
                <span class="label">{words}</span>
                <ProgressBarView label=stage_label(stage) done/>
            </li>
        }
    });
    view! {
        <div class="tally">{big}</div>
        <ProgressBarView label="Run" done=Signal::derive(done)/>
        <ul class="stages">{stages.collect_view()}</ul>
    }
}

fn share(step: &WorkerProgress) -> f64 {
    if step.total == 0 {
        1.0
    } else {
        step.done as f64 / step.total as f64
    }
}

fn stage_label(stage: WorkerPipelineStage) -> &'static str {
    match stage {
        WorkerPipelineStage::Read => "Reading",
        WorkerPipelineStage::Index => "Indexing",
        WorkerPipelineStage::Manipulate => "Manipulating documents",
        WorkerPipelineStage::Mine => "Mining",
        WorkerPipelineStage::Audit => "Analyzer audit",
        WorkerPipelineStage::Score => "Scoring",
        WorkerPipelineStage::CountCooccurrences => "Counting co-occurrences",
        WorkerPipelineStage::TrainVectors => "Training",
    }
}

fn stage_unit(stage: WorkerPipelineStage) -> &'static str {
    match stage {
        WorkerPipelineStage::Read => "bytes",
        WorkerPipelineStage::Index
        | WorkerPipelineStage::Audit
        | WorkerPipelineStage::CountCooccurrences => "documents",
        WorkerPipelineStage::TrainVectors => "epochs",
        WorkerPipelineStage::Manipulate | WorkerPipelineStage::Mine => "queries",
        // One for each ranker and query.
        WorkerPipelineStage::Score => "rankings",
    }
}

fn step_text(step: &WorkerProgress) -> String {
    match step.n_instances {
        Some(found) => format!("{} found", number_format::format_count(found)),
        None => format!(
            "{} {}",
            number_format::format_count(step.done),
            stage_unit(step.stage)
        ),
    }
}
