//! A session may be used from its own site only, except for reads.

use http::{HeaderValue, Request};
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::Permission;
use toposcope::service::Api;

use crate::common::{Server, ample, bare, send_json, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{
    DAEMON_KEYS, HOSTS, LOG_OUT, PORT, REFERRAL, Scene, daemon_body, port_body, put_key, put_port,
};

type Headers = &'static [(&'static str, &'static str)];

fn with_headers(mut request: Request<String>, headers: Headers) -> Request<String> {
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    request
}

/// Requests with a session that change something.
fn change(scene: &Scene) -> Request<String> {
    scene.submit_referral(&json!({"referral_source": "reddit"}))
}

const ALLOWED: [Headers; 21] = [
    &[],
    &[("host", "api.example.net")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net")],
    &[("host", "api.example.net"), ("origin", "http://api.example.net")],
    &[("host", "API.Example.NET"), ("origin", "https://api.example.net")],
    &[("host", "api.example.net"), ("origin", "https://API.EXAMPLE.NET")],
    &[("host", "api.example.net:443"), ("origin", "https://api.example.net")],
    &[("host", "api.example.net"), ("origin", "http://api.example.net:80")],
    &[("host", "api.example.net:8443"), ("origin", "https://api.example.net:8443")],
    &[("host", "[::1]:8080"), ("origin", "http://[::1]:8080")],
    &[("host", "api.example.net"), ("origin", "https://app.example.net")],
    &[("host", "api.example.net"), ("origin", "HTTPS://APP.example.net")],
    &[("origin", "https://app.example.net")],
    &[("sec-fetch-site", "same-origin")],
    &[("sec-fetch-site", "same-site")],
    &[("sec-fetch-site", "none")],
    &[("sec-fetch-site", "")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net"), ("sec-fetch-site", "same-origin")],
    &[("host", "api.example.net"), ("referer", "https://evil.example/")],
    &[("host", "api.example.net"), ("sec-fetch-mode", "no-cors")],
    &[("host", "api.example.net"), ("origin", "https://app.example.net"), ("sec-fetch-site", "same-site")],
];

const REFUSED: [Headers; 24] = [
    &[("origin", "https://api.example.net")],
    &[("host", "api.example.net"), ("origin", "https://evil.example")],
    &[("host", "api.example.net"), ("origin", "null")],
    &[("host", "api.example.net"), ("origin", "")],
    &[("host", "api.example.net"), ("origin", "api.example.net")],
    &[("host", "api.example.net"), ("origin", "//api.example.net")],
    &[("host", "api.example.net"), ("origin", "file://api.example.net")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net.evil.example")],
    &[("host", "api.example.net"), ("origin", "https://evil.example/api.example.net")],
    &[("host", "api.example.net"), ("origin", "https://evilapi.example.net")],
    &[("host", "api.example.net"), ("origin", "https://user@api.example.net")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net/")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net:8443")],
    &[("host", "api.example.net:8443"), ("origin", "https://api.example.net")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net https://evil.example")],
    &[("host", "api.example.net"), ("origin", "https://example.net")],
    &[("host", "api.example.net"), ("origin", "http://app.example.net")],
    &[("host", "api.example.net"), ("origin", "https://app.example.net:8443")],
    &[("host", "api.example.net"), ("origin", "https://äpi.example.net")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net"), ("origin", "https://evil.example")],
    &[("sec-fetch-site", "cross-site")],
    &[("sec-fetch-site", "Cross-Site")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net"), ("sec-fetch-site", "cross-site")],
    &[("host", "api.example.net"), ("origin", "https://app.example.net"), ("sec-fetch-site", "cross-site")],
];

/// A server that also lets pages of `https://app.example.net` use sessions.
fn server(scene: &Scene) -> Server {
    let builder = Api::builder(scene.world.inventory.clone()).allowed_origins(["https://app.example.net"]);
    Server::built(builder, ample())
}

#[tokio::test]
async fn the_origin_is_the_own_host_or_an_allowed_one() {
    let scene = Scene::new().await;
    let allowed = ALLOWED
        .map(|headers| Row::gives(format!("{headers:?}"), with_headers(change(&scene), headers), json!({})));
    let refused = REFUSED.map(|headers| {
        let request = with_headers(change(&scene), headers);
        Row::refused(format!("{headers:?}"), request, 403, "auth_cross_site_request", json!({}))
    });
    check(&server(&scene), allowed.into_iter().chain(refused)).await;
    // Formatted as a URL, the origin ends with a slash, which browsers do not send.
    let builder = Api::builder(scene.world.inventory.clone()).allowed_origins(["https://app.example.net/"]);
    let headers: Headers = &[("origin", "https://app.example.net")];
    let row = Row::succeeds("with a slash", with_headers(change(&scene), headers));
    check(&Server::built(builder, ample()), [row]).await;
    // Without allowed origins, only the server's own host is accepted.
    let headers: Headers = &[("host", "api.example.net"), ("origin", "https://app.example.net")];
    let request = with_headers(change(&scene), headers);
    let row = Row::refused("not allowed", request, 403, "auth_cross_site_request", json!({}));
    check(scene.server(), [row]).await;
}

/// In HTTP/2 the host is in the target.
#[tokio::test]
async fn the_own_host_may_stand_in_the_target() {
    let scene = Scene::new().await;
    let send = async |target: &str, headers: Headers| {
        let mut request = with_headers(change(&scene), headers);
        *request.uri_mut() = format!("{target}{REFERRAL}").parse().unwrap();
        scene.server().send(request).await.status.as_u16()
    };
    let own: Headers = &[("origin", "https://api.example.net")];
    assert_eq!(send("https://api.example.net", own).await, 200);
    assert_eq!(send("https://api.example.net:443", own).await, 200);
    assert_eq!(send("https://other.example.net", own).await, 403);
}

const FOREIGN: [Headers; 2] = [&[("origin", "https://evil.example")], &[("sec-fetch-site", "cross-site")]];

#[tokio::test]
async fn every_request_by_a_session_is_looked_at_but_reading() {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for headers in FOREIGN {
        for request in [
            send_json("POST", DAEMON_KEYS, &daemon_body()),
            put_port(PORT, &port_body()),
            put_key(scene.key_id, &scene.key_body()),
            bare("DELETE", &format!("/api/v1/auth/keys/{}", scene.key_id)),
            send_json("POST", REFERRAL, &json!({"referral_source": "reddit"})),
            bare("POST", LOG_OUT),
        ] {
            let request = with_headers(scene.by_session(request), headers);
            let name = format!("{} {}", request.method(), request.uri());
            rows.push(Row::refused(name, request, 403, "auth_cross_site_request", json!({})));
        }
        rows.push(Row::succeeds("GET", with_headers(scene.by_session(bare("GET", HOSTS)), headers)));
    }
    check(scene.server(), rows).await;
    let head = with_headers(scene.by_session(bare("HEAD", HOSTS)), FOREIGN[0]);
    assert_eq!(scene.server().send(head).await.status, 200);
    assert_eq!(
        scene.server().send(scene.by_session(bare("GET", HOSTS))).await.status,
        200,
        "still signed in"
    );
}

/// A credential that browsers do not send automatically needs no origin check.
#[tokio::test]
async fn no_other_credential_is_looked_at() {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for headers in FOREIGN {
        let by_key = scene.by_session(scene.put_port(PORT, &port_body()));
        rows.push(Row::succeeds("a key, a session beside it", with_headers(by_key, headers)));
        let caller =
            Caller::new(scene.member.organization_id, scene.member.id, Permission::Member, Scope::all());
        let mut vouched_for = with_headers(change(&scene), headers);
        vouched_for.extensions_mut().insert(caller);
        rows.push(Row::succeeds("whom the application vouches for", vouched_for));
        let log_in = crate::contract::scene::log_in(&scene.member.email, crate::common::PASSWORD);
        rows.push(Row::succeeds("a login", with_headers(log_in, headers)));
        let unknown = with_session(bare("POST", LOG_OUT), "unknown");
        rows.push(Row::gives("no session", with_headers(unknown, headers), json!({})));
    }
    check(scene.server(), rows).await;
}
