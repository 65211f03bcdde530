//! The rows of the list, fetched a page at a time as they come into view.

use std::collections::BTreeMap;

use leptos::prelude::*;
use shared::api::ListInstancesRequest;
use shared::probe::Probe;
use shared::study::instance_list::{ListedInstance, MarginHistogram};

use super::super::study::address::InstanceListView;
use crate::api;

/// Rows in a page.
const PAGE: u64 = 200;

/// Whose list it is, and which part of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InstanceListQuery {
    pub(super) study: String,
    pub(super) probe: Probe,
    pub(super) ranker: usize,
    pub(super) view: InstanceListView,
}

/// A page that was asked for.
#[derive(Debug, Clone, PartialEq)]
enum RowPage {
    Loading,
    Loaded(Vec<ListedInstance>),
    Failed(api::Error),
}

/// What is known of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InstanceListSummary {
    /// What it is the answer to.
    pub(super) query: InstanceListQuery,
    pub(super) n_instances: u64,
    pub(super) histogram: MarginHistogram,
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InstanceRow {
    Loading,
    Here(ListedInstance),
    Failed(api::Error),
}

/// The rows of an instance list, fetched a page at a time.
#[derive(Clone, Copy)]
pub(super) struct InstanceRows {
    asked: Memo<InstanceListQuery>,
    pages: RwSignal<BTreeMap<u64, RowPage>>,
    /// Of the latest answer to a first page; also while a new one is awaited.
    pub(super) summary: RwSignal<Option<InstanceListSummary>>,
    /// Why the first page is not there.
    pub(super) error: RwSignal<Option<api::Error>>,
}

impl InstanceRows {
    /// Fetches the first page whenever something else is asked for.
    pub(super) fn new(asked: Memo<InstanceListQuery>) -> InstanceRows {
        let rows = InstanceRows {
            asked,
            pages: RwSignal::new(BTreeMap::new()),
            summary: RwSignal::new(None),
            error: RwSignal::new(None),
        };
        Effect::new(move |_| {
            asked.track();
            rows.reload();
        });
        rows
    }

    /// Forgets all pages and fetches the first.
    pub(super) fn reload(self) {
        self.pages.set(BTreeMap::new());
        self.error.set(None);
        self.fetch_page(0);
    }

    /// Whether the numbers shown are those that are asked for.
    pub(super) fn is_stale(self) -> bool {
        self.summary
            .with(|it| it.as_ref().is_none_or(|it| it.query != self.asked.get()))
    }

    /// Fetches what is missing of rows that have come into view.
    pub(super) fn ensure_loaded(self, (first, last): (u64, u64)) {
        if last == 0 {
            return;
        }
        for page in first / PAGE..=(last - 1) / PAGE {
            if !self.pages.read_untracked().contains_key(&page) {
                self.fetch_page(page);
            }
        }
    }

    /// A row, as far as it is known.
    pub(super) fn row(self, at: u64) -> InstanceRow {
        let pages = self.pages.read();
        match pages.get(&(at / PAGE)) {
            Some(RowPage::Loaded(lines)) => {
                let line = lines.get((at % PAGE) as usize);
                line.map_or(InstanceRow::Loading, |it| InstanceRow::Here(it.clone()))
            }
            Some(RowPage::Failed(error)) => InstanceRow::Failed(error.clone()),
            Some(RowPage::Loading) | None => InstanceRow::Loading,
        }
    }

    fn fetch_page(self, page: u64) {
        let asked = self.asked.get_untracked();
        self.pages.update(|it| {
            it.insert(page, RowPage::Loading);
        });
        leptos::task::spawn_local(async move {
            let part = page * PAGE..(page + 1) * PAGE;
            let listing = asked.view.list_request(asked.probe, asked.ranker, part);
            let answer = api::call(&ListInstancesRequest {
                study: asked.study.clone(),
                filter: listing,
            })
            .await;
            // The page may have been left, or something else asked for, in the meantime.
            if self.asked.try_get_untracked().as_ref() == Some(&asked) {
                self.store_page(page, asked, answer);
            }
        });
    }

    fn store_page(
        self,
        page: u64,
        asked: InstanceListQuery,
        answer: Result<shared::study::instance_list::InstancePage, api::Error>,
    ) {
        let found = match answer {
            Ok(found) => {
                if page == 0 {
                    let (n, histogram) = (found.n_instances, found.histogram);
                    self.summary.set(Some(InstanceListSummary {
                        query: asked,
                        n_instances: n,
                        histogram,
                    }));
                }
                RowPage::Loaded(found.rows)
            }
            Err(error) => {
                if page == 0 {
                    self.error.set(Some(error.clone()));
                }
                RowPage::Failed(error)
            }
        };
        self.pages.update(|it| {
            it.insert(page, found);
        });
    }
}
