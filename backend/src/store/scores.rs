//! The score store: Parquet files of scores, one folder per ranker.
//!
//! `scores/FINGERPRINT/NAME.parquet` has the columns `query_hash`, `text_hash` (SHA-256 of the
//! text, in hex), `score` and `truncated`. A file appears complete or not at all.

use std::fs;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use shared::score::{RankerInfo, RankerKind};
use shared::study::Study;

use crate::error::Error;
use crate::remedy;
use crate::store::{Database, parquet_columns, write_atomically};

/// Scores of a ranker, as columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RankerScoresByTextHash {
    /// [`shared::collection::text_hash`] of the query.
    pub query_hashes: Vec<String>,
    /// [`shared::collection::text_hash`] of the document.
    pub text_hashes: Vec<String>,
    /// The scores, all finite.
    pub scores: Vec<f64>,
    /// Whether the ranker read only part of the query or document.
    pub truncated: Vec<bool>,
}

impl RankerScoresByTextHash {
    /// Writes a file of the score store, and creates its folder if necessary.
    pub(crate) fn write_parquet_file(&self, path: &Path) -> Result<(), Error> {
        let way_out = remedy::ANOTHER_DATA_FOLDER;
        let folder = path
            .parent()
            .expect("a file of the score store lies in a folder");
        fs::create_dir_all(folder).map_err(Error::io_error_converter(folder, way_out))?;
        write_atomically(path, way_out, |file| self.write_to(file))
    }

    fn write_to(&self, file: &fs::File) -> Result<(), ParquetError> {
        let mut writer = parquet_columns::create_parquet_writer(
            file,
            "message scores {
                 required binary query_hash (UTF8);
                 required binary text_hash (UTF8);
                 required double score;
                 required boolean truncated;
             }",
        )?;
        let mut group = writer.next_row_group()?;
        for hashes in [&self.query_hashes, &self.text_hashes] {
            let values: Vec<ByteArray> = hashes.iter().map(|it| it.as_str().into()).collect();
            parquet_columns::write_next_column::<ByteArrayType>(&mut group, &values, None)?;
        }
        parquet_columns::write_next_column::<DoubleType>(&mut group, &self.scores, None)?;
        parquet_columns::write_next_column::<BoolType>(&mut group, &self.truncated, None)?;
        group.close()?;
        writer.close()?;
        Ok(())
    }
}

/// The scores of a study, as columns `ranker` and `pair` (indices in the study), `score` and
/// `truncated`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StudyScoreColumns {
    rankers: Vec<i32>,
    pairs: Vec<i32>,
    scores: Vec<f64>,
    truncated: Vec<bool>,
}

impl StudyScoreColumns {
    /// Returns all scores of a study.
    pub(crate) fn from_study(study: &Study) -> StudyScoreColumns {
        let mut columns = StudyScoreColumns::default();
        for (ranker, scores) in study.scores.iter().enumerate() {
            for (pair, score) in scores.scores_in_pair_order().iter().enumerate() {
                let Some(score) = score else { continue };
                columns.rankers.push(ranker as i32);
                columns.pairs.push(pair as i32);
                columns.scores.push(*score);
                columns
                    .truncated
                    .push(scores.truncated.binary_search(&(pair as u32)).is_ok());
            }
        }
        columns
    }

    /// Returns the scores of one ranker by pair, and the indices of the truncated pairs.
    pub(crate) fn ranker_scores_and_truncated_pairs(
        &self,
        ranker: u32,
        n_pairs: usize,
    ) -> (Vec<Option<f64>>, Vec<u32>) {
        let mut values = vec![None; n_pairs];
        let mut truncated = Vec::new();
        for at in (0..self.scores.len()).filter(|&at| self.rankers[at] == ranker as i32) {
            let pair = self.pairs[at] as usize;
            if pair < n_pairs {
                values[pair] = Some(self.scores[at]);
                if self.truncated[at] {
                    truncated.push(pair as u32);
                }
            }
        }
        (values, truncated)
    }

    /// Writes a Parquet file. It appears complete or not at all.
    pub(crate) fn write_parquet_file(&self, path: &Path) -> Result<(), Error> {
        let way_out = remedy::ANOTHER_DATA_FOLDER;
        write_atomically(path, way_out, |file| self.write_to(file))
    }

    fn write_to(&self, file: &fs::File) -> Result<(), ParquetError> {
        let mut writer = parquet_columns::create_parquet_writer(
            file,
            "message scores {
                 required int32 ranker;
                 required int32 pair;
                 required double score;
                 required boolean truncated;
             }",
        )?;
        if self.scores.is_empty() {
            // Readers do not find the columns of a row group without rows.
            writer.close()?;
            return Ok(());
        }
        let mut group = writer.next_row_group()?;
        for numbers in [&self.rankers, &self.pairs] {
            parquet_columns::write_next_column::<Int32Type>(&mut group, numbers, None)?;
        }
        parquet_columns::write_next_column::<DoubleType>(&mut group, &self.scores, None)?;
        parquet_columns::write_next_column::<BoolType>(&mut group, &self.truncated, None)?;
        group.close()?;
        writer.close()?;
        Ok(())
    }

    /// Reads the scores from an open file.
    pub(crate) fn read_parquet_file(
        file: fs::File,
        path: &Path,
    ) -> Result<StudyScoreColumns, Error> {
        parquet_columns::catch_parquet_panics(|| read_columns(file)).map_err(|it| {
            Error::CorruptData {
                what: path.display().to_string(),
                reason: it.to_string(),
            }
        })
    }
}

fn read_columns(file: fs::File) -> Result<StudyScoreColumns, ParquetError> {
    let reader = parquet_columns::open_contiguous_parquet_file(file)?;
    let mut columns = StudyScoreColumns::default();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let n_rows = group.metadata().num_rows() as usize;
        for at in 0..group.num_columns() {
            match (
                at,
                parquet_columns::open_bounded_column_reader(&*group, at)?,
            ) {
                (0, ColumnReader::Int32ColumnReader(mut it)) => {
                    it.read_records(n_rows, None, None, &mut columns.rankers)?;
                }
                (1, ColumnReader::Int32ColumnReader(mut it)) => {
                    it.read_records(n_rows, None, None, &mut columns.pairs)?;
                }
                (2, ColumnReader::DoubleColumnReader(mut it)) => {
                    it.read_records(n_rows, None, None, &mut columns.scores)?;
                }
                (3, ColumnReader::BoolColumnReader(mut it)) => {
                    it.read_records(n_rows, None, None, &mut columns.truncated)?;
                }
                _ => return Err(ParquetError::General("these are no scores".to_owned())),
            }
        }
    }
    Ok(columns)
}

impl Database {
    /// Stores a ranker under its fingerprint, unless it is stored already.
    pub(crate) async fn insert_ranker_if_absent(&self, ranker: &RankerInfo) -> Result<(), Error> {
        let statement = sqlx::query(
            "INSERT INTO rankers (fingerprint, spec, label, detail, kind, note)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        )
        .bind(&ranker.fingerprint)
        .bind(&ranker.spec)
        .bind(&ranker.label)
        .bind(&ranker.detail)
        .bind(match ranker.kind {
            RankerKind::Lexical => "lexical",
            // Only models score in jobs, and the column has no other kinds.
            RankerKind::Neural | RankerKind::FeatureBased => "neural",
            RankerKind::Remote | RankerKind::ScoreFile => "file",
        })
        .bind(&ranker.note);
        self.execute(statement).await?;
        Ok(())
    }
}
