//! Properties that [`crate::common::Server::send`] cannot check on a single response.

use serde_json::{Value, json};
use toposcope::service::Api;

use crate::common::{OFFICE, Server, World, ample, get, host};

#[tokio::test]
async fn the_version_of_the_crate_is_told_where_the_application_names_none() {
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    let world = World::new().await;
    let api = Api::builder(world.inventory.clone()).build();
    let response = api.oneshot(get("/api/version")).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let json: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(json["data"], json!({"api_version": 1, "server_version": env!("CARGO_PKG_VERSION")}));
    assert_eq!(json["meta"], json["data"]);
}

#[tokio::test]
async fn any_version_of_the_application_is_told_as_it_is() {
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    let world = World::new().await;
    for version in ["", "1.2.3-rc.1+build", "\"}],\\", "größe 😀", "line\nbreak\0"] {
        let api = Api::builder(world.inventory.clone()).server_version(version).build();
        for target in ["/api/version", "/api/v1/hosts", "/nothing"] {
            let mut request = get(target);
            request.extensions_mut().insert(toposcope::access::Caller::new(
                world.home.organization.id,
                uuid::Uuid::nil(),
                toposcope::model::Permission::Viewer,
                toposcope::access::Scope::all(),
            ));
            let response = api.clone().oneshot(request).await.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let json: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(json["meta"]["server_version"], version);
        }
    }
}

#[tokio::test]
async fn a_list_without_hosts_is_an_empty_array_with_pagination() {
    let world = World::new().await;
    let reply = world.list("").await;
    assert_eq!(reply.json["data"], json!([]));
    let expected = json!({"total_count": 0, "limit": 50, "offset": 0, "has_more": false});
    assert_eq!(reply.json["meta"]["pagination"], expected);
}

/// The message may quote the request but stays one readable sentence; the params contain the exact values.
#[tokio::test]
async fn an_error_survives_whatever_it_quotes() {
    let world = World::new().await;
    let long = "x".repeat(50_000);
    for (sent, field) in [
        ("%22%7D%5C", "\"}\\"),
        ("line%0Abreak%00%1B%5B31m", "line\nbreak\0\u{1b}[31m"),
        ("gr%C3%B6%C3%9Fe", "größe"),
        ("%F0%9F%98%80", "😀"),
        ("%3Cscript%3E", "<script>"),
        ("%E2%80%AEevil", "\u{202e}evil"),
        ("%FFlimit", "\u{fffd}limit"),
        ("%", "%"),
        ("limit%2", "limit%2"),
        ("", ""),
        (&long, &long),
    ] {
        let reply = world.list(&format!("{sent}=1")).await;
        assert_eq!(reply.refuses(400, "validation_unknown_parameter"), &json!({"field": field}));
    }
}

#[tokio::test]
async fn the_same_request_gives_the_same_bytes() {
    let world = World::with([host(1, OFFICE), host(2, OFFICE)]).await;
    let (first, second) = (world.list("").await, world.list("").await);
    assert_eq!(first.body, second.body);
    let other = Server::new(world.inventory.clone(), ample());
    assert_eq!(other.get_with(&world.key, "/api/v1/hosts?").await.body, first.body);
}
