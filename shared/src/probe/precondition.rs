//! A precondition as measured: what was counted, what was found, and the bound.

use serde::{Deserialize, Serialize};

#[cfg(feature = "openapi")]
use super::Probe;
use super::{Axiom, IrAxiomsAxiom, Measurement};

/// What was counted for a precondition. The unit is in the name; words belong to the front end.
/// Texts count from 1 in the order of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum MeasuredQuantity {
    /// | |text a| − |text b| |, in terms.
    LengthGap {
        /// The text of one of the lengths.
        a: u8,
        /// The text of the other length.
        b: u8,
    },
    /// |text b| − |text a|, in terms, with its sign.
    LengthLead {
        /// The text whose number is subtracted.
        a: u8,
        /// The text from whose number it is subtracted.
        b: u8,
    },
    /// The length of a text in terms, |text n|.
    Length {
        /// The text that is counted.
        text: u8,
    },
    /// Σ(text n), occurrences of query terms.
    QueryTermOccurrences {
        /// The text that is counted.
        text: u8,
    },
    /// Σ(text b) − Σ(text a), occurrences of query terms.
    QueryTermOccurrenceLead {
        /// The text whose number is subtracted.
        a: u8,
        /// The text from whose number it is subtracted.
        b: u8,
    },
    /// c(w, text 1) − c(w, text 2) for the query term at a place among the distinct terms.
    TermCountLead {
        /// Place among the distinct query terms.
        term: u16,
    },
    /// (c(w, text 3) − c(w, text 2)) − (c(w, text 2) − c(w, text 1)) for one query term.
    TermGainChange {
        /// Place among the distinct query terms.
        term: u16,
    },
    /// Query terms whose count differs.
    DifferingTermCounts,
    /// Query terms whose count differs and that lie in no valid pair of a rarer and a more
    /// common term with swapped counts.
    UnpairedDifferingTerms,
    /// Terms outside of the query that text 2 holds exactly once more than text 1.
    OneExtraTerms,
    /// As [`MeasuredQuantity::OneExtraTerms`], of those that occur in text 1.
    OneExtraSharedTerms,
    /// Distinct query terms in text n.
    Coverage {
        /// The text that is counted.
        text: u8,
    },
    /// Γ(far) − Γ(near), where Γ is the least distance of two distinct query terms, in terms.
    TermDistanceLead {
        /// The text in which they should stand closer.
        near: u8,
        /// The text in which they may stand farther apart.
        far: u8,
    },
    /// How often text 2 is repeated to give text 1.
    Repetitions,
    /// Distinct query terms in text b − those in text a.
    CoverageLead {
        /// The text whose number is subtracted.
        a: u8,
        /// The text from whose number it is subtracted.
        b: u8,
    },
    /// Occurrences of terms outside of the query in text `others` − Σ(text `terms`).
    NonQueryTermExcess {
        /// The text whose other terms are counted.
        others: u8,
        /// The text whose query terms are counted.
        terms: u8,
    },
    /// Occurrences of terms outside of the query in text b − those in text a.
    NonQueryTermLead {
        /// The text whose number is subtracted.
        a: u8,
        /// The text from whose number it is subtracted.
        b: u8,
    },
    /// cos(text near − Q, Q) − cos(text far − Q, Q), by word vectors.
    SimilarityLead {
        /// The text whose other words should be more like the query.
        near: u8,
        /// The text whose other words should be less like the query.
        far: u8,
    },
    /// cos(text 1 − Q, text 2 − Q), by word vectors.
    Similarity,
    /// 1 − cos(text 1 − Q, text 2 − Q), by word vectors.
    Dissimilarity,
    /// | |text 1| − |text 2| | as a share of the longer.
    RelativeLengthGap,
    /// The difference of the sums of query terms as a share of the larger.
    RelativeOccurrenceGap,
    /// The greatest difference of a query term's counts as a share of the larger.
    RelativeCountGap,
    /// The difference of BM25's scores as a share of the larger.
    RelativeScoreGap,
    /// The difference of the greatest and the least idf of the query as a share of the former.
    RelativeIdfGap,
    /// Distinct query terms in both texts; none if they hold different ones.
    SharedQueryTerms,
    /// Distinct query terms in both texts; none if one lacks any.
    SharedQueryTermsIfAll,
    /// By how much text 1 is ahead of text 2 in what the axiom compares.
    AxiomLead {
        /// The axiom that compares them.
        axiom: IrAxiomsAxiom,
    },
    /// | value of text 1 − value of text 2 | in a measurement.
    MeasurementGap {
        /// The measurement that gives the values.
        measure: Measurement,
    },
    /// Value of text 1 − value of text 2 in a measurement.
    MeasurementLead {
        /// The measurement that gives the values.
        measure: Measurement,
    },
    /// Which text an axiom of a formula prefers: 1, −1, or 0 for none.
    AxiomPreference {
        /// The axiom that the formula names.
        #[cfg_attr(feature = "openapi", schema(value_type = Probe))]
        axiom: Axiom,
    },
    /// What comes out of a formula.
    FormulaValue,
}

impl MeasuredQuantity {
    /// Whether it is a number of things; if not, it is a cosine or a difference of two.
    pub fn is_counted(self) -> bool {
        !matches!(
            self,
            MeasuredQuantity::SimilarityLead { .. }
                | MeasuredQuantity::Similarity
                | MeasuredQuantity::Dissimilarity
                | MeasuredQuantity::RelativeLengthGap
                | MeasuredQuantity::RelativeOccurrenceGap
                | MeasuredQuantity::RelativeCountGap
                | MeasuredQuantity::RelativeScoreGap
                | MeasuredQuantity::RelativeIdfGap
                | MeasuredQuantity::AxiomLead { .. }
                | MeasuredQuantity::FormulaValue
                | MeasuredQuantity::MeasurementGap {
                    measure: Measurement::Overlap | Measurement::Similarity,
                }
                | MeasuredQuantity::MeasurementLead {
                    measure: Measurement::Overlap | Measurement::Similarity,
                }
        )
    }
}

/// The relation of a measured value to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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

/// A precondition as measured. It has no value where it cannot be measured, and then fails.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MeasuredPrecondition {
    /// The quantity that was measured, with the texts it is about.
    pub quantity: MeasuredQuantity,
    /// What was found; none if it does not exist, as the distance of two terms in a text
    /// that has one.
    pub value: Option<f64>,
    /// How the value must stand to the bound.
    pub relation: BoundRelation,
    /// None: no bound was set (δ = ∞), every value holds.
    pub bound: Option<f64>,
}

impl MeasuredPrecondition {
    /// Returns whether the measured value holds its bound.
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
