//! Scatter plots of many labeled points, for example words and tokens of a late-interaction ranker
//! by idf and a statistic.

use super::scale::LinearScale;
use super::{
    FIGURE_MARGIN, FigureColorRole, FigureFontStyle, FigureMark, NOTE, PlotFigure, TextAnchor,
    TextStyle, fit, line, text,
};
use crate::late_interaction::LateInteractionRankerAnalysis;
use crate::report::{ReportTable, TableColumnKind, TableValue, format};
use crate::stats::correlation::CorrelationWithSampleSize;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 46.0;
const FLOOR: f64 = 258.0;
const TOP: f64 = 22.0;

/// The approximate width and height of a short name, in pixels.
const NAME: [f64; 2] = [64.0, 15.0];

/// The data of a scatter plot with labeled points.
#[derive(Debug, Clone, PartialEq)]
pub struct LabeledScatterPlot {
    /// The unit that a point stands for: `term` or `token`.
    pub unit: String,
    /// The label of the horizontal axis.
    pub x_label: String,
    /// The label of the vertical axis.
    pub y_label: String,
    /// The name and both coordinates of each point.
    pub points: Vec<(String, [f64; 2])>,
    /// The correlation of the coordinates.
    pub correlation: Option<CorrelationWithSampleSize>,
}

impl LabeledScatterPlot {
    /// Returns idf and importance of words.
    pub fn importance_by_idf(found: &LateInteractionRankerAnalysis) -> LabeledScatterPlot {
        let up = "importance (low = important)";
        LabeledScatterPlot::by_idf("term", up, &found.words, |it| {
            (&it.word, [it.idf, it.importance])
        })
        .with(found.idf_importance_correlation)
    }

    /// Returns idf and ΔES of words.
    pub fn delta_es_by_idf(found: &LateInteractionRankerAnalysis) -> LabeledScatterPlot {
        LabeledScatterPlot::by_idf("term", "ΔES", &found.words, |it| {
            (&it.word, [it.idf, it.delta_es])
        })
        .with(found.idf_delta_es_correlation)
    }

    /// Returns idf and spectral ratio of tokens.
    pub fn spectral_ratio_by_idf(found: &LateInteractionRankerAnalysis) -> LabeledScatterPlot {
        let up = "spectral ratio";
        LabeledScatterPlot::by_idf("token", up, &found.tokens, |it| {
            (&it.token, [it.idf, it.spectral_ratio])
        })
        .with(found.idf_spectral_correlation)
    }

    /// Returns the same for the encoder before fine-tuning; `None` without its values.
    pub fn pretrained_spectral_ratio_by_idf(
        found: &LateInteractionRankerAnalysis,
    ) -> Option<LabeledScatterPlot> {
        let up = "spectral ratio before fine-tuning";
        let points = LabeledScatterPlot::by_idf("token", up, &found.tokens, |it| {
            (&it.token, [it.idf, it.pretrained_spectral_ratio])
        });
        let is_known = !points.points.is_empty();
        is_known.then(|| points.with(found.pretrained_idf_spectral_correlation))
    }

    /// Plots the items that have both an idf and a value; `point` returns name, idf and value.
    fn by_idf<T>(
        unit: &str,
        y_label: &str,
        items: &[T],
        point: fn(&T) -> (&str, [Option<f64>; 2]),
    ) -> LabeledScatterPlot {
        let points = items.iter().map(point);
        let points = points.filter_map(|(name, [x, y])| Some((name.to_owned(), [x?, y?])));
        LabeledScatterPlot::new(unit, y_label, points.collect())
    }

    fn new(of: &str, up: &str, points: Vec<(String, [f64; 2])>) -> LabeledScatterPlot {
        LabeledScatterPlot {
            unit: of.to_owned(),
            x_label: "idf".to_owned(),
            y_label: up.to_owned(),
            points,
            correlation: None,
        }
    }

    fn with(self, correlation: Option<CorrelationWithSampleSize>) -> LabeledScatterPlot {
        LabeledScatterPlot {
            correlation,
            ..self
        }
    }

    fn axes(&self) -> [LinearScale; 2] {
        let spread = |of: usize| {
            let values = self.points.iter().map(|it| it.1[of]);
            let least = values.clone().fold(f64::INFINITY, f64::min);
            let most = values.fold(f64::NEG_INFINITY, f64::max);
            let room = ((most - least) * 0.05).max(0.01);
            match least.is_finite() {
                true => [least - room, most + room],
                false => [0.0, 1.0],
            }
        };
        let axis = |of: usize, range: [f64; 2]| LinearScale {
            domain: spread(of),
            range,
        };
        [axis(0, [LEFT, WIDTH - 10.0]), axis(1, [FLOOR, TOP + 8.0])]
    }

    /// Returns the position of each dot in [`draw_labeled_scatter_plot`].
    fn places(&self) -> Vec<[f64; 2]> {
        let [x, y] = self.axes();
        let place =
            |it: &(String, [f64; 2])| [x.pixel_position(it.1[0]), y.pixel_position(it.1[1])];
        self.points.iter().map(place).collect()
    }

    /// Returns the name of the dot that is nearest to a position in [`draw_labeled_scatter_plot`],
    /// if one is near.
    pub fn nearest_point_name(&self, to: [f64; 2]) -> Option<&str> {
        /// The largest distance from a dot at which it is selected, in pixels of the figure.
        const NEAR: f64 = 14.0;
        let far = |[x, y]: [f64; 2]| libm::hypot(x - to[0], y - to[1]);
        let each = self.places().into_iter().map(far).zip(&self.points);
        let (distance, nearest) = each.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance <= NEAR).then_some(nearest.0.as_str())
    }

    /// Returns the points as a table, by ascending vertical coordinate.
    pub fn points_to_table(&self, name: &str) -> ReportTable {
        let number = |value: f64| TableValue::Score { value, digits: 3 };
        let mut points: Vec<_> = self.points.iter().collect();
        points.sort_by(|a, b| a.1[1].total_cmp(&b.1[1]).then(a.0.cmp(&b.0)));
        let rows = points.into_iter();
        let rows =
            rows.map(|(name, [x, y])| vec![TableValue::Text(name.clone()), number(*x), number(*y)]);
        let title = format!("{} and {}, by {}", self.x_label, self.y_label, self.unit);
        let table = ReportTable::new(name, title)
            .with_more_columns_of_kind(TableColumnKind::Text, [&self.unit])
            .with_more_columns_of_kind(TableColumnKind::Number, [&self.x_label, &self.y_label]);
        ReportTable {
            rows: rows.collect(),
            notes: vec![self.format_correlation()],
            ..table
        }
    }

    /// Says what the correlation shows, with one of three findings: for a vertical coordinate that
    /// rises with the horizontal one, for one that falls, and for an interval that includes 0. For
    /// example `Rare terms are more important: r = −.40 [−.52, −.27], n = 214.`
    pub fn describe_correlation(&self, [rises, falls, neither]: [&str; 3]) -> String {
        let found = self.format_correlation();
        match self.correlation.as_ref().map(|it| it.r.interval) {
            None => format!("{found}."),
            Some([low, _]) if low > 0.0 => format!("{rises}: {found}."),
            Some([_, high]) if high < 0.0 => format!("{falls}: {found}."),
            Some(_) => format!("{neither}: {found}."),
        }
    }

    /// Formats the correlation, as in `r = −.40 [−.52, −.27], n = 214`.
    pub fn format_correlation(&self) -> String {
        self.correlation.as_ref().map_or_else(
            || "too few points for a correlation".to_owned(),
            |it| {
                format!(
                    "r = {} {}, n = {}",
                    format::format_signed_fraction(it.r.value),
                    format::format_interval(it.r.interval),
                    format::format_count(it.n)
                )
            },
        )
    }
}

/// Draws every dot, those in `named` with their names and on top.
pub fn draw_labeled_scatter_plot(of: &LabeledScatterPlot, named: &[&str]) -> PlotFigure {
    let [x, y] = of.axes();
    let mut marks = Vec::new();
    let (ticks, digits) = y.ticks_and_decimals(5);
    for (tick, at) in ticks.into_iter().map(|it| (it, y.pixel_position(it))) {
        marks.push(line(
            [LEFT, at],
            [WIDTH - 10.0, at],
            FigureColorRole::Separator,
        ));
        let shown = format::format_score(tick, digits);
        marks.push(text([LEFT - 8.0, at + 4.0], TextAnchor::End, NOTE, shown));
    }
    let (ticks, digits) = x.ticks_and_decimals(6);
    for (tick, at) in ticks.into_iter().map(|it| (it, x.pixel_position(it))) {
        let shown = format::format_score(tick, digits);
        marks.push(text([at, FLOOR + 18.0], TextAnchor::Middle, NOTE, shown));
    }
    marks.push(line(
        [LEFT, FLOOR],
        [WIDTH - 10.0, FLOOR],
        FigureColorRole::Axis,
    ));
    marks.push(line([LEFT, TOP], [LEFT, FLOOR], FigureColorRole::Axis));
    let below = [(LEFT + WIDTH) / 2.0, HEIGHT - 4.0];
    marks.push(text(below, TextAnchor::Middle, NOTE, of.x_label.clone()));
    marks.push(text(
        [LEFT + 6.0, TOP - 6.0],
        TextAnchor::Start,
        NOTE,
        of.y_label.clone(),
    ));
    let places = of.places();
    let each = of.points.iter().zip(&places);
    let dot = |at: [f64; 2], fill: FigureColorRole| FigureMark::Dot {
        at,
        fill,
        stroke: FigureColorRole::Background,
    };
    let (chosen, others): (Vec<_>, Vec<_>) =
        each.partition(|(it, _)| named.contains(&it.0.as_str()));
    for ((name, values), at) in others {
        marks.push(FigureMark::Group {
            title: title(of, name, *values),
            marks: vec![dot(*at, FigureColorRole::Gray(3))],
        });
    }
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for ((name, values), at) in chosen {
        let (anchor, beside) = match at[0] > WIDTH * 0.7 {
            true => (TextAnchor::End, at[0] - 8.0),
            false => (TextAnchor::Start, at[0] + 8.0),
        };
        let font = TextStyle(FigureFontStyle::Head, FigureColorRole::Foreground);
        let free = apart(&taken, [beside, at[1] + 4.0]);
        taken.push(free);
        marks.push(FigureMark::Group {
            title: title(of, name, *values),
            marks: vec![
                dot(*at, FigureColorRole::Gray(5)),
                text(free, anchor, font, fit(name, 18)),
            ],
        });
    }
    PlotFigure {
        width: WIDTH,
        height: HEIGHT,
        margin: FIGURE_MARGIN,
        alt_text: format!(
            "{} against {}, {} points, {}",
            of.y_label,
            of.x_label,
            of.points.len(),
            of.format_correlation()
        ),
        description: format!("Each dot is a {}.", of.unit),
        marks,
    }
}

/// Returns a tooltip, as in `river: idf 2.30, importance 0.91`.
fn title(of: &LabeledScatterPlot, name: &str, values: [f64; 2]) -> String {
    let [across, up] = values.map(|it| format::format_score(it, 2));
    format!("{name}: {} {across}, {} {up}", of.x_label, of.y_label)
}

/// Returns a position for a name, below the names that it would cover.
fn apart(taken: &[[f64; 2]], mut at: [f64; 2]) -> [f64; 2] {
    let covers = |[x, y]: [f64; 2]| {
        let near = |it: &[f64; 2]| (it[0] - x).abs() < NAME[0] && (it[1] - y).abs() < NAME[1];
        taken.iter().any(near)
    };
    while covers(at) {
        at[1] += 1.0;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dot_is_inside_and_a_chosen_one_is_named_on_top() {
        let point = |at: usize| (format!("w{at}"), [at as f64, -(at as f64) / 10.0]);
        let of = LabeledScatterPlot::new("term", "importance", (0..20).map(point).collect());
        for [x, y] in of.places() {
            assert!((LEFT..WIDTH).contains(&x) && (TOP..FLOOR).contains(&y));
        }
        let drawn = draw_labeled_scatter_plot(&of, &["w3"]);
        let last = drawn.marks.last().unwrap();
        let FigureMark::Group { title, marks } = last else {
            panic!("{last:?}");
        };
        assert_eq!(title, "w3: idf 3.00, importance −0.30");
        assert_eq!(marks.len(), 2);
        assert!(drawn.alt_text.contains("too few"), "{}", drawn.alt_text);
        let none = LabeledScatterPlot::new("term", "importance", Vec::new());
        assert_eq!(none.nearest_point_name([0.0; 2]), None);
    }

    #[test]
    fn a_correlation_is_told_with_its_sign() {
        let told = |correlation: Option<(f64, [f64; 2])>| {
            let correlation = correlation.map(|(value, interval)| {
                let r = crate::stats::EstimateWithInterval { value, interval };
                CorrelationWithSampleSize { r, n: 40 }
            });
            LabeledScatterPlot::new("term", "ΔES", Vec::new())
                .with(correlation)
                .describe_correlation(["It rises", "It falls", "It does neither"])
        };
        let found = [
            told(Some((0.5, [0.22, 0.7]))),
            told(Some((-0.5, [-0.7, -0.22]))),
            told(Some((0.1, [-0.2, 0.4]))),
            told(None),
        ];
        assert_eq!(
            found,
            [
                "It rises: r = +.50 [.22, .70], n = 40.",
                "It falls: r = −.50 [−.70, −.22], n = 40.",
                "It does neither: r = +.10 [−.20, .40], n = 40.",
                "too few points for a correlation.",
            ]
        );
    }

    #[test]
    fn names_do_not_cover_each_other() {
        let dot = |at: f64, name: &str| (name.to_owned(), [at, at]);
        let dots = vec![
            dot(1.0, "vis"),
            dot(1.001, "##cera"),
            dot(0.0, "a"),
            dot(9.0, "b"),
        ];
        let drawn = draw_labeled_scatter_plot(
            &LabeledScatterPlot::new("token", "ratio", dots),
            &["vis", "##cera"],
        );
        let mut names = Vec::new();
        for mark in &drawn.marks {
            if let FigureMark::Group { marks, .. } = mark
                && let Some(FigureMark::Text { at, .. }) = marks.get(1)
            {
                names.push(at[1]);
            }
        }
        assert_eq!(names.len(), 2);
        assert!((names[0] - names[1]).abs() >= NAME[1], "{names:?}");
    }

    #[test]
    fn pointing_next_to_a_dot_selects_it() {
        let points = [("ice", [1.0, 0.5]), ("river", [4.0, 0.25])];
        let points = points.map(|(name, at)| (name.to_owned(), at));
        let of = LabeledScatterPlot::new("term", "importance", points.to_vec());
        let [[x, y], _] = of.places()[..] else {
            panic!("two dots");
        };
        assert_eq!(of.nearest_point_name([x + 8.0, y - 8.0]), Some("ice"));
        assert_eq!(of.nearest_point_name([x + 20.0, y]), None);
        let table = of.points_to_table("importance");
        assert_eq!(table.rows[0][0], TableValue::Text("river".to_owned()));
        assert_eq!(table.title, "idf and importance, by term");
    }
}
