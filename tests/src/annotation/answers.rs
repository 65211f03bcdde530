//! What two people answer in tests, and the numbers that follow from it by hand.
//!
//! Forty items, Ann's answers down, Ben's across, as first, equal, second:
//!
//! ```text
//!          first  equal  second
//! first       14      2       2    18
//! equal        1      8       1    10
//! second       1      1      10    12
//!             16     11      13    40
//! ```
//!
//! They agree on 14 + 8 + 10 = 32 of 40.
//!
//! - Raw: 32 / 40 = 0.8.
//! - Cohen's κ: by chance (18·16 + 10·11 + 12·13) / 40² = 554 / 1600, so
//!   κ = (1280 − 554) / (1600 − 554) = 726 / 1046 = 0.69407.
//! - Of the 80 answers 34 are first, 21 equal, 25 second. Fleiss' κ: by chance
//!   (34² + 21² + 25²) / 80² = 2222 / 6400, so κ = (5120 − 2222) / (6400 − 2222) = 2898 / 4178
//!   = 0.69363.
//! - Krippendorff's α: coincidences of first and equal 2 + 1 = 3, of first and second 2 + 1 = 3,
//!   of equal and second 1 + 1 = 2, together 8. Nominal:
//!   α = 1 − 79 · 8 / (34·21 + 34·25 + 21·25) = 1 − 632 / 2089 = 0.69746.
//! - Ordinal: δ² of first and equal (34 + 21)² / 4 = 756.25, of equal and second
//!   (21 + 25)² / 4 = 529, of first and second (34/2 + 21 + 25/2)² = 50.5² = 2550.25, so
//!   α = 1 − 79 · (3 · 756.25 + 3 · 2550.25 + 2 · 529)
//!   / (714 · 756.25 + 850 · 2550.25 + 525 · 529) = 1 − 867,222.5 / 2,985,400 = 0.70951.

use AnnotatorAnswer::{Equal, First, Second};
use shared::annotation::AnnotatorAnswer;
use shared::stats::agreement::AgreementCoefficient;

/// The number of items that both annotators answer.
pub(crate) const N: usize = 40;

/// The number of items on which they disagree.
pub(crate) const N_SPLIT: usize = 8;

pub(crate) const RAW: f64 = 32.0 / 40.0;
pub(crate) const COHEN: f64 = 726.0 / 1046.0;
pub(crate) const FLEISS: f64 = 2898.0 / 4178.0;
pub(crate) const ALPHA: f64 = 1.0 - 632.0 / 2089.0;
pub(crate) const ALPHA_ORDINAL: f64 = 1.0 - 867_222.5 / 2_985_400.0;

/// The table above: Ann's answer, Ben's answer, and the number of items.
const TABLE: [(AnnotatorAnswer, AnnotatorAnswer, usize); 9] = [
    (First, First, 14),
    (First, Equal, 2),
    (First, Second, 2),
    (Equal, First, 1),
    (Equal, Equal, 8),
    (Equal, Second, 1),
    (Second, First, 1),
    (Second, Equal, 1),
    (Second, Second, 10),
];

/// Returns the answers of Ann and Ben to each item.
pub(crate) fn both() -> Vec<[AnnotatorAnswer; 2]> {
    let each = TABLE
        .iter()
        .flat_map(|&(ann, ben, n)| std::iter::repeat_n([ann, ben], n));
    let both: Vec<[AnnotatorAnswer; 2]> = each.collect();
    assert_eq!(both.len(), N);
    both
}

/// Compares a coefficient with a value to four digits.
#[track_caller]
pub(crate) fn expect(agreement: Option<AgreementCoefficient>, by_hand: f64) {
    let agreement = agreement.expect("two people answered differently");
    assert_eq!(agreement.n_items, N as u64);
    let value = agreement.estimate.value;
    assert!((value - by_hand).abs() < 5e-5, "{value} is not {by_hand}");
}
