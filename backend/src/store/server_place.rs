//! The servers of a database: which one is the main server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;
use crate::store::postgres::{DatabaseSession, LockContinuity};
use crate::store::{DataFolderLock, Database, DatabaseConfig};

/// The place of a server among those of a database, with the lock of its data folder.
pub(crate) struct ServerPlace {
    _folder: DataFolderLock,
    /// The session of a PostgreSQL database, which several servers may share. An SQLite file is
    /// locked with its folder.
    session: Option<DatabaseSession>,
    role: ServerRole,
    /// The number of terms as the main server so far.
    n_terms: u64,
}

/// The role of a server among those of its database. One of them is the main server, which alone
/// changes annotation tasks, since it keeps their state in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerRole(Arc<AtomicU64>);

impl ServerRole {
    /// Returns the role of the only server of a database.
    pub(crate) fn only_server() -> ServerRole {
        ServerRole(Arc::new(AtomicU64::new(1)))
    }

    /// Returns the number of the term in which this server is the main server, without a break; 0
    /// if another one is.
    pub(crate) fn main_term(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl ServerPlace {
    fn new(folder: DataFolderLock, session: Option<DatabaseSession>) -> ServerPlace {
        let is_main = session.as_ref().is_none_or(DatabaseSession::is_main);
        ServerPlace {
            _folder: folder,
            session,
            n_terms: u64::from(is_main),
            role: match is_main {
                true => ServerRole::only_server(),
                false => ServerRole::default(),
            },
        }
    }

    /// Returns the role, which [`ServerPlace::renew`] updates.
    pub(crate) fn role(&self) -> ServerRole {
        self.role.clone()
    }

    /// Whether other servers may work on the same jobs.
    pub(crate) fn may_have_others(&self) -> bool {
        self.session.is_some()
    }

    /// Makes sure that this process still has its place; must be called regularly. Becomes the main
    /// server if there is none.
    pub(crate) async fn renew(&mut self) -> Result<(), Error> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        let before = self.role.main_term();
        let renewed = session.renew().await;
        let is_held = matches!(renewed, Ok(LockContinuity::Held));
        let now = match (session.is_main(), is_held && before > 0) {
            (false, _) => 0,
            (true, true) => before,
            // Another server may have changed annotation tasks in the meantime.
            (true, false) => {
                self.n_terms += 1;
                self.n_terms
            }
        };
        self.role.0.store(now, Ordering::Release);
        renewed.map(|_| ())
    }
}

impl Database {
    /// Joins the servers of the database, with the data folder of this process.
    pub(crate) async fn join_servers(&self, folder: DataFolderLock) -> Result<ServerPlace, Error> {
        let session = match &self.database {
            DatabaseConfig::Sqlite(_) => None,
            DatabaseConfig::Postgres(address) => Some(DatabaseSession::join(address).await?),
        };
        Ok(ServerPlace::new(folder, session))
    }

    /// Takes the database for this process alone. Returns an error if it has a server.
    pub(crate) async fn lock_for_process(
        &self,
        folder: DataFolderLock,
    ) -> Result<ServerPlace, Error> {
        let session = match &self.database {
            DatabaseConfig::Sqlite(_) => None,
            DatabaseConfig::Postgres(address) => Some(DatabaseSession::alone(address).await?),
        };
        Ok(ServerPlace::new(folder, session))
    }
}
