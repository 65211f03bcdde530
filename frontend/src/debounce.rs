//! Delayed calls, which wait until the user pauses.

use std::time::Duration;

use leptos::prelude::*;

/// A timer that restarts with each call and ends with the component that created it.
#[derive(Clone, Copy)]
pub(crate) struct DebounceTimer {
    delay: Duration,
    timer: StoredValue<Option<TimeoutHandle>>,
}

impl DebounceTimer {
    /// Creates a debounce with a delay in milliseconds; a pending call is canceled when its
    /// component is removed.
    pub(crate) fn with_delay_ms(pause: u64) -> DebounceTimer {
        let timer = StoredValue::new(None::<TimeoutHandle>);
        let later = DebounceTimer {
            delay: Duration::from_millis(pause),
            timer,
        };
        on_cleanup(move || later.cancel());
        later
    }

    /// Runs `work` after the delay, unless another call is scheduled before.
    pub(crate) fn schedule(self, work: impl FnOnce() + 'static) {
        self.cancel();
        self.timer
            .set_value(set_timeout_with_handle(work, self.delay).ok());
    }

    /// Cancels the pending call, if there is one.
    pub(crate) fn cancel(self) {
        self.timer.try_update_value(|it| {
            if let Some(timer) = it.take() {
                timer.clear();
            }
        });
    }
}
