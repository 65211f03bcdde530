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

/// The height of a label, and an estimate of the width of its characters, in pixels.
const LINE: f64 = 13.0;
const CHARACTER: f64 = 7.0;

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
    let above_at = [LEFT + 6.0, 12.0];
    let obstacle = label_box(above_at, TextAnchor::Start, &above);
    marks.push(text(above_at, TextAnchor::Start, NOTE, above));
    let dots = points.iter().map(|(name, point)| {
        let at = [x.pixel_position(point[0]), y.pixel_position(point[1])];
        (at, fit(name, 18))
    });
    let dots: Vec<([f64; 2], String)> = dots.collect();
    let places = place_labels(&dots, obstacle, width);
    for (((name, point), (at, label)), (place, anchor)) in points.iter().zip(dots).zip(places) {
        let values = point.map(format::format_two_digit_fraction);
        let middle = [place[0], place[1] - 4.0];
        let leader =
            ((middle[1] - at[1]).abs() > 1.0).then(|| line(at, middle, FigureColorRole::Axis));
        marks.push(FigureMark::Group {
            title: format!(
                "{name}: {} {}, mean fraction {}",
                scatter.measure, values[0], values[1]
            ),
            marks: leader
                .into_iter()
                .chain([
                    FigureMark::Dot {
                        at,
                        fill: FigureColorRole::Gray(4),
                        stroke: FigureColorRole::Background,
                    },
                    text(place, anchor, NOTE, label),
                ])
                .collect(),
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

/// The left, upper, right and lower end of a part of the figure.
type Edges = [f64; 4];

/// Returns the place of the label of each dot, from top to bottom: to the right or the left of it,
/// and as many lines lower or higher as needed, so that it covers no dot and no other label. If
/// there is no such place, it is to the right.
fn place_labels(
    dots: &[([f64; 2], String)],
    obstacle: Edges,
    width: f64,
) -> Vec<([f64; 2], TextAnchor)> {
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by(|&a, &b| dots[a].0[1].total_cmp(&dots[b].0[1]));
    let around = dots
        .iter()
        .map(|([x, y], _)| [x - 4.0, y - 4.0, x + 4.0, y + 4.0]);
    let mut taken: Vec<Edges> = around.chain([obstacle]).collect();
    let shifts = || (0..40).map(|it| if it % 2 == 0 { -it / 2 } else { it / 2 + 1 });
    let sides = [(8.0, TextAnchor::Start), (-8.0, TextAnchor::End)];
    let mut places = vec![([0.0; 2], TextAnchor::Start); dots.len()];
    for at in order {
        let ([x, y], label) = &dots[at];
        let mut candidates = shifts().flat_map(|shift| {
            let baseline = y + 4.0 + LINE * f64::from(shift);
            sides.map(|(gap, anchor)| ([x + gap, baseline], anchor))
        });
        let is_free = |(place, anchor): &([f64; 2], TextAnchor)| {
            let own = label_box(*place, *anchor, label);
            let [left, top, right, bottom] = own;
            let is_inside = left > LEFT && top > 0.0 && right < width && bottom < FLOOR;
            is_inside && !taken.iter().any(|it| do_overlap(own, *it))
        };
        let beside = ([x + 8.0, y + 4.0], TextAnchor::Start);
        let (place, anchor) = candidates.find(is_free).unwrap_or(beside);
        taken.push(label_box(place, anchor, label));
        places[at] = (place, anchor);
    }
    places
}

/// Returns the space that a label takes, which begins or ends at a position on its baseline.
fn label_box([x, y]: [f64; 2], anchor: TextAnchor, label: &str) -> Edges {
    let width = CHARACTER * label.chars().count() as f64;
    let left = if anchor == TextAnchor::End {
        x - width
    } else {
        x
    };
    [left, y - 10.0, left + width, y - 10.0 + LINE]
}

fn do_overlap(one: Edges, other: Edges) -> bool {
    (0..2).all(|it| one[it] < other[it + 2] && other[it] < one[it + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_close_dots_do_not_overlap() {
        let names = (0..12).map(|it| format!("a ranker of name {it}"));
        let names: Vec<String> = names.collect();
        let points = (0..11).map(|it| Some([0.3 + 1e-4 * f64::from(it), 0.7]));
        let scatter = EffectivenessScatterPlot {
            measure: "nDCG@10".to_owned(),
            axioms: Vec::new(),
            points: points.chain([Some([0.35, 0.9])]).collect(),
            correlation: None,
        };
        for width in [320.0, MAX_WIDTH] {
            let figure = draw_effectiveness_axiom_scatter(&names, &scatter, width);
            let marks = figure.marks.iter().flat_map(|it| match it {
                FigureMark::Group { marks, .. } => marks.clone(),
                _ => Vec::new(),
            });
            let boxes = marks.filter_map(|it| match it {
                FigureMark::Text {
                    at, anchor, text, ..
                } => Some(label_box(at, anchor, &text)),
                _ => None,
            });
            let boxes: Vec<Edges> = boxes.collect();
            assert_eq!(boxes.len(), 12);
            for (at, one) in boxes.iter().enumerate() {
                assert!(one[0] > LEFT && one[2] < width, "{one:?}");
                assert!(
                    !boxes[..at].iter().any(|it| do_overlap(*it, *one)),
                    "{boxes:?}"
                );
            }
        }
    }
}
