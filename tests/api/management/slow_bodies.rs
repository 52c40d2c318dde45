//! Imports and bulk requests whose bodies arrive slowly.

use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{advance, pause};
use toposcope::inventory::Quotas;
use toposcope::model::{Host, User};

use super::*;
use crate::common::{Server, Site, Upload, ample, host, key_for};

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
            let keys = fixture.inventory.user_api_keys(user.id).await.unwrap();
            fixture.inventory.delete_user_api_key(keys[0].id).await.unwrap();
        };
        let (fixture, reply) = import_around("", delete_key).await;
        reply.refuses(401, "auth_not_authenticated");
        assert_eq!(fixture.list("limit=1").await.total(), 256);

        let disable = async |fixture: &Fixture, user: User| {
            fixture.inventory.disable_user(user.id).await.unwrap();
        };
        let (fixture, reply) = import_around("", disable).await;
        reply.refuses(401, "entity_disabled");
        assert_eq!(fixture.list("limit=1").await.total(), 256);

        let demote = async |fixture: &Fixture, user: User| {
            let networks = vec![OFFICE, LAB];
            fixture.inventory.set_user_rights(user.id, Permission::Viewer, networks).await.unwrap();
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
            fixture.inventory.set_user_rights(user.id, Permission::Member, vec![LAB]).await.unwrap();
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

/// Makes a request with a key, and without a body.
type Make = fn(&str) -> Request<String>;

fn bulk(key: &str) -> Request<String> {
    with_key(send_json("POST", BULK, &json!(null)), key)
}

/// Returns the rest of a body with which a request succeeds.
fn rest(request: &Request<String>) -> String {
    match request.uri().path() {
        BULK => json!({"hosts": [host_body()]}).to_string(),
        _ => String::new(),
    }
}

async fn assert_refused(fixture: &Fixture, request: Request<String>) {
    let reply = fixture.send(request).await;
    assert_eq!(*reply.refuses(429, "rate_limit_exceeded"), json!({"retry_after": 1}));
}

/// Begins as many requests of a user as one may have at once.
async fn begin_all(fixture: &Fixture, site: &Site, request: Make, count: usize) -> Vec<Upload> {
    let key = fixture.owner_key(site).await;
    let mut uploads = Vec::new();
    for _ in 0..count {
        uploads.push(Upload::begin(&fixture.server, request(&key)).await);
    }
    assert_refused(fixture, request(&key)).await;
    uploads
}

#[test]
fn organization_at_its_maximum_of_imports_or_bulk_requests_leaves_some_for_others() {
    run(async || {
        let requests: [(Make, usize, usize); 2] = [(|key| import("", key), 2, 2), (bulk, 8, 6)];
        for (request, per_user, left) in requests {
            let fixture = Fixture::new().await.on_one_instance();
            let mut uploads = Vec::new();
            for _ in 0..3 {
                uploads.extend(begin_all(&fixture, &fixture.home, request, per_user).await);
            }
            assert_refused(&fixture, request(&fixture.key)).await;
            let theirs = begin_all(&fixture, &fixture.abroad, request, left).await;
            for upload in theirs {
                upload.cancel().await;
            }
            let rest = rest(&request(""));
            for upload in uploads {
                upload.finish(&rest).await.data();
            }
            Upload::begin(&fixture.server, request(&fixture.key)).await.finish(&rest).await.data();
        }
    });
}

#[tokio::test]
async fn body_whose_client_stalls_is_aborted_and_a_slow_one_is_not() {
    let fixture = Fixture::new().await;
    pause();
    let text = lines((1..=300).map(|id| host(id, OFFICE)));
    let requests =
        [(import("", &fixture.key), "request_incomplete"), (bulk(&fixture.key), "validation_malformed_json")];
    for (request, code) in requests {
        let upload = Upload::begin(&fixture.server, request).await;
        upload.send(&text);
        let reply = upload.stall().await;
        reply.refuses(400, code);
        assert!(reply.json["error"].as_str().unwrap().contains("sent nothing"), "{}", reply.json);
    }
    assert_eq!(fixture.list("limit=1").await.total(), 256, "whole groups are stored");
    let upload = Upload::begin(&fixture.server, import("", &fixture.key)).await;
    for line in text.split_inclusive('\n').take(5) {
        upload.send(line);
        for _ in 0..10 {
            yield_now().await;
        }
        advance(Duration::from_secs(59)).await;
    }
    assert_eq!(upload.finish("").await.data()["replaced"], 5);
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
