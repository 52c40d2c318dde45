//! A session may be used from its own site only, except for reads.

use http::{HeaderValue, Request};
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::Permission;
use toposcope::service::Api;

use crate::backend::run_with;
use crate::common::{
    DAEMON_KEYS, HOSTS, LOG_OUT, PORT, Populated, REFERRAL, Row, Server, ample, bare, check, daemon_body,
    port_body, put_key, put_port, send_json, with_caller, with_session,
};

type Headers = &'static [(&'static str, &'static str)];

fn with_headers(mut request: Request<String>, headers: Headers) -> Request<String> {
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    request
}

/// A write with a session.
fn change(fixture: &Populated) -> Request<String> {
    fixture.refer()
}

const ALLOWED: [Headers; 24] = [
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
    // Behind a proxy that changes the host.
    &[("host", "127.0.0.1:8080"), ("origin", "https://net.example"), ("sec-fetch-site", "same-origin")],
    &[("origin", "https://net.example"), ("sec-fetch-site", "same-origin")],
    &[("origin", "null"), ("sec-fetch-site", "same-origin")],
];

const REFUSED: [Headers; 30] = [
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
    &[("origin", "https://net.example"), ("sec-fetch-site", "none")],
    &[("origin", "https://net.example"), ("sec-fetch-site", "same-site")],
    &[("origin", "https://net.example"), ("sec-fetch-site", "Same-Origin")],
    &[("origin", "https://net.example"), ("sec-fetch-site", "same-origin, same-origin")],
    &[
        ("origin", "https://net.example"),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "same-origin"),
    ],
    &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
    &[("sec-fetch-site", "cross-site")],
    &[("sec-fetch-site", "Cross-Site")],
    &[("host", "api.example.net"), ("origin", "https://api.example.net"), ("sec-fetch-site", "cross-site")],
    &[("host", "api.example.net"), ("origin", "https://app.example.net"), ("sec-fetch-site", "cross-site")],
];

/// A server that also lets pages of `https://app.example.net` use sessions.
fn server(fixture: &Populated) -> Server {
    let builder = Api::builder(fixture.inventory.clone()).allowed_origins(["https://app.example.net"]);
    Server::built(builder, ample())
}

#[test]
fn origin_must_be_the_own_host_or_an_allowed_one() {
    run_with(Populated::new, async |fixture| {
        let allowed = ALLOWED.map(|headers| {
            Row::gives(format!("{headers:?}"), with_headers(change(&fixture), headers), json!({}))
        });
        let refused = REFUSED.map(|headers| {
            let request = with_headers(change(&fixture), headers);
            Row::refused(format!("{headers:?}"), request, "auth_cross_site_request")
        });
        check(&server(&fixture), allowed.into_iter().chain(refused)).await;
        // Formatted as a URL, the origin ends with a slash, which browsers do not send.
        let builder = Api::builder(fixture.inventory.clone()).allowed_origins(["https://app.example.net/"]);
        let headers: Headers = &[("origin", "https://app.example.net")];
        let row = Row::succeeds("with a slash", with_headers(change(&fixture), headers));
        check(&Server::built(builder, ample()), [row]).await;
        // Without allowed origins, only the server's own host is accepted.
        let headers: Headers = &[("host", "api.example.net"), ("origin", "https://app.example.net")];
        let request = with_headers(change(&fixture), headers);
        let row = Row::refused("not allowed", request, "auth_cross_site_request");
        fixture.check([row]).await;
    });
}

/// In HTTP/2 the host is in the target.
#[test]
fn own_host_is_read_from_the_target_too() {
    run_with(Populated::new, async |fixture| {
        let send = async |target: &str, headers: Headers| {
            let mut request = with_headers(change(&fixture), headers);
            *request.uri_mut() = format!("{target}{REFERRAL}").parse().unwrap();
            fixture.send(request).await.status.as_u16()
        };
        let own: Headers = &[("origin", "https://api.example.net")];
        assert_eq!(send("https://api.example.net", own).await, 200);
        assert_eq!(send("https://api.example.net:443", own).await, 200);
        assert_eq!(send("https://other.example.net", own).await, 403);
    });
}

const FOREIGN: [Headers; 2] = [&[("origin", "https://evil.example")], &[("sec-fetch-site", "cross-site")]];

#[test]
fn cross_site_request_by_a_session_is_refused_unless_it_only_reads() {
    run_with(Populated::new, async |fixture| {
        let mut rows = Vec::new();
        for headers in FOREIGN {
            for request in [
                send_json("POST", DAEMON_KEYS, &daemon_body()),
                put_port(PORT, &port_body()),
                put_key(fixture.member_key_id, &fixture.key_body()),
                bare("DELETE", &format!("/api/v1/auth/keys/{}", fixture.member_key_id)),
                send_json("POST", REFERRAL, &json!({"referral_source": "reddit"})),
                bare("POST", LOG_OUT),
            ] {
                let request = with_headers(fixture.by_session(request), headers);
                let name = format!("{} {}", request.method(), request.uri());
                rows.push(Row::refused(name, request, "auth_cross_site_request"));
            }
            rows.push(Row::succeeds("GET", with_headers(fixture.by_session(bare("GET", HOSTS)), headers)));
        }
        fixture.check(rows).await;
        let head = with_headers(fixture.by_session(bare("HEAD", HOSTS)), FOREIGN[0]);
        assert_eq!(fixture.send(head).await.status, 200);
        assert_eq!(fixture.send(fixture.by_session(bare("GET", HOSTS))).await.status, 200, "still signed in");
    });
}

/// A credential that browsers do not send automatically needs no origin check.
#[test]
fn cross_site_check_applies_to_cookies_only() {
    run_with(Populated::new, async |fixture| {
        let mut rows = Vec::new();
        for headers in FOREIGN {
            let by_key = fixture.by_session(fixture.put_port(PORT, &port_body()));
            rows.push(Row::succeeds("a key, a session beside it", with_headers(by_key, headers)));
            let caller = Caller::new(
                fixture.member.organization_id,
                fixture.member.id,
                Permission::Member,
                Scope::all(),
            );
            let vouched_for = with_caller(with_headers(change(&fixture), headers), caller);
            // A cookie may be what the application knows its user by.
            let name = "a caller set by the application, with a cookie";
            rows.push(Row::refused(name, vouched_for.clone(), "auth_cross_site_request"));
            let mut without_cookie = vouched_for;
            without_cookie.headers_mut().remove("cookie");
            rows.push(Row::succeeds("a caller set by the application", without_cookie));
            let log_in = crate::common::log_in(&fixture.member.email, crate::common::PASSWORD);
            rows.push(Row::succeeds("a login", with_headers(log_in, headers)));
            let unknown = with_session(bare("POST", LOG_OUT), "unknown");
            rows.push(Row::gives("no session", with_headers(unknown, headers), json!({})));
        }
        fixture.check(rows).await;
    });
}
