//! What the papers print, and what their published code gave.
//!
//! Sources: tables 1 and 2 of Rennings, Moraes & Hauff (ECIR 2019); tables 2 and 3 of Câmara &
//! Hauff (ECIR 2020); for the latter's code the outputs that its repository holds
//! (github.com/ArthurCamara/bert-axioms, state of submission db63d12). ABNIRML has a file of its
//! own, and so have Padigela, Zamani & Croft.

pub mod abnirml;
pub(crate) mod padigela;

use super::{Asked, Of, Paper, What};
use crate::probe::Probe;
use crate::report::Value;

/// A table as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// What it shows.
    pub about: &'static str,
    /// From the left.
    pub columns: Vec<Of>,
    /// From the top.
    pub rows: Vec<Row>,
    /// What has to be known to compare its numbers with others.
    pub notes: &'static [&'static str],
}

/// A row as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub what: What,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// A number as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Missing where the paper has none.
    pub printed: Value,
    /// What the published code gave, where that differs or says more.
    pub code: Value,
}

impl Cell {
    /// Of which the code says nothing else.
    fn printed(printed: Value) -> Cell {
        Cell {
            printed,
            code: Value::Missing,
        }
    }
}

const NINE: [Probe; 9] = [
    Probe::Tfc1,
    Probe::Tfc2,
    Probe::Mtdc,
    Probe::Lnc1,
    Probe::Lnc2,
    Probe::Tp,
    Probe::Stmc1,
    Probe::Stmc2,
    Probe::Stmc3,
];

const FOUR: [Probe; 4] = [Probe::Tfc1, Probe::Tfc2, Probe::Mtdc, Probe::Lnc2];

/// What the last table of both papers shows.
const FULFILLED: &str =
    "effectiveness, and the fraction of instances that each model orders as the axiom says";

/// A table that [`Paper::tables`] lists.
pub fn table(Asked { paper, table }: Asked) -> Printed {
    match (paper, table) {
        (Paper::Rennings2019, 1) => rennings_1(),
        (Paper::Rennings2019, _) => rennings_2(),
        (Paper::Camara2020, 2) => camara_2(),
        (Paper::Camara2020, _) => camara_3(),
        (Paper::Abnirml, 1) => abnirml::matched(),
        (Paper::Abnirml, 2) => abnirml::manipulated(),
        (Paper::Abnirml, _) => abnirml::transferred(),
        (Paper::Padigela2019, 1) => padigela::leaderboard(),
        (Paper::Padigela2019, 2) => padigela::buckets(),
        (Paper::Padigela2019, 3) => padigela::lengths(),
        (Paper::Padigela2019, 4) => padigela::overlap(),
        (Paper::Padigela2019, 5) => padigela::samples(),
        (Paper::Padigela2019, _) => padigela::answers(),
    }
}

fn axioms(axioms: &[Probe]) -> Vec<Of> {
    axioms.iter().map(|it| Of::Probe(*it)).collect()
}

fn counts(name: &'static str, what: What, values: &[u32]) -> Row {
    let cell = |&it: &u32| Cell::printed(Value::Count(u64::from(it)));
    Row {
        name,
        what,
        cells: values.iter().map(cell).collect(),
    }
}

fn fractions(name: &'static str, what: What, values: &[f64]) -> Row {
    let cell = |&it: &f64| {
        Cell::printed(match it.is_nan() {
            true => Value::Missing,
            false => Value::Fraction(it),
        })
    };
    Row {
        name,
        what,
        cells: values.iter().map(cell).collect(),
    }
}

/// A row of which the code says nothing else.
fn said<const N: usize>(name: &'static str, what: What, cells: [Value; N]) -> Row {
    Row {
        name,
        what,
        cells: cells.into_iter().map(Cell::printed).collect(),
    }
}

fn rennings_1() -> Printed {
    Printed {
        about: "instances of each axiom (of LNC2 where only the test split is built)",
        columns: axioms(&FOUR),
        rows: vec![
            counts(
                "train",
                What::Split("train"),
                &[2_758_223, 837_838, 33_509, 0],
            ),
            counts("dev", What::Split("dev"), &[376_902, 50_772, 3_958, 0]),
            counts(
                "test",
                What::Split("test"),
                &[353_621, 183_898, 4_497, 10_074],
            ),
            counts(
                "total",
                What::Instances,
                &[3_488_746, 1_072_508, 41_964, 10_074],
            ),
        ],
        notes: &[],
    }
}

fn rennings_2() -> Printed {
    let mut columns = vec![
        Of::Measure("MAP", "AP"),
        Of::Measure("MRR", "RR@10"),
        Of::Measure("P@5", "P@5"),
    ];
    columns.extend(axioms(&FOUR));
    let row = |name, what, values: [f64; 7]| fractions(name, what, &values);
    Printed {
        about: FULFILLED,
        columns,
        rows: vec![
            row(
                "BM25",
                What::Ranker("bm25"),
                [0.52, 0.60, 0.18, 0.73, 0.98, 1.00, 0.80],
            ),
            row(
                "QL",
                What::Ranker("ql"),
                [0.54, 0.62, 0.19, 0.87, 0.63, 0.94, 0.68],
            ),
            row(
                "Duet",
                What::Absent,
                [0.25, 0.29, 0.10, 0.69, 0.56, 0.48, 0.19],
            ),
            row(
                "MatchPyramid",
                What::Absent,
                [0.44, 0.51, 0.18, 0.79, 0.58, 0.63, 0.00],
            ),
            row(
                "DRMM",
                What::Absent,
                [0.55, 0.64, 0.20, 0.84, 0.60, 0.76, 0.05],
            ),
            row(
                "aNMM",
                What::Absent,
                [0.57, 0.66, 0.21, 0.85, 0.56, 0.69, 0.38],
            ),
        ],
        notes: &[],
    }
}

fn camara_2() -> Printed {
    let mut relevant = counts(
        "with a relevant document",
        What::Relevant,
        &[1_416, 17, 11, 138_399, 82, 20_559, 19_666, 70_829, 1_626],
    );
    relevant.cells[5].code = Value::Count(19_666);
    let mut agreement = fractions(
        "agreement with relevance",
        What::Agreement,
        &[0.91, 0.29, 0.82, 0.50, f64::NAN, 0.18, 0.44, 0.63, 0.35],
    );
    agreement.cells[5].code = Value::Fraction(0.1816);
    Printed {
        about: "instances of each axiom, those with a relevant document, and how often the order \
                of the axiom is that of the judgements",
        columns: axioms(&NINE),
        rows: vec![
            counts(
                "instances",
                What::Instances,
                &[
                    119_690, 10_682, 13_871, 14_481_949, 7_452, 3_010_246, 319_579, 7_321_319,
                    217_104,
                ],
            ),
            relevant,
            agreement,
        ],
        notes: &[],
    }
}

fn camara_3() -> Printed {
    let mut columns = vec![Of::Measure("nDCG", "nDCG@10"), Of::Measure("MRR", "RR@10")];
    columns.extend(axioms(&NINE));
    let mut ql = fractions(
        "QL",
        What::Ranker("ql"),
        &[
            0.2627, 0.3633, 0.99, 0.70, 0.88, 0.50, 1.00, 0.39, 0.49, 0.70, 0.70,
        ],
    );
    ql.cells[7].code = Value::Fraction(0.44);
    let mut bert = fractions(
        "DistilBERT",
        What::Absent,
        &[
            0.3633, 0.4537, 0.61, 0.39, 0.51, 0.50, 0.00, 0.41, 0.50, 0.51, 0.51,
        ],
    );
    bert.cells[7].code = Value::Fraction(0.45);
    Printed {
        about: FULFILLED,
        columns,
        rows: vec![ql, bert],
        notes: &[],
    }
}
