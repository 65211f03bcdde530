//! Columns on disk: opens a file of ours, or says that it is damaged.

use std::fs::File;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// What stands before the first column: `PAR1`.
const MAGIC: i64 = 4;

/// Opens a file whose columns lie one after the other, as our writer leaves them. The reader
/// panics on some footers that say otherwise.
pub(crate) fn open(file: File) -> Result<SerializedFileReader<File>, ParquetError> {
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
