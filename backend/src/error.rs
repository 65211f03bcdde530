//! What can go wrong, by who can do something about it.

use std::fmt;
use std::path::{Path, PathBuf};

use shared::api::people::AccessRole;

/// Why a command or a request was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    // Whoever asked.
    /// A setting, a name or a file that cannot be taken.
    #[error(transparent)]
    Input(#[from] shared::error::Error),

    /// A request that is no JSON.
    #[error("{place} is not JSON: {reason}")]
    InvalidJson { place: &'static str, reason: String },

    /// A request whose JSON is not what this path takes.
    #[error("{place}: {reason}")]
    UnexpectedJson { place: &'static str, reason: String },

    /// A collection that is neither imported nor a folder.
    #[error(
        "there is no collection named `{named}`, and no such folder; `axioscope import FOLDER \
         --to NAME` brings one in"
    )]
    CollectionNotFound { named: String },

    /// A file that is not where it is looked for.
    #[error(
        "there is no `{file}` (nor packed as .gz or .zst), also not in {}",
        looked_in.display()
    )]
    FileNotFound { file: String, looked_in: PathBuf },

    /// More than is taken at once.
    #[error("{found} {what} are too many; {most} at most, so send less at once")]
    TooLarge {
        what: &'static str,
        found: u64,
        most: u64,
    },

    /// A request of too many bytes.
    #[error(
        "the request is too large: 16 MiB at most, 256 MiB for a job, 1 MiB for a review and of \
         whoever is not an operator, 64 KiB for what is said of people; send less at once"
    )]
    BodyTooLarge,

    /// A request whose body does not come.
    #[error("the body of the request comes too slowly; send it again, or less at once")]
    BodyTimeout,

    /// A request for an answer in no coding that there is.
    #[error(
        "the header `Accept-Encoding` refuses every coding that there is; name `br` or `gzip` in \
         it, or do not refuse `identity`"
    )]
    NotAcceptableCoding,

    /// A request that only the operator may make.
    #[error(
        "this is for the operator: open the link that the server printed when it started, or send \
         the operator's token as `Authorization: Bearer TOKEN`; the server printed it at its first \
         start, and `--new-token` makes another"
    )]
    NeedsToken,

    /// A token that is not that of the link which the server printed, or not any more.
    #[error(
        "this link lets in nobody: it works once, until the server ends; the server prints a new \
         one each time it starts"
    )]
    OperatorLinkExpired,

    /// A request of a visitor that is for people with a role.
    #[error("this needs you to be signed in; /join lets you in, or the link of an invitation")]
    NeedsSession,

    /// A request that is kept under a name, of an operator without one.
    #[error("this is kept under a name, and you have none yet; choose one at /join")]
    NeedsNamedPerson,

    /// A request of somebody whose role is not enough.
    #[error("this is for a {} and you are none, your role is {}", least.name(), role.name())]
    InsufficientRole { role: AccessRole, least: AccessRole },

    /// A token that no invitation has.
    #[error(
        "there is no such invitation; see that the link is whole, or ask whoever invited you for \
         another"
    )]
    InvitationNotFound,

    /// An invitation that cannot be used any more.
    #[error("{over}")]
    InvitationClosed { over: InvitationClosedReason },

    /// A name that somebody else has.
    #[error(
        "`{name}` is somebody's name already; take another, or, if it is you, sign in with your \
         password or ask a curator for a link that lets you in again"
    )]
    NameTaken { name: String },

    /// A name and a password that do not belong together; which of them is wrong is not said.
    #[error(
        "there is nobody of this name with this password; if you have none or forgot it, ask a \
         curator for a link that lets you in again"
    )]
    InvalidCredentials,

    /// A request that came by a way that is not trusted.
    #[error("{reason}")]
    UntrustedRequest { reason: String },

    /// No such path, or not by this method.
    #[error("there is nothing at {method} {path}; /api/docs lists what there is")]
    PathNotFound { method: String, path: String },

    /// The path is there, but takes another method.
    #[error("{path} does not take {method}; /api/docs says what it takes")]
    MethodNotAllowed { method: String, path: String },

    /// One visitor asks too often.
    #[error("too many requests; try again in {retry_after_s} s")]
    RateLimited { retry_after_s: u64 },

    /// Something that cannot be done as things stand.
    #[error("{reason}")]
    Conflict { reason: String },

    // Everybody at once.
    /// More requests to score texts than wait for their turn, of all or of one address.
    #[error(
        "too many requests to score texts wait already ({most} at most, {most_of_one} of one \
         address); try again in {retry_after_s} s"
    )]
    ScoringQueueFull {
        most: usize,
        most_of_one: usize,
        retry_after_s: u64,
    },

    /// All places are taken.
    #[error("the server is busy with {what}; try again in {retry_after_s} s")]
    ServerBusy {
        what: &'static str,
        retry_after_s: u64,
    },

    /// What people did could not be written down.
    #[error(
        "nothing of this was kept: {reason}; send it again in {retry_after_s} s, as it is: what \
         comes twice is kept once"
    )]
    NotSaved { reason: String, retry_after_s: u64 },

    // Whoever runs it.
    /// A file or folder that cannot be read or written.
    #[error("{}: {source}; {way_out}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
        way_out: &'static str,
    },

    /// A second server on the same data.
    #[error(
        "{} is in use by another axioscope; stop that one, or take another folder by `--data`",
        path.display()
    )]
    DataFolderInUse { path: PathBuf },

    /// A second server on the same database, from another data folder.
    #[error("{at}: another axioscope works on its jobs; stop that one, or {}", at.another())]
    DatabaseInUse { at: DatabaseName },

    /// A server of a database that does not answer.
    #[error("{at}: {reason}; start the server, or correct `DATABASE_URL`")]
    DatabaseUnreachable { at: DatabaseName, reason: String },

    /// A server of a database that refuses what it is asked.
    #[error("{at}: {reason}; {way_out}")]
    DatabaseAccessDenied {
        at: DatabaseName,
        reason: String,
        way_out: &'static str,
    },

    /// A server of a database of an early version.
    #[error("{at}: PostgreSQL {found} is too old; {oldest} or later is needed")]
    DatabaseServerTooOld {
        at: DatabaseName,
        found: i64,
        oldest: i64,
    },

    /// The database cannot grow.
    #[error("{at}: the disk is full; make room and start again, nothing is lost")]
    DiskFull { at: DatabaseName },

    /// The database cannot be written.
    #[error("{at}: cannot be written; {}", at.rights())]
    DatabaseReadOnly { at: DatabaseName },

    /// The database of a later version.
    #[error(
        "{at}: made by a later version of axioscope (layout {found}, this one knows {known}); \
         update axioscope, or {}",
        at.another()
    )]
    DatabaseTooNew {
        at: DatabaseName,
        found: i64,
        known: i64,
    },

    /// Any other failure of the database.
    #[error("{at}: {source}")]
    Database {
        at: DatabaseName,
        source: sqlx::Error,
    },

    /// The database cannot be brought to the layout of this version.
    #[error("{at}: {source}; restore it from a copy, or {}", at.another())]
    Migration {
        at: DatabaseName,
        source: sqlx::migrate::MigrateError,
    },

    /// What was stored is not what is read.
    #[error("{what} is damaged: {reason}")]
    CorruptData { what: String, reason: String },

    /// A model that is not there, or not whole.
    #[error("model {model}: {reason}")]
    ModelNotFound { model: String, reason: String },

    /// A file of a model that cannot be had.
    #[error("model {model}: {reason} ({here})")]
    ModelFileNotFound {
        model: String,
        /// Without folders of this machine.
        reason: String,
        /// Where it was looked for on this machine.
        here: String,
    },

    /// A model that cannot be loaded or cannot compute.
    #[error("model {model}: {source}")]
    Model {
        model: String,
        source: neural::Error,
    },

    /// A ranker behind an address that does not score.
    #[error("{address}: {batch}: {reason}")]
    RemoteRanker {
        address: String,
        batch: String,
        reason: String,
    },

    /// The server does not score as it should.
    #[error("not healthy: {reason}")]
    Unhealthy { reason: String },

    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another by `--listen`")]
    Listen {
        address: std::net::SocketAddr,
        source: std::io::Error,
    },

    // We.
    /// A part of the program panicked.
    #[error("{what} failed by a fault in axioscope; the log says more")]
    Panicked { what: &'static str },
}

/// A database as messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DatabaseName {
    /// The file of SQLite.
    File(PathBuf),
    /// Host, port and name on a server of PostgreSQL, without a password.
    Server(String),
}

impl DatabaseName {
    /// The name without folders and machines that are nobody's business.
    fn public_name(&self) -> String {
        match self {
            DatabaseName::File(file) => {
                let name = file.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
            DatabaseName::Server(_) => "the database".to_owned(),
        }
    }

    /// What somebody may do who cannot use this one.
    fn another(&self) -> &'static str {
        match self {
            DatabaseName::File(_) => "take another folder by `--data`",
            DatabaseName::Server(_) => "name another database by `DATABASE_URL`",
        }
    }

    /// What somebody does who cannot write.
    fn rights(&self) -> &'static str {
        match self {
            DatabaseName::File(_) => {
                "check the rights of the file and its folder, or take another folder by `--data`"
            }
            DatabaseName::Server(_) => {
                "it is a standby or told to be read only; name another by `DATABASE_URL`"
            }
        }
    }
}

impl fmt::Display for DatabaseName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseName::File(file) => file.display().fmt(out),
            DatabaseName::Server(name) => out.write_str(name),
        }
    }
}

/// Why an invitation cannot be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvitationClosedReason {
    /// Somebody did.
    Used,
    /// Whoever made it took it back.
    Withdrawn,
    /// Its time is over.
    Expired,
}

impl fmt::Display for InvitationClosedReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            InvitationClosedReason::Used => {
                "this invitation was used already, and each lets in once; if it was not you, tell \
                 whoever invited you, else sign in with your password or ask for another link"
            }
            InvitationClosedReason::Withdrawn => {
                "this invitation was taken back; ask whoever invited you for another"
            }
            InvitationClosedReason::Expired => {
                "this invitation has expired; ask whoever invited you for another"
            }
        })
    }
}

impl Error {
    /// For `map_err` of what the operating system says about a file or folder.
    pub(crate) fn file(path: &Path, way_out: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File {
            path,
            source,
            way_out,
        }
    }

    /// For `map_err` of a model's answer.
    pub(crate) fn model(model: &str) -> impl FnOnce(neural::Error) -> Error {
        let model = model.to_owned();
        move |source| Error::Model { model, source }
    }

    /// The message without the folders of this machine, which are nobody's business.
    pub(crate) fn public_message(&self) -> String {
        let whole = self.to_string();
        let path = match self {
            Error::File { path, .. }
            | Error::DataFolderInUse { path }
            | Error::FileNotFound {
                looked_in: path, ..
            } => path,
            Error::DatabaseInUse { at }
            | Error::DatabaseUnreachable { at, .. }
            | Error::DatabaseAccessDenied { at, .. }
            | Error::DatabaseServerTooOld { at, .. }
            | Error::DiskFull { at }
            | Error::DatabaseReadOnly { at }
            | Error::DatabaseTooNew { at, .. }
            | Error::Database { at, .. }
            | Error::Migration { at, .. } => {
                return whole.replace(&at.to_string(), &at.public_name());
            }
            Error::CorruptData { what, reason } => {
                let name = what.rsplit(['/', '\\']).next().unwrap_or(what);
                return format!("{name} is damaged: {reason}");
            }
            Error::ModelNotFound { model, reason }
            | Error::ModelFileNotFound { model, reason, .. } => {
                let name = model.rsplit(['/', '\\']).next().unwrap_or(model);
                return format!("model {name}: {reason}");
            }
            _ => return whole,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        whole.replace(&path.display().to_string(), &name)
    }
}

/// Runs what keeps a core busy off the async threads.
pub(crate) async fn run_blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| {
            tracing::error!("{what}: {error}");
            Err(Error::Panicked { what })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_nobodys_business() {
        let home = "/srv/somebody/models";
        let no_entry = || std::io::Error::from(std::io::ErrorKind::NotFound);
        for (error, public) in [
            (
                Error::ModelFileNotFound {
                    model: format!("{home}/tiny"),
                    reason: "config.json cannot be read".to_owned(),
                    here: format!("the cache is {home}"),
                },
                "model tiny: config.json cannot be read",
            ),
            (
                Error::ModelNotFound {
                    model: format!("{home}/tiny"),
                    reason: "has no config.json".to_owned(),
                },
                "model tiny: has no config.json",
            ),
            (
                Error::file(Path::new("/srv/somebody/models/a.db"), "move it")(no_entry()),
                "a.db: entity not found; move it",
            ),
        ] {
            assert!(error.to_string().contains(home), "{error}");
            assert_eq!(error.public_message(), public);
        }
    }
}
