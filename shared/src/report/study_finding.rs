//! What a study found, in one or two sentences for its card.

use super::format::format_percent;
use crate::probe::Probe;
use crate::study::overview::StudySummary;

/// The smallest difference of two rankers that is worth a sentence.
const LEAST_DIFFERENCE: f64 = 0.05;

/// A ranker on an axiom.
#[derive(Clone, Copy)]
struct Cell<'a> {
    ranker: &'a str,
    probe: Probe,
    fraction: f64,
}

/// Says on which axiom the rankers differ most and which one is agreed with least; none without
/// an axiom that has instances.
pub fn study_summary_finding(summary: &StudySummary) -> Option<String> {
    let columns: Vec<Vec<Cell>> = (0..summary.probes.len())
        .map(|column| cells_of_column(summary, column))
        .collect();
    let by_fraction = |a: &Cell, b: &Cell| a.fraction.total_cmp(&b.fraction);
    let widest = columns.iter().filter_map(|cells| {
        let low = cells.iter().copied().min_by(by_fraction)?;
        let high = cells.iter().copied().rev().max_by(by_fraction)?;
        Some((low, high))
    });
    // Of equal differences, that of the first axiom.
    let (low, high) = widest.rev().max_by(|a, b| {
        let width = |it: &(Cell, Cell)| it.1.fraction - it.0.fraction;
        width(a).total_cmp(&width(b))
    })?;
    let lowest = columns.iter().flatten().copied().min_by(by_fraction)?;
    let agrees = |cell: Cell| {
        let percent = format_percent(cell.fraction);
        format!(
            "{} agrees with {} in {percent} of its instances",
            cell.ranker,
            cell.probe.name()
        )
    };
    if high.fraction - low.fraction < LEAST_DIFFERENCE {
        return Some(format!("The lowest fraction: {}.", agrees(lowest)));
    }
    let difference = format!(
        "The rankers differ most on {}: {} agrees in {} of its instances, {} in {}.",
        high.probe.name(),
        high.ranker,
        format_percent(high.fraction),
        low.ranker,
        format_percent(low.fraction)
    );
    Some(match lowest.fraction < low.fraction {
        true => format!("{difference} The lowest fraction: {}.", agrees(lowest)),
        false => difference,
    })
}

fn cells_of_column(summary: &StudySummary, column: usize) -> Vec<Cell<'_>> {
    let probe = summary.probes[column];
    let rows = summary.rankers.iter().zip(&summary.fractions);
    let cells = rows.filter_map(|(ranker, fractions)| {
        Some(Cell {
            ranker,
            probe,
            fraction: (*fractions.get(column)?)?,
        })
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Axiom;

    fn finding(fractions: [[Option<f64>; 2]; 2]) -> Option<String> {
        study_summary_finding(&StudySummary {
            name: "tiny".to_owned(),
            title: "Tiny".to_owned(),
            description: String::new(),
            created: "2026-11-20".to_owned(),
            instances_hash: String::new(),
            n_queries: 3,
            n_docs: 12,
            n_instances: 40,
            n_behavioral_tests: 0,
            rankers: vec!["BM25".to_owned(), "BERT".to_owned()],
            probes: [Axiom::Tfc1, Axiom::Lnc2].map(Probe::Axiom).into(),
            fractions: fractions.map(Vec::from).into(),
            is_published: true,
        })
    }

    #[test]
    fn the_largest_difference_and_the_lowest_fraction_are_named() {
        assert_eq!(
            finding([[Some(0.9), Some(1.0)], [Some(0.55), Some(0.41)]]).unwrap(),
            "The rankers differ most on LNC2: BM25 agrees in 100 % of its instances, BERT in 41 %."
        );
        assert_eq!(
            finding([[Some(0.3), Some(1.0)], [Some(0.35), Some(0.41)]]).unwrap(),
            "The rankers differ most on LNC2: BM25 agrees in 100 % of its instances, BERT in 41 \
             %. The lowest fraction: BM25 agrees with TFC1 in 30 % of its instances."
        );
        assert_eq!(
            finding([[Some(0.9), None], [Some(0.88), None]]).unwrap(),
            "The lowest fraction: BERT agrees with TFC1 in 88 % of its instances."
        );
        assert_eq!(finding([[None, None], [None, None]]), None);
    }
}
