//! What a handler takes: the server's state, who asks, and the request, which is the parameter `q`
//! of a GET and the body of a POST.

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{FromRequest, Query, Request};
use serde::Deserialize;
use shared::api::{Endpoint, Method};

use crate::error::{Error, run_blocking};
use crate::http::AppState;
use crate::http::access::Caller;

/// Bodies of this size and above are read off the async threads.
const LARGE: usize = 1 << 18;

/// The reply of a handler: a value as JSON, or the error that is sent in its place.
pub(super) type JsonResult<T> = Result<Json<T>, Error>;

/// A request to an endpoint.
pub(super) struct ApiRequest<E> {
    pub(super) app: AppState,
    pub(super) caller: Caller,
    pub(super) request: E,
}

impl<E: Endpoint + Send + 'static> FromRequest<AppState> for ApiRequest<E> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &AppState) -> Result<ApiRequest<E>, Error> {
        let caller = Caller::of_request(&request)?;
        let asked = match E::METHOD {
            Method::Get => parse("the parameter `q`", parameter(&request)?.as_bytes())?,
            Method::Post => {
                // Read whole already, by `limits::shed`.
                let body = to_bytes(request.into_body(), usize::MAX).await;
                let body = body.map_err(|error| Error::InvalidJson {
                    place: "the body",
                    reason: error.to_string(),
                })?;
                match body.len() < LARGE {
                    true => parse("the body", &body)?,
                    false => {
                        run_blocking("reading a request", move || parse("the body", &body)).await?
                    }
                }
            }
        };
        Ok(ApiRequest {
            app: app.clone(),
            caller,
            request: asked,
        })
    }
}

/// The JSON of `q`; without it, the request that has no fields.
fn parameter(request: &Request) -> Result<String, Error> {
    #[derive(Deserialize)]
    struct Parameters {
        q: Option<String>,
    }
    let place = "the query of the address";
    let found =
        Query::<Parameters>::try_from_uri(request.uri()).map_err(|it| Error::InvalidJson {
            place,
            reason: it.body_text(),
        })?;
    Ok(found.0.q.unwrap_or_else(|| "{}".to_owned()))
}

fn parse<E: Endpoint>(place: &'static str, json: &[u8]) -> Result<E, Error> {
    serde_json::from_slice(json).map_err(|error| {
        let reason = error.to_string();
        match error.classify() {
            serde_json::error::Category::Data => Error::UnexpectedJson { place, reason },
            serde_json::error::Category::Io
            | serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof => Error::InvalidJson { place, reason },
        }
    })
}
