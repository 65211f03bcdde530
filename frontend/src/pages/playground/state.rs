//! The state of the Playground page.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use shared::api::{CollectionStatisticsResponse, GetInstanceRequest, ScoreDocumentsResponse};
use shared::probe::{Manipulation, ScoreClaim};
use shared::score::RankerInfo;
use shared::study::instance_details::{InstanceDetails, QueryTermInfo};
use shared::study::playground::PlaygroundResult;
use shared::text::Analyzer;
use shared::verdict::VerdictWithMargin;

use super::input::{
    PlaygroundInput, PlaygroundSettings, PlaygroundSettingsField, PlaygroundSettingsFieldError,
};
use super::text_history::TextUndoHistory;
use crate::api::{self, RequestError};
use crate::old_addresses::{PLAYGROUND, with_old_names};
use crate::pages::study::address::{InstanceView, variant_from_address};
use crate::widgets::form::FormValuesAndErrors;

/// Lists the display names of the documents, of which there are at most three.
pub(super) const NAMES: [&str; 3] = ["A", "B", "C"];

/// The state of the Playground page.
#[derive(Clone, Copy)]
pub(crate) struct PlaygroundState {
    pub(super) query: RwSignal<String>,
    /// Two or three documents.
    pub(super) documents: RwSignal<Vec<TextUndoHistory>>,
    pub(super) settings: RwSignal<PlaygroundSettings>,
    /// The instance that was opened, if any.
    pub(super) origin: RwSignal<Option<StudyInstanceFromUrl>>,
    /// The content before something else was opened, and the name of what was opened.
    pub(super) previous: RwSignal<Option<(String, PlaygroundInput)>>,
    /// The statistics of the chosen collection; none if the documents are the collection.
    pub(super) collection: LocalResource<Option<CollectionStatisticsFetchResult>>,
    pub(super) answer: RwSignal<PlaygroundEvaluationState>,
    /// Neural rankers with their scores.
    pub(super) neural_rankers: RwSignal<Vec<NeuralRankerWithScores>>,
    /// The document that was last derived from another one.
    pub(super) manipulated: RwSignal<Option<AppliedManipulation>>,
}

/// A collection whose statistics were requested.
#[derive(Debug, Clone)]
pub(super) struct CollectionStatisticsFetchResult {
    pub(super) study: String,
    pub(super) stats: Result<Rc<CollectionStatisticsResponse>, RequestError>,
}

/// The state of the evaluation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlaygroundEvaluationState {
    /// The input is empty.
    Blank,
    /// The statistics are being loaded.
    Loading,
    Answered(Arc<PlaygroundResult>),
    /// Some fields have errors.
    Invalid(Vec<PlaygroundSettingsFieldError>),
    /// The input cannot be evaluated, for this reason.
    Rejected(String),
    /// The statistics could not be loaded.
    Failed(RequestError),
}

impl PlaygroundState {
    /// Returns the current input, as in a link.
    pub(super) fn current_input(self) -> PlaygroundInput {
        PlaygroundInput {
            query: self.query.get(),
            documents: self
                .documents
                .with(|it| it.iter().map(|it| it.current_text().to_owned()).collect()),
            settings: self.settings.get(),
        }
    }

    /// Replaces the content with another input and keeps the previous one, so that it can be
    /// restored.
    pub(super) fn open_input_keeping_previous(self, what: &str, sheet: PlaygroundInput) {
        let before = untrack(|| self.current_input());
        let kept = (!before.is_blank()).then(|| (what.to_owned(), before));
        self.previous.set(kept);
        self.origin.set(None);
        self.set_current_input(sheet);
    }

    /// Replaces the content of the page.
    pub(super) fn set_current_input(self, sheet: PlaygroundInput) {
        let texts = sheet.documents.into_iter().map(TextUndoHistory::new);
        batch(|| {
            self.query.set(sheet.query);
            self.documents.set(texts.collect());
            self.settings.set(sheet.settings);
        });
    }

    pub(super) fn evaluation_result(self) -> Option<Arc<PlaygroundResult>> {
        self.answer.with(|it| match it {
            PlaygroundEvaluationState::Answered(answer) => Some(Arc::clone(answer)),
            PlaygroundEvaluationState::Blank
            | PlaygroundEvaluationState::Loading
            | PlaygroundEvaluationState::Invalid(_)
            | PlaygroundEvaluationState::Rejected(_)
            | PlaygroundEvaluationState::Failed(_) => None,
        })
    }

    /// Returns the distinct query terms; empty if there is no answer.
    pub(super) fn query_term_infos(self) -> Vec<QueryTermInfo> {
        self.evaluation_result()
            .map(|it| it.terms.clone())
            .unwrap_or_default()
    }

    /// Returns the analyzer of the chosen collection.
    pub(super) fn collection_analyzer(self) -> Option<Analyzer> {
        let study = self.settings.with(|it| it.study.clone())?;
        let collection = self
            .collection
            .get()
            .flatten()
            .filter(|it| it.study == study)?;
        Some(collection.stats.ok()?.analyzer.clone())
    }

    /// Returns the settings with their errors.
    pub(super) fn settings_with_errors(
        self,
    ) -> FormValuesAndErrors<PlaygroundSettings, PlaygroundSettingsField> {
        let wrong = Signal::derive(move || match self.answer.get() {
            PlaygroundEvaluationState::Invalid(wrong) => wrong,
            PlaygroundEvaluationState::Blank
            | PlaygroundEvaluationState::Loading
            | PlaygroundEvaluationState::Answered(_)
            | PlaygroundEvaluationState::Rejected(_)
            | PlaygroundEvaluationState::Failed(_) => Vec::new(),
        });
        FormValuesAndErrors {
            values: self.settings,
            errors: wrong,
        }
    }

    /// Returns whether the page shows the example that it opens with.
    pub(super) fn is_example_memo(self) -> Memo<bool> {
        Memo::new(move |_| self.current_input() == PlaygroundInput::opening_example())
    }

    /// Returns the number of documents.
    pub(super) fn n_documents_memo(self) -> Memo<usize> {
        Memo::new(move |_| self.documents.with(Vec::len))
    }
}

/// The instance of a study that the address names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StudyInstanceFromUrl(pub(super) GetInstanceRequest);

impl StudyInstanceFromUrl {
    /// Reads `study`, `probe`, `variant` and `number` from the parameters of an address. Without a
    /// variant, the instance is of the first variant of the study.
    pub(super) fn from_address_parameters(
        word: impl Fn(&str) -> Option<String>,
    ) -> Option<StudyInstanceFromUrl> {
        let word = with_old_names(PLAYGROUND, word);
        Some(StudyInstanceFromUrl(GetInstanceRequest {
            study: word("study")?,
            probe: word("probe")?.parse().ok()?,
            variant: variant_from_address(&word),
            number: word("number")?.parse().ok()?,
            tie_threshold: None,
        }))
    }

    /// Returns the address of the page of the instance.
    pub(super) fn href(&self) -> String {
        let GetInstanceRequest {
            study,
            probe,
            variant,
            number,
            ..
        } = &self.0;
        InstanceView::default().href(study, *probe, *variant, *number)
    }

    pub(super) async fn fetch_as_input(self) -> Result<PlaygroundInput, RequestError> {
        let StudyInstanceFromUrl(request) = self;
        let InstanceDetails {
            query,
            docs: texts,
            variant,
            ..
        } = api::send_and_parse(&request).await?;
        Ok(PlaygroundInput {
            query: query.text,
            documents: texts.into_iter().map(|it| it.text.text).collect(),
            settings: PlaygroundSettings {
                study: Some(request.study),
                variant,
                ..PlaygroundSettings::default_settings()
            },
        })
    }
}

/// A neural ranker with its scores for the documents.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NeuralRankerWithScores {
    pub(super) ranker: RankerInfo,
    pub(super) scores: ScoringRequestState,
}

/// The state of a scoring request: idle, pending, scored or failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScoringRequestState {
    /// The query or a document is empty.
    Idle,
    Waiting,
    Scored(Arc<ScoreDocumentsResponse>),
    Failed(RequestError),
}

impl NeuralRankerWithScores {
    /// Returns the verdict of the ranker for a claim over the documents.
    pub(super) fn verdict_for_claim(&self, claim: ScoreClaim<u32>) -> Option<VerdictWithMargin> {
        let ScoringRequestState::Scored(scored) = &self.scores else {
            return None;
        };
        let scored =
            claim.replace_docs_with_scores(|text| scored.scores.get(text as usize).copied())?;
        Some(scored.verdict(self.ranker.kind.default_tie_threshold()))
    }

    /// Returns the response with the scores, if there is one.
    pub(super) fn score_response(&self) -> Option<&ScoreDocumentsResponse> {
        match &self.scores {
            ScoringRequestState::Scored(scored) => Some(scored),
            ScoringRequestState::Idle
            | ScoringRequestState::Waiting
            | ScoringRequestState::Failed(_) => None,
        }
    }
}

/// A document that was derived from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AppliedManipulation {
    pub(super) manipulation: Manipulation,
    /// The position and text of the original document.
    pub(super) original: (usize, String),
    /// The position and text of the derived document.
    pub(super) derived: (usize, String),
}
