//! Many people annotate while others guess passwords, all through the few connections that a server
//! has to PostgreSQL.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::blocking::Client;
use shared::api::Endpoint;
use shared::api::people::SignInRequest;

use super::crashes::{self, CrashPlan, StopGuard};
use super::make_study;
use super::person::own_address;
use super::scripted_annotator::ScriptedAnnotator;
use super::server_address::ServerAddress;
use crate::harness::{PATIENCE, TestHome};

/// With the annotators, there are 64 requests at once.
const N_GUESSERS: usize = 44;

/// The number of addresses that the guessers share.
const N_ADDRESSES: usize = 4;

/// The connections of the pool, and one that holds the lock for working on jobs.
const MOST_CONNECTIONS: i64 = 4 + 1;

#[test]
fn decisions_are_kept_by_postgres_while_others_guess_passwords() {
    let Some(home) = TestHome::with_postgres() else {
        return;
    };
    let database = home.database.as_ref().unwrap();
    make_study(&home);
    let server = home.serve(&[]);
    let plan = CrashPlan {
        n_people: 20,
        seconds: 3,
        n_kills: 0,
        seed: 3,
    };
    let site = ServerAddress::new(&server);
    let (task, curator, mut people) = crashes::begin(&server, &site, plan);
    let client = |_| {
        let client = Client::builder().local_address(own_address());
        client.timeout(PATIENCE).build().unwrap()
    };
    let clients: Vec<Client> = (0..N_ADDRESSES).map(client).collect();

    let stop = AtomicBool::new(false);
    let mut n_connections = Vec::new();
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    std::thread::scope(|scope| {
        let _end = StopGuard(&stop);
        for person in &mut people {
            scope.spawn(|| person.work(&stop));
        }
        let begin = |n: usize| {
            let (client, address, stop) = (&clients[n % N_ADDRESSES], &server.address, &stop);
            scope.spawn(move || guess(client, address, n, stop))
        };
        let guessers: Vec<_> = (0..N_GUESSERS).map(begin).collect();
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(plan.seconds) {
            n_connections.push(database.n_connections());
            std::thread::sleep(Duration::from_millis(100));
        }
        stop.store(true, Ordering::Relaxed);
        for guesser in guessers {
            for status in guesser.join().unwrap() {
                *statuses.entry(status).or_default() += 1;
            }
        }
    });
    println!("sign-ins by status: {statuses:?}; connections: {n_connections:?}");
    assert!(statuses.keys().all(|it| [401, 429].contains(it)));
    // The first guess for each name is checked, however many there are.
    assert!(statuses[&401] >= N_GUESSERS as u64);
    let most = n_connections.into_iter().max().unwrap();
    assert!((2..=MOST_CONNECTIONS).contains(&most), "{most}");
    for ScriptedAnnotator { seen, .. } in &people {
        assert_eq!((seen.n_lost, seen.n_unavailable), (0, 0));
    }

    crashes::expect_acknowledged(&curator.rows(task), &people);
    crashes::finish(&mut people);
    crashes::expect_same(&curator.rows(task), &people);
}

/// Guesses the password of a name until it is told to stop; returns the status of each answer.
fn guess(client: &Client, address: &str, n: usize, stop: &AtomicBool) -> Vec<u16> {
    let sign_in = SignInRequest {
        // The name of an annotator, or of nobody.
        name: format!("Annotator {n}"),
        password: "a wrong password".to_owned(),
    };
    let body = serde_json::to_string(&sign_in).unwrap();
    let mut statuses = Vec::new();
    loop {
        let asked = client.post(format!("{address}{}", SignInRequest::PATH));
        let answer = asked.body(body.clone()).send().unwrap();
        statuses.push(answer.status().as_u16());
        if stop.load(Ordering::Relaxed) {
            return statuses;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
