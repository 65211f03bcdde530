//! What was computed, kept while it is asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use crate::error::Error;

/// The values that were used last. Whoever asks for one that is being made waits for it.
pub(crate) struct LruCache<K, V> {
    most: usize,
    most_weight: usize,
    weigh: fn(&V) -> usize,
    values: Mutex<Values<K, V>>,
}

struct Values<K, V> {
    n_used: u64,
    by_key: BTreeMap<K, (u64, Arc<OnceCell<V>>)>,
}

impl<K: Ord + Clone, V: Clone> LruCache<K, V> {
    /// Creates a cache that holds at most the given number of values, of any size.
    pub(crate) fn new(most: usize) -> LruCache<K, V> {
        LruCache::weighed(most, usize::MAX, |_| 0)
    }

    /// At most so many, of at most such a weight together. What was used last stays, whatever its
    /// weight.
    pub(crate) fn weighed(
        most: usize,
        most_weight: usize,
        weigh: fn(&V) -> usize,
    ) -> LruCache<K, V> {
        LruCache {
            most,
            most_weight,
            weigh,
            values: Mutex::new(Values {
                n_used: 0,
                by_key: BTreeMap::new(),
            }),
        }
    }

    /// The value of a key, made if it is not there. One that cannot be made is tried again.
    pub(crate) async fn get_or_compute(
        &self,
        key: K,
        make: impl Future<Output = Result<V, Error>>,
    ) -> Result<V, Error> {
        let value = self.cell(key).get_or_try_init(|| make).await.cloned()?;
        self.lighten();
        Ok(value)
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let mut values = self.locked();
        values.n_used += 1;
        let now = values.n_used;
        let (used, cell) = values.by_key.get_mut(key)?;
        *used = now;
        cell.get().cloned()
    }

    /// Forgets the values of some keys.
    pub(crate) fn forget(&self, is_over: impl Fn(&K) -> bool) {
        self.locked().by_key.retain(|key, _| !is_over(key));
    }

    /// Forgets what was used longest ago, until the rest is light enough.
    fn lighten(&self) {
        let mut values = self.locked();
        loop {
            let made = || {
                let cells = values.by_key.iter();
                cells.filter_map(|(key, (used, cell))| Some((*used, key, cell.get()?)))
            };
            let weight: usize = made().map(|(_, _, it)| (self.weigh)(it)).sum();
            if weight <= self.most_weight || made().count() == 1 {
                return;
            }
            let oldest = made().min_by_key(|(used, _, _)| *used);
            let Some(key) = oldest.map(|(_, key, _)| key.clone()) else {
                return;
            };
            values.by_key.remove(&key);
        }
    }

    fn locked(&self) -> MutexGuard<'_, Values<K, V>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cell(&self, key: K) -> Arc<OnceCell<V>> {
        let mut values = self.locked();
        values.n_used += 1;
        let now = values.n_used;
        let (used, cell) = values.by_key.entry(key).or_default();
        *used = now;
        let cell = cell.clone();
        if values.by_key.len() > self.most {
            let oldest = values.by_key.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                values.by_key.remove(&key);
            }
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_used_last_is_kept() {
        let kept = LruCache::new(2);
        let get = async |key: &'static str, fresh: u32| {
            kept.get_or_compute(key, async { Ok(fresh) }).await.unwrap()
        };
        assert_eq!(get("a", 1).await, 1);
        assert_eq!(get("b", 2).await, 2);
        assert_eq!(get("a", 3).await, 1);
        assert_eq!(get("c", 4).await, 4);
        assert_eq!(get("a", 5).await, 1);
        assert_eq!(get("b", 6).await, 6);
    }

    #[tokio::test]
    async fn what_is_kept_has_a_weight() {
        let kept = LruCache::weighed(9, 10, |it: &usize| *it);
        let make = async |key: &'static str, weight: usize| {
            kept.get_or_compute(key, async { Ok(weight) })
                .await
                .unwrap();
        };
        make("a", 4).await;
        make("b", 6).await;
        assert_eq!((kept.get(&"b"), kept.get(&"a")), (Some(6), Some(4)));
        make("c", 5).await;
        let now = ["a", "b", "c"].map(|it| kept.get(&it).is_some());
        assert_eq!(now, [true, false, true], "what was used longest ago went");
        make("d", 99).await;
        let now = ["a", "c", "d"].map(|it| kept.get(&it).is_some());
        assert_eq!(now, [false, false, true], "what is new stays");
        kept.forget(|it| *it == "d");
        assert_eq!(kept.get(&"d"), None);
    }

    #[tokio::test]
    async fn what_failed_is_tried_again() {
        let kept = LruCache::new(2);
        assert!(
            kept.get_or_compute("a", async { Err(Error::NeedsToken) })
                .await
                .is_err()
        );
        assert_eq!(kept.get_or_compute("a", async { Ok(1) }).await.unwrap(), 1);
    }
}
