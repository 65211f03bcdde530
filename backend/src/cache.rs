//! A cache of computed values.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashlink::LruCache;
use tokio::sync::OnceCell;

use crate::error::Error;

/// A least-recently-used cache. Callers that request a value while it is being
/// computed wait for that computation.
pub(crate) struct LruComputationCache<K, V> {
    max_weight: usize,
    weigh: fn(&V) -> usize,
    values: Mutex<LruCache<K, Arc<OnceCell<V>>>>,
}

impl<K: Eq + Hash, V: Clone> LruComputationCache<K, V> {
    /// Creates a cache that holds at most the given number of values, of any size.
    pub(crate) fn with_max_values(max_values: usize) -> LruComputationCache<K, V> {
        LruComputationCache::with_max_weight(max_values, usize::MAX, |_| 0)
    }

    /// Creates a cache that holds at most `max_values` values with a total weight of at most
    /// `max_weight`. The most recently used value stays even if it is heavier.
    pub(crate) fn with_max_weight(
        max_values: usize,
        max_weight: usize,
        weigh: fn(&V) -> usize,
    ) -> LruComputationCache<K, V> {
        LruComputationCache {
            max_weight,
            weigh,
            values: Mutex::new(LruCache::new(max_values)),
        }
    }

    /// Returns the value of a key, which is computed if it is missing. Errors are not cached.
    pub(crate) async fn get_or_compute(
        &self,
        key: K,
        make: impl Future<Output = Result<V, Error>>,
    ) -> Result<V, Error> {
        let cell = self.cell(key);
        let value = cell.get_or_try_init(|| make).await.cloned()?;
        self.remove_overweight();
        Ok(value)
    }

    /// Returns the value of a key if it is cached, and marks it as used.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.locked().get(key)?.get().cloned()
    }

    /// Removes the values of all keys for which `is_over` returns true.
    pub(crate) fn remove_where(&self, is_over: impl Fn(&K) -> bool) {
        self.locked().retain(|key, _| !is_over(key));
    }

    /// Removes the least recently used values until the total weight is within the limit.
    fn remove_overweight(&self) {
        let mut values = self.locked();
        let weights = values.iter().filter_map(|(_, it)| it.get().map(self.weigh));
        let mut weight: usize = weights.sum();
        while weight > self.max_weight && values.len() > 1 {
            let oldest = values.remove_lru();
            let removed = oldest.and_then(|(_, it)| it.get().map(self.weigh));
            weight -= removed.unwrap_or_default();
        }
    }

    /// Returns the cell of a key and marks it as used.
    fn cell(&self, key: K) -> Arc<OnceCell<V>> {
        let mut values = self.locked();
        if let Some(cell) = values.get(&key) {
            return cell.clone();
        }
        let cell = Arc::default();
        values.insert(key, Arc::clone(&cell));
        cell
    }

    fn locked(&self) -> MutexGuard<'_, LruCache<K, Arc<OnceCell<V>>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_used_last_is_kept() {
        let kept = LruComputationCache::with_max_values(2);
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
        let kept = LruComputationCache::with_max_weight(9, 10, |it: &usize| *it);
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
        kept.remove_where(|it| *it == "d");
        assert_eq!(kept.get(&"d"), None);
    }

    #[tokio::test]
    async fn what_failed_is_tried_again() {
        let kept = LruComputationCache::with_max_values(2);
        assert!(
            kept.get_or_compute("a", async { Err(Error::NeedsToken) })
                .await
                .is_err()
        );
        assert_eq!(kept.get_or_compute("a", async { Ok(1) }).await.unwrap(), 1);
    }
}
