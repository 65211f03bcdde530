//! The run: from files to the local study, with speed, time left and cancel.

use leptos::prelude::*;
use shared::api::worker::{Ask, Part, Progress as Step, Stage, Tell};
use wasm_bindgen::JsValue;

use super::bench::{Bench, Has, Run, State};
use super::files;
use crate::api::worker;
use crate::keys::Press;
use crate::numbers;
use crate::widgets::error::Failure;
use crate::widgets::progress::Progress;
use crate::widgets::section::Section;

/// Stops the run, if there is one.
pub(super) fn cancel(bench: Bench) -> Press {
    match bench.run.get_untracked() {
        Run::Running { number, .. } => {
            worker::cancel(number);
            Press::Taken
        }
        Run::Idle | Run::Done { .. } | Run::Stopped | Run::Failed(_) => Press::Passed,
    }
}

fn start(bench: Bench) {
    let files = untrack(move || bench.study_files());
    let Ok(definition) = bench.settings.with_untracked(|it| it.definition(&files)) else {
        return;
    };
    let today = String::from(js_sys::Date::new_0().to_iso_string());
    let made = today.chars().take(10).collect();
    leptos::task::spawn_local(async move {
        bench.run.set(Run::Running {
            number: 0,
            steps: Vec::new(),
        });
        files::read_stale(bench).await;
        let began = js_sys::Date::now();
        let ask = Ask::Make {
            definition: Box::new(definition),
            made,
        };
        let asked = worker::ask(ask, &JsValue::UNDEFINED, move |step| hear(bench, step));
        bench.run.set(Run::Running {
            number: asked.number(),
            steps: Vec::new(),
        });
        let took_s = || (js_sys::Date::now() - began) / 1000.0;
        let run = match asked.answer().await.map(|it| it.tell) {
            Ok(tell @ Tell::Made(_)) => {
                bench.take(tell);
                Run::Done { took_s: took_s() }
            }
            Ok(_) => Run::Stopped,
            Err(error) => Run::Failed(error),
        };
        let _ = bench.run.try_set(run);
    });
}

fn hear(bench: Bench, step: Step) {
    let _ = bench.run.try_update(|run| {
        if let Run::Running { steps, .. } = run {
            match steps.iter_mut().find(|it| it.stage == step.stage) {
                Some(place) => *place = step,
                None => steps.push(step),
            }
        }
    });
}

/// The section of the page.
#[component]
pub(super) fn RunStudy(bench: Bench) -> impl IntoView {
    // What is shown changes only from one kind of state to another, so that the button keeps
    // its focus and a bar its motion while numbers change. A memo that is not read is not run,
    // so it is read and not only tracked.
    let stage = Memo::new(move |_| bench.run.with(std::mem::discriminant));
    let body = move || {
        let _ = stage.get();
        match bench.run.get_untracked() {
            Run::Idle => None,
            Run::Running { .. } => Some(view! { <Steps bench/> }.into_any()),
            Run::Done { took_s } => Some(
                view! { <p role="status">"Made in " {numbers::took(took_s)} "."</p> }.into_any(),
            ),
            Run::Stopped => {
                let kept = match bench.made.get_untracked() {
                    Some(_) => "Cancelled. The study from before is still below.",
                    None => "Cancelled. Nothing was made.",
                };
                Some(view! { <p role="status">{kept}</p> }.into_any())
            }
            Run::Failed(error) => {
                let again = Callback::new(move |()| start(bench));
                Some(view! { <Failure error retry=again/> }.into_any())
            }
        }
    };
    let button = move || {
        let _ = stage.get();
        let running = matches!(bench.run.get_untracked(), Run::Running { .. });
        if running {
            let stop = move |_| {
                let _ = cancel(bench);
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
                disabled=move || missing(bench).is_some()
                on:click=move |_| start(bench)
            >
                "Make the study"
            </button>
        }
        .into_any()
    };
    let note =
        move || missing(bench).unwrap_or("Mining and scoring in this browser, beside the page.");
    let header = move || view! { <p class="note">{note}</p> {button} };
    view! {
        <Section id="run" name="Run" header>{body}</Section>
    }
}

/// Why there can be no run, and what to do.
fn missing(bench: Bench) -> Option<&'static str> {
    let reading = bench
        .files
        .with(|files| files.iter().any(|it| matches!(it.state, State::Reading(_))));
    let files = bench.study_files();
    let wrong = bench.settings.with(|it| it.definition(&files).is_err());
    match (bench.has(Part::Texts), bench.has(Part::Queries)) {
        _ if reading => Some("Files are being read."),
        (Has::No, Has::No) => Some("Bring texts and queries first, or load the sample."),
        (Has::No, Has::Yes) => Some("Bring the texts as well."),
        (Has::Yes, Has::No) => Some("Bring the queries as well."),
        (Has::Yes, Has::Yes) if wrong => Some("Settings need a correction, see there."),
        (Has::Yes, Has::Yes) => None,
    }
}

/// Numbers and bars of a run.
#[component]
fn Steps(bench: Bench) -> impl IntoView {
    let step = move |stage: Stage| {
        bench.run.with(|run| match run {
            Run::Running { steps, .. } => steps.iter().copied().find(|it| it.stage == stage),
            Run::Idle | Run::Done { .. } | Run::Stopped | Run::Failed(_) => None,
        })
    };
    let now = Memo::new(move |_| Stage::MAKE.into_iter().rev().find_map(step));
    let done = move || now.get().map_or(0.0, |it| share(&it));
    let big = move || {
        let percent = format!("{:.0} %", (done() * 100.0).floor());
        let (of, rate, unit, left) = match now.get() {
            None => (String::new(), "–".to_owned(), "", "–".to_owned()),
            Some(it) => (
                format!("of {} {}", numbers::count(it.of), unit(it.stage)),
                numbers::count(it.per_s.round() as u64),
                unit(it.stage),
                it.left_s.map_or("–".to_owned(), numbers::duration),
            ),
        };
        view! {
            <p><b class="run-now">{percent}</b><span class="label">{of}</span></p>
            <p><b class="run-now">{rate}</b><span class="label">{unit} " a second"</span></p>
            <p>
                <b class="run-now">{left}</b>
                <span class="label">"left in this stage, about"</span>
            </p>
        }
    };
    let (audited, makes) = bench
        .settings
        .with_untracked(|it| (it.audit, it.makes_texts()));
    let stages = Stage::MAKE
        .into_iter()
        .filter(|it| (*it != Stage::Audit || audited) && (*it != Stage::Make || makes));
    let stages = stages.map(|stage| {
        let done = Signal::derive(move || step(stage).map_or(0.0, |it| share(&it)));
        let words = move || step(stage).map_or_else(String::new, |it| words(&it));
        view! {
            <li class="stage" class:done=move || done.get() == 1.0>
                <span>{name(stage)}</span>
                <span class="label">{words}</span>
                <Progress label=name(stage) done/>
            </li>
        }
    });
    view! {
        <div class="tally">{big}</div>
        <Progress label="Run" done=Signal::derive(done)/>
        <ul class="stages">{stages.collect_view()}</ul>
    }
}

fn share(step: &Step) -> f64 {
    if step.of == 0 {
        1.0
    } else {
        step.done as f64 / step.of as f64
    }
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "Read",
        Stage::Index => "Index",
        Stage::Make => "Manipulations",
        Stage::Mine => "Instances",
        Stage::Audit => "Audit",
        Stage::Score => "Scores",
        Stage::Neighbours => "Neighbours",
        Stage::Train => "Training",
    }
}

fn unit(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "bytes",
        Stage::Index | Stage::Audit | Stage::Neighbours => "texts",
        Stage::Train => "rounds",
        Stage::Make | Stage::Mine | Stage::Score => "queries",
    }
}

fn words(step: &Step) -> String {
    match step.found {
        Some(found) => format!("{} found", numbers::count(found)),
        None => format!("{} {}", numbers::count(step.done), unit(step.stage)),
    }
}
