//! What the parts of the section share.

use std::sync::Arc;

use leptos::prelude::*;
use shared::probe::Probe;
use shared::study::behaviour::{Behaviours as Found, Slice};

use super::super::address::{Behaving, StudyView};

/// A behaviour of a ranker, over some documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EffectCell {
    pub(super) probe: Probe,
    pub(super) slice: Slice,
    /// Row of the ranker.
    pub(super) ranker: usize,
}

/// What the parts of the section share.
#[derive(Clone, Copy)]
pub(super) struct Scene {
    pub(super) page: crate::pages::scene::Scene<StudyView>,
    pub(super) found: Memo<Arc<Found>>,
    /// Whose details are shown.
    pub(super) selected: Memo<Option<EffectCell>>,
}

impl Scene {
    /// Changes what the address says of behaviours.
    pub(super) fn turn(self, change: impl FnOnce(&mut Behaving)) {
        self.page.turn(|it| change(&mut it.behaving));
    }

    /// Shows the details of another cell.
    pub(super) fn select(self, spot: EffectCell) {
        self.turn(|it| it.cell = Some((spot.probe, spot.ranker)));
    }
}
