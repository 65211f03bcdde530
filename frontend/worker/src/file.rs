//! Reads files of the browser in chunks, with the readers of `shared`.

use std::io::{self, Read};
use std::sync::Arc;

use js_sys::{Array, Uint8Array};
use shared::api::ErrorResponse;
use shared::api::worker::{FileKind, FileSummary, WorkerPipelineStage};
use shared::collection::SplitsByQueryId;
use shared::collection::document_pairs::{self, DatasetTransferPair};
use shared::collection::lines::{FileSizeLimits, LineReader};
use shared::collection::trec::{self, ImportedScores, topics};
use shared::collection::{Document, FileInput, Qrels, Query, Run, beir, tsv};
use shared::error::Error;
use shared::probe::transfer::TransferQuerySource;
use shared::word_vectors::WordVectors;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, File, FileReaderSync};

use crate::messages::{self, ProgressReporter};
use crate::study_requests::to_error_response;

/// A file that was read.
pub(crate) struct ParsedCollectionFile {
    /// The summary that the page shows.
    pub(crate) summary: FileSummary,
    /// The content of the file.
    pub(crate) content: CollectionFileContent,
}

/// The content of a file: documents, queries, qrels, a run, word vectors, splits or pairs.
pub(crate) enum CollectionFileContent {
    /// The documents of a corpus.
    Documents(Vec<Document>),
    /// Queries.
    Queries(Vec<Query>),
    /// Relevance judgments.
    Qrels(Qrels),
    /// A ranking of documents for each query.
    Run(Run),
    /// Word vectors.
    Vectors(Arc<WordVectors>),
    /// The splits of the queries.
    Splits(SplitsByQueryId),
    /// Document pairs of a transfer set.
    Pairs(Vec<DatasetTransferPair>),
}

impl CollectionFileContent {
    /// Returns where the queries of document pairs come from; none for other files.
    fn queries(&self) -> Option<TransferQuerySource> {
        let CollectionFileContent::Pairs(pairs) = self else {
            return None;
        };
        let has_query =
            |it: &DatasetTransferPair| it.query.as_ref().is_some_and(|it| !it.trim().is_empty());
        Some(match pairs.iter().all(has_query) {
            true => TransferQuerySource::Given,
            false => TransferQuerySource::NounPhrase,
        })
    }
}

/// Reads a file to its end.
pub(crate) fn read_collection_file(
    number: u64,
    name: &str,
    kind: Option<FileKind>,
    file: &File,
) -> Result<ParsedCollectionFile, ErrorResponse> {
    let began = messages::ms_since_worker_start();
    let of = file.size() as u64;
    let mut clock = ProgressReporter::for_task(number);
    let mut progress = move |done: u64| {
        let _ = clock.report_if_due(WorkerPipelineStage::Read, done, of, None);
    };
    let kind = match kind {
        Some(kind) => kind,
        None => detect_kind(name, file).map_err(to_error_response)?,
    };
    let input = FileInput::new(name, BlobReader::of(file), &mut progress);
    let (holds, reading) = match kind {
        FileKind::CorpusJsonl => beir::read_beir_documents(input).map(docs),
        FileKind::PassagesTsv => tsv::read_msmarco_passages(input).map(docs),
        FileKind::DocumentsTsv => tsv::read_msmarco_documents(input).map(docs),
        FileKind::DocumentLines => tsv::read_one_passage_per_line(input).map(docs),
        FileKind::QueriesJsonl => beir::read_beir_queries(input).map(queries),
        FileKind::Topics => topics::read_trec_topics(input).map(queries),
        FileKind::Qrels => {
            trec::read_qrels(input).map(|(it, reading)| (CollectionFileContent::Qrels(it), reading))
        }
        FileKind::Run => {
            trec::read_run(input).map(|(it, reading)| (CollectionFileContent::Run(it), reading))
        }
        FileKind::Vectors => shared::word_vectors::read_word_vectors(input)
            .map(|(it, reading)| (CollectionFileContent::Vectors(Arc::new(it)), reading)),
        FileKind::Splits => tsv::read_query_splits(input)
            .map(|(it, reading)| (CollectionFileContent::Splits(it), reading)),
        FileKind::PreferencePairs | FileKind::SymmetricPairs => {
            document_pairs::read_dataset_transfer_pairs(input)
                .map(|(it, reading)| (CollectionFileContent::Pairs(it), reading))
        }
    }
    .map_err(to_error_response)?;
    let took_ms = messages::ms_since_worker_start() - began;
    let read = FileSummary {
        name: name.to_owned(),
        kind,
        n_bytes: of,
        duration_ms: took_ms,
        report: reading,
        query_source: holds.queries(),
    };
    Ok(ParsedCollectionFile {
        summary: read,
        content: holds,
    })
}

/// Reads the documents of all files in an array.
pub(crate) fn read_documents_of_files(
    number: u64,
    files: &JsValue,
) -> Result<Vec<Document>, ErrorResponse> {
    let mut all = Vec::new();
    for file in Array::from(files) {
        let file: File = file.unchecked_into();
        let name = file.name();
        match read_collection_file(number, &name, None, &file)?.content {
            CollectionFileContent::Documents(docs) => all.extend(docs),
            _ => {
                return Err(to_error_response(Error::unreadable_file(
                    &name,
                    "contains no documents; add a corpus",
                )));
            }
        }
    }
    Ok(all)
}

/// Reads a score file to its end.
pub(crate) fn read_score_file(
    number: u64,
    name: &str,
    file: &File,
) -> Result<ImportedScores, ErrorResponse> {
    let of = file.size() as u64;
    let mut clock = ProgressReporter::for_task(number);
    let mut progress = move |done: u64| {
        let _ = clock.report_if_due(WorkerPipelineStage::Read, done, of, None);
    };
    trec::read_imported_scores(FileInput::new(name, BlobReader::of(file), &mut progress))
        .map_err(to_error_response)
}

/// The number of lines that decide the kind of a file.
const SNIFFED_LINES: usize = 20;

fn detect_kind(name: &str, file: &File) -> Result<FileKind, Error> {
    let file = FileInput::without_progress(name, BlobReader::of(file));
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    let mut first = Vec::new();
    while first.len() < SNIFFED_LINES {
        match lines.next_line()?.map(|it| it.text) {
            Some(Ok(line)) => first.push(line.to_owned()),
            Some(Err(_)) => (),
            None => break,
        }
    }
    if first.iter().all(|it| it.trim().is_empty()) {
        return Err(Error::unreadable_file(name, "the file is empty"));
    }
    crate::file_kind::detect_file_kind(name, &first)
        .ok_or_else(|| Error::unreadable_file(name, describe_unknown_file(&first)))
}

/// Says what a file of an unknown kind looks like, and what to do.
fn describe_unknown_file(lines: &[String]) -> String {
    const EXPECTED: &str = "Expected: BEIR JSONL, TREC or TSV files with documents, queries, \
        qrels, runs, splits, word vectors or document pairs.";
    let is_control = |it: char| it.is_control() && it != '\t' || it == char::REPLACEMENT_CHARACTER;
    if lines.iter().any(|it| it.contains(is_control)) {
        return format!("This is not a text file: an image, a PDF or an archive? {EXPECTED}");
    }
    let first = lines.iter().find(|it| !it.trim().is_empty());
    let n_columns = first.map_or(0, |it| it.split('\t').count());
    let columns = match n_columns {
        0 | 1 => "no tabs".to_owned(),
        n => format!("{n} columns between tabs"),
    };
    format!(
        "File type not recognized: the first line has {columns}. Choose what it holds in the \
         column “type”, or change the file. {EXPECTED}"
    )
}

fn docs<R>((docs, reading): (Vec<Document>, R)) -> (CollectionFileContent, R) {
    (CollectionFileContent::Documents(docs), reading)
}

fn queries<R>((queries, reading): (Vec<Query>, R)) -> (CollectionFileContent, R) {
    (CollectionFileContent::Queries(queries), reading)
}

/// Reads the bytes of a file from the browser in chunks.
struct BlobReader<'a> {
    file: &'a Blob,
    /// The offset in the file at which the next chunk begins.
    next: f64,
    /// The bytes of the current chunk.
    piece: Vec<u8>,
    /// The number of bytes of the chunk that have been read.
    taken: usize,
}

impl<'a> BlobReader<'a> {
    /// The size of a chunk. Each one is a round trip to the browser, so there should be few, but
    /// not one for the whole file.
    const CHUNK_BYTES: f64 = 4e6;

    fn of(file: &'a Blob) -> BlobReader<'a> {
        BlobReader {
            file,
            next: 0.0,
            piece: Vec::new(),
            taken: 0,
        }
    }

    fn fetch(&mut self) -> io::Result<()> {
        let end = (self.next + Self::CHUNK_BYTES).min(self.file.size());
        let fetched = self
            .file
            .slice_with_f64_and_f64(self.next, end)
            .and_then(|slice| FileReaderSync::new()?.read_as_array_buffer(&slice))
            .map_err(|_| {
                io::Error::other("The browser lost access to the file; choose it again.")
            })?;
        self.piece = Uint8Array::new(&fetched).to_vec();
        self.taken = 0;
        self.next = end;
        Ok(())
    }
}

impl Read for BlobReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() && self.next < self.file.size() {
            self.fetch()?;
        }
        let rest = &self.piece[self.taken..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.taken += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_file_is_described() {
        let said = |line: &str| describe_unknown_file(&[line.to_owned()]);
        assert!(said("\u{fffd}PNG\u{1a}").starts_with("This is not a text file"));
        assert!(said("q1\td1\t0.5").contains("the first line has 3 columns between tabs"));
        assert!(said("some words").contains("the first line has no tabs"));
    }
}
