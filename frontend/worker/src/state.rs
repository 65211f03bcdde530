//! The state of the worker: the files that it has read and the studies that it has loaded.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use shared::api::ErrorResponse;
use shared::api::worker::{LOCAL_STUDY, LocalStudySummary, WorkerPipelineStage, WorkerResponse};
use shared::collection::SplitsByQueryId;
use shared::collection::trec::{ImportedScores, UnknownCollectionIds};
use shared::collection::{Collection, Document, Run, RunEntry};
use shared::error::Error;
use shared::probe::CandidatePoolSpec;
use shared::probe::transfer::TransferPairSet;
use shared::rank::LexicalRanker;
use shared::score::{RankerQueryDocumentScores, SCORE_FILE_PREFIX};
use shared::study::build::{StudyInputs, make_study};
use shared::study::preparation::{self, ParsedInputFiles, ShardExecutor, StudyPreparationProgress};
use shared::study::sliced::SlicedStudy;
use shared::study::{Study, StudyDefinition, TransferSetFile};
use shared::word_vectors::WordVectors;

use crate::file::{CollectionFileContent, ParsedCollectionFile};
use crate::messages::{self, ProgressReporter, ThrottledReportOutcome};
use crate::sliced_study::{self, HostedFiles};
use crate::study_requests::{self, to_error_response};
use crate::{STATE, local_study_store, study_not_loaded};

/// The files that the worker has read and the studies that it has loaded.
#[derive(Default)]
pub(crate) struct WorkerState {
    /// The files by name.
    pub(crate) files: BTreeMap<String, ParsedCollectionFile>,
    /// The studies by name; [`LOCAL_STUDY`] was made here.
    pub(crate) studies: BTreeMap<String, Study>,
    /// The hosted studies of which only slices are read, by name.
    pub(crate) sliced_studies: BTreeMap<String, Rc<SlicedStudy<HostedFiles>>>,
    /// The task that was canceled last.
    pub(crate) canceled_task: Option<u64>,
    /// The warnings about the local study, in addition to its overview.
    messages: Vec<String>,
    memory: RecallState,
}

/// Whether the local study of an earlier visit has been loaded from the browser's storage.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum RecallState {
    #[default]
    NotLoaded,
    Loaded,
}

impl WorkerState {
    /// Returns the local study, or an error if there is none.
    pub(crate) fn require_local_study(&self) -> Result<&Study, ErrorResponse> {
        self.studies
            .get(LOCAL_STUDY)
            .ok_or_else(|| study_not_loaded(LOCAL_STUDY))
    }

    /// Returns the local study if it has its texts.
    pub(crate) fn require_local_study_with_texts(&self) -> Result<&Study, ErrorResponse> {
        let study = self.require_local_study()?;
        study.ensure_texts_available().map_err(to_error_response)?;
        Ok(study)
    }

    /// Restores the texts of a study.
    pub(crate) fn restore_study_texts(
        &mut self,
        name: &str,
        copy: &[Document],
    ) -> Result<(), ErrorResponse> {
        if self.sliced_studies.contains_key(name) {
            let error = "This study is too large to add texts in the browser. Start `axioscope \
                 serve` with it and with your copy of the collection.";
            return Err(ErrorResponse::with_message_and_type(error, "setting"));
        }
        let study = self
            .studies
            .get_mut(name)
            .ok_or_else(|| study_not_loaded(name))?;
        study.restore_texts(copy).map_err(to_error_response)
    }

    /// Returns a summary of the local study, if there is one.
    pub(crate) fn summarize_local_study(&self) -> Option<LocalStudySummary> {
        self.studies
            .get(LOCAL_STUDY)
            .map(|study| LocalStudySummary {
                instances_hash: study.instances_hash.clone(),
                title: study.definition.title.clone(),
                n_queries: study.queries.len() as u64,
                n_docs: study.totals.n_docs,
                n_instances: study.instances.iter().map(|it| it.len() as u64).sum(),
                n_pairs: study.pairs.len() as u64,
                rankers: study.scores.iter().map(|it| it.ranker.clone()).collect(),
                warnings: self.messages.clone(),
            })
    }

    /// Loads a study from a file.
    pub(crate) fn insert_study_from_json(
        &mut self,
        name: String,
        file: &str,
        text: &str,
    ) -> Result<WorkerResponse, ErrorResponse> {
        let local = name == LOCAL_STUDY;
        if !local && sliced_study::is_head(text) {
            let study = sliced_study::open(file, text)?;
            self.sliced_studies.insert(name, Rc::new(study));
            return Ok(WorkerResponse::Done);
        }
        let mut study = Study::from_json(file, text).map_err(to_error_response)?;
        study.definition.name.clone_from(&name);
        self.studies.insert(name, study);
        if !local {
            return Ok(WorkerResponse::Done);
        }
        self.memory = RecallState::Loaded;
        self.messages.clear();
        Ok(self
            .summarize_local_study()
            .map_or(WorkerResponse::Done, WorkerResponse::StudyReady))
    }

    /// Adds the scores of a job to the study whose hash begins with `of`.
    pub(crate) fn add_job_scores(
        &mut self,
        of: &str,
        text: &str,
    ) -> Result<WorkerResponse, ErrorResponse> {
        let study = self.require_local_study()?;
        if !study.instances_hash.starts_with(of) {
            let error = "These scores belong to another study than the one on the Workbench. \
                 Recreate that study to add them.";
            return Err(ErrorResponse::with_message_and_type(error, "conflict"));
        }
        let scores = study_requests::parse_job_scores(study, text)?;
        self.add_scores(scores)
    }

    /// Adds scores from an uploaded file.
    pub(crate) fn add_uploaded_scores(
        &mut self,
        name: &str,
        brought: &ImportedScores,
    ) -> Result<WorkerResponse, ErrorResponse> {
        let scores = study_requests::uploaded_scores_in_pair_order(
            self.require_local_study()?,
            name,
            brought,
        )?;
        self.add_scores(scores)
    }

    /// Adds the scores of a ranker, replacing those of the same ranker.
    fn add_scores(
        &mut self,
        scores: RankerQueryDocumentScores,
    ) -> Result<WorkerResponse, ErrorResponse> {
        let study = self
            .studies
            .get_mut(LOCAL_STUDY)
            .ok_or_else(|| study_not_loaded(LOCAL_STUDY))?;
        let fingerprint = &scores.ranker.fingerprint;
        match study
            .scores
            .iter_mut()
            .find(|it| it.ranker.fingerprint == *fingerprint)
        {
            Some(place) => *place = scores,
            None => {
                study.definition.rankers.push(scores.ranker.spec.clone());
                study.scores.push(scores);
            }
        }
        Ok(self
            .summarize_local_study()
            .map_or(WorkerResponse::Done, WorkerResponse::StudyReady))
    }

    /// Returns the documents of all files.
    pub(crate) fn documents_of_all_files(&self) -> Vec<Document> {
        let held = self.files.values().filter_map(|it| match &it.content {
            CollectionFileContent::Documents(docs) => Some(docs),
            _ => None,
        });
        held.flatten().cloned().collect()
    }

    /// Combines all files into one collection.
    fn collection(&self) -> Result<Collection, ErrorResponse> {
        let mut all = Collection::default();
        let mut splits = SplitsByQueryId::new();
        for kept in self.files.values() {
            match &kept.content {
                CollectionFileContent::Documents(docs) => all.docs.extend(docs.iter().cloned()),
                CollectionFileContent::Queries(queries) => {
                    all.queries.extend(queries.iter().cloned())
                }
                CollectionFileContent::Qrels(qrels) => all.qrels.merge(qrels),
                CollectionFileContent::Splits(of) => {
                    splits.extend(of.iter().map(|it| (it.0.clone(), it.1.clone())));
                }
                CollectionFileContent::Run(_)
                | CollectionFileContent::Vectors(_)
                | CollectionFileContent::Pairs(_) => (),
            }
        }
        all.set_query_splits(&splits);
        require_unique_ids("document", all.docs.iter().map(|it| it.id()))?;
        require_unique_ids("query", all.queries.iter().map(|it| it.id.as_str()))?;
        Ok(all)
    }

    /// Returns the run that a pool is taken from.
    fn pool_run(&self, pool: &CandidatePoolSpec) -> Result<Option<Run>, ErrorResponse> {
        let CandidatePoolSpec::Run { file, .. } = pool else {
            return Ok(None);
        };
        match self.files.get(file).map(|it| &it.content) {
            Some(CollectionFileContent::Run(run)) => Ok(Some(run.clone())),
            Some(_) | None => {
                let error =
                    format!("pool {pool}: there is no run `{file}`; add it or change the pool");
                Err(ErrorResponse::with_message_and_type(error, "setting"))
            }
        }
    }

    /// Returns the word vectors that a study uses.
    fn study_vectors(&self, definition: &StudyDefinition) -> Option<Arc<WordVectors>> {
        let file = definition.vectors.as_ref()?;
        match &self.files.get(file)?.content {
            CollectionFileContent::Vectors(vectors) => Some(Arc::clone(vectors)),
            _ => None,
        }
    }

    /// Returns the document pairs of the transfer sets that a study uses.
    fn transfer_pairs(
        &self,
        definition: &StudyDefinition,
    ) -> Result<Vec<TransferPairSet>, ErrorResponse> {
        let set = |file: &TransferSetFile| match self.files.get(&file.file).map(|it| &it.content) {
            Some(CollectionFileContent::Pairs(pairs)) => Ok(TransferPairSet {
                transfer: file.dataset_transfer_test().map_err(to_error_response)?,
                query_source: file.query_source,
                pairs: pairs.clone(),
            }),
            Some(_) | None => {
                let error = format!("There are no pairs `{}`; add their file.", file.file);
                Err(ErrorResponse::with_message_and_type(error, "setting"))
            }
        };
        definition.transfers.iter().map(set).collect()
    }

    /// Adds the scores of runs, named by the specs of their rankers, to a study, and returns why
    /// some could not be added. Pairs that a run lacks have no score.
    fn add_runs_as_rankers(&self, study: &mut Study, specs: &[String]) -> Vec<String> {
        let mut remarks = Vec::new();
        for spec in specs {
            let name = &spec[SCORE_FILE_PREFIX.len()..];
            let file = self.files.get(name).map(|it| &it.content);
            let Some(CollectionFileContent::Run(Run(run))) = file else {
                remarks.push(format!("{name}: there is no such run; add its file"));
                continue;
            };
            let scores_of = |entries: &Vec<RunEntry>| {
                let scores = entries.iter().map(|it| (it.doc.clone(), it.score));
                scores.collect()
            };
            let scores = run.iter().map(|(query, it)| (query.clone(), scores_of(it)));
            let scores: ImportedScores = scores.collect();
            match study_requests::uploaded_scores_in_pair_order(study, name, &scores) {
                Ok(scores) => {
                    study.definition.rankers.push(scores.ranker.spec.clone());
                    study.scores.push(scores);
                }
                Err(error) => remarks.push(error.error),
            }
        }
        remarks
    }

    /// Lists the ids in files that the collection does not contain.
    fn unknown_ids(&self, collection: &Collection) -> Vec<String> {
        let files = self.files.iter();
        let said = files.filter_map(|(name, kept)| {
            let unknown = match &kept.content {
                CollectionFileContent::Qrels(qrels) => {
                    UnknownCollectionIds::find_in_qrels(qrels, collection)
                }
                CollectionFileContent::Run(run) => {
                    UnknownCollectionIds::find_in_run(run, collection)
                }
                CollectionFileContent::Documents(_)
                | CollectionFileContent::Queries(_)
                | CollectionFileContent::Vectors(_) => {
                    return None;
                }
                CollectionFileContent::Pairs(_) => return None,
                CollectionFileContent::Splits(splits) => {
                    UnknownCollectionIds::find_in_splits(splits, collection)
                }
            };
            (!unknown.is_empty()).then(|| format!("{name}: {unknown}"))
        });
        said.collect()
    }
}

/// Returns an error if an id occurs twice.
pub(crate) fn require_unique_ids<'a>(
    what: &str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<(), ErrorResponse> {
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            let error = format!("Two files contain a {what} with id `{id}`. Remove one of them.");
            return Err(ErrorResponse::with_message_and_type(error, "input"));
        }
    }
    Ok(())
}

/// Makes the local study, and yields to other messages between steps.
pub(crate) async fn create_local_study(
    number: u64,
    mut definition: StudyDefinition,
    made: String,
) -> Result<WorkerResponse, ErrorResponse> {
    let is_run = |spec: &mut String| spec.starts_with(SCORE_FILE_PREFIX);
    let runs: Vec<String> = definition.rankers.extract_if(.., is_run).collect();
    let (inputs, mut remarks) = STATE.with_borrow(|it| prepare_inputs(it, definition, made))?;
    let mut steps = StudyExecutor {
        number,
        clock: ProgressReporter::for_task(number),
    };
    let mut study = match make_study(inputs, &mut steps).await {
        Ok(study) => study,
        Err(MakeError::Canceled) => return Ok(WorkerResponse::Canceled),
        Err(MakeError::Refused(error)) => return Err(to_error_response(error)),
    };
    let tell = STATE.with_borrow_mut(|it| {
        remarks.extend(it.add_runs_as_rankers(&mut study, &runs));
        it.studies.insert(LOCAL_STUDY.to_owned(), study);
        it.messages = remarks;
        it.memory = RecallState::Loaded;
        it.summarize_local_study()
            .map_or(WorkerResponse::Done, WorkerResponse::StudyReady)
    });
    store_local_study().await;
    Ok(tell)
}

/// Computes one shard after the other, and yields to other messages in between.
struct StudyExecutor {
    /// The number of the task.
    number: u64,
    clock: ProgressReporter,
}

/// Why the study could not be made.
enum MakeError {
    Canceled,
    Refused(Error),
}

impl From<Error> for MakeError {
    fn from(error: Error) -> MakeError {
        MakeError::Refused(error)
    }
}

impl ShardExecutor for StudyExecutor {
    /// The task was canceled or the input is invalid.
    type Error = MakeError;

    async fn report(&mut self, progress: StudyPreparationProgress) -> Result<(), MakeError> {
        let StudyPreparationProgress {
            stage,
            done,
            total: of,
            n_found,
        } = progress;
        let (stage, found) = match stage {
            preparation::StudyPreparationStage::Index => (WorkerPipelineStage::Index, None),
            preparation::StudyPreparationStage::DeriveDocuments => {
                (WorkerPipelineStage::Manipulate, None)
            }
            preparation::StudyPreparationStage::Mine => (WorkerPipelineStage::Mine, Some(n_found)),
            preparation::StudyPreparationStage::AuditIndex => (WorkerPipelineStage::Audit, None),
            // The page shows the progress of an audit in documents.
            preparation::StudyPreparationStage::Audit => return Ok(()),
            preparation::StudyPreparationStage::Score => (WorkerPipelineStage::Score, None),
        };
        if self.clock.report_if_due(stage, done, of, found) == ThrottledReportOutcome::Sent {
            messages::yield_to_event_loop().await;
            if STATE.with_borrow(|it| it.canceled_task == Some(self.number)) {
                return Err(MakeError::Canceled);
            }
        }
        Ok(())
    }
}

fn prepare_inputs(
    bench: &WorkerState,
    definition: StudyDefinition,
    made: String,
) -> Result<(StudyInputs, Vec<String>), ErrorResponse> {
    let collection = bench.collection()?;
    let remarks = bench.unknown_ids(&collection);
    let files = ParsedInputFiles {
        run: bench.pool_run(&definition.pool)?,
        vectors: bench.study_vectors(&definition),
        transfer_sets: bench.transfer_pairs(&definition)?,
        ..ParsedInputFiles::default()
    };
    let rankers = definition.rankers.iter().map(|it| it.parse());
    let rankers = rankers.collect::<Result<Vec<LexicalRanker>, Error>>();
    let inputs = StudyInputs {
        rankers: rankers.map_err(to_error_response)?,
        definition,
        collection,
        files,
        created: made,
    };
    Ok((inputs, remarks))
}

/// Loads the local study of an earlier visit, once.
pub(crate) async fn restore_local_study() -> Result<(), ErrorResponse> {
    let known = || STATE.with_borrow(|it| it.studies.contains_key(LOCAL_STUDY));
    if known() || STATE.with_borrow(|it| it.memory == RecallState::Loaded) {
        return Ok(());
    }
    // Several requests may wait here at once; each loads the study, so that none is answered too
    // early.
    let text = local_study_store::load_stored_study_json().await;
    STATE.with_borrow_mut(|it| it.memory = RecallState::Loaded);
    // A study that an earlier version has stored may be unreadable; then there is no study.
    match text.map(|it| Study::from_json(LOCAL_STUDY, &it)) {
        Some(Ok(study)) if !known() => {
            STATE.with_borrow_mut(|it| it.studies.insert(LOCAL_STUDY.to_owned(), study));
        }
        Some(Err(error)) => web_sys::console::warn_1(&error.to_string().into()),
        Some(Ok(_)) | None => {}
    }
    Ok(())
}

/// Stores the local study for a later visit.
pub(crate) async fn store_local_study() {
    let text = STATE.with_borrow(|it| it.studies.get(LOCAL_STUDY).map(serde_json::to_string));
    if let Some(Ok(text)) = text {
        local_study_store::store_local_study_json(&text).await;
    }
}
