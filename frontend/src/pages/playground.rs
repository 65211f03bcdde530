//! The Playground: a query and two or three texts against every axiom and ranker, answered at
//! every key.

mod axioms;
mod contributions;
mod desk;
mod edits;
mod effect;
mod history;
pub(crate) mod link;
mod marks;
mod neural;
mod open;
pub(crate) mod premises;
mod rankers;
mod settings;
pub(crate) mod sheet;
mod terms;
mod texts;
pub(crate) mod verdict;

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use shared::api::Statistics;
use shared::probe::Probe;
use shared::study::bench::{Known, answer};
use shared::text::Analyzer;

use crate::api;
use crate::later::Later;
use crate::widgets::download;
use desk::{Collection, Desk, Model, Outcome};
use history::History;
use sheet::Sheet;

/// The page.
#[component]
pub(crate) fn Playground() -> impl IntoView {
    let (sheet, opening) = open::at_first();
    let settings = RwSignal::new(sheet.settings);
    let study = Memo::new(move |_| settings.with(|it| it.study.clone()));
    let collection = LocalResource::new(move || {
        let study = study.get();
        async move {
            let study = study?;
            let stats = api::call(&Statistics {
                study: study.clone(),
            })
            .await
            .map(Rc::new);
            Some(Collection { study, stats })
        }
    });
    let desk = Desk {
        query: RwSignal::new(sheet.query),
        texts: RwSignal::new(sheet.texts.into_iter().map(History::new).collect()),
        settings,
        origin: RwSignal::new(opening.origin()),
        before: RwSignal::new(None),
        collection,
        outcome: RwSignal::new(Outcome::Blank),
        models: RwSignal::new(Vec::new()),
        manipulated: RwSignal::new(None),
    };
    keep_answered(desk);
    link::keep_address(desk);
    let opened = open::follow(desk, opening);
    view! {
        <div class="head">
            <div>
                <h1>"Playground"</h1>
                <p class="note">
                    "Type a query and two or three texts. Axioms, BM25 and QL are computed in this
                    page at every key."
                </p>
            </div>
            <div class="btns">
                <open::Where desk opened/>
                <link::Share desk/>
                <button class="btn" type="button" on:click=move |_| save(desk)>
                    "Save as instance"
                </button>
                <button
                    class="btn bare"
                    type="button"
                    on:click=move |_| desk.open("an empty page", Sheet::empty())
                >
                    "Clear"
                </button>
            </div>
        </div>
        <open::PutBack desk/>
        <texts::Texts desk/>
        <effect::Effect desk/>
        <settings::Reading desk/>
        <div class="bench">
            <axioms::Axioms desk/>
            <div>
                <terms::Terms desk/>
                <rankers::Rankers desk/>
                <neural::Neural desk/>
            </div>
        </div>
    }
}

/// Between a key and its answer, so that fast typing is not held up.
const PAUSE_MS: u64 = 30;

/// As [`PAUSE_MS`], for texts of more than [`LONG`] bytes.
const LONG_PAUSE_MS: u64 = 300;

/// An answer on this many bytes takes about as long as a picture on the screen.
const LONG: usize = 30_000;

/// Answers what is typed, always the newest.
fn keep_answered(desk: Desk) {
    let soon = Later::after_ms(PAUSE_MS);
    let later = Later::after_ms(LONG_PAUSE_MS);
    Effect::new(move |before: Option<()>| {
        let sheet = desk.sheet();
        let collection = desk.collection.get().flatten();
        soon.cancel();
        later.cancel();
        if before.is_none() {
            desk.outcome.set(outcome(sheet, collection));
            return;
        }
        let n_bytes: usize = sheet.texts.iter().map(String::len).sum();
        let timer = if n_bytes > LONG { later } else { soon };
        timer.run(move || {
            let _ = desk.outcome.try_set(outcome(sheet, collection));
        });
    });
}

fn outcome(sheet: Sheet, collection: Option<Collection>) -> Outcome {
    if sheet.is_blank() {
        return Outcome::Blank;
    }
    let mut typed = match sheet.read() {
        Ok(typed) => typed,
        Err(wrong) => return Outcome::Wrong(wrong),
    };
    let stats = match (&sheet.settings.study, collection) {
        (None, _) => None,
        // While another one is fetched, the one before is still there.
        (Some(study), Some(it)) if it.study == *study => match it.stats {
            Ok(stats) => Some(stats),
            Err(error) => return Outcome::Failed(error),
        },
        (Some(_), _) => return Outcome::Waiting,
    };
    // Document frequencies count terms of the collection's own analyser.
    if let Some(stats) = &stats {
        typed.analyzer = stats.analyzer.clone();
    }
    let known = stats.as_ref().map(|it| Known {
        totals: it.totals,
        terms: &it.terms,
        vectors: it.words.as_ref().map(|it| &it.vectors),
    });
    match answer(&typed, known) {
        Ok(found) => Outcome::Answered(Arc::new(found)),
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

/// What is saved as an instance.
#[derive(serde::Serialize)]
struct Saved {
    /// Version of this layout.
    format: u32,
    software: &'static str,
    query: String,
    texts: Vec<String>,
    /// The study whose collection gave the statistics; none: the texts were the collection.
    study: Option<String>,
    /// What was asked, with analyser, limits, mode and rankers.
    settings: SavedSettings,
    /// Axioms that apply.
    instances: Vec<shared::study::bench::Applied>,
    /// Axioms by name that do not apply.
    others: Vec<Probe>,
    /// What neural rankers said.
    neural: Vec<shared::api::Scored>,
}

#[derive(serde::Serialize)]
struct SavedSettings {
    analyzer: Analyzer,
    limits: shared::probe::Limits,
    mode: shared::probe::Mode,
    rankers: Vec<String>,
}

fn save(desk: Desk) {
    let sheet = untrack(|| desk.sheet());
    let (Ok(read), Some(answer)) = (sheet.read(), untrack(|| desk.answer())) else {
        return;
    };
    let analyzer = untrack(|| desk.analyzer_of_collection()).unwrap_or(read.analyzer);
    let (instances, others): (Vec<_>, Vec<_>) =
        answer.axioms.iter().cloned().partition(|it| it.applies);
    let saved = Saved {
        format: 1,
        software: env!("CARGO_PKG_VERSION"),
        query: sheet.query,
        texts: sheet.texts,
        study: sheet.settings.study,
        settings: SavedSettings {
            analyzer,
            limits: read.limits,
            mode: read.mode,
            rankers: read.rankers,
        },
        instances,
        others: others.into_iter().map(|it| it.probe).collect(),
        neural: desk
            .models
            .with_untracked(|it| it.iter().filter_map(Model::scored).collect()),
    };
    let json = serde_json::to_string_pretty(&saved).expect("an instance has only text keys");
    download::save("axioscope-instance.json", "application/json", &json);
}
