//! The learning rate of each update: linear warm-up, then constant or linear decay.

use serde::{Deserialize, Serialize};

/// How the learning rate changes after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearningRateDecay {
    /// It stays what it is.
    Constant,
    /// It falls in equal steps and would be 0 after the last update.
    Linear,
}

/// The factors by which the learning rate is multiplied during a training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningRateSchedule {
    /// The share of all updates that belong to the warm-up, from 0 to 1.
    pub warmup_fraction: f64,
    /// The change after the warm-up.
    pub decay: LearningRateDecay,
    /// The number of updates of the training.
    pub n_updates: u64,
}

impl LearningRateSchedule {
    /// Returns the factor of the update with `step` updates before it, from 0 to 1.
    ///
    /// With T updates and a warm-up of w = `warmup_fraction` · T, it is the smallest of 1,
    /// (step + 1) / w and, if the decay is linear, (T − step) / (T − w). So the first update has a
    /// learning rate above 0, other than in `get_linear_schedule_with_warmup` of Hugging Face
    /// transformers, whose first update changes nothing.
    pub fn factor(&self, step: u64) -> f64 {
        let (step, n_updates) = (step as f64, self.n_updates as f64);
        let warmup = self.warmup_fraction * n_updates;
        let mut factor = 1.0_f64;
        if warmup > 0.0 {
            factor = factor.min((step + 1.0) / warmup);
        }
        match self.decay {
            LearningRateDecay::Linear if n_updates > warmup => factor
                .min((n_updates - step) / (n_updates - warmup))
                .max(0.0),
            LearningRateDecay::Linear | LearningRateDecay::Constant => factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(warmup_fraction: f64, decay: LearningRateDecay, expected: [f64; 5]) {
        let schedule = LearningRateSchedule {
            warmup_fraction,
            decay,
            n_updates: 5,
        };
        let factors = [0, 1, 2, 3, 4].map(|step| schedule.factor(step));
        for (found, expected) in factors.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{factors:?}");
        }
    }

    #[test]
    fn the_learning_rate_rises_and_falls_linearly() {
        let (constant, linear) = (LearningRateDecay::Constant, LearningRateDecay::Linear);
        check(0.0, constant, [1.0; 5]);
        check(0.4, constant, [0.5, 1.0, 1.0, 1.0, 1.0]);
        check(0.0, linear, [1.0, 0.8, 0.6, 0.4, 0.2]);
        check(0.4, linear, [0.5, 1.0, 1.0, 2.0 / 3.0, 1.0 / 3.0]);
        check(1.0, linear, [0.2, 0.4, 0.6, 0.8, 1.0]);
    }

    #[test]
    fn the_learning_rate_after_the_last_update_is_zero() {
        let schedule = LearningRateSchedule {
            warmup_fraction: 0.1,
            decay: LearningRateDecay::Linear,
            n_updates: 100,
        };
        assert_eq!(schedule.factor(100), 0.0);
        assert_eq!(schedule.factor(1000), 0.0);
    }
}
