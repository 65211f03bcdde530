//! What an annotator sees of an item: the query, the documents and, if the task allows it, the
//! preferences of the rankers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::DocumentPreference;
use super::sampling_frame::map_claim_to_ranker_scores;
use super::task::{AnnotationTaskDefinition, StudyInstanceRef};
use crate::error::Error;
use crate::probe::{AxiomVariant, Probe, ScoreClaimKind};
use crate::study::Study;
use crate::study::controls::StudyPageControls;
use crate::study::instance_details::{HighlightedText, QueryTermInfo};

/// The query and the documents of an item, as shown to an annotator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationItemContent {
    /// The probe, whose reason is rated after the decision.
    pub probe: ProbeSummary,
    /// The variant of the axiom.
    pub variant: AxiomVariant,
    /// The kind of claim: instances of two and of three documents have different questions.
    pub claim: ScoreClaimKind,
    /// The query as written, with the spans of its terms.
    pub query: HighlightedText,
    /// The distinct query terms; empty if they are not to be highlighted.
    pub terms: Vec<QueryTermInfo>,
    /// The documents in the order of the claim. They are untrusted: plain text, never HTML.
    pub documents: Vec<HighlightedText>,
    /// The preference of each ranker; empty in a blind task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rankers: Vec<RankerPreference>,
    /// Whether the texts of the documents are not included.
    #[serde(default)]
    pub texts_withheld: bool,
}

/// A probe with its names, which the small program of annotators does not contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProbeSummary {
    /// The probe, which selects the worked example that helps.
    pub probe: Probe,
    /// The name in the literature, for example `M-TDC`.
    pub name: String,
    /// Two or three words; empty for a probe that has none.
    pub short_title: String,
}

impl From<Probe> for ProbeSummary {
    fn from(probe: Probe) -> ProbeSummary {
        ProbeSummary {
            probe,
            name: probe.name().into_owned(),
            short_title: probe.probe_description().short_title.to_owned(),
        }
    }
}

/// The document that a ranker prefers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RankerPreference {
    /// The name of the ranker.
    pub name: String,
    /// `None` unless all documents have a score.
    pub preference: Option<DocumentPreference>,
}

/// Which parts of an item are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemDisplayOptions {
    /// Whether query terms are highlighted.
    pub highlights_terms: bool,
    /// Whether the preferences of rankers are shown.
    pub shows_rankers: bool,
}

impl AnnotationTaskDefinition {
    /// Returns which parts of an item annotators see before they decide.
    pub fn item_display_options(&self) -> ItemDisplayOptions {
        ItemDisplayOptions {
            highlights_terms: self.highlights_query_terms,
            shows_rankers: !self.is_blind,
        }
    }
}

impl AnnotationItemContent {
    /// Loads the content of an instance of a study.
    pub fn load(
        study: &Study,
        place: StudyInstanceRef,
        shows: ItemDisplayOptions,
        dials: &StudyPageControls,
    ) -> Result<AnnotationItemContent, Error> {
        let read = study.instance_texts(place.probe, place.variant, place.index)?;
        let bare = |it: HighlightedText| HighlightedText {
            marks: if shows.highlights_terms {
                it.marks
            } else {
                Vec::new()
            },
            ..it
        };
        let (instances, at) = place.find_in_study(study)?;
        let (query, claim) = (instances.query_of_instance(at), instances.claim_at(at));
        let ranked = study.scores.iter().map(|scores| RankerPreference {
            name: scores.ranker.label.clone(),
            preference: map_claim_to_ranker_scores(study, scores, query, claim).map(|it| {
                DocumentPreference::from_scores(it, dials.tie_threshold_for_ranker(scores))
            }),
        });
        Ok(AnnotationItemContent {
            probe: place.probe.into(),
            variant: place.variant,
            claim: claim.kind(),
            query: bare(read.query),
            terms: if shows.highlights_terms {
                read.terms
            } else {
                Vec::new()
            },
            documents: read.docs.into_iter().map(bare).collect(),
            rankers: if shows.shows_rankers {
                ranked.collect()
            } else {
                Vec::new()
            },
            texts_withheld: read.has_withheld_texts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{
        fixture_study_with_tfc1, tfc1_annotation_item, tfc1_annotation_task,
    };
    use super::super::task::AnnotationItemRole;
    use super::*;

    #[test]
    fn a_blind_task_tells_nothing_of_rankers() {
        let (study, mut task) = (fixture_study_with_tfc1(), tfc1_annotation_task());
        let place = tfc1_annotation_item(
            0,
            0,
            AnnotationItemRole::Sampled {
                inclusion_probability: 1.0,
            },
        )
        .instance;
        let of = |task: &AnnotationTaskDefinition| {
            AnnotationItemContent::load(
                &study,
                place,
                task.item_display_options(),
                &task.filter.controls,
            )
        };
        let blind = of(&task).unwrap();
        assert!(blind.rankers.is_empty());
        assert!(blind.documents.iter().any(|it| !it.marks.is_empty()));
        assert_eq!(blind.documents.len(), 2);
        (task.is_blind, task.highlights_query_terms) = (false, false);
        let open = of(&task).unwrap();
        assert_eq!(open.rankers.len(), study.scores.len());
        assert!(open.documents.iter().all(|it| it.marks.is_empty()));
        assert_eq!(open.documents[0].text, blind.documents[0].text);
    }
}
