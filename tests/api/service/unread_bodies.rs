//! Requests that are answered before their body has arrived.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Version};
use http_body::{Body, Frame, SizeHint};

use crate::backend::run;
use crate::common::Fixture;

const KIB: usize = 1024;

/// A body of pieces of one KiB, which counts those that were read.
struct Pieces {
    left: usize,
    read: Arc<AtomicUsize>,
    has_length: bool,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        self.read.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; KIB])))))
    }

    fn size_hint(&self) -> SizeHint {
        if self.has_length { SizeHint::with_exact((self.left * KIB) as u64) } else { SizeHint::new() }
    }
}

/// Sends a request without a credential. Returns the `Connection` of the response, and the number of KiB that were read.
async fn refused(
    fixture: &Fixture,
    pieces: usize,
    has_length: bool,
    expects: bool,
    version: Version,
) -> (String, usize) {
    let read = Arc::new(AtomicUsize::new(0));
    let body = Pieces { left: pieces, read: Arc::clone(&read), has_length };
    let mut request =
        Request::post("/api/v1/hosts").version(version).header("content-type", "application/json");
    if expects {
        request = request.header("expect", "100-continue");
    }
    let reply = fixture.server.send(request.body(body).unwrap()).await;
    assert_eq!(reply.status, 401);
    let connection = reply.headers.get("connection").map(|value| value.to_str().unwrap().to_owned());
    (connection.unwrap_or_default(), read.load(Ordering::Relaxed))
}

#[test]
fn small_body_of_a_refused_request_is_read_so_that_the_connection_goes_on() {
    run(async || {
        let fixture = Fixture::new().await;
        for has_length in [true, false] {
            let answer = refused(&fixture, 64, has_length, false, Version::HTTP_11).await;
            assert_eq!(answer, (String::new(), 64));
        }
    });
}

#[test]
fn other_body_of_a_refused_request_closes_the_connection() {
    run(async || {
        let fixture = Fixture::new().await;
        let close = "close".to_owned();
        // One that announces that it is large, one that turns out to be, and one that waits for the answer.
        assert_eq!(refused(&fixture, 65, true, false, Version::HTTP_11).await, (close.clone(), 0));
        assert_eq!(refused(&fixture, 1_000, false, false, Version::HTTP_11).await, (close.clone(), 65));
        assert_eq!(refused(&fixture, 1, true, true, Version::HTTP_11).await, (close, 0));
        // The header does not exist in HTTP/2, where a response ends no connection.
        assert_eq!(refused(&fixture, 65, true, false, Version::HTTP_2).await, (String::new(), 0));
    });
}
