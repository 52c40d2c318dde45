//! Which error is reported when several apply: 429, then routing, credential, level, query. For bodies and
//! records, see [`crate::contract`].

use std::num::NonZeroU32;

use http::Request;
use http::header::AUTHORIZATION;
use toposcope::model::Permission;
use toposcope::service::RateLimit;

use crate::common::{Server, Site, World, key_for};

const WRONG_PATH: &str = "/api/v1/nothing?bogus=1";
const WRONG_QUERY: &str = "/api/v1/hosts?bogus=1";

/// Every other path, with an invalid id if it contains one, and its method.
const OTHERS: [(&str, &str); 9] = [
    ("GET", "/api/version?bogus=1"),
    ("POST", "/api/auth/login?bogus=1"),
    ("POST", "/api/auth/logout?bogus=1"),
    ("POST", "/api/v1/auth/daemon?bogus=1"),
    ("PUT", "/api/v1/ports/x?bogus=1"),
    ("PUT", "/api/v1/auth/keys/x?bogus=1"),
    ("DELETE", "/api/v1/auth/keys/x?bogus=1"),
    ("GET", "/api/v1/shares/public/x?bogus=1"),
    ("POST", "/api/v1/organizations/referral-source?bogus=1"),
];

fn request(method: &str, target: &str, key: Option<&str>) -> Request<String> {
    let mut request = Request::builder().method(method).uri(target);
    if let Some(key) = key {
        request = request.header(AUTHORIZATION, format!("Bearer {key}"));
    }
    request.body("{".to_owned()).unwrap()
}

async fn key_without_api_access(world: &World) -> String {
    let site = Site::new(&world.inventory, "Free plan", false, 0x300).await;
    let owner = world.user(&site, Permission::Owner, &[]).await;
    world.issue(key_for(&owner, Permission::Owner, &site.networks)).await
}

#[tokio::test]
async fn the_rate_limit_comes_before_everything() {
    let world = World::new().await;
    let one = NonZeroU32::MIN;
    let free = key_without_api_access(&world).await;
    for (method, target, key) in [
        ("GET", WRONG_PATH, None),
        ("DELETE", "/api/v1/hosts", None),
        ("GET", WRONG_QUERY, None),
        ("GET", "/api/version", None),
        ("GET", WRONG_PATH, Some("x")),
        ("DELETE", "/api/v1/hosts", Some(&*free)),
        ("GET", WRONG_QUERY, Some(&free)),
        ("GET", WRONG_PATH, Some(&world.key)),
        ("POST", "/api/v1/hosts", Some(&world.key)),
        ("GET", WRONG_QUERY, Some(&world.key)),
        ("GET", "/api/v1/hosts", Some(&world.key)),
    ] {
        let server = Server::new(world.inventory.clone(), RateLimit::new(one, one));
        assert_ne!(server.send(request(method, target, key)).await.status, 429);
        server.send(request(method, target, key)).await.refuses(429, "rate_limit_exceeded");
    }
}

#[tokio::test]
async fn the_rate_limit_comes_before_everything_of_every_endpoint() {
    let world = World::new().await;
    let free = key_without_api_access(&world).await;
    for (method, target) in OTHERS {
        for key in [None, Some("x"), Some(&*free), Some(&*world.key)] {
            for method in [method, "PATCH"] {
                let server =
                    Server::new(world.inventory.clone(), RateLimit::new(NonZeroU32::MIN, NonZeroU32::MIN));
                let reply = server.send(request(method, target, key)).await;
                assert_ne!(reply.status, 429, "{method} {target}");
                server.send(request(method, target, key)).await.refuses(429, "rate_limit_exceeded");
            }
        }
    }
}

#[tokio::test]
async fn routing_comes_before_the_credential_on_every_path() {
    let world = World::new().await;
    let free = key_without_api_access(&world).await;
    for (method, target) in OTHERS {
        for key in [None, Some("x"), Some(&*free), Some(&*world.key)] {
            let reply = world.server.send(request("PATCH", target, key)).await;
            reply.refuses(405, "method_not_allowed");
            let target = target.replace('?', "/?");
            world.server.send(request(method, &target, key)).await.refuses(404, "route_not_found");
        }
    }
}

#[tokio::test]
async fn routing_comes_before_the_credential() {
    let world = World::new().await;
    let free = key_without_api_access(&world).await;
    for key in [None, Some("x"), Some(&*free), Some(&*world.key)] {
        world.server.send(request("GET", WRONG_PATH, key)).await.refuses(404, "route_not_found");
        world.server.send(request("PUT", WRONG_PATH, key)).await.refuses(404, "route_not_found");
        world.server.send(request("PUT", WRONG_QUERY, key)).await.refuses(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn the_credential_comes_before_the_query() {
    let world = World::new().await;
    let free = key_without_api_access(&world).await;
    let send = async |key| world.server.send(request("GET", WRONG_QUERY, key)).await;
    send(None).await.refuses(401, "auth_not_authenticated");
    send(Some("x")).await.refuses(401, "auth_not_authenticated");
    send(Some(&free)).await.refuses(403, "billing_feature_not_available");
    send(Some(&world.key)).await.refuses(400, "validation_unknown_parameter");
}

#[tokio::test]
async fn the_query_comes_before_what_the_records_say() {
    let world = World::new().await;
    let owner = world.user(&world.home, Permission::Owner, &[]).await;
    let blind = world.issue(key_for(&owner, Permission::Owner, &[])).await;
    world.list_as(&blind, "limit=-1").await.refuses(400, "validation_invalid_format");
}
