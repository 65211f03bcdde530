//! Checks of a running server, every few minutes: known answers, the database, and the files of
//! published studies.
//!
//! Nothing waits for a round, and a round stops nobody: known answers take milliseconds, and files
//! are read at a low rate. `/health`, `/metrics` and the footer of the pages show how it ended.

mod known_answers;
mod study_files;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use shared::api::site_checks::{SiteCheck, SiteCheckFailure, SiteCheckReport};
use tokio::sync::watch;

use crate::clock::unix_time_ms;
use crate::error::{Error, run_blocking};
use crate::jobs::wait_for_shutdown_signal;
use crate::models::ModelRegistry;
use crate::store::secret_token::SecretToken;
use crate::store::{DataFolder, Database};
use study_files::StudyFileRotation;

/// The time between two rounds, unless the server was started with another one.
pub(crate) const DEFAULT_INTERVAL: Duration = Duration::from_secs(300);

/// The longest time between the start of the server and the first round.
const FIRST_ROUND_AFTER: Duration = Duration::from_secs(5);

/// The time after which a database that does not answer counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of intervals after which a round that has not ended counts as failed.
const MAX_MISSED_ROUNDS: u32 = 3;

/// The checks of a server and the result of their last round.
pub(crate) struct Canary {
    store: Database,
    folder: DataFolder,
    models: Arc<ModelRegistry>,
    interval: Duration,
    /// The key under which this server writes to the database.
    server: String,
    last: RwLock<LastRound>,
}

struct LastRound {
    /// The end of the last round, or the start of the server.
    at: Instant,
    report: Option<SiteCheckReport>,
}

/// Why a check failed, for everybody and for operators.
#[derive(Debug)]
pub(crate) struct CheckProblem {
    /// For everybody, without paths.
    message: String,
    /// For operators.
    detail: String,
}

impl From<Error> for CheckProblem {
    fn from(error: Error) -> CheckProblem {
        CheckProblem {
            message: error.public_message(),
            detail: error.to_string(),
        }
    }
}

impl From<String> for CheckProblem {
    fn from(message: String) -> CheckProblem {
        CheckProblem {
            detail: message.clone(),
            message,
        }
    }
}

impl Canary {
    /// Creates the checks of a server. [`Canary::run`] starts them.
    pub(crate) fn new(
        store: Database,
        folder: DataFolder,
        models: Arc<ModelRegistry>,
        interval: Duration,
    ) -> Canary {
        Canary {
            store,
            folder,
            models,
            interval,
            server: SecretToken::generate().sha256(),
            last: RwLock::new(LastRound {
                at: Instant::now(),
                report: None,
            }),
        }
    }

    /// Returns the result of the last round; `None` before the first one has ended.
    pub(crate) fn last_report(&self) -> Option<SiteCheckReport> {
        let last = self.last.read().unwrap_or_else(PoisonError::into_inner);
        last.report.clone()
    }

    /// Returns why the server is not healthy, if a check failed or the checks do not end.
    pub(crate) fn problem(&self) -> Option<String> {
        let last = self.last.read().unwrap_or_else(PoisonError::into_inner);
        if last.at.elapsed() > self.interval * MAX_MISSED_ROUNDS + PATIENCE {
            return Some("the checks of this site do not end; the log says more".to_owned());
        }
        let failures = last.report.iter().flat_map(|it| &it.failures);
        let messages: Vec<&str> = failures.map(|it| &*it.message).collect();
        (!messages.is_empty()).then(|| messages.join("; "))
    }

    /// Runs the checks, again and again until the server stops.
    pub(crate) async fn run(self: Arc<Canary>, mut stopping: watch::Receiver<bool>) {
        let mut files = StudyFileRotation::default();
        let mut pause = FIRST_ROUND_AFTER.min(self.interval);
        while !*stopping.borrow() {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = wait_for_shutdown_signal(&mut stopping) => break,
            }
            files = self.run_round(files, &stopping).await;
            pause = self.interval;
        }
    }

    /// Runs every check once and keeps the result. Returns the rotation for the next round.
    pub(crate) async fn run_round(
        &self,
        files: StudyFileRotation,
        stopping: &watch::Receiver<bool>,
    ) -> StudyFileRotation {
        let mining = check_blocking(known_answers::check_mining).await;
        let lexical = check_blocking(known_answers::check_lexical_scores).await;
        let models = self.models.clone();
        let neural = check_blocking(move || known_answers::check_neural_score(&models)).await;
        let database = self.check_database().await;
        let (files, study_files) = self.check_study_files(files, stopping.clone()).await;
        let found = [mining, lexical, neural, database, study_files];
        if !*stopping.borrow() {
            self.keep(SiteCheck::ALL.iter().copied().zip(found));
        }
        files
    }

    async fn check_database(&self) -> Result<(), CheckProblem> {
        let checked = self
            .store
            .check_by_writing_an_event(&self.server, unix_time_ms());
        match tokio::time::timeout(PATIENCE, checked).await {
            Ok(checked) => checked.map_err(CheckProblem::from),
            Err(_) => Err(format!("the database did not answer in {PATIENCE:?}").into()),
        }
    }

    async fn check_study_files(
        &self,
        mut rotation: StudyFileRotation,
        stopping: watch::Receiver<bool>,
    ) -> (StudyFileRotation, Result<(), CheckProblem>) {
        let listed = match self.store.list_studies().await {
            Ok(listed) => listed,
            Err(error) => return (rotation, Err(error.into())),
        };
        let published = listed.into_iter().filter(|it| it.is_published);
        let published: Vec<String> = published.map(|it| it.name).collect();
        let folder = self.folder.clone();
        let checked = run_blocking("checking the files of studies", move || {
            let found = rotation.check_next(&folder, &published, || *stopping.borrow());
            Ok((rotation, found))
        });
        // After a panic the rotation begins again.
        checked
            .await
            .unwrap_or_else(|error| (StudyFileRotation::default(), Err(error.into())))
    }

    fn keep(&self, found: impl Iterator<Item = (SiteCheck, Result<(), CheckProblem>)>) {
        let now_ms = u64::try_from(unix_time_ms()).unwrap_or_default();
        let before = self.last_report();
        let mut failures = Vec::new();
        for (check, result) in found {
            let passed = if result.is_ok() { 1.0 } else { 0.0 };
            metrics::gauge!("axioscope_site_check_passed", "check" => check.name()).set(passed);
            let Err(CheckProblem { message, detail }) = result else {
                continue;
            };
            let earlier = before.iter().flat_map(|it| &it.failures);
            let earlier = earlier.clone().find(|it| it.check == check);
            if earlier.is_none_or(|it| it.message != message) {
                tracing::error!("a check of this site failed: {detail}");
            }
            failures.push(SiteCheckFailure {
                check,
                since_ms: earlier.map_or(now_ms, |it| it.since_ms),
                message,
                detail: Some(detail),
            });
        }
        if failures.is_empty() && before.is_some_and(|it| !it.failures.is_empty()) {
            tracing::info!("all checks of this site pass again");
        }
        metrics::gauge!("axioscope_site_checks_finished_timestamp_seconds")
            .set(now_ms as f64 / 1_000.0);
        let mut last = self.last.write().unwrap_or_else(PoisonError::into_inner);
        *last = LastRound {
            at: Instant::now(),
            report: Some(SiteCheckReport {
                finished_ms: now_ms,
                failures,
            }),
        };
    }
}

async fn check_blocking(
    check: impl FnOnce() -> Result<(), CheckProblem> + Send + 'static,
) -> Result<(), CheckProblem> {
    run_blocking("a check of this site", move || Ok(check()))
        .await
        .unwrap_or_else(|error| Err(error.into()))
}

#[cfg(test)]
mod tests;
