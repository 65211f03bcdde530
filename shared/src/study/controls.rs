//! The controls of the Study page: settings that recompute all its figures.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Study;
use crate::error::Error;
use crate::probe::{Axiom, AxiomVariant, Probe, ProbeInstances, ScoreClaim, StudyDocNo};
use crate::score::RankerQueryDocumentScores;
use crate::text::Vocabulary;

/// The state of the controls of a study page. It is part of the page's address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StudyPageControls {
    /// The variant of the axioms; `None` takes the first one of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "mode")]
    pub variant: Option<AxiomVariant>,
    /// A length tolerance δ, in terms, below the one used for mining. Instances with a larger
    /// difference are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "delta")]
    pub length_tolerance: Option<u32>,
    /// The tie threshold ε: sides of a claim that differ by at most this are tied. `None` takes
    /// the default of the ranker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "delta_score")]
    pub tie_threshold: Option<f64>,
    /// The subset of instances that counts.
    #[serde(default)]
    #[serde(alias = "only")]
    pub subset: InstanceSubset,
    /// Only queries of this split count; `None` takes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
}

/// The subset of instances that is aggregated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InstanceSubset {
    /// All instances.
    #[default]
    All,
    /// Instances whose documents the ranker read in full.
    #[serde(alias = "whole")]
    Untruncated,
    /// Instances with a relevant document.
    #[serde(alias = "relevant")]
    WithRelevant,
}

impl InstanceSubset {
    /// Whether an instance is in the subset, given whether one of its documents is relevant, and
    /// whether the ranker truncated one of them.
    pub(super) fn includes(self, has_relevant: bool, is_truncated: bool) -> bool {
        match self {
            InstanceSubset::All => true,
            InstanceSubset::Untruncated => !is_truncated,
            InstanceSubset::WithRelevant => has_relevant,
        }
    }
}

impl StudyPageControls {
    /// Returns the variant that is shown.
    pub(crate) fn variant_shown_in_study(&self, study: &Study) -> Result<AxiomVariant, Error> {
        let mode = self.variant.unwrap_or(study.definition.variants[0]);
        if study.definition.variants.contains(&mode) {
            return Ok(mode);
        }
        Err(Error::name_not_found("variant of this study", mode.slug()))
    }

    /// Returns the tie threshold ε for a ranker.
    pub(crate) fn tie_threshold_for_ranker(&self, scores: &RankerQueryDocumentScores) -> f64 {
        self.tie_threshold
            .unwrap_or(scores.ranker.kind.default_tie_threshold())
    }

    /// Checks the tie threshold and the split. Returns an error if the threshold is negative or
    /// not finite, or no query is in the split.
    pub(crate) fn validate_for_study(&self, study: &Study) -> Result<(), Error> {
        if let Some(split) = &self.split {
            let known = study.queries.iter().filter_map(|it| it.split.as_ref());
            if !known.into_iter().any(|it| it == split) {
                return Err(Error::name_not_found(
                    "split of this study's queries",
                    split,
                ));
            }
        }
        match self.tie_threshold {
            Some(width) if !(width.is_finite() && width >= 0.0) => Err(Error::out_of_range(
                "tie_threshold",
                "must be a number of at least 0",
            )),
            _ => Ok(()),
        }
    }
}

impl Study {
    /// Returns the instances of an axiom in a variant, or of a behavioral test, which has only
    /// one.
    pub fn instances_of_probe(
        &self,
        probe: Probe,
        mode: AxiomVariant,
    ) -> Result<&ProbeInstances, Error> {
        let mode = match probe.is_axiom() {
            true => mode,
            false => AxiomVariant::Fixed,
        };
        let found = self
            .instances
            .iter()
            .find(|it| (it.probe, it.variant) == (probe, mode));
        found.ok_or_else(|| {
            Error::name_not_found(
                "probe of this study",
                format!("{} {}", probe.slug(), mode.slug()),
            )
        })
    }
}

/// Decides which instances count under some controls.
pub(crate) struct InstanceFilter<'a> {
    study: &'a Study,
    /// δ with the length of each document, if it is below the one used for mining.
    delta: Option<(u32, &'a [u32])>,
    only: InstanceSubset,
    split: Option<&'a str>,
}

impl<'a> InstanceFilter<'a> {
    pub(crate) fn from_study_page_controls(
        study: &'a Study,
        dials: &'a StudyPageControls,
    ) -> InstanceFilter<'a> {
        let mined = study.definition.limits.length_tolerance_terms;
        let turned = dials
            .length_tolerance
            .filter(|&delta| mined.is_none_or(|mined| delta < mined));
        let delta = turned.map(|delta| {
            let lengths = study
                .lengths
                .0
                .get_or_init(|| study_document_lengths(study));
            (delta, lengths.as_slice())
        });
        InstanceFilter {
            study,
            delta,
            only: dials.subset,
            split: dials.split.as_deref(),
        }
    }

    /// Whether the lengths of documents matter.
    pub(super) fn limits_lengths(&self) -> bool {
        self.delta.is_some()
    }

    /// Returns whether the instances of a query count.
    pub(super) fn includes_query(&self, query: usize) -> bool {
        let own = &self.study.queries[query].split;
        self.split.is_none_or(|it| own.as_deref() == Some(it))
    }

    /// Returns whether an instance counts. For [`InstanceSubset::Untruncated`] that depends on the
    /// ranker.
    pub(crate) fn includes_instance(
        &self,
        instances: &ProbeInstances,
        query: usize,
        claim: ScoreClaim<StudyDocNo>,
        scores: Option<&RankerQueryDocumentScores>,
    ) -> bool {
        let fits = match (self.only, scores) {
            (InstanceSubset::All, _) | (InstanceSubset::Untruncated, None) => true,
            (InstanceSubset::Untruncated, Some(scores)) => !self
                .study
                .claim_has_truncated_document(scores, query, claim),
            (InstanceSubset::WithRelevant, _) => {
                self.study.has_relevant_claim_document(query, claim)
            }
        };
        fits && self.has_similar_lengths(instances, claim) && self.includes_query(query)
    }

    /// Returns whether its documents differ in length by at most δ.
    pub(super) fn has_similar_lengths(
        &self,
        instances: &ProbeInstances,
        claim: ScoreClaim<StudyDocNo>,
    ) -> bool {
        let ProbeInstances {
            probe,
            variant: mode,
            ..
        } = *instances;
        let Some((delta, lengths)) = self.delta.as_ref().filter(|_| needs_equal_length(probe))
        else {
            return true;
        };
        // The published code of STMC3 requires less than δ, not at most δ.
        let most_gap = match (probe, mode) {
            (Probe::Axiom(Axiom::Stmc3), AxiomVariant::Code) => delta.checked_sub(1),
            _ => Some(*delta),
        };
        let (mut least, mut most) = (u32::MAX, 0);
        claim.for_each_doc(|text| {
            let len = lengths[text as usize];
            (least, most) = (least.min(len), most.max(len));
        });
        most_gap.is_some_and(|it| most - least <= it)
    }
}

impl Study {
    /// Returns whether the ranker read only a part of one of the documents.
    pub(super) fn claim_has_truncated_document(
        &self,
        scores: &RankerQueryDocumentScores,
        query: usize,
        claim: ScoreClaim<StudyDocNo>,
    ) -> bool {
        !scores.truncated.is_empty()
            && claim
                .docs_in_claim_order()
                .into_iter()
                .any(|text| self.is_doc_truncated_by_ranker(scores, query, text))
    }

    /// Returns whether the ranker read only a part of a document.
    pub(super) fn is_doc_truncated_by_ranker(
        &self,
        scores: &RankerQueryDocumentScores,
        query: usize,
        text: StudyDocNo,
    ) -> bool {
        let place = self.pairs.position_of_pair(query, text);
        place.is_some_and(|it| scores.truncated.binary_search(&(it as u32)).is_ok())
    }

    /// Returns whether one of the documents is relevant.
    pub(super) fn has_relevant_claim_document(
        &self,
        query: usize,
        claim: ScoreClaim<StudyDocNo>,
    ) -> bool {
        claim
            .docs_in_claim_order()
            .into_iter()
            .any(|it| self.relevance_grade(query, it).is_some_and(|it| it >= 1))
    }
}

/// Returns whether an axiom has δ among its preconditions.
fn needs_equal_length(probe: Probe) -> bool {
    match probe {
        Probe::Axiom(Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Mtdc | Axiom::Stmc3) => true,
        Probe::Axiom(Axiom::Lnc1 | Axiom::Lnc2 | Axiom::Tp | Axiom::Stmc1 | Axiom::Stmc2) => false,
        // Their tolerance is a share of the longer document.
        Probe::Axiom(Axiom::IrAxioms(_) | Axiom::Formula(_)) => false,
        Probe::MeasureAndMatch(_) | Probe::Manipulation(_) | Probe::Transfer(_) => false,
    }
}

/// The length of each document in terms, computed when it is first needed.
#[derive(Debug, Clone, Default)]
pub struct CachedDocumentLengths(OnceLock<Vec<u32>>);

/// A cache: two studies are equal whether or not it is filled.
impl PartialEq for CachedDocumentLengths {
    fn eq(&self, _: &CachedDocumentLengths) -> bool {
        true
    }
}

/// Returns the lengths of all documents of a study.
pub(super) fn study_document_lengths(study: &Study) -> Vec<u32> {
    if let Some(withheld) = &study.withheld_texts {
        return withheld.n_terms.clone();
    }
    let mut vocabulary = Vocabulary::new(study.definition.analyzer.clone());
    let mut terms = Vec::new();
    let all = 0..study.study_docs.len() as StudyDocNo;
    all.map(|text| {
        terms.clear();
        vocabulary.append_terms_of_text(&study.study_doc_text(text), &mut terms);
        terms.len() as u32
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::fixture;

    #[test]
    fn a_split_counts_as_if_its_queries_were_alone() {
        let texts = ["river river", "river bank", "the sea", "bank bank sea"];
        let both = fixture::study_with_queries(&["river", "sea bank"], &texts, 10);
        let alone = fixture::study_with_queries(&["river"], &texts, 10);
        let of = |split: &str| StudyPageControls {
            split: Some(split.to_owned()),
            ..StudyPageControls::default()
        };
        let all = both.overview(&StudyPageControls::default()).unwrap();
        let [train, test] = ["train", "test"].map(|it| both.overview(&of(it)).unwrap());
        let only = alone.overview(&StudyPageControls::default()).unwrap();
        assert_eq!((all.n_queries, train.n_queries, test.n_queries), (2, 1, 1));
        assert!(all.columns.iter().any(|it| it.n_instances > 0));
        for (at, column) in all.columns.iter().enumerate() {
            let parts = [&train, &test].map(|it| it.columns[at].n_instances);
            assert_eq!(column.n_per_split, parts);
            assert_eq!(column.n_instances, parts.iter().sum::<u64>());
            assert_eq!(parts[0], only.columns[at].n_instances);
        }
        let cells = |it: &crate::study::overview::StudyOverview| {
            let rows = it.rows.iter();
            rows.map(|it| (it.cells.clone(), it.effectiveness.clone()))
                .collect::<Vec<_>>()
        };
        // Term statistics are those of the whole collection in both.
        assert_eq!(cells(&train), cells(&only));
        assert!(test.rows[0].effectiveness.iter().all(Option::is_none));
        let error = both.overview(&of("dev")).unwrap_err();
        assert!(error.to_string().contains("dev"), "{error}");
    }
}
