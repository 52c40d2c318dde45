//! Imports and bulk requests whose bodies arrive slowly.

use std::time::Duration;
use toposcope::access::Caller;

use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, advance, pause};
use toposcope::inventory::Quotas;
use toposcope::model::{Host, User};

use super::*;
use crate::common::{Hook, Server, Site, Upload, ample, host, key_for};

const IMPORT: &str = "/api/v1/hosts/import";
const BULK: &str = "/api/v1/hosts/bulk";

fn import(query: &str, key: &str) -> Request<String> {
    let request = bare("POST", &format!("{IMPORT}{query}"));
    with_key(with_header(request, "content-type", "application/x-ndjson"), key)
}

fn lines(hosts: impl IntoIterator<Item = Host>) -> String {
    hosts.into_iter().map(|host| serde_json::to_string(&host).unwrap() + "\n").collect()
}

/// Begins an import by a Member of the office and the lab, whose rights then change. Returns the answer.
///
/// The first group of lines is stored before the change; the second one waits for the lines after it.
async fn import_around(query: &str, change: impl AsyncFnOnce(&Fixture, User)) -> (Fixture, Reply) {
    let fixture = Fixture::new().await.on_one_instance();
    let networks = [OFFICE, LAB];
    let user = fixture.user(&fixture.home, Permission::Member, &networks).await;
    let key = fixture.issue(key_for(&user, Permission::Member, &networks)).await;
    let upload = Upload::begin(&fixture.server, import(query, &key)).await;
    upload.send(&lines((1..=600).map(|id| host(id, OFFICE))));
    while fixture.list("limit=1").await.total() < 256 {
        yield_now().await;
    }
    change(&fixture, user).await;
    let reply = upload.finish(&lines([host(601, OFFICE)])).await;
    (fixture, reply)
}

#[test]
fn import_ends_when_the_rights_of_its_caller_are_withdrawn() {
    run(async || {
        let delete_key = async |fixture: &Fixture, user: User| {
            let keys = fixture
                .inventory
                .user_api_keys()
                .of_user(&Caller::system(user.organization_id), user.id)
                .await
                .unwrap();
            fixture
                .inventory
                .user_api_keys()
                .delete(&Caller::system(keys[0].organization_id), keys[0].id)
                .await
                .unwrap();
        };
        let (fixture, reply) = import_around("", delete_key).await;
        reply.refuses(401, "auth_not_authenticated");
        assert_eq!(fixture.list("limit=1").await.total(), 256);

        let disable = async |fixture: &Fixture, user: User| {
            fixture.inventory.users().disable(&Caller::system(user.organization_id), user.id).await.unwrap();
        };
        let (fixture, reply) = import_around("", disable).await;
        reply.refuses(401, "entity_disabled");
        assert_eq!(fixture.list("limit=1").await.total(), 256);

        let demote = async |fixture: &Fixture, user: User| {
            let networks = vec![OFFICE, LAB];
            fixture
                .inventory
                .users()
                .set_rights(&Caller::system(user.organization_id), user.id, Permission::Viewer, networks)
                .await
                .unwrap();
        };
        let (fixture, reply) = import_around("?dry_run=false", demote).await;
        reply.refuses(403, "auth_permission_denied");
        assert_eq!(fixture.list("limit=1").await.total(), 256);
    });
}

#[test]
fn import_stores_nothing_on_a_network_that_its_caller_has_lost() {
    run(async || {
        let lose_office = async |fixture: &Fixture, user: User| {
            fixture
                .inventory
                .users()
                .set_rights(&Caller::system(user.organization_id), user.id, Permission::Member, vec![LAB])
                .await
                .unwrap();
        };
        let (fixture, reply) = import_around("", lose_office).await;
        assert_eq!((&reply.data()["imported"], &reply.data()["refused"]), (&json!(256), &json!(345)));
        assert_eq!(reply.data()["refusals"][0]["line"], 257);
        assert_eq!(fixture.list("limit=1").await.total(), 256);

        let (fixture, reply) = import_around(&format!("?network_id={OFFICE}"), lose_office).await;
        let params = reply.refuses(403, "entity_access_denied");
        assert_eq!((&params["entity"], &params["id"]), (&json!("Network"), &json!(OFFICE)));
        assert_eq!(params["report"]["imported"], 256);
        assert_eq!(fixture.list("limit=1").await.total(), 256);
    });
}

fn bulk(key: &str) -> Request<String> {
    with_key(send_json("POST", BULK, &json!(null)), key)
}

async fn assert_refused(server: &Server, request: Request<String>) {
    let reply = server.send(request).await;
    assert_eq!(*reply.refuses(429, "rate_limit_exceeded"), json!({"retry_after": 1}));
}

/// Begins as many imports of a user as one may run at once.
async fn begin_all(fixture: &Fixture, site: &Site) -> Vec<Upload> {
    let key = fixture.owner_key(site).await;
    let mut uploads = Vec::new();
    for _ in 0..2 {
        uploads.push(Upload::begin(&fixture.server, import("", &key)).await);
    }
    assert_refused(&fixture.server, import("", &key)).await;
    uploads
}

#[test]
fn organization_at_its_maximum_of_imports_leaves_some_for_others() {
    run(async || {
        let fixture = Fixture::new().await.on_one_instance();
        let mut uploads = Vec::new();
        for _ in 0..3 {
            uploads.extend(begin_all(&fixture, &fixture.home).await);
        }
        assert_refused(&fixture.server, import("", &fixture.key)).await;
        for upload in begin_all(&fixture, &fixture.abroad).await {
            upload.cancel().await;
        }
        for upload in uploads {
            upload.finish("").await.data();
        }
        Upload::begin(&fixture.server, import("", &fixture.key)).await.finish("").await.data();
    });
}

/// Sends a bulk request of one host, which waits for the store.
async fn begin_bulk(server: &Server, hook: &Hook, key: &str) -> JoinHandle<Reply> {
    let (server, request) = (server.clone(), bulk(key).map(|_| json!({"hosts": [host_body()]}).to_string()));
    let before = hook.commits();
    let reply = tokio::spawn(async move { server.send(request).await });
    while hook.commits() == before {
        yield_now().await;
    }
    reply
}

#[test]
fn organization_at_its_maximum_of_bulk_requests_leaves_some_for_others() {
    run(async || {
        let fixture = Fixture::new().await;
        let keys = [fixture.owner_key(&fixture.home).await, fixture.owner_key(&fixture.home).await];
        let keys = [&keys[0], &keys[1], &fixture.key];
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let hook = Hook::new();
        let server = fixture.server_with(&hook);
        let held = hook.writable.acquire().await.unwrap();
        let mut replies = Vec::new();
        for key in keys {
            for _ in 0..8 {
                replies.push(begin_bulk(&server, &hook, key).await);
            }
            assert_refused(&server, bulk(key)).await;
        }
        let theirs = with(&host_body(), "network_id", ELSEWHERE.to_string());
        let (begun, before) = (server.clone(), hook.commits());
        let request = bulk(&abroad).map(|_| json!({"hosts": [theirs]}).to_string());
        replies.push(tokio::spawn(async move { begun.send(request).await }));
        while hook.commits() == before {
            yield_now().await;
        }
        drop(held);
        for reply in replies {
            reply.await.unwrap().data();
        }
    });
}

/// Bodies that arrive slowly do not delay other requests.
#[test]
fn bodies_that_arrive_slowly_take_no_slots() {
    run(async || {
        let fixture = Fixture::new().await.on_one_instance();
        let mut uploads = Vec::new();
        for _ in 0..40 {
            uploads.push(Upload::begin(&fixture.server, bulk(&fixture.key)).await);
        }
        let body = json!({"hosts": [host_body()]}).to_string();
        fixture.send(bulk(&fixture.key).map(|_| body.clone())).await.data();
        for upload in uploads {
            upload.finish(&body).await.data();
        }
    });
}

/// Returns a server that accepts bodies of at most 1 MiB.
fn small(fixture: &Fixture) -> Server {
    fixture.configured(|builder| {
        let builder = builder.bulk_body_limit(1024 * 1024);
        #[cfg(feature = "discovery")]
        let builder = builder.report_body_limit(1024 * 1024);
        builder
    })
}

#[test]
fn thousand_unfinished_bodies_take_bounded_memory_and_others_are_served() {
    run(async || {
        let fixture = Fixture::new().await;
        let (server, abroad) = (small(&fixture), fixture.owner_key(&fixture.abroad).await);
        let part = " ".repeat(300 * 1024);
        let (mut open, mut refused) = (Vec::new(), 0);
        for _ in 0..1000 {
            let upload = Upload::begin(&server, bulk(&fixture.key)).await;
            upload.send(&part);
            match upload.settled().await {
                Ok(reply) => {
                    assert_eq!(*reply.refuses(429, "rate_limit_exceeded"), json!({"retry_after": 1}));
                    refused += 1;
                }
                Err(upload) => open.push(upload),
            }
        }
        // Two bodies of the largest size, of which 64 KiB each do not count.
        assert_eq!((open.len(), refused), (8, 992));
        let small = json!({"hosts": [host_body()]}).to_string();
        server.send(bulk(&fixture.key).map(|_| small)).await.data();
        let theirs = json!({"hosts": [with(&host_body(), "network_id", ELSEWHERE.to_string())]}).to_string();
        server.send(bulk(&abroad).map(|_| part.clone() + &theirs)).await.data();
        open.pop().unwrap().cancel().await;
        let large = part.clone() + &json!({"hosts": [host_body()]}).to_string();
        server.send(bulk(&fixture.key).map(|_| large)).await.data();
        for upload in open {
            upload.cancel().await;
        }
    });
}

#[test]
fn users_of_one_organization_leave_memory_for_others() {
    run(async || {
        let fixture = Fixture::new().await;
        let (server, abroad) = (small(&fixture), fixture.owner_key(&fixture.abroad).await);
        let part = " ".repeat(1000 * 1024);
        let mut open = Vec::new();
        for _ in 0..5 {
            let key = fixture.owner_key(&fixture.home).await;
            for _ in 0..2 {
                let upload = Upload::begin(&server, bulk(&key)).await;
                upload.send(&part);
                open.extend(upload.settled().await.err());
            }
        }
        // A quarter of the eight bodies that fit.
        assert_eq!(open.len(), 2);
        for _ in 0..2 {
            let upload = Upload::begin(&server, bulk(&abroad)).await;
            upload.send(&part);
            open.push(upload.settled().await.unwrap_err());
        }
        for upload in open {
            upload.cancel().await;
        }
    });
}

#[tokio::test]
async fn body_whose_client_stalls_is_aborted() {
    let fixture = Fixture::new().await;
    pause();
    let text = lines((1..=300).map(|id| host(id, OFFICE)));
    for (request, is_import) in [(import("", &fixture.key), true), (bulk(&fixture.key), false)] {
        let upload = Upload::begin(&fixture.server, request).await;
        upload.send(&text);
        let begun = Instant::now();
        let reply = upload.stall().await;
        let params = reply.refuses(408, "request_timeout");
        assert_eq!(params.get("report").is_some(), is_import, "{params}");
        assert_eq!(begun.elapsed().as_secs(), 60);
    }
    assert_eq!(fixture.list("limit=1").await.total(), 256, "whole groups are stored");
}

/// Sends a byte every ten seconds. Returns the answer, and the seconds until it came.
async fn drip(upload: Upload) -> (Reply, u64) {
    let begun = Instant::now();
    loop {
        upload.send(" ");
        for _ in 0..10 {
            yield_now().await;
        }
        advance(Duration::from_secs(10)).await;
        for _ in 0..10 {
            yield_now().await;
        }
        if upload.is_answered() {
            return (upload.stall().await, begun.elapsed().as_secs());
        }
    }
}

#[tokio::test]
async fn body_that_drips_is_aborted_after_a_minute_and_a_second_for_each_32_kib() {
    let fixture = Fixture::new().await;
    pause();
    let log_in = || send_json("POST", "/api/auth/login", &json!(null));
    for request in [log_in(), import("", &fixture.key), bulk(&fixture.key)] {
        let is_import = request.uri().path().ends_with("/import");
        let (reply, seconds) = drip(Upload::begin(&fixture.server, request).await).await;
        assert_eq!(reply.refuses(408, "request_timeout").get("report").is_some(), is_import);
        // A moment after a minute, and thus before the byte that follows.
        assert_eq!(seconds, 70);
    }
    for (request, size, most) in [
        (log_in(), 16 * 1024, 70),
        (bulk(&fixture.key), 1024 * 1024, 100),
        (bulk(&fixture.key), 16 << 20, 580),
    ] {
        let (reply, seconds) = drip(Upload::begin_of_size(&fixture.server, request, size).await).await;
        assert_eq!(reply.refuses(408, "request_timeout"), &json!({}));
        assert_eq!(seconds, most, "{size}");
    }
}

#[tokio::test]
async fn body_without_a_size_may_take_as_long_as_32_kib_a_second_do() {
    let fixture = Fixture::new().await;
    pause();
    let upload = Upload::begin(&fixture.server, import("", &fixture.key)).await;
    let padding = "\n".repeat(32 * 1024);
    for _ in 0..300 {
        upload.send(&padding);
        for _ in 0..10 {
            yield_now().await;
        }
        advance(Duration::from_secs(1)).await;
    }
    assert_eq!(upload.finish(&lines([host(1, OFFICE)])).await.data()["imported"], 1);
}

/// Time in which the server works is not counted against the client.
#[tokio::test]
async fn only_time_in_which_the_client_is_awaited_counts() {
    let fixture = Fixture::new().await;
    let hook = Hook::new();
    let server = fixture.server_with(&hook);
    pause();
    let held = hook.writable.acquire().await.unwrap();
    let upload = Upload::begin(&server, import("", &fixture.key)).await;
    upload.send(&lines((1..=600).map(|id| host(id, OFFICE))));
    while hook.commits() == 0 {
        yield_now().await;
    }
    advance(Duration::from_secs(600)).await;
    drop(held);
    assert_eq!(upload.finish("").await.data()["imported"], 600);
}

/// A server on a runtime without a time driver.
#[test]
fn body_is_awaited_without_a_timer() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let fixture = Fixture::new().await;
        let upload = Upload::begin(&fixture.server, import("", &fixture.key)).await;
        for _ in 0..10 {
            yield_now().await;
        }
        assert_eq!(upload.finish(&lines([host(1, OFFICE)])).await.data()["imported"], 1);
    });
}

#[test]
fn line_that_is_much_longer_than_a_host_may_be_is_refused() {
    run_new(async |fixture| {
        let mut quotas = Quotas::default();
        quotas.host_bytes = Some(20_000);
        let server = Server::new(fixture.inventory.clone().with_quotas(quotas), ample());
        let padded =
            |id: u128, spaces: usize| lines([host(id, OFFICE)]).replace('\n', &" ".repeat(spaces)) + "\n";
        let body = padded(1, 1_000_000) + &padded(2, 1_100_000) + &padded(3, 0);
        let reply = server.send(import("", &fixture.key).map(|_| body)).await;
        assert_eq!(reply.data()["imported"], 2);
        let reason = reply.data()["refusals"][0]["reason"].as_str().unwrap();
        assert_eq!(reason, format!("the line is longer than {} bytes", 20_000 + 1_048_576));
    });
}
