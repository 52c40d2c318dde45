//! Endpoints of the host application while it stops. Time is paused.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::routing::post as writes;
use axum::{Json, Router};
use futures_util::stream::{self, StreamExt};
use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, timeout};
use toposcope::service::{Admitted, Api, Extract, ResponseBody};
use tower::ServiceExt;

use crate::common::{Fixture, get, with_key};

async fn record(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(Json(value)): Extract<Json<Value>>,
) -> Response<ResponseBody> {
    api.respond(&admitted, Ok(value))
}

async fn count(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(body): Extract<Body>,
) -> Response<ResponseBody> {
    let mut parts = body.into_data_stream();
    let mut bytes = 0;
    while let Some(Ok(part)) = parts.next().await {
        bytes += part.len();
    }
    api.respond(&admitted, Ok(bytes))
}

struct Stoppable {
    fixture: Fixture,
    api: Api,
    stop: Arc<Notify>,
}

impl Stoppable {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let stop = Arc::new(Notify::new());
        let signal = Arc::clone(&stop);
        let server = fixture.configured(|builder| builder.shutdown(async move { signal.notified().await }));
        Self { fixture, api: server.api, stop }
    }

    async fn admitted(&self) -> Admitted {
        let (request, _) = with_key(get("/own"), &self.fixture.key).into_parts();
        self.api.admit(&request).await.unwrap()
    }

    async fn is_drained(&self) -> bool {
        timeout(Duration::from_millis(1), self.api.drained()).await.is_ok()
    }

    /// Begins an upload, of which a part has arrived.
    async fn upload(&self, target: &str) -> (mpsc::UnboundedSender<&'static str>, JoinHandle<Reply>) {
        let router = Router::new().route("/record", writes(record)).route("/count", writes(count));
        let router = router.with_state(self.api.clone());
        let (parts, arriving) = mpsc::unbounded_channel();
        let parts_of_body = stream::unfold(arriving, async |mut arriving| {
            let part: &str = arriving.recv().await?;
            Some((Ok::<_, std::io::Error>(Bytes::from(part)), arriving))
        });
        let request = Request::post(target).header("content-type", "application/json");
        let request = with_key(request.body(Body::from_stream(parts_of_body)).unwrap(), &self.fixture.key);
        let reply = tokio::spawn(async move {
            let (head, body) = router.oneshot(request).await.unwrap().into_parts();
            (head, serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap())
        });
        parts.send("[1,").unwrap();
        for _ in 0..20 {
            yield_now().await;
        }
        (parts, reply)
    }
}

type Reply = (http::response::Parts, Value);

#[tokio::test(start_paused = true)]
async fn service_is_drained_once_own_requests_are_dropped_and_their_responses_read() {
    let app = Stoppable::new().await;
    let admitted = app.admitted().await;
    app.stop.notify_one();
    assert!(!app.is_drained().await);
    let clone = admitted.clone();
    let response = app.api.respond(&admitted, Ok("data"));
    drop(admitted);
    assert!(!app.is_drained().await, "a clone exists");
    drop(clone);
    assert!(!app.is_drained().await, "the response is not read");
    response.into_body().collect().await.unwrap();
    assert!(app.is_drained().await);
    // A request that begins now counts as well, whether it is admitted
    // or refused.
    let late = app.admitted().await;
    assert!(!app.is_drained().await);
    assert!(!late.into_caller().organization_id().is_nil());
    assert!(app.is_drained().await, "the caller alone is no request");
    let (request, _) = get("/own").into_parts();
    let refusal = app.api.admit(&request).await.unwrap_err();
    assert!(!app.is_drained().await);
    drop(refusal);
    assert!(app.is_drained().await);
}

#[tokio::test(start_paused = true)]
async fn cancelled_own_request_does_not_keep_the_service_from_being_drained() {
    let app = Stoppable::new().await;
    let (_parts, reply) = app.upload("/record").await;
    app.stop.notify_one();
    assert!(!app.is_drained().await);
    reply.abort();
    assert!(reply.await.unwrap_err().is_cancelled());
    assert!(app.is_drained().await);
}

#[tokio::test(start_paused = true)]
async fn own_upload_ends_after_the_grace_of_the_api() {
    let app = Stoppable::new().await;
    let (_record_parts, record) = app.upload("/record").await;
    let (_count_parts, count) = app.upload("/count").await;
    app.stop.notify_one();
    let begin = Instant::now();
    let (head, body) = record.await.unwrap();
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(500) && took < Duration::from_secs(1), "{took:?}");
    assert_eq!((head.status.as_u16(), &body["code"]), (503, &Value::from("server_stopping")));
    assert_eq!(
        (&head.headers["retry-after"], &head.headers["connection"]),
        (&"1".parse().unwrap(), &"close".parse().unwrap())
    );
    // An endpoint that reads the body itself finds that it is over.
    let (head, body) = count.await.unwrap();
    assert_eq!((head.status.as_u16(), &body["data"]), (200, &Value::from(3)));
    app.api.drained().await;
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn own_upload_that_arrives_in_the_grace_is_processed() {
    let app = Stoppable::new().await;
    let (parts, record) = app.upload("/record").await;
    app.stop.notify_one();
    yield_now().await;
    parts.send("2]").unwrap();
    drop(parts);
    let (head, body) = record.await.unwrap();
    assert_eq!((head.status.as_u16(), &body["data"]), (200, &serde_json::json!([1, 2])));
}

#[tokio::test(start_paused = true)]
async fn own_upload_whose_client_stalls_ends() {
    let fixture = Fixture::new().await;
    let server = fixture.configured(|builder| builder.stall_timeout(Duration::from_secs(20)));
    let app = Stoppable { fixture, api: server.api, stop: Arc::default() };
    let begin = Instant::now();
    let (_parts, record) = app.upload("/record").await;
    let (head, body) = record.await.unwrap();
    assert!((20..40).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
    assert_eq!((head.status.as_u16(), &body["code"]), (408, &Value::from("request_timeout")));
}

#[tokio::test(start_paused = true)]
async fn own_stream_learns_that_the_shutdown_has_begun() {
    let app = Stoppable::new().await;
    let mut stopping = pin!(app.api.stopping());
    assert!(timeout(Duration::from_secs(1), &mut stopping).await.is_err());
    app.stop.notify_one();
    timeout(Duration::from_millis(10), stopping).await.unwrap();
    timeout(Duration::from_millis(10), app.api.stopping()).await.unwrap();
    let never = app.fixture.server.api.stopping();
    assert!(timeout(Duration::from_secs(1), never).await.is_err(), "no shutdown is announced");
}

#[test]
fn stream_of_an_api_that_is_built_outside_of_a_runtime_learns_it_too() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let fixture = runtime.block_on(Fixture::new());
    let api = fixture.configured(|builder| builder.shutdown(std::future::ready(()))).api;
    runtime.block_on(api.stopping());
}
