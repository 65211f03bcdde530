//! The layout of the cells: controls × variables, or behavioral tests × rankers.

use shared::probe::measure_and_match::ControlMeasurementTolerance;
use shared::probe::{DocumentMeasurement, MeasureAndMatchTest, Probe};
use shared::report::format;
use shared::score::slug::parse_ranker_slug_or_position;
use shared::study::behavioral_tests::{BehavioralEffect, BehavioralTestResults, BehavioralTestRow};

use super::super::address::BehavioralTestsView;
use super::state::EffectCell;
use crate::number_format::format_count_with_noun;
use crate::widgets::heatmap::grid_place_for_key;

/// A kind of behavioral test: measure and match, manipulation, or dataset transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BehavioralTestKind {
    MeasureAndMatch,
    Manipulation,
    DatasetTransfer,
}

impl BehavioralTestKind {
    pub(super) const ALL: &[BehavioralTestKind] = &[
        BehavioralTestKind::MeasureAndMatch,
        BehavioralTestKind::Manipulation,
        BehavioralTestKind::DatasetTransfer,
    ];

    /// Returns whether a probe is of this kind.
    pub(super) fn includes(self, probe: Probe) -> bool {
        match self {
            BehavioralTestKind::MeasureAndMatch => matches!(probe, Probe::MeasureAndMatch(_)),
            BehavioralTestKind::Manipulation => matches!(probe, Probe::Manipulation(_)),
            BehavioralTestKind::DatasetTransfer => matches!(probe, Probe::Transfer(_)),
        }
    }

    /// Returns the heading of this kind of behavioral test.
    pub(super) fn name(self) -> &'static str {
        match self {
            BehavioralTestKind::MeasureAndMatch => "Measure and match",
            BehavioralTestKind::Manipulation => "Manipulations",
            BehavioralTestKind::DatasetTransfer => "Dataset transfer",
        }
    }

    /// Returns what a sample is and what its sign means.
    pub(super) fn description(self) -> &'static str {
        match self {
            BehavioralTestKind::MeasureAndMatch => {
                "Two documents of a query that are equal in the row's measurement and differ in \
                 the column's. Positive: the ranker prefers the one with the larger value."
            }
            BehavioralTestKind::Manipulation => {
                "A document against an edited copy. Positive: the ranker prefers the edited copy."
            }
            BehavioralTestKind::DatasetTransfer => {
                "Document pairs from a dataset made for another purpose. Positive: the ranker \
                 prefers the first document. In a symmetric set, positive means that the two \
                 scores differ."
            }
        }
    }

    /// Returns the cells of this kind as a grid.
    pub(super) fn layout(
        self,
        found: &BehavioralTestResults,
        wanted: &BehavioralTestsView,
    ) -> EffectGridLayout {
        match self {
            BehavioralTestKind::MeasureAndMatch => {
                let ranker = wanted.ranker.as_deref();
                matrix(
                    found,
                    ranker.and_then(|it| ranker_row(found, it)).unwrap_or(0),
                )
            }
            BehavioralTestKind::Manipulation => rows(found, |row| {
                self.includes(row.probe) && row.slice == wanted.slice
            }),
            BehavioralTestKind::DatasetTransfer => rows(found, |row| self.includes(row.probe)),
        }
    }
}

/// Returns the row of a ranker that an address names.
pub(super) fn ranker_row(found: &BehavioralTestResults, name: &str) -> Option<usize> {
    let slugs = found.rankers.iter().map(|it| it.slug.as_str());
    parse_ranker_slug_or_position(slugs, name).ok()
}

/// The rows and columns of a grid of effects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EffectGridLayout {
    /// The heading of the column of row headings.
    pub(super) corner: &'static str,
    pub(super) columns: Vec<GridHeading>,
    pub(super) rows: Vec<(GridHeading, Vec<GridCell>)>,
}

/// The heading of a row or a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GridHeading {
    pub(super) name: String,
    /// The lines of smaller text below the name.
    pub(super) details: Vec<String>,
}

/// A cell in a grid of effects: a measured effect, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GridCell {
    /// No two documents can be such a sample.
    Impossible,
    /// The study does not contain this test.
    NotInStudy,
    /// No sample has both scores.
    NoSamples,
    Measured {
        spot: EffectCell,
        effect: Box<BehavioralEffect>,
        /// The smaller text below the score.
        detail: String,
    },
}

impl GridCell {
    fn of(
        row: &BehavioralTestRow,
        ranker: usize,
        detail: impl Fn(&BehavioralEffect) -> String,
    ) -> GridCell {
        let effect = row.effects.get(ranker).cloned().flatten();
        effect.map_or(GridCell::NoSamples, |effect| GridCell::Measured {
            spot: EffectCell {
                probe: row.probe,
                slice: row.slice,
                ranker,
            },
            detail: detail(&effect),
            effect: Box::new(effect),
        })
    }

    pub(super) fn effect_cell(&self) -> Option<EffectCell> {
        match self {
            GridCell::Measured { spot, .. } => Some(*spot),
            GridCell::Impossible | GridCell::NotInStudy | GridCell::NoSamples => None,
        }
    }
}

impl EffectGridLayout {
    /// Returns every cell that can be selected, row by row.
    pub(super) fn effect_cells(&self) -> impl Iterator<Item = EffectCell> + '_ {
        let squares = self.rows.iter().flat_map(|it| &it.1);
        squares.filter_map(GridCell::effect_cell)
    }

    /// Returns the cell that an arrow key leads to from another cell.
    pub(super) fn step(&self, from: EffectCell, key: &str) -> Option<EffectCell> {
        let rows = self.rows.iter();
        let grid = rows.map(|it| it.1.iter().map(GridCell::effect_cell).collect());
        let grid: Vec<Vec<Option<EffectCell>>> = grid.collect();
        grid_place_for_key(&grid, from, key).filter(|it| *it != from)
    }
}

/// Creates the grid of controls × variables for one ranker; a cell shows the number of samples.
fn matrix(found: &BehavioralTestResults, ranker: usize) -> EffectGridLayout {
    let asked = found.rows.iter().filter_map(|row| match row.probe {
        Probe::MeasureAndMatch(matching) => Some((matching, row)),
        _ => None,
    });
    let asked: Vec<(MeasureAndMatchTest, &BehavioralTestRow)> = asked.collect();
    let mut controls: Vec<(DocumentMeasurement, ControlMeasurementTolerance)> = Vec::new();
    for (it, _) in &asked {
        if !controls.contains(&(it.control, it.tolerance)) {
            controls.push((it.control, it.tolerance));
        }
    }
    controls.sort_unstable();
    let used =
        |it: &&DocumentMeasurement| asked.iter().any(|(matching, _)| matching.variable == **it);
    let variables: Vec<DocumentMeasurement> = DocumentMeasurement::ALL
        .iter()
        .filter(used)
        .copied()
        .collect();
    let square = |control, tolerance, variable| {
        let wanted = MeasureAndMatchTest {
            control,
            variable,
            tolerance,
        };
        match asked.iter().find(|it| it.0 == wanted) {
            Some((_, row)) => GridCell::of(row, ranker, |effect| {
                format::format_count(effect.n_scored())
            }),
            None if wanted.can_variable_differ() => GridCell::NotInStudy,
            None => GridCell::Impossible,
        }
    };
    let rows = controls.into_iter().map(|(control, tolerance)| {
        let head = GridHeading {
            name: control.name().to_owned(),
            details: match tolerance.value() {
                0.0 => Vec::new(),
                within => vec![format!("tolerance {within}")],
            },
        };
        let squares = variables.iter().map(|&it| square(control, tolerance, it));
        (head, squares.collect())
    });
    let columns = variables.iter().map(|it| GridHeading {
        name: it.name().to_owned(),
        details: Vec::new(),
    });
    EffectGridLayout {
        corner: "Equal in ↓ larger in →",
        rows: rows.collect(),
        columns: columns.collect(),
    }
}

/// Creates the grid of behavioral tests × rankers; a cell shows the interval.
fn rows(
    found: &BehavioralTestResults,
    wanted: impl Fn(&BehavioralTestRow) -> bool,
) -> EffectGridLayout {
    let columns = found.rankers.iter().map(|it| GridHeading {
        name: it.ranker.label.clone(),
        details: {
            let detail = Some(it.ranker.detail.clone()).filter(|it| !it.is_empty());
            let width = |it: f64| {
                format!(
                    "ε {}",
                    format::format_score(it, format::score_decimals_for_spread(it))
                )
            };
            detail
                .into_iter()
                .chain(it.tie_threshold.map(width))
                .collect()
        },
    });
    let rows = found.rows.iter().filter(|it| wanted(it)).map(|row| {
        let head = GridHeading {
            name: row.probe.name().into_owned(),
            details: vec![samples_text(found, row)],
        };
        let squares = (0..found.rankers.len()).map(|it| GridCell::of(row, it, interval));
        (head, squares.collect())
    });
    EffectGridLayout {
        corner: "Behavioral test",
        columns: columns.collect(),
        rows: rows.collect(),
    }
}

/// Describes the number of samples and what is excluded from it.
fn samples_text(found: &BehavioralTestResults, row: &BehavioralTestRow) -> String {
    let mut said = format_count_with_noun(row.n_samples, "sample", "samples");
    if row.sampled_fraction < 1.0 {
        said += &format!(
            ", {} of all, sampled",
            format::format_two_digit_fraction(row.sampled_fraction)
        );
    }
    if let Probe::Transfer(it) = row.probe
        && it.is_symmetric
    {
        said += ", symmetric";
    }
    let kept = found
        .transfer_pair_counts
        .iter()
        .find(|it| it.0 == row.probe);
    if let Some((_, kept)) = kept {
        let left_out = [
            (kept.n_identical, "identical"),
            (kept.n_without_query, "without a query"),
        ];
        let left_out = left_out.iter().filter(|it| it.0 > 0);
        let left_out = left_out.map(|(n, why)| format!("{} {why}", format::format_count(*n)));
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            let pairs = format_count_with_noun(kept.n_pairs, "pair", "pairs");
            said += &format!("; excluded from {pairs}: {}", left_out.join(", "));
        }
    }
    said
}

/// Formats the interval of an effect over queries, as in `[−.02, +.20]`.
pub(super) fn interval(effect: &BehavioralEffect) -> String {
    format::keep_on_one_line(&format::format_signed_interval(effect.score.interval))
}

/// Formats the score of an effect, as in `+.12 *†`: `*` marks a significant paired t test, `†` a
/// test by queries that disagrees with it.
pub(super) fn score(effect: &BehavioralEffect) -> String {
    let star = if effect.is_significant() { "*" } else { "" };
    let dagger = if effect.has_conflicting_tests() {
        "†"
    } else {
        ""
    };
    format!(
        "{}{star}{dagger}",
        format::format_signed_fraction(effect.score.value)
    )
}
