//! The limit on concurrent imports.

use tokio::time::pause;

use super::*;
use crate::backend::run_with;
use crate::common::Upload;

fn report() -> String {
    report_of(switch(1, &["192.0.2.1"]), FIRST).to_string()
}

async fn begin(fixture: &Fixture, key: &str) -> Upload {
    Upload::begin(&fixture.server, import("format=report", "", key)).await
}

async fn assert_refused(fixture: &Fixture, key: &str) {
    let reply = fixture.send(import("format=report", &report(), key)).await;
    assert_eq!(*reply.refuses(429, "rate_limit_exceeded"), json!({"retry_after": 1}));
    assert_eq!(reply.number("retry-after"), 1);
}

async fn on_one_instance() -> Fixture {
    Fixture::new().await.on_one_instance()
}

#[test]
fn third_import_of_a_caller_is_refused_until_another_ends() {
    run_with(on_one_instance, async |fixture| {
        let (key, other) = (&fixture.key, daemon_key(&fixture, OFFICE).await);
        let mut uploads = vec![begin(&fixture, key).await, begin(&fixture, key).await];
        assert_refused(&fixture, key).await;
        // Other callers have slots of their own.
        begin(&fixture, &other).await.finish(&report()).await.data();
        uploads.pop().unwrap().finish(&report()).await.data();
        uploads.push(begin(&fixture, key).await);
        assert_refused(&fixture, key).await;
        for upload in uploads {
            upload.finish(&report()).await.data();
        }
        fixture.send(import("format=report", &report(), key)).await.data();
    });
}

#[test]
fn slot_is_free_after_a_failed_or_dropped_import() {
    run_with(on_one_instance, async |fixture| {
        let key = &fixture.key;
        let _held = begin(&fixture, key).await;
        for round in 0..3 {
            begin(&fixture, key).await.finish("nonsense").await.refuses(400, "validation_invalid_format");
            assert_eq!(begin(&fixture, key).await.break_off().await.status, 400);
            begin(&fixture, key).await.cancel().await;
            let upload = begin(&fixture, key).await;
            assert_refused(&fixture, key).await;
            assert_eq!(upload.finish(&report()).await.status, 200, "{round}");
        }
    });
}

#[test]
fn seventh_import_of_an_organization_is_refused_and_others_are_served() {
    run_with(on_one_instance, async |fixture| {
        let mut uploads = Vec::new();
        for _ in 0..3 {
            let key = fixture.owner_key(&fixture.home).await;
            uploads.extend([begin(&fixture, &key).await, begin(&fixture, &key).await]);
        }
        // A daemon's key counts as well.
        let daemon = daemon_key(&fixture, OFFICE).await;
        for key in [&fixture.key, &daemon] {
            assert_refused(&fixture, key).await;
        }
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let theirs = [begin(&fixture, &abroad).await, begin(&fixture, &abroad).await];
        // All eight are taken.
        let another = fixture.owner_key(&fixture.abroad).await;
        assert_refused(&fixture, &another).await;
        for upload in theirs {
            upload.cancel().await;
        }
        uploads.pop().unwrap().cancel().await;
        fixture.send(import("format=report", &report(), &fixture.key)).await.data();
    });
}

#[tokio::test]
async fn import_whose_client_stalls_is_aborted() {
    let fixture = Fixture::new().await;
    pause();
    let upload = begin(&fixture, &fixture.key).await;
    upload.send("{");
    let reply = upload.stall().await;
    reply.refuses(400, "validation_malformed_json");
    assert!(reply.json["error"].as_str().unwrap().contains("sent nothing"), "{}", reply.json);
}
