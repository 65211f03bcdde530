//! What the score of each document consists of, in one table.

use leptos::prelude::*;
use shared::report::format;
use shared::study::instance_details::{QueryTermInfo, TermScoreContributions};

use super::state::NAMES;
use crate::widgets::term_contributions::{
    ClaimSupportBar, ScorePart, decimals_for_difference, format_signed_score, score_parts,
    score_parts_note,
};

/// Renders what the scores consist of: a sentence with the finding, and a row for each part and for
/// the score. With two documents, a bar shows which of them a part favors.
#[component]
pub(super) fn TermScoreTable(
    /// The contributions for one ranker.
    contributions: TermScoreContributions,
    /// The query terms, in the order of the contributions.
    terms: Vec<QueryTermInfo>,
) -> impl IntoView {
    let parts = score_parts(&contributions);
    let scale =
        TermScoreCellFormat::from_rows(parts.iter().map(|it| &it.1).chain([&contributions.scores]));
    let finding = score_finding(&contributions, &parts, &terms, scale.digits);
    let note = score_parts_note(&contributions).map(|it| view! { <p class="note">{it}</p> });
    let TermScoreContributions { ranker, scores, .. } = contributions;
    let rows = parts.into_iter().map(|(part, values)| {
        view! {
            <tr>
                <th scope="row">{part.render_name(&terms)}</th>
                {scale.render_cells(&values)}
            </tr>
        }
    });
    let rows = rows.collect_view();
    let heads = render_document_and_difference_headings(scores.len());
    view! {
        <p class="finding">{finding}</p>
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
        {note}
    }
}

/// Says which document a ranker prefers and which part of the scores decides that, as in `BM25
/// scores A higher by 1.40. “sourdough” decides: it contributes 1.20 to this difference.`
fn score_finding(
    contributions: &TermScoreContributions,
    parts: &[(ScorePart, Vec<f64>)],
    terms: &[QueryTermInfo],
    digits: u8,
) -> String {
    let TermScoreContributions { ranker, scores, .. } = contributions;
    let (name, width) = (&ranker.label, ranker.kind.default_tie_threshold());
    let Some(margin) = score_difference(scores) else {
        return format!("{name} ranks the documents {}.", ranking(scores, width));
    };
    if margin.abs() <= width {
        return format!("{name} gives both documents the same score.");
    }
    let winner = NAMES[usize::from(margin < 0.0)];
    let by = format::format_score(margin.abs(), digits);
    let first = format!("{name} scores {winner} higher by {by}.");
    let leads = parts
        .iter()
        .filter_map(|(part, values)| Some((part, score_difference(values)? * margin.signum())));
    let leads: Vec<(&ScorePart, f64)> = leads.collect();
    let Some(lead) = leads.iter().map(|it| it.1).max_by(f64::total_cmp) else {
        return first;
    };
    // Parts that look the same to the reader contribute the same.
    let value = format::format_score(lead, digits);
    let largest = leads
        .iter()
        .filter(|it| format::format_score(it.1, digits) == value);
    let names = largest.map(|(part, _)| match part {
        ScorePart::Term(_) => format!("“{}”", part.name(terms)),
        ScorePart::DocumentLength => "Document length".to_owned(),
        ScorePart::Background => "The background model".to_owned(),
    });
    let names: Vec<String> = names.collect();
    let part = format::join_with_and(&names);
    match (names.len(), lead >= margin.abs() / 2.0) {
        (1, true) => format!("{first} {part} decides: it contributes {value} to this difference."),
        (1, false) => format!("{first} {part} contributes most to this difference: {value}."),
        _ => format!("{first} {part} contribute most to this difference: {value} each."),
    }
}

/// Returns the names of the documents by descending score, as in `B > A = C`.
fn ranking(scores: &[f64], tie_width: f64) -> String {
    let mut order: Vec<(f64, &str)> = scores.iter().copied().zip(NAMES).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let signs = order.windows(2).map(|it| {
        let is_tie = it[0].0 - it[1].0 <= tie_width;
        format!(" {} {}", if is_tie { "=" } else { ">" }, it[1].1)
    });
    let rest: String = signs.collect();
    format!("{}{rest}", order.first().map_or("", |it| it.1))
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
        rows: impl Iterator<Item = &'a Vec<f64>> + Clone,
    ) -> TermScoreCellFormat {
        let leads = rows.clone().filter_map(|it| score_difference(it));
        let spreads = rows.map(|it| spread(it));
        TermScoreCellFormat {
            digits: decimals_for_difference(spreads.fold(0.0, f64::max)),
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
    decimals_for_difference(spread(scores))
}

fn spread(scores: &[f64]) -> f64 {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    highest - lowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::score::{RankerInfo, RankerKind};

    #[test]
    fn scores_have_the_digits_that_tell_them_apart() {
        assert_eq!(digits_to_distinguish_scores(&[23.7, 22.4]), 2);
        assert_eq!(digits_to_distinguish_scores(&[0.81, 0.8095]), 5);
        assert_eq!(digits_to_distinguish_scores(&[1.0, 1.0]), 2);
        assert_eq!(digits_to_distinguish_scores(&[]), 2);
    }

    #[test]
    fn bars_share_the_scale_of_the_widest() {
        let rows = [vec![1.0, 3.0], vec![0.5, 0.5004]];
        let scale = TermScoreCellFormat::from_rows(rows.iter());
        assert_eq!((scale.max_difference, scale.digits), (2.0, 2));
        let three = [vec![1.0, 2.0, 3.0]];
        let scale = TermScoreCellFormat::from_rows(three.iter());
        assert_eq!(scale.max_difference, 0.0);
    }

    fn contributions(terms: &[[f64; 2]], length: [f64; 2]) -> TermScoreContributions {
        let sum = |at: usize| terms.iter().map(|it| it[at]).sum::<f64>() + length[at];
        TermScoreContributions {
            ranker: RankerInfo {
                label: "QL".to_owned(),
                detail: String::new(),
                spec: "ql".to_owned(),
                fingerprint: String::new(),
                kind: RankerKind::Lexical,
                note: None,
            },
            terms: terms.iter().map(|it| it.to_vec()).collect(),
            length: length.to_vec(),
            background: 0.0,
            scores: vec![sum(0), sum(1)],
        }
    }

    fn finding(terms: &[[f64; 2]], length: [f64; 2]) -> String {
        let found = contributions(terms, length);
        let names = ["sourdough", "starter"].map(|it| QueryTermInfo {
            term: it.to_owned(),
            surface_form: it.to_owned(),
            count: 1,
            df: 1,
            cf: 1,
            rarity_rank: 0,
        });
        score_finding(&found, &score_parts(&found), &names, 2)
    }

    #[test]
    fn the_finding_names_the_part_that_decides() {
        assert_eq!(
            finding(&[[2.0, 0.8], [0.4, 0.2]], [0.0, 0.0]),
            "QL scores A higher by 1.40. “sourdough” decides: it contributes 1.20 to this \
             difference."
        );
        assert_eq!(
            finding(&[[0.0, 0.25], [0.5, 0.0]], [-1.0, 0.0]),
            "QL scores B higher by 0.75. Document length decides: it contributes 1.00 to this \
             difference."
        );
        assert_eq!(
            finding(&[[0.4, 0.0], [0.3, 0.0]], [0.35, 0.0]),
            "QL scores A higher by 1.05. “sourdough” contributes most to this difference: 0.40."
        );
        assert_eq!(
            finding(&[[0.4, 0.0], [0.4, 0.0]], [0.0, 0.1]),
            "QL scores A higher by 0.70. “sourdough” and “starter” contribute most to this \
             difference: 0.40 each."
        );
        assert_eq!(
            finding(&[[1.0, 1.0]], [0.0, 0.0]),
            "QL gives both documents the same score."
        );
        assert_eq!(ranking(&[1.0, 3.0, 1.0], 0.0), "B > A = C");
    }
}
