//! A mock HTTP server whose replies are set by a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request that the mock server received.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    /// The index of the request, counted from 0.
    pub(crate) number: usize,
    /// The request line, as in `GET /path`.
    pub(crate) line: String,
    /// The header lines, in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl RecordedRequest {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|it| Some(it.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }
}

/// The reply of the mock server to a request.
pub(crate) enum MockReply {
    /// Status, further headers, and body.
    Answer(u16, String, Vec<u8>),
    /// The server never answers.
    NoResponse,
    /// Status and further headers, followed by a body that does not end.
    Endless(u16, String),
    /// The connection is closed in the middle of the answer.
    CloseConnection,
}

/// Returns a reply with a status and a body only.
pub(crate) fn answer(status: u16, body: impl Into<Vec<u8>>) -> MockReply {
    MockReply::Answer(status, String::new(), body.into())
}

/// A mock HTTP server, which ends with the test program.
pub(crate) struct MockServer {
    /// The address, as `http://127.0.0.1:PORT`.
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl MockServer {
    pub(crate) fn new(
        reply: impl Fn(&RecordedRequest) -> MockReply + Send + Sync + 'static,
    ) -> MockServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<RecordedRequest>>> = Arc::default();
        let (heard, reply) = (asked.clone(), Arc::new(reply));
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (heard, reply) = (heard.clone(), reply.clone());
                std::thread::spawn(move || serve(connection.unwrap(), &heard, &*reply));
            }
        });
        MockServer {
            address,
            requests: asked,
        }
    }

    /// Returns all requests received so far.
    pub(crate) fn asked(&self) -> Vec<RecordedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    mut connection: TcpStream,
    heard: &Mutex<Vec<RecordedRequest>>,
    reply: &dyn Fn(&RecordedRequest) -> MockReply,
) {
    let Some(mut asked) = read(&connection) else {
        return;
    };
    {
        let mut heard = heard.lock().unwrap();
        asked.number = heard.len();
        heard.push(asked.clone());
    }
    // The client may be gone.
    let _ = match reply(&asked) {
        MockReply::Answer(status, headers, body) => write!(
            connection,
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
            body.len()
        )
        .and_then(|()| connection.write_all(&body)),
        MockReply::Endless(status, headers) => {
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}\r\n");
            let mut sent = connection.write_all(head.as_bytes());
            while sent.is_ok() {
                sent = connection.write_all(&[b' '; 1 << 16]);
            }
            sent
        }
        MockReply::NoResponse => {
            std::thread::sleep(Duration::from_secs(3_600));
            Ok(())
        }
        MockReply::CloseConnection => write!(
            connection,
            "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[{{"
        )
        .and_then(|()| connection.shutdown(Shutdown::Both)),
    };
}

fn read(connection: &TcpStream) -> Option<RecordedRequest> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let line = line
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    let (mut head, mut n_bytes) = (String::new(), 0);
    loop {
        let mut next = String::new();
        if reader.read_line(&mut next).ok()? == 0 {
            return None;
        }
        if next == "\r\n" {
            break;
        }
        let (name, value) = next.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") {
            n_bytes = value.trim().parse().ok()?;
        }
        head += &format!("{}:{value}", name.to_lowercase());
    }
    let mut body = vec![0; n_bytes];
    reader.read_exact(&mut body).ok()?;
    Some(RecordedRequest {
        number: 0,
        line,
        head,
        body: String::from_utf8(body).ok()?,
    })
}
