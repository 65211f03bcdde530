//! What can be wrong with input: the file, the line, the reason and the way out.

use serde::{Deserialize, Serialize};

/// Why a file, a setting or a request could not be taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read to its end.
    #[error("{file}: {reason}")]
    File {
        /// Name as the reader knows it.
        file: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A line of a file whose every line is needed.
    #[error("{file}, line {line}: {reason}")]
    Line {
        /// Name as the reader knows it.
        file: String,
        /// Counted from 1.
        line: u64,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A field of a request, an option or a setting that is missing or has a value which is not
    /// allowed.
    #[error("{field}: {error}")]
    Invalid {
        /// Which field.
        field: InvalidField,
        /// What is wrong with it and what is allowed.
        error: FieldError,
    },
    /// Something was asked for by a name that nothing has.
    #[error("there is no {what} named `{name}`")]
    NotFound {
        /// What was looked for: a study, a query, a ranker.
        what: String,
        /// The name that was given.
        name: String,
    },
}

impl Error {
    /// A file that cannot be read to its end.
    pub fn file(file: &str, reason: impl ToString) -> Error {
        Error::File {
            file: file.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// Returns the error of a field that is needed and was not given, or is empty.
    pub fn missing(field: impl Into<InvalidField>, reason: impl ToString) -> Error {
        FieldError::Missing(reason.to_string()).for_field(field)
    }

    /// Returns the error of a value outside of its range.
    pub fn out_of_range(field: impl Into<InvalidField>, reason: impl ToString) -> Error {
        FieldError::OutOfRange(reason.to_string()).for_field(field)
    }

    /// Returns the error of a value that is not written as it should be.
    pub fn malformed(field: impl Into<InvalidField>, reason: impl ToString) -> Error {
        FieldError::Malformed(reason.to_string()).for_field(field)
    }

    /// Returns the error of a value that does not go with others.
    pub fn conflict(field: impl Into<InvalidField>, reason: impl ToString) -> Error {
        FieldError::Conflict(reason.to_string()).for_field(field)
    }

    /// Returns the error of a value that is right elsewhere and cannot be used here.
    pub fn unsupported(field: impl Into<InvalidField>, reason: impl ToString) -> Error {
        FieldError::Unsupported(reason.to_string()).for_field(field)
    }

    /// Returns the error of a value that is not in the list of known values.
    pub fn not_one_of<T: ToString>(
        field: impl Into<InvalidField>,
        value: impl ToString,
        known: impl IntoIterator<Item = T>,
    ) -> Error {
        let known: Vec<String> = known.into_iter().map(|it| it.to_string()).collect();
        let (value, known) = (value.to_string(), known.join(", "));
        FieldError::NotOneOf {
            value,
            allowed: known,
        }
        .for_field(field)
    }

    /// Returns the error of a value that cannot be read as what is expected.
    pub fn invalid_value(
        field: impl Into<InvalidField>,
        value: impl ToString,
        expected: impl ToString,
    ) -> Error {
        let (value, expected) = (value.to_string(), expected.to_string());
        FieldError::InvalidValue { value, expected }.for_field(field)
    }

    /// Returns the name of the invalid field, if a field is invalid.
    pub fn field(&self) -> Option<&str> {
        match self {
            Error::Invalid { field, .. } => Some(&field.name),
            Error::File { .. } | Error::Line { .. } | Error::NotFound { .. } => None,
        }
    }

    /// Returns the message without the name of the field, to be shown next to the field.
    pub fn message_without_field(self) -> String {
        match self {
            Error::Invalid { error, .. } => error.to_string(),
            Error::File { .. } | Error::Line { .. } | Error::NotFound { .. } => self.to_string(),
        }
    }

    /// A name that nothing has.
    pub fn not_found(what: &str, name: impl ToString) -> Error {
        Error::NotFound {
            what: what.to_owned(),
            name: name.to_string(),
        }
    }
}

/// The field of an error: its name and how messages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidField {
    /// Name of the field of a request, the option of a command or the key of a study file.
    pub name: String,
    /// What the message shows in place of the name: the name with the value, for example.
    pub display: Option<String>,
}

impl InvalidField {
    /// Returns a field that messages show in other words than its name.
    pub fn with_display(name: &str, shown: impl ToString) -> InvalidField {
        let (name, shown) = (name.to_owned(), Some(shown.to_string()));
        InvalidField {
            name,
            display: shown,
        }
    }
}

impl From<&str> for InvalidField {
    fn from(name: &str) -> InvalidField {
        let (name, shown) = (name.to_owned(), None);
        InvalidField {
            name,
            display: shown,
        }
    }
}

impl std::fmt::Display for InvalidField {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.display.as_ref().unwrap_or(&self.name))
    }
}

/// Why a field is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// A value that is not in a list of known values.
    #[error("`{value}` is none of {allowed}")]
    NotOneOf {
        /// As it was given.
        value: String,
        /// The known values, with commas between them.
        allowed: String,
    },
    /// A value that cannot be read as what is expected.
    #[error("`{value}` is not {expected}")]
    InvalidValue {
        /// As it was given.
        value: String,
        /// What is expected, with its range: "a number from 0 to 1".
        expected: String,
    },
    /// A whole number outside of its range.
    #[error("is {value}, must be from {} to {}", range.start(), range.end())]
    IntegerOutOfRange {
        /// The number that was given.
        value: u32,
        /// The numbers that are allowed.
        range: std::ops::RangeInclusive<u32>,
    },
    /// A place in a list that has fewer members.
    #[error("there are {n} {items}, counted from 0")]
    IndexOutOfRange {
        /// What the list holds, in the plural.
        items: &'static str,
        /// How many there are.
        n: usize,
    },
    /// More items or characters than are allowed.
    #[error("{found}, at most {max} are taken")]
    TooMany {
        /// How many were given, as "has 7 characters".
        found: String,
        /// How many are taken.
        max: usize,
    },
    /// Scores of other pairs than those of the study.
    #[error("{n_scores} scores for {n_pairs} pairs")]
    ScoreCountMismatch {
        /// How many scores were given.
        n_scores: usize,
        /// How many pairs are to be scored.
        n_pairs: usize,
    },
    /// Something that is needed and was not given, or is empty.
    #[error("{0}")]
    Missing(String),
    /// A value outside of its range.
    #[error("{0}")]
    OutOfRange(String),
    /// A value that is not written as it should be.
    #[error("{0}")]
    Malformed(String),
    /// Values that do not go together.
    #[error("{0}")]
    Conflict(String),
    /// A value that is right elsewhere and cannot be used here.
    #[error("{0}")]
    Unsupported(String),
}

impl FieldError {
    /// Returns the error of a field that is invalid in this way.
    pub fn for_field(self, field: impl Into<InvalidField>) -> Error {
        Error::Invalid {
            field: field.into(),
            error: self,
        }
    }
}

/// A row of a file that was left out, or taken with a remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RowIssue {
    /// Name of the file.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
    /// What was wrong, and what is expected.
    pub reason: String,
}

impl std::fmt::Display for RowIssue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}, line {}: {}", self.file, self.line, self.reason)
    }
}

/// Lets a type that is displayed and parsed, with [`Error`], travel as its text: the target of
/// `#[serde(try_from = "String", into = "String")]`, and its schema.
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

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                <String as utoipa::PartialSchema>::schema()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $type {}
    };
}
pub(crate) use serialize_as_text;

/// What a reader has to say about a file: how many rows it took, and which it did not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReadReport {
    /// Rows taken.
    pub n_rows: u64,
    /// Rows refused; only the first [`ReadReport::MAX_ISSUES`] are kept with their reason.
    pub n_refused: u64,
    /// Rows taken with a warning.
    pub n_warned: u64,
    /// The first refused rows.
    pub refused: Vec<RowIssue>,
    /// The first rows read with a warning.
    pub warned: Vec<RowIssue>,
}

impl ReadReport {
    /// How many remarks of each kind are kept; the rest is only counted.
    pub const MAX_ISSUES: usize = 100;

    /// Counts a row that was left out, and says why.
    pub fn refuse_row(&mut self, file: &str, line: u64, reason: impl ToString) {
        self.n_refused += 1;
        keep(&mut self.refused, file, line, reason);
    }

    /// Counts a row that was taken, with something to be said about it.
    pub fn warn_row(&mut self, file: &str, line: u64, reason: impl ToString) {
        self.n_warned += 1;
        keep(&mut self.warned, file, line, reason);
    }

    /// Adds what was said of another file of the same collection.
    pub fn merge(&mut self, other: ReadReport) {
        self.n_rows += other.n_rows;
        self.n_refused += other.n_refused;
        self.n_warned += other.n_warned;
        self.refused.extend(other.refused);
        self.warned.extend(other.warned);
        self.refused.truncate(Self::MAX_ISSUES);
        self.warned.truncate(Self::MAX_ISSUES);
    }

    /// The remarks as tests compare them, one a line.
    #[cfg(test)]
    pub(crate) fn to_lines(&self) -> String {
        let refused = self.refused.iter().map(|it| format!("refused: {it}\n"));
        let warned = self.warned.iter().map(|it| format!("warned: {it}\n"));
        refused.chain(warned).collect()
    }
}

/// Adds a remark to those of its kind, unless enough of them are kept.
fn keep(remarks: &mut Vec<RowIssue>, file: &str, line: u64, reason: impl ToString) {
    if remarks.len() < ReadReport::MAX_ISSUES {
        remarks.push(RowIssue {
            file: file.to_owned(),
            line,
            reason: reason.to_string(),
        });
    }
}
