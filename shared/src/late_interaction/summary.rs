//! A late-interaction analysis in a few numbers, which compare an encoder before and after
//! fine-tuning.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{LateInteractionRankerAnalysis, LateInteractionWordStatistics};
use crate::stats::correlation::CorrelationWithSampleSize;

/// A late-interaction analysis in sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LateInteractionSummary {
    /// The name of the ranker.
    pub label: String,
    /// Correlation of idf and importance over words.
    pub idf_importance_correlation: Option<CorrelationWithSampleSize>,
    /// Correlation of idf and ΔES over words.
    pub idf_delta_es_correlation: Option<CorrelationWithSampleSize>,
    /// Correlation of idf and spectral ratio over tokens.
    pub idf_spectral_correlation: Option<CorrelationWithSampleSize>,
    /// Mean importance (τ_AP) over words.
    pub mean_importance: Option<f64>,
    /// Mean ΔES over words.
    pub mean_delta_es: Option<f64>,
    /// Mean fraction of best matches that are exact, over words.
    pub mean_exact_share: Option<f64>,
    /// Mean spectral ratio over tokens.
    pub mean_spectral_ratio: Option<f64>,
}

impl LateInteractionRankerAnalysis {
    /// Returns the correlations and means of the analysis.
    pub fn summary(&self) -> LateInteractionSummary {
        let words = |of: &dyn Fn(&LateInteractionWordStatistics) -> Option<f64>| {
            mean_of_known(self.words.iter().map(of))
        };
        LateInteractionSummary {
            label: self.header.ranker.label.clone(),
            idf_importance_correlation: self.idf_importance_correlation,
            idf_delta_es_correlation: self.idf_delta_es_correlation,
            idf_spectral_correlation: self.idf_spectral_correlation,
            mean_importance: words(&|it| it.importance),
            mean_delta_es: words(&|it| it.delta_es),
            mean_exact_share: words(&|it| Some(it.exact_share)),
            mean_spectral_ratio: mean_of_known(self.tokens.iter().map(|it| it.spectral_ratio)),
        }
    }
}

/// Returns the mean of the values that are there; `None` if there is none.
fn mean_of_known(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    let n = known.len() as f64;
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / n)
}

/// A correlation of idf, or a mean, in a [`LateInteractionSummary`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LateInteractionQuantity {
    /// The correlation of idf and term importance.
    IdfImportance,
    /// The correlation of idf and ΔES.
    IdfDeltaEs,
    /// The correlation of idf and the spectral ratio of tokens.
    IdfSpectralRatio,
    /// The mean importance of terms.
    MeanImportance,
    /// The mean ΔES of terms.
    MeanDeltaEs,
    /// The mean fraction of exact matches of terms.
    MeanExactShare,
    /// The mean spectral ratio of tokens.
    MeanSpectralRatio,
}

/// The value of a [`LateInteractionQuantity`]; `None` if the analysis cannot give it.
pub enum LateInteractionQuantityValue {
    /// A correlation of idf.
    Correlation(Option<CorrelationWithSampleSize>),
    /// A mean over terms or tokens.
    Mean(Option<f64>),
}

impl LateInteractionQuantity {
    /// The correlations, which the paper reports.
    pub const CORRELATIONS: [LateInteractionQuantity; 3] = [
        LateInteractionQuantity::IdfImportance,
        LateInteractionQuantity::IdfDeltaEs,
        LateInteractionQuantity::IdfSpectralRatio,
    ];

    /// The means over terms or tokens, which the paper does not report.
    pub const MEANS: [LateInteractionQuantity; 4] = [
        LateInteractionQuantity::MeanImportance,
        LateInteractionQuantity::MeanDeltaEs,
        LateInteractionQuantity::MeanExactShare,
        LateInteractionQuantity::MeanSpectralRatio,
    ];

    /// Returns what is correlated with idf, or averaged.
    pub fn name(self) -> &'static str {
        match self {
            LateInteractionQuantity::IdfImportance => "importance, by term",
            LateInteractionQuantity::IdfDeltaEs => "ΔES, by term",
            LateInteractionQuantity::IdfSpectralRatio => "spectral ratio, by token",
            LateInteractionQuantity::MeanImportance => "importance of a term (τ_AP)",
            LateInteractionQuantity::MeanDeltaEs => "ΔES of a term",
            LateInteractionQuantity::MeanExactShare => "fraction of exact matches of a term",
            LateInteractionQuantity::MeanSpectralRatio => "spectral ratio of a token",
        }
    }

    /// Returns the value of Formal, Piwowarski & Clinchant (ECIR 2021) after fine-tuning, if they
    /// report one.
    pub fn published_value(self) -> Option<f64> {
        match self {
            LateInteractionQuantity::IdfImportance => Some(-0.4),
            LateInteractionQuantity::IdfDeltaEs => Some(0.667),
            LateInteractionQuantity::IdfSpectralRatio => Some(0.77),
            LateInteractionQuantity::MeanImportance
            | LateInteractionQuantity::MeanDeltaEs
            | LateInteractionQuantity::MeanExactShare
            | LateInteractionQuantity::MeanSpectralRatio => None,
        }
    }

    /// Returns the value in a summary.
    pub fn value_in(self, found: &LateInteractionSummary) -> LateInteractionQuantityValue {
        use LateInteractionQuantityValue::{Correlation, Mean};
        match self {
            LateInteractionQuantity::IdfImportance => Correlation(found.idf_importance_correlation),
            LateInteractionQuantity::IdfDeltaEs => Correlation(found.idf_delta_es_correlation),
            LateInteractionQuantity::IdfSpectralRatio => {
                Correlation(found.idf_spectral_correlation)
            }
            LateInteractionQuantity::MeanImportance => Mean(found.mean_importance),
            LateInteractionQuantity::MeanDeltaEs => Mean(found.mean_delta_es),
            LateInteractionQuantity::MeanExactShare => Mean(found.mean_exact_share),
            LateInteractionQuantity::MeanSpectralRatio => Mean(found.mean_spectral_ratio),
        }
    }
}
