//! The limit on concurrent imports.

use std::sync::Arc;

use tokio::task::{JoinHandle, yield_now};
use tokio::time::pause;

use super::*;
use crate::backend::run_with;
use crate::common::{ELSEWHERE, Hook, Server, Upload};

fn report() -> String {
    report_of(switch(1, &["192.0.2.1"]), FIRST).to_string()
}

async fn assert_refused(server: &Server, key: &str) {
    let reply = server.send(import("format=report", &report(), key)).await;
    assert_eq!(*reply.refuses(429, "rate_limit_exceeded"), json!({"retry_after": 1}));
    assert_eq!(reply.number("retry-after"), 1);
}

/// Imports that wait for the store as long as its hook is closed.
struct Waiting {
    server: Server,
    hook: Arc<Hook>,
}

impl Waiting {
    fn new(fixture: &Fixture) -> Self {
        let hook = Hook::new();
        Self { server: fixture.server_with(&hook), hook }
    }

    /// Begins an import, and returns when it waits.
    async fn begin(&self, key: &str) -> JoinHandle<Reply> {
        self.begin_with(key, &report()).await
    }

    async fn begin_with(&self, key: &str, report: &str) -> JoinHandle<Reply> {
        let (server, request) = (self.server.clone(), import("format=report", report, key));
        let before = self.hook.lists() + self.hook.commits();
        let reply = tokio::spawn(async move { server.send(request).await });
        while self.hook.lists() + self.hook.commits() == before {
            yield_now().await;
        }
        reply
    }
}

#[test]
fn third_import_of_a_caller_is_refused_until_another_ends() {
    run_with(Fixture::new, async |fixture| {
        let (key, other) = (&fixture.key, daemon_key(&fixture, OFFICE).await);
        let waiting = Waiting::new(&fixture);
        let closed =
            (waiting.hook.open.acquire().await.unwrap(), waiting.hook.writable.acquire().await.unwrap());
        let begun = [waiting.begin(key).await, waiting.begin(key).await];
        assert_refused(&waiting.server, key).await;
        // Other callers have slots of their own.
        let others = waiting.begin(&other).await;
        drop(closed);
        for reply in begun.into_iter().chain([others]) {
            reply.await.unwrap().data();
        }
        waiting.server.send(import("format=report", &report(), key)).await.data();
    });
}

#[test]
fn import_whose_body_arrives_when_no_slot_is_free_is_refused() {
    run_with(Fixture::new, async |fixture| {
        let waiting = Waiting::new(&fixture);
        let slow = Upload::begin(&waiting.server, import("format=report", "", &fixture.key)).await;
        let closed =
            (waiting.hook.open.acquire().await.unwrap(), waiting.hook.writable.acquire().await.unwrap());
        let begun = [waiting.begin(&fixture.key).await, waiting.begin(&fixture.key).await];
        let reply = slow.finish(&report()).await;
        assert_eq!(*reply.refuses(429, "rate_limit_exceeded"), json!({"retry_after": 1}));
        drop(closed);
        for reply in begun {
            reply.await.unwrap().data();
        }
    });
}

/// A client that sends its bodies slowly does not keep others from being served.
#[test]
fn bodies_that_arrive_slowly_take_no_slots() {
    run_with(Fixture::new, async |fixture| {
        let mut uploads = Vec::new();
        for _ in 0..20 {
            uploads.push(Upload::begin(&fixture.server, import("format=report", "", &fixture.key)).await);
        }
        fixture.send(import("format=report", &report(), &fixture.key)).await.data();
        for upload in uploads {
            upload.finish(&report()).await.data();
        }
    });
}

#[test]
fn slot_is_free_after_a_failed_or_dropped_import() {
    run_with(Fixture::new, async |fixture| {
        let key = &fixture.key;
        let waiting = Waiting::new(&fixture);
        let closed =
            (waiting.hook.open.acquire().await.unwrap(), waiting.hook.writable.acquire().await.unwrap());
        let held = waiting.begin(key).await;
        for _ in 0..3 {
            let nonsense = waiting.server.send(import("format=report", "nonsense", key)).await;
            nonsense.refuses(400, "validation_invalid_format");
            let broken =
                Upload::begin(&waiting.server, import("format=report", "", key)).await.break_off().await;
            broken.refuses(400, "validation_malformed_json");
            assert_eq!(broken.json["error"], "The body did not arrive to its end.");
            let second = waiting.begin(key).await;
            assert_refused(&waiting.server, key).await;
            second.abort();
            assert!(second.await.unwrap_err().is_cancelled());
        }
        drop(closed);
        held.await.unwrap().data();
    });
}

#[test]
fn seventh_import_of_an_organization_is_refused_and_others_are_served() {
    run_with(Fixture::new, async |fixture| {
        let mut keys = Vec::new();
        for _ in 0..3 {
            keys.push(fixture.owner_key(&fixture.home).await);
        }
        let daemon = daemon_key(&fixture, OFFICE).await;
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let waiting = Waiting::new(&fixture);
        let closed =
            (waiting.hook.open.acquire().await.unwrap(), waiting.hook.writable.acquire().await.unwrap());
        let mut begun = Vec::new();
        for key in &keys {
            begun.extend([waiting.begin(key).await, waiting.begin(key).await]);
        }
        // A daemon's key counts as well.
        for key in [&fixture.key, &daemon] {
            assert_refused(&waiting.server, key).await;
        }
        let target = format!("{IMPORT}?network_id={ELSEWHERE}&format=report");
        let (server, before) = (waiting.server.clone(), waiting.hook.lists() + waiting.hook.commits());
        let theirs = request(&target, &report(), &abroad);
        begun.push(tokio::spawn(async move { server.send(theirs).await }));
        while waiting.hook.lists() + waiting.hook.commits() == before {
            yield_now().await;
        }
        drop(closed);
        for reply in begun {
            reply.await.unwrap().data();
        }
        fixture.send(import("format=report", &report(), &fixture.key)).await.data();
    });
}

#[test]
fn reports_of_large_devices_are_refused_while_others_are_merged() {
    run_with(Fixture::new, async |fixture| {
        let keys = [
            fixture.owner_key(&fixture.home).await,
            fixture.owner_key(&fixture.home).await,
            daemon_key(&fixture, OFFICE).await,
        ];
        let row = |index: u32| json!({"if_index": index});
        let mut device = switch(1, &["192.0.2.1"]);
        device["tables"]["if_entries"] = json!({"rows": (1..=60_000).map(row).collect::<Vec<_>>()});
        let large = report_of(device, FIRST).to_string();
        let waiting = Waiting::new(&fixture);
        let closed =
            (waiting.hook.open.acquire().await.unwrap(), waiting.hook.writable.acquire().await.unwrap());
        let [first, second, third] = &keys;
        let begun = [waiting.begin_with(first, &large).await, waiting.begin_with(second, &large).await];
        let refused = waiting.server.send(import("format=report", &large, third)).await;
        refused.refuses(429, "rate_limit_exceeded");
        // A report of small devices is imported meanwhile.
        let small = waiting.begin(third).await;
        for import in &begun {
            import.abort();
        }
        for import in begun {
            assert!(import.await.unwrap_err().is_cancelled());
        }
        drop(closed);
        small.await.unwrap().data();
    });
}

#[tokio::test]
async fn import_whose_client_stalls_is_aborted() {
    let fixture = Fixture::new().await;
    pause();
    let upload = Upload::begin(&fixture.server, import("format=report", "", &fixture.key)).await;
    upload.send("{");
    assert_eq!(upload.stall().await.refuses(408, "request_timeout"), &json!({}));
}
