//! Scores of a ranker that is still scoring: each batch is added to a file when it is done, so
//! that whoever starts again after a crash begins with the batch that is missing.
//!
//! A record is the number of the batch and of its scores, the scores (pair, score, truncated),
//! and a checksum, all little-endian. What follows a damaged record was never acknowledged, and
//! is cut off.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::models::PairScore;

const WAY_OUT: &str = "make room, or take another data folder by `--data`";

/// How the names of these files begin.
pub(crate) const PREFIX: &str = "draft-";

/// The batches that are done.
#[derive(Debug)]
pub(crate) struct Draft {
    done: BTreeMap<u32, Vec<PairScore>>,
    file: Option<(PathBuf, File)>,
}

impl Draft {
    /// Kept nowhere.
    pub(crate) fn none() -> Draft {
        Draft {
            done: BTreeMap::new(),
            file: None,
        }
    }

    /// In a folder, for work of this hash; takes up what is there.
    pub(crate) fn open(folder: &Path, hash: &str) -> Result<Draft, Error> {
        let path = folder.join(format!("{PREFIX}{hash:.32}"));
        let failed = || Error::file(&path, WAY_OUT);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(failed())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed())?;
        let (done, whole) = read(&bytes);
        file.set_len(whole as u64).map_err(failed())?;
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed())?;
        Ok(Draft {
            done,
            file: Some((path, file)),
        })
    }

    /// Forgets it all: the scores lie somewhere else now.
    pub(crate) fn discard(self) -> Result<(), Error> {
        let Some((path, file)) = self.file else {
            return Ok(());
        };
        drop(file);
        std::fs::remove_file(&path).map_err(Error::file(&path, WAY_OUT))
    }

    /// The scores of a batch that is done.
    pub(crate) fn batch(&self, number: u32) -> Option<&[PairScore]> {
        self.done.get(&number).map(Vec::as_slice)
    }

    /// Keeps the scores of a batch; when this returns they survive a crash.
    pub(crate) fn keep(&mut self, number: u32, scores: &[PairScore]) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        let failed = || Error::file(path, WAY_OUT);
        file.write_all(&record(number, scores)).map_err(failed())?;
        file.sync_data().map_err(failed())
    }
}

/// Bytes of a score.
const SCORE: usize = 13;
/// Bytes of a checksum.
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

/// The batches of the sound records at the beginning, and where they end.
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
        let open = || Draft::open(folder.path(), &"a".repeat(64)).unwrap();
        let mut draft = open();
        draft.keep(0, &scores(0)).unwrap();
        draft.keep(1, &scores(3)).unwrap();
        let path = draft.file.as_ref().unwrap().0.clone();
        let whole = std::fs::read(&path).unwrap();
        // Killed at any byte of the second record.
        for cut in whole.len() / 2 + 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut draft = open();
            assert_eq!(draft.batch(0), Some(scores(0).as_slice()));
            assert_eq!(draft.batch(1), None, "{cut}");
            draft.keep(1, &scores(3)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        // A flipped bit is seen, and what follows is not trusted.
        let mut damaged = whole.clone();
        damaged[10] ^= 1;
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(open().batch(0), None);
        assert_eq!(open().batch(1), None);
    }
}
