//! Counts forward passes, and splits them when a device runs out of memory.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time for which a lack of device memory is reported.
const RECOVERY: Duration = Duration::from_secs(60);

/// Counts what a model has read since it was loaded, for all callers.
#[derive(Debug, Default)]
pub(super) struct CountedForwardPassRunner {
    sequences: AtomicU64,
    tokens: AtomicU64,
    /// Time and message of the last out-of-memory error; `None` after a successful pass.
    exhausted: Mutex<Option<(Instant, String)>>,
}

/// The number of sequences and tokens that a model has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SequenceAndTokenCounts {
    /// Number of inputs: queries, passages, or pairs of both.
    pub sequences: u64,
    /// Number of tokens of all inputs.
    pub tokens: u64,
}

impl SequenceAndTokenCounts {
    /// Returns the difference to earlier counts.
    pub(crate) fn minus_earlier(self, then: SequenceAndTokenCounts) -> SequenceAndTokenCounts {
        SequenceAndTokenCounts {
            sequences: self.sequences - then.sequences,
            tokens: self.tokens - then.tokens,
        }
    }
}

/// Runs one forward pass over some items.
type Work<'a, T, R> = dyn Fn(&[T]) -> Result<Vec<R>, neural::Error> + 'a;

impl CountedForwardPassRunner {
    pub(super) fn sequence_and_token_counts(&self) -> SequenceAndTokenCounts {
        SequenceAndTokenCounts {
            sequences: self.sequences.load(Ordering::Relaxed),
            tokens: self.tokens.load(Ordering::Relaxed),
        }
    }

    /// Returns the out-of-memory error of the last pass if it was less than a minute ago. After
    /// that time the device may have memory again.
    pub(super) fn recent_out_of_memory_reason(&self) -> Option<String> {
        let last = self
            .exhausted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (when, reason) = last.as_ref()?;
        (when.elapsed() < RECOVERY).then(|| reason.clone())
    }

    /// Runs a pass over all items and returns one result per item. If the device runs out of
    /// memory, the items are halved repeatedly, down to one.
    pub(super) fn run_forward_passes<T, R>(
        &self,
        items: &[T],
        n_tokens: &dyn Fn(&T) -> usize,
        work: &Work<'_, T, R>,
    ) -> Result<Vec<R>, neural::Error> {
        match work(items) {
            Ok(results) => {
                let tokens: usize = items.iter().map(n_tokens).sum();
                self.sequences
                    .fetch_add(items.len() as u64, Ordering::Relaxed);
                self.tokens.fetch_add(tokens as u64, Ordering::Relaxed);
                self.note(None);
                Ok(results)
            }
            Err(error) if error.is_out_of_memory() && items.len() > 1 => {
                tracing::warn!("{error}; again with half of {} texts", items.len());
                let (some, others) = items.split_at(items.len() / 2);
                let mut results = self.run_forward_passes(some, n_tokens, work)?;
                results.extend(self.run_forward_passes(others, n_tokens, work)?);
                Ok(results)
            }
            Err(error) => {
                if error.is_out_of_memory() {
                    self.note(Some((Instant::now(), error.to_string())));
                }
                Err(error)
            }
        }
    }

    fn note(&self, failed: Option<(Instant, String)>) {
        *self
            .exhausted
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = failed;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Simulates a device with memory for `room` tokens, and records its inputs in `seen`.
    fn device(
        room: usize,
        seen: &RefCell<Vec<Vec<usize>>>,
    ) -> impl Fn(&[usize]) -> Result<Vec<usize>, neural::Error> {
        move |items: &[usize]| {
            seen.borrow_mut().push(items.to_vec());
            match items.iter().sum::<usize>() <= room {
                true => Ok(items.iter().map(|it| it * 10).collect()),
                false => Err(neural::Error::out_of_memory_for_tests()),
            }
        }
    }

    #[test]
    fn a_batch_is_halved_until_it_fits_and_keeps_its_order() {
        let (passes, seen) = (CountedForwardPassRunner::default(), RefCell::default());
        let items = [4, 3, 2, 1, 1];
        let found = passes
            .run_forward_passes(&items, &|it| *it, &device(5, &seen))
            .unwrap();
        assert_eq!(found, [40, 30, 20, 10, 10]);
        let expected: [&[usize]; 5] = [&[4, 3, 2, 1, 1], &[4, 3], &[4], &[3], &[2, 1, 1]];
        assert_eq!(*seen.borrow(), expected);
        let reads = SequenceAndTokenCounts {
            sequences: 5,
            tokens: 11,
        };
        assert_eq!(
            (
                passes.sequence_and_token_counts(),
                passes.recent_out_of_memory_reason()
            ),
            (reads, None)
        );
    }

    #[test]
    fn one_text_that_does_not_fit_is_an_error_until_a_pass_succeeds() {
        let (passes, seen) = (CountedForwardPassRunner::default(), RefCell::default());
        let work = device(5, &seen);
        let error = passes
            .run_forward_passes(&[2, 9], &|it| *it, &work)
            .unwrap_err();
        assert!(error.is_out_of_memory());
        assert!(
            passes
                .recent_out_of_memory_reason()
                .unwrap()
                .contains("out of memory")
        );
        passes.run_forward_passes(&[2], &|it| *it, &work).unwrap();
        assert_eq!(passes.recent_out_of_memory_reason(), None);
    }

    #[test]
    fn another_error_is_not_tried_again() {
        let (passes, n) = (CountedForwardPassRunner::default(), RefCell::new(0));
        let work = |_: &[usize]| -> Result<Vec<usize>, neural::Error> {
            *n.borrow_mut() += 1;
            Err(neural::Error::NotFinite)
        };
        assert!(
            passes
                .run_forward_passes(&[1, 2, 3], &|it| *it, &work)
                .is_err()
        );
        assert_eq!(
            (*n.borrow(), passes.sequence_and_token_counts()),
            (1, SequenceAndTokenCounts::default())
        );
    }
}
