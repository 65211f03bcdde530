//! What a person reads of an item: the query and the texts, and of rankers only what the task
//! allows.

use serde::{Deserialize, Serialize};

use super::Preference;
use super::sampling_frame::claim_scores;
use super::task::{AnnotationTask, InstanceRef};
use crate::error::Error;
use crate::probe::{AxiomVariant, ClaimKind, Probe};
use crate::study::Study;
use crate::study::controls::StudyControls;
use crate::study::instance_details::{HighlightedText, QueryTermInfo};

/// The words of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewContent))]
pub struct ItemContent {
    /// Whose worked example helps.
    pub probe: Probe,
    /// The variant of the axiom.
    pub variant: AxiomVariant,
    /// What is asked: two texts have one question, three another.
    pub claim: ClaimKind,
    /// The query as written.
    pub query: HighlightedText,
    /// Distinct query terms; empty where they are not to be marked.
    pub terms: Vec<QueryTermInfo>,
    /// The texts in the order of the claim. They come from outside: text, never HTML.
    pub documents: Vec<HighlightedText>,
    /// What each ranker prefers; empty in a blind task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rankers: Vec<RankerPreference>,
    /// Whether the texts are not here.
    #[serde(default)]
    pub texts_withheld: bool,
}

/// The document that a ranker prefers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReviewRanked))]
pub struct RankerPreference {
    /// Its name.
    pub name: String,
    /// `None` unless all documents have a score.
    pub preference: Option<Preference>,
}

/// How much is shown of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentOptions {
    /// Query terms are marked.
    pub highlights_terms: bool,
    /// What rankers prefer is told.
    pub shows_rankers: bool,
}

impl AnnotationTask {
    /// What people see of an item before they decide.
    pub fn shows(&self) -> ContentOptions {
        ContentOptions {
            highlights_terms: self.highlights_query_terms,
            shows_rankers: !self.is_blind,
        }
    }
}

impl ItemContent {
    /// Of an instance of a study.
    pub fn load(
        study: &Study,
        place: InstanceRef,
        shows: ContentOptions,
        dials: &StudyControls,
    ) -> Result<ItemContent, Error> {
        let read = study.instance_texts(place.probe, place.variant, place.index)?;
        let bare = |it: HighlightedText| HighlightedText {
            marks: if shows.highlights_terms {
                it.marks
            } else {
                Vec::new()
            },
            text: it.text,
        };
        let instances = study.instances_of(place.probe, place.variant)?;
        let at = place.index as usize;
        let (query, claim) = (instances.query(at), instances.claim(at));
        let ranked = study.scores.iter().map(|scores| RankerPreference {
            name: scores.ranker.label.clone(),
            preference: claim_scores(study, scores, query, claim)
                .map(|it| Preference::from_scores(it, dials.tie_threshold(scores))),
        });
        Ok(ItemContent {
            probe: place.probe,
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
    use super::super::fixture::{item, study, task};
    use super::super::task::ItemRole;
    use super::*;

    #[test]
    fn a_blind_task_tells_nothing_of_rankers() {
        let (study, mut task) = (study(), task());
        let place = item(
            0,
            0,
            ItemRole::Sampled {
                inclusion_probability: 1.0,
            },
        )
        .instance;
        let of = |task: &AnnotationTask| {
            ItemContent::load(&study, place, task.shows(), &task.filter.controls)
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
