//! Instance files: one row per instance, with external ids.
//!
//! The columns are `probe`, `mode`, `claim`, `query_id`, `text_1`, `text_2` and `text_3` (absent
//! for pairs); documents are in the order of the claim. The metadata of the file contains, under
//! the key `axioscope`, everything that determined the instances, as JSON.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use serde::{Deserialize, Serialize};
use shared::probe::mining::{InstanceHasher, OriginalOrDerivedDocument};
use shared::probe::{
    AxiomVariant, CandidatePoolSpec, MiningResult, MiningThresholds, Probe, ProbeInstances,
    ScoreClaimKind,
};
use shared::text::Analyzer;
use shared::word_vectors::WordVectorsInfo;

use crate::error::Error;
use crate::remedy;
use crate::store::{parquet_columns, write_atomically};

/// Everything that determined the instances of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstanceFileMetadata {
    /// The version of this layout, 1.
    pub format: u32,
    /// The version of Axioscope that wrote the file.
    pub software: String,
    /// The hash of the collection.
    pub collection_hash: String,
    /// The hash of the instances, see [`MiningResult::digest_instances`].
    pub hash: String,
    /// The analyzer of documents and queries.
    pub analyzer: Analyzer,
    /// The candidate pool.
    pub pool: CandidatePoolSpec,
    /// The limits that were used.
    pub limits: MiningThresholds,
    /// The word vectors, if there were any.
    #[serde(default)]
    pub vectors: Option<WordVectorsInfo>,
    /// Number of queries; the first ones of the collection were mined.
    pub n_queries: usize,
    /// For each axiom and variant, the number of instances of each query before the cap.
    #[serde(rename = "found")]
    pub n_before_cap: Vec<(Probe, AxiomVariant, Vec<u32>)>,
}

/// Key of [`InstanceFileMetadata`] in the metadata of a file.
const KEY: &str = "axioscope";

const COLUMNS: [&str; 7] = [
    "probe", "mode", "claim", "query_id", "text_1", "text_2", "text_3",
];

/// The external ids of queries and documents, by number.
pub(crate) struct CollectionExternalIds<'a> {
    /// The ids of the queries.
    pub queries: Vec<&'a str>,
    /// The ids of the documents.
    pub docs: Vec<&'a str>,
}

/// Writes an instance file. It appears complete or not at all.
pub(crate) fn write_instance_file(
    path: &Path,
    mined: &MiningResult,
    ids: &CollectionExternalIds<'_>,
    origin: &InstanceFileMetadata,
) -> Result<(), Error> {
    let asked = mined.instances.iter().map(|it| (it.probe, it.variant));
    let mut writer = InstanceFileWriter::with_temporary_parts(path, asked)?;
    writer.add_instances_of_queries(mined, &ids.queries, &ids.docs)?;
    writer.write_file_from_parts(path, origin)
}

/// Maximum number of rows in a row group.
const GROUP: usize = 1 << 20;

/// Writes instances a few queries at a time. The instances of each axiom and variant go to an
/// unnamed file of their own; at the end these files are concatenated.
pub(crate) struct InstanceFileWriter {
    parts: Vec<Part>,
    failed: PathBuf,
}

struct Part {
    writer: SerializedFileWriter<File>,
    file: File,
}

impl InstanceFileWriter {
    /// Creates a writer for a file at `path`.
    pub(crate) fn with_temporary_parts(
        path: &Path,
        asked: impl Iterator<Item = (Probe, AxiomVariant)>,
    ) -> Result<InstanceFileWriter, Error> {
        let folder = match path.parent() {
            Some(it) if it.is_dir() && !it.as_os_str().is_empty() => it,
            _ => Path::new("."),
        };
        let part = |_| {
            let file = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())?;
            let writer = parquet_columns::create_parquet_writer(file.try_clone()?, SCHEMA)?;
            Ok(Part { writer, file })
        };
        let parts = asked.map(part).collect::<Result<_, ParquetError>>();
        Ok(InstanceFileWriter {
            parts: parts.map_err(|it| failed(path, it))?,
            failed: path.to_owned(),
        })
    }

    /// Adds the instances of the next queries, in the order of axioms and variants.
    pub(crate) fn add_instances_of_queries(
        &mut self,
        mined: &MiningResult,
        queries: &[&str],
        docs: &[&str],
    ) -> Result<(), Error> {
        let text_ids: Vec<ByteArray> = mined
            .study_docs
            .iter()
            .map(|it| ByteArray::from(it.id(docs[it.source_doc() as usize]).into_bytes()))
            .collect();
        let query_ids: Vec<ByteArray> = queries.iter().map(|&it| it.into()).collect();
        let parts = self.parts.iter_mut().zip(&mined.instances);
        let written = parts
            .map(|(part, instances)| {
                write_groups(&mut part.writer, instances, &text_ids, &query_ids)
            })
            .collect::<Result<Vec<()>, ParquetError>>();
        written.map(drop).map_err(|it| failed(&self.failed, it))
    }

    /// Writes the whole file. It appears complete or not at all.
    pub(crate) fn write_file_from_parts(
        self,
        path: &Path,
        origin: &InstanceFileMetadata,
    ) -> Result<(), Error> {
        write_atomically(path, remedy::ANOTHER_FILE, |file| {
            let origin = serde_json::to_string(origin).expect("an origin has no maps");
            let mut writer = parquet_columns::create_parquet_writer(file, SCHEMA)?;
            for part in self.parts {
                let file = part.file;
                part.writer.close()?;
                let reader = SerializedFileReader::new(file.try_clone()?)?;
                for group in reader.metadata().row_groups() {
                    let mut out = writer.next_row_group()?;
                    for column in group.columns() {
                        let close = ColumnCloseResult {
                            bytes_written: column.compressed_size() as u64,
                            rows_written: group.num_rows() as u64,
                            metadata: column.clone(),
                            bloom_filter: None,
                            column_index: None,
                            offset_index: None,
                        };
                        out.append_column(&file, close)?;
                    }
                    out.close()?;
                }
            }
            writer.append_key_value_metadata(KeyValue::new(KEY.to_owned(), origin));
            writer.close()?;
            Ok::<(), ParquetError>(())
        })
    }
}

fn failed(path: &Path, error: ParquetError) -> Error {
    Error::io_error_converter(path, remedy::ANOTHER_FILE)(std::io::Error::other(error))
}

const SCHEMA: &str = "message instances {
    required binary probe (UTF8);
    required binary mode (UTF8);
    required binary claim (UTF8);
    required binary query_id (UTF8);
    required binary text_1 (UTF8);
    required binary text_2 (UTF8);
    optional binary text_3 (UTF8);
}";

fn write_groups(
    writer: &mut SerializedFileWriter<File>,
    instances: &ProbeInstances,
    text_ids: &[ByteArray],
    query_ids: &[ByteArray],
) -> Result<(), ParquetError> {
    let arity = instances.claim.arity();
    let query_of: Vec<u32> = (0..instances.n_queries())
        .flat_map(|it| std::iter::repeat_n(it as u32, instances.n_instances_of_query(it)))
        .collect();
    for from in (0..instances.len()).step_by(GROUP) {
        let rows = from..instances.len().min(from + GROUP);
        let mut group = writer.next_row_group()?;
        for (at, name) in COLUMNS.iter().enumerate() {
            let text = |row: usize, place: usize| {
                text_ids[instances.docs_of_instance(row)[place] as usize].clone()
            };
            let values: Vec<ByteArray> = match at {
                0 => vec![instances.probe.slug().as_ref().into(); rows.len()],
                1 => vec![instances.variant.slug().into(); rows.len()],
                2 => vec![instances.claim.slug().into(); rows.len()],
                3 => rows
                    .clone()
                    .map(|it| query_ids[query_of[it] as usize].clone())
                    .collect(),
                4 | 5 => rows.clone().map(|it| text(it, at - 4)).collect(),
                _ if arity == 3 => rows.clone().map(|it| text(it, 2)).collect(),
                _ => Vec::new(),
            };
            let present = i16::from(arity == 3);
            let levels = (*name == "text_3").then(|| vec![present; rows.len()]);
            parquet_columns::write_next_column::<ByteArrayType>(
                &mut group,
                &values,
                levels.as_deref(),
            )?;
        }
        group.close()?;
    }
    Ok(())
}

/// Reads an instance file with the ids of the collection that it was mined from. `pools` stays
/// empty.
pub(crate) fn read_instance_file(
    path: &Path,
    ids: &CollectionExternalIds<'_>,
) -> Result<(MiningResult, InstanceFileMetadata), Error> {
    InstanceFileReader::open(path, ids)?.read_mining_result(ids)
}

/// A row group: instances of one axiom and variant.
pub(crate) struct InstanceParquetRowGroup {
    /// Index in [`InstanceFileMetadata::n_before_cap`].
    pub probe: usize,
    /// The claim about the scores of the instances.
    pub claim: ScoreClaimKind,
    /// The query of each instance, in ascending order.
    pub queries: Vec<u32>,
    /// The documents of each instance, as indices into `texts`: two or three, depending on the
    /// claim.
    pub rows: Vec<u32>,
    /// The documents of the group, each once.
    pub texts: Vec<OriginalOrDerivedDocument>,
}

/// Reads an instance file one row group at a time.
pub(crate) struct InstanceFileReader {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    /// Everything that determined the instances.
    pub origin: InstanceFileMetadata,
    query_of: HashMap<Vec<u8>, u32>,
    doc_of: HashMap<String, u32>,
}

impl InstanceFileReader {
    /// Opens an instance file with the ids of the collection that it was mined from.
    pub(crate) fn open(
        path: &Path,
        ids: &CollectionExternalIds<'_>,
    ) -> Result<InstanceFileReader, Error> {
        let damaged = |reason: String| Error::CorruptData {
            what: path.display().to_string(),
            reason,
        };
        let file = File::open(path).map_err(Error::io_error_converter(path, remedy::CHECK_PATH))?;
        let reader = parquet_columns::open_contiguous_parquet_file(file)
            .map_err(|it| damaged(format!("{it}; is it a file that `axioscope mine` wrote?")))?;
        let metadata = reader.metadata().file_metadata().key_value_metadata();
        let origin = metadata.into_iter().flatten().find(|it| it.key == KEY);
        let origin = origin.and_then(|it| it.value.as_deref());
        let origin: InstanceFileMetadata = origin
            .and_then(|it| serde_json::from_str(it).ok())
            .ok_or_else(|| damaged("it does not say what it was made from".to_owned()))?;
        if origin.format != 1 {
            return Err(damaged(format!(
                "layout {} is later than this version's 1",
                origin.format
            )));
        }
        if origin.n_queries > ids.queries.len() {
            return Err(damaged(format!(
                "it is of {} queries: {OTHER}",
                origin.n_queries
            )));
        }
        let n_queries = origin.n_queries;
        if origin.n_before_cap.iter().any(|it| it.2.len() != n_queries) {
            return Err(damaged("its queries are not those that it says".to_owned()));
        }
        let queries = ids.queries[..n_queries].iter().zip(0..);
        let docs = ids.docs.iter().zip(0..);
        Ok(InstanceFileReader {
            path: path.to_owned(),
            reader,
            origin,
            query_of: queries
                .map(|(id, at)| (id.as_bytes().to_vec(), at))
                .collect(),
            doc_of: docs.map(|(id, at)| ((*id).to_owned(), at)).collect(),
        })
    }

    fn damaged(&self, reason: String) -> Error {
        Error::CorruptData {
            what: self.path.display().to_string(),
            reason,
        }
    }

    /// Returns an error if the rows differ from those that were written. `hashing` must have seen
    /// all rows.
    pub(crate) fn verify_instance_hash(&self, hashing: InstanceHasher) -> Result<(), Error> {
        if hashing.finish() == self.origin.hash {
            return Ok(());
        }
        Err(self.damaged("its rows are not those that were written".to_owned()))
    }

    /// Reads all groups. `ids` must be those of [`InstanceFileReader::open`].
    pub(crate) fn read_mining_result(
        self,
        ids: &CollectionExternalIds<'_>,
    ) -> Result<(MiningResult, InstanceFileMetadata), Error> {
        let mut texts: Vec<OriginalOrDerivedDocument> = Vec::new();
        self.for_each_row_group(|group| {
            texts.extend(&group.texts);
            texts.sort_unstable();
            texts.dedup();
            Ok(())
        })?;
        let number =
            |text: &OriginalOrDerivedDocument| texts.binary_search(text).unwrap_or(0) as u32;
        let origin = &self.origin;
        let mut by_query: Vec<Vec<Vec<u32>>> = origin
            .n_before_cap
            .iter()
            .map(|_| vec![Vec::new(); origin.n_queries])
            .collect();
        self.for_each_row_group(|group| {
            let numbers: Vec<u32> = group.texts.iter().map(number).collect();
            for (rows, &query) in group.rows.chunks(group.claim.arity()).zip(&group.queries) {
                let of_query = &mut by_query[group.probe][query as usize];
                of_query.extend(rows.iter().map(|&it| numbers[it as usize]));
            }
            Ok(())
        })?;
        let mut instances = Vec::new();
        for ((probe, mode, found), by_query) in origin.n_before_cap.iter().zip(by_query) {
            let mut all = ProbeInstances::new(*probe, *mode);
            for (texts, &n_found) in by_query.into_iter().zip(found) {
                all.push_query_instances(texts, n_found);
            }
            instances.push(all);
        }
        let mined = MiningResult {
            study_docs: texts,
            pools: vec![Vec::new(); origin.n_queries],
            instances,
        };
        let asked = mined.instances.iter().map(|it| (it.probe, it.variant));
        let mut hashing = InstanceHasher::with_probes_and_variants(asked);
        let queries = &ids.queries[..origin.n_queries];
        hashing.add_query_instances(&mined, queries, |doc| ids.docs[doc as usize].to_owned());
        self.verify_instance_hash(hashing)?;
        Ok((mined, self.origin))
    }

    /// Calls `take` with each row group, in order.
    pub(crate) fn for_each_row_group(
        &self,
        mut take: impl FnMut(InstanceParquetRowGroup) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut row = 0;
        // The last axiom and query; earlier ones must not follow.
        let mut last = (0, 0);
        for group in 0..self.reader.num_row_groups() {
            let n_rows = self.reader.metadata().row_group(group).num_rows() as usize;
            if n_rows == 0 {
                continue;
            }
            if n_rows > GROUP {
                return Err(self.damaged(format!("a row group declares {n_rows} rows")));
            }
            let group = self.group(group, n_rows)?;
            let first = (group.probe, group.queries[0]);
            let ordered = group.queries.is_sorted() && first >= last;
            if !ordered {
                return Err(
                    self.damaged(format!("row {} is not in the order of its probes", row + 1))
                );
            }
            last = (group.probe, *group.queries.last().unwrap_or(&0));
            row += n_rows;
            take(group)?;
        }
        Ok(())
    }

    fn group(&self, group: usize, n_rows: usize) -> Result<InstanceParquetRowGroup, Error> {
        let columns = self.columns(group, n_rows);
        let columns = columns.map_err(|it| self.damaged(it.to_string()))?;
        let one = |column: &[ByteArray]| {
            let first = column[0].data();
            column
                .iter()
                .all(|it| it.data() == first)
                .then(|| String::from_utf8_lossy(first).into_owned())
        };
        let mixed = || self.damaged("a group of rows is of several probes".to_owned());
        let probe = one(&columns[0]).ok_or_else(mixed)?;
        let mode = one(&columns[1]).ok_or_else(mixed)?;
        let mut found = self.origin.n_before_cap.iter();
        let place = found.position(|it| it.0.slug() == probe && it.1.slug() == mode);
        let place = place.ok_or_else(|| {
            self.damaged(format!(
                "it does not say that there are instances of {} {}",
                probe.escape_debug(),
                mode.escape_debug()
            ))
        })?;
        let (probe, mode, _) = self.origin.n_before_cap[place];
        let claim = probe.claim_kind(mode);
        let mut queries = Vec::with_capacity(n_rows);
        let mut before: Option<(&[u8], u32)> = None;
        for id in &columns[3] {
            let number = match before {
                Some((same, number)) if same == id.data() => number,
                _ => *self.query_of.get(id.data()).ok_or_else(|| {
                    let id = String::from_utf8_lossy(id.data()).into_owned();
                    self.damaged(format!(
                        "there is no query `{}`: {OTHER}",
                        id.escape_debug()
                    ))
                })?,
            };
            before = Some((id.data(), number));
            queries.push(number);
        }
        let arity = claim.arity();
        let mut texts: Vec<OriginalOrDerivedDocument> = Vec::new();
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        let mut rows = vec![0; n_rows * arity];
        for at in 0..arity {
            let column = &columns[4 + at];
            if column.len() != n_rows {
                return Err(self.damaged("a text is missing".to_owned()));
            }
            for (row, id) in column.iter().enumerate() {
                let number = match numbers.get(id.data()) {
                    Some(&number) => number,
                    None => {
                        let name = String::from_utf8_lossy(id.data());
                        let text = OriginalOrDerivedDocument::parse_id(&name, |id| {
                            self.doc_of.get(id).copied()
                        });
                        texts.push(text.ok_or_else(|| {
                            self.damaged(format!(
                                "there is no text `{}`: {OTHER}",
                                name.escape_debug()
                            ))
                        })?);
                        let number = texts.len() as u32 - 1;
                        numbers.insert(id.data(), number);
                        number
                    }
                };
                rows[row * arity + at] = number;
            }
        }
        Ok(InstanceParquetRowGroup {
            probe: place,
            claim,
            queries,
            rows,
            texts,
        })
    }

    /// Reads the values of each column. The last column is empty if claims are about two documents.
    fn columns(&self, group: usize, n_rows: usize) -> Result<Vec<Vec<ByteArray>>, ParquetError> {
        let group = self.reader.get_row_group(group)?;
        let each = COLUMNS.iter().enumerate().map(|(at, name)| {
            let column = parquet_columns::open_bounded_column_reader(&*group, at)?;
            let ColumnReader::ByteArrayColumnReader(mut column) = column else {
                return Err(ParquetError::General(format!(
                    "column `{name}` holds no text"
                )));
            };
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            let optional = *name == "text_3";
            let out = optional.then_some(&mut levels);
            column.read_records(n_rows, out, None, &mut values)?;
            if !optional && values.len() != n_rows {
                return Err(ParquetError::General("columns differ in length".into()));
            }
            Ok(values)
        });
        parquet_columns::catch_parquet_panics(|| each.collect())
    }
}

/// The explanation for unknown ids.
const OTHER: &str = "it was mined from another collection";
