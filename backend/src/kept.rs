//! What was computed, kept while it is asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use crate::error::Error;

/// The values that were used last. Whoever asks for one that is being made waits for it.
pub(crate) struct Kept<K, V> {
    most: usize,
    values: Mutex<Values<K, V>>,
}

struct Values<K, V> {
    n_used: u64,
    by_key: BTreeMap<K, (u64, Arc<OnceCell<V>>)>,
}

impl<K: Ord + Clone, V: Clone> Kept<K, V> {
    /// At most so many.
    pub(crate) fn new(most: usize) -> Kept<K, V> {
        Kept {
            most,
            values: Mutex::new(Values {
                n_used: 0,
                by_key: BTreeMap::new(),
            }),
        }
    }

    /// The value of a key, made if it is not there. One that cannot be made is tried again.
    pub(crate) async fn get_or_make(
        &self,
        key: K,
        make: impl Future<Output = Result<V, Error>>,
    ) -> Result<V, Error> {
        self.cell(key).get_or_try_init(|| make).await.cloned()
    }

    fn cell(&self, key: K) -> Arc<OnceCell<V>> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
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
        let kept = Kept::new(2);
        let get = async |key: &'static str, fresh: u32| {
            kept.get_or_make(key, async { Ok(fresh) }).await.unwrap()
        };
        assert_eq!(get("a", 1).await, 1);
        assert_eq!(get("b", 2).await, 2);
        assert_eq!(get("a", 3).await, 1);
        assert_eq!(get("c", 4).await, 4);
        assert_eq!(get("a", 5).await, 1);
        assert_eq!(get("b", 6).await, 6);
    }

    #[tokio::test]
    async fn what_failed_is_tried_again() {
        let kept = Kept::new(2);
        assert!(
            kept.get_or_make("a", async { Err(Error::NeedsToken) })
                .await
                .is_err()
        );
        assert_eq!(kept.get_or_make("a", async { Ok(1) }).await.unwrap(), 1);
    }
}
