//! Files of instances: one row each, with ids that mean something outside of Axioscope.
//!
//! Columns `probe`, `mode`, `claim`, `query_id`, `text_1`, `text_2`, `text_3` (absent for
//! pairs); the texts stand in the order of the claim. What decided the instances stands as
//! JSON in the file's metadata under `axioscope`.

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
use shared::probe::mining::{InstanceHasher, StudyDocument};
use shared::probe::{AxiomVariant, ClaimKind, Instances, Limits, MiningResult, PoolSpec, Probe};
use shared::text::Analyzer;
use shared::word_vectors::WordVectorsInfo;

use crate::error::Error;
use crate::store::{parquet_columns, write_atomically};

/// What decided the instances of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct InstanceFileMetadata {
    /// Version of this layout; 1.
    pub format: u32,
    /// Version of the software.
    pub software: String,
    /// Of the collection.
    pub collection_hash: String,
    /// [`MiningResult::hash`].
    pub hash: String,
    /// How texts became terms.
    pub analyzer: Analyzer,
    /// Which documents were compared.
    pub pool: PoolSpec,
    /// Bounds.
    pub limits: Limits,
    /// Word vectors, if there were any.
    #[serde(default)]
    pub vectors: Option<WordVectorsInfo>,
    /// The first so many queries were mined.
    pub n_queries: usize,
    /// For each axiom and mode how many instances each query had before a cap.
    #[serde(rename = "found")]
    pub n_before_cap: Vec<(Probe, AxiomVariant, Vec<u32>)>,
}

/// Key of [`InstanceFileMetadata`] in a file's metadata.
const KEY: &str = "axioscope";

const COLUMNS: [&str; 7] = [
    "probe", "mode", "claim", "query_id", "text_1", "text_2", "text_3",
];

/// The ids of queries and documents, by number.
pub(crate) struct ExternalIds<'a> {
    /// Of queries.
    pub queries: Vec<&'a str>,
    /// Of documents.
    pub docs: Vec<&'a str>,
}

/// Writes a file. It appears whole or not at all.
pub(crate) fn write(
    path: &Path,
    mined: &MiningResult,
    ids: &ExternalIds<'_>,
    origin: &InstanceFileMetadata,
) -> Result<(), Error> {
    let asked = mined.instances.iter().map(|it| (it.probe, it.variant));
    let mut writer = InstanceWriter::new(path, asked)?;
    writer.add(mined, &ids.queries, &ids.docs)?;
    writer.finish(path, origin)
}

const WAY_OUT: &str = "make room, or choose another file";

/// Rows between two row groups.
const GROUP: usize = 1 << 20;

/// Writes instances a few queries at a time: each axiom and mode into a file of its own, which
/// has no name, and at last all of them after the other.
pub(crate) struct InstanceWriter {
    parts: Vec<Part>,
    failed: PathBuf,
}

struct Part {
    writer: SerializedFileWriter<File>,
    file: File,
}

impl InstanceWriter {
    /// For a file at `path`.
    pub(crate) fn new(
        path: &Path,
        asked: impl Iterator<Item = (Probe, AxiomVariant)>,
    ) -> Result<InstanceWriter, Error> {
        let folder = match path.parent() {
            Some(it) if it.is_dir() && !it.as_os_str().is_empty() => it,
            _ => Path::new("."),
        };
        let part = |_| {
            let file = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())?;
            let writer = parquet_columns::create(file.try_clone()?, SCHEMA)?;
            Ok(Part { writer, file })
        };
        let parts = asked.map(part).collect::<Result<_, ParquetError>>();
        Ok(InstanceWriter {
            parts: parts.map_err(|it| failed(path, it))?,
            failed: path.to_owned(),
        })
    }

    /// The instances of the next queries, in the order of axioms and modes.
    pub(crate) fn add(
        &mut self,
        mined: &MiningResult,
        queries: &[&str],
        docs: &[&str],
    ) -> Result<(), Error> {
        let text_ids: Vec<ByteArray> = mined
            .study_docs
            .iter()
            .map(|it| ByteArray::from(it.id(docs[it.doc() as usize]).into_bytes()))
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

    /// Puts the file together. It appears whole or not at all.
    pub(crate) fn finish(self, path: &Path, origin: &InstanceFileMetadata) -> Result<(), Error> {
        write_atomically(path, WAY_OUT, |file| {
            let origin = serde_json::to_string(origin).expect("an origin has no maps");
            let mut writer = parquet_columns::create(file, SCHEMA)?;
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
    Error::file(path, WAY_OUT)(std::io::Error::other(error))
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
    instances: &Instances,
    text_ids: &[ByteArray],
    query_ids: &[ByteArray],
) -> Result<(), ParquetError> {
    let arity = instances.claim.arity();
    let query_of: Vec<u32> = (0..instances.n_queries())
        .flat_map(|it| std::iter::repeat_n(it as u32, instances.len_of(it)))
        .collect();
    for from in (0..instances.len()).step_by(GROUP) {
        let rows = from..instances.len().min(from + GROUP);
        let mut group = writer.next_row_group()?;
        for (at, name) in COLUMNS.iter().enumerate() {
            let text =
                |row: usize, place: usize| text_ids[instances.docs_at(row)[place] as usize].clone();
            let values: Vec<ByteArray> = match at {
                0 => vec![instances.probe.slug().as_ref().into(); rows.len()],
                1 => vec![instances.variant.name().into(); rows.len()],
                2 => vec![instances.claim.name().into(); rows.len()],
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
            parquet_columns::write::<ByteArrayType>(&mut group, &values, levels.as_deref())?;
        }
        group.close()?;
    }
    Ok(())
}

/// Reads a file over the queries and documents it was mined from. `pools` stay empty.
pub(crate) fn read(
    path: &Path,
    ids: &ExternalIds<'_>,
) -> Result<(MiningResult, InstanceFileMetadata), Error> {
    InstanceReader::open(path, ids)?.read(ids)
}

/// Instances of one axiom and mode that stand after each other in a file.
pub(crate) struct InstanceGroup {
    /// Place in [`InstanceFileMetadata::n_before_cap`].
    pub probe: usize,
    /// What they claim.
    pub claim: ClaimKind,
    /// The query of each instance, ascending.
    pub queries: Vec<u32>,
    /// As many as the claim has texts for each instance, as places in `texts`.
    pub rows: Vec<u32>,
    /// Each once.
    pub texts: Vec<StudyDocument>,
}

/// A file that is read a group at a time.
pub(crate) struct InstanceReader {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    /// What decided its instances.
    pub origin: InstanceFileMetadata,
    query_of: HashMap<Vec<u8>, u32>,
    doc_of: HashMap<String, u32>,
}

impl InstanceReader {
    /// Opens a file over the queries and documents it was mined from.
    pub(crate) fn open(path: &Path, ids: &ExternalIds<'_>) -> Result<InstanceReader, Error> {
        let damaged = |reason: String| Error::CorruptData {
            what: path.display().to_string(),
            reason,
        };
        let file = File::open(path).map_err(Error::file(path, "check the path and its rights"))?;
        let reader = parquet_columns::open(file)
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
        Ok(InstanceReader {
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

    /// Refuses a file whose rows, all of them, are not those that were written.
    pub(crate) fn check(&self, hashing: InstanceHasher) -> Result<(), Error> {
        if hashing.finish() == self.origin.hash {
            return Ok(());
        }
        Err(self.damaged("its rows are not those that were written".to_owned()))
    }

    /// Reads all groups; `ids` are those it was opened with.
    pub(crate) fn read(
        self,
        ids: &ExternalIds<'_>,
    ) -> Result<(MiningResult, InstanceFileMetadata), Error> {
        let mut texts: Vec<StudyDocument> = Vec::new();
        self.scan(|group| {
            texts.extend(&group.texts);
            texts.sort_unstable();
            texts.dedup();
            Ok(())
        })?;
        let number = |text: &StudyDocument| texts.binary_search(text).unwrap_or(0) as u32;
        let origin = &self.origin;
        let mut by_query: Vec<Vec<Vec<u32>>> = origin
            .n_before_cap
            .iter()
            .map(|_| vec![Vec::new(); origin.n_queries])
            .collect();
        self.scan(|group| {
            let numbers: Vec<u32> = group.texts.iter().map(number).collect();
            for (rows, &query) in group.rows.chunks(group.claim.arity()).zip(&group.queries) {
                let of_query = &mut by_query[group.probe][query as usize];
                of_query.extend(rows.iter().map(|&it| numbers[it as usize]));
            }
            Ok(())
        })?;
        let mut instances = Vec::new();
        for ((probe, mode, found), by_query) in origin.n_before_cap.iter().zip(by_query) {
            let mut all = Instances::new(*probe, *mode);
            for (texts, &n_found) in by_query.into_iter().zip(found) {
                all.push_query(texts, n_found);
            }
            instances.push(all);
        }
        let mined = MiningResult {
            study_docs: texts,
            pools: vec![Vec::new(); origin.n_queries],
            instances,
        };
        let asked = mined.instances.iter().map(|it| (it.probe, it.variant));
        let mut hashing = InstanceHasher::new(asked);
        let queries = &ids.queries[..origin.n_queries];
        hashing.add(&mined, queries, |doc| ids.docs[doc as usize].to_owned());
        self.check(hashing)?;
        Ok((mined, self.origin))
    }

    /// Calls `take` with each group, in order.
    pub(crate) fn scan(
        &self,
        mut take: impl FnMut(InstanceGroup) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut row = 0;
        // What stands before may not come again.
        let mut last = (0, 0);
        for group in 0..self.reader.num_row_groups() {
            let n_rows = self.reader.metadata().row_group(group).num_rows() as usize;
            if n_rows == 0 {
                continue;
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

    fn group(&self, group: usize, n_rows: usize) -> Result<InstanceGroup, Error> {
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
        let place = found.position(|it| it.0.slug() == probe && it.1.name() == mode);
        let place = place.ok_or_else(|| {
            self.damaged(format!(
                "it does not say that there are instances of {} {}",
                probe.escape_debug(),
                mode.escape_debug()
            ))
        })?;
        let (probe, mode, _) = self.origin.n_before_cap[place];
        let claim = probe.claim(mode);
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
        let mut texts: Vec<StudyDocument> = Vec::new();
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
                        let text = StudyDocument::parse(&name, |id| self.doc_of.get(id).copied());
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
        Ok(InstanceGroup {
            probe: place,
            claim,
            queries,
            rows,
            texts,
        })
    }

    /// The values of each column; the last has none where claims are about two texts.
    fn columns(&self, group: usize, n_rows: usize) -> Result<Vec<Vec<ByteArray>>, ParquetError> {
        let group = self.reader.get_row_group(group)?;
        let each = COLUMNS.iter().enumerate().map(|(at, name)| {
            let ColumnReader::ByteArrayColumnReader(mut column) = group.get_column_reader(at)?
            else {
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
        parquet_columns::read(|| each.collect())
    }
}

/// What is wrong where ids are not known.
const OTHER: &str = "it was mined from another collection";
