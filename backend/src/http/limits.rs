//! How much is done at once, and for one visitor.

mod body;
mod slots;
mod rate_limit;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use shared::annotation::PersonId;
use shared::api::people::AccessRole;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;
use crate::http::AppState;
use crate::http::access::Caller;

use body::read_body;
use rate_limit::RateLimit;

pub(super) use slots::{Slot, SlotPool};

/// Requests that are answered at once; more are turned away.
const REQUESTS: usize = 256;

/// People who watch jobs at once.
const MAX_JOB_WATCHERS: usize = 256;

/// Aggregations of studies and reviews at once; more wait. None of them waits for a model.
const MAX_COMPUTATIONS: usize = 4;

/// Requests to score texts that wait or are worked on; more are told to come again.
const MAX_SCORING_REQUESTS: usize = 32;

/// Those of one address at once: somebody who sends many has no more of the places.
pub(super) const SCORINGS_OF_ONE: usize = 4;

/// When whoever is told so should come again: some batches of others later.
const SCORINGS_AGAIN_S: u64 = 5;

/// Downloads of whole studies at once; more are told to come again.
const DOWNLOADS: usize = 32;

/// Downloads of one address at once: somebody who reads slowly has no more of them.
pub(super) const MAX_DOWNLOADS_PER_CLIENT: usize = 4;

/// When whoever is told so should come again.
const DOWNLOADS_AGAIN_S: u64 = 10;

/// Whole studies that are written at once; more wait.
const EXPORTS: usize = 1;

/// Large answers that are compressed at once; more wait.
const COMPRESSORS: usize = 2;

/// Bytes of bodies that are held at once, from when they come until the request is answered.
const BODIES: usize = 256 << 20;

/// Those of one asker: a few of the largest bodies.
const BODIES_OF_ONE: usize = 16 << 20;

/// Those of operators, beside those of all others: two jobs of the largest size.
const BODIES_OF_OPERATORS: usize = 512 << 20;

/// When whoever is told so should send a body again.
const BODIES_AGAIN_S: u64 = 10;

/// How often something may be done.
#[derive(Clone, Copy)]
struct Allowance {
    /// So often at once.
    burst: u32,
    /// Once more after this time.
    every: Duration,
}

impl Allowance {
    const fn new(burst: u32, every: Duration) -> Allowance {
        Allowance { burst, every }
    }
}

/// Somebody who reads: a page makes a handful of requests, a dial one per move.
const READ_RATE: Allowance = Allowance::new(120, Duration::from_millis(100));

/// Somebody who types: the page waits for a pause before it asks.
const SCORING_RATE: Allowance = Allowance::new(10, Duration::from_secs(2));

/// Somebody who is signed in, whoever shares their address: one who decides by a key each second
/// makes a few requests for each.
const SIGNED_IN_RATE: Allowance = Allowance::new(300, Duration::from_millis(50));

/// Tokens and passwords that were wrong, of one address.
const FAILED_ATTEMPT_RATE: Allowance = Allowance::new(10, Duration::from_secs(6));

/// Passwords of one name that were wrong, wherever from. Somebody with many addresses could keep it
/// full and so lock out whom they mean, who then needs a link; a password that is tried from a
/// thousand addresses at once would be worse.
const GUESSES_OF_NAME: Allowance = Allowance::new(20, Duration::from_secs(20));

/// Those of one address: so few that one address alone never locks out anybody elsewhere.
const GUESSES_OF_NAME_FROM_ADDRESS: Allowance = Allowance::new(5, Duration::from_secs(60));

/// Passwords that are worked on at once: each takes a core and 19 MiB for some tens of
/// milliseconds.
const PASSWORDS: usize = 2;

/// Addresses, people and names of each limit that are remembered; of more, those that were quiet
/// longest are forgotten.
const MAX_TRACKED_CLIENTS: usize = 10_000;

/// All concurrency and rate limits of the server.
pub(super) struct ServerLimits {
    pub(super) reads: RateLimit<ClientKey>,
    pub(super) scores: RateLimit<ClientKey>,
    pub(super) people: RateLimit<ClientKey>,
    pub(super) guesses: RateLimit<ClientKey>,
    pub(super) guesses_of_name: RateLimit<String>,
    pub(super) guesses_from_address: RateLimit<(String, ClientKey)>,
    passwords: Arc<Semaphore>,
    requests: Arc<Semaphore>,
    watchers: Arc<Semaphore>,
    bodies: Arc<SlotPool>,
    bodies_of_operators: Arc<SlotPool>,
    downloads: Arc<SlotPool>,
    exports: Arc<Semaphore>,
    compressors: Arc<Semaphore>,
    heavy: Arc<Semaphore>,
    scorings: Arc<SlotPool>,
    /// Batches of texts that are scored at once: one, which has all threads below.
    turn: Arc<Semaphore>,
    /// Threads of these batches: all cores but one, so that everything else has a core.
    scoring_threads: Option<Arc<rayon::ThreadPool>>,
}

/// A batch's turn to be computed, kept until it is.
pub(super) struct ScoringTurn {
    _place: OwnedSemaphorePermit,
    threads: Option<Arc<rayon::ThreadPool>>,
}

impl ScoringTurn {
    /// Computes on the threads of scoring, then lets the next batch have its turn.
    pub(super) fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        match &self.threads {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }
}

impl ServerLimits {
    pub(super) fn new() -> ServerLimits {
        ServerLimits {
            reads: RateLimit::new(READ_RATE),
            scores: RateLimit::new(SCORING_RATE),
            people: RateLimit::new(SIGNED_IN_RATE),
            guesses: RateLimit::new(FAILED_ATTEMPT_RATE),
            guesses_of_name: RateLimit::new(GUESSES_OF_NAME),
            guesses_from_address: RateLimit::new(GUESSES_OF_NAME_FROM_ADDRESS),
            passwords: Arc::new(Semaphore::new(PASSWORDS)),
            requests: Arc::new(Semaphore::new(REQUESTS)),
            watchers: Arc::new(Semaphore::new(MAX_JOB_WATCHERS)),
            bodies: SlotPool::new(BODIES, BODIES_OF_ONE),
            bodies_of_operators: SlotPool::new(BODIES_OF_OPERATORS, BODIES_OF_OPERATORS),
            downloads: SlotPool::new(DOWNLOADS, MAX_DOWNLOADS_PER_CLIENT),
            exports: Arc::new(Semaphore::new(EXPORTS)),
            compressors: Arc::new(Semaphore::new(COMPRESSORS)),
            heavy: Arc::new(Semaphore::new(MAX_COMPUTATIONS)),
            scorings: SlotPool::new(MAX_SCORING_REQUESTS, SCORINGS_OF_ONE),
            turn: Arc::new(Semaphore::new(1)),
            // Where there are no threads to be had, the usual ones do.
            scoring_threads: rayon::ThreadPoolBuilder::new()
                .num_threads(rayon::current_num_threads().saturating_sub(1).max(1))
                .build()
                .ok()
                .map(Arc::new),
        }
    }

    /// A place among those who have texts scored, kept as long as what is returned.
    /// No asker is an operator, who is not counted as one.
    pub(super) fn scoring(&self, asker: Option<ClientKey>) -> Result<Slot, Error> {
        self.scorings.take(asker).ok_or(Error::ScoringQueueFull {
            most: MAX_SCORING_REQUESTS,
            most_of_one: SCORINGS_OF_ONE,
            retry_after_s: SCORINGS_AGAIN_S,
        })
    }

    /// The turn of a batch. Whoever asks first has it first, so that a small request waits for one
    /// batch of each other one, and not for their ends.
    pub(super) async fn scoring_turn(&self) -> ScoringTurn {
        ScoringTurn {
            _place: wait_for(&self.turn).await,
            threads: self.scoring_threads.clone(),
        }
    }

    /// A place among those who watch, kept as long as what is returned.
    pub(super) fn watcher(&self) -> Result<OwnedSemaphorePermit, Error> {
        let busy = |_| Error::ServerBusy {
            what: "others who watch jobs",
            retry_after_s: 30,
        };
        self.watchers.clone().try_acquire_owned().map_err(busy)
    }

    /// A place among those who download, kept as long as what is returned.
    pub(super) fn download(&self, ip: IpAddr) -> Result<Slot, Error> {
        let place = self.downloads.take(Some(ClientKey::Address(ip)));
        place.ok_or(Error::ServerBusy {
            what: "other downloads",
            retry_after_s: DOWNLOADS_AGAIN_S,
        })
    }

    /// Places for the bytes of a body, none of them taken yet.
    fn body(&self, caller: &Caller) -> Slot {
        match caller.has_role(AccessRole::Operator) {
            true => self.bodies_of_operators.take_none(None),
            false => self.bodies.take_none(Some(caller.asker())),
        }
    }

    /// A place for a whole study to be written, kept as long as what is returned.
    pub(super) async fn export(&self) -> OwnedSemaphorePermit {
        wait_for(&self.exports).await
    }

    /// A place for a large answer to be compressed, kept as long as what is returned.
    pub(super) async fn compressor(&self) -> OwnedSemaphorePermit {
        wait_for(&self.compressors).await
    }

    /// A place for a password, kept as long as what is returned.
    pub(super) async fn password(&self) -> OwnedSemaphorePermit {
        wait_for(&self.passwords).await
    }

    /// A place for what keeps a core busy without a model, kept as long as what is returned.
    pub(super) async fn computation(&self) -> OwnedSemaphorePermit {
        wait_for(&self.heavy).await
    }
}

/// Waits for one of some places, kept as long as what is returned.
async fn wait_for(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let place = places.clone().acquire_owned().await;
    place.expect("the semaphore is never closed")
}

/// Reads the body of a request, of at most so many bytes, and then turns it away when too many are
/// answered: whoever sends slowly takes no place.
pub(super) async fn shed_load(
    State((app, max_body)): State<(AppState, usize)>,
    request: Request,
    next: Next,
) -> Response {
    let (request, _body) = match read_body(&app.limits, request, max_body).await {
        Ok(read) => read,
        Err(error) => return error.into_response(),
    };
    match app.limits.requests.try_acquire() {
        Ok(_place) => next.run(request).await,
        Err(_) => Error::ServerBusy {
            what: "other requests",
            retry_after_s: 5,
        }
        .into_response(),
    }
}

/// As whom somebody is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ClientKey {
    /// Whoever is there. Whoever has IPv6 has a whole /64, which counts as one.
    Address(IpAddr),
    /// Somebody who is signed in, wherever they are.
    Person(PersonId),
}

impl ClientKey {
    /// What stands for them in a table.
    pub(super) fn rate_limit_key(self) -> ClientKey {
        match self {
            ClientKey::Address(IpAddr::V6(ip)) => {
                let [a, b, c, d, ..] = ip.segments();
                ClientKey::Address(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            ClientKey::Address(IpAddr::V4(_)) | ClientKey::Person(_) => self,
        }
    }
}
