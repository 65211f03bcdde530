//! Finds a rank among several sorted sequences without merging them.

use std::ops::Range;

/// Where a rank lies in several sorted sequences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RankPosition {
    /// For each sequence the number of its elements with a smaller key than the one at the rank.
    pub(super) n_smaller: Vec<usize>,
    /// The number of elements with that same key that come before the rank.
    pub(super) n_equal_before: usize,
}

/// Finds the element at a rank, counted from 0, in the union of sequences, given a range of each
/// sequence that has the elements with its key. `key(sequence, index)` never decreases within a
/// sequence, and there is such a rank.
pub(super) fn find_rank<K: Ord>(
    ranges: &[Range<usize>],
    rank: usize,
    key: impl Fn(usize, usize) -> K,
) -> RankPosition {
    let mut low: Vec<usize> = ranges.iter().map(|it| it.start).collect();
    let mut high: Vec<usize> = ranges.iter().map(|it| it.end).collect();
    loop {
        // A median of the medians that counts each by the length of what is left of its sequence:
        // a quarter of what is left is on either side of it, so that each round drops as much.
        let left = (0..ranges.len()).filter(|&it| low[it] < high[it]);
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
        let mut smaller = vec![0; ranges.len()];
        let mut not_larger = vec![0; ranges.len()];
        for it in 0..ranges.len() {
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

/// Returns for each sequence a range that has the elements with the key at a rank, given the
/// elements that are known: for each sequence their indexes and keys, ascending.
pub(super) fn narrow_to_rank<K: Ord + Copy>(
    lengths: &[usize],
    known: &[Vec<(usize, K)>],
    rank: usize,
) -> Vec<Range<usize>> {
    let mut keys: Vec<K> = known.iter().flatten().map(|it| it.1).collect();
    keys.sort_unstable();
    // The index of the first known element whose key is not below a bound.
    let end_before = |sequence: usize, is_below: &dyn Fn(K) -> bool| {
        let of = &known[sequence];
        let at = of.partition_point(|it| is_below(it.1));
        of.get(at).map_or(lengths[sequence], |it| it.0)
    };
    // The index after the last known element whose key is below a bound.
    let start_after = |sequence: usize, is_below: &dyn Fn(K) -> bool| {
        let of = &known[sequence];
        let at = of.partition_point(|it| is_below(it.1));
        at.checked_sub(1).map_or(0, |it| of[it].0 + 1)
    };
    let all = 0..lengths.len();
    // Where at most `rank` elements can be smaller, the element at the rank is not smaller.
    let n_not_above = keys.partition_point(|&key| {
        let most = all.clone().map(|it| end_before(it, &|other| other < key));
        most.sum::<usize>() <= rank
    });
    // Where more than `rank` elements are known not to be larger, it is not larger.
    let n_below = keys.partition_point(|&key| {
        let least = all.clone().map(|it| start_after(it, &|other| other <= key));
        least.sum::<usize>() <= rank
    });
    let lowest = n_not_above.checked_sub(1).map(|it| keys[it]);
    let highest = keys.get(n_below).copied();
    let range = |it: usize| {
        let start = lowest.map_or(0, |key| start_after(it, &|other| other < key));
        let end = highest.map_or(lengths[it], |key| end_before(it, &|other| other <= key));
        start..end.max(start)
    };
    all.clone().map(range).collect()
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
        let whole = sequences.map(|it| 0..it.len());
        let mut all: Vec<u32> = sequences.concat();
        all.sort_unstable();
        for (rank, expected) in all.iter().enumerate() {
            let found = find_rank(&whole, rank, |sequence, at| sequences[sequence][at]);
            let n_smaller = all.iter().filter(|it| *it < expected).count();
            assert_eq!(found.n_smaller.iter().sum::<usize>(), n_smaller);
            assert_eq!(found.n_equal_before, rank - n_smaller);
            for (sequence, n) in sequences.iter().zip(found.n_smaller) {
                assert_eq!(sequence.iter().filter(|it| *it < expected).count(), n);
            }
        }
    }

    #[test]
    fn a_rank_is_within_the_ranges_that_known_elements_leave() {
        // Runs of equal keys, within and across sequences, from a fixed linear congruence.
        let mut state = 7_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        let mut n_narrowed = 0;
        for _ in 0..200 {
            let mut sequences = vec![Vec::new(); 1 + draw(5) as usize];
            for it in &mut sequences {
                it.extend((0..draw(60)).map(|_| draw(40)));
                it.sort_unstable();
            }
            let lengths: Vec<usize> = sequences.iter().map(Vec::len).collect();
            let step = 1 + draw(9) as usize;
            let known_of = |it: &Vec<u32>| -> Vec<(usize, u32)> {
                let all = it.iter().copied().enumerate();
                all.filter(|(at, _)| at % step == 0 || at + 1 == it.len())
                    .collect()
            };
            let known: Vec<_> = sequences.iter().map(known_of).collect();
            for rank in 0..lengths.iter().sum() {
                let ranges = narrow_to_rank(&lengths, &known, rank);
                let key = |sequence: usize, at: usize| sequences[sequence][at];
                let whole: Vec<Range<usize>> = lengths.iter().map(|&it| 0..it).collect();
                assert_eq!(find_rank(&ranges, rank, key), find_rank(&whole, rank, key));
                n_narrowed += usize::from(ranges != whole);
            }
        }
        assert!(n_narrowed > 1_000);
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
