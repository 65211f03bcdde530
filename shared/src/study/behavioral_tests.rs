//! Behavioral tests of a study: the effect of every test on every ranker.
//!
//! A sample is two documents of a query. With the difference `x = R(q, d1) − R(q, d2)` its effect
//! is +1 if `x > δ`, −1 if `x < −δ`, else 0, and the score of a ranker is `(positive − negative) /
//! n`, from −1 to 1. MacAvaney et al. (TACL 2022), section 2, test the mean of the differences
//! with a paired t test and Bonferroni's correction over the table, with samples as units. The
//! interval and the test of [`crate::stats::bootstrap`] are reported as well; their units are
//! queries or, in a transfer set, the sources of the pairs.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use super::controls::{InstanceFilter, StudyPageControls};
use super::overview::QuerySplitSize;
use crate::error::{Error, serialize_as_text};
use crate::probe::transfer::UsedAndSkippedPairCounts;
use crate::probe::{AxiomVariant, Probe, ProbeInstances, ScoreClaim, ScoreClaimKind, StudyDocNo};
use crate::score::{RankerInfo, RankerQueryDocumentScores};
use crate::stats::bootstrap::{self, QueryVerdictCounts};
use crate::stats::quantile::median;
use crate::stats::{EstimateWithInterval, t_test};

/// The number of top documents of a query whose adjacent score differences tune δ.
const TOP: usize = 10;

/// A corrected p below this is significant, as in the paper.
pub const SIGNIFICANT: f64 = 0.001;

/// The least score difference that counts as an effect.
///
/// It is written `tuned-per-ranker`, or as a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TieThreshold {
    /// For each ranker, the median difference of adjacent scores in its top 10 of every pool.
    #[default]
    TunedPerRanker,
    /// The same threshold for all rankers.
    Fixed {
        /// The threshold, at least 0.
        width: f64,
    },
}

/// [`TieThreshold::TunedPerRanker`] as it is written.
const TUNED_PER_RANKER: &str = "tuned-per-ranker";

impl fmt::Display for TieThreshold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TieThreshold::TunedPerRanker => out.write_str(TUNED_PER_RANKER),
            TieThreshold::Fixed { width } => write!(out, "{width}"),
        }
    }
}

impl FromStr for TieThreshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<TieThreshold, Error> {
        if text == TUNED_PER_RANKER {
            return Ok(TieThreshold::TunedPerRanker);
        }
        let width = text.parse().map_err(|_| {
            let expected = format!("a number or `{TUNED_PER_RANKER}`");
            Error::unparsable_value("tie_threshold", text, expected)
        });
        Ok(TieThreshold::Fixed { width: width? })
    }
}

serialize_as_text!(TieThreshold);

/// The options of the behavioral tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BehavioralTestOptions {
    /// Only queries of this split count; `None` takes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The tie threshold ε: a number, or `tuned-per-ranker`.
    #[serde(default)]
    pub tie_threshold: TieThreshold,
    /// The lowest grade that counts as relevant, for the slices; `None` takes 2 where there are
    /// such grades, as in the paper, else 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_relevant_grade: Option<i32>,
}

/// The documents whose samples count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RelevanceSlice {
    /// All documents.
    #[default]
    All,
    /// The documents that are relevant to the query.
    Relevant,
    /// The documents that are judged and not relevant.
    NotRelevant,
}

impl RelevanceSlice {
    /// Returns the name of the slice, as used in options and tables.
    pub fn name(self) -> &'static str {
        match self {
            RelevanceSlice::All => "all",
            RelevanceSlice::Relevant => "relevant",
            RelevanceSlice::NotRelevant => "not relevant",
        }
    }

    /// Returns the slices of a behavioral test; a manipulation has all three.
    fn of(probe: Probe) -> &'static [RelevanceSlice] {
        match probe {
            Probe::Manipulation(_) => &[
                RelevanceSlice::All,
                RelevanceSlice::Relevant,
                RelevanceSlice::NotRelevant,
            ],
            _ => &[RelevanceSlice::All],
        }
    }
}

/// A ranker with its tie threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TestedRanker {
    /// The tested ranker, with its parameters and fingerprint.
    pub ranker: RankerInfo,
    /// The name of the ranker in addresses.
    pub slug: String,
    /// δ, in the unit of its scores; `None` if its pools have no two scores to tune it with.
    pub tie_threshold: Option<f64>,
}

/// The effect of a set of samples on one ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BehavioralEffect {
    /// Samples whose first document is preferred by more than δ.
    pub n_positive: u64,
    /// Samples whose scores differ by at most δ.
    pub n_tied: u64,
    /// Samples whose second document is preferred by more than δ.
    pub n_negative: u64,
    /// Samples without both scores; they are not counted elsewhere.
    pub n_unscored: u64,
    /// `(positive − negative) / n`, with the interval by queries.
    pub score: EstimateWithInterval,
    /// The mean of the differences, in the unit of the scores.
    pub mean: f64,
    /// The median of the differences.
    pub median: f64,
    /// The p-value of the paired t test over samples; `None` if there are fewer than two samples
    /// or none differs.
    pub p_samples: Option<f64>,
    /// `p_samples` times the number of tests in the table, at most 1.
    pub p_bonferroni: Option<f64>,
    /// The two-sided p-value of the score against 0, with queries as units.
    pub p_queries: f64,
    /// Queries with a sample or, in a transfer set, sources of pairs.
    pub n_queries: u64,
}

impl BehavioralEffect {
    /// Returns the number of samples for which both documents have a score.
    pub fn n_scored(&self) -> u64 {
        self.n_positive + self.n_tied + self.n_negative
    }

    /// Returns whether the paired t test finds a difference, as marked in the paper.
    pub fn is_significant(&self) -> bool {
        self.p_bonferroni.is_some_and(|it| it < SIGNIFICANT)
    }

    /// Returns whether the two tests disagree: with samples or with queries as units, one finds an
    /// effect and the other does not.
    pub fn has_conflicting_tests(&self) -> bool {
        let [low, high] = self.score.interval;
        let by_queries = low > 0.0 || high < 0.0;
        self.is_significant() != by_queries
    }
}

/// A behavioral test on one slice with its effect on each ranker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BehavioralTestRow {
    /// The probe.
    pub probe: Probe,
    /// The slice.
    pub slice: RelevanceSlice,
    /// The number of samples of the queries that count.
    pub n_samples: u64,
    /// The share of samples kept by a cap per query; 1 without a cap.
    pub sampled_fraction: f64,
    /// One entry for each ranker; `None` if it has no sample with both scores.
    pub effects: Vec<Option<BehavioralEffect>>,
}

/// The results of all behavioral tests of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BehavioralTestResults {
    /// The name of the study.
    pub name: String,
    /// The title of the study.
    pub title: String,
    /// The hash of the instances.
    pub instances_hash: String,
    /// The options with which they were computed.
    pub options: BehavioralTestOptions,
    /// The lowest grade that counts as relevant.
    pub min_relevant_grade: i32,
    /// The number of pairs of each transfer set that were used or left out.
    pub transfer_pair_counts: Vec<(Probe, UsedAndSkippedPairCounts)>,
    /// The splits of the queries.
    pub splits: Vec<QuerySplitSize>,
    /// The rankers, in the order of the study.
    pub rankers: Vec<TestedRanker>,
    /// The rows, in the order of the study.
    pub rows: Vec<BehavioralTestRow>,
    /// The number of tests in the table.
    pub n_tests: u64,
}

impl Study {
    /// Computes the effect of every behavioral test on every ranker.
    pub fn behavioral_tests(
        &self,
        asking: &BehavioralTestOptions,
    ) -> Result<BehavioralTestResults, Error> {
        let controls = StudyPageControls {
            split: asking.split.clone(),
            ..StudyPageControls::default()
        };
        controls.validate_for_study(self)?;
        if let TieThreshold::Fixed { width } = asking.tie_threshold
            && !(width.is_finite() && width >= 0.0)
        {
            return Err(Error::out_of_range(
                "tie_threshold",
                "must be a number of at least 0",
            ));
        }
        let filter = InstanceFilter::from_study_page_controls(self, &controls);
        let rankers: Vec<TestedRanker> = self
            .scores
            .iter()
            .zip(self.ranker_slugs())
            .map(|(it, slug)| TestedRanker {
                ranker: it.ranker.clone(),
                slug,
                tie_threshold: match asking.tie_threshold {
                    TieThreshold::TunedPerRanker => self.tuned_delta(it, &filter),
                    TieThreshold::Fixed { width } => Some(width),
                },
            })
            .collect();
        let relevant_from = asking
            .min_relevant_grade
            .unwrap_or_else(|| self.relevant_from());
        let row = |(probe, slice): (Probe, RelevanceSlice)| {
            let instances = self.instances_of_probe(probe, AxiomVariant::Fixed)?;
            let samples = SampleSelection {
                instances,
                filter: &filter,
                slice,
                relevant_from,
            };
            let each = self.scores.iter().zip(&rankers);
            Ok(BehavioralTestRow {
                probe,
                slice,
                n_samples: self.n_samples(&samples),
                sampled_fraction: instances.sampled_fraction(),
                effects: each
                    .map(|(scores, asked)| {
                        self.effect(&samples, scores, asked.tie_threshold.unwrap_or(0.0))
                    })
                    .collect(),
            })
        };
        let behaviours = self.definition.behavioral_tests();
        let sliced =
            behaviours.flat_map(|it| RelevanceSlice::of(it).iter().map(move |&slice| (it, slice)));
        let mut rows: Vec<BehavioralTestRow> = sliced.map(row).collect::<Result<_, Error>>()?;
        let n_tests = correct(&mut rows);
        Ok(BehavioralTestResults {
            name: self.definition.name.clone(),
            title: self.definition.title.clone(),
            instances_hash: self.instances_hash.clone(),
            options: asking.clone(),
            min_relevant_grade: relevant_from,
            transfer_pair_counts: self.transfer_pair_counts.clone(),
            splits: self.query_splits(),
            rankers,
            rows,
            n_tests,
        })
    }

    /// Returns the median, over all queries, of the differences of adjacent scores among the top
    /// 10 documents of the pool, ordered by the ranker.
    fn tuned_delta(
        &self,
        scores: &RankerQueryDocumentScores,
        filter: &InstanceFilter<'_>,
    ) -> Option<f64> {
        let mut differences = Vec::new();
        for (query, pool) in self.pools.iter().enumerate() {
            if !filter.includes_query(query) {
                continue;
            }
            let score = |text: &StudyDocNo| {
                scores.score_at_position(self.pairs.position_of_pair(query, *text)?)
            };
            let mut ordered: Vec<f64> = pool.iter().filter_map(score).collect();
            ordered.sort_unstable_by(|a, b| b.total_cmp(a));
            ordered.truncate(TOP);
            differences.extend(ordered.windows(2).map(|it| it[0] - it[1]));
        }
        median(&differences)
    }

    /// Returns 2 if a document has a grade of at least 2, else 1.
    fn relevant_from(&self) -> i32 {
        let grades = self.qrels.0.values().flat_map(|it| it.values());
        grades.max().map_or(1, |&it| it.clamp(1, 2))
    }

    /// Returns the samples of a query that are in the slice.
    fn sliced(
        &self,
        samples: &SampleSelection<'_>,
        query: usize,
    ) -> impl Iterator<Item = ScoreClaim<StudyDocNo>> {
        let (slice, from) = (samples.slice, samples.relevant_from);
        samples
            .instances
            .claims_of_query(query)
            .filter(move |claim| {
                let grade = || self.relevance_grade(query, original(*claim));
                match slice {
                    RelevanceSlice::All => true,
                    RelevanceSlice::Relevant => grade().is_some_and(|it| it >= from),
                    RelevanceSlice::NotRelevant => grade().is_some_and(|it| it < from),
                }
            })
    }

    fn n_samples(&self, samples: &SampleSelection<'_>) -> u64 {
        let queries = samples.queries();
        queries
            .map(|it| self.sliced(samples, it).count() as u64)
            .sum()
    }

    /// Returns the effect of the samples of the queries that count.
    fn effect(
        &self,
        samples: &SampleSelection<'_>,
        scores: &RankerQueryDocumentScores,
        delta: f64,
    ) -> Option<BehavioralEffect> {
        let mut differences = Vec::new();
        let mut units = BootstrapUnits::default();
        let mut counts = EffectCounts::default();
        for query in samples.queries() {
            let before = counts;
            for claim in self.sliced(samples, query) {
                let score =
                    |text| scores.score_at_position(self.pairs.position_of_pair(query, text)?);
                match difference(claim, score) {
                    Some(it) => {
                        counts.add(it, delta);
                        differences.push(it);
                    }
                    None => counts.unscored += 1,
                }
            }
            // In a collection with groups, the documents of a query are those of its group.
            let group = self.queries[query].group.as_deref();
            let group = group.filter(|_| samples.instances.probe.is_dataset_transfer());
            units.add(group, counts.since(before));
        }
        let instances = samples.instances;
        let kind = instances.probe.claim_kind(instances.variant);
        effect_of(kind, &differences, counts, &units.counted)
    }
}

/// The units of the bootstrap: queries, where all queries of one source of pairs are one unit.
#[derive(Default)]
struct BootstrapUnits<'a> {
    counted: Vec<QueryVerdictCounts>,
    of_group: BTreeMap<&'a str, usize>,
}

impl<'a> BootstrapUnits<'a> {
    fn add(&mut self, group: Option<&'a str>, counted: QueryVerdictCounts) {
        let place = match group {
            Some(group) => *self.of_group.entry(group).or_insert(self.counted.len()),
            None => self.counted.len(),
        };
        match self.counted.get_mut(place) {
            Some(unit) => {
                unit.n_agreeing += counted.n_agreeing;
                unit.n_verdicts += counted.n_verdicts;
            }
            None => self.counted.push(counted),
        }
    }
}

/// The samples of one behavioral test, with a filter for those that count.
struct SampleSelection<'a> {
    instances: &'a ProbeInstances,
    filter: &'a InstanceFilter<'a>,
    slice: RelevanceSlice,
    relevant_from: i32,
}

impl SampleSelection<'_> {
    fn queries(&self) -> impl Iterator<Item = usize> {
        (0..self.instances.n_queries()).filter(|&it| self.filter.includes_query(it))
    }
}

/// Returns the unchanged document of a sample.
fn original(claim: ScoreClaim<StudyDocNo>) -> StudyDocNo {
    match claim {
        ScoreClaim::Higher { loser, .. } | ScoreClaim::NotLower { loser, .. } => loser,
        ScoreClaim::Different { b, .. } => b,
        ScoreClaim::DiminishingGain { most, .. } => most,
    }
}

/// Counts of positive, tied and negative effects.
#[derive(Debug, Clone, Copy, Default)]
struct EffectCounts {
    positive: u64,
    neutral: u64,
    negative: u64,
    unscored: u64,
}

impl EffectCounts {
    fn add(&mut self, difference: f64, delta: f64) {
        if difference > delta {
            self.positive += 1;
        } else if difference < -delta {
            self.negative += 1;
        } else {
            self.neutral += 1;
        }
    }

    /// Returns the share of positive samples where a neutral one counts half, as counts: the score
    /// is twice that share minus 1, so a share of .5 is a score of 0.
    fn since(self, before: EffectCounts) -> QueryVerdictCounts {
        let positive = self.positive - before.positive;
        let neutral = self.neutral - before.neutral;
        let negative = self.negative - before.negative;
        QueryVerdictCounts {
            n_agreeing: 2 * positive + neutral,
            n_verdicts: 2 * (positive + neutral + negative),
        }
    }
}

/// Returns R(q, d1) − R(q, d2), or `None` without both scores.
fn difference(
    claim: ScoreClaim<StudyDocNo>,
    score: impl FnMut(StudyDocNo) -> Option<f64>,
) -> Option<f64> {
    match claim.replace_docs_with_scores(score)? {
        ScoreClaim::Higher { winner, loser } | ScoreClaim::NotLower { winner, loser } => {
            Some(winner - loser)
        }
        ScoreClaim::Different { a, b } => Some((a - b).abs()),
        ScoreClaim::DiminishingGain { .. } => None,
    }
}

/// Returns the effect of samples with claims of this kind; `by_query` is from
/// [`EffectCounts::since`].
fn effect_of(
    kind: ScoreClaimKind,
    differences: &[f64],
    counts: EffectCounts,
    by_query: &[QueryVerdictCounts],
) -> Option<BehavioralEffect> {
    let fraction = bootstrap::bootstrap_fraction(by_query)?;
    // A symmetric sample has no negative effect.
    let least = match kind {
        ScoreClaimKind::Different => 0.0,
        _ => -1.0,
    };
    let score = |it: f64| (2.0 * it - 1.0).max(least);
    Some(BehavioralEffect {
        n_positive: counts.positive,
        n_tied: counts.neutral,
        n_negative: counts.negative,
        n_unscored: counts.unscored,
        score: EstimateWithInterval {
            value: score(fraction.micro_average.value),
            interval: fraction.micro_average.interval.map(score),
        },
        mean: differences.iter().sum::<f64>() / differences.len() as f64,
        median: median(differences)?,
        p_samples: t_test::one_sample_t_test(differences).map(|it| it.p),
        p_bonferroni: None,
        p_queries: fraction.p,
        n_queries: fraction.n_queries,
    })
}

/// Applies Bonferroni's correction over the table; returns the number of tests.
fn correct(rows: &mut [BehavioralTestRow]) -> u64 {
    let tested = |it: &&mut BehavioralEffect| it.p_samples.is_some();
    let all = |rows: &mut [BehavioralTestRow]| {
        let effects = rows.iter_mut().flat_map(|it| &mut it.effects).flatten();
        effects.filter(tested).count() as u64
    };
    let n_tests = all(rows);
    for effect in rows.iter_mut().flat_map(|it| &mut it.effects).flatten() {
        effect.p_bonferroni = effect.p_samples.map(|it| (it * n_tests as f64).min(1.0));
    }
    n_tests
}

#[cfg(test)]
mod tests;
