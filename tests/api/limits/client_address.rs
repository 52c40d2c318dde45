//! The address of a client, and its prefix that distinguishes unauthenticated clients.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use http::{HeaderValue, Request};
use toposcope::service::{Api, ApiBuilder, ClientAddressSource, RateLimit};

use crate::common::{Fixture, Log, PASSWORD, Server, from, get, limit, log_in, with_header, with_key};

const XFF: &str = "x-forwarded-for";

async fn server(source: ClientAddressSource) -> Server {
    let fixture = Fixture::new().await;
    Server::built(Api::builder(fixture.inventory).client_address(source), limit(1, 1_000))
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

/// Asserts that requests with these headers use the bucket of the address. Without an address, they must use the shared
/// bucket. `genuine` writes the entry of a proxy.
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
    let fixture = Fixture::new().await;
    let server = Server::new(fixture.inventory.clone(), limit(1, 1_000));
    for (number, address) in (1..=3).zip(["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
        let request =
            with_header(with_lines(XFF, &[address.as_bytes()]), "forwarded", format!("for={address}"));
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
async fn client_address_may_come_from_a_function_of_the_request() {
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
    requests: impl Fn(&Fixture) -> Vec<Vec<Request<String>>>,
) -> Vec<usize> {
    let fixture = Fixture::new().await;
    let server = Server::built(configure(Api::builder(fixture.inventory.clone())), limit(1, 1_000));
    let log = Log::default();
    let _guard = tracing::dispatcher::set_default(&log.dispatch());
    // `tracing` caches for each call site whether anything is logged. A test on another thread may be the first to reach
    // this one, and logs nothing. So the call site is reached, and the cache rebuilt, before warnings are counted.
    let other = Server::built(configure(Api::builder(fixture.inventory.clone())), limit(1, 1_000));
    other.send(get("/api/version")).await;
    tracing::callsite::rebuild_interest_cache();
    log.take();
    let mut counts = Vec::new();
    for group in requests(&fixture) {
        for request in group {
            server.clone().send(request).await;
        }
        counts.push(log.take().matches("client address of a request is unknown").count());
    }
    counts
}

#[tokio::test]
async fn first_anonymous_request_without_an_address_logs_one_warning() {
    let with_address = || from("192.0.2.1", get("/api/version"));
    let requests = |fixture: &Fixture| {
        vec![
            vec![with_address(), with_key(get("/api/v1/hosts"), &fixture.key)],
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

const HOSTILE: u128 = 0x2001_0db8_0000_0001 << 64;

/// A server with buckets of ten requests for prefixes of these lengths.
fn with_prefixes(fixture: &Fixture, ipv4: u8, ipv6: u8) -> Server {
    let builder = Api::builder(fixture.inventory.clone()).client_prefixes(ipv4, ipv6);
    Server::built(builder, limit(10, 10))
}

async fn remaining_at(server: &Server, address: &str) -> u64 {
    server.send(from(address, get("/api/version"))).await.number("x-ratelimit-remaining")
}

#[tokio::test]
async fn addresses_of_an_ipv6_64_share_a_bucket_and_ipv4_addresses_do_not() {
    let fixture = Fixture::new().await;
    let server = fixture.limited(10, 10);
    for (address, left) in [
        ("2001:db8::", 9),
        ("2001:db8::1", 8),
        ("2001:db8::ffff:ffff:ffff:ffff", 7),
        ("2001:db8:0:1::", 9),
        ("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", 9),
        ("192.0.2.1", 9),
        ("192.0.2.2", 9),
        ("::ffff:192.0.2.1", 8),
        ("::ffff:192.0.2.2", 8),
        ("::192.0.2.1", 9),
        ("::1", 8),
    ] {
        assert_eq!(remaining_at(&server, address).await, left, "{address}");
    }
}

#[tokio::test]
async fn prefix_lengths_beyond_an_address_count_as_whole_addresses() {
    let fixture = Fixture::new().await;
    for (ipv4, ipv6) in [(32, 128), (33, 129), (255, 255)] {
        let server = with_prefixes(&fixture, ipv4, ipv6);
        for address in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"] {
            assert_eq!(remaining_at(&server, address).await, 9, "{ipv4} {ipv6} {address}");
        }
        assert_eq!(remaining_at(&server, "2001:db8::1").await, 8);
    }
}

#[tokio::test]
async fn prefix_length_zero_makes_an_address_family_one_client() {
    let fixture = Fixture::new().await;
    let server = with_prefixes(&fixture, 0, 0);
    for (address, left) in
        [("0.0.0.0", 9), ("255.255.255.255", 8), ("::", 9), ("ffff::1", 8), ("::ffff:1.2.3.4", 7)]
    {
        assert_eq!(remaining_at(&server, address).await, left, "{address}");
    }
    let server = with_prefixes(&fixture, 24, 48);
    for (address, left) in [
        ("192.0.2.1", 9),
        ("192.0.2.255", 8),
        ("192.0.3.0", 9),
        ("2001:db8:1:2::", 9),
        ("2001:db8:1:ffff::", 8),
    ] {
        assert_eq!(remaining_at(&server, address).await, left, "{address}");
    }
}

#[tokio::test]
async fn login_flood_from_one_ipv6_64_does_not_keep_others_out() {
    let fixture = Fixture::new().await;
    let server = Server::new(fixture.inventory.clone(), RateLimit::default());
    let mut users = Vec::new();
    for _ in 0..40 {
        users.push(fixture.user(&fixture.abroad, toposcope::model::Permission::Viewer, &[]).await);
    }
    let flood = (0..400_u128).map(|number| {
        let request = log_in(&format!("nobody{number}@evil.example"), "wrong password");
        let (server, address) = (server.clone(), Ipv6Addr::from_bits(HOSTILE | number).to_string());
        tokio::spawn(async move { server.send(from(&address, request)).await.status.as_u16() })
    });
    let flood: Vec<_> = flood.collect();
    let honest = users.iter().zip(1_u8..).map(|(user, number)| {
        let (server, request) = (server.clone(), log_in(&user.email, PASSWORD));
        tokio::spawn(
            async move { server.send(from(&format!("192.0.2.{number}"), request)).await.status.as_u16() },
        )
    });
    let honest: Vec<_> = honest.collect();
    let mut statuses = Vec::new();
    for login in honest {
        statuses.push(login.await.unwrap());
    }
    assert_eq!(statuses, [200; 40]);
    for login in flood {
        assert!([401, 429, 503].contains(&login.await.unwrap()));
    }
}
