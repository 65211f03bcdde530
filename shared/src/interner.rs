//! String interning: numbers for distinct strings.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Distinct strings by number, in one block of memory.
#[derive(Default, Clone)]
pub(crate) struct StringInterner {
    letters: String,
    /// The end of each string in `letters`.
    ends: Vec<usize>,
    /// Used for lookups only and never iterated, so its order does not matter.
    table: HashTable<u32>,
}

impl StringInterner {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn string_at(&self, number: u32) -> &str {
        name(&self.letters, &self.ends, number)
    }

    pub(crate) fn find_number_of_string(&self, wanted: &str) -> Option<u32> {
        let same = |&it: &u32| self.string_at(it) == wanted;
        self.table.find(hash(wanted), same).copied()
    }

    pub(crate) fn insert(&mut self, wanted: &str) -> u32 {
        let StringInterner {
            letters,
            ends,
            table,
        } = self;
        let hashed = hash(wanted);
        if let Some(&found) = table.find(hashed, |&it| name(letters, ends, it) == wanted) {
            return found;
        }
        let number = ends.len() as u32;
        letters.push_str(wanted);
        ends.push(letters.len());
        table.insert_unique(hashed, number, |&it| hash(name(letters, ends, it)));
        number
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.letters.len() + self.ends.len() * size_of::<usize>() + self.table.allocation_size()
    }
}

fn name<'a>(letters: &'a str, ends: &[usize], number: u32) -> &'a str {
    let start = if number == 0 {
        0
    } else {
        ends[number as usize - 1]
    };
    &letters[start..ends[number as usize]]
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}
