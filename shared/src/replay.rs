//! The papers' tables beside ours: for every cell what was printed, what the published code
//! gave where that is known, and what a study at hand gives in each reading.
//!
//! A study of another collection cannot give the same numbers, only the same pattern; which
//! collection a table needs is said beside it. What is wrong with a number is shown by a pair of
//! numbers from the study, so that a reader can compute both again.

pub mod printed;
mod defects;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::probe::{Mode, Probe};
use crate::report::{Column, Kind, Table, Value};
use crate::study::Study;
use crate::study::dials::Dials;
use crate::study::overview::Overview;
use printed::{Printed, Row};

/// A paper whose tables can be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// Rennings, Moraes & Hauff, ECIR 2019.
    Rennings2019,
    /// Câmara & Hauff, ECIR 2020.
    Camara2020,
}

/// Which table of which paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Asked {
    /// The paper.
    pub paper: Paper,
    /// As numbered in it.
    pub table: u8,
}

impl Paper {
    /// Every paper.
    pub const ALL: &[Paper] = &[Paper::Rennings2019, Paper::Camara2020];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Paper::Rennings2019 => "rennings2019",
            Paper::Camara2020 => "camara2020",
        }
    }

    /// As it is cited.
    pub fn cited(self) -> &'static str {
        match self {
            Paper::Rennings2019 => {
                "Rennings, Moraes & Hauff, An Axiomatic Approach to Diagnosing Neural IR Models, \
                 ECIR 2019"
            }
            Paper::Camara2020 => {
                "Câmara & Hauff, Diagnosing BERT with Retrieval Heuristics, ECIR 2020"
            }
        }
    }

    /// The tables that can be replayed.
    pub fn tables(self) -> &'static [u8] {
        match self {
            Paper::Rennings2019 => &[1, 2],
            Paper::Camara2020 => &[2, 3],
        }
    }

    /// Its reading as printed.
    pub fn mode(self) -> Mode {
        match self {
            Paper::Rennings2019 => Mode::PaperRennings2019,
            Paper::Camara2020 => Mode::PaperCamara2020,
        }
    }

    /// The readings that its numbers are compared with, ours first.
    pub fn modes(self) -> Vec<Mode> {
        match self {
            Paper::Rennings2019 => vec![Mode::Fixed, Mode::PaperRennings2019],
            Paper::Camara2020 => vec![Mode::Fixed, Mode::PaperCamara2020, Mode::CodeCamara2020],
        }
    }

    /// What its numbers were computed on, and how to have it here.
    pub fn needs(self) -> &'static str {
        match self {
            Paper::Rennings2019 => {
                "Printed for WikiPassageQA, whose passages are not part of this software. Where \
                 they are at hand: axioscope import FOLDER --to wikipassageqa; axioscope replay \
                 rennings2019 --table 2 --collection wikipassageqa."
            }
            Paper::Camara2020 => {
                "Printed for 1,558 development queries of MS MARCO documents, drawn in a way that \
                 cannot be repeated. Where the documents, queries and judgements are at hand: \
                 axioscope import FOLDER --to msmarco-doc; axioscope replay camara2020 --table 3 \
                 --collection msmarco-doc --vectors FILE."
            }
        }
    }
}

impl std::str::FromStr for Paper {
    type Err = Error;

    fn from_str(word: &str) -> Result<Paper, Error> {
        let found = Paper::ALL.iter().find(|it| it.name() == word).copied();
        found.ok_or_else(|| {
            let reason = format!("`{word}` is none of rennings2019, camara2020");
            Error::setting("paper", reason)
        })
    }
}

/// What a study has in one reading; nothing in a reading that it was not mined in.
struct Ours {
    mode: Mode,
    overview: Option<Overview>,
}

/// A table of a paper beside a study, and what is wrong with the paper's numbers, as tables.
/// Without a study ours are missing.
pub fn replay(asked: Asked, study: Option<&Study>) -> Result<Vec<Table>, Error> {
    let Asked { paper, table } = asked;
    if !paper.tables().contains(&table) {
        let known: Vec<String> = paper.tables().iter().map(u8::to_string).collect();
        let reason = format!("{} has tables {} here", paper.name(), known.join(" and "));
        return Err(Error::setting("table", reason));
    }
    let ours = paper.modes().into_iter().map(|mode| {
        let has = study.filter(|it| it.definition.modes.contains(&mode));
        let dials = Dials {
            mode: Some(mode),
            ..Dials::default()
        };
        let overview = has.map(|it| it.overview(&dials)).transpose()?;
        Ok(Ours { mode, overview })
    });
    let ours: Vec<Ours> = ours.collect::<Result<_, Error>>()?;
    let printed = printed::table(asked);
    let mut tables = vec![beside(asked, &printed, &ours, study)];
    tables.push(defects::table(paper, &ours, study));
    Ok(tables)
}

/// One row for each cell of the paper's table.
fn beside(asked: Asked, printed: &Printed, ours: &[Ours], study: Option<&Study>) -> Table {
    let mut columns = vec![
        Column::new("row", Kind::Text),
        Column::new("column", Kind::Text),
        Column::new("printed", Kind::Number),
        Column::new("their code", Kind::Number),
    ];
    let readings = ours.iter().map(|it| format!("ours, {}", it.mode.name()));
    columns.extend(readings.map(|it| Column::new(it, Kind::Estimate)));
    columns.push(Column::new("fixed − printed", Kind::Number));
    let mut rows = Vec::new();
    for row in &printed.rows {
        for (column, cell) in printed.columns.iter().zip(&row.cells) {
            let values: Vec<Value> = ours
                .iter()
                .map(|it| {
                    it.overview
                        .as_ref()
                        .map_or(Value::Missing, |it| value(it, row, column))
                })
                .collect();
            let shown = |it: Option<f64>| match (it, cell.counted) {
                (None, _) => Value::Missing,
                (Some(it), true) => Value::Count(it as u64),
                (Some(it), false) => Value::Fraction(it),
            };
            let difference = match (cell.printed, values.first()) {
                (Some(printed), Some(Value::Estimate(it))) => Value::Signed(it.value - printed),
                (Some(printed), Some(Value::Fraction(it))) => Value::Signed(it - printed),
                _ => Value::Missing,
            };
            let mut line = vec![
                Value::Text(row.name.to_owned()),
                Value::Text(column.name().to_owned()),
                shown(cell.printed),
                shown(cell.code),
            ];
            line.extend(values);
            line.push(difference);
            rows.push(line);
        }
    }
    let at_hand = match study {
        Some(study) => format!(
            "Ours: study {} of {} queries; pool {}; {}. Another collection gives other numbers.",
            study.definition.name,
            study.queries.len(),
            study.definition.pool,
            study.definition.analyzer.describe()
        ),
        None => "No study was chosen: ours are missing.".to_owned(),
    };
    Table {
        name: format!("{}-table-{}", asked.paper.name(), asked.table),
        title: format!(
            "{}, table {}: {}",
            asked.paper.cited(),
            asked.table,
            printed.about
        ),
        columns,
        rows,
        notes: vec![asked.paper.needs().to_owned(), at_hand],
    }
}

/// What stands in a column of a paper's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// An axiom.
    Probe(Probe),
    /// A measure: the paper's name, ours.
    Measure(&'static str, &'static str),
}

impl Of {
    fn name(self) -> &'static str {
        match self {
            Of::Probe(axiom) => axiom.about().name,
            Of::Measure(name, _) => name,
        }
    }
}

/// What stands in a row of a paper's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A ranker; ours is the first whose spec begins so.
    Ranker(&'static str),
    /// A ranker that the software does not have.
    Absent,
    /// Instances.
    Instances,
    /// Instances of the queries of a split.
    Split(&'static str),
    /// Instances with a relevant text.
    Relevant,
    /// How often the claim holds for the grades.
    Agreement,
}

fn value(overview: &Overview, row: &Row, column: &Of) -> Value {
    let place = |axiom: Probe| overview.probes.iter().position(|it| it.axiom == axiom);
    let probe = match column {
        Of::Probe(axiom) => place(*axiom),
        Of::Measure(..) => None,
    };
    let found = match row.what {
        What::Absent => None,
        What::Instances => probe.map(|at| Value::Count(overview.probes[at].n_instances)),
        What::Split(name) => probe.and_then(|at| {
            let of = overview.splits.iter().position(|it| it.name == name)?;
            overview.probes[at]
                .n_of_splits
                .get(of)
                .map(|&it| Value::Count(it))
        }),
        What::Relevant => probe.map(|at| Value::Count(overview.probes[at].n_relevant)),
        What::Agreement => probe
            .and_then(|at| overview.probes[at].relevance.as_ref())
            .map(|it| Value::Estimate(it.micro)),
        What::Ranker(spec) => {
            let rankers = &overview.rankers;
            let known = rankers.iter().find(|it| it.ranker.spec.starts_with(spec));
            known.and_then(|ranker| match column {
                Of::Probe(_) => Some(Value::Estimate(ranker.cells[probe?].as_ref()?.micro)),
                Of::Measure(_, ours) => {
                    let at = overview.measures.iter().position(|it| it == ours)?;
                    ranker.effectiveness[at].map(Value::Fraction)
                }
            })
        }
    };
    found.unwrap_or(Value::Missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::fixture;

    #[test]
    fn every_table_has_as_many_cells_in_a_row_as_columns() {
        for &paper in Paper::ALL {
            for &table in paper.tables() {
                let printed = printed::table(Asked { paper, table });
                assert!(!printed.rows.is_empty());
                for row in &printed.rows {
                    assert_eq!(row.cells.len(), printed.columns.len(), "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn ours_stand_beside_what_was_printed_and_a_reading_that_is_missing_says_so() {
        let study = fixture::study("river", &["river river", "river bank", "the sea"], 10);
        let asked = Asked {
            paper: Paper::Camara2020,
            table: 3,
        };
        let tables = replay(asked, Some(&study)).unwrap();
        let row = tables[0]
            .rows
            .iter()
            .find(|row| row[..2] == [Value::Text("QL".to_owned()), Value::Text("TFC1".to_owned())]);
        let row = row.unwrap();
        assert_eq!(row[2], Value::Fraction(0.99));
        assert!(
            matches!(row[4], Value::Estimate(it) if it.value == 1.0),
            "{row:?}"
        );
        assert_eq!((&row[5], &row[6]), (&Value::Missing, &Value::Missing));
        assert!(matches!(row[7], Value::Signed(it) if (it - 0.01).abs() < 1e-12));
        assert_eq!(
            replay(asked, None).unwrap()[0].rows.len(),
            tables[0].rows.len()
        );
    }

    #[test]
    fn a_table_that_is_not_there_is_refused() {
        let paper = Paper::Rennings2019;
        let error = replay(Asked { paper, table: 7 }, None).unwrap_err();
        assert!(error.to_string().contains("1 and 2"), "{error}");
        assert!("nobody2018".parse::<Paper>().is_err());
    }
}
