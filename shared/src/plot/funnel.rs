//! Funnels: how many candidates are left after each step, for each axiom, on a logarithmic scale;
//! and means by thirds of overlap, one panel for each ranker.

use super::{
    FIGURE_MARGIN, FigureColorRole, FigureFontStyle, FigureMark, NOTE, PlotFigure, TextAnchor,
    TextStyle, fit, rect, text,
};
use crate::report::{format, funnel_step_label};
use crate::study::figures::funnel::AxiomRelaxationFunnel;
use crate::study::figures::query_overlap::EffectivenessPerOverlapThird;

const MAX_WIDTH: f64 = 640.0;
/// The left end of bars.
const LEFT: f64 = 170.0;
/// The space for the count at the right of the longest bar.
const COUNT: f64 = 84.0;
const ROW: f64 = 20.0;
const GAP: f64 = 14.0;

/// Draws one bar for each step of each axiom; its length is the logarithm of the count. The width
/// is at most a number of pixels, unless that is less than 320.
pub fn draw_mining_funnel(funnels: &[AxiomRelaxationFunnel], max_width: f64) -> PlotFigure {
    let width = max_width.clamp(320.0, MAX_WIDTH);
    let longest = width - LEFT - COUNT;
    let counts = funnels
        .iter()
        .flat_map(|it| &it.steps)
        .map(|it| it.n_candidates);
    let most = libm::log10(counts.max().unwrap_or(1).max(10) as f64 + 1.0);
    let mut marks = Vec::new();
    let mut y = 8.0;
    for funnel in funnels {
        let name = fit(&funnel.probe.name(), 10);
        let head = TextStyle(FigureFontStyle::Head, FigureColorRole::Foreground);
        marks.push(text([4.0, y + 14.0], TextAnchor::Start, head, name));
        let last = funnel.steps.len().saturating_sub(1);
        for (at, step) in funnel.steps.iter().enumerate() {
            let name = funnel_step_label(step.stage).to_owned();
            marks.push(text([LEFT - 10.0, y + 14.0], TextAnchor::End, NOTE, name));
            let share = libm::log10(step.n_candidates as f64 + 1.0) / most;
            let fill = if at == last {
                FigureColorRole::Gray(4)
            } else {
                FigureColorRole::Gray(2)
            };
            let length = longest * share;
            if step.n_candidates > 0 {
                marks.push(rect([LEFT, y + 3.0], [length, ROW - 6.0], 2.0, fill));
            }
            let place = [LEFT + length + 6.0, y + 14.0];
            marks.push(text(
                place,
                TextAnchor::Start,
                NOTE,
                format::format_count(step.n_candidates),
            ));
            y += ROW;
        }
        y += GAP;
    }
    let said = funnels.iter().map(|it| {
        let ends = [it.steps.first(), it.steps.last()];
        let [first, last] = ends.map(|it| format::format_count(it.map_or(0, |it| it.n_candidates)));
        format!("{}: {last} of {first}", it.probe.name())
    });
    PlotFigure {
        width,
        height: y,
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "Instances found among all candidates. {}",
            said.collect::<Vec<_>>().join("; ")
        ),
        description: "Logarithmic scale: each power of ten has the same length.".to_owned(),
        marks,
    }
}

/// The height of a panel's bars.
const HIGH: f64 = 110.0;
const BAR: f64 = 50.0;
const PANEL: f64 = 3.0 * BAR + 44.0;
const MAX_PANELS_A_ROW: f64 = 4.0;

/// Draws three bars with their intervals for each ranker: little, medium and high overlap. A line
/// across a bar is the value of a trained ranker for another query. The width is at most a number
/// of pixels, unless that is less than one panel needs.
pub fn draw_effectiveness_by_overlap_third(
    names: &[String],
    measure: &str,
    thirds: &EffectivenessPerOverlapThird,
    max_width: f64,
) -> PlotFigure {
    let n_columns = (max_width / PANEL).floor().clamp(1.0, MAX_PANELS_A_ROW) as usize;
    let tops = thirds.rows.iter().flatten().flatten();
    let most = tops.map(|it| it.interval[1]).fold(0.1, f64::max);
    let y_of = |value: f64| HIGH - HIGH * value / most;
    let mut marks = Vec::new();
    for (at, (name, row)) in names.iter().zip(&thirds.rows).enumerate() {
        let left = (at % n_columns) as f64 * PANEL + 8.0;
        let top = (at / n_columns) as f64 * (HIGH + 76.0) + 30.0;
        let head = TextStyle(FigureFontStyle::Head, FigureColorRole::Foreground);
        marks.push(text(
            [left, top - 14.0],
            TextAnchor::Start,
            head,
            fit(name, 20),
        ));
        for (third, mean) in row.iter().enumerate() {
            let x = left + third as f64 * BAR;
            let word = ["little", "medium", "high"][third].to_owned();
            let middle = x + BAR / 2.0 - 4.0;
            marks.push(text(
                [middle, top + HIGH + 16.0],
                TextAnchor::Middle,
                NOTE,
                word,
            ));
            let Some(mean) = mean else {
                let none = format::MISSING.to_owned();
                marks.push(text(
                    [middle, top + HIGH - 4.0],
                    TextAnchor::Middle,
                    NOTE,
                    none,
                ));
                continue;
            };
            let y = y_of(mean.value);
            let size = [BAR - 8.0, HIGH - y];
            marks.push(rect(
                [x, top + y],
                size,
                1.0,
                FigureColorRole::Gray(2 + third as u8),
            ));
            let ends = mean.interval.map(|it| [middle, top + y_of(it)]);
            marks.push(FigureMark::Line {
                from: ends[0],
                to: ends[1],
                width: 1.5,
                stroke: FigureColorRole::Foreground,
                opacity: 1.0,
            });
            let swapped = thirds.swapped_rows.get(at).and_then(|it| it[third]);
            if let Some(swapped) = swapped {
                let y = top + y_of(swapped.value);
                marks.push(FigureMark::Line {
                    from: [x - 3.0, y],
                    to: [x + BAR - 5.0, y],
                    width: 2.0,
                    stroke: FigureColorRole::Foreground,
                    opacity: 1.0,
                });
            }
            let shown = format::format_two_digit_fraction(mean.value);
            marks.push(text(
                [middle, top + HIGH + 32.0],
                TextAnchor::Middle,
                NOTE,
                shown,
            ));
        }
        marks.push(FigureMark::Line {
            from: [left, top + HIGH],
            to: [left + 3.0 * BAR - 8.0, top + HIGH],
            width: 1.0,
            stroke: FigureColorRole::Axis,
            opacity: 1.0,
        });
    }
    let n_rows = names.len().div_ceil(n_columns).max(1);
    let mut description =
        "Thirds by the share of query terms in relevant documents; lines are 95 % \
         intervals over queries."
            .to_owned();
    if thirds
        .swapped_rows
        .iter()
        .flatten()
        .flatten()
        .next()
        .is_some()
    {
        description += " A horizontal line is the value of a trained ranker that reads the text of \
             another query.";
    }
    PlotFigure {
        width: PANEL * names.len().clamp(1, n_columns) as f64,
        height: n_rows as f64 * (HIGH + 76.0),
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "{measure} of {} rankers in thirds of the queries",
            names.len()
        ),
        description,
        marks,
    }
}
