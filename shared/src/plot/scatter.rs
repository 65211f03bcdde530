//! Scatter plot of rankers: effectiveness from left to right, agreement with the axioms from bottom
//! to top.

use super::scale::LinearScale;
use super::{
    FIGURE_MARGIN, FigureColorRole, FigureMark, NOTE, PlotFigure, TextAnchor, fit, line, text,
};
use crate::report::format;
use crate::study::figures::scatter::EffectivenessScatterPlot;

const MAX_WIDTH: f64 = 620.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 52.0;
const FLOOR: f64 = 292.0;

/// Draws the rankers that have both values. The width is at most a number of pixels, unless that is
/// less than 320.
pub fn draw_effectiveness_axiom_scatter(
    names: &[String],
    scatter: &EffectivenessScatterPlot,
    max_width: f64,
) -> PlotFigure {
    let width = max_width.clamp(320.0, MAX_WIDTH);
    let points: Vec<(&String, [f64; 2])> = names
        .iter()
        .zip(&scatter.points)
        .filter_map(|(name, point)| Some((name, (*point)?)))
        .collect();
    let spread = |of: usize| {
        let values = points.iter().map(|it| it.1[of]);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        let room = ((most - least) * 0.15).max(0.02);
        [least - room, most + room]
    };
    let x = LinearScale {
        domain: spread(0),
        range: [LEFT, width - 120.0],
    };
    let y = LinearScale {
        domain: spread(1),
        range: [FLOOR, 16.0],
    };
    let mut marks = vec![
        line([LEFT, FLOOR], [width - 20.0, FLOOR], FigureColorRole::Axis),
        line([LEFT, 16.0], [LEFT, FLOOR], FigureColorRole::Axis),
    ];
    for (tick, at) in x
        .ticks_and_decimals(if width < 480.0 { 3 } else { 6 })
        .0
        .into_iter()
        .map(|it| (it, x.pixel_position(it)))
    {
        let shown = format::format_two_digit_fraction(tick);
        marks.push(text([at, FLOOR + 18.0], TextAnchor::Middle, NOTE, shown));
    }
    for (tick, at) in y
        .ticks_and_decimals(5)
        .0
        .into_iter()
        .map(|it| (it, y.pixel_position(it)))
    {
        marks.push(line(
            [LEFT, at],
            [width - 20.0, at],
            FigureColorRole::Separator,
        ));
        let shown = format::format_two_digit_fraction(tick);
        marks.push(text([LEFT - 8.0, at + 4.0], TextAnchor::End, NOTE, shown));
    }
    let below = [(LEFT + width) / 2.0, HEIGHT - 6.0];
    marks.push(text(
        below,
        TextAnchor::Middle,
        NOTE,
        scatter.measure.clone(),
    ));
    let above = "mean fraction over axioms".to_owned();
    marks.push(text([LEFT + 6.0, 12.0], TextAnchor::Start, NOTE, above));
    for (name, point) in &points {
        let at = [x.pixel_position(point[0]), y.pixel_position(point[1])];
        let beside = [at[0] + 8.0, at[1] + 4.0];
        let values = point.map(format::format_two_digit_fraction);
        marks.push(FigureMark::Group {
            title: format!(
                "{name}: {} {}, mean fraction {}",
                scatter.measure, values[0], values[1]
            ),
            marks: vec![
                FigureMark::Dot {
                    at,
                    fill: FigureColorRole::Gray(4),
                    stroke: FigureColorRole::Background,
                },
                text(beside, TextAnchor::Start, NOTE, fit(name, 18)),
            ],
        });
    }
    let r = scatter.correlation.as_ref().map_or_else(
        || "too few rankers for a correlation".to_owned(),
        |it| format!("r = {}", format::format_signed_estimate(&it.r)),
    );
    PlotFigure {
        width,
        height: HEIGHT,
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "{} against the mean fraction over axioms, {} rankers, {r}",
            scatter.measure,
            points.len()
        ),
        description: "Each dot is a ranker.".to_owned(),
        marks,
    }
}
