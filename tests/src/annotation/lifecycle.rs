//! The life of a task over HTTP, on a server that is reachable from outside: from the first
//! invitation to results that a visitor can read.

mod actor;
mod own_data;

use std::collections::BTreeSet;

use shared::annotation::assignment::AssignmentPhase;
use shared::annotation::event::{
    AnnotationEventAction, AnnotatorExclusionChange, ItemAdjudication, ItemProblemReport,
    SkipReason, SkippedItem,
};
use shared::annotation::export::ExportedPreferenceSource;
use shared::annotation::judgments::DisputeReason;
use shared::annotation::log::AnnotationEventValidity;
use shared::annotation::task::{InstanceWithReferenceAnswer, StudyInstanceRef};
use shared::annotation::{AnnotationTaskDefinition, AnnotatorAnswer, ItemNo};
use shared::api::annotation::{
    AgreementResponse, AnnotationTaskStatus, CreateTaskRequest, ExportTaskRequest,
    GetAgreementRequest, GetItemHistoryRequest, GetTaskProgressRequest, GetTaskRequest,
    LeaseItemsRequest, ListDisputesRequest, ListOwnEventsRequest, ListStudyHumanJudgmentsRequest,
    ListTasksRequest, PreviewTaskRequest, TaskExportFormat, TaskId,
};
use shared::api::people::{AccessRole, CreateInvitationRequest};
use shared::probe::{Axiom, AxiomVariant, Probe};

use super::answers::{self, ALPHA, ALPHA_ORDINAL, COHEN, FLEISS, N, N_SPLIT, RAW};
use super::person::PersonClient;
use super::server_address::ServerAddress;
use super::{STUDY, invite, make_study, opened, task, unchanged};
use crate::harness::{TestHome, TestServer};
use actor::{TestActor, decision};

const N_TRAINING: u32 = 2;
const N_GOLD: u32 = 3;

/// The number of the first sampled item.
const FIRST: u32 = N_TRAINING + N_GOLD;

/// The item on which both answer "cannot say".
const UNCLEAR: u32 = FIRST + N as u32;

/// The item on which Ben contradicts himself.
const TWICE: u32 = UNCLEAR + 1;

const N_DRAWN: u32 = N as u32 + 2;

#[test]
fn a_task_from_the_first_invitation_to_results_that_everybody_reads() {
    for home in TestHome::of_each_database() {
        make_study(&home);
        live(&home);
    }
}

fn live(home: &TestHome) {
    let told = home.run("people invite --role operator").expect_success();
    let token = told.split('#').nth(1).expect("a link with a token");
    let token = token.split_whitespace().next().unwrap().to_owned();
    let server = home.serve(&["--listen", "0.0.0.0:0"]);
    let site = ServerAddress::new(&server);
    let operator = PersonClient::join(&site, Some(token), "Olga");
    let joined = |by: &PersonClient, invite: CreateInvitationRequest, name: &str| {
        let token = by.call(&invite).token;
        PersonClient::join(&site, Some(token), name)
    };
    let curator = joined(&operator, invite(AccessRole::Curator), "Carla");
    let [mut ann, mut ben] = ["Ann", "Ben"]
        .map(|it| TestActor::new(joined(&curator, invite(AccessRole::Annotator), it)));
    let mut carla = TestActor::new(curator);
    let task = made(&carla.person, &ann.person);

    work(&mut ann, task, 0);
    work(&mut ben, task, 1);
    let again = CreateInvitationRequest {
        person: Some(ben.person.no),
        ..invite(AccessRole::Annotator)
    };
    let tablet = joined(&carla.person, again, "");
    assert_eq!((tablet.no, &*tablet.name), (ben.person.no, "Ben"));
    let mut tablet = TestActor::new(tablet);
    contradict(&mut ben, &mut tablet, task);

    expect_progress(&carla.person, task, [&ann.person, &ben.person]);
    expect_agreement(&carla.person.call(&GetAgreementRequest { task }));
    settle(&mut carla, task, &ben.person);
    resolve(&mut ben, task);
    close(&mut carla, &mut ben, task);
    expect_files(&carla.person, task, &[&ann, &ben, &tablet, &carla]);
    expect_published(&server, &carla.person, task);
    let refused = ann.person.expect_refusal(&ExportTaskRequest {
        task,
        format: TaskExportFormat::Jsonl,
        include_names: false,
    });
    assert!(matches!(refused.0, 403 | 404), "{refused:?}");
}

/// Returns a task with two training items, three gold items, and items drawn for two annotators.
fn whole() -> AnnotationTaskDefinition {
    let known = |number: u32| InstanceWithReferenceAnswer {
        instance: StudyInstanceRef {
            probe: Probe::Axiom(Axiom::Tfc1),
            variant: AxiomVariant::Fixed,
            index: u64::from(number) * 100,
        },
        answer: AnnotatorAnswer::First,
        explanation: "it has the term more often".to_owned(),
    };
    AnnotationTaskDefinition {
        gold_interval: 5,
        guidelines: "Read *both* texts.".to_owned(),
        training: (0..N_TRAINING).map(known).collect(),
        gold: (N_TRAINING..FIRST).map(known).collect(),
        ..task(N_DRAWN, 2)
    }
}

/// Creates a draft, which only curators see, and opens it.
fn made(curator: &PersonClient, annotator: &PersonClient) -> TaskId {
    let preview = curator.call(&PreviewTaskRequest { task: whole() });
    let draft = curator.call(&CreateTaskRequest { task: whole() });
    assert_eq!(
        (draft.summary.status, &draft.definition),
        (AnnotationTaskStatus::Draft, &whole())
    );
    assert_eq!(draft.composition, preview);
    let made = (
        preview.n_training_items,
        preview.n_gold_items,
        preview.n_sampled_items,
    );
    assert_eq!(made, (N_TRAINING, N_GOLD, N_DRAWN));
    let task = draft.summary.task;

    assert_eq!(annotator.call(&ListTasksRequest {}), []);
    let (status, _) = annotator.expect_refusal(&GetTaskRequest { task });
    assert!(matches!(status, 403 | 404), "{status}");
    let mut change = unchanged(task);
    change.guidelines = Some("Read *all* of both texts.".to_owned());
    curator.call(&change);
    curator.call(&opened(task));
    assert_eq!(annotator.call(&ListTasksRequest {}).len(), 1);
    let sheet = annotator.call(&GetTaskRequest { task });
    assert_eq!(sheet.guidelines, "Read *all* of both texts.");
    assert_eq!(
        (sheet.n_items, sheet.n_training),
        (FIRST + N_DRAWN, N_TRAINING)
    );
    task
}

/// Returns the answer of an annotator to an item; Ann is 0, Ben is 1.
fn answer(item: ItemNo, who: usize) -> AnnotatorAnswer {
    match item.0 {
        ..N_TRAINING => AnnotatorAnswer::First,
        // Ben gets one of three gold items wrong.
        it if it < FIRST => {
            [AnnotatorAnswer::First, AnnotatorAnswer::Second][usize::from(who == 1 && it == 3)]
        }
        UNCLEAR => AnnotatorAnswer::CannotSay,
        TWICE => AnnotatorAnswer::First,
        it => answers::both()[(it - FIRST) as usize][who],
    }
}

/// Decides on every item, and undoes a decision and a skip on the way.
fn work(who: &mut TestActor, task: TaskId, place: usize) {
    let next = LeaseItemsRequest { task, n_items: 8 };
    let first = who.person.call(&next);
    let parts: Vec<AssignmentPhase> = first.items.iter().map(|it| it.assignment.phase).collect();
    assert_eq!(
        parts[..3],
        [
            AssignmentPhase::Training,
            AssignmentPhase::Training,
            AssignmentPhase::Main
        ]
    );
    for (at, item) in first.items.iter().enumerate() {
        assert_eq!(item.feedback.is_some(), at < N_TRAINING as usize);
        assert!(item.content.rankers.is_empty(), "the task is blind");
        assert_eq!(item.content.documents.len(), 2);
    }
    // A repeated request changes nothing.
    let again = who
        .person
        .call(&next)
        .items
        .into_iter()
        .map(|it| it.assignment);
    assert!(again.eq(first.items.iter().map(|it| it.assignment)));

    let offer = first.items[2].assignment;
    let wrong = who.send_one(
        task,
        decision(&offer, AnnotatorAnswer::CannotSay, Vec::new()),
    );
    who.send_one(task, AnnotationEventAction::Undone { of: wrong });
    let skipped = who.send_one(
        task,
        AnnotationEventAction::Skipped(SkippedItem {
            item: offer.item,
            reason: SkipReason::BrokenDocument,
            note: String::new(),
        }),
    );
    let after: Vec<ItemNo> = who.items(&next);
    assert!(!after.contains(&offer.item), "it was passed over");
    who.send_one(task, AnnotationEventAction::Undone { of: skipped });

    let mut n_decided = 0;
    loop {
        let handed = who.person.call(&next);
        assert_eq!(handed.n_leased_to_others, 0);
        let decided = handed.items.iter().map(|it| {
            let item = it.assignment.item;
            decision(&it.assignment, answer(item, place), Vec::new())
        });
        let decided: Vec<AnnotationEventAction> = decided.collect();
        n_decided += decided.len() as u32;
        if decided.is_empty() {
            break;
        }
        who.send_all(task, decided);
    }
    assert_eq!(n_decided, FIRST + N_DRAWN);
    let standing = who.person.call(&next).progress;
    assert_eq!(
        (standing.n_own_decisions, standing.n_available),
        (N_GOLD + N_DRAWN, 0)
    );
    let mine = who.person.call(&ListOwnEventsRequest { task });
    assert_eq!(mine.len(), who.keys.len());
    let n_undone = mine
        .iter()
        .filter(|it| it.status == AnnotationEventValidity::Undone)
        .count();
    assert_eq!(n_undone, 2);
}

/// Decides on the same item on two devices that do not know of each other.
fn contradict(phone: &mut TestActor, tablet: &mut TestActor, task: TaskId) {
    let offer = phone.again(task, ItemNo(TWICE));
    tablet.send_one(task, decision(&offer, AnnotatorAnswer::Second, Vec::new()));
    let mine = tablet.person.call(&ListOwnEventsRequest { task });
    let of_item = mine
        .iter()
        .filter(|it| it.entry.event.action.item_no() == Some(ItemNo(TWICE)));
    let fates: Vec<AnnotationEventValidity> = of_item.map(|it| it.status).collect();
    assert_eq!(
        fates,
        [
            AnnotationEventValidity::Conflict,
            AnnotationEventValidity::Conflict
        ]
    );
}

fn expect_progress(curator: &PersonClient, task: TaskId, people: [&PersonClient; 2]) {
    let told = curator.call(&GetTaskProgressRequest { task });
    let progress = told.progress;
    let n_drawn = u64::from(N_DRAWN);
    assert_eq!((progress.n_items, progress.n_complete), (n_drawn, n_drawn));
    assert_eq!(
        (progress.n_decisions, progress.n_decisions_required),
        (2 * n_drawn, 2 * n_drawn)
    );
    let numbers: Vec<_> = progress.by_annotator.iter().map(|it| it.person).collect();
    assert_eq!(numbers, people.map(|it| it.no));
    let names: Vec<&str> = told.annotators.iter().map(|it| &*it.name).collect();
    assert!(
        ["Ann", "Ben"].iter().all(|it| names.contains(it)),
        "{names:?}"
    );
    let gold = |at: usize| {
        progress.by_annotator[at]
            .gold_accuracy
            .as_ref()
            .unwrap()
            .value
    };
    assert_eq!((gold(0), gold(1)), (1.0, 2.0 / 3.0));
    let conflicts = progress.by_annotator.iter().map(|it| it.n_conflicts);
    assert!(conflicts.eq([0, 1]));
    assert!(progress.by_annotator.iter().all(|it| it.n_undone == 2));
}

/// Compares the agreement with the values calculated by hand in [`answers`].
fn expect_agreement(told: &AgreementResponse) {
    let it = &told.agreement;
    answers::expect(it.overall.observed, RAW);
    answers::expect(it.overall.fleiss_kappa, FLEISS);
    answers::expect(it.overall.krippendorff_alpha, ALPHA);
    answers::expect(it.overall.krippendorff_alpha_ordinal, ALPHA_ORDINAL);
    assert_eq!(it.by_pair.len(), 1);
    answers::expect(it.by_pair[0].observed, RAW);
    answers::expect(it.by_pair[0].cohen_kappa, COHEN);
    answers::expect(it.by_probe[0].coefficients.krippendorff_alpha, ALPHA);
}

/// Adjudicates an item, and excludes and includes a person.
fn settle(carla: &mut TestActor, task: TaskId, ben: &PersonClient) {
    let disputes = |carla: &TestActor| {
        let mut found = carla.person.call(&ListDisputesRequest { task });
        found.retain(|it| it.item.0 >= FIRST);
        found
    };
    let found = disputes(carla);
    let reasons: Vec<DisputeReason> = found.iter().map(|it| it.reason).collect();
    let mut expected = vec![DisputeReason::SelfConflict];
    expected.extend([DisputeReason::Split; N_SPLIT]);
    expected.push(DisputeReason::CannotSay);
    assert_eq!(reasons, expected);

    let item = found[1].item;
    carla.send_one(
        task,
        AnnotationEventAction::Adjudicated(ItemAdjudication {
            item,
            answer: AnnotatorAnswer::Equal,
            note: "the same".to_owned(),
            replaces: Vec::new(),
        }),
    );
    assert_eq!(disputes(carla).len(), found.len() - 1);
    let history = carla.person.call(&GetItemHistoryRequest { task, item });
    assert_eq!(history.answers.votes.len(), 2);
    assert_eq!(history.answers.adjudications, [AnnotatorAnswer::Equal]);
    assert!(
        !history.content.rankers.is_empty(),
        "curators are not blind"
    );
    // Agreement does not change.
    expect_agreement(&carla.person.call(&GetAgreementRequest { task }));

    let standing = || AnnotatorExclusionChange {
        person: ben.no,
        reason: "hurried".to_owned(),
    };
    carla.send_one(task, AnnotationEventAction::Excluded(standing()));
    let without = carla.person.call(&GetAgreementRequest { task }).agreement;
    assert!(without.overall.krippendorff_alpha.is_none() && without.by_pair.is_empty());
    assert!(
        ben.call(&LeaseItemsRequest { task, n_items: 8 })
            .items
            .is_empty()
    );
    carla.send_one(task, AnnotationEventAction::Included(standing()));
    expect_agreement(&carla.person.call(&GetAgreementRequest { task }));
}

/// Replaces two contradicting decisions with one.
fn resolve(ben: &mut TestActor, task: TaskId) {
    let item = ItemNo(TWICE);
    let mine = ben.person.call(&ListOwnEventsRequest { task });
    let both = mine
        .iter()
        .filter(|it| it.entry.event.action.item_no() == Some(item));
    let both = both.map(|it| it.entry.event.key).collect();
    let offer = ben.again(task, item);
    ben.send_one(task, decision(&offer, AnnotatorAnswer::Second, both));
    let mine = ben.person.call(&ListOwnEventsRequest { task });
    let of_item = mine
        .iter()
        .filter(|it| it.entry.event.action.item_no() == Some(item));
    let mut fates: Vec<AnnotationEventValidity> = of_item.map(|it| it.status).collect();
    fates.sort_unstable();
    assert_eq!(
        fates,
        [
            AnnotationEventValidity::Active,
            AnnotationEventValidity::Replaced,
            AnnotationEventValidity::Replaced
        ]
    );
}

/// Closes the task: nobody gets items any more, but unsent events are still accepted.
fn close(carla: &mut TestActor, ben: &mut TestActor, task: TaskId) {
    let mut change = unchanged(task);
    change.status = Some(AnnotationTaskStatus::Closed);
    assert_eq!(
        carla.person.call(&change).summary.status,
        AnnotationTaskStatus::Closed
    );
    ben.send_one(
        task,
        AnnotationEventAction::Reported(ItemProblemReport {
            item: ItemNo(FIRST),
            note: "the second text is cut".to_owned(),
        }),
    );
    change.status = Some(AnnotationTaskStatus::Draft);
    let (status, _) = carla.person.expect_refusal(&change);
    assert!((400..500).contains(&status), "{status}");
}

fn expect_files(curator: &PersonClient, task: TaskId, people: &[&TestActor]) {
    let keys = people.iter().flat_map(|it| it.keys.iter().copied());
    let keys: BTreeSet<_> = keys.collect();
    let rows = curator.rows(task);
    assert!(rows.iter().map(|it| it.event.key).collect::<BTreeSet<_>>() == keys);
    assert_eq!(rows.len(), keys.len());
    let drawn = rows.iter().filter_map(|it| it.item.as_ref()?.weight);
    assert!(drawn.into_iter().all(|it| it >= 1.0));

    let csv = curator.download(task, TaskExportFormat::Csv);
    assert!(
        csv.contains("key,received_ms,created_ms,person,name,event,status,item"),
        "{csv}"
    );
    assert!(keys.iter().all(|it| csv.contains(&it.to_string())));

    let prefs = |whose| curator.download(task, TaskExportFormat::Prefs { preferences: whose });
    // Each has answered forty items, and the one with the contradiction.
    assert_eq!(
        prefs(ExportedPreferenceSource::EachAnnotator)
            .lines()
            .count(),
        2 * 2 * (N + 1)
    );
    // The consensus, and the adjudicated item.
    let together = prefs(ExportedPreferenceSource::Consensus);
    assert_eq!(together.lines().count(), 2 * (N - N_SPLIT + 1));
    let fields = |it: &str| it.split(' ').count();
    assert!(together.lines().all(|it| fields(it) == 5), "{together}");
}

/// Checks that a visitor sees the results only after they are published.
fn expect_published(server: &TestServer, curator: &PersonClient, task: TaskId) {
    let study = || STUDY.to_owned();
    let of = |found: &[shared::api::annotation::AnnotationTaskResults]| {
        let one = found.iter().find(|it| it.task == task);
        one.map(|it| (it.is_public, it.n_people, it.estimates.is_some()))
    };
    assert_eq!(
        of(&server.call(&ListStudyHumanJudgmentsRequest { study: study() })),
        None
    );
    let seen = curator.call(&ListStudyHumanJudgmentsRequest { study: study() });
    assert_eq!(of(&seen), Some((false, 2, true)));
    let mut change = unchanged(task);
    change.are_results_public = Some(true);
    curator.call(&change);
    let results = server.call(&ListStudyHumanJudgmentsRequest { study: study() });
    assert_eq!(of(&results), Some((true, 2, true)));
    let json = serde_json::to_string(&results).unwrap();
    assert!(!json.contains("Ann") && !json.contains("Ben"), "{json}");
    let refused = server
        .try_call(&GetTaskProgressRequest { task })
        .unwrap_err();
    assert!(matches!(refused.0, 401 | 403 | 404), "{refused:?}");
}
