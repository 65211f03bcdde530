//! The layout of the heat map: rows, columns, and the tracks of its grid.

use shared::plot::heatmap_rows::{self, COUNTS, HeatmapRow};
use shared::probe::{Axiom, Probe};
use shared::study::overview::StudyOverview;

use super::RankerOrRelevanceRow;

/// The number of rankers that fit on a phone.
pub(super) const MAX_PHONE_RANKERS: usize = 7;

/// One track of the grid: a row on a wide screen, a column on a phone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeatMapGridTrack {
    /// The number of the track, counted from 1.
    pub(super) index: usize,
    /// The content of the track.
    pub(super) content: HeatMapGridTrackContent,
}

/// What a grid track holds: families, headings, or a row of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HeatMapGridTrackContent {
    Families,
    Heads,
    Row(HeatmapRow),
}

/// Returns the tracks of the heat map, from the top.
pub(super) fn heat_map_row_tracks(frame: &StudyOverview) -> Vec<HeatMapGridTrack> {
    let heads = [
        HeatMapGridTrackContent::Families,
        HeatMapGridTrackContent::Heads,
    ];
    let rows = heatmap_rows::heatmap_ranker_and_count_rows(frame)
        .into_iter()
        .map(HeatMapGridTrackContent::Row);
    let whats = heads.into_iter().chain(rows);
    let lines = whats.enumerate();
    lines
        .map(|(at, what)| HeatMapGridTrack {
            index: at + 1,
            content: what,
        })
        .collect()
}

/// Returns the rows with cells, from the top.
pub(super) fn ranker_and_relevance_rows(lines: &[HeatMapGridTrack]) -> Vec<RankerOrRelevanceRow> {
    let cells = lines.iter().filter_map(|it| match it.content {
        HeatMapGridTrackContent::Row(HeatmapRow::Ranker(row)) => {
            Some(RankerOrRelevanceRow::Ranker(row))
        }
        HeatMapGridTrackContent::Row(HeatmapRow::Relevance) => {
            Some(RankerOrRelevanceRow::Relevance)
        }
        HeatMapGridTrackContent::Row(HeatmapRow::Group(_) | HeatmapRow::Count(_))
        | HeatMapGridTrackContent::Families
        | HeatMapGridTrackContent::Heads => None,
    });
    cells.collect()
}

/// Returns the CSS grid templates: the columns, then the columns and rows of the swapped layout.
pub(super) fn css_grid_templates(frame: &StudyOverview, lines: &[HeatMapGridTrack]) -> [String; 3] {
    let mut wide = "minmax(124px, 1fr)".to_owned();
    let mut turned_rows = "auto".to_owned();
    for (at, column) in frame.columns.iter().enumerate() {
        let parts = at > 0
            && probe_family_name(frame.columns[at - 1].probe) != probe_family_name(column.probe);
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
        // With the value for another query, below the own one when the layout is swapped.
        let height = match frame.has_swapped_effectiveness() {
            true => " 50px",
            false => " 34px",
        };
        for _ in &frame.measures {
            wide += " minmax(40px, 58px)";
            turned_rows += height;
        }
    }
    let mut groups = 0;
    let turned = lines.iter().map(|it| match it.content {
        HeatMapGridTrackContent::Families => "0",
        HeatMapGridTrackContent::Heads => "minmax(58px, 1fr)",
        HeatMapGridTrackContent::Row(HeatmapRow::Group(COUNTS) | HeatmapRow::Count(_)) => "0",
        HeatMapGridTrackContent::Row(HeatmapRow::Group(_)) => {
            groups += 1;
            if groups == 1 { "0" } else { "4px" }
        }
        HeatMapGridTrackContent::Row(HeatmapRow::Ranker(row)) if row >= MAX_PHONE_RANKERS => "0",
        HeatMapGridTrackContent::Row(HeatmapRow::Ranker(_) | HeatmapRow::Relevance) => "var(--w)",
    });
    let turned: Vec<&str> = turned.collect();
    [wide, turned.join(" "), turned_rows]
}

/// Returns the column of the grid for a column of the study, counted from 1. There is a gap between
/// families.
pub(super) fn grid_column_of_probe(frame: &StudyOverview, column: usize) -> usize {
    let probes = &frame.columns[..=column];
    let gaps = probes
        .windows(2)
        .filter(|it| probe_family_name(it[0].probe) != probe_family_name(it[1].probe))
        .count();
    column + 2 + gaps
}

/// Returns the column of the grid for an effectiveness measure.
pub(super) fn grid_column_of_measure(frame: &StudyOverview, measure: usize) -> usize {
    let last = frame
        .columns
        .len()
        .checked_sub(1)
        .map_or(1, |it| grid_column_of_probe(frame, it));
    last + 2 + measure
}

/// Returns the name of a probe's family.
pub(crate) fn probe_family_name(probe: Probe) -> &'static str {
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
pub(super) fn probe_family_column_spans(
    frame: &StudyOverview,
) -> Vec<(&'static str, usize, usize)> {
    let mut all: Vec<(&'static str, usize, usize)> = Vec::new();
    for (at, column) in frame.columns.iter().enumerate() {
        let name = probe_family_name(column.probe);
        match all.last_mut() {
            Some((last, _, n)) if *last == name => *n += 1,
            Some(_) | None => all.push((name, grid_column_of_probe(frame, at), 1)),
        }
    }
    all
}

/// Returns the place that a key leads to in a grid. Empty places are skipped, and the result stays
/// in the grid. Returns none if the key does not move in a grid.
pub(crate) fn grid_place_for_key<T: Copy + PartialEq>(
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
    use super::super::HeatMapPosition;
    use super::*;

    #[test]
    fn keys_move_inside_the_map() {
        let rows = [
            RankerOrRelevanceRow::Ranker(0),
            RankerOrRelevanceRow::Ranker(2),
            RankerOrRelevanceRow::Relevance,
        ];
        let axioms = [Probe::Axiom(Axiom::Tfc1), Probe::Axiom(Axiom::Tp)];
        let from = HeatMapPosition {
            row: RankerOrRelevanceRow::Ranker(2),
            probe: Probe::Axiom(Axiom::Tfc1),
        };
        let grid = rows.map(|who| {
            axioms
                .map(|probe| Some(HeatMapPosition { row: who, probe }))
                .to_vec()
        });
        let to = |key: &str| grid_place_for_key(&grid, from, key);
        assert_eq!(
            to("ArrowRight"),
            Some(HeatMapPosition {
                probe: Probe::Axiom(Axiom::Tp),
                ..from
            })
        );
        assert_eq!(to("ArrowLeft"), Some(from));
        assert_eq!(
            to("ArrowDown"),
            Some(HeatMapPosition {
                row: RankerOrRelevanceRow::Relevance,
                ..from
            })
        );
        assert_eq!(
            to("ArrowUp"),
            Some(HeatMapPosition {
                row: RankerOrRelevanceRow::Ranker(0),
                ..from
            })
        );
        assert_eq!(
            to("End"),
            Some(HeatMapPosition {
                probe: Probe::Axiom(Axiom::Tp),
                ..from
            })
        );
        assert_eq!(to("x"), None);
    }

    #[test]
    fn axioms_of_a_family_stand_together() {
        let names: Vec<&str> = Probe::list_minable_paper_axioms(true)
            .into_iter()
            .map(probe_family_name)
            .collect();
        let mut parts = names.clone();
        parts.dedup();
        assert_eq!(
            parts,
            ["Term frequency", "Length", "Proximity", "Semantics"]
        );
    }
}
