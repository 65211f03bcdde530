//! What the columns and rows of a paper's table are about, as `published/*.toml` name it.

use serde::Deserialize;

use super::comparison::{Bm25ComparisonMeasure, RankerComparisonStatistic};
use crate::late_interaction::LateInteractionQuantity;
use crate::probe::Probe;
use crate::study::behavioral_tests::RelevanceSlice;

/// The subject of a column of a paper's table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedColumnSubject {
    /// An axiom.
    Probe(Probe),
    /// An axiom after the repair of a trained ranker: the paper's name and ours. A ranker that is
    /// not trained has the value that it has without.
    Repaired(String, Probe),
    /// A measure: the paper's name and ours.
    Measure(String, String),
    /// A behavioral test: the paper's name, ours, and the slice of documents.
    BehavioralTest(String, Probe, RelevanceSlice),
    /// δ of a ranker, in the unit of its scores.
    Delta,
    /// A measure of a comparison: the paper's name and ours.
    Comparison(String, Bm25ComparisonMeasure),
    /// Late interaction before or after fine-tuning, with its name.
    LateInteraction(String, FineTuningState),
    /// A column that cannot be computed here, with its name.
    NotAvailable(String),
}

impl PublishedColumnSubject {
    pub(super) fn name(&self) -> &str {
        match self {
            PublishedColumnSubject::Probe(probe) => probe.probe_description().name,
            PublishedColumnSubject::Repaired(name, _)
            | PublishedColumnSubject::Measure(name, _)
            | PublishedColumnSubject::BehavioralTest(name, ..)
            | PublishedColumnSubject::Comparison(name, _)
            | PublishedColumnSubject::LateInteraction(name, _)
            | PublishedColumnSubject::NotAvailable(name) => name,
            PublishedColumnSubject::Delta => "δ",
        }
    }
}

/// The subject of a row of a paper's table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedRowSubject {
    /// A ranker. Ours is the first one whose spec contains this word between its colons: `bm25`,
    /// or `monot5` of `NAME:monot5`; a cross-encoder has `cross`.
    Ranker(String),
    /// A ranker that is not available here.
    NotAvailable,
    /// Samples with an outcome, for a ranker as in [`PublishedRowSubject::Ranker`].
    Outcome(String, AbnirmlSampleOutcome),
    /// The number of instances, or of samples.
    Instances,
    /// The number of instances of the queries of a split.
    Split(String),
    /// The number of instances with a relevant document.
    WithRelevantDocument,
    /// How often the claim holds for the grades.
    AgreementWithQrels,
    /// A statistic of a comparison.
    Comparison(RankerComparisonStatistic),
    /// A correlation or a mean of a late-interaction analysis.
    LateInteraction(LateInteractionQuantity),
}

/// Whether an encoder was fine-tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FineTuningState {
    /// The encoder before fine-tuning.
    Before,
    /// The ranker after fine-tuning.
    After,
}

/// The outcome of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbnirmlSampleOutcome {
    /// The first document is preferred.
    Positive,
    /// Neither document is preferred: the scores differ by at most δ.
    Neutral,
    /// The second document is preferred.
    Negative,
}
