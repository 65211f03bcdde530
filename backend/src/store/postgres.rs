//! What is specific to PostgreSQL: addresses, which are never shown as a whole, the lock on jobs,
//! and error codes.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use shared::error::{Error as InputError, ErrorFieldName};
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AnyConnection, Connection, Executor};

use crate::error::{DatabaseDisplayName, Error};

/// Environment variable with the address of the database. There is no flag for it, since the
/// address contains a password and command lines are visible to all users of the machine.
pub(super) const VARIABLE: &str = "DATABASE_URL";

pub(super) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| migrator!("postgres"));

/// Transactions that write. In contrast to SQLite, they can run concurrently: every decision is
/// made by an `UPDATE … WHERE`, which locks its row until the end, and a waiting transaction
/// evaluates the condition again. This requires the isolation level READ COMMITTED, whatever the
/// default of the server is.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Transactions in which all queries see the state of the first one.
pub(super) const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The present time, in milliseconds since 1970; also within a transaction.
pub(super) const UNIX_TIME_MS: &str =
    "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

/// Returns the SQL that sets the next number of a column after its largest one, since inserting
/// rows with explicit numbers does not advance the sequence.
pub(super) fn sequence_reset_sql(table: &str, column: &str) -> String {
    format!(
        "SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column}))
         FROM {table} HAVING max({column}) IS NOT NULL"
    )
}

/// The oldest version that is tested, as in `server_version_num`.
const OLDEST: i64 = 150_000;

/// Time after which a connection attempt counts as failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time to wait for the lock, since the server keeps the lock of a killed process for a moment.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// Key of the advisory lock of the server that serves annotation tasks.
const MAIN: i64 = i64::from_be_bytes(*b"axioscop");

/// Key of the advisory lock that all servers share, and that whoever needs the database alone takes
/// for itself.
const SHARED: i64 = i64::from_be_bytes(*b"axioshar");

/// Allowed parameters after the `?` of an address, besides `options[NAME]`. sqlx would log any
/// other parameter with its value.
const PARAMETERS: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// The address of a PostgreSQL database. It may contain a password, so that only host, port and
/// name are shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PostgresAddress(Arc<Parts>);

#[derive(PartialEq, Eq)]
struct Parts {
    whole: String,
    shown: String,
}

impl PostgresAddress {
    /// Returns the name of the database in messages.
    pub(super) fn display_name(&self) -> DatabaseDisplayName {
        DatabaseDisplayName::Server(self.0.shown.clone())
    }

    pub(super) fn connection_options(&self) -> sqlx::Result<AnyConnectOptions> {
        self.0.whole.parse()
    }
}

impl FromStr for PostgresAddress {
    type Err = Error;

    /// Parses an address. Error messages do not contain parts that may belong to the password.
    fn from_str(url: &str) -> Result<PostgresAddress, Error> {
        let wrong = |reason: &str| Error::from(InputError::malformed_value(VARIABLE, reason));
        let no_address = "is no address as postgres://USER:PASSWORD@HOST:5432/NAME";
        let schemes = ["postgres://", "postgresql://"];
        let Some(rest) = schemes.iter().find_map(|it| url.strip_prefix(it)) else {
            return Err(wrong(
                "must begin with postgres:// or postgresql://; leave it out for SQLite, in the \
                 data folder",
            ));
        };
        // The password ends before an `@`. An `@` after one of these characters means that they
        // belong to the password.
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        if rest[end..].contains(['@', '#']) {
            return Err(wrong(
                "holds characters that have to be spelled: in a password, write @ as %40, / as \
                 %2F, ? as %3F, # as %23 and % as %25",
            ));
        }
        let parsed: AnyConnectOptions = url.parse().map_err(|_| wrong(no_address))?;
        for (name, _) in parsed.database_url.query_pairs() {
            let known = PARAMETERS.contains(&name.as_ref()) || name.starts_with("options[");
            if !known {
                let reason = format!("has a parameter `{name}` that is not known");
                return Err(wrong(&reason));
            }
        }
        let read = PgConnectOptions::from_str(url)
            .map_err(|_| wrong("has a parameter with a value that cannot be taken"))?;
        let name = read.get_database().unwrap_or(read.get_username());
        let shown = match read.get_socket() {
            Some(socket) => format!("postgres:{}, {name}", socket.display()),
            None => format!("postgres://{}:{}/{name}", read.get_host(), read.get_port()),
        };
        let whole = url.to_owned();
        Ok(PostgresAddress(Arc::new(Parts { whole, shown })))
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.shown)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Opens a connection, and returns an error if the version of the server is too old.
pub(super) async fn open_postgres_connection(
    address: &PostgresAddress,
    options: &AnyConnectOptions,
) -> Result<AnyConnection, Error> {
    let connected = tokio::time::timeout(PATIENCE, async {
        let mut connection = AnyConnection::connect_with(options).await?;
        let version =
            sqlx::query_scalar("SELECT CAST(current_setting('server_version_num') AS BIGINT)");
        let version: i64 = version.fetch_one(&mut connection).await?;
        Ok::<_, sqlx::Error>((connection, version))
    });
    let (connection, version) = match connected.await {
        Ok(connected) => connected.map_err(|it| convert_postgres_error(address, it))?,
        Err(_) => return Err(silent(address)),
    };
    check_version(address, version)?;
    Ok(connection)
}

fn check_version(address: &PostgresAddress, version: i64) -> Result<(), Error> {
    if version >= OLDEST {
        return Ok(());
    }
    Err(Error::DatabaseServerTooOld {
        at: address.display_name(),
        found: version / 10_000,
        oldest: OLDEST / 10_000,
    })
}

fn silent(address: &PostgresAddress) -> Error {
    Error::DatabaseUnreachable {
        at: address.display_name(),
        reason: format!("there was no answer within {} s", PATIENCE.as_secs()),
    }
}

/// A place among the servers of a database, which may have any data folder: advisory locks of a
/// separate connection, which PostgreSQL releases when that connection ends.
pub(super) struct DatabaseSession {
    address: PostgresAddress,
    connection: AnyConnection,
    is_main: bool,
}

impl DatabaseSession {
    /// Joins the servers of a database. Returns an error if a process needs the database alone.
    pub(super) async fn join(address: &PostgresAddress) -> Result<DatabaseSession, Error> {
        let mut session = DatabaseSession::connect(address).await?;
        session
            .wait_for_lock("SELECT pg_try_advisory_lock_shared($1)", SHARED)
            .await?;
        session.take_main_place().await?;
        Ok(session)
    }

    /// Takes the database for this process alone. Returns an error if it has a server.
    pub(super) async fn alone(address: &PostgresAddress) -> Result<DatabaseSession, Error> {
        let mut session = DatabaseSession::connect(address).await?;
        for key in [SHARED, MAIN] {
            session
                .wait_for_lock("SELECT pg_try_advisory_lock($1)", key)
                .await?;
        }
        Ok(session)
    }

    async fn connect(address: &PostgresAddress) -> Result<DatabaseSession, Error> {
        /// With these settings the server notices within a minute that a machine is gone, and does
        /// not close idle connections.
        const SETTINGS: &str = "SET tcp_keepalives_idle = 30;
                                SET tcp_keepalives_interval = 10;
                                SET tcp_keepalives_count = 3;
                                SET idle_session_timeout = 0";

        let failed = |it| convert_postgres_error(address, it);
        let options = address.connection_options().map_err(failed)?;
        let mut connection = open_postgres_connection(address, &options).await?;
        connection.execute(SETTINGS).await.map_err(failed)?;
        Ok(DatabaseSession {
            address: address.clone(),
            connection,
            is_main: false,
        })
    }

    async fn try_lock(&mut self, sql: &'static str, key: i64) -> Result<bool, Error> {
        let answer = sqlx::query_scalar(sql).bind(key);
        let taken = answer.fetch_one(&mut self.connection).await;
        taken.map_err(|it| convert_postgres_error(&self.address, it))
    }

    async fn wait_for_lock(&mut self, sql: &'static str, key: i64) -> Result<(), Error> {
        let since = Instant::now();
        while !self.try_lock(sql, key).await? {
            if since.elapsed() > RELEASE_TIMEOUT {
                let at = self.address.display_name();
                return Err(Error::DatabaseInUse { at });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Tries to become the server that serves annotation tasks.
    async fn take_main_place(&mut self) -> Result<(), Error> {
        self.is_main = self.is_main
            || self
                .try_lock("SELECT pg_try_advisory_lock($1)", MAIN)
                .await?;
        Ok(())
    }

    /// Makes sure that the locks are still held, and takes the place of the main server if it is
    /// free. After a broken connection, joins again. Returns whether the locks were held all the
    /// time.
    pub(super) async fn renew(&mut self) -> Result<LockContinuity, Error> {
        let answer = tokio::time::timeout(PATIENCE, self.connection.ping());
        if matches!(answer.await, Ok(Ok(()))) {
            self.take_main_place().await?;
            return Ok(LockContinuity::Held);
        }
        tracing::warn!(
            "{}: the connection broke, joining its servers again",
            self.address
        );
        self.is_main = false;
        *self = DatabaseSession::join(&self.address).await?;
        Ok(LockContinuity::Broken)
    }

    /// Whether this process is the server that serves annotation tasks.
    pub(super) fn is_main(&self) -> bool {
        self.is_main
    }
}

/// Whether locks were held without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockContinuity {
    /// They were.
    Held,
    /// Another process may have held them in the meantime.
    Broken,
}

/// Converts errors that a user can fix, by their code (PostgreSQL manual, appendix A).
pub(super) fn convert_postgres_error(address: &PostgresAddress, source: sqlx::Error) -> Error {
    let at = address.display_name();
    let (code, reason) = match &source {
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            (code.into_owned(), error.message().to_owned())
        }
        sqlx::Error::Io(error) => {
            let reason = error.to_string();
            return Error::DatabaseUnreachable { at, reason };
        }
        sqlx::Error::PoolTimedOut => return silent(address),
        _ => return Error::Database { at, source },
    };
    let not_let_in = |way_out| Error::DatabaseAccessDenied {
        at: at.clone(),
        reason: reason.clone(),
        way_out,
    };
    match code.as_str() {
        // disk_full
        "53100" => Error::DiskFull { at },
        // read_only_sql_transaction
        "25006" => Error::DatabaseReadOnly { at },
        // cannot_connect_now: the server is starting or stopping
        "57P03" => Error::DatabaseUnreachable { at, reason },
        // invalid_authorization_specification, invalid_password
        "28000" | "28P01" => not_let_in("check user and password in `DATABASE_URL`"),
        // invalid_catalog_name
        "3D000" => not_let_in("make it by `createdb`, or name another by `DATABASE_URL`"),
        // insufficient_privilege
        "42501" => not_let_in("let the user of `DATABASE_URL` own the database"),
        // character_not_in_repertoire: PostgreSQL cannot store NUL
        "22021" => {
            let reason = "holds the character NUL, which PostgreSQL cannot store; leave it out";
            InputError::malformed_value(
                ErrorFieldName::with_display_name("texts", "a text"),
                reason,
            )
            .into()
        }
        _ => Error::Database { at, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        match url.parse::<PostgresAddress>() {
            Ok(address) => format!("{address} {address:?}"),
            Err(error) => format!("{error} {error:?}"),
        }
    }

    #[test]
    fn an_address_is_shown_without_user_and_password() {
        for (url, expected) in [
            (
                "postgres://ann:s3cret@db.example/axio",
                "postgres://db.example:5432/axio",
            ),
            (
                "postgresql://ann:s3cret@db.example:5433/axio",
                "postgres://db.example:5433/axio",
            ),
            (
                "postgres://ann@db.example/axio?password=s3cret",
                "postgres://db.example:5432/axio",
            ),
            (
                "postgres://ann:s3cret@db.example",
                "postgres://db.example:5432/ann",
            ),
            (
                "postgres:///axio?host=/run/postgresql&user=ann",
                "postgres:/run/postgresql, axio",
            ),
        ] {
            assert_eq!(shown(url), format!("{expected} {expected}"));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_showing_a_password() {
        for (url, reason) in [
            (
                "mysql://ann:s3cret@db.example/axio",
                "must begin with postgres://",
            ),
            ("sqlite:s3cret", "leave it out for SQLite"),
            ("s3cret", "must begin with postgres://"),
            ("postgres://ann:s3cret/@db.example/axio", "/ as %2F"),
            ("postgres://ann:1?s3cret@db.example/axio", "? as %3F"),
            ("postgres://ann:1#s3cret@db.example/axio", "# as %23"),
            (
                "postgres://ann:s3cret@db.example:port/axio",
                "is no address as postgres://USER",
            ),
            (
                "postgres://ann:s3cret@db.example/axio?sslmod=require",
                "parameter `sslmod`",
            ),
            (
                "postgres://ann:s3cret@db.example/axio?sslmode=s3cret",
                "value that cannot be",
            ),
        ] {
            let shown = shown(url);
            assert!(shown.contains(reason), "{url}: {shown}");
            assert!(shown.contains(VARIABLE), "{url}: {shown}");
            assert!(!shown.contains("s3cret"), "{url}: {shown}");
        }
    }

    #[test]
    fn servers_that_are_too_old_are_named() {
        let address: PostgresAddress = "postgres://db.example/axio".parse().unwrap();
        assert!(check_version(&address, 150_000).is_ok());
        assert!(check_version(&address, 180_001).is_ok());
        let error = check_version(&address, 140_022).unwrap_err().to_string();
        assert_eq!(
            error,
            "postgres://db.example:5432/axio: PostgreSQL 14 is too old; 15 or later is needed"
        );
    }
}
