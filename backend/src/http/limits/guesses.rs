//! Tokens and passwords that were wrong.
//!
//! Only these count, so that a room full of people who share an address joins at once. Many that
//! are tried at the same moment all count, and whoever did that waits for all of them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Allowance, REMEMBERED};
use crate::error::Error;

/// How often each has guessed wrong.
pub(in crate::http) struct Guesses<K> {
    /// So many are fine.
    burst: f64,
    /// One is forgotten after this time.
    every: Duration,
    by_whom: Mutex<HashMap<K, Wrong>>,
}

/// Guesses that are not forgotten, as it was at a moment.
#[derive(Clone, Copy)]
struct Wrong {
    n: f64,
    at: Instant,
}

impl<K: Eq + Hash> Guesses<K> {
    pub(super) fn new(Allowance { burst, every }: Allowance) -> Guesses<K> {
        Guesses {
            burst: f64::from(burst),
            every,
            by_whom: Mutex::default(),
        }
    }

    /// Whether they may guess now.
    pub(in crate::http) fn check(&self, whom: &K) -> Result<(), Error> {
        self.check_at(whom, Instant::now())
    }

    /// They guessed wrong.
    pub(in crate::http) fn count(&self, whom: K) {
        self.count_at(whom, Instant::now());
    }

    /// They guess. It counts as wrong until it is forgiven, so that of many at the same moment no
    /// more are looked at than one after the other.
    pub(in crate::http) fn take(&self, whom: K) -> Result<(), Error> {
        self.take_at(whom, Instant::now())
    }

    /// What they took was right.
    pub(in crate::http) fn forgive(&self, whom: &K) {
        if let Some(wrong) = self.locked().get_mut(whom) {
            wrong.n -= 1.0;
        }
    }

    fn take_at(&self, whom: K, now: Instant) -> Result<(), Error> {
        let mut by_whom = self.locked();
        self.check_among(&by_whom, &whom, now)?;
        self.count_among(&mut by_whom, whom, now);
        Ok(())
    }

    fn check_at(&self, whom: &K, now: Instant) -> Result<(), Error> {
        self.check_among(&self.locked(), whom, now)
    }

    fn count_at(&self, whom: K, now: Instant) {
        self.count_among(&mut self.locked(), whom, now);
    }

    fn check_among(
        &self,
        by_whom: &HashMap<K, Wrong>,
        whom: &K,
        now: Instant,
    ) -> Result<(), Error> {
        let left = by_whom.get(whom).map_or(0.0, |it| self.left(*it, now));
        if left + 1.0 <= self.burst {
            return Ok(());
        }
        let wait = self.every.mul_f64(left + 1.0 - self.burst);
        Err(Error::TooOften {
            retry_after_s: wait.as_secs() + 1,
        })
    }

    fn count_among(&self, by_whom: &mut HashMap<K, Wrong>, whom: K, now: Instant) {
        if by_whom.len() > REMEMBERED {
            by_whom.retain(|_, it| self.left(*it, now) > 0.0);
        }
        let wrong = by_whom.entry(whom).or_insert(Wrong { n: 0.0, at: now });
        *wrong = Wrong {
            n: self.left(*wrong, now) + 1.0,
            at: now,
        };
    }

    /// Those that are not forgotten yet.
    fn left(&self, wrong: Wrong, now: Instant) -> f64 {
        let forgotten = now.duration_since(wrong.at).div_duration_f64(self.every);
        (wrong.n - forgotten).max(0.0)
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<K, Wrong>> {
        self.by_whom.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_guesses_wrong_waits_and_others_do_not() {
        let guesses = Guesses::new(Allowance::new(3, Duration::from_secs(6)));
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        for _ in 0..3 {
            guesses.check_at(&"one", at(0)).unwrap();
            guesses.count_at("one", at(0));
        }
        let refused = guesses.check_at(&"one", at(0)).unwrap_err();
        assert!(
            matches!(refused, Error::TooOften { retry_after_s: 7 }),
            "{refused}"
        );
        guesses.check_at(&"other", at(0)).unwrap();
        assert!(guesses.check_at(&"one", at(5)).is_err());
        guesses.check_at(&"one", at(6)).unwrap();
    }

    #[test]
    fn one_address_alone_never_locks_a_name() {
        use crate::http::limits::{GUESSES_OF_NAME, GUESSES_OF_NAME_FROM_ADDRESS};

        let of_name = Guesses::new(GUESSES_OF_NAME);
        let from_address = Guesses::new(GUESSES_OF_NAME_FROM_ADDRESS);
        let start = Instant::now();
        for s in 0..7_200 {
            let now = start + Duration::from_secs(s);
            while from_address.take_at("here", now).is_ok() {
                of_name.count_at("ada", now);
            }
            // From elsewhere a password is still looked at.
            of_name.check_at(&"ada", now).unwrap();
        }
    }

    #[test]
    fn of_many_that_are_taken_at_the_same_moment_few_are_looked_at() {
        let guesses = Guesses::new(Allowance::new(3, Duration::from_secs(6)));
        let now = Instant::now();
        let take = || guesses.take_at("one", now).is_ok();
        assert_eq!((0..100).filter(|_| take()).count(), 3);
        guesses.forgive(&"one");
        assert_eq!((0..100).filter(|_| take()).count(), 1);
    }

    #[test]
    fn guesses_at_the_same_moment_all_count() {
        let guesses = Guesses::new(Allowance::new(3, Duration::from_secs(6)));
        let start = Instant::now();
        for _ in 0..100 {
            guesses.count_at("one", start);
        }
        let refused = guesses.check_at(&"one", start).unwrap_err();
        // 98 too many, 6 s each.
        assert!(
            matches!(refused, Error::TooOften { retry_after_s: 589 }),
            "{refused}"
        );
    }
}
