//! Imports whose lines arrive slowly, or are long.

use tokio::task::yield_now;
use toposcope::inventory::Quotas;
use toposcope::model::{Host, User};

use super::*;
use crate::common::{Server, Upload, ample, host, key_for};

const IMPORT: &str = "/api/v1/hosts/import";

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
        assert_eq!(*reply.refuses(403, "entity_access_denied"), json!({"entity": "Network", "id": OFFICE}));
        assert_eq!(fixture.list("limit=1").await.total(), 256);
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
