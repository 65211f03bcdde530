//! The state of the Workbench page.

use std::cell::RefCell;

use leptos::prelude::*;
use shared::api::worker::{
    FileKind, FileSummary, LocalStudySummary, StudyInputPart, WorkerProgress, WorkerResponse,
};
use shared::study::StudyDefinition;
use shared::text::{Stopwords, WordpieceVocabulary};
use web_sys::File;

use super::settings::{
    LocalStudyAuxiliaryFiles, LocalStudyFieldError, LocalStudyFormValues, UploadedTransferPairsFile,
};
use crate::api::{RequestError, worker};
use crate::keyboard::KeyPressOutcome;
use crate::stored_summary;

thread_local! {
    /// The files that were read when the page was left for another one of this site.
    static FILES: RefCell<Vec<WorkbenchFile>> = const { RefCell::new(Vec::new()) };
}

/// Returns the files of the Workbench, which stay when the reader opens other pages, until the
/// browser loads the site again.
pub(super) fn files_of_this_visit() -> RwSignal<Vec<WorkbenchFile>, LocalStorage> {
    let files = RwSignal::new_local(FILES.with_borrow(Clone::clone));
    Effect::new(move |_| {
        let mut read = files.get();
        read.retain(|it| !matches!(it.state, FileReadState::Reading(_)));
        FILES.set(read);
    });
    files
}

/// The state of the Workbench page.
#[derive(Clone, Copy)]
pub(super) struct WorkbenchState {
    pub(super) files: RwSignal<Vec<WorkbenchFile>, LocalStorage>,
    pub(super) settings: RwSignal<LocalStudyFormValues>,
    /// The settings with which the study was created in this visit.
    pub(super) created_with: RwSignal<Option<LocalStudyFormValues>>,
    /// The uploaded stop list, with the name of its file.
    pub(super) stop_list: RwSignal<Option<(String, Stopwords)>>,
    /// The uploaded WordPiece vocabulary, or why it could not be read.
    pub(super) vocabulary: RwSignal<Option<Result<WordpieceVocabulary, String>>>,
    pub(super) run: RwSignal<StudyRunState>,
    /// The local study, if there is one.
    pub(super) study: RwSignal<Option<LocalStudySummary>>,
    /// The job that scores the study, as in the address.
    pub(super) job: RwSignal<Option<StudyScoringJob>>,
    /// What was there before clearing, as long as clearing can be undone.
    pub(super) cleared: RwSignal<Option<ClearedWorkbench>, LocalStorage>,
}

/// What the Workbench had before it was cleared. The worker keeps the files and the study until
/// clearing cannot be undone any more.
pub(super) struct ClearedWorkbench {
    pub(super) files: Vec<WorkbenchFile>,
    pub(super) settings: LocalStudyFormValues,
    pub(super) stop_list: Option<(String, Stopwords)>,
    pub(super) vocabulary: Option<Result<WordpieceVocabulary, String>>,
    pub(super) study: Option<LocalStudySummary>,
    pub(super) job: Option<StudyScoringJob>,
}

/// A job and the study that it scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StudyScoringJob {
    pub(super) id: String,
    /// The first characters of [`LocalStudySummary::instances_hash`].
    pub(super) study_hash: String,
}

impl WorkbenchState {
    /// Returns the definition of the study with the present settings and files, or all errors.
    pub(super) fn study_definition(self) -> Result<StudyDefinition, Vec<LocalStudyFieldError>> {
        let files = self.files_of_study_definition();
        self.settings.with(|it| it.to_study_definition(&files))
    }

    /// Returns the files that the study's definition uses.
    pub(super) fn files_of_study_definition(self) -> LocalStudyAuxiliaryFiles {
        let of = |part| self.names_of_files(part);
        LocalStudyAuxiliaryFiles {
            stop_list: self.stop_list.get().map(|it| it.1),
            vocabulary: self.vocabulary.get(),
            vectors: of(StudyInputPart::Vectors).pop(),
            corpora: of(StudyInputPart::Documents),
            pairs: self.files.with(|files| {
                files
                    .iter()
                    .filter_map(WorkbenchFile::as_pairs_file)
                    .collect()
            }),
        }
    }

    /// Returns the names of the files with a part of the collection.
    pub(super) fn names_of_files(self, part: StudyInputPart) -> Vec<String> {
        self.files.with(|files| {
            let files = files.iter().filter(|it| it.collection_part() == Some(part));
            files.map(|it| it.name.clone()).collect()
        })
    }

    /// Returns whether a part of the collection has been read.
    pub(super) fn part_presence(self, part: StudyInputPart) -> CollectionPartPresence {
        let found = self
            .files
            .with(|files| files.iter().any(|it| it.collection_part() == Some(part)));
        if found {
            CollectionPartPresence::Present
        } else {
            CollectionPartPresence::Missing
        }
    }

    /// Cancels the run, if one is in progress.
    pub(super) fn cancel_study_computation(self) -> KeyPressOutcome {
        match self.run.get_untracked() {
            StudyRunState::Running { number, .. } => {
                worker::cancel_worker_task(number);
                KeyPressOutcome::Handled
            }
            StudyRunState::Idle
            | StudyRunState::Done { .. }
            | StudyRunState::Canceled
            | StudyRunState::Failed(_) => KeyPressOutcome::Ignored,
        }
    }

    /// Applies a message of the worker.
    pub(super) fn apply_worker_message(self, tell: WorkerResponse) {
        if let WorkerResponse::StudyReady(made) = tell {
            stored_summary::store(&made);
            self.study.set(Some(made));
        }
    }
}

/// Whether a part of the collection has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectionPartPresence {
    Present,
    Missing,
}

/// A file on the Workbench.
#[derive(Clone)]
pub(super) struct WorkbenchFile {
    pub(super) name: String,
    pub(super) file: File,
    pub(super) state: FileReadState,
    /// The generation of the worker that has read it; later workers do not have it.
    pub(super) worker_generation: u64,
}

/// The state of reading a file.
#[derive(Clone)]
pub(super) enum FileReadState {
    /// The progress, from 0 to 1.
    Reading(ArcRwSignal<f64>),
    Read(FileSummary),
    /// Why it failed, in words.
    Failed(String),
}

impl WorkbenchFile {
    /// Returns the part of the collection that the file holds, once it has been read.
    pub(super) fn collection_part(&self) -> Option<StudyInputPart> {
        match &self.state {
            FileReadState::Read(read) => Some(read.kind.collection_part()),
            FileReadState::Reading(_) | FileReadState::Failed(_) => None,
        }
    }
}

impl WorkbenchFile {
    /// Returns the file as a transfer set, if it holds pairs.
    pub(super) fn as_pairs_file(&self) -> Option<UploadedTransferPairsFile> {
        let FileReadState::Read(read) = &self.state else {
            return None;
        };
        Some(UploadedTransferPairsFile {
            name: self.name.clone(),
            query_source: read.query_source?,
            is_symmetric: read.kind == FileKind::SymmetricPairs,
        })
    }
}

/// The state of a run: idle, running, done, canceled or failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StudyRunState {
    /// Nothing has been run in this visit.
    Idle,
    /// The run is in progress in the worker.
    Running {
        /// The number of the worker's task, to cancel it.
        number: u64,
        /// The latest progress of each stage that has begun.
        steps: Vec<WorkerProgress>,
    },
    /// The study has been made.
    Done {
        /// How long it took, in seconds.
        took_s: f64,
    },
    /// Canceled; the study from before is kept.
    Canceled,
    /// The study could not be made.
    Failed(RequestError),
}
