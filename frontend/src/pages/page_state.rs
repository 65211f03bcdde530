//! What a page below a study shows, as its address says behind `?`.

use leptos::prelude::*;

use super::study::address;
use crate::location::{self, PageLocation};

/// A study and what the address says of it.
pub(crate) struct StudyPageState<V: Send + Sync + 'static> {
    /// Name of the study.
    pub(crate) study: StoredValue<String>,
    /// What the address says.
    pub(crate) view: Memo<V>,
    href: fn(&V, &str) -> String,
}

impl<V: Send + Sync> Clone for StudyPageState<V> {
    fn clone(&self) -> StudyPageState<V> {
        *self
    }
}

impl<V: Send + Sync> Copy for StudyPageState<V> {}

impl<V: Clone + PartialEq + Send + Sync> StudyPageState<V> {
    /// Follows the address, with how a view is read from it and written.
    pub(crate) fn from_address(
        study: String,
        read: fn(address::ParameterLookup<'_>) -> V,
        href: fn(&V, &str) -> String,
    ) -> StudyPageState<V> {
        let here = PageLocation::current();
        let view = Memo::new(move |_| {
            let search = here.search.get();
            read(&|key| location::word(&search, key))
        });
        StudyPageState {
            study: StoredValue::new(study),
            view,
            href,
        }
    }

    /// Changes what the address says.
    pub(crate) fn update(self, change: impl FnOnce(&mut V)) {
        let mut view = self.view.get_untracked();
        change(&mut view);
        location::navigate(&self.href_of(&view));
    }

    /// Returns the address with a change, for a link.
    pub(crate) fn href(self, change: impl FnOnce(&mut V)) -> String {
        let mut view = self.view.get();
        change(&mut view);
        self.href_of(&view)
    }

    fn href_of(self, view: &V) -> String {
        self.study.with_value(|it| (self.href)(view, it))
    }
}
