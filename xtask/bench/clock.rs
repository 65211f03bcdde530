//! The clock of the benchmark of lexical stages, the same for us and for the peer tantivy.

use std::time::Instant;

/// Time that this thread has worked; what else runs on the machine does not count. Where the
/// system does not tell, time that has passed.
pub(crate) struct ThreadClock {
    began: Instant,
    worked: Option<u64>,
}

impl ThreadClock {
    /// Starts a clock at zero that measures the work of the current thread.
    pub(crate) fn start() -> ThreadClock {
        ThreadClock {
            began: Instant::now(),
            worked: ThreadClock::worked(),
        }
    }

    /// Returns the CPU time of the thread since the start, in seconds; elapsed time if the system
    /// does not report CPU time.
    pub(crate) fn seconds(&self) -> f64 {
        match (self.worked, ThreadClock::worked()) {
            (Some(from), Some(to)) => (to - from) as f64 * 1e-9,
            _ => self.began.elapsed().as_secs_f64(),
        }
    }

    fn worked() -> Option<u64> {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        stat.split_whitespace().next()?.parse().ok()
    }
}
