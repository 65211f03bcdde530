//! The rows of a heat map from the top, the same in every drawing of it.

use crate::report::format;
use crate::score::RankerKind;
use crate::study::overview::{Column, Overview};

/// A row of a heat map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// The name of the rows below it.
    Group(&'static str),
    /// The cells of a ranker, by its place in the study.
    Ranker(usize),
    /// Agreement of the axioms with the judgements.
    Relevance,
    /// A count of each column.
    Count(Count),
}

/// What a row of counts counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Instances.
    Instances,
    /// Instances with a relevant text.
    Relevant,
    /// Instances whose texts stand in both orders.
    BothOrders,
    /// The share of instances that a cap kept.
    Sampled,
}

impl Count {
    /// Returns the name of the row.
    pub fn name(self) -> &'static str {
        match self {
            Count::Instances => "Instances",
            Count::Relevant => "with a relevant text",
            Count::BothOrders => "in both orders",
            Count::Sampled => "share kept by the cap",
        }
    }

    /// Returns the count of a column, as it is printed.
    pub fn of(self, column: &Column) -> String {
        match self {
            Count::Instances => format::count(column.n_instances),
            Count::Relevant => format::count(column.n_relevant),
            Count::BothOrders => format::count(column.n_both_orders),
            Count::Sampled => format::fraction(column.sampled),
        }
    }
}

/// Returns the rows of a study: rankers by kind, relevance where grades differ, counts.
pub fn rows(overview: &Overview) -> Vec<Row> {
    let mut rows = Vec::new();
    for (kind, name) in [
        (RankerKind::Lexical, "Lexical"),
        (RankerKind::Neural, "Neural"),
        (RankerKind::Service, "Services"),
        (RankerKind::File, "Scores that were brought"),
    ] {
        let rankers = overview.rankers.iter().enumerate();
        let mut own = rankers.filter(|it| it.1.ranker.kind == kind).peekable();
        if own.peek().is_some() {
            rows.push(Row::Group(name));
            rows.extend(own.map(|it| Row::Ranker(it.0)));
        }
    }
    if overview.probes.iter().any(|it| it.relevance.is_some()) {
        rows.extend([Row::Group("The axiom itself agrees with"), Row::Relevance]);
    }
    rows.push(Row::Group(COUNTS));
    rows.extend([Count::Instances, Count::Relevant].map(Row::Count));
    if overview.probes.iter().any(|it| it.n_both_orders > 0) {
        rows.push(Row::Count(Count::BothOrders));
    }
    if overview.probes.iter().any(|it| it.sampled < 1.0) {
        rows.push(Row::Count(Count::Sampled));
    }
    rows
}

/// The name of the rows of counts.
pub const COUNTS: &str = "Counts";
