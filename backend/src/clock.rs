//! The clock of this machine. What depends on the time takes it as a number, so that tests can too.

/// Milliseconds since 1970, before which a clock is wrong.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond().max(0)
}
