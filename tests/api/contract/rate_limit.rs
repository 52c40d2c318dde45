//! The bucket that a request is charged to, whatever the request is and whatever its outcome.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use http::Request;
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::Permission;
use toposcope::service::{ClientAddr, RateLimit};

use super::scene::{
    DAEMON_KEYS, HOSTS, LOG_OUT, PORT, Scene, daemon_body, key_path, log_in, port_body, put_key, share_path,
};
use crate::common::{
    OFFICE, PASSWORD, Reply, Server, Site, at, bare, get, key_for, send_json, with_key, with_session,
};

fn limited(scene: &Scene, per_minute: u32, burst: u32) -> Server {
    let number = |number| NonZeroU32::new(number).unwrap();
    Server::new(scene.world.inventory.clone(), RateLimit::new(number(per_minute), number(burst)))
}

fn from(address: &str, mut request: Request<String>) -> Request<String> {
    request.extensions_mut().insert(ClientAddr(address.parse::<IpAddr>().unwrap()));
    request
}

fn remaining(reply: &Reply) -> u64 {
    reply.number("x-ratelimit-remaining")
}

/// Sends requests with their expected statuses, all of which must be charged to the same bucket.
async fn share_a_bucket(server: &Server, requests: Vec<(&str, Request<String>, u16)>) {
    let burst = u64::try_from(requests.len()).unwrap();
    for ((name, request, status), left) in requests.into_iter().zip((0..burst).rev()) {
        let reply = server.send(request).await;
        assert_eq!((reply.status.as_u16(), remaining(&reply)), (status, left), "{name}: {}", reply.json);
    }
}

#[tokio::test]
async fn a_user_has_one_bucket_for_all_sessions_and_keys_from_wherever() {
    let scene = Scene::new().await;
    let second_key = scene.world.issue(key_for(&scene.member, Permission::Viewer, &[OFFICE])).await;
    let second_session = scene.world.sign_in(&scene.member).await;
    let mut vouched_for = get(HOSTS);
    let caller = Caller::new(scene.member.organization_id, scene.member.id, Permission::Viewer, Scope::all());
    vouched_for.extensions_mut().insert(caller);
    let mut cross_site = scene.submit_referral(&json!({"referral_source": "reddit"}));
    cross_site.headers_mut().insert("origin", "https://evil.example".parse().unwrap());
    let requests = vec![
        ("a key", from("192.0.2.1", scene.by_key(get(HOSTS))), 200),
        ("another key", from("192.0.2.2", with_key(get(HOSTS), &second_key)), 200),
        ("a session", scene.by_session(get(HOSTS)), 200),
        ("another session", with_session(get(HOSTS), &second_session), 200),
        ("the application", vouched_for, 200),
        ("no such path", scene.by_key(get("/nothing")), 404),
        ("no such method", scene.by_session(bare("PATCH", HOSTS)), 405),
        ("another site", cross_site, 403),
        ("a level too low", with_key(send_json("POST", DAEMON_KEYS, &daemon_body()), &second_key), 403),
        ("a key where a session is needed", scene.by_key(put_key(scene.key_id, &scene.key_body())), 403),
        ("a port", scene.put_port(PORT, &port_body()), 200),
        ("a daemon's key", scene.create_daemon_key(&daemon_body()), 200),
        ("a bad body", scene.create_daemon_key(&json!([])), 400),
        ("an update", scene.put_key(scene.key_id, &scene.key_body()), 200),
        ("a referral", scene.submit_referral(&json!({"referral_source": "reddit"})), 200),
        ("not found", scene.by_session(bare("DELETE", &key_path(scene.other_key_id))), 404),
        ("a logout", with_session(bare("POST", LOG_OUT), &second_session), 200),
    ];
    let burst = u32::try_from(requests.len()).unwrap();
    let server = limited(&scene, 60, burst);
    share_a_bucket(&server, requests).await;
    for request in
        [scene.by_key(get(HOSTS)), scene.by_session(get(HOSTS)), with_key(get("/nothing"), &second_key)]
    {
        server.send(request).await.refuses(429, "rate_limit_exceeded");
    }
    assert_eq!(server.get_with(&scene.world.key, HOSTS).await.status, 200, "another user");
    assert_eq!(server.get("/api/version").await.status, 200, "nobody");
}

#[tokio::test]
async fn an_address_has_one_bucket_for_all_that_is_by_nobody() {
    let scene = Scene::new().await;
    let world = &scene.world;
    let off = world.user(&world.home, Permission::Owner, &[]).await;
    let off_session = world.sign_in(&off).await;
    let off_key = world.issue(key_for(&off, Permission::Owner, &[])).await;
    world.inventory.disable_user(off.id).await.unwrap();
    let mut over = key_for(&scene.member, Permission::Viewer, &[]);
    over.expires_at = Some(at(1));
    let over = world.issue(over).await;
    let free = Site::new(&world.inventory, "Free plan", false, 0x300).await;
    let free = world.user(&free, Permission::Owner, &[]).await;
    let free = world.issue(key_for(&free, Permission::Owner, &[])).await;
    world.clock.advance(Duration::from_secs(1));
    let requests = vec![
        ("none", get(HOSTS), 401),
        ("no such path", get("/nothing"), 404),
        ("the version", get("/api/version"), 200),
        ("the version, by a key", scene.by_key(get("/api/version")), 200),
        ("a share, by a session", scene.by_session(get(&share_path(scene.share_id))), 200),
        ("a login", log_in(&scene.member.email, PASSWORD), 200),
        ("a login, by a session", scene.by_session(log_in(&scene.member.email, "wrong password")), 401),
        ("a logout by nobody", bare("POST", LOG_OUT), 200),
        ("a logout by a key alone", scene.by_key(bare("POST", LOG_OUT)), 200),
        ("no key", with_key(get(HOSTS), "nonsense"), 401),
        ("no key beside a session", scene.by_session(with_key(get(HOSTS), "nonsense")), 401),
        ("no session", with_session(get(HOSTS), "nonsense"), 401),
        ("a key that is over", with_key(get(HOSTS), &over), 401),
        ("a key of a disabled user", with_key(get(HOSTS), &off_key), 401),
        ("a session of theirs", with_session(get(HOSTS), &off_session), 401),
        ("a daemon's key", with_key(get(HOSTS), &scene.daemon_key), 403),
        ("a key without API access", with_key(get(HOSTS), &free), 403),
    ];
    let burst = u32::try_from(requests.len()).unwrap();
    let server = limited(&scene, 60, burst);
    let here = "192.0.2.1";
    let requests = requests.into_iter().map(|(name, request, status)| (name, from(here, request), status));
    share_a_bucket(&server, requests.collect()).await;
    for request in [get(HOSTS), get("/api/version"), log_in(&scene.member.email, PASSWORD)] {
        server.send(from(here, request)).await.refuses(429, "rate_limit_exceeded");
    }
    assert_eq!(server.send(from(here, scene.by_key(get(HOSTS)))).await.status, 200, "a user there");
    assert_eq!(server.send(from("192.0.2.2", get(HOSTS))).await.status, 401, "another address");
    assert_eq!(server.get(HOSTS).await.status, 401, "no address");
}

/// An IPv4-mapped IPv6 address is the same client as the IPv4 address.
#[tokio::test]
async fn an_address_is_the_same_however_it_is_written() {
    let scene = Scene::new().await;
    let server = limited(&scene, 60, 2);
    assert_eq!(remaining(&server.send(from("192.0.2.1", get("/api/version"))).await), 1);
    assert_eq!(remaining(&server.send(from("::ffff:192.0.2.1", get("/api/version"))).await), 0);
    assert_eq!(remaining(&server.send(from("::192.0.2.1", get("/api/version"))).await), 1);
}

/// Limit: requests per minute. Remaining: now. Reset: seconds until the bucket is full. Retry-After: seconds
/// until the next request.
#[tokio::test]
async fn the_figures_are_true_on_every_answer() {
    let scene = Scene::new().await;
    let server = limited(&scene, 40, 3);
    let told = |reply: &Reply| {
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map(|name| reply.number(name))
    };
    // One request is refilled every 1.5 seconds.
    let requests = [
        scene.put_port(PORT, &port_body()),
        scene.create_daemon_key(&json!({})),
        scene.by_session(get("/x")),
    ];
    for (request, figures) in requests.into_iter().zip([[40, 2, 2], [40, 1, 3], [40, 0, 5]]) {
        assert_eq!(told(&server.send(request).await), figures);
    }
    for (waited, retry_after, reset) in [(0, 2, 5), (400, 2, 5), (200, 1, 4), (800, 1, 4), (99, 1, 4)] {
        scene.world.clock.advance(Duration::from_millis(waited));
        let reply = server.send(scene.put_port(PORT, &port_body())).await;
        assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": retry_after}));
        assert_eq!((told(&reply), reply.number("retry-after")), ([40, 0, reset], retry_after));
    }
    scene.world.clock.advance(Duration::from_millis(1));
    assert_eq!(told(&server.send(scene.put_port(PORT, &port_body())).await), [40, 0, 5]);
}

/// Too many logins at one address and too many requests are separate limits: both can apply at the same time.
#[tokio::test]
async fn a_login_that_is_held_up_costs_a_request_like_any_other() {
    let scene = Scene::new().await;
    let server = limited(&scene, 60, 7);
    for _ in 0..5 {
        assert_eq!(server.send(log_in("nobody", "x")).await.status, 401);
    }
    let held_up = server.send(log_in("nobody", "x")).await;
    assert_eq!(held_up.refuses(429, "auth_too_many_attempts"), &json!({"retry_after": 900}));
    assert_eq!(remaining(&held_up), 1);
    assert_eq!(
        server.send(log_in("nobody", "x")).await.refuses(429, "auth_too_many_attempts")["retry_after"],
        900
    );
    assert_eq!(
        server.send(log_in("nobody", "x")).await.refuses(429, "rate_limit_exceeded")["retry_after"],
        1
    );
}

#[tokio::test]
async fn it_can_be_switched_off() {
    let scene = Scene::new().await;
    let server = Server::new(scene.world.inventory.clone(), None);
    // The check of every answer asserts that the figures are missing.
    for _ in 0..160 {
        assert_eq!(server.send(scene.by_session(get(HOSTS))).await.status, 200);
        assert_eq!(server.send(scene.put_port("x", &port_body())).await.status, 400);
    }
    for _ in 0..5 {
        assert_eq!(server.send(log_in("nobody", "x")).await.status, 401);
    }
    server.send(log_in("nobody", "x")).await.refuses(429, "auth_too_many_attempts");
}
