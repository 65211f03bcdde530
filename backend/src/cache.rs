//! Computations that requests share: a cache of their values, and slots that limit how many run at
//! once.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hashlink::LruCache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{Error, run_blocking, run_to_completion};

/// Maximum number of computations on studies and annotations at once; more wait. A computation
/// that holds a slot never waits for a model.
pub(crate) const MAX_COMPUTATIONS: usize = 4;

/// The slots for computations on studies and annotations. Clones share them.
#[derive(Clone)]
pub(crate) struct ComputationSlots(Arc<Semaphore>);

impl Default for ComputationSlots {
    fn default() -> ComputationSlots {
        ComputationSlots(Arc::new(Semaphore::new(MAX_COMPUTATIONS)))
    }
}

impl ComputationSlots {
    /// Waits for a slot. Whoever holds one waits for no other slot and for no cached value.
    pub(crate) async fn acquire(&self) -> ComputationSlot {
        let permit = self.0.clone().acquire_owned().await;
        ComputationSlot(permit.expect("the semaphore is never closed"))
    }
}

/// A slot for one computation.
pub(crate) struct ComputationSlot(OwnedSemaphorePermit);

impl ComputationSlot {
    /// Runs `work` as [`run_blocking`] does. The slot is held until the work ends, whether or not
    /// the caller is dropped meanwhile.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        what: &'static str,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        run_blocking(what, move || {
            let _permit = self.0;
            work()
        })
        .await
    }
}

/// A least-recently-used cache. Callers that request a value while it is being computed wait for
/// that computation, which goes on if all of them are dropped.
pub(crate) struct LruComputationCache<K, V>(Arc<Mutex<CachedValues<K, V>>>);

struct CachedValues<K, V> {
    max_values: usize,
    max_weight: usize,
    weigh: fn(&V) -> usize,
    cells: LruCache<K, Arc<ValueCell<V>>>,
}

/// A value that is cached, being computed or missing.
struct ValueCell<V> {
    value: OnceLock<V>,
    /// Held while the value is computed.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl<K, V> LruComputationCache<K, V>
where
    K: Clone + Eq + Hash + Send + 'static,
    V: Clone + Send + Sync + 'static,
{
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
        LruComputationCache(Arc::new(Mutex::new(CachedValues {
            max_values,
            max_weight,
            weigh,
            cells: LruCache::new_unbounded(),
        })))
    }

    /// Returns the value of a key. If it is missing, `prepare` waits for what its computation needs
    /// and returns the computation. A caller that is dropped while it prepares computes nothing; a
    /// computation that has started goes on to its end. Errors are not cached.
    pub(crate) async fn get_or_compute<C>(
        &self,
        key: K,
        prepare: impl Future<Output = Result<C, Error>>,
    ) -> Result<V, Error>
    where
        C: Future<Output = Result<V, Error>> + Send + 'static,
    {
        let cell = self.cell(key);
        if let Some(value) = cell.value.get() {
            return Ok(value.clone());
        }
        let turn = cell.turn.clone().lock_owned().await;
        if let Some(value) = cell.value.get() {
            return Ok(value.clone());
        }
        let computation = prepare.await?;
        let values = self.0.clone();
        run_to_completion("computing a value", async move {
            let _turn = turn;
            let value = computation.await?;
            let value = cell.value.get_or_init(|| value).clone();
            locked(&values).remove_excess();
            Ok(value)
        })
        .await
    }

    /// Returns the value of a key if it is cached, and marks it as used.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let mut values = locked(&self.0);
        values.cells.get(key)?.value.get().cloned()
    }

    /// Removes the values of all keys for which `is_over` returns true.
    pub(crate) fn remove_where(&self, is_over: impl Fn(&K) -> bool) {
        locked(&self.0).cells.retain(|key, _| !is_over(key));
    }

    /// Returns the cell of a key and marks it as used.
    fn cell(&self, key: K) -> Arc<ValueCell<V>> {
        let mut values = locked(&self.0);
        if let Some(cell) = values.cells.get(&key) {
            return cell.clone();
        }
        let cell = Arc::new(ValueCell {
            value: OnceLock::new(),
            turn: Arc::default(),
        });
        values.cells.insert(key, cell.clone());
        values.remove_excess();
        cell
    }
}

impl<K: Clone + Eq + Hash, V> CachedValues<K, V> {
    /// Removes the least recently used values until number and weight are within the limits. Those
    /// that are being computed, waited for or returned stay.
    fn remove_excess(&mut self) {
        let weight_of = |cell: &ValueCell<V>| cell.value.get().map_or(0, self.weigh);
        let mut weight: usize = self.cells.iter().map(|it| weight_of(it.1)).sum();
        while self.cells.len() > self.max_values || weight > self.max_weight {
            let mut unused = self.cells.iter().filter(|it| Arc::strong_count(it.1) == 1);
            let Some(oldest) = unused.next().map(|it| it.0.clone()) else {
                return;
            };
            weight -= self.cells.remove(&oldest).map_or(0, |it| weight_of(&it));
        }
    }
}

fn locked<K, V>(values: &Mutex<CachedValues<K, V>>) -> MutexGuard<'_, CachedValues<K, V>> {
    values.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::task::JoinSet;
    use tokio::time::{sleep, timeout};

    use super::*;

    /// How long a caller waits that leaves.
    const MOMENT: Duration = Duration::from_millis(100);

    /// The time for what waits for nothing.
    const IN_TIME: Duration = Duration::from_secs(10);

    /// Returns what prepares a computation that needs nothing.
    async fn prepared<C>(computation: C) -> Result<C, Error> {
        Ok(computation)
    }

    #[tokio::test]
    async fn what_was_used_last_is_kept() {
        let kept = LruComputationCache::with_max_values(2);
        let get = async |key: &'static str, fresh: u32| {
            let make = prepared(async move { Ok(fresh) });
            kept.get_or_compute(key, make).await.unwrap()
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
            let make = prepared(async move { Ok(weight) });
            kept.get_or_compute(key, make).await.unwrap();
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
        let fails = prepared(async { Err(Error::NeedsToken) });
        assert!(kept.get_or_compute("a", fails).await.is_err());
        let works = prepared(async { Ok(1) });
        assert_eq!(kept.get_or_compute("a", works).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_computation_goes_on_without_its_callers_and_is_shared() {
        let cache = LruComputationCache::with_max_values(1);
        let (finish, finished) = oneshot::channel::<()>();
        let first = prepared(async {
            finished.await.unwrap();
            Ok(1)
        });
        let first = timeout(MOMENT, cache.get_or_compute("a", first));
        assert!(first.await.is_err(), "the first caller left");
        // Other values do not displace one that is being computed.
        for key in ["b", "c"] {
            let other = prepared(async { Ok(2) });
            assert_eq!(cache.get_or_compute(key, other).await.unwrap(), 2);
        }
        let second = cache.get_or_compute("a", prepared(async { Ok(3) }));
        let (second, ()) = tokio::join!(second, async {
            sleep(MOMENT).await;
            finish.send(()).unwrap();
        });
        assert_eq!(second.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_caller_that_leaves_before_its_computation_starts_makes_nobody_wait() {
        let cache = LruComputationCache::with_max_values(1);
        let never = std::future::pending::<Result<std::future::Ready<_>, Error>>();
        let first = timeout(MOMENT, cache.get_or_compute("a", never));
        assert!(first.await.is_err());
        let second = cache.get_or_compute("a", prepared(async { Ok(2) }));
        assert_eq!(timeout(IN_TIME, second).await.unwrap().unwrap(), 2);
    }

    #[tokio::test]
    async fn computations_whose_callers_left_hold_their_slots() {
        let slots = ComputationSlots::default();
        let n_started = Arc::new(AtomicUsize::new(0));
        let mut callers = JoinSet::new();
        let mut ends = Vec::new();
        for _ in 0..3 * MAX_COMPUTATIONS {
            let (end, ended) = mpsc::channel::<()>();
            ends.push(end);
            let (slots, n_started) = (slots.clone(), n_started.clone());
            callers.spawn(async move {
                let work = move || {
                    n_started.fetch_add(1, Ordering::SeqCst);
                    let _ = ended.recv();
                    Ok(())
                };
                slots.acquire().await.run("waiting", work).await
            });
        }
        while n_started.load(Ordering::SeqCst) < MAX_COMPUTATIONS {
            sleep(Duration::from_millis(1)).await;
        }
        callers.shutdown().await;
        assert!(timeout(MOMENT, slots.acquire()).await.is_err());
        drop(ends);
        let mut held = Vec::new();
        for _ in 0..MAX_COMPUTATIONS {
            let slot = timeout(IN_TIME, slots.acquire()).await;
            held.push(slot.expect("a computation has ended"));
        }
        let n_started = n_started.load(Ordering::SeqCst);
        assert_eq!(n_started, MAX_COMPUTATIONS, "those that waited left");
    }
}
