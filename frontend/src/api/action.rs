//! A request that changes something, sent once at a time.

use leptos::prelude::*;
use shared::api::Endpoint;

use super::{Error, call};

/// How far a change is.
#[derive(Clone, Copy)]
pub(crate) struct Action {
    /// Whether it is on its way.
    pub(crate) busy: RwSignal<bool>,
    /// Why the last one failed.
    pub(crate) failed: RwSignal<Option<Error>>,
}

impl Action {
    /// Sends a request unless another one is on its way; `done` takes the reply.
    pub(crate) fn send<E: Endpoint + 'static>(
        self,
        request: E,
        done: impl FnOnce(E::Reply) + 'static,
    ) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        leptos::task::spawn_local(async move {
            let reply = call(&request).await;
            // The reader may be on another page by now.
            if self.busy.try_set(false).is_some() {
                return;
            }
            match reply {
                Ok(reply) => {
                    self.failed.set(None);
                    done(reply);
                }
                Err(error) => self.failed.set(Some(error)),
            }
        });
    }
}
