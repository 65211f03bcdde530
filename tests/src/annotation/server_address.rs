//! Where the server is now: another process, on another port, after each time it was killed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::harness::TestServer;

/// The address of the server, shared by all who use it.
#[derive(Clone)]
pub(crate) struct ServerAddress(Arc<Mutex<String>>);

impl ServerAddress {
    /// Where a server is.
    pub(crate) fn new(server: &TestServer) -> ServerAddress {
        ServerAddress(Arc::new(Mutex::new(server.address.clone())))
    }

    /// It is somewhere else now.
    pub(super) fn set(&self, server: &TestServer) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = server.address.clone();
    }

    /// `http://127.0.0.1:PORT`.
    pub(super) fn address(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
