//! The most notable findings in sentences, each with a link to its cell.

use std::sync::Arc;

use leptos::prelude::*;
use shared::report::{self, format};
use shared::stats::EstimateWithInterval;
use shared::study::findings::{StudyFinding, find_notable_results};
use shared::study::overview::StudyOverview;

use super::address::{CellAddress, StudyView};
use crate::widgets::heatmap::{HeatMapPosition, RankerOrRelevanceRow};

/// The number of findings that are shown.
const MAX_FINDINGS: usize = 3;

/// The largest number of rankers whose most violated axioms are named.
const MAX_NAMED_RANKERS: usize = 6;

/// Renders the largest findings for the current controls.
#[component]
pub(super) fn LargestFindingsList(
    /// The name of the study.
    study: String,
    /// The overview for the current controls.
    overview: Memo<Arc<StudyOverview>>,
    /// The view in the address.
    view: Memo<StudyView>,
) -> impl IntoView {
    let items = move || {
        let overview = Arc::unwrap_or_clone(overview.get()).with_distinct_labels();
        let found = find_notable_results(&overview, MAX_FINDINGS);
        if found.is_empty() {
            let said = "No cell of this study is distinguishable from chance.";
            return view! { <p class="note">{said}</p> }.into_any();
        }
        let items = found.iter().map(|finding| {
            let view = StudyView {
                cell: CellAddress::new(finding_position(finding), &overview),
                ..view.get()
            };
            let (gist, rest) = finding_text(finding, &overview);
            view! {
                <li>
                    <a href=view.href(&study)>{gist}</a>
                    " "
                    {rest}
                </li>
            }
        });
        // A sentence for each ranker; the heat map of many rankers says it better.
        let most_violated = report::most_violated_axioms_finding(&overview)
            .filter(|_| overview.rows.len() <= MAX_NAMED_RANKERS)
            .map(|it| view! { <p class="note">{it}</p> });
        view! {
            <ol>{items.collect_view()}</ol>
            {most_violated}
        }
        .into_any()
    };
    view! {
        <section class="findings" aria-labelledby="findings">
            <h2 id="findings">"Main findings"</h2>
            {items}
        </section>
    }
}

/// Returns the cell that shows the finding.
pub(super) fn finding_position(finding: &StudyFinding) -> HeatMapPosition {
    let who = match finding {
        StudyFinding::ViolatesAxiom { ranker, .. }
        | StudyFinding::SatisfiesAxiom { ranker, .. } => RankerOrRelevanceRow::Ranker(*ranker),
        StudyFinding::RankersDiffer { less, .. } => RankerOrRelevanceRow::Ranker(*less),
        StudyFinding::QrelsContradictAxiom { .. } => RankerOrRelevanceRow::Relevance,
    };
    HeatMapPosition {
        row: who,
        probe: finding.probe(),
    }
}

/// Returns the statement of a finding, and its numbers.
fn finding_text(finding: &StudyFinding, overview: &StudyOverview) -> (String, String) {
    let label = |row: usize| overview.rows[row].ranker.label.clone();
    let probe = finding.probe().name();
    let estimate =
        |it: &EstimateWithInterval| format::keep_on_one_line(&format::format_estimate(it));
    let ordered = |n_judged: u64, fraction: &EstimateWithInterval| {
        format!(
            "Fraction satisfied: {} over {} instances.",
            estimate(fraction),
            format::format_count(n_judged)
        )
    };
    match finding {
        StudyFinding::ViolatesAxiom {
            ranker,
            fraction,
            n_verdicts: n_judged,
            ..
        } => (
            format!("{} contradicts {probe}.", label(*ranker)),
            ordered(*n_judged, fraction),
        ),
        StudyFinding::SatisfiesAxiom {
            ranker,
            fraction,
            n_verdicts: n_judged,
            ..
        } => (
            format!("{} agrees with {probe}.", label(*ranker)),
            ordered(*n_judged, fraction),
        ),
        StudyFinding::RankersDiffer {
            more,
            less,
            fraction_of_more,
            fraction_of_less,
            ..
        } => {
            let (more, less) = (label(*more), label(*less));
            let gist = if fraction_of_less.interval[1] < 0.5 {
                format!("{less} contradicts {probe}; {more} agrees with it.")
            } else if fraction_of_less.interval[0] > 0.5 {
                format!("{more} agrees with {probe} far more often than {less}.")
            } else {
                format!("{more} agrees with {probe}; {less} is at chance level.")
            };
            let rest = format!(
                "Fraction satisfied: {more} {}, {less} {}.",
                estimate(fraction_of_more),
                estimate(fraction_of_less)
            );
            (gist, rest)
        }
        StudyFinding::QrelsContradictAxiom {
            fraction,
            n_verdicts: n_judged,
            ..
        } => (
            format!("The relevance judgments contradict {probe}."),
            format!(
                "Fraction graded as the axiom predicts: {} over {} instances with different \
                 grades.",
                estimate(fraction),
                format::format_count(*n_judged)
            ),
        ),
    }
}
