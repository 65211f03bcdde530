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

/// Names of the texts.
pub(super) const NAMES: [&str; 3] = ["A", "B", "C"];

/// Everything that stands on the page.
#[derive(Clone, Copy)]
pub(crate) struct PlaygroundState {
    pub(super) query: RwSignal<String>,
    /// Two or three.
    pub(super) texts: RwSignal<Vec<TextHistory>>,
    pub(super) settings: RwSignal<PlaygroundSettings>,
    /// The instance that was opened.
    pub(super) origin: RwSignal<Option<SourceInstance>>,
    /// What was on the page before something else was opened, with what that is called.
    pub(super) before: RwSignal<Option<(String, PlaygroundInput)>>,
    /// Statistics of the chosen collection; none where the texts are the collection.
    pub(super) collection: LocalResource<Option<SelectedCollection>>,
    pub(super) outcome: RwSignal<AnswerState>,
    /// Neural rankers with their scores.
    pub(super) models: RwSignal<Vec<NeuralRankerState>>,
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
    Waiting,
    Answered(Arc<PlaygroundResult>),
    /// Some fields hold mistakes.
    Wrong(Vec<PlaygroundFieldError>),
    /// It cannot be answered, for this reason.
    Refused(String),
    /// The statistics are not to be had.
    Failed(Error),
}

impl PlaygroundState {
    /// As it stands in a link.
    pub(super) fn sheet(self) -> PlaygroundInput {
        PlaygroundInput {
            query: self.query.get(),
            texts: self
                .texts
                .with(|it| it.iter().map(|it| it.now().to_owned()).collect()),
            settings: self.settings.get(),
        }
    }

    /// Puts a sheet in the place of what is there, which can be had back.
    pub(super) fn open(self, what: &str, sheet: PlaygroundInput) {
        let before = untrack(|| self.sheet());
        let kept = (!before.is_blank()).then(|| (what.to_owned(), before));
        self.before.set(kept);
        self.origin.set(None);
        self.lay(sheet);
    }

    /// Puts a sheet on the page.
    pub(super) fn lay(self, sheet: PlaygroundInput) {
        let texts = sheet.texts.into_iter().map(TextHistory::new);
        batch(|| {
            self.query.set(sheet.query);
            self.texts.set(texts.collect());
            self.settings.set(sheet.settings);
        });
    }

    pub(super) fn answer(self) -> Option<Arc<PlaygroundResult>> {
        self.outcome.with(|it| match it {
            AnswerState::Answered(answer) => Some(Arc::clone(answer)),
            AnswerState::Blank
            | AnswerState::Waiting
            | AnswerState::Wrong(_)
            | AnswerState::Refused(_)
            | AnswerState::Failed(_) => None,
        })
    }

    /// Distinct query terms, none without an answer.
    pub(super) fn terms(self) -> Vec<QueryTermInfo> {
        self.answer().map(|it| it.terms.clone()).unwrap_or_default()
    }

    /// The analyser that the chosen collection brings.
    pub(super) fn analyzer_of_collection(self) -> Option<Analyzer> {
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
        let wrong = Signal::derive(move || match self.outcome.get() {
            AnswerState::Wrong(wrong) => wrong,
            AnswerState::Blank
            | AnswerState::Waiting
            | AnswerState::Answered(_)
            | AnswerState::Refused(_)
            | AnswerState::Failed(_) => Vec::new(),
        });
        FormState {
            values: self.settings,
            wrong,
        }
    }

    /// How many texts there are.
    pub(super) fn n_texts(self) -> Memo<usize> {
        Memo::new(move |_| self.texts.with(Vec::len))
    }
}

/// An instance of a study, as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceInstance(pub(super) GetInstanceRequest);

impl SourceInstance {
    /// From `study`, `axiom`, `mode` and `number` behind `?`.
    pub(super) fn from_words(word: impl Fn(&str) -> Option<String>) -> Option<SourceInstance> {
        let mode = word("mode")?;
        Some(SourceInstance(GetInstanceRequest {
            study: word("study")?,
            probe: word("axiom")?.parse().ok()?,
            mode: AxiomVariant::ALL
                .iter()
                .copied()
                .find(|it| it.name() == mode)?,
            number: word("number")?.parse().ok()?,
            delta_score: None,
        }))
    }

    pub(super) fn page(&self) -> PageRoute {
        PageRoute::Instance {
            study: self.0.study.clone(),
            probe: self.0.probe,
            mode: self.0.mode,
            number: self.0.number,
        }
    }

    pub(super) async fn sheet(self) -> Result<PlaygroundInput, Error> {
        let SourceInstance(request) = self;
        let InstanceDetails { query, texts, .. } = api::call(&request).await?;
        Ok(PlaygroundInput {
            query: query.text,
            texts: texts.into_iter().map(|it| it.body.text).collect(),
            settings: PlaygroundSettings {
                study: Some(request.study),
                mode: request.mode,
                ..PlaygroundSettings::usual()
            },
        })
    }
}

/// A neural ranker with what it said of the texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NeuralRankerState {
    pub(super) ranker: RankerInfo,
    pub(super) reply: ScoreState,
}

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
        let ScoreState::Scored(scored) = &self.reply else {
            return None;
        };
        let scored = claim.scored(|text| scored.scores.get(text as usize).copied())?;
        Some(scored.verdict(self.ranker.kind.tie_width()))
    }

    /// What it said, if it has.
    pub(super) fn scored(&self) -> Option<ScoreDocumentsResponse> {
        match &self.reply {
            ScoreState::Scored(scored) => Some((**scored).clone()),
            ScoreState::Idle | ScoreState::Waiting | ScoreState::Failed(_) => None,
        }
    }
}

/// A text that was made of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManipulatedDocument {
    pub(super) by: Manipulation,
    /// Place and words of the text as it was.
    pub(super) original: (usize, String),
    /// Place and words of what it was made.
    pub(super) made: (usize, String),
}
