//! Requests that change something on the server; each is sent one at a time.

use leptos::prelude::*;
use shared::api::Endpoint;

use super::{Error, call};

/// The state of a request that changes something.
#[derive(Clone, Copy)]
pub(crate) struct MutationState {
    /// Whether a request is in progress.
    pub(crate) is_busy: RwSignal<bool>,
    /// The error of the last request, if it failed.
    pub(crate) error: RwSignal<Option<Error>>,
}

impl MutationState {
    /// Creates a state in which nothing has been sent.
    pub(crate) fn new() -> MutationState {
        MutationState {
            is_busy: RwSignal::new(false),
            error: RwSignal::new(None),
        }
    }

    /// Sends a request unless another one is in progress; `done` receives the reply.
    pub(crate) fn send<E: Endpoint + 'static>(
        self,
        request: E,
        done: impl FnOnce(E::Reply) + 'static,
    ) {
        self.run(async move { call(&request).await }, done);
    }

    /// Waits for a reply unless another one is in progress; `done` receives it.
    pub(crate) fn run<R: 'static>(
        self,
        reply: impl Future<Output = Result<R, Error>> + 'static,
        done: impl FnOnce(R) + 'static,
    ) {
        run_exclusive(self.is_busy, reply, move |reply| match reply {
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
pub(crate) fn run_exclusive<R: 'static>(
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
