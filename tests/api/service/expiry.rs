//! Callers of the host application that are valid until a time. Time is paused.

use std::time::Duration;

use http::Request;
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::{Permission, UserApiKeyId, UserId};

use crate::common::{Fixture, OFFICE, Upload, at, bare, get, host, send_json, with_caller, with_header};
use crate::lists::whole_list::Reading;

const HOSTS: &str = "/api/v1/hosts";

/// When the caller expires, in seconds of the clock.
const EXPIRY: i64 = 900;

/// More hosts than the first part of a whole list has.
const MANY_HOSTS: u128 = 1_000;

async fn fixture() -> Fixture {
    Fixture::with((1..=MANY_HOSTS).map(|number| host(number, OFFICE))).await.on_one_instance()
}

fn caller(fixture: &Fixture) -> Caller {
    let home = fixture.home.organization.id;
    let caller = Caller::new(home, UserId::from_u128(0x42), Permission::Owner, Scope::all());
    caller.valid_until(at(EXPIRY))
}

fn request(fixture: &Fixture, target: &str) -> Request<String> {
    with_caller(get(target), caller(fixture))
}

fn until_expiry(fixture: &Fixture, seconds: u64) {
    fixture.clock.advance(Duration::from_secs(seconds));
}

#[tokio::test(start_paused = true)]
async fn caller_is_accepted_until_it_expires() {
    let fixture = fixture().await;
    until_expiry(&fixture, 899);
    let hosts = || fixture.server.send(request(&fixture, "/api/v1/hosts?limit=1"));
    assert_eq!(hosts().await.status, 200);
    until_expiry(&fixture, 1);
    hosts().await.refuses(401, "auth_session_expired");
    let write = send_json("POST", "/api/v1/tags", &json!({"name": "late", "color": "blue"}));
    let refused = fixture.server.send(with_caller(write, caller(&fixture))).await;
    refused.refuses(401, "auth_session_expired");
    // An endpoint that needs no credential ignores the expired caller.
    assert_eq!(fixture.server.send(request(&fixture, "/api/version")).await.status, 200);
    let through_key =
        caller(&fixture).through_key_of_all_networks(UserApiKeyId::from_u128(7), Permission::Viewer);
    let refused = fixture.server.send(with_caller(get(HOSTS), through_key)).await;
    refused.refuses(401, "auth_session_expired");
}

#[cfg(feature = "discovery")]
#[tokio::test(start_paused = true)]
async fn stream_of_an_expired_caller_ends_within_a_second() {
    let fixture = fixture().await;
    let api = &fixture.server.api;
    let mut stream = Reading::begin(api.clone(), request(&fixture, "/api/v1/discoveries/stream")).await;
    assert!(stream.read_on().await.unwrap());
    let begin = tokio::time::Instant::now();
    until_expiry(&fixture, 900);
    assert!(!stream.read_on().await.unwrap());
    assert!(begin.elapsed() <= Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[cfg(feature = "discovery")]
#[tokio::test(start_paused = true)]
async fn stream_of_a_caller_that_has_not_expired_goes_on() {
    let fixture = fixture().await;
    let mut stream =
        Reading::begin(fixture.server.api.clone(), request(&fixture, "/api/v1/discoveries/stream")).await;
    until_expiry(&fixture, 899);
    assert!(stream.read_on().await.unwrap());
    assert!(stream.read_on().await.unwrap(), "a comment keeps the connection open");
}

#[tokio::test(start_paused = true)]
async fn whole_list_of_an_expired_caller_is_broken_off() {
    let fixture = fixture().await;
    let mut list =
        Reading::begin(fixture.server.api.clone(), request(&fixture, "/api/v1/hosts?limit=0")).await;
    assert!(list.read_on().await.unwrap());
    until_expiry(&fixture, 900);
    let broken_off = loop {
        match list.read_on().await {
            Ok(is_open) => assert!(is_open, "the list has come to its end"),
            Err(error) => break error,
        }
    };
    let cause = std::error::Error::source(&broken_off).map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("The session has expired; log in again."));
}

#[tokio::test(start_paused = true)]
async fn upload_of_an_expired_caller_stores_nothing() {
    let fixture = fixture().await;
    let create = with_caller(send_json("POST", "/api/v1/tags", &json!(null)), caller(&fixture));
    let upload = Upload::begin(&fixture.server, create).await;
    until_expiry(&fixture, 900);
    upload.finish(r#"{"name": "late", "color": "blue"}"#).await.refuses(401, "auth_session_expired");

    let import = with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
    let late = caller(&fixture).valid_until(at(EXPIRY + 60));
    let import = Upload::begin(&fixture.server, with_caller(import, late)).await;
    until_expiry(&fixture, 60);
    let line = json!({"name": "late", "network_id": OFFICE}).to_string();
    import.finish(&line).await.refuses(401, "auth_session_expired");
    assert_eq!(fixture.list("limit=1").await.total(), MANY_HOSTS as u64);
}
