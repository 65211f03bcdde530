//! Tables as data, and their formats: Markdown, CSV, LaTeX, JSON, an HTML page.
//!
//! A [`TableValue`] is the number itself. The number of digits that are shown is decided in
//! [`mod@format`], in the same way for files and pages. CSV and JSON are for programs and keep
//! every digit.
//!
//! Texts of a collection, a ranker or a study are user data. Each writer escapes them for its own
//! format, so that a text is never read as markup or as a formula.

pub mod format;
pub mod markup;
pub mod precondition;
mod csv;
mod html;
mod latex;
mod markdown;
mod study_tables;
mod behavioral_tests;
mod figures;
mod figure_findings;
mod study_finding;
mod study_comparison;
mod regression;
mod late_interaction;
pub mod comparison;
mod training;
mod trained_rankers;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::stats::EstimateWithInterval;

pub use self::csv::table_to_csv;
pub use behavioral_tests::behavioral_test_tables;
pub use comparison::ranker_comparison_tables;
pub use figure_findings::{FigureFindings, behavioral_test_finding, most_violated_axioms_finding};
pub use figures::{figure_data_tables, funnel_step_label};
pub use html::{report_to_html, table_to_html};
pub(crate) use late_interaction::{describe_pool, quantity_value};
pub use late_interaction::{fine_tuning_table, late_interaction_tables};
pub use latex::tables_to_latex;
pub use markdown::tables_to_markdown;
pub use regression::{
    baseline_comparison_to_junit, ranker_pair_verdict_change_tables,
    study_baseline_comparison_table,
};
pub use study_comparison::{
    differing_provenance, study_comparison_finding, study_comparison_tables,
};
pub use study_finding::study_summary_finding;
pub use study_tables::{score_stability_table, study_tables};
pub use trained_rankers::{repair_sentence, trained_ranker_tables};
pub use training::{
    effectiveness_and_controls_table, effectiveness_warnings, learned_first_sentence,
    training_effectiveness_table, training_tables, training_warnings,
};

/// A table: rows of values under named columns, with the notes that are needed to read them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReportTable {
    /// The name for file names and programs: `cells`.
    pub name: String,
    /// The title shown to readers.
    pub title: String,
    /// The columns, from left to right.
    pub columns: Vec<TableColumnHeader>,
    /// The rows, each with one value for each column.
    pub rows: Vec<Vec<TableValue>>,
    /// The provenance of the numbers: hashes, limits, versions.
    pub notes: Vec<String>,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableColumnHeader {
    /// The name in the table head.
    pub name: String,
    /// The kind of its values, which decides its alignment and its number of columns in CSV.
    pub kind: TableColumnKind,
}

/// The kind of most values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableColumnKind {
    /// Words, aligned left.
    Text,
    /// One number, aligned right.
    Number,
    /// A number with its bounds, aligned right; three columns in CSV.
    Estimate,
}

/// One value of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableValue {
    /// Any text, including user data.
    Text(String),
    /// A count: `14,057`.
    Count(u64),
    /// A share, from 0 to 1: `.93`.
    Fraction(f64),
    /// An effect or a difference: `+.12`.
    Difference(f64),
    /// A difference with the digits of its bounds: `+.0013`.
    PreciseDifference {
        /// The value, which is finite.
        value: f64,
        /// The number of decimals to show.
        digits: u8,
    },
    /// A score or a margin, in the unit of its ranker: `22.40`.
    Score {
        /// The value, which is finite.
        value: f64,
        /// The number of decimals to show: [`format::score_decimals_for_spread`].
        digits: u8,
    },
    /// A share with its bounds: `.93 [.92, .94]`.
    Estimate(EstimateWithInterval),
    /// Bounds alone, with two decimals: `[.92, .94]`.
    Interval([f64; 2]),
    /// A p value: `< .001`.
    PValue(f64),
    /// A difference of which only the size matters: `4.8e-7`.
    Magnitude(f64),
    /// There is no value. It is never 0.
    Missing,
}

impl TableValue {
    /// Returns the value as shown to readers; not escaped.
    pub fn display_text(&self) -> String {
        match self {
            TableValue::Text(text) => text.clone(),
            TableValue::Count(count) => format::format_count(*count),
            TableValue::Fraction(value) => format::format_two_digit_fraction(*value),
            TableValue::Difference(value) => format::format_signed_fraction(*value),
            TableValue::PreciseDifference { value, digits } => {
                format::format_signed_fraction_with_digits(*value, *digits)
            }
            TableValue::Score { value, digits } => format::format_score(*value, *digits),
            TableValue::Estimate(estimate) => format::format_estimate(estimate),
            TableValue::Interval(interval) => format::format_interval(*interval),
            TableValue::PValue(p) => format::format_p_value(*p),
            TableValue::Magnitude(value) => format::format_in_scientific_notation(*value),
            TableValue::Missing => format::MISSING.to_owned(),
        }
    }
}

impl TableColumnHeader {
    /// Creates a column with a name and a kind.
    pub fn with_name_and_kind(name: impl Into<String>, kind: TableColumnKind) -> TableColumnHeader {
        TableColumnHeader {
            name: name.into(),
            kind,
        }
    }
}

impl ReportTable {
    /// Creates a table without columns, rows and notes.
    pub fn new(name: impl Into<String>, title: impl Into<String>) -> ReportTable {
        ReportTable {
            name: name.into(),
            title: title.into(),
            columns: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds columns of one kind at the right.
    pub fn with_more_columns_of_kind<N: Into<String>>(
        mut self,
        kind: TableColumnKind,
        names: impl IntoIterator<Item = N>,
    ) -> ReportTable {
        let columns = names
            .into_iter()
            .map(|it| TableColumnHeader::with_name_and_kind(it, kind));
        self.columns.extend(columns);
        self
    }

    /// Adds columns of words by their names, with ` | ` between them.
    pub fn add_text_columns(self, names: &str) -> ReportTable {
        self.with_more_columns_of_kind(TableColumnKind::Text, names.split(" | "))
    }

    /// Adds columns of numbers by their names, with ` | ` between them.
    pub fn add_number_columns(self, names: &str) -> ReportTable {
        self.with_more_columns_of_kind(TableColumnKind::Number, names.split(" | "))
    }

    /// Adds columns of estimates by their names, with ` | ` between them.
    pub fn add_estimate_columns(self, names: &str) -> ReportTable {
        self.with_more_columns_of_kind(TableColumnKind::Estimate, names.split(" | "))
    }
}

/// Returns the tables as JSON, with all digits.
pub fn tables_to_json(tables: &[ReportTable]) -> String {
    serde_json::to_string_pretty(tables).expect("a table has no map with keys that are not strings")
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
