//! The annotation endpoints for curators: creating tasks, progress, agreement and adjudication.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::http::header;
use axum::response::IntoResponse;
use shared::annotation::content::{AnnotationItemContent, ItemDisplayOptions};
use shared::annotation::event::AnnotationEventAction;
use shared::annotation::export::{self, AnnotationExportInput};
use shared::annotation::judgments::AdjudicationQueueItem;
use shared::annotation::task::AnnotationItemRole;
use shared::annotation::{AnnotationItem, AnnotationTaskDefinition, ItemAnswers};
use shared::api::annotation::{
    AgreementResponse, CreateTaskRequest, EventWithStatus, ExportTaskRequest, GetAgreementRequest,
    GetItemHistoryRequest, GetTaskDefinitionRequest, GetTaskProgressRequest, ItemHistoryResponse,
    ListDisputesRequest, PersonIdWithName, PreviewTaskRequest, TaskComposition,
    TaskDefinitionResponse, TaskExportFormat, TaskId, TaskProgressResponse, UpdateTaskRequest,
};
use shared::error::Error as InputError;
use shared::report::table_to_csv;

use crate::annotation::task_state::InMemoryTaskState;
use crate::annotation::{
    ensure_loaded_study_is_unchanged, ensure_study_is_unchanged, new_task_from_study,
};
use crate::error::Error;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::studies::find_study;
use crate::store::annotation_tasks::NewAnnotationTask;

pub(in crate::http) async fn preview_task(
    ApiRequest(app, caller, asked): ApiRequest<PreviewTaskRequest>,
) -> JsonResult<TaskComposition> {
    let new = drawn(&app, &caller, asked.task).await?;
    let items: Vec<AnnotationItem> = new.items.into_iter().map(|it| it.item).collect();
    Ok(Json(made(&new.task, &items, new.n_candidates)))
}

pub(in crate::http) async fn create_task(
    ApiRequest(app, caller, asked): ApiRequest<CreateTaskRequest>,
) -> JsonResult<TaskDefinitionResponse> {
    let new = drawn(&app, &caller, asked.task).await?;
    let desk = app.annotation.create_draft_task(&new).await?;
    Ok(Json(whole(&caller, &desk)))
}

pub(in crate::http) async fn get_task_definition(
    ApiRequest(app, caller, asked): ApiRequest<GetTaskDefinitionRequest>,
) -> JsonResult<TaskDefinitionResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    Ok(Json(whole(&caller, &desk)))
}

pub(in crate::http) async fn update_task(
    ApiRequest(app, caller, asked): ApiRequest<UpdateTaskRequest>,
) -> JsonResult<TaskDefinitionResponse> {
    let desk = app.annotation.update_task(asked).await?;
    Ok(Json(whole(&caller, &desk)))
}

pub(in crate::http) async fn get_task_progress(
    ApiRequest(app, _, asked): ApiRequest<GetTaskProgressRequest>,
) -> JsonResult<TaskProgressResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    Ok(Json(TaskProgressResponse {
        progress: app.annotation.measure_task_progress(&desk).await?,
        annotators: names(&app, asked.task).await?,
    }))
}

pub(in crate::http) async fn get_agreement(
    ApiRequest(app, _, asked): ApiRequest<GetAgreementRequest>,
) -> JsonResult<AgreementResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    let agreements = app.annotation.agreement_report(&desk).await?;
    Ok(Json(AgreementResponse {
        agreement: (*agreements).clone(),
        annotators: names(&app, asked.task).await?,
    }))
}

pub(in crate::http) async fn list_disputes(
    ApiRequest(app, _, asked): ApiRequest<ListDisputesRequest>,
) -> JsonResult<Vec<AdjudicationQueueItem>> {
    let desk = app.annotation.task_state(asked.task).await?;
    Ok(Json(app.annotation.adjudication_queue(&desk).await?))
}

pub(in crate::http) async fn get_item_history(
    ApiRequest(app, _, asked): ApiRequest<GetItemHistoryRequest>,
) -> JsonResult<ItemHistoryResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    let row = desk.task_row();
    let number = asked.item;
    let item = desk.item(number)?.clone();
    let listed = app.store.study_entry_by_name(&row.task.study).await?;
    ensure_study_is_unchanged(&desk, &listed)?;
    let annotators = names(&app, asked.task).await?;
    let told = app.studies.compute(&listed, move |study| {
        ensure_loaded_study_is_unchanged(&row, study)?;
        let all = ItemDisplayOptions {
            highlights_terms: true,
            shows_rankers: true,
        };
        let content =
            AnnotationItemContent::load(study, item.instance, all, &row.task.filter.controls)?;
        let log = desk.clone_event_log();
        let about = |what: &AnnotationEventAction| match what {
            AnnotationEventAction::Undone { of } => log
                .entry_by_key(*of)
                .and_then(|it| it.event.action.item_no()),
            _ => what.item_no(),
        };
        let entries = log.entries().into_iter();
        let entries = entries.filter(|it| about(&it.event.action) == Some(number));
        let done = entries.map(|it| EventWithStatus {
            entry: it.clone(),
            status: log.current_event_status(it),
        });
        Ok(ItemHistoryResponse {
            content,
            answers: ItemAnswers::from_log(&log, number),
            events: done.collect(),
            item,
            annotators,
        })
    });
    Ok(Json(told.await?))
}

pub(in crate::http) async fn export_task(
    ApiRequest(app, _, asked): ApiRequest<ExportTaskRequest>,
) -> Result<impl IntoResponse + use<>, Error> {
    let desk = app.annotation.task_state(asked.task).await?;
    let rows = app.store.annotation_task_items(asked.task).await?;
    let people = match asked.include_names {
        true => app.store.annotator_names_of_task(asked.task).await?,
        false => BTreeMap::new(),
    };
    let (kind, ending) = match asked.format {
        TaskExportFormat::Jsonl => ("application/jsonl; charset=utf-8", "jsonl"),
        TaskExportFormat::Csv => ("text/csv; charset=utf-8", "csv"),
        TaskExportFormat::Prefs { .. } => ("text/plain; charset=utf-8", "prefs.txt"),
    };
    let name = format!(
        "attachment; filename=\"annotation-task-{}{}.{ending}\"",
        asked.task.0,
        match desk.task_row().task.is_simulated() {
            true => "-simulated",
            false => "",
        }
    );
    let slot = app.limits.computations.acquire().await;
    let file = slot.run("exporting a task", move || {
        let (row, log) = (desk.task_row(), desk.clone_event_log());
        let (items, named): (Vec<_>, Vec<_>) = rows.into_iter().map(|it| (it.item, it.ids)).unzip();
        let source = AnnotationExportInput {
            title: &row.task.title,
            items: &items,
            ids: &named,
            people: &people,
            log: &log,
            is_simulated: row.task.is_simulated(),
        };
        Ok(match asked.format {
            TaskExportFormat::Jsonl => {
                export::export_rows_to_jsonl(&export::build_exported_event_rows(&source))
            }
            TaskExportFormat::Csv => table_to_csv(&export::export_rows_to_table(
                &source,
                &export::build_exported_event_rows(&source),
            )),
            TaskExportFormat::Prefs { preferences: whose } => {
                export::annotations_to_trec_prefs(&source, whose)
            }
        })
    });
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, file.await?))
}

/// Draws the items of a new task from its study.
async fn drawn(
    app: &AppState,
    caller: &Caller,
    task: AnnotationTaskDefinition,
) -> Result<NewAnnotationTask, Error> {
    let task = task.normalize_and_validate()?;
    if task.is_simulated() {
        let reason = "only the task of the demo has simulated annotators; remove this field";
        return Err(InputError::unsupported_value("simulation", reason).into());
    }
    let listed = find_study(app, caller, &task.study).await?;
    let drawn = app
        .studies
        .compute(&listed, move |study| new_task_from_study(study, task));
    drawn.await
}

fn whole(caller: &Caller, desk: &InMemoryTaskState) -> TaskDefinitionResponse {
    let row = desk.task_row();
    TaskDefinitionResponse {
        summary: desk.task_summary(caller.person_no()),
        definition: row.task.clone(),
        composition: made(&row.task, desk.items(), row.n_candidates),
    }
}

fn made(
    task: &AnnotationTaskDefinition,
    items: &[AnnotationItem],
    n_candidates: u64,
) -> TaskComposition {
    let drawn = |it: &&AnnotationItem| matches!(it.role, AnnotationItemRole::Sampled { .. });
    let count =
        |is: &dyn Fn(&AnnotationItem) -> bool| items.iter().filter(|it| is(it)).count() as u32;
    let queries: BTreeSet<u32> = items.iter().filter(drawn).map(|it| it.query).collect();
    let of_probes = task.probes.iter().map(|&probe| {
        let n = count(&|it| drawn(&it) && it.instance.probe == probe);
        (probe, n)
    });
    TaskComposition {
        n_candidates,
        n_training_items: count(&|it| matches!(it.role, AnnotationItemRole::Training { .. })),
        n_gold_items: count(&|it| matches!(it.role, AnnotationItemRole::Gold { .. })),
        n_sampled_items: count(&|it| drawn(&it)),
        probes: of_probes.collect(),
        n_queries: queries.len() as u32,
    }
}

/// Returns the names of all people who sent an event of a task.
async fn names(app: &AppState, task: TaskId) -> Result<Vec<PersonIdWithName>, Error> {
    let desk = app.annotation.task_state(task).await?;
    let is_simulated = desk.task_row().task.is_simulated();
    let people = app.store.annotator_names_of_task(task).await?.into_iter();
    Ok(people
        .map(|(person, name)| PersonIdWithName {
            person,
            name,
            is_simulated,
        })
        .collect())
}
