//! Progress bars on standard error, if it is a terminal.

use indicatif::{ProgressDrawTarget, ProgressStyle};

/// A progress bar. It disappears when it is dropped.
pub(crate) struct ProgressBar(indicatif::ProgressBar);

impl ProgressBar {
    /// Creates a progress bar for work that is measured in bytes.
    pub(crate) fn for_bytes(name: &str, of: u64) -> ProgressBar {
        ProgressBar::new(
            name,
            of,
            "{msg:24} {wide_bar} {bytes}/{total_bytes}, {eta} left",
        )
    }

    /// Creates a progress bar for work that is measured in the given unit.
    pub(crate) fn with_unit(name: &str, of: u64, unit: &str) -> ProgressBar {
        let template =
            format!("{{msg:24}} {{wide_bar}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left");
        ProgressBar::new(name, of, &template)
    }

    /// Sets the progress to an absolute number of units.
    pub(crate) fn set_position(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Advances the progress by one unit.
    pub(crate) fn increment(&self) {
        self.0.inc(1);
    }

    fn new(name: &str, of: u64, template: &str) -> ProgressBar {
        // Draws nothing if standard error is not a terminal.
        let bar = indicatif::ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.expect("the templates of this file are well formed"));
        bar.set_message(name.to_owned());
        ProgressBar(bar)
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
