//! Comparison of two rankers by query: the difference in RR@10, sorted (Padigela, Zamani and Croft
//! 2019, figure 1), and the number of documents that their top lists share (their table 4). The
//! width is at most a number of pixels, unless that is less than 320.

use super::scale::LinearScale;
use super::{
    COLUMN_FIGURE_WIDTH, FIGURE_MARGIN, FigureColorRole, FigureMark, NOTE, PlotFigure, TextAnchor,
    column_figure_width, fit, line, queries, rect, text,
};
use crate::compare::query_list::ReciprocalRankChangeKind;
use crate::compare::{MAX_DEPTH, RankerComparison};
use crate::report::comparison::rr_change_label;
use crate::report::format;

const LEFT: f64 = 44.0;
/// The space to the right of the axes.
const AFTER: f64 = 12.0;

/// The upper end of the bars, and the line of 0.
const HIGHEST: f64 = 30.0;
const ZERO: f64 = 110.0;

/// Draws a bar for each query, the highest difference first. If there are more queries than pixels,
/// only as many evenly spaced ones are drawn. The groups are those of
/// [`ReciprocalRankChangeKind::ALL`].
pub fn draw_rr_change_by_query(found: &RankerComparison, max_width: f64) -> PlotFigure {
    let names = [0, 1].map(|it| found.rankers[it].label.as_str());
    let it = &found.rr_changes;
    let width = column_figure_width(max_width);
    let right = width - AFTER;
    let series = sampled(&it.differences, (right - LEFT) as usize);
    let step = (right - LEFT) / series.len().max(1) as f64;
    let counts = it.counts_by_kind();
    let mut marks = Vec::new();
    for value in [-1.0, -0.5, 0.0, 0.5, 1.0] {
        let y = ZERO - (ZERO - HIGHEST) * value;
        let stroke = if value == 0.0 {
            FigureColorRole::Axis
        } else {
            FigureColorRole::Separator
        };
        marks.push(line([LEFT, y], [right, y], stroke));
        let said = format::format_signed_fraction(value);
        marks.push(text([LEFT - 6.0, y + 4.0], TextAnchor::End, NOTE, said));
    }
    for (turn, count) in ReciprocalRankChangeKind::ALL.iter().zip(counts) {
        let own = series.iter().enumerate();
        let own = own.filter(|it| kind(*it.1) == *turn).map(|(at, gain)| {
            let height = ((ZERO - HIGHEST) * gain.abs()).max(2.0);
            let top = if *gain < 0.0 { ZERO } else { ZERO - height };
            let left = LEFT + at as f64 * step;
            let gap = if step > 4.0 { 1.0 } else { 0.0 };
            rect(
                [left, top],
                [(step - gap).max(0.3), height],
                0.0,
                ink(*turn),
            )
        });
        marks.push(FigureMark::Group {
            title: format!(
                "{}: {}",
                fit(&rr_change_label(*turn, names), 80),
                queries(count)
            ),
            marks: own.collect(),
        });
    }
    let words = [
        (
            it.n_better,
            rr_change_label(ReciprocalRankChangeKind::Better, names),
        ),
        (
            it.n_equal,
            rr_change_label(ReciprocalRankChangeKind::Equal, names),
        ),
        (
            it.n_worse,
            rr_change_label(ReciprocalRankChangeKind::Worse, names),
        ),
    ];
    let is_narrow = width < COLUMN_FIGURE_WIDTH;
    for (at, (count, words)) in words.into_iter().enumerate() {
        let (place, anchor) = match is_narrow {
            true => ([LEFT, 214.0 + 16.0 * at as f64], TextAnchor::Start),
            false => (
                [[LEFT, (LEFT + right) / 2.0, right][at], 214.0],
                [TextAnchor::Start, TextAnchor::Middle, TextAnchor::End][at],
            ),
        };
        let said = format!("{}: {}", fit(&words, 24), format::format_count(count));
        marks.push(text(place, anchor, NOTE, said));
    }
    marks.push(text(
        [LEFT, 14.0],
        TextAnchor::Start,
        NOTE,
        fit(
            &format!("RR@10 of {} minus {}", names[1], names[0]),
            ((right - LEFT) / 7.0).min(64.0) as usize,
        ),
    ));
    PlotFigure {
        width,
        height: if is_narrow { 252.0 } else { 220.0 },
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "Difference in RR@10, {} minus {}: better on {} queries, equal on {}, worse on {}; \
             RR@10 rises from 0 to 1 on {}",
            names[1],
            names[0],
            format::format_count(it.n_better),
            format::format_count(it.n_equal),
            format::format_count(it.n_worse),
            format::format_count(it.n_zero_to_one)
        ),
        description: "Each bar is a query; bars are sorted by difference.".to_owned(),
        marks,
    }
}

/// Returns at most `most` values, evenly spaced, including the first and the last.
fn sampled(series: &[f64], most: usize) -> Vec<f64> {
    if series.len() <= most {
        return series.to_vec();
    }
    let last = series.len() - 1;
    (0..most).map(|it| series[it * last / (most - 1)]).collect()
}

fn kind(gain: f64) -> ReciprocalRankChangeKind {
    match gain {
        1.0.. => ReciprocalRankChangeKind::ZeroToOne,
        ..=-1.0 => ReciprocalRankChangeKind::OneToZero,
        0.0 => ReciprocalRankChangeKind::Equal,
        ..0.0 => ReciprocalRankChangeKind::Worse,
        _ => ReciprocalRankChangeKind::Better,
    }
}

fn ink(turn: ReciprocalRankChangeKind) -> FigureColorRole {
    match turn {
        ReciprocalRankChangeKind::ZeroToOne | ReciprocalRankChangeKind::OneToZero => {
            FigureColorRole::Foreground
        }
        ReciprocalRankChangeKind::Better | ReciprocalRankChangeKind::Worse => {
            FigureColorRole::Missing
        }
        ReciprocalRankChangeKind::Equal => FigureColorRole::Axis,
    }
}

/// The upper end and the floor of the second figure.
const CEILING: f64 = 20.0;
const FLOOR: f64 = 240.0;

/// Draws the mean MUR(i) for each i, one group each, with its interval and the fitted line; the
/// line of two equal lists lies above.
pub fn draw_mean_overlap_by_depth(found: &RankerComparison, max_width: f64) -> PlotFigure {
    let names = [0, 1].map(|it| found.rankers[it].label.as_str());
    let overlap = &found.top_overlap;
    let width = column_figure_width(max_width);
    let right = width - AFTER - 100.0;
    let deepest = MAX_DEPTH as f64;
    let x = LinearScale {
        domain: [0.0, deepest],
        range: [LEFT, right],
    };
    let y = LinearScale {
        domain: [0.0, deepest],
        range: [FLOOR, CEILING],
    };
    let mut marks = vec![
        line([LEFT, FLOOR], [right, FLOOR], FigureColorRole::Axis),
        line([LEFT, CEILING], [LEFT, FLOOR], FigureColorRole::Axis),
        line(
            [x.pixel_position(0.0), y.pixel_position(0.0)],
            [x.pixel_position(deepest), y.pixel_position(deepest)],
            FigureColorRole::Separator,
        ),
    ];
    let beside = [
        x.pixel_position(deepest) + 6.0,
        y.pixel_position(deepest) + 4.0,
    ];
    marks.push(text(
        beside,
        TextAnchor::Start,
        NOTE,
        "same ranking".to_owned(),
    ));
    for tick in [2, 4, 6, 8, 10] {
        let at = f64::from(tick);
        let across = [x.pixel_position(at), FLOOR + 18.0];
        marks.push(text(across, TextAnchor::Middle, NOTE, tick.to_string()));
        let up = [LEFT - 8.0, y.pixel_position(at) + 4.0];
        marks.push(text(up, TextAnchor::End, NOTE, tick.to_string()));
    }
    let fitted = overlap.regression.map(|it| {
        let at = |i: f64| {
            [
                x.pixel_position(i),
                y.pixel_position((it.slope * i + it.intercept).clamp(0.0, deepest)),
            ]
        };
        let end = at(deepest);
        marks.push(line(at(1.0), end, FigureColorRole::Secondary));
        let sign = if it.intercept < 0.0 { "−" } else { "+" };
        let [slope, intercept] =
            [it.slope, it.intercept.abs()].map(|it| format::format_score(it, 2));
        let said = format!("{slope} i {sign} {intercept}");
        let place = [end[0] + 6.0, end[1] + 4.0];
        marks.push(text(place, TextAnchor::Start, NOTE, said.clone()));
        said
    });
    for (at, (mean, n_apart)) in overlap.means.iter().zip(&overlap.n_disjoint).enumerate() {
        let i = (at + 1) as f64;
        let place = [x.pixel_position(i), y.pixel_position(mean.value)];
        let [low, high] = mean.interval.map(|it| y.pixel_position(it));
        marks.push(FigureMark::Group {
            title: format!(
                "Top {}: {} shared on average, {} with no shared document",
                at + 1,
                format::format_score(mean.value, 2),
                queries(*n_apart)
            ),
            marks: vec![
                line(
                    [place[0], low],
                    [place[0], high],
                    FigureColorRole::Foreground,
                ),
                FigureMark::Dot {
                    at: place,
                    fill: FigureColorRole::Secondary,
                    stroke: FigureColorRole::Background,
                },
            ],
        });
    }
    marks.push(text(
        [LEFT + 6.0, CEILING - 6.0],
        TextAnchor::Start,
        NOTE,
        "documents shared in the top i".to_owned(),
    ));
    PlotFigure {
        width,
        height: FLOOR + 26.0,
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "Documents that {} and {} share in their top i: {} in the top 10{}",
            names[0],
            names[1],
            overlap
                .means
                .last()
                .map_or(format::MISSING.to_owned(), |it| format::format_score(
                    it.value, 2
                )),
            fitted.map_or_else(String::new, |it| format!("; fitted line {it}"))
        ),
        description: "Dots are means over queries with 95 % intervals.".to_owned(),
        marks,
    }
}
