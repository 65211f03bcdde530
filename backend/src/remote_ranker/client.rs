//! The HTTP client of remote rankers: sends one request, with retries.

use std::io::Read;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use shared::error::Error as InputError;
use ureq::Agent;

use super::{API_KEY_VARIABLE, RemoteRanker, response};
use crate::error::Error;

/// Maximum size of a response in bytes; 10,000 scores take less than 1 MiB.
const MAX_REPLY: u64 = 8 << 20;

/// The pause before the first retry. It doubles with each further retry.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, unless the service asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest pause that is accepted from a service.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Interval at which a pause checks whether it should end early.
const SLICE: Duration = Duration::from_millis(200);

/// The HTTP client of a remote ranker, with pacing and retries.
pub(super) struct RemoteRankerClient<'a> {
    service: &'a RemoteRanker,
    agent: Agent,
    /// The value of the header `Authorization`, `Bearer KEY`.
    key: Option<HeaderValue>,
    /// The earliest time at which the next request may start.
    next: Mutex<Instant>,
}

/// The outcome of one attempt.
enum AttemptOutcome {
    Scored(Vec<f64>),
    /// The request may succeed later; with the time to wait, if the service has given one.
    Again(String, Option<Duration>),
    Never(String),
}

impl<'a> RemoteRankerClient<'a> {
    pub(super) fn new(service: &'a RemoteRanker) -> Result<RemoteRankerClient<'a>, Error> {
        let key = match std::env::var(API_KEY_VARIABLE) {
            Ok(key) if !key.trim().is_empty() => Some(bearer(key.trim())?),
            Ok(_) | Err(std::env::VarError::NotPresent) => None,
            Err(std::env::VarError::NotUnicode(_)) => return Err(no_key()),
        };
        if key.is_some() && service.uses_plain_http() && !service.is_loopback() {
            eprintln!(
                "warning: the key of {API_KEY_VARIABLE} goes to {} unencrypted; take https where \
                 there is one",
                service.host_and_port()
            );
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // Documents and key must not be sent to any other address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(service.request_limits.timeout))
            .timeout_connect(Some(
                service.request_limits.timeout.min(Duration::from_secs(20)),
            ))
            .max_idle_connections_per_host(service.request_limits.max_concurrent)
            .user_agent(concat!("axioscope/", env!("CARGO_PKG_VERSION")));
        if service.is_loopback() {
            config = config.proxy(None);
        }
        Ok(RemoteRankerClient {
            service,
            agent: config.build().into(),
            key,
            next: Mutex::new(Instant::now()),
        })
    }

    /// Sends a request and returns the scores of its documents, or an error message after the last
    /// attempt. Stops before the next attempt, and during pauses, when `given_up` returns true.
    pub(super) fn request_scores_with_retries(
        &self,
        body: &[u8],
        n_texts: usize,
        given_up: &dyn Fn() -> bool,
    ) -> Result<Vec<f64>, String> {
        let tries = self.service.request_limits.max_attempts;
        let mut pause = FIRST_PAUSE;
        for tried in 1.. {
            self.wait_for_pace(given_up);
            if given_up() {
                break;
            }
            let (reason, asked) = match self.try_once(body, n_texts) {
                AttemptOutcome::Scored(scores) => return Ok(scores),
                AttemptOutcome::Never(reason) => return Err(self.without_key(reason)),
                AttemptOutcome::Again(reason, asked) => (self.without_key(reason), asked),
            };
            if tried >= tries {
                return Err(format!(
                    "{reason}; asked {tried} times. What is scored is kept, and the same command \
                     goes on from there"
                ));
            }
            if let Some(asked) = asked.filter(|&it| it > MAX_RETRY_AFTER) {
                return Err(format!(
                    "{reason}; it asks to wait {} s. What is scored is kept, and the same command \
                     goes on from there",
                    asked.as_secs()
                ));
            }
            let pause_now = asked.unwrap_or(pause);
            tracing::info!(
                "{}: {reason}; asking again in {pause_now:?}",
                self.service.url
            );
            wait(pause_now, given_up);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err("given up".to_owned())
    }

    /// Waits until the rate limit allows the next request.
    fn wait_for_pace(&self, given_up: &dyn Fn() -> bool) {
        let Some(per_s) = self.service.request_limits.max_per_second else {
            return;
        };
        let now = Instant::now();
        let begin = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = now.max(*next);
            *next = begin + Duration::from_secs_f64(1.0 / per_s);
            begin
        };
        wait(begin - now, given_up);
    }

    fn try_once(&self, body: &[u8], n_texts: usize) -> AttemptOutcome {
        let mut request = self
            .agent
            .post(&self.service.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json");
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, key);
        }
        let response = match request.send(body) {
            Ok(response) => response,
            Err(error) => return self.failed(&error),
        };
        let (parts, read) = response.into_parts();
        let mut reply = Vec::new();
        let taken = read
            .into_reader()
            .take(MAX_REPLY + 1)
            .read_to_end(&mut reply);
        if let Err(error) = taken {
            return AttemptOutcome::Again(format!("its answer breaks off: {error}"), None);
        }
        if reply.len() as u64 > MAX_REPLY {
            return AttemptOutcome::Never(format!(
                "its answer is larger than {} MiB",
                MAX_REPLY >> 20
            ));
        }
        if parts.status == StatusCode::OK {
            return match response::parse_rerank_scores(
                self.service.protocol,
                &reply,
                n_texts,
                self.secret(),
            ) {
                Ok(scores) => AttemptOutcome::Scored(scores),
                Err(reason) => AttemptOutcome::Never(reason),
            };
        }
        self.refused(parts.status, &parts.headers, &reply)
    }

    fn failed(&self, error: &ureq::Error) -> AttemptOutcome {
        match error {
            ureq::Error::Timeout(_) => {
                let timeout_s = self.service.request_limits.timeout.as_secs();
                let reason = format!(
                    "no answer within {timeout_s} s; fewer texts at a time (`texts=N`) or more \
                     time (`timeout_s=N`) may help"
                );
                AttemptOutcome::Again(reason, None)
            }
            ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => {
                AttemptOutcome::Again(format!("no answer: {error}"), None)
            }
            ureq::Error::HostNotFound => AttemptOutcome::Never("there is no such host".to_owned()),
            other => AttemptOutcome::Never(format!("it cannot be asked: {other}")),
        }
    }

    /// Interprets a response without scores.
    fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> AttemptOutcome {
        let said = response::response_excerpt(body, self.secret());
        let number = status.as_u16();
        match number {
            408 | 429 | 502 | 503 | 504 => {
                let wait = headers.get(header::RETRY_AFTER);
                let wait =
                    wait.and_then(|it| retry_after(it.to_str().ok()?, jiff::Timestamp::now()));
                AttemptOutcome::Again(format!("it answers {number}: {said}"), wait)
            }
            300..=399 => {
                let to = headers
                    .get(header::LOCATION)
                    .and_then(|it| it.to_str().ok());
                AttemptOutcome::Never(format!(
                    "it sends elsewhere ({number}), where nothing is sent by itself; if that is \
                     right, give that address: {}",
                    self.without_key(to.unwrap_or("it does not say which").to_owned())
                        .escape_debug()
                ))
            }
            401 | 403 => AttemptOutcome::Never(format!(
                "it does not let us in ({number}): {said}; a key is taken from the variable \
                 {API_KEY_VARIABLE}"
            )),
            400 | 413 | 422 => AttemptOutcome::Never(format!(
                "it refuses the request ({number}): {said}; fewer texts at a time (`texts=N`), \
                 another `model=NAME` or another `shape` may help"
            )),
            _ => AttemptOutcome::Never(format!("it answers {number}: {said}")),
        }
    }

    /// Removes the key from a message, since services may repeat it. Response bodies are cleaned by
    /// [`response`], before they are truncated and escaped; this is for other messages.
    fn without_key(&self, text: String) -> String {
        match self.secret() {
            Some(key) => response::redact_secret(&text, key),
            None => text,
        }
    }

    /// Returns the key without `Bearer`.
    fn secret(&self) -> Option<&str> {
        let key = self.key.as_ref().and_then(|it| it.to_str().ok());
        key.and_then(|it| it.strip_prefix("Bearer "))
    }
}

/// Waits for `time`, or until `given_up` returns true.
fn wait(time: Duration, given_up: &dyn Fn() -> bool) {
    let since = Instant::now();
    while !given_up() {
        match time.checked_sub(since.elapsed()) {
            Some(left) if !left.is_zero() => std::thread::sleep(left.min(SLICE)),
            Some(_) | None => break,
        }
    }
}

fn bearer(key: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| no_key())?;
    value.set_sensitive(true);
    Ok(value)
}

fn no_key() -> Error {
    InputError::malformed_value(
        API_KEY_VARIABLE,
        "holds what no header may hold; give the key alone",
    )
    .into()
}

/// Parses `Retry-After`: a number of seconds or an HTTP date (RFC 9110, section 10.2.3).
fn retry_after(value: &str, now: jiff::Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    let seconds = date.as_second().saturating_sub(now.as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_says_when_to_come_again_in_seconds_or_as_a_date() {
        // The examples of RFC 9110.
        let now: jiff::Timestamp = "1999-12-31T23:59:00Z".parse().unwrap();
        let after = |value: &str| retry_after(value, now);
        assert_eq!(after("120"), Some(Duration::from_secs(120)));
        let date = "Fri, 31 Dec 1999 23:59:59 GMT";
        assert_eq!(after(date), Some(Duration::from_secs(59)));
        assert_eq!(after("Thu, 30 Dec 1999 23:59:59 GMT"), Some(Duration::ZERO));
        assert_eq!(after("soon"), None);
        assert_eq!(after("-1"), None);
    }
}
