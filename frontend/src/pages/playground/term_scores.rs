//! The contribution of each query term to the score of each document, in one table.

use leptos::prelude::*;
use shared::report::format;
use shared::study::instance_details::{QueryTermInfo, TermScoreContributions};

use super::state::NAMES;
use crate::widgets::highlighted_text::HighlightedQueryTerm;
use crate::widgets::term_contributions::{ClaimSupportBar, format_signed_score};

/// Renders a row for each term and for the score. With two documents, a bar shows which of them a
/// term favors.
#[component]
pub(super) fn TermScoreTable(
    /// The contributions for one ranker.
    contributions: TermScoreContributions,
    /// The query terms, in the order of the contributions.
    terms: Vec<QueryTermInfo>,
) -> impl IntoView {
    let TermScoreContributions {
        ranker,
        terms: parts,
        scores,
    } = contributions;
    let scale = TermScoreCellFormat::from_rows(
        parts.iter().chain([&scores]),
        digits_to_distinguish_scores(&scores),
    );
    let rows = parts.iter().enumerate().map(|(place, values)| {
        let terms = terms.clone();
        view! {
            <tr>
                <th scope="row"><HighlightedQueryTerm terms place/></th>
                {scale.render_cells(values)}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let heads = render_document_and_difference_headings(scores.len());
    view! {
        <table class="scored">
            <caption class="unseen">{ranker.label.clone()} ", contribution of each term"</caption>
            <thead>
                <tr>
                    <th scope="col">{ranker.label}</th>
                    {heads}
                </tr>
            </thead>
            <tbody>
                {rows}
                <tr class="total">
                    <th scope="row">"Score"</th>
                    {scale.render_cells(&scores)}
                </tr>
            </tbody>
        </table>
    }
}

/// Renders the headings of the documents' columns and, for two documents, of the columns that
/// compare them.
pub(super) fn render_document_and_difference_headings(n_texts: usize) -> impl IntoView + use<> {
    let names = &NAMES[..n_texts.min(NAMES.len())];
    let columns = names
        .iter()
        .map(|it| view! { <th class="num" scope="col">{*it}</th> });
    let columns = columns.collect_view();
    let compared = matches!(names, [_, _]).then(|| {
        let [first, second, _] = NAMES;
        view! {
            <td class="ends-of">
                <span class="ends" aria-hidden="true">
                    <span>"← " {second}</span>
                    <span>{first} " →"</span>
                </span>
            </td>
            <th class="num" scope="col">{first} " − " {second}</th>
        }
    });
    view! { {columns} {compared} }
}

/// Determines digits and bar lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TermScoreCellFormat {
    digits: u8,
    /// The largest difference between two documents.
    max_difference: f64,
}

impl TermScoreCellFormat {
    /// Creates a scale for rows that have a value for each document.
    pub(super) fn from_rows<'a>(
        rows: impl Iterator<Item = &'a Vec<f64>>,
        digits: u8,
    ) -> TermScoreCellFormat {
        let leads = rows.filter_map(|it| score_difference(it));
        TermScoreCellFormat {
            digits,
            max_difference: leads.fold(0.0, |most: f64, it| most.max(it.abs())),
        }
    }

    /// Renders the cells of a row.
    pub(super) fn render_cells(self, values: &[f64]) -> impl IntoView + use<> {
        let numbers = values.iter();
        let numbers = numbers.map(|it| {
            view! { <td class="num">{format::format_score(*it, self.digits)}</td> }
        });
        let numbers = numbers.collect_view();
        let compared = score_difference(values).map(|lead| {
            let share = (self.max_difference > 0.0).then(|| lead / self.max_difference);
            view! {
                <td><ClaimSupportBar share/></td>
                <td class="num">{format_signed_score(lead, self.digits)}</td>
            }
        });
        view! { {numbers} {compared} }
    }
}

/// Returns the first of two values minus the second; none unless there are two.
fn score_difference(values: &[f64]) -> Option<f64> {
    match values {
        [first, second] => Some(first - second),
        _ => None,
    }
}

/// Returns the number of digits that distinguishes the scores of a ranker.
pub(super) fn digits_to_distinguish_scores(scores: &[f64]) -> u8 {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    format::score_decimals_for_spread(highest - lowest).clamp(2, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_the_digits_that_tell_them_apart() {
        assert_eq!(digits_to_distinguish_scores(&[23.7, 22.4]), 3);
        assert_eq!(digits_to_distinguish_scores(&[120.0, 20.0]), 2);
        assert_eq!(digits_to_distinguish_scores(&[0.81, 0.8099]), 4);
        assert_eq!(digits_to_distinguish_scores(&[1.0, 1.0]), 2);
        assert_eq!(digits_to_distinguish_scores(&[]), 2);
    }

    #[test]
    fn bars_share_the_scale_of_the_widest() {
        let rows = [vec![1.0, 3.0], vec![0.5, 0.0]];
        assert_eq!(
            TermScoreCellFormat::from_rows(rows.iter(), 2).max_difference,
            2.0
        );
        let three = [vec![1.0, 2.0, 3.0]];
        assert_eq!(
            TermScoreCellFormat::from_rows(three.iter(), 2).max_difference,
            0.0
        );
    }
}
