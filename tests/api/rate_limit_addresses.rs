//! The rate limit after more addresses than it can remember: the figures in its headers stay true.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use http::Request;
use toposcope::service::{ClientAddr, RateLimit};
use tower::ServiceExt;

use crate::common::{Reply, Server, World, get, with_key};

const ADDRESSES: u32 = if cfg!(debug_assertions) { 5_000 } else { 1_000_000 };

/// Returns a request from a /64 of its own.
fn from(number: u32) -> Request<String> {
    let mut request = get("/api/version");
    let address = Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number) << 64);
    request.extensions_mut().insert(ClientAddr(IpAddr::from(address)));
    request
}

/// Sends a request from every address. There are too many answers to check more than their figures.
async fn flood(server: &Server, burst: u64) {
    for number in 0..ADDRESSES {
        let response = server.api.clone().oneshot(from(number)).await.unwrap();
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

fn remaining(reply: &Reply) -> u64 {
    reply.number("x-ratelimit-remaining")
}

/// Asserts that the figures are true for an address that sends alone: each request costs one, a refusal
/// follows the last, and a client that waits as long as `Retry-After` says is accepted.
async fn check_told(world: &World, server: &Server, number: u32) {
    let mut reply = server.send(from(number)).await;
    while reply.status == 200 {
        let left = remaining(&reply);
        reply = server.send(from(number)).await;
        assert_eq!(reply.status == 200, left > 0);
        assert_eq!(remaining(&reply), left.saturating_sub(1));
    }
    assert_eq!((reply.status.as_u16(), remaining(&reply)), (429, 0));
    world.clock.advance(Duration::from_secs(reply.number("retry-after")));
    assert_eq!(server.send(from(number)).await.status, 200);
}

#[tokio::test]
async fn after_a_flood_of_addresses_everybody_is_told_the_truth() {
    let world = World::new().await;
    let newcomer = world.owner_key(&world.home).await;
    let limit = RateLimit::default();
    let burst = u64::from(limit.burst().get());
    let server = Server::new(world.inventory.clone(), limit);
    let send = async |key| remaining(&server.send(with_key(get("/api/v1/hosts"), key)).await);
    assert_eq!(send(&world.key).await, burst - 1);
    flood(&server, burst).await;
    assert_eq!(send(&world.key).await, burst - 2, "a user keeps a bucket");
    assert_eq!(send(&newcomer).await, burst - 1, "another user gets one");
    assert_eq!(remaining(&server.send(from(0)).await), burst - 2, "who came early keeps a bucket");
    for number in [1, ADDRESSES / 2, ADDRESSES - 1, ADDRESSES, u32::MAX] {
        check_told(&world, &server, number).await;
    }
    // Wait until every bucket is full again.
    world.clock.advance(Duration::from_secs(burst * 60 / u64::from(limit.per_minute().get())));
    for number in [0, ADDRESSES - 1, ADDRESSES, u32::MAX] {
        assert_eq!(remaining(&server.send(from(number)).await), burst - 1, "each has a bucket again");
    }
    assert_eq!(send(&world.key).await, burst - 1);
}
