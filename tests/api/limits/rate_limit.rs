//! The rate limit: its figures, and the bucket that a request is charged to.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use http::Request;
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::Permission;
use toposcope::service::{ClientAddr, RateLimit};
use tower::ServiceExt;

use crate::backend::run_with;
use crate::common::{
    DAEMON_KEYS, Fixture, HOSTS, LOG_OUT, OFFICE, PASSWORD, PORT, Populated, Reply, Server, at, bare,
    daemon_body, from, get, key_for, key_path, log_in, port_body, put_key, send_json, share_path,
    with_caller, with_header, with_key, with_session,
};

/// A server that accepts `per_minute` requests per minute, and the fixture that it serves.
async fn limited(per_minute: u32, burst: u32) -> (Fixture, Server) {
    let fixture = Fixture::new().await;
    let server = fixture.limited(per_minute, burst);
    (fixture, server)
}

#[track_caller]
fn figures(reply: &Reply) -> [u64; 3] {
    ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map(|name| reply.number(name))
}

#[tokio::test]
async fn default_limit_is_300_per_minute_and_150_at_once() {
    let (fixture, _) = limited(1, 1).await;
    let server = Server::new(fixture.inventory.clone(), RateLimit::default());
    for sent in 1..=150_u64 {
        let reply = server.get_with(&fixture.key, HOSTS).await;
        assert_eq!(reply.status, 200);
        // One request is refilled every 200 ms.
        assert_eq!(figures(&reply), [300, 150 - sent, sent.div_ceil(5)]);
    }
    let reply = server.get_with(&fixture.key, HOSTS).await;
    assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
    assert_eq!(figures(&reply), [300, 0, 30]);
}

#[tokio::test]
async fn one_user_id_in_two_organizations_has_two_buckets() {
    let (fixture, server) = limited(60, 2).await;
    let send = async |organization| {
        let caller = Caller::new(organization, OFFICE.uuid().into(), Permission::Viewer, Scope::all());
        server.send(with_caller(get(HOSTS), caller)).await
    };
    let [home, abroad] = [&fixture.home, &fixture.abroad].map(|site| site.organization.id);
    for _ in 0..2 {
        assert_eq!(send(home).await.status, 200);
    }
    send(home).await.refuses(429, "rate_limit_exceeded");
    assert_eq!(figures(&send(abroad).await), [60, 1, 1]);
}

#[tokio::test]
async fn clones_of_a_server_share_buckets_and_other_servers_do_not() {
    let (fixture, server) = limited(60, 2).await;
    assert_eq!(server.get(HOSTS).await.status, 401);
    assert_eq!(server.clone().get(HOSTS).await.status, 401);
    server.get(HOSTS).await.refuses(429, "rate_limit_exceeded");
    let other = fixture.limited(60, 2);
    assert_eq!(other.get(HOSTS).await.status, 401);
}

#[tokio::test]
async fn wall_clock_jump_neither_refills_nor_empties_a_bucket() {
    const DAY: i64 = 24 * 60 * 60;
    for seconds in [-1_000_000, -DAY, -1, 1, DAY, 1_000_000] {
        let (fixture, server) = limited(60, 5).await;
        let send = async || server.send(from("192.0.2.1", get("/api/version"))).await;
        for sent in 1..=3 {
            assert_eq!(figures(&send().await), [60, 5 - sent, sent]);
        }
        fixture.clock.set(at(seconds));
        assert_eq!(figures(&send().await), [60, 1, 4], "{seconds}");
        assert_eq!(figures(&send().await), [60, 0, 5], "{seconds}");
        fixture.clock.set(at(-seconds));
        assert_eq!(send().await.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
        fixture.clock.advance(Duration::from_secs(1));
        assert_eq!(figures(&send().await), [60, 0, 5], "{seconds}");
    }
}

#[tokio::test]
async fn limit_holds_at_extreme_times() {
    for time in
        ["0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2262-04-11T23:47:16Z", "9999-12-31T23:59:00Z"]
    {
        let (fixture, server) = limited(60, 2).await;
        fixture.clock.set(time.parse().unwrap());
        for (status, remaining, reset) in [(200, 1, 1), (200, 0, 2), (429, 0, 2)] {
            let reply = server.get_with(&fixture.key, HOSTS).await;
            assert_eq!((reply.status.as_u16(), figures(&reply)), (status, [60, remaining, reset]), "{time}");
        }
        fixture.clock.advance(Duration::from_secs(1));
        assert_eq!(server.get_with(&fixture.key, HOSTS).await.status, 200, "{time}");
    }
}

#[tokio::test]
async fn smallest_and_greatest_limits_hold() {
    let (fixture, server) = limited(1, 1).await;
    assert_eq!(figures(&server.get_with(&fixture.key, HOSTS).await), [1, 0, 60]);
    let reply = server.get_with(&fixture.key, HOSTS).await;
    assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 60}));
    let server = fixture.limited(1, u32::MAX);
    for sent in 1..=3 {
        let reply = server.get_with(&fixture.key, HOSTS).await;
        assert_eq!(figures(&reply), [1, u64::from(u32::MAX) - sent, sent * 60]);
    }
    let server = fixture.limited(u32::MAX, 1);
    assert_eq!(figures(&server.get_with(&fixture.key, HOSTS).await), [u64::from(u32::MAX), 0, 1]);
    fixture.clock.advance(Duration::from_micros(1));
    let caller = fixture.viewer();
    let request = with_caller(get(HOSTS), caller);
    assert_eq!(server.send(request).await.status, 200);
    assert_eq!(server.get_with(&fixture.key, HOSTS).await.status, 200);
}

fn remaining(reply: &Reply) -> u64 {
    reply.number("x-ratelimit-remaining")
}

/// Sends requests, and asserts their statuses and that they are charged to one bucket.
async fn share_a_bucket(server: &Server, requests: Vec<(&str, Request<String>, u16)>) {
    let burst = u64::try_from(requests.len()).unwrap();
    for ((name, request, status), left) in requests.into_iter().zip((0..burst).rev()) {
        let reply = server.send(request).await;
        assert_eq!((reply.status.as_u16(), remaining(&reply)), (status, left), "{name}: {}", reply.json);
    }
}

#[test]
fn user_has_one_bucket_for_all_sessions_keys_and_addresses() {
    run_with(Populated::new, async |fixture| {
        let second_key = fixture.issue(key_for(&fixture.member, Permission::Viewer, &[OFFICE])).await;
        let second_session = fixture.sign_in(&fixture.member).await;
        let home = fixture.member.organization_id;
        let caller = Caller::new(home, fixture.member.id, Permission::Viewer, Scope::all());
        let vouched_for = with_caller(get(HOSTS), caller);
        let cross_site = with_header(fixture.refer(), "origin", "https://evil.example");
        let requests = vec![
            ("a key", from("192.0.2.1", fixture.by_key(get(HOSTS))), 200),
            ("another key", from("192.0.2.2", with_key(get(HOSTS), &second_key)), 200),
            ("a session", fixture.by_session(get(HOSTS)), 200),
            ("another session", with_session(get(HOSTS), &second_session), 200),
            ("the application", vouched_for, 200),
            ("no such path", fixture.by_key(get("/nothing")), 404),
            ("no such method", fixture.by_session(bare("PATCH", HOSTS)), 405),
            ("another site", cross_site, 403),
            ("a level too low", with_key(send_json("POST", DAEMON_KEYS, &daemon_body()), &second_key), 403),
            (
                "a key where a session is needed",
                fixture.by_key(put_key(fixture.member_key_id, &fixture.key_body())),
                403,
            ),
            ("a port", fixture.put_port(PORT, &port_body()), 200),
            ("a daemon's key", fixture.create_daemon_key(&daemon_body()), 200),
            ("a bad body", fixture.create_daemon_key(&json!([])), 400),
            ("an update", fixture.put_own_key(&fixture.key_body()), 200),
            ("a referral", fixture.refer(), 200),
            ("not found", fixture.by_session(bare("DELETE", &key_path(fixture.other_key_id))), 404),
            ("a logout", with_session(bare("POST", LOG_OUT), &second_session), 200),
        ];
        let burst = u32::try_from(requests.len()).unwrap();
        let server = fixture.limited(60, burst);
        share_a_bucket(&server, requests).await;
        for request in [
            fixture.by_key(get(HOSTS)),
            fixture.by_session(get(HOSTS)),
            with_key(get("/nothing"), &second_key),
        ] {
            server.send(request).await.refuses(429, "rate_limit_exceeded");
        }
        assert_eq!(server.get_with(&fixture.key, HOSTS).await.status, 200, "another user");
        assert_eq!(server.get("/api/version").await.status, 200, "an anonymous request");
    });
}

#[test]
fn address_has_one_bucket_for_all_anonymous_requests() {
    run_with(Populated::new, async |fixture| {
        let off = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let off_session = fixture.sign_in(&off).await;
        let off_key = fixture.issue(key_for(&off, Permission::Owner, &[])).await;
        fixture.inventory.users().disable(&Caller::system(off.organization_id), off.id).await.unwrap();
        let mut disabled = key_for(&fixture.member, Permission::Viewer, &[]);
        disabled.is_enabled = false;
        let disabled = fixture.issue(disabled).await;
        let mut over = key_for(&fixture.member, Permission::Viewer, &[]);
        over.expires_at = Some(at(1));
        let over = fixture.issue(over).await;
        let free = fixture.free_site().await;
        let free = fixture.user(&free, Permission::Owner, &[]).await;
        let free = fixture.issue(key_for(&free, Permission::Owner, &[])).await;
        fixture.clock.advance(Duration::from_secs(1));
        let requests = vec![
            ("none", get(HOSTS), 401),
            ("no such path", get("/nothing"), 404),
            ("the version", get("/api/version"), 200),
            ("the version, by a key", fixture.by_key(get("/api/version")), 200),
            ("a share, by a session", fixture.by_session(get(&share_path(fixture.share_id))), 200),
            ("a login", log_in(&fixture.member.email, PASSWORD), 200),
            (
                "a login, by a session",
                fixture.by_session(log_in(&fixture.member.email, "wrong password")),
                401,
            ),
            ("an anonymous logout", bare("POST", LOG_OUT), 200),
            ("a logout by a key alone", fixture.by_key(bare("POST", LOG_OUT)), 200),
            ("no key", with_key(get(HOSTS), "nonsense"), 401),
            ("no key beside a session", fixture.by_session(with_key(get(HOSTS), "nonsense")), 401),
            ("no session", with_session(get(HOSTS), "nonsense"), 401),
            ("a key that is over", with_key(get(HOSTS), &over), 401),
            ("a key of a disabled user", with_key(get(HOSTS), &off_key), 401),
            ("a disabled key", with_key(get(HOSTS), &disabled), 401),
            ("a session of a disabled user", with_session(get(HOSTS), &off_session), 401),
            ("a daemon's key", with_key(get(HOSTS), &fixture.daemon_key), 403),
            ("a key without API access", with_key(get(HOSTS), &free), 403),
        ];
        let burst = u32::try_from(requests.len()).unwrap();
        let server = fixture.limited(60, burst);
        let here = "192.0.2.1";
        let requests =
            requests.into_iter().map(|(name, request, status)| (name, from(here, request), status));
        share_a_bucket(&server, requests.collect()).await;
        for request in [get(HOSTS), get("/api/version"), log_in(&fixture.member.email, PASSWORD)] {
            server.send(from(here, request)).await.refuses(429, "rate_limit_exceeded");
        }
        assert_eq!(server.send(from(here, fixture.by_key(get(HOSTS)))).await.status, 200, "a user there");
        assert_eq!(server.send(from("192.0.2.2", get(HOSTS))).await.status, 401, "another address");
        assert_eq!(server.get(HOSTS).await.status, 401, "no address");
    });
}

/// The limits on failed logins and on requests are separate, and both can apply.
#[test]
fn login_refused_for_too_many_failures_costs_a_request() {
    run_with(Populated::new, async |fixture| {
        let server = fixture.limited(60, 7);
        for _ in 0..5 {
            assert_eq!(server.send(log_in("nobody", "x")).await.status, 401);
        }
        let refused = server.send(log_in("nobody", "x")).await;
        assert_eq!(refused.refuses(429, "auth_too_many_attempts"), &json!({"retry_after": 900}));
        assert_eq!(remaining(&refused), 1);
        assert_eq!(
            server.send(log_in("nobody", "x")).await.refuses(429, "auth_too_many_attempts")["retry_after"],
            900
        );
        assert_eq!(
            server.send(log_in("nobody", "x")).await.refuses(429, "rate_limit_exceeded")["retry_after"],
            1
        );
    });
}

#[test]
fn rate_limit_can_be_disabled() {
    run_with(Populated::new, async |fixture| {
        let server = Server::new(fixture.inventory.clone(), None);
        // The check of every answer asserts that the figures are missing.
        for _ in 0..160 {
            assert_eq!(server.send(fixture.by_session(get(HOSTS))).await.status, 200);
            assert_eq!(server.send(fixture.put_port("x", &port_body())).await.status, 400);
            assert_eq!(server.get(HOSTS).await.status, 401);
        }
        for _ in 0..5 {
            assert_eq!(server.send(log_in("nobody", "x")).await.status, 401);
        }
        server.send(log_in("nobody", "x")).await.refuses(429, "auth_too_many_attempts");
    });
}

const ADDRESSES: u32 = if cfg!(debug_assertions) { 5_000 } else { 1_000_000 };

/// Returns a request from a /64 of its own.
fn from_prefix(number: u32) -> Request<String> {
    let mut request = get("/api/version");
    let address = Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number) << 64);
    request.extensions_mut().insert(ClientAddr(IpAddr::from(address)));
    request
}

/// Sends a request from every address. There are too many answers to check more than their figures.
async fn flood(server: &Server, burst: u64) {
    for number in 0..ADDRESSES {
        let response = server.api.clone().oneshot(from_prefix(number)).await.unwrap();
        let text = response.headers()["x-ratelimit-remaining"].to_str().unwrap();
        let remaining: u64 = text.parse().unwrap();
        assert!(remaining < burst);
        match response.status().as_u16() {
            200 => {}
            429 => assert!(remaining == 0 && response.headers().contains_key("retry-after")),
            other => panic!("{other}"),
        }
    }
}

/// Asserts that the figures are true for an address that sends alone. Each request costs one, a refusal follows the
/// last, and a client that waits as long as `Retry-After` says is accepted.
async fn check_figures(fixture: &Fixture, server: &Server, number: u32) {
    let mut reply = server.send(from_prefix(number)).await;
    while reply.status == 200 {
        let left = remaining(&reply);
        reply = server.send(from_prefix(number)).await;
        assert_eq!(reply.status == 200, left > 0);
        assert_eq!(remaining(&reply), left.saturating_sub(1));
    }
    assert_eq!((reply.status.as_u16(), remaining(&reply)), (429, 0));
    fixture.clock.advance(Duration::from_secs(reply.number("retry-after")));
    assert_eq!(server.send(from_prefix(number)).await.status, 200);
}

#[tokio::test]
async fn figures_are_right_after_a_flood_of_addresses() {
    let fixture = Fixture::new().await;
    let newcomer = fixture.owner_key(&fixture.home).await;
    let limit = RateLimit::default();
    let burst = u64::from(limit.burst().get());
    let server = Server::new(fixture.inventory.clone(), limit);
    let send = async |key| remaining(&server.send(with_key(get("/api/v1/hosts"), key)).await);
    assert_eq!(send(&fixture.key).await, burst - 1);
    flood(&server, burst).await;
    assert_eq!(send(&fixture.key).await, burst - 2, "a user keeps a bucket");
    assert_eq!(send(&newcomer).await, burst - 1, "another user gets one");
    assert_eq!(
        remaining(&server.send(from_prefix(0)).await),
        burst - 2,
        "the first address keeps its bucket"
    );
    for number in [1, ADDRESSES / 2, ADDRESSES - 1, ADDRESSES, u32::MAX] {
        check_figures(&fixture, &server, number).await;
    }
    // Wait until every bucket is full again.
    fixture.clock.advance(Duration::from_secs(burst * 60 / u64::from(limit.per_minute().get())));
    for number in [0, ADDRESSES - 1, ADDRESSES, u32::MAX] {
        assert_eq!(remaining(&server.send(from_prefix(number)).await), burst - 1, "each has a bucket again");
    }
    assert_eq!(send(&fixture.key).await, burst - 1);
}
