//! Uploads the local study to the server, with progress.

use js_sys::{Array, Function, Promise};
use shared::api::manage_studies::UploadStudyRequest;
use shared::api::people::CSRF_HEADER;
use shared::api::worker::WorkerRequest;
use shared::api::{Endpoint, ErrorResponse};
use shared::study::overview::StudySummary;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use super::{HostKind, detect_host, fetch_identity, no_server_error, problem_error};
use crate::api::{
    RequestError, network_error, operator_token, parse_reply_json, session_identity, worker,
};

#[wasm_bindgen(module = "/src/api/transport/upload.js")]
extern "C" {
    /// A request that reports how much of its body has been sent.
    #[derive(Clone)]
    type ProgressRequest;

    #[wasm_bindgen(constructor)]
    fn new() -> ProgressRequest;

    #[wasm_bindgen(method)]
    fn post(
        this: &ProgressRequest,
        address: &str,
        headers: &Array,
        body: &Blob,
        sent: &Function,
    ) -> Promise;

    #[wasm_bindgen(method)]
    fn cancel(this: &ProgressRequest);
}

/// What the server is told about an uploaded study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StudyUploadOptions {
    /// The name in addresses.
    pub(crate) name: String,
    /// The title, as shown to readers.
    pub(crate) title: String,
    /// Whether to replace a study that has the name already.
    pub(crate) replace: bool,
}

/// An upload of the local study, which can be canceled.
#[derive(Clone)]
pub(crate) struct StudyUpload(ProgressRequest);

impl StudyUpload {
    /// Creates an upload that has not begun.
    pub(crate) fn new() -> StudyUpload {
        StudyUpload(ProgressRequest::new())
    }

    /// Stops sending. Nothing is stored unless everything has been sent already.
    pub(crate) fn cancel(&self) {
        self.0.cancel();
    }

    /// Sends the local study. `sent` is called with the fraction that has been sent.
    pub(crate) async fn send(
        &self,
        options: &StudyUploadOptions,
        sent: impl Fn(f64) + 'static,
    ) -> Result<StudySummary, RequestError> {
        if matches!(detect_host().await?, HostKind::Static) {
            return Err(no_server_error());
        }
        let identity = fetch_identity().await?;
        session_identity::cache_person_and_csrf_token(identity.clone());
        let mut headers = vec![("content-type", "application/json".to_owned())];
        headers.extend(identity.csrf_token.map(|it| (CSRF_HEADER, it)));
        let token = operator_token::stored_operator_token();
        headers.extend(token.map(|it| ("authorization", format!("Bearer {it}"))));
        let headers: Array = headers
            .iter()
            .map(|(name, value)| Array::of2(&(*name).into(), &value.into()))
            .collect();
        let exported = WorkerRequest::ExportStudy;
        let study = worker::run_worker_task(exported, &JsValue::UNDEFINED).await?;
        let body = request_body(options, &study.attachment)?;
        let sent = Closure::<dyn Fn(f64)>::new(sent);
        let reply = self.0.post(
            UploadStudyRequest::PATH,
            &headers,
            &body,
            sent.as_ref().unchecked_ref(),
        );
        let reply = JsFuture::from(reply)
            .await
            .map_err(|reason| network_error(reason.as_string().unwrap_or_default()))?;
        let reply: Array = reply.unchecked_into();
        let status = reply.get(0).as_f64().unwrap_or_default();
        let text = reply.get(1).as_string().unwrap_or_default();
        match (200.0..300.0).contains(&status) {
            true => parse_reply_json(&text),
            false => Err(match serde_json::from_str::<ErrorResponse>(&text) {
                Ok(problem) => RequestError::Server(problem),
                Err(_) => network_error(format!("HTTP status {status}")),
            }),
        }
    }
}

/// Returns an [`UploadStudyRequest`] as JSON. The study may have many megabytes, so the page passes
/// it on without parsing it.
fn request_body(options: &StudyUploadOptions, study: &JsValue) -> Result<Blob, RequestError> {
    let StudyUploadOptions {
        name,
        title,
        replace,
    } = options;
    let fields = serde_json::json!({ "name": name, "title": title, "replace": replace });
    let fields = fields.to_string();
    let before = format!("{},\"study\":", fields.trim_end_matches('}'));
    let parts = Array::of3(&before.into(), study, &"}".into());
    Blob::new_with_str_sequence(&parts).map_err(|_| {
        let reason = "The study does not fit into the memory of this page. Close other pages and \
                      try again.";
        problem_error(reason.to_owned(), "memory")
    })
}
