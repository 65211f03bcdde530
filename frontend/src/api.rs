//! Every request of a page, and whom it goes to.

pub(crate) mod mutation;
pub(crate) mod session_identity;
pub(crate) mod transport;
pub(crate) mod latest_reply;
pub(crate) mod operator_token;
pub(crate) mod worker;

use std::pin::Pin;
use std::sync::OnceLock;

use leptos::prelude::LocalResource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::api::{Endpoint, ErrorResponse, GetServerInfoRequest, Method, ServerInfoResponse};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum Error {
    /// Nobody answered, or not in our language.
    #[error("the server does not answer; check the connection and try again ({0})")]
    Network(String),
    /// The browser does not give us a file.
    #[error("the file cannot be read; choose it again ({0})")]
    File(String),
    /// The server, or the worker in its place, says why.
    #[error("{}", .0.error)]
    Server(ErrorResponse),
}

impl Error {
    /// Whether the server calls it so: [`NO_SERVER`], [`NO_TOKEN`].
    pub(crate) fn has_type(&self, error_type: &str) -> bool {
        match self {
            Error::Network(_) | Error::File(_) => false,
            Error::Server(problem) => problem.error_type == error_type,
        }
    }
}

/// A request on its way.
pub(crate) struct OutgoingRequest {
    /// Path of its endpoint.
    pub(crate) path: String,
    /// As its endpoint has it.
    pub(crate) method: Method,
    /// What is asked.
    pub(crate) json: String,
}

/// Whom requests go to: [`transport::send_request`], or the page that lent its place.
pub(crate) type RequestTransport =
    fn(OutgoingRequest) -> Pin<Box<dyn Future<Output = Result<String, Error>>>>;

static TRANSPORT: OnceLock<RequestTransport> = OnceLock::new();

/// Sends every request of this program so; the first way is kept.
pub(crate) fn set_transport(way: RequestTransport) {
    let _ = TRANSPORT.set(way);
}

/// Asks, and reads the reply.
pub(crate) async fn call<E: Endpoint>(request: &E) -> Result<E::Reply, Error> {
    parse(&call_text(request).await?)
}

/// Asks, and asks again whenever a signal that the request is made of changes.
pub(crate) fn fetch<E>(request: impl Fn() -> E + 'static) -> LocalResource<Result<E::Reply, Error>>
where
    E: Endpoint + 'static,
    E::Reply: 'static,
{
    LocalResource::new(move || {
        let request = request();
        async move { call(&request).await }
    })
}

/// As [`call`], with the reply as JSON: for what is only passed on.
pub(crate) async fn call_text<E: Endpoint>(request: &E) -> Result<String, Error> {
    let way = TRANSPORT.get().expect("set when the program starts");
    let asked = OutgoingRequest {
        path: E::PATH.to_owned(),
        method: E::METHOD,
        json: to_json(request),
    };
    way(asked).await
}

/// What answers, if a server does. None on a static host.
pub(crate) async fn fetch_server_info() -> Result<Option<ServerInfoResponse>, Error> {
    match call(&GetServerInfoRequest {}).await {
        Ok(server) => Ok(Some(server)),
        Err(error) if error.has_type(NO_SERVER) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The type of the error where only a server could answer.
pub(crate) const NO_SERVER: &str = "no-server";

/// The type of the error where somebody has to sign in, or as somebody else.
pub(crate) const NO_SESSION: &str = "session";

/// The type of the error where the operator has to show a token.
pub(crate) const NO_TOKEN: &str = "token";

/// [`Method::Get`] between the two programs.
pub(crate) const GET: &str = "get";
/// [`Method::Post`] between the two programs.
pub(crate) const POST: &str = "post";

/// Parses the JSON of a reply; returns an error that asks to reload the page if the reply has the
/// format of another version.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|it| {
        network_error(format!(
            "The server's response uses the format of another version ({it}). Reload the page."
        ))
    })
}

/// Writes a request or an error.
pub(crate) fn to_json(request: &impl Serialize) -> String {
    serde_json::to_string(request).expect("a request has only text keys")
}

fn network_error(reason: impl ToString) -> Error {
    Error::Network(reason.to_string())
}
