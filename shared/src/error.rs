//! What can be wrong with input: the file, the line, the reason and the way out.

use serde::{Deserialize, Serialize};

/// Why a file, a setting or a request could not be taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
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
    /// A setting outside of its range or spelled wrongly.
    #[error("{setting}: {reason}")]
    Setting {
        /// As it is typed on the command line or in a study file.
        setting: String,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// Something was asked for by a name that nothing has.
    #[error("there is no {what} named `{name}`")]
    Unknown {
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

    /// A setting outside of its range or spelled wrongly.
    pub fn setting(setting: impl ToString, reason: impl ToString) -> Error {
        Error::Setting {
            setting: setting.to_string(),
            reason: reason.to_string(),
        }
    }

    /// A name that nothing has.
    pub fn unknown(what: &str, name: impl ToString) -> Error {
        Error::Unknown {
            what: what.to_owned(),
            name: name.to_string(),
        }
    }
}

/// A row of a file that was left out, or taken with a remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Remark {
    /// Name of the file.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
    /// What was wrong, and what is expected.
    pub reason: String,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}, line {}: {}", self.file, self.line, self.reason)
    }
}

/// Lets a type that is displayed and parsed, with [`Error`], travel as its text: the target of
/// `#[serde(try_from = "String", into = "String")]`, and its schema.
macro_rules! serialize_as_text {
    ($type:ty) => {
        impl TryFrom<String> for $type {
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
pub struct Reading {
    /// Rows taken.
    pub n_rows: u64,
    /// Rows refused; only the first [`Reading::KEPT`] are kept with their reason.
    pub n_refused: u64,
    /// Rows taken with a warning.
    pub n_warned: u64,
    /// The first refused rows.
    pub refused: Vec<Remark>,
    /// The first rows taken with a warning.
    pub warned: Vec<Remark>,
}

impl Reading {
    /// How many remarks of each kind are kept; the rest is only counted.
    pub const KEPT: usize = 100;

    /// Counts a row that was left out, and says why.
    pub fn refuse(&mut self, file: &str, line: u64, reason: impl ToString) {
        self.n_refused += 1;
        if self.refused.len() < Self::KEPT {
            let reason = reason.to_string();
            self.refused.push(Remark {
                file: file.to_owned(),
                line,
                reason,
            });
        }
    }

    /// Counts a row that was taken, with something to be said about it.
    pub fn warn(&mut self, file: &str, line: u64, reason: impl ToString) {
        self.n_warned += 1;
        if self.warned.len() < Self::KEPT {
            let reason = reason.to_string();
            self.warned.push(Remark {
                file: file.to_owned(),
                line,
                reason,
            });
        }
    }

    /// Adds what was said of another file of the same collection.
    pub fn absorb(&mut self, other: Reading) {
        self.n_rows += other.n_rows;
        self.n_refused += other.n_refused;
        self.n_warned += other.n_warned;
        self.refused.extend(other.refused);
        self.warned.extend(other.warned);
        self.refused.truncate(Self::KEPT);
        self.warned.truncate(Self::KEPT);
    }
}
