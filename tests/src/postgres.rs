//! A PostgreSQL database for a single test, on the server that `cargo xtask test` starts.
//!
//! `AXIOSCOPE_TEST_DATABASE_URL` is the address of that server, as
//! `postgres://USER:PASSWORD@HOST:PORT/NAME`; its user must be allowed to create databases. If it
//! is empty, there is no server, and tests report that they were skipped.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use test_dependencies::{TestDependency, or_skip};

const VARIABLE: &str = "AXIOSCOPE_TEST_DATABASE_URL";

/// A database that is dropped when its test ends.
pub struct TestDatabase {
    name: String,
    server: String,
    /// The address of the database.
    pub url: String,
}

impl TestDatabase {
    /// Creates an empty database; none if there is no server.
    pub fn new() -> Option<TestDatabase> {
        static N_MADE: AtomicU32 = AtomicU32::new(0);

        let server = std::env::var(VARIABLE).unwrap_or_else(|_| {
            panic!("{VARIABLE} is not set: `cargo xtask test` starts a server of PostgreSQL for it")
        });
        let server = or_skip(
            Some(server).filter(|it| !it.is_empty()),
            TestDependency::Postgres,
            "there is no PostgreSQL, so it ran on SQLite alone",
        )?;
        let (base, _) = server.rsplit_once('/').unwrap();
        let n_made = N_MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("axioscope_{}_{n_made}", std::process::id());
        let url = format!("{base}/{name}");
        let database = TestDatabase { name, server, url };
        // An earlier test with this number may have been killed.
        database.tell_server(format!("DROP DATABASE IF EXISTS {}", database.name));
        database.tell_server(format!("CREATE DATABASE {}", database.name));
        Some(database)
    }

    /// Returns the address with another user, password, host or name: `what` is replaced.
    pub fn url_with(&self, what: &str, by: &str) -> String {
        assert!(self.url.contains(what), "{what}");
        self.url.replacen(what, by, 1)
    }

    /// Returns what is between the user and the `@` in the address.
    pub fn password(&self) -> &str {
        let (_, rest) = self.url.split_once("://").unwrap();
        let (user, _) = rest.rsplit_once('@').unwrap();
        user.split_once(':').unwrap().1
    }

    /// Returns what is between the `@` and the name in the address.
    pub fn host(&self) -> &str {
        let (_, rest) = self.url.rsplit_once('@').unwrap();
        rest.split_once('/').unwrap().0
    }

    /// Returns the name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs SQL statements in the database.
    pub fn execute(&self, sql: &str) {
        run(&self.url, sql.to_owned());
    }

    /// Returns how many other connections the database has.
    pub fn n_connections(&self) -> i64 {
        const OTHERS: &str = "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()
             AND backend_type = 'client backend'";

        let url = self.url.clone();
        wait(async move {
            let mut connection = PgConnection::connect(&url).await?;
            let n = sqlx::query_scalar(OTHERS);
            let n: i64 = n.fetch_one(&mut connection).await?;
            connection.close().await?;
            Ok(n)
        })
    }

    fn tell_server(&self, sql: String) {
        run(&self.server, sql);
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // This works even if the test has just killed a server that used it. A failing test reports
        // its own error.
        if !std::thread::panicking() {
            self.tell_server(format!("DROP DATABASE {} WITH (FORCE)", self.name));
        }
    }
}

fn run(url: &str, sql: String) {
    let url = url.to_owned();
    wait(async move {
        let mut connection = PgConnection::connect(&url).await?;
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await?;
        connection.close().await
    });
}

/// Runs on a thread of its own, since a test may already be inside a runtime.
fn wait<T, W>(work: W) -> T
where
    T: Send + 'static,
    W: Future<Output = Result<T, sqlx::Error>> + Send + 'static,
{
    let runtime = || {
        let built = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        built.unwrap().block_on(work).unwrap()
    };
    std::thread::scope(|it| it.spawn(runtime).join().unwrap())
}
