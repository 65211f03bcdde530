//! Requests that change something on the server; each is sent one at a time.

use leptos::prelude::*;
use shared::api::Endpoint;

use super::{RequestError, send_and_parse};

/// The state of a request that changes something.
#[derive(Clone, Copy)]
pub(crate) struct MutatingRequestState {
    /// Whether a request is in progress.
    pub(crate) is_busy: RwSignal<bool>,
    /// The error of the last request, if it failed.
    pub(crate) error: RwSignal<Option<RequestError>>,
}

impl MutatingRequestState {
    /// Creates a state in which nothing has been sent.
    pub(crate) fn new() -> MutatingRequestState {
        MutatingRequestState {
            is_busy: RwSignal::new(false),
            error: RwSignal::new(None),
        }
    }

    /// Sends a request unless another one is in progress; `done` receives the reply.
    pub(crate) fn send_unless_busy<E: Endpoint + 'static>(
        self,
        request: E,
        done: impl FnOnce(E::Reply) + 'static,
    ) {
        self.wait_for_reply_unless_busy(async move { send_and_parse(&request).await }, done);
    }

    /// Waits for a reply unless another one is in progress; `done` receives it.
    pub(crate) fn wait_for_reply_unless_busy<R: 'static>(
        self,
        reply: impl Future<Output = Result<R, RequestError>> + 'static,
        done: impl FnOnce(R) + 'static,
    ) {
        spawn_unless_busy(self.is_busy, reply, move |reply| match reply {
            Ok(reply) => {
                self.error.set(None);
                done(reply);
            }
            Err(error) => self.error.set(Some(error)),
        });
    }
}

/// Waits for a result unless another one is in progress; `done` receives it if the page is still
/// open.
pub(crate) fn spawn_unless_busy<R: 'static>(
    busy: RwSignal<bool>,
    result: impl Future<Output = R> + 'static,
    done: impl FnOnce(R) + 'static,
) {
    if busy.get_untracked() {
        return;
    }
    busy.set(true);
    leptos::task::spawn_local(async move {
        let result = result.await;
        if busy.try_set(false).is_none() {
            done(result);
        }
    });
}
