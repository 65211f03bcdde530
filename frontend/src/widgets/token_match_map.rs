//! The token matches of a late-interaction model: each query token against each document token.

use std::collections::BTreeSet;

use leptos::prelude::*;
use shared::api::TokenSimilarities;
use shared::plot::{FigureColorRole, FigureFontStyle, FigureMark, PlotFigure, TextAnchor};
use shared::report::{self, TableValue, format};

use super::figure::FigureView;
use crate::first_paint::InOwnTask;

/// Renders the map for one document, with its best matches in words.
#[component]
pub(crate) fn TokenMatchMap(
    /// The matches in one document.
    matches: TokenSimilarities,
    /// The name of the document, as in `Document 1`.
    #[prop(into)]
    name: String,
) -> impl IntoView {
    let said = sentence(&name, &matches);
    let label = format!("{name}, token matches");
    view! {
        <figure>
            <div class="strip" role="group" tabindex="0" aria-label=label>
                <InOwnTask><FigureView figure=token_match_figure(&name, &matches)/></InOwnTask>
            </div>
            <p class="note">{said}</p>
        </figure>
    }
}

/// Returns the best match of a query token: its position in the document and its cosine.
fn best_match(row: &[f32]) -> Option<(usize, f32)> {
    let found = row.iter().copied().enumerate();
    found.fold(None, |best, (at, cosine)| match best {
        Some((_, highest)) if highest >= cosine => best,
        Some(_) | None => Some((at, cosine)),
    })
}

/// Returns the cosines of the lightest and the darkest shade: the median, since most tokens are
/// hardly related, and the maximum.
fn range(matches: &TokenSimilarities) -> [f32; 2] {
    let mut all: Vec<f32> = matches.cosines.iter().flatten().copied().collect();
    all.sort_by(f32::total_cmp);
    let middle = all.get(all.len() / 2).copied().unwrap_or(0.0);
    [middle, all.last().copied().unwrap_or(1.0)]
}

/// Returns the darkness of a cosine, from 0 to 1.
fn shade(cosine: f32, [from, to]: [f32; 2]) -> f64 {
    if to <= from {
        return 0.0;
    }
    f64::from(((cosine - from) / (to - from)).clamp(0.0, 1.0))
}

fn match_sum(matches: &TokenSimilarities) -> f64 {
    matches
        .cosines
        .iter()
        .filter_map(|it| best_match(it))
        .map(|it| f64::from(it.1))
        .sum()
}

/// Describes the best matches, as in `Document 1, sum of best-match cosines 3.44: glaciers →
/// glaciers .93, …`
fn sentence(name: &str, matches: &TokenSimilarities) -> String {
    let rows = matches.query_tokens.iter().zip(&matches.cosines);
    let pairs = rows.filter_map(|(piece, row)| {
        let (at, cosine) = best_match(row)?;
        let met = matches.document_tokens.get(at)?;
        Some(format!("{piece} → {met} {}", format_cosine(cosine)))
    });
    let pairs: Vec<String> = pairs.collect();
    format!(
        "{name}, sum of best-match cosines {}: {}.",
        format::format_score(match_sum(matches), 2),
        pairs.join(", ")
    )
}

fn format_cosine(cosine: f32) -> String {
    format::format_two_digit_fraction(f64::from(cosine))
}

/// Returns the map as a figure. Below the map stand the document tokens that are best matches.
pub(crate) fn token_match_figure(name: &str, matches: &TokenSimilarities) -> PlotFigure {
    const LEFT: f64 = 104.0;
    const RIGHT: f64 = 718.0;
    const ROW: f64 = 24.0;
    let step = (RIGHT - LEFT) / matches.document_tokens.len().max(1) as f64;
    let range = range(matches);
    let mut marks = Vec::new();
    let mut line = |from: [f64; 2], to: [f64; 2], width: f64, opacity: f64| {
        marks.push(FigureMark::Line {
            from,
            to,
            width,
            stroke: FigureColorRole::Foreground,
            opacity,
        });
    };
    let middle = |column: usize| LEFT + (column as f64 + 0.5) * step;
    let height = matches.cosines.len() as f64 * ROW;
    for (at, row) in matches.cosines.iter().enumerate() {
        let (top, bottom) = (at as f64 * ROW + 1.0, at as f64 * ROW + ROW - 1.0);
        line(
            [LEFT, (top + bottom) / 2.0],
            [RIGHT, (top + bottom) / 2.0],
            ROW - 2.0,
            0.04,
        );
        for (column, &cosine) in row.iter().enumerate() {
            let dark = shade(cosine, range);
            // Shades near the median would only be noise.
            if dark > 0.1 {
                let x = middle(column);
                line([x, top], [x, bottom], (step - 0.5).max(0.8), dark * dark);
            }
        }
        if let Some((column, _)) = best_match(row) {
            let (left, right) = (
                LEFT + column as f64 * step - 1.5,
                LEFT + (column + 1) as f64 * step + 1.5,
            );
            line([left, top - 0.5], [right, top - 0.5], 1.5, 1.0);
            line([left, bottom + 0.5], [right, bottom + 0.5], 1.5, 1.0);
            line([left, top - 0.5], [left, bottom + 0.5], 1.5, 1.0);
            line([right, top - 0.5], [right, bottom + 0.5], 1.5, 1.0);
        }
    }
    let labels = column_labels(matches, middle, RIGHT);
    let n_lanes = labels.iter().map(|it| it.lane + 1).max().unwrap_or(0);
    for label in &labels {
        let x = middle(label.column);
        let bottom = height + label.lane as f64 * LANE + 4.0;
        line([x, height + 1.0], [x, bottom], 1.0, 0.3);
    }
    for (at, piece) in matches.query_tokens.iter().enumerate() {
        let y = at as f64 * ROW + 17.0;
        marks.push(words([LEFT - 8.0, y], TextAnchor::End, piece));
    }
    for label in labels {
        let y = height + label.lane as f64 * LANE + 17.0;
        let piece = &matches.document_tokens[label.column];
        marks.push(words([label.x, y], TextAnchor::Middle, piece));
    }
    PlotFigure {
        width: RIGHT + 2.0,
        height: height + n_lanes as f64 * LANE + 8.0,
        margin: 0.0,
        alt_text: sentence(name, matches),
        description: format!(
            "Rows are query tokens, columns document tokens; a stronger color is more \
             similar, from {} (the median) to {}; frames mark the best matches.",
            format_cosine(range[0]),
            format_cosine(range[1])
        ),
        marks,
    }
}

/// The height of a row of column labels, in pixels of the figure.
const LANE: f64 = 18.0;

/// The name of a document token below its column.
struct ColumnLabel {
    column: usize,
    /// The middle of the name.
    x: f64,
    /// The row of the name, from the top.
    lane: usize,
}

/// Returns a label for each document token that is a best match, in the first row in which it does
/// not cover the label of another one.
fn column_labels(
    matches: &TokenSimilarities,
    middle: impl Fn(usize) -> f64,
    right: f64,
) -> Vec<ColumnLabel> {
    /// The approximate width of a character, and the gap between names.
    const CHARACTER: f64 = 7.5;
    const GAP: f64 = 8.0;
    let best = matches.cosines.iter().filter_map(|it| best_match(it));
    let columns: BTreeSet<usize> = best.map(|it| it.0).collect();
    let mut ends: Vec<f64> = Vec::new();
    let labels = columns.into_iter().filter_map(|column| {
        let piece = matches.document_tokens.get(column)?;
        let half = piece.chars().count() as f64 * CHARACTER / 2.0;
        let x = middle(column).min(right - half);
        let free = ends.iter().position(|end| *end + GAP <= x - half);
        let lane = free.unwrap_or(ends.len());
        match ends.get_mut(lane) {
            Some(end) => *end = x + half,
            None => ends.push(x + half),
        }
        Some(ColumnLabel { column, x, lane })
    });
    labels.collect()
}

fn words(at: [f64; 2], anchor: TextAnchor, text: &str) -> FigureMark {
    let text = text.to_owned();
    FigureMark::Text {
        at,
        anchor,
        font: FigureFontStyle::Base,
        fill: FigureColorRole::Foreground,
        text,
    }
}

/// Returns a table with the best match of every query token in every document.
pub(crate) fn best_token_matches_table(
    all: &[TokenSimilarities],
    name: &str,
) -> report::ReportTable {
    let mut table = report::ReportTable::new(name, "Best match of each query token")
        .add_text_columns("document | query token | best match")
        .add_number_columns("match position | cosine");
    for (text, it) in all.iter().enumerate() {
        for (piece, row) in it.query_tokens.iter().zip(&it.cosines) {
            let Some((at, cosine)) = best_match(row) else {
                continue;
            };
            table.rows.push(vec![
                TableValue::Text((text + 1).to_string()),
                TableValue::Text(piece.clone()),
                TableValue::Text(it.document_tokens.get(at).cloned().unwrap_or_default()),
                TableValue::Count(at as u64 + 1),
                score(cosine, 3),
            ]);
        }
    }
    table
}

/// Returns a table of the cosine of every query token with every document token, for export.
pub(crate) fn token_cosines_table(all: &[TokenSimilarities], name: &str) -> report::ReportTable {
    let title = "Cosine of each query token with each document token";
    let mut table = report::ReportTable::new(name, title)
        .add_number_columns("text")
        .add_text_columns("query token")
        .add_number_columns("query position")
        .add_text_columns("document token")
        .add_number_columns("document position | cosine");
    for (text, it) in all.iter().enumerate() {
        for (of, (piece, row)) in it.query_tokens.iter().zip(&it.cosines).enumerate() {
            for (at, (met, &cosine)) in it.document_tokens.iter().zip(row).enumerate() {
                table.rows.push(vec![
                    TableValue::Count(text as u64 + 1),
                    TableValue::Text(piece.clone()),
                    TableValue::Count(of as u64 + 1),
                    TableValue::Text(met.clone()),
                    TableValue::Count(at as u64 + 1),
                    score(cosine, 4),
                ]);
            }
        }
    }
    table
}

fn score(cosine: f32, digits: u8) -> TableValue {
    let value = f64::from(cosine);
    TableValue::Score { value, digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches() -> TokenSimilarities {
        let words = |all: &[&str]| all.iter().map(|&it| it.to_owned()).collect();
        TokenSimilarities {
            query_tokens: words(&["ice", "age"]),
            document_tokens: words(&["the", "ice", "##berg"]),
            cosines: vec![vec![0.1, 0.93, 0.4], vec![0.2, 0.3, 0.25]],
        }
    }

    #[test]
    fn each_piece_of_the_query_counts_its_best_match() {
        assert_eq!(
            sentence("Document 1", &matches()),
            "Document 1, sum of best-match cosines 1.23: ice → ice .93, age → ice .30."
        );
        let table = best_token_matches_table(&[matches()], "best");
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0][3], TableValue::Count(2));
    }

    #[test]
    fn names_of_best_matches_do_not_cover_each_other() {
        let words = |all: &[&str]| all.iter().map(|&it| it.to_owned()).collect();
        let matches = TokenSimilarities {
            query_tokens: words(&["ice", "age", "glacier"]),
            document_tokens: words(&["ice", "ages", "of", "glaciers"]),
            cosines: vec![
                vec![0.9, 0.2, 0.1, 0.3],
                vec![0.2, 0.8, 0.1, 0.3],
                vec![0.2, 0.2, 0.1, 0.9],
            ],
        };
        let near = column_labels(&matches, |at| 100.0 + at as f64 * 10.0, 700.0);
        let lanes: Vec<_> = near.iter().map(|it| (it.column, it.lane)).collect();
        assert_eq!(lanes, [(0, 0), (1, 1), (3, 2)]);
        let far = column_labels(&matches, |at| 100.0 + at as f64 * 200.0, 700.0);
        assert!(far.iter().all(|it| it.lane == 0));
    }

    #[test]
    fn a_text_without_pieces_is_no_trouble() {
        let empty = TokenSimilarities {
            document_tokens: Vec::new(),
            cosines: vec![Vec::new(); 2],
            ..matches()
        };
        assert_eq!(
            sentence("Document 1", &empty),
            "Document 1, sum of best-match cosines 0.00: ."
        );
        assert!(token_match_figure("Document 1", &empty).marks.len() >= 2);
    }
}
