//! Histograms: the margins of one ranker on one axiom, with violations left of 0, satisfied
//! instances right of 0 and ties in a separate bar; and the score differences of one ranker on one
//! behavioral test, with the band of ±ε around 0.

use super::scale::LinearScale;
use super::{FigureColorRole, FigureMark, NOTE, PlotFigure, TextAnchor, line, rect, text};
use crate::report::format;
use crate::study::instance_list::MarginHistogram;

/// The width and height of the figure.
const SIZE: [f64; 2] = [344.0, 122.0];
/// The left end of the first bar, and the baseline of the bars.
const LEFT: f64 = 4.0;
const FLOOR: f64 = 98.0;
/// The height of the highest bar.
const HIGHEST: f64 = 76.0;
/// The upper end of the band.
const BAND_TOP: f64 = 16.0;
/// The left and right end of the bar of ties, if there are any.
const TIES: [f64; 2] = [318.0, 334.0];

/// The labels of both sides of 0, and the width of the band between them.
struct Sides {
    below: &'static str,
    above: &'static str,
    /// The label of the separate bar for values at 0.
    on: &'static str,
    /// The name of the values.
    of: &'static str,
    detail: &'static str,
    /// Half of the width of the band around 0 that counts as neither side.
    band: f64,
}

/// Draws a bar for each bin, rust below 0 and blue above, and a separate bar for ties.
pub fn draw_margin_histogram(histogram: &MarginHistogram) -> PlotFigure {
    let sides = Sides {
        below: "violated",
        above: "satisfied",
        on: "tied",
        of: "Margins",
        detail: "The margin is the left side of the expected preference minus the right side; \
             above zero, the ranker agrees with the axiom.",
        band: 0.0,
    };
    draw(histogram, &sides)
}

/// Draws a histogram of the score differences of a behavioral test. Differences of at most `delta`
/// are neutral; if it is 0, neutral samples have a separate bar.
pub fn draw_score_difference_histogram(histogram: &MarginHistogram, delta: f64) -> PlotFigure {
    let sides = Sides {
        below: "negative",
        above: "positive",
        on: if delta > 0.0 { "equal" } else { "neutral" },
        of: "Differences",
        detail: "The difference is the score of the first document minus that of the second; \
             within ε of zero, a sample is neutral.",
        band: delta,
    };
    draw(histogram, &sides)
}

fn draw(histogram: &MarginHistogram, sides: &Sides) -> PlotFigure {
    let MarginHistogram {
        lower_edge: from,
        bin_width: width,
        counts,
        n_tied,
    } = histogram;
    let edge = |n: usize| from + n as f64 * width;
    let to = edge(counts.len());
    let right = if *n_tied > 0 {
        TIES[0] - 22.0
    } else {
        SIZE[0] - LEFT
    };
    let x = LinearScale {
        domain: [*from, to],
        range: [LEFT, right],
    };
    let most = counts
        .iter()
        .chain([n_tied])
        .copied()
        .max()
        .unwrap_or(0)
        .max(1);
    let y = LinearScale {
        domain: [0.0, most as f64],
        range: [0.0, HIGHEST],
    };
    // A bin belongs to the side of its center, since its edge at 0 can have a rounding error.
    let is_below = |n: usize| edge(n) + width / 2.0 < 0.0;
    let bar = |left: f64, right: f64, count: u64, fill: FigureColorRole| {
        let height = y.pixel_position(count as f64);
        let size = [(right - left - 0.8).max(0.5), height];
        rect([left, FLOOR - height], size, 0.0, fill)
    };
    let mut marks: Vec<FigureMark> = Vec::new();
    let band = [-sides.band, sides.band].map(|it| x.pixel_position(it).clamp(LEFT, right));
    if sides.band > 0.0 {
        let size = [band[1] - band[0], FLOOR - BAND_TOP];
        marks.push(rect(
            [band[0], BAND_TOP],
            size,
            0.0,
            FigureColorRole::Step(0),
        ));
    }
    // With a tolerance, since edges can have a rounding error.
    let is_neutral = |n: usize| edge(n).abs().max(edge(n + 1).abs()) <= sides.band * (1.0 + 1e-9);
    for (n, &count) in counts.iter().enumerate().filter(|it| *it.1 > 0) {
        let fill = match is_below(n) {
            _ if is_neutral(n) => FigureColorRole::Missing,
            true => FigureColorRole::Step(-4),
            false => FigureColorRole::Step(4),
        };
        marks.push(bar(
            x.pixel_position(edge(n)),
            x.pixel_position(edge(n + 1)),
            count,
            fill,
        ));
    }
    if sides.band > 0.0 {
        let edges = band.map(|it| line([it, BAND_TOP], [it, FLOOR], FigureColorRole::Secondary));
        marks.extend(edges);
    }
    marks.push(line(
        [LEFT, FLOOR + 0.5],
        [right, FLOOR + 0.5],
        FigureColorRole::Axis,
    ));
    let zero = x.pixel_position(0.0).clamp(LEFT, right);
    marks.push(line(
        [zero, 2.0],
        [zero, FLOOR + 6.0],
        FigureColorRole::Foreground,
    ));
    // The label needs about 54 pixels left of the line.
    if zero - LEFT > 54.0 {
        marks.push(text(
            [zero - 6.0, 11.0],
            TextAnchor::End,
            NOTE,
            sides.below.to_owned(),
        ));
    }
    if right - zero > 54.0 {
        marks.push(text(
            [zero + 6.0, 11.0],
            TextAnchor::Start,
            NOTE,
            sides.above.to_owned(),
        ));
    }
    let (ticks, digits) = x.ticks_and_decimals(5);
    // A label centered at the edge of the figure would be cut off.
    let inside = |it: &f64| (LEFT + 8.0..=right - 8.0).contains(it);
    for (tick, at) in ticks
        .iter()
        .map(|it| (*it, x.pixel_position(*it)))
        .filter(|it| inside(&it.1))
    {
        marks.push(text(
            [at, SIZE[1] - 5.0],
            TextAnchor::Middle,
            NOTE,
            format::format_score(tick, digits),
        ));
    }
    if *n_tied > 0 {
        marks.push(bar(TIES[0], TIES[1], *n_tied, FigureColorRole::Missing));
        marks.push(line(
            [TIES[0] - 6.0, FLOOR + 0.5],
            [TIES[1] + 6.0, FLOOR + 0.5],
            FigureColorRole::Axis,
        ));
        let at = [(TIES[0] + TIES[1]) / 2.0, SIZE[1] - 5.0];
        marks.push(text(at, TextAnchor::Middle, NOTE, sides.on.to_owned()));
    }
    let (below, above): (Vec<_>, Vec<_>) = counts.iter().enumerate().partition(|it| is_below(it.0));
    let total = |bins: Vec<(usize, &u64)>| format::format_count(bins.iter().map(|it| it.1).sum());
    PlotFigure {
        width: SIZE[0],
        height: SIZE[1],
        margin: 0.0,
        alt_text: format!(
            "{} from {} to {}: {} below zero, {} above, {} {}",
            sides.of,
            format::format_score(*from, digits + 1),
            format::format_score(to, digits + 1),
            total(below),
            total(above),
            format::format_count(*n_tied),
            sides.on
        ),
        description: sides.detail.to_owned(),
        marks,
    }
}
