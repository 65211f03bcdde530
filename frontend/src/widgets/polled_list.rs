//! Lists of the server that are requested again while something in them is in progress.

use leptos::prelude::*;
use shared::api::Endpoint;

use crate::api::{self, RequestError};
use crate::debounce::DebounceTimer;
use crate::number_format;

/// The interval between two requests, in milliseconds.
pub(crate) const POLL_MS: u64 = 2_000;

/// The number of rows that a list has at first, and that a button adds.
const INITIAL_ROWS: usize = 20;

/// The latest reply to a request. It stays when a later reply is missing, since the connection may
/// recover.
pub(crate) struct PolledReply<E: Endpoint<Reply: Send + Sync> + 'static> {
    pub(crate) reply: RwSignal<Option<E::Reply>>,
    pub(crate) error: RwSignal<Option<RequestError>>,
    request: fn() -> E,
    is_in_progress: fn(&E::Reply) -> bool,
    later: DebounceTimer,
}

impl<E: Endpoint<Reply: Send + Sync>> Copy for PolledReply<E> {}

impl<E: Endpoint<Reply: Send + Sync>> Clone for PolledReply<E> {
    fn clone(&self) -> PolledReply<E> {
        *self
    }
}

impl<E: Endpoint<Reply: Send + Sync>> PolledReply<E> {
    /// Starts to poll the server.
    pub(crate) fn start(
        request: fn() -> E,
        is_in_progress: fn(&E::Reply) -> bool,
    ) -> PolledReply<E> {
        let list = PolledReply {
            reply: RwSignal::new(None),
            error: RwSignal::new(None),
            request,
            is_in_progress,
            later: DebounceTimer::with_delay_ms(POLL_MS),
        };
        list.poll();
        list
    }

    /// Polls the server until nothing is in progress.
    pub(crate) fn poll(self) {
        leptos::task::spawn_local(async move {
            let found = api::send_and_parse(&(self.request)()).await;
            // The user may be on another page by now.
            if self.reply.try_with_untracked(Option::is_none).is_none() {
                return;
            }
            match found {
                Ok(found) => {
                    self.reply.set(Some(found));
                    if self.error.with_untracked(Option::is_some) {
                        self.error.set(None);
                    }
                }
                Err(error) => self.error.set(Some(error)),
            }
            self.schedule_poll();
        });
    }

    /// Polls again after a delay if something is in progress.
    pub(crate) fn schedule_poll(self) {
        let reply = self.reply.read_untracked();
        if reply.as_ref().is_some_and(self.is_in_progress) {
            self.later.schedule(move || self.poll());
        }
    }
}

/// The number of rows of a list that are visible.
#[derive(Clone, Copy)]
pub(crate) struct VisibleRows(RwSignal<usize>);

impl VisibleRows {
    /// Starts with a few rows.
    pub(crate) fn new() -> VisibleRows {
        VisibleRows(RwSignal::new(INITIAL_ROWS))
    }

    /// Returns the number of rows.
    pub(crate) fn get(self) -> usize {
        self.0.get()
    }

    /// Returns the button that shows more of `n_rows` rows, if some are hidden.
    pub(crate) fn show_more_button(self, n_rows: usize) -> Option<impl IntoView + use<>> {
        let n_hidden = n_rows.saturating_sub(self.get());
        (n_hidden > 0).then(|| {
            let n_next = number_format::format_count(n_hidden.min(INITIAL_ROWS) as u64);
            view! {
                <button
                    class="btn"
                    type="button"
                    on:click=move |_| self.0.update(|it| *it += INITIAL_ROWS)
                >
                    {format!("Show {n_next} more")}
                </button>
            }
        })
    }
}
