//! Errors in input, with the file, the line, the reason and what to do.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a file, a setting or a request was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read to its end.
    #[error("{file}: {reason}")]
    File {
        /// The name of the file as the user knows it.
        file: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// An invalid line in a file of which every line is needed.
    #[error("{file}, line {line}: {reason}")]
    Line {
        /// The name of the file as the user knows it.
        file: String,
        /// The number of the line, counted from 1.
        line: u64,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A field of a request, an option or a setting that is missing or has a value which is not
    /// allowed.
    #[error("{field}: {error}")]
    Invalid {
        /// The invalid field.
        field: ErrorFieldName,
        /// What is wrong with it and what is allowed.
        error: InvalidFieldReason,
    },
    /// Something was requested by a name that does not exist.
    #[error("there is no {what} named `{name}`")]
    NotFound {
        /// The kind of thing: a study, a query, a ranker.
        what: String,
        /// The name that was given.
        name: String,
    },
    /// Something was requested by a name that does not exist, where few names do.
    #[error("there is no {what} named `{name}`; there are {known}")]
    UnknownName {
        /// The kind of thing: a ranker.
        what: String,
        /// The name that was given.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// Something was requested by an index that does not exist.
    #[error("there is no {what} with index {index}; there are {n}, counted from 0")]
    IndexNotFound {
        /// The kind of thing: a query of a study, an item of a task.
        what: String,
        /// The index that was given.
        index: u64,
        /// How many there are.
        n: usize,
    },
}

impl Error {
    /// Returns the error of a file that cannot be read to its end.
    pub fn unreadable_file(file: &str, reason: impl ToString) -> Error {
        Error::File {
            file: file.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// Returns the error of a field that is needed and was not given, or is empty.
    pub fn missing_field(field: impl Into<ErrorFieldName>, reason: impl ToString) -> Error {
        InvalidFieldReason::Missing(reason.to_string()).into_error_for_field(field)
    }

    /// Returns the error of a value outside of its range.
    pub fn out_of_range(field: impl Into<ErrorFieldName>, reason: impl ToString) -> Error {
        InvalidFieldReason::OutOfRange(reason.to_string()).into_error_for_field(field)
    }

    /// Returns the error of a value in the wrong format.
    pub fn malformed_value(field: impl Into<ErrorFieldName>, reason: impl ToString) -> Error {
        InvalidFieldReason::Malformed(reason.to_string()).into_error_for_field(field)
    }

    /// Returns the error of a value that conflicts with others.
    pub fn conflicting_value(field: impl Into<ErrorFieldName>, reason: impl ToString) -> Error {
        InvalidFieldReason::Conflict(reason.to_string()).into_error_for_field(field)
    }

    /// Returns the error of a value that is valid elsewhere but cannot be used here.
    pub fn unsupported_value(field: impl Into<ErrorFieldName>, reason: impl ToString) -> Error {
        InvalidFieldReason::Unsupported(reason.to_string()).into_error_for_field(field)
    }

    /// Returns the error of a value that is not in the list of known values.
    pub fn not_one_of<T: ToString>(
        field: impl Into<ErrorFieldName>,
        value: impl ToString,
        known: impl IntoIterator<Item = T>,
    ) -> Error {
        let known: Vec<String> = known.into_iter().map(|it| it.to_string()).collect();
        let (value, known) = (value.to_string(), known.join(", "));
        InvalidFieldReason::NotOneOf {
            value,
            allowed: known,
        }
        .into_error_for_field(field)
    }

    /// Returns the error of a value that cannot be read as what is expected.
    pub fn unparsable_value(
        field: impl Into<ErrorFieldName>,
        value: impl ToString,
        expected: impl ToString,
    ) -> Error {
        let (value, expected) = (value.to_string(), expected.to_string());
        InvalidFieldReason::InvalidValue { value, expected }.into_error_for_field(field)
    }

    /// Returns the name of the invalid field, if a field is invalid.
    pub fn field_name(&self) -> Option<&str> {
        match self {
            Error::Invalid { field, .. } => Some(&field.name),
            _ => None,
        }
    }

    /// Returns the message without the name of the field, to be shown next to the field.
    pub fn message_without_field(self) -> String {
        match self {
            Error::Invalid { error, .. } => error.to_string(),
            _ => self.to_string(),
        }
    }

    /// Returns the error of a name that does not exist.
    pub fn name_not_found(what: &str, name: impl ToString) -> Error {
        Error::NotFound {
            what: what.to_owned(),
            name: name.to_string(),
        }
    }

    /// Returns the error of a name that does not exist, with the names that do.
    pub fn not_found_among(what: &str, name: impl ToString, known: &[String]) -> Error {
        if known.is_empty() {
            return Error::name_not_found(what, name);
        }
        Error::UnknownName {
            what: what.to_owned(),
            name: name.to_string(),
            known: known.join(", "),
        }
    }

    /// Returns the error of an index, counted from 0, that is not below the number of things.
    pub fn index_not_found(what: impl ToString, index: impl TryInto<u64>, n: usize) -> Error {
        Error::IndexNotFound {
            what: what.to_string(),
            index: index.try_into().unwrap_or(u64::MAX),
            n,
        }
    }
}

/// The field of an error: its name and how messages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorFieldName {
    /// Name of the field of a request, the option of a command or the key of a study file.
    pub name: String,
    /// What the message shows instead of the name, for example the name with the value.
    pub display: Option<String>,
}

impl ErrorFieldName {
    /// Returns a field that messages show in other words than its name.
    pub fn with_display_name(name: &str, shown: impl ToString) -> ErrorFieldName {
        let (name, shown) = (name.to_owned(), Some(shown.to_string()));
        ErrorFieldName {
            name,
            display: shown,
        }
    }
}

impl From<&str> for ErrorFieldName {
    fn from(name: &str) -> ErrorFieldName {
        let (name, shown) = (name.to_owned(), None);
        ErrorFieldName {
            name,
            display: shown,
        }
    }
}

impl std::fmt::Display for ErrorFieldName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.display.as_ref().unwrap_or(&self.name))
    }
}

/// Why a field is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidFieldReason {
    /// A value that is not in a list of known values.
    #[error("`{value}` is none of {allowed}")]
    NotOneOf {
        /// The value that was given.
        value: String,
        /// The known values, separated by commas.
        allowed: String,
    },
    /// A value that cannot be read as what is expected.
    #[error("`{value}` is not {expected}")]
    InvalidValue {
        /// The value that was given.
        value: String,
        /// What is expected, with its range, for example "a number from 0 to 1".
        expected: String,
    },
    /// A whole number outside of its range.
    #[error("is {value}; must be from {} to {}", range.start(), range.end())]
    IntegerOutOfRange {
        /// The number that was given.
        value: u32,
        /// The range of allowed numbers.
        range: std::ops::RangeInclusive<u32>,
    },
    /// An index in a list that is not below its length.
    #[error("there are {n} {items}, counted from 0")]
    IndexOutOfRange {
        /// What the list contains, in the plural.
        items: &'static str,
        /// The length of the list.
        n: usize,
    },
    /// More items or characters than are allowed.
    #[error("{found}; at most {max} are allowed")]
    TooMany {
        /// How many were given, for example "has 7 characters".
        found: String,
        /// The maximum.
        max: usize,
    },
    /// A number of scores that differs from the number of pairs of the study.
    #[error("{n_scores} scores for {n_pairs} pairs")]
    ScoreCountMismatch {
        /// How many scores were given.
        n_scores: usize,
        /// The number of pairs that have to be scored.
        n_pairs: usize,
    },
    /// Something that is needed and was not given, or is empty.
    #[error("{0}")]
    Missing(String),
    /// A value outside of its range.
    #[error("{0}")]
    OutOfRange(String),
    /// A value in the wrong format.
    #[error("{0}")]
    Malformed(String),
    /// Values that conflict with each other.
    #[error("{0}")]
    Conflict(String),
    /// A value that is valid elsewhere but cannot be used here.
    #[error("{0}")]
    Unsupported(String),
}

impl InvalidFieldReason {
    /// Returns the error of a field that is invalid in this way.
    pub fn into_error_for_field(self, field: impl Into<ErrorFieldName>) -> Error {
        Error::Invalid {
            field: field.into(),
            error: self,
        }
    }
}

/// A row of a file that was refused, or was read with a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RowIssue {
    /// Name of the file.
    pub file: String,
    /// The number of the line, counted from 1.
    pub line: u64,
    /// What was wrong, and what is expected.
    pub reason: String,
}

impl std::fmt::Display for RowIssue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}, line {}: {}", self.file, self.line, self.reason)
    }
}

/// Implements serialization as text for a type with `Display` and a `FromStr` whose error is
/// [`Error`]: the conversions of `#[serde(try_from = "String", into = "String")]`, and its schema.
macro_rules! serialize_as_text {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            /// The error of parsing the text.
            type Error = crate::error::Error;

            fn try_from(text: String) -> Result<$type, crate::error::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(it: $type) -> String {
                it.to_string()
            }
        }

        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                <String as utoipa::PartialSchema>::schema()
            }
        }

        impl utoipa::ToSchema for $type {}
    };
}
pub(crate) use serialize_as_text;

/// The result of reading a file: how many rows were read, and which were refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileReadReport {
    /// The number of rows that were read.
    pub n_rows: u64,
    /// The number of rows that were refused; only the first [`FileReadReport::MAX_ISSUES`] are
    /// stored.
    pub n_refused: u64,
    /// The number of rows that were read with a warning.
    pub n_warned: u64,
    /// The first refused rows.
    pub refused: Vec<RowIssue>,
    /// The first rows read with a warning.
    pub warned: Vec<RowIssue>,
}

impl FileReadReport {
    /// The maximum number of refused rows, and of warnings, that are stored; the rest is only
    /// counted.
    pub const MAX_ISSUES: usize = 100;

    /// Counts a row as refused and stores the reason.
    pub fn refuse_row(&mut self, file: &str, line: u64, reason: impl ToString) {
        self.n_refused += 1;
        keep(&mut self.refused, file, line, reason);
    }

    /// Counts a row as read with a warning and stores the reason.
    pub fn warn_row(&mut self, file: &str, line: u64, reason: impl ToString) {
        self.n_warned += 1;
        keep(&mut self.warned, file, line, reason);
    }

    /// Adds the report on another file of the same collection.
    pub fn merge(&mut self, other: FileReadReport) {
        self.n_rows += other.n_rows;
        self.n_refused += other.n_refused;
        self.n_warned += other.n_warned;
        self.refused.extend(other.refused);
        self.warned.extend(other.warned);
        self.refused.truncate(Self::MAX_ISSUES);
        self.warned.truncate(Self::MAX_ISSUES);
    }

    /// Returns the issues as tests compare them, one per line.
    #[cfg(test)]
    pub(crate) fn issues_as_lines(&self) -> String {
        let refused = self.refused.iter().map(|it| format!("refused: {it}\n"));
        let warned = self.warned.iter().map(|it| format!("warned: {it}\n"));
        refused.chain(warned).collect()
    }
}

/// Stores an issue unless there are [`FileReadReport::MAX_ISSUES`] already.
fn keep(remarks: &mut Vec<RowIssue>, file: &str, line: u64, reason: impl ToString) {
    if remarks.len() < FileReadReport::MAX_ISSUES {
        remarks.push(RowIssue {
            file: file.to_owned(),
            line,
            reason: reason.to_string(),
        });
    }
}
