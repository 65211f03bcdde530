//! Annotators at work, for `cargo xtask bench review`: each decides once in a while, and asks for
//! further items as the page does.
//!
//! ```text
//! annotators ADDRESS STUDY
//! ```
//!
//! It reads tasks from standard input and answers each by a line of JSON. `join N` makes a review
//! task of the study and lets N people in, `decide SECONDS PERIOD_MS` has each of them decide so
//! long, once in each period. The server is started with `--no-auth-on-loopback`.
//!
//! All run on one thread, so that the processor is the server's.

use std::collections::VecDeque;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use shared::annotation::assignment::{ItemAssignment, N_PREFETCHED};
use shared::annotation::event::{AnnotationDecision, AnnotationEventAction, RatingTagsAndNote};
use shared::annotation::{
    AnnotationEventKey, AnnotationTaskDefinition, AnnotatorAnswer, ClientAnnotationEvent,
};
use shared::api::Endpoint;
use shared::api::address::RequestAddress;
use shared::api::annotation::{
    AnnotationTaskStatus, CreateTaskRequest, EventOutcome, LeaseItemsRequest, SubmitEventsRequest,
    TaskId, UpdateTaskRequest,
};
use shared::api::people::{
    AcceptInvitationRequest, AccessRole, CSRF_HEADER, CreateInvitationRequest,
};
use tokio::time::{Instant, sleep_until};

type Fallible<T> = Result<T, Box<dyn Error + std::marker::Send + Sync>>;

/// Items of the task, or all that there are.
const N_ITEMS: u32 = 2_000;

/// People for each item: 10,000 decisions, of which a minute of 200 people makes 4,000.
const OVERLAP: u32 = 5;

fn main() -> Fallible<()> {
    let mut args = std::env::args().skip(1);
    let (address, study) = (args.next(), args.next());
    let address = address.ok_or("give the address of the server")?;
    let study = study.ok_or("give the name of a study")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mut people, mut task) = (Vec::new(), None);
    for line in std::io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[..] {
            ["join", n] => {
                let n_people = n.parse()?;
                let made = runtime.block_on(begin(&address, &study, n_people))?;
                (people, task) = (made.people, Some(made.task));
                json!({"n_people": people.len(), "n_items": made.n_items})
            }
            ["decide", seconds, period_ms] => {
                let pace = Pace {
                    task: task.ok_or("nobody has joined")?,
                    lasts: Duration::from_secs(seconds.parse()?),
                    period: Duration::from_millis(period_ms.parse()?),
                };
                let people = std::mem::take(&mut people);
                runtime.block_on(decide(people, pace))?
            }
            _ => return Err(format!("no such task: {line}").into()),
        };
        println!("{answer}");
    }
    Ok(())
}

/// A task with the people who work on it.
struct Begun {
    task: TaskId,
    n_items: u32,
    people: Vec<Person>,
}

/// A registered person.
struct Person {
    number: usize,
    client: reqwest::Client,
    address: String,
    cookie: String,
    csrf: String,
}

/// How often and how long.
#[derive(Clone, Copy)]
struct Pace {
    task: TaskId,
    lasts: Duration,
    period: Duration,
}

/// What one person has seen; times in milliseconds.
#[derive(Default)]
struct Seen {
    sends: Vec<f64>,
    nexts: Vec<f64>,
    errors: Vec<String>,
    /// Moments to decide at which there was no item.
    n_idle: u32,
}

async fn begin(address: &str, study: &str, n_people: usize) -> Fallible<Begun> {
    let operator = Person::new(address, 0)?;
    let task: AnnotationTaskDefinition = serde_json::from_value(json!({
        "title": "Measured", "study": study, "probes": ["tfc1"], "n_items": N_ITEMS,
        "design": {"kind": "uniform"}, "overlap": OVERLAP, "seed": 42, "gold_every": 0,
    }))?;
    let made = operator.ask(&CreateTaskRequest { task }).await?;
    let task = made.summary.task;
    let open = UpdateTaskRequest {
        task,
        status: Some(AnnotationTaskStatus::Open),
        are_results_public: None,
        guidelines: None,
    };
    operator.ask(&open).await?;
    let mut people = Vec::new();
    for number in 1..=n_people {
        people.push(Person::join(address, number).await?);
    }
    Ok(Begun {
        task,
        n_items: made.composition.n_sampled_items,
        people,
    })
}

impl Person {
    fn new(address: &str, number: usize) -> Fallible<Person> {
        // Each from an address of their own, as from a house of their own: the server counts how
        // often an address brings invitations.
        let own = Ipv4Addr::new(127, 1, (number / 250) as u8, (number % 250 + 1) as u8);
        let client = reqwest::Client::builder()
            .local_address(IpAddr::V4(own))
            .timeout(Duration::from_secs(30))
            .build()?;
        Ok(Person {
            number,
            client,
            address: address.to_owned(),
            cookie: String::new(),
            csrf: String::new(),
        })
    }

    async fn join(address: &str, number: usize) -> Fallible<Person> {
        let mut person = Person::new(address, number)?;
        let invite = CreateInvitationRequest {
            role: AccessRole::Annotator,
            valid_hours: 1,
            person: None,
            note: String::new(),
        };
        let join = AcceptInvitationRequest {
            token: Some(person.ask(&invite).await?.token),
            name: format!("Annotator {number}"),
            password: None,
        };
        let response = person.request(&join)?.send().await?;
        let set = response.headers().get_all(SET_COOKIE).iter();
        let set = set.filter_map(|it| it.to_str().ok()?.split(';').next());
        person.cookie = set.into_iter().next_back().unwrap_or_default().to_owned();
        let who: Value = serde_json::from_slice(&response.bytes().await?)?;
        let csrf = who["csrf_token"].as_str().ok_or_else(|| who.to_string())?;
        person.csrf = csrf.to_owned();
        Ok(person)
    }

    fn request<E: Endpoint>(&self, asked: &E) -> Fallible<reqwest::RequestBuilder> {
        let RequestAddress { path, body } = asked.address();
        let method = E::METHOD.to_string().parse::<reqwest::Method>()?;
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.address));
        if let Some(body) = body {
            request = request.body(body).header(CONTENT_TYPE, "application/json");
        }
        if !self.cookie.is_empty() {
            request = request
                .header(COOKIE, &self.cookie)
                .header(CSRF_HEADER, &self.csrf);
        }
        Ok(request)
    }

    async fn ask<E: Endpoint>(&self, asked: &E) -> Fallible<E::Reply> {
        let response = self.request(asked)?.send().await?;
        let status = response.status();
        let body = response.bytes().await?;
        if status != 200 {
            let said = String::from_utf8_lossy(&body);
            return Err(format!("{}: {status}: {said}", E::PATH).into());
        }
        Ok(serde_json::from_slice(&body)?)
    }
}

/// Has everybody decide; what they have seen together.
async fn decide(people: Vec<Person>, pace: Pace) -> Fallible<Value> {
    let n_people = people.len().max(1);
    let busy = cpu_seconds()?;
    let start = Instant::now();
    let mut working = tokio::task::JoinSet::new();
    for person in people {
        // Their moments are spread over the period.
        let begin = start + pace.period.mul_f64(person.number as f64 / n_people as f64);
        working.spawn(work(person, pace, begin, start + pace.lasts));
    }
    let mut all = Seen::default();
    while let Some(seen) = working.join_next().await {
        let seen = seen?;
        all.sends.extend(seen.sends);
        all.nexts.extend(seen.nexts);
        all.errors.extend(seen.errors);
        all.n_idle += seen.n_idle;
    }
    Ok(json!({
        "seconds": start.elapsed().as_secs_f64(),
        "send": told(all.sends),
        "next": told(all.nexts),
        "n_errors": all.errors.len(),
        "first_error": all.errors.first(),
        "n_idle": all.n_idle,
        "cpu_seconds": cpu_seconds()? - busy,
    }))
}

async fn work(person: Person, pace: Pace, begin: Instant, end: Instant) -> Seen {
    let mut seen = Seen::default();
    let mut ready: VecDeque<ItemAssignment> = VecDeque::new();
    // People come one after the other as well, and decide when they have read.
    sleep_until(begin).await;
    fetch(&person, pace.task, &mut ready, &mut seen).await;
    let mut due = begin + pace.period;
    let mut n_made = 0_u64;
    while due < end {
        if ready.len() <= N_PREFETCHED / 2 {
            fetch(&person, pace.task, &mut ready, &mut seen).await;
        }
        sleep_until(due).await;
        let decided_at = due;
        due += pace.period;
        let Some(offer) = ready.pop_front() else {
            seen.n_idle += 1;
            continue;
        };
        n_made += 1;
        let asked = SubmitEventsRequest {
            task: pace.task,
            events: vec![event(&person, n_made, &offer)],
        };
        match person.ask(&asked).await {
            Ok(sent)
                if sent
                    .receipts
                    .iter()
                    .all(|it| it.outcome == EventOutcome::Stored) =>
            {
                seen.sends.push(ms_since(decided_at));
            }
            Ok(sent) => seen.errors.push(format!("{:?}", sent.receipts)),
            Err(error) => seen.errors.push(error.to_string()),
        }
    }
    seen
}

async fn fetch(
    person: &Person,
    task: TaskId,
    ready: &mut VecDeque<ItemAssignment>,
    seen: &mut Seen,
) {
    let n = N_PREFETCHED as u32;
    let start = Instant::now();
    match person.ask(&LeaseItemsRequest { task, n_items: n }).await {
        Ok(handed) => {
            seen.nexts.push(ms_since(start));
            for it in handed.items {
                if !ready.iter().any(|held| held.item == it.assignment.item) {
                    ready.push_back(it.assignment);
                }
            }
        }
        Err(error) => seen.errors.push(error.to_string()),
    }
}

/// A decision whose key nobody else makes.
fn event(person: &Person, number: u64, offer: &ItemAssignment) -> ClientAnnotationEvent {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = since.unwrap_or_default().as_nanos();
    let bits = now << 40 | (person.number as u128) << 20 | u128::from(number);
    let answers = AnnotatorAnswer::ALL;
    ClientAnnotationEvent {
        key: AnnotationEventKey::from_bytes(bits.to_be_bytes()),
        created_ms: (now / 1_000_000) as u64,
        action: AnnotationEventAction::Decided(AnnotationDecision {
            item: offer.item,
            answer: answers[(number as usize + person.number) % answers.len()],
            comment: RatingTagsAndNote::default(),
            display_order: offer.display_order,
            duration_ms: 2_500,
            replaces: Vec::new(),
        }),
    }
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// How many, and how long they took.
fn told(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let last = times.len().saturating_sub(1);
        times.get(((times.len() as f64 * share) as usize).min(last))
    };
    json!({
        "n": times.len(),
        "p50_ms": at(0.5),
        "p95_ms": at(0.95),
        "p99_ms": at(0.99),
        "max_ms": times.last(),
    })
}

/// Time of the processor that this process has had, in seconds.
fn cpu_seconds() -> Fallible<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("an unknown /proc/self/stat")?;
    // Fields 14 and 15 of proc(5), in hundredths of a second; the third is the first here.
    let fields = fields.split_whitespace().skip(11).take(2);
    let ticks: Vec<f64> = fields.map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
