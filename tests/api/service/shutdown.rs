//! A host application that stops while requests are under way.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout};
use toposcope::service::{Api, ResponseBody};
use tower::ServiceExt;

use crate::common::{Fixture, OFFICE, Server, Upload, bare, get, host, send_json, with_header, with_key};

const STREAM: &str = "/api/v1/discoveries/stream";

/// More hosts than the first part of a whole list has.
const HOSTS: u128 = 1_000;

/// An application whose shutdown the test announces.
struct Stoppable {
    fixture: Fixture,
    server: Server,
    stop: Arc<Notify>,
}

impl Stoppable {
    async fn with(hosts: u128) -> Self {
        let fixture = Fixture::with((1..=hosts).map(|number| host(number, OFFICE))).await;
        let stop = Arc::new(Notify::new());
        let signal = Arc::clone(&stop);
        let server = fixture.configured(|builder| builder.shutdown(async move { signal.notified().await }));
        Self { fixture, server, stop }
    }

    fn request(&self, target: &str) -> Request<String> {
        with_key(get(target), &self.fixture.key)
    }

    async fn open(&self, target: &str) -> Response<ResponseBody> {
        let response = self.server.api.clone().oneshot(self.request(target)).await.unwrap();
        assert_eq!(response.status(), 200);
        response
    }

    /// Begins an import whose body has not arrived to its end.
    async fn upload(&self) -> Upload {
        let import =
            with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
        let upload = Upload::begin(&self.server, with_key(import, &self.fixture.key)).await;
        upload.send(&format!("{}\n", json!({"name": "imported", "network_id": OFFICE})));
        upload
    }

    /// Announces the shutdown, and lets the service notice it.
    async fn stop(&self) {
        self.stop.notify_one();
        for _ in 0..10 {
            yield_now().await;
        }
    }
}

/// Returns whether the service is drained already.
async fn is_drained(api: &Api) -> bool {
    timeout(Duration::from_millis(1), api.drained()).await.is_ok()
}

#[cfg(feature = "discovery")]
#[tokio::test(start_paused = true)]
async fn stream_of_events_ends_and_no_new_one_begins() {
    let app = Stoppable::with(HOSTS).await;
    let mut stream = app.open(STREAM).await.into_body();
    assert!(stream.frame().await.unwrap().unwrap().into_data().unwrap().starts_with(b"retry:"));
    app.stop().await;
    let begin = Instant::now();
    assert!(stream.frame().await.is_none());
    assert!(begin.elapsed() < Duration::from_millis(500));
    let refused = app.server.send(app.request(STREAM)).await;
    refused.refuses(503, "server_stopping");
    assert_eq!(refused.header("retry-after"), "1");
    assert!(
        app.server.api.clone().oneshot(app.request("/api/v1/hosts")).await.unwrap().status().is_success()
    );
}

#[tokio::test(start_paused = true)]
async fn whole_list_is_broken_off_after_a_record() {
    let app = Stoppable::with(HOSTS).await;
    let list = with_header(app.request("/api/v1/hosts?limit=0"), "accept", "application/x-ndjson");
    let mut body = app.server.api.clone().oneshot(list).await.unwrap().into_body();
    let mut lines = Vec::new();
    app.stop().await;
    let error = loop {
        match body.frame().await.expect("a list that is broken off has no end") {
            Ok(frame) => lines.extend_from_slice(&frame.into_data().unwrap()),
            Err(error) => break error,
        }
    };
    let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
    assert!(cause.contains("stopping"), "{cause}");
    assert!(lines.ends_with(b"\n"));
    let count = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    assert!((1..1_000).contains(&count), "{count}");
    app.server.send(app.request("/api/v1/hosts?limit=0")).await.refuses(503, "server_stopping");
    // Lists of one part are answered.
    assert_eq!(app.server.send(app.request("/api/v1/hosts?limit=0&offset=990")).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn upload_ends_after_a_grace_with_the_report_of_what_it_has_stored() {
    let app = Stoppable::with(1).await;
    let upload = app.upload().await;
    app.stop.notify_one();
    let begin = Instant::now();
    let reply = upload.stall().await;
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(500) && took < Duration::from_secs(1), "{took:?}");
    let report = &reply.refuses(503, "server_stopping")["report"];
    let stored = app.fixture.list("").await.total() - 1;
    assert_eq!(report["imported"], stored);
    assert_eq!(reply.header("retry-after"), "1");
    assert_eq!(reply.header("connection"), "close");
    app.server.api.drained().await;
}

#[tokio::test(start_paused = true)]
async fn body_that_arrives_in_the_grace_is_processed() {
    let app = Stoppable::with(1).await;
    let create = with_key(send_json("POST", "/api/v1/tags", &Value::Null), &app.fixture.key);
    let upload = Upload::begin(&app.server, create).await;
    app.stop().await;
    let reply = upload.finish(&json!({"name": "in time", "color": "blue"}).to_string()).await;
    assert_eq!(reply.data()["name"], "in time");
}

#[tokio::test(start_paused = true)]
async fn endless_upload_that_never_pauses_ends_too() {
    let app = Stoppable::with(1).await;
    let upload = app.upload().await;
    app.stop.notify_one();
    let line = format!("{}\n", json!({"name": "imported", "network_id": OFFICE}));
    while !upload.is_answered() {
        upload.send(&line);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    upload.stall().await.refuses(503, "server_stopping");
}

#[tokio::test(start_paused = true)]
async fn upload_without_a_stall_timeout_ends_too() {
    let stop = Arc::new(Notify::new());
    let signal = Arc::clone(&stop);
    let fixture = Fixture::new().await;
    let server = fixture
        .configured(|builder| builder.stall_timeout(None).shutdown(async move { signal.notified().await }));
    let create = with_key(send_json("POST", "/api/v1/tags", &Value::Null), &fixture.key);
    let upload = Upload::begin(&server, create).await;
    stop.notify_one();
    upload.stall().await.refuses(503, "server_stopping");
}

#[tokio::test(start_paused = true)]
async fn service_is_drained_once_the_last_response_is_read_or_dropped() {
    let app = Stoppable::with(1).await;
    let api = app.server.api.clone();
    assert!(!is_drained(&api).await, "no shutdown has begun");
    let unread = app.open("/api/v1/hosts").await;
    app.stop.notify_one();
    assert!(!is_drained(&api).await);
    let mut pending_request = Box::pin(api.clone().oneshot(app.request("/api/v1/hosts")));
    drop(unread);
    assert!(is_drained(&api).await, "a request that was not polled has not begun");
    let response = pending_request.as_mut().await.unwrap();
    assert!(!is_drained(&api).await);
    response.into_body().collect().await.unwrap();
    assert!(is_drained(&api).await);
    api.drained().await;
}

#[tokio::test(start_paused = true)]
async fn service_without_a_shutdown_is_never_drained() {
    let fixture = Fixture::new().await;
    assert!(!is_drained(&fixture.server.api).await);
    let never = fixture.configured(|builder| builder.shutdown(pending()));
    assert!(!is_drained(&never.api).await);
}

#[test]
fn api_that_is_built_outside_of_a_runtime_stops_too() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let fixture = runtime.block_on(Fixture::new());
    let api = fixture.configured(|builder| builder.shutdown(std::future::ready(()))).api;
    runtime.block_on(api.drained());
}

#[test]
fn task_that_waits_for_the_signal_ends_with_the_service() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let fixture = Fixture::new().await;
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let server = fixture.configured(|builder| {
            builder.shutdown(async move {
                let _held = held;
                pending::<()>().await;
            })
        });
        assert_eq!(server.get("/api/version").await.status, 200);
        drop(server);
        while Arc::strong_count(&alive) > 1 {
            yield_now().await;
        }
    });
}

#[cfg(feature = "discovery")]
#[tokio::test]
async fn axum_server_with_an_open_stream_and_an_open_upload_stops() {
    use axum::Router;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    let app = Stoppable::with(1).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stopped = Arc::new(Notify::new());
    let signal = Arc::clone(&stopped);
    let router = Router::new().fallback_service(app.server.api.clone());
    let server = axum::serve(listener, router).with_graceful_shutdown(async move { signal.notified().await });
    let server = tokio::spawn(server.into_future());
    let key = &app.fixture.key;
    let head = format!("host: localhost\r\nauthorization: Bearer {key}\r\n");
    let begin = async |request: String| {
        let mut connection = TcpStream::connect(address).await.unwrap();
        connection.write_all(request.as_bytes()).await.unwrap();
        connection
    };
    let mut stream = begin(format!("GET {STREAM} HTTP/1.1\r\n{head}\r\n")).await;
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut upload = begin(format!(
        "POST /api/v1/hosts/import HTTP/1.1\r\n{head}content-type: application/x-ndjson\r\n\
         transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n"
    ))
    .await;
    let mut go_on = [0; 12];
    upload.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100");

    app.stop.notify_one();
    stopped.notify_one();
    // It takes half a second; a machine with busy neighbors may take longer.
    timeout(Duration::from_secs(20), server).await.expect("the server stops").unwrap().unwrap();
    app.server.api.drained().await;
    let mut answer = String::new();
    upload.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("HTTP/1.1 503"), "{answer}");
}
