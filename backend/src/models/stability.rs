//! Score stability checks: some pairs of a run are scored again, alone, in other batches, and with
//! another precision or device.

use neural::{Device, DeviceAndPrecision, FloatPrecision};
use shared::score::rescoring::{
    RescoredPairs, RescoringCondition, ScoreStabilityRecord, ScoringEnvironment,
};

use crate::error::Error;
use crate::models::{NeuralRanker, PairScore, QueryDocumentPairsWithTexts, TOKEN_BUDGET};
use crate::store::partial_scores::PartialScores;

/// Returns the conditions with another precision or device under which pairs are scored again.
fn elsewhere(run: DeviceAndPrecision) -> Vec<(RescoringCondition, DeviceAndPrecision)> {
    let on_cpu = (
        RescoringCondition::CpuF32,
        DeviceAndPrecision::from(Device::Cpu),
    );
    let here = |condition, precision| (condition, DeviceAndPrecision { precision, ..run });
    let fewer = [
        here(RescoringCondition::F16, FloatPrecision::F16),
        here(RescoringCondition::Bf16, FloatPrecision::Bf16),
    ];
    match (run.device, run.precision) {
        // One condition is enough on the CPU, which is slow.
        (Device::Cpu, FloatPrecision::F32) => vec![fewer[0]],
        (Device::Cuda(_) | Device::Metal(_), FloatPrecision::F32) => {
            [fewer.as_slice(), &[on_cpu]].concat()
        }
        (_, FloatPrecision::F16 | FloatPrecision::Bf16) => vec![on_cpu],
    }
}

impl NeuralRanker {
    /// Scores the pairs `sample` (indices into the pairs of a run) again under every condition that
    /// is available here. Returns `None` if `go_on` returns false in between.
    pub(crate) fn rescore_sample_under_conditions(
        &self,
        run: &QueryDocumentPairsWithTexts<'_>,
        sample: &[u32],
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<ScoreStabilityRecord>, Error> {
        let pairs: Vec<(u32, u32)> = sample.iter().map(|&it| run.pairs[it as usize]).collect();
        let listed = &QueryDocumentPairsWithTexts {
            pairs: &pairs,
            ..*run
        };
        let rescored = |condition, values| RescoredPairs {
            condition,
            pairs: sample.to_vec(),
            scores: values,
        };
        let Some(alone) = self.without_cached_queries().each_alone(listed, go_on)? else {
            return Ok(None);
        };
        let mut again = vec![
            rescored(RescoringCondition::Unbatched, alone),
            rescored(
                RescoringCondition::ReversedBatches,
                self.without_cached_queries().in_other_order(listed)?,
            ),
        ];
        for (condition, computing) in elsewhere(self.computing) {
            if !go_on() {
                return Ok(None);
            }
            match self.once_more(listed, computing) {
                Ok(values) => again.push(rescored(condition, values)),
                // Some architectures do not support a condition, and some weights are too large for
                // f16.
                Err(error) => tracing::info!(
                    "{}: score stability not checked ({}): {error}",
                    self.about.spec,
                    condition.label()
                ),
            }
        }
        Ok(Some(ScoreStabilityRecord {
            environment: ScoringEnvironment {
                activation: self.feed_forward_activation(),
                ..ScoringEnvironment::with_unknown_activation(
                    self.computing.device,
                    self.computing.precision,
                )
            },
            rescored: again,
        }))
    }

    /// Scores pairs in the batches of a run, with the same weights on another device or with
    /// another precision. Returns an error if the weights have changed.
    fn once_more(
        &self,
        listed: &QueryDocumentPairsWithTexts<'_>,
        computing: DeviceAndPrecision,
    ) -> Result<Vec<f64>, Error> {
        let other = self.place.load(computing, &[], |_| Ok(self.model_use))?;
        if other.weights_sha256 != self.weights_sha256 {
            return Err(Error::ModelNotFound {
                model: self.about.spec.clone(),
                reason: "has other weights by now".to_owned(),
            });
        }
        let other = other.with_long_document_strategy(self.passages);
        let mut other = other.with_n_generated_queries(self.expansion.n_queries);
        other
            .expansion
            .statistics
            .clone_from(&self.expansion.statistics);
        let scored = other.score_pairs(listed, &mut PartialScores::empty_without_file(), |_| {})?;
        Ok(scored.iter().map(|it| it.score).collect())
    }

    fn each_alone(
        &self,
        listed: &QueryDocumentPairsWithTexts<'_>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<f64>>, Error> {
        let alone = |&(query, text): &(u32, u32)| {
            if !go_on() {
                return Ok(None);
            }
            let (query, text) = (query as usize, text as usize);
            let (query, text) = (&listed.queries[query..=query], &listed.documents[text]);
            let prepared = self.encode_queries_of_pairs(query, &[(0, 0)], TOKEN_BUDGET)?;
            let scored = self.score_batch_for_queries(&prepared, &[(0, text)])?;
            Ok(Some(scored[0].score))
        };
        listed.pairs.iter().map(alone).collect()
    }

    fn in_other_order(&self, listed: &QueryDocumentPairsWithTexts<'_>) -> Result<Vec<f64>, Error> {
        let QueryDocumentPairsWithTexts {
            queries,
            documents: texts,
            pairs,
        } = *listed;
        let budget = TOKEN_BUDGET / 2;
        let prepared = self.encode_queries_of_pairs(queries, pairs, budget)?;
        let mut scored: Vec<PairScore> = Vec::with_capacity(pairs.len());
        for batch in self
            .plan_scoring_batches(texts, pairs, budget)?
            .iter()
            .rev()
        {
            let turned = batch.iter().rev();
            let batch: Vec<(u32, &str)> = turned
                .map(|&it| (it, texts[it as usize].as_str()))
                .collect();
            scored.extend(self.score_batch_for_queries(&prepared, &batch)?);
        }
        scored.sort_unstable_by_key(|it| it.pair);
        Ok(scored.iter().map(|it| it.score).collect())
    }
}
