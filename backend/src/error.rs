//! All errors of the backend, ordered by who can correct the cause.

use std::fmt;
use std::path::{Path, PathBuf};

use shared::api::people::AccessRole;
use shared::error::Error as InputError;

/// An error of a command or a request. Its message says what happened and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    // Errors that the caller can correct.
    /// A setting, a name or a file that is invalid.
    #[error(transparent)]
    Input(#[from] shared::error::Error),

    /// A request that is not JSON.
    #[error("{place} is not JSON: {reason}")]
    InvalidJson { place: &'static str, reason: String },

    /// A request whose JSON does not have the fields of the endpoint.
    #[error("{place}: {reason}")]
    UnexpectedJson { place: &'static str, reason: String },

    /// A collection that was not imported, with no folder of that name.
    #[error(
        "there is no collection named `{named}`, and no such folder; `axioscope import FOLDER \
         --to NAME` brings one in"
    )]
    CollectionNotFound { named: String },

    /// A file that was not found.
    #[error(
        "there is no file `{file}`, `{file}.gz` or `{file}.zst`, also not in {}; check the name",
        looked_in.display()
    )]
    FileNotFound { file: String, looked_in: PathBuf },

    /// A request that exceeds a limit on the number of items.
    #[error("{found} {what} are too many; {most} at most, so send less at once")]
    TooLarge {
        what: &'static str,
        found: u64,
        most: u64,
    },

    /// A request body with too many bytes.
    #[error(
        "the request is too large: at most 256 MiB for a job or a study, 16 MiB for other requests \
         of an operator, 1 MiB for everybody else and for annotation, 64 KiB for people and sessions; \
         send less at once"
    )]
    BodyTooLarge,

    /// A request body that arrives too slowly.
    #[error("the body of the request comes too slowly; send it again, or less at once")]
    BodyTimeout,

    /// A request that refuses every available content coding.
    #[error(
        "the header `Accept-Encoding` refuses every coding that there is; name `br` or `gzip` in \
         it, or do not refuse `identity`"
    )]
    NotAcceptableCoding,

    /// A request without the operator's credentials, to an endpoint for the operator.
    #[error(
        "this is for the operator: open the link that the server printed when it started, or send \
         the operator's token as `Authorization: Bearer TOKEN`; the server printed it at its first \
         start, and `--new-token` makes another"
    )]
    NeedsToken,

    /// A token that is not that of the current operator link, or was used already.
    #[error(
        "this link is no longer valid: it works once, until the server stops; the server prints a \
         new one each time it starts"
    )]
    OperatorLinkExpired,

    /// A request of a visitor to an endpoint that needs a role.
    #[error("this needs you to be signed in; /join lets you in, or the link of an invitation")]
    NeedsSession,

    /// A request of an operator without a name, for which a name is stored.
    #[error("this is stored under your name, and you have not chosen one; choose one at /join")]
    NeedsNamedPerson,

    /// A request of a person whose role is not sufficient.
    #[error(
        "this needs the role {}; your role is {}. Ask an operator for another role",
        least.name(),
        role.name()
    )]
    InsufficientRole { role: AccessRole, least: AccessRole },

    /// A token that belongs to no invitation.
    #[error(
        "there is no such invitation; check that the link is complete, or ask the person who \
         invited you for another"
    )]
    InvitationNotFound,

    /// An invitation that was used, was withdrawn or has expired.
    #[error("{over}")]
    InvitationClosed { over: InvitationClosedReason },

    /// A name that another person has.
    #[error(
        "the name `{name}` is taken; choose another, or, if it is yours, sign in with your \
         password or ask a curator for a new link"
    )]
    NameTaken { name: String },

    /// A wrong name or a wrong password. The message does not say which.
    #[error(
        "the name or the password is wrong; if you have no password or forgot it, ask a curator \
         for a new link"
    )]
    InvalidCredentials,

    /// A request that may be forged, for example from a page of another site.
    #[error("{reason}")]
    UntrustedRequest { reason: String },

    /// A path that does not exist.
    #[error("{method} {path} does not exist; /api/docs lists all endpoints")]
    PathNotFound { method: String, path: String },

    /// A path that does not support the method of the request.
    #[error("{path} does not support {method}; /api/docs lists its methods")]
    MethodNotAllowed { method: String, path: String },

    /// A client that has exceeded a rate limit.
    #[error("too many requests; try again in {retry_after_s} s")]
    RateLimited { retry_after_s: u64 },

    /// A request that conflicts with the current state.
    #[error("{reason}")]
    Conflict { reason: String },

    /// A shard of a study that other machines could not compute.
    #[error(transparent)]
    Shard(#[from] ShardError),

    // Errors due to the load of all callers.
    /// Too many requests to score texts are waiting, in total or from one client.
    #[error(
        "too many requests to score texts wait already ({most} at most, {most_of_one} of one \
         address); try again in {retry_after_s} s"
    )]
    ScoringQueueFull {
        most: usize,
        most_of_one: usize,
        retry_after_s: u64,
    },

    /// A concurrency limit of the server is reached.
    #[error("the server is busy with {what}; try again in {retry_after_s} s")]
    ServerBusy {
        what: &'static str,
        retry_after_s: u64,
    },

    /// Annotations that could not be stored.
    #[error(
        "nothing was saved: {reason}; send the same request again in {retry_after_s} s; events \
         that arrive twice are saved once"
    )]
    NotSaved { reason: String, retry_after_s: u64 },

    // Errors that the operator of the server can correct.
    /// A file or folder that could not be read or written.
    #[error("{}: {source}; {way_out}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
        way_out: &'static str,
    },

    /// A data folder that another process uses.
    #[error(
        "{} is in use by another axioscope; stop that one, or choose another folder with `--data`",
        path.display()
    )]
    DataFolderInUse { path: PathBuf },

    /// A data folder whose rows are on a PostgreSQL server that is not named.
    #[error(
        "{}: the rows of this data folder are in the PostgreSQL database {server}; set \
         `DATABASE_URL` as the server has it, or remove this file to begin with an empty SQLite \
         database",
        path.display()
    )]
    DatabaseAddressMissing { path: PathBuf, server: String },

    /// A database that another process uses.
    #[error("{at}: another axioscope uses it; stop that one, or {}", at.another())]
    DatabaseInUse { at: DatabaseDisplayName },

    /// A change of an annotation task at a server that is not the main one.
    #[error(
        "another server with the same database serves annotation tasks; send it there, or try \
         again in {retry_after_s} s in case that one has ended"
    )]
    NotMainServer { retry_after_s: u64 },

    /// A database server that does not respond.
    #[error("{at}: {reason}; start the server, or correct `DATABASE_URL`")]
    DatabaseUnreachable {
        at: DatabaseDisplayName,
        reason: String,
    },

    /// A database server that refuses access or a query.
    #[error("{at}: {reason}; {way_out}")]
    DatabaseAccessDenied {
        at: DatabaseDisplayName,
        reason: String,
        way_out: &'static str,
    },

    /// A database server whose version is too old.
    #[error("{at}: PostgreSQL {found} is too old; {oldest} or later is needed")]
    DatabaseServerTooOld {
        at: DatabaseDisplayName,
        found: i64,
        oldest: i64,
    },

    /// A database that cannot grow because the disk is full.
    #[error("{at}: the disk is full; make room and start again, nothing is lost")]
    DiskFull { at: DatabaseDisplayName },

    /// A database that is read-only.
    #[error("{at}: cannot be written; {}", at.rights())]
    DatabaseReadOnly { at: DatabaseDisplayName },

    /// A database that a later version of Axioscope has created.
    #[error(
        "{at}: made by a later version of axioscope (layout {found}, this one knows {known}); \
         update axioscope, or {}",
        at.another()
    )]
    DatabaseTooNew {
        at: DatabaseDisplayName,
        found: i64,
        known: i64,
    },

    /// Any other error of the database.
    #[error("{at}: {source}")]
    Database {
        at: DatabaseDisplayName,
        source: sqlx::Error,
    },

    /// A database that could not be migrated to the layout of this version.
    #[error("{at}: {source}; restore it from a copy, or {}", at.another())]
    Migration {
        at: DatabaseDisplayName,
        source: sqlx::migrate::MigrateError,
    },

    /// Stored data that is damaged.
    #[error("{what} is damaged: {reason}")]
    CorruptData { what: String, reason: String },

    /// A model that does not exist or is incomplete.
    #[error("model {model}: {reason}")]
    ModelNotFound { model: String, reason: String },

    /// A file of a model that is missing or could not be downloaded.
    #[error("model {model}: {reason} ({here})")]
    ModelFileNotFound {
        model: String,
        /// The message for clients, without paths of this machine.
        reason: String,
        /// The place on this machine where the file was expected.
        here: String,
    },

    /// A model that could not be loaded or could not compute.
    #[error("model {model}: {source}")]
    Model {
        model: String,
        source: neural::Error,
    },

    /// A training that cannot be started, continued or finished.
    #[error(transparent)]
    Training(#[from] neural::training::TrainingError),

    /// A folder in which something else was trained.
    #[error(
        "{} has the training of another {what}; give the arguments that it was begun with, or \
         choose another folder",
        folder.display()
    )]
    OtherTraining { folder: PathBuf, what: &'static str },

    /// A remote ranker that returned an error or no scores.
    #[error("{address}: {batch}: {reason}")]
    RemoteRanker {
        address: String,
        batch: String,
        reason: String,
    },

    /// A health check that failed.
    #[error("not healthy: {reason}")]
    Unhealthy { reason: String },

    /// An address on which the server cannot listen.
    #[error("cannot listen on {address}: {source}; choose another by `{option}`")]
    Listen {
        address: std::net::SocketAddr,
        source: std::io::Error,
        option: &'static str,
    },

    // Errors in the program.
    /// A panic in a part of the program.
    #[error("{what} failed by a fault in axioscope; the log says more")]
    Panicked { what: &'static str },
}

/// The name of a database in error messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DatabaseDisplayName {
    /// The path of an SQLite file.
    File(PathBuf),
    /// Host, port and name of a PostgreSQL database, without the password.
    Server(String),
}

impl DatabaseDisplayName {
    /// Returns a name without paths and host names, which clients must not see.
    fn public_name(&self) -> String {
        match self {
            DatabaseDisplayName::File(file) => {
                let name = file.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
            DatabaseDisplayName::Server(_) => "the database".to_owned(),
        }
    }

    /// Returns the advice for using another database.
    fn another(&self) -> &'static str {
        match self {
            DatabaseDisplayName::File(_) => "choose another folder with `--data`",
            DatabaseDisplayName::Server(_) => "name another database by `DATABASE_URL`",
        }
    }

    /// Returns the advice if the database is read-only.
    fn rights(&self) -> &'static str {
        match self {
            DatabaseDisplayName::File(_) => {
                "check the permissions of the file and its folder, or choose another folder with \
                 `--data`"
            }
            DatabaseDisplayName::Server(_) => {
                "it is a standby, or configured to be read-only; name another by `DATABASE_URL`"
            }
        }
    }
}

impl fmt::Display for DatabaseDisplayName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseDisplayName::File(file) => file.display().fmt(out),
            DatabaseDisplayName::Server(name) => out.write_str(name),
        }
    }
}

/// The reason why an invitation can no longer be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvitationClosedReason {
    /// The invitation was used.
    Used,
    /// The person who created the invitation, or an operator, withdrew it.
    Withdrawn,
    /// The invitation has expired.
    Expired,
}

impl fmt::Display for InvitationClosedReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            InvitationClosedReason::Used => {
                "this invitation was already used, and each works once; if that was not you, tell \
                 the person who invited you, otherwise sign in with your password or ask for \
                 another link"
            }
            InvitationClosedReason::Withdrawn => {
                "this invitation was withdrawn; ask the person who invited you for another"
            }
            InvitationClosedReason::Expired => {
                "this invitation has expired; ask the person who invited you for another"
            }
        })
    }
}

/// Why a shard has no output, or an input could not be read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ShardError {
    /// What happened, and what to do.
    pub message: String,
    /// Whether the same attempt may succeed later.
    pub is_transient: bool,
}

impl ShardError {
    /// Creates an error that every further attempt would meet as well.
    pub fn permanent(message: impl Into<String>) -> ShardError {
        ShardError {
            message: message.into(),
            is_transient: false,
        }
    }

    /// Creates an error that a further attempt may not meet.
    pub fn transient(message: impl Into<String>) -> ShardError {
        ShardError {
            message: message.into(),
            is_transient: true,
        }
    }
}

impl From<Error> for ShardError {
    fn from(error: Error) -> ShardError {
        let message = error.to_string();
        match error {
            // A device may have other work, and a disk that of others.
            Error::Model { .. } | Error::File { .. } => ShardError::transient(message),
            Error::Shard(error) => error,
            _ => ShardError::permanent(message),
        }
    }
}

impl Error {
    /// Converts an I/O error of a file or folder. `way_out` says what the user can do. For use with
    /// `map_err`.
    pub(crate) fn io_error_converter(
        path: &Path,
        way_out: &'static str,
    ) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File {
            path,
            source,
            way_out,
        }
    }

    /// Converts an error of a model. For use with `map_err`.
    pub(crate) fn model_error_converter(model: &str) -> impl FnOnce(neural::Error) -> Error {
        let model = model.to_owned();
        move |source| Error::Model { model, source }
    }

    /// Returns the message for clients, without paths of this machine.
    pub(crate) fn public_message(&self) -> String {
        let whole = self.to_string();
        let path = match self {
            Error::File { path, .. }
            | Error::DataFolderInUse { path }
            | Error::DatabaseAddressMissing { path, .. }
            | Error::OtherTraining { folder: path, .. }
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
            Error::Input(InputError::File { file, .. } | InputError::Line { file, .. }) => {
                let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
                return whole.replace(file.as_str(), name);
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

/// Runs `work` to its end, even if the caller is dropped because a client disconnects. Returns an
/// error that names `what` if it panics.
pub(crate) async fn run_to_completion<T: Send + 'static>(
    what: &'static str,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let ended = tokio::spawn(work).await;
    ended.unwrap_or_else(|error| {
        tracing::error!("{what}: {error}");
        Err(Error::Panicked { what })
    })
}

/// Runs CPU-bound or blocking work off the async threads. Returns an error that names `what` if it
/// panics.
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
    fn public_messages_name_no_folder_of_this_machine() {
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
                Error::io_error_converter(Path::new("/srv/somebody/models/a.db"), "move it")(
                    no_entry(),
                ),
                "a.db: entity not found; move it",
            ),
            (
                Error::OtherTraining {
                    folder: format!("{home}/my-drmm").into(),
                    what: "seed",
                },
                "my-drmm has the training of another seed; give the arguments that it was begun \
                 with, or choose another folder",
            ),
            (
                InputError::unreadable_file(&format!("{home}/curves.jsonl"), "is torn").into(),
                "curves.jsonl: is torn",
            ),
        ] {
            assert!(error.to_string().contains(home), "{error}");
            assert_eq!(error.public_message(), public);
        }
    }
}
