//! Conditional requests: a list that the client already has is not sent again.

use http::{Method, Request};
use serde_json::json;
use toposcope::access::{Caller, Scope};
use toposcope::model::{HostId, Permission, Tag, UserId};
use toposcope::service::Api;
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::{run, run_with};
use crate::common::{
    ELSEWHERE, Fixture, Hook, LAB, OFFICE, Reply, get, host, key_for, send_json, with_caller, with_header,
    with_key, with_port,
};

const LIST: &str = "/api/v1/hosts";

fn asking(target: &str, tag: &str) -> Request<String> {
    with_header(get(target), "if-none-match", tag)
}

/// A list as a polling client sees it.
struct Poll<'w> {
    fixture: &'w Fixture,
    key: String,
    target: &'static str,
    tag: String,
}

impl<'w> Poll<'w> {
    async fn begin(fixture: &'w Fixture, key: &str, target: &'static str) -> Self {
        let reply = fixture.server.get_with(key, target).await;
        let poll = Self { fixture, key: key.to_owned(), target, tag: reply.header("etag").to_owned() };
        assert_eq!(poll.ask().await.status, 304, "{target}");
        poll
    }

    async fn ask(&self) -> Reply {
        self.fixture.send(with_key(asking(self.target, &self.tag), &self.key)).await
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

async fn poll(fixture: &Fixture) -> Poll<'_> {
    Poll::begin(fixture, &fixture.key, LIST).await
}

#[test]
fn unchanged_list_is_304() {
    run(async || {
        let fixture = Fixture::with((1..=200).map(|id| host(id, OFFICE))).await;
        for target in [
            LIST,
            "/api/v1/hosts?limit=0",
            "/api/v1/hosts?limit=0&offset=150",
            "/api/v1/hosts?offset=1000",
            "/api/v1/hosts?order_by=name&limit=3",
        ] {
            Poll::begin(&fixture, &fixture.key, target).await;
        }
    });
}

#[test]
fn change_of_a_host_changes_the_tag() {
    run_with(Fixture::with_one_host, async |fixture| {
        let mut poll = poll(&fixture).await;
        fixture.put([host(2, OFFICE)]).await;
        poll.finds_another("a new host").await;
        fixture.put([host(2, OFFICE)]).await;
        poll.finds_another("a host written again").await;
        fixture.inventory.hosts().delete(&fixture.system(), HostId::from_u128(2)).await.unwrap();
        poll.finds_another("a host deleted").await;
        let port = Uuid::from_u128(7);
        fixture.put([with_port(HostId::from_u128(1), OFFICE, port.into())]).await;
        poll.finds_another("a host with a port").await;
        let body =
            json!({"host_id": Uuid::from_u128(1), "network_id": OFFICE, "number": 4242, "protocol": "Tcp"});
        fixture
            .send(with_key(send_json("PUT", &format!("/api/v1/ports/{port}"), &body), &fixture.key))
            .await
            .data();
        poll.finds_another("another port").await;
    });
}

#[test]
fn changes_elsewhere_keep_the_tag() {
    run_with(Fixture::with_one_host, async |fixture| {
        let poll = poll(&fixture).await;
        fixture.put_abroad(host(9, ELSEWHERE)).await;
        poll.finds_nothing_new("a host of another organization").await;
        let user = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
        fixture.issue(key_for(&user, Permission::Viewer, &[OFFICE])).await;
        fixture.sign_in(&user).await;
        fixture.inventory.tags().create(&fixture.system(), Tag::new("another tag")).await.unwrap();
        poll.finds_nothing_new("users, keys, sessions and tags that no host has").await;
    });
}

#[test]
fn other_query_has_another_tag() {
    run_with(Fixture::with_one_host, async |fixture| {
        let tag = poll(&fixture).await.tag;
        for target in ["/api/v1/hosts?limit=50", "/api/v1/hosts?offset=1", "/api/v1/hosts?order_by=name"] {
            let reply = fixture.send(with_key(asking(target, &tag), &fixture.key)).await;
            assert_eq!(reply.status, 200, "{target}");
            assert_ne!(reply.header("etag"), tag, "{target}");
        }
    });
}

/// Polls with another credential or with changed rights must not receive a 304.
#[test]
fn other_rights_have_another_tag() {
    run(async || {
        let fixture = Fixture::with([host(1, OFFICE), host(2, LAB)]).await;
        let user = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE, LAB]).await;
        let key = fixture.issue(key_for(&user, Permission::Viewer, &[OFFICE, LAB])).await;
        let mut poll = Poll::begin(&fixture, &key, LIST).await;
        fixture
            .inventory
            .users()
            .set_rights(&Caller::system(user.organization_id), user.id, Permission::Viewer, vec![OFFICE])
            .await
            .unwrap();
        poll.finds_another("a network less").await;
        assert_eq!(fixture.list_as(&key, "").await.ids(), [1]);

        let tags = [fixture.key.clone(), fixture.owner_key(&fixture.abroad).await, key];
        let mut seen: Vec<String> = Vec::new();
        for key in &tags {
            seen.push(fixture.server.get_with(key, LIST).await.header("etag").to_owned());
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), tags.len());
    });
}

#[test]
fn callers_with_the_same_view_share_a_tag() {
    run_with(Fixture::with_one_host, async |fixture| {
        let tag = |user: u128, scope: Scope| {
            let caller =
                Caller::new(fixture.home.organization.id, UserId::from_u128(user), Permission::Viewer, scope);
            let request = with_caller(get(LIST), caller);
            async { fixture.send(request).await.header("etag").to_owned() }
        };
        let whole = tag(1, Scope::all()).await;
        assert_eq!(tag(2, Scope::all()).await, whole);
        assert_ne!(tag(2, Scope::only([])).await, whole);
        assert_eq!(tag(1, Scope::only([OFFICE, LAB])).await, tag(2, Scope::only([LAB, OFFICE])).await);
    });
}

#[test]
fn tag_is_recognized_in_every_valid_form() {
    run_with(Fixture::with_one_host, async |fixture| {
        let tag = poll(&fixture).await.tag;
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
            let reply = fixture.send(with_key(asking(LIST, &value), &fixture.key)).await;
            assert_eq!(reply.status, 304, "{value}");
        }
        let inner = tag.trim_start_matches("W/").trim_matches('"').to_owned();
        let unknown =
            [inner, String::new(), "\"\"".into(), "W/\"*\"".into(), "\"a,*,b\"".into(), tag.to_lowercase()];
        for value in unknown {
            let reply = fixture.send(with_key(asking(LIST, &value), &fixture.key)).await;
            assert_eq!(reply.status, 200, "{value}");
        }
        let mut twice = asking(LIST, "\"a\"");
        twice.headers_mut().append("if-none-match", tag.parse().unwrap());
        assert_eq!(fixture.send(with_key(twice, &fixture.key)).await.status, 304);
        let mut head = with_key(asking(LIST, &tag), &fixture.key);
        *head.method_mut() = Method::HEAD;
        assert_eq!(fixture.send(head).await.status, 304);
    });
}

/// Errors come first, and only a list can be unchanged.
#[test]
fn condition_hides_no_error_and_is_ignored_outside_of_lists() {
    run_with(Fixture::with_one_host, async |fixture| {
        let tag = poll(&fixture).await.tag;
        fixture.send(asking(LIST, &tag)).await.refuses(401, "auth_not_authenticated");
        let bad = with_key(asking("/api/v1/hosts?limit=x", "*"), &fixture.key);
        fixture.send(bad).await.refuses(400, "validation_invalid_format");
        assert_eq!(fixture.send(asking("/api/version", "*")).await.status, 200);
    });
}

#[test]
fn version_of_the_server_and_store_change_the_tag() {
    run_with(Fixture::with_one_host, async |fixture| {
        let mut tags = Vec::new();
        for version in ["1.0.0", "1.0.1"] {
            let api = Api::builder(fixture.inventory.clone()).server_version(version).build();
            let response = api.oneshot(with_key(get(LIST), &fixture.key)).await.unwrap();
            tags.push(response.headers()["etag"].clone());
        }
        assert_ne!(tags[0], tags[1]);
        // Stores with the same number of commits differ, also a memory store before and after a restart.
        let other = Fixture::with([host(1, OFFICE)]).await;
        assert_ne!(poll(&fixture).await.tag, poll(&other).await.tag);
    });
}

/// If the store has no revision, its lists are sent every time.
#[test]
fn store_without_revision_has_no_tag() {
    run_with(Fixture::with_one_host, async |fixture| {
        let store = Hook::new();
        store.hide_revision();
        let inventory = fixture.inventory_with(&store);
        let response =
            Api::builder(inventory).build().oneshot(with_key(asking(LIST, "*"), &fixture.key)).await.unwrap();
        assert_eq!((response.status().as_u16(), response.headers().get("etag")), (200, None));
        assert_eq!(response.headers()["cache-control"], "no-store");
    });
}
