//! Relative positions: the distance between two tokens selects a bucket, whose bias is added to
//! their attention score.
//!
//! Half of the buckets are for one distance each; the others grow with the logarithm of the
//! distance up to a maximum (Raffel et al. 2020, section 2.1). The encoder has separate buckets for
//! each direction; the decoder only attends to earlier tokens.

use super::config::RelativePositionBuckets;

/// Returns for each head the biases of the distances `1 - n ..= n - 1` (key position minus query
/// position), in this order: `[a, 2n - 1]`. `table` is `[buckets, a]`.
pub(super) fn encoder_position_biases(
    table: &[f32],
    heads: usize,
    buckets: RelativePositionBuckets,
    n: usize,
) -> Vec<f32> {
    let last = n as i64 - 1;
    of_each_head(
        table,
        heads,
        (-last..=last).map(|it| bidirectional_distance_bucket(it, buckets)),
    )
}

/// Returns for each head the bias of each distance to an earlier token: `[a, n]`.
pub(super) fn decoder_position_biases(
    table: &[f32],
    heads: usize,
    buckets: RelativePositionBuckets,
    n: usize,
) -> Vec<f32> {
    of_each_head(
        table,
        heads,
        (0..n).map(|it| causal_distance_bucket(it, buckets.n_buckets, buckets.max_distance)),
    )
}

fn of_each_head(
    table: &[f32],
    heads: usize,
    buckets: impl Iterator<Item = usize> + Clone,
) -> Vec<f32> {
    let of = |head| buckets.clone().map(move |it| table[it * heads + head]);
    (0..heads).flat_map(of).collect()
}

/// Returns the encoder's bucket of a distance, key position minus query position.
pub(super) fn bidirectional_distance_bucket(
    distance: i64,
    RelativePositionBuckets {
        n_buckets: n,
        max_distance: most,
    }: RelativePositionBuckets,
) -> usize {
    let ahead = match distance > 0 {
        true => n / 2,
        false => 0,
    };
    ahead + causal_distance_bucket(distance.unsigned_abs() as usize, n / 2, most)
}

/// Returns the bucket of a distance among `n` buckets. Computed in f32, as in training, so that
/// distances at a boundary get the same bucket.
pub(super) fn causal_distance_bucket(distance: usize, n: usize, most: usize) -> usize {
    let exact = n / 2;
    if distance < exact {
        return distance;
    }
    let grown = libm::logf(distance as f32 / exact as f32)
        / libm::log(most as f64 / exact as f64) as f32
        * (n - exact) as f32;
    (exact + grown as usize).min(n - 1)
}
