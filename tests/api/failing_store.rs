//! Answers when the store fails: they reveal nothing about the cause.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request};
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::Inventory;
use toposcope::model::{Permission, Timestamp};
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

use crate::common::{NOBODY, OFFICE, Server, World, ample, get, host, with_key};

const SECRET: &str = "db.internal:5432 password=hunter2";

type Failure = fn(&Faulty) -> StoreError;

/// A store of which every call from the `after`th on fails in one way.
#[derive(Debug)]
struct Faulty {
    inner: Arc<dyn Store>,
    fault: Fault,
    after: usize,
    calls: AtomicUsize,
}

#[derive(Clone, Copy)]
enum Fault {
    Error(Failure),
    Panic,
    /// Every body read is replaced by this one.
    Body(&'static [u8]),
}

impl fmt::Debug for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Fault")
    }
}

impl Faulty {
    fn call(&self) -> Result<Option<&'static [u8]>, StoreError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) < self.after {
            return Ok(None);
        }
        match self.fault {
            Fault::Error(failure) => Err(failure(self)),
            Fault::Panic => panic!("{SECRET}"),
            Fault::Body(body) => Ok(Some(body)),
        }
    }
}

fn damage(record: &mut Record, body: Option<&'static [u8]>) {
    if let Some(body) = body {
        record.body = Bytes::from_static(body);
    }
}

#[async_trait]
impl Store for Faulty {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let body = self.call()?;
        let mut records = self.inner.get(keys).await?;
        records.iter_mut().flatten().for_each(|record| damage(record, body));
        Ok(records)
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        let body = self.call()?;
        let mut record = self.inner.get_by_unique_key(unique_key).await?;
        record.iter_mut().for_each(|record| damage(record, body));
        Ok(record)
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.call()?;
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.call()?;
        self.inner.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.call()?;
        self.inner.revision(kind, organization).await
    }
}

fn source() -> String {
    format!("source {SECRET}")
}

fn unavailable(_: &Faulty) -> StoreError {
    StoreError::unavailable(SECRET).with_source(source())
}

const INTERNAL: [Failure; 5] = [
    |_| StoreError::corrupt(SECRET).with_source(source()),
    |_| StoreError::invalid(SECRET),
    |_| StoreError::conflict(Key::new(Name::new("hunter2"), NOBODY)),
    |_| StoreError::unique_key_taken(UniqueKey::new(Name::new("hunter2"), "hunter2")),
    |_| StoreError::linked(toposcope::store::Link::new(Name::new("hunter2"), NOBODY)),
];

/// A server on the store of the world, which fails after this many calls. A list requested with a key calls
/// `resolve`, `get`, `revision`, `list`.
fn server(world: &World, fault: Fault, after: usize) -> Server {
    let store = Faulty { inner: world.store.clone(), fault, after, calls: AtomicUsize::new(0) };
    Server::new(Inventory::new(Arc::new(store)).with_clock(Arc::new(world.clock.clone())), ample())
}

fn hosts(world: &World) -> Request<String> {
    with_key(get("/api/v1/hosts"), &world.key)
}

async fn is_refused(world: &World, fault: Fault, after: usize, status: u16, code: &str) {
    let reply = server(world, fault, after).send(hosts(world)).await;
    assert_eq!(reply.refuses(status, code), &json!({}));
    let text = format!("{:?} {}", reply.headers, String::from_utf8(reply.body.clone()).unwrap());
    for secret in ["hunter2", "db.internal", "source", "record", &NOBODY.to_string()] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let mut head = hosts(world);
    *head.method_mut() = Method::HEAD;
    let head = server(world, fault, after).send(head).await;
    assert_eq!((head.status.as_u16(), head.number("content-length")), (status, reply.body.len() as u64));
}

#[tokio::test]
async fn a_store_that_cannot_be_reached_is_503_wherever_it_fails() {
    let world = World::with([host(1, OFFICE)]).await;
    for after in 0..4 {
        is_refused(&world, Fault::Error(unavailable), after, 503, "store_unavailable").await;
    }
    let healthy = server(&world, Fault::Error(unavailable), 4).send(hosts(&world)).await;
    assert_eq!(healthy.ids(), [1]);
}

#[tokio::test]
async fn any_other_error_of_the_store_is_500() {
    let world = World::new().await;
    for failure in INTERNAL {
        for after in 0..4 {
            is_refused(&world, Fault::Error(failure), after, 500, "internal_error").await;
        }
    }
}

#[tokio::test]
async fn records_that_cannot_be_read_are_500() {
    let world = World::new().await;
    for body in [&b""[..], b"hunter2", b"{\"hunter2\":", b"{}", b"null", b"[1]", b"\xff\xfe"] {
        for after in 0..2 {
            is_refused(&world, Fault::Body(body), after, 500, "internal_error").await;
        }
    }
}

/// Every response has rate limit headers, and no response to HEAD has a body: errors of the store included.
#[tokio::test]
async fn a_store_that_panics_is_500_wherever_it_does() {
    let world = World::new().await;
    for after in 0..3 {
        is_refused(&world, Fault::Panic, after, 500, "internal_error").await;
    }
}

#[tokio::test]
async fn what_failed_costs_a_request_and_harms_no_other() {
    let world = World::with([host(1, OFFICE)]).await;
    for fault in [Fault::Error(unavailable), Fault::Error(INTERNAL[0]), Fault::Panic] {
        let failing = server(&world, fault, 2);
        let before = failing.send(get("/api/version")).await;
        assert_eq!(before.status, 200, "what needs no store goes on");
        for _ in 0..5 {
            assert!(failing.send(hosts(&world)).await.status.is_server_error());
            assert_eq!(failing.send(get("/api/version")).await.status, 200);
        }
    }
    assert_eq!(world.ids("").await, [1]);
}

#[tokio::test]
async fn routing_needs_no_store_and_comes_first() {
    let world = World::new().await;
    let failing = server(&world, Fault::Error(unavailable), 0);
    failing.get_with(&world.key, "/nothing").await.refuses(404, "route_not_found");
    let request = with_key(Request::post("/api/v1/hosts").body(String::new()).unwrap(), &world.key);
    failing.send(request).await.refuses(405, "method_not_allowed");
    failing.get("/api/v1/hosts").await.refuses(401, "auth_not_authenticated");
    failing.get_with("nonsense", "/api/v1/hosts").await.refuses(401, "auth_not_authenticated");
}

#[tokio::test]
async fn what_can_be_refused_without_the_store_is_refused_without_it() {
    let world = World::new().await;
    let failing = server(&world, Fault::Error(unavailable), 0);
    let caller = Caller::new(world.home.organization.id, NOBODY, Permission::Viewer, Scope::all());
    let mut request = get("/api/v1/hosts?limit=x");
    request.extensions_mut().insert(caller);
    failing.send(request).await.refuses(400, "validation_invalid_format");
}
