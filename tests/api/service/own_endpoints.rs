//! Endpoints of the host application, which use the credentials, the rate limit and the envelope of the API.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::routing::get as reads;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{ApplicationCode, ApplicationError, Entity, ErrorKind, NewDaemonApiKey};
use toposcope::model::{Permission, UserId};
use toposcope::service::{Admitted, Api, ResponseBody, Served, normalize_path};
use toposcope::wire::{ErrorCode, Failure, Meta, Success};
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::{run, run_with};
use crate::common::{
    Fixture, NOBODY, OFFICE, VERSION, get, host, send_json, with_caller, with_header, with_key, with_session,
};

/// An endpoint as a host application writes it.
async fn port_count(
    State(api): State<Api>,
    admitted: Admitted,
    Path(id): Path<Uuid>,
) -> Response<ResponseBody> {
    let host = api.inventory().hosts().get(admitted.caller(), id.into()).await;
    api.respond(&admitted, host.map(|host| json!({"ports": host.ports.len()})))
}

/// Returns an application with an endpoint of its own beside those of the API.
fn application(api: &Api) -> Router {
    let own = Router::new().route("/racks/{id}", reads(port_count).post(port_count));
    own.nest("/netinv", api.routes()).fallback(|| async { "nothing here" }).with_state(api.clone())
}

fn own(id: Uuid) -> Request<String> {
    get(&format!("/racks/{id}"))
}

async fn send(application: &Router, request: Request<String>) -> (http::response::Parts, Vec<u8>) {
    let response = application.clone().oneshot(request.map(Body::from)).await.unwrap();
    let (parts, body) = response.into_parts();
    (parts, body.collect().await.unwrap().to_bytes().to_vec())
}

async fn ask(application: &Router, request: Request<String>) -> (u16, Value) {
    let (parts, body) = send(application, request).await;
    (parts.status.as_u16(), serde_json::from_slice(&body).unwrap())
}

/// Asserts that the endpoint refuses the request with this code.
#[track_caller]
fn refuses(answer: &(u16, Value), status: u16, code: &str) {
    assert_eq!((answer.0, &answer.1["code"]), (status, &Value::from(code)), "{}", answer.1);
    serde_json::from_value::<Failure>(answer.1.clone()).unwrap();
}

#[test]
fn own_endpoint_answers_in_the_envelope_of_the_api_with_its_headers() {
    run_with(Fixture::with_one_host, async |fixture| {
        let application = application(&fixture.limited(60, 10).api);
        let id = Uuid::from_u128(1);
        let (parts, body) = send(&application, with_key(own(id), &fixture.key)).await;
        let envelope: Value = serde_json::from_slice(&body).unwrap();
        let expected = Success::new(json!({"ports": host(1, OFFICE).ports.len()}), Meta::new(VERSION));
        assert_eq!(envelope, serde_json::to_value(expected).unwrap());
        for (name, value) in [
            ("content-type", "application/json"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("x-ratelimit-limit", "60"),
            ("x-ratelimit-remaining", "9"),
        ] {
            assert_eq!(parts.headers[name], value);
        }
    });
}

#[test]
fn own_endpoint_refuses_what_the_api_refuses() {
    run_with(Fixture::with_one_host, async |fixture| {
        let application = application(&fixture.server.api);
        let id = Uuid::from_u128(1);
        refuses(&ask(&application, own(id)).await, 401, "auth_not_authenticated");
        refuses(&ask(&application, with_key(own(id), "nonsense")).await, 401, "auth_not_authenticated");
        let missing = ask(&application, with_key(own(NOBODY), &fixture.key)).await;
        refuses(&missing, 404, "entity_not_found");
        assert_eq!(missing.1["params"], json!({"entity": "Host", "id": NOBODY}));
        let daemon = NewDaemonApiKey::new(OFFICE, "a scanner");
        let daemon = fixture.inventory.daemon_api_keys().create(&fixture.system(), daemon).await.unwrap();
        let answer = ask(&application, with_key(own(id), daemon.plaintext())).await;
        refuses(&answer, 403, "auth_user_context_required");

        let user = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
        let session = fixture.sign_in(&user).await;
        assert_eq!(ask(&application, with_session(own(id), &session)).await.0, 200);
        let write = || with_session(send_json("POST", &format!("/racks/{id}"), &json!({})), &session);
        assert_eq!(ask(&application, write()).await.0, 200);
        let foreign = with_header(write(), "origin", "https://elsewhere.example");
        refuses(&ask(&application, foreign).await, 403, "auth_cross_site_request");
    });
}

#[test]
fn own_endpoint_gets_the_rights_of_the_credential() {
    run(async || {
        let fixture = Fixture::with([host(1, OFFICE), host(2, crate::common::LAB)]).await;
        let application = application(&fixture.server.api);
        let key = fixture.key(Permission::Viewer, &[OFFICE]).await;
        assert_eq!(ask(&application, with_key(own(Uuid::from_u128(1)), &key)).await.0, 200);
        let denied = ask(&application, with_key(own(Uuid::from_u128(2)), &key)).await;
        refuses(&denied, 403, "entity_access_denied");
        let home = fixture.home.organization.id;
        let caller = Caller::new(home, UserId::from_u128(77), Permission::Viewer, Scope::only([OFFICE]));
        let (parts, _) = with_caller(own(NOBODY), caller.clone()).into_parts();
        let admitted = fixture.server.api.admit(&parts).await.unwrap();
        assert_eq!(admitted.into_caller(), caller);
    });
}

/// Admits a request without a body, from a caller whom the host application has authenticated: as an extension, and passed in.
async fn admitted_as(api: &Api, request: Request<String>, caller: &Caller) -> [(u16, Value); 2] {
    let by_extension = ask(&application(api), with_caller(request.clone(), caller.clone())).await;
    let (parts, _) = request.into_parts();
    let passed_in = match api.admit_as(&parts, caller.clone()).await {
        Ok(admitted) => {
            assert_eq!(admitted.caller(), caller);
            api.respond(&admitted, Ok(json!({"ports": host(1, OFFICE).ports.len()})))
        }
        Err(refusal) => refusal,
    };
    let (parts, body) = passed_in.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    [by_extension, (parts.status.as_u16(), serde_json::from_slice(&body).unwrap())]
}

#[test]
fn caller_of_the_host_application_is_admitted_by_the_rules_of_the_api() {
    run_with(Fixture::with_one_host, async |fixture| {
        let api = &fixture.server.api;
        let id = Uuid::from_u128(1);
        let caller = fixture.viewer();
        let [by_extension, passed_in] = admitted_as(api, own(id), &caller).await;
        assert_eq!((by_extension.0, &by_extension), (200, &passed_in));
        // A credential of the request does not matter.
        let [by_extension, passed_in] = admitted_as(api, with_key(own(id), "nonsense"), &caller).await;
        assert_eq!((by_extension.0, passed_in.0), (200, 200));

        let tenant = Caller::new(NOBODY.into(), UserId::from_u128(7), Permission::Owner, Scope::all());
        for refused in admitted_as(api, own(id), &tenant).await {
            refuses(&refused, 404, "entity_not_found");
            assert_eq!(refused.1["params"], json!({"entity": "Organization", "id": NOBODY}));
        }
        for refused in admitted_as(api, own(id), &fixture.system()).await {
            refuses(&refused, 401, "auth_not_authenticated");
        }
        let expired = caller.clone().valid_until(crate::common::at(0));
        for refused in admitted_as(api, own(id), &expired).await {
            refuses(&refused, 401, "auth_session_expired");
        }
    });
}

#[test]
fn caller_of_the_host_application_through_a_session_must_not_write_from_another_site() {
    run_with(Fixture::with_one_host, async |fixture| {
        let api = &fixture.server.api;
        let write = || send_json("POST", &format!("/racks/{}", Uuid::from_u128(1)), &json!({}));
        let foreign = || with_header(write(), "origin", "https://elsewhere.example");
        let session = fixture.viewer().through_session();
        for refused in admitted_as(api, foreign(), &session).await {
            refuses(&refused, 403, "auth_cross_site_request");
        }
        for (request, caller) in [(write(), &session), (foreign(), &fixture.viewer())] {
            let answers = admitted_as(api, request, caller).await;
            assert_eq!(answers.map(|answer| answer.0), [200, 200]);
        }
    });
}

#[test]
fn callers_of_the_host_application_share_the_rate_limit_of_their_user() {
    run_with(Fixture::with_one_host, async |fixture| {
        let api = fixture.limited(1, 3).api;
        let id = Uuid::from_u128(1);
        let (one, other) = (fixture.viewer(), fixture.owner(&fixture.home));
        assert_eq!(admitted_as(&api, own(id), &one).await.map(|answer| answer.0), [200, 200]);
        assert_eq!(admitted_as(&api, own(id), &one).await.map(|answer| answer.0), [200, 429]);
        assert_eq!(admitted_as(&api, own(id), &other).await.map(|answer| answer.0), [200, 200]);
    });
}

#[test]
fn own_endpoint_answers_with_its_own_code_and_status() {
    const RACK_FULL: ApplicationCode = ApplicationCode::new("racks.full", 409);
    run_with(Fixture::with_one_host, async |fixture| {
        let api = &fixture.server.api;
        let (parts, _) = with_key(own(NOBODY), &fixture.key).into_parts();
        let admitted = api.admit(&parts).await.unwrap();
        let full = || ApplicationError::new(RACK_FULL, "The rack is full.");
        for (error, params) in [(full().at("rack"), json!({"field": "rack"})), (full(), json!({}))] {
            let response = api.respond::<()>(&admitted, Err(error.into()));
            let served: &Served = response.extensions().get().unwrap();
            assert_eq!(served.error_code, Some(ErrorCode::PolicyRefused));
            assert_eq!(served.application_code, Some(RACK_FULL));
            assert!(response.headers().contains_key("x-ratelimit-remaining"));
            let status = response.status().as_u16();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let answer = (status, serde_json::from_slice(&body).unwrap());
            refuses(&answer, 409, "racks.full");
            assert_eq!((&answer.1["error"], &answer.1["params"]), (&json!("The rack is full."), &params));
        }
        for status in [401, 429, 503] {
            let code = ApplicationCode::new("racks.away", status);
            let error = ApplicationError::new(code, "The racks are away.").into();
            let response = api.respond::<()>(&admitted, Err(error));
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers().contains_key("www-authenticate"), status == 401);
        }
    });
}

#[test]
fn own_endpoints_and_the_api_share_the_rate_limit() {
    run_with(Fixture::with_one_host, async |fixture| {
        let application = application(&fixture.limited(1, 2).api);
        let list = || with_key(get("/netinv/api/v1/hosts?limit=1"), &fixture.key);
        assert_eq!(ask(&application, list()).await.0, 200);
        assert_eq!(ask(&application, with_key(own(NOBODY), &fixture.key)).await.0, 404);
        let (parts, body) = send(&application, with_key(own(NOBODY), &fixture.key)).await;
        let refused = (parts.status.as_u16(), serde_json::from_slice(&body).unwrap());
        refuses(&refused, 429, "rate_limit_exceeded");
        assert_eq!(parts.headers["retry-after"], "60");
        assert_eq!(parts.headers["x-ratelimit-remaining"], "0");
        assert_eq!(ask(&application, list()).await.0, 429);
        // Guesses of keys count for the address of the client.
        for status in [401, 401, 429] {
            assert_eq!(ask(&application, with_key(own(NOBODY), "guess")).await.0, status);
        }
    });
}

#[test]
fn unread_answers_of_own_endpoints_count_for_the_caller() {
    run_with(Fixture::with_one_host, async |fixture| {
        let api = fixture.configured(|builder| builder.unread_responses(100_000, 100_000)).api;
        let (parts, _) = with_key(own(NOBODY), &fixture.key).into_parts();
        let admitted = api.admit(&parts).await.unwrap();
        let unread = api.respond(&admitted, Ok("x".repeat(90_000)));
        assert_eq!(unread.status(), 200);
        assert_eq!(api.respond(&admitted, Ok("x".repeat(90_000))).status(), 429);
        drop(unread);
        assert_eq!(api.respond(&admitted, Ok("x".repeat(90_000))).status(), 200);
    });
}

#[test]
fn connection_of_a_refused_upload_is_closed() {
    run_with(Fixture::with_one_host, async |fixture| {
        let refusal = async |request: Request<String>| {
            let (parts, _) = request.into_parts();
            fixture.server.api.admit(&parts).await.unwrap_err()
        };
        assert!(!refusal(own(NOBODY)).await.headers().contains_key("connection"));
        for (name, value) in [("content-length", "5"), ("transfer-encoding", "chunked")] {
            let refused = refusal(with_header(own(NOBODY), name, value)).await;
            assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
            assert_eq!(refused.headers()["connection"], "close");
        }
    });
}

#[test]
fn routes_leave_unknown_paths_to_the_application() {
    run_with(Fixture::with_one_host, async |fixture| {
        let application = application(&fixture.server.api);
        for path in ["/", "/netinv", "/netinv/api/v1/unknown", "/api/v1/hosts", "/netinv/api/v1/hosts/"] {
            let (parts, body) = send(&application, with_key(get(path), &fixture.key)).await;
            assert_eq!((parts.status, &body[..]), (StatusCode::OK, &b"nothing here"[..]), "{path}");
        }
        let deleted = Request::delete("/netinv/api/version").body(String::new()).unwrap();
        refuses(&ask(&application, deleted).await, 405, "method_not_allowed");
        let head = Request::head("/netinv/api/version").body(String::new()).unwrap();
        assert!(send(&application, head).await.1.is_empty());
        let host = with_key(get(&format!("/netinv/api/v1/hosts/{}", Uuid::from_u128(1))), &fixture.key);
        assert_eq!(ask(&application, host).await.0, 200);
    });
}

#[test]
fn failures_can_be_built_from_errors_of_the_inventory() {
    let error =
        || toposcope::inventory::Error::from(ErrorKind::NotFound { entity: Entity::Host, id: NOBODY });
    let failure = Failure::of(&error(), Meta::new("2.0.0"));
    assert_eq!((failure.code.as_str(), &failure.error), ("entity_not_found", &error().to_string()));
    assert_eq!(Value::from(failure.params), json!({"entity": "Host", "id": NOBODY}));
    let internal = toposcope::inventory::Error::from(ErrorKind::Unreadable);
    let failure = Failure::of(&internal, Meta::new("2.0.0"));
    assert_eq!(
        (failure.code.as_str(), failure.error.as_str()),
        ("internal_error", "An internal error occurred.")
    );
    assert!(failure.params.is_empty());
}

#[test]
fn normalized_path_reaches_the_routes_of_the_application() {
    run_with(Fixture::with_one_host, async |fixture| {
        let application = application(&fixture.limited(60, 20).api);
        let id = Uuid::from_u128(1);
        for (path, encoded) in [
            (format!("/racks/{id}"), format!("/rac%6Bs/{}", id.to_string().replace('-', "%2d"))),
            (format!("/netinv/api/v1/hosts/{id}"), format!("/netin%76/api/v1/host%73/{id}")),
        ] {
            let (parts, expected) = send(&application, with_key(get(&path), &fixture.key)).await;
            assert_eq!(parts.status, StatusCode::OK);
            let mut request = with_key(get(&encoded), &fixture.key);
            assert_eq!(send(&application, request.clone()).await.1, b"nothing here", "{encoded}");
            normalize_path(request.uri_mut());
            assert_eq!(send(&application, request).await.1, expected, "{encoded}");
        }
    });
}
