//! Preconditions as measured: the quantity, its value and the bound.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Probe;
use super::{Axiom, DocumentMeasurement, IrAxiomsAxiom};

/// The quantity of a precondition. Names include the unit; the front end has the labels. Documents
/// are counted from 1 in the order of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum PreconditionQuantity {
    /// | |document a| − |document b| |, in terms.
    LengthGap {
        /// The document with one of the lengths.
        a: u8,
        /// The document with the other length.
        b: u8,
    },
    /// |document b| − |document a|, in terms, signed.
    LengthLead {
        /// The document whose value is subtracted.
        a: u8,
        /// The document from whose value it is subtracted.
        b: u8,
    },
    /// The length of document n in terms, |document n|.
    Length {
        /// The document.
        text: u8,
    },
    /// Σ(document n), the number of occurrences of query terms.
    QueryTermOccurrences {
        /// The document.
        text: u8,
    },
    /// Σ(document b) − Σ(document a), occurrences of query terms.
    QueryTermOccurrenceLead {
        /// The document whose value is subtracted.
        a: u8,
        /// The document from whose value it is subtracted.
        b: u8,
    },
    /// c(w, document 1) − c(w, document 2) for one query term.
    TermCountLead {
        /// The index of the distinct query term.
        term: u16,
    },
    /// (c(w, document 3) − c(w, document 2)) − (c(w, document 2) − c(w, document 1)) for one query
    /// term.
    TermGainChange {
        /// The index of the distinct query term.
        term: u16,
    },
    /// The number of query terms whose counts differ.
    DifferingTermCounts,
    /// The number of query terms whose counts differ and that are in no valid pair of a rarer and a
    /// more common term with swapped counts.
    UnpairedDifferingTerms,
    /// The number of terms outside of the query that occur in document 2 exactly once more than in
    /// document 1.
    OneExtraTerms,
    /// Like [`PreconditionQuantity::OneExtraTerms`], only for terms that occur in document 1.
    OneExtraSharedTerms,
    /// The number of distinct query terms in document n.
    Coverage {
        /// The document.
        text: u8,
    },
    /// Γ(far) − Γ(near), where Γ is the minimum distance of two distinct query terms, in terms.
    TermDistanceLead {
        /// The document in which they should be closer.
        near: u8,
        /// The document in which they may be farther apart.
        far: u8,
    },
    /// How many times document 2 is repeated in document 1.
    Repetitions,
    /// Distinct query terms in document b − those in document a.
    CoverageLead {
        /// The document whose value is subtracted.
        a: u8,
        /// The document from whose value it is subtracted.
        b: u8,
    },
    /// Occurrences of terms outside of the query in document `others` − Σ(document `terms`).
    NonQueryTermExcess {
        /// The document whose other terms are counted.
        others: u8,
        /// The document whose query terms are counted.
        terms: u8,
    },
    /// Occurrences of terms outside of the query in document b − those in document a.
    NonQueryTermLead {
        /// The document whose value is subtracted.
        a: u8,
        /// The document from whose value it is subtracted.
        b: u8,
    },
    /// cos(document near − Q, Q) − cos(document far − Q, Q), by word vectors.
    SimilarityLead {
        /// The document whose other words should be more similar to the query.
        near: u8,
        /// The document whose other words should be less similar to the query.
        far: u8,
    },
    /// cos(document 1 − Q, document 2 − Q), by word vectors.
    Similarity,
    /// 1 − cos(document 1 − Q, document 2 − Q), by word vectors.
    Dissimilarity,
    /// | |document 1| − |document 2| | as a share of the longer length.
    RelativeLengthGap,
    /// The difference of the sums of query-term counts as a share of the larger sum.
    RelativeOccurrenceGap,
    /// The largest difference of a query term's counts as a share of the larger count.
    RelativeCountGap,
    /// The difference of the BM25 scores as a share of the larger score.
    RelativeScoreGap,
    /// The difference of the highest and the lowest idf in the query as a share of the highest.
    RelativeIdfGap,
    /// The number of distinct query terms in both documents; no value if the documents have
    /// different ones.
    SharedQueryTerms,
    /// The number of distinct query terms in both documents; no value if one lacks any.
    SharedQueryTermsIfAll,
    /// By how much document 1 is ahead of document 2 in what the axiom compares.
    AxiomLead {
        /// The axiom that compares them.
        axiom: IrAxiomsAxiom,
    },
    /// | value of document 1 − value of document 2 | in a measurement.
    MeasurementGap {
        /// The measurement.
        measure: DocumentMeasurement,
    },
    /// Value of document 1 − value of document 2 in a measurement.
    MeasurementLead {
        /// The measurement.
        measure: DocumentMeasurement,
    },
    /// The preference of an axiom in a formula: 1 for document 1, −1 for document 2, or 0.
    AxiomPreference {
        /// The axiom in the formula.
        #[schema(value_type = Probe)]
        axiom: Axiom,
    },
    /// The value of a formula.
    FormulaValue,
}

impl PreconditionQuantity {
    /// Whether the quantity is a count; otherwise it is a real number such as a cosine.
    pub fn is_count(self) -> bool {
        !matches!(
            self,
            PreconditionQuantity::SimilarityLead { .. }
                | PreconditionQuantity::Similarity
                | PreconditionQuantity::Dissimilarity
                | PreconditionQuantity::RelativeLengthGap
                | PreconditionQuantity::RelativeOccurrenceGap
                | PreconditionQuantity::RelativeCountGap
                | PreconditionQuantity::RelativeScoreGap
                | PreconditionQuantity::RelativeIdfGap
                | PreconditionQuantity::AxiomLead { .. }
                | PreconditionQuantity::FormulaValue
                | PreconditionQuantity::MeasurementGap {
                    measure: DocumentMeasurement::Overlap | DocumentMeasurement::Similarity,
                }
                | PreconditionQuantity::MeasurementLead {
                    measure: DocumentMeasurement::Overlap | DocumentMeasurement::Similarity,
                }
        )
    }
}

/// The relation of a measured value to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoundRelation {
    /// The value is at most the bound: `<=`.
    AtMost,
    /// The value is at least the bound: `>=`.
    AtLeast,
    /// The value is greater than the bound: `>`.
    MoreThan,
    /// The value is equal to the bound: `=`.
    Equal,
}

/// A precondition as measured. Without a value it fails.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MeasuredPrecondition {
    /// The quantity that was measured, with the documents it is about.
    pub quantity: PreconditionQuantity,
    /// The measured value; `None` if it does not exist, such as the distance of two terms in a
    /// document with only one.
    pub value: Option<f64>,
    /// How the value must relate to the bound.
    pub relation: BoundRelation,
    /// The bound; `None` if there is none (δ = ∞) and every value holds.
    pub bound: Option<f64>,
}

impl MeasuredPrecondition {
    /// Returns whether the measured value satisfies the bound.
    pub fn holds(&self) -> bool {
        let Some(bound) = self.bound else { return true };
        let Some(value) = self.value else {
            return false;
        };
        match self.relation {
            BoundRelation::AtMost => value <= bound,
            BoundRelation::AtLeast => value >= bound,
            BoundRelation::MoreThan => value > bound,
            BoundRelation::Equal => value == bound,
        }
    }
}
