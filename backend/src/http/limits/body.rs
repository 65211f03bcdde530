//! Reads request bodies before a request takes a slot.
//!
//! Bytes count against the limits as they arrive. A client that announces a large body and sends
//! little therefore holds little.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Method;
use futures_util::StreamExt;
use shared::api::people::AccessRole;
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::http::access::Caller;

use super::{BODIES_AGAIN_S, ServerLimits, Slot};

/// Maximum body of clients other than operators, in bytes. It suffices for the largest scoring
/// request of a visitor with every character escaped.
const MOST_OF_OTHERS: usize = 1 << 20;

/// The minimum speed of a body.
#[derive(Clone, Copy)]
struct Pace {
    /// Number of bytes that must arrive within each period, unless the body ends before.
    least: usize,
    /// Length of the period.
    within: Duration,
    /// Maximum time for the whole body.
    in_all: Duration,
}

/// Slower than a slow mobile connection.
const PACE: Pace = Pace {
    least: 16 << 10,
    within: Duration::from_secs(10),
    in_all: Duration::from_secs(60),
};

/// Enough time for the largest job over a slow connection.
const PACE_OF_OPERATORS: Pace = Pace {
    in_all: Duration::from_secs(3_600),
    ..PACE
};

/// Reads the body of a request that may have one, of at most `most` bytes. The bytes count against
/// the limits until the returned slot is dropped.
pub(super) async fn read_body(
    limits: &ServerLimits,
    request: Request,
    most: usize,
) -> Result<(Request, Option<Slot>), Error> {
    if [Method::GET, Method::HEAD].contains(request.method()) {
        return Ok((request, None));
    }
    let caller = Caller::of_request(&request)?;
    let mut held = limits.body(&caller);
    let (most, pace) = match caller.has_role(AccessRole::Operator) {
        true => (most, PACE_OF_OPERATORS),
        false => (most.min(MOST_OF_OTHERS), PACE),
    };
    let (parts, body) = request.into_parts();
    let body = read(body, most, pace, &mut held).await?;
    Ok((Request::from_parts(parts, Body::from(body)), Some(held)))
}

async fn read(body: Body, most: usize, pace: Pace, held: &mut Slot) -> Result<Bytes, Error> {
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    let start = Instant::now();
    let end = start + pace.in_all;
    let (mut due, mut until) = (pace.least, end.min(start + pace.within));
    while let Some(chunk) = timeout_at(until, chunks.next())
        .await
        .map_err(|_| Error::BodyTimeout)?
    {
        let chunk = chunk.map_err(|error| Error::InvalidJson {
            place: "the body",
            reason: error.to_string(),
        })?;
        if chunk.len() > most - bytes.len() {
            return Err(Error::BodyTooLarge);
        }
        if !held.take_more(chunk.len()) {
            return Err(Error::ServerBusy {
                what: "the bodies of other requests",
                retry_after_s: BODIES_AGAIN_S,
            });
        }
        bytes.extend_from_slice(&chunk);
        if bytes.len() >= due {
            due = bytes.len() + pace.least;
            until = end.min(Instant::now() + pace.within);
        }
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;
    use crate::http::limits::{ClientKey, SlotPool};

    const QUICK: Pace = Pace {
        least: 100,
        within: Duration::from_millis(400),
        in_all: Duration::from_secs(60),
    };

    /// Returns a slot that is large enough for every body of these tests.
    fn enough() -> Slot {
        SlotPool::new(1 << 20, 1 << 20).take_none(None)
    }

    /// Returns a body of `n_chunks` chunks of `n_bytes` bytes, one every 20 ms.
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
        let read = read(body(1_000, 1), 1_000, QUICK, &mut enough()).await;
        assert!(matches!(read, Err(Error::BodyTimeout)), "{read:?}");
        assert!(since.elapsed() < Duration::from_secs(5));
    }

    #[tokio::test]
    async fn a_body_may_take_long_if_it_comes_on() {
        let since = Instant::now();
        let read = read(body(40, 100), 4_000, QUICK, &mut enough()).await;
        let read = read.unwrap();
        assert_eq!(read.len(), 4_000);
        assert!(since.elapsed() > 2 * QUICK.within);
    }

    #[tokio::test]
    async fn a_body_has_an_end() {
        let read = read(body(40, 100), 250, QUICK, &mut enough()).await;
        assert!(matches!(read, Err(Error::BodyTooLarge)), "{read:?}");
    }

    #[tokio::test]
    async fn a_body_that_comes_on_is_given_up_in_the_end() {
        let pace = Pace {
            in_all: Duration::from_millis(600),
            ..QUICK
        };
        let since = Instant::now();
        let read = read(body(1_000, 100), 100_000, pace, &mut enough()).await;
        assert!(matches!(read, Err(Error::BodyTimeout)), "{read:?}");
        assert!((pace.in_all..Duration::from_secs(10)).contains(&since.elapsed()));
    }

    #[tokio::test]
    async fn bodies_hold_so_many_bytes_of_one_and_of_all() {
        let bytes = SlotPool::new(250, 150);
        let of = |last: u8| bytes.take_none(Some(ClientKey::Address([192, 0, 2, last].into())));
        let [mut first, mut again, mut other, mut third] = [of(1), of(1), of(2), of(3)];
        let read_100 = async |held: &mut Slot| read(body(1, 100), 1_000, QUICK, held).await;
        read_100(&mut first).await.unwrap();
        let refused = read_100(&mut again).await.unwrap_err();
        assert!(
            matches!(refused, Error::ServerBusy { .. }),
            "200 of one: {refused}"
        );
        read_100(&mut other).await.unwrap();
        let refused = read_100(&mut third).await.unwrap_err();
        assert!(
            matches!(refused, Error::ServerBusy { .. }),
            "300 of all: {refused}"
        );
        drop(first);
        read_100(&mut third).await.unwrap();
    }
}
