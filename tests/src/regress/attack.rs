//! Readers and attackers for several minutes at once, each from its own address. Runs with each
//! database.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use reqwest::blocking::{Body, Client, RequestBuilder};
use serde_json::json;

use crate::harness::{PATIENCE, TestHome, TestServer, model};

const TIME: Duration = Duration::from_secs(600);

/// A shorter time is enough for problems that depend on the database.
const TIME_ON_POSTGRES: Duration = Duration::from_secs(180);

/// The number of readers at each of their addresses. An address may read ten times per second.
const READERS: usize = 10;
const READER_PAUSE: Duration = Duration::from_millis(1_200);

/// The limit for 99 of 100 requests of readers.
const LIMIT: Duration = Duration::from_millis(250);

/// What the clients of one kind have observed.
#[derive(Default)]
struct Seen {
    /// How often each status occurred; 0 stands for a closed connection.
    statuses: BTreeMap<u16, u64>,
    /// The duration of each request.
    took: Vec<Duration>,
}

/// A kind of client: its name, the last number of its address in 127.0.0.0/8, and the number of
/// clients.
type Kind = (&'static str, u8, usize);

const READERS_HERE: Kind = ("readers", 2, READERS);
const READERS_THERE: Kind = ("other readers", 3, READERS);
const SLOW: Kind = ("slow bodies", 4, 3);
const SCORERS: Kind = ("long scorings", 5, 2);
const EXPORTERS: Kind = ("exports", 6, 1);
const KINDS: [Kind; 5] = [READERS_HERE, READERS_THERE, SLOW, SCORERS, EXPORTERS];

#[test]
fn readers_are_answered_while_others_attack() {
    expect_readers_answered(&TestHome::new(), TIME);
}

#[test]
fn readers_are_answered_from_postgres_while_others_attack() {
    if let Some(home) = TestHome::with_postgres() {
        expect_readers_answered(&home, TIME_ON_POSTGRES);
    }
}

/// Runs 20 readers, 3 clients with slow bodies, 2 that score long documents, and one that exports.
fn expect_readers_answered(home: &TestHome, time: Duration) {
    let model = model().expect("the model is set up by `cargo xtask regress`");
    // The study is made without the model, which would otherwise score it during the test.
    drop(home.serve(&["--demo=lexical"]));
    let name = model.file_name().unwrap().to_string_lossy().into_owned();
    let folder = model.to_string_lossy().into_owned();
    let server = home.serve(&["--listen", "0.0.0.0:0", "--model", &folder]);
    let spec = format!("{name}:bi");
    warm_up(&server, &spec);

    let until = Instant::now() + time;
    let seen: Vec<Mutex<Seen>> = KINDS.iter().map(|_| Mutex::default()).collect();
    let mut memory = Vec::new();
    std::thread::scope(|scope| {
        for (kind, seen) in KINDS.iter().zip(&seen) {
            for n in 0..kind.2 {
                let (server, spec) = (&server, &spec);
                scope.spawn(move || client(server, *kind, n, spec, until, seen));
            }
        }
        while Instant::now() < until {
            memory.push(memory_mib(&server));
            sleep(Duration::from_secs(1));
        }
    });

    let seen: Vec<Seen> = seen
        .into_iter()
        .map(|it| it.into_inner().unwrap())
        .collect();
    for ((name, ..), seen) in KINDS.iter().zip(&seen) {
        println!("{name}: {:?}, p99 {:?}", seen.statuses, p99(&seen.took));
    }
    let (early, late) = memory.split_at(memory.len() / 2);
    let most = |it: &[f64]| it.iter().copied().fold(0.0, f64::max);
    let (early, late) = (most(early), most(late));
    println!("memory: {early:.0} MiB in the first half, {late:.0} MiB in the second");
    for (kind, seen) in KINDS.iter().zip(&seen) {
        let is_reader = [READERS_HERE, READERS_THERE].contains(kind);
        for &status in seen.statuses.keys() {
            match is_reader {
                true => assert_eq!(status, 200, "{kind:?}"),
                false => assert!(status < 500 || status == 503, "{kind:?}: {status}"),
            }
        }
        assert!(!is_reader || p99(&seen.took) < LIMIT, "{kind:?}");
    }
    // An attack that is refused at once would prove nothing.
    assert!(seen[4].statuses.contains_key(&200), "nothing was exported");
    assert!(late <= early * 1.1, "{late} MiB after {early} MiB");
}

/// Loads the model and the study before anything is timed.
fn warm_up(server: &TestServer, spec: &str) {
    let asked = json!({"model": spec, "query": "ice", "documents": ["ice"]});
    let scored = server.request("POST", "/api/score").body(asked.to_string());
    assert_eq!(scored.send().unwrap().status(), 200);
    assert_eq!(server.get(STUDY).status(), 200);
}

const STUDY: &str = "/api/studies/demo";
const EXPORT: &str = "/api/studies/demo/export";

fn client(
    server: &TestServer,
    kind: Kind,
    n: usize,
    spec: &str,
    until: Instant,
    seen: &Mutex<Seen>,
) {
    let (_, last, _) = kind;
    let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
    let builder = Client::builder().local_address(address).timeout(PATIENCE);
    let client = builder.build().unwrap();
    let at = |method, path: &str| {
        let path = format!("{}{path}", server.address);
        client.request(method, path)
    };
    let get = |path: &str| at(reqwest::Method::GET, path);
    let post = |path: &str| at(reqwest::Method::POST, path);
    sleep(READER_PAUSE.mul_f64(n as f64 / READERS as f64));
    let mut turn = n;
    while Instant::now() < until {
        turn += 1;
        let (request, pause): (RequestBuilder, Duration) = match kind {
            SLOW => (
                post("/rerank").body(Body::new(Slow { until })),
                Duration::ZERO,
            ),
            SCORERS => {
                let texts = vec!["the ice of a glacier moves ".repeat(148); 8];
                let asked = json!({"model": spec, "query": "glacier", "documents": texts});
                let request = post("/api/score").body(asked.to_string());
                (request, Duration::from_millis(100))
            }
            EXPORTERS => {
                let request = get(EXPORT).header("accept-encoding", "gzip, br");
                (request, Duration::from_millis(20))
            }
            _ => {
                let path = ["/", "/api/studies", STUDY][turn % 3];
                (get(path), READER_PAUSE)
            }
        };
        let since = Instant::now();
        let response = request.send();
        let status = response.map_or(0, |it| {
            let status = it.status().as_u16();
            // An incomplete body does not count as an answer.
            it.bytes().map_or(0, |_| status)
        });
        let took = since.elapsed();
        let mut seen = seen.lock().unwrap();
        *seen.statuses.entry(status).or_default() += 1;
        seen.took.push(took);
        drop(seen);
        sleep(pause);
    }
}

/// A body that sends one byte per second.
struct Slow {
    until: Instant,
}

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if Instant::now() > self.until {
            return Ok(0);
        }
        sleep(Duration::from_secs(1));
        buffer[0] = b' ';
        Ok(1)
    }
}

fn p99(took: &[Duration]) -> Duration {
    let mut took = took.to_vec();
    took.sort();
    took.get(took.len() * 99 / 100).copied().unwrap_or_default()
}

/// Returns the memory of the server that is neither file-backed nor swapped out, in MiB.
fn memory_mib(server: &TestServer) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:"));
    let kib: f64 = line
        .unwrap()
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse()
        .unwrap();
    kib / 1024.0
}
