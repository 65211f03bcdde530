//! The lists of instances that a query leads to.

use shared::probe::Probe;
use shared::score::RankerInfo;
use shared::study::overview::StudyOverview;

use crate::pages::study::address::InstanceListView;

/// The lists of instances of a study under one of its rankers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InstanceListLinks {
    pub(super) study: String,
    pub(super) row: usize,
    /// Those with instances.
    pub(super) probes: Vec<Probe>,
}

impl InstanceListLinks {
    /// Of this ranker if it is one of the study, else of its first.
    pub(super) fn for_ranker(overview: &StudyOverview, ranker: &RankerInfo) -> InstanceListLinks {
        let mut rows = overview.rows.iter().map(|it| &it.ranker.fingerprint);
        let some = overview.columns.iter();
        let some = some.filter(|it| it.n_instances > 0 && !overview.rows.is_empty());
        InstanceListLinks {
            study: overview.name.clone(),
            row: rows.position(|it| *it == ranker.fingerprint).unwrap_or(0),
            probes: some.map(|it| it.probe).collect(),
        }
    }

    /// Where the instances of a query are.
    pub(super) fn href(&self, probe: Probe, query: &str) -> String {
        let view = InstanceListView {
            query: query.to_owned(),
            ..InstanceListView::default()
        };
        view.href(&self.study, probe, self.row)
    }
}
