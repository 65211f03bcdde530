//! Reads the files of a sliced study, and keeps what every request needs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use serde::de::DeserializeOwned;

use super::files::{
    FileSlice, SlicedOrder, WORD_VECTORS, damaged, offsets_file, order_file, parse_json,
};
use super::table::{TableIndex, TableMap};
use crate::error::Error;
use crate::study::StudyWordVectors;

/// Reads the files of a sliced study.
pub trait SliceSource {
    /// Reads parts of files, in any order, and returns their bytes in the order of the parts.
    fn read_slices(
        &self,
        slices: Vec<FileSlice>,
    ) -> impl Future<Output = Result<Vec<Vec<u8>>, Error>>;
}

/// The files of a sliced study.
pub(super) struct StudySlices<S> {
    pub(super) source: S,
    cache: RefCell<SliceCache>,
}

/// What has been read and is needed again for every request.
#[derive(Default)]
struct SliceCache {
    tables: BTreeMap<&'static str, Rc<TableMap>>,
    offsets: BTreeMap<usize, Rc<Vec<u32>>>,
    orders: BTreeMap<(usize, usize), Rc<SlicedOrder>>,
    word_vectors: Option<StudyWordVectors>,
}

impl<S: SliceSource> StudySlices<S> {
    pub(super) fn new(source: S) -> StudySlices<S> {
        StudySlices {
            source,
            cache: RefCell::default(),
        }
    }

    /// Reads rows of a table, in this order.
    pub(super) async fn rows<T: DeserializeOwned + Clone>(
        &self,
        table: &'static str,
        rows: &[usize],
    ) -> Result<Vec<T>, Error> {
        let map = self.table(table).await?;
        let file = format!("{table}.rows");
        let missing = || damaged(&file, "a row is missing");
        let blocks = rows.iter().map(|&it| map.block_of(it).ok_or_else(missing));
        let blocks = blocks.collect::<Result<BTreeSet<usize>, Error>>()?;
        // Neighboring blocks are read at once.
        let mut parts: Vec<(Range<usize>, Range<u64>)> = Vec::new();
        for block in blocks {
            let bytes = map.bytes_of_block(block);
            match parts.last_mut() {
                Some((blocks, range)) if blocks.end == block => {
                    (blocks.end, range.end) = (block + 1, bytes.end);
                }
                _ => parts.push((block..block + 1, bytes)),
            }
        }
        let slices = parts.iter().map(|(_, range)| FileSlice {
            file: file.clone(),
            range: Some(range.clone()),
        });
        let read = self.source.read_slices(slices.collect()).await?;
        let mut found = BTreeMap::new();
        for ((blocks, range), bytes) in parts.iter().zip(&read) {
            for block in blocks.clone() {
                let of_block = map.bytes_of_block(block);
                let part = (of_block.start - range.start) as usize;
                let part = part..(of_block.end - range.start) as usize;
                let bytes = bytes.get(part).ok_or_else(missing)?;
                map.parse_block::<T>(&file, block, bytes, &mut found)?;
            }
        }
        let rows = rows.iter().map(|it| found.get(it).cloned());
        rows.collect::<Option<Vec<T>>>().ok_or_else(missing)
    }

    /// Returns where the rows of a table are.
    pub(super) async fn table(&self, table: &'static str) -> Result<Rc<TableMap>, Error> {
        if let Some(map) = self.cache.borrow().tables.get(table) {
            return Ok(Rc::clone(map));
        }
        let index: TableIndex = self.read_json(&format!("{table}.json")).await?;
        let map = Rc::new(TableMap::new(&index));
        let mut cache = self.cache.borrow_mut();
        cache.tables.insert(table, Rc::clone(&map));
        Ok(map)
    }

    /// Returns for each query the offset of its instances, followed by their number.
    pub(super) async fn offsets(&self, probe_index: usize) -> Result<Rc<Vec<u32>>, Error> {
        if let Some(offsets) = self.cache.borrow().offsets.get(&probe_index) {
            return Ok(Rc::clone(offsets));
        }
        let file = offsets_file(probe_index);
        let offsets: Rc<Vec<u32>> = Rc::new(self.read_json(&file).await?);
        let mut cache = self.cache.borrow_mut();
        cache.offsets.insert(probe_index, Rc::clone(&offsets));
        Ok(offsets)
    }

    /// Returns what is known of the order of a probe's instances before rows are read.
    pub(super) async fn order(
        &self,
        probe_index: usize,
        ranker_row: usize,
    ) -> Result<Rc<SlicedOrder>, Error> {
        let key = (probe_index, ranker_row);
        if let Some(order) = self.cache.borrow().orders.get(&key) {
            return Ok(Rc::clone(order));
        }
        let file = order_file(probe_index, ranker_row, "json");
        let order: Rc<SlicedOrder> = Rc::new(self.read_json(&file).await?);
        let mut cache = self.cache.borrow_mut();
        cache.orders.insert(key, Rc::clone(&order));
        Ok(order)
    }

    /// Returns the word vectors of the study, which has some.
    pub(super) async fn word_vectors(&self) -> Result<StudyWordVectors, Error> {
        if let Some(vectors) = &self.cache.borrow().word_vectors {
            return Ok(vectors.clone());
        }
        let vectors: StudyWordVectors = self.read_json(WORD_VECTORS).await?;
        self.cache.borrow_mut().word_vectors = Some(vectors.clone());
        Ok(vectors)
    }

    async fn read_json<T: DeserializeOwned>(&self, file: &str) -> Result<T, Error> {
        let read = self
            .source
            .read_slices(vec![FileSlice::whole(file)])
            .await?;
        parse_json(file, &read.concat())
    }
}
