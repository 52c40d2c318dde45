//! Conditional requests: a list that the client already has is not sent again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Method, Request};
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::Inventory;
use toposcope::model::{Permission, Port, Protocol};
use toposcope::service::Api;
use tower::ServiceExt;
use uuid::Uuid;

use crate::common::{LAB, OFFICE, Reply, Switched, World, at, get, host, key_for, send_json, with_key};

const LIST: &str = "/api/v1/hosts";

fn asking(target: &str, tag: &str) -> Request<String> {
    let mut request = get(target);
    request.headers_mut().insert("if-none-match", tag.parse().unwrap());
    request
}

/// A list as a polling client sees it.
struct Poll<'w> {
    world: &'w World,
    key: String,
    target: &'static str,
    tag: String,
}

impl<'w> Poll<'w> {
    async fn begin(world: &'w World, key: &str, target: &'static str) -> Self {
        let reply = world.server.get_with(key, target).await;
        let poll = Self { world, key: key.to_owned(), target, tag: reply.header("etag").to_owned() };
        assert_eq!(poll.ask().await.status, 304, "{target}");
        poll
    }

    async fn ask(&self) -> Reply {
        self.world.server.send(with_key(asking(self.target, &self.tag), &self.key)).await
    }

    /// Asserts that the list has changed, and that the next poll recognizes this.
    async fn finds_another(&mut self, what: &str) {
        let reply = self.ask().await;
        assert_eq!(reply.status, 200, "{what}");
        self.tag = reply.header("etag").to_owned();
        self.finds_nothing_new(what).await;
    }

    async fn finds_nothing_new(&self, what: &str) {
        let reply = self.ask().await;
        assert_eq!(reply.status, 304, "{what}");
        assert_eq!(reply.header("etag"), self.tag, "{what}");
    }
}

async fn poll(world: &World) -> Poll<'_> {
    Poll::begin(world, &world.key, LIST).await
}

#[tokio::test]
async fn a_list_that_the_client_has_is_not_sent_again() {
    let world = World::with((1..=200).map(|id| host(id, OFFICE))).await;
    for target in [
        LIST,
        "/api/v1/hosts?limit=0",
        "/api/v1/hosts?limit=0&offset=150",
        "/api/v1/hosts?offset=1000",
        "/api/v1/hosts?order_by=name&limit=3",
    ] {
        Poll::begin(&world, &world.key, target).await;
    }
}

#[tokio::test]
async fn every_change_of_a_host_is_something_new() {
    let world = World::with([host(1, OFFICE)]).await;
    let mut poll = poll(&world).await;
    world.put([host(2, OFFICE)]).await;
    poll.finds_another("a new host").await;
    world.put([host(2, OFFICE)]).await;
    poll.finds_another("a host written again").await;
    world.inventory.delete_host(world.home.organization.id, Uuid::from_u128(2)).await.unwrap();
    poll.finds_another("a host deleted").await;
}

#[tokio::test]
async fn the_change_of_a_port_is_something_new() {
    let mut host = host(1, OFFICE);
    host.ports = vec![Port {
        id: Uuid::from_u128(7),
        host_id: host.id,
        network_id: OFFICE,
        number: 22.try_into().unwrap(),
        protocol: Protocol::Tcp,
        created_at: at(0),
        updated_at: at(0),
    }];
    let world = World::with([host.clone()]).await;
    let mut poll = poll(&world).await;
    let body = json!({"host_id": host.id, "network_id": OFFICE, "number": 4242, "protocol": "Tcp"});
    let update = send_json("PUT", &format!("/api/v1/ports/{}", Uuid::from_u128(7)), &body);
    world.server.send(with_key(update, &world.key)).await.data();
    poll.finds_another("another port").await;
}

#[tokio::test]
async fn what_others_do_is_nothing_new() {
    let world = World::with([host(1, OFFICE)]).await;
    let poll = poll(&world).await;
    world.inventory.put_host(world.abroad.organization.id, host(9, world.abroad.networks[0])).await.unwrap();
    poll.finds_nothing_new("a host of another organization").await;
    let user = world.user(&world.home, Permission::Viewer, &[OFFICE]).await;
    world.issue(key_for(&user, Permission::Viewer, &[OFFICE])).await;
    world.sign_in(&user).await;
    world.inventory.create_tag(world.home.organization.id, "another tag").await.unwrap();
    poll.finds_nothing_new("users, keys, sessions and tags that no host has").await;
}

#[tokio::test]
async fn another_query_is_another_list() {
    let world = World::with([host(1, OFFICE)]).await;
    let tag = poll(&world).await.tag;
    for target in ["/api/v1/hosts?limit=50", "/api/v1/hosts?offset=1", "/api/v1/hosts?order_by=name"] {
        let reply = world.server.send(with_key(asking(target, &tag), &world.key)).await;
        assert_eq!(reply.status, 200, "{target}");
        assert_ne!(reply.header("etag"), tag, "{target}");
    }
}

/// A client that polls with another credential, or with changed rights, must not receive a 304.
#[tokio::test]
async fn other_rights_are_another_list() {
    let world = World::with([host(1, OFFICE), host(2, LAB)]).await;
    let user = world.user(&world.home, Permission::Viewer, &[OFFICE, LAB]).await;
    let key = world.issue(key_for(&user, Permission::Viewer, &[OFFICE, LAB])).await;
    let mut poll = Poll::begin(&world, &key, LIST).await;
    world.inventory.set_user_rights(user.id, Permission::Viewer, vec![OFFICE]).await.unwrap();
    poll.finds_another("a network less").await;
    assert_eq!(world.list_as(&key, "").await.ids(), [1]);

    let tags = [world.key.clone(), world.owner_key(&world.abroad).await, key];
    let mut told: Vec<String> = Vec::new();
    for key in &tags {
        told.push(world.server.get_with(key, LIST).await.header("etag").to_owned());
    }
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), tags.len());
}

#[tokio::test]
async fn callers_with_the_same_view_share_their_tags() {
    let world = World::with([host(1, OFFICE)]).await;
    let tag = |user: u128, scope: Scope| {
        let caller =
            Caller::new(world.home.organization.id, Uuid::from_u128(user), Permission::Viewer, scope);
        let mut request = get(LIST);
        request.extensions_mut().insert(caller);
        async { world.server.send(request).await.header("etag").to_owned() }
    };
    let whole = tag(1, Scope::all()).await;
    assert_eq!(tag(2, Scope::all()).await, whole);
    assert_ne!(tag(2, Scope::only([])).await, whole);
    assert_eq!(tag(1, Scope::only([OFFICE, LAB])).await, tag(2, Scope::only([LAB, OFFICE])).await);
}

#[tokio::test]
async fn a_tag_is_known_in_every_way_a_client_may_send_it() {
    let world = World::with([host(1, OFFICE)]).await;
    let tag = poll(&world).await.tag;
    let strong = tag.trim_start_matches("W/").to_owned();
    let known = [
        tag.clone(),
        strong,
        format!("\"a\", {tag}"),
        format!("{tag},\"b\""),
        format!("\"a,\",\t{tag} "),
        "*".into(),
    ];
    for value in known {
        let reply = world.server.send(with_key(asking(LIST, &value), &world.key)).await;
        assert_eq!(reply.status, 304, "{value}");
    }
    let inner = tag.trim_start_matches("W/").trim_matches('"').to_owned();
    let unknown =
        [inner, String::new(), "\"\"".into(), "W/\"*\"".into(), "\"a,*,b\"".into(), tag.to_lowercase()];
    for value in unknown {
        let reply = world.server.send(with_key(asking(LIST, &value), &world.key)).await;
        assert_eq!(reply.status, 200, "{value}");
    }
    let mut twice = asking(LIST, "\"a\"");
    twice.headers_mut().append("if-none-match", tag.parse().unwrap());
    assert_eq!(world.server.send(with_key(twice, &world.key)).await.status, 304);
}

/// Errors come first, and only a list can be unchanged.
#[tokio::test]
async fn a_condition_hides_no_error_and_means_nothing_elsewhere() {
    let world = World::with([host(1, OFFICE)]).await;
    let tag = poll(&world).await.tag;
    world.server.send(asking(LIST, &tag)).await.refuses(401, "auth_not_authenticated");
    let bad = with_key(asking("/api/v1/hosts?limit=x", "*"), &world.key);
    world.server.send(bad).await.refuses(400, "validation_invalid_format");
    assert_eq!(world.server.send(asking("/api/version", "*")).await.status, 200);
}

#[tokio::test]
async fn head_is_conditional_as_get_is() {
    let world = World::with([host(1, OFFICE)]).await;
    let mut request = with_key(asking(LIST, &poll(&world).await.tag), &world.key);
    *request.method_mut() = Method::HEAD;
    assert_eq!(world.server.send(request).await.status, 304);
}

#[tokio::test]
async fn another_version_of_the_server_is_another_list() {
    let world = World::with([host(1, OFFICE)]).await;
    let mut tags = Vec::new();
    for version in ["1.0.0", "1.0.1"] {
        let api = Api::builder(world.inventory.clone()).server_version(version).build();
        let response = api.oneshot(with_key(get(LIST), &world.key)).await.unwrap();
        tags.push(response.headers()["etag"].clone());
    }
    assert_ne!(tags[0], tags[1]);
}

/// Stores with the same number of commits have different tags, also a memory store before and after a
/// restart.
#[tokio::test]
async fn the_same_hosts_in_another_store_are_another_list() {
    let (one, other) = (World::with([host(1, OFFICE)]).await, World::with([host(1, OFFICE)]).await);
    assert_ne!(poll(&one).await.tag, poll(&other).await.tag);
}

/// If the store has no revision, its lists are sent every time.
#[tokio::test]
async fn without_a_revision_there_is_no_tag() {
    let world = World::with([host(1, OFFICE)]).await;
    let store = Switched::new(world.store.clone());
    store.tells_revision.store(false, Ordering::SeqCst);
    let inventory = Inventory::new(store).with_clock(Arc::new(world.clock.clone()));
    let response =
        Api::builder(inventory).build().oneshot(with_key(asking(LIST, "*"), &world.key)).await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers().get("etag")), (200, None));
    assert_eq!(response.headers()["cache-control"], "no-store");
}
