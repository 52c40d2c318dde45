//! Unauthenticated clients are distinguished by the prefix of their address.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;

use http::Request;
use toposcope::service::{Api, ClientAddr, RateLimit};

use crate::common::{PASSWORD, Server, World, get, send_json};

const HOSTILE: u128 = 0x2001_0db8_0000_0001 << 64;

fn from(address: impl Into<IpAddr>, mut request: Request<String>) -> Request<String> {
    request.extensions_mut().insert(ClientAddr(address.into()));
    request
}

fn log_in(email: &str, password: &str) -> Request<String> {
    send_json("POST", "/api/auth/login", &serde_json::json!({"email": email, "password": password}))
}

/// A server with buckets of ten requests for prefixes of these lengths.
fn with_prefixes(world: &World, ipv4: u8, ipv6: u8) -> Server {
    let ten = NonZeroU32::new(10).unwrap();
    let builder = Api::builder(world.inventory.clone()).client_prefixes(ipv4, ipv6);
    Server::built(builder, RateLimit::new(ten, ten))
}

async fn remaining(server: &Server, address: &str) -> u64 {
    let address: IpAddr = address.parse().unwrap();
    server.send(from(address, get("/api/version"))).await.number("x-ratelimit-remaining")
}

#[tokio::test]
async fn addresses_of_an_ipv6_64_share_a_bucket_and_ipv4_addresses_do_not() {
    let world = World::new().await;
    let ten = NonZeroU32::new(10).unwrap();
    let server = Server::new(world.inventory.clone(), RateLimit::new(ten, ten));
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
        assert_eq!(remaining(&server, address).await, left, "{address}");
    }
}

#[tokio::test]
async fn prefix_lengths_beyond_an_address_count_as_whole_addresses() {
    let world = World::new().await;
    for (ipv4, ipv6) in [(32, 128), (33, 129), (255, 255)] {
        let server = with_prefixes(&world, ipv4, ipv6);
        for address in ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"] {
            assert_eq!(remaining(&server, address).await, 9, "{ipv4} {ipv6} {address}");
        }
        assert_eq!(remaining(&server, "2001:db8::1").await, 8);
    }
}

#[tokio::test]
async fn prefix_length_of_zero_makes_a_family_one_client() {
    let world = World::new().await;
    let server = with_prefixes(&world, 0, 0);
    for (address, left) in
        [("0.0.0.0", 9), ("255.255.255.255", 8), ("::", 9), ("ffff::1", 8), ("::ffff:1.2.3.4", 7)]
    {
        assert_eq!(remaining(&server, address).await, left, "{address}");
    }
    let server = with_prefixes(&world, 24, 48);
    for (address, left) in [
        ("192.0.2.1", 9),
        ("192.0.2.255", 8),
        ("192.0.3.0", 9),
        ("2001:db8:1:2::", 9),
        ("2001:db8:1:ffff::", 8),
    ] {
        assert_eq!(remaining(&server, address).await, left, "{address}");
    }
}

#[tokio::test]
async fn login_flood_from_one_ipv6_64_does_not_keep_others_out() {
    let world = World::new().await;
    let server = Server::new(world.inventory.clone(), RateLimit::default());
    let mut users = Vec::new();
    for _ in 0..40 {
        users.push(world.user(&world.abroad, toposcope::model::Permission::Viewer, &[]).await);
    }
    let flood = (0..400_u128).map(|number| {
        let request = log_in(&format!("nobody{number}@evil.example"), "wrong password");
        let (server, address) = (server.clone(), Ipv6Addr::from_bits(HOSTILE | number));
        tokio::spawn(async move { server.send(from(address, request)).await.status.as_u16() })
    });
    let flood: Vec<_> = flood.collect();
    let honest = users.iter().zip(1_u8..).map(|(user, number)| {
        let (server, request) = (server.clone(), log_in(&user.email, PASSWORD));
        tokio::spawn(async move { server.send(from([192, 0, 2, number], request)).await.status.as_u16() })
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
