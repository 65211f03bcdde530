//! Known errors in the papers' numbers, each shown by two numbers.

mod neighbor_walk;
mod preposition_shuffle;
mod lemma_filter;
mod abnirml;
mod padigela;

use super::comparison::Bm25Comparison;
use super::published;
use super::study_values::{
    ReproducedColumnComputation, ReproducedResultsColumn, StudyColumnComputationResults,
};
use super::{PaperTable, ReproduciblePaper, number};
use crate::probe::{Axiom, AxiomVariant, Probe};
use crate::report::{ReportTable, TableValue};
use crate::stats::correlation::pearson_correlation;
use crate::study::Study;
use crate::study::behavioral_tests::{BehavioralTestResults, TieThreshold};
use crate::study::overview::{RankerAxiomResult, StudyOverview};

/// A note on fractions of axioms.
const FRACTION_NOTE: &str = "Fractions count a tie as agreement only if the expected preference \
     allows it; two numbers that should be equal differ at most by ties.";

/// A note on effects.
const EFFECT_NOTE: &str = "An effect is (positive − negative) / n. Our reproduction of the \
     published code uses our own tokens, part-of-speech tags and lemmas instead of spaCy's: \
     counts differ, directions do not.";

/// A note on groups of queries.
const GROUP_NOTE: &str = "Published means have two digits; values derived from them are \
     accurate to one unit of the second digit, or of the third where many are summed.";

/// Returns the table of discrepancies, with one row for each pair of numbers.
pub(super) fn known_paper_errors_table(
    paper: ReproduciblePaper,
    ours: &[ReproducedResultsColumn],
    study: Option<&Study>,
) -> ReportTable {
    let mut defects = DiscrepancyRows {
        rows: Vec::new(),
        ours,
        study,
    };
    match paper {
        ReproduciblePaper::Rennings2019 => defects.add_rennings_paper_discrepancies(),
        ReproduciblePaper::Camara2020 => defects.add_camara_paper_discrepancies(),
        ReproduciblePaper::Abnirml => defects.add_abnirml_paper_discrepancies(),
        ReproduciblePaper::Padigela2019 => defects.add_padigela_paper_discrepancies(),
        ReproduciblePaper::Formal2021 => {}
    }
    let note = match paper {
        ReproduciblePaper::Rennings2019 | ReproduciblePaper::Camara2020 => FRACTION_NOTE,
        ReproduciblePaper::Abnirml => EFFECT_NOTE,
        ReproduciblePaper::Padigela2019 | ReproduciblePaper::Formal2021 => GROUP_NOTE,
    };
    let title = "Known errors, each shown by two values";
    let table = ReportTable::new("discrepancies", title)
        .add_text_columns("error | first quantity")
        .add_number_columns("value")
        .add_text_columns("second quantity")
        .add_number_columns("value");
    ReportTable {
        rows: defects.rows,
        notes: vec![note.to_owned()],
        ..table
    }
}

struct DiscrepancyRows<'a> {
    rows: Vec<Vec<TableValue>>,
    ours: &'a [ReproducedResultsColumn],
    study: Option<&'a Study>,
}

/// A number with its label.
type LabeledValue = (String, TableValue);

impl<'a> DiscrepancyRows<'a> {
    fn add(&mut self, what: &str, one: LabeledValue, other: LabeledValue) {
        let text = |it: String| TableValue::Text(it);
        self.rows.push(vec![
            text(what.to_owned()),
            text(one.0),
            one.1,
            text(other.0),
            other.1,
        ]);
    }

    fn numbers(
        &self,
        reading: ReproducedColumnComputation,
    ) -> Option<&'a StudyColumnComputationResults> {
        let found = self.ours.iter().find(|it| it.reading == reading);
        found.and_then(|it| it.numbers.as_ref())
    }

    fn overview(&self, mode: AxiomVariant) -> Option<&'a StudyOverview> {
        let numbers = self
            .numbers(ReproducedColumnComputation::TestSplit(mode))
            .or_else(|| self.numbers(ReproducedColumnComputation::Mode(mode)));
        match numbers? {
            StudyColumnComputationResults::Axioms(it) => Some(it),
            StudyColumnComputationResults::BehavioralTests(_)
            | StudyColumnComputationResults::Compared(_)
            | StudyColumnComputationResults::LateInteraction { .. } => None,
        }
    }

    fn behaviours(&self, delta: TieThreshold) -> Option<&'a BehavioralTestResults> {
        match self.numbers(ReproducedColumnComputation::Delta(delta))? {
            StudyColumnComputationResults::Axioms(_)
            | StudyColumnComputationResults::Compared(_)
            | StudyColumnComputationResults::LateInteraction { .. } => None,
            StudyColumnComputationResults::BehavioralTests(it) => Some(it),
        }
    }

    /// Returns BM25 compared with each other ranker, by its name.
    fn compared(&self) -> Vec<(&'a str, &'a Bm25Comparison)> {
        let ours = self.ours.iter();
        let named = ours.filter_map(|it| Some((it.name.as_str(), it.as_bm25_comparison()?)));
        named.collect()
    }

    /// Returns the cells of every ranker that has verdicts in both variants.
    fn cells(
        &self,
        probe: Probe,
        modes: [AxiomVariant; 2],
    ) -> Vec<(String, RankerAxiomResult, RankerAxiomResult)> {
        let [Some(first), Some(second)] = modes.map(|it| self.overview(it)) else {
            return Vec::new();
        };
        let place = |it: &StudyOverview| it.columns.iter().position(|it| it.probe == probe);
        let Some((a, b)) = place(first).zip(place(second)) else {
            return Vec::new();
        };
        let both = first.rows.iter().zip(&second.rows);
        both.filter_map(|(one, other)| {
            let name = format!("{}, {}", one.ranker.label, one.ranker.detail);
            Some((name, one.cells[a].clone()?, other.cells[b].clone()?))
        })
        .collect()
    }

    fn instances(&self, probe: Probe, mode: AxiomVariant) -> TableValue {
        let study = self
            .study
            .and_then(|it| it.instances_of_probe(probe, mode).ok());
        study.map_or(TableValue::Missing, |it| TableValue::Count(it.len() as u64))
    }

    fn add_camara_paper_discrepancies(&mut self) {
        let (fixed, printed, code) = (
            AxiomVariant::Fixed,
            AxiomVariant::PaperCamara2020,
            AxiomVariant::Code,
        );
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Tp), [code, fixed]) {
            self.add(
                "TP is inverted in the published code: it prefers the document whose query \
                 terms are farther apart",
                fraction(format!("{ranker}, variant code"), one.micro_average.value),
                fraction("1 − fixed − ties", turned(&other)),
            );
        }
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Stmc1), [printed, fixed]) {
            self.add(
                "STMC1 uses a distance as a similarity: as printed, it prefers the document \
                 less similar to the query",
                fraction(format!("{ranker}, variant paper"), one.micro_average.value),
                fraction("1 − fixed − ties", turned(&other)),
            );
        }
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Stmc1), [code, printed]) {
            self.add(
                "The published code of STMC1 also requires equal query-term occurrences instead \
                 of equally many distinct query terms: the effect of this precondition alone",
                fraction(format!("{ranker}, variant code"), one.micro_average.value),
                fraction("variant paper", other.micro_average.value),
            );
        }
        self.add(
            "With this precondition, STMC1 has different instances",
            (
                "instances, variant code".to_owned(),
                self.instances(Probe::Axiom(Axiom::Stmc1), code),
            ),
            (
                "variant paper".to_owned(),
                self.instances(Probe::Axiom(Axiom::Stmc1), printed),
            ),
        );
        self.lnc1();
        self.add(
            "M-TDC in the published code weights terms by 1 / collection frequency, not by \
             document frequency",
            (
                "instances, variant code".to_owned(),
                self.instances(Probe::Axiom(Axiom::Mtdc), code),
            ),
            (
                "fixed".to_owned(),
                self.instances(Probe::Axiom(Axiom::Mtdc), fixed),
            ),
        );
        self.add(
            "M-TDC's length condition was reversed when the paper's instances were mined",
            ("published instances".to_owned(), TableValue::Count(13_871)),
            (
                "TFC1, which uses the same condition".to_owned(),
                TableValue::Count(119_690),
            ),
        );
        self.add(
            "LNC2 of DistilBERT: text and table disagree",
            fraction("section 4.4", 0.06),
            fraction("table 3", 0.0),
        );
        self.add(
            "Instances with a relevant document: TP and STMC1 appear to be swapped in table 2",
            ("TP, published".to_owned(), TableValue::Count(20_559)),
            (
                "TP, authors' notebook".to_owned(),
                TableValue::Count(19_666),
            ),
        );
        self.add(
            "One of the columns nDCG and MRR of table 3 is mislabeled: the same number appears \
             for two rankers",
            (
                "QL, MRR".to_owned(),
                TableValue::Score {
                    value: 0.3633,
                    digits: 4,
                },
            ),
            (
                "DistilBERT, nDCG".to_owned(),
                TableValue::Score {
                    value: 0.3633,
                    digits: 4,
                },
            ),
        );
    }

    fn lnc1(&mut self) {
        let (fixed, code) = (AxiomVariant::Fixed, AxiomVariant::Code);
        let Some(study) = self.study else { return };
        let Ok(instances) = study.instances_of_probe(Probe::Axiom(Axiom::Lnc1), code) else {
            return;
        };
        let pairs = study.pools.iter().map(|it| it.len() as u64);
        let pairs: u64 = pairs.map(|n| n * n.saturating_sub(1)).sum();
        let kept = instances
            .n_found
            .iter()
            .map(|&it| u64::from(it))
            .sum::<u64>();
        let overview = self.overview(code);
        let column = overview.and_then(|it| {
            it.columns
                .iter()
                .find(|it| it.probe == Probe::Axiom(Axiom::Lnc1))
        });
        let both = column.map_or(0, |it| it.n_both_orders);
        let share = |part: u64, whole: u64| match whole {
            0 => TableValue::Missing,
            whole => TableValue::Fraction(part as f64 / whole as f64),
        };
        self.add(
            "LNC1 in the published code never compares query terms: most ordered pairs are \
             instances, many in both orders, so that every ranker scores near one half",
            ("share of all ordered pairs".to_owned(), share(kept, pairs)),
            (
                "share of these instances in both orders".to_owned(),
                share(both, instances.len() as u64),
            ),
        );
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Lnc1), [code, fixed]) {
            self.add(
                "LNC1 in the published code and as defined here",
                fraction(format!("{ranker}, variant code"), one.micro_average.value),
                fraction("fixed", other.micro_average.value),
            );
        }
    }

    fn add_rennings_paper_discrepancies(&mut self) {
        let overview = self.overview(AxiomVariant::Fixed);
        let of = |idf: &str| {
            let rankers = overview?.rows.iter();
            let mut known = rankers.filter(|it| it.ranker.spec.starts_with("bm25"));
            let row = known.find(|it| it.ranker.spec.contains(idf))?;
            let column = overview?
                .columns
                .iter()
                .position(|it| it.probe == Probe::Axiom(Axiom::Tfc1))?;
            Some(row.cells[column].as_ref()?.micro_average.value)
        };
        let value = |it: Option<f64>| it.map_or(TableValue::Missing, TableValue::Fraction);
        let (unclamped, positive) = (value(of("idf=rsj")), value(of("idf=lucene")));
        self.add(
            "BM25 violates TFC1 only because its idf is negative for terms in more than half of \
             the documents; with a positive idf it agrees",
            ("BM25, idf rsj, TFC1".to_owned(), unclamped),
            ("BM25, idf lucene, TFC1".to_owned(), positive),
        );
        let printed = published::published_table(PaperTable {
            paper: ReproduciblePaper::Rennings2019,
            table: 2,
        });
        let points: Vec<[f64; 2]> = printed
            .rows
            .iter()
            .zip(LNC2_ALL)
            .map(|(row, all)| {
                let value = |at: usize| number(&row.cells[at].published).unwrap_or_default();
                let axioms = (3..7).map(value).sum::<f64>() + all;
                [value(0), axioms / 5.0]
            })
            .collect();
        let r = pearson_correlation(&points);
        self.add(
            "The correlation of MAP with the mean axiom score, from table 2; six rankers hardly \
             constrain it",
            ("published r".to_owned(), TableValue::Difference(0.44)),
            (
                match &r {
                    Some(it) => format!(
                        "r from the published table, interval [{:.2}, {:.2}]",
                        it.r.interval[0], it.r.interval[1]
                    ),
                    None => "r from the published table".to_owned(),
                },
                r.map_or(TableValue::Missing, |it| TableValue::Difference(it.r.value)),
            ),
        );
    }
}

/// The last column of table 2, LNC2 with duplicates in every split.
const LNC2_ALL: [f64; 6] = [0.80, 0.68, 0.47, 0.19, 0.12, 0.47];

/// Returns a share with its label.
fn fraction(name: impl Into<String>, share: f64) -> (String, TableValue) {
    (name.into(), TableValue::Fraction(share))
}

/// Returns the fraction of the same pairs in the other order, with ties as violations in both.
fn turned(cell: &RankerAxiomResult) -> f64 {
    let tied = cell.tally.tied as f64 / cell.tally.n_with_verdict() as f64;
    1.0 - cell.micro_average.value - tied
}
