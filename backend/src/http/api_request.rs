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
use crate::http::parameters::{self, ParameterLocation, ParameterTable};

/// Size in bytes from which a body is parsed off the async threads.
const LARGE: usize = 1 << 18;

/// The result of a handler: the reply as JSON, or an error.
pub(super) type JsonResult<T> = Result<Json<T>, Error>;

/// The server state, the caller, and the request to an endpoint.
pub(super) struct ApiRequest<E>(pub(super) AppState, pub(super) Caller, pub(super) E);

impl<E: Endpoint + Send + 'static> FromRequest<AppState> for ApiRequest<E> {
    type Rejection = Error;

    async fn from_request(mut request: Request, app: &AppState) -> Result<ApiRequest<E>, Error> {
        let caller = Caller::of_request(&request)?;
        let table = request.extensions().get::<Arc<ParameterTable>>().cloned();
        let table = table.expect("every endpoint has a table");
        let mut fields = Map::new();
        decode_address(&mut request, &table, &mut fields).await?;
        let asked = match E::METHOD.has_body() {
            false => from_fields("the address", fields, false)?,
            true => {
                // `limits::shed_load` has already read the whole body.
                let body = to_bytes(request.into_body(), usize::MAX).await;
                let body = body.map_err(|error| Error::InvalidJson {
                    place: "the body",
                    reason: error.to_string(),
                })?;
                let is_large = body.len() >= LARGE;
                let is_strict = table.is_strict();
                let read = move || match fields.is_empty() {
                    true => parse_body(&body, is_strict),
                    false => with_fields(&body, fields, is_strict),
                };
                match is_large {
                    false => read()?,
                    true => run_blocking("reading a request", read).await?,
                }
            }
        };
        Ok(ApiRequest(app.clone(), caller, asked))
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
fn with_fields<E: Endpoint>(
    body: &[u8],
    fields: Map<String, Value>,
    is_strict: bool,
) -> Result<E, Error> {
    let mut request: Map<String, Value> = match body {
        b"" => Map::new(),
        body => serde_json::from_slice(body).map_err(body_error)?,
    };
    for (name, value) in fields {
        let in_address = value.clone();
        if let Some(in_body) = request.insert(name.clone(), value)
            && in_body != in_address
        {
            return Err(InputError::conflicting_value(&*name, "differs from the address").into());
        }
    }
    from_fields("the request", request, is_strict)
}

fn from_fields<E: Endpoint>(
    place: &'static str,
    fields: Map<String, Value>,
    is_strict: bool,
) -> Result<E, Error> {
    let mut unknown = UnknownField::default();
    let mut note = |path: serde_ignored::Path<'_>| unknown.note(&path);
    let fields = serde_ignored::Deserializer::new(Value::Object(fields), &mut note);
    let request = serde_path_to_error::deserialize(fields);
    unknown.ensure_none(is_strict)?;
    request.map_err(|error| {
        let (path, reason) = (error.path().clone(), error.inner().to_string());
        match path.iter().next_back() {
            Some(Segment::Map { key }) => InputError::malformed_value(&**key, reason).into(),
            // A missing field is named by the reason.
            _ => Error::UnexpectedJson { place, reason },
        }
    })
}

fn parse_body<E: DeserializeOwned>(body: &[u8], is_strict: bool) -> Result<E, Error> {
    let mut unknown = UnknownField::default();
    let mut json = serde_json::Deserializer::from_slice(body);
    let request = serde_ignored::deserialize(&mut json, |path| unknown.note(&path));
    let request = request.and_then(|it| json.end().map(|()| it));
    // A field with a wrong name is more helpful than the missing one.
    if request
        .as_ref()
        .err()
        .is_none_or(serde_json::Error::is_data)
    {
        unknown.ensure_none(is_strict)?;
    }
    request.map_err(body_error)
}

fn body_error(error: serde_json::Error) -> Error {
    let (place, reason) = ("the body", error.to_string());
    match error.classify() {
        serde_json::error::Category::Data => Error::UnexpectedJson { place, reason },
        serde_json::error::Category::Io
        | serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof => Error::InvalidJson { place, reason },
    }
}

/// The first field of a body that its request does not have; fields of nested values are ignored.
#[derive(Default)]
struct UnknownField(Option<String>);

impl UnknownField {
    fn note(&mut self, path: &serde_ignored::Path<'_>) {
        if let serde_ignored::Path::Map { parent, key } = path
            && matches!(parent, serde_ignored::Path::Root)
        {
            self.0.get_or_insert_with(|| parameters::field_name(key));
        }
    }

    fn ensure_none(self, is_strict: bool) -> Result<(), Error> {
        match self.0.filter(|_| is_strict) {
            None => Ok(()),
            Some(name) => {
                let reason = "is not a field of this request; /api/docs lists its fields";
                Err(InputError::unsupported_value(&*name, reason).into())
            }
        }
    }
}
