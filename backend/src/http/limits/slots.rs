//! Slots that are held for a while, with a maximum in total and per client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ClientKey;

/// A pool of slots with a maximum in total and per client.
pub(in crate::http) struct SlotPool {
    max: usize,
    most_of_one: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    n: usize,
    by_asker: HashMap<ClientKey, usize>,
}

/// Slots held by a client, usually one. Dropping this frees them.
pub(in crate::http) struct Slot {
    places: Arc<SlotPool>,
    asker: Option<ClientKey>,
    n: usize,
}

impl SlotPool {
    /// Creates a pool of `most` slots, of which one client may hold `most_of_one`.
    pub(in crate::http) fn new(most: usize, most_of_one: usize) -> Arc<SlotPool> {
        Arc::new(SlotPool {
            max: most,
            most_of_one,
            taken: Mutex::default(),
        })
    }

    /// Takes a slot if one is free. Without a client only the total is limited.
    pub(in crate::http) fn take(self: &Arc<SlotPool>, asker: Option<ClientKey>) -> Option<Slot> {
        let mut place = self.take_none(asker);
        place.take_more(1).then_some(place)
    }

    /// Returns a holder of no slots, which can take some later.
    pub(in crate::http) fn take_none(self: &Arc<SlotPool>, asker: Option<ClientKey>) -> Slot {
        Slot {
            places: self.clone(),
            asker: asker.map(ClientKey::rate_limit_key),
            n: 0,
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Takes `n` more slots, all or none, and returns whether they were free.
    pub(in crate::http) fn take_more(&mut self, n: usize) -> bool {
        let mut taken = self.places.taken();
        let of_one = self.asker.and_then(|it| taken.by_asker.get(&it));
        let n_of_one = of_one.copied().unwrap_or(0) + n;
        let n_of_all = taken.n + n;
        let is_too_many_of_one = self.asker.is_some() && n_of_one > self.places.most_of_one;
        if n_of_all > self.places.max || is_too_many_of_one {
            return false;
        }
        taken.n = n_of_all;
        if let Some(asker) = self.asker {
            taken.by_asker.insert(asker, n_of_one);
        }
        self.n += n;
        true
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.n -= self.n;
        if let Some(asker) = self.asker
            && let Some(n_of_one) = taken.by_asker.get_mut(&asker)
        {
            *n_of_one -= self.n;
            if *n_of_one == 0 {
                taken.by_asker.remove(&asker);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(ip: &str) -> Option<ClientKey> {
        Some(ClientKey::Address(ip.parse().unwrap()))
    }

    #[test]
    fn one_asker_leaves_places_to_others() {
        let places = SlotPool::new(3, 2);
        let one = asker("192.0.2.1");
        let first = places.take(one).unwrap();
        let second = places.take(one).unwrap();
        assert!(places.take(one).is_none());
        let other = places.take(asker("192.0.2.2")).unwrap();
        assert!(places.take(asker("192.0.2.3")).is_none(), "all are taken");
        drop(first);
        let third = places.take(one).unwrap();
        assert!(places.take(one).is_none());
        drop((second, third, other));
        let taken = places.taken();
        assert_eq!((taken.n, taken.by_asker.len()), (0, 0));
    }

    #[test]
    fn more_places_are_taken_together_or_not_at_all() {
        let places = SlotPool::new(10, 6);
        let one = asker("192.0.2.1");
        let mut held = places.take_none(one);
        assert!(held.take_more(4));
        assert!(!held.take_more(3), "7 of one");
        assert!(held.take_more(2));
        let mut other = places.take_none(asker("192.0.2.2"));
        assert!(!other.take_more(5), "11 of all");
        assert!(other.take_more(4));
        drop(held);
        assert!(places.take_none(one).take_more(6));
        drop(other);
        let taken = places.taken();
        assert_eq!((taken.n, taken.by_asker.len()), (0, 0));
    }

    #[test]
    fn a_network_of_ipv6_is_one_asker() {
        let places = SlotPool::new(9, 1);
        let _held = places.take(asker("2001:db8::1")).unwrap();
        assert!(places.take(asker("2001:db8::2")).is_none());
        assert!(places.take(asker("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn whoever_is_not_counted_as_one_is_counted_in_all() {
        let places = SlotPool::new(2, 1);
        let held = [places.take(None).unwrap(), places.take(None).unwrap()];
        assert!(places.take(None).is_none());
        drop(held);
        assert!(places.take(None).is_some());
    }
}
