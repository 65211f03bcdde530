//! Takes a request apart: the parameter `q` of a GET, the body of a POST.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Query, Request};
use axum::response::IntoResponse;
use serde::Deserialize;
use shared::api::{Endpoint, Method};

use crate::error::{Error, off_thread};

/// Bodies of this size and above are read off the async threads.
const LARGE: usize = 1 << 18;

/// A request of the wire.
pub(super) struct Ask<E>(pub(super) E);

impl<E: Endpoint + Send + 'static, S: Send + Sync> FromRequest<S> for Ask<E> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Ask<E>, Error> {
        match E::METHOD {
            Method::Get => parse("the parameter `q`", parameter(&request)?.as_bytes()),
            Method::Post => {
                let body = Bytes::from_request(request, state).await.map_err(no_body)?;
                if body.len() < LARGE {
                    return parse("the body", &body);
                }
                off_thread("reading a request", move || parse("the body", &body)).await
            }
        }
    }
}

/// The JSON of `q`; without it, the request that has no fields.
fn parameter(request: &Request) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct Parameters {
        q: Option<String>,
    }
    let place = "the query of the address";
    let found = Query::<Parameters>::try_from_uri(request.uri()).map_err(|it| Error::NotJson {
        place,
        reason: it.body_text(),
    })?;
    Ok(found.0.q.unwrap_or_else(|| "{}".to_owned()))
}

fn parse<E: Endpoint>(place: &'static str, json: &[u8]) -> Result<Ask<E>, Error> {
    let request = serde_json::from_slice(json).map_err(|error| {
        let reason = error.to_string();
        match error.classify() {
            serde_json::error::Category::Data => Error::WrongJson { place, reason },
            serde_json::error::Category::Io
            | serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof => Error::NotJson { place, reason },
        }
    })?;
    Ok(Ask(request))
}

fn no_body(rejection: BytesRejection) -> Error {
    let reason = rejection.body_text();
    match rejection.into_response().status() {
        axum::http::StatusCode::PAYLOAD_TOO_LARGE => Error::BodyTooLarge,
        _ => Error::NotJson {
            place: "the body",
            reason,
        },
    }
}
