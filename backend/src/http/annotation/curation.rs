//! The annotation endpoints for curators: creating tasks, progress, agreement and adjudication.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::http::header;
use axum::response::IntoResponse;
use shared::annotation::content::{ContentOptions, ItemContent};
use shared::annotation::event::AnnotationAction;
use shared::annotation::export::{self, ExportSource};
use shared::annotation::judgments::Dispute;
use shared::annotation::task::ItemRole;
use shared::annotation::{AnnotationItem, AnnotationTask, ItemAnswers, sample};
use shared::api::annotation::{
    AgreementResponse, CreateTaskRequest, EventRecord, ExportTaskRequest, GetAgreementRequest,
    GetItemHistoryRequest, GetTaskDefinitionRequest, GetTaskProgressRequest, ItemHistoryResponse,
    ListDisputesRequest, PersonName, PreviewTaskRequest, TaskComposition, TaskDefinitionResponse,
    TaskExportFormat, TaskId, TaskProgressResponse, UpdateTaskRequest,
};
use shared::report::to_csv;
use shared::study::Study;

use crate::annotation::task_state::TaskState;
use crate::annotation::{check_current, check_texts, now_ms};
use crate::error::{Error, run_blocking};
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::studies::find_study;
use crate::store::annotation_tasks::{ItemRow, NewTask};
use crate::store::studies::state_hash;

pub(in crate::http) async fn preview_task(
    ApiRequest {
        app,
        caller,
        request: asked,
    }: ApiRequest<PreviewTaskRequest>,
) -> JsonResult<TaskComposition> {
    let new = drawn(&app, &caller, asked.task).await?;
    let items: Vec<AnnotationItem> = new.items.into_iter().map(|it| it.item).collect();
    Ok(Json(made(&new.task, &items, new.n_candidates)))
}

pub(in crate::http) async fn create_task(
    ApiRequest {
        app,
        caller,
        request: asked,
    }: ApiRequest<CreateTaskRequest>,
) -> JsonResult<TaskDefinitionResponse> {
    let new = drawn(&app, &caller, asked.task).await?;
    let desk = app.annotation.create(&new).await?;
    Ok(Json(whole(&caller, &desk)))
}

pub(in crate::http) async fn get_task_definition(
    ApiRequest {
        app,
        caller,
        request: asked,
    }: ApiRequest<GetTaskDefinitionRequest>,
) -> JsonResult<TaskDefinitionResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    Ok(Json(whole(&caller, &desk)))
}

pub(in crate::http) async fn update_task(
    ApiRequest {
        app,
        caller,
        request: asked,
    }: ApiRequest<UpdateTaskRequest>,
) -> JsonResult<TaskDefinitionResponse> {
    let desk = app.annotation.update(asked).await?;
    Ok(Json(whole(&caller, &desk)))
}

pub(in crate::http) async fn get_task_progress(
    ApiRequest {
        app,
        request: asked,
        ..
    }: ApiRequest<GetTaskProgressRequest>,
) -> JsonResult<TaskProgressResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    let _place = app.limits.computation().await;
    Ok(Json(TaskProgressResponse {
        progress: app.annotation.progress(&desk).await?,
        annotators: names(&app, asked.task).await?,
    }))
}

pub(in crate::http) async fn get_agreement(
    ApiRequest {
        app,
        request: asked,
        ..
    }: ApiRequest<GetAgreementRequest>,
) -> JsonResult<AgreementResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    let _place = app.limits.computation().await;
    let agreements = app.annotation.agreements(&desk).await?;
    Ok(Json(AgreementResponse {
        agreement: (*agreements).clone(),
        names: names(&app, asked.task).await?,
    }))
}

pub(in crate::http) async fn list_disputes(
    ApiRequest {
        app,
        request: asked,
        ..
    }: ApiRequest<ListDisputesRequest>,
) -> JsonResult<Vec<Dispute>> {
    let desk = app.annotation.task_state(asked.task).await?;
    let _place = app.limits.computation().await;
    Ok(Json(app.annotation.disputes(&desk).await?))
}

pub(in crate::http) async fn get_item_history(
    ApiRequest {
        app,
        request: asked,
        ..
    }: ApiRequest<GetItemHistoryRequest>,
) -> JsonResult<ItemHistoryResponse> {
    let desk = app.annotation.task_state(asked.task).await?;
    let row = desk.row();
    let number = asked.item;
    let item = desk.item(number)?.clone();
    let listed = app.store.study(&row.task.study).await?;
    check_current(&desk, &listed)?;
    let names = names(&app, asked.task).await?;
    let told = app.studies.compute(&listed, move |study| {
        check_texts(&row, study)?;
        let all = ContentOptions {
            highlights_terms: true,
            shows_rankers: true,
        };
        let content = ItemContent::load(study, item.instance, all, &row.task.filter.controls)?;
        let log = desk.log();
        let about = |what: &AnnotationAction| match what {
            AnnotationAction::Undone { of } => log.entry(*of).and_then(|it| it.event.action.item()),
            _ => what.item(),
        };
        let entries = log.entries().into_iter();
        let entries = entries.filter(|it| about(&it.event.action) == Some(number));
        let done = entries.map(|it| EventRecord {
            entry: it.clone(),
            status: log.status(it),
        });
        Ok(ItemHistoryResponse {
            content,
            answers: ItemAnswers::from_log(&log, number),
            events: done.collect(),
            item,
            names,
        })
    });
    Ok(Json(told.await?))
}

pub(in crate::http) async fn export_task(
    ApiRequest {
        app,
        request: asked,
        ..
    }: ApiRequest<ExportTaskRequest>,
) -> Result<impl IntoResponse + use<>, Error> {
    let desk = app.annotation.task_state(asked.task).await?;
    let rows = app.store.review_items(asked.task).await?;
    let people = match asked.include_names {
        true => app.store.review_people(asked.task).await?,
        false => BTreeMap::new(),
    };
    let (kind, ending) = match asked.format {
        TaskExportFormat::Jsonl => ("application/jsonl; charset=utf-8", "jsonl"),
        TaskExportFormat::Csv => ("text/csv; charset=utf-8", "csv"),
        TaskExportFormat::Prefs { .. } => ("text/plain; charset=utf-8", "prefs.txt"),
    };
    let name = format!("attachment; filename=\"review-{}.{ending}\"", asked.task.0);
    let _place = app.limits.computation().await;
    let file = run_blocking("writing what people say", move || {
        let (row, log) = (desk.row(), desk.log());
        let (items, named): (Vec<_>, Vec<_>) = rows.into_iter().map(|it| (it.item, it.ids)).unzip();
        let source = ExportSource {
            title: &row.task.title,
            items: &items,
            ids: &named,
            people: &people,
            log: &log,
        };
        Ok(match asked.format {
            TaskExportFormat::Jsonl => export::to_jsonl(&export::export_rows(&source)),
            TaskExportFormat::Csv => {
                to_csv(&export::to_table(&source, &export::export_rows(&source)))
            }
            TaskExportFormat::Prefs { preferences: whose } => export::to_trec_prefs(&source, whose),
        })
    });
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, file.await?))
}

/// Draws the items of a new task from its study.
async fn drawn(app: &AppState, caller: &Caller, task: AnnotationTask) -> Result<NewTask, Error> {
    let task = task.validated()?;
    let listed = find_study(app, caller, &task.study).await?;
    let _place = app.limits.computation().await;
    let drawn = app.studies.compute(&listed, move |study| {
        let drawn = sample::sample_items(study, &task)?;
        let with_ids = drawn.items.into_iter().map(|item| ItemRow {
            ids: named(study, &item),
            item,
        });
        Ok(NewTask {
            study_hash: state_hash(study),
            made_ms: now_ms(),
            n_candidates: drawn.n_candidates,
            items: with_ids.collect(),
            task,
        })
    });
    drawn.await
}

fn named(study: &Study, item: &AnnotationItem) -> export::ItemIds {
    let place = item.instance;
    let texts = study
        .instances_of(place.probe, place.variant)
        .map(|it| it.claim(place.index as usize));
    let texts = texts.iter().flat_map(|it| it.docs().to_vec());
    export::ItemIds {
        query: study.queries[item.query as usize].id.clone(),
        documents: texts.map(|it| study.study_doc_id(it)).collect(),
    }
}

fn whole(caller: &Caller, desk: &TaskState) -> TaskDefinitionResponse {
    let row = desk.row();
    TaskDefinitionResponse {
        card: desk.card(caller.person_no()),
        definition: row.task.clone(),
        composition: made(&row.task, desk.items(), row.n_candidates),
    }
}

fn made(task: &AnnotationTask, items: &[AnnotationItem], n_candidates: u64) -> TaskComposition {
    let drawn = |it: &&AnnotationItem| matches!(it.role, ItemRole::Sampled { .. });
    let count =
        |is: &dyn Fn(&AnnotationItem) -> bool| items.iter().filter(|it| is(it)).count() as u32;
    let queries: BTreeSet<u32> = items.iter().filter(drawn).map(|it| it.query).collect();
    let of_probes = task.probes.iter().map(|&probe| {
        let n = count(&|it| drawn(&it) && it.instance.probe == probe);
        (probe, n)
    });
    TaskComposition {
        n_candidates,
        n_training_items: count(&|it| matches!(it.role, ItemRole::Training { .. })),
        n_gold_items: count(&|it| matches!(it.role, ItemRole::Gold { .. })),
        n_sampled_items: count(&|it| drawn(&it)),
        probes: of_probes.collect(),
        n_queries: queries.len() as u32,
    }
}

/// Returns the names of all people who sent an event of a task.
async fn names(app: &AppState, task: TaskId) -> Result<Vec<PersonName>, Error> {
    let people = app.store.review_people(task).await?.into_iter();
    Ok(people
        .map(|(person, name)| PersonName { person, name })
        .collect())
}
