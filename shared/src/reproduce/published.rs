//! The values that the papers print, and those of their published code.
//!
//! The tables are the files `published/*.toml`, one for each paper, each table with its source. The
//! type of a cell gives its kind: an integer is a count, a float is a fraction. Of the strings,
//! "+.29" and "-.14" are effects, "0.345" is a number with the digits of the paper, "" is a
//! missing value, and any other is text. Cells missing at the end of a row are missing values. `{
//! delta = 0.35 }` is a tie threshold, and `{ published = 20_559, authors-code = 19_666 }` also has
//! the value of the published code.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{PaperTable, PublishedColumnSubject, PublishedRowSubject, ReproduciblePaper, width};
use crate::probe::transfer::TransferQuerySource;
use crate::report::TableValue;

/// A table as printed in the paper.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// The number of the table in the paper.
    number: u8,
    /// Where its numbers are in the paper and in its code.
    pub source: String,
    /// The caption.
    pub caption: String,
    /// The columns, from left to right.
    pub columns: Vec<PublishedColumnSubject>,
    /// The rows, from top to bottom.
    pub rows: Vec<PublishedRow>,
    /// Notes that are needed to compare its numbers with others.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A row of a published table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// The label of the row.
    pub name: String,
    /// The subject of the row: a ranker, a count, a statistic.
    pub subject: PublishedRowSubject,
    /// One cell for each column.
    pub cells: Vec<PaperAndAuthorsCodeValues>,
}

/// A published value and the value of the authors' code.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub struct PaperAndAuthorsCodeValues {
    /// The value in the paper; missing where the paper has none.
    pub published: TableValue,
    /// The value of the published code, where it differs or adds something.
    pub authors_code: TableValue,
}

const NO_CELL: PaperAndAuthorsCodeValues = PaperAndAuthorsCodeValues {
    published: TableValue::Missing,
    authors_code: TableValue::Missing,
};

/// The transfer sets of ABNIRML's table 3 by the names that a study must give them, and the source
/// of their queries.
pub const TRANSFER_SETS: &[(&str, TransferQuerySource)] = &[
    ("jfleg", TransferQuerySource::NounPhrase),
    ("xsum", TransferQuerySource::GivenShared),
    ("cnn", TransferQuerySource::GivenShared),
    ("daily-mail", TransferQuerySource::GivenShared),
    ("gyafc-entertainment", TransferQuerySource::GivenShared),
    ("gyafc-family", TransferQuerySource::GivenShared),
];

/// The table of Padigela, Zamani & Croft next to which example queries are shown.
pub(super) const SAMPLE_QUERIES_TABLE: PaperTable = PaperTable {
    paper: ReproduciblePaper::Padigela2019,
    table: 5,
};

/// All tables, in the order of [`ReproduciblePaper::ALL`] and
/// [`ReproduciblePaper::reproducible_table_numbers`].
static TABLES: LazyLock<Vec<(ReproduciblePaper, PublishedTable)>> = LazyLock::new(|| {
    let read = |&paper| read_tables(paper).into_iter().map(move |it| (paper, it));
    ReproduciblePaper::ALL.iter().flat_map(read).collect()
});

/// Returns a table that [`ReproduciblePaper::reproducible_table_numbers`] lists.
///
/// # Panics
///
/// Panics if the paper has no such table.
pub fn published_table(asked: PaperTable) -> &'static PublishedTable {
    let mut tables = TABLES.iter();
    let found = tables.find(|(paper, it)| (*paper, it.number) == (asked.paper, asked.table));
    &found.expect("a paper has the tables that it lists").1
}

fn read_tables(paper: ReproduciblePaper) -> Vec<PublishedTable> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Tables {
        table: Vec<PublishedTable>,
    }
    let file = match paper {
        ReproduciblePaper::Rennings2019 => include_str!("published/rennings2019.toml"),
        ReproduciblePaper::Camara2020 => include_str!("published/camara2020.toml"),
        ReproduciblePaper::Abnirml => include_str!("published/abnirml.toml"),
        ReproduciblePaper::Padigela2019 => include_str!("published/padigela2019.toml"),
        ReproduciblePaper::Formal2021 => include_str!("published/formal2021.toml"),
    };
    let Tables { mut table } = toml::from_str(file).expect("a test reads every file");
    for PublishedTable { columns, rows, .. } in &mut table {
        for row in rows {
            let n_left_out = columns.len().saturating_sub(row.cells.len());
            row.cells.extend(std::iter::repeat_n(NO_CELL, n_left_out));
        }
    }
    table
}

impl TryFrom<toml::Value> for PaperAndAuthorsCodeValues {
    /// The reason why a cell is invalid.
    type Error = String;

    fn try_from(written: toml::Value) -> Result<PaperAndAuthorsCodeValues, String> {
        let both = match &written {
            toml::Value::Table(both) if !both.contains_key("delta") => both,
            _ => {
                return Ok(PaperAndAuthorsCodeValues {
                    published: read_value(&written)?,
                    ..NO_CELL
                });
            }
        };
        let read = |key: &str| both.get(key).map_or(Ok(TableValue::Missing), read_value);
        match both
            .keys()
            .all(|it| it == "published" || it == "authors-code")
        {
            true => Ok(PaperAndAuthorsCodeValues {
                published: read("published")?,
                authors_code: read("authors-code")?,
            }),
            false => Err(format!("{both} is not a cell")),
        }
    }
}

fn read_value(written: &toml::Value) -> Result<TableValue, String> {
    let found = match written {
        toml::Value::Integer(count) => u64::try_from(*count).ok().map(TableValue::Count),
        toml::Value::Float(share) => Some(TableValue::Fraction(*share)),
        toml::Value::Table(it) => it.get("delta").and_then(|it| it.as_float()).map(width),
        toml::Value::String(text) => Some(read_text(text)),
        _ => None,
    };
    found.ok_or_else(|| format!("{written} is not a value of a table cell"))
}

fn read_text(text: &str) -> TableValue {
    let has_sign = text.starts_with("+.") || text.starts_with("-.");
    match (text.parse(), text.split_once('.')) {
        (Ok(effect), _) if has_sign => TableValue::Difference(effect),
        (Ok(value), Some((_, digits))) => TableValue::Score {
            value,
            digits: digits.len() as u8,
        },
        _ if text.is_empty() => TableValue::Missing,
        _ => TableValue::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::late_interaction::LateInteractionQuantity;

    #[test]
    fn every_paper_has_the_tables_that_it_lists_with_their_sources() {
        for &paper in ReproduciblePaper::ALL {
            let tables = read_tables(paper);
            let numbers: Vec<u8> = tables.iter().map(|it| it.number).collect();
            assert_eq!(numbers, paper.reproducible_table_numbers());
            assert!(tables.iter().all(|it| !it.source.is_empty()));
        }
    }

    #[test]
    fn late_interaction_pages_and_reproductions_name_the_same_published_values() {
        let [table] = &read_tables(ReproduciblePaper::Formal2021)[..] else {
            panic!("there is one table")
        };
        let mut quantities = Vec::new();
        for row in &table.rows {
            let PublishedRowSubject::LateInteraction(quantity) = &row.subject else {
                panic!("{}", row.name)
            };
            let expected = quantity.published_value();
            let expected = expected.map_or(TableValue::Missing, TableValue::Difference);
            assert_eq!(row.cells[1].published, expected, "{}", row.name);
            quantities.push(*quantity);
        }
        let all = LateInteractionQuantity::CORRELATIONS.into_iter();
        assert!(
            quantities
                .into_iter()
                .eq(all.chain(LateInteractionQuantity::MEANS))
        );
    }

    #[test]
    fn a_cell_is_read_by_the_way_that_it_is_written() {
        let read = |written: &str| {
            let mut table: toml::Table = format!("cell = {written}").parse().unwrap();
            PaperAndAuthorsCodeValues::try_from(table.remove("cell").unwrap()).unwrap()
        };
        for (written, printed) in [
            ("20_559", TableValue::Count(20_559)),
            ("0.18", TableValue::Fraction(0.18)),
            ("'+.29'", TableValue::Difference(0.29)),
            ("'-.14'", TableValue::Difference(-0.14)),
            (
                "'-0.210'",
                TableValue::Score {
                    value: -0.21,
                    digits: 3,
                },
            ),
            ("'close to 0'", TableValue::Text("close to 0".to_owned())),
            ("''", TableValue::Missing),
            ("{ delta = 0.5 }", width(0.5)),
        ] {
            assert_eq!(
                read(written),
                PaperAndAuthorsCodeValues {
                    published: printed,
                    ..NO_CELL
                },
                "{written}"
            );
        }
        let both = read("{ published = 0.18, authors-code = 0.1816 }");
        assert_eq!(both.published, TableValue::Fraction(0.18));
        assert_eq!(both.authors_code, TableValue::Fraction(0.1816));
    }

    #[test]
    fn what_is_no_cell_is_refused() {
        for written in ["-1", "true", "{ print = 1 }", "{ delta = 'wide' }"] {
            let mut table: toml::Table = format!("cell = {written}").parse().unwrap();
            let cell = table.remove("cell").unwrap();
            assert!(
                PaperAndAuthorsCodeValues::try_from(cell).is_err(),
                "{written}"
            );
        }
    }
}
