//! `GET /api/health`.

use std::time::Duration;

use serde_json::json;

use toposcope::store::StoreError;

use crate::backend::run;
use crate::common::{Fault, Fixture, Hook, VERSION, bare, get};

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
        assert_eq!(server.send(bare("HEAD", "/api/health")).await.status, 200);
        server.send(get("/api/health?x=1")).await.refuses(400, "validation_unknown_parameter");
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
