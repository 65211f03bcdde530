//! Random numbers from a seed, so that a failure can be reproduced: splitmix64.

use shared::annotation::AnnotationEventKey;

/// A reproducible stream of random numbers (splitmix64).
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    /// Creates the stream of a seed; streams of different seeds are independent.
    pub(crate) fn new(seed: u64) -> SeededRandom {
        SeededRandom(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// Returns a number from 0 to below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns true with a probability of one in `n`.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns a random event key, as a browser creates it.
    pub(super) fn key(&mut self) -> AnnotationEventKey {
        let bits = (u128::from(self.next()) << 64) | u128::from(self.next());
        AnnotationEventKey::from_bytes(bits.to_be_bytes())
    }
}
