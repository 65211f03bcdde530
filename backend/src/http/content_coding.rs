//! Compression of responses, negotiated by `Accept-Encoding` (RFC 9110, section 12.5.3).

use std::io::{self, Write};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::{Error, run_blocking};
use crate::http::AppState;

/// Responses with fewer bytes are not compressed.
const MIN_BYTES: u64 = 256;

/// Responses of at least this many bytes are compressed off the async threads.
const LARGE: usize = 1 << 16;

/// Compression level for responses that are compressed on the fly, for both codings.
pub(super) const FAST_LEVEL: u32 = 4;

/// Compression level for files that are compressed once: close to the best size for text and wasm,
/// in a tenth of the time.
pub(super) const BEST_LEVEL: u32 = 9;

/// A content coding: how a response body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ContentCoding {
    Brotli,
    Gzip,
}

impl ContentCoding {
    /// Lists all content codings in order of preference, the most preferred first.
    pub(super) const ALL: [ContentCoding; 2] = [ContentCoding::Brotli, ContentCoding::Gzip];

    /// Returns the best coding that a client accepts, or `None` if it accepts none.
    pub(super) fn accepted(headers: &HeaderMap) -> Option<ContentCoding> {
        let mut all = ContentCoding::ALL.into_iter();
        all.find(|it| accepts(headers, it.name()))
    }

    fn name(self) -> &'static str {
        match self {
            ContentCoding::Brotli => "br",
            ContentCoding::Gzip => "gzip",
        }
    }

    /// Returns the value of the `Content-Encoding` header: `br` or `gzip`.
    pub(super) fn header(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }

    /// Compresses bytes at a level, such as [`FAST_LEVEL`] or [`BEST_LEVEL`].
    pub(super) fn compress(self, level: u32, bytes: &[u8]) -> Bytes {
        self.compress_written(level, |out| out.write_all(bytes))
            .expect("a Vec takes every write")
    }

    /// Compresses the output of `write`. Returns the errors of `write`.
    pub(super) fn compress_written(
        self,
        level: u32,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Bytes> {
        let compressed = match self {
            ContentCoding::Brotli => {
                let mut out = brotli::CompressorWriter::new(Vec::new(), 1 << 16, level, 22);
                write(&mut out)?;
                out.into_inner()
            }
            ContentCoding::Gzip => {
                let mut out = GzEncoder::new(Vec::new(), Compression::new(level));
                write(&mut out)?;
                out.finish()?
            }
        };
        Ok(compressed.into())
    }
}

/// Returns whether a client accepts a coding; `identity` stands for no compression.
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let mut others = None;
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter();
    for entry in lists
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
    {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let accepted = !is_zero(weight);
        match name.trim() {
            "*" => others = Some(accepted),
            name if name.eq_ignore_ascii_case(coding) => return accepted,
            _ => {}
        }
    }
    others.unwrap_or(coding == "identity")
}

/// Returns whether a parameter is `q=0`.
fn is_zero(weight: &str) -> bool {
    let (name, value) = weight.split_once('=').unwrap_or_default();
    name.trim().eq_ignore_ascii_case("q") && value.trim().parse::<f32>() == Ok(0.0)
}

/// Returns whether a content type should be compressed; images and archives are already.
pub(super) fn is_compressible_type(content_type: &str) -> bool {
    !matches!(
        content_type,
        "image/png" | "image/x-icon" | "application/octet-stream"
    )
}

/// Compresses responses that are not compressed yet. Returns an error before the request is handled
/// if the client accepts neither a known coding nor uncompressed responses.
pub(super) async fn compress(
    State(app): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let coding = ContentCoding::accepted(request.headers());
    if coding.is_none() && !accepts(request.headers(), "identity") {
        return Error::NotAcceptableCoding.into_response();
    }
    let mut response = next.run(request).await;
    if !is_compressible(&response) {
        return response;
    }
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from(header::ACCEPT_ENCODING));
    let Some(coding) = coding else {
        return response;
    };
    compressed(&app, coding, response)
        .await
        .unwrap_or_else(IntoResponse::into_response)
}

/// Returns whether a response should be compressed. Streams have no known size and are sent as they
/// are produced.
fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let content_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    response
        .body()
        .size_hint()
        .exact()
        .is_some_and(|it| it >= MIN_BYTES)
        && !headers.contains_key(header::CONTENT_ENCODING)
        && content_type.is_some_and(is_compressible_type)
}

async fn compressed(
    app: &AppState,
    coding: ContentCoding,
    response: Response,
) -> Result<Response, Error> {
    let what = "compressing an answer";
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX)
        .await
        .map_err(|_| Error::Panicked { what })?;
    let bytes = match bytes.len() < LARGE {
        true => coding.compress(FAST_LEVEL, &bytes),
        false => {
            let place = app.limits.compressor().await;
            let compress = move || {
                let _place = place;
                Ok(coding.compress(FAST_LEVEL, &bytes))
            };
            run_blocking(what, compress).await?
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
        .headers
        .insert(header::CONTENT_ENCODING, coding.header());
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn headers(lists: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for list in lists {
            headers.append(header::ACCEPT_ENCODING, list.parse().unwrap());
        }
        headers
    }

    #[test]
    fn codings_are_chosen_as_rfc_9110_says() {
        use ContentCoding::{Brotli, Gzip};
        for (lists, coding, identity) in [
            (&[] as &[&str], None, true),
            (&[""], None, true),
            (&["gzip, deflate, br, zstd"], Some(Brotli), true),
            (&["gzip", "BR;q=0.5"], Some(Brotli), true),
            (&["br ; q=1.0"], Some(Brotli), true),
            (&["br;q=0, gzip"], Some(Gzip), true),
            (&["zstd"], None, true),
            (&["*"], Some(Brotli), true),
            (&["*;q=0, gzip"], Some(Gzip), false),
            (&["br;q=0, *"], Some(Gzip), true),
            (&["identity;q=0"], None, false),
            (&["identity;q=0.000, br"], Some(Brotli), false),
            (&["identity, *;q=0"], None, true),
            (&["*;Q=0"], None, false),
        ] {
            let headers = headers(lists);
            assert_eq!(ContentCoding::accepted(&headers), coding, "{lists:?}");
            assert_eq!(accepts(&headers, "identity"), identity, "{lists:?}");
        }
    }

    #[test]
    fn what_is_compressed_is_read_again() {
        let text = b"a river flows into the sea; ".repeat(10_000);
        for level in [FAST_LEVEL, BEST_LEVEL] {
            let brotli = ContentCoding::Brotli.compress(level, &text);
            let gzip = ContentCoding::Gzip.compress(level, &text);
            assert!(brotli.len() < 10_000 && gzip.len() < 10_000);
            let mut read = Vec::new();
            brotli::BrotliDecompress(&mut &brotli[..], &mut read).unwrap();
            assert_eq!(read, text);
            let mut read = Vec::new();
            let mut gzip = flate2::read::GzDecoder::new(&gzip[..]);
            gzip.read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }
}
