//! Extraction of API requests: the server state, the caller, and the request from the parameter `q`
//! of a GET or the body of a POST.

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{FromRequest, Query, Request};
use serde::Deserialize;
use shared::api::{Endpoint, Method};

use crate::error::{Error, run_blocking};
use crate::http::AppState;
use crate::http::access::Caller;

/// Size in bytes from which a body is parsed off the async threads.
const LARGE: usize = 1 << 18;

/// The result of a handler: the reply as JSON, or an error.
pub(super) type JsonResult<T> = Result<Json<T>, Error>;

/// A request to an endpoint, with the server state and the caller.
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
                // `limits::shed_load` has already read the whole body.
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

/// Returns the JSON of the parameter `q`, or an empty object without it.
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
