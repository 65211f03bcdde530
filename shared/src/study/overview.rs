//! The Study page: rankers × axioms, effectiveness, counts, agreement with judgments.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use super::analyzer_audit::InstanceRetentionUnderAnalyzer;
use super::controls::{InstanceFilter, StudyPageControls};
use super::measures::MEASURES;
use super::score_stability::ScoreStabilitySummary;
use super::trained_rankers::TrainedRankerOverview;
use crate::collection::Query;
use crate::error::Error;
use crate::index::DocumentAndTermTotals;
use crate::probe::{
    AxiomVariant, CandidatePoolSpec, MiningThresholds, Probe, ProbeInstances, ScoreClaim,
    ScoreClaimKind, StudyDocNo, TieAgreementWithClaim,
};
use crate::score::{RankerInfo, RankerQueryDocumentScores, disambiguate_labels};
use crate::stats::bootstrap::{self, QueryVerdictCounts};
use crate::stats::multiple_testing::holm_correction;
use crate::stats::{EstimateWithInterval, bootstrap::SatisfiedFractionEstimates};
use crate::verdict::{ClaimOutcomeCounts, VerdictWithMargin};

/// A study in a list, with the data of its card and a small heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudySummary {
    /// The name in addresses.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// A description in about two sentences.
    pub description: String,
    /// When its instances were mined: `2026-11-20`.
    #[serde(rename = "made")]
    pub created: String,
    /// The hash of its instances.
    #[serde(rename = "hash")]
    pub instances_hash: String,
    /// The number of queries.
    pub n_queries: u64,
    /// The number of documents of the whole collection.
    pub n_docs: u64,
    /// The number of instances in the first variant.
    pub n_instances: u64,
    /// The number of behavioral tests.
    #[serde(default)]
    #[serde(rename = "n_behaviours")]
    pub n_behavioral_tests: u64,
    /// Labels of the rankers, in order.
    pub rankers: Vec<String>,
    /// The columns of `fractions`.
    pub probes: Vec<Probe>,
    /// The fractions satisfied, rankers × probes, in the first variant.
    pub fractions: Vec<Vec<Option<f64>>>,
    /// Whether visitors see it.
    #[serde(rename = "published")]
    pub is_published: bool,
}

/// The data of the Study page for one state of its controls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyOverview {
    /// The name in addresses.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// A description in about two sentences.
    pub description: String,
    /// When its instances were mined: `2026-11-20`.
    pub created: String,
    /// Version of the software that mined them.
    pub software: String,
    /// The hash of the collection.
    pub collection_hash: String,
    /// The hash of the instances.
    pub instances_hash: String,
    /// Totals of the whole collection.
    pub totals: DocumentAndTermTotals,
    /// The number of queries that the controls select.
    pub n_queries: u64,
    /// The splits of the queries and the number of queries in each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<QuerySplitSize>,
    /// The number of unique pairs of query and document for these queries.
    pub n_pairs: u64,
    /// How texts become terms: [`crate::text::Analyzer::describe`].
    pub analyzer: String,
    /// Which documents are compared.
    pub pool: CandidatePoolSpec,
    /// The thresholds that decide what becomes an instance.
    pub limits: MiningThresholds,
    /// The controls with which it was aggregated.
    pub controls: StudyPageControls,
    /// Whether the length tolerance and the tie threshold cannot be changed, since the study is too
    /// large for its host, which has only files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_fixed_thresholds: bool,
    /// The variant that is shown.
    pub variant: AxiomVariant,
    /// The variants that were mined.
    pub variants: Vec<AxiomVariant>,
    /// The rows, one for each ranker.
    pub rows: Vec<RankerOverviewRow>,
    /// How many rankers of the definition have no scores yet.
    #[serde(default)]
    pub n_unscored_rankers: u64,
    /// The columns, one for each axiom.
    pub columns: Vec<AxiomOverviewColumn>,
    /// The number of behavioral tests, whose results are in [`super::behavioral_tests`].
    #[serde(default)]
    pub n_behavioral_tests: u64,
    /// The number of tests that the correction of `p_holm` takes into account.
    pub n_tests: u64,
    /// Names of the measures in [`RankerOverviewRow::effectiveness`]: `nDCG@10`.
    pub measures: Vec<String>,
    /// How many instances of this variant remain under other analyzers.
    #[serde(default)]
    pub audits: Vec<InstanceRetentionUnderAnalyzer>,
    /// Remarks on missing data: documents without text, unscored pairs, …
    pub remarks: Vec<String>,
    /// Whether the texts are withheld: [`Study::without_texts`].
    #[serde(default)]
    pub has_withheld_texts: bool,
}

/// A split of the queries with its number of queries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuerySplitSize {
    /// `train`, `dev`, `test`.
    pub name: String,
    /// The number of queries in it.
    pub n_queries: u64,
}

/// One ranker with its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerOverviewRow {
    /// The ranker of this row of the heat map.
    pub ranker: RankerInfo,
    /// The name of the ranker in addresses.
    pub slug: String,
    /// One cell for each column; `None` if the axiom has no instance with a verdict.
    pub cells: Vec<Option<RankerAxiomResult>>,
    /// One value for each measure, over the pool; `None` without judgments.
    pub effectiveness: Vec<Option<f64>>,
    /// The number of pairs without a score.
    pub n_unscored: u64,
    /// The number of pairs of which the ranker read only a part.
    pub n_truncated: u64,
    /// The result of the score stability check, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<ScoreStabilitySummary>,
    /// How it was trained, if it was trained for the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainedRankerOverview>,
}

impl RankerOverviewRow {
    /// Returns the number of pairs of which the ranker read only a part, or `None` if that is
    /// unknown.
    pub fn n_truncated_pairs_if_known(&self) -> Option<u64> {
        let known = self.ranker.kind.reports_truncation() || self.n_truncated > 0;
        known.then_some(self.n_truncated)
    }
}

impl StudyOverview {
    /// Returns the overview with labels of rankers that sentences and tables tell apart.
    #[must_use]
    pub fn with_distinct_labels(mut self) -> StudyOverview {
        disambiguate_labels(self.rows.iter_mut().map(|it| &mut it.ranker));
        self
    }

    /// Returns whether a trained ranker has effectiveness values for another query.
    pub fn has_swapped_effectiveness(&self) -> bool {
        let mut trained = self.rows.iter().filter_map(|it| it.training.as_ref());
        trained.any(|it| it.swapped_effectiveness.iter().any(Option::is_some))
    }
}

/// The result of one ranker on one axiom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankerAxiomResult {
    /// The counts of outcomes.
    pub tally: ClaimOutcomeCounts,
    /// The fraction over instances, with the interval by queries.
    pub micro_average: EstimateWithInterval,
    /// The mean over queries of the fraction within each query.
    pub macro_average: EstimateWithInterval,
    /// Two-sided, against a fraction of .5, from the same draws as the interval.
    pub p: f64,
    /// `p` after Holm's correction over all cells of the table.
    pub p_holm: f64,
    /// The number of queries with at least one instance with a verdict.
    pub n_queries: u64,
    /// The least difference from .5 that this number of queries can detect:
    /// [`SatisfiedFractionEstimates::detectable_difference`].
    #[serde(default)]
    pub detectable_difference: Option<f64>,
    /// The fraction over instances whose documents the ranker read in full, where that differs.
    pub untruncated_fraction: Option<f64>,
}

impl RankerAxiomResult {
    /// Returns the share of the instances that have a verdict, since all their documents have
    /// scores.
    pub fn scored_fraction(&self) -> f64 {
        let judged = self.tally.n_with_verdict();
        judged as f64 / (judged + self.tally.unscored).max(1) as f64
    }
}

/// One axiom with the counts of its instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AxiomOverviewColumn {
    /// The probe of the column.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// The claim of its instances.
    pub claim: ScoreClaimKind,
    /// The number of instances that the controls select.
    pub n_instances: u64,
    /// The number of instances that the controls select, by split of the query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub n_per_split: Vec<u64>,
    /// Instances with a relevant document.
    pub n_with_relevant: u64,
    /// Instances whose reverse (the same two documents in the other order) is an instance as well.
    pub n_both_orders: u64,
    /// The share of instances kept by a cap per query; 1 without a cap.
    pub sampled_fraction: f64,
    /// How often the claim holds for the grades, over instances whose grades differ; `None` if
    /// there is no such instance.
    pub qrels_cell: Option<RankerAxiomResult>,
}

impl Study {
    /// Returns the summary of the study for a list.
    pub fn summary(&self, published: bool) -> Result<StudySummary, Error> {
        let overview = self.overview(&StudyPageControls::default())?;
        let overview = overview.with_distinct_labels();
        let fractions = overview.rows.iter().map(|row| {
            row.cells
                .iter()
                .map(|it| it.as_ref().map(|it| it.micro_average.value))
                .collect()
        });
        Ok(StudySummary {
            fractions: fractions.collect(),
            name: overview.name,
            title: overview.title,
            description: overview.description,
            created: overview.created,
            instances_hash: overview.instances_hash,
            n_queries: overview.n_queries,
            n_docs: overview.totals.n_docs,
            n_behavioral_tests: overview.n_behavioral_tests,
            n_instances: overview.columns.iter().map(|it| it.n_instances).sum(),
            rankers: overview
                .rows
                .into_iter()
                .map(|it| it.ranker.label)
                .collect(),
            probes: overview.columns.into_iter().map(|it| it.probe).collect(),
            is_published: published,
        })
    }

    /// Returns the overview of the study for one state of its controls.
    pub fn overview(&self, dials: &StudyPageControls) -> Result<StudyOverview, Error> {
        dials.validate_for_study(self)?;
        let mode = dials.variant_shown_in_study(self)?;
        let filter = InstanceFilter::from_study_page_controls(self, dials);
        let shown: Vec<&ProbeInstances> = self
            .definition
            .axioms()
            .map(|it| self.instances_of_probe(it, mode))
            .collect::<Result<_, Error>>()?;
        let mut rankers: Vec<RankerOverviewRow> = self
            .scores
            .iter()
            .zip(self.ranker_slugs())
            .map(|(it, slug)| RankerOverviewRow {
                slug,
                ..self.row(it, &shown, &filter, dials)
            })
            .collect();
        correct(&mut rankers);
        let splits = self.query_splits();
        let n_own = self.queries.len() - self.addition_counts.n_queries as usize;
        let taken = (0..n_own).filter(|&it| filter.includes_query(it));
        let taken: Vec<usize> = taken.collect();
        let n_pairs: usize = taken
            .iter()
            .map(|&it| self.pairs.documents_of_query(it).len())
            .sum();
        Ok(StudyOverview {
            has_fixed_thresholds: false,
            n_queries: taken.len() as u64,
            n_pairs: n_pairs as u64,
            name: self.definition.name.clone(),
            title: self.definition.title.clone(),
            description: self.definition.description.clone(),
            created: self.created.clone(),
            software: self.software.clone(),
            collection_hash: self.collection_hash.clone(),
            instances_hash: self.instances_hash.clone(),
            totals: self.totals,
            analyzer: self.definition.analyzer.describe(),
            pool: self.definition.pool.clone(),
            limits: self.definition.limits,
            controls: dials.clone(),
            variant: mode,
            variants: self.definition.variants.clone(),
            n_behavioral_tests: self.definition.behavioral_tests().count() as u64,
            n_tests: rankers.iter().flat_map(|it| &it.cells).flatten().count() as u64,
            rows: rankers,
            n_unscored_rankers: self.n_unscored_rankers() as u64,
            columns: shown
                .iter()
                .map(|it| self.column(it, &filter, &splits))
                .collect(),
            splits,
            measures: MEASURES.iter().map(|&it| it.to_owned()).collect(),
            // The analyzer audit was counted over all queries.
            audits: match dials.split {
                Some(_) => Vec::new(),
                None => self.audits_in(mode),
            },
            remarks: self.remarks(),
            has_withheld_texts: self.has_withheld_texts(),
        })
    }

    fn row(
        &self,
        scores: &RankerQueryDocumentScores,
        shown: &[&ProbeInstances],
        filter: &InstanceFilter<'_>,
        dials: &StudyPageControls,
    ) -> RankerOverviewRow {
        let width = dials.tie_threshold_for_ranker(scores);
        let cells = shown.iter().map(|instances| {
            let verdict = |query: usize, claim: ScoreClaim<StudyDocNo>| {
                let counts = filter.includes_instance(instances, query, claim, Some(scores));
                counts.then(|| self.ranker_verdict_on_claim(scores, query, claim, width))
            };
            let cell = cell(instances, verdict)?;
            let whole = (!scores.truncated.is_empty()).then(|| {
                let of_whole = tallies(instances, |query, claim| {
                    let counts = filter.includes_instance(instances, query, claim, Some(scores))
                        && !self.claim_has_truncated_document(scores, query, claim);
                    counts.then(|| self.ranker_verdict_on_claim(scores, query, claim, width))
                });
                let mut sum = ClaimOutcomeCounts::default();
                of_whole.into_iter().for_each(|it| sum += it);
                let agreeing = sum.n_agreeing(instances.claim.tie_agreement_with_claim()) as f64;
                (sum.n_with_verdict() > 0).then(|| agreeing / sum.n_with_verdict() as f64)
            });
            Some(RankerAxiomResult {
                untruncated_fraction: whole.flatten(),
                ..cell
            })
        });
        RankerOverviewRow {
            cells: cells.collect(),
            effectiveness: self.effectiveness(scores, filter),
            n_unscored: scores.n_missing() as u64,
            n_truncated: scores.truncated.len() as u64,
            stability: self.summarize_score_stability(scores, shown, filter, width),
            training: self.trained_ranker_overview(scores, filter),
            ranker: scores.ranker.clone(),
            slug: String::new(),
        }
    }

    /// Returns the verdict of a ranker on a claim; `None` unless all documents have a score.
    pub(super) fn ranker_verdict_on_claim(
        &self,
        scores: &RankerQueryDocumentScores,
        query: usize,
        claim: ScoreClaim<StudyDocNo>,
        tie_width: f64,
    ) -> Option<VerdictWithMargin> {
        let score = |text| {
            self.pairs
                .position_of_pair(query, text)
                .and_then(|at| scores.score_at_position(at))
        };
        claim
            .replace_docs_with_scores(score)
            .map(|it| it.verdict(tie_width))
    }

    /// Returns one value for each of [`MEASURES`], over the pools.
    fn effectiveness(
        &self,
        scores: &RankerQueryDocumentScores,
        filter: &InstanceFilter<'_>,
    ) -> Vec<Option<f64>> {
        match self.evaluate_ranker(scores, filter) {
            Some(found) => found.mean.into_iter().map(Some).collect(),
            None => vec![None; MEASURES.len()],
        }
    }

    /// Returns the splits of the queries in the order of their first query. Their number is
    /// limited, since a field that is not a split may have another value for each query.
    pub(super) fn query_splits(&self) -> Vec<QuerySplitSize> {
        count_queries_of_first_splits(&self.queries)
    }

    fn column(
        &self,
        instances: &ProbeInstances,
        filter: &InstanceFilter<'_>,
        splits: &[QuerySplitSize],
    ) -> AxiomOverviewColumn {
        let probe = instances.probe;
        let (mut n_instances, mut n_relevant, mut n_both_orders) = (0, 0, 0);
        let mut n_of_splits = vec![0; splits.len()];
        for query in (0..instances.n_queries()).filter(|&it| filter.includes_query(it)) {
            let all = instances.docs_of_query(query);
            let n_before = n_instances;
            for claim in instances
                .claims_of_query(query)
                .filter(|&it| filter.includes_instance(instances, query, it, None))
            {
                n_instances += 1;
                n_relevant += u64::from(self.has_relevant_claim_document(query, claim));
                n_both_orders += u64::from(has_opposite(all, claim));
            }
            let own = self.queries[query].split.as_ref();
            if let Some(at) = splits.iter().position(|it| Some(&it.name) == own) {
                n_of_splits[at] += n_instances - n_before;
            }
        }
        let grade = |query, text| Some(f64::from(self.relevance_grade(query, text).unwrap_or(0)));
        let relevance = cell(instances, |query, claim| {
            let graded = claim.replace_docs_with_scores(|text| grade(query, text))?;
            let differ = graded
                .docs_in_claim_order()
                .windows(2)
                .any(|it| it[0] != it[1]);
            let counts = differ && filter.includes_instance(instances, query, claim, None);
            counts.then(|| Some(graded.verdict(0.0)))
        });
        AxiomOverviewColumn {
            probe,
            claim: instances.claim,
            n_instances,
            n_per_split: n_of_splits,
            n_with_relevant: n_relevant,
            n_both_orders,
            sampled_fraction: instances.sampled_fraction(),
            qrels_cell: relevance,
        }
    }

    fn audits_in(&self, mode: AxiomVariant) -> Vec<InstanceRetentionUnderAnalyzer> {
        let audits = self.audits.iter().map(|it| InstanceRetentionUnderAnalyzer {
            analyzer: it.analyzer.clone(),
            rows: it
                .rows
                .iter()
                .filter(|it| it.variant == mode)
                .cloned()
                .collect(),
        });
        audits.collect()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.n_docs_without_text > 0 {
            remarks.push(format!(
                "{} documents of the candidate pool are not in the collection and are omitted",
                self.n_docs_without_text
            ));
        }
        let empty = self
            .docs
            .iter()
            .filter(|it| it.text_with_title().is_empty())
            .count();
        if self.has_withheld_texts() {
            remarks.push(
                "document texts are withheld: this file contains only ids, counts and scores"
                    .to_owned(),
            );
        } else if empty > 0 {
            remarks.push(format!(
                "{empty} documents in the candidate pool are empty: length 0, no terms"
            ));
        }
        if let Some(words) = &self.word_vectors {
            remarks.push(format!(
                "{}; STMC2 counts documents with a cosine of at least {} as similar",
                words.info, self.definition.limits.min_similarity
            ));
        }
        for it in self.scores.iter().filter(|it| it.n_missing() > 0) {
            remarks.push(format!(
                "{}: {} pairs without a score",
                it.ranker.label,
                it.n_missing()
            ));
        }
        remarks
    }
}

/// Returns the counts of each query over the verdicts that `verdict` returns for its instances.
/// The outer `None` leaves an instance out, the inner one counts it as unscored.
pub(super) fn tallies(
    instances: &ProbeInstances,
    verdict: impl Fn(usize, ScoreClaim<StudyDocNo>) -> Option<Option<VerdictWithMargin>>,
) -> Vec<ClaimOutcomeCounts> {
    (0..instances.n_queries())
        .map(|query| {
            let mut tally = ClaimOutcomeCounts::default();
            let verdicts = instances
                .claims_of_query(query)
                .filter_map(|claim| verdict(query, claim));
            verdicts.for_each(|it| tally.count_verdict(it));
            tally
        })
        .collect()
}

/// Returns counts and fractions, or `None` without a verdict.
fn cell(
    instances: &ProbeInstances,
    verdict: impl Fn(usize, ScoreClaim<StudyDocNo>) -> Option<Option<VerdictWithMargin>>,
) -> Option<RankerAxiomResult> {
    ranker_axiom_result_from_counts(
        &tallies(instances, verdict),
        instances.claim.tie_agreement_with_claim(),
    )
}

/// Summarizes the counts of queries as counts and fractions; `None` without a verdict.
pub fn ranker_axiom_result_from_counts(
    tallies: &[ClaimOutcomeCounts],
    tie_agrees: TieAgreementWithClaim,
) -> Option<RankerAxiomResult> {
    let counted: Vec<QueryVerdictCounts> = tallies
        .iter()
        .map(|it| QueryVerdictCounts {
            n_agreeing: it.n_agreeing(tie_agrees),
            n_verdicts: it.n_with_verdict(),
        })
        .collect();
    let SatisfiedFractionEstimates {
        micro_average: micro,
        macro_average: over_queries,
        p,
        n_queries,
        detectable_difference: detectable,
    } = bootstrap::bootstrap_fraction(&counted)?;
    let mut tally = ClaimOutcomeCounts::default();
    tallies.iter().for_each(|&it| tally += it);
    Some(RankerAxiomResult {
        tally,
        micro_average: micro,
        macro_average: over_queries,
        p,
        p_holm: p,
        n_queries,
        detectable_difference: detectable,
        untruncated_fraction: None,
    })
}

/// Applies Holm's correction over all cells of the table.
fn correct(rankers: &mut [RankerOverviewRow]) {
    let cells = || rankers.iter().flat_map(|it| &it.cells).flatten();
    let corrected = holm_correction(&cells().map(|it| it.p).collect::<Vec<f64>>());
    let cells = rankers.iter_mut().flat_map(|it| &mut it.cells).flatten();
    cells.zip(corrected).for_each(|(cell, p)| cell.p_holm = p);
}

/// Returns whether the same two documents in the other order are an instance of the same query.
fn has_opposite(all: &[StudyDocNo], claim: ScoreClaim<StudyDocNo>) -> bool {
    match claim {
        ScoreClaim::Higher { winner, loser } | ScoreClaim::NotLower { winner, loser } => {
            let (pairs, _) = all.as_chunks::<2>();
            pairs.binary_search(&[loser, winner]).is_ok()
        }
        ScoreClaim::Different { .. } | ScoreClaim::DiminishingGain { .. } => false,
    }
}

/// Returns the first splits of the queries, in their order.
pub(crate) fn count_queries_of_first_splits<'a>(
    queries: impl IntoIterator<Item = &'a Query>,
) -> Vec<QuerySplitSize> {
    const MOST: usize = 50;
    let mut splits: Vec<QuerySplitSize> = Vec::new();
    for name in queries.into_iter().filter_map(|it| it.split.as_ref()) {
        match splits.iter().position(|it| it.name == *name) {
            Some(at) => splits[at].n_queries += 1,
            None if splits.len() == MOST => {}
            None => splits.push(QuerySplitSize {
                name: name.clone(),
                n_queries: 1,
            }),
        }
    }
    splits
}
