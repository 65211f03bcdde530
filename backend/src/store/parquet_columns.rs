//! Reads and writes columns of Parquet files. Damaged files are reported as errors.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
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

/// Maximum number of values of a page. Our writer begins a new page after 20,000 rows.
const MAX_PAGE_VALUES: usize = 1 << 20;

/// Opens a column of a row group. The Parquet reader makes room for as many values as a page
/// declares, so that a damaged number could take all memory; here such a page is an error.
pub(crate) fn open_bounded_column_reader(
    group: &dyn RowGroupReader,
    column: usize,
) -> Result<ColumnReader, ParquetError> {
    let pages = group.get_column_page_reader(column)?;
    let description = group.metadata().column(column).column_descr_ptr();
    Ok(get_column_reader(
        description,
        Box::new(BoundedPageReader(pages)),
    ))
}

/// Pages with at most [`MAX_PAGE_VALUES`] values, and dictionaries with at most a value per byte.
struct BoundedPageReader(Box<dyn PageReader>);

impl PageReader for BoundedPageReader {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.0.get_next_page()?;
        let is_too_large = page.as_ref().is_some_and(|it| {
            let n_values = it.num_values() as usize;
            n_values > MAX_PAGE_VALUES || (it.is_dictionary_page() && n_values > it.buffer().len())
        });
        match is_too_large {
            false => Ok(page),
            true => Err(ParquetError::General(
                "a page of it declares more values than it can have".to_owned(),
            )),
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.0.skip_next_page()
    }
}

impl Iterator for BoundedPageReader {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
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

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use parquet::data_type::{ByteArray, ByteArrayType};

    use super::*;

    #[test]
    fn a_page_cannot_declare_more_values_than_it_can_have() {
        let schema = "message it { required binary id (UTF8); }";
        let mut writer = create_parquet_writer(Vec::new(), schema).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let ids = ["river", "bank", "river"].map(ByteArray::from);
        write_next_column::<ByteArrayType>(&mut group, &ids, None).unwrap();
        group.close().unwrap();
        let whole = writer.into_inner().unwrap();
        assert_eq!(read(&whole).unwrap(), ids);

        // The number 1,073,741,823 as a page header has it, in place of each of its bytes.
        let number = [0xfe, 0xff, 0xff, 0xff, 0x07];
        let errors = (MAGIC as usize..40).filter_map(|at| {
            let damaged = [&whole[..at], &number, &whole[at + 1..]].concat();
            read(&damaged).err()
        });
        let errors: Vec<String> = errors.map(|it| it.to_string()).collect();
        let n_declared = errors.iter().filter(|it| it.contains("declares")).count();
        assert!(n_declared > 0, "{errors:?}");
    }

    fn read(bytes: &[u8]) -> Result<Vec<ByteArray>, ParquetError> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        catch_parquet_panics(|| {
            let reader = open_contiguous_parquet_file(file)?;
            let group = reader.get_row_group(0)?;
            let ColumnReader::ByteArrayColumnReader(mut column) =
                open_bounded_column_reader(&*group, 0)?
            else {
                panic!("a column of texts");
            };
            let mut values = Vec::new();
            column.read_records(3, None, None, &mut values)?;
            Ok(values)
        })
    }
}
