//! The heat map of a study: rankers × axioms, with effectiveness to the right, and agreement with
//! relevance and counts below.

use super::heatmap_rows::{HeatmapCountQuantity, HeatmapRow, heatmap_ranker_and_count_rows};
use super::{
    FigureColorRole, FigureFontStyle, FigureMark, NOTE, PlotFigure, TextAnchor, TextStyle,
    diverging_color_step_of_fraction, fit, rect, text,
};
use crate::report::format;
use crate::report::markup::collapse_to_one_line;
use crate::stats::EstimateWithInterval;
use crate::stats::multiple_testing::FAMILY_WISE_ERROR_RATE;
use crate::study::overview::{RankerAxiomResult, RankerOverviewRow, StudyOverview};

/// The margin around the figure.
const MARGIN: f64 = 16.0;
/// The width of the names at the left.
const NAMES: f64 = 176.0;
/// The height of the names of axioms at the top.
const HEAD: f64 = 58.0;
/// The width and height of a cell, and the space after it.
const CELL: [f64; 2] = [68.0, 44.0];
const GAP: f64 = 2.0;
/// The space before the measures, and the width of one.
const BEFORE_MEASURES: f64 = 22.0;
const MEASURE: f64 = 58.0;
/// The height of the name of a group of rows, and of a row of counts.
const GROUP: f64 = 30.0;
const COUNT: f64 = 26.0;
/// The height of the legend, and the minimum width that it needs.
const LEGEND: f64 = 58.0;
const LEAST: f64 = 640.0;
/// The style of the names of rows and measures.
const BASE: TextStyle = TextStyle(FigureFontStyle::Base, FigureColorRole::Foreground);

/// Draws every cell with its number and a line from 0 to 1 with a tick at .5, the interval and a
/// dot, which is hollow if the corrected test cannot distinguish it from chance.
pub fn draw_study_heatmap_figure(overview: &StudyOverview) -> PlotFigure {
    let n_axioms = overview.columns.len() as f64;
    let right = measure_at(overview, overview.measures.len());
    let mut drawing = Drawing {
        overview,
        marks: Vec::new(),
        y: HEAD,
    };
    drawing.heads();
    for row in heatmap_ranker_and_count_rows(overview) {
        match row {
            HeatmapRow::Group(name) => drawing.group(name),
            HeatmapRow::Ranker(at) => drawing.ranker(&overview.rows[at]),
            HeatmapRow::Relevance => drawing.relevance(),
            HeatmapRow::Count(
                HeatmapCountQuantity::BothOrders | HeatmapCountQuantity::SampledShare,
            ) => {}
            HeatmapRow::Count(count) => drawing.counts(count),
        }
    }
    drawing.legend();
    PlotFigure {
        width: right.max(NAMES + n_axioms * (CELL[0] + GAP)).max(LEAST),
        height: drawing.y,
        margin: MARGIN,
        alt_text: finding(overview),
        description:
            "Rows are rankers, columns are axioms. Each cell shows the fraction of instances on \
             which the ranker agrees with the axiom, its 95 % interval over queries, and a dot \
             that is hollow if the fraction is not distinguishable from .5 after Holm's \
             correction."
                .to_owned(),
        marks: drawing.marks,
    }
}

fn finding(overview: &StudyOverview) -> String {
    let mut cells = Vec::new();
    for row in &overview.rows {
        for (column, cell) in overview.columns.iter().zip(&row.cells) {
            if let Some(cell) = cell {
                let ranker = collapse_to_one_line(&row.ranker.label);
                let name = format!("{ranker} on {}", column.probe.name());
                cells.push((cell.micro_average.value, cell.p_holm, name));
            }
        }
    }
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    let told = "How often each ranker agrees with each axiom";
    match (cells.first(), cells.last()) {
        (Some((low, _, lowest)), Some((high, _, highest))) => format!(
            "{told}: from {} ({lowest}) to {} ({highest}); {} of {} cells not distinguishable \
             from chance",
            format::format_two_digit_fraction(*low),
            format::format_two_digit_fraction(*high),
            cells
                .iter()
                .filter(|it| it.1 >= FAMILY_WISE_ERROR_RATE)
                .count(),
            cells.len()
        ),
        _ => format!("{told}: no cell has a verdict"),
    }
}

fn column_at(n: usize) -> f64 {
    NAMES + n as f64 * (CELL[0] + GAP)
}

fn measure_at(overview: &StudyOverview, n: usize) -> f64 {
    column_at(overview.columns.len()) + BEFORE_MEASURES + n as f64 * MEASURE
}

struct Drawing<'a> {
    overview: &'a StudyOverview,
    marks: Vec<FigureMark>,
    /// The top of the next row.
    y: f64,
}

impl Drawing<'_> {
    fn heads(&mut self) {
        for (n, column) in self.overview.columns.iter().enumerate() {
            let about = column.probe.probe_description();
            let x = column_at(n) + 2.0;
            // A longer name would overlap the next column.
            let name = fit(&column.probe.name(), 8);
            self.marks.push(text(
                [x, 16.0],
                TextAnchor::Start,
                TextStyle(FigureFontStyle::Head, FigureColorRole::Foreground),
                name,
            ));
            let lines = two_lines(about.short_title).into_iter().zip([32.0, 47.0]);
            for (line, y) in lines.filter(|it| !it.0.is_empty()) {
                self.marks.push(text([x, y], TextAnchor::Start, NOTE, line));
            }
        }
        for (n, measure) in self.overview.measures.iter().enumerate() {
            let x = measure_at(self.overview, n);
            let (name, cut) = match measure.split_once('@') {
                Some((name, cut)) => (name, Some(cut)),
                None => (measure.as_str(), None),
            };
            self.marks
                .push(text([x, 16.0], TextAnchor::Start, BASE, fit(name, 8)));
            let cut = cut.map(|it| fit(&format!("at {it}"), 9));
            self.marks
                .extend(cut.map(|it| text([x, 32.0], TextAnchor::Start, NOTE, it)));
        }
    }

    fn group(&mut self, name: &str) {
        self.marks.push(text(
            [0.0, self.y + 22.0],
            TextAnchor::Start,
            NOTE,
            name.to_owned(),
        ));
        self.y += GROUP;
    }

    fn ranker(&mut self, row: &RankerOverviewRow) {
        let label = collapse_to_one_line(&row.ranker.label);
        self.names(&label, &row.ranker.detail);
        for (n, column) in self.overview.columns.iter().enumerate() {
            let name = format!("{label} on {}", column.probe.name());
            let cell = row.cells.get(n).and_then(Option::as_ref);
            self.marks.push(drawn([column_at(n), self.y], &name, cell));
        }
        for (n, value) in row.effectiveness.iter().enumerate() {
            self.marks
                .extend(measured([measure_at(self.overview, n), self.y], *value));
        }
        self.y += CELL[1] + GAP;
    }

    fn relevance(&mut self) {
        self.names("Relevance", "where grades differ");
        for (n, column) in self.overview.columns.iter().enumerate() {
            let name = format!("Relevance on {}", column.probe.name());
            self.marks.push(drawn(
                [column_at(n), self.y],
                &name,
                column.qrels_cell.as_ref(),
            ));
        }
        self.y += CELL[1] + GAP;
    }

    fn counts(&mut self, count: HeatmapCountQuantity) {
        let y = self.y + 17.0;
        self.marks.push(text(
            [0.0, y],
            TextAnchor::Start,
            BASE,
            count.name().to_owned(),
        ));
        for (n, column) in self.overview.columns.iter().enumerate() {
            let at = [column_at(n) + CELL[0] / 2.0, y];
            self.marks.push(text(
                at,
                TextAnchor::Middle,
                NOTE,
                count.format_column_count(column),
            ));
        }
        self.y += COUNT;
    }

    fn legend(&mut self) {
        let y = self.y + 16.0;
        for step in -5..=5_i8 {
            let at = [f64::from(step + 5) * 25.0, y];
            self.marks
                .push(rect(at, [24.0, 10.0], 0.0, FigureColorRole::Step(step)));
        }
        for (x, anchor, words) in [
            (0.0, TextAnchor::Start, "0 never"),
            (137.0, TextAnchor::Middle, ".5 chance"),
            (274.0, TextAnchor::End, "always 1"),
        ] {
            self.marks
                .push(text([x, y + 26.0], anchor, NOTE, words.to_owned()));
        }
        let n_tests = format::format_count(self.overview.n_tests);
        let interval = EstimateWithInterval {
            value: 0.75,
            interval: [0.6, 0.9],
        };
        let chance = EstimateWithInterval {
            value: 0.55,
            interval: [0.4, 0.7],
        };
        for (y, it, fill, words) in [
            (
                y + 5.0,
                interval,
                FigureColorRole::Foreground,
                "95 % interval over queries".to_owned(),
            ),
            (
                y + 23.0,
                chance,
                FigureColorRole::Background,
                format!("not distinguishable from chance (Holm, {n_tests} tests)"),
            ),
        ] {
            self.marks
                .extend(whisker([310.0, y], &it, FigureColorRole::Foreground, fill));
            self.marks
                .push(text([372.0, y + 4.0], TextAnchor::Start, NOTE, words));
        }
        self.y += LEGEND;
    }

    fn names(&mut self, name: &str, detail: &str) {
        self.marks.push(text(
            [0.0, self.y + 18.0],
            TextAnchor::Start,
            BASE,
            fit(name, 23),
        ));
        self.marks.push(text(
            [0.0, self.y + 34.0],
            TextAnchor::Start,
            NOTE,
            fit(detail, 28),
        ));
    }
}

/// Draws a cell, with its tooltip.
fn drawn([x, y]: [f64; 2], name: &str, cell: Option<&RankerAxiomResult>) -> FigureMark {
    let number = [x + CELL[0] / 2.0, y + 21.0];
    let Some(cell) = cell else {
        return text(
            number,
            TextAnchor::Middle,
            TextStyle(FigureFontStyle::Cell, FigureColorRole::Missing),
            format::MISSING.to_owned(),
        );
    };
    let step = diverging_color_step_of_fraction(cell.micro_average.value);
    let (ground, ink) = (FigureColorRole::Step(step), FigureColorRole::OnStep(step));
    let shown = format::format_two_digit_fraction(cell.micro_average.value);
    let mut marks = vec![
        rect([x, y], CELL, 2.0, ground),
        text(
            number,
            TextAnchor::Middle,
            TextStyle(FigureFontStyle::Cell, ink),
            shown,
        ),
    ];
    let fill = if cell.p_holm >= FAMILY_WISE_ERROR_RATE {
        ground
    } else {
        ink
    };
    marks.extend(whisker([x + 8.0, y + 34.5], &cell.micro_average, ink, fill));
    FigureMark::Group {
        title: said(name, cell),
        marks,
    }
}

fn measured([x, y]: [f64; 2], value: Option<f64>) -> Vec<FigureMark> {
    let number = [x, y + 21.0];
    let Some(value) = value else {
        let ink = TextStyle(FigureFontStyle::Cell, FigureColorRole::Missing);
        return vec![text(
            number,
            TextAnchor::Start,
            ink,
            format::MISSING.to_owned(),
        )];
    };
    let length = MEASURE - 8.0;
    let bar = [length * value.clamp(0.0, 1.0), 3.0];
    vec![
        text(
            number,
            TextAnchor::Start,
            TextStyle(FigureFontStyle::Cell, FigureColorRole::Foreground),
            format::format_two_digit_fraction(value),
        ),
        rect(
            [x, y + 34.0],
            [length, 1.0],
            0.0,
            FigureColorRole::Separator,
        ),
        rect([x, y + 33.0], bar, 0.0, FigureColorRole::Secondary),
    ]
}

/// Draws a line from 0 to 1 with a tick at .5, the interval and a dot filled with `fill`.
fn whisker(
    [x, y]: [f64; 2],
    estimate: &EstimateWithInterval,
    ink: FigureColorRole,
    fill: FigureColorRole,
) -> [FigureMark; 4] {
    const LENGTH: f64 = 52.0;
    let place = |value: f64| x + value.clamp(0.0, 1.0) * LENGTH;
    let line = |from, to, opacity| FigureMark::Line {
        from,
        to,
        width: 1.0,
        stroke: ink,
        opacity,
    };
    let [low, high] = estimate.interval.map(place);
    [
        line([x, y], [place(1.0), y], 0.38),
        line([place(0.5), y - 3.5], [place(0.5), y + 3.5], 0.55),
        rect([low, y - 1.5], [(high - low).max(1.0), 3.0], 0.0, ink),
        FigureMark::Dot {
            at: [place(estimate.value), y],
            fill,
            stroke: ink,
        },
    ]
}

/// Describes a cell in a sentence.
fn said(name: &str, cell: &RankerAxiomResult) -> String {
    let mut said = format!(
        "{name}: {}, {} instances of {} queries, {} after Holm",
        format::format_estimate(&cell.micro_average),
        format::format_count(cell.tally.n_with_verdict()),
        format::format_count(cell.n_queries),
        format::format_named_p_value(cell.p_holm)
    );
    if cell.tally.unscored > 0 {
        said += &format!(", {} unscored", format::format_count(cell.tally.unscored));
    }
    said
}

/// Splits a text into at most two lines of a column.
fn two_lines(text: &str) -> [String; 2] {
    const N: usize = 9; // 12-pixel letters in a column of 68
    let (mut first, mut second) = (String::new(), String::new());
    for word in text.split(' ') {
        let room = first.chars().count() + 1 + word.chars().count() <= N;
        let line = match (first.is_empty(), second.is_empty() && room) {
            (true, _) | (_, true) => &mut first,
            _ => &mut second,
        };
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    [first, second].map(|it| fit(&it, N + 2))
}
