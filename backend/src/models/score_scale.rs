//! Conversion of scores to values from 0 to 1, for programs that expect them.

use neural::{EmbeddingRankerKind, VectorSimilarity};

use crate::models::NeuralRanker;
use crate::models::architecture::{
    JointInputModel, SeparateInputEncoder, SeparateOrJointInputModel,
};
use crate::models::spec::{NeuralRankerKind, ParsedModelSpec};

/// The range of a ranker's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScoreScale {
    /// The output of a classification head with one label.
    Logit,
    /// A log-probability, at most 0.
    LogProbability,
    /// A cosine, from -1 to 1.
    Cosine,
    /// Any number, such as a sum of cosines or an inner product.
    Unbounded,
}

impl ScoreScale {
    /// Maps a score `x` to a value from 0 to 1 that increases with `x`:
    ///
    /// - a logit: `1 / (1 + exp(-x))`, as cross-encoders with one label are trained;
    /// - a log-probability: `exp(x)`;
    /// - a cosine: `(1 + x) / 2`;
    /// - any other number: `(1 + x / (1 + |x|)) / 2`. It saturates more slowly than the logistic
    ///   function, which would map sums of some tens of cosines to 1.
    ///
    /// Different scores can have the same value, for example logits above 36.
    pub(crate) fn to_unit_interval(self, x: f64) -> f64 {
        let unit = match self {
            ScoreScale::Logit => 1.0 / (1.0 + (-x).exp()),
            ScoreScale::LogProbability => x.exp(),
            ScoreScale::Cosine => (1.0 + x) / 2.0,
            ScoreScale::Unbounded => (1.0 + x / (1.0 + x.abs())) / 2.0,
        };
        unit.clamp(0.0, 1.0)
    }
}

impl NeuralRanker {
    /// Returns the scale of the ranker's scores: logit, log probability, cosine or unbounded.
    pub(crate) fn score_scale(&self) -> ScoreScale {
        match &*self.reader {
            SeparateOrJointInputModel::Joint(JointInputModel::Cross(it)) => match it.n_labels() {
                1 => ScoreScale::Logit,
                _ => ScoreScale::LogProbability,
            },
            SeparateOrJointInputModel::Joint(JointInputModel::Mono(_)) => {
                ScoreScale::LogProbability
            }
            SeparateOrJointInputModel::Joint(
                JointInputModel::Interaction(_) | JointInputModel::LambdaMart(_),
            ) => ScoreScale::Unbounded,
            SeparateOrJointInputModel::Expanded(_) => ScoreScale::Unbounded,
            SeparateOrJointInputModel::Independent(it) => match &**it {
                SeparateInputEncoder::Sparse(_)
                | SeparateInputEncoder::Colbert(_)
                | SeparateInputEncoder::Epic(_) => ScoreScale::Unbounded,
                SeparateInputEncoder::Dense(it) => {
                    match (
                        ParsedModelSpec::parse(&self.about.spec).model_use,
                        it.similarity_measure(),
                    ) {
                        (
                            Some(NeuralRankerKind::Dense(EmbeddingRankerKind::BiEncoder)),
                            VectorSimilarity::Cosine,
                        ) => ScoreScale::Cosine,
                        (_, VectorSimilarity::Cosine | VectorSimilarity::Dot) => {
                            ScoreScale::Unbounded
                        }
                    }
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scale_rises_from_0_to_1() {
        // Computed by hand.
        assert_eq!(ScoreScale::Logit.to_unit_interval(0.0), 0.5);
        assert!((ScoreScale::Logit.to_unit_interval(3.0_f64.ln()) - 0.75).abs() < 1e-15);
        assert!((ScoreScale::LogProbability.to_unit_interval(0.25_f64.ln()) - 0.25).abs() < 1e-15);
        assert_eq!(ScoreScale::Cosine.to_unit_interval(-0.5), 0.25);
        assert_eq!(ScoreScale::Unbounded.to_unit_interval(3.0), 0.875);
        assert_eq!(ScoreScale::Unbounded.to_unit_interval(-1.0), 0.25);
        for (scale, from, to) in [
            (ScoreScale::Logit, -30.0, 30.0),
            (ScoreScale::LogProbability, -700.0, 0.0),
            (ScoreScale::Cosine, -1.0, 1.0),
            (ScoreScale::Unbounded, -1e6, 1e6),
        ] {
            let steps = (0..=1000).map(|it| from + (to - from) * f64::from(it) / 1000.0);
            let units: Vec<f64> = steps.map(|it| scale.to_unit_interval(it)).collect();
            assert!(units.is_sorted_by(|a, b| a < b), "{scale:?}");
            assert!(units[0] >= 0.0 && units[1000] <= 1.0, "{scale:?}");
        }
        for x in [f64::MAX, f64::MIN] {
            for scale in [ScoreScale::Logit, ScoreScale::Unbounded] {
                let unit = scale.to_unit_interval(x);
                assert!((0.0..=1.0).contains(&unit), "{scale:?} {x}: {unit}");
            }
        }
    }

    #[test]
    fn a_models_use_decides() {
        let fixture = |name: &str, used: &str| {
            let folder = format!(
                "{}/../neural/tests/fixtures/{name}",
                env!("CARGO_MANIFEST_DIR")
            );
            let models = crate::models::ModelRegistry::with_models_or_default(
                &[folder],
                neural::Device::Cpu,
            )
            .unwrap();
            models
                .get_or_load_ranker(&format!("{name}{used}"))
                .unwrap()
                .score_scale()
        };
        assert_eq!(fixture("tiny", ":bi"), ScoreScale::Cosine);
        assert_eq!(fixture("tiny", ":late"), ScoreScale::Unbounded);
        assert_eq!(fixture("splade-tiny", ":splade"), ScoreScale::Unbounded);
        assert_eq!(fixture("cross-tiny", ":cross"), ScoreScale::Logit);
    }
}
