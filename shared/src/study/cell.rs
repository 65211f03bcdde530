//! The Instances page: one ranker on one axiom, filtered, sorted and cut into pages.

use serde::{Deserialize, Serialize};

use crate::probe::Axiom;
use crate::study::dials::Dials;
use crate::verdict::Outcome;

/// Which instances to list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Listing {
    /// The state of the Study page.
    pub dials: Dials,
    /// Column.
    pub axiom: Axiom,
    /// Row, counted from 0.
    pub ranker: usize,
    /// Only this outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Only queries whose id or text contains this, ignoring case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub query: String,
    /// Only margins from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_from: Option<f64>,
    /// Only margins up to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_to: Option<f64>,
    /// Order of the list.
    #[serde(default)]
    pub sort: Sort,
    /// How many to skip.
    #[serde(default)]
    pub offset: u64,
    /// How many to give, at most [`Listing::MOST`].
    pub limit: u64,
}

impl Listing {
    /// The longest page.
    pub const MOST: u64 = 500;
}

/// Order of a list of instances. Ties stay in the order of queries and texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// As mined: by query, then texts.
    #[default]
    Query,
    /// Most clearly against the claim first.
    MarginUp,
    /// Most clearly with the claim first.
    MarginDown,
    /// Closest calls first.
    Closest,
}

/// A page of the list, with the distribution of all margins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page {
    /// Instances that pass the filter.
    pub n_instances: u64,
    /// One page of them.
    pub rows: Vec<Line>,
    /// Of the margins of all instances of the cell, before the filter on margins.
    pub histogram: Histogram,
}

/// One instance in the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Line {
    /// Its place among the instances of the axiom and mode: its address.
    pub number: u64,
    /// Query id.
    pub query_id: String,
    /// As written.
    pub query: String,
    /// Ids, in the order of the claim.
    pub texts: Vec<String>,
    /// Grades, in the same order.
    pub grades: Vec<Option<i32>>,
    /// None without all scores.
    pub outcome: Option<Outcome>,
    /// None without all scores.
    pub margin: Option<f64>,
    /// Whether the ranker saw only a part of one of the texts.
    pub truncated: bool,
}

/// Counts of margins in bins of equal width, with 0 on an edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Histogram {
    /// Lower edge of the first bin.
    pub from: f64,
    /// Width of a bin.
    pub width: f64,
    /// How many margins each bin holds; its lower edge is in, its upper edge is not. Ties
    /// are not counted here.
    pub counts: Vec<u64>,
    /// Margins within the width of a tie.
    pub n_tied: u64,
}
