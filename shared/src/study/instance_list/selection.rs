//! Finds a rank among several sorted sequences without merging them.

/// Where a rank lies in several sorted sequences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RankPosition {
    /// For each sequence the number of its elements with a smaller key than the one at the rank.
    pub(super) n_smaller: Vec<usize>,
    /// The number of elements with that same key that come before the rank.
    pub(super) n_equal_before: usize,
}

/// Finds the element at a rank, counted from 0, in the union of sequences of the given lengths.
/// `key(sequence, index)` never decreases within a sequence, and there is such a rank.
pub(super) fn find_rank<K: Ord>(
    lengths: &[usize],
    rank: usize,
    key: impl Fn(usize, usize) -> K,
) -> RankPosition {
    let mut low = vec![0; lengths.len()];
    let mut high = lengths.to_vec();
    loop {
        // A median of the medians that counts each by the length of what is left of its sequence:
        // a quarter of what is left is on either side of it, so that each round drops as much.
        let left = (0..lengths.len()).filter(|&it| low[it] < high[it]);
        let mut medians: Vec<(K, usize)> = left
            .map(|it| (key(it, low[it].midpoint(high[it])), high[it] - low[it]))
            .collect();
        medians.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let half = medians.iter().map(|it| it.1).sum::<usize>() / 2;
        let mut passed = 0;
        let pivot = medians.into_iter().find(|it| {
            passed += it.1;
            passed > half
        });
        let Some((pivot, _)) = pivot else {
            return RankPosition {
                n_smaller: low,
                n_equal_before: 0,
            };
        };
        let mut smaller = vec![0; lengths.len()];
        let mut not_larger = vec![0; lengths.len()];
        for it in 0..lengths.len() {
            smaller[it] = first_index(low[it], high[it], |at| key(it, at) >= pivot);
            not_larger[it] = gallop(smaller[it], high[it], |at| key(it, at) > pivot);
        }
        let n_smaller: usize = smaller.iter().sum();
        if rank < n_smaller {
            high = smaller;
        } else if rank < not_larger.iter().sum() {
            return RankPosition {
                n_equal_before: rank - n_smaller,
                n_smaller: smaller,
            };
        } else {
            low = not_larger;
        }
    }
}

/// Returns the first index of a range for which a predicate holds, which then holds for all later
/// ones, or the end of the range.
pub(super) fn first_index(low: usize, high: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low.midpoint(high);
        match holds(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Returns the same as [`first_index`], with fewer calls if it is near the start of the range.
pub(super) fn gallop(low: usize, high: usize, holds: impl Fn(usize) -> bool) -> usize {
    let mut step = 1;
    let mut from = low;
    while from < high {
        let probe = low.saturating_add(step).min(high) - 1;
        if holds(probe) {
            return first_index(from, probe, holds);
        }
        from = probe + 1;
        step *= 2;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_of_sequences_with_repetitions_is_found() {
        let sequences: [&[u32]; 5] = [&[1, 1, 1, 4], &[], &[0, 1, 2, 3, 9, 9], &[1], &[9, 9, 9]];
        let lengths = sequences.map(<[u32]>::len);
        let mut all: Vec<u32> = sequences.concat();
        all.sort_unstable();
        for (rank, expected) in all.iter().enumerate() {
            let found = find_rank(&lengths, rank, |sequence, at| sequences[sequence][at]);
            let n_smaller = all.iter().filter(|it| *it < expected).count();
            assert_eq!(found.n_smaller.iter().sum::<usize>(), n_smaller);
            assert_eq!(found.n_equal_before, rank - n_smaller);
            for (sequence, n) in sequences.iter().zip(found.n_smaller) {
                assert_eq!(sequence.iter().filter(|it| *it < expected).count(), n);
            }
        }
    }

    #[test]
    fn galloping_finds_the_first_index_of_every_range() {
        for high in 0..40 {
            for low in 0..=high {
                for first in low..=high {
                    assert_eq!(gallop(low, high, |it| it >= first), first, "{low} {high}");
                    assert_eq!(first_index(low, high, |it| it >= first), first);
                }
            }
        }
    }
}
