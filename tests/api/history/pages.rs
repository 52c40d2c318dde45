//! Pages of the history, its filters, and the history of one record.

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::model::{Host, HostId, Permission, Tag};
use uuid::Uuid;

use super::CHANGES;
use crate::backend::run;
use crate::common::{
    Fixture, HOSTS, LAB, NOBODY, OFFICE, Populated, VAULT, at, get, host, key_for, send_json, with_key,
    with_session,
};

/// Reads the whole history page by page, in a direction.
async fn all_pages(fixture: &Fixture, direction: &str, limit: usize, filters: &str) -> Vec<Value> {
    let (mut entries, mut from) = (Vec::new(), String::new());
    loop {
        let query = format!("limit={limit}&order_direction={direction}{filters}{from}");
        let page = fixture.changes(&query).await;
        entries.extend(page.entries());
        if page.json["meta"]["pagination"]["has_more"] == false {
            return entries;
        }
        let parameter = if direction == "asc" { "after" } else { "before" };
        from = format!("&{parameter}={}", page.next());
    }
}

#[test]
fn pages_in_both_directions_are_the_whole() {
    run(async || {
        let fixture =
            Fixture::with((1..=30).map(|id| host(id, if id % 3 == 0 { LAB } else { OFFICE }))).await;
        for filters in ["", "&entity=Host", &format!("&network_id={LAB}"), "&actor=System", "&action=deleted"]
        {
            let whole = fixture.changes(&format!("limit=1000{filters}")).await.entries();
            assert_eq!(whole.is_empty(), filters == "&action=deleted");
            for limit in [1, 7, 1_000] {
                assert_eq!(all_pages(&fixture, "asc", limit, filters).await, whole, "{filters} {limit}");
                let mut backward = all_pages(&fixture, "desc", limit, filters).await;
                backward.reverse();
                assert_eq!(backward, whole, "{filters} {limit}");
            }
        }
        let default = fixture.changes("").await;
        assert_eq!(default.json["meta"]["pagination"]["limit"], 50);
    });
}

#[test]
fn position_of_an_empty_page_goes_on_where_the_history_ended() {
    run(async || {
        let fixture = Fixture::new().await;
        let newest = fixture.newest(&fixture.key).await;
        for query in ["limit=0&order_direction=desc", "entity=Share", &format!("after={newest}")] {
            let page = fixture.changes(query).await;
            assert_eq!((page.entries(), page.next()), (vec![], newest.clone()), "{query}");
        }
        let first = fixture.changes("limit=1").await.next();
        let before = fixture.changes(&format!("order_direction=desc&before={first}")).await;
        assert_eq!(before.entries(), Vec::<Value>::new());
        let again = fixture.changes(&format!("order_direction=desc&before={}", before.next())).await;
        assert_eq!(again.entries(), Vec::<Value>::new());
        fixture.put([host(1, OFFICE)]).await;
        let page = fixture.changes(&format!("after={newest}")).await;
        assert_eq!(page.entries().len(), 1);
        assert_eq!(page.entries()[0]["position"], page.next());
    });
}

#[test]
fn filters_select_entries() {
    run(async || {
        let fixture = Populated::new().await;
        let start = fixture.newest(&fixture.key).await;
        let request = send_json("POST", HOSTS, &json!({"network_id": LAB, "name": "printer"}));
        let created = fixture.send(with_session(request, &fixture.session)).await;
        let id = created.data()["id"].as_str().unwrap().to_owned();
        let target = format!("{HOSTS}/{id}");
        let renamed = send_json("PUT", &target, &json!({"name": "renamed"}));
        fixture.send(with_key(renamed, &fixture.member_key)).await.data();
        let system = Caller::system(fixture.home.organization.id);
        fixture.inventory.tags().create(&system, Tag::new("critical")).await.unwrap();
        fixture.inventory.hosts().delete(&system, id.parse::<Uuid>().unwrap().into()).await.unwrap();
        let member = fixture.member.id;
        let [of_host, by_member, by_system, all]: [&[&str]; 4] = [
            &["created printer", "updated renamed", "deleted renamed"],
            &["created printer", "updated renamed"],
            &["created critical", "deleted renamed"],
            &["created printer", "updated renamed", "created critical", "deleted renamed"],
        ];
        for (filters, expected) in [
            (String::new(), all),
            ("entity=Host".to_owned(), of_host),
            (format!("id={id}"), of_host),
            (format!("network_id={LAB}"), of_host),
            (format!("network_id={OFFICE}"), &[]),
            (format!("network_id={NOBODY}"), &[]),
            (format!("actor={member}"), by_member),
            ("actor=System".to_owned(), by_system),
            ("actor=billing".to_owned(), &[]),
            (format!("actor={NOBODY}"), &[]),
            ("action=deleted&entity=Host".to_owned(), &["deleted renamed"]),
            (format!("entity=Tag&id={id}"), &[]),
        ] {
            let page = fixture.changes(&format!("after={start}&{filters}")).await;
            assert_eq!(page.told(), expected, "{filters}");
        }
        let by_member = fixture.changes(&format!("after={start}&actor={member}")).await.entries();
        let email = &fixture.member.email;
        assert_eq!(by_member[0]["actor"], json!({"type": "User", "id": member, "email": email}));
        let key_id = fixture.member_key_id;
        assert_eq!(
            by_member[1]["actor"],
            json!({"type": "User", "id": member, "email": email, "key_id": key_id})
        );
        assert_eq!(by_member[1]["fields"], json!({"name": {"before": "printer", "after": "renamed"}}));
    });
}

#[test]
fn times_and_positions_bound_the_same_entries() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut positions = vec![fixture.newest(&fixture.key).await];
        for id in 1..=4 {
            fixture.clock.advance(Duration::from_secs(60));
            fixture.put([Host { name: format!("host {id}"), ..host(id, OFFICE) }]).await;
            positions.push(fixture.newest(&fixture.key).await);
        }
        for from in 0..=4 {
            for to in from..=4 {
                let expected: Vec<String> = (from + 1..=to).map(|id| format!("created host {id}")).collect();
                let time = |number: usize| at(60 * number as i64);
                for (since, until) in [
                    (time(from).to_string(), time(to).to_string()),
                    (positions[from].clone(), positions[to].clone()),
                    (time(from).plus_micros(59_000_000).to_string(), positions[to].clone()),
                ] {
                    let page = fixture.changes(&format!("since={since}&until={until}")).await;
                    assert_eq!(page.told(), expected, "{since} {until}");
                    let rest: Vec<String> = (to + 1..=4).map(|id| format!("created host {id}")).collect();
                    let following = fixture.changes(&format!("after={}", page.next())).await;
                    assert_eq!(following.told(), rest, "{since} {until}");
                }
            }
        }
        let early = fixture.changes("until=1970-01-01T00:00:00Z").await;
        assert_eq!(early.told(), Vec::<String>::new());
        let all = fixture.changes("since=1970-01-01T00:00:00Z").await.entries();
        assert_eq!(all, fixture.changes("").await.entries());
    });
}

#[test]
fn page_of_large_entries_ends_early_and_loses_none() {
    run(async || {
        let fixture = Fixture::new().await;
        let start = fixture.newest(&fixture.key).await;
        let text = "x".repeat(60_000);
        for id in 1..=20 {
            let parts = json!({
                "network_id": OFFICE, "name": format!("host {id}"), "description": text, "sys_descr": text,
                "sys_location": text, "sys_contact": text,
            });
            fixture.send(with_key(send_json("POST", HOSTS, &parts), &fixture.key)).await.data();
        }
        let first = fixture.changes(&format!("limit=1000&after={start}")).await;
        let sent = first.entries().len();
        assert!((2..20).contains(&sent), "{sent}");
        assert_eq!(first.json["meta"]["pagination"]["has_more"], true);
        let whole = all_pages(&fixture, "asc", 1_000, "&entity=Host").await;
        assert_eq!(whole.len(), 20);
    });
}

#[test]
fn history_of_a_record_has_its_entries_alone_and_outlives_it() {
    run(async || {
        let fixture = Fixture::with([host(1, OFFICE), host(2, OFFICE)]).await;
        let mut renamed = host(1, OFFICE);
        renamed.name = "renamed".to_owned();
        fixture.put([renamed]).await;
        let target = format!("{HOSTS}/{}/history", Uuid::from_u128(1));
        let page = fixture.server.get_with(&fixture.key, &target).await;
        let actions: Vec<Value> = page.entries().iter().map(|entry| entry["action"].clone()).collect();
        assert_eq!(actions, ["created", "updated"]);
        let newest =
            fixture.server.get_with(&fixture.key, &format!("{target}?limit=1&order_direction=desc")).await;
        assert_eq!(newest.told(), ["updated renamed"]);
        fixture.inventory.hosts().delete(&fixture.system(), HostId::from_u128(1)).await.unwrap();
        let deleted = fixture.server.get_with(&fixture.key, &target).await;
        assert_eq!(deleted.entries().len(), 3);
        let none = format!("{target}?after={}", deleted.next());
        let none = fixture.server.get_with(&fixture.key, &none).await;
        assert_eq!((none.entries(), none.next()), (vec![], deleted.next()));
        let abroad = fixture.owner_key(&fixture.abroad).await;
        for (key, id) in [(&abroad, Uuid::from_u128(1)), (&fixture.key, NOBODY)] {
            let reply = fixture.server.get_with(key, &format!("{HOSTS}/{id}/history")).await;
            assert_eq!(reply.refuses(404, "entity_not_found"), &json!({"entity": "Host", "id": id}));
        }
    });
}

#[test]
fn every_recorded_collection_has_histories() {
    run(async || {
        let fixture = Populated::new().await;
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let key = fixture.issue(key_for(&owner, Permission::Owner, &fixture.home.networks)).await;
        let own_key = fixture.server.get_with(&key, "/api/v1/auth/keys").await;
        let own_key = own_key.data()[0]["id"].as_str().unwrap().to_owned();
        for (collection, id, entity) in [
            ("organizations", fixture.home.organization.id.to_string(), "Organization"),
            ("networks", OFFICE.to_string(), "Network"),
            ("tags", fixture.home.tags[0].to_string(), "Tag"),
            ("users", owner.id.to_string(), "User"),
            ("auth/keys", own_key, "UserApiKey"),
            ("auth/daemon", fixture.daemon_key_id.to_string(), "DaemonApiKey"),
            ("shares", fixture.share_id.to_string(), "Share"),
        ] {
            let path = format!("/api/v1/{collection}/{id}/history");
            let page = fixture.server.get_with(&key, &path).await;
            let entries = page.entries();
            assert_eq!(entries.len(), 1, "{path}");
            assert_eq!((&entries[0]["entity"], &entries[0]["id"]), (&json!(entity), &json!(id)), "{path}");
            let unknown = format!("/api/v1/{collection}/{NOBODY}/history");
            fixture.server.get_with(&key, &unknown).await.refuses(404, "entity_not_found");
        }
        let of_vault = format!("/api/v1/networks/{VAULT}/history");
        let not_granted = fixture.server.get_with(&fixture.member_key, &of_vault).await;
        not_granted.refuses(403, "entity_access_denied");
        let request = get(CHANGES);
        fixture.send(with_key(request, &fixture.daemon_key)).await.refuses(403, "auth_user_context_required");
    });
}
