//! How a study was made, and how stable its scores are.

use std::sync::Arc;

use leptos::prelude::*;
use shared::report::{self, format};
use shared::study::overview::StudyOverview;
use shared::study::score_stability::ConditionScoreStability;

use crate::routes::PageRoute;
use crate::widgets::section::Section;
use crate::widgets::table::ReportTableView;

/// Renders everything that is needed to reproduce the study.
#[component]
pub(super) fn ReproducibilityTab(
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
) -> impl IntoView {
    let items = move || {
        let overview = overview.read();
        let lines = provenance(&overview).into_iter();
        let lines = lines.chain(overview.remarks.clone());
        lines.map(|it| view! { <li>{it}</li> }).collect_view()
    };
    let first = overview.with_untracked(|it| it.name.clone());
    let comparison = PageRoute::CompareStudies.href_with([("first", first)]);
    view! {
        <Section
            id="provenance"
            name="How this study was made"
            note="What you need to compute the same numbers again: collection, analyzer, candidate \
                  pool, thresholds and rankers. Export saves the whole study, Cite its hashes."
        >
            <ul class="provenance">{items}</ul>
            <p class="btns">
                <a class="btn" href=comparison>"Compare with another study"</a>
            </p>
        </Section>
        <ScoreStability overview/>
    }
}

/// Lists everything that is needed to reproduce the study.
fn provenance(overview: &StudyOverview) -> Vec<String> {
    let tables = report::study_tables(overview);
    let notes = tables.into_iter().next().map(|it| it.notes);
    // Remarks are shown after these notes.
    let notes = notes.unwrap_or_default().into_iter();
    notes.filter(|it| !overview.remarks.contains(it)).collect()
}

/// Renders how some neural scores changed when they were computed under other conditions; nothing
/// if no ranker has been checked.
#[component]
fn ScoreStability(overview: Memo<Arc<StudyOverview>>) -> impl IntoView {
    move || {
        let overview = overview.get();
        let table = report::score_stability_table(&overview)?;
        Some(view! {
            <Section
                id="score-stability"
                name="Score stability"
                note="Some pairs of each neural ranker were rescored: alone, in other batches, and \
                      with lower precision. Verdicts count instances whose documents were all \
                      rescored."
            >
                <p class="ahead">{stability_summary(&overview)}</p>
                <ReportTableView table/>
            </Section>
        })
    }
}

/// Summarizes the worst of all checks in one sentence.
fn stability_summary(overview: &StudyOverview) -> String {
    let certified = overview.rows.iter().filter_map(|it| it.stability.as_ref());
    let checks: Vec<&ConditionScoreStability> = certified.flat_map(|it| &it.checks).collect();
    let n_verdicts: u64 = checks.iter().map(|it| it.n_verdicts).sum();
    let n_changed: u64 = checks.iter().map(|it| it.n_changed).sum();
    // If all scores are equal, there is no range to compare a difference with.
    let ranged = checks.iter().filter(|it| it.score_range > 0.0);
    let worst = ranged.map(|it| it.max_difference / it.score_range);
    let worst = match 100.0 * worst.fold(0.0, f64::max) {
        ..0.01 => "less than 0.01 %".to_owned(),
        percent => format!("at most {percent:.2} %"),
    };
    format!(
        "Rescoring moved scores by {worst} of their range and changed {} of {} verdicts.",
        format::format_count(n_changed),
        format::format_count(n_verdicts)
    )
}
