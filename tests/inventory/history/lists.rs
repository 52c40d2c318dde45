//! Lists of hosts as they were.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Error, ErrorKind, HostPage, HostQuery, Inventory, Moment, Problem};
use toposcope::model::{Host, HostId, HostOrderField, OrderDirection, Permission, UserId};
use uuid::Uuid;

use super::changes_after;
use super::replay::{State, comparable, random_states, step};
use crate::backend::{run, run_on_threads};
use crate::support::{Fixture, NOW, id, invalid, owner_of, refusal, time};

/// Returns an inventory that has the hosts of a state as its present ones. Its ids are those of every new fixture.
async fn inventory_of(hosts: &BTreeMap<Uuid, Value>) -> Fixture {
    let fixture = Fixture::new().await;
    for host in hosts.values() {
        let mut host = host.clone();
        host["updated_at"] = json!(NOW);
        for part in host.as_object_mut().unwrap().values_mut().filter_map(Value::as_array_mut).flatten() {
            give_times(part);
        }
        fixture.put(&serde_json::from_value::<Host>(host).unwrap()).await;
    }
    fixture
}

/// Gives parts and what is within them the times that comparable documents leave out.
fn give_times(part: &mut Value) {
    let Value::Object(members) = part else { return };
    if members.contains_key("created_at") {
        members.insert("updated_at".to_owned(), json!(NOW));
    }
    members.values_mut().filter_map(Value::as_array_mut).flatten().for_each(give_times);
}

async fn list_at(
    inventory: &Inventory,
    caller: &Caller,
    query: &HostQuery,
    at: &Moment,
) -> Result<HostPage, Error> {
    let mut query = query.clone();
    query.at = Some(at.clone());
    inventory.hosts().list(caller, &query).await
}

fn comparable_hosts(page: &HostPage) -> Vec<Value> {
    page.documents.iter().map(|document| comparable(serde_json::from_slice(document).unwrap())).collect()
}

fn random_query(fixture: &Fixture, random: &mut Rng) -> HostQuery {
    let mut query = HostQuery::default();
    let fields = [
        HostOrderField::CreatedAt,
        HostOrderField::Name,
        HostOrderField::NameNatural,
        HostOrderField::NetworkId,
        HostOrderField::InterfaceIp,
    ];
    query.order_by = random.choice(fields);
    query.order_direction =
        if random.bool() { OrderDirection::Ascending } else { OrderDirection::Descending };
    if random.u8(..4) == 0 {
        query.group_by = Some(HostOrderField::NetworkId);
    }
    query.offset = random.u64(..4);
    query.limit = random.bool().then(|| random.usize(..5));
    match random.u8(..8) {
        0 => query.network_id = Some(fixture.network),
        1 => query.ids = Some((1..=random.u128(1..6)).map(id).collect()),
        2 => query.tag_ids = Some(vec![fixture.tags[0]]),
        3 => query.search = Some("host".to_owned()),
        4 => query.hidden = Some(random.bool()),
        5 => query.without_tags = Some(random.bool()),
        6 => query.search = Some("core".to_owned()),
        _ => {}
    }
    query
}

#[test]
fn list_at_every_position_is_that_of_the_hosts_that_were_stored_then() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let states = random_states(&fixture, 23, 80).await;
        let mut random = Rng::with_seed(24);
        for (position, hosts) in states.iter().step_by(7) {
            let reference = inventory_of(hosts).await;
            let at = Moment::Position(position.clone());
            for _ in 0..12 {
                let query = random_query(&fixture, &mut random);
                let then = list_at(&fixture.inventory, &owner, &query, &at).await.unwrap();
                let expected = reference.list(&query).await;
                assert_eq!(comparable_hosts(&then), comparable_hosts(&expected), "{query:?}");
                assert_eq!(then.total, expected.total, "{query:?}");
                assert_eq!(then.next.is_some(), expected.next.is_some(), "{query:?}");
            }
        }
    });
}

#[test]
fn pages_by_cursor_have_every_host_once() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let states = random_states(&fixture, 25, 60).await;
        for (position, hosts) in [&states[15], &states[40], &states[59]] {
            let at = Moment::Position(position.clone());
            let mut query = HostQuery::default();
            (query.limit, query.order_by) = (Some(2), Some(HostOrderField::Name));
            query.order_direction = OrderDirection::Descending;
            let mut found = Vec::new();
            loop {
                let page = list_at(&fixture.inventory, &owner, &query, &at).await.unwrap();
                assert_eq!(page.total, hosts.len() as u64);
                found.extend(comparable_hosts(&page));
                match page.next {
                    Some(next) => query.cursor = Some(next),
                    None => break,
                }
            }
            (query.limit, query.cursor) = (None, None);
            let whole = list_at(&fixture.inventory, &owner, &query, &at).await.unwrap();
            assert_eq!(found, comparable_hosts(&whole));
            assert_eq!(found.len(), hosts.len());
        }
    });
}

#[test]
fn list_of_the_past_is_the_same_while_hosts_change() {
    run_on_threads(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let states = random_states(&fixture, 27, 40).await;
        let (position, hosts): &State = &states[25];
        let (at, inventory) = (Moment::Position(position.clone()), fixture.inventory.clone());
        let mut expected: Vec<Value> = hosts.values().cloned().collect();
        expected.sort_by_key(|host| host["id"].to_string());
        let reader = tokio::spawn(async move {
            for _ in 0..40 {
                let page = list_at(&inventory, &owner, &HostQuery::default(), &at).await.unwrap();
                let mut found = comparable_hosts(&page);
                found.sort_by_key(|host| host["id"].to_string());
                assert_eq!(found, expected);
                tokio::task::yield_now().await;
            }
        });
        let mut random = Rng::with_seed(28);
        let mut number = 1_000;
        // Each change makes the past a little longer.
        while !reader.is_finished() && number < 2_000 {
            step(&fixture, &mut random, number).await;
            number += 1;
        }
        reader.await.unwrap();
    });
}

#[test]
fn viewer_of_one_network_sees_its_past_alone() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let states = random_states(&fixture, 29, 60).await;
        let viewer = Caller::new(
            fixture.organization,
            UserId::from_u128(7),
            Permission::Viewer,
            Scope::only([fixture.network]),
        );
        for (position, hosts) in states.iter().step_by(9) {
            let at = Moment::Position(position.clone());
            let page = list_at(&fixture.inventory, &viewer, &HostQuery::default(), &at).await.unwrap();
            let own = hosts.values().filter(|host| host["network_id"] == json!(fixture.network));
            let expected: Vec<HostId> =
                own.map(|host| serde_json::from_value(host["id"].clone()).unwrap()).collect();
            let mut found: Vec<HostId> = page.hosts().unwrap().iter().map(|host| host.id).collect();
            found.sort_unstable();
            assert_eq!((page.total, found), (expected.len() as u64, expected));
        }
        let theirs = owner_of(foreign.organization);
        let at = Moment::Position(states[0].0.clone());
        let refused = list_at(&fixture.inventory, &theirs, &HostQuery::default(), &at).await;
        assert!(matches!(refusal(refused), ErrorKind::PositionGone { .. }));
        let (_, position) = changes_after(&fixture, &theirs, None).await;
        let at = Moment::Position(position);
        let page = list_at(&fixture.inventory, &theirs, &HostQuery::default(), &at).await.unwrap();
        assert_eq!((page.total, page.documents.len()), (0, 0));
    });
}

#[test]
fn order_by_virtualizing_service_is_refused() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let (_, position) = changes_after(&fixture, &owner, None).await;
        let at = Moment::Position(position);
        let mut query = HostQuery::default();
        query.order_by = Some(HostOrderField::VirtualizedBy);
        let refused = list_at(&fixture.inventory, &owner, &query, &at).await;
        assert_eq!(refusal(refused), invalid("order_by", Problem::Exclusive { other: "at" }));
    });
}

#[test]
fn state_of_before_the_history_is_gone() {
    run(async || {
        let fixture = Fixture::new().await;
        let owner = owner_of(fixture.organization);
        let at = Moment::Time(time("2026-08-14T11:59:59Z"));
        let refused = list_at(&fixture.inventory, &owner, &HostQuery::default(), &at).await;
        assert!(matches!(refusal(refused), ErrorKind::BeforeHistory { .. }));
        let refused = fixture.inventory.host_at(&owner, id(1), &at).await;
        assert!(matches!(refusal(refused), ErrorKind::BeforeHistory { .. }));
        let at = Moment::Time(time(NOW));
        let page = list_at(&fixture.inventory, &owner, &HostQuery::default(), &at).await.unwrap();
        assert_eq!(page.total, 0);
    });
}
