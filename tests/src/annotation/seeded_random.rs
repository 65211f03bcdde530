//! Random numbers from a seed, so that a failure can be reproduced.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;
use shared::annotation::AnnotationEventKey;

/// A reproducible stream of random numbers.
pub(crate) struct SeededRandom(Pcg64);

impl SeededRandom {
    /// Creates the stream of a seed; streams of different seeds are independent.
    pub(crate) fn new(seed: u64) -> SeededRandom {
        SeededRandom(Pcg64::seed_from_u64(seed))
    }

    /// Returns a number from 0 to below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns true with a probability of one in `n`.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns a random event key, as a browser creates it.
    pub(super) fn key(&mut self) -> AnnotationEventKey {
        let bits = (u128::from(self.0.next_u64()) << 64) | u128::from(self.0.next_u64());
        AnnotationEventKey::from_bytes(bits.to_be_bytes())
    }
}
