//! Extraction of API requests: the server state, the caller, and the request from its address and
//! its body.

use std::sync::Arc;

use axum::Json;
use axum::RequestExt;
use axum::body::to_bytes;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequest, Query, RawPathParams, Request};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use shared::api::Endpoint;
use shared::error::Error as InputError;

use crate::error::{Error, run_blocking};
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::parameters::{ParameterLocation, ParameterTable};

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

    async fn from_request(mut request: Request, app: &AppState) -> Result<ApiRequest<E>, Error> {
        let caller = Caller::of_request(&request)?;
        let table = request.extensions().get::<Arc<ParameterTable>>().cloned();
        let table = table.expect("every endpoint has a table");
        let mut fields = Map::new();
        decode_address(&mut request, &table, &mut fields).await?;
        let asked = match E::METHOD.has_body() {
            false => from_fields("the address", fields)?,
            true => {
                // `limits::shed_load` has already read the whole body.
                let body = to_bytes(request.into_body(), usize::MAX).await;
                let body = body.map_err(|error| Error::InvalidJson {
                    place: "the body",
                    reason: error.to_string(),
                })?;
                let is_large = body.len() >= LARGE;
                let read = move || {
                    table.check_body_fields(&body)?;
                    match fields.is_empty() {
                        true => parse("the body", &body),
                        false => with_fields(&body, fields),
                    }
                };
                match is_large {
                    false => read()?,
                    true => run_blocking("reading a request", read).await?,
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

/// Adds the fields that are in the path and in the query string of a request.
async fn decode_address(
    request: &mut Request,
    table: &ParameterTable,
    fields: &mut Map<String, Value>,
) -> Result<(), Error> {
    let malformed = |reason: String| Error::InvalidJson {
        place: "the address",
        reason,
    };
    let path: RawPathParams = request
        .extract_parts()
        .await
        .map_err(|it: RawPathParamsRejection| malformed(it.body_text()))?;
    let path: Vec<(String, String)> = path
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    table.decode(ParameterLocation::Path, path, fields)?;
    if table.ignores_query_string() {
        return Ok(());
    }
    let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    let query = query.map_err(|it| malformed(it.body_text()))?;
    table.decode(ParameterLocation::Query, query.0, fields)
}

/// Returns a request whose fields are partly in the path and partly in the body.
fn with_fields<E: Endpoint>(body: &[u8], fields: Map<String, Value>) -> Result<E, Error> {
    let mut request: Map<String, Value> = match body {
        b"" => Map::new(),
        body => parse("the body", body)?,
    };
    for (name, value) in fields {
        let in_address = value.clone();
        if let Some(in_body) = request.insert(name.clone(), value)
            && in_body != in_address
        {
            return Err(InputError::conflicting_value(&*name, "differs from the address").into());
        }
    }
    from_fields("the request", request)
}

fn from_fields<E: Endpoint>(place: &'static str, fields: Map<String, Value>) -> Result<E, Error> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let (path, reason) = (error.path().clone(), error.inner().to_string());
        match path.iter().next_back() {
            Some(Segment::Map { key }) => InputError::malformed_value(&**key, reason).into(),
            // A missing field is named by the reason.
            _ => Error::UnexpectedJson { place, reason },
        }
    })
}

fn parse<E: DeserializeOwned>(place: &'static str, json: &[u8]) -> Result<E, Error> {
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
