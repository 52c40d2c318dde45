//! `GET /api/health` and `GET /api/health/live`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use toposcope::store::{Name, Store, StoreError};
use toposcope::testing::{Call, Intercept, Interceptor, Reply};

use crate::backend::run;
use crate::common::{Fault, Fixture, Hook, Server, VERSION, ample, bare, get};

#[test]
fn health_needs_no_credential_and_costs_no_request() {
    run(async || {
        let fixture = Fixture::new().await;
        let server = fixture.limited(60, 1);
        for _ in 0..3 {
            let reply = server.send(get("/api/health")).await;
            assert_eq!(reply.status, 200);
            assert_eq!(
                reply.json,
                json!({"success": true, "data": format!("Toposcope {VERSION}"), "error": null})
            );
        }
        for path in ["/api/health", "/api/health/live"] {
            assert_eq!(server.send(bare("HEAD", path)).await.status, 200);
            let reply = server.send(get(&format!("{path}?x=1"))).await;
            reply.refuses(400, "validation_unknown_parameter");
        }
    });
}

#[test]
fn server_is_live_while_its_store_fails_and_says_when_to_ask_about_it_again() {
    run(async || {
        let fixture = Fixture::new().await;
        let hook = Hook::new();
        let server = fixture.server_with(&hook);
        hook.set_fault(Fault::From(0, || StoreError::unavailable("down")));
        let ill = server.send(get("/api/health")).await;
        assert_eq!((ill.status.as_u16(), ill.header("retry-after")), (503, "1"));
        let live = server.send(get("/api/health/live")).await;
        assert_eq!(live.status, 200);
        assert_eq!(
            live.json,
            json!({"success": true, "data": format!("Toposcope {VERSION}"), "error": null})
        );
    });
}

#[test]
fn failing_store_is_reported_and_the_result_shared_for_a_second() {
    run(async || {
        let fixture = Fixture::new().await;
        let hook = Hook::new();
        let server = fixture.server_with(&hook);
        hook.set_fault(Fault::From(0, || StoreError::unavailable("down")));
        let reply = server.send(get("/api/health")).await;
        assert_eq!(reply.status, 503);
        assert_eq!(
            reply.json,
            json!({"success": false, "data": null, "error": "The store does not answer."})
        );
        hook.set_fault(Fault::None);
        assert_eq!(server.send(get("/api/health")).await.status, 503);
        fixture.clock.advance(Duration::from_secs(1));
        assert_eq!(server.send(get("/api/health")).await.status, 200);
    });
}

#[test]
fn store_that_only_answers_reads_fails_the_check_of_writes() {
    run(async || {
        let fixture = Fixture::new().await;
        let hook = Hook::new();
        let server = fixture.server_with(&hook);
        hook.set_fault(Fault::Commit(Name::new("organization"), |_| StoreError::unavailable("read-only")));
        assert_eq!(server.send(get("/api/health")).await.status, 200);
        assert_eq!(server.send(get("/api/health?write=false")).await.status, 200);
        let ill = server.send(get("/api/health?write=true")).await;
        assert_eq!((ill.status.as_u16(), ill.header("retry-after")), (503, "1"));
        assert_eq!(ill.json["error"], "The store does not accept writes.");
        hook.set_fault(Fault::None);
        fixture.clock.advance(Duration::from_secs(1));
        assert_eq!(server.send(get("/api/health?write=True")).await.status, 200);
        server.send(get("/api/health?write=maybe")).await.refuses(400, "validation_invalid_format");
    });
}

#[test]
fn check_of_writes_changes_no_list() {
    run(async || {
        let fixture = Fixture::new().await;
        let list = async || fixture.server.get_with(&fixture.key, "/api/v1/organizations").await;
        let before = list().await;
        assert_eq!(fixture.server.send(get("/api/health?write=true")).await.status, 200);
        let after = list().await;
        assert_eq!(
            (before.json, before.headers["etag"].clone()),
            (after.json, after.headers["etag"].clone())
        );
    });
}

/// A hook that counts the operations of a store and holds them up.
#[derive(Debug)]
struct Gate {
    calls: AtomicUsize,
    open: Semaphore,
}

#[async_trait]
impl Intercept for Gate {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let _permit = self.open.acquire().await.unwrap();
        call.proceed().await
    }
}

/// Returns a server whose store answers as long as the gate is open.
async fn gated(permits: usize) -> (Fixture, Server, Arc<Gate>) {
    let fixture = Fixture::new().await;
    let gate = Arc::new(Gate { calls: AtomicUsize::new(0), open: Semaphore::new(permits) });
    let store: Arc<dyn Store> = fixture.store.clone();
    let store = Interceptor::new(store, Arc::clone(&gate));
    let server = Server::new(fixture.inventory_in(Arc::new(store)), ample());
    (fixture, server, gate)
}

#[tokio::test]
async fn store_that_does_not_answer_within_two_seconds_is_reported() {
    let (fixture, server, gate) = gated(0).await;
    tokio::time::pause();
    let begun = Instant::now();
    assert_eq!(server.send(get("/api/health")).await.status, 503);
    let waited = begun.elapsed();
    assert!((2_000..2_100).contains(&waited.as_millis()), "{waited:?}");
    gate.open.add_permits(1);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(server.send(get("/api/health")).await.status, 200);
}

#[tokio::test]
async fn requests_at_the_same_time_share_one_question_to_the_store() {
    tokio::time::pause();
    for (is_open, status) in [(true, 200), (false, 503)] {
        let (_fixture, server, gate) = gated(usize::from(is_open)).await;
        let begun = Instant::now();
        let requests = (0..8).map(|_| server.send(get("/api/health")));
        for reply in futures_util::future::join_all(requests).await {
            assert_eq!(reply.status, status);
        }
        assert_eq!(gate.calls.load(Ordering::SeqCst), 1);
        assert!(begun.elapsed() < Duration::from_millis(2_100), "{:?}", begun.elapsed());
    }
}
