//! The texts of a study's instances as the machine reads them: 32-bit integers, little-endian,
//! one column after the other. The file is mapped, so what is shown of ten million instances
//! takes no memory of ours.

// A mapped file is a slice only by a promise: see `Mapped::open`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use sha2::{Digest, Sha256};
use shared::probe::column::Lender;
use shared::probe::{Instances, InstancesHead, TextNo};

use crate::error::Error;
use crate::store::write_whole;

/// Writes the columns; SHA-256 of the file, in hex.
pub(super) fn write(path: &Path, instances: &[Instances]) -> Result<String, Error> {
    let mut hasher = Sha256::new();
    write_whole(path, super::files::WAY_OUT, |file| {
        let mut out = BufWriter::new(file);
        for it in instances {
            for text in it.texts() {
                hasher.update(text.to_le_bytes());
                out.write_all(&text.to_le_bytes())?;
            }
        }
        out.flush()
    })?;
    Ok(shared::collection::hex(&hasher.finalize()))
}

/// Opens the columns of instances; none where the file is not the one that was written, or where
/// this machine cannot map it.
pub(super) fn open(path: &Path, hash: &str, heads: Vec<InstancesHead>) -> Option<Vec<Instances>> {
    // Another order of bytes would be other numbers.
    if cfg!(target_endian = "big") {
        return None;
    }
    let map = Arc::new(Mapped::open(path)?);
    if shared::collection::hex(&Sha256::digest(&map.0)) != hash {
        return None;
    }
    let mut from = 0;
    let lent = heads.into_iter().map(|head| {
        let arity = head.probe.claim(head.mode).arity();
        let len = arity * *head.starts.last()? as usize;
        let column = Column {
            map: map.clone(),
            range: from..from + len,
        };
        from += len;
        if column.range.end > map.texts().len() {
            return None;
        }
        Instances::lent(head, Arc::new(column)).ok()
    });
    lent.collect()
}

struct Mapped(Mmap);

impl Mapped {
    fn open(path: &Path) -> Option<Mapped> {
        let file = File::open(path).ok()?;
        // SAFETY: nobody writes into this file: it appears whole under its name (`write_whole`)
        // and is only ever removed, which leaves what is mapped as it is; the data folder has
        // one owner.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        Some(Mapped(map))
    }

    fn texts(&self) -> &[TextNo] {
        // SAFETY: any four bytes are a number, and the slice is cut to whole ones in their
        // alignment. A mapping begins at a page, so there is nothing before the first.
        let (_, texts, _) = unsafe { self.0.align_to::<TextNo>() };
        texts
    }
}

/// One of the columns.
struct Column {
    map: Arc<Mapped>,
    range: Range<usize>,
}

impl Lender for Column {
    fn texts(&self) -> &[TextNo] {
        &self.map.texts()[self.range.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;
    use shared::probe::{Mode, Probe};

    #[test]
    fn columns_come_back_and_a_changed_file_is_not_taken() {
        let mut pairs = Instances::new(Probe::Axiom(Axiom::Tfc1), Mode::Fixed);
        pairs.push_query([0, 1, 2, 1], 2);
        pairs.push_query([], 0);
        pairs.push_query([7, 3], 1);
        let mut triples = Instances::new(Probe::Axiom(Axiom::Tfc2), Mode::Fixed);
        (0..3).for_each(|it| triples.push_query([it, 5, 70_000], 1));
        let none = Instances::new(Probe::Axiom(Axiom::Tp), Mode::Fixed);
        let all = [pairs, none, triples];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("columns");
        let hash = write(&path, &all).unwrap();
        let heads = || all.iter().map(Instances::head).collect();
        let found = open(&path, &hash, heads()).unwrap();
        assert_eq!(found, all);
        // A removed file stays readable for those who have it.
        let mut bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), (6 + 9) * size_of::<TextNo>());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found, all);
        bytes[0] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(open(&path, &hash, heads()).is_none());
        std::fs::write(&path, b"").unwrap();
        assert!(open(&path, &hash, heads()).is_none());
    }
}
