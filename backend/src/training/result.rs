//! The effectiveness of the result of a training, with its controls.

use shared::training::{EffectivenessControls, MeasureValues};

use super::examples::{PreparedCandidates, measure_values, standard_errors};
use super::ranker_in_training::RankerInTraining;
use crate::error::Error;

/// The candidates of all splits as a ranker reads them.
pub(super) struct PreparedSplits<'a, R: RankerInTraining> {
    pub training: &'a PreparedCandidates<'a, R>,
    pub dev: &'a PreparedCandidates<'a, R>,
    pub test: Option<&'a PreparedCandidates<'a, R>>,
}

/// The effectiveness of a trained ranker.
pub(super) struct ResultEffectiveness {
    /// The measures on the development queries.
    pub dev: MeasureValues,
    /// The measures on the test queries.
    pub test: Option<MeasureValues>,
    /// The controls on the test queries, or else on the development queries.
    pub controls: EffectivenessControls,
}

impl ResultEffectiveness {
    /// Evaluates a trained ranker; `seed` is that of the swapped queries.
    pub(super) fn evaluate<R: RankerInTraining>(
        ranker: &R,
        splits: &PreparedSplits<'_, R>,
        seed: u64,
    ) -> Result<ResultEffectiveness, Error> {
        let dev = splits.dev.evaluate(ranker)?;
        let test = splits.test.map(|it| it.evaluate(ranker)).transpose()?;
        let controlled = splits.test.unwrap_or(splits.dev);
        let mut controls = controlled.evaluate_controls(ranker, splits.training, seed)?;
        controls.standard_error = standard_errors(test.as_ref().unwrap_or(&dev));
        Ok(ResultEffectiveness {
            dev: measure_values(&dev.mean),
            test: test.map(|it| measure_values(&it.mean)),
            controls,
        })
    }
}
