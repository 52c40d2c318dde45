//! How the service determines the address of a client.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;

use axum::extract::ConnectInfo;
use http::{HeaderValue, Request};
use toposcope::service::{Api, ApiBuilder, ClientAddr, ClientAddressSource, RateLimit};

use crate::common::{Log, Server, World, get, with_key};

const XFF: &str = "x-forwarded-for";

fn limit() -> RateLimit {
    let number = |number| NonZeroU32::new(number).unwrap();
    RateLimit::new(number(1), number(1_000))
}

async fn server(source: ClientAddressSource) -> Server {
    let world = World::new().await;
    Server::built(Api::builder(world.inventory).client_address(source), limit())
}

async fn remaining(server: &Server, request: Request<String>) -> u64 {
    server.send(request).await.number("x-ratelimit-remaining")
}

fn with_lines(name: &'static str, lines: &[&[u8]]) -> Request<String> {
    let mut request = get("/api/version");
    for line in lines {
        request.headers_mut().append(name, HeaderValue::from_bytes(line).unwrap());
    }
    request
}

/// Header lines, the number of trusted proxies, and the resulting address.
type Case = (&'static [&'static [u8]], usize, Option<&'static str>);

/// Asserts that requests with these header lines use the bucket of the address, or the shared one. `genuine`
/// writes the entry of a proxy.
async fn check(
    name: &'static str,
    source: fn(usize) -> ClientAddressSource,
    genuine: fn(&str) -> String,
    cases: &[Case],
) {
    for (lines, proxies, expected) in cases {
        let server = server(source(*proxies)).await;
        let expected_bucket = || match expected {
            Some(address) => {
                let entries = vec![genuine(address); *proxies].join(",");
                with_lines(name, &[entries.as_bytes()])
            }
            None => get("/api/version"),
        };
        let request = with_lines(name, lines);
        let context = format!("{:?}, {proxies} proxies, expected {expected:?}", request.headers());
        assert_eq!(remaining(&server, expected_bucket()).await, 999, "{context}");
        assert_eq!(remaining(&server, request).await, 998, "{context}");
        assert_eq!(remaining(&server, expected_bucket()).await, 997, "{context}");
    }
}

fn quoted(address: &str) -> String {
    if address.contains(':') { format!("for=\"[{address}]\"") } else { format!("for={address}") }
}

#[tokio::test]
async fn x_forwarded_for_counts_only_the_entries_of_trusted_proxies() {
    let long = "203.0.113.9, ".repeat(500) + "192.0.2.1";
    let long: &'static [&'static [u8]] = vec![&*long.into_bytes().leak()].leak();
    let cases: &[Case] = &[
        (&[b"192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"203.0.113.9, 192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"203.0.113.9, 192.0.2.1, 198.51.100.1"], 2, Some("192.0.2.1")),
        (&[b"203.0.113.9", b"192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"203.0.113.9", b"192.0.2.1", b"198.51.100.1"], 2, Some("192.0.2.1")),
        (&[b"203.0.113.9", b"203.0.113.8, 192.0.2.1,198.51.100.1"], 2, Some("192.0.2.1")),
        (long, 1, Some("192.0.2.1")),
        (long, 600, None),
        (&[b"\"x, \xff\xfe, 192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"192.0.2.1:4711"], 1, Some("192.0.2.1")),
        (&[b"[2001:db8::1]:443"], 1, Some("2001:db8::1")),
        (&[b"[2001:db8::1]"], 1, Some("2001:db8::1")),
        (&[b"2001:db8::1"], 1, Some("2001:db8::1")),
        (&[b"::ffff:192.0.2.1"], 1, Some("192.0.2.1")),
        // Fewer entries than proxies: the request has not passed all of them.
        (&[], 1, None),
        (&[b"203.0.113.9"], 2, None),
        (&[b"203.0.113.9"], usize::MAX, None),
        (&[b"203.0.113.9"], 0, None),
        // No address at the trusted position: no other position is used instead.
        (&[b"203.0.113.9,"], 1, None),
        (&[b"203.0.113.9, unknown"], 1, None),
        (&[b"203.0.113.9, \xff"], 1, None),
        (&[b"203.0.113.9", b""], 1, None),
        (&[b"192.0.2.1:x"], 1, None),
        (&[b"192.0.2.1:65536"], 1, None),
        (&[b"192.0.2.1:"], 1, None),
        (&[b"[2001:db8::1"], 1, None),
        (&[b"[2001:db8::1]443"], 1, None),
        (&[b"[192.0.2.1]"], 1, None),
        (&[b"fe80::1%eth0"], 1, None),
        (&[b"192.0.2.1 192.0.2.2"], 1, None),
        (&[b"192.0.2.256"], 1, None),
    ];
    check(XFF, ClientAddressSource::x_forwarded_for, str::to_owned, cases).await;
}

#[tokio::test]
async fn forwarded_counts_only_the_entries_of_trusted_proxies() {
    let cases: &[Case] = &[
        (&[b"for=192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"proto=https;For=\"192.0.2.1:80\" ; by=203.0.113.43"], 1, Some("192.0.2.1")),
        (&[b"for=\"[2001:db8::1]:4711\";proto=http"], 1, Some("2001:db8::1")),
        (&[b"for=\"[2001:db8::1]:_port\""], 1, Some("2001:db8::1")),
        (&[b"for=203.0.113.9, for=192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"for=203.0.113.9", b"for=192.0.2.1, for=198.51.100.1"], 2, Some("192.0.2.1")),
        // Separators inside quotes do not separate.
        (&[b"for=203.0.113.9, for=192.0.2.1;host=\"a,for=203.0.113.8;b\""], 1, Some("192.0.2.1")),
        (&[b"for=203.0.113.9, host=\"a\\\",for=203.0.113.8;b\";for=192.0.2.1"], 1, Some("192.0.2.1")),
        // Forged text before the trusted entry does not hide it.
        (&[b"for=\"203.0.113.9, for=192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"for=\"203.0.113.9\\, for=192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"for=\"203.0.113.9", b"for=192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"\xff\xff, for=192.0.2.1"], 1, Some("192.0.2.1")),
        (&[b"for=203.0.113.9"], 2, None),
        (&[b"for=203.0.113.9"], 0, None),
        (&[b"for=203.0.113.9, for=unknown"], 1, None),
        (&[b"for=203.0.113.9, for=_hidden"], 1, None),
        (&[b"for=203.0.113.9, proto=https"], 1, None),
        (&[b"for=192.0.2.1;for=192.0.2.2"], 1, None),
        (&[b"for=203.0.113.9, for=\"192.0.2.1"], 1, None),
        (&[b"for=203.0.113.9, "], 1, None),
        (&[], 1, None),
    ];
    check("forwarded", ClientAddressSource::forwarded, quoted, cases).await;
}

#[tokio::test]
async fn forwarding_headers_are_ignored_unless_configured() {
    let world = World::new().await;
    let server = Server::new(world.inventory.clone(), limit());
    for (number, address) in (1..=3).zip(["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
        let mut request = with_lines(XFF, &[address.as_bytes()]);
        request.headers_mut().insert("forwarded", format!("for={address}").parse().unwrap());
        assert_eq!(remaining(&server, request).await, 1_000 - number);
    }
}

#[tokio::test]
async fn peer_addresses_of_axum_and_hyper_are_read_from_extensions() {
    let peer = |text: &str| text.parse::<SocketAddr>().unwrap();
    let from_axum =
        server(ClientAddressSource::extension(|peer: &ConnectInfo<SocketAddr>| peer.0.ip())).await;
    let from_hyper = server(ClientAddressSource::extension(SocketAddr::ip)).await;
    for (address, left) in [("192.0.2.1:1", 999), ("192.0.2.1:2", 998), ("[2001:db8::1]:1", 999)] {
        let mut request = get("/api/version");
        request.extensions_mut().insert(ConnectInfo(peer(address)));
        assert_eq!(remaining(&from_axum, request).await, left, "{address}");
        let mut request = get("/api/version");
        request.extensions_mut().insert(peer(address));
        assert_eq!(remaining(&from_hyper, request).await, left, "{address}");
    }
    assert_eq!(remaining(&from_axum, get("/api/version")).await, 999, "the shared bucket");
}

#[tokio::test]
async fn a_function_of_the_request_is_a_source() {
    let source = ClientAddressSource::from_fn(|request| {
        request.headers.get("x-real-ip").and_then(|value| value.to_str().ok()?.parse().ok())
    });
    let server = server(source).await;
    assert_eq!(remaining(&server, with_lines("x-real-ip", &[b"192.0.2.1"])).await, 999);
    assert_eq!(remaining(&server, with_lines("x-real-ip", &[b"192.0.2.1"])).await, 998);
    assert_eq!(remaining(&server, with_lines("x-real-ip", &[b"192.0.2.2"])).await, 999);
}

/// Counts the warnings that requests log, one count for each group of requests.
async fn warnings(
    configure: impl Fn(ApiBuilder) -> ApiBuilder,
    requests: impl Fn(&World) -> Vec<Vec<Request<String>>>,
) -> Vec<usize> {
    let world = World::new().await;
    let server = Server::built(configure(Api::builder(world.inventory.clone())), limit());
    let log = Log::default();
    let _guard = tracing::dispatcher::set_default(&log.dispatch());
    let mut counts = Vec::new();
    for group in requests(&world) {
        for request in group {
            server.clone().send(request).await;
        }
        counts.push(log.take().matches("client address of a request is unknown").count());
    }
    counts
}

#[tokio::test]
async fn the_first_unauthenticated_request_without_an_address_logs_one_warning() {
    let with_address = || {
        let mut request = get("/api/version");
        request.extensions_mut().insert(ClientAddr(IpAddr::from([192, 0, 2, 1])));
        request
    };
    let requests = |world: &World| {
        vec![
            vec![with_address(), with_key(get("/api/v1/hosts"), &world.key)],
            vec![get("/api/version")],
            vec![get("/api/version"), get("/nothing"), with_address(), get("/api/version")],
        ]
    };
    assert_eq!(warnings(|builder| builder, requests).await, [0, 1, 0]);
    let here = |builder: ApiBuilder| {
        builder.client_address(ClientAddressSource::from_fn(|_| Some(IpAddr::from([192, 0, 2, 1]))))
    };
    assert_eq!(warnings(here, requests).await, [0, 0, 0]);
}
