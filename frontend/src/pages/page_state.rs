//! The state of a page below a study, which is encoded in its address.

use leptos::prelude::*;

use super::study::address;
use crate::location::{self, PageLocation};

/// The study of a page and the view encoded in its address.
pub(crate) struct AddressEncodedPageState<V: Send + Sync + 'static> {
    /// The name of the study.
    pub(crate) study: StoredValue<String>,
    /// The view encoded in the address.
    pub(crate) view: Memo<V>,
    href: fn(&V, &str) -> String,
}

impl<V: Send + Sync> Clone for AddressEncodedPageState<V> {
    fn clone(&self) -> AddressEncodedPageState<V> {
        *self
    }
}

impl<V: Send + Sync> Copy for AddressEncodedPageState<V> {}

impl<V: Clone + PartialEq + Send + Sync> AddressEncodedPageState<V> {
    /// Creates a state that follows the address, from functions that parse and write a view.
    pub(crate) fn following_address(
        study: String,
        read: impl Fn(address::ParameterLookup<'_>) -> V + Send + Sync + 'static,
        href: fn(&V, &str) -> String,
    ) -> AddressEncodedPageState<V> {
        let here = PageLocation::from_context_or_browser();
        let view = Memo::new(move |_| {
            let search = here.search.get();
            read(&|key| location::query_string_parameter(&search, key))
        });
        AddressEncodedPageState {
            study: StoredValue::new(study),
            view,
            href,
        }
    }

    /// Changes the view, and with it the address.
    pub(crate) fn update(self, change: impl FnOnce(&mut V)) {
        let mut view = self.view.get_untracked();
        change(&mut view);
        location::replace_browser_address(&self.href_of(&view));
    }

    /// Returns the address of a changed view, for a link.
    pub(crate) fn href_after_change(self, change: impl FnOnce(&mut V)) -> String {
        let mut view = self.view.get();
        change(&mut view);
        self.href_of(&view)
    }

    fn href_of(self, view: &V) -> String {
        self.study.with_value(|it| (self.href)(view, it))
    }
}
