//! Collections: queries, documents, relevance judgments and runs.
//!
//! The readers of `collection/` turn bytes into these types; see [`lines`] for how an invalid row
//! is rejected without losing the rest of its file.

mod document;
pub mod lines;
pub mod beir;
pub mod trec;
pub mod tsv;
pub mod document_pairs;
pub mod wikipassageqa;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::error::{Error, FileReadReport};

pub use document::{Document, DocumentFields};

/// A callback that receives the number of bytes of a file read so far, before decompression.
pub type ByteProgressCallback<'a> = &'a mut dyn FnMut(u64);

/// A file to read: its name, its bytes and a callback for progress.
pub struct FileInput<'a, R: 'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: R,
    pub(crate) progress: Option<ByteProgressCallback<'a>>,
}

impl<'a, R> FileInput<'a, R> {
    /// Creates the input from the bytes of a file; error messages contain its name. `progress`
    /// receives the number of bytes that have been read.
    pub fn new(name: &'a str, bytes: R, progress: ByteProgressCallback<'a>) -> FileInput<'a, R> {
        let progress = Some(progress);
        FileInput {
            progress,
            ..FileInput::without_progress(name, bytes)
        }
    }

    /// Creates the input as [`FileInput::new`], without a callback.
    pub fn without_progress(name: &'a str, bytes: R) -> FileInput<'a, R> {
        let progress = None;
        FileInput {
            name,
            bytes,
            progress,
        }
    }
}

/// The content of a file, with a report on warnings and rejected rows.
pub type FileContentAndReportResult<T> = Result<(T, FileReadReport), Error>;

/// A [`FileContentAndReportResult`] of rows in the order of the file.
pub type FileRowsAndReportResult<T> = FileContentAndReportResult<Vec<T>>;

/// A query of a collection: its id, its text, and optionally its group and split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Query {
    /// The id as in the file: 1 to 512 bytes without white space, control characters and
    /// bidirectional controls.
    pub id: String,
    /// The text as written.
    pub text: String,
    /// The group; candidate pool `group` has the documents of the same group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The split, for example `train`, `dev` or `test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
}

/// Relevance judgments: query id, document id, grade. Grades below 1 mean not relevant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Qrels(pub BTreeMap<String, BTreeMap<String, i32>>);

impl Qrels {
    /// Returns the grade of a document for a query; `None` if it has no judgment.
    pub fn grade(&self, query: &str, doc: &str) -> Option<i32> {
        self.0.get(query)?.get(doc).copied()
    }

    /// Adds the judgments of other qrels, whose grades replace those for the same document.
    pub fn merge(&mut self, other: &Qrels) {
        for (query, grades) in &other.0 {
            let known = self.0.entry(query.clone()).or_default();
            known.extend(grades.iter().map(|(doc, grade)| (doc.clone(), *grade)));
        }
    }
}

/// The split of each query, by its id: `train`, `dev`, `test`.
pub type SplitsByQueryId = BTreeMap<String, String>;

/// One line of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunEntry {
    /// The document id.
    pub doc: String,
    /// The rank as in the file; some runs start at 0, some at 1.
    pub rank: i64,
    /// The score; finite.
    pub score: f64,
}

/// A run: the ranked list of each query id, in file order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Run(pub BTreeMap<String, Vec<RunEntry>>);

impl Run {
    /// Returns the first `k` documents of a query, ordered by rank, then document id.
    pub fn top_documents(&self, query: &str, k: usize) -> Vec<&str> {
        let mut rows: Vec<&RunEntry> = self.0.get(query).into_iter().flatten().collect();
        rows.sort_by(|a, b| (a.rank, &a.doc).cmp(&(b.rank, &b.doc)));
        rows.into_iter().take(k).map(|it| it.doc.as_str()).collect()
    }
}

/// Queries, documents and relevance judgments of one collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collection {
    /// The queries, in file order.
    pub queries: Vec<Query>,
    /// The documents, in file order; a document's number is its index here.
    pub docs: Vec<Document>,
    /// The relevance judgments; may be empty.
    pub qrels: Qrels,
}

impl Collection {
    /// Returns the number of each document by its id.
    pub fn doc_numbers_by_id(&self) -> BTreeMap<&str, u32> {
        self.docs
            .iter()
            .enumerate()
            .map(|(at, doc)| (doc.id(), at as u32))
            .collect()
    }

    /// Returns the grades of documents for a query.
    pub fn grades_of_documents(&self, query: usize, docs: &[u32]) -> Vec<Option<i32>> {
        let grades = self.qrels.0.get(&self.queries[query].id);
        let grade = |doc: &u32| grades?.get(self.docs[*doc as usize].id()).copied();
        docs.iter().map(grade).collect()
    }

    /// Sets the split of each query.
    pub fn set_query_splits(&mut self, splits: &SplitsByQueryId) {
        for query in &mut self.queries {
            if let Some(split) = splits.get(&query.id) {
                query.split = Some(split.clone());
            }
        }
    }

    /// Returns the SHA-256 of the ids, titles, texts and groups of all queries and documents, in
    /// hex.
    pub fn content_hash(&self) -> String {
        self.content_hash_of_first_queries(self.queries.len())
    }

    /// Returns the [`Collection::content_hash`] of the collection with its first queries only, as
    /// files have it that were mined from these.
    pub fn content_hash_of_first_queries(&self, n_queries: usize) -> String {
        let mut hasher = Sha256::new();
        let mut part = |text: &str| {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        };
        for query in self.queries.iter().take(n_queries) {
            part(&query.id);
            part(&query.text);
            part(query.group.as_deref().unwrap_or_default());
        }
        part("");
        for doc in &self.docs {
            part(doc.id());
            part(doc.title());
            part(doc.text());
            part(doc.group().unwrap_or_default());
        }
        encode_hex(&hasher.finalize())
    }
}

/// Encodes bytes as lower-case hexadecimal digits, two per byte.
pub fn encode_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("a String takes every write");
        out
    })
}

/// Returns the SHA-256 of a text in UTF-8, in hex: the key of a text in a score store.
pub fn text_hash(text: &str) -> String {
    encode_hex(&Sha256::digest(text))
}
