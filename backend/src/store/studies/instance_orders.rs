//! The instances of a study in the order of each ranker's margins, one file for each ranker. The
//! file begins with the length of a JSON header in bytes, as an integer of 32 bits; the header is
//! padded with spaces to whole integers, and the columns follow one after the other. All integers
//! are little-endian. A copy of the file is memory-mapped.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::collection::encode_hex;
use shared::integer_column::OwnedOrSharedIntegers;
use shared::probe::{AxiomVariant, Probe, ProbeInstances};
use shared::score::RankerQueryDocumentScores;
use shared::study::Study;
use shared::study::instance_list::order::{InstanceOrder, InstanceOrderHeader};

use super::mapped_columns::write_integers;
use crate::error::Error;
use crate::remedy;
use crate::store::mapped_file::{MappedColumn, MappedIntegerFile};
use crate::store::write_atomically;

/// Below this number of instances a list is computed from all of them, which takes milliseconds.
pub(super) const MIN_INSTANCES: usize = 100_000;

/// The version of the order and of its file, so that a file of another version is made again.
const FORMAT: u32 = 1;

/// The orders of a study's instances, by ranker (its row in the study), probe and variant.
#[derive(Default)]
pub(crate) struct InstanceOrders(BTreeMap<(usize, Probe, AxiomVariant), InstanceOrder>);

impl InstanceOrders {
    /// Returns the order of the instances of a probe under a ranker.
    pub(crate) fn get(
        &self,
        ranker_row: usize,
        instances: &ProbeInstances,
    ) -> Option<&InstanceOrder> {
        self.0
            .get(&(ranker_row, instances.probe, instances.variant))
    }
}

/// The file of a ranker, as named by `study.json`.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct InstanceOrderFile {
    /// A hash of everything that determines the orders: see [`SourceHasher`].
    pub(super) source: String,
    pub(super) file: String,
}

/// One order in the header of a file.
#[derive(Serialize, Deserialize)]
struct StoredOrder {
    probe: Probe,
    variant: AxiomVariant,
    /// The number of integers in its column.
    n_integers: usize,
    header: InstanceOrderHeader,
}

/// Returns the instances of a study that have at least `min_instances`.
pub(super) fn ordered_instances(
    study: &Study,
    min_instances: usize,
) -> impl Iterator<Item = &ProbeInstances> {
    let all = study.instances.iter();
    all.filter(move |it| it.len() >= min_instances)
}

/// Hashes what determines the orders for a ranker.
pub(super) struct SourceHasher(String);

impl SourceHasher {
    /// Hashes everything but the scores.
    pub(super) fn for_study(study: &Study) -> Result<SourceHasher, serde_json::Error> {
        let Study {
            collection_hash,
            instances_hash,
            queries,
            qrels,
            study_docs,
            pairs,
            ..
        } = study;
        let documents = (collection_hash, queries, qrels, study_docs, pairs);
        hash_json(&(FORMAT, instances_hash, documents)).map(SourceHasher)
    }

    /// Adds the scores of the ranker.
    pub(super) fn hash_with_scores(
        &self,
        scores: &RankerQueryDocumentScores,
    ) -> Result<String, serde_json::Error> {
        hash_json(&(&self.0, scores))
    }
}

fn hash_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut hasher = Sha256::new();
    let mut out = BufWriter::new(&mut hasher);
    serde_json::to_writer(&mut out, value)?;
    out.flush().map_err(serde_json::Error::io)?;
    drop(out);
    Ok(encode_hex(&hasher.finalize()))
}

/// Sorts the instances by the margins of a ranker and writes the file.
pub(super) fn write_instance_orders(
    path: &Path,
    study: &Study,
    scores: &RankerQueryDocumentScores,
    min_instances: usize,
) -> Result<(), Error> {
    let sorted: Vec<&ProbeInstances> = ordered_instances(study, min_instances).collect();
    let orders: Vec<InstanceOrder> = sorted
        .par_iter()
        .map(|it| InstanceOrder::build(study, it, scores))
        .collect();
    let heads = sorted
        .iter()
        .zip(&orders)
        .map(|(instances, order)| StoredOrder {
            probe: instances.probe,
            variant: instances.variant,
            n_integers: order.column().len(),
            header: order.header().clone(),
        });
    let heads: Vec<StoredOrder> = heads.collect();
    write_atomically(path, remedy::ANOTHER_DATA_FOLDER, |file| {
        let mut json = serde_json::to_vec(&heads)?;
        json.resize(json.len().next_multiple_of(size_of::<u32>()), b' ');
        let length = u32::try_from(json.len()).map_err(io::Error::other)?;
        let mut out = BufWriter::new(file);
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&json)?;
        for order in &orders {
            write_integers(&mut out, order.column())?;
        }
        out.flush()
    })
}

/// Adds the orders of a file for the ranker in a row of the study. Returns `None` and adds nothing
/// if the SHA-256 of the file is not `hash`, if the file does not fit the study, or if this machine
/// cannot map it.
pub(super) fn open_instance_orders(
    path: &Path,
    hash: &str,
    study: &Study,
    ranker_row: usize,
    orders: &mut InstanceOrders,
) -> Option<()> {
    // The integers are little-endian.
    if cfg!(target_endian = "big") {
        return None;
    }
    let (map, found) = MappedIntegerFile::copy_of(path).ok()?;
    if found != hash {
        return None;
    }
    let n_header_bytes = *map.integers().first()? as usize;
    let header = map.bytes().get(size_of::<u32>()..)?.get(..n_header_bytes)?;
    let heads: Vec<StoredOrder> = serde_json::from_slice(header).ok()?;
    let map = Arc::new(map);
    let mut from = 1 + n_header_bytes / size_of::<u32>();
    let mut opened = Vec::new();
    for head in heads {
        let range = from..from.checked_add(head.n_integers)?;
        from = range.end;
        if range.end > map.integers().len() {
            return None;
        }
        let map = map.clone();
        let column = OwnedOrSharedIntegers::Shared(Arc::new(MappedColumn { map, range }));
        let instances = study.instances_of_probe(head.probe, head.variant).ok()?;
        let order = InstanceOrder::from_parts(head.header, column, instances)?;
        opened.push(((ranker_row, head.probe, head.variant), order));
    }
    orders.0.extend(opened);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::checksum;
    use crate::store::studies::files::tests::make_small_study;

    #[test]
    fn orders_come_back_and_a_changed_file_is_not_taken() {
        let study = make_small_study();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders");
        write_instance_orders(&path, &study, &study.scores[1], 1).unwrap();
        let hash = checksum::file_checksum(&path).unwrap();
        let open = |hash: &str| {
            let mut orders = InstanceOrders::default();
            open_instance_orders(&path, hash, &study, 1, &mut orders).map(|()| orders)
        };
        let orders = open(&hash).unwrap();
        let mut n_orders = 0;
        for instances in ordered_instances(&study, 1) {
            let expected = InstanceOrder::build(&study, instances, &study.scores[1]);
            assert_eq!(orders.get(1, instances), Some(&expected));
            assert!(orders.get(0, instances).is_none());
            n_orders += 1;
        }
        assert!(n_orders > 1);
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert!(open(&hash).is_none());
        // A file that fits neither its header nor the study is refused as well.
        for n_bytes in [0, 3, 40, bytes.len() - 4] {
            std::fs::write(&path, &bytes[..n_bytes]).unwrap();
            let hash = encode_hex(&Sha256::digest(&bytes[..n_bytes]));
            assert!(open(&hash).is_none(), "{n_bytes}");
        }
    }

    #[test]
    fn the_source_of_orders_is_another_with_other_scores_or_judgments() {
        let study = make_small_study();
        let hash = |it: &Study, row: usize| {
            let source = SourceHasher::for_study(it).unwrap();
            source.hash_with_scores(&it.scores[row]).unwrap()
        };
        assert_eq!(hash(&study, 0), hash(&study.clone(), 0));
        assert_ne!(hash(&study, 0), hash(&study, 1));
        let mut judged = study.clone();
        let (query, doc) = (&study.queries[0].id, study.docs[0].id());
        let grades = judged.qrels.0.entry(query.clone()).or_default();
        let grade = grades.entry(doc.to_owned()).or_insert(0);
        *grade += 1;
        assert_ne!(hash(&study, 0), hash(&judged, 0));
    }
}
