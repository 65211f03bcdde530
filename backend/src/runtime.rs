//! The async runtime for commands that use the database or the network.

use std::path::PathBuf;

use crate::error::Error;
use crate::store::{DataFolder, Database};

/// Creates the async runtime of a command.
pub(crate) fn build_async_runtime() -> Result<tokio::runtime::Runtime, Error> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    built.map_err(Error::io_error_converter(
        &PathBuf::from("tokio"),
        "free some memory or threads",
    ))
}

/// Opens the database, runs `work` with it, and closes it.
pub(crate) fn run_with_database<T>(
    folder: &DataFolder,
    work: impl AsyncFnOnce(&Database) -> Result<T, Error>,
) -> Result<T, Error> {
    build_async_runtime()?.block_on(async {
        let store = Database::open_for_folder(folder).await?;
        let done = work(&store).await;
        store.close().await;
        done
    })
}

/// Waits until this program is asked to end: by Ctrl+C, or as service managers do.
pub async fn wait_for_stop_signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
