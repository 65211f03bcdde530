//! People who take their data with them and delete their account, while their decisions stay.

use std::time::Duration;

use serde_json::Value;
use shared::annotation::AnnotatorAnswer;
use shared::api::annotation::{GetAgreementRequest, LeaseItemsRequest, TaskExportFormat, TaskId};
use shared::api::own_data::{DeleteOwnAccountRequest, GetOwnDataRequest};
use shared::api::people::{
    AccessRole, CreateInvitationRequest, GetSessionRequest, ListPeopleRequest, PersonAccountSummary,
};

use super::super::person::PersonClient;
use super::super::server_address::ServerAddress;
use super::super::{invite, make_study, open_task, task};
use super::actor::{TestActor, decision};
use crate::harness::{TestHome, TestServer};

const N_ITEMS: u32 = 8;

/// The note of the curator who invites Ann.
const NOTE: &str = "Ann Arbor, of the pilot";

fn joined(server: &TestServer, site: &ServerAddress, name: &str) -> PersonClient {
    let invitation = CreateInvitationRequest {
        note: NOTE.to_owned(),
        ..invite(AccessRole::Annotator)
    };
    PersonClient::join(site, Some(server.call(&invitation).token), name)
}

fn deletion(name: &str) -> DeleteOwnAccountRequest {
    DeleteOwnAccountRequest {
        confirmed_name: name.to_owned(),
        current_password: None,
    }
}

fn account(curator: &PersonClient, person: &PersonClient) -> PersonAccountSummary {
    let mut people = curator.call(&ListPeopleRequest {}).people;
    people.retain(|it| it.person.id == person.no);
    people.pop().expect("a number is never removed")
}

/// Decides on every item; every `n`-th answer is the other one.
fn decide(actor: &mut TestActor, task: TaskId, n: usize) {
    let handed = actor.person.call(&LeaseItemsRequest {
        task,
        n_items: N_ITEMS,
    });
    let items = handed.items.iter().enumerate();
    let actions = items.map(|(at, it)| {
        let answer = match at % n {
            0 => AnnotatorAnswer::First,
            _ => AnnotatorAnswer::Second,
        };
        decision(&it.assignment, answer, Vec::new())
    });
    actor.send_all(task, actions.collect());
}

/// Returns the agreement report of a task, and the names of its annotators.
fn agreement(curator: &PersonClient, task: TaskId) -> (Value, Vec<String>) {
    let found = curator.call(&GetAgreementRequest { task });
    let names = found.annotators.into_iter().map(|it| it.name);
    (
        serde_json::to_value(found.agreement).unwrap(),
        names.collect(),
    )
}

#[test]
fn the_decisions_of_a_deleted_account_stay_without_its_name() {
    for home in TestHome::of_each_database() {
        make_study(&home);
        leave(&home);
    }
}

fn leave(home: &TestHome) {
    let server = home.serve(&[]);
    let site = ServerAddress::new(&server);
    let task = open_task(&server, task(N_ITEMS, 2)).summary.task;
    let olga = PersonClient::join(&site, None, "Olga");
    let [mut ann, mut ben] = ["Ann", "Ben"].map(|it| TestActor::new(joined(&server, &site, it)));
    decide(&mut ann, task, 2);
    decide(&mut ben, task, 3);
    let (report, names) = agreement(&olga, task);
    assert_eq!(names, ["Ann", "Ben"]);

    let data = ann.person.call(&GetOwnDataRequest {});
    assert_eq!((data.person.id, &*data.person.name), (ann.person.no, "Ann"));
    assert_eq!(data.role, AccessRole::Annotator);
    assert_eq!(data.sessions.len(), 1);
    assert!(data.sessions[0].started_ms >= data.joined_ms);
    let [invitation] = &data.invitations[..] else {
        panic!("{:?}", data.invitations)
    };
    assert_eq!(invitation.note, NOTE);
    assert!(invitation.used_ms.is_some() && !invitation.is_created_by_person);
    let [of_task] = &data.tasks[..] else {
        panic!("{:?}", data.tasks)
    };
    assert_eq!(of_task.task, task);
    let mut keys: Vec<_> = of_task.events.iter().map(|it| it.entry.event.key).collect();
    let mut sent = ann.keys.clone();
    keys.sort_unstable();
    sent.sort_unstable();
    assert_eq!(keys, sent, "all of hers and none of Ben's");

    let (status, error) = ann.person.expect_refusal(&deletion("Ben"));
    assert_eq!(status, 422, "{error}");
    assert!(error.contains("type Ann to delete"), "{error}");
    let (status, error) = olga.expect_refusal(&deletion("Olga"));
    assert_eq!(status, 409, "{error}");
    assert!(error.contains("invite another one first"), "{error}");

    let now = ann.person.call(&deletion("ann"));
    assert_eq!((now.role, now.person), (AccessRole::Operator, None));
    server.kill();
    let server = home.serve(&[]);
    site.set(&server);
    assert_eq!(ann.person.call(&GetSessionRequest {}).person, None);
    let (status, error) = ann.person.expect_refusal(&GetOwnDataRequest {});
    assert_eq!(status, 403, "{error}");

    let name = format!("Deleted person {}", ann.person.no.0);
    let left = account(&olga, &ann.person);
    assert_eq!(left.person.name, name);
    assert!(left.is_deleted && left.is_revoked && left.n_sessions == 0);
    assert_eq!(left.last_seen_ms, left.joined_ms);
    let again = CreateInvitationRequest {
        person: Some(ann.person.no),
        ..invite(AccessRole::Annotator)
    };
    let (status, error) = olga.expect_refusal(&again);
    assert_eq!(status, 422, "{error}");
    assert!(error.contains("deleted account"), "{error}");
    assert_eq!(
        agreement(&olga, task),
        (report.clone(), vec![name.clone(), "Ben".to_owned()])
    );
    assert!(!olga.download(task, TaskExportFormat::Csv).contains("Ann"));

    home.run("backup own.tar.gz").expect_success();
    let backup = home.path("own.tar.gz");
    for other in TestHome::of_each_database() {
        let restored = other.run_with(&["restore", &backup.to_string_lossy()]);
        restored.expect_success();
        let people = other.run("people list --json").expect_success();
        assert!(
            people.contains(&name) && !people.contains("Ann"),
            "{people}"
        );
        let server = other.serve(&[]);
        let olga = PersonClient::join(&ServerAddress::new(&server), None, "Another operator");
        assert_eq!(agreement(&olga, task).0, report);
    }

    // The name is free again, and is that of another person.
    let other = joined(&server, &site, "Ann");
    assert_ne!(other.no, ann.person.no);
    assert_eq!(other.call(&GetOwnDataRequest {}).tasks, []);
    let listed = home.run("people delete Ben").expect_success();
    assert!(!listed.contains("Ben"), "{listed}");
    assert!(listed.contains("\tdeleted\n"), "{listed}");
}

#[test]
fn a_deletion_during_which_the_server_is_killed_happened_or_did_not() {
    for home in TestHome::of_each_database() {
        let mut server = home.serve(&[]);
        let site = ServerAddress::new(&server);
        let olga = PersonClient::join(&site, None, "Olga");
        for ms in [0, 1, 2, 4, 8] {
            let name = format!("Person {ms}");
            let person = joined(&server, &site, &name);
            std::thread::scope(|scope| {
                // The answer may be lost.
                scope.spawn(|| person.try_ask(&deletion(&name)).ok());
                std::thread::sleep(Duration::from_millis(ms));
                server.kill();
            });
            server = home.serve(&[]);
            site.set(&server);
            let found = account(&olga, &person);
            let who = person.call(&GetSessionRequest {}).person;
            assert_eq!(who.is_none(), found.is_deleted, "after {ms} ms");
            assert_eq!(found.n_sessions, u32::from(!found.is_deleted));
            assert_eq!(found.person.name == name, !found.is_deleted);
            if !found.is_deleted {
                person.call(&deletion(&name));
            }
            assert!(account(&olga, &person).is_deleted);
        }
    }
}
