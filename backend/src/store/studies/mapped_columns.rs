//! The documents of a study's instances as 32-bit little-endian integers, one column after the
//! other. A copy of the file is memory-mapped, so that listing ten million instances does not need
//! memory for all of them.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use shared::probe::{InstancesHeader, ProbeInstances};

use crate::error::Error;
use crate::remedy;
use crate::store::mapped_file::{MappedColumn, MappedIntegerFile};
use crate::store::write_atomically;

/// Writes the document columns of all instances to one file, as little-endian 32-bit integers.
pub(super) fn write_raw_document_columns(
    path: &Path,
    instances: &[ProbeInstances],
) -> Result<(), Error> {
    write_atomically(path, remedy::ANOTHER_DATA_FOLDER, |file| {
        let mut out = BufWriter::new(file);
        for it in instances {
            write_integers(&mut out, it.docs())?;
        }
        out.flush()
    })
}

/// Writes integers in the byte order in which they are mapped again.
pub(super) fn write_integers(out: &mut impl Write, integers: &[u32]) -> io::Result<()> {
    let mut bytes = integers.iter().map(|it| it.to_le_bytes());
    bytes.try_for_each(|it| out.write_all(&it))
}

/// Opens the columns of the instances. Returns `None` if the SHA-256 of the file is not `hash`, or
/// if this machine cannot map the file.
pub(super) fn open_memory_mapped_instances(
    path: &Path,
    hash: &str,
    heads: Vec<InstancesHeader>,
) -> Option<Vec<ProbeInstances>> {
    // The integers are little-endian.
    if cfg!(target_endian = "big") {
        return None;
    }
    let (map, found) = MappedIntegerFile::copy_of(path).ok()?;
    if found != hash {
        return None;
    }
    let map = Arc::new(map);
    let mut from = 0;
    let lent = heads.into_iter().map(|head| {
        let arity = head.probe.claim_kind(head.variant).arity();
        let len = arity * *head.starts.last()? as usize;
        let column = MappedColumn {
            map: map.clone(),
            range: from..from + len,
        };
        from += len;
        if column.range.end > map.integers().len() {
            return None;
        }
        ProbeInstances::from_shared_column(head, Arc::new(column)).ok()
    });
    lent.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::checksum;
    use shared::probe::Axiom;
    use shared::probe::{AxiomVariant, Probe};

    /// Also covers another process that empties the file in the meantime.
    #[test]
    fn columns_come_back_and_a_changed_file_is_not_taken() {
        let mut pairs = ProbeInstances::new(Probe::Axiom(Axiom::Tfc1), AxiomVariant::Fixed);
        pairs.push_query_instances([0, 1, 2, 1], 2);
        pairs.push_query_instances([], 0);
        pairs.push_query_instances([7, 3], 1);
        let mut triples = ProbeInstances::new(Probe::Axiom(Axiom::Tfc2), AxiomVariant::Fixed);
        (0..3).for_each(|it| triples.push_query_instances([it, 5, 70_000], 1));
        let none = ProbeInstances::new(Probe::Axiom(Axiom::Tp), AxiomVariant::Fixed);
        let all = [pairs, none, triples];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("columns");
        write_raw_document_columns(&path, &all).unwrap();
        let hash = checksum::file_checksum(&path).unwrap();
        let heads = || all.iter().map(ProbeInstances::header).collect();
        let found = open_memory_mapped_instances(&path, &hash, heads()).unwrap();
        assert_eq!(found, all);
        let mut bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), (6 + 9) * size_of::<u32>());
        std::fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(0)
            .unwrap();
        assert_eq!(found, all);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found, all);
        bytes[0] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(open_memory_mapped_instances(&path, &hash, heads()).is_none());
        std::fs::write(&path, b"").unwrap();
        assert!(open_memory_mapped_instances(&path, &hash, heads()).is_none());
    }
}
