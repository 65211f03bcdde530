//! Means of two rankers over groups of queries: two bars for each group, solid for the first ranker
//! and hollow for the second, with their intervals.
//!
//! Every element with a tooltip is a [`FigureMark::Group`]; its index among the groups of the
//! figure identifies it. The width is at most a number of pixels, unless that is less than 320.

use super::{
    FIGURE_MARGIN, FigureColorRole, FigureFontStyle, FigureMark, NOTE, PlotFigure, TextAnchor,
    TextStyle, column_figure_width, fit, queries, rect, text,
};
use crate::compare::RankerComparison;
use crate::compare::query_groups::{MrrComparison, RankerMrr};
use crate::report::comparison::{fqt_bucket_label, query_length_label, question_class_label};
use crate::report::format;
use crate::stats::EstimateWithInterval;

/// The left end of bars.
const LEFT: f64 = 128.0;
/// The space to the right of a bar for the maximum of the scale.
const VALUE: f64 = 120.0;
const TOP: f64 = 34.0;
const BAR: f64 = 12.0;
const GAP: f64 = 12.0;

/// One group of bars: both rankers over the same queries, or each over its own.
enum Row {
    Together(MrrComparison),
    Apart([RankerMrr; 2]),
}

/// Draws RR by FQT, with one tooltip group for each bar: the first ranker's bar of the first
/// bucket, then the second ranker's, and so on.
pub fn draw_rr_by_query_token_fraction(found: &RankerComparison, max_width: f64) -> PlotFigure {
    let rows = found.fqt_buckets.iter();
    let rows = rows.map(|it| (fqt_bucket_label(it), Row::Apart(it.rankers.clone())));
    draw(found, "by FQT", rows.collect(), max_width)
}

/// Draws RR by query length, with one group for each length.
pub fn draw_rr_by_query_length(found: &RankerComparison, max_width: f64) -> PlotFigure {
    let rows = found.query_lengths.iter();
    let rows = rows.map(|it| (query_length_label(it), Row::Together(it.mrr.clone())));
    draw(found, "by query length", rows.collect(), max_width)
}

/// Draws RR by question class, with one group for each type.
pub fn draw_rr_by_question_class(found: &RankerComparison, max_width: f64) -> PlotFigure {
    let rows = found.question_classes.iter();
    let rows = rows.map(|it| {
        let label = question_class_label(it.question_class).to_owned();
        (label, Row::Together(it.mrr.clone()))
    });
    draw(found, "by question class", rows.collect(), max_width)
}

/// Draws RR by the first two words of the query, with one group for each bigram.
pub fn draw_rr_by_first_bigram(found: &RankerComparison, max_width: f64) -> PlotFigure {
    let rows = found.bigrams.iter();
    let rows = rows.map(|it| (it.bigram.clone(), Row::Together(it.mrr.clone())));
    draw(
        found,
        "by first words of the query",
        rows.collect(),
        max_width,
    )
}

fn draw(
    found: &RankerComparison,
    by: &str,
    rows: Vec<(String, Row)>,
    max_width: f64,
) -> PlotFigure {
    let width = column_figure_width(max_width);
    let right = width - VALUE;
    let names = [0, 1].map(|it| found.rankers[it].label.as_str());
    let mut marks = legend(names, width);
    let mut y = TOP;
    for (label, row) in &rows {
        let middle = y + BAR + 5.0;
        marks.push(text(
            [LEFT - 10.0, middle],
            TextAnchor::End,
            NOTE,
            fit(label, 18),
        ));
        let sides = match row {
            Row::Together(both) => both.mrr.map(|rr| (both.n_queries, rr)),
            Row::Apart([first, second]) => [first, second].map(|it| (it.n_queries, it.mrr)),
        };
        let bars = [0, 1].map(|side| {
            let (n, rr) = sides[side];
            bar(side, [y + side as f64 * BAR, right], n, rr)
        });
        let said = [0, 1].map(|side| {
            let (n, rr) = sides[side];
            let rr = rr.map_or(format::MISSING.to_owned(), |it| {
                format::format_estimate(&it)
            });
            format!("{} {rr}, {}", names[side], queries(n))
        });
        let label = fit(label, 60);
        match row {
            Row::Together(_) => marks.push(FigureMark::Group {
                title: format!("{label}: {}; {}", said[0], said[1]),
                marks: bars.concat(),
            }),
            Row::Apart(_) => {
                marks.extend(
                    bars.into_iter()
                        .zip(said)
                        .map(|(marks, said)| FigureMark::Group {
                            title: format!("{label}: {said}"),
                            marks,
                        }),
                )
            }
        }
        y += 2.0 * BAR + GAP;
    }
    marks.push(FigureMark::Line {
        from: [LEFT, TOP - 4.0],
        to: [LEFT, y - GAP + 4.0],
        width: 1.0,
        stroke: FigureColorRole::Axis,
        opacity: 1.0,
    });
    PlotFigure {
        width,
        height: y - GAP + 8.0,
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "RR@10 of {} and {} {by}, {} groups",
            names[0],
            names[1],
            rows.len()
        ),
        description: format!(
            "Upper bars: {}; lower bars: {}. Lines are 95 % intervals over queries; numbers of \
             queries in parentheses.",
            names[0], names[1]
        ),
        marks,
    }
}

/// Returns a legend of the bars, which begins left of them if the figure is narrow.
fn legend(names: [&str; 2], width: f64) -> Vec<FigureMark> {
    let start = (width - 400.0).clamp(0.0, LEFT);
    let step = ((width - start) / 2.0).min(200.0);
    let mut marks = Vec::new();
    for (side, name) in names.iter().enumerate() {
        let left = start + side as f64 * step;
        marks.extend(filled(side, [left, 6.0], 18.0));
        let words = TextStyle(FigureFontStyle::Label, FigureColorRole::Foreground);
        marks.push(text(
            [left + 26.0, 16.0],
            TextAnchor::Start,
            words,
            fit(name, ((step - 28.0) / 7.0) as usize),
        ));
    }
    marks
}

/// Returns the shape of a bar: solid for the first ranker, hollow for the second.
fn filled(side: usize, at: [f64; 2], width: f64) -> Vec<FigureMark> {
    let size = [width, BAR - 2.0];
    let mut marks = vec![rect(at, size, 1.0, FigureColorRole::Axis)];
    if side == 1 && width > 3.0 {
        let inner = [at[0] + 1.5, at[1] + 1.5];
        marks.push(rect(
            inner,
            [width - 3.0, size[1] - 3.0],
            0.0,
            FigureColorRole::Background,
        ));
    }
    marks
}

/// Returns a bar with its value; `right` is the end of a bar for the maximum of the scale.
fn bar(
    side: usize,
    [y, right]: [f64; 2],
    n: u64,
    rr: Option<EstimateWithInterval>,
) -> Vec<FigureMark> {
    let baseline = y + BAR - 2.0;
    let Some(rr) = rr else {
        let none = format!("{} ({})", format::MISSING, format::format_count(n));
        return vec![text([LEFT + 6.0, baseline], TextAnchor::Start, NOTE, none)];
    };
    let x = |it: f64| LEFT + (right - LEFT) * it.clamp(0.0, 1.0);
    let mut marks = filled(side, [LEFT, y], (x(rr.value) - LEFT).max(1.0));
    let [low, high] = rr.interval.map(x);
    let middle = y + BAR / 2.0 - 1.0;
    marks.push(FigureMark::Line {
        from: [low, middle],
        to: [high, middle],
        width: 1.5,
        stroke: FigureColorRole::Foreground,
        opacity: 1.0,
    });
    let said = format!(
        "{} ({})",
        format::format_two_digit_fraction(rr.value),
        format::format_count(n)
    );
    marks.push(text(
        [right + 12.0, baseline],
        TextAnchor::Start,
        NOTE,
        said,
    ));
    marks
}
