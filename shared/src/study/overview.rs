//! The Study page: rankers × axioms, effectiveness, counts, agreement with judgments.

use serde::{Deserialize, Serialize};

use super::Study;
use super::analyzer_audit::AnalyzerAudit;
use super::controls::{InstanceFilter, StudyControls};
use super::score_stability::StabilitySummary;
use crate::collection::Query;
use crate::error::Error;
use crate::index::CollectionTotals;
use crate::probe::{
    AxiomVariant, Claim, ClaimKind, Instances, Limits, PoolSpec, Probe, StudyDocNo, TiePolicy,
};
use crate::score::{RankerInfo, Scores};
use crate::stats::bootstrap::{self, VerdictCounts};
use crate::stats::multiple_testing::holm;
use crate::stats::{Estimate, bootstrap::SatisfiedFraction};
use crate::verdict::{OutcomeCounts, Verdict};

/// What is said of a ranker's order of the pool.
pub(super) const MEASURES: &[&str] = &["nDCG@10", "RR@10", "AP", "P@5"];

/// A study in a list: enough for its card with a small heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StudySummary {
    /// Name in addresses.
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
    /// Queries.
    pub n_queries: u64,
    /// Documents of the whole collection.
    pub n_docs: u64,
    /// Instances in the first mode.
    pub n_instances: u64,
    /// Behavioral tests.
    #[serde(default)]
    #[serde(rename = "n_behaviours")]
    pub n_behavioral_tests: u64,
    /// Labels of the rankers, in order.
    pub rankers: Vec<String>,
    /// Columns of `fractions`.
    pub probes: Vec<Probe>,
    /// Fraction satisfied, rankers × probes, in the first mode.
    pub fractions: Vec<Vec<Option<f64>>>,
    /// Whether visitors see it.
    #[serde(rename = "published")]
    pub is_published: bool,
}

/// Everything the Study page shows for one state of its controls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StudyOverview {
    /// Name in addresses.
    pub name: String,
    /// The title, as shown to readers.
    pub title: String,
    /// A description in about two sentences.
    pub description: String,
    /// When its instances were mined: `2026-11-20`.
    pub created: String,
    /// Version of the software that mined them.
    pub software: String,
    /// Of the collection.
    pub collection_hash: String,
    /// The hash of the instances.
    pub instances_hash: String,
    /// Totals of the whole collection.
    pub totals: CollectionTotals,
    /// Queries, after the controls.
    pub n_queries: u64,
    /// Where queries are in splits: their names and how many queries each has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<SplitSize>,
    /// Unique pairs of query and text, of these queries.
    pub n_pairs: u64,
    /// How texts become terms: [`crate::text::Analyzer::describe`].
    pub analyzer: String,
    /// Which documents are compared.
    pub pool: PoolSpec,
    /// What becomes an instance.
    pub limits: Limits,
    /// The controls it was aggregated with.
    pub controls: StudyControls,
    /// The variant that is shown.
    pub variant: AxiomVariant,
    /// The variants that were mined.
    pub variants: Vec<AxiomVariant>,
    /// Rows.
    pub rows: Vec<OverviewRow>,
    /// How many rankers of the definition have no scores yet.
    #[serde(default)]
    pub n_unscored_rankers: u64,
    /// Columns.
    pub columns: Vec<OverviewColumn>,
    /// Behavioral tests, which have answers of their own: [`super::behavioral_tests`].
    #[serde(default)]
    pub n_behavioral_tests: u64,
    /// How many tests the correction of `p_holm` reckons with.
    pub n_tests: u64,
    /// Names of the measures in [`OverviewRow::effectiveness`]: `nDCG@10`.
    pub measures: Vec<String>,
    /// How the instances of this reading fare under other analyzers.
    #[serde(default)]
    pub audits: Vec<AnalyzerAudit>,
    /// What was left out or should be known: documents without text, unscored pairs, …
    pub remarks: Vec<String>,
    /// Whether the texts are not here: [`Study::without_texts`].
    #[serde(default)]
    pub has_withheld_texts: bool,
}

/// A split of the queries with its number of queries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SplitSize {
    /// `train`, `dev`, `test`.
    pub name: String,
    /// How many are in it.
    pub n_queries: u64,
}

/// One ranker with its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewRow {
    /// The ranker.
    pub ranker: RankerInfo,
    /// One for each column; none where the axiom has no instance with a verdict.
    pub cells: Vec<Option<OverviewCell>>,
    /// One for each measure, over the pool; none without judgments.
    pub effectiveness: Vec<Option<f64>>,
    /// Pairs without a score.
    pub n_unscored: u64,
    /// Pairs of which the ranker saw only a part.
    pub n_truncated: u64,
    /// What became of some of its scores under other conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<StabilitySummary>,
}

impl OverviewRow {
    /// Pairs of which the ranker saw only a part; none where that is not known.
    pub fn n_known_truncated(&self) -> Option<u64> {
        let known = self.ranker.kind.reports_truncation() || self.n_truncated > 0;
        known.then_some(self.n_truncated)
    }
}

/// One ranker on one axiom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewCell {
    /// Counts of outcomes.
    pub tally: OutcomeCounts,
    /// Over instances, the interval by queries.
    pub micro_average: Estimate,
    /// Mean over queries of the fraction within each.
    pub macro_average: Estimate,
    /// Two-sided, against a fraction of .5, from the same draws as the interval.
    pub p: f64,
    /// `p` after Holm's correction over all cells of the table.
    pub p_holm: f64,
    /// Queries with at least one judged instance.
    pub n_queries: u64,
    /// The least distance from .5 that so many queries would have shown:
    /// [`SatisfiedFraction::detectable_difference`].
    #[serde(default)]
    pub detectable_difference: Option<f64>,
    /// The fraction over instances whose texts the ranker saw whole, where that differs.
    pub untruncated_fraction: Option<f64>,
}

impl OverviewCell {
    /// The share of the instances that the ranker could be asked: those whose texts it scored.
    pub fn scored_fraction(&self) -> f64 {
        let judged = self.tally.n_with_verdict();
        judged as f64 / (judged + self.tally.unscored).max(1) as f64
    }
}

/// One axiom with its counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverviewColumn {
    /// The probe of the column.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// What its instances claim.
    pub claim: ClaimKind,
    /// After the controls.
    pub n_instances: u64,
    /// After the controls, of the queries of each split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub n_per_split: Vec<u64>,
    /// Instances with a relevant document.
    pub n_with_relevant: u64,
    /// Instances whose opposite (the same two texts the other way round) is one as well.
    pub n_both_orders: u64,
    /// Share kept by a cap per query; 1 without.
    pub sampled_fraction: f64,
    /// How often the claim holds for the grades, over instances whose grades differ; none
    /// where there is no such instance.
    pub qrels_cell: Option<OverviewCell>,
}

impl Study {
    /// The study in a list.
    pub fn summary(&self, published: bool) -> Result<StudySummary, Error> {
        let overview = self.overview(&StudyControls::default())?;
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

    /// The study for one state of its controls.
    pub fn overview(&self, dials: &StudyControls) -> Result<StudyOverview, Error> {
        dials.check(self)?;
        let mode = dials.variant_of(self)?;
        let filter = InstanceFilter::new(self, dials);
        let shown: Vec<&Instances> = self
            .definition
            .axioms()
            .map(|it| self.instances_of(it, mode))
            .collect::<Result<_, Error>>()?;
        let mut rankers: Vec<OverviewRow> = self
            .scores
            .iter()
            .map(|it| self.row(it, &shown, &filter, dials))
            .collect();
        correct(&mut rankers);
        let splits = self.splits();
        let n_own = self.queries.len() - self.addition_counts.n_queries as usize;
        let taken = (0..n_own).filter(|&it| filter.includes_query(it));
        let taken: Vec<usize> = taken.collect();
        let n_pairs: usize = taken
            .iter()
            .map(|&it| self.pairs.documents_of(it).len())
            .sum();
        Ok(StudyOverview {
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
            // What other analyzers keep was counted over all queries.
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
        scores: &Scores,
        shown: &[&Instances],
        filter: &InstanceFilter<'_>,
        dials: &StudyControls,
    ) -> OverviewRow {
        let width = dials.tie_threshold(scores);
        let cells = shown.iter().map(|instances| {
            let verdict = |query: usize, claim: Claim<StudyDocNo>| {
                let counts = filter.includes_instance(instances, query, claim, Some(scores));
                counts.then(|| self.ranker_verdict(scores, query, claim, width))
            };
            let cell = cell(instances, verdict)?;
            let whole = (!scores.truncated.is_empty()).then(|| {
                let of_whole = tallies(instances, |query, claim| {
                    let counts = filter.includes_instance(instances, query, claim, Some(scores))
                        && !self.is_truncated(scores, query, claim);
                    counts.then(|| self.ranker_verdict(scores, query, claim, width))
                });
                let mut sum = OutcomeCounts::default();
                of_whole.into_iter().for_each(|it| sum += it);
                let agreeing = sum.n_agreeing(instances.claim.tie_policy()) as f64;
                (sum.n_with_verdict() > 0).then(|| agreeing / sum.n_with_verdict() as f64)
            });
            Some(OverviewCell {
                untruncated_fraction: whole.flatten(),
                ..cell
            })
        });
        OverviewRow {
            cells: cells.collect(),
            effectiveness: self.effectiveness(scores, filter),
            n_unscored: scores.n_missing() as u64,
            n_truncated: scores.truncated.len() as u64,
            stability: self.stability_summary(scores, shown, filter, width),
            ranker: scores.ranker.clone(),
        }
    }

    /// The verdict of a ranker on a claim; none without all scores.
    pub(super) fn ranker_verdict(
        &self,
        scores: &Scores,
        query: usize,
        claim: Claim<StudyDocNo>,
        tie_width: f64,
    ) -> Option<Verdict> {
        let score = |text| {
            self.pairs
                .position(query, text)
                .and_then(|at| scores.get(at))
        };
        claim.map_scores(score).map(|it| it.verdict(tie_width))
    }

    /// One value for each of [`MEASURES`], over the pools.
    fn effectiveness(&self, scores: &Scores, filter: &InstanceFilter<'_>) -> Vec<Option<f64>> {
        match self.evaluate_ranker(scores, filter) {
            Some(found) => found.mean.into_iter().map(Some).collect(),
            None => vec![None; MEASURES.len()],
        }
    }

    /// The splits of the queries, in the order of their first query; the first so many, since
    /// what is meant as something else may have one for each query.
    pub(super) fn splits(&self) -> Vec<SplitSize> {
        count_splits(&self.queries)
    }

    fn column(
        &self,
        instances: &Instances,
        filter: &InstanceFilter<'_>,
        splits: &[SplitSize],
    ) -> OverviewColumn {
        let probe = instances.probe;
        let (mut n_instances, mut n_relevant, mut n_both_orders) = (0, 0, 0);
        let mut n_of_splits = vec![0; splits.len()];
        for query in (0..instances.n_queries()).filter(|&it| filter.includes_query(it)) {
            let all = instances.docs_of(query);
            let n_before = n_instances;
            for claim in instances
                .claims_of(query)
                .filter(|&it| filter.includes_instance(instances, query, it, None))
            {
                n_instances += 1;
                n_relevant += u64::from(self.has_relevant(query, claim));
                n_both_orders += u64::from(has_opposite(all, claim));
            }
            let own = self.queries[query].split.as_ref();
            if let Some(at) = splits.iter().position(|it| Some(&it.name) == own) {
                n_of_splits[at] += n_instances - n_before;
            }
        }
        let grade = |query, text| Some(f64::from(self.grade(query, text).unwrap_or(0)));
        let relevance = cell(instances, |query, claim| {
            let graded = claim.map_scores(|text| grade(query, text))?;
            let differ = graded.docs().windows(2).any(|it| it[0] != it[1]);
            let counts = differ && filter.includes_instance(instances, query, claim, None);
            counts.then(|| Some(graded.verdict(0.0)))
        });
        OverviewColumn {
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

    fn audits_in(&self, mode: AxiomVariant) -> Vec<AnalyzerAudit> {
        let audits = self.audits.iter().map(|it| AnalyzerAudit {
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
        let empty = self.docs.iter().filter(|it| it.body().is_empty()).count();
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

/// The tally of each query over what `verdict` gives for its instances; an instance that does
/// not count is none, one without scores is some none.
fn tallies(
    instances: &Instances,
    verdict: impl Fn(usize, Claim<StudyDocNo>) -> Option<Option<Verdict>>,
) -> Vec<OutcomeCounts> {
    (0..instances.n_queries())
        .map(|query| {
            let mut tally = OutcomeCounts::default();
            let verdicts = instances
                .claims_of(query)
                .filter_map(|claim| verdict(query, claim));
            verdicts.for_each(|it| tally.add(it));
            tally
        })
        .collect()
}

/// Counts and fractions; none where nothing was judged.
fn cell(
    instances: &Instances,
    verdict: impl Fn(usize, Claim<StudyDocNo>) -> Option<Option<Verdict>>,
) -> Option<OverviewCell> {
    summarize_tallies(&tallies(instances, verdict), instances.claim.tie_policy())
}

/// Tallies of queries to counts and fractions; none where nothing was judged.
pub fn summarize_tallies(tallies: &[OutcomeCounts], tie_agrees: TiePolicy) -> Option<OverviewCell> {
    let counted: Vec<VerdictCounts> = tallies
        .iter()
        .map(|it| VerdictCounts {
            n_agreeing: it.n_agreeing(tie_agrees),
            n_verdicts: it.n_with_verdict(),
        })
        .collect();
    let SatisfiedFraction {
        micro_average: micro,
        macro_average: over_queries,
        p,
        n_queries,
        detectable_difference: detectable,
    } = bootstrap::bootstrap_fraction(&counted)?;
    let mut tally = OutcomeCounts::default();
    tallies.iter().for_each(|&it| tally += it);
    Some(OverviewCell {
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

/// Holm's correction over all cells of the table.
fn correct(rankers: &mut [OverviewRow]) {
    let cells = || rankers.iter().flat_map(|it| &it.cells).flatten();
    let corrected = holm(&cells().map(|it| it.p).collect::<Vec<f64>>());
    let cells = rankers.iter_mut().flat_map(|it| &mut it.cells).flatten();
    cells.zip(corrected).for_each(|(cell, p)| cell.p_holm = p);
}

/// Whether the same two texts the other way round are an instance of the same query.
fn has_opposite(all: &[StudyDocNo], claim: Claim<StudyDocNo>) -> bool {
    match claim {
        Claim::Higher { winner, loser } | Claim::NotLower { winner, loser } => {
            let (pairs, _) = all.as_chunks::<2>();
            pairs.binary_search(&[loser, winner]).is_ok()
        }
        Claim::Different { .. } | Claim::DiminishingGain { .. } => false,
    }
}

/// The first splits that queries are in, in their order.
pub(crate) fn count_splits<'a>(queries: impl IntoIterator<Item = &'a Query>) -> Vec<SplitSize> {
    const MOST: usize = 50;
    let mut splits: Vec<SplitSize> = Vec::new();
    for name in queries.into_iter().filter_map(|it| it.split.as_ref()) {
        match splits.iter().position(|it| it.name == *name) {
            Some(at) => splits[at].n_queries += 1,
            None if splits.len() == MOST => {}
            None => splits.push(SplitSize {
                name: name.clone(),
                n_queries: 1,
            }),
        }
    }
    splits
}
