//! Responses to requests whose bodies no endpoint reads.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version};
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, pause};

use crate::backend::run;
use crate::common::{Fixture, Reply, bare};

/// The length of a frame in bytes.
const FRAME: usize = 64 * 1024;

/// A body of equal frames that counts those that are read.
struct CountedFrames {
    /// The number of frames that arrive.
    count: usize,
    /// Whether the body stalls after its frames instead of ending.
    stalls: bool,
    /// Whether its size is stated before.
    is_sized: bool,
    read: Arc<AtomicUsize>,
}

impl CountedFrames {
    fn of(count: usize) -> Self {
        Self { count, stalls: false, is_sized: false, read: Arc::default() }
    }
}

impl Body for CountedFrames {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        if self.read.load(Ordering::Relaxed) == self.count {
            return if self.stalls { Poll::Pending } else { Poll::Ready(None) };
        }
        self.read.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b' '; FRAME])))))
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_sized { SizeHint::with_exact((self.count * FRAME) as u64) } else { SizeHint::new() }
    }
}

/// Sends a request without a credential. Returns the value of `Connection`, and the number of frames that were read.
async fn refused(fixture: &Fixture, body: CountedFrames, expect: Option<&str>) -> (String, usize) {
    let read = Arc::clone(&body.read);
    let mut request = Request::post("/api/v1/hosts").header("content-type", "application/json");
    if let Some(expect) = expect {
        request = request.header("expect", expect);
    }
    let reply = fixture.server.send(request.body(body).unwrap()).await;
    reply.refuses(401, "auth_not_authenticated");
    (connection(&reply), read.load(Ordering::Relaxed))
}

fn connection(reply: &Reply) -> String {
    let connection = reply.headers.get("connection").map(|value| value.to_str().unwrap().to_owned());
    connection.unwrap_or_default()
}

#[test]
fn short_body_of_a_refused_request_is_read_so_that_its_client_sees_the_response() {
    run(async || {
        let fixture = Fixture::new().await;
        for is_sized in [false, true] {
            let body = CountedFrames { is_sized, ..CountedFrames::of(32) };
            assert_eq!(refused(&fixture, body, None).await, (String::new(), 32));
        }
    });
}

#[test]
fn rest_of_a_long_body_is_not_read_and_the_connection_closes() {
    run(async || {
        let fixture = Fixture::new().await;
        let (connection, read) = refused(&fixture, CountedFrames::of(usize::MAX), None).await;
        assert_eq!(connection, "close");
        assert!((64..=66).contains(&read), "{read} frames");
        let announced = CountedFrames { is_sized: true, ..CountedFrames::of(65) };
        assert_eq!(refused(&fixture, announced, None).await, ("close".to_owned(), 0));
        let asked = CountedFrames::of(1);
        assert_eq!(refused(&fixture, asked, Some("100-continue")).await, ("close".to_owned(), 0));
    });
}

#[test]
fn body_that_does_not_arrive_delays_a_refusal_by_a_second_at_most() {
    run(async || {
        let fixture = Fixture::new().await.on_one_instance();
        pause();
        for frames in [0, 3] {
            let began = Instant::now();
            let body = CountedFrames { stalls: true, ..CountedFrames::of(frames) };
            assert_eq!(refused(&fixture, body, None).await, ("close".to_owned(), frames));
            assert!(began.elapsed() <= Duration::from_millis(1_100), "{:?}", began.elapsed());
        }
    });
}

#[test]
fn body_that_does_not_arrive_delays_no_refusal_without_a_timer() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let fixture = Fixture::new().await;
        let body = CountedFrames { stalls: true, ..CountedFrames::of(1) };
        assert_eq!(refused(&fixture, body, None).await, ("close".to_owned(), 1));
    });
}

#[test]
fn rest_of_a_body_over_http_2_is_read_if_it_is_short_and_ends_no_connection() {
    run(async || {
        let fixture = Fixture::new().await;
        for (frames, expected) in [(4, 4..=4), (usize::MAX, 64..=66)] {
            let body = CountedFrames::of(frames);
            let read = Arc::clone(&body.read);
            let request = Request::post("/api/v1/hosts").version(Version::HTTP_2);
            let reply = fixture.server.send(request.body(body).unwrap()).await;
            reply.refuses(401, "auth_not_authenticated");
            assert_eq!(connection(&reply), "");
            let read = read.load(Ordering::Relaxed);
            assert!(expected.contains(&read), "{read} frames");
        }
    });
}

#[test]
fn response_to_a_body_that_was_read_or_is_empty_keeps_the_connection() {
    run(async || {
        let fixture = Fixture::new().await;
        let request = Request::post("/api/auth/login").header("content-type", "application/json");
        let login = fixture.server.send(request.body("{}".to_owned()).unwrap()).await;
        assert_eq!((login.status.as_u16(), connection(&login)), (400, String::new()));
        for method in ["GET", "POST"] {
            let reply = fixture.server.send(bare(method, "/api/v1/hosts")).await;
            assert_eq!((reply.status.as_u16(), connection(&reply)), (401, String::new()));
        }
    });
}
