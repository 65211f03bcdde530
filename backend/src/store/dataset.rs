//! Exports a study as a dataset, in files that pandas, polars and `datasets` can read.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use serde_json::json;
use shared::probe::MiningResult;
use shared::report;
use shared::study::Study;
use shared::study::controls::StudyPageControls;

use crate::error::Error;
use crate::remedy;
use crate::store::studies::files::{collection_external_ids, instance_file_metadata_of_study};
use crate::store::{instances, parquet_columns, write_atomically};

/// Whether the texts of documents and queries are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextExportPolicy {
    /// Documents and queries with their texts.
    Included,
    /// Only the ids of documents and queries.
    Withheld,
}

/// Writes the files of the dataset into a folder; each appears complete or not at all.
pub(crate) fn export_study_dataset(
    study: &Study,
    folder: &Path,
    texts: TextExportPolicy,
) -> Result<(), Error> {
    std::fs::create_dir_all(folder)
        .map_err(Error::io_error_converter(folder, remedy::ANOTHER_FOLDER))?;
    let mined = MiningResult {
        study_docs: study.study_docs.clone(),
        pools: Vec::new(),
        instances: study.instances.clone(),
    };
    let path = folder.join("instances.parquet");
    instances::write_instance_file(
        &path,
        &mined,
        &collection_external_ids(study),
        &instance_file_metadata_of_study(study),
    )?;
    write_atomically(
        &folder.join("scores.parquet"),
        remedy::ANOTHER_FOLDER,
        |file| scores(study, file),
    )?;
    write_atomically(
        &folder.join("preconditions.jsonl.gz"),
        remedy::ANOTHER_FOLDER,
        |file| {
            let mut out = GzEncoder::new(BufWriter::new(file), Compression::fast());
            study.for_each_exported_instance(|line| {
                let json = serde_json::to_string(line).map_err(Failed::Json)?;
                writeln!(out, "{json}").map_err(Failed::File)
            })?;
            let mut file = out.finish().map_err(Failed::File)?;
            file.flush().map_err(Failed::File)
        },
    )?;
    if texts == TextExportPolicy::Included {
        write_texts(study, folder)?;
    }
    let card = card(study, texts)?;
    write_atomically(
        &folder.join("README.md"),
        remedy::ANOTHER_FOLDER,
        |mut file| file.write_all(card.as_bytes()),
    )
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Study(#[from] shared::error::Error),
    #[error(transparent)]
    Json(serde_json::Error),
    #[error(transparent)]
    File(std::io::Error),
}

fn write_texts(study: &Study, folder: &Path) -> Result<(), Error> {
    let lines = |name: &str, lines: &mut dyn Iterator<Item = serde_json::Value>| {
        write_atomically(&folder.join(name), remedy::ANOTHER_FOLDER, |file| {
            let mut out = BufWriter::new(file);
            for line in lines {
                writeln!(out, "{line}")?;
            }
            out.flush()
        })
    };
    let queries = study.queries.iter();
    let mut queries = queries.map(|it| json!({"query_id": it.id, "query": it.text}));
    lines("queries.jsonl", &mut queries)?;
    let mut texts = (0..study.study_docs.len() as u32).map(
        |text| json!({"text_id": study.study_doc_id(text), "text": study.study_doc_text(text)}),
    );
    lines("texts.jsonl", &mut texts)
}

/// Writes the columns `ranker`, `query_id`, `text_id`, `score` and `truncated`.
fn scores(study: &Study, file: &File) -> Result<(), ParquetError> {
    let mut writer = parquet_columns::create_parquet_writer(
        file,
        "message scores {
             required binary ranker (UTF8);
             required binary query_id (UTF8);
             required binary text_id (UTF8);
             required double score;
             required boolean truncated;
         }",
    )?;
    let text_ids = (0..study.study_docs.len() as u32).map(|it| study.study_doc_id(it).into_bytes());
    let text_ids: Vec<ByteArray> = text_ids.map(ByteArray::from).collect();
    for scores in &study.scores {
        let pairs = study.pairs.iter().enumerate();
        let known: Vec<(usize, usize, u32, f64)> = pairs
            .filter_map(|(at, (query, text))| {
                Some((at, query, text, scores.score_at_position(at)?))
            })
            .collect();
        if known.is_empty() {
            continue;
        }
        let mut group = writer.next_row_group()?;
        let words: [Vec<ByteArray>; 3] = [
            vec![scores.ranker.spec.as_str().into(); known.len()],
            known
                .iter()
                .map(|it| study.queries[it.1].id.as_str().into())
                .collect(),
            known
                .iter()
                .map(|it| text_ids[it.2 as usize].clone())
                .collect(),
        ];
        for values in words {
            parquet_columns::write_next_column::<ByteArrayType>(&mut group, &values, None)?;
        }
        let values: Vec<f64> = known.iter().map(|it| it.3).collect();
        parquet_columns::write_next_column::<DoubleType>(&mut group, &values, None)?;
        let truncated = |at: usize| scores.truncated.binary_search(&(at as u32)).is_ok();
        let truncated: Vec<bool> = known.iter().map(|it| truncated(it.0)).collect();
        parquet_columns::write_next_column::<BoolType>(&mut group, &truncated, None)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Returns the dataset card, which explains the files without the rest of the study.
fn card(study: &Study, texts: TextExportPolicy) -> Result<String, Error> {
    let overview = study.overview(&StudyPageControls::default())?;
    let with_texts = match texts {
        TextExportPolicy::Included => {
            "- `queries.jsonl`, `texts.jsonl`: what the ids stand for. The rights to these texts \
             are those of their collection.\n"
        }
        TextExportPolicy::Withheld => {
            "- Texts and queries are not among the files: take them from the collection, by their \
             ids. A text id `421#lnc2:3` stands for document 421 three times, joined by spaces.\n"
        }
    };
    Ok(format!(
        "---\npretty_name: {title}\ntags:\n- information-retrieval\n- retrieval-axioms\n\
         configs:\n- config_name: instances\n  data_files: instances.parquet\n\
         - config_name: scores\n  data_files: scores.parquet\n---\n\n\
         # Instances of retrieval axioms\n\nMined by Axioscope {software} on {made}.\n\n\
         - `instances.parquet`: `probe`, `mode`, `claim`, `query_id`, `text_1`, `text_2`, `text_3` \
         (absent for pairs); texts in the order of the claim.\n\
         - `scores.parquet`: `ranker`, `query_id`, `text_id`, `score`, `truncated`.\n\
         - `preconditions.jsonl.gz`: one instance per line, with measured preconditions and the scores of \
         its texts.\n{with_texts}\n\
         Collection {collection_hash}, instances {hash}.\n\n{tables}",
        title = serde_json::to_string(&overview.title).unwrap_or_default(),
        software = study.software,
        made = study.created,
        collection_hash = study.collection_hash,
        hash = study.instances_hash,
        tables = report::tables_to_markdown(&report::study_tables(&overview)),
    ))
}
