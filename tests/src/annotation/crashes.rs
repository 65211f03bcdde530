//! Nothing is lost when the server is killed again and again while people annotate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shared::annotation::export::ExportedAnnotationEvent;
use shared::annotation::{AnnotationEventKey, PersonId};
use shared::api::annotation::{GetTaskProgressRequest, TaskId};
use shared::api::people::{AccessRole, CreateInvitationRequest};

use super::person::PersonClient;
use super::scripted_annotator::{RequestCounts, ScriptedAnnotator, ScriptedEvent};
use super::seeded_random::SeededRandom;
use super::server_address::ServerAddress;
use super::{invite, make_study, open_task, task};
use crate::harness::{TestHome, TestServer};

/// How long people annotate, and how often the server is killed; the last time is at the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrashPlan {
    pub(crate) n_people: u32,
    pub(crate) seconds: u64,
    pub(crate) n_kills: u32,
    pub(crate) seed: u64,
}

#[test]
fn what_20_people_decide_survives_a_server_that_is_killed_three_times() {
    check_survives_crashes(CrashPlan {
        n_people: 20,
        seconds: 12,
        n_kills: 3,
        seed: 1,
    });
}

/// Kills the server while people annotate, and compares its events with those that they remember.
/// Runs with each database.
pub(crate) fn check_survives_crashes(plan: CrashPlan) {
    for home in TestHome::of_each_database() {
        killed(&home, plan);
    }
}

fn killed(home: &TestHome, plan: CrashPlan) {
    make_study(home);
    let server = home.serve(&[]);
    let site = ServerAddress::new(&server);
    let (task, curator, mut people) = begin(&server, &site, plan);
    let server = disturb(home, (&site, server), plan, &mut people);

    let n_unsent: usize = people
        .iter()
        .map(|it| it.made.len() - it.n_acknowledged)
        .sum();
    assert!(n_unsent > 0, "nobody had anything to send at the end");
    expect_acknowledged(&curator.rows(task), &people);
    finish(&mut people);
    let rows = curator.rows(task);
    expect_same(&rows, &people);
    let progress = curator.call(&GetTaskProgressRequest { task }).progress;
    let n_standing: u64 = people.iter().map(ScriptedAnnotator::n_standing).sum();
    assert_eq!(progress.n_decisions, n_standing);
    tell(home, plan, &people, n_unsent);

    // The server is killed once more, so that it starts from the disk alone.
    server.kill();
    let server = home.serve(&[]);
    site.set(&server);
    assert_eq!(curator.rows(task), rows);
}

/// Opens a task for a number of annotators, each of whom may answer every item.
pub(super) fn begin(
    server: &TestServer,
    site: &ServerAddress,
    plan: CrashPlan,
) -> (TaskId, PersonClient, Vec<ScriptedAnnotator>) {
    let made = open_task(server, task(1_000, plan.n_people));
    assert!(
        made.composition.n_sampled_items >= 400,
        "{:?}",
        made.composition
    );
    let task = made.summary.task;
    let curator = PersonClient::join(site, None, "Curator");
    let people = (0..plan.n_people).map(|at| {
        let token = server
            .call::<CreateInvitationRequest>(&invite(AccessRole::Annotator))
            .token;
        let person = PersonClient::join(site, Some(token), &format!("Annotator {at}"));
        ScriptedAnnotator::new(person, task, plan.seed)
    });
    let people = people.collect();
    (task, curator, people)
}

/// Lets people annotate while the server is killed and restarted. At the end it stays away while
/// they continue for a second.
fn disturb(
    home: &TestHome,
    (site, mut server): (&ServerAddress, TestServer),
    plan: CrashPlan,
    people: &mut [ScriptedAnnotator],
) -> TestServer {
    let mut random = SeededRandom::new(plan.seed);
    let ms = plan.seconds * 1_000;
    let mut moments: Vec<u64> = (1..plan.n_kills).map(|_| random.below(ms)).collect();
    moments.sort_unstable();
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let wait = |until: u64| {
        let until = Duration::from_millis(until);
        std::thread::sleep(until.saturating_sub(begun.elapsed()));
    };
    std::thread::scope(|scope| {
        // This also stops the people if this thread panics, which otherwise would wait for them
        // forever.
        let _end = StopGuard(&stop);
        for person in people {
            scope.spawn(|| person.work(&stop));
        }
        for moment in moments {
            wait(moment);
            server.kill();
            std::thread::sleep(Duration::from_millis(random.below(800)));
            server = home.serve(&[]);
            site.set(&server);
        }
        wait(ms);
        server.kill();
        std::thread::sleep(Duration::from_secs(1));
    });
    let server = home.serve(&[]);
    site.set(&server);
    server
}

/// Tells people to stop when it is dropped.
pub(super) struct StopGuard<'a>(pub(super) &'a AtomicBool);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lets everybody send their unsent events, in parallel.
pub(super) fn finish(people: &mut [ScriptedAnnotator]) {
    std::thread::scope(|scope| {
        for person in people {
            scope.spawn(|| person.finish());
        }
    });
}

/// Checks that every acknowledged event is there, and none twice.
pub(super) fn expect_acknowledged(rows: &[ExportedAnnotationEvent], people: &[ScriptedAnnotator]) {
    let keys: BTreeSet<AnnotationEventKey> = rows.iter().map(|it| it.event.key).collect();
    assert_eq!(keys.len(), rows.len(), "an event is there twice");
    for person in people {
        for made in &person.made[..person.n_acknowledged] {
            let key = made.event.key;
            assert!(keys.contains(&key), "acknowledged, and lost: {key}");
        }
    }
}

/// Checks that the export contains exactly the events that people remember, each once, with its
/// status, and for each person in the original order.
pub(super) fn expect_same(rows: &[ExportedAnnotationEvent], people: &[ScriptedAnnotator]) {
    let n_made: usize = people.iter().map(|it| it.made.len()).sum();
    assert_eq!(rows.len(), n_made);
    let of: BTreeMap<AnnotationEventKey, &ExportedAnnotationEvent> =
        rows.iter().map(|it| (it.event.key, it)).collect();
    assert_eq!(of.len(), n_made, "an event is there twice");
    for person in people {
        let mut before_ms = 0;
        for made in &person.made {
            let row = of.get(&made.event.key);
            let row = row.unwrap_or_else(|| panic!("lost: {:?}", made.event));
            expect_row(row, person.no(), made);
            assert!(
                before_ms <= row.received_ms,
                "out of order: {:?}",
                made.event
            );
            before_ms = row.received_ms;
        }
    }
}

fn expect_row(row: &ExportedAnnotationEvent, person: PersonId, made: &ScriptedEvent) {
    assert_eq!((row.person, &row.event), (person, &made.event));
    assert_eq!(row.status, made.fate, "{:?}", made.event);
    let item = made.event.action.item_no();
    assert_eq!(row.item.is_some(), item.is_some());
}

/// Prints a summary of what happened in the test.
pub(super) fn tell(
    home: &TestHome,
    plan: CrashPlan,
    people: &[ScriptedAnnotator],
    n_unsent: usize,
) {
    let database = match home.database {
        Some(_) => "PostgreSQL",
        None => "SQLite",
    };
    let sum =
        |of: &dyn Fn(&RequestCounts) -> u32| people.iter().map(|it| of(&it.seen)).sum::<u32>();
    println!(
        "{database}: {} people, {} s, {} kills, seed {}: {} events, {n_unsent} not sent at the \
         end; {} requests without an answer, {} refused for a while, {} events found to be known, \
         {} sent twice",
        plan.n_people,
        plan.seconds,
        plan.n_kills,
        plan.seed,
        people.iter().map(|it| it.made.len()).sum::<usize>(),
        sum(&|it| it.n_lost),
        sum(&|it| it.n_unavailable),
        sum(&|it| it.n_known),
        sum(&|it| it.n_twice),
    );
}
