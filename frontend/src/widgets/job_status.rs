//! The status of a job as text.

use leptos::prelude::*;
use shared::api::{JobState, ScoringJob};

use crate::number_format;

/// Returns the progress of a job, from 0 to 1.
pub(crate) fn job_progress_fraction(job: &ScoringJob) -> f64 {
    job.n_scored as f64 / job.n_pairs.max(1) as f64
}

/// Describes the model, progress, speed and remaining time of a job.
pub(crate) fn describe_job_status(job: &ScoringJob) -> String {
    let pairs = format!(
        "{} of {} pairs",
        number_format::format_count(job.n_scored),
        number_format::format_count(job.n_pairs)
    );
    let who = &job.ranker.label;
    match job.state {
        JobState::Queued => format!("{who}: waiting"),
        JobState::Running if job.pairs_per_s > 0.0 => {
            let left = job.n_pairs.saturating_sub(job.n_scored) as f64 / job.pairs_per_s;
            let rate = number_format::format_count(job.pairs_per_s.round() as u64);
            let pieces = number_format::format_count(job.tokens_per_s.round() as u64);
            let left = number_format::format_duration(left);
            format!(
                "{who}: {pairs}, {rate} pairs and {pieces} tokens per second, about {left} \
                 left"
            )
        }
        JobState::Running => format!("{who}: {pairs}"),
        JobState::Done => format!(
            "{who}: all {} pairs scored",
            number_format::format_count(job.n_pairs)
        ),
        JobState::Canceled => format!("{who}: canceled after {pairs}; their scores are kept"),
        JobState::Failed => format!("{who}: failed after {pairs}; their scores are kept"),
    }
}

/// Returns CSS class and label of a state, and the label of the button for a job in this state.
pub(crate) fn state_chip(state: JobState) -> (&'static str, &'static str, Option<&'static str>) {
    match state {
        JobState::Queued => ("wait", "waiting", Some("Cancel")),
        JobState::Running => ("wait", "running", Some("Cancel")),
        JobState::Done => ("ok quiet", "done", None),
        JobState::Canceled => ("out quiet", "canceled", Some("Resume")),
        JobState::Failed => ("bad", "failed", Some("Resume")),
    }
}

/// Renders the state of a job, once it is known.
pub(crate) fn job_state_view(state: Memo<Option<JobState>>) -> impl IntoView {
    move || {
        let (class, word, _) = state_chip(state.get()?);
        Some(view! { <span class=format!("verdict {class}")>{word}</span> })
    }
}
