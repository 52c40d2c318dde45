//! Log of requests that are refused by design: their number, not one line for each.

use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::{Request, Response};
use serde_json::json;
use toposcope::service::{Api, RateLimit, ResponseBody};
use toposcope::store::StoreError;
use tower::ServiceExt;
use tracing::dispatcher::set_default;

use crate::common::{Fault, Fixture, Hook, Log, PASSWORD, Server, at, send_json};

const MINUTE: Duration = Duration::from_secs(60);

/// Returns the level and the fields of each new line about an error code. A line is new if it was logged after the
/// previous call.
fn lines(log: &Log) -> Vec<String> {
    let field = |line: &str, name: &str| {
        let value = line.split_once(&format!("{name}="))?.1.split(' ').next()?;
        Some(format!("{name}={}", value.trim_matches('"')))
    };
    let summary = |line: &str| {
        let level = line.split_whitespace().next().unwrap_or_default();
        let fields = ["code", "count"].into_iter().filter_map(|name| field(line, name));
        [level.to_owned()].into_iter().chain(fields).collect::<Vec<_>>().join(" ")
    };
    log.take().lines().filter(|line| line.contains("code=")).map(summary).collect()
}

/// A server that accepts one request per hour and refuses all others.
async fn refusing(fixture: &Fixture) -> Server {
    let one = NonZeroU32::MIN;
    let server = Server::new(fixture.inventory.clone(), RateLimit::new(one, one));
    server.get("/api/version").await;
    server
}

async fn refuse(server: &Server, times: usize) {
    for _ in 0..times {
        assert_eq!(server.get("/api/version").await.status, 429);
    }
}

#[tokio::test]
async fn refusals_within_a_minute_log_one_line_and_the_next_reports_their_number() {
    let fixture = Fixture::new().await;
    let server = refusing(&fixture).await;
    let log = Log::default();
    let _guard = set_default(&log.dispatch());

    refuse(&server, 10_000).await;
    assert_eq!(lines(&log), ["WARN code=rate_limit_exceeded count=1"]);

    fixture.clock.advance(MINUTE - Duration::from_micros(1));
    refuse(&server, 1).await;
    assert_eq!(lines(&log), [""; 0]);

    fixture.clock.advance(Duration::from_micros(1));
    server.get("/api/version").await;
    refuse(&server, 5).await;
    assert_eq!(lines(&log), ["WARN code=rate_limit_exceeded count=10001"]);
}

#[tokio::test]
async fn unreported_refusals_are_logged_when_the_service_is_dropped() {
    let fixture = Fixture::new().await;
    let server = refusing(&fixture).await;
    let log = Log::default();
    let _guard = set_default(&log.dispatch());
    refuse(&server, 8).await;
    log.take();
    drop(server);
    assert_eq!(lines(&log), ["WARN code=rate_limit_exceeded count=7"]);
}

#[tokio::test]
async fn wall_clock_jump_neither_repeats_nor_silences_a_line() {
    for seconds in [-86_400, 86_400] {
        let fixture = Fixture::new().await;
        let server = refusing(&fixture).await;
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        refuse(&server, 3).await;
        assert_eq!(lines(&log), ["WARN code=rate_limit_exceeded count=1"]);
        fixture.clock.set(at(seconds));
        refuse(&server, 2).await;
        assert_eq!(lines(&log), [""; 0]);
        fixture.clock.advance(MINUTE);
        server.get("/api/version").await;
        refuse(&server, 1).await;
        assert_eq!(lines(&log), ["WARN code=rate_limit_exceeded count=5"]);
    }
}

#[tokio::test]
async fn every_fault_is_logged() {
    let fixture = Fixture::new().await;
    let store = Hook::new();
    let inventory = fixture.inventory_with(&store);
    let server = Server::new(inventory, None);
    store.set_fault(Fault::List(|| StoreError::corrupt("damaged")));
    let log = Log::default();
    let _guard = set_default(&log.dispatch());
    for _ in 0..3 {
        assert_eq!(server.get_with(&fixture.key, "/api/v1/hosts").await.status, 500);
    }
    assert_eq!(lines(&log), ["ERROR code=internal_error"; 3]);
}

#[tokio::test]
async fn requests_that_fail_while_the_store_is_unavailable_are_counted_in_one_line_a_minute() {
    let fixture = Fixture::new().await;
    let store = Hook::new();
    let server = Server::new(fixture.inventory_with(&store), None);
    store.set_fault(Fault::List(|| StoreError::unavailable("down")));
    let log = Log::default();
    let _guard = set_default(&log.dispatch());
    let fail = async |times: usize| {
        for _ in 0..times {
            assert_eq!(server.get_with(&fixture.key, "/api/v1/hosts").await.status, 503);
        }
    };
    fail(1_000).await;
    let logged = log.take();
    let is_shown = |line: &&str| line.starts_with("ERROR") || line.starts_with("WARN");
    let shown: Vec<&str> = logged.lines().map(str::trim_start).filter(is_shown).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains("count=1") && shown[0].contains("down"), "{shown:?}");
    fixture.clock.advance(MINUTE);
    fail(3).await;
    assert_eq!(lines(&log), ["ERROR code=store_unavailable count=1000"]);
    drop(server);
    assert_eq!(lines(&log), ["ERROR code=store_unavailable count=2"]);
}

type Answer = Pin<Box<dyn Future<Output = Response<ResponseBody>>>>;

/// Sends a request and polls the answer once.
fn begin(api: &Api, request: Request<String>) -> Result<Answer, u16> {
    let api = api.clone();
    let mut answer: Answer = Box::pin(async move { api.oneshot(request).await.unwrap() });
    match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Err(response.status().as_u16()),
        Poll::Pending => Ok(answer),
    }
}

fn log_in(name: usize) -> Request<String> {
    let body = json!({"email": format!("{name}@example.net"), "password": PASSWORD});
    send_json("POST", "/api/auth/login", &body)
}

#[tokio::test]
async fn logins_refused_for_overload_are_counted_and_not_logged_as_faults() {
    let fixture = Fixture::new().await;
    // Each login waits for the store at its first poll, so that none ends.
    let server = Server::new(fixture.inventory_with(&Hook::yielding()), None);
    let mut under_way = Vec::new();
    let refused = loop {
        match begin(&server.api, log_in(under_way.len())) {
            Ok(answer) => under_way.push(answer),
            Err(status) => break status,
        }
        assert!(under_way.len() < 10_000, "logins under way are not bounded");
    };
    assert_eq!(refused, 503);

    let log = Log::default();
    let _guard = set_default(&log.dispatch());
    fixture.clock.advance(MINUTE);
    for name in 0..1000 {
        assert_eq!(server.send(log_in(name)).await.status, 503);
    }
    assert_eq!(lines(&log), ["WARN code=store_unavailable count=1"]);
}

#[tokio::test]
async fn logins_refused_for_failures_are_counted_apart() {
    let fixture = Fixture::new().await;
    let server = Server::new(fixture.inventory.clone(), None);
    let log = Log::default();
    let _guard = set_default(&log.dispatch());
    for _ in 0..5 {
        assert_eq!(server.send(log_in(0)).await.status, 401);
    }
    assert_eq!(lines(&log), [""; 0]);
    for _ in 0..5 {
        assert_eq!(server.send(log_in(0)).await.status, 429);
    }
    assert_eq!(lines(&log), ["WARN code=auth_too_many_attempts count=1"]);
    refuse(&refusing(&fixture).await, 3).await;
    let expected = ["WARN code=rate_limit_exceeded count=1", "WARN code=rate_limit_exceeded count=2"];
    assert_eq!(lines(&log), expected, "one while it serves, one when it is dropped");
}
