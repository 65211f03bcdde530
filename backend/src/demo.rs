//! The demo collection and the demo study, which are embedded in the program.

mod annotation_task;
mod models;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shared::collection::{Collection, FileInput, beir, trec};
use shared::late_interaction::LateInteractionAnalysisMetadata;
use shared::study::trained_rankers::TrainedRankerRecord;
use shared::study::{Study, StudyDefinition, StudyTraining};
use shared::training::spec::TrainingSpec;
use shared::word_vectors::glove::GloveSettings;
use tokio::sync::oneshot;

use crate::error::Error;
use crate::models::ModelRegistry;
use crate::pipeline::{
    self, LateInteractionAnalysisInput, NewStudy, ParallelExecutor, StudyReplacementPolicy,
};
use crate::remedy;
use crate::runtime::run_with_database;
use crate::store::studies::{StudyVisibility, late_interaction};
use crate::store::{DataFolder, Database};
use crate::training;

pub(crate) use models::add_demo_models;

const CORPUS: &[u8] = include_bytes!("../../demo/corpus.jsonl");
const QUERIES: &[u8] = include_bytes!("../../demo/queries.jsonl");
const QRELS: &[u8] = include_bytes!("../../demo/qrels.tsv");
const TRANSFERS: [(&str, &str); 6] = [
    (
        "factuality.jsonl",
        include_str!("../../demo/transfer/factuality.jsonl"),
    ),
    (
        "fluency.jsonl",
        include_str!("../../demo/transfer/fluency.jsonl"),
    ),
    (
        "formality.jsonl",
        include_str!("../../demo/transfer/formality.jsonl"),
    ),
    (
        "neutrality.jsonl",
        include_str!("../../demo/transfer/neutrality.jsonl"),
    ),
    (
        "simplicity.jsonl",
        include_str!("../../demo/transfer/simplicity.jsonl"),
    ),
    (
        "summary.jsonl",
        include_str!("../../demo/transfer/summary.jsonl"),
    ),
];
const STUDY: &str = include_str!("../../demo/study.toml");

/// The settings of the word vectors of the demo study, as of `axioscope vectors --dims 20 --epochs
/// 30`; a small collection needs few dimensions.
const WORD_VECTORS: GloveSettings = GloveSettings {
    n_dims: 20,
    window: 10,
    min_count: 5,
    x_max: 10.0,
    alpha: 0.75,
    learning_rate: 0.05,
    n_epochs: 30,
    seed: 42,
};

/// Creates and publishes the demo study with its lexical rankers and its annotation task; what is
/// stored already stays. Returns the remaining work for its neural rankers, which takes minutes;
/// `None` if it has none.
pub(crate) fn create_and_publish_demo_study(
    folder: &DataFolder,
    models: &Arc<ModelRegistry>,
) -> Result<Option<PendingDemoScores>, Error> {
    let mut definition = StudyDefinition::from_toml("study.toml", STUDY)?;
    let known = models.ranker_specs();
    let is_formula = |spec: &String| spec.starts_with("bm25") || spec.starts_with("ql");
    definition
        .rankers
        .retain(|it| is_formula(it) || known.contains(it));
    let has_trained = models::FINE_TUNED
        .iter()
        .any(|[_, spec]| known.iter().any(|it| it == spec));
    let is_neural = has_trained || !definition.rankers.iter().all(is_formula);
    let collection = embedded_demo_collection()?;
    let stored = pipeline::load_study_if_intact(folder, &definition.name).filter(|stored| {
        stored.collection_hash == collection.content_hash()
            && stored.definition.limits == definition.limits
            && stored.definition.probes == definition.probes
            && stored.definition.vectors == definition.vectors
            && stored.definition.rankers.len() >= definition.rankers.len()
    });
    let is_new = stored.is_none();
    let study = match stored {
        Some(stored) => stored,
        None => {
            eprintln!("making the demo study");
            let files = unpack(folder)?;
            train_word_vectors(&definition, &collection, &files)?;
            let wanted = NewStudy {
                definition,
                collection,
                finished: StudyReplacementPolicy::Replace,
                executor: ParallelExecutor::default(),
                cluster: None,
            };
            let study =
                pipeline::create_study_with_lexical_rankers(wanted, &files, folder, models)?;
            run_with_database(folder, async |store: &Database| {
                store.upsert_study_entry(&study).await?;
                let name = &study.definition.name;
                store
                    .set_study_visibility(name, StudyVisibility::Published)
                    .await
            })?;
            study
        }
    };
    annotation_task::create_if_missing(folder, &study)?;
    Ok(is_neural.then(|| PendingDemoScores {
        study,
        is_new,
        folder: folder.clone(),
        models: models.clone(),
    }))
}

/// The scores and late-interaction analyses of neural rankers that the demo study still lacks.
pub(crate) struct PendingDemoScores {
    study: Study,
    is_new: bool,
    folder: DataFolder,
    models: Arc<ModelRegistry>,
}

impl PendingDemoScores {
    /// Computes what is missing in a thread of its own, which ends with the process; the next start
    /// continues where it was interrupted. The returned receiver gets a message at the end, unless
    /// nothing was missing.
    pub(crate) fn score_in_background(self) -> oneshot::Receiver<()> {
        if self.study.n_unscored_rankers() > 0 {
            eprintln!("scoring the demo study with a neural model; this takes a few minutes, once");
        }
        let (told, lines_below) = oneshot::channel();
        std::thread::spawn(move || {
            let added = self.add();
            if let Err(error) = &added {
                eprintln!("the neural rankers of the demo study are not complete: {error}");
            }
            if !matches!(added, Ok(0)) {
                // The receiver is gone if the server has stopped.
                let _ = told.send(());
            }
        });
        lines_below
    }

    /// Scores the missing rankers, analyzes the late-interaction rankers, and returns how many
    /// rankers were scored.
    fn add(mut self) -> Result<usize, Error> {
        let (folder, models) = (&self.folder, &self.models);
        let files = folder.create_demo_files_folder_if_missing()?;
        let study = &mut self.study;
        add_trainings(study, &files, models)?;
        let n_added = pipeline::compute_missing_or_outdated_scores(study, &files, folder, models)?
            + pipeline::compute_scores_of_trained_rankers(study, &files, folder, models)?;
        training::evaluate_with_swapped_queries(study, folder, models)?;
        if n_added > 0 {
            let study = &self.study;
            run_with_database(folder, async |store: &Database| {
                store.upsert_study_entry(study).await
            })?;
        }
        self.look_inside(self.is_new || n_added > 0)?;
        if n_added > 0 {
            eprintln!("the demo study has its neural rankers now; reload its page");
        }
        Ok(n_added)
    }

    /// Analyzes the late-interaction rankers of the study: all of them if scores are new, otherwise
    /// only those without an analysis.
    fn look_inside(&self, is_new: bool) -> Result<(), Error> {
        /// Minimum number of vectors of a token for its spectrum, as in `axioscope
        /// late-interaction`.
        const FLOOR: u64 = 10;

        let definition = &self.study.definition;
        let known =
            late_interaction::load_late_interaction_analyses(&self.folder, &definition.name)?;
        let trained = self.study.trainings.iter().map(|it| &it.ranker);
        let rankers = definition.rankers.iter().chain(trained);
        for spec in rankers.filter(|it| it.ends_with(":late") || it.ends_with(":colbert")) {
            if !is_new && known.iter().any(|it| it.header.ranker.spec == *spec) {
                continue;
            }
            let collection = embedded_demo_collection()?;
            let index = pipeline::build_index(&collection, &definition.analyzer)?;
            let ranker = self.models.get_or_load_ranker(spec)?;
            let is_fine_tuned = spec.ends_with(":colbert");
            let before = is_fine_tuned.then(|| format!("{}:late", models::ENCODER));
            let before = before.map(|it| self.models.get_or_load_ranker(&it));
            let before = before.transpose()?;
            let found = pipeline::analyze_late_interaction(LateInteractionAnalysisInput {
                collection: &collection,
                index: &index,
                pool: &definition.pool,
                folder: &self.folder.create_demo_files_folder_if_missing()?,
                ranker: &ranker,
                base_model: before.as_deref(),
                head: LateInteractionAnalysisMetadata {
                    name: definition.name.clone(),
                    title: definition.title.clone(),
                    collection: definition.collection.clone(),
                    pool: definition.pool.to_string(),
                    ranker: ranker.about.clone(),
                    created: pipeline::current_utc_date(),
                    queries: Vec::new(),
                    n_pairs: 0,
                    n_docs: 0,
                    min_occurrences: FLOOR,
                },
            })?;
            late_interaction::save_late_interaction_analysis(
                &self.folder,
                &definition.name,
                &found,
            )?;
        }
        Ok(())
    }
}

/// Writes the files of the transfer sets and returns the folder of the demo.
fn unpack(folder: &DataFolder) -> Result<PathBuf, Error> {
    let demo = folder.create_demo_files_folder_if_missing()?;
    let transfer = demo.join("transfer");
    let way_out = remedy::ANOTHER_DATA_FOLDER;
    fs::create_dir_all(&transfer).map_err(Error::io_error_converter(&transfer, way_out))?;
    for (name, text) in TRANSFERS {
        let path = transfer.join(name);
        fs::write(&path, text).map_err(Error::io_error_converter(&path, way_out))?;
    }
    Ok(demo)
}

/// Adds the trainings of the small models, which learned on another collection.
fn add_trainings(study: &mut Study, files: &Path, models: &ModelRegistry) -> Result<(), Error> {
    let known = models.ranker_specs();
    for [name, spec] in models::FINE_TUNED {
        if study.find_training(name).is_some() || !known.iter().any(|it| it == spec) {
            continue;
        }
        study.definition.train.push(StudyTraining {
            name: name.to_owned(),
            repairs: None,
            // Of the queries of the demo study, no split was trained on.
            spec: TrainingSpec {
                test: None,
                ..models::training_spec(name)
            },
        });
        study.trainings.push(TrainedRankerRecord {
            ranker: spec.to_owned(),
            added_axioms: Vec::new(),
            swapped_effectiveness: BTreeMap::new(),
            record: training::read_training_record(&files.join("models").join(name))?,
        });
    }
    Ok(())
}

/// Trains the word vectors of the demo study on its own collection, so that it needs no download.
/// They have the same bits on any machine.
fn train_word_vectors(
    definition: &StudyDefinition,
    collection: &Collection,
    folder: &Path,
) -> Result<(), Error> {
    let Some(file) = &definition.vectors else {
        return Ok(());
    };
    let index = pipeline::build_index_with_tokens(
        collection,
        &definition.analyzer,
        ParallelExecutor::default(),
    )?;
    let mut trainer = pipeline::prepare_glove_trainer(&index, WORD_VECTORS)?;
    pipeline::train_all_glove_rounds(&mut trainer, || {});
    pipeline::write_word_vectors(&folder.join(file), &trainer.into_word_vectors())
}

/// Returns the demo collection, whose files are embedded in the program.
pub(crate) fn embedded_demo_collection() -> Result<Collection, Error> {
    let (docs, _) = beir::read_beir_documents(FileInput::without_progress("corpus.jsonl", CORPUS))?;
    let (queries, _) =
        beir::read_beir_queries(FileInput::without_progress("queries.jsonl", QUERIES))?;
    let (qrels, _) = trec::read_qrels(FileInput::without_progress("qrels.tsv", QRELS))?;
    Ok(Collection {
        queries,
        docs,
        qrels,
    })
}
