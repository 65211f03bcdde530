//! The annotation task of the demo study, whose annotators are simulated.

use shared::annotation::AnnotationTaskDefinition;
use shared::annotation::task::{
    AnnotatorSimulation, ProbeItemAllocation, SamplingDesign, TaskInstanceFilter,
};
use shared::probe::{Axiom, Probe};
use shared::study::Study;
use shared::study::controls::{InstanceSubset, StudyPageControls};

use crate::annotation::new_task_from_study;
use crate::error::Error;
use crate::runtime::run_with_database;
use crate::store::studies::study_instances_and_collection_hash;
use crate::store::{DataFolder, Database};

/// The error rates of the simulated annotators: one who is careful, one who is not, and one who
/// errs often.
const ERROR_RATES: [f64; 3] = [0.05, 0.15, 0.3];

/// The axioms of the task, each with two documents per instance.
const AXIOMS: [Axiom; 5] = [
    Axiom::Tfc1,
    Axiom::Mtdc,
    Axiom::Lnc1,
    Axiom::Tp,
    Axiom::Stmc1,
];

const GUIDELINES: &str = "\
**The annotators of this task are simulated.** They show what a finished task looks like; no person \
has decided anything here.

Which document answers the query better? Judge the content, not the style. If both are equally \
good, or neither helps, choose *Equal*.
";

/// Creates the task with the decisions of its simulated annotators, unless the study has one.
pub(super) fn create_if_missing(folder: &DataFolder, study: &Study) -> Result<(), Error> {
    run_with_database(folder, async |store: &Database| {
        let hash = study_instances_and_collection_hash(study);
        let name = &study.definition.name;
        if store.simulated_task_of_study(name, &hash).await?.is_none() {
            let task = definition(name).normalize_and_validate()?;
            let new = new_task_from_study(study, task)?;
            store.add_simulated_task(study, &new).await?;
        }
        Ok(())
    })
}

fn definition(study: &str) -> AnnotationTaskDefinition {
    AnnotationTaskDefinition {
        title: "Demo task (simulated annotators)".to_owned(),
        study: study.to_owned(),
        probes: AXIOMS.map(Probe::Axiom).into(),
        // Of two documents that are both not relevant, neither is better.
        filter: TaskInstanceFilter {
            controls: StudyPageControls {
                subset: InstanceSubset::WithRelevant,
                ..StudyPageControls::default()
            },
            ..TaskInstanceFilter::default()
        },
        n_items: 60,
        sampling: SamplingDesign::StratifiedByProbe {
            allocation: ProbeItemAllocation::Equal,
        },
        annotators_per_item: ERROR_RATES.len() as u32,
        seed: 42,
        gold_interval: 0,
        is_blind: true,
        highlights_query_terms: true,
        tags: Vec::new(),
        guidelines: GUIDELINES.to_owned(),
        training: Vec::new(),
        gold: Vec::new(),
        simulation: Some(AnnotatorSimulation {
            error_rates: ERROR_RATES.into(),
        }),
    }
}
