//! The tables of papers next to our values: for every cell the published value, the value of the
//! published code where that is known, and the values of a study, one for each column: a variant,
//! a δ, or a ranker compared with BM25.
//!
//! A study of another collection cannot give the same numbers, only the same pattern; every table
//! says which collection it needs. Each error in a paper's numbers is shown with two numbers from
//! the study, so that a reader can compute both again.

mod paper;
pub mod comparison;
pub mod published;
mod subjects;
mod study_values;
mod discrepancies;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::compare::{QueryRelevanceRequirement, RankerComparisonInput};
use crate::error::Error;
use crate::late_interaction::LateInteractionRankerAnalysis;
use crate::report::{ReportTable, TableColumnKind, TableValue, describe_pool, format};
use crate::study::Study;
use crate::study::behavioral_tests::TieThreshold;
use comparison::Bm25Comparison;
pub use paper::ReproduciblePaper;
use published::{PublishedTable, SAMPLE_QUERIES_TABLE};
use study_values::{ReproducedColumnComputation, ReproducedResultsColumn, ZERO_TOLERANCE};
pub use subjects::{
    AbnirmlSampleOutcome, FineTuningState, PublishedColumnSubject, PublishedRowSubject,
};

/// A table of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PaperTable {
    /// The paper.
    pub paper: ReproduciblePaper,
    /// The number of the table in the paper.
    pub table: u8,
}

impl PaperTable {
    /// Returns the name of the table for readers: `Câmara & Hauff 2020, table 3`. Of a paper
    /// without tables it names the sections that the values come from.
    pub fn reader_name(self) -> String {
        let paper = match self.paper {
            ReproduciblePaper::Rennings2019 => "Rennings et al. 2019",
            ReproduciblePaper::Camara2020 => "Câmara & Hauff 2020",
            ReproduciblePaper::Abnirml => "MacAvaney et al. 2020",
            ReproduciblePaper::Padigela2019 => "Padigela et al. 2019",
            ReproduciblePaper::Formal2021 => "Formal et al. 2021",
        };
        format!("{paper}, {}", self.place_in_paper())
    }

    fn place_in_paper(self) -> String {
        match self.paper {
            ReproduciblePaper::Rennings2019
            | ReproduciblePaper::Camara2020
            | ReproduciblePaper::Abnirml
            | ReproduciblePaper::Padigela2019 => format!("table {}", self.table),
            ReproduciblePaper::Formal2021 => "sections 3 and 4".to_owned(),
        }
    }

    /// Returns an error if this table of the paper is not available.
    fn check(self) -> Result<(), Error> {
        let PaperTable { paper, table } = self;
        if paper.reproducible_table_numbers().contains(&table) {
            return Ok(());
        }
        let known: Vec<String> = paper
            .reproducible_table_numbers()
            .iter()
            .map(u8::to_string)
            .collect();
        let known = match known.is_empty() {
            true => "none".to_owned(),
            false => crate::report::format::join_with_and(&known),
        };
        let reason = format!(
            "only these tables of {} can be reproduced: {known}",
            paper.short_name()
        );
        Err(Error::out_of_range("table", reason))
    }

    /// Returns which queries of a comparison count; `None` if the paper compares no rankings.
    fn counted(self) -> Option<QueryRelevanceRequirement> {
        match self.paper {
            ReproduciblePaper::Rennings2019
            | ReproduciblePaper::Camara2020
            | ReproduciblePaper::Abnirml
            | ReproduciblePaper::Formal2021 => None,
            // Its first table is over all queries; those without a relevant candidate count 0.
            ReproduciblePaper::Padigela2019 if self.table == 1 => {
                Some(QueryRelevanceRequirement::WithRelevant)
            }
            ReproduciblePaper::Padigela2019 => {
                Some(QueryRelevanceRequirement::WithRetrievedRelevant)
            }
        }
    }

    /// Returns the columns of a study that its numbers are compared with. The first is ours, or
    /// that of the paper if ours is the same. Those that depend on rankers need a study.
    fn readings(self, study: Option<&Study>) -> Vec<ReproducedColumnComputation> {
        match self.paper {
            // Trained rankers count on queries that they were not trained on.
            ReproduciblePaper::Rennings2019 if self.table == 2 => {
                let split = study.and_then(|it| it.definition.common_test_split());
                let column = |variant| match split {
                    Some(_) => ReproducedColumnComputation::TestSplit(variant),
                    None => ReproducedColumnComputation::Mode(variant),
                };
                self.paper
                    .axiom_variants()
                    .into_iter()
                    .map(column)
                    .collect()
            }
            ReproduciblePaper::Rennings2019 | ReproduciblePaper::Camara2020 => self
                .paper
                .axiom_variants()
                .into_iter()
                .map(ReproducedColumnComputation::Mode)
                .collect(),
            ReproduciblePaper::Abnirml => vec![
                ReproducedColumnComputation::Delta(TieThreshold::TunedPerRanker),
                ReproducedColumnComputation::Delta(ZERO_TOLERANCE),
            ],
            ReproduciblePaper::Padigela2019 => {
                let both = study.zip(self.counted());
                both.map_or_else(Vec::new, |(it, counted)| {
                    study_values::bm25_comparison_columns(it, counted)
                })
            }
            // Its columns are late-interaction analyses, which a study does not have.
            ReproduciblePaper::Formal2021 => Vec::new(),
        }
    }
}

/// Returns a table of a paper next to a study, and the discrepancies in the paper's numbers, as
/// tables. Without a study our values are missing.
pub fn reproduce_table_from_study(
    asked: PaperTable,
    study: Option<&Study>,
) -> Result<Vec<ReportTable>, Error> {
    asked.check()?;
    let readings = asked.readings(study).into_iter();
    let ours = readings.map(|it| ReproducedResultsColumn::compute_from_study(it, study));
    let ours: Vec<ReproducedResultsColumn> = ours.collect::<Result<_, Error>>()?;
    let at_hand = match study {
        Some(study) if asked.paper == ReproduciblePaper::Formal2021 => {
            no_late_interaction_sentence(&study.definition.name)
        }
        Some(study) if ours.is_empty() => format!(
            "Study {} does not have BM25 and another ranker: our columns are empty.",
            study.definition.name
        ),
        Some(study) => format!(
            "Ours: study {} with {} queries; candidate pool {}; {}. Other collections give \
             other values.",
            study.definition.name,
            study.queries.len() - study.addition_counts.n_queries as usize,
            study.definition.pool.describe(),
            study.definition.analyzer.describe()
        ),
        None => "Choose a study to fill our columns.".to_owned(),
    };
    Ok(tables(asked, &ours, study, at_hand))
}

fn no_late_interaction_sentence(study: &str) -> String {
    format!("Study {study} has no late-interaction analysis: our columns are empty.")
}

/// Returns a table of [`ReproduciblePaper::Formal2021`] next to the late-interaction analyses of a
/// study.
pub fn reproduce_formal_table(
    asked: PaperTable,
    study: &str,
    analyses: &[LateInteractionRankerAnalysis],
) -> Result<Vec<ReportTable>, Error> {
    asked.check()?;
    if asked.paper != ReproduciblePaper::Formal2021 {
        let reason = format!(
            "{} does not analyze late interaction",
            asked.paper.short_name()
        );
        return Err(Error::unsupported_value("paper", reason));
    }
    let ours = analyses
        .iter()
        .map(ReproducedResultsColumn::from_late_interaction);
    let mut ours: Vec<ReproducedResultsColumn> = ours.collect();
    // The first column is compared with the paper, whose values are those after fine-tuning.
    ours.sort_by_key(ReproducedResultsColumn::is_before_fine_tuning);
    let at_hand = match analyses.first() {
        Some(it) => format!(
            "Ours: study {study} with {} queries; candidate pool {}. Other collections give other \
             values.",
            it.header.queries.len(),
            describe_pool(&it.header.pool)
        ),
        None => no_late_interaction_sentence(study),
    };
    Ok(tables(asked, &ours, None, at_hand))
}

/// Returns a table of [`ReproduciblePaper::Padigela2019`] next to rankings of one collection, each
/// compared with that of BM25.
pub fn reproduce_padigela_table_from_runs(
    asked: PaperTable,
    lists: &[RankerComparisonInput<'_>],
) -> Result<Vec<ReportTable>, Error> {
    asked.check()?;
    let Some(counted) = asked.counted() else {
        let reason = format!(
            "{} does not compare runs; use a study instead",
            asked.paper.short_name()
        );
        return Err(Error::unsupported_value("paper", reason));
    };
    let ours = lists
        .iter()
        .map(|it| ReproducedResultsColumn::from_runs(it, counted));
    let ours: Vec<ReproducedResultsColumn> = ours.collect::<Result<_, Error>>()?;
    let at_hand = match lists.first() {
        Some(it) => format!(
            "Ours: runs over collection {} with {} queries. Other collections give other values.",
            it.name,
            it.queries.len()
        ),
        None => "No other run is compared with BM25: our columns are empty.".to_owned(),
    };
    Ok(tables(asked, &ours, None, at_hand))
}

fn tables(
    asked: PaperTable,
    ours: &[ReproducedResultsColumn],
    study: Option<&Study>,
    at_hand: String,
) -> Vec<ReportTable> {
    let printed = published::published_table(asked);
    let mut tables = vec![beside(asked, printed, ours, study, at_hand)];
    if asked.paper == ReproduciblePaper::Rennings2019 && asked.table == 2 {
        let differences = study.map(study_values::describe_training_differences);
        tables[0].notes.extend(differences.into_iter().flatten());
    }
    if asked == SAMPLE_QUERIES_TABLE {
        let samples = ours.iter().zip(1..).filter_map(|(it, at)| {
            let compared = it.as_bm25_comparison()?;
            Some(compared.queries_won_or_lost_table(at, &it.name))
        });
        tables.extend(samples);
    }
    let errors = discrepancies::known_paper_errors_table(asked.paper, ours, study);
    tables.extend((!errors.rows.is_empty()).then_some(errors));
    tables
}

/// Returns one row for each cell of the paper's table that has a value.
fn beside(
    asked: PaperTable,
    printed: &PublishedTable,
    ours: &[ReproducedResultsColumn],
    study: Option<&Study>,
    at_hand: String,
) -> ReportTable {
    let name = format!("{}-table-{}", asked.paper.short_name(), asked.table);
    let title = format!(
        "{}, {}: {}",
        asked.paper.citation(),
        asked.place_in_paper(),
        printed.caption
    );
    let readings = ours.iter().map(|it| format!("ours, {}", it.name));
    let first = ours.first().map(|it| format!("{} − published", it.name));
    let mut table = ReportTable::new(name, title)
        .add_text_columns("row | column")
        .add_number_columns("published | authors' code")
        .with_more_columns_of_kind(TableColumnKind::Estimate, readings)
        .with_more_columns_of_kind(TableColumnKind::Number, first);
    for row in &printed.rows {
        for (column, cell) in printed.columns.iter().zip(&row.cells) {
            let values = ours.iter().map(|it| {
                let numbers = it.numbers.as_ref();
                numbers.map_or(TableValue::Missing, |it| {
                    it.value_for_published_cell(row, column)
                })
            });
            let values: Vec<TableValue> = values.collect();
            let nothing = |it: &TableValue| *it == TableValue::Missing;
            let is_published = ![&cell.published, &cell.authors_code]
                .into_iter()
                .all(nothing);
            // The name of an outcome is about the tests for which the paper counts it.
            let is_outcome = matches!(row.subject, PublishedRowSubject::Outcome(..));
            if !is_published && (is_outcome || values.iter().all(nothing)) {
                continue;
            }
            let difference = values.first().map(|first| {
                let both = number(&cell.published).zip(number(first));
                both.map_or(TableValue::Missing, |(it, ours)| {
                    TableValue::Difference(ours - it)
                })
            });
            let mut line = vec![
                TableValue::Text(row.name.clone()),
                TableValue::Text(column.name().to_owned()),
                cell.published.clone(),
                cell.authors_code.clone(),
            ];
            line.extend(values);
            line.extend(difference);
            table.rows.push(line);
        }
    }
    table.notes = vec![asked.paper.data_requirements().to_owned(), at_hand];
    let compared = ours
        .iter()
        .filter_map(ReproducedResultsColumn::as_bm25_comparison);
    table
        .notes
        .extend(compared.flat_map(Bm25Comparison::comparison_coverage_notes));
    table
        .notes
        .extend(study.and_then(|it| study_values::rankers_of_rows_note(printed, it)));
    table.notes.extend(printed.notes.iter().cloned());
    table
}

/// Returns the number in a value that can be subtracted: a share, an effect or a number.
fn number(value: &TableValue) -> Option<f64> {
    match value {
        TableValue::Fraction(it) | TableValue::Difference(it) => Some(*it),
        TableValue::Estimate(it) => Some(it.value),
        TableValue::PreciseDifference { value, .. } | TableValue::Score { value, .. } => {
            Some(*value)
        }
        TableValue::Text(_)
        | TableValue::Count(_)
        | TableValue::Interval(_)
        | TableValue::PValue(_)
        | TableValue::Magnitude(_)
        | TableValue::Missing => None,
    }
}

/// Formats a δ with enough digits to distinguish it from others.
fn width(value: f64) -> TableValue {
    TableValue::Score {
        value,
        digits: format::score_decimals_for_spread(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;
    use crate::study::fixture;

    #[test]
    fn every_table_has_as_many_cells_in_a_row_as_columns() {
        for &paper in ReproduciblePaper::ALL {
            for &table in paper.reproducible_table_numbers() {
                let printed = published::published_table(PaperTable { paper, table });
                assert!(!printed.rows.is_empty());
                for row in &printed.rows {
                    assert_eq!(row.cells.len(), printed.columns.len(), "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn ours_stand_beside_what_was_printed_and_a_reading_that_is_missing_says_so() {
        let study =
            fixture::study_with_one_query("river", &["river river", "river bank", "the sea"], 10);
        let asked = PaperTable {
            paper: ReproduciblePaper::Camara2020,
            table: 3,
        };
        let tables = reproduce_table_from_study(asked, Some(&study)).unwrap();
        let row = tables[0].rows.iter().find(|row| {
            row[..2]
                == [
                    TableValue::Text("QL".to_owned()),
                    TableValue::Text("TFC1".to_owned()),
                ]
        });
        let row = row.unwrap();
        assert_eq!(row[2], TableValue::Fraction(0.99));
        assert!(
            matches!(row[4], TableValue::Estimate(it) if it.value == 1.0),
            "{row:?}"
        );
        assert_eq!(
            (&row[5], &row[6]),
            (&TableValue::Missing, &TableValue::Missing)
        );
        assert!(matches!(row[7], TableValue::Difference(it) if (it - 0.01).abs() < 1e-12));
        assert_eq!(
            reproduce_table_from_study(asked, None).unwrap()[0]
                .rows
                .len(),
            tables[0].rows.len()
        );
    }

    /// Documents 1 and 2 have the same counts of the query's terms, 1 is relevant and 2 is not.
    #[test]
    fn behaviours_stand_beside_what_the_text_says_with_delta_and_without() {
        let mut definition = fixture::fixture_study_definition(10);
        definition.probes = Probe::parse_list("match:tf:relevance,lemmatize", false).unwrap();
        let texts = ["river banks", "bank river mud mud", "the sea"];
        let grades = [("1", 2), ("2", 0), ("3", 0)];
        let collection = fixture::fixture_collection_with_grades(&["river bank"], &texts, &grades);
        let mut study = fixture::make_fixture_study(definition, collection);
        let neural = &mut study.scores[1].ranker;
        neural.spec = "tiny:cross".to_owned();
        neural.label = "Tiny cross-encoder".to_owned();
        neural.note = Some("own data".to_owned());
        let paper = ReproduciblePaper::Abnirml;
        let tables =
            reproduce_table_from_study(PaperTable { paper, table: 1 }, Some(&study)).unwrap();
        let row = |name: &str, column: &str| {
            let said = [name, column].map(|it| TableValue::Text(it.to_owned()));
            let mut rows = tables[0].rows.iter();
            rows.find(|row| row[..2] == said).unwrap()
        };
        // 1 is shorter, so BM25 prefers it. δ is half the sum of two differences, of which this is
        // the smaller.
        let bm25 = row("BM25", "Relevance | TF");
        assert_eq!(bm25[2], TableValue::Missing);
        assert!(matches!(bm25[4], TableValue::Estimate(it) if it.value == 0.0));
        assert!(matches!(bm25[5], TableValue::Estimate(it) if it.value == 1.0));
        let samples = row("samples", "Relevance | TF");
        assert_eq!(samples[4..6], [TableValue::Count(1), TableValue::Count(1)]);
        let t5 = row("T5", "Relevance | TF");
        assert_eq!(
            (&t5[2], &t5[4]),
            (&TableValue::Difference(0.41), &TableValue::Missing),
            "not at hand"
        );
        let bert = row("BERT", "Relevance | TF");
        assert_eq!(bert[2], TableValue::Difference(0.34));
        assert!(matches!(bert[5], TableValue::Estimate(it) if it.value == 1.0));
        let rankers = "Ours in each row: BERT: Tiny cross-encoder (own data).";
        assert!(tables[0].notes.contains(&rankers.to_owned()));
        assert!(matches!(row("BM25", "δ")[3], TableValue::Score { value, .. } if value > 0.35));
        // Without a study there are the values of the paper and of its code, and examples of
        // defects.
        let alone = reproduce_table_from_study(PaperTable { paper, table: 2 }, None).unwrap();
        let said =
            |row: &Vec<TableValue>| row[2] != TableValue::Missing || row[3] != TableValue::Missing;
        assert!(alone[0].rows.iter().all(said));
        assert!(!alone[1].rows.is_empty());
    }

    #[test]
    fn a_table_that_is_not_there_is_refused() {
        let paper = ReproduciblePaper::Rennings2019;
        let error = reproduce_table_from_study(PaperTable { paper, table: 7 }, None).unwrap_err();
        assert!(error.to_string().contains("1 and 2"), "{error}");
        let paper = ReproduciblePaper::Abnirml;
        let error = reproduce_table_from_study(PaperTable { paper, table: 7 }, None).unwrap_err();
        assert!(error.to_string().contains("1, 2 and 3"), "{error}");
        assert!("nobody2018".parse::<ReproduciblePaper>().is_err());
    }
}
