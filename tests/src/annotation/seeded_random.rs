//! Numbers from a seed, so that a failure can be seen again: splitmix64.

use shared::annotation::EventKey;

/// A reproducible stream of random numbers (splitmix64).
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    /// The stream of a seed; those of other seeds have nothing to do with it.
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

    /// From 0, below a bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Whether one of so many chances has come.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A key as a browser makes it.
    pub(super) fn key(&mut self) -> EventKey {
        let bits = (u128::from(self.next()) << 64) | u128::from(self.next());
        EventKey::from_bytes(bits.to_be_bytes())
    }
}
