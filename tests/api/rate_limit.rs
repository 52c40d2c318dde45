use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use http::Request;
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::Permission;
use toposcope::service::{ClientAddr, RateLimit};

use crate::common::{NOBODY, OFFICE, Reply, Server, World, at, get, key_for, with_key};

const HOSTS: &str = "/api/v1/hosts";

fn limit(per_minute: u32, burst: u32) -> RateLimit {
    RateLimit::new(NonZeroU32::new(per_minute).unwrap(), NonZeroU32::new(burst).unwrap())
}

fn from(address: &str, mut request: Request<String>) -> Request<String> {
    request.extensions_mut().insert(ClientAddr(address.parse::<IpAddr>().unwrap()));
    request
}

/// A server that accepts `per_minute` requests per minute, and the world that it serves.
async fn limited(per_minute: u32, burst: u32) -> (World, Server) {
    let world = World::new().await;
    let server = Server::new(world.inventory.clone(), limit(per_minute, burst));
    (world, server)
}

#[track_caller]
fn told(reply: &Reply) -> [u64; 3] {
    ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map(|name| reply.number(name))
}

#[tokio::test]
async fn the_default_is_300_a_minute_and_150_at_once() {
    let (world, _) = limited(1, 1).await;
    let server = Server::new(world.inventory.clone(), RateLimit::default());
    for sent in 1..=150_u64 {
        let reply = server.get_with(&world.key, HOSTS).await;
        assert_eq!(reply.status, 200);
        // One request is refilled every 200 ms.
        assert_eq!(told(&reply), [300, 150 - sent, sent.div_ceil(5)]);
    }
    let reply = server.get_with(&world.key, HOSTS).await;
    assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
    assert_eq!(told(&reply), [300, 0, 30]);
}

#[tokio::test]
async fn without_a_limit_there_are_no_headers_and_no_refusals() {
    let world = World::new().await;
    let server = Server::new(world.inventory.clone(), None);
    for _ in 0..200 {
        // The check of every answer asserts that the headers are missing.
        assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200);
        assert_eq!(server.get(HOSTS).await.status, 401);
    }
    assert_eq!(server.get("/api/version").await.status, 200);
    assert_eq!(server.get("/nothing").await.status, 404);
}

#[tokio::test]
async fn requests_come_back_as_time_passes_and_never_more_than_the_burst() {
    let (world, server) = limited(60, 3).await;
    let send = async || server.get_with(&world.key, HOSTS).await;
    for (remaining, reset) in [(2, 1), (1, 2), (0, 3)] {
        assert_eq!(told(&send().await), [60, remaining, reset]);
    }
    let microsecond = Duration::from_micros(1);
    assert_eq!(send().await.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
    world.clock.advance(Duration::from_secs(1) - microsecond);
    let refused = send().await;
    assert_eq!((refused.status.as_u16(), told(&refused)), (429, [60, 0, 3]), "a microsecond too early");
    world.clock.advance(microsecond);
    let reply = send().await;
    assert_eq!((reply.status.as_u16(), told(&reply)), (200, [60, 0, 3]), "one came back");
    world.clock.advance(Duration::from_millis(2500));
    assert_eq!(told(&send().await), [60, 1, 2], "two and a half came back; 1.5 s are missing");
    world.clock.advance(Duration::from_secs(1_000_000));
    assert_eq!(told(&send().await), [60, 2, 1], "no more than three");
}

#[tokio::test]
async fn retry_after_is_rounded_up_and_true() {
    let (world, server) = limited(4, 1).await;
    let send = async || server.get_with(&world.key, HOSTS).await;
    assert_eq!(send().await.status, 200);
    for (waited, retry_after) in [(0, 15), (1, 15), (999, 14), (1, 14), (12_999, 1), (999, 1)] {
        world.clock.advance(Duration::from_millis(waited));
        let reply = send().await;
        assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": retry_after}));
        assert_eq!(reply.number("retry-after"), retry_after);
    }
    world.clock.advance(Duration::from_millis(1));
    assert_eq!(send().await.status, 200);
}

#[tokio::test]
async fn a_client_that_waits_as_told_is_let_through() {
    let (world, server) = limited(7, 2).await;
    for _ in 0..50 {
        let reply = server.get_with(&world.key, HOSTS).await;
        if reply.status == 429 {
            world.clock.advance(Duration::from_secs(reply.number("retry-after")));
            assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200);
        }
    }
}

#[tokio::test]
async fn refused_requests_cost_nothing() {
    let (world, server) = limited(60, 1).await;
    assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200);
    for _ in 0..100 {
        server.get_with(&world.key, HOSTS).await.refuses(429, "rate_limit_exceeded");
    }
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200);
}

#[tokio::test]
async fn whatever_the_answer_it_costs_one_request() {
    let (world, server) = limited(60, 10).await;
    let key = &world.key;
    for (target, status, remaining) in [
        (HOSTS, 200, 9),
        ("/nothing", 404, 8),
        ("/api/v1/hosts?limit=x", 400, 7),
        ("/api/v1/hosts?limit=1", 200, 6),
    ] {
        let reply = server.get_with(key, target).await;
        assert_eq!((reply.status.as_u16(), reply.number("x-ratelimit-remaining")), (status, remaining));
    }
    let request = Request::post(HOSTS).body(String::new()).unwrap();
    let reply = server.send(with_key(request, key)).await;
    assert_eq!((reply.status.as_u16(), reply.number("x-ratelimit-remaining")), (405, 5));
}

#[tokio::test]
async fn all_keys_of_a_user_and_the_user_in_person_share_a_bucket_wherever_they_are() {
    let (world, server) = limited(60, 4).await;
    let user = world.user(&world.home, Permission::Owner, &[]).await;
    let first = world.issue(key_for(&user, Permission::Viewer, &[OFFICE])).await;
    let second = world.issue(key_for(&user, Permission::Owner, &[])).await;
    let caller = Caller::new(world.home.organization.id, user.id, Permission::Owner, Scope::all());
    let mut in_person = get(HOSTS);
    in_person.extensions_mut().insert(caller);
    let replies = [
        server.get_with(&first, HOSTS).await,
        server.send(from("192.0.2.1", with_key(get(HOSTS), &second))).await,
        server.send(from("192.0.2.2", with_key(get(HOSTS), &first))).await,
        server.send(from("192.0.2.3", in_person)).await,
    ];
    let remaining = replies.map(|reply| reply.number("x-ratelimit-remaining"));
    assert_eq!(remaining, [3, 2, 1, 0]);
    server.get_with(&second, HOSTS).await.refuses(429, "rate_limit_exceeded");
    assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200, "another user");
    assert_eq!(server.send(from("192.0.2.1", get(HOSTS))).await.status, 401, "nobody, from the same address");
}

#[tokio::test]
async fn who_is_not_authenticated_counts_by_address() {
    let (world, server) = limited(60, 6).await;
    let user = world.user(&world.home, Permission::Owner, &[]).await;
    let mut disabled = key_for(&user, Permission::Owner, &[]);
    disabled.is_enabled = false;
    let disabled = world.issue(disabled).await;
    let mut expired = key_for(&user, Permission::Owner, &[]);
    expired.expires_at = Some(at(1));
    let expired = world.issue(expired).await;
    world.clock.advance(Duration::from_secs(1));
    let here = "192.0.2.1";
    for (request, status, remaining) in [
        (get(HOSTS), 401, 5),
        (with_key(get(HOSTS), "nonsense"), 401, 4),
        (with_key(get(HOSTS), &disabled), 401, 3),
        (with_key(get(HOSTS), &expired), 401, 2),
        (get("/nothing"), 404, 1),
        (get("/api/version"), 200, 0),
        (get("/api/version"), 429, 0),
        (with_key(get(HOSTS), "nonsense"), 429, 0),
    ] {
        let reply = server.send(from(here, request)).await;
        assert_eq!((reply.status.as_u16(), reply.number("x-ratelimit-remaining")), (status, remaining));
    }
    assert_eq!(server.send(from(here, with_key(get(HOSTS), &world.key))).await.status, 200, "a user there");
    for address in ["192.0.2.2", "2001:db8::1", "::ffff:192.0.2.9"] {
        let reply = server.send(from(address, get(HOSTS))).await;
        assert_eq!((reply.status.as_u16(), reply.number("x-ratelimit-remaining")), (401, 5), "{address}");
    }
    assert_eq!(server.get(HOSTS).await.number("x-ratelimit-remaining"), 5, "no address");
}

#[tokio::test]
async fn without_addresses_all_who_are_not_authenticated_share_a_bucket() {
    let (world, server) = limited(60, 3).await;
    let remaining =
        [server.get(HOSTS).await, server.get_with("nonsense", HOSTS).await, server.get("/api/version").await]
            .map(|reply| reply.number("x-ratelimit-remaining"));
    assert_eq!(remaining, [2, 1, 0]);
    server.get("/nothing").await.refuses(429, "rate_limit_exceeded");
    assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200);
}

#[tokio::test]
async fn clones_of_a_server_share_the_buckets_and_two_servers_do_not() {
    let (world, server) = limited(60, 2).await;
    assert_eq!(server.get(HOSTS).await.status, 401);
    assert_eq!(server.clone().get(HOSTS).await.status, 401);
    server.get(HOSTS).await.refuses(429, "rate_limit_exceeded");
    let other = Server::new(world.inventory.clone(), limit(60, 2));
    assert_eq!(other.get(HOSTS).await.status, 401);
}

#[tokio::test]
async fn wall_clock_jump_neither_refills_nor_empties_a_bucket() {
    const DAY: i64 = 24 * 60 * 60;
    for seconds in [-1_000_000, -DAY, -1, 1, DAY, 1_000_000] {
        let (world, server) = limited(60, 5).await;
        let send = async || server.send(from("192.0.2.1", get("/api/version"))).await;
        for sent in 1..=3 {
            assert_eq!(told(&send().await), [60, 5 - sent, sent]);
        }
        world.clock.set(at(seconds));
        assert_eq!(told(&send().await), [60, 1, 4], "{seconds}");
        assert_eq!(told(&send().await), [60, 0, 5], "{seconds}");
        world.clock.set(at(-seconds));
        assert_eq!(send().await.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
        world.clock.advance(Duration::from_secs(1));
        assert_eq!(told(&send().await), [60, 0, 5], "{seconds}");
    }
}

#[tokio::test]
async fn the_greatest_burst_is_told_and_counted_as_it_is() {
    let (world, server) = limited(1, u32::MAX).await;
    for sent in 1..=3 {
        let reply = server.get_with(&world.key, HOSTS).await;
        assert_eq!(told(&reply), [1, u64::from(u32::MAX) - sent, sent * 60]);
    }
}

#[tokio::test]
async fn the_limit_holds_at_any_time_that_a_clock_can_show() {
    for time in
        ["0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2262-04-11T23:47:16Z", "9999-12-31T23:59:00Z"]
    {
        let (world, server) = limited(60, 2).await;
        world.clock.set(time.parse().unwrap());
        for (status, remaining, reset) in [(200, 1, 1), (200, 0, 2), (429, 0, 2)] {
            let reply = server.get_with(&world.key, HOSTS).await;
            assert_eq!((reply.status.as_u16(), told(&reply)), (status, [60, remaining, reset]), "{time}");
        }
        world.clock.advance(Duration::from_secs(1));
        assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200, "{time}");
    }
}

#[tokio::test]
async fn the_smallest_and_the_greatest_limits_hold() {
    let (world, server) = limited(1, 1).await;
    assert_eq!(told(&server.get_with(&world.key, HOSTS).await), [1, 0, 60]);
    let reply = server.get_with(&world.key, HOSTS).await;
    assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 60}));
    let server = Server::new(world.inventory.clone(), limit(u32::MAX, 1));
    assert_eq!(told(&server.get_with(&world.key, HOSTS).await), [u64::from(u32::MAX), 0, 1]);
    world.clock.advance(Duration::from_micros(1));
    let caller = Caller::new(world.home.organization.id, NOBODY, Permission::Viewer, Scope::all());
    let mut request = get(HOSTS);
    request.extensions_mut().insert(caller);
    assert_eq!(server.send(request).await.status, 200);
    assert_eq!(server.get_with(&world.key, HOSTS).await.status, 200);
}
