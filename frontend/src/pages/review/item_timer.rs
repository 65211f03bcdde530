//! Measures how long an item is looked at, without pauses.

/// A pause begins after this time without user activity.
const IDLE_MS: u64 = 30_000;

/// The active time on one item. All times are in milliseconds, by a clock of the caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ItemActivityTimer {
    elapsed_ms: u64,
    /// The time of the last user activity; none while the page is hidden.
    last_activity: Option<u64>,
}

impl ItemActivityTimer {
    /// Starts the timer of an item that is displayed from `now`, in milliseconds.
    pub(crate) fn start(now: u64) -> ItemActivityTimer {
        ItemActivityTimer {
            elapsed_ms: 0,
            last_activity: Some(now),
        }
    }

    /// Records that the user did something, or that the page is visible again.
    pub(crate) fn record_activity(&mut self, now: u64) {
        self.elapsed_ms = self.elapsed_ms(now);
        self.last_activity = Some(now);
    }

    /// Pauses the timer at `now`, in milliseconds, because the page is hidden.
    pub(crate) fn pause(&mut self, now: u64) {
        self.elapsed_ms = self.elapsed_ms(now);
        self.last_activity = None;
    }

    /// Returns the active time so far. Each stretch without activity counts for at most
    /// [`IDLE_MS`].
    pub(crate) fn elapsed_ms(&self, now: u64) -> u64 {
        // If the clock was set back, the time in between counts as 0.
        let since = self.last_activity.map_or(0, |it| now.saturating_sub(it));
        self.elapsed_ms + since.min(IDLE_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_counts_and_pauses_do_not() {
        let mut clock = ItemActivityTimer::start(1_000);
        clock.record_activity(5_000);
        assert_eq!(clock.elapsed_ms(9_000), 8_000);
        // Of ten minutes without activity, thirty seconds count as reading.
        clock.record_activity(605_000);
        assert_eq!(clock.elapsed_ms(606_000), 4_000 + 30_000 + 1_000);
    }

    #[test]
    fn what_is_hidden_is_not_read() {
        let mut clock = ItemActivityTimer::start(0);
        clock.pause(2_000);
        assert_eq!(clock.elapsed_ms(20_000), 2_000);
        clock.record_activity(20_000);
        assert_eq!(clock.elapsed_ms(21_000), 3_000);
        clock.pause(22_000);
        clock.pause(30_000);
        assert_eq!(clock.elapsed_ms(40_000), 4_000);
    }

    #[test]
    fn a_clock_that_is_set_back_takes_nothing_away() {
        let mut clock = ItemActivityTimer::start(10_000);
        clock.record_activity(12_000);
        clock.record_activity(5_000);
        assert_eq!(clock.elapsed_ms(6_000), 3_000);
    }
}
