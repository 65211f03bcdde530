//! Where the server is now: another process, on another port, after each time it was killed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::harness::Server;

/// The address of the server, shared by all who use it.
#[derive(Clone)]
pub(crate) struct Site(Arc<Mutex<String>>);

impl Site {
    /// Where a server is.
    pub(crate) fn new(server: &Server) -> Site {
        Site(Arc::new(Mutex::new(server.address.clone())))
    }

    /// It is somewhere else now.
    pub(super) fn moved(&self, server: &Server) {
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
