//! The async runtime for commands that use the database or the network.

use std::path::PathBuf;

use crate::error::Error;
use crate::store::{DataFolder, DatabaseConfig, Store};

/// Creates the async runtime of a command.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    built.map_err(Error::file(
        &PathBuf::from("tokio"),
        "free some memory or threads",
    ))
}

/// Opens the database, runs `work` with it, and closes it.
pub(crate) fn with_store<T>(
    folder: &DataFolder,
    work: impl AsyncFnOnce(&Store) -> Result<T, Error>,
) -> Result<T, Error> {
    let database = DatabaseConfig::from_environment(folder)?;
    runtime()?.block_on(async {
        let store = Store::open(&database).await?;
        let done = work(&store).await;
        store.close().await;
        done
    })
}
