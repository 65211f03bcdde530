//! Requests of operators that publish, withdraw, rename and upload studies.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::endpoints;
use crate::study::Study;
use crate::study::overview::StudySummary;

endpoints! {
    Patch "/api/studies/{study}" UpdateStudyRequest => StudySummary;
    Post "/api/studies" UploadStudyRequest => StudySummary;
}

/// Publishes or withdraws a study, or changes its title or description. What is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UpdateStudyRequest {
    /// Name of the study that is changed.
    pub study: String,
    /// The new title: 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new description: at most 2,000 characters; an empty one removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether visitors see the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_published: Option<bool>,
}

/// Stores a study that was made elsewhere, such as in the Workbench. It is withdrawn until it is
/// published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UploadStudyRequest {
    /// The name in addresses: lowercase letters, digits, hyphens. That of the file is ignored.
    pub name: String,
    /// The title; `None` takes that of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether to replace a study that has the name already.
    #[serde(default)]
    pub replace: bool,
    /// The study, as *Download study (JSON)* of the Workbench, the export of a Study page and
    /// `axioscope study export --layout whole` write it.
    pub study: Box<Study>,
}
