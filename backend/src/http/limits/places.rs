//! Places that are taken for a while: so many in all, and so many by one asker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Asker;

/// A number of places.
pub(in crate::http) struct Places {
    most: usize,
    most_of_one: usize,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    n: usize,
    by_asker: HashMap<Asker, usize>,
}

/// A place that somebody has; it is free again when this is dropped.
pub(in crate::http) struct Place {
    places: Arc<Places>,
    asker: Option<Asker>,
}

impl Places {
    /// Returns `most` free places, of which one asker may have `most_of_one`.
    pub(in crate::http) fn new(most: usize, most_of_one: usize) -> Arc<Places> {
        Arc::new(Places {
            most,
            most_of_one,
            taken: Mutex::default(),
        })
    }

    /// Takes a place if there is one. No asker is somebody who is not counted as one.
    pub(in crate::http) fn take(self: &Arc<Places>, asker: Option<Asker>) -> Option<Place> {
        let asker = asker.map(Asker::key);
        let mut taken = self.taken();
        if taken.n >= self.most {
            return None;
        }
        if let Some(asker) = asker {
            let n_of_one = taken.by_asker.entry(asker).or_default();
            if *n_of_one >= self.most_of_one {
                return None;
            }
            *n_of_one += 1;
        }
        taken.n += 1;
        Some(Place {
            places: self.clone(),
            asker,
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.n -= 1;
        if let Some(asker) = self.asker
            && let Some(n_of_one) = taken.by_asker.get_mut(&asker)
        {
            *n_of_one -= 1;
            if *n_of_one == 0 {
                taken.by_asker.remove(&asker);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(ip: &str) -> Option<Asker> {
        Some(Asker::Address(ip.parse().unwrap()))
    }

    #[test]
    fn one_asker_leaves_places_to_others() {
        let places = Places::new(3, 2);
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
    fn a_network_of_ipv6_is_one_asker() {
        let places = Places::new(9, 1);
        let _held = places.take(asker("2001:db8::1")).unwrap();
        assert!(places.take(asker("2001:db8::2")).is_none());
        assert!(places.take(asker("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn whoever_is_not_counted_as_one_is_counted_in_all() {
        let places = Places::new(2, 1);
        let held = [places.take(None).unwrap(), places.take(None).unwrap()];
        assert!(places.take(None).is_none());
        drop(held);
        assert!(places.take(None).is_some());
    }
}
