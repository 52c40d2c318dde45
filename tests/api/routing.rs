use http::{Method, Request};
use serde_json::json;

use crate::common::{OFFICE, VERSION, World, get, host, with_key};

#[tokio::test]
async fn unknown_paths_are_404_with_and_without_a_key() {
    let world = World::new().await;
    for path in [
        "/",
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v1/host",
        "/api/v1/hosts/",
        "/api/v1/hosts//",
        "/api/v1//hosts",
        "/api//v1/hosts",
        "//api/v1/hosts",
        "/api/v1/hosts/00000000-0000-0000-0000-000000000001",
        "/API/v1/hosts",
        "/api/V1/hosts",
        "/api/v1/Hosts",
        "/api/v1/host%73",
        "/api/v1%2Fhosts",
        "/api/v1/hosts%20",
        "/api/v1/hosts%00",
        "/api/v1/hosts;limit=1",
        "/api/v1/./hosts",
        "/api/v1/x/../hosts",
        "/api/v2/hosts",
        "/api/hosts",
        "/v1/hosts",
        "/api/v1/version",
        "/api/version/",
        "/api/Version",
        "/api/versions",
        "/favicon.ico",
    ] {
        let without_key = world.server.get(path).await;
        assert_eq!(without_key.refuses(404, "route_not_found"), &json!({}), "{path}");
        let with_key = world.server.get_with(&world.key, path).await;
        assert_eq!(with_key.refuses(404, "route_not_found"), &json!({}), "{path}");
        let posted = Request::post(path).body(String::new()).unwrap();
        world.server.send(posted).await.refuses(404, "route_not_found");
    }
}

#[tokio::test]
async fn unusual_forms_of_a_target_are_404() {
    let world = World::new().await;
    for (method, target) in [
        (Method::OPTIONS, "*"),
        (Method::GET, "*"),
        (Method::CONNECT, "example.net:443"),
        (Method::GET, "http://example.net"),
        (Method::GET, "http://example.net/"),
    ] {
        let request = Request::builder().method(method).uri(target).body(String::new()).unwrap();
        world.server.send(request).await.refuses(404, "route_not_found");
    }
}

#[tokio::test]
async fn a_target_with_scheme_and_host_is_answered_by_its_path() {
    let world = World::with([host(1, OFFICE)]).await;
    let reply = world.server.get_with(&world.key, "https://example.net/api/v1/hosts?limit=1").await;
    assert_eq!(reply.ids(), [1]);
    assert_eq!(world.server.get("http://user@[::1]:8080/api/version").await.status, 200);
}

#[tokio::test]
async fn every_method_but_get_and_head_is_405() {
    let world = World::new().await;
    for path in ["/api/v1/hosts", "/api/version", "/api/v1/hosts?bogus=1"] {
        for method in
            ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "Head"]
        {
            let request = || Request::builder().method(method).uri(path).body("{}".to_owned()).unwrap();
            let reply = world.server.send(request()).await;
            assert_eq!(reply.refuses(405, "method_not_allowed"), &json!({}), "{method} {path}");
            assert_eq!(reply.header("allow"), "GET, HEAD", "{method} {path}");
            let reply = world.server.send(with_key(request(), &world.key)).await;
            assert_eq!(reply.refuses(405, "method_not_allowed"), &json!({}), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_preflight_of_another_origin_is_405_without_cors_headers() {
    let world = World::new().await;
    let request = Request::options("/api/v1/hosts")
        .header("origin", "https://elsewhere.example")
        .header("access-control-request-method", "GET")
        .body(String::new())
        .unwrap();
    world.server.send(request).await.refuses(405, "method_not_allowed");
}

#[tokio::test]
async fn the_version_is_told_to_everybody() {
    let world = World::new().await;
    let expected = json!({"api_version": 1, "server_version": VERSION});
    assert_eq!(world.server.get("/api/version").await.json["data"], expected);
    let with_key_of_nobody = world.server.get_with("nonsense", "/api/version").await;
    assert_eq!(with_key_of_nobody.json["data"], expected);
    assert_eq!(world.server.get_with(&world.key, "/api/version?").await.json["data"], expected);
}

/// Every endpoint refuses unknown parameters.
#[tokio::test]
async fn the_version_takes_no_parameters() {
    let world = World::new().await;
    let reply = world.server.get("/api/version?limit=1").await;
    assert_eq!(reply.refuses(400, "validation_unknown_parameter"), &json!({"field": "limit"}));
}

#[tokio::test]
async fn the_body_of_a_get_is_not_looked_at() {
    let world = World::with([host(1, OFFICE)]).await;
    let request = get("/api/v1/hosts").map(|_| "{\"limit\": [".to_owned());
    assert_eq!(world.server.send(with_key(request, &world.key)).await.ids(), [1]);
}

#[tokio::test]
async fn what_a_client_accepts_changes_nothing() {
    let world = World::with([host(1, OFFICE)]).await;
    for (name, value) in [
        ("accept", "text/html"),
        ("accept", "application/problem+json"),
        ("accept-encoding", "gzip"),
        ("accept-charset", "utf-16"),
        ("if-none-match", "W/\"of-something-else\""),
        ("range", "bytes=0-1"),
        ("expect", "100-continue"),
        ("x-http-method-override", "DELETE"),
    ] {
        let mut request = with_key(get("/api/v1/hosts"), &world.key);
        request.headers_mut().insert(name, value.parse().unwrap());
        assert_eq!(world.server.send(request).await.ids(), [1], "{name}");
    }
}
