//! Slow clients do not affect others. Only for Linux, which has all addresses of 127.0.0.0/8.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::api::rerank::RerankRequest;
use shared::api::{Endpoint, GetServerInfoRequest, ListStudiesRequest, ScoreDocumentsRequest};
use tokio::net::TcpSocket;

use crate::exposure::{HOST, Visitor, deployed_behind_nginx};
use crate::harness::TestHome;

/// More than the number of requests that are answered at once, and than the connections of one
/// address.
const N_SLOW: usize = 300;

/// One test at a time, since the connections of both could exceed the limit of open files.
static TURN: Mutex<()> = Mutex::new(());

/// Connects from an address that no other client uses.
fn connect_from_elsewhere(to: SocketAddr) -> TcpStream {
    let built = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    built.unwrap().block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
        let stream = socket.connect(to).await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    })
}

#[test]
fn slow_bodies_of_one_address_leave_the_server_to_others() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let home = TestHome::new();
    let server = home.serve(&[]);
    let host = server.address.strip_prefix("http://").unwrap();
    let address: SocketAddr = host.parse().unwrap();
    let slow = |path: &str| {
        let mut stream = connect_from_elsewhere(address);
        let head = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1000\r\n\r\n");
        // The last ones are refused, perhaps before they send anything.
        let _ = stream.write_all(head.as_bytes());
        stream
    };
    let paths = [ScoreDocumentsRequest::PATH, RerankRequest::PATH]
        .into_iter()
        .cycle();
    let mut slow: Vec<TcpStream> = paths.take(N_SLOW).map(slow).collect();
    for _ in 0..10 {
        // Their bodies continue, a byte at a time.
        for stream in &mut slow {
            let _ = stream.write_all(b" ");
        }
        std::thread::sleep(Duration::from_millis(100));
        let since = Instant::now();
        server.call(&GetServerInfoRequest {});
        assert!(since.elapsed() < Duration::from_secs(2));
    }
    let mut refused = connect_from_elsewhere(address);
    expect_answer(&mut refused, 5, "503");
}

/// Reads the answer of a server, which arrives within some seconds and has this status.
#[track_caller]
fn expect_answer(stream: &mut TcpStream, seconds: u64, status: &str) {
    let patience = Duration::from_secs(seconds);
    stream.set_read_timeout(Some(patience)).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let begin = format!("HTTP/1.1 {status} ");
    assert!(answer.starts_with(&begin), "{answer}");
}

/// nginx forwards a body once it is complete.
#[test]
fn slow_bodies_behind_nginx_leave_the_server_to_others() {
    let Some((_home, _server, proxy)) = deployed_behind_nginx() else {
        return;
    };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let address = SocketAddr::from(([127, 0, 0, 1], proxy.port));
    let body = br#"{"query": "river", "texts": ["a river"]}"#;
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {HOST}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        RerankRequest::PATH,
        body.len()
    );
    let begin = |_| {
        let mut stream = connect_from_elsewhere(address);
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut slow: Vec<TcpStream> = (0..N_SLOW).map(begin).collect();
    let reader = Visitor::new(&proxy, 3);
    let (first, rest) = body.split_at(4);
    for byte in first {
        for stream in &mut slow {
            stream.write_all(&[*byte]).unwrap();
        }
        std::thread::sleep(Duration::from_secs(1));
        for path in [GetServerInfoRequest::PATH, ListStudiesRequest::PATH] {
            let since = Instant::now();
            assert_eq!(reader.get(path, &[]), 200, "{path}");
            assert!(since.elapsed() < Duration::from_secs(2), "{path}");
        }
    }
    // None was refused: a client that completes its body is answered.
    for stream in slow.iter_mut().take(4) {
        stream.write_all(rest).unwrap();
        expect_answer(stream, 10, "200");
    }
}
