//! Files without a name that are mapped into memory as integers: their pages are read when they are
//! needed, and the system can drop them again.

// A mapped file can be used as a slice only under a condition: see `MappedIntegerFile`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use sha2::{Digest, Sha256};
use shared::integer_column::SharedIntegerColumn;

use super::checksum;

/// An integer that bytes of a mapped file can be read as.
///
/// # Safety
///
/// Any bytes must be a valid value, without padding.
pub(super) unsafe trait MappableInteger: Send + Sync {}

// SAFETY: every two bytes are a number.
unsafe impl MappableInteger for u16 {}

// SAFETY: every four bytes are a number.
unsafe impl MappableInteger for u32 {}

/// A mapped file of integers. It has no name, so that nobody else can open it: if another process
/// truncated a mapped file, the system would kill the process that reads it.
pub(super) struct MappedIntegerFile<T = u32> {
    map: Mmap,
    integers: PhantomData<T>,
}

impl<T: MappableInteger> MappedIntegerFile<T> {
    /// Maps a copy of a file, and returns its SHA-256 as well.
    pub(super) fn copy_of(path: &Path) -> io::Result<(MappedIntegerFile<T>, String)> {
        let file = File::open(path)?;
        let beside = path.parent().unwrap_or(Path::new("."));
        let mut copy = UnnamedFile::in_folder(beside)
            .or_else(|_| UnnamedFile::in_folder(&std::env::temp_dir()))?;
        let mut hasher = Sha256::new();
        checksum::read_file_in_chunks(&file, |part| {
            hasher.update(part);
            copy.write_all(part)
        })?;
        let hash = shared::collection::encode_hex(&hasher.finalize());
        Ok((copy.into_mapped_integers()?, hash))
    }

    pub(super) fn integers(&self) -> &[T] {
        // SAFETY: any bytes are a valid integer of this type, and the slice is restricted to whole
        // aligned integers. A mapping starts at a page boundary, so that no bytes are skipped at
        // the start.
        let (_, integers, _) = unsafe { self.map.align_to::<T>() };
        integers
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }
}

/// A file without a name that is being written.
pub(super) struct UnnamedFile(File);

impl UnnamedFile {
    /// Creates an empty file on the disk of a folder.
    pub(super) fn in_folder(folder: &Path) -> io::Result<UnnamedFile> {
        tempfile::tempfile_in(folder).map(UnnamedFile)
    }

    /// Appends bytes to the file.
    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Returns the complete file as mapped integers.
    pub(super) fn into_mapped_integers<T: MappableInteger>(
        self,
    ) -> io::Result<MappedIntegerFile<T>> {
        // SAFETY: the file has no name, so that nobody else can open it, and nothing is written to
        // it after this point.
        let map = unsafe { Mmap::map(&self.0) }?;
        Ok(MappedIntegerFile {
            map,
            integers: PhantomData,
        })
    }
}

impl<T: MappableInteger> SharedIntegerColumn<T> for MappedIntegerFile<T> {
    fn integers(&self) -> &[T] {
        self.integers()
    }
}

/// Some of the integers of a mapped file.
pub(super) struct MappedColumn<T = u32> {
    pub(super) map: Arc<MappedIntegerFile<T>>,
    pub(super) range: Range<usize>,
}

impl<T: MappableInteger> SharedIntegerColumn<T> for MappedColumn<T> {
    fn integers(&self) -> &[T] {
        &self.map.integers()[self.range.clone()]
    }
}
