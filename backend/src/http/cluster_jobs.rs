//! The endpoints of cluster jobs: list and cancel.

use axum::Json;
use shared::api::cluster::{CancelClusterJobRequest, ClusterJob, ListClusterJobsRequest};
use shared::error::Error as InputError;

use crate::http::api_request::{ApiRequest, JsonResult};

pub(super) async fn list_cluster_jobs(
    ApiRequest(app, _, _): ApiRequest<ListClusterJobsRequest>,
) -> JsonResult<Vec<ClusterJob>> {
    Ok(Json(app.store.list_cluster_jobs().await?))
}

pub(super) async fn cancel_cluster_job(
    ApiRequest(app, _, asked): ApiRequest<CancelClusterJobRequest>,
) -> JsonResult<ClusterJob> {
    app.store.cancel_cluster_job(&asked.job).await?;
    let mut jobs = app.store.list_cluster_jobs().await?.into_iter();
    let job = jobs.find(|it| it.id == asked.job);
    Ok(Json(job.ok_or_else(|| {
        InputError::name_not_found("job", asked.job)
    })?))
}
