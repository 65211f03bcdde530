//! Links from a query to its lists of instances.

use shared::probe::Probe;
use shared::score::RankerInfo;
use shared::study::overview::StudyOverview;

use crate::pages::study::address::InstanceListView;

/// Links to the instance lists of a study for one of its rankers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LinksToInstanceLists {
    pub(super) study: String,
    /// The slug of the ranker.
    pub(super) ranker: String,
    /// The probes that have instances.
    pub(super) probes: Vec<Probe>,
}

impl LinksToInstanceLists {
    /// Creates the links for this ranker, or for the first of the study if it is not in the study.
    pub(super) fn for_ranker(
        overview: &StudyOverview,
        ranker: &RankerInfo,
    ) -> LinksToInstanceLists {
        let mut rows = overview.rows.iter();
        let of_ranker = rows.find(|it| it.ranker.fingerprint == ranker.fingerprint);
        let row = of_ranker.or(overview.rows.first());
        let some = overview.columns.iter();
        let some = some.filter(|it| it.n_instances > 0 && !overview.rows.is_empty());
        LinksToInstanceLists {
            study: overview.name.clone(),
            ranker: row.map_or(String::new(), |it| it.slug.clone()),
            probes: some.map(|it| it.probe).collect(),
        }
    }

    /// Returns the address of the instances of a query.
    pub(super) fn query_instances_href(&self, probe: Probe, query: &str) -> String {
        let view = InstanceListView {
            query: query.to_owned(),
            ..InstanceListView::default()
        };
        view.href(&self.study, probe, &self.ranker)
    }
}
