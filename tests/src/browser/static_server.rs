//! A static host like those one can rent: a file server, with or without a start page for unknown
//! addresses.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Serves folders until the test program ends.
pub(crate) struct StaticServer {
    /// `http://127.0.0.1:PORT`
    pub(crate) origin: String,
    host: Arc<FileHost>,
}

/// The folder for each path prefix; the longest matching prefix is used.
pub(crate) type Mounts = BTreeMap<&'static str, PathBuf>;

/// Whether a host answers requests for a part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeRequests {
    Answered,
    /// The whole file is sent.
    Ignored,
}

/// What a host answers where it has no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnknownPath {
    /// The page `/index.html`.
    StartPage,
    NotFound,
}

struct FileHost {
    mounts: Mounts,
    ranges: RangeRequests,
    unknown: UnknownPath,
    /// The paths that were asked for and not found.
    missing: Mutex<Vec<String>>,
    /// The path and the number of bytes of each answer.
    sent: Mutex<Vec<(String, u64)>>,
    /// A path, and how often it is still answered as if it had no file.
    refused: Mutex<(String, usize)>,
}

impl StaticServer {
    /// Starts a server of `mounts`; a path without a file returns `/index.html`.
    pub(crate) fn start(mounts: Mounts) -> StaticServer {
        StaticServer::start_with_ranges(mounts, RangeRequests::Answered)
    }

    /// Starts a server that may ignore requests for a part of a file.
    pub(crate) fn start_with_ranges(mounts: Mounts, ranges: RangeRequests) -> StaticServer {
        StaticServer::start_host(mounts, ranges, UnknownPath::StartPage)
    }

    /// Starts a server that has nothing but its files.
    pub(crate) fn start_without_start_page(mounts: Mounts) -> StaticServer {
        StaticServer::start_host(mounts, RangeRequests::Answered, UnknownPath::NotFound)
    }

    fn start_host(mounts: Mounts, ranges: RangeRequests, unknown: UnknownPath) -> StaticServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("it is bound"));
        let host = Arc::new(FileHost {
            mounts,
            ranges,
            unknown,
            missing: Mutex::default(),
            sent: Mutex::default(),
            refused: Mutex::default(),
        });
        let shared = Arc::clone(&host);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let host = Arc::clone(&shared);
                // It is not an error if the browser closes the connection during an answer.
                std::thread::spawn(move || answer(&stream, &host));
            }
        });
        StaticServer { origin, host }
    }

    /// Returns the paths that were not found.
    pub(crate) fn missing_paths(&self) -> Vec<String> {
        self.host.missing.lock().expect("no answer panics").clone()
    }

    /// Forgets the paths that were not found.
    pub(crate) fn forget_missing_paths(&self) {
        self.host.missing.lock().expect("no answer panics").clear();
    }

    /// Answers the next requests of a path as if it had no file.
    pub(crate) fn refuse(&self, path: &str, n_requests: usize) {
        *self.host.refused.lock().expect("no answer panics") = (path.to_owned(), n_requests);
    }

    /// Returns how many of the requests to refuse have not come.
    pub(crate) fn n_to_refuse(&self) -> usize {
        self.host.refused.lock().expect("no answer panics").1
    }

    /// Returns the paths below a prefix that were sent since the last call, with their bytes.
    pub(crate) fn take_sent(&self, prefix: &str) -> Vec<(String, u64)> {
        let mut sent = self.host.sent.lock().expect("no answer panics");
        let all = std::mem::take(&mut *sent).into_iter();
        all.filter(|it| it.0.starts_with(prefix)).collect()
    }
}

impl FileHost {
    fn is_refused(&self, path: &str) -> bool {
        let mut refused = self.refused.lock().expect("no answer panics");
        let is_refused = refused.0 == path && refused.1 > 0;
        refused.1 -= usize::from(is_refused);
        is_refused
    }
}

fn answer(mut stream: &TcpStream, host: &FileHost) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut range = None;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        range = range.or_else(|| parse_range(line.strip_prefix("range: bytes=")?));
    }
    let path = first.split(' ').nth(1).unwrap_or("/");
    let path = path.split(['?', '#']).next().unwrap_or("/");
    let mounts = &host.mounts;
    let is_refused = host.is_refused(path);
    let file = find(path, mounts).or_else(|| match host.unknown {
        UnknownPath::StartPage => find("/index.html", mounts),
        UnknownPath::NotFound => None,
    });
    let file = file.filter(|_| !is_refused);
    if file.is_none() && !is_refused {
        let mut missing = host.missing.lock().expect("no answer panics");
        missing.push(path.to_owned());
    }
    let (status, file) = match file {
        Some(file) => ("200 OK", file),
        None => {
            let pages = mounts.iter().filter(|it| path.starts_with(it.0));
            let mut pages = pages.map(|it| it.1.join("404.html"));
            let page = pages.find(|it| it.is_file()).unwrap_or_default();
            ("404 Not Found", page)
        }
    };
    let kind = content_type(&file);
    let size = std::fs::metadata(&file).map_or(0, |it| it.len());
    let range = range.filter(|it| it.start < size && host.ranges == RangeRequests::Answered);
    let (status, part, content_range) = match range {
        Some(it) => {
            let part = it.start..it.end.min(size);
            let last = part.end - 1;
            let range = format!("content-range: bytes {}-{last}/{size}\r\n", part.start);
            ("206 Partial Content", part, range)
        }
        None => (status, 0..size, String::new()),
    };
    let mut body = vec![0; (part.end - part.start) as usize];
    if !body.is_empty() {
        std::fs::File::open(&file)?.read_exact_at(&mut body, part.start)?;
    }
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\
         {content_range}cache-control: no-cache\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    let mut sent = host.sent.lock().expect("no answer panics");
    sent.push((path.to_owned(), body.len() as u64));
    drop(sent);
    stream.write_all(&body)
}

/// Parses a range of bytes: its first and its last.
fn parse_range(range: &str) -> Option<Range<u64>> {
    let (first, last) = range.trim().split_once('-')?;
    Some(first.parse().ok()?..last.parse::<u64>().ok()? + 1)
}

fn find(path: &str, mounts: &Mounts) -> Option<PathBuf> {
    let (beginning, folder) = mounts.iter().rev().find(|it| path.starts_with(it.0))?;
    let rest = Path::new(path[beginning.len()..].trim_start_matches('/'));
    let plain = rest
        .components()
        .all(|it| matches!(it, Component::Normal(_)));
    let file = Some(folder.join(rest)).filter(|_| plain)?;
    let pages = [file.join("index.html"), file];
    pages.into_iter().find(|it| it.is_file())
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
