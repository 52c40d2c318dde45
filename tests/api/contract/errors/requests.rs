//! Requests that are refused independently of their subject: by path, method, size, media type or number.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_body::{Body, Frame, SizeHint};
use serde_json::json;
use toposcope::service::{Api, RateLimit};

use crate::common::{Server, ample, bare, send_json};
use crate::contract::row::{Produced, Row, check, produced_by};
use crate::contract::scene::{
    HOSTS, LOG_IN, LOG_OUT, PORT, Scene, daemon_body, log_in, port_body, put_key, put_port,
};

fn unknown_paths() -> Vec<Row> {
    let id = PORT;
    let paths = [
        "/".to_owned(),
        "/api/v1/ports".to_owned(),
        "/api/v1/ports/".to_owned(),
        format!("/api/v1/ports/{id}/"),
        format!("/api/v1/ports/{id}/x"),
        format!("/api/v1/Ports/{id}"),
        "/api/v1/auth".to_owned(),
        "/api/v1/auth/daemon/".to_owned(),
        format!("/api/v1/auth/daemon/{id}"),
        "/api/v1/auth/keys".to_owned(),
        "/api/v1/auth/keys/".to_owned(),
        format!("/api/v1/auth/keys/{id}/"),
        "/api/v1/shares/public".to_owned(),
        "/api/v1/shares/public/".to_owned(),
        format!("/api/v1/shares/{id}"),
        format!("/api/v1/shares/public/{id}/x"),
        "/api/v1/organizations".to_owned(),
        "/api/v1/organizations/referral-source/".to_owned(),
        "/api/v1/organizations/referral_source".to_owned(),
        "/api/auth/login/".to_owned(),
        "/api/auth/Login".to_owned(),
        "/api/v1/auth/login".to_owned(),
        "/api/auth".to_owned(),
        "/api/auth/logout/".to_owned(),
    ];
    let methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS"];
    let requests = paths.iter().flat_map(|path| methods.map(|method| bare(method, path)));
    requests.map(|request| Row::refused("path", request, 404, "route_not_found", json!({}))).collect()
}

/// Every path with the methods that it supports.
fn paths(scene: &Scene) -> [(String, &'static str); 9] {
    [
        ("/api/version".to_owned(), "GET, HEAD"),
        (LOG_IN.to_owned(), "POST"),
        (LOG_OUT.to_owned(), "POST"),
        (HOSTS.to_owned(), "GET, HEAD"),
        ("/api/v1/auth/daemon".to_owned(), "POST"),
        (format!("/api/v1/ports/{PORT}"), "PUT"),
        (format!("/api/v1/auth/keys/{}", scene.key_id), "PUT, DELETE"),
        (format!("/api/v1/shares/public/{}", scene.share_id), "GET, HEAD"),
        ("/api/v1/organizations/referral-source".to_owned(), "POST"),
    ]
}

const METHODS: [&str; 12] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "post", "Put",
];

async fn unknown_methods(scene: &Scene) -> Produced {
    let mut produced = Produced::new();
    for (path, allow) in paths(scene) {
        let refused = METHODS.into_iter().filter(|method| allow.split(", ").all(|known| known != *method));
        for method in refused {
            for request in [bare(method, &path), scene.by_key(send_json(method, &path, &json!({"a": 1})))] {
                let reply = scene.server().send(request).await;
                assert_eq!((reply.status.as_u16(), reply.header("allow")), (405, allow), "{method} {path}");
                if method != "HEAD" {
                    assert_eq!(reply.refuses(405, "method_not_allowed"), &json!({}));
                    produced.extend(produced_by(&reply));
                }
            }
        }
    }
    produced
}

/// A valid request to each endpoint that takes a body.
fn with_bodies(scene: &Scene) -> [Request<String>; 5] {
    [
        log_in(&scene.member.email, crate::common::PASSWORD),
        scene.create_daemon_key(&daemon_body()),
        scene.by_key(put_port(PORT, &port_body())),
        scene.by_session(put_key(scene.key_id, &scene.key_body())),
        scene.submit_referral(&json!({"referral_source": "reddit"})),
    ]
}

fn of_type(mut request: Request<String>, types: &[&str]) -> Request<String> {
    request.headers_mut().remove("content-type");
    for media_type in types {
        let value = HeaderValue::from_bytes(media_type.as_bytes()).unwrap();
        request.headers_mut().append("content-type", value);
    }
    request
}

fn media_types(scene: &Scene) -> Vec<Row> {
    let refused: [&[&str]; 19] = [
        &[],
        &[""],
        &["text/plain"],
        &["text/json"],
        &["application/jsonp"],
        &["application/x-json"],
        &["application/json-patch"],
        &["application/javascript"],
        &["application/x-www-form-urlencoded"],
        &["multipart/form-data; boundary=x"],
        &["application/octet-stream"],
        &["json"],
        &["application"],
        &["application/"],
        &["application/+json"],
        &["+json"],
        &["text/plain; application/json"],
        &["application/json, application/json"],
        &["application/json", "application/json"],
    ];
    let accepted = [
        "application/json",
        "APPLICATION/JSON",
        "application/json;charset=utf-8",
        "application/json; charset=UTF-8",
        " application/json ; q=1",
        "application/merge-patch+json",
        "application/vnd.example.v1+json; x=y",
    ];
    let mut rows = Vec::new();
    for request in with_bodies(scene) {
        for types in refused {
            let request = of_type(request.clone(), types);
            rows.push(Row::refused(
                format!("{types:?}"),
                request,
                415,
                "request_unsupported_media_type",
                json!({}),
            ));
        }
        rows.extend(accepted.map(|accepted| Row::succeeds(accepted, of_type(request.clone(), &[accepted]))));
    }
    rows
}

/// Pads the body to this length in bytes with trailing spaces.
fn padded(request: Request<String>, length: usize) -> Request<String> {
    request.map(|body| body.clone() + &" ".repeat(length - body.len()))
}

async fn sizes(scene: &Scene) -> Produced {
    let mut produced = Produced::new();
    let small = Server::built(Api::builder(scene.world.inventory.clone()).body_limit(300), ample());
    for (server, limit) in [(scene.server(), 1024 * 1024), (&small, 300)] {
        let mut rows = Vec::new();
        for request in with_bodies(scene) {
            let too_large = padded(request.clone(), limit + 1);
            rows.push(Row::refused("size", too_large, 413, "request_too_large", json!({"limit": limit})));
            rows.push(Row::succeeds("size", padded(request, limit)));
        }
        produced.extend(check(server, rows).await);
    }
    produced
}

async fn counts(scene: &Scene) -> Produced {
    let limit = RateLimit::new(NonZeroU32::new(4).unwrap(), NonZeroU32::MIN);
    let server = Server::new(scene.world.inventory.clone(), limit);
    assert_eq!(server.send(scene.by_key(bare("GET", HOSTS))).await.status, 200);
    let exceeded = json!({"retry_after": 15});
    let row = |request| Row::refused("limit", request, 429, "rate_limit_exceeded", exceeded.clone());
    let mut produced = check(&server, [row(scene.by_key(bare("GET", HOSTS)))]).await;
    let wrong = || log_in("nobody@example.net", "wrong");
    for _ in 0..5 {
        let reply = scene.server().send(wrong()).await;
        assert_eq!(reply.refuses(401, "auth_invalid_credentials"), &json!({}));
    }
    let params = json!({"retry_after": 900});
    let row = Row::refused("the sixth", wrong(), 429, "auth_too_many_attempts", params);
    produced.extend(check(scene.server(), [row]).await);
    produced
}

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let mut produced = check(scene.server(), unknown_paths()).await;
    produced.extend(unknown_methods(&scene).await);
    produced.extend(check(scene.server(), media_types(&scene)).await);
    produced.extend(sizes(&scene).await);
    produced.extend(counts(&scene).await);
    produced
}

#[tokio::test]
async fn a_request_that_no_endpoint_could_take_is_refused() {
    rows().await;
}

/// A body with endless frames, which counts the frames taken from it.
struct Endless {
    taken: Arc<AtomicUsize>,
    hint: SizeHint,
}

const FRAME: usize = 1000;

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.taken.fetch_add(FRAME, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; FRAME])))))
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}

/// Returns how much of an endless body the server reads.
async fn taken(server: &Server, request: Request<String>, hint: SizeHint, status: u16, code: &str) -> usize {
    let taken = Arc::new(AtomicUsize::new(0));
    let request = request.map(|_| Endless { taken: Arc::clone(&taken), hint });
    server.send(request).await.refuses(status, code);
    taken.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_body_is_not_read_beyond_the_limit() {
    let scene = Scene::new().await;
    let server = Server::built(Api::builder(scene.world.inventory.clone()).body_limit(10_500), ample());
    for request in with_bodies(&scene) {
        let read = taken(&server, request, SizeHint::new(), 413, "request_too_large").await;
        assert!((10_501..=10_500 + 2 * FRAME).contains(&read), "{read}");
    }
}

#[tokio::test]
async fn a_body_that_is_known_to_be_too_large_is_not_read_at_all() {
    let scene = Scene::new().await;
    let server = Server::built(Api::builder(scene.world.inventory.clone()).body_limit(10_500), ample());
    let mut at_least = SizeHint::new();
    at_least.set_lower(10_501);
    for request in with_bodies(&scene) {
        for hint in [SizeHint::with_exact(10_501), SizeHint::with_exact(u64::MAX), at_least] {
            assert_eq!(taken(&server, request.clone(), hint, 413, "request_too_large").await, 0);
        }
    }
}

/// The body is read only after all other checks of the request have passed.
#[tokio::test]
async fn a_body_is_not_read_before_everything_else_is_in_order() {
    let scene = Scene::new().await;
    let [login, daemon, ..] = with_bodies(&scene);
    let anonymous = send_json("POST", "/api/v1/auth/daemon", &daemon_body());
    let mut with_query = daemon.clone();
    *with_query.uri_mut() = "/api/v1/auth/daemon?x=1".parse().unwrap();
    for (request, status, code) in [
        (anonymous, 401, "auth_not_authenticated"),
        (with_query, 400, "validation_unknown_parameter"),
        (of_type(login, &["text/plain"]), 415, "request_unsupported_media_type"),
        (scene.by_key(put_port("x", &port_body())), 400, "validation_invalid_format"),
        (scene.by_key(put_key(scene.key_id, &json!({}))), 403, "auth_user_context_required"),
        (bare("POST", "/nothing"), 404, "route_not_found"),
        (bare("POST", HOSTS), 405, "method_not_allowed"),
    ] {
        assert_eq!(taken(scene.server(), request, SizeHint::new(), status, code).await, 0, "{code}");
    }
}

#[tokio::test]
async fn the_body_of_a_delete_of_a_logout_and_of_a_get_is_never_read() {
    let scene = Scene::new().await;
    let taken = Arc::new(AtomicUsize::new(0));
    for (method, path) in [
        ("DELETE", format!("/api/v1/auth/keys/{}", scene.key_id)),
        ("GET", format!("/api/v1/shares/public/{}", scene.share_id)),
        ("GET", "/api/version".to_owned()),
        ("GET", HOSTS.to_owned()),
        ("POST", LOG_OUT.to_owned()),
    ] {
        let body = Endless { taken: Arc::clone(&taken), hint: SizeHint::with_exact(u64::MAX) };
        let request = scene.by_session(bare(method, &path)).map(|_| body);
        assert_eq!(scene.server().send(request).await.status, 200, "{method} {path}");
    }
    assert_eq!(taken.load(Ordering::SeqCst), 0);
}
