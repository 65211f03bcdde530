//! Partial scores of a ranker. Each batch is appended to a file when it is done, so that after a
//! crash the next run continues with the first missing batch.
//!
//! A record contains the number of the batch, the number of scores, the scores (pair, score,
//! truncated) and a checksum, all little-endian. A damaged record and everything after it are
//! removed: they were never acknowledged.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use shared::error::{Error as InputError, ErrorFieldName};

use crate::error::Error;
use crate::models::PairScore;
use crate::remedy;

/// Prefix of the names of these files.
const PREFIX: &str = "draft-";

/// The batches that have been scored.
#[derive(Debug)]
pub(crate) struct PartialScores {
    done: BTreeMap<u32, Vec<PairScore>>,
    file: Option<(PathBuf, File)>,
}

impl PartialScores {
    /// Creates an empty set of partial scores that is not saved to a file.
    pub(crate) fn empty_without_file() -> PartialScores {
        PartialScores {
            done: BTreeMap::new(),
            file: None,
        }
    }

    /// Opens the file in `folder` for work with the given hash, loads its batches, and locks it.
    /// Returns an error if another process has locked it.
    pub(crate) fn load_and_lock(folder: &Path, hash: &str) -> Result<PartialScores, Error> {
        let path = place(folder, hash);
        let failed = || Error::io_error_converter(&path, remedy::ANOTHER_DATA_FOLDER);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(failed())?;
        take(&file, &path)?;
        // Another process may have removed the file between the two lines above.
        while !path.try_exists().map_err(failed())? {
            file = options.open(&path).map_err(failed())?;
            take(&file, &path)?;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed())?;
        let (done, whole) = read(&bytes);
        file.set_len(whole as u64).map_err(failed())?;
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed())?;
        Ok(PartialScores {
            done,
            file: Some((path, file)),
        })
    }

    /// Loads the batches in a file without creating, locking or changing it, since another process
    /// may be writing it. Batches that are added later are not stored.
    pub(crate) fn load_read_only(folder: &Path, hash: &str) -> Result<PartialScores, Error> {
        let path = place(folder, hash);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                return Err(Error::io_error_converter(
                    &path,
                    remedy::ANOTHER_DATA_FOLDER,
                )(error));
            }
        };
        Ok(PartialScores {
            done: read(&bytes).0,
            file: None,
        })
    }

    /// Removes the file, after the scores have been stored elsewhere.
    pub(crate) fn delete_file(self) -> Result<(), Error> {
        match self.file {
            // The file is unlocked only after it has been removed.
            Some((path, _locked)) => remove(&path),
            None => Ok(()),
        }
    }

    /// Removes all files of partial scores in a folder, except those that other processes have
    /// locked.
    pub(crate) fn delete_unlocked_files(folder: &Path) -> Result<(), Error> {
        for entry in std::fs::read_dir(folder).map_err(Error::io_error_converter(
            folder,
            remedy::ANOTHER_DATA_FOLDER,
        ))? {
            let entry = entry.map_err(Error::io_error_converter(
                folder,
                remedy::ANOTHER_DATA_FOLDER,
            ))?;
            if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
                continue;
            }
            let path = entry.path();
            match File::open(&path) {
                Ok(file) if take(&file, &path).is_ok() => remove(&path)?,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(Error::io_error_converter(
                        &path,
                        remedy::ANOTHER_DATA_FOLDER,
                    )(error));
                }
            }
        }
        Ok(())
    }

    /// Returns the scores of a batch that was loaded from the file or computed elsewhere.
    pub(crate) fn loaded_batch_scores(&self, number: u32) -> Option<&[PairScore]> {
        self.done.get(&number).map(Vec::as_slice)
    }

    /// Returns the scores of all batches that were loaded from the file or computed elsewhere.
    pub(crate) fn scores_loaded_from_file(&self) -> impl Iterator<Item = &PairScore> {
        self.done.values().flatten()
    }

    /// Adds the scores of a batch that another process has computed and keeps. They are not written
    /// to the file.
    pub(crate) fn insert_batch_kept_elsewhere(&mut self, number: u32, scores: Vec<PairScore>) {
        self.done.insert(number, scores);
    }

    /// Appends the scores of a batch to the file. They survive a crash once this returns.
    pub(crate) fn append_batch(&mut self, number: u32, scores: &[PairScore]) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        let failed = || Error::io_error_converter(path, remedy::ANOTHER_DATA_FOLDER);
        file.write_all(&record(number, scores)).map_err(failed())?;
        file.sync_data().map_err(failed())
    }
}

fn place(folder: &Path, hash: &str) -> PathBuf {
    folder.join(format!("{PREFIX}{hash:.32}"))
}

/// Locks a file until it is closed. Returns an error if another process has locked it. If files
/// cannot be locked at all, there is no protection.
fn take(file: &File, path: &Path) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let reason = "another axioscope is scoring the same; wait until it has ended, or take \
                          another data folder by `--data`";
            Err(InputError::conflicting_value(
                ErrorFieldName::with_display_name("data", path.display().to_string()),
                reason,
            )
            .into())
        }
    }
}

/// Removes a file; it is not an error if it does not exist.
fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io_error_converter(path, remedy::ANOTHER_DATA_FOLDER)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Size of a score in bytes.
const SCORE: usize = 13;
/// Size of a checksum in bytes.
const CHECK: usize = 8;

fn record(number: u32, scores: &[PairScore]) -> Vec<u8> {
    let mut record = Vec::with_capacity(8 + scores.len() * SCORE + CHECK);
    record.extend(number.to_le_bytes());
    record.extend((scores.len() as u32).to_le_bytes());
    for it in scores {
        record.extend(it.pair.to_le_bytes());
        record.extend(it.score.to_bits().to_le_bytes());
        record.push(u8::from(it.truncated));
    }
    let check = Sha256::digest(&record);
    record.extend(&check[..CHECK]);
    record
}

/// Returns the batches of the valid records at the beginning, and the offset of their end.
fn read(bytes: &[u8]) -> (BTreeMap<u32, Vec<PairScore>>, usize) {
    let (mut done, mut at) = (BTreeMap::new(), 0);
    while let Some((number, scores, n_bytes)) = read_one(&bytes[at..]) {
        done.insert(number, scores);
        at += n_bytes;
    }
    (done, at)
}

fn read_one(bytes: &[u8]) -> Option<(u32, Vec<PairScore>, usize)> {
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(four.try_into().ok()?))
    };
    let n_scores = number(4)? as usize;
    let end = n_scores.checked_mul(SCORE)?.checked_add(8)?;
    let record = bytes.get(..end)?;
    if bytes.get(end..end + CHECK)? != &Sha256::digest(record)[..CHECK] {
        return None;
    }
    let score = |at: usize| {
        let eight = bytes.get(at + 4..at + 12)?;
        Some(PairScore {
            pair: number(at)?,
            score: f64::from_bits(u64::from_le_bytes(eight.try_into().ok()?)),
            truncated: bytes.get(at + 12)? == &1,
        })
    };
    let scores = (0..n_scores).map(|it| score(8 + it * SCORE));
    Some((number(0)?, scores.collect::<Option<_>>()?, end + CHECK))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(from: u32) -> Vec<PairScore> {
        let score = |pair| PairScore {
            pair,
            score: f64::from(pair) / 3.0,
            truncated: pair % 2 == 1,
        };
        (from..from + 3).map(score).collect()
    }

    #[test]
    fn whole_batches_survive_and_a_torn_one_is_done_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = || PartialScores::load_and_lock(folder.path(), &"a".repeat(64)).unwrap();
        let mut draft = open();
        draft.append_batch(0, &scores(0)).unwrap();
        draft.append_batch(1, &scores(3)).unwrap();
        let path = draft.file.as_ref().unwrap().0.clone();
        drop(draft);
        let whole = std::fs::read(&path).unwrap();
        // The process is killed at any byte of the second record.
        for cut in whole.len() / 2 + 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut draft = open();
            assert_eq!(draft.loaded_batch_scores(0), Some(scores(0).as_slice()));
            assert_eq!(draft.loaded_batch_scores(1), None, "{cut}");
            draft.append_batch(1, &scores(3)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        // A flipped bit is detected, and everything after it is ignored.
        let mut damaged = whole.clone();
        damaged[10] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(open().loaded_batch_scores(0), None);
        assert_eq!(open().loaded_batch_scores(1), None);
    }

    #[test]
    fn a_draft_is_written_by_one_and_seen_by_all() {
        let folder = tempfile::tempdir().unwrap();
        let hash = "b".repeat(64);
        let glance = || PartialScores::load_read_only(folder.path(), &hash).unwrap();
        assert_eq!(glance().loaded_batch_scores(0), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut draft = PartialScores::load_and_lock(folder.path(), &hash).unwrap();
        draft.append_batch(0, &scores(0)).unwrap();
        let error = PartialScores::load_and_lock(folder.path(), &hash)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("draft-bbb") && error.contains("wait"),
            "{error}"
        );
        // Another process can complete a record that it is just writing.
        let path = draft.file.as_ref().unwrap().0.clone();
        let torn = &record(1, &scores(3))[..20];
        draft.file.as_mut().unwrap().1.write_all(torn).unwrap();
        let n_bytes = || std::fs::metadata(&path).unwrap().len();
        let before = n_bytes();
        assert_eq!(glance().loaded_batch_scores(0), Some(scores(0).as_slice()));
        assert_eq!(glance().loaded_batch_scores(1), None);
        glance().delete_file().unwrap();
        assert_eq!(n_bytes(), before);

        PartialScores::delete_unlocked_files(folder.path()).unwrap();
        assert!(path.exists(), "it is being written");
        drop(draft);
        let again = PartialScores::load_and_lock(folder.path(), &hash).unwrap();
        assert_eq!(again.loaded_batch_scores(0), Some(scores(0).as_slice()));
        // The file may have been removed by hand.
        std::fs::remove_file(&path).unwrap();
        again.delete_file().unwrap();
        std::fs::write(&path, "of an earlier run").unwrap();
        PartialScores::delete_unlocked_files(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
