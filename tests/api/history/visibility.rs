//! Visibility of the history of others.

use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::model::{HostId, Permission, Tag};

use super::CHANGES;
use crate::backend::run;
use crate::common::{
    ELSEWHERE, Fixture, HOSTS, LAB, OFFICE, at, get, host, key_for, send_json, with_key, with_session,
};

/// Returns all texts in which a caller may see anything of the history: pages, the stream, and the histories of these hosts.
async fn seen_by(fixture: &Fixture, key: &str, hosts: &[HostId]) -> Vec<String> {
    let mut seen = Vec::new();
    let (since, until) = (format!("since={}", at(0)), format!("until={}", at(0)));
    for query in [
        "limit=1000",
        "limit=1000&order_direction=desc",
        "limit=0",
        "entity=Host",
        "actor=System",
        &since,
        &format!("{since}&order_direction=desc"),
        &until,
    ] {
        seen.push(fixture.changes_as(key, query).await.json.to_string());
    }
    let stream = fixture.send(with_key(get(&format!("{CHANGES}/stream")), key)).await;
    seen.push(String::from_utf8(stream.body).unwrap());
    for id in hosts {
        let history = fixture.server.get_with(key, &format!("{HOSTS}/{id}/history")).await;
        seen.push(history.json["data"].to_string());
    }
    seen
}

#[test]
fn viewer_of_one_network_sees_no_trace_of_another() {
    run(async || {
        let fixture = Fixture::with([host(1, OFFICE)]).await;
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let before = seen_by(&fixture, &viewer, &[HostId::from_u128(2)]).await;
        assert!(before.iter().any(|text| text.contains(&OFFICE.to_string())));
        let position = fixture.newest(&viewer).await;

        let mut hidden = host(2, LAB);
        hidden.name = "secret name".to_owned();
        fixture.put([hidden.clone()]).await;
        hidden.description = Some("secret text".to_owned());
        fixture.put([hidden]).await;
        fixture.inventory.hosts().delete(&fixture.system(), HostId::from_u128(2)).await.unwrap();
        fixture.user(&fixture.home, Permission::Member, &[LAB]).await;
        assert_eq!(seen_by(&fixture, &viewer, &[HostId::from_u128(2)]).await, before);
        assert_eq!(fixture.newest(&viewer).await, position);
        for text in before {
            for trace in
                [format!("\"network_id\":\"{LAB}\""), "secret".to_owned(), HostId::from_u128(2).to_string()]
            {
                assert!(!text.contains(&trace), "{trace} in {text}");
            }
        }
        let of_lab = fixture.changes_as(&viewer, &format!("network_id={LAB}")).await;
        assert_eq!((of_lab.entries(), of_lab.next()), (vec![], position));
    });
}

#[test]
fn organizations_see_nothing_of_each_other() {
    run(async || {
        let fixture = Fixture::with_one_host().await;
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let before = seen_by(&fixture, &abroad, &[HostId::from_u128(1)]).await;
        fixture.put([host(2, OFFICE)]).await;
        fixture.inventory.tags().create(&fixture.system(), Tag::new("hidden")).await.unwrap();
        assert_eq!(seen_by(&fixture, &abroad, &[HostId::from_u128(1)]).await, before);
        for text in &before {
            assert!(!text.contains(&OFFICE.to_string()) && !text.contains("Home"), "{text}");
        }
        let own = seen_by(&fixture, &fixture.key, &[HostId::from_u128(1)]).await;
        assert!(own.iter().all(|text| !text.contains(&ELSEWHERE.to_string())));
        for query in [format!("id={}", HostId::from_u128(1)), format!("network_id={OFFICE}")] {
            assert_eq!(fixture.changes_as(&abroad, &query).await.entries(), Vec::<Value>::new());
        }
    });
}

#[test]
fn below_admin_other_users_are_their_ids_alone() {
    run(async || {
        let fixture = Fixture::new().await;
        let member = fixture.user(&fixture.home, Permission::Member, &[OFFICE]).await;
        let session = fixture.sign_in(&member).await;
        let own_key = fixture.issue(key_for(&member, Permission::Member, &[OFFICE])).await;
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let start = fixture.newest(&fixture.key).await;
        let body = json!({"network_id": OFFICE, "name": "printer"});
        fixture.send(with_session(send_json("POST", HOSTS, &body), &session)).await.data();
        fixture.send(with_key(send_json("POST", HOSTS, &body), &own_key)).await.data();
        let expected = json!({"type": "User", "id": member.id});
        for entry in fixture.changes_as(&viewer, &format!("after={start}")).await.entries() {
            assert_eq!(entry["actor"], expected);
        }
        for key in [&own_key, &fixture.key] {
            let entries = fixture.changes_as(key, &format!("after={start}")).await.entries();
            assert!(entries[1]["actor"]["key_id"].is_string(), "{entries:?}");
        }
    });
}

#[test]
fn entries_of_users_and_keys_are_for_admins_and_the_user() {
    run(async || {
        let fixture = Fixture::new().await;
        let start = fixture.newest(&fixture.key).await;
        let viewer = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
        let key = fixture.issue(key_for(&viewer, Permission::Viewer, &[OFFICE])).await;
        let other = fixture.key(Permission::Member, &[OFFICE]).await;
        let entities = async |key: &str| {
            let page = fixture.changes_as(key, &format!("after={start}&limit=1000")).await;
            let entries = page.entries();
            entries.iter().map(|entry| entry["entity"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(entities(&key).await, ["User", "UserApiKey"]);
        assert_eq!(entities(&fixture.key).await, ["User", "UserApiKey", "User", "UserApiKey"]);
        let admin = Caller::system(fixture.home.organization.id);
        fixture.inventory.users().disable(&admin, viewer.id).await.unwrap();
        let seen = fixture.changes_as(&other, &format!("after={start}")).await.json.to_string();
        assert!(!seen.contains(&viewer.id.to_string()));
        let history = format!("/api/v1/users/{}/history", viewer.id);
        assert_eq!(fixture.server.get_with(&fixture.key, &history).await.entries().len(), 2);
        let text = fixture.changes("limit=1000").await.json.to_string();
        assert!(!text.contains("argon2") && !text.contains("digest"), "{text}");
    });
}
