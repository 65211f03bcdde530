//! Files of a repository on the Hugging Face Hub: from the cache on this machine, or downloaded.
//!
//! The environment variables are those of the official clients: `HF_HOME` (folder of the cache),
//! `HF_ENDPOINT` (address of the hub), `HF_HUB_OFFLINE=1` (no network), `HF_HUB_ETAG_TIMEOUT`
//! (seconds to wait for a response) and `HF_HUB_DOWNLOAD_TIMEOUT` (seconds to wait for the next
//! byte of a download).

mod download;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, io};

use axum::http::StatusCode;
use hf_hub::{Cache, CacheRepo, Repo, RepoType};

use crate::error::Error;
use crate::models::files::FILES;
use download::{HubFile, HubFileDownload, HubFileMetadata};

/// Default time to wait for a response of the hub.
const SILENCE: Duration = Duration::from_secs(20);

/// Default time to wait for the next byte of a download.
const STALL: Duration = Duration::from_secs(60);

/// Maximum number of redirects for a file.
const MOST_REDIRECTS: usize = 5;

const OFFLINE: &str = "HF_HUB_OFFLINE";

/// A repository on the hub, optionally at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HubRepoIdAndRevision {
    /// The name of the repository, `owner/name`.
    repository: String,
    /// A branch, a tag, or the SHA-1 of a commit; `None` is `main`.
    revision: Option<String>,
}

impl HubRepoIdAndRevision {
    /// Parses `owner/name` or `owner/name@revision`; returns `None` if a part is empty or has a
    /// character that is not allowed.
    pub(super) fn parse(named: &str) -> Option<HubRepoIdAndRevision> {
        let part = |it: &str| {
            let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !it.is_empty() && !it.starts_with('.') && it.chars().all(fine)
        };
        let (repository, revision) = match named.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (named, None),
        };
        let (owner, name) = repository.split_once('/')?;
        let sound = part(owner) && part(name) && revision.is_none_or(|it| it.split('/').all(part));
        sound.then(|| HubRepoIdAndRevision {
            repository: repository.to_owned(),
            revision: revision.map(str::to_owned),
        })
    }

    /// Returns the repository's name without its owner, with `@revision` if one is given.
    pub(super) fn model_name_with_revision(&self) -> String {
        let whole = self.to_string();
        whole.split_once('/').map_or("", |it| it.1).to_owned()
    }

    fn repo(&self) -> Repo {
        let revision = self.revision.as_deref().unwrap_or("main").to_owned();
        Repo::with_revision(self.repository.clone(), RepoType::Model, revision)
    }
}

impl std::fmt::Display for HubRepoIdAndRevision {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.repository)?;
        match &self.revision {
            Some(revision) => write!(out, "@{revision}"),
            None => Ok(()),
        }
    }
}

/// Access to the files of a repository.
pub(super) struct HubRepo<'a> {
    name: &'a HubRepoIdAndRevision,
    cache: CacheRepo,
    folder: PathBuf,
    token: Option<String>,
    access: HubAccess,
    weights: Weights,
    /// The reason why the hub is not contacted anymore, after it could not be reached.
    silent: OnceCell<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HubAccess {
    Online,
    Offline,
}

/// Whether the weights were in the cache before this access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weights {
    InCache,
    Elsewhere,
}

/// The reason why a file is not available.
enum HubFileError {
    /// The hub does not have the file.
    NotFound(String),
    /// The hub does not show the repository without a suitable token.
    AccessDenied(String),
    /// The hub was not contacted or could not be reached.
    Unreachable(String),
    /// The hub gave an unexpected response or did not send the whole file.
    BadResponse(String),
}

impl<'a> HubRepo<'a> {
    pub(super) fn open(name: &'a HubRepoIdAndRevision) -> HubRepo<'a> {
        let cache = Cache::from_env();
        let set = std::env::var(OFFLINE).unwrap_or_default();
        let offline = ["1", "on", "yes", "true"].contains(&set.to_lowercase().as_str());
        let mut hub = HubRepo {
            name,
            folder: cache.path().clone(),
            token: cache.token(),
            cache: cache.repo(name.repo()),
            access: match offline {
                true => HubAccess::Offline,
                false => HubAccess::Online,
            },
            weights: Weights::Elsewhere,
            silent: OnceCell::new(),
        };
        if hub.cached_file_path(FILES[2]).is_some() {
            hub.weights = Weights::InCache;
        }
        hub
    }

    /// Returns a file that every model has; an error if it is not available.
    pub(super) fn require_file(&self, file: &str) -> Result<Vec<u8>, Error> {
        let path = self.find(file).map_err(|missing| {
            self.no_model(match missing {
                HubFileError::NotFound(reason) | HubFileError::AccessDenied(reason) => reason,
                HubFileError::Unreachable(reason) | HubFileError::BadResponse(reason) => format!(
                    "{file} is not in the cache, and {reason}. Without a network, put {} into a \
                     folder and name that by `--model`",
                    FILES.join(", ")
                ),
            })
        })?;
        self.read(&path)
    }

    /// Returns a file that only some models have. A model without such a file can be a different
    /// one. The result is therefore `None` only if the hub says that there is no such file, or if
    /// the hub is not reachable and the weights were cached before.
    pub(super) fn read_optional_file(&self, file: &str) -> Result<Option<Vec<u8>>, Error> {
        let missing = match self.find(file) {
            Ok(path) => return self.read(&path).map(Some),
            Err(missing) => missing,
        };
        let reason = match missing {
            HubFileError::NotFound(_) => return Ok(None),
            HubFileError::Unreachable(reason)
                if self.access == HubAccess::Offline || self.weights == Weights::InCache =>
            {
                tracing::warn!(
                    "{}: {file} was not looked for on the hub: {reason}",
                    self.name
                );
                return Ok(None);
            }
            HubFileError::AccessDenied(reason)
            | HubFileError::Unreachable(reason)
            | HubFileError::BadResponse(reason) => reason,
        };
        Err(self.no_model(format!(
            "{file} may be there or not, and the model be another without it: {reason}. \
             {OFFLINE}=1 takes what the cache holds"
        )))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, Error> {
        fs::read(path).map_err(|error| Error::ModelFileNotFound {
            model: self.name.to_string(),
            reason: format!("a file in the cache cannot be read: {error}"),
            here: path.display().to_string(),
        })
    }

    fn no_model(&self, reason: String) -> Error {
        // Error messages of libraries may contain the path of the cache.
        let reason = reason.replace(&self.folder.display().to_string(), "the cache");
        Error::ModelFileNotFound {
            model: self.name.to_string(),
            reason,
            here: format!(
                "the cache is {}, a token is looked for in {}",
                self.folder.display(),
                self.folder.with_file_name("token").display()
            ),
        }
    }

    fn find(&self, file: &str) -> Result<PathBuf, HubFileError> {
        if let Some(path) = self.cached_file_path(file) {
            return Ok(path);
        }
        if self.access == HubAccess::Offline {
            let reason = format!(
                "{OFFLINE} is set, so the hub is not contacted; unset it, or download the model \
                 elsewhere with `axioscope models get`"
            );
            return Err(HubFileError::Unreachable(reason));
        }
        if let Some(reason) = self.silent.get() {
            return Err(HubFileError::Unreachable(reason.clone()));
        }
        let found = self.look(file).and_then(|it| self.fetch(file, it));
        if let Err(HubFileError::Unreachable(reason)) = &found {
            let _ = self.silent.set(reason.clone());
        }
        found
    }

    /// Returns the path of a file in the cache. A commit is looked up directly, a branch or tag by
    /// the commit that it had when it was downloaded.
    pub(super) fn cached_file_path(&self, file: &str) -> Option<PathBuf> {
        self.cache.get(file).or_else(|| {
            let revision = self.name.revision.as_deref()?;
            let path = self.cache.pointer_path(revision).join(file);
            path.is_file().then_some(path)
        })
    }

    /// Requests the metadata of a file from the hub. In contrast to a download, the total time is
    /// limited.
    fn look(&self, file: &str) -> Result<HubFile, HubFileError> {
        let timeout = seconds_of("HF_HUB_ETAG_TIMEOUT").unwrap_or(SILENCE);
        let agent = download::client_without_redirects(timeout, Some(2 * timeout));
        let endpoint = endpoint();
        let mut url = format!(
            "{endpoint}/{}/resolve/{}/{file}",
            self.name.repository,
            self.name.repo().url_revision()
        );
        let unlike = |reason| {
            let reason = format!("the answer of {endpoint} is not that of a hub: {reason}");
            HubFileError::BadResponse(reason)
        };
        let mut described = HubFileMetadata::default();
        for _ in 0..=MOST_REDIRECTS {
            let token = self.token.as_deref();
            let response =
                download::request_byte_range(&agent, &endpoint, &url, "bytes=0-0", token);
            let response = response.map_err(|it| unanswered(&endpoint, timeout, &it))?;
            let (status, headers) = (response.status(), response.headers());
            // Hosts that the hub redirects to have only the bytes, not the metadata.
            if url.starts_with(&endpoint) {
                described.update_from_headers(headers);
            }
            if status.is_redirection() {
                url =
                    download::checked_redirect_target(&endpoint, &url, headers).map_err(unlike)?;
            } else if status.is_success() {
                let n_bytes = download::file_size_from_response(status, headers);
                return described
                    .into_validated_hub_file(url, file, n_bytes)
                    .map_err(unlike);
            } else {
                let code = headers.get("x-error-code").and_then(|it| it.to_str().ok());
                return Err(self.refused(&endpoint, file, status, code.unwrap_or_default()));
            }
        }
        let reason = format!("it redirects more than {MOST_REDIRECTS} times");
        Err(unlike(reason))
    }

    /// Converts an error status to the reason why a file is not available.
    fn refused(&self, endpoint: &str, file: &str, status: StatusCode, code: &str) -> HubFileError {
        let name = self.name;
        match (status, code) {
            (_, "RevisionNotFound") => HubFileError::NotFound(format!(
                "{endpoint} has no such revision of {}; a revision is a branch, a tag or a commit",
                name.repository
            )),
            (_, "EntryNotFound") => HubFileError::NotFound(format!(
                "has no {file} on {endpoint}; a model that can be read has {}",
                FILES.join(", ")
            )),
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
                HubFileError::AccessDenied(format!(
                    "{endpoint} does not show it ({}): there is no such repository, or it needs a \
                 token that may read it",
                    status.as_u16()
                ))
            }
            (StatusCode::NOT_FOUND, _) => HubFileError::NotFound(format!(
                "there is no {file} of {name} on {endpoint} (404); check owner, name and revision, \
                 and that it has {}",
                FILES.join(", ")
            )),
            (status, _) => HubFileError::BadResponse(format!(
                "{endpoint} answers {}; try again later",
                status.as_u16()
            )),
        }
    }

    /// Downloads a file into the cache. The download runs in a thread of its own, since it may
    /// block forever if the hub stops sending; the thread is then abandoned.
    fn fetch(&self, file: &str, found: HubFile) -> Result<PathBuf, HubFileError> {
        let stall = seconds_of("HF_HUB_DOWNLOAD_TIMEOUT").unwrap_or(STALL);
        let endpoint = endpoint();
        let unsent = |reason| {
            HubFileError::BadResponse(format!("it cannot be had from {endpoint}: {reason}"))
        };
        let repository = self.folder.join(self.name.repo().folder_name());
        let download = HubFileDownload {
            // This function notices earlier if no bytes arrive.
            agent: download::client_without_redirects(2 * stall, None),
            endpoint: endpoint.clone(),
            token: self.token.clone(),
            remote_file: found.clone(),
            blobs: repository.join("blobs"),
            file: file.to_owned(),
        };
        let (tell, heard) = mpsc::channel();
        std::thread::spawn(move || {
            let ended = download.download_into_cache(|| tell.send(Step::Bytes).is_ok());
            // The receiver is gone if it has given up.
            let _ = tell.send(Step::Ended(ended));
        });
        loop {
            return match heard.recv_timeout(stall) {
                Ok(Step::Bytes) => continue,
                Ok(Step::Ended(Ok(()))) => {
                    let shown = self.show(file, &found, &repository);
                    shown.map_err(|it| unsent(it.to_string()))
                }
                Ok(Step::Ended(Err(reason))) => Err(unsent(reason)),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let reason = format!("no byte came for {} s", stall.as_secs());
                    Err(unsent(reason))
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    Err(unsent("the download ended without a word".to_owned()))
                }
            };
        }
    }

    /// Puts a downloaded file into the folder of its commit in the cache, and points the revision
    /// to this commit.
    fn show(&self, file: &str, found: &HubFile, repository: &Path) -> io::Result<PathBuf> {
        let path = self.cache.pointer_path(&found.commit).join(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let blob = repository.join("blobs").join(&found.etag);
        // Not every file system has hard links.
        fs::hard_link(&blob, &path).or_else(|_| fs::copy(&blob, &path).map(drop))?;
        self.cache.create_ref(&found.commit)?;
        Ok(path)
    }
}

/// Progress of a download.
enum Step {
    Bytes,
    Ended(Result<(), String>),
}

/// Converts a network error to the reason why a file is not available.
fn unanswered(endpoint: &str, timeout: Duration, error: &ureq::Error) -> HubFileError {
    let reason = match error {
        ureq::Error::Timeout(_) => format!("{endpoint} says nothing for {} s", timeout.as_secs()),
        other => format!("{endpoint} cannot be asked: {other}"),
    };
    match is_nobody(error) {
        true => HubFileError::Unreachable(reason),
        false => HubFileError::BadResponse(reason),
    }
}

/// Returns whether the hub could not be reached at all, for example without a network. Broken
/// connections and timeouts during a response do not count.
fn is_nobody(error: &ureq::Error) -> bool {
    use std::io::ErrorKind;
    match error {
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => true,
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::NetworkDown
                | ErrorKind::AddrNotAvailable
        ),
        _ => false,
    }
}

fn endpoint() -> String {
    let set = std::env::var("HF_ENDPOINT").ok();
    let set = set.unwrap_or_else(|| "https://huggingface.co".to_owned());
    set.trim_end_matches('/').to_owned()
}

fn seconds_of(variable: &str) -> Option<Duration> {
    let seconds: u64 = std::env::var(variable).ok()?.trim().parse().ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_cache_is_only_its_owner_reads() {
        let home = tempfile::tempdir().unwrap();
        let name = HubRepoIdAndRevision::parse("owner/name").unwrap();
        let cache = Cache::new(home.path().join("hub"));
        let hub = HubRepo {
            name: &name,
            folder: cache.path().clone(),
            token: None,
            cache: cache.repo(name.repo()),
            access: HubAccess::Offline,
            weights: Weights::Elsewhere,
            silent: OnceCell::new(),
        };
        let path = home.path().display().to_string();
        let broken = home.path().join("gone.json");
        for (error, said) in [
            (
                hub.require_file(FILES[0]).unwrap_err(),
                "config.json is not in the cache",
            ),
            (hub.read(&broken).unwrap_err(), "cannot be read"),
            (
                hub.no_model(format!("no lock of {}/hub/x", home.path().display())),
                "no lock of the cache/x",
            ),
        ] {
            assert!(error.to_string().contains(&path), "{error}");
            let public = error.public_message();
            assert!(public.contains(said) && !public.contains(&path), "{public}");
        }
    }

    #[test]
    fn a_name_has_an_owner_and_perhaps_a_revision() {
        let short =
            |it: &str| HubRepoIdAndRevision::parse(it).map(|it| it.model_name_with_revision());
        assert_eq!(short("owner/name").as_deref(), Some("name"));
        assert_eq!(short("owner/name@v1.0").as_deref(), Some("name@v1.0"));
        assert_eq!(short("o/n@refs/pr/1").as_deref(), Some("n@refs/pr/1"));
        for wrong in [
            "name", "/name", "owner/", "../name", "owner/..", "a/b/c", "o/n@", "o/n@../x",
            "o/n@a@b", "o/n@/x", "o/n o",
        ] {
            assert_eq!(HubRepoIdAndRevision::parse(wrong), None, "{wrong}");
        }
    }
}
