//! Reproducible random numbers, from a seed and a purpose.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};

/// Returns PCG64 seeded with the SHA-256 of the seed, a line feed and `what`, the purpose.
pub(super) fn seeded_generator(seed: u64, what: &str) -> Pcg64 {
    Pcg64::from_seed(Sha256::digest(format!("{seed}\n{what}")).into())
}

/// Returns a random number below `n`, whose probabilities differ by less than `n / 2^64`; 0 if `n`
/// is 0.
pub(super) fn random_number_below(random: &mut Pcg64, n: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Shuffles a slice so that every order is equally likely (Fisher and Yates).
pub(super) fn shuffle<T>(random: &mut Pcg64, things: &mut [T]) {
    for at in (1..things.len()).rev() {
        let other = random_number_below(random, at as u64 + 1) as usize;
        things.swap(at, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut things = [0, 1, 2];
            shuffle(&mut seeded_generator(seed, "order"), &mut things);
            *counts.entry(things).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // The expected count is 1,000 each, ± 29 (√(6,000 · 1/6 · 5/6)).
        assert!(
            counts.values().all(|it| (900..1_100).contains(it)),
            "{counts:?}"
        );
    }

    #[test]
    fn what_is_drawn_for_decides_and_nothing_else() {
        let draw = |seed, what| random_number_below(&mut seeded_generator(seed, what), 1 << 40);
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }
}
