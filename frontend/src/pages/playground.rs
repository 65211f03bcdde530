//! The Playground: tests every axiom and ranker on a query and two or three documents, after every
//! keystroke.

mod axioms;
mod term_scores;
mod state;
mod manipulations;
mod manipulation_effect;
mod text_history;
pub(crate) mod share_link;
mod highlights;
mod neural;
mod initial_content;
pub(crate) mod preconditions;
mod lexical_rankers;
mod settings;
pub(crate) mod input;
mod query_terms;
mod documents;
pub(crate) mod verdict_chip;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use shared::api::GetCollectionStatisticsRequest;
use shared::first_paint::PLAYGROUND_QUESTION;
use shared::probe::Probe;
use shared::study::playground::{CollectionStatisticsAndVectors, evaluate_playground_input};
use shared::text::Analyzer;

use crate::api;
use crate::debounce::DebounceTimer;
use crate::first_paint::InOwnTask;
use crate::widgets::download;
use input::PlaygroundInput;
use state::{
    CollectionStatisticsFetchResult, NeuralRankerWithScores, PlaygroundEvaluationState,
    PlaygroundState,
};
use text_history::TextUndoHistory;

/// Renders the Playground page, which tests axioms and rankers on a query and documents typed by
/// the user.
#[component]
pub(crate) fn PlaygroundPage() -> impl IntoView {
    let (sheet, opening) = initial_content::initial_playground_content();
    let settings = RwSignal::new(sheet.settings);
    let study = Memo::new(move |_| settings.with(|it| it.study.clone()));
    let collection = LocalResource::new(move || {
        let study = study.get();
        async move {
            let study = study?;
            let stats = api::send_and_parse(&GetCollectionStatisticsRequest {
                study: study.clone(),
            })
            .await
            .map(Rc::new);
            Some(CollectionStatisticsFetchResult { study, stats })
        }
    });
    let desk = PlaygroundState {
        query: RwSignal::new(sheet.query),
        documents: RwSignal::new(
            sheet
                .documents
                .into_iter()
                .map(TextUndoHistory::new)
                .collect(),
        ),
        settings,
        origin: RwSignal::new(opening.source_instance()),
        previous: RwSignal::new(None),
        collection,
        answer: RwSignal::new(PlaygroundEvaluationState::Blank),
        neural_rankers: RwSignal::new(Vec::new()),
        manipulated: RwSignal::new(None),
    };
    update_answer(desk);
    share_link::update_address_on_change(desk);
    let opened = initial_content::fetch_instance_and_follow_address(desk, opening);
    view! {
        <div class="head">
            <div>
                <h1>"Playground"</h1>
                <p class="note">{PLAYGROUND_QUESTION}</p>
            </div>
            <div class="btns">
                <initial_content::OpenedInstanceNotice desk opened/>
                <share_link::CopyLinkButton desk/>
                <button class="btn" type="button" on:click=move |_| save_instance(desk)>
                    "Save as instance"
                </button>
                <initial_content::StartEmptyButton desk label="Clear"/>
            </div>
        </div>
        <initial_content::RestorePreviousButton desk/>
        <initial_content::ExampleNotice desk/>
        <InOwnTask><documents::QueryAndDocumentFields desk/></InOwnTask>
        <InOwnTask><manipulation_effect::ManipulationEffectSection desk/></InOwnTask>
        <div class="bench">
            <InOwnTask><axioms::AxiomOutcomesSection desk/></InOwnTask>
            <div>
                <InOwnTask><lexical_rankers::LexicalRankersSection desk/></InOwnTask>
                <InOwnTask><query_terms::QueryTermSection desk/></InOwnTask>
            </div>
        </div>
        <InOwnTask><neural::PlaygroundNeuralRankers desk/></InOwnTask>
        <InOwnTask><settings::PlaygroundSettingsFields desk/></InOwnTask>
    }
}

/// The delay between a keystroke and the evaluation, in milliseconds, so that fast typing is not
/// slowed down.
const DEBOUNCE_MS: u64 = 30;

/// Like [`DEBOUNCE_MS`], for input of more than [`LONG_INPUT_BYTES`] bytes.
const LONG_DEBOUNCE_MS: u64 = 300;

/// Evaluating this many bytes takes about as long as one frame on screen.
const LONG_INPUT_BYTES: usize = 30_000;

/// Evaluates the input whenever it changes.
fn update_answer(desk: PlaygroundState) {
    let soon = DebounceTimer::with_delay_ms(DEBOUNCE_MS);
    let later = DebounceTimer::with_delay_ms(LONG_DEBOUNCE_MS);
    // The first evaluation has a task of its own, before those of the sections that show it.
    let first = untrack(|| (desk.current_input(), desk.collection.get().flatten()));
    desk.answer.set(PlaygroundEvaluationState::Loading);
    set_timeout(
        move || {
            let _ = desk.answer.try_set(compute_answer(first.0, first.1));
        },
        Duration::ZERO,
    );
    Effect::new(move |before: Option<()>| {
        let sheet = desk.current_input();
        let collection = desk.collection.get().flatten();
        soon.cancel();
        later.cancel();
        if before.is_none() {
            return;
        }
        let n_bytes: usize = sheet.documents.iter().map(String::len).sum();
        let timer = if n_bytes > LONG_INPUT_BYTES {
            later
        } else {
            soon
        };
        timer.schedule(move || {
            let _ = desk.answer.try_set(compute_answer(sheet, collection));
        });
    });
}

fn compute_answer(
    sheet: PlaygroundInput,
    collection: Option<CollectionStatisticsFetchResult>,
) -> PlaygroundEvaluationState {
    if sheet.is_blank() {
        return PlaygroundEvaluationState::Blank;
    }
    let mut typed = match sheet.to_playground_request() {
        Ok(typed) => typed,
        Err(wrong) => return PlaygroundEvaluationState::Invalid(wrong),
    };
    let stats = match (&sheet.settings.study, collection) {
        (None, _) => None,
        // While the statistics of another study are fetched, those of the previous one are still
        // there.
        (Some(study), Some(it)) if it.study == *study => match it.stats {
            Ok(stats) => Some(stats),
            Err(error) => return PlaygroundEvaluationState::Failed(error),
        },
        (Some(_), _) => return PlaygroundEvaluationState::Loading,
    };
    // Document frequencies count the terms of the collection's own analyzer.
    if let Some(stats) = &stats {
        typed.analyzer = stats.analyzer.clone();
    }
    let known = stats.as_ref().map(|it| CollectionStatisticsAndVectors {
        totals: it.totals,
        terms: &it.terms,
        word_vectors: it.vectors.as_ref().map(|it| &it.vectors),
    });
    match evaluate_playground_input(&typed, known) {
        Ok(found) => PlaygroundEvaluationState::Answered(Arc::new(found)),
        Err(error) => PlaygroundEvaluationState::Rejected(error.to_string()),
    }
}

/// The content of a saved instance file.
#[derive(serde::Serialize)]
struct SavedInstance {
    /// The version of this format.
    format: u32,
    software: &'static str,
    query: String,
    documents: Vec<String>,
    /// The study whose collection gave the statistics; none if the documents were the collection.
    study: Option<String>,
    /// The input: analyzer, limits, variant and rankers.
    settings: SavedSettings,
    /// The axioms that apply.
    instances: Vec<shared::study::playground::PlaygroundAxiomResult>,
    /// The axioms that do not apply.
    non_applying_axioms: Vec<Probe>,
    /// The scores of neural rankers.
    neural: Vec<shared::api::ScoreDocumentsResponse>,
}

#[derive(serde::Serialize)]
struct SavedSettings {
    analyzer: Analyzer,
    limits: shared::probe::MiningThresholds,
    variant: shared::probe::AxiomVariant,
    rankers: Vec<String>,
}

fn save_instance(desk: PlaygroundState) {
    let sheet = untrack(|| desk.current_input());
    let (Ok(read), Some(answer)) = (
        sheet.to_playground_request(),
        untrack(|| desk.evaluation_result()),
    ) else {
        return;
    };
    let analyzer = untrack(|| desk.collection_analyzer()).unwrap_or(read.analyzer);
    let (instances, others): (Vec<_>, Vec<_>) = answer
        .axiom_results
        .iter()
        .cloned()
        .partition(|it| it.applies);
    let saved = SavedInstance {
        format: 2,
        software: env!("CARGO_PKG_VERSION"),
        query: sheet.query,
        documents: sheet.documents,
        study: sheet.settings.study,
        settings: SavedSettings {
            analyzer,
            limits: read.limits,
            variant: read.variant,
            rankers: read.rankers,
        },
        instances,
        non_applying_axioms: others.into_iter().map(|it| it.probe).collect(),
        neural: desk.neural_rankers.with_untracked(|it| {
            it.iter()
                .filter_map(NeuralRankerWithScores::score_response)
                .cloned()
                .collect()
        }),
    };
    let json = serde_json::to_string_pretty(&saved).expect("an instance has only string keys");
    download::offer_text_download("axioscope-instance.json", "application/json", &json);
}
