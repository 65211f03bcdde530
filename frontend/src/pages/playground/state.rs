//! Everything that stands on the page of the Playground.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use shared::api::{CollectionStatisticsResponse, GetInstanceRequest, ScoreDocumentsResponse};
use shared::probe::{AxiomVariant, Claim, Manipulation};
use shared::score::RankerInfo;
use shared::study::instance_details::{InstanceDetails, QueryTermInfo};
use shared::study::playground::PlaygroundResult;
use shared::text::Analyzer;
use shared::verdict::Verdict;

use super::input::{PlaygroundField, PlaygroundFieldError, PlaygroundInput, PlaygroundSettings};
use super::text_history::TextHistory;
use crate::api::{self, Error};
use crate::routes::PageRoute;
use crate::widgets::form::FormState;

/// Lists the display names of the documents, of which there are at most three.
pub(super) const NAMES: [&str; 3] = ["A", "B", "C"];

/// Everything that stands on the page.
#[derive(Clone, Copy)]
pub(crate) struct PlaygroundState {
    pub(super) query: RwSignal<String>,
    /// Two or three.
    pub(super) documents: RwSignal<Vec<TextHistory>>,
    pub(super) settings: RwSignal<PlaygroundSettings>,
    /// The instance that was opened.
    pub(super) origin: RwSignal<Option<SourceInstance>>,
    /// What was on the page before something else was opened, with what that is called.
    pub(super) previous: RwSignal<Option<(String, PlaygroundInput)>>,
    /// Statistics of the chosen collection; none where the texts are the collection.
    pub(super) collection: LocalResource<Option<SelectedCollection>>,
    pub(super) answer: RwSignal<AnswerState>,
    /// Neural rankers with their scores.
    pub(super) neural_rankers: RwSignal<Vec<NeuralRankerState>>,
    /// The text that was last made of another one.
    pub(super) manipulated: RwSignal<Option<ManipulatedDocument>>,
}

/// A collection whose statistics were asked for.
#[derive(Debug, Clone)]
pub(super) struct SelectedCollection {
    pub(super) study: String,
    pub(super) stats: Result<Rc<CollectionStatisticsResponse>, Error>,
}

/// What has become of what was typed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnswerState {
    /// Nothing was typed.
    Blank,
    /// Statistics are on their way.
    Loading,
    Answered(Arc<PlaygroundResult>),
    /// Some fields hold mistakes.
    Invalid(Vec<PlaygroundFieldError>),
    /// It cannot be answered, for this reason.
    Rejected(String),
    /// The statistics are not to be had.
    Failed(Error),
}

impl PlaygroundState {
    /// As it stands in a link.
    pub(super) fn current_input(self) -> PlaygroundInput {
        PlaygroundInput {
            query: self.query.get(),
            documents: self
                .documents
                .with(|it| it.iter().map(|it| it.current().to_owned()).collect()),
            settings: self.settings.get(),
        }
    }

    /// Puts a sheet in the place of what is there, which can be had back.
    pub(super) fn open_input(self, what: &str, sheet: PlaygroundInput) {
        let before = untrack(|| self.current_input());
        let kept = (!before.is_blank()).then(|| (what.to_owned(), before));
        self.previous.set(kept);
        self.origin.set(None);
        self.set_input(sheet);
    }

    /// Puts a sheet on the page.
    pub(super) fn set_input(self, sheet: PlaygroundInput) {
        let texts = sheet.documents.into_iter().map(TextHistory::new);
        batch(|| {
            self.query.set(sheet.query);
            self.documents.set(texts.collect());
            self.settings.set(sheet.settings);
        });
    }

    pub(super) fn answer(self) -> Option<Arc<PlaygroundResult>> {
        self.answer.with(|it| match it {
            AnswerState::Answered(answer) => Some(Arc::clone(answer)),
            AnswerState::Blank
            | AnswerState::Loading
            | AnswerState::Invalid(_)
            | AnswerState::Rejected(_)
            | AnswerState::Failed(_) => None,
        })
    }

    /// Distinct query terms, none without an answer.
    pub(super) fn terms(self) -> Vec<QueryTermInfo> {
        self.answer().map(|it| it.terms.clone()).unwrap_or_default()
    }

    /// The analyser that the chosen collection brings.
    pub(super) fn collection_analyzer(self) -> Option<Analyzer> {
        let study = self.settings.with(|it| it.study.clone())?;
        let collection = self
            .collection
            .get()
            .flatten()
            .filter(|it| it.study == study)?;
        Some(collection.stats.ok()?.analyzer.clone())
    }

    /// The settings, and what is wrong with them.
    pub(super) fn form(self) -> FormState<PlaygroundSettings, PlaygroundField> {
        let wrong = Signal::derive(move || match self.answer.get() {
            AnswerState::Invalid(wrong) => wrong,
            AnswerState::Blank
            | AnswerState::Loading
            | AnswerState::Answered(_)
            | AnswerState::Rejected(_)
            | AnswerState::Failed(_) => Vec::new(),
        });
        FormState {
            values: self.settings,
            errors: wrong,
        }
    }

    /// How many texts there are.
    pub(super) fn n_texts(self) -> Memo<usize> {
        Memo::new(move |_| self.documents.with(Vec::len))
    }
}

/// An instance of a study, as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceInstance(pub(super) GetInstanceRequest);

impl SourceInstance {
    /// From `study`, `axiom`, `mode` and `number` behind `?`.
    pub(super) fn from_parameters(word: impl Fn(&str) -> Option<String>) -> Option<SourceInstance> {
        let mode = word("mode")?;
        Some(SourceInstance(GetInstanceRequest {
            study: word("study")?,
            probe: word("axiom")?.parse().ok()?,
            variant: AxiomVariant::ALL
                .iter()
                .copied()
                .find(|it| it.name() == mode)?,
            number: word("number")?.parse().ok()?,
            tie_threshold: None,
        }))
    }

    pub(super) fn page(&self) -> PageRoute {
        PageRoute::Instance {
            study: self.0.study.clone(),
            probe: self.0.probe,
            mode: self.0.variant,
            number: self.0.number,
        }
    }

    pub(super) async fn sheet(self) -> Result<PlaygroundInput, Error> {
        let SourceInstance(request) = self;
        let InstanceDetails {
            query, docs: texts, ..
        } = api::call(&request).await?;
        Ok(PlaygroundInput {
            query: query.text,
            documents: texts.into_iter().map(|it| it.text.text).collect(),
            settings: PlaygroundSettings {
                study: Some(request.study),
                variant: request.variant,
                ..PlaygroundSettings::default_settings()
            },
        })
    }
}

/// A neural ranker with what it said of the texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NeuralRankerState {
    pub(super) ranker: RankerInfo,
    pub(super) scores: ScoreState,
}

/// The state of a scoring request: idle, pending, scored or failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScoreState {
    /// There is no query or a text is missing.
    Idle,
    Waiting,
    Scored(Arc<ScoreDocumentsResponse>),
    Failed(Error),
}

impl NeuralRankerState {
    /// What it makes of a claim over the texts.
    pub(super) fn verdict(&self, claim: Claim<u32>) -> Option<Verdict> {
        let ScoreState::Scored(scored) = &self.scores else {
            return None;
        };
        let scored = claim.map_scores(|text| scored.scores.get(text as usize).copied())?;
        Some(scored.verdict(self.ranker.kind.tie_threshold()))
    }

    /// What it said, if it has.
    pub(super) fn scored(&self) -> Option<ScoreDocumentsResponse> {
        match &self.scores {
            ScoreState::Scored(scored) => Some((**scored).clone()),
            ScoreState::Idle | ScoreState::Waiting | ScoreState::Failed(_) => None,
        }
    }
}

/// A text that was made of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManipulatedDocument {
    pub(super) manipulation: Manipulation,
    /// Place and words of the text as it was.
    pub(super) original: (usize, String),
    /// Place and words of what it was made.
    pub(super) derived: (usize, String),
}
