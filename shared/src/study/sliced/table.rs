//! Tables of JSON rows of any length in blocks, so that a row is read with one small request.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::files::damaged;
use crate::error::Error;

/// The blocks of a table.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct TableIndex {
    /// The number of rows of each block.
    n_rows: Vec<u32>,
    /// The number of bytes of each block.
    n_bytes: Vec<u32>,
}

/// Writes the rows of a table, one line each.
pub(super) struct TableWriter<'w> {
    out: &'w mut dyn Write,
    index: TableIndex,
    block: Vec<u8>,
    n_rows: u32,
    /// A block is complete when it has at least this many bytes.
    block_bytes: usize,
}

impl<'w> TableWriter<'w> {
    pub(super) fn new(out: &'w mut dyn Write, block_bytes: usize) -> TableWriter<'w> {
        TableWriter {
            out,
            index: TableIndex::default(),
            block: Vec::new(),
            n_rows: 0,
            block_bytes,
        }
    }

    pub(super) fn push(&mut self, row: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.block, row)?;
        self.block.push(b'\n');
        self.n_rows += 1;
        match self.block.len() >= self.block_bytes {
            true => self.write_block(),
            false => Ok(()),
        }
    }

    fn write_block(&mut self) -> io::Result<()> {
        self.out.write_all(&self.block)?;
        let n_bytes = u32::try_from(self.block.len()).map_err(io::Error::other)?;
        self.index.n_bytes.push(n_bytes);
        self.index.n_rows.push(self.n_rows);
        self.block.clear();
        self.n_rows = 0;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<TableIndex> {
        if self.n_rows > 0 {
            self.write_block()?;
        }
        Ok(self.index)
    }
}

/// Where the rows of a table are.
#[derive(Debug)]
pub(super) struct TableMap {
    /// The first row of each block, followed by the number of rows.
    first_rows: Vec<usize>,
    /// The first byte of each block, followed by the number of bytes.
    offsets: Vec<u64>,
}

impl TableMap {
    pub(super) fn new(index: &TableIndex) -> TableMap {
        let mut map = TableMap {
            first_rows: vec![0],
            offsets: vec![0],
        };
        let (mut n_rows, mut n_bytes) = (0, 0);
        for (rows, bytes) in index.n_rows.iter().zip(&index.n_bytes) {
            n_rows += *rows as usize;
            n_bytes += u64::from(*bytes);
            map.first_rows.push(n_rows);
            map.offsets.push(n_bytes);
        }
        map
    }

    pub(super) fn n_rows(&self) -> usize {
        self.first_rows.last().copied().unwrap_or_default()
    }

    /// Returns the block of a row; `None` if there is no such row.
    pub(super) fn block_of(&self, row: usize) -> Option<usize> {
        let block = self.first_rows.partition_point(|&first| first <= row) - 1;
        (row < self.n_rows()).then_some(block)
    }

    pub(super) fn bytes_of_block(&self, block: usize) -> Range<u64> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// Adds the rows of a block, given its bytes.
    pub(super) fn parse_block<T: DeserializeOwned>(
        &self,
        file: &str,
        block: usize,
        bytes: &[u8],
        rows: &mut BTreeMap<usize, T>,
    ) -> Result<(), Error> {
        let lines = bytes.split(|&it| it == b'\n').filter(|it| !it.is_empty());
        let range = self.first_rows[block]..self.first_rows[block + 1];
        let mut n_lines = 0;
        for (row, line) in range.clone().zip(lines) {
            rows.insert(
                row,
                serde_json::from_slice(line).map_err(|it| damaged(file, it))?,
            );
            n_lines += 1;
        }
        match n_lines == range.len() {
            true => Ok(()),
            false => Err(damaged(file, "rows are missing")),
        }
    }
}
