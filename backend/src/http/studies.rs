//! The endpoints of studies: the list, overviews, instances and exports.

mod cache;
pub(super) mod manage;

use std::io::{BufWriter, Cursor, Read, Write};
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use futures_util::stream;
use shared::api::people::AccessRole;
use shared::api::study_request::StudyRequest;
use shared::api::{
    ExportStudyRequest, GetLateInteractionTopDocumentsRequest, GetReproductionRequest,
    GetStudyRequest, ListInstancesRequest, ListLateInteractionAnalysesRequest, ListStudiesRequest,
};
use shared::error::Error as InputError;
use shared::late_interaction::LateInteractionAnalysisWithRankerSlug;
use shared::report::ReportTable;
use shared::reproduce::{ReproduciblePaper, reproduce_formal_table};
use shared::score::slug::parse_ranker_slug_or_position;
use shared::study::Study;
use shared::study::instance_list::InstancePage;
use shared::study::overview::{StudyOverview, StudySummary};
use shared::study::top_documents::TopDocuments;

use crate::error::Error;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::content_coding::{ContentCoding, FAST_LEVEL};
use crate::http::limits::Slot;
use crate::pipeline;
use crate::store::studies::StudyListEntry;

pub(super) use cache::StudyCache;

/// Size in bytes of the chunks in which a file is sent.
const CHUNK: usize = 1 << 16;

pub(super) async fn list(
    ApiRequest(app, caller, _): ApiRequest<ListStudiesRequest>,
) -> JsonResult<Vec<StudySummary>> {
    let summaries = summarize_studies(&app, |it| is_visible(&caller, it));
    Ok(Json(summaries.await?))
}

/// Computes the summaries of the published studies, so that the first visitor need not wait.
pub(super) async fn cache_summaries(app: AppState) {
    if let Err(error) = summarize_studies(&app, |it| it.is_published).await {
        tracing::error!("summaries of the studies: {error}");
    }
}

/// Returns the summaries of the studies that are wanted and can be read. If all of them are
/// damaged, returns the error of one.
async fn summarize_studies(
    app: &AppState,
    is_wanted: impl Fn(&StudyListEntry) -> bool,
) -> Result<Vec<StudySummary>, Error> {
    let mut all_listed = app.store.list_studies().await?;
    all_listed.retain(is_wanted);
    let (mut summaries, mut failure) = (Vec::new(), None);
    for listed in all_listed {
        match app.studies.summary(&listed).await {
            Ok(summary) => summaries.push(summary),
            // One damaged study must not hide the others.
            Err(error) => {
                tracing::error!("study {}: {error}", listed.name);
                failure = Some(error);
            }
        }
    }
    match failure {
        Some(error) if summaries.is_empty() => Err(error),
        _ => Ok(summaries),
    }
}

/// Returns the overview of a study for a state of its controls. Overviews are cached.
pub(super) async fn get_study(
    ApiRequest(app, caller, asked): ApiRequest<GetStudyRequest>,
) -> JsonResult<StudyOverview> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    Ok(Json(app.studies.overview(&listed, asked.controls).await?))
}

/// Handles any request whose reply is computed from one study.
pub(super) async fn answer_study_request<R: StudyRequest>(
    ApiRequest(app, caller, asked): ApiRequest<R>,
) -> JsonResult<R::Reply> {
    let listed = find_study(&app, &caller, asked.study()).await?;
    let reply = app
        .studies
        .compute(&listed, move |study| Ok(asked.respond(study)?));
    Ok(Json(reply.await?))
}

/// Returns a table of a paper next to a study, or next to its late-interaction analyses.
pub(super) async fn get_reproduction(
    ApiRequest(app, caller, asked): ApiRequest<GetReproductionRequest>,
) -> JsonResult<Vec<ReportTable>> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    if asked.table.paper == ReproduciblePaper::Formal2021 {
        let analyses = app.studies.late_interaction_analyses(&listed).await?;
        let slot = app.limits.computations.acquire().await;
        let tables = slot.run("comparing with a paper", move || {
            let analyses = analyses.iter().map(|it| it.analysis.clone());
            let analyses: Vec<_> = analyses.collect();
            Ok(reproduce_formal_table(
                asked.table,
                &asked.study,
                &analyses,
            )?)
        });
        return Ok(Json(tables.await?));
    }
    let reply = app
        .studies
        .compute(&listed, move |study| Ok(asked.respond(study)?));
    Ok(Json(reply.await?))
}

/// Lists the late-interaction analyses of a study, which are stored next to it.
pub(super) async fn list_late_interaction_analyses(
    ApiRequest(app, caller, asked): ApiRequest<ListLateInteractionAnalysesRequest>,
) -> JsonResult<Vec<LateInteractionAnalysisWithRankerSlug>> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    let analyses = app.studies.late_interaction_analyses(&listed).await?;
    Ok(Json(Arc::unwrap_or_clone(analyses)))
}

/// Returns the top documents of a query under a ranker that was analyzed.
pub(super) async fn get_top_documents(
    ApiRequest(app, caller, asked): ApiRequest<GetLateInteractionTopDocumentsRequest>,
) -> JsonResult<TopDocuments> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    let analyses = app.studies.late_interaction_analyses(&listed).await?;
    let slugs = analyses.iter().map(|it| it.slug.as_str());
    let position = parse_ranker_slug_or_position(slugs, &asked.ranker)?;
    let ranker = analyses[position].analysis.header.ranker.clone();
    let reply = app.studies.compute(&listed, move |study| {
        Ok(study.top_documents(asked.query, &ranker.fingerprint)?)
    });
    Ok(Json(reply.await?))
}

/// Returns a page of instances of a study.
pub(super) async fn list_instances(
    ApiRequest(app, caller, asked): ApiRequest<ListInstancesRequest>,
) -> JsonResult<InstancePage> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    let listing = asked.filter;
    let orders = app.studies.instance_orders(&listed).await?;
    let reviewed = crate::http::annotation::reviewed_instances(&app, &caller, &listed).await?;
    let reply = app.studies.compute(&listed, move |study| {
        let page = pipeline::list_instance_page(study, &orders, &reviewed, &listing);
        Ok(page?)
    });
    Ok(Json(reply.await?))
}

/// Returns a whole study as JSON. It is serialized from memory and compressed once for all clients.
pub(super) async fn export_study(
    headers: HeaderMap,
    ApiRequest(app, caller, asked): ApiRequest<ExportStudyRequest>,
) -> Result<Response, Error> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    let place = app.limits.download(caller.ip)?;
    let accepted = ContentCoding::accepted(&headers);
    let coding = accepted.unwrap_or(ContentCoding::Gzip);
    let file = match app.studies.cached_export(&listed, coding) {
        Some(file) => file,
        None => write_export(&app, &listed, coding).await?,
    };
    let file = Cursor::new(file);
    let body = match accepted {
        Some(_) => read_in_chunks(file, place),
        None => read_in_chunks(GzDecoder::new(file), place),
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::VARY, HeaderValue::from(header::ACCEPT_ENCODING));
    if let Some(coding) = accepted {
        headers.insert(header::CONTENT_ENCODING, coding.header());
    }
    Ok(response)
}

/// Serializes a study, unless another request did so in the meantime. If the client disconnects
/// while it waits, nothing is done; once started, the work continues, since others may wait for it.
async fn write_export(
    app: &AppState,
    listed: &StudyListEntry,
    coding: ContentCoding,
) -> Result<Bytes, Error> {
    let turn = app.limits.export().await;
    let write = move |study: &Study| {
        let _turn = turn;
        compressed(study, coding)
    };
    app.studies.export(listed, coding, write).await
}

fn compressed(study: &Study, coding: ContentCoding) -> Result<Bytes, Error> {
    let written = coding.compress_written(FAST_LEVEL, |out| {
        let mut out = BufWriter::with_capacity(CHUNK, out);
        serde_json::to_writer(&mut out, study)?;
        out.flush()
    });
    written.map_err(|error| Error::CorruptData {
        what: format!("study {}", study.definition.name),
        reason: error.to_string(),
    })
}

/// Returns a body that is read while it is sent and holds its slot until then.
fn read_in_chunks(mut file: impl Read + Send + 'static, place: Slot) -> Body {
    let chunks = std::iter::from_fn(move || {
        let _place = &place;
        let mut chunk = vec![0; CHUNK];
        match file.read(&mut chunk) {
            Ok(0) => None,
            Ok(n) => {
                chunk.truncate(n);
                Some(Ok(Bytes::from(chunk)))
            }
            Err(error) => Some(Err(error)),
        }
    });
    Body::from_stream(stream::iter(chunks))
}

/// Returns the entry of a study. If the caller may not see it, the error is that of an unknown
/// study.
pub(super) async fn find_study(
    app: &AppState,
    caller: &Caller,
    name: &str,
) -> Result<StudyListEntry, Error> {
    let listed = app.store.study_entry_by_name(name).await?;
    if !is_visible(caller, &listed) {
        return Err(InputError::name_not_found("study", name).into());
    }
    Ok(listed)
}

/// Returns whether a caller may see a study. Curators also see unpublished studies, from which they
/// create tasks.
pub(super) fn is_visible(caller: &Caller, listed: &StudyListEntry) -> bool {
    listed.is_published || caller.has_role(AccessRole::Curator)
}
