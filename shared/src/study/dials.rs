//! What a reader can turn on the Study page; everything below it is aggregated again.

use serde::{Deserialize, Serialize};

use crate::probe::Mode;

/// The state of the dials. It stands in the address of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Dials {
    /// Reading of the axioms; none takes the first of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// δ below the one the study was mined with; instances with a larger gap are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<u32>,
    /// Two sides of a claim closer than this tie; none takes the ranker's own width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_score: Option<f64>,
    /// Which instances count.
    #[serde(default)]
    pub only: Only,
}

/// Which instances count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Only {
    /// Every one.
    #[default]
    All,
    /// Those whose texts the ranker saw whole.
    Whole,
    /// Those with a relevant text.
    Relevant,
}
