//! Where everything stands on the map: rows, columns, and the tracks of its grid.

use shared::plot::rows::{self, COUNTS, Row};
use shared::probe::{Axiom, Probe};
use shared::study::overview::Overview;

use super::Who;

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
    Row(Row),
}

/// Everything that stands on the map, from the top.
pub(super) fn lines(frame: &Overview) -> Vec<GridLine> {
    let heads = [What::Families, What::Heads];
    let rows = rows::rows(frame).into_iter().map(What::Row);
    let whats = heads.into_iter().chain(rows);
    let lines = whats.enumerate();
    lines
        .map(|(at, what)| GridLine { at: at + 1, what })
        .collect()
}

/// Rows with cells, from the top.
pub(super) fn whos(lines: &[GridLine]) -> Vec<Who> {
    let cells = lines.iter().filter_map(|it| match it.what {
        What::Row(Row::Ranker(row)) => Some(Who::Ranker(row)),
        What::Row(Row::Relevance) => Some(Who::Relevance),
        What::Row(Row::Group(_) | Row::Count(_)) | What::Families | What::Heads => None,
    });
    cells.collect()
}

/// The tracks of the grid for the sheet: its columns, then columns and rows where both are swapped.
pub(super) fn tracks(frame: &Overview, lines: &[GridLine]) -> [String; 3] {
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
        What::Row(Row::Group(COUNTS) | Row::Count(_)) => "0",
        What::Row(Row::Group(_)) => {
            groups += 1;
            if groups == 1 { "0" } else { "4px" }
        }
        What::Row(Row::Ranker(row)) if row >= ON_PHONE => "0",
        What::Row(Row::Ranker(_) | Row::Relevance) => "var(--w)",
    });
    let turned: Vec<&str> = turned.collect();
    [wide, turned.join(" "), turned_rows]
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
        Probe::Axiom(Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Mtdc) => "Term frequency",
        Probe::Axiom(Axiom::Lnc1 | Axiom::Lnc2) => "Length",
        Probe::Axiom(Axiom::Tp) => "Proximity",
        Probe::Axiom(Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3) => "Meaning",
        Probe::Axiom(Axiom::Further(_)) => "ir_axioms",
        Probe::Axiom(Axiom::Combined(_)) => "Formulas",
        Probe::MeasureAndMatch(_) => "Measure and match",
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

/// Returns where a key leads in a grid from one of its places, over what is no place and never
/// off the grid; none if it is no key of a grid.
pub(crate) fn step<T: Copy + PartialEq>(grid: &[Vec<Option<T>>], from: T, key: &str) -> Option<T> {
    let mut rows = grid.iter().enumerate();
    let (row, column) = rows.find_map(|(at, row)| {
        let column = row.iter().position(|it| *it == Some(from))?;
        Some((at, column))
    })?;
    let own = &grid[row];
    let in_column = |row: &Vec<Option<T>>| row.get(column).copied().flatten();
    let next = match key {
        "ArrowLeft" => own[..column].iter().rev().flatten().next().copied(),
        "ArrowRight" => own[column + 1..].iter().flatten().next().copied(),
        "ArrowUp" => grid[..row].iter().rev().find_map(in_column),
        "ArrowDown" => grid[row + 1..].iter().find_map(in_column),
        "Home" => own.iter().flatten().next().copied(),
        "End" => own.iter().rev().flatten().next().copied(),
        _ => return None,
    };
    Some(next.unwrap_or(from))
}

#[cfg(test)]
mod tests {
    use super::super::Spot;
    use super::*;

    #[test]
    fn keys_move_inside_the_map() {
        let rows = [Who::Ranker(0), Who::Ranker(2), Who::Relevance];
        let axioms = [Probe::Axiom(Axiom::Tfc1), Probe::Axiom(Axiom::Tp)];
        let from = Spot {
            who: Who::Ranker(2),
            probe: Probe::Axiom(Axiom::Tfc1),
        };
        let grid = rows.map(|who| axioms.map(|probe| Some(Spot { who, probe })).to_vec());
        let to = |key: &str| step(&grid, from, key);
        assert_eq!(
            to("ArrowRight"),
            Some(Spot {
                probe: Probe::Axiom(Axiom::Tp),
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
                probe: Probe::Axiom(Axiom::Tp),
                ..from
            })
        );
        assert_eq!(to("x"), None);
    }

    #[test]
    fn axioms_of_a_family_stand_together() {
        let names: Vec<&str> = Probe::minable(true).into_iter().map(family).collect();
        let mut parts = names.clone();
        parts.dedup();
        assert_eq!(parts, ["Term frequency", "Length", "Proximity", "Meaning"]);
    }
}
