//! The form of every answer. [`Server::send`] checks it for all of them; the tests here make sure that every
//! kind occurs.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use http::Request;
use serde_json::{Value, json};
use toposcope::service::{Api, RateLimit};
use toposcope::store::{Name, StoreError};

use super::row::{Row, check};
use super::scene::{
    BOUND_PORT, HOSTS, LOG_OUT, PORT, Scene, daemon_body, key_path, log_in, port_body, share_path, with,
};
use super::store::{Fault, Interposed};
use crate::common::{OFFICE, PASSWORD, Server, VERSION, World, ample, bare, get, host};

/// A valid request to every endpoint; the one that deletes comes last.
fn endpoints(scene: &Scene) -> [Request<String>; 10] {
    [
        get("/api/version"),
        log_in(&scene.member.email, PASSWORD),
        bare("POST", LOG_OUT),
        scene.by_key(get(HOSTS)),
        scene.create_daemon_key(&daemon_body()),
        scene.put_port(PORT, &port_body()),
        scene.put_key(scene.key_id, &scene.key_body()),
        get(&share_path(scene.share_id)),
        scene.submit_referral(&json!({"referral_source": "reddit"})),
        scene.by_session(bare("DELETE", &key_path(scene.key_id))),
    ]
}

#[tokio::test]
async fn success_is_200_for_every_endpoint() {
    let scene = Scene::new().await;
    for request in endpoints(&scene) {
        let shown = format!("{} {}", request.method(), request.uri());
        let reply = scene.server().send(request).await;
        let data = reply.data();
        let is_empty = ["logout", "referral-source"].iter().any(|end| shown.ends_with(end))
            || shown.starts_with("DELETE");
        assert_eq!(data.as_object().is_some_and(serde_json::Map::is_empty), is_empty, "{shown}");
        assert_eq!(data.is_array(), shown.contains("hosts"), "{shown}");
        assert_eq!(reply.json["meta"].get("pagination").is_some(), shown.contains("hosts"), "{shown}");
        assert_eq!(reply.json["meta"]["server_version"], VERSION);
    }
}

/// An answer of each status, with the headers that are specific to it.
#[tokio::test]
async fn every_status_has_its_headers() {
    let scene = Scene::new().await;
    let always = ["cache-control", "content-type", "x-content-type-options"];
    let figures = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
    let one = RateLimit::new(NonZeroU32::MIN, NonZeroU32::MIN);
    let spent = Server::new(scene.world.inventory.clone(), one);
    assert_eq!(spent.get("/api/version").await.status, 200);
    let failing = |failure| Interposed::new(&scene, Fault::Commit(Name::new("host"), failure)).server(&scene);
    let small = Server::built(Api::builder(scene.world.inventory.clone()).body_limit(1), ample());
    let port = |number: u16| scene.put_port(PORT, &with(&port_body(), "number", number));
    let mut untyped = port(443);
    untyped.headers_mut().remove("content-type");
    let usual = scene.server().clone();
    for (server, request, status, more) in [
        (usual.clone(), get("/api/version"), 200, &[][..]),
        (usual.clone(), log_in(&scene.member.email, PASSWORD), 200, &["set-cookie"]),
        (usual.clone(), bare("POST", LOG_OUT), 200, &["set-cookie"]),
        (usual.clone(), bare("HEAD", "/api/version"), 200, &["content-length"]),
        (usual.clone(), port(0), 400, &[]),
        (usual.clone(), get(HOSTS), 401, &["www-authenticate"]),
        (usual.clone(), log_in("nobody", "x"), 401, &["www-authenticate"]),
        (usual.clone(), scene.by_key(bare("DELETE", &key_path(scene.key_id))), 403, &[]),
        (usual.clone(), get("/nothing"), 404, &[]),
        (usual.clone(), scene.put_port(OFFICE, &port_body()), 404, &[]),
        (usual.clone(), bare("PUT", HOSTS), 405, &["allow"]),
        (usual.clone(), port(80), 409, &[]),
        (small, port(443), 413, &[]),
        (usual, untyped, 415, &[]),
        (spent, get("/api/version"), 429, &["retry-after"]),
        (failing(|_| StoreError::corrupt("x")), port(443), 500, &[]),
        (failing(|_| StoreError::unavailable("x")), port(443), 503, &["retry-after"]),
    ] {
        let reply = server.send(request).await;
        assert_eq!(reply.status.as_u16(), status, "{}", reply.json);
        let expected: BTreeSet<&str> = always.iter().chain(&figures).chain(more).copied().collect();
        let given: BTreeSet<&str> = reply.headers.keys().map(http::HeaderName::as_str).collect();
        assert_eq!(given, expected, "{status}");
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(
            (reply.header("cache-control"), reply.header("x-content-type-options")),
            ("no-store", "nosniff")
        );
    }
}

#[tokio::test]
async fn pagination_tells_the_limit_that_was_applied_and_whether_more_follow() {
    let world = World::with((1..=5).map(|id| host(id, OFFICE))).await;
    for (query, limit, offset, has_more) in [
        ("", 50, 0, false),
        ("limit=", 50, 0, false),
        ("limit=4", 4, 0, true),
        ("limit=5", 5, 0, false),
        ("limit=1&offset=3", 1, 3, true),
        ("limit=1&offset=4", 1, 4, false),
        ("limit=1&offset=5", 1, 5, false),
        ("limit=1000&offset=4", 1000, 4, false),
        ("offset=100", 50, 100, false),
        ("limit=0", 0, 0, false),
        ("limit=0&offset=3", 0, 3, false),
    ] {
        let reply = world.list(query).await;
        let expected = json!({"total_count": 5, "limit": limit, "offset": offset, "has_more": has_more});
        assert_eq!(reply.json["meta"]["pagination"], expected, "{query}");
    }
}

#[tokio::test]
async fn the_version_is_the_one_of_the_application() {
    let scene = Scene::new().await;
    let versions = || json!({"api_version": 1, "server_version": VERSION});
    check(scene.server(), [Row::gives("version", get("/api/version"), versions())]).await;
    for target in ["/api/version", "/nothing", HOSTS] {
        let meta = scene.server().get(target).await.json["meta"].clone();
        assert_eq!(meta, versions(), "{target}");
    }
    let list = scene.server().send(scene.by_key(get(HOSTS))).await;
    let expected = json!({"total_count": 3, "limit": 50, "offset": 0, "has_more": false});
    assert_eq!(list.json["meta"], with(&versions(), "pagination", expected));
}

/// Whatever answers GET also answers HEAD, with the same headers and without a body.
#[tokio::test]
async fn head_is_answered_on_every_get_route() {
    let scene = Scene::new().await;
    for target in ["/api/version", HOSTS, &share_path(scene.share_id)] {
        let get = scene.server().send(scene.by_key(get(target))).await;
        let head = scene.server().send(scene.by_key(bare("HEAD", target))).await;
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{target}");
        assert_eq!(head.number("content-length"), get.body.len() as u64, "{target}");
        assert_eq!(head.json, Value::Null);
    }
    for target in [LOG_OUT, &key_path(scene.key_id), &format!("/api/v1/ports/{BOUND_PORT}")] {
        let head = scene.server().send(scene.by_session(bare("HEAD", target))).await;
        assert_eq!(head.status, 405, "{target}");
    }
}
