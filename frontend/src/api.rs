//! The only file that fetches.

use shared::api::{Endpoint, Problem};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// Nobody answered, or not in our language.
    #[error("the server does not answer; check the connection and try again ({0})")]
    Network(String),
    /// The server, or the worker in its place, says why.
    #[error("{}", .0.error)]
    Server(Problem),
}

/// Asks the server, or the worker where there is none.
pub(crate) async fn call<E: Endpoint>(_request: &E) -> Result<E::Reply, Error> {
    Err(Error::Network("not there yet".to_owned()))
}
