//! Which error is reported when several apply, for every endpoint except the list. A request with every
//! possible fault is corrected step by step, and each step is answered with the first remaining error.

use std::num::NonZeroU32;

use http::Request;
use serde_json::{Value, json};
use toposcope::model::Permission;
use toposcope::service::{Api, RateLimit};
use uuid::Uuid;

use super::scene::{
    BOUND_PORT, DAEMON_KEYS, LAB_HOST, LOG_IN, NEIGHBOUR, PORT, REFERRAL, Scene, VAULT_HOST, VAULT_PORT,
    daemon_body, key_path, port_body, with,
};
use crate::common::{LAB, NOBODY, OFFICE, PASSWORD, Server, VAULT, ample};

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
            method: "PATCH",
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
async fn climb(scene: &Scene, steps: Vec<Step>) {
    let builder = || Api::builder(scene.world.inventory.clone()).body_limit(LIMIT);
    let one = RateLimit::new(NonZeroU32::MIN, NonZeroU32::MIN);
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
async fn viewer(scene: &Scene) -> String {
    let viewer = scene.world.user(&scene.world.home, Permission::Viewer, &[OFFICE]).await;
    scene.world.sign_in(&viewer).await
}

#[tokio::test]
async fn updating_a_port() {
    let scene = Scene::new().await;
    let path = |id: Uuid| format!("/api/v1/ports/{id}");
    let place = |host: Uuid, network: Uuid, number: u16| json!({"host_id": host, "network_id": network, "number": number, "protocol": "Tcp"});
    let mut steps = admission("PUT", "/api/v1/ports/x", &viewer(&scene).await);
    steps.push(step(403, "auth_permission_denied", set_session(&scene.session)));
    steps.push(step(400, "validation_invalid_format", set_path(path(NOBODY))));
    steps.extend(body(json!({"number": 0})));
    steps.extend([
        step(400, "validation_required", set_body(place(NOBODY, NOBODY, 0))),
        step(400, "validation_out_of_range", set_body(place(NOBODY, NOBODY, 443))),
        step(404, "entity_not_found", set_path(path(VAULT_PORT))),
        step(403, "entity_access_denied", set_path(path(BOUND_PORT))),
        step(400, "entity_reference_invalid", set_body(place(NOBODY, VAULT, 443))),
        step(403, "entity_access_denied", set_body(place(NOBODY, LAB, 443))),
        step(400, "entity_reference_invalid", set_body(place(VAULT_HOST, LAB, 443))),
        step(400, "entity_network_mismatch", set_body(place(NEIGHBOUR, OFFICE, 443))),
        step(409, "entity_in_use", set_path(path(PORT))),
        step(409, "entity_already_exists", set_body(place(LAB_HOST, LAB, 443))),
    ]);
    climb(&scene, steps).await;
    let moved = scene.world.inventory.host(scene.world.home.organization.id, LAB_HOST).await.unwrap();
    assert_eq!(moved.ports.iter().map(|port| port.id).collect::<Vec<_>>(), [PORT]);
}

#[tokio::test]
async fn creating_a_daemon_key() {
    let scene = Scene::new().await;
    let tags = |tags: Value| with(&daemon_body(), "tags", tags);
    let elsewhere = |body: &Value| with(body, "network_id", json!(VAULT));
    let late = with(&elsewhere(&tags(json!([NOBODY]))), "expires_at", "2000-01-01T00:00:00Z");
    let mut steps = admission("POST", DAEMON_KEYS, &viewer(&scene).await);
    steps.push(step(403, "auth_permission_denied", set_session(&scene.session)));
    steps.extend(body(json!({"tags": [NOBODY]})));
    steps.extend([
        step(400, "validation_required", set_body(with(&late, "name", " "))),
        step(400, "validation_empty", set_body(late)),
        step(400, "validation_out_of_range", set_body(elsewhere(&tags(json!([NOBODY]))))),
        step(403, "entity_access_denied", set_body(tags(json!([NOBODY])))),
        step(400, "entity_reference_invalid", set_body(tags(json!([])))),
    ]);
    climb(&scene, steps).await;
}

#[tokio::test]
async fn updating_a_user_key() {
    let scene = Scene::new().await;
    let valid = scene.key_body();
    let tagged = with(&valid, "tags", json!([NOBODY]));
    let networked = |networks: Value| with(&tagged, "network_ids", networks);
    let levelled = with(&networked(json!([NOBODY])), "permissions", "Owner");
    let owned = with(&levelled, "user_id", json!(NOBODY));
    let key = format!("Bearer {}", scene.key);
    let mut steps = admission("PUT", &key_path("x"), &scene.session);
    steps.push(step(400, "validation_invalid_format", move |draft| {
        draft.headers.push(("authorization", key.clone()));
    }));
    steps.push(step(403, "auth_user_context_required", |draft| drop(draft.headers.pop())));
    steps.push(step(400, "validation_invalid_format", set_path(key_path(NOBODY))));
    steps.extend(body(json!({"name": ""})));
    steps.extend([
        step(400, "validation_required", set_body(with(&owned, "name", ""))),
        step(400, "validation_empty", set_body(owned)),
        step(404, "entity_not_found", set_path(key_path(scene.key_id))),
        step(403, "entity_update_forbidden", set_body(levelled)),
        step(403, "auth_permission_denied", set_body(networked(json!([VAULT, NOBODY])))),
        step(400, "entity_reference_invalid", set_body(networked(json!([VAULT])))),
        step(403, "entity_access_denied", set_body(tagged)),
        step(400, "entity_reference_invalid", set_body(valid)),
    ]);
    climb(&scene, steps).await;
}

#[tokio::test]
async fn deleting_a_user_key() {
    let scene = Scene::new().await;
    let mut steps = admission("DELETE", &key_path("x"), &scene.session);
    steps.extend([
        step(400, "validation_invalid_format", set_path(key_path(scene.other_key_id))),
        step(400, "validation_unknown_parameter", |draft| draft.query = ""),
        step(404, "entity_not_found", set_path(key_path(scene.key_id))),
    ]);
    climb(&scene, steps).await;
}

#[tokio::test]
async fn submitting_a_referral() {
    let scene = Scene::new().await;
    let source = |source: &str| json!({"referral_source": source, "referral_source_other": "x".repeat(501)});
    let mut steps = admission("POST", REFERRAL, &scene.session);
    steps.extend(body(json!({"referral_source_other": 5})));
    steps.extend([
        step(400, "validation_required", set_body(source(""))),
        step(400, "validation_empty", set_body(source("reddit"))),
        step(400, "validation_max_length", set_body(json!({"referral_source": "reddit"}))),
    ]);
    climb(&scene, steps).await;
}

#[tokio::test]
async fn logging_in() {
    let scene = Scene::new().await;
    let login = |email: &str, password: &str| json!({"email": email, "password": password});
    let mut steps = vec![
        step(404, "route_not_found", set_path(LOG_IN.to_owned())),
        step(405, "method_not_allowed", |draft| draft.method = "POST"),
    ];
    steps.extend(body(json!({"password": ""})));
    steps.extend([
        step(400, "validation_required", set_body(login("", ""))),
        step(400, "validation_empty", set_body(login(&scene.member.email, ""))),
        step(400, "validation_empty", set_body(login(&scene.member.email, "wrong password"))),
        step(401, "auth_invalid_credentials", set_body(login(&scene.member.email, PASSWORD))),
    ]);
    climb(&scene, steps).await;
}

#[tokio::test]
async fn finding_a_share() {
    let scene = Scene::new().await;
    let path = |id: String| format!("/api/v1/shares/public/{id}");
    let steps = vec![
        step(404, "route_not_found", set_path(path("x".to_owned()))),
        step(405, "method_not_allowed", |draft| draft.method = "GET"),
        step(400, "validation_invalid_format", set_path(path(NOBODY.to_string()))),
        step(400, "validation_unknown_parameter", |draft| draft.query = ""),
        step(404, "entity_not_found", set_path(path(scene.share_id.to_string()))),
    ];
    climb(&scene, steps).await;
}

/// When a credential has several faults, its own state comes before that of the organization, and that before
/// everything else.
#[tokio::test]
async fn a_credential_comes_before_what_it_is_good_for() {
    let scene = Scene::new().await;
    let body = with(&port_body(), "number", 0);
    let send = async || scene.server().send(scene.put_port("x", &body)).await;
    let inventory = &scene.world.inventory;
    inventory.disable_api_access(scene.member.organization_id).await.unwrap();
    inventory.set_user_rights(scene.member.id, Permission::Viewer, vec![]).await.unwrap();
    inventory.disable_user_api_key(scene.key_id).await.unwrap();
    send().await.refuses(401, "entity_disabled");
    inventory.enable_user_api_key(scene.key_id).await.unwrap();
    send().await.refuses(403, "billing_feature_not_available");
    inventory.enable_api_access(scene.member.organization_id).await.unwrap();
    send().await.refuses(403, "auth_permission_denied");
    inventory.set_user_rights(scene.member.id, Permission::Member, vec![]).await.unwrap();
    send().await.refuses(400, "validation_invalid_format");
}
