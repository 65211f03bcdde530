//! The clock of this machine. Code that depends on the time takes it as a number, so that tests can
//! set it.

/// Returns the time in milliseconds since 1970, or 0 if the clock is set to an earlier time.
pub(crate) fn unix_time_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond().max(0)
}
