//! Where everything stands on the map: rows, columns, and the tracks of its grid.

use shared::probe::Probe;
use shared::report::format;
use shared::score::RankerKind;
use shared::study::overview::{Column, Overview};

use super::{Spot, Who};

/// Rankers that a phone has room for.
pub(super) const ON_PHONE: usize = 7;

/// One row of the grid.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GridLine {
    /// Its row on a wide screen, its column on a phone, counted from 1.
    pub(super) at: usize,
    /// What stands in it.
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum What {
    Families,
    Heads,
    Group(&'static str),
    Cells(Who),
    Count(Count),
}

/// A row of counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Count {
    Instances,
    Relevant,
    BothOrders,
    Sampled,
}

impl Count {
    pub(super) fn name(self) -> &'static str {
        match self {
            Count::Instances => "Instances",
            Count::Relevant => "with a relevant text",
            Count::BothOrders => "in both orders",
            Count::Sampled => "share kept by the cap",
        }
    }

    pub(super) fn of(self, column: &Column) -> String {
        match self {
            Count::Instances => format::count(column.n_instances),
            Count::Relevant => format::count(column.n_relevant),
            Count::BothOrders => format::count(column.n_both_orders),
            Count::Sampled => format::fraction(column.sampled),
        }
    }
}

/// Where everything stands.
pub(super) struct Layout {
    pub(super) lines: Vec<GridLine>,
    pub(super) tracks: Tracks,
}

/// Columns and rows of the grid, for the sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tracks {
    pub(super) wide: String,
    pub(super) turned_columns: String,
    pub(super) turned_rows: String,
}

impl Layout {
    pub(super) fn of(frame: &Overview) -> Layout {
        let mut whats = vec![What::Families, What::Heads];
        for (kind, name) in [
            (RankerKind::Lexical, "Lexical"),
            (RankerKind::Neural, "Neural"),
            (RankerKind::Service, "Services"),
            (RankerKind::File, "Scores that were brought"),
        ] {
            let rows = frame.rankers.iter().enumerate();
            let rows = rows.filter(|it| it.1.ranker.kind == kind);
            let rows: Vec<What> = rows.map(|it| What::Cells(Who::Ranker(it.0))).collect();
            if !rows.is_empty() {
                whats.push(What::Group(name));
                whats.extend(rows);
            }
        }
        if frame.probes.iter().any(|it| it.relevance.is_some()) {
            whats.push(What::Group("The axiom itself agrees with"));
            whats.push(What::Cells(Who::Relevance));
        }
        whats.push(What::Group("Counts"));
        whats.extend([Count::Instances, Count::Relevant].map(What::Count));
        if frame.probes.iter().any(|it| it.n_both_orders > 0) {
            whats.push(What::Count(Count::BothOrders));
        }
        if frame.probes.iter().any(|it| it.sampled < 1.0) {
            whats.push(What::Count(Count::Sampled));
        }
        let lines = whats.into_iter().enumerate();
        let lines: Vec<GridLine> = lines
            .map(|(at, what)| GridLine { at: at + 1, what })
            .collect();
        let tracks = Tracks::of(frame, &lines);
        Layout { lines, tracks }
    }

    /// Rows with cells, from the top.
    pub(super) fn whos(&self) -> Vec<Who> {
        let cells = self.lines.iter().filter_map(|it| match it.what {
            What::Cells(who) => Some(who),
            What::Families | What::Heads | What::Group(_) | What::Count(_) => None,
        });
        cells.collect()
    }
}

impl Tracks {
    fn of(frame: &Overview, lines: &[GridLine]) -> Tracks {
        let mut wide = "minmax(124px, 1fr)".to_owned();
        let mut turned_rows = "auto".to_owned();
        for (at, column) in frame.probes.iter().enumerate() {
            let parts = at > 0 && family(frame.probes[at - 1].probe) != family(column.probe);
            if parts {
                wide += " 6px";
                turned_rows += " 4px";
            }
            wide += " var(--w)";
            turned_rows += " 38px";
        }
        if !frame.measures.is_empty() {
            wide += " 18px";
            turned_rows += " 10px";
            for _ in &frame.measures {
                wide += " minmax(40px, 58px)";
                turned_rows += " 34px";
            }
        }
        let mut groups = 0;
        let turned = lines.iter().map(|it| match it.what {
            What::Families => "0",
            What::Heads => "minmax(58px, 1fr)",
            What::Group("Counts") | What::Count(_) => "0",
            What::Group(_) => {
                groups += 1;
                if groups == 1 { "0" } else { "4px" }
            }
            What::Cells(who) if is_wide_only(who) => "0",
            What::Cells(_) => "var(--w)",
        });
        let turned: Vec<&str> = turned.collect();
        Tracks {
            wide,
            turned_columns: turned.join(" "),
            turned_rows,
        }
    }
}

pub(super) fn is_wide_only(who: Who) -> bool {
    match who {
        Who::Ranker(row) => row >= ON_PHONE,
        Who::Relevance => false,
    }
}

/// The column of the grid for a column of the study, counted from 1; a gap parts families.
pub(super) fn track(frame: &Overview, column: usize) -> usize {
    let probes = &frame.probes[..=column];
    let gaps = probes
        .windows(2)
        .filter(|it| family(it[0].probe) != family(it[1].probe))
        .count();
    column + 2 + gaps
}

/// The column of the grid for a measure.
pub(super) fn measure_track(frame: &Overview, measure: usize) -> usize {
    let last = frame
        .probes
        .len()
        .checked_sub(1)
        .map_or(1, |it| track(frame, it));
    last + 2 + measure
}

/// What the axioms of a kind are about.
pub(crate) fn family(probe: Probe) -> &'static str {
    match probe {
        Probe::Tfc1 | Probe::Tfc2 | Probe::Mtdc => "Term frequency",
        Probe::Lnc1 | Probe::Lnc2 => "Length",
        Probe::Tp => "Proximity",
        Probe::Stmc1 | Probe::Stmc2 | Probe::Stmc3 => "Meaning",
        Probe::Further(_) => "ir_axioms",
        Probe::Combined(_) => "Formulas",
        Probe::Matching(_) => "Measure and match",
        Probe::Manipulation(_) => "Manipulations",
        Probe::Transfer(_) => "Dataset transfer",
    }
}

/// Families with the columns they take, from the left.
pub(super) fn families(frame: &Overview) -> Vec<(&'static str, usize, usize)> {
    let mut all: Vec<(&'static str, usize, usize)> = Vec::new();
    for (at, column) in frame.probes.iter().enumerate() {
        let name = family(column.probe);
        match all.last_mut() {
            Some((last, _, n)) if *last == name => *n += 1,
            Some(_) | None => all.push((name, track(frame, at), 1)),
        }
    }
    all
}

/// Where a key leads from a place; none if it is no key of the map.
pub(super) fn step(from: Spot, key: &str, rows: &[Who], axioms: &[Probe]) -> Option<Spot> {
    let row = rows.iter().position(|it| *it == from.who)?;
    let column = axioms.iter().position(|it| *it == from.probe)?;
    let (row, column) = match key {
        "ArrowLeft" => (row, column.saturating_sub(1)),
        "ArrowRight" => (row, (column + 1).min(axioms.len() - 1)),
        "ArrowUp" => (row.saturating_sub(1), column),
        "ArrowDown" => ((row + 1).min(rows.len() - 1), column),
        "Home" => (row, 0),
        "End" => (row, axioms.len() - 1),
        _ => return None,
    };
    Some(Spot {
        who: rows[row],
        probe: axioms[column],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_inside_the_map() {
        let rows = [Who::Ranker(0), Who::Ranker(2), Who::Relevance];
        let axioms = [Probe::Tfc1, Probe::Tp];
        let from = Spot {
            who: Who::Ranker(2),
            probe: Probe::Tfc1,
        };
        let to = |key: &str| step(from, key, &rows, &axioms);
        assert_eq!(
            to("ArrowRight"),
            Some(Spot {
                probe: Probe::Tp,
                ..from
            })
        );
        assert_eq!(to("ArrowLeft"), Some(from));
        assert_eq!(
            to("ArrowDown"),
            Some(Spot {
                who: Who::Relevance,
                ..from
            })
        );
        assert_eq!(
            to("ArrowUp"),
            Some(Spot {
                who: Who::Ranker(0),
                ..from
            })
        );
        assert_eq!(
            to("End"),
            Some(Spot {
                probe: Probe::Tp,
                ..from
            })
        );
        assert_eq!(to("x"), None);
    }

    #[test]
    fn axioms_of_a_family_stand_together() {
        let names: Vec<&str> = Probe::AXIOMS.iter().map(|&it| family(it)).collect();
        let mut parts = names.clone();
        parts.dedup();
        assert_eq!(parts, ["Term frequency", "Length", "Proximity", "Meaning"]);
    }
}
