//! Figures of annotations: estimates as dots with their intervals, and decisions per day as bars.

use super::scale::LinearScale;
use super::{
    COLUMN_FIGURE_WIDTH, FIGURE_MARGIN, FigureColorRole, FigureFontStyle, FigureMark, NOTE,
    PlotFigure, TextAnchor, TextStyle, fit, line, rect, text,
};
use crate::annotation::AnnotatorKind;
use crate::annotation::agreement::InterAnnotatorAgreementReport;
use crate::annotation::estimate::AgreementEstimates;
use crate::annotation::progress::AnnotationTaskProgress;
use crate::annotation::tables;
use crate::report::format;
use crate::stats::EstimateWithInterval;

/// The left and right end of the scale.
const SCALE: [f64; 2] = [172.0, 428.0];
const TOP: f64 = 24.0;
const STEP: f64 = 18.0;
/// The space between groups.
const GAP: f64 = 26.0;

/// A named group of estimates.
struct Group {
    name: String,
    dots: Vec<Dot>,
}

struct Dot {
    name: String,
    estimate: Option<EstimateWithInterval>,
    /// The wider interval, drawn thinner.
    wider: Option<[f64; 2]>,
    n_items: u64,
}

/// Draws the coefficients of agreement, over all items and for each probe.
pub fn draw_agreement_coefficients(found: &InterAnnotatorAgreementReport) -> PlotFigure {
    let all = (tables::ALL_PROBES.to_owned(), &found.overall);
    let probes = found.by_probe.iter();
    let probes = probes.map(|it| (it.probe.name().into_owned(), &it.coefficients));
    let groups = std::iter::once(all).chain(probes).map(|(name, of)| Group {
        name,
        dots: tables::labeled_agreement_coefficients(of)
            .map(|(name, it)| Dot {
                name: name.to_owned(),
                estimate: it.map(|it| it.estimate),
                wider: None,
                n_items: it.map_or(0, |it| it.n_items),
            })
            .into(),
    });
    let groups: Vec<Group> = groups.collect();
    let detail = "1 is perfect agreement; 0 is chance agreement for κ and α. Lines are 95 % \
         intervals over queries; numbers of items in parentheses.";
    draw("Inter-annotator agreement", detail, &groups)
}

/// Draws the agreement of axiom, rankers, relevance judgments and annotators, over all items and
/// for each probe.
pub fn draw_agreement_with_annotators(
    found: &AgreementEstimates,
    rankers: &[String],
    kind: AnnotatorKind,
) -> PlotFigure {
    let groups = tables::estimate_rows_with_probe_names(found).map(|(name, of)| Group {
        name,
        dots: tables::labeled_agreement_shares(of, rankers, kind)
            .into_iter()
            .map(|(name, it)| Dot {
                name,
                estimate: it.agreement.map(|it| it.estimate),
                wider: it.agreement.and_then(|it| it.interval_over_annotators),
                n_items: it.agreement.map_or(0, |it| it.n_items),
            })
            .collect(),
    });
    let groups: Vec<Group> = groups.collect();
    let detail = "Thick lines: 95 % intervals that resample queries. Thin lines: 95 % intervals \
         that resample queries and annotators. Numbers of items in parentheses.";
    draw(&format!("Agreement with {}", kind.noun()), detail, &groups)
}

fn draw(label: &str, detail: &str, groups: &[Group]) -> PlotFigure {
    let scale = scale(groups);
    let n_dots: usize = groups.iter().map(|it| it.dots.len()).sum();
    let bottom = TOP + n_dots as f64 * STEP + groups.len() as f64 * GAP;
    let mut marks = Vec::new();
    let (ticks, digits) = scale.ticks_and_decimals(5);
    for tick in ticks {
        let x = scale.pixel_position(tick);
        marks.push(line([x, TOP], [x, bottom], FigureColorRole::Separator));
        let shown = format::format_score(tick, digits);
        marks.push(text([x, TOP - 8.0], TextAnchor::Middle, NOTE, shown));
    }
    let mut y = TOP;
    for group in groups {
        let head = TextStyle(FigureFontStyle::Head, FigureColorRole::Foreground);
        let name = fit(&group.name, 22);
        marks.push(text([0.0, y + 18.0], TextAnchor::Start, head, name));
        y += GAP;
        for dot in &group.dots {
            marks.push(FigureMark::Group {
                title: format!("{}, {}: {}", group.name, dot.name, said(dot)),
                marks: one(dot, y + STEP / 2.0, scale),
            });
            y += STEP;
        }
    }
    PlotFigure {
        width: COLUMN_FIGURE_WIDTH,
        height: bottom,
        margin: FIGURE_MARGIN,
        alt_text: found(label, groups),
        description: detail.to_owned(),
        marks,
    }
}

/// Describes the estimates over all items in a sentence.
fn found(label: &str, groups: &[Group]) -> String {
    let all = groups.first().into_iter().flat_map(|it| &it.dots);
    let all: Vec<String> = all.map(|it| format!("{} {}", it.name, said(it))).collect();
    format!("{label}: {}", all.join("; "))
}

/// Formats an estimate as `.71 [.65, .77] (120)`.
fn said(dot: &Dot) -> String {
    match &dot.estimate {
        Some(it) => format!(
            "{} ({})",
            format::format_estimate(it),
            format::format_count(dot.n_items)
        ),
        None => format::MISSING.to_owned(),
    }
}

/// Returns a scale to 1 from 0, or from below 0 if an interval extends there.
fn scale(groups: &[Group]) -> LinearScale {
    let dots = groups.iter().flat_map(|it| &it.dots);
    let intervals = dots.flat_map(|it| {
        it.estimate
            .map(|it| it.interval)
            .into_iter()
            .chain(it.wider)
    });
    let least = intervals.map(|it| it[0]).fold(0.0, f64::min);
    // A multiple of one half gives round ticks.
    let from = (libm::floor(least * 2.0) / 2.0).max(-1.0);
    LinearScale {
        domain: [from, 1.0],
        range: SCALE,
    }
}

fn one(dot: &Dot, y: f64, scale: LinearScale) -> Vec<FigureMark> {
    let mut marks = vec![text(
        [12.0, y + 4.0],
        TextAnchor::Start,
        NOTE,
        fit(&dot.name, 26),
    )];
    let x = |it: f64| scale.pixel_position(it.clamp(scale.domain[0], scale.domain[1]));
    let mut bounds = |of: [f64; 2], width: f64| {
        marks.push(FigureMark::Line {
            from: [x(of[0]), y],
            to: [x(of[1]), y],
            width,
            stroke: FigureColorRole::Foreground,
            opacity: 1.0,
        });
    };
    if let Some(wider) = dot.wider {
        bounds(wider, 1.0);
    }
    if let Some(it) = &dot.estimate {
        bounds(it.interval, 2.5);
        marks.push(FigureMark::Dot {
            at: [x(it.value), y],
            fill: FigureColorRole::Foreground,
            stroke: FigureColorRole::Background,
        });
    }
    let font = TextStyle(FigureFontStyle::Label, FigureColorRole::Foreground);
    marks.push(text(
        [SCALE[1] + 12.0, y + 4.0],
        TextAnchor::Start,
        font,
        said(dot),
    ));
    marks
}

/// The height of the highest bar.
const HIGHEST: f64 = 120.0;
const FLOOR: f64 = 148.0;

/// Draws the number of decisions of all annotators by day, from the first to the last day with any.
pub fn draw_decisions_per_day(found: &AnnotationTaskProgress) -> PlotFigure {
    let first = found.decisions_by_day.first().map_or(0, |it| it.0);
    let last = found.decisions_by_day.last().map_or(first, |it| it.0);
    let most = found
        .decisions_by_day
        .iter()
        .map(|it| it.1)
        .max()
        .unwrap_or_default();
    let wide = (COLUMN_FIGURE_WIDTH - 60.0) / (last - first + 1) as f64;
    let mut marks = Vec::new();
    for &(day, n) in &found.decisions_by_day {
        let height = HIGHEST * n as f64 / most.max(1) as f64;
        let left = 52.0 + (day - first) as f64 * wide;
        let width = (wide - 1.0).clamp(1.0, 48.0);
        marks.push(FigureMark::Group {
            title: format!(
                "{}: {}",
                tables::format_epoch_day(day),
                format::format_count(n)
            ),
            marks: vec![rect(
                [left, FLOOR - height],
                [width, height],
                1.0,
                FigureColorRole::Gray(4),
            )],
        });
    }
    marks.push(line(
        [52.0, FLOOR],
        [COLUMN_FIGURE_WIDTH - 8.0, FLOOR],
        FigureColorRole::Axis,
    ));
    let top = FLOOR - HIGHEST;
    marks.push(text(
        [44.0, top + 4.0],
        TextAnchor::End,
        NOTE,
        format::format_count(most),
    ));
    marks.push(text(
        [44.0, FLOOR + 4.0],
        TextAnchor::End,
        NOTE,
        "0".to_owned(),
    ));
    let below = FLOOR + 18.0;
    marks.push(text(
        [52.0, below],
        TextAnchor::Start,
        NOTE,
        tables::format_epoch_day(first),
    ));
    if last > first {
        let to = tables::format_epoch_day(last);
        marks.push(text(
            [COLUMN_FIGURE_WIDTH - 8.0, below],
            TextAnchor::End,
            NOTE,
            to,
        ));
    }
    let n_all: u64 = found.decisions_by_day.iter().map(|it| it.1).sum();
    PlotFigure {
        width: COLUMN_FIGURE_WIDTH,
        height: below + 6.0,
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "{} decisions from {} to {}, at most {} per day",
            format::format_count(n_all),
            tables::format_epoch_day(first),
            tables::format_epoch_day(last),
            format::format_count(most)
        ),
        description: "One bar per day (UTC).".to_owned(),
        marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, interval: [f64; 2]) -> Option<EstimateWithInterval> {
        Some(EstimateWithInterval { value, interval })
    }

    fn dot(estimate: Option<EstimateWithInterval>) -> Dot {
        Dot {
            name: "raw".to_owned(),
            estimate,
            wider: None,
            n_items: 12,
        }
    }

    #[test]
    fn the_scale_goes_as_far_below_zero_as_it_must() {
        let group = |low: f64| {
            let dots = vec![dot(estimate(0.4, [low, 0.9])), dot(None)];
            vec![Group {
                name: "all".to_owned(),
                dots,
            }]
        };
        assert_eq!(scale(&group(0.2)).domain, [0.0, 1.0]);
        assert_eq!(scale(&group(-0.2)).domain, [-0.5, 1.0]);
        assert_eq!(scale(&group(-7.0)).domain, [-1.0, 1.0]);
        let figure = draw("Agreement", "", &group(0.2));
        assert_eq!(figure.alt_text, "Agreement: raw .40 [.20, .90] (12); raw –");
    }

    #[test]
    fn a_day_without_decisions_keeps_its_place() {
        let found = AnnotationTaskProgress {
            n_items: 0,
            n_started: 0,
            n_complete: 0,
            n_decisions_required: 0,
            n_decisions: 0,
            n_adjudicated: 0,
            n_reported: 0,
            decisions_by_day: vec![(0, 3), (4, 6)],
            by_annotator: Vec::new(),
        };
        let figure = draw_decisions_per_day(&found);
        assert!(figure.alt_text.starts_with("9 decisions from 1970-01-01"));
        let bars = figure.marks.iter();
        let bars = bars.filter(|it| matches!(it, FigureMark::Group { .. }));
        assert_eq!(bars.count(), 2);
    }
}
