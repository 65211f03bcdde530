//! Places for the large columns of an index other than memory, and columns that can be there.

use std::sync::Arc;

use crate::error::Error;
use crate::integer_column::SharedIntegerColumn;

/// A place for columns that may not fit into memory.
pub trait ColumnStorage: Send + Sync {
    /// Creates an empty column.
    fn create_column(&self) -> Result<Box<dyn ColumnWriter>, Error>;
}

/// A column in storage that is being written.
pub trait ColumnWriter: Send + Sync {
    /// Appends units to the column.
    fn append_units(&mut self, units: &[u16]) -> Result<(), Error>;

    /// Returns the complete column.
    fn finish(self: Box<Self>) -> Result<Arc<dyn SharedIntegerColumn<u16>>, Error>;
}

/// A column of 16-bit units, of which the first can be in storage and the others are in memory. A
/// range that is read must not contain both.
#[derive(Default)]
pub(super) struct UnitColumn {
    stored: StoredUnits,
    n_stored: usize,
    /// The units in memory, which follow those in storage.
    units: Vec<u16>,
}

/// The units of a column that are in storage.
#[derive(Default)]
enum StoredUnits {
    #[default]
    None,
    /// Units that cannot be read yet.
    Unfinished(Box<dyn ColumnWriter>),
    Finished(Arc<dyn SharedIntegerColumn<u16>>),
}

impl UnitColumn {
    /// Returns the number of units.
    pub(super) fn len(&self) -> usize {
        self.n_stored + self.units.len()
    }

    /// Appends a unit, in memory.
    #[inline]
    pub(super) fn push_unit(&mut self, unit: u16) {
        self.units.push(unit);
    }

    /// Appends units of a vector, in memory.
    pub(super) fn append_vec(&mut self, mut units: Vec<u16>) {
        match self.units.is_empty() {
            true => self.units = units,
            false => self.units.append(&mut units),
        }
    }

    /// Moves the units in memory to storage. They cannot be read before
    /// [`UnitColumn::finish_in_storage`].
    pub(super) fn move_to_storage(&mut self, storage: &dyn ColumnStorage) -> Result<(), Error> {
        if let StoredUnits::None = self.stored {
            self.stored = StoredUnits::Unfinished(storage.create_column()?);
        }
        if let StoredUnits::Unfinished(writer) = &mut self.stored {
            writer.append_units(&self.units)?;
            self.n_stored += self.units.len();
            // This returns the memory as well, before the next range of postings needs as much.
            self.units = Vec::new();
        }
        Ok(())
    }

    /// Makes the units in storage readable. Units that are appended later stay in memory.
    pub(super) fn finish_in_storage(&mut self) -> Result<(), Error> {
        self.stored = match std::mem::take(&mut self.stored) {
            StoredUnits::Unfinished(writer) => StoredUnits::Finished(writer.finish()?),
            it => it,
        };
        Ok(())
    }

    /// Returns the units from `start` to `end`, which are all in storage or all in memory.
    #[inline]
    pub(super) fn units(&self, start: usize, end: usize) -> &[u16] {
        match &self.stored {
            StoredUnits::Finished(column) if start < self.n_stored => {
                &column.integers()[start..end]
            }
            _ => &self.units[start - self.n_stored..end - self.n_stored],
        }
    }

    /// Returns unused memory to the system.
    pub(super) fn shrink_to_fit(&mut self) {
        self.units.shrink_to_fit();
    }

    /// Returns the memory use in bytes, without what is in storage.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.units)
    }
}
