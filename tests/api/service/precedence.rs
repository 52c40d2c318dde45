//! The first error that is reported when several apply, for every endpoint except the list.
//!
//! A request with every possible fault is corrected step by step, and each step is answered with the first remaining
//! error.

use http::Request;
use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::model::{HostId, NetworkId, Permission, PortId};
use toposcope::service::Api;

use crate::backend::run_with;
use crate::common::{
    BOUND_PORT, DAEMON_KEYS, Fixture, LAB, LAB_HOST, LOG_IN, NEIGHBOUR, NOBODY, OFFICE, PASSWORD, PORT,
    Populated, REFERRAL, Server, VAULT, VAULT_HOST, VAULT_PORT, ample, bare, daemon_body, key_path, limit,
    port_body, with, with_key,
};

/// The body limit of the server, in bytes.
const LIMIT: usize = 600;

/// A request with every fault that has not been corrected yet.
#[derive(Clone)]
struct Draft {
    method: &'static str,
    path: String,
    query: &'static str,
    headers: Vec<(&'static str, String)>,
    content_type: &'static str,
    body: String,
}

impl Draft {
    fn new() -> Self {
        let body = "[".repeat(LIMIT + 1);
        let (headers, content_type) = (Vec::new(), "text/plain");
        Self {
            method: "OPTIONS",
            path: "/api/v1/nothing".to_owned(),
            query: "?x=1",
            headers,
            content_type,
            body,
        }
    }

    fn request(&self) -> Request<String> {
        let target = format!("{}{}", self.path, self.query);
        let request =
            Request::builder().method(self.method).uri(target).header("content-type", self.content_type);
        let request =
            self.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        request.body(self.body.clone()).unwrap()
    }

    fn set_body(&mut self, body: &Value) {
        self.body = body.to_string();
    }
}

/// A correction, and the answer before it.
type Step = (u16, &'static str, Box<dyn Fn(&mut Draft)>);

fn step(status: u16, code: &'static str, repair: impl Fn(&mut Draft) + 'static) -> Step {
    (status, code, Box::new(repair))
}

/// Applies the corrections until the request is valid.
async fn assert_first_errors(fixture: &Populated, steps: Vec<Step>) {
    let builder = || Api::builder(fixture.inventory.clone()).body_limit(LIMIT);
    let one = limit(1, 1);
    let server = Server::built(builder(), ample());
    let mut draft = Draft::new();
    for (number, (status, code, repair)) in steps.iter().enumerate() {
        let reply = server.send(draft.request()).await;
        assert_eq!((reply.status.as_u16(), &reply.json["code"]), (*status, &json!(code)), "step {number}");
        let spent = Server::built(builder(), one);
        assert_ne!(spent.send(draft.request()).await.json["code"], "rate_limit_exceeded");
        spent.send(draft.request()).await.refuses(429, "rate_limit_exceeded");
        repair(&mut draft);
    }
    assert_eq!(server.send(draft.request()).await.status, 200, "everything is in order");
}

fn set_path(path: String) -> impl Fn(&mut Draft) {
    move |draft| draft.path.clone_from(&path)
}

fn set_body(body: Value) -> impl Fn(&mut Draft) {
    move |draft| draft.set_body(&body)
}

/// Requirements before the body: a path, a method, a credential and an origin.
fn admission(method: &'static str, path: &str, session: &str) -> Vec<Step> {
    let cookie = format!("session_id={session}");
    vec![
        step(404, "route_not_found", set_path(path.to_owned())),
        step(405, "method_not_allowed", move |draft| draft.method = method),
        step(401, "auth_not_authenticated", move |draft| {
            draft.headers = vec![("cookie", cookie.clone()), ("origin", "https://evil.example".to_owned())];
        }),
        step(403, "auth_cross_site_request", |draft| drop(draft.headers.pop())),
    ]
}

/// Requirements of the body before its values.
fn body(first: Value) -> Vec<Step> {
    vec![
        step(400, "validation_unknown_parameter", |draft| draft.query = ""),
        step(415, "request_unsupported_media_type", |draft| draft.content_type = "application/json"),
        step(413, "request_too_large", |draft| draft.body.truncate(LIMIT)),
        step(400, "validation_malformed_json", set_body(first)),
    ]
}

fn set_session(session: &str) -> impl Fn(&mut Draft) + use<> {
    let cookie = format!("session_id={session}");
    move |draft| draft.headers = vec![("cookie", cookie.clone())]
}

/// The session of a Viewer.
async fn viewer(fixture: &Populated) -> String {
    let viewer = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
    fixture.sign_in(&viewer).await
}

#[test]
fn port_update_reports_the_first_error() {
    run_with(Populated::new, async |fixture| {
        let path = |id: PortId| format!("/api/v1/ports/{id}");
        let place = |host: HostId, network: NetworkId, number: u16| json!({"host_id": host, "network_id": network, "number": number, "protocol": "Tcp"});
        let mut steps = admission("PUT", "/api/v1/ports/x", &viewer(&fixture).await);
        steps.push(step(403, "auth_permission_denied", set_session(&fixture.session)));
        steps.push(step(400, "validation_invalid_format", set_path(path(NOBODY.into()))));
        steps.extend(body(json!({"number": 0})));
        steps.extend([
            step(400, "validation_required", set_body(place(NOBODY.into(), NOBODY.into(), 0))),
            step(400, "validation_out_of_range", set_body(place(NOBODY.into(), NOBODY.into(), 443))),
            step(404, "entity_not_found", set_path(path(VAULT_PORT))),
            step(403, "entity_access_denied", set_path(path(BOUND_PORT))),
            step(400, "entity_reference_invalid", set_body(place(NOBODY.into(), VAULT, 443))),
            step(403, "entity_access_denied", set_body(place(NOBODY.into(), LAB, 443))),
            step(400, "entity_reference_invalid", set_body(place(VAULT_HOST, LAB, 443))),
            step(400, "entity_network_mismatch", set_body(place(NEIGHBOUR, OFFICE, 443))),
            step(409, "entity_in_use", set_path(path(PORT))),
            step(409, "entity_already_exists", set_body(place(LAB_HOST, LAB, 443))),
        ]);
        assert_first_errors(&fixture, steps).await;
        let moved = fixture.inventory.hosts().get(&fixture.system(), LAB_HOST).await.unwrap();
        assert_eq!(moved.ports.iter().map(|port| port.id).collect::<Vec<_>>(), [PORT]);
    });
}

#[test]
fn daemon_key_creation_reports_the_first_error() {
    run_with(Populated::new, async |fixture| {
        let tags = |tags: Value| with(&daemon_body(), "tags", tags);
        let elsewhere = |body: &Value| with(body, "network_id", json!(VAULT));
        let late = with(&elsewhere(&tags(json!([NOBODY]))), "expires_at", "2000-01-01T00:00:00Z");
        let mut steps = admission("POST", DAEMON_KEYS, &viewer(&fixture).await);
        steps.push(step(403, "auth_permission_denied", set_session(&fixture.session)));
        steps.extend(body(json!({"tags": [NOBODY]})));
        steps.extend([
            step(400, "validation_required", set_body(with(&late, "name", " "))),
            step(400, "validation_empty", set_body(late)),
            step(400, "validation_out_of_range", set_body(elsewhere(&tags(json!([NOBODY]))))),
            step(403, "entity_access_denied", set_body(tags(json!([NOBODY])))),
            step(400, "entity_reference_invalid", set_body(tags(json!([])))),
        ]);
        assert_first_errors(&fixture, steps).await;
    });
}

#[test]
fn user_key_update_reports_the_first_error() {
    run_with(Populated::new, async |fixture| {
        let valid = fixture.key_body();
        let tagged = with(&valid, "tags", json!([NOBODY]));
        let networked = with(&tagged, "network_ids", json!([NOBODY]));
        let levelled = with(&networked, "permissions", "Owner");
        let untagged = with(&valid, "permissions", "Owner");
        let owned = with(&levelled, "user_id", json!(NOBODY));
        let key = format!("Bearer {}", fixture.member_key);
        let mut steps = admission("PUT", &key_path("x"), &fixture.session);
        steps.push(step(400, "validation_invalid_format", move |draft| {
            draft.headers.push(("authorization", key.clone()));
        }));
        steps.push(step(403, "auth_user_context_required", |draft| drop(draft.headers.pop())));
        steps.push(step(400, "validation_invalid_format", set_path(key_path(NOBODY))));
        steps.extend(body(json!({"name": ""})));
        steps.extend([
            step(400, "validation_required", set_body(with(&owned, "name", ""))),
            step(400, "validation_empty", set_body(owned)),
            step(404, "entity_not_found", set_path(key_path(fixture.member_key_id))),
            step(403, "entity_update_forbidden", set_body(levelled.clone())),
            step(400, "entity_reference_invalid", set_body(with(&levelled, "network_ids", json!([VAULT])))),
            step(400, "entity_reference_invalid", set_body(with(&untagged, "network_ids", json!([VAULT])))),
            step(403, "entity_access_denied", set_body(untagged)),
            step(403, "auth_permission_denied", set_body(valid)),
        ]);
        assert_first_errors(&fixture, steps).await;
    });
}

#[test]
fn user_key_deletion_reports_the_first_error() {
    run_with(Populated::new, async |fixture| {
        let mut steps = admission("DELETE", &key_path("x"), &fixture.session);
        steps.extend([
            step(400, "validation_invalid_format", set_path(key_path(fixture.other_key_id))),
            step(400, "validation_unknown_parameter", |draft| draft.query = ""),
            step(404, "entity_not_found", set_path(key_path(fixture.member_key_id))),
        ]);
        assert_first_errors(&fixture, steps).await;
    });
}

#[test]
fn referral_reports_the_first_error() {
    run_with(Populated::new, async |fixture| {
        let source =
            |source: &str| json!({"referral_source": source, "referral_source_other": "x".repeat(501)});
        let mut steps = admission("POST", REFERRAL, &fixture.session);
        steps.extend(body(json!({"referral_source_other": 5})));
        steps.extend([
            step(400, "validation_required", set_body(source(""))),
            step(400, "validation_empty", set_body(source("reddit"))),
            step(400, "validation_max_length", set_body(json!({"referral_source": "reddit"}))),
        ]);
        assert_first_errors(&fixture, steps).await;
    });
}

#[test]
fn login_reports_the_first_error() {
    run_with(Populated::new, async |fixture| {
        let login = |email: &str, password: &str| json!({"email": email, "password": password});
        let mut steps = vec![
            step(404, "route_not_found", set_path(LOG_IN.to_owned())),
            step(405, "method_not_allowed", |draft| draft.method = "POST"),
        ];
        steps.extend(body(json!({"password": ""})));
        steps.extend([
            step(400, "validation_required", set_body(login("", ""))),
            step(400, "validation_empty", set_body(login(&fixture.member.email, ""))),
            step(400, "validation_empty", set_body(login(&fixture.member.email, "wrong password"))),
            step(401, "auth_invalid_credentials", set_body(login(&fixture.member.email, PASSWORD))),
        ]);
        assert_first_errors(&fixture, steps).await;
    });
}

#[test]
fn share_reports_the_first_error() {
    run_with(Populated::new, async |fixture| {
        let path = |id: String| format!("/api/v1/shares/public/{id}");
        let steps = vec![
            step(404, "route_not_found", set_path(path("x".to_owned()))),
            step(405, "method_not_allowed", |draft| draft.method = "GET"),
            step(400, "validation_invalid_format", set_path(path(NOBODY.to_string()))),
            step(400, "validation_unknown_parameter", |draft| draft.query = ""),
            step(404, "entity_not_found", set_path(path(fixture.share_id.to_string()))),
        ];
        assert_first_errors(&fixture, steps).await;
    });
}

/// Faults of a key are reported first, then those of its organization, then all others.
#[test]
fn state_of_a_key_is_reported_before_its_rights() {
    run_with(Populated::new, async |fixture| {
        let body = with(&port_body(), "number", 0);
        let send = async || fixture.send(fixture.put_port("x", &body)).await;
        let inventory = &fixture.inventory;
        inventory.organizations().disable_api_access(fixture.member.organization_id).await.unwrap();
        inventory
            .users()
            .set_rights(
                &Caller::system(fixture.member.organization_id),
                fixture.member.id,
                Permission::Viewer,
                vec![],
            )
            .await
            .unwrap();
        inventory.user_api_keys().disable(&fixture.system(), fixture.member_key_id).await.unwrap();
        send().await.refuses(401, "entity_disabled");
        inventory.user_api_keys().enable(&fixture.system(), fixture.member_key_id).await.unwrap();
        send().await.refuses(403, "billing_feature_not_available");
        inventory.organizations().enable_api_access(fixture.member.organization_id).await.unwrap();
        send().await.refuses(403, "auth_permission_denied");
        inventory
            .users()
            .set_rights(
                &Caller::system(fixture.member.organization_id),
                fixture.member.id,
                Permission::Member,
                vec![],
            )
            .await
            .unwrap();
        send().await.refuses(400, "validation_invalid_format");
    });
}

/// Methods and targets with an unknown parameter. If the path contains an id, it is invalid.
const PATHS: [(&str, &str); 10] = [
    ("GET", "/api/v1/hosts?bogus=1"),
    ("GET", "/api/version?bogus=1"),
    ("POST", "/api/auth/login?bogus=1"),
    ("POST", "/api/auth/logout?bogus=1"),
    ("POST", "/api/v1/auth/daemon?bogus=1"),
    ("PUT", "/api/v1/ports/x?bogus=1"),
    ("PUT", "/api/v1/auth/keys/x?bogus=1"),
    ("DELETE", "/api/v1/auth/keys/x?bogus=1"),
    ("GET", "/api/v1/shares/public/x?bogus=1"),
    ("POST", "/api/v1/organizations/referral-source?bogus=1"),
];

fn faulty(method: &str, target: &str, key: Option<&str>) -> Request<String> {
    let request = bare(method, target).map(|_| "{".to_owned());
    key.map_or(request.clone(), |key| with_key(request, key))
}

/// The rate limit comes before routing, and routing before the credential.
#[test]
fn rate_limit_and_routing_come_first_on_every_path() {
    run_with(Fixture::new, async |fixture| {
        let site = fixture.free_site().await;
        let free = fixture.owner_key(&site).await;
        for key in [None, Some("x"), Some(&*free), Some(&*fixture.key)] {
            for (method, target) in PATHS.into_iter().chain([("GET", "/api/v1/nothing?bogus=1")]) {
                for method in [method, "OPTIONS"] {
                    let server = fixture.limited(1, 1);
                    let reply = server.send(faulty(method, target, key)).await;
                    assert_ne!(reply.status, 429, "{method} {target}");
                    server.send(faulty(method, target, key)).await.refuses(429, "rate_limit_exceeded");
                }
                let other = if target.contains("nothing") { 404 } else { 405 };
                assert_eq!(fixture.send(faulty("OPTIONS", target, key)).await.status, other, "{target}");
                let target = target.replace('?', "/?");
                fixture.send(faulty(method, &target, key)).await.refuses(404, "route_not_found");
            }
        }
    });
}

#[test]
fn credential_of_a_list_comes_before_its_query_and_that_before_its_networks() {
    run_with(Fixture::new, async |fixture| {
        let send = async |key| fixture.send(faulty("GET", "/api/v1/hosts?bogus=1", key)).await;
        send(None).await.refuses(401, "auth_not_authenticated");
        send(Some("x")).await.refuses(401, "auth_not_authenticated");
        let site = fixture.free_site().await;
        let free = fixture.owner_key(&site).await;
        send(Some(&free)).await.refuses(403, "billing_feature_not_available");
        send(Some(&fixture.key)).await.refuses(400, "validation_unknown_parameter");
        let blind = fixture.key(Permission::Owner, &[]).await;
        fixture.list_as(&blind, "limit=-1").await.refuses(400, "validation_invalid_format");
    });
}
