//! Annotation through the handlers: who sees which parts of a task.

use axum::Json;
use shared::annotation::event::{AnnotationEventAction, ItemAdjudication};
use shared::annotation::export::ExportedPreferenceSource;
use shared::annotation::task::AnnotationItemRole;
use shared::annotation::{AnnotatorAnswer, ItemNo, PersonId};
use shared::api::ListInstancesRequest;
use shared::api::annotation::{
    AnnotationTaskResults, AnnotationTaskStatus, AssignedItem, CreateTaskRequest, EventOutcome,
    ExportTaskRequest, GetAgreementRequest, GetAssignedItemRequest, GetItemHistoryRequest,
    GetTaskDefinitionRequest, GetTaskProgressRequest, GetTaskRequest, GetTrialItemsRequest,
    ItemHistoryResponse, LeaseItemsRequest, LeaseItemsResponse, ListDisputesRequest,
    ListStudyHumanJudgmentsRequest, ListTasksRequest, PreviewTaskRequest, SubmitEventsRequest,
    SubmitEventsResponse, TaskExportFormat, TaskId, UpdateTaskRequest,
};
use shared::api::people::{AccessRole, Person};

use super::*;
use crate::annotation::task_state::InMemoryTaskState;
use crate::annotation::tests::{decided, event, join, study as rivers, task as wanted};
use crate::http::access::Caller;
use crate::http::annotation::{self, curation};
use crate::http::api_request::ApiRequest;
use crate::http::studies;

/// Returns a caller with a session, with the person of a number.
fn caller(no: u32, role: AccessRole) -> Caller {
    let person = (no > 0).then(|| Person {
        id: PersonId(no),
        name: format!("Person {no}"),
        has_password: false,
    });
    let mut caller = Caller::anonymous(role, [0; 4].into());
    caller.person = person;
    caller
}

pub(super) fn ann() -> Caller {
    caller(1, AccessRole::Annotator)
}

fn bob() -> Caller {
    caller(2, AccessRole::Annotator)
}

pub(super) fn cat() -> Caller {
    caller(3, AccessRole::Curator)
}

pub(super) fn visitor() -> Caller {
    caller(0, AccessRole::Visitor)
}

pub(super) fn call<E>(site: &Site, caller: Caller, asked: E) -> ApiRequest<E> {
    ApiRequest(site.app.clone(), caller, asked)
}

/// A server with an open task of a published study.
pub(super) struct Table {
    pub(super) site: Site,
    pub(super) task: TaskId,
}

impl Table {
    pub(super) async fn new() -> Table {
        let site = Site::new(ListenScope::Network).await;
        site.store_study(&rivers("rivers")).await;
        let store = &site.app.store;
        let published = StudyVisibility::Published;
        store
            .set_study_visibility("rivers", published)
            .await
            .unwrap();
        join(store).await;
        let asked = CreateTaskRequest {
            task: wanted("rivers"),
        };
        let made = curation::create_task(call(&site, cat(), asked)).await;
        let task = made.unwrap().0.summary.task;
        let table = Table { site, task };
        table.change(Some(AnnotationTaskStatus::Open), None).await;
        table
    }

    fn call<E>(&self, caller: Caller, asked: E) -> ApiRequest<E> {
        call(&self.site, caller, asked)
    }

    async fn change(&self, state: Option<AnnotationTaskStatus>, results_public: Option<bool>) {
        let asked = UpdateTaskRequest {
            task: self.task,
            status: state,
            are_results_public: results_public,
            guidelines: None,
        };
        let changed = curation::update_task(self.call(cat(), asked)).await;
        assert_eq!(changed.unwrap().0.summary.task, self.task);
    }

    async fn next(&self, caller: Caller, n: u32) -> Result<LeaseItemsResponse, Error> {
        let asked = LeaseItemsRequest {
            task: self.task,
            n_items: n,
        };
        let handed = annotation::lease_items(self.call(caller, asked)).await;
        handed.map(|it| it.0)
    }

    async fn again(&self, caller: Caller, item: ItemNo) -> Result<AssignedItem, Error> {
        let asked = GetAssignedItemRequest {
            task: self.task,
            item,
        };
        let again = annotation::get_assigned_item(self.call(caller, asked)).await;
        again.map(|it| it.0)
    }

    async fn send(
        &self,
        caller: Caller,
        what: &[(u64, AnnotationEventAction)],
    ) -> Result<SubmitEventsResponse, Error> {
        let events = what
            .iter()
            .map(|(number, what)| event(*number, what.clone()));
        let asked = SubmitEventsRequest {
            task: self.task,
            events: events.collect(),
        };
        let sent = annotation::submit_events(self.call(caller, asked)).await;
        sent.map(|it| it.0)
    }

    async fn results(&self, caller: Caller) -> Result<Vec<AnnotationTaskResults>, Error> {
        let study = "rivers".to_owned();
        let results = annotation::list_human_judgments(
            self.call(caller, ListStudyHumanJudgmentsRequest { study }),
        )
        .await;
        results.map(|it| it.0)
    }

    async fn task_state(&self) -> Arc<InMemoryTaskState> {
        let state = self.site.app.annotation.task_state(self.task).await;
        state.unwrap()
    }

    /// Returns the number of reviewed instances that a list of instances of the item names, and the
    /// numbers of those that it lists alone.
    async fn reviewed(&self, caller: Caller, item: ItemNo) -> (u64, Vec<u64>) {
        let desk = self.task_state().await;
        let instance = desk.item(item).unwrap().instance;
        let filter = format!(
            "{{\"probe\": \"{}\", \"ranker\": \"0\", \"review_status\": \"reviewed\"}}",
            instance.probe.slug()
        );
        let asked = ListInstancesRequest {
            study: "rivers".to_owned(),
            filter: serde_json::from_str(&filter).unwrap(),
        };
        let page = studies::list_instances(self.call(caller, asked)).await;
        let page = page.unwrap().0;
        assert_eq!(page.n_instances, page.rows.len() as u64);
        (
            page.n_reviewed,
            page.rows.iter().map(|it| it.number).collect(),
        )
    }

    async fn file(&self, format: TaskExportFormat) -> (String, String) {
        let asked = ExportTaskRequest {
            task: self.task,
            format,
            include_names: true,
        };
        let file = curation::export_task(self.call(cat(), asked))
            .await
            .unwrap();
        let response = axum::response::IntoResponse::into_response(file);
        let named = response.headers()["content-disposition"].clone();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        (named.to_str().unwrap().to_owned(), body)
    }
}

pub(super) fn status(error: Error) -> (u16, String) {
    let words = error.public_message();
    let response = axum::response::IntoResponse::into_response(error);
    (response.status().as_u16(), words)
}

#[tokio::test]
async fn a_task_is_the_same_in_memory_and_database_if_a_curator_disconnects() {
    let table = Table::new().await;
    let store = &table.site.app.store;
    let asked = UpdateTaskRequest {
        task: table.task,
        status: None,
        are_results_public: Some(true),
        guidelines: None,
    };
    let update = curation::update_task(table.call(cat(), asked));
    let is_stored = async || {
        let row = store.annotation_task(table.task).await;
        row.unwrap().results_public
    };
    drop_once(is_stored, update).await;
    let is_changed = async {
        while !table.task_state().await.task_row().results_public {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let is_changed = tokio::time::timeout(Duration::from_secs(10), is_changed).await;
    is_changed.expect("the task in memory is that of the database");
}

#[tokio::test]
async fn leases_are_stored_even_if_an_annotator_disconnects() {
    let table = Table::new().await;
    let store = &table.site.app.store;
    let desk = table.task_state().await;
    let person = ann().person_no().unwrap();
    let is_leased = async || desk.item_lease_expiry_ms(person, ItemNo(0)).is_some();
    drop_once(is_leased, table.next(ann(), 1)).await;
    let is_stored = async {
        while store
            .annotation_leases_including_expired(table.task)
            .await
            .unwrap()
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let is_stored = tokio::time::timeout(Duration::from_secs(10), is_stored).await;
    is_stored.expect("the lease is in the database");
}

#[tokio::test]
async fn a_task_is_made_decided_on_settled_and_downloaded() {
    let table = Table::new().await;
    let asked = PreviewTaskRequest {
        task: wanted("rivers"),
    };
    let Json(preview) = curation::preview_task(table.call(cat(), asked))
        .await
        .unwrap();
    let asked = GetTaskDefinitionRequest { task: table.task };
    let Json(whole) = curation::get_task_definition(table.call(cat(), asked))
        .await
        .unwrap();
    assert_eq!(whole.composition, preview);
    assert_eq!((preview.n_training_items, preview.n_gold_items), (1, 1));
    assert_eq!(u64::from(preview.n_sampled_items), preview.n_candidates);
    assert_eq!(preview.probes[0].1, preview.n_sampled_items);

    let handed = table.next(ann(), 8).await.unwrap();
    let (training, work) = handed.items.split_first().unwrap();
    assert!(training.feedback.is_some());
    let item = work
        .iter()
        .map(|it| it.assignment.item)
        .find(|it| it.0 > 1)
        .unwrap();
    for (who, number, answer) in [
        (ann(), 1, AnnotatorAnswer::First),
        (bob(), 2, AnnotatorAnswer::Second),
    ] {
        let sent = table.send(who, &[(number, decided(item, answer))]).await;
        let sent = sent.unwrap();
        assert_eq!(sent.receipts[0].outcome, EventOutcome::Stored);
        assert_eq!(sent.progress.n_own_decisions, 1);
    }
    let asked = ListDisputesRequest { task: table.task };
    let Json(disputes) = curation::list_disputes(table.call(cat(), asked))
        .await
        .unwrap();
    assert_eq!(disputes.len(), 1);
    assert_eq!((disputes[0].item, disputes[0].n_votes), (item, 2));
    let settled = AnnotationEventAction::Adjudicated(ItemAdjudication {
        item,
        answer: AnnotatorAnswer::First,
        note: "river".to_owned(),
        replaces: Vec::new(),
    });
    let refused = table.send(ann(), &[(3, settled.clone())]).await.unwrap();
    assert!(matches!(
        refused.receipts[0].outcome,
        EventOutcome::Rejected { .. }
    ));
    table.send(cat(), &[(3, settled)]).await.unwrap();
    let Json(disputes) = curation::list_disputes(table.call(cat(), asked))
        .await
        .unwrap();
    assert_eq!(disputes, []);

    let asked = GetItemHistoryRequest {
        task: table.task,
        item,
    };
    let Json(history) = curation::get_item_history(table.call(cat(), asked))
        .await
        .unwrap();
    assert_eq!(history.events.len(), 3);
    assert_eq!(history.content.rankers.len(), 2, "curators see rankers");
    let names: Vec<&str> = history
        .annotators
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["Ann", "Bob", "Cat"]);
    // The key of the names of annotators was `names`.
    let mut json = serde_json::to_value(&history).unwrap();
    let annotators = json.as_object_mut().unwrap().remove("annotators").unwrap();
    json["names"] = annotators;
    let read: ItemHistoryResponse = serde_json::from_value(json).unwrap();
    assert_eq!(read, history);
    let asked = GetAgreementRequest { task: table.task };
    let Json(agreed) = curation::get_agreement(table.call(cat(), asked))
        .await
        .unwrap();
    let raw = agreed.agreement.overall.observed.unwrap();
    assert_eq!((raw.estimate.value, raw.n_items), (0.0, 1));
    let asked = GetTaskProgressRequest { task: table.task };
    let Json(progressed) = curation::get_task_progress(table.call(cat(), asked))
        .await
        .unwrap();
    assert_eq!(progressed.progress.n_decisions, 2);
    assert_eq!(progressed.progress.n_adjudicated, 1);

    let (named, lines) = table.file(TaskExportFormat::Jsonl).await;
    assert_eq!(named, "attachment; filename=\"annotation-task-1.jsonl\"");
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.contains("\"name\":\"Ann\""), "{lines}");
    let (_, csv) = table.file(TaskExportFormat::Csv).await;
    assert!(csv.starts_with("key,received_ms"), "{csv}");
    let whose = ExportedPreferenceSource::Consensus;
    let (_, prefs) = table
        .file(TaskExportFormat::Prefs { preferences: whose })
        .await;
    assert!(prefs.contains(&format!("{}.people 1 ", item.0)), "{prefs}");
}

#[tokio::test]
async fn annotators_are_told_nothing_that_could_sway_them() {
    let table = Table::new().await;
    let item = ItemNo(2);
    table.next(bob(), 8).await.unwrap();
    let secret = AnnotationEventAction::Reported(shared::annotation::event::ItemProblemReport {
        item,
        note: "bob's own words".to_owned(),
    });
    let answers = [(1, decided(item, AnnotatorAnswer::Second)), (2, secret)];
    table.send(bob(), &answers).await.unwrap();

    let handed = table.next(ann(), 32).await.unwrap();
    let asked = GetTaskRequest { task: table.task };
    let Json(sheet) = annotation::get_task(table.call(ann(), asked))
        .await
        .unwrap();
    let Json(cards) = annotation::list_tasks(table.call(ann(), ListTasksRequest {}))
        .await
        .unwrap();
    let sent = table
        .send(ann(), &[(3, decided(item, AnnotatorAnswer::First))])
        .await
        .unwrap();
    let again = table.again(ann(), item).await.unwrap();
    assert_eq!(again.lease_expires_ms, None, "it was decided on");
    let asked = shared::api::annotation::ListOwnEventsRequest { task: table.task };
    let Json(mine) = annotation::list_own_events(table.call(ann(), asked))
        .await
        .unwrap();
    assert_eq!(mine.len(), 1);
    let told = serde_json::to_string(&(&handed, &sheet, &cards, &sent, &again, &mine)).unwrap();
    for word in [
        "probability",
        "gold",
        "sampled",
        "role",
        "rankers",
        "bob's own words",
        "votes",
        "\"person\":2",
        "score",
        "margin",
    ] {
        assert!(!told.contains(word), "{word}: {told}");
    }
    // Only training items come with the right answer; gold items look like all others.
    let with_answers = handed.items.iter().filter(|it| it.feedback.is_some());
    let with_answers: Vec<ItemNo> = with_answers.map(|it| it.assignment.item).collect();
    assert_eq!(with_answers, [ItemNo(0)]);
    let gold = handed
        .items
        .iter()
        .find(|it| it.assignment.item == ItemNo(1));
    let keys = |it: &AssignedItem| {
        let json = serde_json::to_value(it).unwrap();
        json.as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let desk = table.task_state().await;
    let is_gold =
        |it: ItemNo| matches!(desk.item(it).unwrap().role, AnnotationItemRole::Gold { .. });
    assert!(is_gold(ItemNo(1)));
    assert_eq!(keys(gold.unwrap()), keys(handed.items.last().unwrap()));
}

#[tokio::test]
async fn each_sees_the_tasks_that_are_for_them() {
    let table = Table::new().await;
    let asked = CreateTaskRequest {
        task: wanted("rivers"),
    };
    let made = curation::create_task(table.call(cat(), asked))
        .await
        .unwrap();
    let draft = made.0.summary.task;
    let n_listed = async |caller| {
        let listed = annotation::list_tasks(table.call(caller, ListTasksRequest {})).await;
        listed.unwrap().0.len()
    };
    assert_eq!(n_listed(visitor()).await, 0);
    assert_eq!(n_listed(ann()).await, 1);
    assert_eq!(n_listed(cat()).await, 2);
    let nobody = caller(0, AccessRole::Operator);
    assert_eq!(n_listed(nobody.clone()).await, 2);

    let look = async |caller, task| {
        annotation::get_task(table.call(caller, GetTaskRequest { task })).await
    };
    let no_such = status(look(ann(), TaskId(99)).await.unwrap_err());
    assert_eq!(no_such.0, 404);
    let hidden = status(look(ann(), draft).await.unwrap_err());
    assert_eq!(hidden.0, 404, "{hidden:?}");
    assert_eq!(hidden.1.replace('2', "99"), no_such.1);
    assert!(look(cat(), draft).await.is_ok());
    let nameless = status(look(nobody, table.task).await.unwrap_err());
    assert_eq!(nameless.0, 403);
    assert!(nameless.1.contains("/join"), "{nameless:?}");

    // An item that was neither assigned to this person nor answered by them.
    let other = status(table.again(ann(), ItemNo(2)).await.unwrap_err());
    assert_eq!(other.0, 404);
    assert!(table.again(cat(), ItemNo(2)).await.is_ok());
    table.next(ann(), 32).await.unwrap();
    assert!(
        table
            .again(ann(), ItemNo(2))
            .await
            .unwrap()
            .lease_expires_ms
            .is_some()
    );

    // A closed task accepts events that people still have, and assigns no items.
    table.change(Some(AnnotationTaskStatus::Closed), None).await;
    let closed = status(table.next(ann(), 1).await.unwrap_err());
    assert_eq!(closed.0, 409, "{closed:?}");
    let late = [(9, decided(ItemNo(2), AnnotatorAnswer::Equal))];
    let sent = table.send(ann(), &late).await.unwrap();
    assert_eq!(sent.receipts[0].outcome, EventOutcome::Stored);
    assert_eq!(sent.progress.n_available, 0);
    let asked = SubmitEventsRequest {
        task: draft,
        events: vec![event(10, decided(ItemNo(2), AnnotatorAnswer::Equal))],
    };
    let error = annotation::submit_events(table.call(cat(), asked))
        .await
        .unwrap_err();
    assert_eq!(status(error).0, 409);
}

#[tokio::test]
async fn results_are_for_everybody_once_a_curator_says_so() {
    let table = Table::new().await;
    let answers = [(1, decided(ItemNo(2), AnnotatorAnswer::First))];
    table.send(ann(), &answers).await.unwrap();
    assert_eq!(table.results(visitor()).await.unwrap(), []);
    assert_eq!(table.results(ann()).await.unwrap(), []);
    let found = table.results(cat()).await.unwrap();
    assert_eq!((found.len(), found[0].is_public), (1, false));
    assert_eq!(found[0].n_people, 1);
    let estimates = found[0].estimates.as_ref().unwrap();
    assert_eq!(estimates.overall.counts.n_preference, 1);
    // Lists of instances say no more than the results.
    let desk = table.task_state().await;
    let number = desk.item(ItemNo(2)).unwrap().instance.index;
    let reviewed = (1, vec![number]);
    assert_eq!(table.reviewed(cat(), ItemNo(2)).await, reviewed);
    for caller in [visitor(), ann()] {
        assert_eq!(table.reviewed(caller, ItemNo(2)).await, (0, vec![]));
    }
    table.change(None, Some(true)).await;
    assert_eq!(table.reviewed(visitor(), ItemNo(2)).await, reviewed);
    let public = table.results(visitor()).await.unwrap();
    assert!(public[0].is_public);
    assert_eq!(public[0].estimates, found[0].estimates);

    let store = &table.site.app.store;
    let withdrawn = StudyVisibility::Withdrawn;
    store
        .set_study_visibility("rivers", withdrawn)
        .await
        .unwrap();
    assert_eq!(status(table.results(visitor()).await.unwrap_err()).0, 404);
    assert_eq!(table.results(cat()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_study_made_anew_ends_its_tasks_and_loses_nothing() {
    let table = Table::new().await;
    let answers = [(1, decided(ItemNo(2), AnnotatorAnswer::First))];
    table.send(ann(), &answers).await.unwrap();
    assert!(!table.results(cat()).await.unwrap()[0].is_outdated);
    let mut anew = rivers("rivers");
    anew.collection_hash = "other texts".to_owned();
    table.site.store_study(&anew).await;
    let (code, words) = status(table.next(ann(), 1).await.unwrap_err());
    assert_eq!(code, 409);
    assert!(words.contains("made anew"), "{words}");
    assert_eq!(
        status(table.again(cat(), ItemNo(2)).await.unwrap_err()).0,
        409
    );
    let found = table.results(cat()).await.unwrap();
    assert!(found[0].is_outdated && found[0].estimates.is_none());
    assert_eq!(found[0].n_people, 1);
    let (_, lines) = table.file(TaskExportFormat::Jsonl).await;
    assert_eq!(lines.lines().count(), 1);
    let answers = [(2, decided(ItemNo(3), AnnotatorAnswer::First))];
    let sent = table.send(ann(), &answers).await.unwrap();
    assert_eq!(
        sent.receipts[0].outcome,
        EventOutcome::Stored,
        "what was decided before"
    );
}

#[tokio::test]
async fn requests_that_are_not_in_their_bounds_are_refused() {
    let table = Table::new().await;
    assert_eq!(status(table.next(ann(), 0).await.unwrap_err()).0, 422);
    assert_eq!(status(table.next(ann(), 33).await.unwrap_err()).0, 422);
    assert_eq!(status(table.send(ann(), &[]).await.unwrap_err()).0, 422);
    let many: Vec<(u64, AnnotationEventAction)> = (0..101)
        .map(|it| (it, decided(ItemNo(2), AnnotatorAnswer::Equal)))
        .collect();
    assert_eq!(status(table.send(ann(), &many).await.unwrap_err()).0, 413);
    let mut task = wanted("rivers");
    task.annotators_per_item = 0;
    let made = curation::create_task(table.call(cat(), CreateTaskRequest { task })).await;
    assert_eq!(status(made.unwrap_err()).0, 422);
    let task = wanted("no-such");
    let made = curation::preview_task(table.call(cat(), PreviewTaskRequest { task })).await;
    assert_eq!(status(made.unwrap_err()).0, 404);
}

#[tokio::test]
async fn visitors_try_it_on_what_is_published() {
    let table = Table::new().await;
    let asked = |study: &str| {
        let study = study.to_owned();
        table.call(visitor(), GetTrialItemsRequest { study, seed: 1 })
    };
    let tried = studies::answer_study_request(asked("rivers")).await;
    assert_eq!(tried.unwrap().0.len(), 5);
    let hidden = studies::answer_study_request(asked("hidden")).await;
    assert_eq!(status(hidden.unwrap_err()).0, 404);
}
