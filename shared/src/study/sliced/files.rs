//! The files of a sliced study: their names, their content, and the rows of an order.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::collection::{Document, Query, encode_hex};
use crate::error::Error;
use crate::index::term_statistics::TermStatistics;
use crate::probe::mining::OriginalOrDerivedDocument;
use crate::probe::{AxiomVariant, Probe, StudyDocNo};
use crate::score::RankerInfo;
use crate::study::Study;
use crate::study::instance_list::order::InstanceOrderHeader;

/// The version of the files.
pub(super) const FORMAT: u32 = 1;

/// The file that names everything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlicedStudyHead {
    /// The version of the files; 1. No whole study has this key.
    pub sliced_format: u32,
    /// The folder of the other files, relative to the folder of this one.
    pub folder: String,
    /// The study without queries, documents, instances and scores.
    pub study: Study,
    /// The rankers, in the order of their files.
    pub rankers: Vec<RankerInfo>,
    /// The standard deviation of the scores of each ranker.
    pub score_deviations: Vec<f64>,
    /// The probes, in the order of their files.
    pub probes: Vec<SlicedProbe>,
    /// The grades that occur, ascending. Rows contain positions in this list, counted from 1.
    pub grades: Vec<i32>,
    /// The splits of the queries.
    pub splits: Vec<String>,
    /// Whether the texts of the documents are withheld.
    pub withholds_texts: bool,
    /// The names of the files with replies that were computed beforehand: see [`reply_file_name`].
    pub replies: Vec<String>,
    /// The size of the files into which files of rows are cut; `None` if they are whole and parts
    /// of them are read by range requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u32>,
}

impl SlicedStudyHead {
    /// Reads a head. Returns an error if it is of another version.
    pub fn from_json(file: &str, text: &str) -> Result<SlicedStudyHead, Error> {
        let head: SlicedStudyHead = parse_json(file, text.as_bytes())?;
        let n_rankers = head.rankers.len();
        let fits = head.score_deviations.len() == n_rankers
            && head
                .probes
                .iter()
                .all(|it| it.typical_margins.len() == n_rankers)
            && !head.study.definition.variants.is_empty();
        match fits && head.sliced_format == FORMAT {
            true => Ok(head),
            false => Err(damaged(file, "it is of another version")),
        }
    }
}

/// The instances of a probe and variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlicedProbe {
    /// The probe.
    pub probe: Probe,
    /// The variant.
    pub variant: AxiomVariant,
    /// The number of instances.
    pub n_instances: u64,
    /// The median absolute margin of each ranker, as in
    /// [`crate::study::instance_details::RankerInstanceVerdict::typical_margin`].
    pub typical_margins: Vec<Option<f64>>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSlice {
    /// The name of the file in the folder of the study.
    pub file: String,
    /// The bytes to read; `None` for the whole file.
    pub range: Option<Range<u64>>,
}

impl FileSlice {
    /// Returns the whole of a file.
    pub(super) fn whole(file: impl Into<String>) -> FileSlice {
        FileSlice {
            file: file.into(),
            range: None,
        }
    }
}

/// Returns the name of a part of a file that is cut into chunks.
pub fn chunk_file_name(file: &str, chunk: u64) -> String {
    format!("{file}.{chunk}")
}

/// Returns the chunks that a range of bytes touches, each with the part of it that the range has.
pub fn split_into_chunks(range: Range<u64>, chunk_bytes: u32) -> Vec<(u64, Range<usize>)> {
    let size = u64::from(chunk_bytes.max(1));
    let chunks = range.start / size..range.end.div_ceil(size);
    let part = |chunk: u64| {
        let start = chunk * size;
        let from = range.start.max(start) - start;
        let to = range.end.min(start + size) - start;
        (chunk, from as usize..to as usize)
    };
    chunks.map(part).collect()
}

/// Returns the name of the file with the reply to a request, given the path template of its
/// endpoint and the request as JSON.
pub fn reply_file_name(path: &str, request: &str) -> String {
    let hash = encode_hex(&Sha256::digest(format!("{path}\n{request}")));
    format!("reply-{hash:.16}.json")
}

/// The table of the queries, in the order of the study.
pub(super) const QUERIES: &str = "queries";
/// The table of what a list shows of the documents, in the order of [`Study::study_docs`].
pub(super) const LISTED_DOCUMENTS: &str = "listed-documents";
/// The table of the documents, in the order of [`Study::study_docs`].
pub(super) const DOCUMENTS: &str = "documents";
/// The table of what an instance needs of its query, in the order of the queries.
pub(super) const QUERY_DETAILS: &str = "query-details";
/// The word vectors of the study, if it has any.
pub(super) const WORD_VECTORS: &str = "word-vectors.json";

/// Returns the name of the file with the offsets of the instances of a probe.
pub(super) fn offsets_file(probe_index: usize) -> String {
    format!("instances-{probe_index}.json")
}

/// Returns the name of a file about the instances of a probe in the order of a ranker.
pub(super) fn order_file(probe_index: usize, ranker_row: usize, ending: &str) -> String {
    format!("instances-{probe_index}-{ranker_row}.{ending}")
}

/// What is known of the instances of a probe in the order of a ranker before rows are read.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SlicedOrder {
    pub(super) header: InstanceOrderHeader,
    /// [`SliceLayout::known_every`].
    pub(super) known_every: usize,
    /// The instances at [`known_positions`], each with its number and its margin, if it has a
    /// verdict.
    pub(super) known: Vec<(u32, Option<f64>)>,
}

/// How much of a study is read at once.
#[derive(Debug, Clone, Copy)]
pub struct SliceLayout {
    /// The number of rows between two positions of a sorted part whose instances are known before
    /// rows are read; fewer near its ends.
    pub known_every: usize,
    /// The size of a block of a table, unless its rows are larger.
    pub block_bytes: usize,
}

impl Default for SliceLayout {
    fn default() -> SliceLayout {
        SliceLayout {
            known_every: 1024,
            block_bytes: 4 << 10,
        }
    }
}

/// The number of rows between the first two known positions of a sorted part, and the last two, as
/// a part of [`SliceLayout::known_every`].
const DENSER_AT_ENDS: usize = 16;

/// Returns the positions of the instances that are known beforehand, ascending: the first and the
/// last of each sorted part, and some in between.
pub(super) fn known_positions(header: &InstanceOrderHeader, known_every: usize) -> Vec<usize> {
    let every = known_every.max(1);
    let mut positions = Vec::new();
    for (_, ranges) in header.groups_with_ranges() {
        for part in ranges.parts() {
            let n = part.len();
            let mut of_part: Vec<usize> = (0..n).step_by(every).collect();
            let mut near = (every / DENSER_AT_ENDS).max(1);
            while near < every {
                of_part.push(near);
                of_part.extend(n.checked_sub(1 + near));
                near *= 2;
            }
            of_part.extend(n.checked_sub(1));
            of_part.retain(|&it| it < n);
            of_part.sort_unstable();
            of_part.dedup();
            positions.extend(of_part.into_iter().map(|it| part.start + it));
        }
    }
    positions
}

/// An instance as a row of the order of a ranker.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OrderRow {
    pub(super) number: u32,
    /// The margin; NaN without a verdict.
    pub(super) margin: f64,
    pub(super) docs: Vec<StudyDocNo>,
    /// For each document the position of its grade in [`SlicedStudyHead::grades`], counted from 1;
    /// 0 if it is not judged.
    pub(super) grades: Vec<u8>,
}

impl OrderRow {
    /// Returns the number of bytes of a row with this number of documents, of which there are at
    /// most four.
    pub(super) fn n_bytes(arity: usize) -> usize {
        (4 + arity) * size_of::<u32>()
    }

    pub(super) fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(self.margin.to_le_bytes());
        self.docs
            .iter()
            .for_each(|it| bytes.extend(it.to_le_bytes()));
        let mut grades = [0; 4];
        grades[..self.grades.len()].copy_from_slice(&self.grades);
        bytes.extend(grades);
    }

    /// Reads a row from its bytes, of which there are [`OrderRow::n_bytes`].
    pub(super) fn from_bytes(bytes: &[u8], arity: usize) -> OrderRow {
        let word = |at: usize| std::array::from_fn(|it| bytes[at + it]);
        let docs = (0..arity).map(|it| u32::from_le_bytes(word(12 + 4 * it)));
        let grades = &bytes[bytes.len() - size_of::<u32>()..][..arity];
        OrderRow {
            number: u32::from_le_bytes(word(0)),
            margin: f64::from_le_bytes(std::array::from_fn(|it| bytes[4 + it])),
            docs: docs.collect(),
            grades: grades.to_vec(),
        }
    }
}

/// A row of [`LISTED_DOCUMENTS`]: the id and the excerpt, which is empty if texts are withheld.
pub(super) type ListedDocument = (String, String);

/// A row of [`DOCUMENTS`]: a document with what makes it of its source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SlicedDocument {
    /// How it is derived; the number of its source is not used.
    pub(super) derivation: OriginalOrDerivedDocument,
    /// The document of the collection.
    pub(super) source: Document,
    /// Its length in terms, if texts are withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) n_terms: Option<u32>,
}

/// A row of [`QUERY_DETAILS`]: a query with everything that belongs to it alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct QueryDetails {
    pub(super) query: Query,
    /// The scored documents, ascending.
    pub(super) documents: Vec<StudyDocNo>,
    /// The candidate pool, as positions in `documents`.
    pub(super) pool: Vec<u32>,
    /// For each document its grade.
    pub(super) grades: Vec<Option<i32>>,
    /// For each ranker the score of each document.
    pub(super) scores: Vec<Vec<Option<f64>>>,
    /// For each ranker the positions in `documents` of those that it read only in part.
    pub(super) truncated: Vec<Vec<u32>>,
    /// The statistics of the terms of the query.
    pub(super) terms: BTreeMap<String, TermStatistics>,
    /// For each probe the documents of its instances, as positions in `documents`.
    pub(super) instances: Vec<Vec<u32>>,
}

/// Parses a file of a sliced study.
pub(super) fn parse_json<T: for<'de> Deserialize<'de>>(
    file: &str,
    bytes: &[u8],
) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|it| damaged(file, it))
}

/// Returns the error of a file that is not as it was written.
pub(super) fn damaged(file: &str, reason: impl std::fmt::Display) -> Error {
    let way_out = "reload the page; if that does not help, export the study again";
    Error::unreadable_file(
        file,
        format!("is not the file that belongs to this study ({reason}); {way_out}"),
    )
}
