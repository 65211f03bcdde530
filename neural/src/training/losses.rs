//! Losses over the scores of positives and their negatives.
//!
//! Shapes: `b` examples, `n` negatives of each. Scores are `[1 + n, b]`, with the positives first.
//! All losses are means, so that the learning rate does not depend on the size of the batch.

use candle_core::{Result, Tensor};
use candle_nn::ops;

/// A loss over the scores of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossFunction {
    /// See [`hinge_loss`].
    Hinge {
        /// The difference of scores above which the loss is 0.
        margin: f64,
    },
    /// See [`softmax_cross_entropy_loss`].
    SoftmaxCrossEntropy,
    /// See [`softmax_probability_loss`].
    SoftmaxProbability,
    /// See [`margin_mse_loss`].
    MarginMse,
    /// See [`binary_cross_entropy_with_logits`], with label 1 for positives and 0 for negatives.
    BinaryCrossEntropy,
}

impl LossFunction {
    /// Whether the loss compares the scores with those of a teacher.
    pub fn needs_teacher_scores(self) -> bool {
        match self {
            LossFunction::MarginMse => true,
            LossFunction::Hinge { .. }
            | LossFunction::SoftmaxCrossEntropy
            | LossFunction::SoftmaxProbability
            | LossFunction::BinaryCrossEntropy => false,
        }
    }

    /// Computes the loss of scores `[1 + n, b]`; a scalar. [`LossFunction::MarginMse`] needs
    /// `teacher_scores` of the same shape, which the others ignore.
    pub fn compute(self, scores: &Tensor, teacher_scores: Option<&Tensor>) -> Result<Tensor> {
        match self {
            LossFunction::Hinge { margin } => hinge_loss(scores, margin),
            LossFunction::SoftmaxCrossEntropy => softmax_cross_entropy_loss(scores),
            LossFunction::SoftmaxProbability => softmax_probability_loss(scores),
            LossFunction::MarginMse => match teacher_scores {
                Some(teacher) => margin_mse_loss(scores, teacher),
                None => candle_core::bail!("MarginMSE needs the scores of a teacher"),
            },
            LossFunction::BinaryCrossEntropy => {
                let (n_rows, b) = scores.dims2()?;
                let ones = Tensor::ones((1, b), scores.dtype(), scores.device())?;
                let zeros = Tensor::zeros((n_rows - 1, b), scores.dtype(), scores.device())?;
                let labels = Tensor::cat(&[ones, zeros], 0)?; // [1 + n, b]
                binary_cross_entropy_with_logits(scores, &labels)
            }
        }
    }
}

/// Returns the mean of max(0, margin − s⁺ + s⁻) over all pairs of a positive and its negative.
/// Scores are `[1 + n, b]`. At the kink the gradient is that of the side with a loss, as in every
/// rectifier of candle; PyTorch takes 0.
pub fn hinge_loss(scores: &Tensor, margin: f64) -> Result<Tensor> {
    let margins = score_margins(scores)?; // [n, b]
    margins.affine(-1.0, margin)?.relu()?.mean_all()
}

/// Returns the mean of −ln softmax(s⁺, s⁻₁ … s⁻ₙ)\[⁺\]: the cross-entropy of the positive among its
/// negatives (InfoNCE, van den Oord et al. 2018). Scores are `[1 + n, b]`.
pub fn softmax_cross_entropy_loss(scores: &Tensor) -> Result<Tensor> {
    let log_probabilities = ops::log_softmax(scores, 0)?; // [1 + n, b]
    log_probabilities.narrow(0, 0, 1)?.mean_all()?.neg()
}

/// Returns the mean of 1 − softmax(s⁺, s⁻₁ … s⁻ₙ)\[⁺\]: the loss `softmax` of OpenNIR (MacAvaney,
/// WSDM 2020). Scores are `[1 + n, b]`. Unlike the cross-entropy it is bounded by 1.
pub fn softmax_probability_loss(scores: &Tensor) -> Result<Tensor> {
    let probabilities = ops::softmax(scores, 0)?; // [1 + n, b]
    probabilities.narrow(0, 0, 1)?.mean_all()?.affine(-1.0, 1.0)
}

/// Returns the mean of ((s⁺ − s⁻) − (t⁺ − t⁻))² over all pairs of a positive and its negative,
/// with the scores t of a teacher (Hofstätter et al. 2020, arXiv:2010.02666). Both are
/// `[1 + n, b]`.
pub fn margin_mse_loss(scores: &Tensor, teacher_scores: &Tensor) -> Result<Tensor> {
    let difference = (score_margins(scores)? - score_margins(teacher_scores)?)?; // [n, b]
    difference.sqr()?.mean_all()
}

/// Returns the mean of −y ln σ(x) − (1 − y) ln(1 − σ(x)) over logits x and labels y from 0 to 1,
/// which have the same shape.
///
/// It is computed as softplus(x) − xy, where softplus(x) = m + ln(exp(x − m) + exp(−m)) and m =
/// max(x, 0) has no gradient of its own. Nothing overflows; the gradient is σ(x) − y everywhere.
pub fn binary_cross_entropy_with_logits(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    let most = logits.relu()?.detach();
    let sum = ((logits - &most)?.exp()? + most.neg()?.exp()?)?;
    let softplus = (sum.log()? + most)?;
    (softplus - (logits * labels)?)?.mean_all()
}

/// Returns s⁺ − s⁻ for scores `[1 + n, b]`, as `[n, b]`.
fn score_margins(scores: &Tensor) -> Result<Tensor> {
    let (n_rows, _) = scores.dims2()?;
    let positives = scores.narrow(0, 0, 1)?; // [1, b]
    positives.broadcast_sub(&scores.narrow(0, 1, n_rows - 1)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Var};

    const ALL: [LossFunction; 5] = [
        LossFunction::Hinge { margin: 1.0 },
        LossFunction::SoftmaxCrossEntropy,
        LossFunction::SoftmaxProbability,
        LossFunction::MarginMse,
        LossFunction::BinaryCrossEntropy,
    ];

    /// Returns the loss and its gradient, for scores of n rows.
    fn loss_and_gradient(loss: LossFunction, scores: &[f32], n_rows: usize) -> (f32, Vec<f32>) {
        let shape = (n_rows, scores.len() / n_rows);
        let scores = Var::from_slice(scores, shape, &Device::Cpu).unwrap();
        let teacher = Tensor::arange(0.0_f32, scores.elem_count() as f32, &Device::Cpu).unwrap();
        let teacher = teacher.neg().unwrap().reshape(shape).unwrap();
        let loss = loss.compute(&scores, Some(&teacher)).unwrap();
        let gradients = loss.backward().unwrap();
        let gradient = gradients.get(&scores).unwrap().flatten_all().unwrap();
        (loss.to_scalar().unwrap(), gradient.to_vec1().unwrap())
    }

    #[track_caller]
    fn check(loss: LossFunction, scores: &[f32], expected: f32) {
        let (found, _) = loss_and_gradient(loss, scores, 3);
        assert!((found - expected).abs() < 1e-6, "{loss:?}: {found}");
    }

    // Two examples with two negatives: positives 2 and 0, negatives 1, .5 and −3, 1.
    const SCORES: [f32; 6] = [2.0, 0.0, 1.0, -3.0, 0.5, 1.0];

    #[test]
    fn losses_have_the_values_computed_by_hand() {
        // max(0, 1 − 1), max(0, 1 − 3), max(0, 1 − 1.5), max(0, 1 + 1): 2 of 4 pairs.
        check(LossFunction::Hinge { margin: 1.0 }, &SCORES, 0.5);
        // As above with 2 − margin: 1, 0, .5, 3.
        check(LossFunction::Hinge { margin: 2.0 }, &SCORES, 4.5 / 4.0);
        // ln(1 + e^−1 + e^−1.5) = .464369, ln(1 + e^−3 + e) = 1.326563.
        check(LossFunction::SoftmaxCrossEntropy, &SCORES, 0.895_465_7);
        // 1 − e^−.464369 = .371468, 1 − e^−1.326563 = .734612.
        check(LossFunction::SoftmaxProbability, &SCORES, 0.553_040_2);
        // The teacher's scores are 0, −1, −2, −3, −4, −5, its margins 2, 2, 4, 4; ours 1, 3, 1.5,
        // −1: squares 1, 1, 6.25, 25.
        check(LossFunction::MarginMse, &SCORES, 33.25 / 4.0);
        // softplus(−2) + softplus(0) = .126928 + .693147; softplus of 1, −3, .5, 1 = 1.313262 +
        // .048587 + .974077 + 1.313262.
        check(LossFunction::BinaryCrossEntropy, &SCORES, 0.744_877_2);
    }

    #[test]
    fn gradients_are_central_differences() {
        for loss in ALL {
            // The kink of the hinge is at a margin of 1, which SCORES has.
            let scores = SCORES.map(|it| it * 1.3);
            let (_, gradient) = loss_and_gradient(loss, &scores, 3);
            for at in 0..scores.len() {
                let moved = |by: f32| {
                    let mut scores = scores;
                    scores[at] += by;
                    loss_and_gradient(loss, &scores, 3).0
                };
                let slope = (moved(0.01) - moved(-0.01)) / 0.02;
                let error = (slope - gradient[at]).abs();
                assert!(error < 2e-4, "{loss:?} {at}: {slope} {gradient:?}");
            }
        }
    }

    #[test]
    fn large_scores_give_finite_losses_and_gradients() {
        for loss in ALL {
            for scores in [[1e4, -1e4, -1e4, 1e4], [-1e4, 1e4, -1e4, 1e4]] {
                let (value, gradient) = loss_and_gradient(loss, &scores, 2);
                assert!(value.is_finite() && value >= 0.0, "{loss:?}: {value}");
                assert!(gradient.iter().all(|it| it.is_finite()), "{loss:?}");
            }
        }
        // A positive at −1e4 and a negative at 1e4 cost 1e4 each; the other two nothing.
        let (value, gradient) =
            loss_and_gradient(LossFunction::BinaryCrossEntropy, &[-1e4, 1e4, 1e4, -1e4], 2);
        assert_eq!(value, 5e3);
        assert_eq!(gradient, [-0.25, 0.0, 0.25, 0.0]);
    }

    #[test]
    fn the_gradient_of_a_logit_of_zero_is_half() {
        let loss = LossFunction::BinaryCrossEntropy;
        let (value, gradient) = loss_and_gradient(loss, &[0.0, 0.0], 2);
        assert!((value - std::f32::consts::LN_2).abs() < 1e-6);
        assert_eq!(gradient, [-0.25, 0.25]);
    }

    #[test]
    fn equal_scores_give_equal_and_opposite_gradients() {
        let (_, gradient) = loss_and_gradient(LossFunction::SoftmaxCrossEntropy, &[3.0; 4], 4);
        let expected = [-0.75, 0.25, 0.25, 0.25];
        let errors = gradient
            .iter()
            .zip(expected)
            .map(|(it, other)| (it - other).abs());
        assert!(errors.fold(0.0, f32::max) < 1e-6, "{gradient:?}");
    }

    #[test]
    fn margin_mse_without_a_teacher_is_an_error() {
        let scores = Tensor::zeros((2, 2), candle_core::DType::F32, &Device::Cpu).unwrap();
        assert!(LossFunction::MarginMse.compute(&scores, None).is_err());
        assert!(LossFunction::MarginMse.needs_teacher_scores());
    }
}
