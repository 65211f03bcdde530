//! Downloads one file of the hub into the cache.
//!
//! Responses of the hub are not trusted. Metadata is checked before it becomes part of a path,
//! redirects are followed only to hosts of the hub, and no more bytes are written than announced
//! and plausible.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, Uri, header};

/// Maximum size of weights in bytes: a T5 with 3 billion parameters in 32 bits.
const MAX_WEIGHTS_BYTES: u64 = 16 << 30;

/// Maximum size of other files in bytes, three times that of a large vocabulary.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Domains to which the public hub and its mirrors redirect for large files, with their subdomains.
const HOSTS: [&str; 2] = ["huggingface.co", "hf.co"];

/// The metadata of a file in responses of the hub.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct HubFileMetadata {
    commit: Option<String>,
    etag: Option<String>,
}

impl HubFileMetadata {
    /// Reads metadata from the headers of a response. Headers that are missing keep the previous
    /// values.
    pub(super) fn update_from_headers(&mut self, headers: &HeaderMap) {
        let commit = text(headers, "x-repo-commit");
        let etag = text(headers, "x-linked-etag").or_else(|| text(headers, "etag"));
        let etag = etag.map(|it| it.trim_start_matches("W/").replace('"', ""));
        self.commit = commit.map(str::to_owned).or(self.commit.take());
        self.etag = etag.or(self.etag.take());
    }

    /// Returns the file at an address, or an error message if its metadata is incomplete or
    /// invalid.
    pub(super) fn into_validated_hub_file(
        self,
        url: String,
        file: &str,
        n_bytes: Option<u64>,
    ) -> Result<HubFile, String> {
        let is_hash = |it: &String| {
            matches!(it.len(), 40 | 64) && it.bytes().all(|it| it.is_ascii_hexdigit())
        };
        let is_name = |it: &String| {
            let fine = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
            (1..=128).contains(&it.len()) && !it.starts_with('.') && it.bytes().all(fine)
        };
        let commit = self
            .commit
            .filter(is_hash)
            .ok_or("it does not say, in the header x-repo-commit, of which commit the file is")?;
        let etag = self
            .etag
            .filter(is_name)
            .ok_or("it gives the file no etag, or one that cannot be the name of a file")?;
        let n_bytes = n_bytes.ok_or("it does not say how many bytes the file has")?;
        let most = match file.ends_with(".safetensors") {
            true => MAX_WEIGHTS_BYTES,
            false => MAX_FILE_BYTES,
        };
        if n_bytes > most {
            return Err(format!(
                "{file} has {n_bytes} bytes there, at most {most} are taken"
            ));
        }
        Ok(HubFile {
            url,
            commit,
            etag,
            n_bytes,
        })
    }
}

/// A file on the hub. Commit and etag have been checked and can be part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HubFile {
    pub(super) url: String,
    pub(super) commit: String,
    pub(super) etag: String,
    n_bytes: u64,
}

/// Returns the size of a file in bytes, from the response to a request for its first byte.
pub(super) fn file_size_from_response(status: StatusCode, headers: &HeaderMap) -> Option<u64> {
    let all = match status {
        StatusCode::PARTIAL_CONTENT => text(headers, "content-range")?.rsplit_once('/')?.1,
        _ => text(headers, "content-length")?,
    };
    all.parse().ok()
}

/// Returns the target of a redirect. It must be on the same host, or be an HTTPS address of the
/// hub.
pub(super) fn checked_redirect_target(
    endpoint: &str,
    url: &str,
    headers: &HeaderMap,
) -> Result<String, String> {
    let location = text(headers, "location").ok_or("it redirects to nowhere")?;
    let refused = || {
        let shown: String = location.chars().take(100).collect();
        format!(
            "it redirects to `{}`, which is neither on its own host nor, by HTTPS, on one below {}",
            shown.escape_debug(),
            HOSTS.join(" or ")
        )
    };
    let uri = |it: &str| it.parse::<Uri>().map_err(|_| refused());
    let (own, here) = (uri(endpoint)?, uri(url)?);
    if location.starts_with('/') && !location.starts_with("//") {
        let (scheme, authority) = (here.scheme_str(), here.authority());
        let (scheme, authority) = scheme.zip(authority).ok_or_else(refused)?;
        return Ok(format!("{scheme}://{authority}{location}"));
    }
    let there = uri(location)?;
    let host = there.host().ok_or_else(refused)?;
    let is_below = |domain: &str| {
        let rest = host.strip_suffix(domain);
        rest.is_some_and(|it| it.is_empty() || it.ends_with('.'))
    };
    let is_same = there.scheme() == own.scheme() && there.authority() == own.authority();
    let is_known =
        there.scheme_str() == Some("https") && own.host().into_iter().chain(HOSTS).any(is_below);
    match is_same || is_known {
        true => Ok(location.to_owned()),
        false => Err(refused()),
    }
}

/// Creates a client that does not follow redirects, with a timeout for the start of each response
/// and an optional one for the whole request.
pub(super) fn client_without_redirects(answer: Duration, all: Option<Duration>) -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_resolve(Some(answer))
        .timeout_connect(Some(answer))
        .timeout_recv_response(Some(answer))
        .timeout_global(all)
        .build()
        .into()
}

/// Requests a range of bytes of a file. The token is sent only to the endpoint.
pub(super) fn request_byte_range(
    agent: &ureq::Agent,
    endpoint: &str,
    url: &str,
    range: &str,
    token: Option<&str>,
) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
    let mut request = agent
        .get(url)
        .header(header::RANGE, range)
        .header(header::ACCEPT_ENCODING, "identity");
    let is_own = url
        .strip_prefix(endpoint)
        .is_some_and(|it| it.starts_with('/'));
    if let Some(token) = token.filter(|_| is_own) {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    request.call()
}

/// The download of one file into the cache.
pub(super) struct HubFileDownload {
    pub(super) agent: ureq::Agent,
    pub(super) endpoint: String,
    pub(super) token: Option<String>,
    pub(super) remote_file: HubFile,
    /// The folder of the cache in which files are named by their etags.
    pub(super) blobs: PathBuf,
    /// The name of the file in the repository.
    pub(super) file: String,
}

impl HubFileDownload {
    /// Downloads the file into the folder, under its etag. A partial download is continued. After
    /// each chunk the download is aborted if `is_awaited` returns false.
    pub(super) fn download_into_cache(&self, is_awaited: impl Fn() -> bool) -> Result<(), String> {
        let blob = self.blobs.join(&self.remote_file.etag);
        let part = self.blobs.join(format!("{}.part", self.remote_file.etag));
        let disk = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(&self.blobs).map_err(|it| disk(&self.blobs, it))?;
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&part)
            .map_err(|it| disk(&part, it))?;
        // Another thread or process may be downloading the file; its result is then used.
        file.lock().map_err(|it| disk(&part, it))?;
        if blob.exists() {
            return Ok(());
        }
        let n_bytes = self.remote_file.n_bytes;
        let mut n_here = file.metadata().map_err(|it| disk(&part, it))?.len();
        if n_here > n_bytes {
            file.set_len(0).map_err(|it| disk(&part, it))?;
            n_here = 0;
        }
        if n_here < n_bytes {
            let (is_whole, mut body) = self.ask(n_here)?;
            if is_whole {
                file.set_len(0).map_err(|it| disk(&part, it))?;
                n_here = 0;
            }
            let mut piece = vec![0; 1 << 16];
            loop {
                let n_read = body.read(&mut piece).map_err(|it| it.to_string())?;
                if n_read == 0 {
                    break;
                }
                n_here += n_read as u64;
                if n_here > n_bytes {
                    // The content cannot be the announced file.
                    file.set_len(0).map_err(|it| disk(&part, it))?;
                    return Err(format!(
                        "it sends more than the {n_bytes} bytes it promised"
                    ));
                }
                file.write_all(&piece[..n_read])
                    .map_err(|it| disk(&part, it))?;
                if !is_awaited() {
                    return Err("nobody waits for it any more".to_owned());
                }
            }
        }
        if n_here < n_bytes {
            return Err(format!(
                "it sent {n_here} of the {n_bytes} bytes it promised"
            ));
        }
        if self.file.ends_with(".json")
            && let Err(error) = check_json(&part)
        {
            file.set_len(0).map_err(|it| disk(&part, it))?;
            return Err(format!("what it sends is not JSON ({error})"));
        }
        fs::rename(&part, &blob).map_err(|it| disk(&blob, it))
    }

    /// Requests the file from a byte offset. Returns the body, and whether it is the whole file
    /// instead.
    fn ask(&self, from: u64) -> Result<(bool, impl Read + use<>), String> {
        let range = format!("bytes={from}-");
        let HubFileDownload {
            agent, endpoint, ..
        } = self;
        let answer = request_byte_range(
            agent,
            endpoint,
            &self.remote_file.url,
            &range,
            self.token.as_deref(),
        );
        let answer = answer.map_err(|it| it.to_string())?;
        let (status, headers) = (answer.status(), answer.headers());
        let kind = text(headers, "content-type").unwrap_or_default();
        if kind.starts_with("text/html") {
            return Err("it sends a page of HTML".to_owned());
        }
        let begins = |it: &str| it.starts_with(&format!("bytes {from}-"));
        let is_whole = match status {
            StatusCode::OK => true,
            StatusCode::PARTIAL_CONTENT if text(headers, "content-range").is_some_and(begins) => {
                false
            }
            StatusCode::PARTIAL_CONTENT => {
                return Err(format!("it sends other bytes than those from {from} on"));
            }
            status => return Err(format!("it answers {} to a download", status.as_u16())),
        };
        Ok((is_whole, answer.into_body().into_reader()))
    }
}

fn check_json(path: &Path) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|it| it.to_string())?;
    serde_json::from_slice::<serde::de::IgnoredAny>(&bytes)
        .map(drop)
        .map_err(|it| it.to_string())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn headers(rows: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in rows {
            headers.insert(*name, value.parse().unwrap());
        }
        headers
    }

    fn found(commit: &str, etag: &str, n_bytes: Option<u64>) -> Result<HubFile, String> {
        let mut described = HubFileMetadata::default();
        described.update_from_headers(&headers(&[("x-repo-commit", commit), ("etag", etag)]));
        described.into_validated_hub_file("https://hub/a".to_owned(), "config.json", n_bytes)
    }

    #[test]
    fn what_a_hub_says_stands_in_a_path_only_if_it_can() {
        assert_eq!(found(COMMIT, "\"ab-1.c\"", Some(7)).unwrap().etag, "ab-1.c");
        assert_eq!(found(COMMIT, "W/\"ab\"", Some(7)).unwrap().etag, "ab");
        for commit in ["", "main", "../../evil", "/tmp/evil", &COMMIT[1..]] {
            assert!(found(commit, "ab", Some(7)).is_err(), "{commit}");
        }
        for etag in [
            "",
            "\"\"",
            ".",
            "..",
            "../../evil",
            "/tmp/evil",
            "a/b",
            "a\\b",
            ".hidden",
        ] {
            assert!(found(COMMIT, etag, Some(7)).is_err(), "{etag}");
        }
        assert!(found(COMMIT, &"a".repeat(129), Some(7)).is_err());
        assert!(found(COMMIT, "ab", None).is_err());
        assert!(found(COMMIT, "ab", Some(MAX_FILE_BYTES + 1)).is_err());
    }

    #[test]
    fn a_redirect_stays_on_hosts_of_the_hub() {
        let to = |endpoint: &str, location: &str| {
            let url = format!("{endpoint}/owner/name/resolve/main/config.json");
            checked_redirect_target(endpoint, &url, &headers(&[("location", location)]))
        };
        let hub = "https://huggingface.co";
        for (endpoint, location, expected) in [
            (
                hub,
                "/api/resolve-cache/a?b=c",
                "https://huggingface.co/api/resolve-cache/a?b=c",
            ),
            ("http://127.0.0.1:80", "/a", "http://127.0.0.1:80/a"),
        ] {
            assert_eq!(to(endpoint, location).unwrap(), expected);
        }
        for (endpoint, location) in [
            (hub, "https://huggingface.co/a"),
            (hub, "https://cas-bridge.xethub.hf.co/a?b=c"),
            (hub, "https://cdn-lfs.hf.co/a"),
            ("https://mirror.example", "https://cdn.mirror.example/a"),
            ("https://mirror.example", "https://cdn-lfs.huggingface.co/a"),
            ("http://127.0.0.1:80", "http://127.0.0.1:80/a"),
        ] {
            assert_eq!(to(endpoint, location).unwrap(), location);
        }
        for (endpoint, location) in [
            (hub, "http://huggingface.co/a"),
            (hub, "https://evil.example/a"),
            (hub, "https://huggingface.co.evil.example/a"),
            (hub, "https://evilhuggingface.co/a"),
            (hub, "https://huggingface.co@evil.example/a"),
            (hub, "//evil.example/a"),
            (hub, "file:///etc/passwd"),
            (hub, "../a"),
            (hub, ""),
            ("http://127.0.0.1:80", "http://127.0.0.1:81/a"),
            ("http://127.0.0.1:80", "http://169.254.169.254/a"),
        ] {
            assert!(to(endpoint, location).is_err(), "{endpoint} {location}");
        }
        assert!(checked_redirect_target(hub, &format!("{hub}/a"), &HeaderMap::new()).is_err());
    }
}
