//! Trains the rankers of a study, and scores its pairs with them.
//!
//! Each `[[train]]` of a study file has the folder `trained/NAME` in the folder of the study. A
//! training that has ended there is not repeated, one that was interrupted continues.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use shared::collection::Collection;
use shared::error::{Error as InputError, ErrorFieldName};
use shared::probe::{Axiom, CandidatePoolSpec, MiningResult, Probe};
use shared::score::{QueryDocumentPairs, RankerQueryDocumentScores};
use shared::study::trained_rankers::TrainedRankerRecord;
use shared::study::{Study, StudyDefinition, StudyTraining};

use super::examples::SplitCandidates;
use super::folder::read_training_record;
use super::pools::CandidatePools;
use super::run::train;
use super::{TrainingObserver, TrainingRequest};
use crate::collection_files::{CollectionWithReadReport, resolve_input_file_path};
use crate::config::RankerSpec;
use crate::error::Error;
use crate::models::ModelRegistry;
use crate::pipeline::{self, StudyReplacementPolicy};
use crate::store::DataFolder;
use crate::store::instances::{CollectionExternalIds, InstanceFileReader};
use crate::store::studies::files;

/// The trainings of a study with everything that they need, checked.
pub(crate) struct StudyTrainingPlan {
    trainings: Vec<PlannedTraining>,
}

/// How trainings of a study go on.
pub(crate) struct StudyTrainingProgress<'a> {
    /// What to do with the folder of another training.
    pub finished: StudyReplacementPolicy,
    /// Receives the progress.
    pub observer: &'a dyn TrainingObserver,
}

/// A training that can be started.
struct PlannedTraining {
    request: TrainingRequest,
    added_axioms: Vec<Probe>,
}

impl StudyTrainingPlan {
    /// Checks the trainings of a study: networks, recipes, splits and files. Files are found like
    /// the other files of the study: from the working directory, then in the folder of the
    /// collection.
    pub(crate) fn check(
        definition: &StudyDefinition,
        loaded: &CollectionWithReadReport,
        data: &DataFolder,
    ) -> Result<StudyTrainingPlan, Error> {
        let trainings = definition.train.iter().map(|training| {
            let folder = trained_ranker_folder(data, &definition.name, training)?;
            plan(training, definition, loaded, folder)
        });
        Ok(StudyTrainingPlan {
            trainings: trainings.collect::<Result<_, Error>>()?,
        })
    }

    /// Trains each ranker, or continues or reads its training, and adds its record to the study.
    /// With [`StudyReplacementPolicy::Replace`], the training of something else in the folder is
    /// removed first.
    pub(crate) fn train_rankers(
        &self,
        study: &mut Study,
        loaded: &CollectionWithReadReport,
        data: &DataFolder,
        progress: StudyTrainingProgress<'_>,
    ) -> Result<(), Error> {
        let StudyTrainingProgress { finished, observer } = progress;
        let before = study.trainings.clone();
        for planned in &self.trainings {
            let request = &planned.request;
            eprintln!("training of {}", request.out.display());
            let trained = match train(request, loaded, observer) {
                Err(Error::OtherTraining { .. }) if finished == StudyReplacementPolicy::Replace => {
                    let way_out = "remove the folder, and repeat the command";
                    fs::remove_dir_all(&request.out)
                        .map_err(Error::io_error_converter(&request.out, way_out))?;
                    train(request, loaded, observer)
                }
                Err(Error::OtherTraining { folder, what }) => {
                    let field = ErrorFieldName::with_display_name("train", folder.display());
                    let reason = format!(
                        "has the training of another {what}; give the study another name, or \
                         train again with --replace"
                    );
                    return Err(InputError::conflicting_value(field, reason).into());
                }
                other => other,
            };
            if trained?.is_none() {
                return Ok(());
            }
            let record = read_training_record(&request.out)?;
            let trained = study.trainings.iter_mut();
            match trained.into_iter().find(|it| it.record.name == record.name) {
                Some(known) if is_same_result(known, &record) => {}
                Some(known) => *known = planned.new_record(record),
                None => study.trainings.push(planned.new_record(record)),
            }
        }
        match study.trainings == before {
            true => Ok(()),
            false => files::save_study_with_stored_title(data, study),
        }
    }
}

impl PlannedTraining {
    fn new_record(&self, record: shared::training::TrainingRecord) -> TrainedRankerRecord {
        TrainedRankerRecord {
            ranker: format!("{}:{}", record.name, self.request.model.spec_ending()),
            added_axioms: self.added_axioms.clone(),
            swapped_effectiveness: BTreeMap::new(),
            record,
        }
    }
}

/// Returns whether a training has ended with the weights of an earlier one.
fn is_same_result(known: &TrainedRankerRecord, record: &shared::training::TrainingRecord) -> bool {
    let hash =
        |of: &shared::training::TrainingRecord| of.summary.as_ref().map(|it| it.sha256.clone());
    hash(&known.record) == hash(record)
}

/// Returns the folder of a trained ranker of a study.
fn trained_ranker_folder(
    data: &DataFolder,
    study: &str,
    training: &StudyTraining,
) -> Result<PathBuf, Error> {
    Ok(data
        .study_folder(study)?
        .join("trained")
        .join(&training.name))
}

/// Returns the specs of the rankers that a study trains, which are their folders.
pub(crate) fn trained_ranker_specs(
    definition: &StudyDefinition,
    data: &DataFolder,
) -> Result<Vec<String>, Error> {
    let folder = |it| trained_ranker_folder(data, &definition.name, it);
    let folders = definition.train.iter().map(folder);
    folders
        .map(|it| Ok(it?.to_string_lossy().into_owned()))
        .collect()
}

fn plan(
    training: &StudyTraining,
    definition: &StudyDefinition,
    loaded: &CollectionWithReadReport,
    out: PathBuf,
) -> Result<PlannedTraining, Error> {
    let mut spec = training.spec.clone();
    if spec.recipe.ends_with(".toml") {
        let recipe = resolve_input_file_path(&spec.recipe, &loaded.folder)?;
        spec.recipe = recipe.display().to_string();
    }
    let mut request = TrainingRequest::resolve(&spec, &definition.collection, &out)?;
    if let Some(vectors) = request.model.word_vectors() {
        resolve_input_file_path(vectors, &loaded.folder)?;
    }
    if let CandidatePoolSpec::Run { file, .. } = &request.pool {
        resolve_input_file_path(file, &loaded.folder)?;
    }
    let mut added_axioms = Vec::new();
    if request.augmentation.repeats_documents {
        added_axioms.push(Probe::Axiom(Axiom::Lnc2));
    }
    for instances in &mut request.augmentation.instances {
        let file = instances.file.display().to_string();
        instances.file = resolve_input_file_path(&file, &loaded.folder)?;
        added_axioms.extend(read_probes(&instances.file, &loaded.collection)?);
    }
    added_axioms.dedup();
    let splits = &request.splits;
    for split in [&splits.train, &splits.dev].into_iter().chain(&splits.test) {
        SplitCandidates::select(&loaded.collection, split, &CandidatePools::default())?;
    }
    let mut studied = loaded.collection.queries.iter();
    let evaluated = training.evaluation_split();
    let n_queries = definition.n_queries.unwrap_or(usize::MAX);
    let mut studied = studied.by_ref().take(n_queries);
    if !studied.any(|it| it.split.as_deref() == Some(evaluated)) {
        let reason = format!(
            "the study has no query of the split `{evaluated}`, on which `{}` is compared; raise \
             or omit n_queries",
            training.name
        );
        return Err(InputError::unsupported_value("n_queries", reason).into());
    }
    Ok(PlannedTraining {
        request,
        added_axioms,
    })
}

/// Returns the probes of an instance file.
fn read_probes(file: &Path, collection: &Collection) -> Result<Vec<Probe>, Error> {
    let ids = CollectionExternalIds {
        queries: collection.queries.iter().map(|it| it.id.as_str()).collect(),
        docs: collection.docs.iter().map(|it| it.id()).collect(),
    };
    let reader = InstanceFileReader::open(file, &ids)?;
    Ok(reader.origin.n_before_cap.iter().map(|it| it.0).collect())
}

/// Adds the effectiveness with the text of another query of the split to each trained ranker that
/// lacks it, and stores the study.
pub(crate) fn evaluate_with_swapped_queries(
    study: &mut Study,
    data: &DataFolder,
    models: &ModelRegistry,
) -> Result<(), Error> {
    let is_missing = |it: &TrainedRankerRecord| it.swapped_effectiveness.is_empty();
    if !study.trainings.iter().any(is_missing) {
        return Ok(());
    }
    let mut collection = Collection {
        queries: study.queries.clone(),
        docs: study.docs.clone(),
        qrels: study.qrels.clone(),
    };
    for (query, other) in swap_within_splits(study) {
        collection.queries[query].text = study.queries[other].text.clone();
    }
    let index = shared::index::Index::build(&study.definition.analyzer, [])?;
    let pools = MiningResult {
        study_docs: study.study_docs.clone(),
        pools: study.pools.clone(),
        instances: Vec::new(),
    };
    let pairs = QueryDocumentPairs::from_mining_result(&pools);
    let scoring = pipeline::PairScoringInput {
        collection: &collection,
        index: &index,
        texts: &study.study_docs,
        pairs: &pairs,
        stability_sample: Vec::new(),
        folder: Path::new("."),
        partial_scores: None,
        distributed: None,
    };
    let mut swapped = Vec::new();
    for trained in study.trainings.iter().filter(|it| is_missing(it)) {
        let ranker = RankerSpec::Model(trained.ranker.clone());
        let (scores, _) = pipeline::score_all_pairs_with_ranker(&scoring, &ranker, models)?;
        let score = |(query, doc)| {
            let at = pairs.position_of_pair(query, doc)?;
            scores.score_at_position(at)
        };
        let values = study.pairs.iter().map(score).collect();
        let scores = RankerQueryDocumentScores::new(scores.ranker.clone(), values, &study.pairs)?;
        swapped.push(study.evaluate_ranker_per_query(&scores));
    }
    let missing = study.trainings.iter_mut().filter(|it| is_missing(it));
    missing
        .zip(swapped)
        .for_each(|(it, values)| it.swapped_effectiveness = values);
    files::save_study_with_stored_title(data, study)
}

/// Returns for each query another query of its split, whose text replaces its own; a query that is
/// alone in its split keeps its text.
fn swap_within_splits(study: &Study) -> Vec<(usize, usize)> {
    let mut by_split: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (at, query) in study.queries.iter().enumerate() {
        by_split.entry(query.split.as_deref()).or_default().push(at);
    }
    let swap = |queries: Vec<usize>| {
        let cycle = neural::training::random_cycle(queries.len(), study.definition.limits.seed);
        let swapped = queries.clone().into_iter().zip(cycle);
        swapped
            .map(move |(query, other)| (query, queries[other]))
            .collect::<Vec<_>>()
    };
    by_split.into_values().flat_map(swap).collect()
}
