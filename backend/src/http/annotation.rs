//! The annotation endpoints for annotators: tasks, items and events, and the published results.
//!
//! No reply reveals the answers of another person, the role of an item (training items excepted),
//! or its inclusion probability.

pub(super) mod curation;

use std::sync::Arc;

use axum::Json;
use shared::annotation::assignment::{AssignmentPhase, ItemAssignment};
use shared::annotation::content::AnnotationItemContent;
use shared::annotation::event::RequiredRole;
use shared::annotation::task::StudyInstanceRef;
use shared::annotation::trial::{AnnotationTrialItem, draw_simulated_task_items};
use shared::annotation::{DocumentDisplayOrder, ItemNo};
use shared::api::annotation::{
    AnnotationTaskResults, AnnotationTaskStatus, AnnotationTaskSummary, AssignedItem,
    EventKeyWithOutcome, EventWithStatus, GetAssignedItemRequest, GetTaskRequest,
    GetTaskTrialItemsRequest, InstanceAnnotations, LeaseItemsRequest, LeaseItemsResponse,
    ListInstanceAnnotationsRequest, ListOwnEventsRequest, ListStudyHumanJudgmentsRequest,
    ListTasksRequest, MAX_EVENTS_PER_REQUEST, MAX_ITEMS_PER_REQUEST, SubmitEventsRequest,
    SubmitEventsResponse, TaskId, TaskResponse,
};
use shared::api::people::AccessRole;
use shared::error::{Error as InputError, InvalidFieldReason};

use crate::annotation::task_state::InMemoryTaskState;
use crate::annotation::{
    EventAuthor, ensure_items_can_be_assigned, ensure_loaded_study_is_unchanged,
    ensure_study_is_unchanged,
};
use crate::error::Error;
use crate::http::AppState;
use crate::http::access::Caller;
use crate::http::api_request::{ApiRequest, JsonResult};
use crate::http::markdown::parse_untrusted_markdown;
use crate::http::studies::find_study;
use crate::pipeline::ReviewedInstances;
use crate::store::annotation_tasks::task_not_found_error;
use crate::store::studies::StudyListEntry;

pub(super) async fn list_tasks(
    ApiRequest(app, caller, _): ApiRequest<ListTasksRequest>,
) -> JsonResult<Vec<AnnotationTaskSummary>> {
    let mut desks = app.annotation.all_tasks().await?;
    match caller.has_role(AccessRole::Annotator) {
        true => desks.retain(|it| may_see(&caller, it)),
        false => {
            let mut open_to_all = Vec::new();
            for desk in desks {
                if study_of_trial(&app, &caller, &desk).await.is_ok() {
                    open_to_all.push(desk);
                }
            }
            desks = open_to_all;
        }
    }
    let person = caller.person_no();
    Ok(Json(
        desks.iter().map(|it| it.task_summary(person)).collect(),
    ))
}

pub(super) async fn get_task(
    ApiRequest(app, caller, asked): ApiRequest<GetTaskRequest>,
) -> JsonResult<TaskResponse> {
    let person = Some(caller.require_person()?.id);
    let desk = seen(&app, &caller, asked.task).await?;
    let task = &desk.task_row().task;
    Ok(Json(TaskResponse {
        summary: desk.task_summary(person),
        guidelines: task.guidelines.clone(),
        parsed_guidelines: parse_untrusted_markdown(&task.guidelines),
        tags: task.tags.clone(),
        is_blind: task.is_blind,
        n_items: desk.items().len() as u32,
        n_training: desk.n_training_items_left(person),
    }))
}

pub(super) async fn lease_items(
    ApiRequest(app, caller, asked): ApiRequest<LeaseItemsRequest>,
) -> JsonResult<LeaseItemsResponse> {
    let person = caller.require_person()?.id;
    let (value, range) = (asked.n_items, 1..=MAX_ITEMS_PER_REQUEST);
    if !range.contains(&value) {
        return Err(InvalidFieldReason::IntegerOutOfRange { value, range }
            .into_error_for_field("n_items")
            .into());
    }
    let desk = seen(&app, &caller, asked.task).await?;
    let listed = app
        .store
        .study_entry_by_name(&desk.task_row().task.study)
        .await?;
    ensure_items_can_be_assigned(&desk, &listed)?;
    let promised = app
        .annotation
        .lease_next_items(&desk, person, asked.n_items as usize)
        .await?;
    let numbers: Vec<ItemNo> = promised.assignments.iter().map(|it| it.item).collect();
    let words = words(&app, &listed, &desk, &numbers).await?;
    let offers = promised.assignments.into_iter().zip(promised.leases);
    let items = offers
        .zip(words)
        .map(|((offer, lease), words)| AssignedItem {
            feedback: desk.items()[offer.item.0 as usize].training_feedback(),
            assignment: offer,
            content: (*words).clone(),
            lease_expires_ms: Some(lease.expires_ms),
        });
    Ok(Json(LeaseItemsResponse {
        items: items.collect(),
        n_leased_to_others: promised.n_leased,
        progress: promised.standing,
    }))
}

pub(super) async fn get_assigned_item(
    ApiRequest(app, caller, asked): ApiRequest<GetAssignedItemRequest>,
) -> JsonResult<AssignedItem> {
    let person = caller.require_person()?.id;
    let desk = seen(&app, &caller, asked.task).await?;
    let number = asked.item;
    let finished = desk.has_person_finished_item(person, number);
    let until_ms = desk.item_lease_expiry_ms(person, number);
    if !finished && until_ms.is_none() && !caller.has_role(AccessRole::Curator) {
        return Err(InputError::name_not_found("item of this task that is yours", number.0).into());
    }
    let item = desk.item(number)?;
    let row = desk.task_row();
    let listed = app.store.study_entry_by_name(&row.task.study).await?;
    ensure_study_is_unchanged(&desk, &listed)?;
    let mut words = words(&app, &listed, &desk, &[number]).await?;
    let words = words.pop().expect("one was asked for");
    let feedback = item.training_feedback();
    Ok(Json(AssignedItem {
        assignment: ItemAssignment {
            item: number,
            display_order: DocumentDisplayOrder::for_person(
                row.task.seed,
                person,
                number,
                item.instance.claim_kind(),
            ),
            phase: match feedback {
                Some(_) => AssignmentPhase::Training,
                None => AssignmentPhase::Main,
            },
        },
        content: (*words).clone(),
        lease_expires_ms: until_ms.filter(|_| !finished),
        feedback,
    }))
}

pub(super) async fn list_own_events(
    ApiRequest(app, caller, asked): ApiRequest<ListOwnEventsRequest>,
) -> JsonResult<Vec<EventWithStatus>> {
    let person = caller.require_person()?.id;
    let desk = seen(&app, &caller, asked.task).await?;
    Ok(Json(desk.newest_events_of_person(person)))
}

pub(super) async fn submit_events(
    ApiRequest(app, caller, asked): ApiRequest<SubmitEventsRequest>,
) -> JsonResult<SubmitEventsResponse> {
    let person = caller.require_person()?.id;
    let n_events = asked.events.len();
    if n_events == 0 {
        return Err(InputError::missing_field("events", "send at least one").into());
    }
    if n_events > MAX_EVENTS_PER_REQUEST {
        return Err(Error::TooLarge {
            what: "events",
            found: n_events as u64,
            most: MAX_EVENTS_PER_REQUEST as u64,
        });
    }
    let desk = seen(&app, &caller, asked.task).await?;
    if desk.task_row().state == AnnotationTaskStatus::Draft {
        let reason = "this task is a draft; open it before anybody decides".to_owned();
        return Err(Error::Conflict { reason });
    }
    let sender = EventAuthor {
        person,
        role: match caller.has_role(AccessRole::Curator) {
            true => RequiredRole::Curator,
            false => RequiredRole::Annotator,
        },
    };
    let keys: Vec<_> = asked.events.iter().map(|it| it.key).collect();
    let outcomes = app
        .annotation
        .append_events(&desk, sender, asked.events)
        .await?;
    let taken = keys.into_iter().zip(outcomes);
    Ok(Json(SubmitEventsResponse {
        receipts: taken
            .map(|(key, outcome)| EventKeyWithOutcome { key, outcome })
            .collect(),
        progress: desk.progress_summary_for_person(Some(person)),
    }))
}

/// Returns the instances of a study on which annotators have decided, in tasks whose results the
/// caller may see.
pub(super) async fn reviewed_instances(
    app: &AppState,
    caller: &Caller,
    listed: &StudyListEntry,
) -> Result<ReviewedInstances, Error> {
    let mut reviewed = ReviewedInstances::new();
    for desk in tasks_with_visible_results(app, caller, &listed.name).await? {
        // The items of a task are of the instances that the study had when the task was made.
        if desk.task_row().study_hash == listed.instances_and_collection_hash() {
            for it in desk.reviewed_instances() {
                let numbers = reviewed.entry((it.probe, it.variant)).or_default();
                let list = match desk.task_row().task.is_simulated() {
                    true => &mut numbers.by_simulated_annotators,
                    false => &mut numbers.by_people,
                };
                list.push(it.index);
            }
        }
    }
    Ok(reviewed)
}

async fn tasks_with_visible_results(
    app: &AppState,
    caller: &Caller,
    study: &str,
) -> Result<Vec<Arc<InMemoryTaskState>>, Error> {
    let mut desks = app.annotation.all_tasks().await?;
    desks.retain(|it| {
        let row = it.task_row();
        let told = row.results_public || caller.has_role(AccessRole::Curator);
        row.task.study == study && row.state != AnnotationTaskStatus::Draft && told
    });
    Ok(desks)
}

/// Returns items of a task with simulated annotators, for a trial. No person has answered them, so
/// that the answers tell nothing about anybody.
pub(super) async fn get_task_trial_items(
    ApiRequest(app, caller, asked): ApiRequest<GetTaskTrialItemsRequest>,
) -> JsonResult<Vec<AnnotationTrialItem>> {
    let desk = app.annotation.task_state(asked.task).await?;
    let listed = study_of_trial(&app, &caller, &desk).await?;
    let reply = app.studies.compute(&listed, move |study| {
        let (row, log) = (desk.task_row(), desk.clone_event_log());
        ensure_loaded_study_is_unchanged(&row, study)?;
        let items = desk.items();
        Ok(draw_simulated_task_items(
            study, &row.task, items, &log, asked.seed,
        )?)
    });
    Ok(Json(reply.await?))
}

/// Returns the study of a task whose items anybody may try: one with simulated annotators and
/// public results, of a study that the caller may see and that has not changed since. Any other
/// task is unknown to the caller.
async fn study_of_trial(
    app: &AppState,
    caller: &Caller,
    desk: &InMemoryTaskState,
) -> Result<StudyListEntry, Error> {
    let row = desk.task_row();
    let is_open_to_all = row.task.is_simulated() && row.results_public;
    if !is_open_to_all {
        return Err(task_not_found_error(row.no));
    }
    let listed = find_study(app, caller, &row.task.study).await;
    let listed = listed.map_err(|_| task_not_found_error(row.no))?;
    ensure_study_is_unchanged(desk, &listed)?;
    Ok(listed)
}

/// Lists the items of an instance, in the tasks whose results the caller may see.
pub(super) async fn list_instance_annotations(
    ApiRequest(app, caller, asked): ApiRequest<ListInstanceAnnotationsRequest>,
) -> JsonResult<Vec<InstanceAnnotations>> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    let mut desks = tasks_with_visible_results(&app, &caller, &asked.study).await?;
    desks.retain(|it| ensure_study_is_unchanged(it, &listed).is_ok());
    if desks.is_empty() {
        return Ok(Json(Vec::new()));
    }
    let reply = app.studies.compute(&listed, move |study| {
        let variant = asked.variant.unwrap_or(study.definition.variants[0]);
        let instance = StudyInstanceRef {
            probe: asked.probe,
            // A probe that has no variants has its own.
            variant: study.instances_of_probe(asked.probe, variant)?.variant,
            index: asked.number,
        };
        let found = desks.iter().filter_map(|desk| {
            let item = desk.item_of_instance(instance)?;
            let (row, answers) = (desk.task_row(), desk.item_answers(item));
            Some(InstanceAnnotations {
                task: row.no,
                title: row.task.title.clone(),
                item,
                is_simulated: row.task.is_simulated(),
                n_votes: answers.votes.len() as u32,
                claim: instance.claim_kind(),
                consensus: answers.adjudicated_or_majority_preference(),
            })
        });
        Ok(found.collect())
    });
    Ok(Json(reply.await?))
}

pub(super) async fn list_human_judgments(
    ApiRequest(app, caller, asked): ApiRequest<ListStudyHumanJudgmentsRequest>,
) -> JsonResult<Vec<AnnotationTaskResults>> {
    let listed = find_study(&app, &caller, &asked.study).await?;
    let desks = tasks_with_visible_results(&app, &caller, &asked.study).await?;
    let mut results = Vec::new();
    for desk in desks {
        let study = app.studies.study(&listed);
        results.push(app.annotation.task_results(&desk, &listed, study).await?);
    }
    Ok(Json(results))
}

/// Returns a task. If the caller may not see it, the error is that of an unknown task.
async fn seen(
    app: &AppState,
    caller: &Caller,
    task: TaskId,
) -> Result<Arc<InMemoryTaskState>, Error> {
    let desk = app.annotation.task_state(task).await?;
    match may_see(caller, &desk) {
        true => Ok(desk),
        false => Err(task_not_found_error(task)),
    }
}

fn may_see(caller: &Caller, desk: &InMemoryTaskState) -> bool {
    match desk.task_row().state {
        AnnotationTaskStatus::Draft => caller.has_role(AccessRole::Curator),
        AnnotationTaskStatus::Open | AnnotationTaskStatus::Closed => {
            caller.has_role(AccessRole::Annotator)
        }
    }
}

/// Returns the contents of items. Contents that are not cached are loaded from the study.
async fn words(
    app: &AppState,
    listed: &StudyListEntry,
    desk: &Arc<InMemoryTaskState>,
    items: &[ItemNo],
) -> Result<Vec<Arc<AnnotationItemContent>>, Error> {
    let revision = listed.revision;
    let mut found: Vec<_> = items
        .iter()
        .map(|it| desk.cached_item_content(revision, *it))
        .collect();
    let unknown = items.iter().zip(&found).filter(|it| it.1.is_none());
    let unknown: Vec<ItemNo> = unknown.map(|it| *it.0).collect();
    if !unknown.is_empty() {
        let asked = desk.clone();
        let made = app.studies.compute(listed, move |study| {
            let row = asked.task_row();
            ensure_loaded_study_is_unchanged(&row, study)?;
            let dials = &row.task.filter.controls;
            let content = |number: ItemNo| {
                let place = asked.item(number)?.instance;
                let made = AnnotationItemContent::load(
                    study,
                    place,
                    row.task.item_display_options(),
                    dials,
                )?;
                Ok::<_, Error>((number, Arc::new(made)))
            };
            unknown
                .into_iter()
                .map(content)
                .collect::<Result<Vec<_>, _>>()
        });
        let made = made.await?;
        let mut fresh = made.iter();
        for missing in found.iter_mut().filter(|it| it.is_none()) {
            *missing = fresh.next().map(|it| it.1.clone());
        }
        desk.cache_item_contents(revision, made);
    }
    Ok(found.into_iter().flatten().collect())
}
