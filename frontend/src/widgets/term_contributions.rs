//! The contribution of each query term to the score of each document, for one lexical ranker.

use leptos::prelude::*;
use shared::plot::{FigureColorRole, FigureFontStyle, FigureMark, PlotFigure, TextAnchor};
use shared::probe::{ScoreClaim, ScoreClaimKind};
use shared::report::{self, TableColumnHeader, TableColumnKind, TableValue, format};
use shared::study::instance_details::{QueryTermInfo, TermScoreContributions};

use super::highlighted_text::{HighlightedQueryTerm, underline_class_by_rarity};

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
    let rows = contributions.terms.iter().enumerate().map(|(place, row)| {
        let terms = terms.clone();
        view! { <Row place row=row.clone() terms claim scale lit/> }
    });
    let rows = rows.collect_view();
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
    }
}

#[component]
fn Row(
    place: usize,
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
    let ink = match underline_class_by_rarity(&terms, place as u32) {
        "t1" => "var(--t1)",
        "t2" => "var(--t2)",
        "t3" => "var(--t3)",
        "t4" => "var(--t4)",
        "t5" => "var(--t5)",
        _ => "var(--ink-3)",
    };
    let bars = row.iter().map(|it| {
        view! { <i style=("--v", format!("{:.3}", scale.bar(*it)))></i> }
    });
    let bars = bars.collect_view();
    let numbers = row.iter().map(|it| {
        view! { <td class="num wide-only">{format_score(*it, scale.digits)}</td> }
    });
    let numbers = numbers.collect_view();
    let gap = claim_margin(claim, &row);
    view! {
        <tr
            on:pointerenter=move |_| point(Some(place as u32))
            on:pointerleave=move |_| point(None)
        >
            <td><HighlightedQueryTerm terms place/></td>
            <td class="wide-only">
                <span class="pair" style=("--of", ink) aria-hidden="true">{bars}</span>
            </td>
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

/// Formats a margin or a difference with its sign, as in `+0.20`, `−0.17` and `0`.
pub(crate) fn format_signed_score(value: f64, digits: u8) -> String {
    let shown = format_score(value, digits);
    if value > 0.0 && shown != "0" {
        format!("+{shown}")
    } else {
        shown
    }
}

/// Formats a score; returns `0` if all digits are zero.
fn format_score(value: f64, digits: u8) -> String {
    let shown = format::format_score(value, digits);
    if shown.chars().any(|it| ('1'..='9').contains(&it)) {
        shown
    } else {
        "0".to_owned()
    }
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
        let gaps = contributions
            .terms
            .iter()
            .map(|it| claim_margin(claim, it).abs());
        let scores = contributions.scores.iter().map(|it| it.abs());
        let most_score = scores.fold(0.0, f64::max);
        let gap = gaps.fold(claim_margin(claim, &contributions.scores).abs(), f64::max);
        let decimals = [most_score, gap]
            .into_iter()
            .filter(|it| *it > 0.0)
            .map(format::score_decimals_for_spread);
        TermTableScale {
            most: all.fold(0.0, |most, it| it.abs().max(most)),
            gap,
            // A difference that has a bar is not written as 0.
            digits: decimals.max().unwrap_or(0),
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
        it.terms
            .iter()
            .zip(terms)
            .for_each(|(values, term)| push(&term.term, values));
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
        let names = terms
            .iter()
            .map(|it| it.surface_form.as_str())
            .chain(["Score"]);
        for (name, row) in names.zip(it.terms.iter().chain([&it.scores])) {
            let gap = claim_margin(claim, row);
            let length = scale.difference_bar(gap).unwrap_or(0.0) * BAR / 2.0;
            marks.push(words(
                [0.0, y + 15.0],
                TextAnchor::Start,
                FigureFontStyle::Base,
                name,
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
    fn a_difference_of_nothing_is_a_bare_zero() {
        assert_eq!(
            [0.0, -0.0, 0.2, -0.174, 0.001].map(|it| format_signed_score(it, 2)),
            ["0", "0", "+0.20", "−0.17", "0"]
        );
    }
}
