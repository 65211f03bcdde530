//! Limits on connections: their number, and how long they may be idle.
//!
//! This uses hyper directly, since [`axum::serve()`] has no timeouts.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;

use crate::http::limits::{ClientKey, SlotPool};
use crate::jobs as work;

/// Maximum number of connections, if the system allows twice as many open files.
const MOST: usize = 4_096;

/// Maximum number of connections from one address, for example from a class behind one router.
const MOST_OF_ONE: usize = 256;

/// Response to a connection beyond the limits. It is written without hyper, which would wait for a
/// request first.
const NO_PLACE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    connection: close\r\n\
    content-length: 46\r\n\
    content-type: text/plain\r\n\
    retry-after: 5\r\n\r\n\
    too many connections; close some and try again";

/// How long a connection may be idle.
#[derive(Clone, Copy)]
pub(super) struct ConnectionDeadlines {
    /// Time for the headers of a request, from the start of the connection or the end of the
    /// previous request.
    pub(super) request_head: Duration,
    /// Time in which the client must accept some bytes of a response.
    pub(super) write: Duration,
}

/// Long enough for a page or a network that pauses.
pub(super) const DEADLINES: ConnectionDeadlines = ConnectionDeadlines {
    request_head: Duration::from_secs(30),
    write: Duration::from_secs(30),
};

/// Raises the limit of open files as far as the system allows, and returns the slots for
/// connections: half of the files. The rest is for the database, studies and models.
pub(super) fn connection_slots() -> Arc<SlotPool> {
    let n_files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or_else(|error| {
        tracing::warn!("the limit of open files cannot be raised: {error}");
        1_024
    });
    let most = usize::try_from(n_files / 2).unwrap_or(MOST);
    SlotPool::new(most.clamp(1, MOST), MOST_OF_ONE)
}

/// Returns the slots for connections of the listener for operators. They have their own, so that
/// no number of visitors locks them out.
pub(super) fn operator_connection_slots() -> Arc<SlotPool> {
    SlotPool::new(MOST_OF_ONE, MOST_OF_ONE)
}

/// The slots and deadlines of connections.
pub(super) struct ConnectionLimits<F> {
    pub(super) places: Arc<SlotPool>,
    /// Returns the key by which a connection from an address is counted.
    pub(super) client_key: F,
    pub(super) deadlines: ConnectionDeadlines,
}

/// Serves connections until it is told to stop, then finishes the requests in progress.
pub(super) async fn serve(
    mut listener: TcpListener,
    router: Router,
    limits: ConnectionLimits<impl Fn(IpAddr) -> Option<ClientKey>>,
    mut stopping: watch::Receiver<bool>,
) {
    let ConnectionLimits {
        places,
        client_key: asker_of,
        deadlines,
    } = limits;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(deadlines.request_head);
    let router = TowerToHyperService::new(router);
    let open = GracefulShutdown::new();
    loop {
        let (stream, peer): (_, SocketAddr) = tokio::select! {
            // `accept` logs its own errors.
            accepted = Listener::accept(&mut listener) => accepted,
            () = work::wait_for_shutdown_signal(&mut stopping) => break,
        };
        let Some(place) = places.take(asker_of(peer.ip())) else {
            // If the write fails, the client sees that the connection is closed.
            let _ = stream.into_std().and_then(|mut it| it.write_all(NO_PLACE));
            continue;
        };
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(deadlines.write));
        let router = router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.call(request)
        });
        let connection = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
        let connection = open.watch(connection);
        tokio::spawn(async move {
            let _place = place;
            if let Err(error) = connection.await {
                tracing::debug!("connection of {peer}: {error}");
            }
        });
    }
    drop(listener);
    open.shutdown().await;
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::net::TcpStream;
    use std::time::Instant;

    use axum::routing::get;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);
    const QUICK: ConnectionDeadlines = ConnectionDeadlines {
        request_head: Duration::from_millis(200),
        write: Duration::from_millis(200),
    };
    const REQUEST: &str = "GET /small HTTP/1.1\r\nhost: a\r\n\r\n";
    const LAST: &str = "GET /small HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

    /// The number of open files that the guide recommends.
    #[test]
    fn the_guide_names_as_many_files_as_all_connections_need() {
        let guide = include_str!("../../../docs/guide/deployment.md");
        assert!(guide.contains(&format!("\nLimitNOFILE={}\n", 2 * MOST)));
    }

    /// A server with a given number of connection slots.
    struct Site {
        address: SocketAddr,
        stop: watch::Sender<bool>,
        serving: tokio::task::JoinHandle<()>,
    }

    async fn site(most: usize, deadlines: ConnectionDeadlines) -> Site {
        let router = Router::new()
            .route("/small", get(|| async { "small" }))
            .route("/large", get(|| async { vec![b' '; 64 << 20] }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        let limits = ConnectionLimits {
            places: SlotPool::new(most, most),
            client_key: |ip| Some(ClientKey::Address(ip)),
            deadlines,
        };
        Site {
            address,
            stop,
            serving: tokio::spawn(serve(listener, router, limits, stopping)),
        }
    }

    fn connect(address: SocketAddr, text: &str) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(text.as_bytes())?;
        Ok(stream)
    }

    /// Sends a request and returns all that is received until the connection ends.
    async fn ask(address: SocketAddr, text: &'static str) -> io::Result<String> {
        let asking = tokio::task::spawn_blocking(move || {
            let mut answer = String::new();
            connect(address, text)?.read_to_string(&mut answer)?;
            Ok(answer)
        });
        asking.await.unwrap()
    }

    /// Waits until a connection slot is free.
    async fn is_answered(address: SocketAddr) {
        let since = Instant::now();
        while !matches!(ask(address, LAST).await, Ok(it) if it.starts_with("HTTP/1.1 200")) {
            assert!(since.elapsed() < PATIENCE, "there is no place");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    #[tokio::test]
    async fn a_silent_connection_is_closed() {
        let site = site(9, QUICK).await;
        for (said, answer) in [("", ""), ("GET /small HTTP/1.1\r\nhost", "")] {
            assert_eq!(ask(site.address, said).await.unwrap(), answer, "{said}");
        }
        // The deadline also applies after a completed request.
        let answer = ask(site.address, REQUEST).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nsmall"), "{answer}");
    }

    #[tokio::test]
    async fn an_answer_that_nobody_takes_is_given_up() {
        let site = site(1, QUICK).await;
        let _held = connect(site.address, "GET /large HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        is_answered(site.address).await;
    }

    #[tokio::test]
    async fn a_connection_over_the_limit_gets_an_answer() {
        let site = site(1, DEADLINES).await;
        let held = connect(site.address, "").unwrap();
        let answer = ask(site.address, "").await.unwrap();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
        let length = format!("content-length: {}", text.len());
        assert!(head.contains(&length), "{head} {}", text.len());
        drop(held);
        is_answered(site.address).await;
    }

    #[tokio::test]
    async fn a_server_that_stops_ends() {
        let site = site(9, QUICK).await;
        is_answered(site.address).await;
        site.stop.send(true).unwrap();
        let ended = tokio::time::timeout(PATIENCE, site.serving).await;
        ended.unwrap().unwrap();
        assert!(TcpStream::connect(site.address).is_err());
    }
}
