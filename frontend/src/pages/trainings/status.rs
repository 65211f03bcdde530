//! The status of a training as text.

use shared::api::JobState;
use shared::api::training::TrainingJob;
use shared::report::format;

use crate::number_format::{format_count, format_duration};

/// Returns the progress of a training, from 0 to 1.
pub(super) fn progress_fraction(job: &TrainingJob) -> f64 {
    match job.state {
        JobState::Done => 1.0,
        _ => job.step as f64 / job.n_updates.max(1) as f64,
    }
}

/// Describes the progress, the speed and the remaining time of a training.
pub(super) fn describe_training_status(job: &TrainingJob) -> String {
    let updates = format!(
        "{} of {} updates",
        format_count(job.step),
        format_count(job.n_updates)
    );
    match job.state {
        JobState::Queued => "Waiting for the trainings before it".to_owned(),
        JobState::Running if job.n_updates == 0 => {
            "Loading the collection and finding instances of the axioms".to_owned()
        }
        JobState::Running if job.updates_per_s > 0.0 => {
            let n_left = job.n_updates.saturating_sub(job.step);
            let left = format_duration(n_left as f64 / job.updates_per_s);
            let rate = format_rate(job.updates_per_s);
            format!("{updates}, {rate} updates per second, about {left} left")
        }
        JobState::Running => updates,
        JobState::Done if job.step < job.n_updates => {
            format!("Stopped early after {updates}")
        }
        JobState::Done => format!("{} updates", format_count(job.step)),
        JobState::Canceled | JobState::Failed if job.step == 0 => {
            "Ended before the first update".to_owned()
        }
        JobState::Canceled => format!("Canceled after {updates}; the last checkpoint is kept"),
        JobState::Failed => format!("Failed after {updates}; the last checkpoint is kept"),
    }
}

/// Formats a rate with at least two digits.
fn format_rate(per_s: f64) -> String {
    match per_s {
        ..10.0 => format::format_score(per_s, 1),
        _ => format_count(per_s.round() as u64),
    }
}

/// Returns the name of a network as its paper writes it; an unknown one stays as it is.
pub(super) fn network_label(model: &str) -> String {
    let label = match model {
        "drmm" => "DRMM",
        "anmm" => "aNMM",
        "duet" => "Duet",
        "matchpyramid" => "MatchPyramid",
        "knrm" => "KNRM",
        "conv-knrm" => "Conv-KNRM",
        "lambdamart" => "LambdaMART",
        "cross-encoder" => "Cross-encoder",
        "colbert" => "ColBERT",
        other => other,
    };
    label.to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use shared::api::training::CreateTrainingRequest;
    use shared::training::spec::TrainingSpec;

    use super::*;

    /// Returns a training in a state after some of its 4,000 updates.
    pub(in crate::pages::trainings) fn training_job(state: JobState, step: u64) -> TrainingJob {
        let spec: TrainingSpec = serde_json::from_str(r#"{"model":"drmm"}"#).unwrap();
        TrainingJob {
            name: "my-drmm".to_owned(),
            request: CreateTrainingRequest {
                name: "my-drmm".to_owned(),
                collection: "demo".to_owned(),
                spec,
            },
            state,
            is_public: false,
            step,
            n_updates: 4000,
            updates_per_s: 0.0,
            dev_ap: None,
            error: None,
            created_at: "2026-11-25T12:00:00Z".to_owned(),
        }
    }

    #[test]
    fn the_status_has_progress_speed_and_time_left() {
        let running = TrainingJob {
            updates_per_s: 35.4,
            ..training_job(JobState::Running, 1200)
        };
        // 2,800 updates at 35.4 per second are 79.1 seconds.
        assert_eq!(
            describe_training_status(&running),
            "1,200 of 4,000 updates, 35 updates per second, about 1:19 left"
        );
        assert_eq!(progress_fraction(&running), 0.3);
        let slow = TrainingJob {
            updates_per_s: 0.75,
            ..running
        };
        assert!(
            describe_training_status(&slow).contains(", 0.8 updates per second, about 1:02:13")
        );
        let preparing = TrainingJob {
            n_updates: 0,
            ..training_job(JobState::Running, 0)
        };
        assert_eq!(progress_fraction(&preparing), 0.0);
        assert!(describe_training_status(&preparing).starts_with("Loading the collection"));
    }

    #[test]
    fn a_training_that_stops_early_is_complete() {
        let early = training_job(JobState::Done, 1200);
        assert_eq!(progress_fraction(&early), 1.0);
        assert_eq!(
            describe_training_status(&early),
            "Stopped early after 1,200 of 4,000 updates"
        );
        let whole = training_job(JobState::Done, 4000);
        assert_eq!(describe_training_status(&whole), "4,000 updates");
        let canceled = training_job(JobState::Canceled, 10);
        assert_eq!(
            describe_training_status(&canceled),
            "Canceled after 10 of 4,000 updates; the last checkpoint is kept"
        );
        let refused = training_job(JobState::Failed, 0);
        assert_eq!(
            describe_training_status(&refused),
            "Ended before the first update"
        );
    }
}
