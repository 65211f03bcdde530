//! The endpoints with which operators publish, withdraw, rename and upload studies.

use axum::Json;
use shared::api::manage_studies::{UpdateStudyRequest, UploadStudyRequest};
use shared::study::overview::StudySummary;
use shared::user_text::{normalize_study_description, normalize_study_title};

use crate::error::{run_blocking, run_to_completion};
use crate::http::AppState;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::pipeline::{self, StudyReplacementPolicy};
use crate::store::studies::{StudyVisibility, files};

/// Publishes or withdraws a study, and changes its title and description. Nothing is changed if a
/// field is invalid.
pub(in crate::http) async fn update_study(
    ApiRequest(app, _, asked): ApiRequest<UpdateStudyRequest>,
) -> JsonResult<StudySummary> {
    let title = asked.title.as_deref().map(normalize_study_title);
    let title = title.transpose()?;
    let description = asked.description.as_deref();
    let description = description.map(normalize_study_description).transpose()?;
    let name = asked.study;
    // Changes that are cut off, since the client disconnects, would leave row and files apart.
    run_to_completion("changing a study", async move {
        let _turn = app.studies.acquire_change_turn().await;
        app.store.study_entry_by_name(&name).await?;
        if title.is_some() || description.is_some() {
            let (folder, study) = (app.studies.folder().clone(), name.clone());
            let title = run_blocking("renaming a study", move || {
                files::update_title_and_description(&folder, &study, title, description)
            })
            .await?;
            app.store.set_study_title(&name, &title).await?;
        }
        if let Some(is_published) = asked.is_published {
            let visibility = match is_published {
                true => StudyVisibility::Published,
                false => StudyVisibility::Withdrawn,
            };
            app.store.set_study_visibility(&name, visibility).await?;
        }
        stored_summary(&app, &name).await
    })
    .await
}

/// Stores an uploaded study, which is withdrawn until it is published.
pub(in crate::http) async fn upload_study(
    ApiRequest(app, _, asked): ApiRequest<UploadStudyRequest>,
) -> JsonResult<StudySummary> {
    let UploadStudyRequest {
        name,
        title,
        replace,
        mut study,
    } = asked;
    let title = title.as_ref().unwrap_or(&study.definition.title);
    study.definition.title = normalize_study_title(title)?;
    study.definition.description = normalize_study_description(&study.definition.description)?;
    let finished = match replace {
        true => StudyReplacementPolicy::Replace,
        false => StudyReplacementPolicy::Keep,
    };
    // One at a time: a study of the largest size takes much memory.
    run_to_completion("storing a study", async move {
        let _turn = app.studies.acquire_change_turn().await;
        let study = run_blocking("checking a study", move || {
            pipeline::name_and_validate_upload(&mut study, &name)?;
            Ok(*study)
        });
        let study = study.await?;
        let name = study.definition.name.clone();
        let folder = app.studies.folder();
        pipeline::store_uploaded_study(&app.store, folder, study, finished).await?;
        stored_summary(&app, &name).await
    })
    .await
}

async fn stored_summary(app: &AppState, name: &str) -> JsonResult<StudySummary> {
    let listed = app.store.study_entry_by_name(name).await?;
    Ok(Json(app.studies.summary(&listed).await?))
}
