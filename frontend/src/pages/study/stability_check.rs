//! How neural scores were computed, and what became of some of them under other conditions.

use std::sync::Arc;

use leptos::prelude::*;
use shared::report::{self, format};
use shared::study::overview::StudyOverview;
use shared::study::score_stability::ConditionStability;

use crate::widgets::table::DataTable;

/// One line, and the table behind it; nothing where no ranker has a certificate.
#[component]
pub(super) fn StabilityCheck(
    /// For the dials as they stand.
    overview: Memo<Arc<StudyOverview>>,
) -> impl IntoView {
    move || {
        let overview = overview.get();
        let table = report::stability_table(&overview)?;
        Some(view! {
            <details class="made certificates">
                <summary>{summary(&overview)}</summary>
                <p class="note tells">
                    "Some pairs of each neural run were rescored: alone, in other batches, and \
                     with lower precision. Verdicts count instances whose documents were all \
                     rescored."
                </p>
                <DataTable table/>
            </details>
        })
    }
}

/// The worst of all checks in one line.
fn summary(overview: &StudyOverview) -> String {
    let certified = overview.rows.iter().filter_map(|it| it.stability.as_ref());
    let checks: Vec<&ConditionStability> = certified.flat_map(|it| &it.checks).collect();
    let n_verdicts: u64 = checks.iter().map(|it| it.n_verdicts).sum();
    let n_changed: u64 = checks.iter().map(|it| it.n_changed).sum();
    // Equal scores have no range to hold a difference against.
    let ranged = checks.iter().filter(|it| it.score_range > 0.0);
    let worst = ranged.map(|it| it.max_difference / it.score_range);
    let worst = worst.fold(0.0, f64::max);
    format!(
        "Score stability check: rescoring moved scores by at most {} of their range and changed \
         {} of {} verdicts",
        format::magnitude(worst),
        format::count(n_changed),
        format::count(n_verdicts)
    )
}
