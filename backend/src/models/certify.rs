//! Certificates: some pairs of a run scored once more, alone, in other batches, in fewer bits.

use shared::score::certificate::{Certificate, Condition, Rescored};

use crate::error::Error;
use crate::models::{Listed, PairScore, Ranker, TOKEN_BUDGET};

impl Ranker {
    /// Scores `sample`, places in the pairs of a run, once more under every condition that can be
    /// had here.
    pub(crate) fn certify(&self, run: &Listed<'_>, sample: &[u32]) -> Result<Certificate, Error> {
        let pairs: Vec<(u32, u32)> = sample.iter().map(|&it| run.pairs[it as usize]).collect();
        let listed = &Listed {
            pairs: &pairs,
            ..*run
        };
        let rescored = |condition, values| Rescored {
            condition,
            pairs: sample.to_vec(),
            values,
        };
        let again = vec![
            rescored(Condition::Alone, self.each_alone(listed)?),
            rescored(Condition::OtherOrder, self.in_other_order(listed)?),
        ];
        Ok(Certificate {
            device: self.device.to_string(),
            precision: "f32".to_owned(),
            activation: self.activation(),
            again,
        })
    }

    fn each_alone(&self, listed: &Listed<'_>) -> Result<Vec<f64>, Error> {
        let Listed {
            queries,
            texts,
            pairs,
        } = *listed;
        let alone = |&(query, text): &(u32, u32)| {
            let (query, text) = (query as usize, text as usize);
            let (query, text) = (&queries[query..=query], &texts[text]);
            let prepared = self.prepare(query, &[(0, 0)], TOKEN_BUDGET)?;
            let scored = self.score_batch(&prepared, &[(0, text)])?;
            Ok(scored[0].score)
        };
        pairs.iter().map(alone).collect()
    }

    fn in_other_order(&self, listed: &Listed<'_>) -> Result<Vec<f64>, Error> {
        let Listed {
            queries,
            texts,
            pairs,
        } = *listed;
        let budget = TOKEN_BUDGET / 2;
        let prepared = self.prepare(queries, pairs, budget)?;
        let mut scored: Vec<PairScore> = Vec::with_capacity(pairs.len());
        for batch in self.plan(texts, pairs, budget)?.iter().rev() {
            let turned = batch.iter().rev();
            let batch: Vec<(u32, &str)> = turned
                .map(|&it| (it, texts[it as usize].as_str()))
                .collect();
            scored.extend(self.score_batch(&prepared, &batch)?);
        }
        scored.sort_unstable_by_key(|it| it.pair);
        Ok(scored.iter().map(|it| it.score).collect())
    }
}
