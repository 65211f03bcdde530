//! What is known to be wrong with the papers' numbers, each shown by a pair of numbers.

mod neighbor_walk;
mod preposition_shuffle;
mod lemma_filter;
mod abnirml;
mod padigela;

use super::comparison::Bm25Comparison;
use super::published;
use super::study_values::{StudyColumn, StudyColumnKind, StudyNumbers};
use super::{Paper, PaperTable, number};
use crate::probe::{Axiom, AxiomVariant, Probe};
use crate::report::{ReportTable, TableValue};
use crate::stats::correlation::pearson;
use crate::study::Study;
use crate::study::behavioral_tests::{BehavioralTestResults, TieThreshold};
use crate::study::overview::{OverviewCell, StudyOverview};

/// Said of fractions of axioms.
const FRACTION_NOTE: &str = "Fractions count a tie for the claim only where the claim allows it; \
                            two numbers that should be alike differ by ties at most.";

/// Said of effects.
const EFFECT_NOTE: &str = "An effect is (positive − negative) / n. What the published code does is \
                          done here over our own tokens, word classes and base forms, not \
                          spaCy's: its own counts differ, not their direction.";

/// Said of groups of queries.
const GROUP_NOTE: &str = "Printed means have two digits: what is computed from them is known to a \
                         unit of the second, or of the third where many are added.";

/// One row for each pair of numbers.
pub(super) fn table(paper: Paper, ours: &[StudyColumn], study: Option<&Study>) -> ReportTable {
    let mut defects = DiscrepancyRows {
        rows: Vec::new(),
        ours,
        study,
    };
    match paper {
        Paper::Rennings2019 => defects.rennings(),
        Paper::Camara2020 => defects.camara(),
        Paper::Abnirml => defects.abnirml(),
        Paper::Padigela2019 => defects.padigela(),
    }
    let note = match paper {
        Paper::Rennings2019 | Paper::Camara2020 => FRACTION_NOTE,
        Paper::Abnirml => EFFECT_NOTE,
        Paper::Padigela2019 => GROUP_NOTE,
    };
    let title = "What is known to be wrong, shown by pairs of numbers";
    let table = ReportTable::new("defects", title)
        .with_text_columns("what | the one")
        .with_number_columns("is")
        .with_text_columns("the other")
        .with_number_columns("is");
    ReportTable {
        rows: defects.rows,
        notes: vec![note.to_owned()],
        ..table
    }
}

struct DiscrepancyRows<'a> {
    rows: Vec<Vec<TableValue>>,
    ours: &'a [StudyColumn],
    study: Option<&'a Study>,
}

/// A number with what it is.
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

    fn numbers(&self, reading: StudyColumnKind) -> Option<&'a StudyNumbers> {
        let found = self.ours.iter().find(|it| it.reading == reading);
        found.and_then(|it| it.numbers.as_ref())
    }

    fn overview(&self, mode: AxiomVariant) -> Option<&'a StudyOverview> {
        match self.numbers(StudyColumnKind::Mode(mode))? {
            StudyNumbers::Axioms(it) => Some(it),
            StudyNumbers::BehavioralTests(_) | StudyNumbers::Compared(_) => None,
        }
    }

    fn behaviours(&self, delta: TieThreshold) -> Option<&'a BehavioralTestResults> {
        match self.numbers(StudyColumnKind::Delta(delta))? {
            StudyNumbers::Axioms(_) | StudyNumbers::Compared(_) => None,
            StudyNumbers::BehavioralTests(it) => Some(it),
        }
    }

    /// BM25 beside each other ranker, by its name.
    fn compared(&self) -> Vec<(&'a str, &'a Bm25Comparison)> {
        let ours = self.ours.iter();
        let named = ours.filter_map(|it| Some((it.name.as_str(), it.compared()?)));
        named.collect()
    }

    /// For every ranker that was judged in both readings its cells.
    fn cells(
        &self,
        probe: Probe,
        modes: [AxiomVariant; 2],
    ) -> Vec<(String, OverviewCell, OverviewCell)> {
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
        let study = self.study.and_then(|it| it.instances_of(probe, mode).ok());
        study.map_or(TableValue::Missing, |it| TableValue::Count(it.len() as u64))
    }

    fn camara(&mut self) {
        let (fixed, printed, code) = (
            AxiomVariant::Fixed,
            AxiomVariant::PaperCamara2020,
            AxiomVariant::Code,
        );
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Tp), [code, fixed]) {
            self.add(
                "TP is upside down in the published code: it prefers the text whose query terms \
                 stand farther apart",
                fraction(format!("{ranker}, mode code"), one.micro_average.value),
                fraction("1 − fixed − ties", turned(&other)),
            );
        }
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Stmc1), [printed, fixed]) {
            self.add(
                "STMC1 takes a distance for a similarity: as printed it prefers the text that is \
                 less like the query",
                fraction(format!("{ranker}, mode paper"), one.micro_average.value),
                fraction("1 − fixed − ties", turned(&other)),
            );
        }
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Stmc1), [code, printed]) {
            self.add(
                "STMC1 in the published code also asks for as many occurrences of query terms in \
                 place of as many distinct ones: the effect of that premise alone",
                fraction(format!("{ranker}, mode code"), one.micro_average.value),
                fraction("mode paper", other.micro_average.value),
            );
        }
        self.add(
            "STMC1 with that premise has other instances",
            (
                "instances, mode code".to_owned(),
                self.instances(Probe::Axiom(Axiom::Stmc1), code),
            ),
            (
                "mode paper".to_owned(),
                self.instances(Probe::Axiom(Axiom::Stmc1), printed),
            ),
        );
        self.lnc1();
        self.add(
            "M-TDC in the published code weighs terms by 1 over their occurrences, not by their \
             documents",
            (
                "instances, mode code".to_owned(),
                self.instances(Probe::Axiom(Axiom::Mtdc), code),
            ),
            (
                "fixed".to_owned(),
                self.instances(Probe::Axiom(Axiom::Mtdc), fixed),
            ),
        );
        self.add(
            "M-TDC's length test was the wrong way round when the paper's instances were mined",
            ("printed instances".to_owned(), TableValue::Count(13_871)),
            (
                "TFC1, which shares the test".to_owned(),
                TableValue::Count(119_690),
            ),
        );
        self.add(
            "LNC2 of DistilBERT: the text and the table disagree",
            fraction("section 4.4", 0.06),
            fraction("table 3", 0.0),
        );
        self.add(
            "Instances with a relevant document: TP and STMC1 look exchanged in table 2",
            ("TP, printed".to_owned(), TableValue::Count(20_559)),
            ("TP, their notebook".to_owned(), TableValue::Count(19_666)),
        );
        self.add(
            "One of the columns nDCG and MRR of table 3 has another's name: the same number \
             stands for two rankers",
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
        let Ok(instances) = study.instances_of(Probe::Axiom(Axiom::Lnc1), code) else {
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
            "LNC1 in the published code never looks at query terms: most ordered pairs are \
             instances, many in both orders, so that every ranker comes out near one half",
            ("share of all ordered pairs".to_owned(), share(kept, pairs)),
            (
                "of these in both orders".to_owned(),
                share(both, instances.len() as u64),
            ),
        );
        for (ranker, one, other) in self.cells(Probe::Axiom(Axiom::Lnc1), [code, fixed]) {
            self.add(
                "LNC1 by that code, and as the axiom says",
                fraction(format!("{ranker}, mode code"), one.micro_average.value),
                fraction("fixed", other.micro_average.value),
            );
        }
    }

    fn rennings(&mut self) {
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
            "BM25 fails TFC1 only because its idf goes below 0 for terms in more than half of the \
             texts; with a positive idf it follows",
            ("BM25, idf rsj, TFC1".to_owned(), unclamped),
            ("BM25, idf lucene, TFC1".to_owned(), positive),
        );
        let printed = published::published_table(PaperTable {
            paper: Paper::Rennings2019,
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
        let r = pearson(&points);
        self.add(
            "The correlation of MAP with the mean axiomatic score, from the numbers of table 2; \
             six rankers bound it hardly at all",
            ("printed r".to_owned(), TableValue::Difference(0.44)),
            (
                match &r {
                    Some(it) => format!(
                        "r of the printed table, interval [{:.2}, {:.2}]",
                        it.r.interval[0], it.r.interval[1]
                    ),
                    None => "r of the printed table".to_owned(),
                },
                r.map_or(TableValue::Missing, |it| TableValue::Difference(it.r.value)),
            ),
        );
    }
}

/// The last column of table 2, LNC2 with duplicates in every split.
const LNC2_ALL: [f64; 6] = [0.80, 0.68, 0.47, 0.19, 0.12, 0.47];

/// A share under its name.
fn fraction(name: impl Into<String>, share: f64) -> (String, TableValue) {
    (name.into(), TableValue::Fraction(share))
}

/// The fraction of the same pairs the other way round, ties against both.
fn turned(cell: &OverviewCell) -> f64 {
    let tied = cell.tally.tied as f64 / cell.tally.n_with_verdict() as f64;
    1.0 - cell.micro_average.value - tied
}
