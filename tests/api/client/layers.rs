//! Layers between a client and its service.

use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use serde_json::json;
use toposcope::client::{Client, ClientErrorKind, RequestBody};
use toposcope::model::Tag;
use tower::retry::{Policy, Retry};
use tower::timeout::Timeout;
use tower::timeout::error::Elapsed;
use tower::{Service, service_fn};

use super::{Canned, owner, success};
use crate::common::Fixture;

#[tokio::test(start_paused = true)]
async fn timeout_layer_ends_a_request() {
    let silent = service_fn(|_: Request<RequestBody>| pending::<Result<Canned, Infallible>>());
    let client = Client::new(Timeout::new(silent, Duration::from_secs(5)));
    let error = client.version().await.unwrap_err();
    assert_eq!(error.kind(), ClientErrorKind::Transport);
    assert!(std::error::Error::source(&error).unwrap().is::<Elapsed>());
}

/// Repeats a request that was refused, once the clock of the fixture says so.
#[derive(Clone)]
struct AfterRefusal(toposcope::access::ManualClock);

impl<R, E> Policy<Request<RequestBody>, Response<R>, E> for AfterRefusal {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut Request<RequestBody>,
        result: &mut Result<Response<R>, E>,
    ) -> Option<Ready<()>> {
        let wait = result.as_ref().ok()?.headers().get("retry-after")?.to_str().ok()?.parse().ok()?;
        self.0.advance(Duration::from_secs(wait));
        Some(ready(()))
    }

    fn clone_request(&mut self, request: &Request<RequestBody>) -> Option<Request<RequestBody>> {
        let mut copy = Request::new(request.body().try_clone()?);
        *copy.method_mut() = request.method().clone();
        *copy.uri_mut() = request.uri().clone();
        *copy.headers_mut() = request.headers().clone();
        Some(copy)
    }
}

#[tokio::test]
async fn retry_layer_repeats_a_refused_request_with_its_body() {
    let fixture = Fixture::new().await;
    let api = fixture.limited(6, 1).api;
    let client = Client::new(Retry::new(AfterRefusal(fixture.clock.clone()), api));
    let client = client.with_api_key(&fixture.key).unwrap();
    for name in ["one", "two", "three"] {
        assert_eq!(client.create(&Tag::new(name)).await.unwrap().record.name, name);
    }
}

/// A service that is ready only when it is asked for the second time.
#[derive(Clone)]
struct Slow(u8);

impl Service<Request<RequestBody>> for Slow {
    type Response = Canned;
    type Error = Infallible;
    type Future = Ready<Result<Canned, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0 += 1;
        context.waker().wake_by_ref();
        if self.0 < 2 { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn call(&mut self, _: Request<RequestBody>) -> Self::Future {
        assert_eq!(self.0, 2, "the service that is called is the one that became ready");
        ready(Ok(success(&json!({"api_version": 1, "server_version": "1"}), None)))
    }
}

#[tokio::test]
async fn request_waits_until_the_service_is_ready() {
    let client = Client::new(Slow(0));
    client.version().await.unwrap();
    client.version().await.unwrap();
}

#[tokio::test]
async fn requests_can_be_sent_from_several_tasks() {
    let (_, client) = owner().await;
    let create = |number: usize| {
        let client = client.clone();
        tokio::spawn(async move { client.create(&Tag::new(format!("task {number}"))).await })
    };
    let tasks: Vec<_> = (0..8).map(create).collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}
