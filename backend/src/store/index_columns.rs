//! The columns of an index in temporary files without names, which are mapped into memory. The
//! system deletes the files when the process ends, however it ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shared::error::Error as InputError;
use shared::index::column_storage::{ColumnStorage, ColumnWriter};
use shared::integer_column::SharedIntegerColumn;

use super::mapped_file::{MappedIntegerFile, UnnamedFile};

/// Puts each column of an index into a temporary file on the disk of a folder.
pub(crate) struct TemporaryFileStorage {
    folder: Arc<PathBuf>,
}

impl TemporaryFileStorage {
    /// Creates storage on the disk of the data folder, or of the system's folder for temporary
    /// files if there is no data folder.
    pub(crate) fn in_data_or_temporary_folder(data: &Path) -> TemporaryFileStorage {
        let folder = match data.is_dir() {
            true => data.to_owned(),
            false => std::env::temp_dir(),
        };
        TemporaryFileStorage {
            folder: Arc::new(folder),
        }
    }
}

impl ColumnStorage for TemporaryFileStorage {
    fn create_column(&self) -> Result<Box<dyn ColumnWriter>, InputError> {
        let file = UnnamedFile::in_folder(&self.folder);
        Ok(Box::new(TemporaryFileWriter {
            file: file.map_err(|error| not_written(&self.folder, &error))?,
            folder: self.folder.clone(),
        }))
    }
}

/// A column of an index that is being written.
struct TemporaryFileWriter {
    file: UnnamedFile,
    folder: Arc<PathBuf>,
}

impl ColumnWriter for TemporaryFileWriter {
    fn append_units(&mut self, units: &[u16]) -> Result<(), InputError> {
        let written = units.chunks(UNITS_AT_ONCE).try_for_each(|it| {
            // The same process maps the file, so that the order of bytes is its own.
            let bytes: Vec<u8> = it.iter().flat_map(|it| it.to_ne_bytes()).collect();
            self.file.write_all(&bytes)
        });
        written.map_err(|error| not_written(&self.folder, &error))
    }

    fn finish(self: Box<Self>) -> Result<Arc<dyn SharedIntegerColumn<u16>>, InputError> {
        let mapped = self.file.into_mapped_integers();
        let mapped: MappedIntegerFile<u16> =
            mapped.map_err(|error| not_written(&self.folder, &error))?;
        Ok(Arc::new(mapped))
    }
}

/// The number of units that are written at once.
const UNITS_AT_ONCE: usize = 1 << 16;

fn not_written(folder: &Path, error: &io::Error) -> InputError {
    let reason = format!(
        "the index cannot be written there ({error}); make room, choose another data folder with \
         `--data`, or leave out `--index-on-disk`"
    );
    InputError::unreadable_file(&folder.display().to_string(), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_comes_back_and_no_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let storage = TemporaryFileStorage::in_data_or_temporary_folder(folder.path());
        let all: Vec<u16> = (0..200_000).map(|it: u32| (it * 7) as u16).collect();
        for parts in [vec![], vec![&all[..0]], vec![&all[..1], &all[1..]]] {
            let mut column = storage.create_column().unwrap();
            for part in &parts {
                column.append_units(part).unwrap();
            }
            assert_eq!(column.finish().unwrap().integers(), parts.concat());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let storage = TemporaryFileStorage::in_data_or_temporary_folder(folder.path());
        let path = folder.path().display().to_string();
        drop(folder);
        let error = storage.create_column().err().unwrap().to_string();
        assert!(error.starts_with(&path), "{error}");
        assert!(error.contains("leave out `--index-on-disk`"), "{error}");
    }
}
