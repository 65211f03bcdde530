//! Sequences of 32-bit integers in little memory.
//!
//! An integer below 65,535 takes one unit of 16 bits. A larger one takes three: 65,535, its lower
//! and its upper half. With variable-length integers (LEB128) an index of a million passages was
//! 15 % smaller, but took 1.6 times as long to invert, since a processor cannot predict how many
//! bytes the next integer has.

use super::column_storage::{ColumnStorage, UnitColumn};
use crate::error::Error;

/// Sequences of integers, by number.
#[derive(Default)]
pub(super) struct IntegerSequences {
    /// The integers of all sequences.
    units: UnitColumn,
    /// The end of each sequence in `units`.
    ends: Vec<usize>,
}

/// The unit before the two halves of an integer.
const LARGE: u16 = u16::MAX;

impl IntegerSequences {
    /// Creates the sequences from their units and the end of each sequence among them.
    pub(super) fn from_units_and_ends(units: UnitColumn, ends: Vec<usize>) -> IntegerSequences {
        IntegerSequences { units, ends }
    }

    /// Appends an integer to the sequence that [`IntegerSequences::end_sequence`] ends.
    pub(super) fn push_integer(&mut self, integer: u32) {
        for_each_unit(integer, |unit| self.units.push_unit(unit));
    }

    /// Ends a sequence, which has the integers since the end of the one before it.
    pub(super) fn end_sequence(&mut self) {
        self.ends.push(self.units.len());
    }

    /// Returns the number of sequences.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the integers of a sequence, in order.
    pub(super) fn sequence(&self, number: u32) -> IntegerSequence<'_> {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |it| self.ends[it]);
        IntegerSequence(self.units.units(start, self.ends[number]).iter())
    }

    /// Moves the sequences to storage, where they cannot be read before
    /// [`IntegerSequences::finish_in_storage`].
    pub(super) fn move_to_storage(&mut self, storage: &dyn ColumnStorage) -> Result<(), Error> {
        self.units.move_to_storage(storage)
    }

    /// Makes the sequences in storage readable. Sequences that are added later stay in memory.
    pub(super) fn finish_in_storage(&mut self) -> Result<(), Error> {
        self.units.finish_in_storage()
    }

    /// Returns unused memory to the system.
    pub(super) fn shrink_to_fit(&mut self) {
        self.units.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Returns the memory use in bytes, without what is in storage.
    pub(super) fn memory_bytes(&self) -> usize {
        self.units.memory_bytes() + size_of_val(&*self.ends)
    }
}

/// The integers of one sequence, in order.
#[derive(Debug, Clone)]
pub(super) struct IntegerSequence<'a>(std::slice::Iter<'a, u16>);

impl Iterator for IntegerSequence<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match *self.0.next()? {
            LARGE => {
                let (lower, upper) = (*self.0.next()?, *self.0.next()?);
                Some(u32::from(upper) << 16 | u32::from(lower))
            }
            unit => Some(unit.into()),
        }
    }
}

/// Calls `take` with each unit of an integer, in order.
#[inline]
pub(super) fn for_each_unit(integer: u32, mut take: impl FnMut(u16)) {
    match u16::try_from(integer) {
        Ok(unit) if unit != LARGE => take(unit),
        _ => [LARGE, integer as u16, (integer >> 16) as u16]
            .into_iter()
            .for_each(take),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_takes_one_unit_or_three() {
        let units = |integer| {
            let mut units = Vec::new();
            for_each_unit(integer, |unit| units.push(unit));
            units
        };
        assert_eq!(units(0), [0]);
        assert_eq!(units(65_534), [65_534]);
        assert_eq!(units(65_535), [65_535, 65_535, 0]);
        assert_eq!(units(65_536), [65_535, 0, 1]);
        assert_eq!(units(u32::MAX), [65_535; 3]);
    }

    #[test]
    fn sequences_come_back() {
        let around_powers = (1..32).flat_map(|it| [(1_u32 << it) - 1, 1 << it, (1 << it) + 1]);
        let all: Vec<u32> = [0, u32::MAX].into_iter().chain(around_powers).collect();
        let expected: Vec<&[u32]> = vec![&[], &all, &all[5..6], &[], &all[40..], &[]];
        let mut sequences = IntegerSequences::default();
        for sequence in &expected {
            sequence.iter().for_each(|&it| sequences.push_integer(it));
            sequences.end_sequence();
        }
        assert_eq!(sequences.len(), expected.len());
        for (number, sequence) in (0..).zip(expected) {
            assert_eq!(sequences.sequence(number).collect::<Vec<u32>>(), sequence);
        }
    }
}
