//! Which cells stand where: controls × variables, or behaviours × rankers.

use shared::probe::matching::Tolerance;
use shared::probe::{Matching, Measure, Probe};
use shared::report::format;
use shared::study::behaviour::{Behaviours, Effect, Row};

use super::super::address::Behaving;
use super::scene::EffectCell;
use crate::numbers::plural;
use crate::widgets::heatmap::step;

/// A kind of behaviours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BehaviorKind {
    Matching,
    Manipulations,
    Transfers,
}

impl BehaviorKind {
    pub(super) const ALL: &[BehaviorKind] = &[
        BehaviorKind::Matching,
        BehaviorKind::Manipulations,
        BehaviorKind::Transfers,
    ];

    /// Whether a behaviour is of this kind.
    pub(super) fn has(self, probe: Probe) -> bool {
        match self {
            BehaviorKind::Matching => matches!(probe, Probe::MeasureAndMatch(_)),
            BehaviorKind::Manipulations => matches!(probe, Probe::Manipulation(_)),
            BehaviorKind::Transfers => matches!(probe, Probe::Transfer(_)),
        }
    }

    /// Its head.
    pub(super) fn name(self) -> &'static str {
        match self {
            BehaviorKind::Matching => "Measure and match",
            BehaviorKind::Manipulations => "Manipulations",
            BehaviorKind::Transfers => "Transfer sets",
        }
    }

    /// What a sample is, and what its sign means.
    pub(super) fn said(self) -> &'static str {
        match self {
            BehaviorKind::Matching => {
                "Two documents of a query that are equal in the row and differ in the column. \
                 Positive: the one with the larger value is preferred."
            }
            BehaviorKind::Manipulations => {
                "A document beside itself, changed in one way. Positive: the manipulated text is \
                 preferred."
            }
            BehaviorKind::Transfers => {
                "Pairs of texts that were made for another task. Positive: the first text of a \
                 pair is preferred; in a symmetric set, the two score differently."
            }
        }
    }

    /// Its cells, as a reader wants to see them.
    pub(super) fn layout(self, found: &Behaviours, wanted: &Behaving) -> Layout {
        match self {
            BehaviorKind::Matching => matrix(found, wanted.ranker),
            BehaviorKind::Manipulations => rows(found, |row| {
                self.has(row.probe) && row.slice == wanted.slice
            }),
            BehaviorKind::Transfers => rows(found, |row| self.has(row.probe)),
        }
    }
}

/// Rows and columns of cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// What the heads of the rows are.
    pub(super) corner: &'static str,
    pub(super) columns: Vec<Head>,
    pub(super) rows: Vec<(Head, Vec<Square>)>,
}

/// The head of a row or a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    pub(super) name: String,
    /// Below it, smaller, each on a line.
    pub(super) details: Vec<String>,
}

/// One place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Square {
    /// No two texts can be such a sample.
    Impossible,
    /// The study does not ask.
    NotAsked,
    /// There was no sample with both scores.
    Nothing,
    Known {
        spot: EffectCell,
        effect: Box<Effect>,
        /// Below the score, smaller.
        detail: String,
    },
}

impl Square {
    fn of(row: &Row, ranker: usize, detail: impl Fn(&Effect) -> String) -> Square {
        let effect = row.effects.get(ranker).cloned().flatten();
        effect.map_or(Square::Nothing, |effect| Square::Known {
            spot: EffectCell {
                probe: row.probe,
                slice: row.slice,
                ranker,
            },
            detail: detail(&effect),
            effect: Box::new(effect),
        })
    }

    pub(super) fn spot(&self) -> Option<EffectCell> {
        match self {
            Square::Known { spot, .. } => Some(*spot),
            Square::Impossible | Square::NotAsked | Square::Nothing => None,
        }
    }
}

impl Layout {
    /// Every cell that can be selected, row by row.
    pub(super) fn spots(&self) -> impl Iterator<Item = EffectCell> + '_ {
        let squares = self.rows.iter().flat_map(|it| &it.1);
        squares.filter_map(Square::spot)
    }

    /// Where a key leads from a cell.
    pub(super) fn step(&self, from: EffectCell, key: &str) -> Option<EffectCell> {
        let rows = self.rows.iter();
        let grid = rows.map(|it| it.1.iter().map(Square::spot).collect());
        let grid: Vec<Vec<Option<EffectCell>>> = grid.collect();
        step(&grid, from, key).filter(|it| *it != from)
    }
}

/// Controls × variables of one ranker, with the count of samples in a cell.
fn matrix(found: &Behaviours, ranker: usize) -> Layout {
    let asked = found.rows.iter().filter_map(|row| match row.probe {
        Probe::MeasureAndMatch(matching) => Some((matching, row)),
        _ => None,
    });
    let asked: Vec<(Matching, &Row)> = asked.collect();
    let mut controls: Vec<(Measure, Tolerance)> = Vec::new();
    for (it, _) in &asked {
        if !controls.contains(&(it.control, it.tolerance)) {
            controls.push((it.control, it.tolerance));
        }
    }
    controls.sort_unstable();
    let used = |it: &&Measure| asked.iter().any(|(matching, _)| matching.variable == **it);
    let variables: Vec<Measure> = Measure::ALL.iter().filter(used).copied().collect();
    let square = |control, tolerance, variable| {
        let wanted = Matching {
            control,
            variable,
            tolerance,
        };
        match asked.iter().find(|it| it.0 == wanted) {
            Some((_, row)) => Square::of(row, ranker, |effect| format::count(effect.n())),
            None if wanted.is_possible() => Square::NotAsked,
            None => Square::Impossible,
        }
    };
    let rows = controls.into_iter().map(|(control, tolerance)| {
        let head = Head {
            name: control.name().to_owned(),
            details: match tolerance.value() {
                0.0 => Vec::new(),
                within => vec![format!("within {within}")],
            },
        };
        let squares = variables.iter().map(|&it| square(control, tolerance, it));
        (head, squares.collect())
    });
    let columns = variables.iter().map(|it| Head {
        name: it.name().to_owned(),
        details: Vec::new(),
    });
    Layout {
        corner: "Equal in ↓ larger in →",
        rows: rows.collect(),
        columns: columns.collect(),
    }
}

/// Behaviours × rankers, with the interval in a cell.
fn rows(found: &Behaviours, wanted: impl Fn(&Row) -> bool) -> Layout {
    let columns = found.rankers.iter().map(|it| Head {
        name: it.ranker.label.clone(),
        details: {
            let detail = Some(it.ranker.detail.clone()).filter(|it| !it.is_empty());
            let width = |it: f64| format!("δ {}", format::score(it, format::score_digits(it)));
            detail.into_iter().chain(it.delta.map(width)).collect()
        },
    });
    let rows = found.rows.iter().filter(|it| wanted(it)).map(|row| {
        let head = Head {
            name: row.probe.name().into_owned(),
            details: vec![samples(found, row)],
        };
        let squares = (0..found.rankers.len()).map(|it| Square::of(row, it, interval));
        (head, squares.collect())
    });
    Layout {
        corner: "Behaviour",
        columns: columns.collect(),
        rows: rows.collect(),
    }
}

/// How many samples there are, and what is not among them.
fn samples(found: &Behaviours, row: &Row) -> String {
    let mut said = plural(row.n_samples, "sample", "samples");
    if row.sampled < 1.0 {
        said += &format!(", {} of all, drawn", format::fraction(row.sampled));
    }
    if let Probe::Transfer(it) = row.probe
        && it.symmetric
    {
        said += ", symmetric";
    }
    let kept = found.kept.iter().find(|it| it.0 == row.probe);
    if let Some((_, kept)) = kept {
        let left_out = [
            (kept.n_identical, "identical"),
            (kept.n_without_query, "without a query"),
        ];
        let left_out = left_out.iter().filter(|it| it.0 > 0);
        let left_out = left_out.map(|(n, why)| format!("{} {why}", format::count(*n)));
        let left_out: Vec<String> = left_out.collect();
        if !left_out.is_empty() {
            let pairs = plural(kept.n_pairs, "pair", "pairs");
            said += &format!("; of {pairs} left out: {}", left_out.join(", "));
        }
    }
    said
}

/// `[−.02, +.20]`, with queries as units.
pub(super) fn interval(effect: &Effect) -> String {
    let [low, high] = effect.score.interval.map(format::signed);
    format!("[{low}, {high}]")
}

/// `+.12 *†`
pub(super) fn score(effect: &Effect) -> String {
    let star = if effect.is_significant() { "*" } else { "" };
    let dagger = if effect.is_disputed() { "†" } else { "" };
    format!("{}{star}{dagger}", format::signed(effect.score.value))
}
