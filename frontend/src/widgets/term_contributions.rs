//! The contribution of each query term to the score of each document, for one lexical ranker, and
//! what else the scores consist of.

use leptos::prelude::*;
use shared::plot::{FigureColorRole, FigureFontStyle, FigureMark, PlotFigure, TextAnchor};
use shared::probe::{ScoreClaim, ScoreClaimKind};
use shared::report::{self, TableColumnHeader, TableColumnKind, TableValue, format};
use shared::study::instance_details::{QueryTermInfo, TermScoreContributions};

use super::highlighted_text::{HighlightedQueryTerm, underline_class_by_rarity};

/// A part of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScorePart {
    /// The occurrences of the query term with this index.
    Term(usize),
    /// What depends on the length of the document alone.
    DocumentLength,
    /// What is the same for every document.
    Background,
}

impl ScorePart {
    /// Returns the name of the part, as in `sourdough` and `document length`.
    pub(crate) fn name(self, terms: &[QueryTermInfo]) -> String {
        match self {
            ScorePart::Term(place) => terms
                .get(place)
                .map(|it| it.surface_form.clone())
                .unwrap_or_default(),
            ScorePart::DocumentLength => "document length".to_owned(),
            ScorePart::Background => "background model".to_owned(),
        }
    }

    /// Renders the name, a query term as it is highlighted in documents.
    pub(crate) fn render_name(self, terms: &[QueryTermInfo]) -> AnyView {
        match self {
            ScorePart::Term(place) => {
                view! { <HighlightedQueryTerm terms=terms.to_vec() place/> }.into_any()
            }
            ScorePart::DocumentLength | ScorePart::Background => self.name(terms).into_any(),
        }
    }
}

/// Returns the parts of the scores with their value for each document, terms first. A part that is
/// 0 by definition is left out.
pub(crate) fn score_parts(contributions: &TermScoreContributions) -> Vec<(ScorePart, Vec<f64>)> {
    let TermScoreContributions {
        terms,
        length,
        background,
        scores,
        ..
    } = contributions;
    let terms = terms.iter().cloned().enumerate();
    let mut parts: Vec<_> = terms
        .map(|(place, row)| (ScorePart::Term(place), row))
        .collect();
    if length.iter().any(|it| *it != 0.0) {
        parts.push((ScorePart::DocumentLength, length.clone()));
    }
    if *background != 0.0 {
        parts.push((ScorePart::Background, vec![*background; scores.len()]));
    }
    parts
}

/// Returns what the rows of a table mean that has more parts than terms; none for other rankers.
pub(crate) fn score_parts_note(contributions: &TermScoreContributions) -> Option<&'static str> {
    (contributions.background != 0.0).then_some(
        "A term adds the logarithm of its smoothed probability over its background probability: \
         0 if it does not occur. The background model is the same for every document.",
    )
}

/// Renders a table with a bar for each document, and one for the difference that the claim is
/// about.
#[component]
pub(crate) fn TermContributionTable(
    /// The contributions, terms × documents.
    contributions: TermScoreContributions,
    /// The distinct terms of the query, one for each row.
    terms: Vec<QueryTermInfo>,
    /// The claim over positions of documents.
    claim: ScoreClaim<u32>,
    /// The query term that is hovered, here or elsewhere on the page.
    #[prop(optional, into)]
    lit: Option<RwSignal<Option<u32>>>,
) -> impl IntoView {
    let kind = claim.kind();
    let scale = TermTableScale::of(&contributions, claim);
    let rows = score_parts(&contributions).into_iter().map(|(part, row)| {
        let terms = terms.clone();
        view! { <Row part row terms claim scale lit/> }
    });
    let rows = rows.collect_view();
    let note = score_parts_note(&contributions).map(|it| view! { <p class="note">{it}</p> });
    let places = || 1..=kind.arity();
    let heads = places().map(|it| view! { <th scope="col" class="num wide-only">{it}</th> });
    let heads = heads.collect_view();
    let total = contributions.scores.clone();
    let sums = total.iter().map(|&it| {
        view! { <td class="num wide-only">{format::format_score(it, scale.digits)}</td> }
    });
    let sums = sums.collect_view();
    let name = contributions.ranker.label.clone();
    let caption = format!("{name}: contribution of each term to the score of each document");
    let over = match kind {
        ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different => {
            "document 1 minus \
             document 2"
        }
        ScoreClaimKind::DiminishingGain => "documents 1, 2, 3",
    };
    view! {
        <table class="terms">
            <caption class="unseen">{caption}</caption>
            <thead>
                <tr>
                    <th scope="col">{name}</th>
                    <th scope="col" class="wide-only">{over}</th>
                    {heads}
                    <th scope="col">
                        <span class="ends">
                            <span>{bar_direction_labels(kind)[0]}</span>
                            <span>{bar_direction_labels(kind)[1]}</span>
                        </span>
                    </th>
                    <th scope="col" class="num">{difference_column_heading(kind)}</th>
                </tr>
            </thead>
            <tbody>
                {rows}
                <tr class="total">
                    <td>"Score"</td>
                    <td class="wide-only"></td>
                    {sums}
                    <td>
                        <ClaimSupportBar share=scale.difference_bar(claim_margin(claim, &total))/>
                    </td>
                    <td class="num">
                        {format_signed_score(claim_margin(claim, &total), scale.digits)}
                    </td>
                </tr>
            </tbody>
        </table>
        {note}
    }
}

#[component]
fn Row(
    part: ScorePart,
    row: Vec<f64>,
    terms: Vec<QueryTermInfo>,
    claim: ScoreClaim<u32>,
    scale: TermTableScale,
    lit: Option<RwSignal<Option<u32>>>,
) -> impl IntoView {
    let point = move |at: Option<u32>| {
        if let Some(lit) = lit {
            lit.set(at);
        }
    };
    let place = match part {
        ScorePart::Term(place) => Some(place as u32),
        ScorePart::DocumentLength | ScorePart::Background => None,
    };
    let ink = match place.map(|it| underline_class_by_rarity(&terms, it)) {
        Some("t1") => "var(--t1)",
        Some("t2") => "var(--t2)",
        Some("t3") => "var(--t3)",
        Some("t4") => "var(--t4)",
        Some("t5") => "var(--t5)",
        _ => "var(--ink-3)",
    };
    let bars = place.map(|_| {
        let bars = row.iter().map(|it| {
            view! { <i style=("--v", format!("{:.3}", scale.bar(*it)))></i> }
        });
        let bars = bars.collect_view();
        view! { <span class="pair" style=("--of", ink) aria-hidden="true">{bars}</span> }
    });
    let numbers = row.iter().map(|it| {
        view! { <td class="num wide-only">{format::format_score(*it, scale.digits)}</td> }
    });
    let numbers = numbers.collect_view();
    let gap = claim_margin(claim, &row);
    view! {
        <tr on:pointerenter=move |_| point(place) on:pointerleave=move |_| point(None)>
            <td>{part.render_name(&terms)}</td>
            <td class="wide-only">{bars}</td>
            {numbers}
            <td><ClaimSupportBar share=scale.difference_bar(gap)/></td>
            <td class="num">{format_signed_score(gap, scale.digits)}</td>
        </tr>
    }
}

/// Renders a bar from the middle: to the right if the difference supports the claim, to the left
/// if it opposes the claim.
#[component]
pub(crate) fn ClaimSupportBar(
    /// The length, from −1 to 1; none draws only the middle line.
    share: Option<f64>,
) -> impl IntoView {
    let bar = share.filter(|it| *it != 0.0).map(|share| {
        let length = format!("{:.3}", share.abs().min(1.0));
        let back = share < 0.0;
        view! { <i class:back=back style=("--v", length)></i> }
    });
    view! { <span class="lean" aria-hidden="true">{bar}</span> }
}

/// Returns the margin of a row of values: the left side of the claim minus the right side.
pub(crate) fn claim_margin(claim: ScoreClaim<u32>, row: &[f64]) -> f64 {
    let value = |place: u32| row.get(place as usize).copied();
    claim
        .replace_docs_with_scores(value)
        .map_or(0.0, |it| it.verdict(0.0).margin)
}

/// Returns the heading of the column of differences.
pub(crate) fn difference_column_heading(kind: ScoreClaimKind) -> &'static str {
    match kind {
        ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different => "1 − 2",
        ScoreClaimKind::DiminishingGain => "first step minus second step",
    }
}

/// Returns what the left and the right direction of a bar mean.
pub(crate) fn bar_direction_labels(kind: ScoreClaimKind) -> [&'static str; 2] {
    match kind {
        ScoreClaimKind::Higher | ScoreClaimKind::NotLower | ScoreClaimKind::Different => {
            ["favors 2", "favors 1"]
        }
        ScoreClaimKind::DiminishingGain => ["against", "agrees with the axiom"],
    }
}

/// Formats a margin or a difference with its sign, as in `+0.20`, `−0.17` and `0.00`.
pub(crate) fn format_signed_score(value: f64, digits: u8) -> String {
    let shown = format::format_score(value.abs(), digits);
    let is_zero = !shown.contains(|it| ('1'..='9').contains(&it));
    match value {
        _ if is_zero => shown,
        ..0.0 => format::format_score(value, digits),
        _ => format!("+{shown}"),
    }
}

/// Returns the number of decimals for scores whose largest difference is given: three significant
/// digits of the difference, but at least two decimals.
pub(crate) fn decimals_for_difference(largest: f64) -> u8 {
    format::score_decimals_for_spread(largest)
        .saturating_sub(1)
        .max(2)
}

/// Determines bar lengths and digits.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TermTableScale {
    most: f64,
    gap: f64,
    digits: u8,
}

impl TermTableScale {
    fn of(contributions: &TermScoreContributions, claim: ScoreClaim<u32>) -> TermTableScale {
        let all = contributions.terms.iter().flatten().copied();
        let parts = score_parts(contributions).into_iter();
        let gaps = parts.map(|it| claim_margin(claim, &it.1).abs());
        let gap = gaps.fold(claim_margin(claim, &contributions.scores).abs(), f64::max);
        TermTableScale {
            most: all.fold(0.0, |most, it| it.abs().max(most)),
            gap,
            // A difference that has a visible bar is not written as 0.
            digits: decimals_for_difference(gap),
        }
    }

    fn bar(&self, value: f64) -> f64 {
        if self.most > 0.0 {
            (value / self.most).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    fn difference_bar(&self, gap: f64) -> Option<f64> {
        (self.gap > 0.0).then(|| gap / self.gap)
    }
}

/// Returns the contributions of all rankers as one table, for export.
pub(crate) fn term_contributions_table(
    all: &[TermScoreContributions],
    terms: &[QueryTermInfo],
    claim: ScoreClaim<u32>,
    name: &str,
) -> report::ReportTable {
    let n = claim.kind().arity();
    let mut columns = vec![
        TableColumnHeader::with_name_and_kind("ranker", TableColumnKind::Text),
        TableColumnHeader::with_name_and_kind("term", TableColumnKind::Text),
    ];
    columns.extend((1..=n).map(|it| {
        TableColumnHeader::with_name_and_kind(format!("document {it}"), TableColumnKind::Number)
    }));
    columns.push(TableColumnHeader::with_name_and_kind(
        "difference",
        TableColumnKind::Number,
    ));
    let mut rows = Vec::new();
    for it in all {
        let digits = TermTableScale::of(it, claim).digits;
        let mut push = |term: &str, values: &[f64]| {
            let text = |word: &str| TableValue::Text(word.to_owned());
            let mut row = vec![text(&it.ranker.label), text(term)];
            row.extend(
                values
                    .iter()
                    .map(|&value| TableValue::Score { value, digits }),
            );
            row.push(TableValue::Score {
                value: claim_margin(claim, values),
                digits,
            });
            rows.push(row);
        };
        for (part, values) in score_parts(it) {
            match part {
                ScorePart::Term(place) => {
                    push(terms.get(place).map_or("", |it| &it.term), &values);
                }
                ScorePart::DocumentLength | ScorePart::Background => {
                    push(&format!("({})", part.name(terms)), &values);
                }
            }
        }
        push("(score)", &it.scores);
    }
    report::ReportTable {
        name: name.to_owned(),
        title: "Contribution of each query term to the score".to_owned(),
        columns,
        rows,
        notes: Vec::new(),
    }
}

/// Returns the differences of all rankers as one figure, with a bar for each term.
pub(crate) fn term_differences_figure(
    all: &[TermScoreContributions],
    terms: &[QueryTermInfo],
    claim: ScoreClaim<u32>,
) -> PlotFigure {
    const NAMES: f64 = 140.0;
    const BAR: f64 = 260.0;
    const ROW: f64 = 22.0;
    let [against, with] = bar_direction_labels(claim.kind());
    let width = NAMES + BAR + 90.0;
    let middle = NAMES + BAR / 2.0;
    let mut marks = Vec::new();
    let mut y = 0.0;
    for it in all {
        let scale = TermTableScale::of(it, claim);
        marks.push(words(
            [0.0, y + 16.0],
            TextAnchor::Start,
            FigureFontStyle::Head,
            &it.ranker.label,
        ));
        marks.push(words(
            [NAMES, y + 16.0],
            TextAnchor::Start,
            FigureFontStyle::Label,
            against,
        ));
        marks.push(words(
            [NAMES + BAR, y + 16.0],
            TextAnchor::End,
            FigureFontStyle::Label,
            with,
        ));
        y += 26.0;
        let parts = score_parts(it).into_iter();
        let rows = parts.map(|(part, row)| (part.name(terms), row));
        for (name, row) in rows.chain([("Score".to_owned(), it.scores.clone())]) {
            let gap = claim_margin(claim, &row);
            let length = scale.difference_bar(gap).unwrap_or(0.0) * BAR / 2.0;
            marks.push(words(
                [0.0, y + 15.0],
                TextAnchor::Start,
                FigureFontStyle::Base,
                &name,
            ));
            marks.push(FigureMark::Line {
                from: [middle, y + 2.0],
                to: [middle, y + 20.0],
                width: 1.0,
                stroke: FigureColorRole::Axis,
                opacity: 1.0,
            });
            marks.push(FigureMark::Rect {
                at: [middle + length.min(0.0), y + 5.0],
                size: [length.abs(), 12.0],
                corner_radius: 0.0,
                fill: FigureColorRole::Step(if gap < 0.0 { -4 } else { 4 }),
            });
            let number = format_signed_score(gap, scale.digits);
            marks.push(words(
                [width, y + 15.0],
                TextAnchor::End,
                FigureFontStyle::Base,
                &number,
            ));
            y += ROW;
        }
        y += 14.0;
    }
    PlotFigure {
        width,
        height: y,
        margin: 16.0,
        alt_text: "Contribution of each query term to each ranker's margin".to_owned(),
        description: format!(
            "Bars show the difference in contributions, {}; bars of one ranker share a scale.",
            difference_column_heading(claim.kind())
        ),
        marks,
    }
}

fn words(at: [f64; 2], anchor: TextAnchor, font: FigureFontStyle, text: &str) -> FigureMark {
    FigureMark::Text {
        at,
        anchor,
        font,
        fill: FigureColorRole::Foreground,
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_the_margin_of_the_claim() {
        let pair = ScoreClaim::Higher {
            winner: 0,
            loser: 1,
        };
        assert_eq!(claim_margin(pair, &[1.0, 3.0]), -2.0);
        let triple = ScoreClaim::DiminishingGain {
            few: 0,
            more: 1,
            most: 2,
        };
        assert_eq!(claim_margin(triple, &[1.0, 3.0, 4.0]), 1.0);
    }

    #[test]
    fn a_difference_of_nothing_has_no_sign() {
        assert_eq!(
            [0.0, -0.0, 0.2, -0.174, 0.001, -0.001].map(|it| format_signed_score(it, 2)),
            ["0.00", "0.00", "+0.20", "−0.17", "0.00", "0.00"]
        );
    }

    #[test]
    fn a_difference_has_three_digits() {
        assert_eq!(decimals_for_difference(1.3), 2);
        assert_eq!(decimals_for_difference(100.0), 2);
        assert_eq!(decimals_for_difference(0.004), 5);
        assert_eq!(decimals_for_difference(0.0), 2);
    }
}
