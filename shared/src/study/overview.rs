//! The Study page: rankers × axioms, effectiveness, counts, agreement with judgements.

use serde::{Deserialize, Serialize};

use crate::index::Totals;
use crate::probe::{Axiom, ClaimKind, Limits, Mode, Pool};
use crate::score::RankerAbout;
use crate::stats::Estimate;
use crate::text::Analyzer;
use crate::verdict::Tally;

/// A study in a list: enough for its card with a small heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Card {
    /// Name in addresses.
    pub name: String,
    /// For people.
    pub title: String,
    /// Two sentences on what one sees.
    pub description: String,
    /// When its instances were mined: `2026-11-20`.
    pub made: String,
    /// Of its instances.
    pub hash: String,
    /// Queries.
    pub n_queries: u64,
    /// Documents of the whole collection.
    pub n_docs: u64,
    /// Instances in the first mode.
    pub n_instances: u64,
    /// Labels of the rankers, in order.
    pub rankers: Vec<String>,
    /// Columns of `fractions`.
    pub probes: Vec<Axiom>,
    /// Fraction satisfied, rankers × probes, in the first mode.
    pub fractions: Vec<Vec<Option<f64>>>,
    /// Whether visitors see it.
    pub published: bool,
}

/// Everything the Study page shows for one state of its dials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Overview {
    /// Name in addresses.
    pub name: String,
    /// For people.
    pub title: String,
    /// Two sentences on what one sees.
    pub description: String,
    /// When its instances were mined: `2026-11-20`.
    pub made: String,
    /// Version of the software that mined them.
    pub software: String,
    /// Of the collection.
    pub collection_hash: String,
    /// Of the instances.
    pub hash: String,
    /// Of the whole collection.
    pub totals: Totals,
    /// Queries.
    pub n_queries: u64,
    /// Unique pairs of query and text.
    pub n_pairs: u64,
    /// How texts become terms.
    pub analyzer: Analyzer,
    /// Which documents are compared.
    pub pool: Pool,
    /// What becomes an instance.
    pub limits: Limits,
    /// The reading that is shown.
    pub mode: Mode,
    /// The readings that were mined.
    pub modes: Vec<Mode>,
    /// Rows.
    pub rankers: Vec<Row>,
    /// Columns.
    pub probes: Vec<Column>,
    /// How many tests the correction of `p_holm` reckons with.
    pub n_tests: u64,
    /// Names of the measures in [`Row::effectiveness`]: `nDCG@10`.
    pub measures: Vec<String>,
    /// What was left out or should be known: documents without text, unscored pairs, …
    pub remarks: Vec<String>,
}

/// One ranker with its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Row {
    /// Who.
    pub ranker: RankerAbout,
    /// One for each column; none where the axiom has no instance with a verdict.
    pub cells: Vec<Option<Cell>>,
    /// One for each measure, over the pool; none without judgements.
    pub effectiveness: Vec<Option<f64>>,
    /// Pairs without a score.
    pub n_missing: u64,
    /// Pairs of which the ranker saw only a part.
    pub n_truncated: u64,
}

/// One ranker on one axiom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cell {
    /// Counts of outcomes.
    pub tally: Tally,
    /// Over instances, the interval by queries.
    pub micro: Estimate,
    /// Mean over queries of the fraction within each.
    pub over_queries: Estimate,
    /// Two-sided, against a fraction of .5, from the same draws as the interval.
    pub p: f64,
    /// `p` after Holm's correction over all cells of the table.
    pub p_holm: f64,
    /// Queries with at least one judged instance.
    pub n_queries: u64,
    /// The fraction over instances whose texts the ranker saw whole, where that differs.
    pub whole: Option<f64>,
}

/// One axiom with its counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Column {
    /// Which.
    pub axiom: Axiom,
    /// What its instances claim.
    pub claim: ClaimKind,
    /// After the dials.
    pub n_instances: u64,
    /// Instances with a relevant text.
    pub n_relevant: u64,
    /// Instances whose opposite (the same two texts the other way round) is one as well.
    pub n_both_orders: u64,
    /// Share kept by a cap per query; 1 without.
    pub sampled: f64,
    /// How often the claim holds for the grades, over instances whose grades differ; none
    /// where there is no such instance.
    pub relevance: Option<Cell>,
}
