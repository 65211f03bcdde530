//! Dropout whose choices are functions of the seed and the step of a training run.

use crate::random::RandomStream;

/// Whether scores are computed for training, with dropout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardMode {
    /// Without dropout and without gradients.
    Inference,
    /// With dropout and gradients. What is dropped is a function of seed, step, layer and element.
    Training {
        /// The seed of the training run.
        seed: u64,
        /// The update that the scores are for.
        step: u64,
    },
}

/// Inverted dropout (Srivastava et al., JMLR 2014): each element is 0 with probability `p`, and
/// multiplied by `1 / (1 - p)` otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropout {
    stream: RandomStream,
    /// An element is 0 if its 32 bits are below this number.
    threshold: u64,
    scale: f32,
}

impl Dropout {
    /// Returns the dropout of a layer in a step, and `None` where nothing is dropped.
    pub(crate) fn for_layer(mode: ForwardMode, layer: u64, probability: f32) -> Option<Dropout> {
        match mode {
            ForwardMode::Training { seed, step } if probability > 0.0 => Some(Dropout {
                stream: RandomStream::select(seed, &[step, layer]),
                threshold: (f64::from(probability) * 4_294_967_296.0) as u64,
                scale: 1.0 / (1.0 - probability),
            }),
            ForwardMode::Training { .. } | ForwardMode::Inference => None,
        }
    }

    /// Multiplies numbers by the factors of the elements from `first` on, which has to be even.
    pub(crate) fn multiply(self, first: usize, numbers: &mut [f32]) {
        const SIZE: usize = 256;
        let mut factors = [0.0; SIZE];
        for (chunk, numbers) in numbers.chunks_mut(SIZE).enumerate() {
            let factors = &mut factors[..numbers.len()];
            self.write_factors(first + chunk * SIZE, factors);
            numbers
                .iter_mut()
                .zip(factors)
                .for_each(|(it, factor)| *it *= *factor);
        }
    }

    /// Writes the factors of the elements from `first` on, which has to be even.
    #[inline(always)]
    pub(crate) fn write_factors(self, first: usize, factors: &mut [f32]) {
        let factor = |bits: u64| {
            if bits < self.threshold {
                0.0
            } else {
                self.scale
            }
        };
        let first = first as u64 / 2;
        for (position, pair) in (first..).zip(factors.chunks_mut(2)) {
            let bits = self.stream.bits_at(position);
            let both = [factor(bits & 0xffff_ffff), factor(bits >> 32)];
            pair.iter_mut()
                .zip(both)
                .for_each(|(place, it)| *place = it);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_is_a_function_of_seed_step_layer_and_element() {
        let mode = ForwardMode::Training { seed: 5, step: 6 };
        let dropout = Dropout::for_layer(mode, 7, 0.95).unwrap();
        let mut all = vec![f32::NAN; 100_000];
        dropout.write_factors(0, &mut all);
        let kept = all.iter().filter(|it| **it > 0.0).count();
        assert!((4_800..5_200).contains(&kept), "{kept}");
        assert!(
            all.iter()
                .all(|&it| it == 0.0 || it == 1.0 / (1.0 - 0.95_f32))
        );
        let mut part = vec![f32::NAN; 1001];
        dropout.write_factors(500, &mut part);
        assert_eq!(part, all[500..1501]);
        assert!(Dropout::for_layer(ForwardMode::Inference, 7, 0.95).is_none());
        assert!(Dropout::for_layer(mode, 7, 0.0).is_none());
    }
}
