//! Annotation tasks over a study of five documents: duplicates, restarts, full slots, failing
//! commits.

mod counts;

use std::collections::BTreeSet;
use std::time::Duration;

use shared::annotation::assignment::{AssignmentPhase, ItemAssigner, ItemLease};
use shared::annotation::event::{
    AnnotationDecision, AnnotationEventAction, ItemAdjudication, ItemProblemReport,
    RatingTagsAndNote, SkipReason, SkippedItem,
};
use shared::annotation::export::ItemQueryAndDocIds;
use shared::annotation::task::{
    AnnotationItemRole, AnnotationTaskDefinition, AnnotatorSimulation, InstanceWithReferenceAnswer,
    SamplingDesign, StudyInstanceRef, TaskInstanceFilter,
};
use shared::annotation::{
    AnnotationEventKey, AnnotationItem, AnnotationLog, AnnotatorAnswer, DocumentDisplayOrder,
    event, sample,
};
use shared::api::annotation::TaskProgressSummary;
use shared::collection::{Collection, Document, DocumentFields, Qrels, Query};
use shared::study::build::{StudyInputs, make_study};
use shared::study::preparation::{
    ParsedInputFiles, SequentialShardExecutor, run_never_waiting_future,
};

use super::*;
use crate::store::annotation_tasks::AnnotationItemWithExternalIds;
use crate::store::annotation_tasks::events::AnnotationWriteBatch;
use crate::store::backup;
use crate::store::server_place::ServerRole;
use crate::store::tests::{TestFolder, tell};

const ANN: PersonId = PersonId(1);
const BOB: PersonId = PersonId(2);
const CAT: PersonId = PersonId(3);

/// Returns a study of five documents and two queries that have instances of TFC1.
pub(crate) fn study(name: &str) -> Study {
    let texts = [
        "river river",
        "river bank",
        "the sea",
        "bank bank sea",
        "river sea mud",
    ];
    let docs = texts.iter().zip(1..).map(|(text, id): (_, u32)| {
        Document::from(DocumentFields {
            id: id.to_string().into(),
            text: (*text).into(),
            ..DocumentFields::default()
        })
    });
    let queries = ["river", "sea bank"].iter().zip(1..);
    let queries = queries.map(|(text, id): (_, u32)| Query {
        id: format!("q{id}"),
        text: (*text).to_owned(),
        group: None,
        split: None,
    });
    let collection = Collection {
        queries: queries.collect(),
        docs: docs.collect(),
        qrels: Qrels::default(),
    };
    let definition = serde_json::from_value(serde_json::json!({
        "format": 1, "name": name, "title": name, "collection": "none", "pool": "all",
        "probes": ["tfc1"], "modes": ["fixed"], "rankers": ["bm25", "ql"],
        "limits": shared::probe::MiningThresholds {
            length_tolerance_terms: Some(10),
            ..shared::probe::MiningThresholds::STANDARD
        },
    }));
    let inputs = StudyInputs {
        definition: definition.unwrap(),
        collection,
        files: ParsedInputFiles::default(),
        rankers: ["bm25", "ql"].map(|it| it.parse().unwrap()).to_vec(),
        created: "2026-11-20".to_owned(),
    };
    run_never_waiting_future(make_study(inputs, &mut SequentialShardExecutor)).unwrap()
}

/// Returns a task with all TFC1 instances of a study and two annotators per item. The first
/// instance is a training item, the second a gold item.
pub(crate) fn task(study: &str) -> AnnotationTaskDefinition {
    let known = |number| InstanceWithReferenceAnswer {
        instance: StudyInstanceRef {
            probe: "tfc1".parse().unwrap(),
            variant: shared::probe::AxiomVariant::Fixed,
            index: number,
        },
        answer: AnnotatorAnswer::First,
        explanation: "it has the word twice".to_owned(),
    };
    AnnotationTaskDefinition {
        title: "Rivers".to_owned(),
        study: study.to_owned(),
        probes: vec!["tfc1".parse().unwrap()],
        filter: TaskInstanceFilter::default(),
        n_items: 100,
        sampling: SamplingDesign::Uniform,
        annotators_per_item: 2,
        seed: 42,
        gold_interval: 3,
        is_blind: true,
        highlights_query_terms: true,
        tags: Vec::new(),
        guidelines: "Read **both**.".to_owned(),
        training: vec![known(0)],
        gold: vec![known(1)],
        simulation: None,
    }
}

/// Returns a task whose annotators are simulated as those of the demo are.
pub(crate) fn simulated_task(study: &str) -> AnnotationTaskDefinition {
    AnnotationTaskDefinition {
        annotators_per_item: 3,
        training: Vec::new(),
        gold: Vec::new(),
        simulation: Some(AnnotatorSimulation {
            error_rates: vec![0.05, 0.15, 0.3],
        }),
        ..task(study)
    }
}

fn new_task(study: &Study) -> NewAnnotationTask {
    let task = task(&study.definition.name);
    let drawn = sample::sample_task_items(study, &task).unwrap();
    let with_ids = drawn
        .items
        .into_iter()
        .map(|item| AnnotationItemWithExternalIds {
            item,
            ids: ItemQueryAndDocIds {
                query: "q1".to_owned(),
                documents: vec!["1".to_owned(), "2".to_owned()],
            },
        });
    NewAnnotationTask {
        study_hash: study_instances_and_collection_hash(study),
        made_ms: 1,
        n_candidates: drawn.n_candidates,
        items: with_ids.collect(),
        task,
    }
}

/// Returns a different key for each number.
pub(crate) fn key(number: u64) -> AnnotationEventKey {
    AnnotationEventKey::from_bytes(u128::from(number).to_be_bytes())
}

/// Returns an event with the key of a number.
pub(crate) fn event(number: u64, what: AnnotationEventAction) -> ClientAnnotationEvent {
    ClientAnnotationEvent {
        key: key(number),
        created_ms: number,
        action: what,
    }
}

/// Returns the decision of an annotator on an item.
pub(crate) fn decided(item: ItemNo, answer: AnnotatorAnswer) -> AnnotationEventAction {
    AnnotationEventAction::Decided(AnnotationDecision {
        item,
        answer,
        comment: RatingTagsAndNote::default(),
        display_order: DocumentDisplayOrder::ClaimOrder,
        duration_ms: 4_000,
        replaces: Vec::new(),
    })
}

/// Adds the people with the numbers 1 to 3 to a store.
pub(crate) async fn join(store: &Database) {
    let sql = "INSERT INTO person (no, name, name_key, role, since_ms, seen_ms)
               VALUES (1, 'Ann', 'ann', 'annotator', 0, 0), (2, 'Bob', 'bob', 'annotator', 0, 0),
                   (3, 'Cat', 'cat', 'curator', 0, 0)
               ON CONFLICT DO NOTHING";
    tell(store, sql).await;
}

/// Creates a task in a store and opens it.
async fn opened(store: &Database) -> (AnnotationTaskService, Arc<InMemoryTaskState>) {
    join(store).await;
    let reviews =
        AnnotationTaskService::start_with_log_writer(store.clone(), ServerRole::only_server());
    let desk = reviews
        .create_draft_task(&new_task(&study("open")))
        .await
        .unwrap();
    let asked = UpdateTaskRequest {
        task: desk.task_row().no,
        status: Some(AnnotationTaskStatus::Open),
        are_results_public: None,
        guidelines: None,
    };
    reviews.update_task(asked).await.unwrap();
    (reviews, desk)
}

async fn send(
    reviews: &AnnotationTaskService,
    desk: &Arc<InMemoryTaskState>,
    person: PersonId,
    events: &[ClientAnnotationEvent],
) -> Result<Vec<EventOutcome>, Error> {
    let actor = RequiredRole::Annotator;
    let sender = EventAuthor {
        person,
        role: actor,
    };
    reviews.append_events(desk, sender, events.to_vec()).await
}

/// Returns the numbers of the items that are assigned to a person.
async fn given(
    reviews: &AnnotationTaskService,
    desk: &Arc<InMemoryTaskState>,
    person: PersonId,
    n: usize,
) -> Vec<ItemNo> {
    let promised = reviews.lease_next_items(desk, person, n).await.unwrap();
    promised.assignments.iter().map(|it| it.item).collect()
}

#[tokio::test]
async fn a_task_lives_and_is_found_again_as_it_was() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (reviews, desk) = opened(&store).await;
        let n_work = desk.items().len() - 1;
        assert!(n_work > 3, "{n_work}");
        let before = desk.progress_summary_for_person(Some(ANN));
        assert_eq!(before.n_decisions_required, 2 * (n_work as u64 - 1));
        let first = reviews.lease_next_items(&desk, ANN, 32).await.unwrap();
        assert_eq!(first.assignments[0].phase, AssignmentPhase::Training);
        assert_eq!(first.assignments.len(), n_work + 1);
        assert_eq!(first.standing.n_available as usize, n_work);
        let events: Vec<ClientAnnotationEvent> = first
            .assignments
            .iter()
            .zip(1..)
            .map(|(it, number)| event(number, decided(it.item, AnnotatorAnswer::First)))
            .collect();
        let outcomes = send(&reviews, &desk, ANN, &events).await.unwrap();
        assert!(outcomes.iter().all(|it| *it == EventOutcome::Stored));
        let standing = desk.progress_summary_for_person(Some(ANN));
        let expected = TaskProgressSummary {
            n_own_decisions: n_work as u32,
            n_own_skips: 0,
            n_available: 0,
            n_decisions: n_work as u64 - 1,
            n_annotators: 1,
            n_simulated_annotators: 0,
            ..before
        };
        assert_eq!(standing, expected);
        assert!(given(&reviews, &desk, ANN, 8).await.is_empty());
        assert_eq!(
            desk.newest_events_of_person(ANN)[0].entry.event,
            *events.last().unwrap()
        );
        given(&reviews, &desk, BOB, 8).await;
        let asked = UpdateTaskRequest {
            task: desk.task_row().no,
            status: Some(AnnotationTaskStatus::Draft),
            are_results_public: None,
            guidelines: None,
        };
        let error = reviews.update_task(asked).await.unwrap_err();
        assert!(error.to_string().contains("close it"), "{error}");

        // As after `kill -9`: only the database is left.
        let (log, row, until) = (
            desk.clone_event_log(),
            desk.task_row(),
            desk.item_lease_expiry_ms(BOB, ItemNo(0)),
        );
        store.close().await;
        let store = place.store().await;
        let again = AnnotationTaskService::start_with_log_writer(store, ServerRole::only_server())
            .task_state(row.no)
            .await
            .unwrap();
        assert_eq!((again.clone_event_log(), again.task_row()), (log, row));
        assert_eq!(again.progress_summary_for_person(Some(ANN)), expected);
        assert!(until.is_some());
        assert_eq!(again.item_lease_expiry_ms(BOB, ItemNo(0)), until);
    }
}

#[tokio::test]
async fn what_comes_twice_is_kept_once_and_what_cannot_be_kept_is_refused() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (reviews, desk) = opened(&store).await;
        let one = event(1, decided(ItemNo(2), AnnotatorAnswer::First));
        let other = event(1, decided(ItemNo(2), AnnotatorAnswer::Second));
        let (later, no_item) = (
            event(2, decided(ItemNo(3), AnnotatorAnswer::Equal)),
            event(3, decided(ItemNo(9_999), AnnotatorAnswer::Equal)),
        );
        let settled = event(
            4,
            AnnotationEventAction::Adjudicated(ItemAdjudication {
                item: ItemNo(2),
                answer: AnnotatorAnswer::Equal,
                note: String::new(),
                replaces: Vec::new(),
            }),
        );
        let all = [
            one.clone(),
            no_item,
            one.clone(),
            other.clone(),
            later,
            settled.clone(),
        ];
        let outcomes = send(&reviews, &desk, ANN, &all).await.unwrap();
        let reason = |it: &EventOutcome| match it {
            EventOutcome::Stored => "kept".to_owned(),
            EventOutcome::Duplicate => "known".to_owned(),
            EventOutcome::Rejected { reason } => reason.clone(),
        };
        let said: Vec<String> = outcomes.iter().map(reason).collect();
        assert_eq!(said[0], "kept");
        assert!(said[1].contains("no item of this task"), "{said:?}");
        assert_eq!(said[2], "known");
        assert!(said[3].contains("another event"), "{said:?}");
        assert_eq!(said[4], "kept");
        assert!(said[5].contains("only curators"), "{said:?}");
        let outcomes = send(&reviews, &desk, ANN, &[one.clone(), other]).await;
        let outcomes = outcomes.unwrap();
        assert_eq!(outcomes[0], EventOutcome::Duplicate);
        assert!(matches!(outcomes[1], EventOutcome::Rejected { .. }));
        // The key is that of an event of another person.
        let outcomes = send(&reviews, &desk, BOB, &[one]).await.unwrap();
        assert!(matches!(outcomes[0], EventOutcome::Rejected { .. }));
        let sender = EventAuthor {
            person: CAT,
            role: RequiredRole::Curator,
        };
        let outcomes = reviews
            .append_events(&desk, sender, vec![settled])
            .await
            .unwrap();
        assert_eq!(outcomes, [EventOutcome::Stored]);
        assert_eq!(desk.n_events(), 3);
    }
}

#[tokio::test]
async fn an_expired_lease_goes_to_another_annotator() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (reviews, desk) = opened(&store).await;
        let (no, n_items) = (desk.task_row().no, desk.items().len() as u32);
        // Both slots of each item are leased for a moment.
        let until_ms = unix_time_ms_u64() + 1_500;
        let leases = (0..n_items).flat_map(|item| {
            [ANN, BOB].map(|person| {
                let item = ItemNo(item);
                (
                    no,
                    ItemLease {
                        item,
                        person,
                        expires_ms: until_ms,
                    },
                )
            })
        });
        let writing = AnnotationWriteBatch {
            leases: leases.collect(),
            now_ms: unix_time_ms_u64(),
            ..AnnotationWriteBatch::default()
        };
        store.write_events_and_leases(&writing).await.unwrap();
        drop(reviews);
        let reviews =
            AnnotationTaskService::start_with_log_writer(store.clone(), ServerRole::only_server());
        let desk = reviews.task_state(no).await.unwrap();
        let drawn = |given: Vec<ItemNo>| {
            let drawn = given
                .iter()
                .filter(|it| is_sampled_item(desk.item(**it).unwrap()));
            drawn.count()
        };
        assert_eq!(drawn(given(&reviews, &desk, CAT, 32).await), 0);
        let own = given(&reviews, &desk, ANN, 1).await;
        assert_eq!(own.len(), 1, "one's own do not stand in the way");
        tokio::time::sleep(Duration::from_millis(1_600)).await;
        assert_eq!(
            drawn(given(&reviews, &desk, CAT, 32).await),
            n_items as usize - 2
        );
        // Expired leases are deleted when new ones are stored.
        let left = store.annotation_leases_including_expired(no).await.unwrap();
        assert!(left.iter().all(|it| it.expires_ms > until_ms), "{left:?}");
    }
}

#[tokio::test]
async fn of_many_who_ask_at_once_each_slot_goes_to_one() {
    let place = TestFolder::sqlite();
    let store = place.store().await;
    let (reviews, desk) = opened(&store).await;
    let asked = [ANN, BOB, CAT].map(|it| given(&reviews, &desk, it, 32));
    let [a, b, c] = asked;
    let (a, b, c) = tokio::join!(a, b, c);
    for number in (0..desk.items().len() as u32).map(ItemNo) {
        let n_given = [&a, &b, &c]
            .iter()
            .filter(|it| it.contains(&number))
            .count();
        match is_sampled_item(desk.item(number).unwrap()) {
            true => assert_eq!(n_given, 2, "{number:?}"),
            false => assert!(n_given <= 3),
        }
    }
}

/// Many people send events at the same time; each event is stored once, in one order.
#[tokio::test(flavor = "multi_thread")]
async fn what_many_send_at_once_is_kept_once_each() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (reviews, desk) = opened(&store).await;
        let tasks = (0..60_u64).map(|number| {
            let (reviews, desk) = (reviews.clone(), desk.clone());
            tokio::spawn(async move {
                let person = PersonId(1 + (number % 3) as u32);
                // Every event is sent twice, as by a page that is open in two tabs.
                let number = number / 6 * 3 + number % 3;
                let item = ItemNo(2 + (number % 2) as u32);
                let what = decided(item, AnnotatorAnswer::Equal);
                send(&reviews, &desk, person, &[event(number, what)]).await
            })
        });
        let tasks: Vec<_> = tasks.collect();
        let mut outcomes = Vec::new();
        for it in tasks {
            outcomes.extend(it.await.unwrap().unwrap());
        }
        let n = |wanted: EventOutcome| outcomes.iter().filter(|it| **it == wanted).count();
        assert_eq!(
            (n(EventOutcome::Stored), n(EventOutcome::Duplicate)),
            (30, 30)
        );
        let kept = store
            .annotation_events_from_position(desk.task_row().no, 0)
            .await
            .unwrap();
        assert_eq!(kept.len(), 30);
        assert_eq!(AnnotationLog::from_entries(kept), desk.clone_event_log());
    }
}

#[tokio::test]
async fn with_a_full_disk_nothing_is_said_to_be_kept_and_later_it_is() {
    let place = TestFolder::sqlite();
    let store = place.store().await;
    let (reviews, desk) = opened(&store).await;
    let noted = |number: u64| {
        let note = "n".repeat(2_000);
        event(
            number,
            AnnotationEventAction::Reported(ItemProblemReport {
                item: ItemNo(2),
                note,
            }),
        )
    };
    let events: Vec<ClientAnnotationEvent> = (0..100).map(noted).collect();
    tell(&store, "PRAGMA max_page_count = 1").await;
    let error = send(&reviews, &desk, ANN, &events).await.unwrap_err();
    assert!(matches!(error, Error::NotSaved { .. }), "{error}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(desk.n_events(), 0);
    tell(&store, "PRAGMA max_page_count = 1000000").await;
    let outcomes = send(&reviews, &desk, ANN, &events).await.unwrap();
    assert!(outcomes.iter().all(|it| *it == EventOutcome::Stored));
    assert_eq!(
        store
            .annotation_events_from_position(desk.task_row().no, 0)
            .await
            .unwrap()
            .len(),
        100
    );
}

/// Simulates a connection that breaks after the commit and before the reply.
#[tokio::test]
async fn what_is_on_the_disk_after_all_is_found_there() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (reviews, desk) = opened(&store).await;
        let (lost, next) = (
            event(1, decided(ItemNo(2), AnnotatorAnswer::First)),
            event(2, decided(ItemNo(3), AnnotatorAnswer::First)),
        );
        let entry = ReceivedAnnotationEvent {
            person: ANN,
            received_ms: 5,
            event: lost.clone(),
        };
        let writing = AnnotationWriteBatch {
            events: vec![(desk.task_row().no, 0, entry)],
            ..AnnotationWriteBatch::default()
        };
        store.write_events_and_leases(&writing).await.unwrap();
        let failed = send(&reviews, &desk, ANN, std::slice::from_ref(&next)).await;
        assert!(matches!(failed, Err(Error::NotSaved { .. })));
        let outcomes = send(&reviews, &desk, ANN, &[lost, next]).await.unwrap();
        assert_eq!(outcomes, [EventOutcome::Duplicate, EventOutcome::Stored]);
        assert_eq!(desk.n_events(), 2);
    }
}

/// Simulates `axioscope backup` while people send events to a server.
#[tokio::test(flavor = "multi_thread")]
async fn a_backup_beside_people_who_decide_holds_all_that_was_kept_before() {
    for place in TestFolder::each() {
        let store = place.store().await;
        let (reviews, desk) = opened(&store).await;
        given(&reviews, &desk, ANN, 8).await;
        let no = desk.task_row().no;
        let (asked, sent) = (reviews.clone(), desk.clone());
        let sending = tokio::spawn(async move {
            for number in 0..200 {
                let one = event(number, decided(ItemNo(2), AnnotatorAnswer::Equal));
                send(&asked, &sent, BOB, &[one]).await.unwrap();
            }
        });
        while desk.n_events() < 20 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let n_before = desk.n_events();
        let home = tempfile::tempdir().unwrap();
        let rows = store.snapshot_tables_into_files(home.path()).await.unwrap();
        let file = home.path().join("backup");
        backup::write_backup(&place.folder, rows, &file).unwrap();
        sending.await.unwrap();

        for to in TestFolder::each() {
            std::fs::remove_dir_all(
                to.folder
                    .collection_folder("x")
                    .unwrap()
                    .ancestors()
                    .nth(2)
                    .unwrap(),
            )
            .unwrap();
            let restored = backup::restore_backup(&to.folder, &to.database, &file).await;
            restored.unwrap();
            let store = to.store().await;
            let reviews = AnnotationTaskService::start_with_log_writer(
                store.clone(),
                ServerRole::only_server(),
            );
            let again = reviews.task_state(no).await.unwrap();
            let n_kept = again.n_events();
            assert!((n_before..=200).contains(&n_kept), "{n_before} {n_kept}");
            let whole = desk.clone_event_log();
            for entry in again.clone_event_log().entries() {
                assert_eq!(whole.entry_by_key(entry.event.key), Some(entry));
            }
            assert_eq!(
                (again.task_row(), again.items()),
                (desk.task_row(), desk.items())
            );
            assert!(again.item_lease_expiry_ms(ANN, ItemNo(0)).is_some());
            // Later tasks get higher numbers.
            let next = reviews
                .create_draft_task(&new_task(&study("open")))
                .await
                .unwrap();
            assert!(next.task_row().no > no);
        }
    }
}
