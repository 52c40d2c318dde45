//! Requests that are refused independently of their subject, and the list of all errors.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use toposcope::access::Caller;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Method, Request};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Limited;
use serde_json::{Value, json};
use toposcope::inventory::{
    ApplicationCode, ApplicationError, NewShare, NewUser, Policy, ProposedChange, Quotas,
};
use toposcope::model::Permission;
use toposcope::service::{ApiBuilder, RateLimit};
use toposcope::wire::ErrorCode;

use crate::backend::{run, run_with};
#[cfg(feature = "discovery")]
use crate::common::NOBODY;
use crate::common::{
    CODES, Fixture, HOST, HOSTS, Hook, LOG_IN, LOG_OUT, OFFICE, PASSWORD, PORT, Populated, Produced, Row,
    Server, VERSION, ample, bare, check, daemon_body, log_in, port_body, produced_by, put_key, put_port,
    send_json, until, until_commits, with_header, with_key,
};

/// Paths that do not exist; `{id}` stands for an id.
const UNKNOWN_PATHS: &str = "
    / /api/v1/ports/ /api/v1/ports/{id}/ /api/v1/ports/{id}/x /api/v1/Ports/{id}
    /api/v1/auth /api/v1/auth/daemon/ /api/v1/auth/keys/
    /api/v1/auth/keys/{id}/ /api/v1/shares/public/
    /api/v1/shares/public/{id}/x /api/v1/organizations/referral-source/
    /api/auth/login/ /api/auth/Login /api/v1/auth/login /api/auth
    /api/auth/logout/ /api /api/ /api/v1 /api/v1/ /api/v1/host /api/v1/hosts/ /api/v1/hosts//
    /api/v1//hosts /api//v1/hosts //api/v1/hosts
    /API/v1/hosts /api/V1/hosts /api/v1/Hosts /api/v1%2Fhosts /api/v1/hosts%20
    /api/v1/hosts%00 /api/v1/hosts;limit=1 /api/v1/./hosts /api/v1/x/../hosts /api/v2/hosts
    /v1/hosts /api/v1/version /api/version/ /api/Version /api/versions /favicon.ico
";

fn unknown_paths(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    for path in UNKNOWN_PATHS.split_whitespace() {
        let path = path.replace("{id}", &PORT.to_string());
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
            for request in [bare(method, &path), fixture.by_key(bare(method, &path))] {
                rows.push(Row::refused(&path, request, "route_not_found"));
            }
        }
    }
    rows
}

/// Every path with the methods that it supports.
fn paths(fixture: &Populated) -> [(String, &'static str); 9] {
    [
        ("/api/version".to_owned(), "GET, HEAD"),
        (LOG_IN.to_owned(), "POST"),
        (LOG_OUT.to_owned(), "POST"),
        (HOSTS.to_owned(), "GET, HEAD, POST"),
        ("/api/v1/auth/daemon".to_owned(), "GET, HEAD, POST"),
        (format!("/api/v1/ports/{PORT}"), "GET, HEAD, PUT, PATCH, DELETE"),
        (format!("/api/v1/auth/keys/{}", fixture.member_key_id), "GET, HEAD, PUT, PATCH, DELETE"),
        (format!("/api/v1/shares/public/{}", fixture.share_id), "GET, HEAD"),
        ("/api/v1/organizations/referral-source".to_owned(), "POST"),
    ]
}

const METHODS: [&str; 12] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "post", "Put",
];

async fn unknown_methods(fixture: &Populated) -> Produced {
    let mut produced = Produced::new();
    for (path, allow) in paths(fixture) {
        let refused = METHODS.into_iter().filter(|method| allow.split(", ").all(|known| known != *method));
        for method in refused {
            for request in [bare(method, &path), fixture.by_key(send_json(method, &path, &json!({"a": 1})))] {
                let reply = fixture.send(request).await;
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
fn with_bodies(fixture: &Populated) -> [Request<String>; 5] {
    [
        log_in(&fixture.member.email, PASSWORD),
        fixture.create_daemon_key(&daemon_body()),
        fixture.by_key(put_port(PORT, &port_body())),
        fixture.by_session(put_key(fixture.member_key_id, &fixture.key_body())),
        fixture.refer(),
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

#[test]
fn compressed_body_is_refused_and_changes_nothing() {
    run_with(Populated::new, async |fixture| {
        let before = fixture.stored().await;
        let mut rows = Vec::new();
        for request in with_bodies(&fixture) {
            for coding in ["gzip", "GZIP", "br", "deflate", "identity, gzip", "gzip, identity", "x"] {
                let request = with_header(request.clone(), "content-encoding", coding);
                rows.push(Row::refused(coding, request, "request_unsupported_media_type"));
            }
        }
        fixture.check(rows).await;
        assert_eq!(fixture.stored().await, before);
        let [_, daemon, ..] = with_bodies(&fixture);
        let mut twice = with_header(daemon.clone(), "content-encoding", "identity");
        twice.headers_mut().append("content-encoding", HeaderValue::from_static("gzip"));
        let row = Row::refused("two headers", twice, "request_unsupported_media_type");
        let plain = ["identity", "Identity", "", "identity, identity"];
        let plain = plain
            .map(|coding| Row::succeeds(coding, with_header(daemon.clone(), "content-encoding", coding)));
        fixture.check(std::iter::once(row).chain(plain)).await;
    });
}

#[test]
fn body_cut_by_a_layer_of_the_host_application_is_too_large() {
    run_with(Populated::new, async |fixture| {
        let before = fixture.stored().await;
        for request in with_bodies(&fixture) {
            let reply = fixture.send(request.map(|body| Limited::new(body, 5))).await;
            assert_eq!(reply.refuses(413, "request_too_large"), &json!({"limit": null}));
        }
        let import =
            with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
        let import = fixture.by_key(import).map(|_| Limited::new("{}\n{}\n".to_owned(), 5));
        let reply = fixture.send(import).await;
        let params = reply.refuses(413, "request_too_large");
        assert_eq!((&params["limit"], &params["report"]["imported"]), (&json!(null), &json!(0)));
        assert_eq!(fixture.stored().await, before);
    });
}

fn media_types(fixture: &Populated) -> Vec<Row> {
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
    for request in with_bodies(fixture) {
        for types in refused {
            let request = of_type(request.clone(), types);
            rows.push(Row::refused(format!("{types:?}"), request, "request_unsupported_media_type"));
        }
        rows.extend(accepted.map(|accepted| Row::succeeds(accepted, of_type(request.clone(), &[accepted]))));
    }
    rows
}

/// Pads the body to this length in bytes with trailing spaces.
fn padded(request: Request<String>, length: usize) -> Request<String> {
    request.map(|body| body.clone() + &" ".repeat(length - body.len()))
}

async fn sizes(fixture: &Populated) -> Produced {
    let mut produced = Produced::new();
    let small = fixture.configured(|builder| builder.body_limit(300));
    for (server, limit) in [(&fixture.server, 1024 * 1024), (&small, 300)] {
        let mut rows = Vec::new();
        for (number, request) in with_bodies(fixture).into_iter().enumerate() {
            // Anybody may send the first one, a login.
            let limit = if number == 0 { limit.min(16 * 1024) } else { limit };
            let too_large = padded(request.clone(), limit + 1);
            rows.push(Row::refused_with("size", too_large, "request_too_large", json!({"limit": limit})));
            rows.push(Row::succeeds("size", padded(request, limit)));
        }
        produced.extend(check(server, rows).await);
    }
    if cfg!(feature = "topology") {
        produced.extend(drawings(fixture).await);
    }
    produced
}

/// Graphs and files that are larger than the maximum.
async fn drawings(fixture: &Populated) -> Produced {
    let small = fixture.drawing_limited(100);
    let mut rows = Vec::new();
    for part in ["graph", "export?format=dot", "export?format=json"] {
        let separator = if part.contains('?') { '&' } else { '?' };
        let path = format!("/api/v1/topology/{part}{separator}network_id={OFFICE}");
        let request = fixture.by_key(bare("GET", &path));
        rows.push(Row::refused_with(part, request, "answer_too_large", json!({"limit": 100})));
    }
    check(&small, rows).await
}

async fn counts(fixture: &Populated) -> Produced {
    let limit = RateLimit::new(NonZeroU32::new(4).unwrap(), NonZeroU32::MIN);
    let server = Server::new(fixture.inventory.clone(), limit);
    assert_eq!(server.send(fixture.by_key(bare("GET", HOSTS))).await.status, 200);
    let exceeded = json!({"retry_after": 15});
    let row = |request| Row::refused_with("limit", request, "rate_limit_exceeded", exceeded.clone());
    let mut produced = check(&server, [row(fixture.by_key(bare("GET", HOSTS)))]).await;
    let wrong = || log_in("nobody@example.net", "wrong");
    let server = fixture.server.clone().alone();
    for _ in 0..5 {
        let reply = server.send(wrong()).await;
        assert_eq!(reply.refuses(401, "auth_invalid_credentials"), &json!({}));
    }
    let params = json!({"retry_after": 900});
    let row = Row::refused_with("the sixth", wrong(), "auth_too_many_attempts", params);
    produced.extend(check(&server, [row]).await);
    produced
}

pub(super) async fn rows() -> Produced {
    let fixture = Populated::new().await;
    let mut produced = fixture.check(unknown_paths(&fixture)).await;
    produced.extend(unknown_methods(&fixture).await);
    produced.extend(fixture.check(media_types(&fixture)).await);
    produced.extend(sizes(&fixture).await);
    produced.extend(counts(&fixture).await);
    produced.extend(slow_body(&fixture).await);
    produced.extend(quotas().await);
    #[cfg(feature = "discovery")]
    produced.extend(unknown_daemon(&fixture).await);
    produced
}

/// A body that never arrives.
struct Never;

impl Body for Never {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

async fn slow_body(fixture: &Populated) -> Produced {
    let server = fixture.configured(|builder| builder.stall_timeout(Duration::from_millis(1)));
    let mut produced = Produced::new();
    for request in with_bodies(fixture) {
        let reply = server.send(request.map(|_| Never)).await;
        assert_eq!(reply.refuses(408, "request_timeout"), &json!({}));
        produced.extend(produced_by(&reply));
    }
    produced
}

/// A daemon of a version that looks for this code asks for work without being registered.
#[cfg(feature = "discovery")]
async fn unknown_daemon(fixture: &Populated) -> Produced {
    let path = format!("/api/daemons/{NOBODY}/request-work");
    let request = send_json("POST", &path, &json!({"version": "0.17.22"}));
    let reply = fixture.send(with_key(request, &fixture.daemon_key)).await;
    let params = json!({"entity": "Daemon", "id": NOBODY});
    assert_eq!(reply.refuses(404, "daemon_not_registered"), &params);
    produced_by(&reply)
}

/// The most bytes of a body that are dropped.
const MAX_DROPPED: usize = 4 * 1024 * 1024;

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

#[test]
fn body_is_dropped_beyond_the_limit_and_not_read_without_end() {
    run_with(Populated::new, async |fixture| {
        let server = fixture.configured(|builder| builder.body_limit(10_500));
        for request in with_bodies(&fixture) {
            let read = taken(&server, request, SizeHint::new(), 413, "request_too_large").await;
            assert!((10_501..=10_500 + MAX_DROPPED + 2 * FRAME).contains(&read), "{read}");
        }
    });
}

#[test]
fn body_announced_as_far_too_large_is_not_read() {
    run_with(Populated::new, async |fixture| {
        let server = fixture.configured(|builder| builder.body_limit(10_500));
        let mut at_least = SizeHint::new();
        at_least.set_lower(10_501);
        for request in with_bodies(&fixture) {
            let far_too_large = SizeHint::with_exact(u64::MAX);
            assert_eq!(taken(&server, request.clone(), far_too_large, 413, "request_too_large").await, 0);
            for hint in [SizeHint::with_exact(10_501), at_least] {
                let read = taken(&server, request.clone(), hint, 413, "request_too_large").await;
                assert!(read <= MAX_DROPPED + 2 * FRAME, "{read}");
            }
        }
    });
}

/// The body is read only after all other checks of the request have passed.
#[test]
fn body_is_read_only_after_all_other_checks() {
    run_with(Populated::new, async |fixture| {
        let [login, daemon, ..] = with_bodies(&fixture);
        let anonymous = send_json("POST", "/api/v1/auth/daemon", &daemon_body());
        let mut with_query = daemon.clone();
        *with_query.uri_mut() = "/api/v1/auth/daemon?x=1".parse().unwrap();
        for (request, status, code) in [
            (anonymous, 401, "auth_not_authenticated"),
            (with_query, 400, "validation_unknown_parameter"),
            (of_type(login, &["text/plain"]), 415, "request_unsupported_media_type"),
            (fixture.by_key(put_port("x", &port_body())), 400, "validation_invalid_format"),
            (fixture.by_key(put_key(fixture.member_key_id, &json!({}))), 403, "auth_user_context_required"),
            (bare("POST", "/nothing"), 404, "route_not_found"),
            (bare("PATCH", HOSTS), 405, "method_not_allowed"),
        ] {
            // Others are dropped so that the client sees the response.
            let far_too_large = SizeHint::with_exact(u64::MAX);
            assert_eq!(taken(&fixture.server, request, far_too_large, status, code).await, 0, "{code}");
        }
    });
}

#[test]
fn body_of_a_request_that_takes_none_is_never_read() {
    run_with(Populated::new, async |fixture| {
        let taken = Arc::new(AtomicUsize::new(0));
        for (method, path) in [
            ("DELETE", format!("/api/v1/auth/keys/{}", fixture.member_key_id)),
            ("GET", format!("/api/v1/shares/public/{}", fixture.share_id)),
            ("GET", "/api/version".to_owned()),
            ("GET", HOSTS.to_owned()),
            ("POST", LOG_OUT.to_owned()),
        ] {
            let body = Endless { taken: Arc::clone(&taken), hint: SizeHint::with_exact(u64::MAX) };
            let request = with_header(bare(method, &path), "content-type", "text/plain");
            let request = fixture.by_session(request).map(|_| body);
            assert_eq!(fixture.send(request).await.status, 200, "{method} {path}");
        }
        assert_eq!(taken.load(Ordering::SeqCst), 0);
    });
}

async fn quotas() -> Produced {
    let fixture = Populated::new().await;
    let before = fixture.stored().await;
    let mut quotas = Quotas::default();
    quotas.daemon_api_keys_per_network = Some(0);
    quotas.sessions_per_user = Some(0);
    let inventory = fixture.inventory.clone().with_quotas(quotas);
    let refused = |name, request, entity| {
        Row::refused_with(name, request, "quota_exceeded", json!({"entity": entity, "limit": 0}))
    };
    let rows = [
        refused("daemon key", fixture.create_daemon_key(&daemon_body()), "Daemon API Key"),
        refused("login", log_in(&fixture.member.email, PASSWORD), "Session"),
    ];
    let mut produced = check(&Server::new(inventory, ample()), rows).await;
    // Operations that do not count against a quota still succeed.
    let update = Row::succeeds("port", fixture.put_port(PORT, &port_body()));
    assert_eq!(fixture.stored().await, before, "nothing of what is refused is stored");
    let inventory = fixture.inventory.clone().with_quotas(quotas);
    produced.extend(check(&Server::new(inventory, ample()), [update]).await);
    produced
}

#[test]
fn targets_without_a_path_are_404() {
    run_with(Fixture::new, async |fixture| {
        for (method, target) in [
            (Method::OPTIONS, "*"),
            (Method::GET, "*"),
            (Method::CONNECT, "example.net:443"),
            (Method::GET, "http://example.net"),
            (Method::GET, "http://example.net/"),
        ] {
            let request = Request::builder().method(method).uri(target).body(String::new()).unwrap();
            fixture.send(request).await.refuses(404, "route_not_found");
        }
    });
}

#[test]
fn target_with_scheme_and_host_is_routed_by_its_path() {
    run_with(Fixture::with_one_host, async |fixture| {
        let reply = fixture.server.get_with(&fixture.key, "https://example.net/api/v1/hosts?limit=1").await;
        assert_eq!(reply.ids(), [1]);
        assert_eq!(fixture.server.get("http://user@[::1]:8080/api/version").await.status, 200);
    });
}

#[test]
fn version_needs_no_credential() {
    run_with(Fixture::new, async |fixture| {
        let expected = json!({"api_version": 1, "server_version": VERSION});
        assert_eq!(fixture.server.get("/api/version").await.json["data"], expected);
        let with_key_of_nobody = fixture.server.get_with("nonsense", "/api/version").await;
        assert_eq!(with_key_of_nobody.json["data"], expected);
        assert_eq!(fixture.server.get_with(&fixture.key, "/api/version?").await.json["data"], expected);
    });
}

/// A record that has changed since it was read, and a share with another password.
async fn changed_and_protected() -> Produced {
    let fixture = Populated::new().await;
    let stale = with_header(fixture.put_own_key(&fixture.key_body()), "if-match", "\"another\"");
    let mut new = NewShare::new("a share");
    (new.network_id, new.password) = (Some(OFFICE), Some("correct horse".to_owned()));
    let share = fixture
        .inventory
        .shares()
        .create(&Caller::system(fixture.member.organization_id), new)
        .await
        .unwrap();
    let path = format!("/api/v1/shares/public/{}/verify", share.id);
    let guess = send_json("POST", &path, &json!({"password": "wrong horse"}));
    let mut produced = Produced::new();
    let opened = bare("POST", &format!("/api/v1/shares/public/{}/topology", share.id));
    let requests = [stale, guess].into_iter().chain(cfg!(feature = "topology").then_some(opened));
    for request in requests {
        produced.extend(produced_by(&fixture.send(request).await));
    }
    let import = with_header(bare("POST", "/api/v1/hosts/import"), "content-type", "application/x-ndjson");
    let import = fixture.by_key(import);
    produced.extend(produced_by(&fixture.send(import.clone().map(|_| "{}".to_owned())).await));
    produced.extend(produced_by(&fixture.send(import.map(|_| Broken)).await));
    produced
}

/// Requests whose idempotency key belongs to another one, or to one that is running.
async fn repeated() -> Produced {
    let fixture = Fixture::new().await;
    let hook = Hook::new();
    let server = Server::new(fixture.inventory_with(&hook), ample());
    let request = |name: &str| {
        let host = send_json("POST", HOSTS, &json!({"network_id": OFFICE, "name": name}));
        with_key(with_header(host, "idempotency-key", "key"), &fixture.key)
    };
    let gate = hook.writable.acquire().await.unwrap();
    let mut first = pin!(server.send(request("one")));
    until_commits(first.as_mut(), &hook, 1).await;
    let again = until(first.as_mut(), server.send(request("one"))).await;
    drop(gate);
    let first = first.await;
    let reused = server.send(request("other")).await;
    [first, again, reused].iter().flat_map(produced_by).collect()
}

/// A policy whose refusals have the code that stands for all of them.
struct Refusing;

#[async_trait]
impl Policy for Refusing {
    async fn check(&self, _change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        Err(ApplicationError::new(ApplicationCode::new("policy.refused", 422), "The rules forbid this."))
    }
}

async fn refused_by_policy() -> Produced {
    let fixture = Fixture::new().await;
    let server = Server::new(fixture.inventory.clone().with_policy(Refusing), ample());
    let request = send_json("POST", HOSTS, &json!({"network_id": OFFICE, "name": "a"}));
    let refused = server.send(with_key(request, &fixture.key)).await;
    [refused].iter().flat_map(produced_by).collect()
}

/// A login with an e-mail address and a password that users of two organizations have.
async fn ambiguous_login() -> Produced {
    let fixture = Fixture::new().await;
    let server = fixture.configured(ApiBuilder::shared_emails);
    for site in [&fixture.home, &fixture.abroad] {
        let mut new = NewUser::new("ann@example.net", Permission::Owner);
        new.password = Some(PASSWORD.to_owned());
        server.api.inventory().users().create(&site.system(), new).await.unwrap();
    }
    let refused = server.send(log_in("ann@example.net", PASSWORD)).await;
    [refused].iter().flat_map(produced_by).collect()
}

/// The body of an upload whose connection breaks.
struct Broken;

impl Body for Broken {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        Poll::Ready(Some(Err("the connection is lost")))
    }
}

async fn before_the_history() -> Produced {
    let fixture = Populated::new().await;
    let target = format!("{HOSTS}/{HOST}?at=1970-01-01T00:00:00Z");
    produced_by(&fixture.server.get_with(&fixture.key, &target).await)
}

/// Two hosts are located by the name that both have.
async fn ambiguous_name() -> Produced {
    if !cfg!(feature = "topology") {
        return Produced::new();
    }
    let fixture = Populated::new().await;
    fixture.put([0xA1, 0xA2].map(|id| crate::common::host(id, OFFICE))).await;
    let target = format!("/api/v1/topology/locate?network_id={OFFICE}&name=host");
    produced_by(&fixture.server.get_with(&fixture.key, &target).await)
}

/// More addresses are reserved than a subnet has.
async fn exhausted_subnet() -> Produced {
    if !cfg!(feature = "topology") {
        return Produced::new();
    }
    let fixture = Populated::new().await;
    let subnet = json!({"network_id": OFFICE, "name": "small", "cidr": "198.18.0.0/30"});
    let subnet =
        fixture.server.send(with_key(send_json("POST", "/api/v1/subnets", &subnet), &fixture.key)).await;
    let target = format!("/api/v1/subnets/{}/addresses/reserve", subnet.data()["id"].as_str().unwrap());
    let reservation = send_json("POST", &target, &json!({"count": 3, "name": "rack"}));
    produced_by(&fixture.server.send(with_key(reservation, &fixture.key)).await)
}

/// A stream is opened while the server shuts down.
async fn during_the_shutdown() -> Produced {
    let fixture = Fixture::new().await;
    let server = fixture.configured(|builder| builder.shutdown(std::future::ready(())));
    server.api.stopping().await;
    produced_by(&server.get_with(&fixture.key, "/api/v1/changes/stream").await)
}

#[test]
fn rows_produce_every_error_of_the_contract_and_no_other() {
    run(async || {
        let mut produced = crate::access::rows().await;
        produced.extend(super::faults::rows().await);
        produced.extend(super::fields::rows().await);
        produced.extend(super::json::rows().await);
        produced.extend(super::records::rows().await);
        produced.extend(rows().await);
        produced.extend(changed_and_protected().await);
        produced.extend(repeated().await);
        produced.extend(refused_by_policy().await);
        produced.extend(ambiguous_login().await);
        produced.extend(before_the_history().await);
        produced.extend(ambiguous_name().await);
        produced.extend(exhausted_subnet().await);
        produced.extend(during_the_shutdown().await);
        let keys = |params: &[&str]| params.iter().map(|key| (*key).to_owned()).collect();
        let expected: Produced =
            CODES.iter().map(|(status, code, params)| (*status, (*code).to_owned(), keys(params))).collect();
        assert_eq!(produced, expected);
    });
}

#[test]
fn error_codes_have_the_names_and_statuses_of_the_contract() {
    for (status, name, _) in CODES {
        let code: ErrorCode = serde_json::from_value(Value::from(name)).unwrap();
        assert_eq!((code.as_str(), code.status().as_u16()), (name, status));
        assert_eq!(serde_json::to_value(code).unwrap(), name);
    }
}
