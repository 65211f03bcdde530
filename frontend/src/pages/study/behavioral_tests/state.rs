//! The state that the parts of the section share.

use std::sync::Arc;

use leptos::prelude::*;
use shared::probe::Probe;
use shared::study::behavioral_tests::{BehavioralTestResults, RelevanceSlice};

use super::super::address::{BehavioralTestsView, CellAddress};

/// A behavioral test, a ranker and a slice of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EffectCell {
    pub(super) probe: Probe,
    pub(super) slice: RelevanceSlice,
    /// The row of the ranker.
    pub(super) ranker: usize,
}

/// The state that the parts of the section share.
#[derive(Clone, Copy)]
pub(super) struct BehavioralTestsState {
    pub(super) page: crate::pages::page_state::AddressEncodedPageState<BehavioralTestsView>,
    pub(super) results: Memo<Arc<BehavioralTestResults>>,
    /// The cell whose details are shown.
    pub(super) selected: Memo<Option<EffectCell>>,
}

impl BehavioralTestsState {
    /// Shows the details of another cell.
    pub(super) fn select(self, spot: EffectCell) {
        let ranker = self.slug(spot.ranker);
        let probe = spot.probe;
        self.page
            .update(|it| it.cell = Some(CellAddress { ranker, probe }));
    }

    /// Returns the name of a ranker in addresses, given its row.
    pub(super) fn slug(self, row: usize) -> String {
        let slug = |it: &Arc<BehavioralTestResults>| it.rankers.get(row).map(|it| it.slug.clone());
        self.results.with_untracked(slug).unwrap_or_default()
    }
}
