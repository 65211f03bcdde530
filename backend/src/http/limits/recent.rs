//! A table that forgets what was used least recently.

use std::collections::HashMap;
use std::hash::Hash;

/// The entries that were used last: `most` of them, and at times up to twice as many.
///
/// They are of two generations. When the young one is full it becomes the old one, and what nobody
/// used since the time before is forgotten. Each use takes constant time, amortized.
pub(super) struct RecentEntries<K, V> {
    most: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Eq + Hash, V> RecentEntries<K, V> {
    pub(super) fn new(most: usize) -> RecentEntries<K, V> {
        RecentEntries {
            most,
            young: HashMap::new(),
            old: HashMap::new(),
        }
    }

    /// Returns the value of a key, which is thereby used.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.insert(key, value);
        }
        self.young.get_mut(key)
    }

    /// Adds the value of a key that [`RecentEntries::get_mut`] does not find.
    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.most {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_there_and_the_rest_is_forgotten() {
        let mut entries = RecentEntries::new(100);
        for key in 0..10_000_u32 {
            entries.insert(key, key);
            assert!(entries.len() <= 200);
            assert_eq!(entries.get_mut(&0), Some(&mut 0), "it is used each time");
            // Since its last use some 80 others were used.
            let recent = key.saturating_sub(40);
            assert_eq!(entries.get_mut(&recent).copied(), Some(recent));
        }
        assert_eq!(entries.get_mut(&5_000), None);
        *entries.get_mut(&0).unwrap() = 1;
        assert_eq!(entries.get_mut(&0), Some(&mut 1));
    }
}
