//! Rate limits for requests and for guesses of tokens and passwords.
//!
//! Only wrong guesses count, so that a room full of people who share an address can join at once.
//! Guesses in progress count as wrong until they turn out to be right, so that simultaneous guesses
//! are limited too.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hashlink::LruCache;

use super::{Allowance, MAX_TRACKED_CLIENTS};
use crate::error::Error;

/// A rate limit with a leaky bucket for each key. The least recently active keys are forgotten.
pub(in crate::http) struct RateLimit<K> {
    /// Maximum number of events in immediate succession.
    burst: f64,
    /// Time after which one event no longer counts.
    every: Duration,
    by_whom: Mutex<LruCache<K, Bucket>>,
}

/// The level of a bucket at a point in time.
#[derive(Clone, Copy)]
struct Bucket {
    n: f64,
    at: Instant,
}

impl<K: Eq + Hash> RateLimit<K> {
    pub(super) fn new(Allowance { burst, every }: Allowance) -> RateLimit<K> {
        RateLimit {
            burst: f64::from(burst),
            every,
            by_whom: Mutex::new(LruCache::new(MAX_TRACKED_CLIENTS)),
        }
    }

    /// Returns an error if another event would exceed the limit. Does not count it.
    pub(in crate::http) fn check(&self, whom: &K) -> Result<(), Error> {
        self.check_at(whom, Instant::now())
    }

    /// Counts an event, even beyond the limit.
    pub(in crate::http) fn count(&self, whom: K) {
        self.count_at(whom, Instant::now());
    }

    /// Counts an event if the limit allows it, otherwise returns an error. A guess counts as wrong
    /// until it is forgiven, so that simultaneous guesses cannot exceed the limit.
    pub(in crate::http) fn take(&self, whom: K) -> Result<(), Error> {
        self.take_at(whom, Instant::now())
    }

    /// Takes back an event that was counted by `take`, since the guess was right.
    pub(in crate::http) fn forgive(&self, whom: &K) {
        if let Some(bucket) = self.locked().get_mut(whom) {
            bucket.n -= 1.0;
        }
    }

    fn take_at(&self, whom: K, now: Instant) -> Result<(), Error> {
        let mut by_whom = self.locked();
        self.check_among(&mut by_whom, &whom, now)?;
        self.count_among(&mut by_whom, whom, now);
        Ok(())
    }

    fn check_at(&self, whom: &K, now: Instant) -> Result<(), Error> {
        self.check_among(&mut self.locked(), whom, now)
    }

    fn count_at(&self, whom: K, now: Instant) {
        self.count_among(&mut self.locked(), whom, now);
    }

    fn check_among(
        &self,
        by_whom: &mut LruCache<K, Bucket>,
        whom: &K,
        now: Instant,
    ) -> Result<(), Error> {
        let left = by_whom.get_mut(whom).map_or(0.0, |it| self.left(*it, now));
        if left + 1.0 <= self.burst {
            return Ok(());
        }
        let wait = self.every.mul_f64(left + 1.0 - self.burst);
        Err(Error::RateLimited {
            retry_after_s: wait.as_secs() + 1,
        })
    }

    fn count_among(&self, by_whom: &mut LruCache<K, Bucket>, whom: K, now: Instant) {
        match by_whom.get_mut(&whom) {
            Some(bucket) => {
                bucket.n = self.left(*bucket, now) + 1.0;
                bucket.at = now;
            }
            None => {
                by_whom.insert(whom, Bucket { n: 1.0, at: now });
            }
        }
    }

    /// Returns the level of a bucket now.
    fn left(&self, bucket: Bucket, now: Instant) -> f64 {
        let forgotten = now.duration_since(bucket.at).div_duration_f64(self.every);
        (bucket.n - forgotten).max(0.0)
    }

    fn locked(&self) -> MutexGuard<'_, LruCache<K, Bucket>> {
        self.by_whom.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use shared::annotation::PersonId;

    use super::*;
    use crate::http::limits::ClientKey;

    #[test]
    fn wrong_guesses_delay_their_sender_alone() {
        let guesses = RateLimit::new(Allowance::new(3, Duration::from_secs(6)));
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        for _ in 0..3 {
            guesses.check_at(&"one", at(0)).unwrap();
            guesses.count_at("one", at(0));
        }
        let refused = guesses.check_at(&"one", at(0)).unwrap_err();
        assert!(
            matches!(refused, Error::RateLimited { retry_after_s: 7 }),
            "{refused}"
        );
        guesses.check_at(&"other", at(0)).unwrap();
        assert!(guesses.check_at(&"one", at(5)).is_err());
        guesses.check_at(&"one", at(6)).unwrap();
    }

    #[test]
    fn a_burst_is_fine_and_then_one_address_waits_alone() {
        let limit = RateLimit::new(Allowance::new(2, Duration::from_secs(60)));
        let [one, other] = [1, 2].map(|it| ClientKey::Address([192, 0, 2, it].into()));
        let person = ClientKey::Person(PersonId(1));
        assert!(limit.take(one).is_ok());
        assert!(limit.take(one).is_ok());
        let refused = limit.take(one).unwrap_err();
        assert!(
            matches!(
                refused,
                Error::RateLimited {
                    retry_after_s: 1..=61
                }
            ),
            "{refused}"
        );
        assert!(limit.take(other).is_ok());
        assert!(limit.take(person).is_ok());
    }

    #[test]
    fn neighbours_in_ipv6_are_one() {
        let limit = RateLimit::new(Allowance::new(1, Duration::from_secs(60)));
        let take = |ip: &str| limit.take(ClientKey::Address(ip.parse().unwrap()).rate_limit_key());
        assert!(take("2001:db8::1").is_ok());
        assert!(take("2001:db8::2").is_err());
        assert!(take("2001:db8:0:1::1").is_ok());
    }

    #[test]
    fn however_many_ask_few_are_remembered_and_those_who_go_on_asking_wait() {
        let limit = RateLimit::new(Allowance::new(1, Duration::from_secs(3_600)));
        let now = Instant::now();
        let one = || limit.take_at(0, now);
        one().unwrap();
        for other in 1..=5 * MAX_TRACKED_CLIENTS {
            limit.take_at(other, now).unwrap();
            if other % (MAX_TRACKED_CLIENTS / 2) == 0 {
                assert!(one().is_err());
            }
        }
        assert!(limit.locked().len() <= MAX_TRACKED_CLIENTS);
        let recent = 5 * MAX_TRACKED_CLIENTS - 40;
        assert!(limit.take_at(recent, now).is_err(), "one of the last");
        let early = MAX_TRACKED_CLIENTS;
        limit.take_at(early, now).expect("it was forgotten");
    }

    #[test]
    fn one_address_alone_never_locks_a_name() {
        use crate::http::limits::{GUESSES_OF_NAME, GUESSES_OF_NAME_FROM_ADDRESS};

        let of_name = RateLimit::new(GUESSES_OF_NAME);
        let from_address = RateLimit::new(GUESSES_OF_NAME_FROM_ADDRESS);
        let start = Instant::now();
        for s in 0..7_200 {
            let now = start + Duration::from_secs(s);
            while from_address.take_at("here", now).is_ok() {
                of_name.count_at("ada", now);
            }
            // The password is still checked for guesses from elsewhere.
            of_name.check_at(&"ada", now).unwrap();
        }
    }

    #[test]
    fn of_many_that_are_taken_at_the_same_moment_few_are_looked_at() {
        let guesses = RateLimit::new(Allowance::new(3, Duration::from_secs(6)));
        let now = Instant::now();
        let take = || guesses.take_at("one", now).is_ok();
        assert_eq!((0..100).filter(|_| take()).count(), 3);
        guesses.forgive(&"one");
        assert_eq!((0..100).filter(|_| take()).count(), 1);
    }

    #[test]
    fn guesses_at_the_same_moment_all_count() {
        let guesses = RateLimit::new(Allowance::new(3, Duration::from_secs(6)));
        let start = Instant::now();
        for _ in 0..100 {
            guesses.count_at("one", start);
        }
        let refused = guesses.check_at(&"one", start).unwrap_err();
        // 98 events over the limit, 6 s each.
        assert!(
            matches!(refused, Error::RateLimited { retry_after_s: 589 }),
            "{refused}"
        );
    }
}
