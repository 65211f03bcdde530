//! Learning curves of a training as small multiples: a panel for each axiom, then effectiveness and
//! loss.

use super::scale::LinearScale;
use super::{
    FigureColorRole, FigureFontStyle, FigureMark, NOTE, PlotFigure, TextAnchor, TextStyle, fit,
    line, rect, text,
};
use crate::report::{format, learned_first_sentence};
use crate::stats::EstimateWithInterval;
use crate::training::LearningCurvePoint;
use crate::training::axiom_curve::{AxiomLearningCurve, CHANCE};

/// The number of panels in a row.
const N_COLUMNS: usize = 3;
/// The distance from a panel to the next one, to the right and downward.
const CELL: [f64; 2] = [226.0, 150.0];
const TOP: f64 = 30.0;
/// The left and right end of the horizontal scale of a panel.
const ACROSS: [f64; 2] = [34.0, 206.0];
/// The lower and upper end of its vertical scale.
const UP: [f64; 2] = [106.0, 26.0];
/// How far a curve extends beyond its first and last checkpoint.
const END: f64 = 2.0;

/// A curve with its own vertical scale.
struct Panel {
    title: String,
    note: String,
    /// What the panel says, in a sentence.
    finding: String,
    /// The step and the value at each checkpoint, at least one.
    values: Vec<[f64; 2]>,
    /// The interval of each value; none for curves without intervals.
    intervals: Vec<[f64; 2]>,
    range: [f64; 2],
    first_crossing: Option<u64>,
}

/// Draws the fraction of each axiom with its interval and its first crossing of chance, the average
/// precision on the development queries, and the loss.
pub fn draw_learning_curves(points: &[LearningCurvePoint]) -> PlotFigure {
    let curves = AxiomLearningCurve::list(points);
    let ap = |it: &LearningCurvePoint| Some([it.step as f64, *it.dev.get("AP")?]);
    let loss = |it: &LearningCurvePoint| [it.step as f64, it.loss];
    let measured = [
        Panel::of_values("Dev AP", points.iter().filter_map(ap).collect()),
        Panel::of_values("Loss", points.iter().map(loss).collect()),
    ];
    let axioms = curves.iter().map(Panel::of_axiom);
    let panels: Vec<Panel> = axioms.chain(measured.into_iter().flatten()).collect();
    let n_updates = points.last().map_or(0, |it| it.step);
    let first = learned_first_sentence(&curves);
    let width = N_COLUMNS as f64 * CELL[0] - (CELL[0] - ACROSS[1]);
    let height = TOP + panels.len().div_ceil(N_COLUMNS) as f64 * CELL[1] + 8.0;
    let legend = "Line: satisfied fraction. Band: 95 % interval over queries. Gray line: chance \
         (.5). Dot: first crossing."
        .to_owned();
    let base = TextStyle(FigureFontStyle::Base, FigureColorRole::Foreground);
    let mut marks = vec![
        text([0.0, 12.0], TextAnchor::Start, base, fit(&first, 90)),
        text([0.0, height], TextAnchor::Start, NOTE, legend),
    ];
    for (at, panel) in panels.iter().enumerate() {
        let (row, column) = (at / N_COLUMNS, at % N_COLUMNS);
        let corner = [column as f64 * CELL[0], TOP + row as f64 * CELL[1]];
        marks.push(FigureMark::Group {
            title: panel.finding.clone(),
            marks: draw_panel(panel, corner, n_updates),
        });
    }
    let findings: Vec<&str> = panels.iter().map(|it| &*it.finding).collect();
    PlotFigure {
        width,
        height,
        margin: 8.0,
        alt_text: format!(
            "Learning curves over {} updates. {first} {}",
            format::format_count(n_updates),
            findings.join("; ")
        ),
        description: "One panel for each axiom: the fraction of satisfied instances of the \
             development queries by the number of updates, with its 95 % interval over queries. \
             The dot is the first checkpoint whose interval lies wholly above chance, as do those \
             of all later checkpoints. The last panels are effectiveness and loss."
            .to_owned(),
        marks,
    }
}

impl Panel {
    fn of_axiom(curve: &AxiomLearningCurve) -> Panel {
        let first_crossing = curve.first_crossing();
        let note = match first_crossing {
            Some(step) => format!("above chance from {}", format::format_count(step)),
            None => "not above chance".to_owned(),
        };
        let title = curve.axiom.name().into_owned();
        let last = curve.last();
        let last = format::format_estimate(&EstimateWithInterval {
            value: last.fraction,
            interval: last.interval,
        });
        let first = format::format_two_digit_fraction(curve.first().fraction);
        let values = curve.values.iter();
        Panel {
            finding: format!("{title} from {first} to {last}, {note}"),
            title,
            note,
            intervals: values.clone().map(|it| it.1.interval).collect(),
            values: values.map(|it| [it.0 as f64, it.1.fraction]).collect(),
            range: [0.0, 1.0],
            first_crossing,
        }
    }

    /// Returns a panel whose scale fits the values; `None` without values.
    fn of_values(title: &str, values: Vec<[f64; 2]>) -> Option<Panel> {
        let [first, last] = [values.first()?, values.last()?].map(|it| it[1]);
        let least = values.iter().map(|it| it[1]).fold(first, f64::min);
        let most = values.iter().map(|it| it[1]).fold(first, f64::max);
        let room = ((most - least) * 0.1).max(0.01);
        let [first, last] = [first, last].map(|it| format::format_score(it, 3));
        let note = format!("from {first} to {last}");
        Some(Panel {
            finding: format!("{title} {note}"),
            title: title.to_owned(),
            note,
            values,
            intervals: Vec::new(),
            range: [least - room, most + room],
            first_crossing: None,
        })
    }
}

fn draw_panel(panel: &Panel, [left, top]: [f64; 2], n_updates: u64) -> Vec<FigureMark> {
    let x = LinearScale {
        domain: [0.0, n_updates as f64],
        range: ACROSS.map(|it| left + it),
    };
    let y = LinearScale {
        domain: panel.range,
        range: UP.map(|it| top + it),
    };
    let ([from, to], floor) = (x.range, y.range[0]);
    let across = |at: f64, stroke: FigureColorRole| line([from, at], [to, at], stroke);
    let head = TextStyle(FigureFontStyle::Head, FigureColorRole::Foreground);
    let title = panel.title.clone();
    let mut marks = vec![
        text([left, top + 14.0], TextAnchor::Start, head, title),
        text([to, top + 14.0], TextAnchor::End, NOTE, panel.note.clone()),
        text(
            [from, floor + 16.0],
            TextAnchor::Start,
            NOTE,
            "0".to_owned(),
        ),
    ];
    let updates = format!("{} updates", format::format_count(n_updates));
    marks.push(text([to, floor + 16.0], TextAnchor::End, NOTE, updates));
    let (ticks, digits) = y.ticks_and_decimals(3);
    for tick in ticks {
        let at = y.pixel_position(tick);
        marks.push(across(at, FigureColorRole::Separator));
        let shown = format::format_score(tick, digits);
        marks.push(text([from - 6.0, at + 4.0], TextAnchor::End, NOTE, shown));
    }
    let place = |it: &[f64; 2]| [x.pixel_position(it[0]), y.pixel_position(it[1])];
    let mut places: Vec<[f64; 2]> = panel.values.iter().map(place).collect();
    let [first, last] = [places[0], places[places.len() - 1]];
    let borders = places
        .windows(2)
        .map(|it| ((it[0][0] + it[1][0]) / 2.0).round());
    let ends = [first[0] - END, last[0] + END];
    let borders: Vec<f64> = [ends[0]]
        .into_iter()
        .chain(borders)
        .chain([ends[1]])
        .collect();
    for (sides, interval) in borders.windows(2).zip(&panel.intervals) {
        let [bottom, top] = interval.map(|it| y.pixel_position(it));
        let size = [sides[1] - sides[0], bottom - top];
        marks.push(rect([sides[0], top], size, 0.0, FigureColorRole::Step(2)));
    }
    if !panel.intervals.is_empty() {
        marks.push(across(y.pixel_position(CHANCE), FigureColorRole::Axis));
    }
    marks.push(across(floor, FigureColorRole::Axis));
    places.insert(0, [ends[0], first[1]]);
    places.push([ends[1], last[1]]);
    marks.extend(places.windows(2).map(|it| FigureMark::Line {
        from: it[0],
        to: it[1],
        width: 1.5,
        stroke: FigureColorRole::Step(5),
        opacity: 1.0,
    }));
    let crossing = panel.first_crossing.map(|it| it as f64);
    let crossing = panel.values.iter().find(|it| Some(it[0]) == crossing);
    marks.extend(crossing.map(|it| FigureMark::Dot {
        at: place(it),
        fill: FigureColorRole::Foreground,
        stroke: FigureColorRole::Background,
    }));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::axiom_curve::tests::curve_of_three_axioms;

    /// Returns the marks of the panels, in order.
    fn panels(figure: &PlotFigure) -> Vec<&[FigureMark]> {
        let marks = figure.marks.iter();
        let groups = marks.filter_map(|it| match it {
            FigureMark::Group { marks, .. } => Some(&**marks),
            _ => None,
        });
        groups.collect()
    }

    /// Returns the positions of the dots of a panel.
    fn dots(panel: &[FigureMark]) -> Vec<[f64; 2]> {
        let dots = panel.iter().filter_map(|it| match it {
            FigureMark::Dot { at, .. } => Some(*at),
            _ => None,
        });
        dots.collect()
    }

    #[test]
    fn a_dot_marks_the_first_crossing() {
        let figure = draw_learning_curves(&curve_of_three_axioms());
        assert_eq!(
            figure.alt_text,
            "Learning curves over 400 updates. Learned first, after 200 updates: TFC1. TFC1 from \
             .40 to .80 [.70, .90], above chance from 200; LNC1 from .70 to .55 [.45, .65], not \
             above chance; TP from .61 to .65 [.55, .75], above chance from 300; Dev AP from \
             0.250 to 0.625; Loss from 1.000 to 0.250"
        );
        let panels = panels(&figure);
        assert_eq!(panels.len(), 5);
        // Half of the way from 34 to 206, and .61 of that from 106 to 26, below 30.
        let [[x, y]] = dots(panels[0])[..] else {
            panic!("one dot")
        };
        assert!(
            (x - 120.0).abs() < 1e-9 && (y - (136.0 - 0.61 * 80.0)).abs() < 1e-9,
            "{x} {y}"
        );
        let n_dots: Vec<usize> = panels.iter().map(|it| dots(it).len()).collect();
        assert_eq!(n_dots, [1, 0, 1, 0, 0]);
    }

    #[test]
    fn one_checkpoint_is_a_short_line() {
        let figure = draw_learning_curves(&curve_of_three_axioms()[..1]);
        for panel in panels(&figure) {
            let curves = panel.iter().filter_map(|it| match it {
                FigureMark::Line {
                    from, to, stroke, ..
                } => (*stroke == FigureColorRole::Step(5)).then_some(to[0] - from[0]),
                _ => None,
            });
            assert_eq!(curves.sum::<f64>(), 2.0 * END);
        }
        let none = draw_learning_curves(&[]);
        assert!(
            none.alt_text.contains("No axiom has instances"),
            "{}",
            none.alt_text
        );
    }
}
