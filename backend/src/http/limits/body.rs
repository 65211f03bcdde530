//! Bodies of requests, which are read before a request takes a place among those at work.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Method;
use futures_util::StreamExt;
use shared::api::people::Role;
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::http::access::Caller;

/// Body of whoever is not an operator, in bytes. It holds the texts that a visitor may have
/// scored, every character of them escaped.
const MOST_OF_OTHERS: usize = 1 << 20;

/// How fast a body has to come.
#[derive(Clone, Copy)]
struct Pace {
    /// So many bytes, or the end,
    least: usize,
    /// in this time, again and again.
    within: Duration,
}

/// A slow telephone is faster.
const PACE: Pace = Pace {
    least: 16 << 10,
    within: Duration::from_secs(10),
};

/// Reads the body of a request, of at most so many bytes. What is not posted has none.
pub(super) async fn read_body(request: Request, most: usize) -> Result<Request, Error> {
    if request.method() != Method::POST {
        return Ok(request);
    }
    let most = match Caller::of_request(&request)?.may(Role::Operator) {
        true => most,
        false => most.min(MOST_OF_OTHERS),
    };
    let (parts, body) = request.into_parts();
    let body = read(body, most, PACE).await?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

async fn read(body: Body, most: usize, pace: Pace) -> Result<Bytes, Error> {
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    let (mut due, mut until) = (pace.least, Instant::now() + pace.within);
    while let Some(chunk) = timeout_at(until, chunks.next())
        .await
        .map_err(|_| Error::SlowBody)?
    {
        let chunk = chunk.map_err(|error| Error::NotJson {
            place: "the body",
            reason: error.to_string(),
        })?;
        if chunk.len() > most - bytes.len() {
            return Err(Error::BodyTooLarge);
        }
        bytes.extend_from_slice(&chunk);
        if bytes.len() >= due {
            due = bytes.len() + pace.least;
            until = Instant::now() + pace.within;
        }
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    const QUICK: Pace = Pace {
        least: 100,
        within: Duration::from_millis(400),
    };

    /// Chunks of so many bytes, one each 20 ms.
    fn body(n_chunks: usize, n_bytes: usize) -> Body {
        let chunks = stream::iter(0..n_chunks).then(move |_| async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok::<_, Infallible>(Bytes::from(vec![b' '; n_bytes]))
        });
        Body::from_stream(chunks)
    }

    #[tokio::test]
    async fn a_body_that_trickles_is_given_up() {
        let since = Instant::now();
        let read = read(body(1_000, 1), 1_000, QUICK).await;
        assert!(matches!(read, Err(Error::SlowBody)), "{read:?}");
        assert!(since.elapsed() < Duration::from_secs(5));
    }

    #[tokio::test]
    async fn a_body_may_take_long_if_it_comes_on() {
        let since = Instant::now();
        let read = read(body(40, 100), 4_000, QUICK).await.unwrap();
        assert_eq!(read.len(), 4_000);
        assert!(since.elapsed() > 2 * QUICK.within);
    }

    #[tokio::test]
    async fn a_body_has_an_end() {
        let read = read(body(40, 100), 250, QUICK).await;
        assert!(matches!(read, Err(Error::BodyTooLarge)), "{read:?}");
    }
}
