use http::{Method, Request};

use crate::common::{OFFICE, World, get, host, with_key};

async fn answers_as_get(world: &World, request: impl Fn() -> Request<String>) {
    let get = world.server.send(request()).await;
    let mut head = request();
    *head.method_mut() = Method::HEAD;
    let reply = world.server.send(head).await;
    assert_eq!(reply.status, get.status);
    assert_eq!(reply.number("content-length"), get.body.len() as u64, "{:?}", request());
    for (name, value) in get.headers.iter().filter(|(name, _)| *name != "x-ratelimit-remaining") {
        assert_eq!(reply.headers.get(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn head_is_the_get_without_its_body() {
    let world = World::with((1..=60).map(|id| host(id, OFFICE))).await;
    for target in [
        "/api/version",
        "/api/v1/hosts",
        "/api/v1/hosts?limit=0",
        "/api/v1/hosts?offset=100",
        "/api/v1/hosts?limit=1&order_by=name&order_direction=desc",
    ] {
        answers_as_get(&world, || with_key(get(target), &world.key)).await;
    }
}

#[tokio::test]
async fn head_is_refused_as_get_is() {
    let world = World::new().await;
    for target in ["/nothing", "/api/v1/hosts", "/api/v1/hosts?limit=x"] {
        answers_as_get(&world, || get(target)).await;
        answers_as_get(&world, || with_key(get(target), "topo_u_")).await;
        answers_as_get(&world, || with_key(get(target), &world.key)).await;
    }
}

#[tokio::test]
async fn head_counts_as_a_request() {
    let world = World::new().await;
    let before = world.list("").await.number("x-ratelimit-remaining");
    let request = Request::head("/api/v1/hosts").body(String::new()).unwrap();
    let after = world.server.send(with_key(request, &world.key)).await.number("x-ratelimit-remaining");
    assert_eq!(after, before - 1);
}
