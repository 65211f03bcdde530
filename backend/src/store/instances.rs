//! Files of instances: one row each, with ids that mean something outside of Axioscope.
//!
//! Columns `probe`, `mode`, `claim`, `query_id`, `text_1`, `text_2`, `text_3` (absent for
//! pairs); the texts stand in the order of the claim. What decided the instances stands as
//! JSON in the file's metadata under `axioscope`.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde::{Deserialize, Serialize};
use shared::probe::mine::Text;
use shared::probe::{Axiom, Instances, Limits, Mined, Mode, Pool};
use shared::text::Analyzer;
use shared::vectors::VectorsAbout;

use crate::error::Error;
use crate::store::{columns, write_whole};

/// What decided the instances of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// Version of this layout; 1.
    pub format: u32,
    /// Version of the software.
    pub software: String,
    /// Of the collection.
    pub collection_hash: String,
    /// [`Mined::hash`].
    pub hash: String,
    /// How texts became terms.
    pub analyzer: Analyzer,
    /// Which documents were compared.
    pub pool: Pool,
    /// Bounds.
    pub limits: Limits,
    /// Word vectors, if there were any.
    #[serde(default)]
    pub vectors: Option<VectorsAbout>,
    /// The first so many queries were mined.
    pub n_queries: usize,
    /// For each axiom and mode how many instances each query had before a cap.
    pub found: Vec<(Axiom, Mode, Vec<u32>)>,
}

/// Key of [`Origin`] in a file's metadata.
const KEY: &str = "axioscope";

const COLUMNS: [&str; 7] = [
    "probe", "mode", "claim", "query_id", "text_1", "text_2", "text_3",
];

/// Rows between two row groups.
const GROUP: usize = 1 << 20;

/// Ids by number.
pub(crate) struct Ids<'a> {
    /// Of queries.
    pub queries: Vec<&'a str>,
    /// Of documents.
    pub docs: Vec<&'a str>,
}

/// Writes a file. It appears whole or not at all.
pub(crate) fn write(
    path: &Path,
    mined: &Mined,
    ids: &Ids<'_>,
    origin: &Origin,
) -> Result<(), Error> {
    let way_out = "make room, or choose another file";
    write_whole(path, way_out, |file| write_to(file, mined, ids, origin))
}

fn write_to(
    file: &File,
    mined: &Mined,
    ids: &Ids<'_>,
    origin: &Origin,
) -> Result<(), ParquetError> {
    let schema = parse_message_type(
        "message instances {
             required binary probe (UTF8);
             required binary mode (UTF8);
             required binary claim (UTF8);
             required binary query_id (UTF8);
             required binary text_1 (UTF8);
             required binary text_2 (UTF8);
             optional binary text_3 (UTF8);
         }",
    )?;
    let origin = serde_json::to_string(origin).expect("an origin has no maps");
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![KeyValue::new(KEY.to_owned(), origin)]))
        .build();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let text_ids: Vec<ByteArray> = mined
        .texts
        .iter()
        .map(|it| ByteArray::from(it.id(ids.docs[it.doc() as usize]).into_bytes()))
        .collect();
    let query_ids: Vec<ByteArray> = ids.queries.iter().map(|&it| it.into()).collect();
    for instances in &mined.instances {
        let arity = instances.claim.arity();
        for from in (0..instances.len()).step_by(GROUP) {
            let rows = from..instances.len().min(from + GROUP);
            let mut group = writer.next_row_group()?;
            for (at, name) in COLUMNS.iter().enumerate() {
                let mut column = group.next_column()?.expect("the schema has this column");
                let text = |row: usize, place: usize| {
                    text_ids[instances.claim(row).texts()[place] as usize].clone()
                };
                let values: Vec<ByteArray> = match at {
                    0 => vec![instances.axiom.slug().as_ref().into(); rows.len()],
                    1 => vec![instances.mode.name().into(); rows.len()],
                    2 => vec![instances.claim.name().into(); rows.len()],
                    3 => rows
                        .clone()
                        .map(|it| query_ids[instances.query(it)].clone())
                        .collect(),
                    4 | 5 => rows.clone().map(|it| text(it, at - 4)).collect(),
                    _ if arity == 3 => rows.clone().map(|it| text(it, 2)).collect(),
                    _ => Vec::new(),
                };
                let present = i16::from(arity == 3);
                let levels = (*name == "text_3").then(|| vec![present; rows.len()]);
                let typed = column.typed::<ByteArrayType>();
                typed.write_batch(&values, levels.as_deref(), None)?;
                column.close()?;
            }
            group.close()?;
        }
    }
    writer.close()?;
    Ok(())
}

/// Reads a file over the queries and documents it was mined from. `pools` stay empty.
pub(crate) fn read(path: &Path, ids: &Ids<'_>) -> Result<(Mined, Origin), Error> {
    let way_out = "check the path and its rights";
    let damaged = |reason: String| Error::Damaged {
        what: path.display().to_string(),
        reason,
    };
    let file = File::open(path).map_err(Error::file(path, way_out))?;
    let reader = columns::open(file)
        .map_err(|it| damaged(format!("{it}; is it a file that `axioscope mine` wrote?")))?;
    let metadata = reader.metadata().file_metadata().key_value_metadata();
    let origin = metadata.into_iter().flatten().find(|it| it.key == KEY);
    let origin = origin.and_then(|it| it.value.as_deref());
    let origin: Origin = origin
        .and_then(|it| serde_json::from_str(it).ok())
        .ok_or_else(|| damaged("it does not say what it was made from".to_owned()))?;
    if origin.format != 1 {
        return Err(damaged(format!(
            "layout {} is later than this version's 1",
            origin.format
        )));
    }
    let other = "it was mined from another collection";
    if origin.n_queries > ids.queries.len() {
        return Err(damaged(format!(
            "it is of {} queries: {other}",
            origin.n_queries
        )));
    }
    if origin
        .found
        .iter()
        .any(|(_, _, found)| found.len() != origin.n_queries)
    {
        return Err(damaged("its queries are not those that it says".to_owned()));
    }
    let columns = read_columns(&reader).map_err(|it| damaged(it.to_string()))?;
    let query_of: HashMap<&str, usize> = ids
        .queries
        .iter()
        .enumerate()
        .map(|(at, &id)| (id, at))
        .collect();
    let doc_of: HashMap<&str, u32> = ids
        .docs
        .iter()
        .enumerate()
        .map(|(at, &id)| (id, at as u32))
        .collect();
    let texts = columns
        .names
        .iter()
        .map(|it| Text::parse(it, |id| doc_of.get(id).copied()));
    let texts: Vec<Option<Text>> = texts.collect();
    let text = |name: u32| {
        let found = texts[name as usize];
        found.ok_or_else(|| {
            let name = &columns.names[name as usize];
            damaged(format!(
                "there is no text `{}`: {other}",
                name.escape_debug()
            ))
        })
    };

    let mut sorted: Vec<Text> = Vec::new();
    for rows in &columns.texts {
        for &name in rows.iter().flatten() {
            sorted.push(text(name)?);
        }
        sorted.sort_unstable();
        sorted.dedup();
    }
    let number = |text: Text| sorted.binary_search(&text).unwrap_or(0) as u32;
    let mut instances = Vec::new();
    let mut row = 0;
    for (axiom, mode, found) in &origin.found {
        let mut all = Instances::new(*axiom, *mode);
        for (query, &n_found) in found.iter().enumerate() {
            let mut of_query = Vec::new();
            while let Some((probe, in_mode, id)) = columns.head(row) {
                let here = query_of.get(id).copied().ok_or_else(|| {
                    damaged(format!(
                        "there is no query `{}`: {other}",
                        id.escape_debug()
                    ))
                })?;
                if (probe, in_mode, here) != (axiom.slug().as_ref(), mode.name(), query) {
                    break;
                }
                for place in 0..all.claim.arity() {
                    let name = columns.texts[place][row];
                    let name = name.ok_or_else(|| damaged("a text is missing".to_owned()))?;
                    of_query.push(number(text(name)?));
                }
                row += 1;
            }
            all.push_query(of_query, n_found);
        }
        instances.push(all);
    }
    if row != columns.queries.len() {
        return Err(damaged(format!(
            "row {} is not in the order of its probes",
            row + 1
        )));
    }
    let pools = vec![Vec::new(); origin.n_queries];
    let mined = Mined {
        texts: sorted,
        pools,
        instances,
    };
    let doc_id = |doc| ids.docs[doc as usize].to_owned();
    if mined.hash(&ids.queries[..origin.n_queries], doc_id) != origin.hash {
        return Err(damaged(
            "its rows are not those that were written".to_owned(),
        ));
    }
    Ok((mined, origin))
}

/// The columns of a file: numbers of strings.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    probes: Vec<u32>,
    modes: Vec<u32>,
    queries: Vec<u32>,
    texts: [Vec<Option<u32>>; 3],
}

impl Columns {
    /// Probe, mode and query of a row.
    fn head(&self, row: usize) -> Option<(&str, &str, &str)> {
        let name = |it: u32| self.names[it as usize].as_str();
        let query = *self.queries.get(row)?;
        Some((name(self.probes[row]), name(self.modes[row]), name(query)))
    }
}

fn read_columns(reader: &SerializedFileReader<File>) -> Result<Columns, ParquetError> {
    let mut columns = Columns::default();
    let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let n_rows = group.metadata().num_rows() as usize;
        for (at, name) in COLUMNS.iter().enumerate() {
            let ColumnReader::ByteArrayColumnReader(mut column) = group.get_column_reader(at)?
            else {
                return Err(ParquetError::General(format!(
                    "column `{name}` holds no text"
                )));
            };
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            let optional = *name == "text_3";
            let levels_out = optional.then_some(&mut levels);
            column.read_records(n_rows, levels_out, None, &mut values)?;
            let mut values = values.into_iter().map(|value: ByteArray| {
                let next = columns.names.len() as u32;
                *numbers.entry(value.data().to_vec()).or_insert_with(|| {
                    columns
                        .names
                        .push(String::from_utf8_lossy(value.data()).into_owned());
                    next
                })
            });
            match at {
                0 => columns.probes.extend(values),
                1 => columns.modes.extend(values),
                2 => values.for_each(drop),
                3 => columns.queries.extend(values),
                6 => {
                    let third = levels
                        .iter()
                        .map(|&it| if it > 0 { values.next() } else { None });
                    columns.texts[2].extend(third.collect::<Vec<_>>());
                }
                _ => columns.texts[at - 4].extend(values.map(Some)),
            }
        }
    }
    let n_rows = columns.queries.len();
    let whole = columns.texts.iter().all(|it| it.len() == n_rows)
        && columns.probes.len() == n_rows
        && columns.modes.len() == n_rows;
    if whole {
        Ok(columns)
    } else {
        Err(ParquetError::General("columns differ in length".into()))
    }
}
