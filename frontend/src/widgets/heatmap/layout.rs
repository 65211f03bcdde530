//! The layout of the heat map: rows, columns, and the tracks of its grid.

use shared::plot::heatmap_rows::{self, COUNTS, HeatmapRow};
use shared::probe::{Axiom, Probe};
use shared::study::overview::StudyOverview;

use super::MapRow;

/// The number of rankers that fit on a phone.
pub(super) const MAX_PHONE_RANKERS: usize = 7;

/// One track of the grid: a row on a wide screen, a column on a phone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GridTrack {
    /// The number of the track, counted from 1.
    pub(super) index: usize,
    /// The content of the track.
    pub(super) content: TrackContent,
}

/// What a grid track holds: families, headings, or a row of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TrackContent {
    Families,
    Heads,
    Row(HeatmapRow),
}

/// Returns the tracks of the heat map, from the top.
pub(super) fn lines(frame: &StudyOverview) -> Vec<GridTrack> {
    let heads = [TrackContent::Families, TrackContent::Heads];
    let rows = heatmap_rows::heatmap_rows(frame)
        .into_iter()
        .map(TrackContent::Row);
    let whats = heads.into_iter().chain(rows);
    let lines = whats.enumerate();
    lines
        .map(|(at, what)| GridTrack {
            index: at + 1,
            content: what,
        })
        .collect()
}

/// Returns the rows with cells, from the top.
pub(super) fn map_rows(lines: &[GridTrack]) -> Vec<MapRow> {
    let cells = lines.iter().filter_map(|it| match it.content {
        TrackContent::Row(HeatmapRow::Ranker(row)) => Some(MapRow::Ranker(row)),
        TrackContent::Row(HeatmapRow::Relevance) => Some(MapRow::Relevance),
        TrackContent::Row(HeatmapRow::Group(_) | HeatmapRow::Count(_))
        | TrackContent::Families
        | TrackContent::Heads => None,
    });
    cells.collect()
}

/// Returns the CSS grid templates: the columns, then the columns and rows of the swapped layout.
pub(super) fn grid_templates(frame: &StudyOverview, lines: &[GridTrack]) -> [String; 3] {
    let mut wide = "minmax(124px, 1fr)".to_owned();
    let mut turned_rows = "auto".to_owned();
    for (at, column) in frame.columns.iter().enumerate() {
        let parts = at > 0 && family_name(frame.columns[at - 1].probe) != family_name(column.probe);
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
    let turned = lines.iter().map(|it| match it.content {
        TrackContent::Families => "0",
        TrackContent::Heads => "minmax(58px, 1fr)",
        TrackContent::Row(HeatmapRow::Group(COUNTS) | HeatmapRow::Count(_)) => "0",
        TrackContent::Row(HeatmapRow::Group(_)) => {
            groups += 1;
            if groups == 1 { "0" } else { "4px" }
        }
        TrackContent::Row(HeatmapRow::Ranker(row)) if row >= MAX_PHONE_RANKERS => "0",
        TrackContent::Row(HeatmapRow::Ranker(_) | HeatmapRow::Relevance) => "var(--w)",
    });
    let turned: Vec<&str> = turned.collect();
    [wide, turned.join(" "), turned_rows]
}

/// Returns the column of the grid for a column of the study, counted from 1. There is a gap between
/// families.
pub(super) fn track(frame: &StudyOverview, column: usize) -> usize {
    let probes = &frame.columns[..=column];
    let gaps = probes
        .windows(2)
        .filter(|it| family_name(it[0].probe) != family_name(it[1].probe))
        .count();
    column + 2 + gaps
}

/// Returns the column of the grid for an effectiveness measure.
pub(super) fn measure_track(frame: &StudyOverview, measure: usize) -> usize {
    let last = frame
        .columns
        .len()
        .checked_sub(1)
        .map_or(1, |it| track(frame, it));
    last + 2 + measure
}

/// Returns the name of a probe's family.
pub(crate) fn family_name(probe: Probe) -> &'static str {
    match probe {
        Probe::Axiom(Axiom::Tfc1 | Axiom::Tfc2 | Axiom::Mtdc) => "Term frequency",
        Probe::Axiom(Axiom::Lnc1 | Axiom::Lnc2) => "Length",
        Probe::Axiom(Axiom::Tp) => "Proximity",
        Probe::Axiom(Axiom::Stmc1 | Axiom::Stmc2 | Axiom::Stmc3) => "Semantics",
        Probe::Axiom(Axiom::IrAxioms(_)) => "ir_axioms",
        Probe::Axiom(Axiom::Formula(_)) => "Formulas",
        Probe::MeasureAndMatch(_) => "Measure and match",
        Probe::Manipulation(_) => "Manipulations",
        Probe::Transfer(_) => "Dataset transfer",
    }
}

/// Returns the families from the left, each with its first grid column and number of columns.
pub(super) fn family_spans(frame: &StudyOverview) -> Vec<(&'static str, usize, usize)> {
    let mut all: Vec<(&'static str, usize, usize)> = Vec::new();
    for (at, column) in frame.columns.iter().enumerate() {
        let name = family_name(column.probe);
        match all.last_mut() {
            Some((last, _, n)) if *last == name => *n += 1,
            Some(_) | None => all.push((name, track(frame, at), 1)),
        }
    }
    all
}

/// Returns the place that a key leads to in a grid. Empty places are skipped, and the result stays
/// in the grid. Returns none if the key does not move in a grid.
pub(crate) fn move_in_grid<T: Copy + PartialEq>(
    grid: &[Vec<Option<T>>],
    from: T,
    key: &str,
) -> Option<T> {
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
    use super::super::MapPosition;
    use super::*;

    #[test]
    fn keys_move_inside_the_map() {
        let rows = [MapRow::Ranker(0), MapRow::Ranker(2), MapRow::Relevance];
        let axioms = [Probe::Axiom(Axiom::Tfc1), Probe::Axiom(Axiom::Tp)];
        let from = MapPosition {
            row: MapRow::Ranker(2),
            probe: Probe::Axiom(Axiom::Tfc1),
        };
        let grid = rows.map(|who| {
            axioms
                .map(|probe| Some(MapPosition { row: who, probe }))
                .to_vec()
        });
        let to = |key: &str| move_in_grid(&grid, from, key);
        assert_eq!(
            to("ArrowRight"),
            Some(MapPosition {
                probe: Probe::Axiom(Axiom::Tp),
                ..from
            })
        );
        assert_eq!(to("ArrowLeft"), Some(from));
        assert_eq!(
            to("ArrowDown"),
            Some(MapPosition {
                row: MapRow::Relevance,
                ..from
            })
        );
        assert_eq!(
            to("ArrowUp"),
            Some(MapPosition {
                row: MapRow::Ranker(0),
                ..from
            })
        );
        assert_eq!(
            to("End"),
            Some(MapPosition {
                probe: Probe::Axiom(Axiom::Tp),
                ..from
            })
        );
        assert_eq!(to("x"), None);
    }

    #[test]
    fn axioms_of_a_family_stand_together() {
        let names: Vec<&str> = Probe::paper_axioms(true)
            .into_iter()
            .map(family_name)
            .collect();
        let mut parts = names.clone();
        parts.dedup();
        assert_eq!(
            parts,
            ["Term frequency", "Length", "Proximity", "Semantics"]
        );
    }
}
