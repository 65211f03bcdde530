//! Learning curves of a training as small multiples: a panel for each axiom, then effectiveness and
//! loss.

use super::scale::LinearScale;
use super::{
    FIGURE_MARGIN, FigureColorRole, FigureFontStyle, FigureMark, NOTE, PlotFigure, TextAnchor,
    TextStyle, line, rect, text,
};
use crate::report::{format, learned_first_sentence};
use crate::stats::EstimateWithInterval;
use crate::training::axiom_curve::{AxiomLearningCurve, CHANCE};
use crate::training::{LearningCurvePoint, TrainingRecord};

/// The distance from a panel to the next one below it.
const ROW: f64 = 150.0;
/// The distance from the right end of a panel to the next one.
const GAP: f64 = 20.0;
const TOP: f64 = 30.0;
/// The distance from a panel to the next one on its right, if there are several in a row.
const COLUMN: f64 = 226.0;
/// The widths of a character of the sentence above the panels, and of the legend below them.
const CHARACTER: [f64; 2] = [7.3, 6.4];
/// The heights of a line of the sentence above the panels, and of the legend below them.
const LINE: [f64; 2] = [20.0, 16.0];
/// The left end of the horizontal scale of a panel.
const LEFT: f64 = 34.0;
/// The lower and upper end of its vertical scale.
const UP: [f64; 2] = [106.0, 26.0];
/// How far a curve extends beyond its first and last checkpoint.
const END: f64 = 2.0;

/// How the panels are arranged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearningCurveLayout {
    /// The number of panels in a row.
    n_columns: usize,
    /// The distance from a panel to the next one on its right.
    column: f64,
    /// The maximum number of characters in a line of the sentence above the panels, and of the
    /// legend below them.
    n_characters: [usize; 2],
}

impl LearningCurveLayout {
    /// Three panels in a row, for reports.
    pub const REPORT: LearningCurveLayout = LearningCurveLayout {
        n_columns: 3,
        column: COLUMN,
        n_characters: [90, 110],
    };

    /// Returns a layout with at most six panels in a row, whose width is at most a number of
    /// pixels, unless that is less than one panel needs.
    pub fn for_width(width: f64) -> LearningCurveLayout {
        let n_columns = ((width + GAP) / COLUMN).floor().clamp(1.0, 6.0);
        let column = match n_columns {
            1.0 => width.clamp(240.0, 400.0).floor() + GAP,
            _ => COLUMN,
        };
        let used = n_columns * column - GAP;
        LearningCurveLayout {
            n_columns: n_columns as usize,
            column,
            n_characters: CHARACTER.map(|it| (used / it) as usize),
        }
    }
}

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
pub fn draw_learning_curves(
    points: &[LearningCurvePoint],
    layout: LearningCurveLayout,
) -> PlotFigure {
    draw_with_title(points, layout, None)
}

/// Draws the learning curves of one of several trainings, with its name.
pub fn draw_learning_curves_of(record: &TrainingRecord) -> PlotFigure {
    let name = Some(&*record.name);
    draw_with_title(&record.points, LearningCurveLayout::REPORT, name)
}

fn draw_with_title(
    points: &[LearningCurvePoint],
    layout: LearningCurveLayout,
    title: Option<&str>,
) -> PlotFigure {
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
    let first = match title {
        Some(title) => format!("{title}. {}", learned_first_sentence(&curves)),
        None => learned_first_sentence(&curves),
    };
    let LearningCurveLayout {
        n_columns, column, ..
    } = layout;
    let sentence = wrap(&first, layout.n_characters[0]);
    let legend = wrap(LEGEND, layout.n_characters[1]);
    let [top, lower] = [(&sentence, LINE[0]), (&legend, LINE[1])]
        .map(|(lines, height)| (lines.len() as f64 - 1.0) * height);
    let top = TOP + top;
    let legend_top = top + panels.len().div_ceil(n_columns) as f64 * ROW + 8.0;
    let base = TextStyle(FigureFontStyle::Base, FigureColorRole::Foreground);
    let mut marks = text_lines(sentence, 12.0, (LINE[0], base));
    marks.extend(text_lines(legend, legend_top, (LINE[1], NOTE)));
    for (at, panel) in panels.iter().enumerate() {
        let corner = [
            (at % n_columns) as f64 * column,
            top + (at / n_columns) as f64 * ROW,
        ];
        marks.push(FigureMark::Group {
            title: panel.finding.clone(),
            marks: draw_panel(panel, corner, (column - GAP, n_updates)),
        });
    }
    let findings: Vec<&str> = panels.iter().map(|it| &*it.finding).collect();
    PlotFigure {
        width: n_columns as f64 * column - GAP,
        height: legend_top + lower,
        margin: FIGURE_MARGIN,
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

/// What the lines, bands and dots of a panel are.
const LEGEND: &str = "Line: satisfied fraction. Band: 95 % interval over queries. Gray line: \
     chance (.5). Dot: first crossing.";

/// Splits a text at spaces into lines of at most `n` characters; longer words have their own line.
fn wrap(text: &str, n: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.len() - 1;
        let used = lines[line].chars().count();
        if used == 0 {
            lines[line].push_str(word);
        } else if used + 1 + word.chars().count() <= n {
            lines[line].push(' ');
            lines[line].push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns lines of text from the height of the first one downward.
fn text_lines(
    lines: Vec<String>,
    first: f64,
    (height, style): (f64, TextStyle),
) -> Vec<FigureMark> {
    let place = |at: usize| [0.0, first + at as f64 * height];
    let lines = lines.into_iter().enumerate();
    let marks = lines.map(|(at, line)| text(place(at), TextAnchor::Start, style, line));
    marks.collect()
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

/// Draws a panel of a width, whose horizontal scale ends at the last update.
fn draw_panel(
    panel: &Panel,
    [left, top]: [f64; 2],
    (width, n_updates): (f64, u64),
) -> Vec<FigureMark> {
    let x = LinearScale {
        domain: [0.0, n_updates as f64],
        range: [left + LEFT, left + width],
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
        marks.push(rect([sides[0], top], size, 0.0, FigureColorRole::Gray(2)));
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
        stroke: FigureColorRole::Gray(5),
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
        let figure = draw_learning_curves(&curve_of_three_axioms(), LearningCurveLayout::REPORT);
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
        let figure =
            draw_learning_curves(&curve_of_three_axioms()[..1], LearningCurveLayout::REPORT);
        for panel in panels(&figure) {
            let curves = panel.iter().filter_map(|it| match it {
                FigureMark::Line {
                    from, to, stroke, ..
                } => (*stroke == FigureColorRole::Gray(5)).then_some(to[0] - from[0]),
                _ => None,
            });
            assert_eq!(curves.sum::<f64>(), 2.0 * END);
        }
        let none = draw_learning_curves(&[], LearningCurveLayout::REPORT);
        assert!(
            none.alt_text.contains("No axiom has instances"),
            "{}",
            none.alt_text
        );
    }

    #[test]
    fn the_panels_of_a_row_are_as_many_as_fit() {
        let columns = |width: f64| {
            let layout = LearningCurveLayout::for_width(width);
            (
                layout.n_columns,
                layout.n_columns as f64 * layout.column - GAP,
            )
        };
        // Two panels need 206 + 20 + 206 pixels.
        assert_eq!([431.0, 432.0, 3000.0].map(|it| columns(it).0), [1, 2, 6]);
        assert_eq!(
            [100.0, 312.5, 431.0].map(|it| columns(it).1),
            [240.0, 312.0, 400.0]
        );

        let points = curve_of_three_axioms();
        let wide = draw_learning_curves(&points, LearningCurveLayout::REPORT);
        let narrow = draw_learning_curves(&points, LearningCurveLayout::for_width(320.0));
        assert_eq!([wide.width, narrow.width], [658.0, 320.0]);
        assert_eq!(narrow.alt_text, wide.alt_text);
        // Five panels below each other, not in two rows; the legend has two more lines.
        assert_eq!(narrow.height - wide.height, 3.0 * ROW + 2.0 * LINE[1]);
        let [[x, y]] = dots(panels(&narrow)[0])[..] else {
            panic!("one dot")
        };
        assert_eq!(x, LEFT + (320.0 - LEFT) / 2.0);
        assert_eq!(y, dots(panels(&wide)[0])[0][1]);
    }

    #[test]
    fn lines_are_no_longer_than_allowed_unless_a_word_is() {
        assert_eq!(wrap("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrap("a  bbbbbb c", 4), ["a", "bbbbbb", "c"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
