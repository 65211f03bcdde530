//! The file formats of TREC: topics, relevance judgments (qrels), runs and score files.
//!
//! The formats are those of NIST's `trec_eval` (<https://github.com/usnistgov/trec_eval>): columns
//! separated by white space.

pub mod topics;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::lines::rows::{
    AcceptedRowWarnings, IdFirstOccurrences, column_count_error, feed_nonblank_lines_to_parser,
    quote_text, validate_record_id,
};
use super::lines::{FileLine, FileSizeLimits, LineReader};
use super::{Collection, Qrels, Run, RunEntry, SplitsByQueryId};
use crate::collection::{FileContentAndReportResult, FileInput};
use crate::error::{Error, FileReadReport};

/// Reads qrels: `qid 0 docid grade`, or the three columns of BEIR below their header `query-id
/// corpus-id score`. Of two grades for the same pair the first is kept.
pub fn read_qrels(file: FileInput<'_, impl Read>) -> FileContentAndReportResult<Qrels> {
    let (mut qrels, mut layout) = (Qrels::default(), None);
    let mut reading = feed_nonblank_lines_to_parser(file, |_, row| {
        let columns: Vec<&str> = row.split_ascii_whitespace().collect();
        let (query, doc, grade) = match (&layout, &columns[..]) {
            (None, ["query-id", "corpus-id", "score"]) => {
                layout = Some(Layout::Beir);
                return Ok(AcceptedRowWarnings::new());
            }
            (Some(Layout::Beir), &[query, doc, grade]) => (query, doc, grade),
            (Some(Layout::Beir), _) => {
                return Err(column_count_error(
                    columns.len(),
                    "3: query, document, grade, because the first line is `query-id corpus-id \
                     score`",
                ));
            }
            (None | Some(Layout::Trec), &[query, _, doc, grade]) => (query, doc, grade),
            (None | Some(Layout::Trec), _) => {
                return Err(column_count_error(
                    columns.len(),
                    "4: query, 0, document, grade (or 3 if the first line is `query-id \
                     corpus-id score`)",
                ));
            }
        };
        layout.get_or_insert(Layout::Trec);
        judge(&mut qrels, query, doc, whole(grade, "grade")?)?;
        Ok(AcceptedRowWarnings::new())
    })?;
    reading.n_rows = qrels.0.values().map(|it| it.len() as u64).sum(); // a header is not a row
    Ok((qrels, reading))
}

/// The first line of the `ir_metadata` block at the beginning of a run (Breuer, Keller & Schaer,
/// SIGIR 2022).
pub const METADATA_START: &str = "# ir_metadata.start";
/// Marks the last line of the `ir_metadata` block at the beginning of a run.
pub const METADATA_END: &str = "# ir_metadata.end";

/// Whether a file starts with lines of `ir_metadata`, and whether the reader is inside of them.
#[derive(Default)]
struct Metadata {
    inside: bool,
    n_lines: u64,
}

impl Metadata {
    fn holds(&mut self, line: u64, row: &str) -> bool {
        let row = row.trim();
        if line == 1 && row == METADATA_START {
            self.inside = true;
        }
        let held = self.inside && row.starts_with('#');
        if held {
            self.n_lines += 1;
            self.inside = row != METADATA_END;
        }
        held
    }
}

/// Reads a run: `qid Q0 docid rank score tag`; everything after the score is part of the tag. The
/// file may start with `ir_metadata`. Of two lines for the same pair the first is kept.
pub fn read_run(file: FileInput<'_, impl Read>) -> FileContentAndReportResult<Run> {
    let (mut run, mut seen) = (Run::default(), BTreeMap::new());
    let mut metadata = Metadata::default();
    let mut reading = feed_nonblank_lines_to_parser(file, |line, row| {
        if metadata.holds(line, row) {
            return Ok(AcceptedRowWarnings::new());
        }
        RunRow::parse(row)?.take(line, &mut run, &mut seen)?;
        Ok(AcceptedRowWarnings::new())
    })?;
    reading.n_rows -= metadata.n_lines;
    Ok((run, reading))
}

/// Reads a run whose seventh column is the document's grade, as MatchZoo writes them, and returns
/// the run and its relevance judgments.
pub fn read_graded_run(
    file: FileInput<'_, impl Read>,
) -> Result<(Run, Qrels, FileReadReport), Error> {
    let (mut run, mut qrels, mut seen) = (Run::default(), Qrels::default(), BTreeMap::new());
    let mut metadata = Metadata::default();
    let mut reading = feed_nonblank_lines_to_parser(file, |line, text| {
        if metadata.holds(line, text) {
            return Ok(AcceptedRowWarnings::new());
        }
        let row = RunRow::parse(text)?;
        let grade = row.label.ok_or_else(|| {
            "6 columns; expected 7: the last is the grade of the document".to_owned()
        })?;
        let grade = whole(grade, "grade")?;
        row.take(line, &mut run, &mut seen)?;
        judge(&mut qrels, row.query, row.doc, grade)?;
        Ok(AcceptedRowWarnings::new())
    })?;
    reading.n_rows -= metadata.n_lines;
    Ok((run, qrels, reading))
}

/// Imported scores: query id, then document id, to a finite number.
pub type ImportedScores = BTreeMap<String, BTreeMap<String, f64>>;

/// Reads scores: `qid docid score`, with or without a header, or a run of six columns. The first
/// invalid row is an error, since a pair whose row is left out would look unscored.
pub fn read_imported_scores(file: FileInput<'_, impl Read>) -> Result<ImportedScores, Error> {
    let name = file.name;
    let mut scores = ImportedScores::new();
    let mut metadata = Metadata::default();
    let mut lines = LineReader::open(file, FileSizeLimits::FILES)?;
    while let Some(FileLine { number: line, text }) = lines.next_line()? {
        let take = |row: &str| match metadata.holds(line, row) {
            true => Ok(()),
            false => take_score(line, row, &mut scores),
        };
        text.and_then(take).map_err(|reason| Error::Line {
            file: name.to_owned(),
            line,
            reason,
        })?;
    }
    Ok(scores)
}

/// Ids that a file uses and the collection does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnknownCollectionIds {
    /// The number of different unknown queries.
    pub n_queries: u64,
    /// The number of different unknown documents.
    pub n_docs: u64,
    /// The ids of the first few unknown queries.
    pub queries: Vec<String>,
    /// The ids of the first few unknown documents.
    pub docs: Vec<String>,
}

impl UnknownCollectionIds {
    /// The number of ids of each kind that are kept as examples.
    pub const MAX_EXAMPLES: usize = 5;

    /// Returns the ids in relevance judgments that the collection does not have.
    pub fn find_in_qrels(qrels: &Qrels, collection: &Collection) -> UnknownCollectionIds {
        let queries = qrels.0.keys().map(String::as_str);
        let docs = qrels
            .0
            .values()
            .flat_map(|it| it.keys())
            .map(String::as_str);
        UnknownCollectionIds::among(queries, docs, collection)
    }

    /// Returns the ids in a run that the collection does not have.
    pub fn find_in_run(run: &Run, collection: &Collection) -> UnknownCollectionIds {
        let queries = run.0.keys().map(String::as_str);
        let docs = run.0.values().flatten().map(|it| it.doc.as_str());
        UnknownCollectionIds::among(queries, docs, collection)
    }

    /// Returns the ids in splits that the collection does not have.
    pub fn find_in_splits(
        splits: &SplitsByQueryId,
        collection: &Collection,
    ) -> UnknownCollectionIds {
        let queries = splits.keys().map(String::as_str);
        UnknownCollectionIds::among(queries, std::iter::empty(), collection)
    }

    /// Returns whether no id is unknown.
    pub fn is_empty(&self) -> bool {
        self.n_queries == 0 && self.n_docs == 0
    }

    fn among<'a>(
        queries: impl Iterator<Item = &'a str>,
        docs: impl Iterator<Item = &'a str>,
        collection: &'a Collection,
    ) -> UnknownCollectionIds {
        let missing_queries = missing(queries, collection.queries.iter().map(|it| it.id.as_str()));
        let missing_docs = missing(docs, collection.docs.iter().map(|it| it.id()));
        let first = |ids: &[&str]| {
            ids.iter()
                .take(Self::MAX_EXAMPLES)
                .map(|it| it.to_string())
                .collect()
        };
        UnknownCollectionIds {
            n_queries: missing_queries.len() as u64,
            n_docs: missing_docs.len() as u64,
            queries: first(&missing_queries),
            docs: first(&missing_docs),
        }
    }
}

impl fmt::Display for UnknownCollectionIds {
    /// Writes, for example, `not in the collection: 2 queries (q7, q9), 140 documents (d1, d2, d3,
    /// d4, d5, …)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |n: u64, one: &str, many: &str, ids: &[String]| {
            let what = if n == 1 { one } else { many };
            let more = if n > ids.len() as u64 { ", …" } else { "" };
            (n > 0).then(|| format!("{n} {what} ({}{more})", ids.join(", ")))
        };
        let queries = part(self.n_queries, "query", "queries", &self.queries);
        let docs = part(self.n_docs, "document", "documents", &self.docs);
        let parts: Vec<String> = queries.into_iter().chain(docs).collect();
        match &parts[..] {
            [] => out.write_str("all queries and documents are in the collection"),
            _ => write!(out, "not in the collection: {}", parts.join(", ")),
        }
    }
}

/// Returns the distinct elements of `named` that are not in `known`, sorted.
fn missing<'a>(
    named: impl Iterator<Item = &'a str>,
    known: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut missing: BTreeSet<&str> = named.collect();
    for id in known {
        missing.remove(id);
    }
    missing.into_iter().collect()
}

/// The layout of a qrels file.
enum Layout {
    Trec,
    Beir,
}

struct RunRow<'a> {
    query: &'a str,
    doc: &'a str,
    rank: i64,
    score: f64,
    label: Option<&'a str>,
}

impl<'a> RunRow<'a> {
    fn parse(row: &'a str) -> Result<RunRow<'a>, String> {
        let columns: Vec<&str> = row.split_ascii_whitespace().collect();
        match columns[..] {
            [query, _, doc, rank, score, _, ref rest @ ..] => Ok(RunRow {
                query,
                doc,
                rank: whole(rank, "rank")?,
                score: finite(score)?,
                label: rest.first().copied(),
            }),
            _ => Err(column_count_error(
                columns.len(),
                "6: query, Q0, document, rank, score, tag",
            )),
        }
    }

    fn take(
        &self,
        line: u64,
        run: &mut Run,
        seen: &mut BTreeMap<String, IdFirstOccurrences>,
    ) -> Result<(), String> {
        validate_record_id(self.query)?;
        validate_record_id(self.doc)?;
        seen.entry(self.query.to_owned())
            .or_default()
            .insert(self.doc, line)
            .map_err(|first| {
                format!(
                    "document {} is already ranked for query {} in line {first}; the first line \
                     is kept",
                    quote_text(self.doc),
                    quote_text(self.query)
                )
            })?;
        let ranked = RunEntry {
            doc: self.doc.to_owned(),
            rank: self.rank,
            score: self.score,
        };
        run.0.entry(self.query.to_owned()).or_default().push(ranked);
        Ok(())
    }
}

fn take_score(line: u64, row: &str, scores: &mut ImportedScores) -> Result<(), String> {
    let columns: Vec<&str> = row.split_ascii_whitespace().collect();
    let (query, doc, score) = match columns[..] {
        [] => return Ok(()),
        [_, _, "score"] if line == 1 => return Ok(()),
        [query, doc, score] => (query, doc, score),
        [query, _, doc, _, score, _, ..] => (query, doc, score),
        _ => {
            return Err(column_count_error(
                columns.len(),
                "3 (query, document, score) or 6 as in a TREC run",
            ));
        }
    };
    let score = finite(score)?;
    validate_record_id(query)?;
    validate_record_id(doc)?;
    match scores
        .entry(query.to_owned())
        .or_default()
        .insert(doc.to_owned(), score)
    {
        None => Ok(()),
        Some(before) => Err(format!(
            "document {} already has a score for query {} ({before}); remove one of the two rows",
            quote_text(doc),
            quote_text(query)
        )),
    }
}

fn judge(qrels: &mut Qrels, query: &str, doc: &str, grade: i32) -> Result<(), String> {
    validate_record_id(query)?;
    validate_record_id(doc)?;
    if let Some(before) = qrels.grade(query, doc) {
        return Err(format!(
            "document {} is already judged for query {}; the first grade ({before}) is kept",
            quote_text(doc),
            quote_text(query)
        ));
    }
    qrels
        .0
        .entry(query.to_owned())
        .or_default()
        .insert(doc.to_owned(), grade);
    Ok(())
}

fn whole<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("the {what} {} is not a whole number", quote_text(text)))
}

fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(score) if score.is_finite() => Ok(score),
        Ok(_) => Err(format!(
            "the score {} is not finite: remove the row or give it a finite score",
            quote_text(text)
        )),
        Err(_) => Err(format!("the score {} is not a number", quote_text(text))),
    }
}
