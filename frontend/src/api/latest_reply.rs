//! The latest reply to a request that changes while a page is open.

use std::sync::Arc;

use leptos::prelude::*;
use shared::api::Endpoint;

use super::{RequestError, send_and_parse};

/// A request with its result.
type RequestResult<E> = (E, Result<Arc<<E as Endpoint>::Reply>, RequestError>);

/// The state of the replies to a request that changes.
pub(crate) struct ReactiveRequest<E: Endpoint<Reply: Send + Sync> + 'static> {
    result: LocalResource<RequestResult<E>>,
    /// The last successful reply; it stays while the next one is loading.
    pub(crate) reply: Memo<Option<Arc<E::Reply>>>,
    /// The error of the last request, if it failed.
    pub(crate) error: Memo<Option<RequestError>>,
    /// Whether the current request has no reply yet.
    pub(crate) is_pending: Memo<bool>,
}

impl<E: Endpoint<Reply: Send + Sync>> Clone for ReactiveRequest<E> {
    fn clone(&self) -> ReactiveRequest<E> {
        *self
    }
}

impl<E: Endpoint<Reply: Send + Sync>> Copy for ReactiveRequest<E> {}

impl<E> ReactiveRequest<E>
where
    E: Endpoint<Reply: PartialEq + Send + Sync> + Clone + PartialEq + Send + Sync,
{
    /// Sends the request, and sends it again whenever it changes.
    pub(crate) fn send_on_change(
        request: impl Fn() -> E + Send + Sync + 'static,
    ) -> ReactiveRequest<E> {
        let request = Memo::new(move |_| request());
        let answer = LocalResource::new(move || {
            let request = request.get();
            async move {
                let answer = send_and_parse(&request).await.map(Arc::new);
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
        ReactiveRequest {
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
