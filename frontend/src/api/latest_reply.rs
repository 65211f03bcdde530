//! The newest reply to a request that changes while a page is shown.

use std::sync::Arc;

use leptos::prelude::*;
use shared::api::Endpoint;

use super::{Error, call};

/// A request with what came of it.
type RequestResult<E> = (E, Result<Arc<<E as Endpoint>::Reply>, Error>);

/// What is known of the replies to a request that changes.
pub(crate) struct LatestReply<E: Endpoint<Reply: Send + Sync> + 'static> {
    result: LocalResource<RequestResult<E>>,
    /// The last reply without an error; it stays while another one is on its way.
    pub(crate) reply: Memo<Option<Arc<E::Reply>>>,
    /// Why the last request has no reply.
    pub(crate) error: Memo<Option<Error>>,
    /// Whether the reply to the present request is still to come.
    pub(crate) is_pending: Memo<bool>,
}

impl<E: Endpoint<Reply: Send + Sync>> Clone for LatestReply<E> {
    fn clone(&self) -> LatestReply<E> {
        *self
    }
}

impl<E: Endpoint<Reply: Send + Sync>> Copy for LatestReply<E> {}

impl<E> LatestReply<E>
where
    E: Endpoint<Reply: PartialEq + Send + Sync> + Clone + PartialEq + Send + Sync,
{
    /// Asks whenever the request changes.
    pub(crate) fn track(request: impl Fn() -> E + Send + Sync + 'static) -> LatestReply<E> {
        let request = Memo::new(move |_| request());
        let answer = LocalResource::new(move || {
            let request = request.get();
            async move {
                let answer = call(&request).await.map(Arc::new);
                (request, answer)
            }
        });
        let reply = Memo::new(
            move |before: Option<&Option<Arc<E::Reply>>>| match answer.get() {
                Some((_, Ok(found))) => Some(found),
                Some((_, Err(_))) | None => before.cloned().flatten(),
            },
        );
        let busy = move |_: Option<&bool>| {
            let answer = answer.get();
            answer.is_none_or(|it| request.with(|request| it.0 != *request))
        };
        LatestReply {
            result: answer,
            reply,
            error: Memo::new(move |_| answer.get().and_then(|it| it.1.err())),
            is_pending: Memo::new(busy),
        }
    }

    /// Sends the current request again, although it has not changed.
    pub(crate) fn refetch(self) {
        self.result.refetch();
    }
}
