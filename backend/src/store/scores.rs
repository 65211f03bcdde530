//! The score store: files of columns, by ranker.
//!
//! `scores/FINGERPRINT/NAME.parquet` has the columns `query_hash`, `text_hash` (SHA-256 of the
//! characters, in hex), `score` and `truncated`. A file appears whole or not at all.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use shared::score::{RankerAbout, RankerKind};

use crate::error::Error;
use crate::store::Store;

/// What a ranker said about some pairs, column by column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Columns {
    /// [`shared::collection::text_hash`] of the query.
    pub query_hashes: Vec<String>,
    /// [`shared::collection::text_hash`] of the text.
    pub text_hashes: Vec<String>,
    /// Finite.
    pub scores: Vec<f64>,
    /// Whether the ranker saw only a part of the pair.
    pub truncated: Vec<bool>,
}

impl Columns {
    /// Writes a file of the score store.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let way_out = "make room, or take another data folder";
        let folder = path
            .parent()
            .expect("a file of the score store lies in a folder");
        fs::create_dir_all(folder).map_err(Error::file(folder, way_out))?;
        let file = tempfile::NamedTempFile::new_in(folder).map_err(Error::file(folder, way_out))?;
        self.write_to(file.as_file()).map_err(|error| Error::File {
            path: path.to_owned(),
            source: std::io::Error::other(error),
            way_out,
        })?;
        file.as_file()
            .sync_all()
            .map_err(Error::file(path, way_out))?;
        file.persist(path)
            .map_err(|it| Error::file(path, way_out)(it.error))?;
        Ok(())
    }

    fn write_to(&self, file: &fs::File) -> Result<(), ParquetError> {
        let schema = parse_message_type(
            "message scores {
                 required binary query_hash (UTF8);
                 required binary text_hash (UTF8);
                 required double score;
                 required boolean truncated;
             }",
        )?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        for hashes in [&self.query_hashes, &self.text_hashes] {
            let values: Vec<ByteArray> = hashes.iter().map(|it| it.as_str().into()).collect();
            let mut column = group.next_column()?.expect("the schema has this column");
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)?;
            column.close()?;
        }
        let mut column = group.next_column()?.expect("the schema has this column");
        column
            .typed::<DoubleType>()
            .write_batch(&self.scores, None, None)?;
        column.close()?;
        let mut column = group.next_column()?.expect("the schema has this column");
        column
            .typed::<BoolType>()
            .write_batch(&self.truncated, None, None)?;
        column.close()?;
        group.close()?;
        writer.close()?;
        Ok(())
    }
}

impl Store {
    /// Remembers a ranker by its fingerprint.
    pub(crate) async fn put_ranker(&self, ranker: &RankerAbout) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO rankers (fingerprint, spec, label, detail, kind, note)
             VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .bind(&ranker.fingerprint)
        .bind(&ranker.spec)
        .bind(&ranker.label)
        .bind(&ranker.detail)
        .bind(match ranker.kind {
            RankerKind::Lexical => "lexical",
            RankerKind::Neural => "neural",
            RankerKind::File => "file",
        })
        .bind(&ranker.note)
        .execute(&self.pool)
        .await
        .map_err(|it| self.failed(it))?;
        Ok(())
    }
}
