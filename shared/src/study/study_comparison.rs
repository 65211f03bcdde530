//! Compares two studies: which fractions differ, and whether by more than chance.
//!
//! Results are paired by ranker (its slug) and axiom, queries by id and text. The two studies may
//! come from different places, for example one from a server and one from the Workbench, so that
//! each is read as its overview and its counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use super::controls::{InstanceFilter, StudyPageControls};
use super::overview::{StudyOverview, tallies};
use crate::error::Error;
use crate::probe::{AxiomVariant, Probe};
use crate::score::{RankerInfo, disambiguate_labels};
use crate::stats::bootstrap::QueryVerdictCounts;
use crate::stats::fraction_change::{
    PairedAndUnpairedCounts, SatisfiedFractionChange, bootstrap_fraction_change,
};
use crate::stats::multiple_testing::holm_correction;

/// The verdicts of the rankers of a study on its axioms, counted for each query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StudyVerdictCounts {
    /// The variant of the axioms.
    pub variant: AxiomVariant,
    /// The queries, in the order of the counts.
    pub queries: Vec<CountedQuery>,
    /// One entry for each ranker, in the order of the study.
    pub rankers: Vec<RankerVerdictCounts>,
}

/// What tells queries of two studies apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct CountedQuery {
    /// The id in the collection.
    pub id: String,
    /// The text as written.
    pub text: String,
}

/// The verdicts of one ranker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RankerVerdictCounts {
    /// The name of the ranker in addresses.
    pub slug: String,
    /// One entry for each axiom of the study.
    pub axioms: Vec<AxiomVerdictCounts>,
}

/// The verdicts of one ranker on one axiom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AxiomVerdictCounts {
    /// The axiom that the instances test.
    #[serde(rename = "axiom")]
    pub probe: Probe,
    /// For each query the number of instances that agree with the axiom, and the number of
    /// instances with a verdict.
    pub counts: Vec<[u64; 2]>,
}

impl Study {
    /// Returns the verdicts of all rankers on all axioms in a variant, by default the first one of
    /// the study, at the default tie thresholds. Returns an error if the study lacks the variant.
    pub fn verdict_counts(
        &self,
        variant: Option<AxiomVariant>,
    ) -> Result<StudyVerdictCounts, Error> {
        let controls = StudyPageControls {
            variant,
            ..StudyPageControls::default()
        };
        let variant = controls.variant_shown_in_study(self)?;
        let filter = InstanceFilter::from_study_page_controls(self, &controls);
        let mut rankers = Vec::new();
        for (scores, slug) in self.scores.iter().zip(self.ranker_slugs()) {
            let width = controls.tie_threshold_for_ranker(scores);
            let mut axioms = Vec::new();
            for probe in self.definition.axioms() {
                let instances = self.instances_of_probe(probe, variant)?;
                let tie_agrees = instances.claim.tie_agreement_with_claim();
                let counted = tallies(instances, |query, claim| {
                    let counts = filter.includes_instance(instances, query, claim, Some(scores));
                    counts.then(|| self.ranker_verdict_on_claim(scores, query, claim, width))
                });
                let counts = counted
                    .iter()
                    .map(|it| [it.n_agreeing(tie_agrees), it.n_with_verdict()]);
                axioms.push(AxiomVerdictCounts {
                    probe,
                    counts: counts.collect(),
                });
            }
            rankers.push(RankerVerdictCounts { slug, axioms });
        }
        let n_own = self.queries.len() - self.addition_counts.n_queries as usize;
        let queries = self.queries[..n_own].iter().map(|it| CountedQuery {
            id: it.id.clone(),
            text: it.text.clone(),
        });
        Ok(StudyVerdictCounts {
            variant,
            queries: queries.collect(),
            rankers,
        })
    }
}

/// What is read of one of two studies.
#[derive(Debug, Clone, Copy)]
pub struct StudyToCompare<'a> {
    /// The overview with default controls, apart from the variant.
    pub overview: &'a StudyOverview,
    /// The verdicts in the same variant.
    pub counts: &'a StudyVerdictCounts,
}

/// A result that both studies have: a ranker on an axiom.
#[derive(Debug, Clone)]
pub struct SharedResult {
    /// The ranker, with a label that is unique in the first study.
    pub ranker: RankerInfo,
    /// Its slug in both studies.
    pub slug: String,
    /// The axiom, a column of both studies.
    pub probe: Probe,
    /// Whether the fingerprints of the ranker differ, as after another training.
    pub has_other_fingerprint: bool,
    counts: PairedAndUnpairedCounts,
}

impl SharedResult {
    /// Compares the two studies; `None` if one has no verdict. Takes milliseconds for a thousand
    /// queries.
    pub fn compare(&self) -> Option<SatisfiedFractionChange> {
        bootstrap_fraction_change(&self.counts)
    }
}

/// Returns the results that both studies have, row by row of the first one. Returns an error if the
/// studies are not shown in the same variant or have no result in common.
pub fn shared_results(studies: [StudyToCompare<'_>; 2]) -> Result<Vec<SharedResult>, Error> {
    let [first, second] = studies;
    if first.counts.variant != second.counts.variant {
        let reason = format!(
            "one study is in variant {}, the other in {}; choose a variant that both have",
            first.counts.variant.slug(),
            second.counts.variant.slug()
        );
        return Err(Error::conflicting_value("variant", reason));
    }
    let pairing = QueryPairing::new(&first.counts.queries, &second.counts.queries);
    let mut labeled: Vec<RankerInfo> = first
        .overview
        .rows
        .iter()
        .map(|it| it.ranker.clone())
        .collect();
    disambiguate_labels(&mut labeled);
    let mut shared = Vec::new();
    for (row, ranker) in first.overview.rows.iter().zip(labeled) {
        let other = second.overview.rows.iter().find(|it| it.slug == row.slug);
        let counts = studies.map(|study| {
            let mut rankers = study.counts.rankers.iter();
            rankers.find(|it| it.slug == row.slug)
        });
        let (Some(other), [Some(own), Some(theirs)]) = (other, counts) else {
            continue;
        };
        for counted in &own.axioms {
            let of_other = theirs.axioms.iter().find(|it| it.probe == counted.probe);
            let Some(of_other) = of_other else { continue };
            shared.push(SharedResult {
                ranker: ranker.clone(),
                slug: row.slug.clone(),
                probe: counted.probe,
                has_other_fingerprint: ranker.fingerprint != other.ranker.fingerprint,
                counts: pairing.pair(&counted.counts, &of_other.counts),
            });
        }
    }
    if shared.is_empty() {
        let reason = "the studies have no ranker in common that was tested with the same axiom; \
                      rankers are the same if they have the same name in addresses";
        return Err(Error::conflicting_value("second", reason));
    }
    Ok(shared)
}

/// Which queries of two studies are the same.
struct QueryPairing {
    /// The positions of a query of both studies.
    shared: Vec<[usize; 2]>,
    /// The positions of the queries of one study alone.
    unshared: [Vec<usize>; 2],
}

impl QueryPairing {
    fn new(first: &[CountedQuery], second: &[CountedQuery]) -> QueryPairing {
        let mut remaining: BTreeMap<&CountedQuery, usize> =
            second.iter().enumerate().map(|(at, it)| (it, at)).collect();
        let mut shared = Vec::new();
        let mut only_first = Vec::new();
        for (at, query) in first.iter().enumerate() {
            match remaining.remove(query) {
                Some(other) => shared.push([at, other]),
                None => only_first.push(at),
            }
        }
        let mut only_second: Vec<usize> = remaining.into_values().collect();
        only_second.sort_unstable();
        QueryPairing {
            shared,
            unshared: [only_first, only_second],
        }
    }

    fn pair(&self, first: &[[u64; 2]], second: &[[u64; 2]]) -> PairedAndUnpairedCounts {
        let counts = |of: &[[u64; 2]], at: usize| {
            let [n_agreeing, n_verdicts] = of.get(at).copied().unwrap_or_default();
            QueryVerdictCounts {
                n_agreeing,
                n_verdicts,
            }
        };
        let [only_first, only_second] = &self.unshared;
        PairedAndUnpairedCounts {
            shared: self
                .shared
                .iter()
                .map(|&[a, b]| [counts(first, a), counts(second, b)])
                .collect(),
            unshared: [
                only_first.iter().map(|&at| counts(first, at)).collect(),
                only_second.iter().map(|&at| counts(second, at)).collect(),
            ],
        }
    }
}

/// The differences of two studies.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyComparison {
    /// The titles of the studies; equal ones are followed by the names of the studies.
    pub titles: [String; 2],
    /// The variant of the axioms.
    pub variant: AxiomVariant,
    /// Whether both have exactly the same instances.
    pub has_same_instances: bool,
    /// The number of queries with the same id and text.
    pub n_shared_queries: u64,
    /// The number of queries that one study alone has.
    pub n_unshared_queries: [u64; 2],
    /// The labels of rankers that one study alone has.
    pub unshared_rankers: [Vec<String>; 2],
    /// The axioms that one study alone has.
    pub unshared_probes: [Vec<Probe>; 2],
    /// The results that both have, row by row of the first study.
    pub results: Vec<ComparedResult>,
}

/// A ranker on an axiom in two studies.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedResult {
    /// The label of the ranker.
    pub ranker: String,
    /// Whether the fingerprints of the ranker differ.
    pub has_other_fingerprint: bool,
    /// The axiom that the fractions are about.
    pub probe: Probe,
    /// The fractions and their difference; `None` if a study has no verdict.
    pub change: Option<SatisfiedFractionChange>,
    /// `p` of the change after Holm's correction over all results with one.
    pub p_holm: Option<f64>,
}

impl StudyComparison {
    /// Compares all results at once.
    pub fn compute(studies: [StudyToCompare<'_>; 2]) -> Result<StudyComparison, Error> {
        let shared = shared_results(studies)?;
        let changes = shared.iter().map(SharedResult::compare).collect();
        Ok(StudyComparison::from_changes(studies, shared, changes))
    }

    /// Assembles the comparison from the change of each shared result.
    pub fn from_changes(
        studies: [StudyToCompare<'_>; 2],
        shared: Vec<SharedResult>,
        changes: Vec<Option<SatisfiedFractionChange>>,
    ) -> StudyComparison {
        let [first, second] = studies;
        let p: Vec<f64> = changes.iter().flatten().map(|it| it.p).collect();
        let mut corrected = holm_correction(&p).into_iter();
        let results: Vec<ComparedResult> = shared
            .into_iter()
            .zip(changes)
            .map(|(shared, change)| ComparedResult {
                ranker: shared.ranker.label,
                has_other_fingerprint: shared.has_other_fingerprint,
                probe: shared.probe,
                p_holm: change.and_then(|_| corrected.next()),
                change,
            })
            .collect();
        let pairing = QueryPairing::new(&first.counts.queries, &second.counts.queries);
        let mut titles = studies.map(|it| it.overview.title.clone());
        if titles[0] == titles[1] {
            for (title, study) in titles.iter_mut().zip(studies) {
                *title = format!("{title} ({})", study.overview.name);
            }
        }
        let unshared_rankers = [[first, second], [second, first]].map(|[own, other]| {
            let has = |slug: &str| other.overview.rows.iter().any(|it| it.slug == slug);
            let rows = own.overview.rows.iter().filter(|it| !has(&it.slug));
            rows.map(|it| it.ranker.label.clone()).collect()
        });
        let unshared_probes = [[first, second], [second, first]].map(|[own, other]| {
            let has = |probe: Probe| other.overview.columns.iter().any(|it| it.probe == probe);
            let columns = own.overview.columns.iter().map(|it| it.probe);
            columns.filter(|&it| !has(it)).collect()
        });
        StudyComparison {
            titles,
            variant: first.counts.variant,
            has_same_instances: first.overview.instances_hash == second.overview.instances_hash,
            n_shared_queries: pairing.shared.len() as u64,
            n_unshared_queries: pairing.unshared.map(|it| it.len() as u64),
            unshared_rankers,
            unshared_probes,
            results,
        }
    }
}

#[cfg(test)]
mod tests;
