//! Sends the requests of the pages to the server or the worker.

pub(crate) mod mutation;
pub(crate) mod session_identity;
pub(crate) mod event_stream;
pub(crate) mod transport;
pub(crate) mod latest_reply;
pub(crate) mod operator_token;
pub(crate) mod worker;

use std::pin::Pin;
use std::sync::OnceLock;

use leptos::prelude::{Get, LocalResource, Memo};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::api::{
    Endpoint, ErrorResponse, GetServerInfoRequest, RequestMethod, ServerInfoResponse,
};

pub(crate) use shared::api::worker::NO_SERVER;

/// Why a request has no reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server did not answer, or its answer could not be parsed.
    #[error("the server does not answer; check the connection and try again ({0})")]
    Network(String),
    /// The browser could not read a file.
    #[error("the file cannot be read; choose it again ({0})")]
    File(String),
    /// The server, or the worker in its place, returned an error.
    #[error("{}", .0.error)]
    Server(ErrorResponse),
}

impl RequestError {
    /// Returns whether the server gave the error this type, such as [`NO_SERVER`] or [`NO_TOKEN`].
    pub(crate) fn is_server_error_of_type(&self, error_type: &str) -> bool {
        match self {
            RequestError::Network(_) | RequestError::File(_) => false,
            RequestError::Server(problem) => problem.error_type == error_type,
        }
    }
}

/// A request that is about to be sent.
pub(crate) struct OutgoingRequest {
    /// The path of its endpoint.
    pub(crate) path: String,
    /// The method of its endpoint.
    pub(crate) method: RequestMethod,
    /// The request as JSON.
    pub(crate) json: String,
}

/// The function that sends requests: [`transport::send_to_server_or_worker`],
/// [`transport::send_to_server`], or that of the page of the lazy bundle.
pub(crate) type RequestTransport =
    fn(OutgoingRequest) -> Pin<Box<dyn Future<Output = Result<String, RequestError>>>>;

static TRANSPORT: OnceLock<RequestTransport> = OnceLock::new();

/// Sets the function that sends all requests of this program; later calls have no effect.
pub(crate) fn set_request_transport(way: RequestTransport) {
    let _ = TRANSPORT.set(way);
}

/// Sends a request and parses the reply.
pub(crate) async fn send_and_parse<E: Endpoint>(request: &E) -> Result<E::Reply, RequestError> {
    parse_reply_json(&send_without_parsing(request).await?)
}

/// Sends a request, and sends it again whenever a signal that it depends on changes.
pub(crate) fn fetch_on_signal_change<E>(
    request: impl Fn() -> E + 'static,
) -> LocalResource<Result<E::Reply, RequestError>>
where
    E: Endpoint + 'static,
    E::Reply: 'static,
{
    LocalResource::new(move || {
        let request = request();
        async move { send_and_parse(&request).await }
    })
}

/// Like [`send_and_parse`], but returns the reply as JSON, for callers that only pass it on.
pub(crate) async fn send_without_parsing<E: Endpoint>(request: &E) -> Result<String, RequestError> {
    send(OutgoingRequest {
        path: E::PATH.to_owned(),
        method: E::METHOD,
        json: to_json(request),
    })
    .await
}

/// Sends a request in the way of this program and returns the reply as JSON.
pub(crate) async fn send(asked: OutgoingRequest) -> Result<String, RequestError> {
    let way = TRANSPORT.get().expect("set when the program starts");
    way(asked).await
}

/// Returns information about the server; none on a static host.
pub(crate) async fn fetch_server_info() -> Result<Option<ServerInfoResponse>, RequestError> {
    match send_and_parse(&GetServerInfoRequest {}).await {
        Ok(server) => Ok(Some(server)),
        Err(error) if error.is_server_error_of_type(NO_SERVER) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Asks the server whether the caller is an operator; false until it has answered, and on a static
/// host.
pub(crate) fn fetch_whether_operator() -> Memo<bool> {
    let server = LocalResource::new(|| async { fetch_server_info().await });
    Memo::new(move |_| match server.get() {
        Some(Ok(Some(server))) => server.can_create_jobs,
        Some(Ok(None) | Err(_)) | None => false,
    })
}

/// The error type of requests that need a session, or that of another person.
pub(crate) const NO_SESSION: &str = "session";

/// The error type of requests that need the operator's token.
pub(crate) const NO_TOKEN: &str = "token";

/// Parses the JSON of a reply; returns an error that asks to reload the page if the reply has the
/// format of another version.
pub(crate) fn parse_reply_json<T: DeserializeOwned>(text: &str) -> Result<T, RequestError> {
    serde_json::from_str(text).map_err(|it| {
        network_error(format!(
            "The server's response uses the format of another version ({it}). Reload the page."
        ))
    })
}

/// Serializes a request or an error as JSON.
pub(crate) fn to_json(request: &impl Serialize) -> String {
    serde_json::to_string(request).expect("a request has only string keys")
}

fn network_error(reason: impl ToString) -> RequestError {
    RequestError::Network(reason.to_string())
}
