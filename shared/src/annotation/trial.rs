//! A trial of annotation: five instances of a study. Nothing is stored.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::assignment::{AssignmentPhase, ItemAssignment};
use super::content::{AnnotationItemContent, ItemDisplayOptions};
use super::seeded_random::{random_number_below, seeded_generator, shuffle};
use super::task::StudyInstanceRef;
use super::{DocumentDisplayOrder, ItemNo, PersonId};
use crate::error::Error;
use crate::study::Study;
use crate::study::controls::StudyPageControls;

/// The maximum number of instances that a trial draws from a study.
pub const N_TRIAL_ITEMS: usize = 5;

/// The number of instances of a probe among which those with a relevant document are preferred.
const N_DRAWN_PER_PROBE: usize = 100;

/// An item of a trial, with what is shown after the decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnnotationTrialItem {
    /// The instance, so that it can be opened afterwards.
    pub instance: StudyInstanceRef,
    /// The assignment, as in a task.
    pub assignment: ItemAssignment,
    /// The content with the preferences of rankers, which are shown after the decision.
    pub content: AnnotationItemContent,
}

/// Draws [`N_TRIAL_ITEMS`] instances with a seed, or all if there are fewer. The axioms take turns
/// in random order, and each gives a random instance; of those drawn, instances with a relevant
/// document come first. Only a study without instances of axioms gives those of other probes, for
/// which an answer agrees with nothing.
pub fn draw_trial_items(study: &Study, seed: u64) -> Result<Vec<AnnotationTrialItem>, Error> {
    let dials = StudyPageControls::default();
    let mode = dials.variant_shown_in_study(study)?;
    let mut random = seeded_generator(seed, "trial");
    let mut left = Vec::new();
    for &probe in &study.definition.probes {
        let instances = study.instances_of_probe(probe, mode)?;
        let n = instances.len() as u64;
        let mut numbers = BTreeSet::new();
        while numbers.len() < N_DRAWN_PER_PROBE.min(n as usize) {
            numbers.insert(random_number_below(&mut random, n));
        }
        let mut places: Vec<StudyInstanceRef> = numbers
            .into_iter()
            .map(|number| StudyInstanceRef {
                probe,
                variant: instances.variant,
                index: number,
            })
            .collect();
        shuffle(&mut random, &mut places);
        places.sort_by_key(|place| {
            let number = place.index as usize;
            let (query, claim) = (
                instances.query_of_instance(number),
                instances.claim_at(number),
            );
            let grade = |doc| study.relevance_grade(query, doc);
            !claim.has_doc_where(|doc| grade(doc).is_some_and(|it| it >= 1))
        });
        left.push(places);
    }
    let is_axiom = |it: &Vec<StudyInstanceRef>| it.first().is_some_and(|it| it.probe.is_axiom());
    if left.iter().any(is_axiom) {
        left.retain(is_axiom);
    }
    shuffle(&mut random, &mut left);
    let turns = (0..N_TRIAL_ITEMS).flat_map(|turn| left.iter().filter_map(move |it| it.get(turn)));
    let shows = ItemDisplayOptions {
        highlights_terms: true,
        shows_rankers: true,
    };
    let tried = turns
        .take(N_TRIAL_ITEMS)
        .zip((0..).map(ItemNo))
        .map(|(&place, item)| {
            Ok(AnnotationTrialItem {
                instance: place,
                assignment: ItemAssignment {
                    item,
                    display_order: DocumentDisplayOrder::for_person(
                        seed,
                        PersonId(0),
                        item,
                        place.claim_kind(),
                    ),
                    phase: AssignmentPhase::Training,
                },
                content: AnnotationItemContent::load(study, place, shows, &dials)?,
            })
        });
    tried.collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::fixture_study_with_tfc1;
    use super::*;
    use crate::probe::manipulation::Manipulation;
    use crate::probe::{Axiom, Probe};
    use crate::study::StudyDefinition;
    use crate::study::fixture;

    #[test]
    fn five_are_drawn_none_twice_the_same_for_a_seed() {
        let study = fixture_study_with_tfc1();
        let places = |seed| {
            let tried = draw_trial_items(&study, seed).unwrap();
            tried.iter().map(|it| it.instance).collect::<Vec<_>>()
        };
        let drawn = places(1);
        let n_instances: usize = study.instances.iter().map(|it| it.len()).sum();
        assert_eq!(drawn.len(), N_TRIAL_ITEMS.min(n_instances));
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), drawn.len());
        assert_eq!(drawn, places(1));
    }

    #[test]
    fn other_probes_are_drawn_only_where_there_is_no_axiom() {
        let reversal = Probe::Manipulation(Manipulation::ReverseWords);
        let drawn = |probes: Vec<Probe>| {
            let definition = StudyDefinition {
                probes,
                ..fixture::fixture_study_definition(10)
            };
            let collection =
                fixture::fixture_collection(&["river"], &["river river bank", "the river bank"]);
            let study = fixture::make_fixture_study(definition, collection);
            let tried = draw_trial_items(&study, 1).unwrap();
            let probes: BTreeSet<Probe> = tried.iter().map(|it| it.instance.probe).collect();
            probes.into_iter().collect::<Vec<_>>()
        };
        let axiom = Probe::Axiom(Axiom::Tfc1);
        assert_eq!(drawn(vec![reversal, axiom]), [axiom]);
        assert_eq!(drawn(vec![reversal]), [reversal]);
    }
}
