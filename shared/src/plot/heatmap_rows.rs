//! The rows of a heat map from the top, the same wherever it is drawn.

use crate::report::format;
use crate::score::RankerKind;
use crate::study::overview::{AxiomOverviewColumn, StudyOverview};

/// A row of a heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeatmapRow {
    /// A heading: the name of the rows below it.
    Group(&'static str),
    /// The cells of a ranker, by its index in the study.
    Ranker(usize),
    /// Agreement of the axioms with relevance judgments.
    Relevance,
    /// A count for each column.
    Count(HeatmapCountQuantity),
}

/// The quantity in a row of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeatmapCountQuantity {
    /// Instances.
    Instances,
    /// Instances with a relevant document.
    WithRelevant,
    /// Instances whose documents occur in both orders.
    BothOrders,
    /// The share of instances that was kept by the cap on instances.
    SampledShare,
}

impl HeatmapCountQuantity {
    /// Returns the name of the row.
    pub fn name(self) -> &'static str {
        match self {
            HeatmapCountQuantity::Instances => "Instances",
            HeatmapCountQuantity::WithRelevant => "with a relevant document",
            HeatmapCountQuantity::BothOrders => "in both orders",
            HeatmapCountQuantity::SampledShare => "share kept",
        }
    }

    /// Returns the count of a column, as it is printed.
    pub fn format_column_count(self, column: &AxiomOverviewColumn) -> String {
        match self {
            HeatmapCountQuantity::Instances => format::format_count(column.n_instances),
            HeatmapCountQuantity::WithRelevant => format::format_count(column.n_with_relevant),
            HeatmapCountQuantity::BothOrders => format::format_count(column.n_both_orders),
            HeatmapCountQuantity::SampledShare => {
                format::format_two_digit_fraction(column.sampled_fraction)
            }
        }
    }
}

/// Returns the rows of a study: rankers by kind, relevance where grades differ, counts.
pub fn heatmap_ranker_and_count_rows(overview: &StudyOverview) -> Vec<HeatmapRow> {
    let mut rows = Vec::new();
    for kind in RankerKind::ALL {
        let rankers = overview.rows.iter().enumerate();
        let mut own = rankers.filter(|it| it.1.ranker.kind == kind).peekable();
        if own.peek().is_some() {
            rows.push(HeatmapRow::Group(kind.label()));
            rows.extend(own.map(|it| HeatmapRow::Ranker(it.0)));
        }
    }
    if overview.columns.iter().any(|it| it.qrels_cell.is_some()) {
        rows.extend([HeatmapRow::Group("Relevance grades"), HeatmapRow::Relevance]);
    }
    rows.push(HeatmapRow::Group(COUNTS));
    rows.extend(
        [
            HeatmapCountQuantity::Instances,
            HeatmapCountQuantity::WithRelevant,
        ]
        .map(HeatmapRow::Count),
    );
    if overview.columns.iter().any(|it| it.n_both_orders > 0) {
        rows.push(HeatmapRow::Count(HeatmapCountQuantity::BothOrders));
    }
    if overview.columns.iter().any(|it| it.sampled_fraction < 1.0) {
        rows.push(HeatmapRow::Count(HeatmapCountQuantity::SampledShare));
    }
    rows
}

/// The name of the rows of counts.
pub const COUNTS: &str = "Counts";
