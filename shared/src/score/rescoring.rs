//! The scores of a ranker for some of its pairs that are scored again under other conditions:
//! alone, in other batches, with lower precision, on another device.
//!
//! A record contains the scores themselves. How far they differ, and how many verdicts change, is
//! counted when the study is shown ([`crate::study::score_stability`]).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::QueryDocumentPairs;
use crate::probe::{ProbeInstances, StudyDocNo};

/// The maximum number of queries whose pairs are scored again.
const QUERIES: usize = 8;

/// The maximum number of pairs of each of these queries.
const PAIRS_OF_A_QUERY: usize = 16;

/// How the scores of a ranker were computed, and the scores of some pairs under other conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScoreStabilityRecord {
    /// The device, precision and activation of the original scores.
    #[serde(flatten)]
    pub environment: ScoringEnvironment,
    /// The scores under each condition that was available.
    #[serde(alias = "again")]
    pub rescored: Vec<RescoredPairs>,
}

/// The device, the precision and the activation with which scores were computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScoringEnvironment {
    /// Device: `cpu` or `cuda:0`.
    pub device: String,
    /// The precision of weights and activations, for example `f32`.
    pub precision: String,
    /// The nonlinearity of the feed-forward layers, as the model's files name it, and how it is
    /// computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<String>,
}

/// The scores of some pairs under another condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RescoredPairs {
    /// The condition under which they were scored.
    pub condition: RescoringCondition,
    /// The positions of the pairs, ascending.
    pub pairs: Vec<u32>,
    /// The scores, one for each of `pairs`.
    #[serde(alias = "values")]
    pub scores: Vec<f64>,
}

/// How the computation differs from the original one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RescoringCondition {
    /// Each query and document is scored alone, not in a batch.
    #[serde(alias = "alone")]
    Unbatched,
    /// The documents are in the opposite order and in batches of half the size.
    #[serde(alias = "other-order")]
    ReversedBatches,
    /// Weights and activations have 16 bits, IEEE 754 binary16.
    F16,
    /// Weights and activations have 16 bits, bfloat16.
    Bf16,
    /// The scores are computed on the CPU in f32.
    #[serde(alias = "cpu")]
    CpuF32,
}

impl RescoringCondition {
    /// Returns the display label of the rescoring condition, as in `on the CPU in f32`.
    pub fn label(self) -> &'static str {
        match self {
            RescoringCondition::Unbatched => "alone, not in a batch",
            RescoringCondition::ReversedBatches => "in other batches, in reverse order",
            RescoringCondition::F16 => "in f16",
            RescoringCondition::Bf16 => "in bf16",
            RescoringCondition::CpuF32 => "on the CPU in f32",
        }
    }
}

impl ScoringEnvironment {
    /// Returns an environment with this device and precision and an unknown activation.
    pub fn with_unknown_activation(
        device: impl ToString,
        precision: impl ToString,
    ) -> ScoringEnvironment {
        ScoringEnvironment {
            device: device.to_string(),
            precision: precision.to_string(),
            activation: None,
        }
    }
}

impl ScoreStabilityRecord {
    /// Returns the record with other pair numbers: new pair `i` is pair `old[i]` of this record.
    pub fn with_renumbered_pairs(&self, old: &[u32]) -> ScoreStabilityRecord {
        ScoreStabilityRecord {
            rescored: self.rescored.iter().map(|it| it.renumbered(old)).collect(),
            ..self.clone()
        }
    }

    /// Whether the record, which may come from an untrusted file, fits this number of pairs and all
    /// its scores are finite.
    pub fn is_valid_for_pair_count(&self, n_pairs: usize) -> bool {
        self.rescored.iter().all(|it| {
            it.pairs.len() == it.scores.len()
                && it.pairs.is_sorted_by(|a, b| a < b)
                && it.pairs.last().is_none_or(|&it| (it as usize) < n_pairs)
                && it.scores.iter().all(|it| it.is_finite())
        })
    }
}

impl RescoredPairs {
    /// Returns the scores with other pair numbers: new pair `i` is pair `old[i]` of these.
    fn renumbered(&self, old: &[u32]) -> RescoredPairs {
        let known = |it: &u32| Some(self.scores[self.pairs.binary_search(it).ok()?]);
        let each = old.iter().zip(0..);
        let (pairs, values) = each.filter_map(|(it, new)| Some((new, known(it)?))).unzip();
        RescoredPairs {
            condition: self.condition,
            pairs,
            scores: values,
        }
    }
}

/// Returns the positions of at most 128 pairs to score again, ascending. They come from up to 8
/// queries, evenly spread among those that have pairs, with up to 16 documents each. The documents
/// are those of evenly spread instances of the query, of every axiom and variant in turn, so that
/// whole instances have verdicts. If there are no instances, the documents are evenly spread.
pub fn select_pairs_to_rescore(
    pairs: &QueryDocumentPairs,
    instances: &[ProbeInstances],
) -> Vec<u32> {
    let queries: Vec<usize> = (0..pairs.n_queries())
        .filter(|&it| !pairs.documents_of_query(it).is_empty())
        .collect();
    let mut places = Vec::new();
    for query in spread(queries.len(), QUERIES).map(|it| queries[it]) {
        let mut texts = of_instances(instances, query);
        texts.retain(|&it| pairs.position_of_pair(query, it).is_some());
        if texts.is_empty() {
            let of = pairs.documents_of_query(query);
            texts.extend(spread(of.len(), PAIRS_OF_A_QUERY).map(|it| of[it]));
        }
        let found = texts
            .iter()
            .filter_map(|&it| pairs.position_of_pair(query, it));
        places.extend(found.map(|it| it as u32));
    }
    places.sort_unstable();
    places
}

/// Returns the documents of some instances of a query.
fn of_instances(instances: &[ProbeInstances], query: usize) -> Vec<StudyDocNo> {
    let mut chosen: Vec<StudyDocNo> = Vec::new();
    for turn in 0..PAIRS_OF_A_QUERY {
        for it in instances {
            let arity = it.claim.arity();
            let all = it.docs_of_query(query);
            let mut turns = spread(all.len() / arity, PAIRS_OF_A_QUERY);
            let Some(at) = turns.nth(turn) else {
                continue;
            };
            let texts = &all[at * arity..(at + 1) * arity];
            let new: Vec<StudyDocNo> = texts
                .iter()
                .copied()
                .filter(|it| !chosen.contains(it))
                .collect();
            if chosen.len() + new.len() <= PAIRS_OF_A_QUERY {
                chosen.extend(new);
            }
        }
    }
    chosen
}

/// Returns at most `most` of the indexes below `n`, evenly spread.
fn spread(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = n.min(most);
    (0..taken).map(move |it| it * n / taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::fixture;

    #[test]
    fn a_sample_is_spread_over_queries_and_texts() {
        let by_query = (0..30).map(|query| match query {
            3 => Vec::new(),
            _ => (0..100).collect(),
        });
        let pairs = QueryDocumentPairs::from_documents_by_query(by_query);
        let sample = select_pairs_to_rescore(&pairs, &[]);
        assert_eq!(sample.len(), 128);
        assert!(sample.is_sorted_by(|a, b| a < b));
        let mut queries: Vec<u32> = sample.iter().map(|it| it / 100).collect();
        queries.dedup();
        // Every 29/8th of the 29 queries that have pairs.
        assert_eq!(queries, [0, 3, 7, 10, 14, 18, 21, 25]);
        let first: Vec<u32> = sample.iter().take(3).copied().collect();
        assert_eq!(first, [0, 6, 12]);
    }

    #[test]
    fn a_sample_has_whole_instances() {
        let study = fixture::study_with_one_query(
            "river bank",
            &["river bank", "river", "bank of a", "sea"],
            9,
        );
        let sample = select_pairs_to_rescore(&study.pairs, &study.instances);
        let whole = |texts: &[StudyDocNo]| {
            texts.iter().all(|&it| {
                let place = study.pairs.position_of_pair(0, it).unwrap() as u32;
                sample.binary_search(&place).is_ok()
            })
        };
        let instances = study.instances.iter().flat_map(|it| {
            let arity = it.claim.arity();
            it.docs_of_query(0).chunks_exact(arity)
        });
        let instances: Vec<&[StudyDocNo]> = instances.collect();
        assert!(!instances.is_empty() && instances.iter().all(|it| whole(it)));
    }

    #[test]
    fn pairs_that_are_one_in_a_job_are_two_in_the_study() {
        let job = RescoredPairs {
            condition: RescoringCondition::Unbatched,
            pairs: vec![0, 2],
            scores: vec![0.5, 0.25],
        };
        let study = job.renumbered(&[2, 1, 0, 2]);
        assert_eq!(study.pairs, [0, 2, 3]);
        assert_eq!(study.scores, [0.25, 0.5, 0.25]);
    }

    #[test]
    fn what_does_not_fit_is_seen() {
        let certificate = |pairs: &[u32], values: &[f64]| ScoreStabilityRecord {
            environment: ScoringEnvironment::with_unknown_activation("cpu", "f32"),
            rescored: vec![RescoredPairs {
                condition: RescoringCondition::Unbatched,
                pairs: pairs.to_vec(),
                scores: values.to_vec(),
            }],
        };
        assert!(certificate(&[1, 4], &[0.5, 2.0]).is_valid_for_pair_count(5));
        assert!(!certificate(&[1, 4], &[0.5, 2.0]).is_valid_for_pair_count(4));
        assert!(!certificate(&[4, 1], &[0.5, 2.0]).is_valid_for_pair_count(5));
        assert!(!certificate(&[1], &[0.5, 2.0]).is_valid_for_pair_count(5));
        assert!(!certificate(&[1], &[f64::NAN]).is_valid_for_pair_count(5));
    }
}
