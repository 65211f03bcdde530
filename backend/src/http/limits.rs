//! Limits on concurrency and request rates.

mod body;
pub(super) mod client_key;
mod slots;
mod rate_limit;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use shared::api::people::AccessRole;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::cache::ComputationSlots;
use crate::error::{Error, run_blocking};
use crate::http::AppState;
use crate::http::access::Caller;

use body::read_body;
use rate_limit::RateLimit;

pub(super) use client_key::ClientKey;
pub(super) use slots::{Slot, SlotPool};

/// Maximum number of requests that are handled at once; more are rejected.
const REQUESTS: usize = 256;

/// Maximum number of clients that watch jobs; more are rejected.
const MAX_JOB_WATCHERS: usize = 256;

/// Maximum number of scoring requests, waiting or in progress; more are rejected.
const MAX_SCORING_REQUESTS: usize = 32;

/// Maximum number of scoring requests per client, so that one client cannot take all slots.
pub(super) const SCORINGS_OF_ONE: usize = 4;

/// Seconds after which a rejected scoring request should be retried: the time of a few batches.
const SCORINGS_AGAIN_S: u64 = 5;

/// Maximum number of downloads of studies at once; more are rejected.
const DOWNLOADS: usize = 32;

/// Maximum number of downloads per address, so that one slow client cannot take all slots.
pub(super) const MAX_DOWNLOADS_PER_CLIENT: usize = 4;

/// Seconds after which a rejected download should be retried.
const DOWNLOADS_AGAIN_S: u64 = 10;

/// Maximum number of studies that are serialized at once; more wait.
const EXPORTS: usize = 1;

/// Maximum number of large responses that are compressed at once; more wait.
const COMPRESSORS: usize = 2;

/// Maximum total size of request bodies in memory, in bytes. A body counts until the request has
/// been handled.
const BODIES: usize = 256 << 20;

/// The same for one client: one body of the largest size.
const BODIES_OF_ONE: usize = 16 << 20;

/// The same for operators, in addition to all others: two jobs of the largest size.
const BODIES_OF_OPERATORS: usize = 512 << 20;

/// Seconds after which a rejected body should be sent again.
const BODIES_AGAIN_S: u64 = 10;

/// A rate: how often a client may do something.
#[derive(Clone, Copy)]
struct Allowance {
    /// Number of times in immediate succession.
    burst: u32,
    /// Time after which one more is allowed.
    every: Duration,
}

impl Allowance {
    const fn new(burst: u32, every: Duration) -> Allowance {
        Allowance { burst, every }
    }

    /// Returns the allowance of something that is done a number of times at once.
    fn times(self, n: usize) -> Allowance {
        let n = u32::try_from(n).unwrap_or(u32::MAX).max(1);
        Allowance::new(self.burst.saturating_mul(n), self.every / n)
    }
}

/// Rate of anonymous requests: a page makes a handful of requests, and one for each change of a
/// control. A page about a study counts too, also of people who are signed in; beyond this rate the
/// server writes no texts into it.
const READ_RATE: Allowance = Allowance::new(120, Duration::from_millis(100));

/// Rate of scoring requests for each ranker of the server: after a pause in typing, the Playground
/// sends one request to every ranker.
const SCORING_RATE: Allowance = Allowance::new(10, Duration::from_secs(2));

/// Rate of requests per signed-in person, whatever address they share. Annotating by keyboard makes
/// a few requests per second.
const SIGNED_IN_RATE: Allowance = Allowance::new(300, Duration::from_millis(50));

/// Rate of wrong tokens and passwords from one address.
const FAILED_ATTEMPT_RATE: Allowance = Allowance::new(10, Duration::from_secs(6));

/// Rate of wrong passwords for one name, from all addresses. An attacker with many addresses can
/// exhaust it and so lock out a person, who then needs a link. Unlimited guessing from many
/// addresses would be worse.
const GUESSES_OF_NAME: Allowance = Allowance::new(20, Duration::from_secs(20));

/// Rate of wrong passwords for one name from one address. It is so low that one address cannot lock
/// out a person elsewhere.
const GUESSES_OF_NAME_FROM_ADDRESS: Allowance = Allowance::new(5, Duration::from_secs(60));

/// Maximum number of passwords that are hashed at once. Each takes a core and 19 MiB for some tens
/// of milliseconds.
const PASSWORDS: usize = 2;

/// Number of clients or names that each rate limit remembers. The least recently active ones are
/// forgotten.
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
    pub(super) computations: ComputationSlots,
    scorings: Arc<SlotPool>,
    /// Permits for scoring a batch: one, since a batch uses all scoring threads.
    turn: Arc<Semaphore>,
    /// The scoring threads: one fewer than there are cores, so that a core is left for everything
    /// else.
    scoring_threads: Option<Arc<rayon::ThreadPool>>,
}

/// A slot for a scoring request, held by the request and by each step of its work.
pub(super) struct ScoringSlot(Arc<Slot>);

impl ScoringSlot {
    /// Runs `work` as [`run_blocking`] does. The slot is held until the work ends, whether or not
    /// the request is dropped meanwhile.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let slot = self.0.clone();
        run_blocking(what, move || {
            let _slot = slot;
            work()
        })
        .await
    }
}

/// The permit to score a batch, held until the batch is done.
pub(super) struct ScoringTurn {
    _place: OwnedSemaphorePermit,
    threads: Option<Arc<rayon::ThreadPool>>,
}

impl ScoringTurn {
    /// Runs `work` on the scoring threads, then releases the permit.
    pub(super) fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        match &self.threads {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }
}

impl ServerLimits {
    /// Returns the limits of a server with a number of rankers.
    pub(super) fn new(n_rankers: usize) -> ServerLimits {
        ServerLimits {
            reads: RateLimit::new(READ_RATE),
            scores: RateLimit::new(SCORING_RATE.times(n_rankers)),
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
            computations: ComputationSlots::default(),
            scorings: SlotPool::new(MAX_SCORING_REQUESTS, SCORINGS_OF_ONE),
            turn: Arc::new(Semaphore::new(1)),
            // If no thread pool can be created, the global one is used.
            scoring_threads: rayon::ThreadPoolBuilder::new()
                .num_threads(rayon::current_num_threads().saturating_sub(1).max(1))
                .build()
                .ok()
                .map(Arc::new),
        }
    }

    /// Takes a slot for a scoring request; an error if none is free. `None` stands for an operator,
    /// who has no limit per client.
    pub(super) fn scoring(&self, asker: Option<ClientKey>) -> Result<ScoringSlot, Error> {
        let slot = self.scorings.take(asker).ok_or(Error::ScoringQueueFull {
            most: MAX_SCORING_REQUESTS,
            most_of_one: SCORINGS_OF_ONE,
            retry_after_s: SCORINGS_AGAIN_S,
        })?;
        Ok(ScoringSlot(Arc::new(slot)))
    }

    /// Waits for the permit to score a batch. Permits are granted in the order of the calls, so
    /// that a small request waits for one batch of each other request at most.
    pub(super) async fn scoring_turn(&self) -> ScoringTurn {
        ScoringTurn {
            _place: wait_for(&self.turn).await,
            threads: self.scoring_threads.clone(),
        }
    }

    /// Takes a slot for watching a job, held until the result is dropped; an error if none is free.
    pub(super) fn take_watcher_slot(&self) -> Result<OwnedSemaphorePermit, Error> {
        let busy = |_| Error::ServerBusy {
            what: "others who watch jobs",
            retry_after_s: 30,
        };
        self.watchers.clone().try_acquire_owned().map_err(busy)
    }

    /// Takes a slot for a download, held until the result is dropped; an error if none is free.
    pub(super) fn download(&self, ip: IpAddr) -> Result<Slot, Error> {
        let place = self.downloads.take(Some(ClientKey::Address(ip)));
        place.ok_or(Error::ServerBusy {
            what: "other downloads",
            retry_after_s: DOWNLOADS_AGAIN_S,
        })
    }

    /// Returns an empty slot for the bytes of a request body.
    fn body(&self, caller: &Caller) -> Slot {
        match caller.has_role(AccessRole::Operator) {
            true => self.bodies_of_operators.take_none(None),
            false => self.bodies.take_none(Some(caller.asker())),
        }
    }

    /// Waits for a slot to serialize a study, held until the result is dropped.
    pub(super) async fn export(&self) -> OwnedSemaphorePermit {
        wait_for(&self.exports).await
    }

    /// Waits for a slot to compress a large response, held until the result is dropped.
    pub(super) async fn compressor(&self) -> OwnedSemaphorePermit {
        wait_for(&self.compressors).await
    }

    /// Waits for a slot to hash a password, held until the result is dropped.
    pub(super) async fn password(&self) -> OwnedSemaphorePermit {
        wait_for(&self.passwords).await
    }
}

/// Waits for a permit of a semaphore.
async fn wait_for(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let place = places.clone().acquire_owned().await;
    place.expect("the semaphore is never closed")
}

/// Reads the body of a request, of at most `max_body` bytes, then rejects the request if too many
/// are being handled. Clients that send slowly therefore take no slot.
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
