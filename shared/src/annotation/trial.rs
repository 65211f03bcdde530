//! A trial of annotation: five instances of a study, or five items of a task whose annotators are
//! simulated. Nothing is stored.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::assignment::{AssignmentPhase, ItemAssignment};
use super::content::{AnnotationItemContent, ItemDisplayOptions};
use super::seeded_random::{random_number_below, seeded_generator, shuffle};
use super::simulation::SimulatedItemResult;
use super::task::{AnnotationItem, AnnotationTaskDefinition, StudyInstanceRef};
use super::{AnnotationLog, DocumentDisplayOrder, ItemNo, PersonId};
use crate::error::Error;
use crate::study::Study;
use crate::study::controls::StudyPageControls;

/// The maximum number of instances that a trial draws from a study.
pub const N_TRIAL_ITEMS: usize = 5;

/// The number of instances of a probe among which those with a relevant document are preferred.
const N_DRAWN_PER_PROBE: usize = 100;

/// An item of a trial, with what is shown after the decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AnnotationTrialItem {
    /// The instance, so that it can be opened afterwards.
    pub instance: StudyInstanceRef,
    /// The assignment, as in a task.
    pub assignment: ItemAssignment,
    /// The content with the preferences of rankers, which are shown after the decision.
    pub content: AnnotationItemContent,
    /// The answers of simulated annotators, for an item of a task that has them; they are shown
    /// after the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<SimulatedItemResult>,
}

/// The number of seeds that the Trial page of a study uses, one after the other: a host of files
/// has the items of these.
pub const N_TRIAL_SEEDS: u64 = 16;

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
    let tried = turns.take(N_TRIAL_ITEMS).zip((0..).map(ItemNo));
    tried
        .map(|(&place, item)| trial_item(study, &dials, seed, place, item))
        .collect()
}

/// Draws [`N_TRIAL_ITEMS`] sampled items of a task whose annotators are simulated, or all if there
/// are fewer, with a seed. A seed and the next one draw different items if the task has at least
/// twice as many.
pub fn draw_simulated_task_items(
    study: &Study,
    task: &AnnotationTaskDefinition,
    items: &[AnnotationItem],
    log: &AnnotationLog,
    seed: u64,
) -> Result<Vec<AnnotationTrialItem>, Error> {
    let numbered = items.iter().zip((0..).map(ItemNo));
    let sampled = numbered.filter(|it| it.0.role.inclusion_probability().is_some());
    let mut sampled: Vec<(&AnnotationItem, ItemNo)> = sampled.collect();
    shuffle(&mut seeded_generator(task.seed, "trial"), &mut sampled);
    let n = sampled.len();
    let start = (seed % n.max(1) as u64) as usize * N_TRIAL_ITEMS;
    let turns = (start..start + N_TRIAL_ITEMS.min(n)).map(|at| sampled[at % n]);
    let tried = turns.map(|(item, number)| {
        let dials = &task.filter.controls;
        Ok(AnnotationTrialItem {
            simulated: Some(SimulatedItemResult::from_log(log, number)),
            ..trial_item(study, dials, seed, item.instance, number)?
        })
    });
    tried.collect()
}

fn trial_item(
    study: &Study,
    dials: &StudyPageControls,
    seed: u64,
    instance: StudyInstanceRef,
    item: ItemNo,
) -> Result<AnnotationTrialItem, Error> {
    let shows = ItemDisplayOptions {
        highlights_terms: true,
        shows_rankers: true,
    };
    Ok(AnnotationTrialItem {
        instance,
        assignment: ItemAssignment {
            item,
            display_order: DocumentDisplayOrder::for_person(
                seed,
                PersonId(0),
                item,
                instance.claim_kind(),
            ),
            phase: AssignmentPhase::Training,
        },
        content: AnnotationItemContent::load(study, instance, shows, dials)?,
        simulated: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{fixture_study_with_tfc1, tfc1_annotation_task};
    use super::super::sample::sample_task_items;
    use super::super::simulation::simulate_annotation_events;
    use super::super::task::AnnotatorSimulation;
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
    fn trials_of_a_task_go_through_its_items_with_the_simulated_answers() {
        let study = fixture_study_with_tfc1();
        let task = AnnotationTaskDefinition {
            simulation: Some(AnnotatorSimulation {
                error_rates: vec![0.0; 3],
            }),
            ..tfc1_annotation_task()
        };
        let items = sample_task_items(&study, &task).unwrap().items;
        let people = [1, 2, 3].map(PersonId);
        let events = simulate_annotation_events(&study, &task, &items, &people, 0).unwrap();
        let log = AnnotationLog::from_entries(events);
        let drawn = |seed| draw_simulated_task_items(&study, &task, &items, &log, seed).unwrap();
        assert_eq!(drawn(3), drawn(3));
        let n = N_TRIAL_ITEMS.min(items.len());
        let first = drawn(0);
        assert_eq!(first.len(), n);
        for it in &first {
            let item = &items[it.assignment.item.0 as usize];
            assert_eq!(it.instance, item.instance);
            assert_eq!(it.simulated.as_ref().unwrap().answers.len(), 3);
        }
        // Trials one after the other show every item.
        let seeds = 0..items.len() as u64;
        let shown: BTreeSet<ItemNo> = seeds.flat_map(drawn).map(|it| it.assignment.item).collect();
        assert_eq!(shown.len(), items.len());
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
