//! The rows of an instance list, fetched a page at a time as they come into view.

use std::collections::BTreeMap;

use leptos::prelude::*;
use shared::api::ListInstancesRequest;
use shared::probe::Probe;
use shared::study::instance_list::{InstanceListOptions, ListedInstance, MarginHistogram};

use super::super::study::address::InstanceListView;
use crate::api;

/// The number of rows per page.
const PAGE: u64 = InstanceListOptions::ROWS_AT_ONCE;

/// The list that is shown: study, probe, ranker and view.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InstanceListKey {
    pub(super) study: String,
    pub(super) probe: Probe,
    pub(super) ranker: String,
    pub(super) view: InstanceListView,
}

/// The state of a page of rows.
#[derive(Debug, Clone, PartialEq)]
enum RowPage {
    Loading,
    Loaded(Vec<ListedInstance>),
    Failed(api::RequestError),
}

/// A summary of the whole list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InstanceListSummary {
    /// The query that the summary belongs to.
    pub(super) query: InstanceListKey,
    pub(super) n_instances: u64,
    pub(super) n_reviewed: u64,
    pub(super) n_simulated_reviews: u64,
    pub(super) histogram: MarginHistogram,
}

/// The state of a row of the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum InstanceRow {
    Loading,
    Here(ListedInstance),
    Failed(api::RequestError),
}

/// The rows of an instance list, fetched a page at a time.
#[derive(Clone, Copy)]
pub(super) struct InstanceRows {
    asked: Memo<InstanceListKey>,
    pages: RwSignal<BTreeMap<u64, RowPage>>,
    /// The summary from the latest first page; it stays while a new one is fetched.
    pub(super) summary: RwSignal<Option<InstanceListSummary>>,
    /// The error of the first page, if it failed.
    pub(super) error: RwSignal<Option<api::RequestError>>,
}

impl InstanceRows {
    /// Creates the rows of a query, and fetches the first page whenever the query changes.
    pub(super) fn new_with_automatic_refetch(asked: Memo<InstanceListKey>) -> InstanceRows {
        let rows = InstanceRows {
            asked,
            pages: RwSignal::new(BTreeMap::new()),
            summary: RwSignal::new(None),
            error: RwSignal::new(None),
        };
        Effect::new(move |_| {
            asked.track();
            rows.discard_and_refetch();
        });
        rows
    }

    /// Discards all pages and fetches the first one.
    pub(super) fn discard_and_refetch(self) {
        self.pages.set(BTreeMap::new());
        self.error.set(None);
        self.fetch_page(0);
    }

    /// Returns whether the summary belongs to another query than the current one.
    pub(super) fn is_summary_stale(self) -> bool {
        self.summary
            .with(|it| it.as_ref().is_none_or(|it| it.query != self.asked.get()))
    }

    /// Fetches the missing pages of the rows that have come into view.
    pub(super) fn fetch_missing_pages(self, (first, last): (u64, u64)) {
        if last == 0 {
            return;
        }
        for page in first / PAGE..=(last - 1) / PAGE {
            if !self.pages.read_untracked().contains_key(&page) {
                self.fetch_page(page);
            }
        }
    }

    /// Returns a row, or the state of fetching it.
    pub(super) fn row_or_fetch_state(self, at: u64) -> InstanceRow {
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
            let listing = asked.view.list_request(asked.probe, &asked.ranker, part);
            let answer = api::send_and_parse(&ListInstancesRequest {
                study: asked.study.clone(),
                filter: listing,
            })
            .await;
            // The user may have left the page or changed the query in the meantime.
            if self.asked.try_get_untracked().as_ref() == Some(&asked) {
                self.store_page(page, asked, answer);
            }
        });
    }

    fn store_page(
        self,
        page: u64,
        asked: InstanceListKey,
        answer: Result<shared::study::instance_list::InstancePage, api::RequestError>,
    ) {
        let found = match answer {
            Ok(found) => {
                if page == 0 {
                    let (n, n_reviewed) = (found.n_instances, found.n_reviewed);
                    let n_simulated_reviews = found.n_simulated_reviews;
                    let histogram = found.histogram;
                    self.summary.set(Some(InstanceListSummary {
                        query: asked,
                        n_instances: n,
                        n_reviewed,
                        n_simulated_reviews,
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
