//! Clients that are slow: nobody else notices.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use shared::api::rerank::Rerank;
use shared::api::{About, Endpoint, Score};

use tokio::net::TcpSocket;

use crate::harness::Home;

/// More than requests are answered at once.
const N_SLOW: usize = 300;

#[test]
fn slow_bodies_leave_the_server_to_others() {
    let home = Home::new();
    let server = home.serve(&[]);
    let host = server.address.strip_prefix("http://").unwrap();
    // No address has as many connections.
    let from = ["127.0.0.2:0", "127.0.0.3:0", "127.0.0.4:0"]
        .into_iter()
        .cycle();
    let slow = |(path, from): (&str, &str)| {
        let mut stream = connect(from.parse().unwrap(), host.parse().unwrap());
        let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1000\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let paths = [Score::PATH, Rerank::PATH].into_iter().cycle();
    let mut slow: Vec<TcpStream> = paths.zip(from).take(N_SLOW).map(slow).collect();
    for _ in 0..10 {
        // Their bodies come on, a byte at a time.
        for stream in &mut slow {
            stream.write_all(b" ").unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
        let since = Instant::now();
        server.ask(&About {});
        assert!(since.elapsed() < Duration::from_secs(1));
    }
}

/// Connects from an address of this machine.
fn connect(from: SocketAddr, to: SocketAddr) -> TcpStream {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(from).unwrap();
        socket.connect(to).await.unwrap()
    });
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream
}
