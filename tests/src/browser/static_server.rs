//! A static host like those one can rent: unknown addresses return the start page.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Serves folders until the test program ends.
pub(crate) struct StaticServer {
    /// `http://127.0.0.1:PORT`
    pub(crate) origin: String,
}

/// The folder for each path prefix; the longest matching prefix is used.
pub(crate) type Mounts = BTreeMap<&'static str, PathBuf>;

impl StaticServer {
    /// Starts a server of `mounts`; a path without a file returns `/index.html`.
    pub(crate) fn start(mounts: Mounts) -> StaticServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("it is bound"));
        let mounts = Arc::new(mounts);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mounts = Arc::clone(&mounts);
                // It is not an error if the browser closes the connection during an answer.
                std::thread::spawn(move || answer(&stream, &mounts));
            }
        });
        StaticServer { origin }
    }
}

fn answer(mut stream: &TcpStream, mounts: &Mounts) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or("/");
    let path = path.split(['?', '#']).next().unwrap_or("/");
    let file = find(path, mounts).or_else(|| find("/index.html", mounts));
    let (status, file) = match file {
        Some(file) => ("200 OK", file),
        None => ("404 Not Found", PathBuf::new()),
    };
    let body = std::fs::read(&file).unwrap_or_default();
    let kind = content_type(&file);
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\
         cache-control: no-cache\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

fn find(path: &str, mounts: &Mounts) -> Option<PathBuf> {
    let (beginning, folder) = mounts.iter().rev().find(|it| path.starts_with(it.0))?;
    let rest = Path::new(path[beginning.len()..].trim_start_matches('/'));
    let plain = rest
        .components()
        .all(|it| matches!(it, Component::Normal(_)));
    Some(folder.join(rest)).filter(|it| plain && it.is_file())
}

fn content_type(file: &Path) -> &'static str {
    match file
        .extension()
        .and_then(|it| it.to_str())
        .unwrap_or_default()
    {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
