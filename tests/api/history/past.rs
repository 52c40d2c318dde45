//! Hosts as they were.

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::model::{Host, HostId, Permission};
use uuid::Uuid;

use crate::backend::run;
use crate::common::{Fixture, HOSTS, LAB, OFFICE, at, get, host, with_header, with_key};

const ID: Uuid = Uuid::from_u128(1);

async fn host_at(fixture: &Fixture, at: impl ToString) -> Result<Value, u16> {
    let reply = fixture.server.get_with(&fixture.key, &format!("{HOSTS}/{ID}?at={}", at.to_string())).await;
    if reply.status == 200 { Ok(reply.json["data"].clone()) } else { Err(reply.status.as_u16()) }
}

#[test]
fn host_is_read_as_it_was_at_a_time_or_position() {
    run(async || {
        let fixture = Fixture::new().await;
        let before = fixture.newest(&fixture.key).await;
        let mut positions = Vec::new();
        for (number, name) in ["first", "second"].into_iter().enumerate() {
            fixture.clock.advance(Duration::from_secs(60));
            fixture.put([Host { name: name.to_owned(), ..host(1, OFFICE) }]).await;
            positions.push(fixture.newest(&fixture.key).await);
            assert_eq!(host_at(&fixture, at(60 * (number as i64 + 1))).await.unwrap()["name"], name);
        }
        fixture.clock.advance(Duration::from_secs(60));
        fixture.inventory.hosts().delete(&fixture.system(), HostId::new(ID)).await.unwrap();
        let deleted = fixture.newest(&fixture.key).await;
        for (moment, expected) in [
            (at(60).to_string(), Ok("first")),
            (at(119).to_string(), Ok("first")),
            (at(120).to_string(), Ok("second")),
            (at(179).to_string(), Ok("second")),
            (positions[0].clone(), Ok("first")),
            (positions[1].clone(), Ok("second")),
            (at(59).to_string(), Err(404)),
            (before, Err(404)),
            (at(180).to_string(), Err(404)),
            (deleted, Err(404)),
            ("1970-01-01T00:00:00Z".to_owned(), Err(410)),
        ] {
            let found = host_at(&fixture, &moment).await;
            let name = found.as_ref().map(|host| host["name"].as_str().unwrap()).map_err(|status| *status);
            assert_eq!(name, expected, "{moment}");
        }
        let past = host_at(&fixture, at(100)).await.unwrap();
        assert_eq!(past["updated_at"], json!(at(60)));
    });
}

#[test]
fn past_state_has_the_tag_of_a_state() {
    run(async || {
        let fixture = Fixture::with_one_host().await;
        let target = format!("{HOSTS}/{ID}?at={}", fixture.newest(&fixture.key).await);
        let reply = fixture.server.get_with(&fixture.key, &target).await;
        let tag = reply.header("etag").to_owned();
        let again = with_header(with_key(get(&target), &fixture.key), "if-none-match", tag);
        assert_eq!(fixture.send(again).await.status, 304);
    });
}

#[test]
fn host_is_not_seen_where_it_was_on_a_network_without_access() {
    run(async || {
        let fixture = Fixture::with([host(1, LAB)]).await;
        let viewer = fixture.key(Permission::Viewer, &[OFFICE]).await;
        let created = fixture.newest(&fixture.key).await;
        let abroad = fixture.owner_key(&fixture.abroad).await;
        // Whatever the moment, the answer is that about the present.
        for query in [String::new(), format!("?at={created}"), format!("?at={}", at(0))] {
            let target = format!("{HOSTS}/{ID}{query}");
            let reply = fixture.server.get_with(&viewer, &target).await;
            let denied = json!({"entity": "Network", "id": LAB});
            assert_eq!(*reply.refuses(403, "entity_access_denied"), denied, "{query}");
            if !query.contains(&created) {
                fixture.server.get_with(&abroad, &target).await.refuses(404, "entity_not_found");
            }
        }
        fixture.inventory.hosts().delete(&fixture.system(), HostId::new(ID)).await.unwrap();
        for query in [String::new(), format!("?at={created}"), format!("?at={}", at(0))] {
            let target = format!("{HOSTS}/{ID}{query}");
            fixture.server.get_with(&viewer, &target).await.refuses(404, "entity_not_found");
        }
    });
}
