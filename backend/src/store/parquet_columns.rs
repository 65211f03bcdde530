//! Reads and writes columns of Parquet files. Damaged files are reported as errors.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// Creates a Parquet file with the columns of a schema.
pub(crate) fn create_parquet_writer<W: Write + Send>(
    file: W,
    schema: &str,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let schema = Arc::new(parse_message_type(schema)?);
    SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
}

/// Writes the next column of a row group. An optional column needs a level for each row, which is 1
/// if the row has a value.
pub(crate) fn write_next_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

/// Length of the magic number `PAR1` before the first column, in bytes.
const MAGIC: i64 = 4;

/// Opens a Parquet file whose columns are contiguous, as our writer leaves them. For other footers
/// the Parquet reader could panic.
pub(crate) fn open_contiguous_parquet_file(
    file: File,
) -> Result<SerializedFileReader<File>, ParquetError> {
    let n_bytes = file.metadata()?.len();
    let reader = SerializedFileReader::new(file)?;
    let groups = reader.metadata().row_groups().iter();
    let mut end = Some(MAGIC);
    for column in groups.flat_map(|it| it.columns()) {
        let start = column
            .dictionary_page_offset()
            .unwrap_or(column.data_page_offset());
        let length = column.compressed_size();
        let follows = Some(start) == end && length >= 0;
        end = end
            .filter(|_| follows)
            .and_then(|it| it.checked_add(length));
    }
    match end {
        Some(end) if end as u64 <= n_bytes => Ok(reader),
        _ => Err(ParquetError::General(
            "its columns are not where they should be".to_owned(),
        )),
    }
}

/// Runs a function that reads columns. The Parquet reader panics on some damaged pages; panics are
/// returned as errors.
pub(crate) fn catch_parquet_panics<T>(
    read: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("a page of it is damaged".to_owned())))
}
