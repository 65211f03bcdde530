//! Converts errors to an HTTP status and an [`ErrorResponse`].

use std::any::Any;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use shared::api::ErrorResponse;
use shared::error::Error as InputError;

use crate::error::Error;

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, error_type) = self.class();
        if status.is_server_error() {
            tracing::error!("{self}");
        }
        let problem = ErrorResponse {
            field: match &self {
                Error::Input(it) => it.field_name().map(str::to_owned),
                _ => None,
            },
            ..ErrorResponse::with_message_and_type(self.public_message(), error_type)
        };
        let mut response = (status, Json(problem)).into_response();
        let headers = response.headers_mut();
        if let Error::RateLimited { retry_after_s }
        | Error::ServerBusy { retry_after_s, .. }
        | Error::NotMainServer { retry_after_s }
        | Error::NotSaved { retry_after_s, .. }
        | Error::ScoringQueueFull { retry_after_s, .. } = self
        {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
        }
        if let Error::NeedsToken = self {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl Error {
    fn class(&self) -> (StatusCode, &'static str) {
        match self {
            Error::Input(
                InputError::NotFound { .. }
                | InputError::UnknownName { .. }
                | InputError::IndexNotFound { .. },
            )
            | Error::PathNotFound { .. }
            | Error::CollectionNotFound { .. }
            | Error::FileNotFound { .. } => (StatusCode::NOT_FOUND, "unknown"),
            Error::Input(InputError::Invalid { .. }) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "setting")
            }
            // Requests have no files, so this file is one of the server.
            Error::Input(InputError::File { .. } | InputError::Line { .. })
            | Error::CorruptData { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "damaged"),
            Error::InvalidJson { .. } => (StatusCode::BAD_REQUEST, "json"),
            Error::UnexpectedJson { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "json"),
            Error::TooLarge { .. } | Error::BodyTooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, "too-large")
            }
            Error::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, "too-slow"),
            Error::NotAcceptableCoding => (StatusCode::NOT_ACCEPTABLE, "coding"),
            Error::NeedsToken => (StatusCode::UNAUTHORIZED, "token"),
            Error::NeedsSession => (StatusCode::UNAUTHORIZED, "session"),
            Error::OperatorLinkExpired => (StatusCode::UNAUTHORIZED, "link"),
            Error::InvitationNotFound => (StatusCode::NOT_FOUND, "invitation"),
            Error::InvitationClosed { .. } => (StatusCode::GONE, "invitation"),
            Error::NameTaken { .. } => (StatusCode::CONFLICT, "name"),
            Error::InvalidCredentials => (StatusCode::UNAUTHORIZED, "password"),
            Error::NeedsNamedPerson => (StatusCode::FORBIDDEN, "name"),
            Error::InsufficientRole { .. } => (StatusCode::FORBIDDEN, "role"),
            Error::UntrustedRequest { .. } => (StatusCode::FORBIDDEN, "refused"),
            Error::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, "method"),
            Error::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
            Error::RateLimited { .. } => (StatusCode::TOO_MANY_REQUESTS, "too-often"),
            Error::ScoringQueueFull { .. } => (StatusCode::TOO_MANY_REQUESTS, "overloaded"),
            Error::ServerBusy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "overloaded"),
            Error::NotMainServer { .. } => (StatusCode::SERVICE_UNAVAILABLE, "not-main-server"),
            Error::ModelNotFound { .. }
            | Error::ModelFileNotFound { .. }
            | Error::Model { .. }
            | Error::Training(_)
            | Error::OtherTraining { .. } => (StatusCode::SERVICE_UNAVAILABLE, "model"),
            Error::RemoteRanker { .. } => (StatusCode::BAD_GATEWAY, "service"),
            Error::Unhealthy { .. } => (StatusCode::SERVICE_UNAVAILABLE, "unhealthy"),
            Error::DatabaseUnreachable { .. }
            | Error::DatabaseAccessDenied { .. }
            | Error::NotSaved { .. }
            | Error::DiskFull { .. }
            | Error::DatabaseReadOnly { .. } => (StatusCode::SERVICE_UNAVAILABLE, "storage"),
            Error::File { .. }
            | Error::DataFolderInUse { .. }
            | Error::DatabaseAddressMissing { .. }
            | Error::DatabaseInUse { .. }
            | Error::DatabaseServerTooOld { .. }
            | Error::DatabaseTooNew { .. }
            | Error::Database { .. }
            | Error::Migration { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "storage"),
            Error::Listen { .. } | Error::Panicked { .. } | Error::Shard(_) => {
                (StatusCode::INTERNAL_SERVER_ERROR, "fault")
            }
        }
    }
}

/// Returns the error for a method that a path does not support.
pub(super) async fn method_not_allowed(request: Request) -> Error {
    Error::MethodNotAllowed {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
    }
}

/// Returns the error for a path that does not exist on this listener.
pub(super) async fn path_not_found(request: Request) -> Error {
    Error::PathNotFound {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
    }
}

/// Returns the response to a request whose handler panicked. The connection stays open.
pub(super) fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!("a request panicked: {}", message.unwrap_or("no message"));
    Error::Panicked {
        what: "this request",
    }
    .into_response()
}
