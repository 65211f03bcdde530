//! A progress bar.

use leptos::prelude::*;

/// Renders a bar that fills from the left.
#[component]
pub(crate) fn ProgressBarView(
    /// The label of the task.
    #[prop(into)]
    label: String,
    /// The progress, from 0 to 1.
    #[prop(into)]
    done: Signal<f64>,
) -> impl IntoView {
    let percent = move || (done.get().clamp(0.0, 1.0) * 100.0).floor();
    // Screen readers announce every change of the value, so it changes in steps of 10 %.
    let spoken = Memo::new(move |_| (percent() / 10.0).floor() as u32 * 10);
    view! {
        <span
            class="progress"
            class:done=move || done.get() == 1.0
            role="progressbar"
            aria-label=label
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=move || spoken.get()
            style=("--done", move || format!("{:.4}", done.get().clamp(0.0, 1.0)))
        >
            <i></i>
        </span>
    }
}
