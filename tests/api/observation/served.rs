//! The extension of responses that describes how they were served.

use http::Request;
use serde_json::json;
use toposcope::access::{Caller, Credential};
use toposcope::model::HostId;
use toposcope::service::{Api, Served};
use toposcope::wire::ErrorCode;
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::run_with;
#[cfg(feature = "discovery")]
use crate::common::OFFICE;
use crate::common::{Fixture, NOBODY, bare, from, get, send_json, with_caller, with_header, with_key};

async fn served(api: &Api, request: Request<String>) -> Served {
    let response = api.clone().oneshot(request).await.unwrap();
    response.extensions().get::<Served>().expect("every response has it").clone()
}

/// Asserts the route, the operation and the error code of a response.
#[track_caller]
fn is(served: &Served, route: &str, operation: Option<&str>, code: Option<ErrorCode>) {
    assert_eq!((served.route, served.operation_id, served.error_code), (route, operation, code));
}

#[test]
fn every_response_has_its_route_operation_and_error_code() {
    run_with(Fixture::with_one_host, async |fixture| {
        let api = &fixture.server.api;
        let key = &fixture.key;
        let host = format!("/api/v1/hosts/{}", Uuid::from_u128(1));
        let missing = format!("/api/v1/hosts/{NOBODY}");
        let of_host = "/api/v1/hosts/{id}";
        for (request, route, operation, code) in [
            (get("/api/version"), "/api/version", Some("get_version"), None),
            (bare("HEAD", "/api/version"), "/api/version", Some("get_version"), None),
            (get("/nowhere"), Served::UNMATCHED, None, Some(ErrorCode::RouteNotFound)),
            (bare("DELETE", "/api/version"), Served::UNMATCHED, None, Some(ErrorCode::MethodNotAllowed)),
            (get(&host), of_host, Some("get_host_by_id"), Some(ErrorCode::AuthNotAuthenticated)),
            (with_key(get(&host), key), of_host, Some("get_host_by_id"), None),
            (with_key(get(&missing), key), of_host, Some("get_host_by_id"), Some(ErrorCode::EntityNotFound)),
            // Another name of a documented path.
            (with_key(get("/api/hosts"), key), "/api/hosts", None, None),
            (
                with_key(send_json("POST", "/api/v1/tags", &json!({"name": "x".repeat(2_000_000)})), key),
                "/api/v1/tags",
                Some("create_tag"),
                Some(ErrorCode::RequestTooLarge),
            ),
        ] {
            is(&served(api, request).await, route, operation, code);
        }
        let response = api.clone().oneshot(with_key(get(&host), key)).await.unwrap();
        let tag = response.headers()["etag"].to_str().unwrap();
        is(
            &served(api, with_header(with_key(get(&host), key), "if-none-match", tag)).await,
            of_host,
            Some("get_host_by_id"),
            None,
        );
    });
}

#[test]
fn response_has_the_caller_also_if_the_request_was_refused() {
    run_with(Fixture::with_one_host, async |fixture| {
        let api = fixture.limited(60, 1).api;
        let list = || with_key(get("/api/v1/hosts?limit=1"), &fixture.key);
        for code in [None, Some(ErrorCode::RateLimitExceeded)] {
            let served = served(&api, list()).await;
            is(&served, "/api/v1/hosts", Some("get_all_hosts"), code);
            let caller = served.caller.unwrap();
            assert_eq!(caller.organization_id(), fixture.home.organization.id);
            assert!(matches!(caller.credential(), Credential::UserApiKey { .. }));
            assert!(served.daemon.is_none());
        }
        let api = &fixture.server.api;
        assert!(served(api, get("/api/v1/hosts")).await.caller.is_none());
        assert!(served(api, with_key(get("/api/v1/hosts"), "guess")).await.caller.is_none());
        let viewer = fixture.viewer();
        let denied = with_caller(bare("DELETE", &format!("/api/v1/tags/{NOBODY}")), viewer.clone());
        let denied = served(api, denied).await;
        is(&denied, "/api/v1/tags/{id}", Some("delete_tag"), Some(ErrorCode::AuthPermissionDenied));
        assert_eq!(denied.caller, Some(viewer));
        let system = with_caller(get("/api/v1/hosts"), Caller::system(fixture.home.organization.id));
        assert!(served(api, system).await.caller.is_none(), "the system sends no requests");
    });
}

#[test]
fn response_to_a_client_beyond_its_limit_has_its_route() {
    run_with(Fixture::new, async |fixture| {
        let api = fixture.limited(60, 1).api;
        let ask = || from("192.0.2.1", get("/api/version"));
        is(&served(&api, ask()).await, "/api/version", Some("get_version"), None);
        let refused = served(&api, ask()).await;
        is(&refused, "/api/version", Some("get_version"), Some(ErrorCode::RateLimitExceeded));
    });
}

#[cfg(feature = "discovery")]
#[test]
fn response_to_a_daemon_has_its_key() {
    run_with(Fixture::new, async |fixture| {
        let daemon = toposcope::inventory::NewDaemonApiKey::new(OFFICE, "a scanner");
        let key = fixture.inventory.daemon_api_keys().create(&fixture.system(), daemon).await.unwrap();
        let path = format!("/api/daemons/{NOBODY}/heartbeat");
        let beat = with_key(send_json("POST", &path, &json!({})), key.plaintext());
        let served = served(&fixture.server.api, beat).await;
        assert_eq!(served.route, "/api/daemons/{id}/heartbeat");
        let daemon = served.daemon.unwrap();
        assert_eq!((daemon.key_id, daemon.network_id), (key.record().id, OFFICE));
        assert!(served.caller.is_none());
    });
}

#[test]
fn responses_of_own_endpoints_have_the_route_of_these() {
    run_with(Fixture::new, async |fixture| {
        let api = &fixture.server.api;
        let (anonymous, _) = get("/racks/7").into_parts();
        let refusal = api.admit(&anonymous).await.unwrap_err();
        let refused = refusal.extensions().get::<Served>().unwrap();
        is(refused, Served::OWN, None, Some(ErrorCode::AuthNotAuthenticated));
        assert!(refused.caller.is_none());
        let (request, _) = with_key(get("/racks/7"), &fixture.key).into_parts();
        let admitted = api.admit(&request).await.unwrap();
        let response = api.respond(&admitted, Ok(7));
        let served = response.extensions().get::<Served>().unwrap();
        is(served, Served::OWN, None, None);
        assert_eq!(served.caller.as_ref(), Some(admitted.caller()));
        let missing = fixture.inventory.hosts().get(admitted.caller(), HostId::new(NOBODY)).await;
        let response = api.respond(&admitted, missing.map(|host| host.name));
        let served = response.extensions().get::<Served>().unwrap();
        is(served, Served::OWN, None, Some(ErrorCode::EntityNotFound));
    });
}
