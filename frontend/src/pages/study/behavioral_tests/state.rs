//! The state that the parts of the section share.

use std::sync::Arc;

use leptos::prelude::*;
use shared::probe::Probe;
use shared::study::behavioral_tests::{BehavioralTestResults, RelevanceSlice};

use super::super::address::{BehavioralTestsView, CellAddress, StudyView};

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
    pub(super) page: crate::pages::page_state::AddressEncodedPageState<StudyView>,
    pub(super) results: Memo<Arc<BehavioralTestResults>>,
    /// The cell whose details are shown.
    pub(super) selected: Memo<Option<EffectCell>>,
}

impl BehavioralTestsState {
    /// Changes the view of the behavioral tests in the address.
    pub(super) fn update_view(self, change: impl FnOnce(&mut BehavioralTestsView)) {
        self.page.update(|it| change(&mut it.behavioral_tests));
    }

    /// Shows the details of another cell.
    pub(super) fn select(self, spot: EffectCell) {
        let ranker = self.slug(spot.ranker);
        let probe = spot.probe;
        self.update_view(|it| it.cell = Some(CellAddress { ranker, probe }));
    }

    /// Returns the name of a ranker in addresses, given its row.
    pub(super) fn slug(self, row: usize) -> String {
        let slug = |it: &Arc<BehavioralTestResults>| it.rankers.get(row).map(|it| it.slug.clone());
        self.results.with_untracked(slug).unwrap_or_default()
    }
}
