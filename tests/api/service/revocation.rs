//! Users whom the host application revokes while their responses are being sent. Time is paused.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Request;
use serde_json::json;
#[cfg(feature = "discovery")]
use tokio::{task::yield_now, time::Instant};
use toposcope::access::{Caller, ManualClock, Scope};
use toposcope::async_trait;
use toposcope::model::{Permission, UserId};
use toposcope::service::Api;
use toposcope::store::{Page, Query, Store, StoreError, Wrapper};

use crate::common::{
    Fault, Fixture, Hook, OFFICE, Server, Upload, ample, bare, get, host, with_caller, with_header, with_key,
};
use crate::lists::whole_list::Reading;

#[cfg(feature = "discovery")]
const STREAM: &str = "/api/v1/discoveries/stream";

const WHOLE: &str = "/api/v1/hosts?limit=0";

/// More hosts than the first part of a whole list has.
const MANY_HOSTS: u128 = 1_000;

const USER: UserId = UserId::from_u128(0x42);
const OTHER: UserId = UserId::from_u128(0x43);

fn request(fixture: &Fixture, user: UserId, target: &str) -> Request<String> {
    let home = fixture.home.organization.id;
    with_caller(get(target), Caller::new(home, user, Permission::Viewer, Scope::all()))
}

async fn reading(fixture: &Fixture, api: &Api, user: UserId, target: &str) -> Reading {
    Reading::begin(api.clone(), request(fixture, user, target)).await
}

async fn fixture() -> Fixture {
    Fixture::with((1..=MANY_HOSTS).map(|number| host(number, OFFICE))).await
}

/// Reads a list until it is broken off, and returns the reason.
async fn broken_off(mut list: Reading) -> String {
    let error = loop {
        match list.read_on().await {
            Ok(is_open) => assert!(is_open, "the list has come to its end"),
            Err(error) => break error,
        }
    };
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(feature = "discovery")]
#[tokio::test(start_paused = true)]
async fn stream_of_a_revoked_user_ends_at_once_and_another_may_begin() {
    let fixture = Fixture::new().await;
    let api = &fixture.server.api;
    let mut stream = reading(&fixture, api, USER, STREAM).await;
    let mut other = reading(&fixture, api, OTHER, STREAM).await;
    for stream in [&mut stream, &mut other] {
        assert!(stream.read_on().await.unwrap());
    }
    let begin = Instant::now();
    api.revoke(USER).await.unwrap();
    assert!(!stream.read_on().await.unwrap());
    assert!(begin.elapsed() < Duration::from_millis(100), "{:?}", begin.elapsed());
    assert!(other.read_on().await.unwrap(), "another user's stream goes on");
    assert!(reading(&fixture, api, USER, STREAM).await.read_on().await.unwrap());
}

#[cfg(feature = "discovery")]
#[tokio::test(start_paused = true)]
async fn stream_that_waits_is_woken_by_the_revocation() {
    let fixture = Fixture::new().await;
    let api = fixture.server.api.clone();
    let mut stream = reading(&fixture, &api, USER, STREAM).await;
    assert!(stream.read_on().await.unwrap());
    let reader = tokio::spawn(async move { stream.read_on().await.unwrap() });
    yield_now().await;
    let begin = Instant::now();
    api.revoke(USER).await.unwrap();
    assert!(!reader.await.unwrap());
    assert!(begin.elapsed() < Duration::from_millis(100), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn list_of_a_revoked_user_is_broken_off_and_those_of_others_are_not() {
    let fixture = fixture().await;
    let api = &fixture.server.api;
    let mut list = reading(&fixture, api, USER, WHOLE).await;
    let other = reading(&fixture, api, OTHER, WHOLE).await;
    assert!(list.read_on().await.unwrap());
    let read = list.read.len();
    api.revoke(USER).await.unwrap();
    assert!(list.read_on().await.is_err(), "nothing more is sent, not even what was read already");
    assert_eq!(list.read.len(), read);
    assert_eq!(other.finish().await.0.len(), MANY_HOSTS as usize);
    assert_eq!(reading(&fixture, api, USER, WHOLE).await.finish().await.0.len(), MANY_HOSTS as usize);
}

#[tokio::test(start_paused = true)]
async fn import_of_a_revoked_user_stores_nothing_more() {
    let fixture = Fixture::new().await;
    let before = fixture.list("limit=1").await.total();
    let begin = |user: UserId| {
        let import =
            with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
        let caller = Caller::new(fixture.home.organization.id, user, Permission::Member, Scope::all());
        Upload::begin(&fixture.server, with_caller(import, caller))
    };
    let (import, other) = (begin(USER).await, begin(OTHER).await);
    fixture.server.api.revoke(USER).await.unwrap();
    let line = json!({"name": "late", "network_id": OFFICE}).to_string();
    import.finish(&line).await.refuses(401, "auth_session_expired");
    assert_eq!(fixture.list("limit=1").await.total(), before);
    assert_eq!(other.finish(&line).await.data()["imported"], 1);
}

#[tokio::test(start_paused = true)]
async fn list_by_a_key_of_a_revoked_user_is_broken_off_too() {
    let fixture = fixture().await;
    let user = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
    let key = fixture.issue(crate::common::key_for(&user, Permission::Viewer, &[OFFICE])).await;
    let api = &fixture.server.api;
    let list = Reading::begin(api.clone(), with_key(get(WHOLE), &key)).await;
    api.revoke(user.id).await.unwrap();
    assert!(broken_off(list).await.contains("revoked"));
}

#[tokio::test(start_paused = true)]
async fn revocation_of_a_user_without_responses_has_no_effect_on_later_ones() {
    let fixture = fixture().await;
    let api = &fixture.server.api;
    api.revoke(USER).await.unwrap();
    assert_eq!(reading(&fixture, api, USER, WHOLE).await.finish().await.0.len(), MANY_HOSTS as usize);
}

/// A store that several processes might use.
#[derive(Debug)]
struct Shared<S>(S);

impl<S: Store> Wrapper for Shared<S> {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// A store that revokes the user on some instance while it reads a list for the first time.
#[derive(Debug)]
struct RevokesInRead<S> {
    inner: S,
    is_shared: bool,
    clock: ManualClock,
    by: OnceLock<Api>,
    has_revoked: AtomicBool,
}

#[async_trait]
impl<S: Store> Wrapper for RevokesInRead<S> {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let page = self.inner.list(query).await;
        if let Some(api) = self.by.get()
            && !self.has_revoked.swap(true, Ordering::SeqCst)
        {
            self.clock.advance(Duration::from_millis(1));
            api.revoke(USER).await.unwrap();
        }
        page
    }
}

#[tokio::test(start_paused = true)]
async fn list_whose_first_part_is_being_read_is_broken_off_too() {
    let fixture = fixture().await;
    for is_shared in [false, true] {
        let (inner, by, has_revoked) = (fixture.store.clone(), OnceLock::new(), AtomicBool::new(false));
        let clock = fixture.clock.clone();
        let store = Arc::new(RevokesInRead { inner, is_shared, clock, by, has_revoked });
        let here = Server::new(fixture.inventory_in(store.clone()), ample()).api;
        let there = if is_shared { instance(&fixture) } else { here.clone() };
        store.by.set(there).unwrap();
        assert!(broken_off(reading(&fixture, &here, USER, WHOLE).await).await.contains("revoked"));
        assert!(store.has_revoked.load(Ordering::SeqCst));
        let list = reading(&fixture, &here, OTHER, WHOLE).await;
        assert_eq!(list.finish().await.0.len(), MANY_HOSTS as usize);
    }
}

#[tokio::test(start_paused = true)]
async fn responses_end_although_the_revocation_cannot_be_stored() {
    let fixture = fixture().await;
    let hook = Hook::new();
    let store = Arc::new(Shared(hook.before(fixture.store.clone())));
    let api = Server::new(fixture.inventory_in(store), ample()).api;
    let list = reading(&fixture, &api, USER, WHOLE).await;
    hook.set_fault(Fault::From(0, || StoreError::unavailable("away")));
    assert!(api.revoke(USER).await.is_err());
    assert!(broken_off(list).await.contains("revoked"));
}

fn instance(fixture: &Fixture) -> Api {
    let store = Arc::new(Shared(fixture.store.clone()));
    Server::new(fixture.inventory_in(store), ample()).api
}

#[tokio::test(start_paused = true)]
async fn revocation_by_another_instance_takes_effect_within_a_second() {
    let fixture = fixture().await;
    let (here, there) = (instance(&fixture), instance(&fixture));
    let mut list = reading(&fixture, &here, USER, WHOLE).await;
    let other = reading(&fixture, &here, OTHER, WHOLE).await;
    assert!(list.read_on().await.unwrap());
    there.revoke(USER).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(broken_off(list).await.contains("revoked"));
    assert_eq!(other.finish().await.0.len(), MANY_HOSTS as usize);
    // A list that begins afterwards is not ended by the earlier revocation.
    let later = reading(&fixture, &here, USER, WHOLE).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(later.finish().await.0.len(), MANY_HOSTS as usize);
}

#[cfg(feature = "discovery")]
#[tokio::test(start_paused = true)]
async fn stream_ends_within_a_second_of_each_revocation_by_another_instance() {
    let fixture = Fixture::new().await;
    let (here, there) = (instance(&fixture), instance(&fixture));
    for _ in 0..3 {
        let mut stream = reading(&fixture, &here, USER, STREAM).await;
        assert!(stream.read_on().await.unwrap());
        let begin = Instant::now();
        there.revoke(USER).await.unwrap();
        while stream.read_on().await.unwrap() {}
        assert!(begin.elapsed() <= Duration::from_secs(1), "{:?}", begin.elapsed());
    }
}
