//! Random numbers as pure functions of a seed and a position, with the same bits on every machine
//! and for any number of threads.
//!
//! The function is `SplitMix64` with a counter in the place of its state (Steele, Lea and Flood,
//! "Fast splittable pseudorandom number generators", OOPSLA 2014).

/// The fractional part of the golden ratio times 2⁶⁴, the increment of `SplitMix64`.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers that can be read at any position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomStream {
    key: u64,
}

impl RandomStream {
    /// Selects the stream of a seed and, for example, a step and a layer.
    pub(crate) fn select(seed: u64, path: &[u64]) -> RandomStream {
        let mix_in = |key: u64, part: &u64| mix_bits(key.wrapping_add(INCREMENT) ^ mix_bits(*part));
        RandomStream {
            key: path.iter().fold(mix_bits(seed), mix_in),
        }
    }

    /// Returns the 64 random bits of a position.
    #[inline(always)]
    pub(crate) fn bits_at(self, position: u64) -> u64 {
        let counter = position.wrapping_add(1).wrapping_mul(INCREMENT);
        mix_bits(self.key.wrapping_add(counter))
    }

    /// Returns a number from 0 to `n` − 1, each with probability 1/n up to 2⁻⁶⁴ (Lemire 2019,
    /// without the rejection); `n` must not be 0.
    pub(crate) fn index_below(self, position: u64, n: usize) -> usize {
        let product = u128::from(self.bits_at(position)) * n as u128;
        (product >> 64) as usize
    }

    /// Returns the first `n` numbers, uniform in `[-bound, bound)`.
    pub(crate) fn uniform_numbers(self, n: usize, bound: f32) -> Vec<f32> {
        const STEPS: f32 = 8_388_608.0; // 2²³: 24 random bits give a number from -1 to 1
        let number = |position| {
            let bits = (self.bits_at(position) >> 40) as f32;
            (bits / STEPS - 1.0) * bound
        };
        (0..n as u64).map(number).collect()
    }
}

/// The finalizer of `SplitMix64`.
#[inline(always)]
fn mix_bits(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_answers_of_split_mix_64_are_returned() {
        // The first numbers of Vigna's `splitmix64.c` for the state 1234567.
        let stream = RandomStream { key: 1_234_567 };
        let bits: Vec<u64> = (0..3).map(|it| stream.bits_at(it)).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(bits, expected);
    }

    #[test]
    fn each_index_is_equally_likely() {
        let stream = RandomStream::select(7, &[3]);
        let mut counts = [0_u32; 10];
        for position in 0..100_000 {
            counts[stream.index_below(position, 10)] += 1;
        }
        // Chi-squared with 9 degrees of freedom; 27.9 is exceeded with probability .001.
        let squares = counts.iter().map(|it| (f64::from(*it) - 1e4).powi(2) / 1e4);
        assert!(squares.sum::<f64>() < 27.9, "{counts:?}");
    }

    #[test]
    fn numbers_are_uniform_and_differ_between_streams() {
        let numbers = RandomStream::select(1, &[2]).uniform_numbers(100_000, 2.0);
        let mean = numbers.iter().sum::<f32>() / 1e5;
        let square = numbers.iter().map(|it| it * it).sum::<f32>() / 1e5;
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((square - 4.0 / 3.0).abs() < 0.02, "{square}");
        assert!(numbers.iter().all(|it| (-2.0..2.0).contains(it)));
        for (seed, path) in [(1, &[3][..]), (2, &[2]), (1 << 32 | 1, &[2]), (1, &[2, 0])] {
            let other = RandomStream::select(seed, path);
            assert_ne!(other.uniform_numbers(4, 2.0), numbers[..4]);
        }
    }
}
