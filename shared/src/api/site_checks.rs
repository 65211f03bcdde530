//! The checks that a server runs on itself every few minutes, and how they ended.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A check that a server runs on itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SiteCheck {
    /// The instances of a small collection are those that are known.
    Mining,
    /// BM25 and query likelihood give the known bits for known pairs.
    LexicalScores,
    /// A small neural model gives the known score for a known pair, if it is loaded.
    NeuralScore,
    /// An annotation event that is written to the database is read back as it was.
    Database,
    /// The files of published studies have their checksums.
    StudyFiles,
}

impl SiteCheck {
    /// All checks, in the order in which they are run.
    pub const ALL: &[SiteCheck] = &[
        SiteCheck::Mining,
        SiteCheck::LexicalScores,
        SiteCheck::NeuralScore,
        SiteCheck::Database,
        SiteCheck::StudyFiles,
    ];

    /// Returns the name of the check in metrics.
    pub fn name(self) -> &'static str {
        match self {
            SiteCheck::Mining => "mining",
            SiteCheck::LexicalScores => "lexical-scores",
            SiteCheck::NeuralScore => "neural-score",
            SiteCheck::Database => "database",
            SiteCheck::StudyFiles => "study-files",
        }
    }
}

/// The result of the last round of checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SiteCheckReport {
    /// When the round ended, in milliseconds since 1970.
    pub finished_ms: u64,
    /// The checks that failed; empty if all passed.
    pub failures: Vec<SiteCheckFailure>,
}

/// A check that failed, with what is wrong since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SiteCheckFailure {
    /// The check.
    pub check: SiteCheck,
    /// When it first failed without passing since, in milliseconds since 1970.
    pub since_ms: u64,
    /// What is wrong, without paths and addresses of the server.
    pub message: String,
    /// What is wrong and what to do, for operators only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_has_the_same_name_in_metrics_and_in_json() {
        for &check in SiteCheck::ALL {
            assert_eq!(serde_json::to_value(check).unwrap(), check.name());
        }
    }
}
