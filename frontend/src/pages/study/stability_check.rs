//! The score stability check: how neural scores were computed, and how some of them changed under
//! other conditions.

use std::sync::Arc;

use leptos::prelude::*;
use shared::report::{self, format};
use shared::study::overview::StudyOverview;
use shared::study::score_stability::ConditionScoreStability;

use crate::widgets::table::ReportTableView;

/// Renders one line with a table behind it; nothing if no ranker has been checked.
#[component]
pub(super) fn StabilityCheckSummary(
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
) -> impl IntoView {
    move || {
        let overview = overview.get();
        let table = report::score_stability_table(&overview)?;
        Some(view! {
            <details class="made">
                <summary>{summary(&overview)}</summary>
                <p class="note tells">
                    "Some pairs of each neural ranker were rescored: alone, in other batches, and \
                     with lower precision. Verdicts count instances whose documents were all \
                     rescored."
                </p>
                <ReportTableView table/>
            </details>
        })
    }
}

/// Summarizes the worst of all checks in one line.
fn summary(overview: &StudyOverview) -> String {
    let certified = overview.rows.iter().filter_map(|it| it.stability.as_ref());
    let checks: Vec<&ConditionScoreStability> = certified.flat_map(|it| &it.checks).collect();
    let n_verdicts: u64 = checks.iter().map(|it| it.n_verdicts).sum();
    let n_changed: u64 = checks.iter().map(|it| it.n_changed).sum();
    // If all scores are equal, there is no range to compare a difference with.
    let ranged = checks.iter().filter(|it| it.score_range > 0.0);
    let worst = ranged.map(|it| it.max_difference / it.score_range);
    let worst = worst.fold(0.0, f64::max);
    format!(
        "Score stability check: rescoring moved scores by at most {} of their range and changed \
         {} of {} verdicts",
        format::format_in_scientific_notation(worst),
        format::format_count(n_changed),
        format::format_count(n_verdicts)
    )
}
