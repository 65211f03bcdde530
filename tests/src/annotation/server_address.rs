//! The current address of the server, which changes each time the server is killed and restarted.

use std::sync::{Arc, Mutex, PoisonError};

use crate::harness::TestServer;

/// The address of the server, shared by all who use it.
#[derive(Clone)]
pub(crate) struct ServerAddress(Arc<Mutex<String>>);

impl ServerAddress {
    /// Creates the address of a server.
    pub(crate) fn new(server: &TestServer) -> ServerAddress {
        ServerAddress(Arc::new(Mutex::new(server.address.clone())))
    }

    /// Sets the address to that of another server.
    pub(super) fn set(&self, server: &TestServer) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = server.address.clone();
    }

    /// Returns the address as `http://127.0.0.1:PORT`.
    pub(super) fn address(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
