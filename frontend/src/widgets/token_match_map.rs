//! The token matches of a late-interaction model: each query token against each document token.

use leptos::prelude::*;
use shared::api::TokenSimilarities;
use shared::plot::{FigureColorRole, FigureFontStyle, FigureMark, PlotFigure, TextAnchor};
use shared::report::{self, TableValue, format};

use super::figure::FigureView;

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
            <div class="strip" role="region" tabindex="0" aria-label=label>
                <FigureView figure=token_match_figure(&name, &matches)/>
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

/// Returns the map as a figure.
pub(crate) fn token_match_figure(name: &str, matches: &TokenSimilarities) -> PlotFigure {
    const LEFT: f64 = 78.0;
    const RIGHT: f64 = 638.0;
    const ROW: f64 = 20.0;
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
                let x = LEFT + (column as f64 + 0.5) * step;
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
    let height = matches.cosines.len() as f64 * ROW;
    for (at, piece) in matches.query_tokens.iter().enumerate() {
        let y = at as f64 * ROW + 14.0;
        marks.push(words([LEFT - 8.0, y], TextAnchor::End, piece));
    }
    if let (Some(first), Some(last)) = (
        matches.document_tokens.first(),
        matches.document_tokens.last(),
    ) {
        marks.push(words([LEFT, height + 16.0], TextAnchor::Start, first));
        let last = format!("{last}, token {}", matches.document_tokens.len());
        marks.push(words([RIGHT, height + 16.0], TextAnchor::End, &last));
    }
    PlotFigure {
        width: 640.0,
        height: height + 22.0,
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

fn words(at: [f64; 2], anchor: TextAnchor, text: &str) -> FigureMark {
    let text = text.to_owned();
    FigureMark::Text {
        at,
        anchor,
        font: FigureFontStyle::Label,
        fill: FigureColorRole::Secondary,
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
