use toposcope::inventory::{Entity, HostQuery, Written};
use toposcope::model::{Host, HostOrderField, OrderDirection};
use uuid::Uuid;

use crate::support::{
    Fixture, bare_host, documents, id, interface, not_found, owner_of, refusal, rich_host, service, time,
};

#[tokio::test]
async fn a_host_comes_back_as_it_was_put() {
    let fixture = Fixture::new().await;
    for host in [
        bare_host(id(1), fixture.network),
        rich_host(2, fixture.other_network, &fixture.tags),
        bare_host(Uuid::nil(), fixture.network),
        bare_host(Uuid::max(), fixture.network),
    ] {
        let written = fixture.inventory.put_host(fixture.organization, host.clone()).await.unwrap();
        assert_eq!(written, Written::Created);
        assert_eq!(fixture.host(host.id).await, host);
    }
}

#[tokio::test]
async fn the_list_serves_the_document_of_the_host() {
    let fixture = Fixture::new().await;
    let host = rich_host(2, fixture.network, &fixture.tags);
    fixture.put(&host).await;
    let documents = fixture.documents().await;
    assert_eq!(documents.len(), 1);
    assert_eq!(serde_json::from_slice::<Host>(&documents[0]).unwrap(), host);
    assert_eq!(documents[0], serde_json::to_vec(&host).unwrap());
}

#[tokio::test]
async fn the_times_of_a_host_are_kept_and_are_not_the_clocks() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    for (created, updated) in [
        ("0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
        ("2030-01-01T00:00:00.000001Z", "1969-12-31T23:59:59.999999Z"),
    ] {
        (host.created_at, host.updated_at) = (time(created), time(updated));
        fixture.put(&host).await;
        assert_eq!(fixture.host(host.id).await, host);
    }
}

#[tokio::test]
async fn replacing_a_host_updates_everything_of_it() {
    let fixture = Fixture::new().await;
    let rich = rich_host(7, fixture.network, &fixture.tags);
    fixture.put(&rich).await;
    let mut other = bare_host(rich.id, fixture.other_network);
    other.name = "other".to_owned();
    other.created_at = time("2020-01-01T00:00:00Z");
    let written = fixture.inventory.put_host(fixture.organization, other.clone()).await.unwrap();
    assert_eq!(written, Written::Replaced);
    assert_eq!(fixture.host(rich.id).await, other);
    assert_eq!(fixture.documents().await, [serde_json::to_vec(&other).unwrap()]);

    let list = async |adapt: fn(&mut HostQuery, &Fixture)| {
        let mut query = HostQuery::default();
        adapt(&mut query, &fixture);
        fixture.inventory.list_hosts(&owner_of(fixture.organization), &query).await.unwrap().total
    };
    assert_eq!(list(|query, fixture| query.network_id = Some(fixture.network)).await, 0);
    assert_eq!(list(|query, fixture| query.network_id = Some(fixture.other_network)).await, 1);
    assert_eq!(list(|query, fixture| query.tag_ids = Some(fixture.tags.to_vec())).await, 0);

    assert_eq!(
        fixture.inventory.put_host(fixture.organization, rich.clone()).await.unwrap(),
        Written::Replaced
    );
    assert_eq!(fixture.host(rich.id).await, rich);
    assert_eq!(list(|query, fixture| query.network_id = Some(fixture.network)).await, 1);
    assert_eq!(list(|query, fixture| query.tag_ids = Some(vec![fixture.tags[1]])).await, 1);
}

#[tokio::test]
async fn a_host_that_is_replaced_moves_in_every_order() {
    let fixture = Fixture::new().await;
    let mut moving = bare_host(id(5), fixture.network);
    let mut staying = bare_host(id(6), fixture.network);
    let set = |host: &mut Host, text: &str, moment: &str, address: &str| {
        host.name = text.to_owned();
        host.hostname = Some(text.to_owned());
        (host.created_at, host.updated_at) = (time(moment), time(moment));
        host.interfaces = vec![interface(host, Uuid::from_u128(host.id.as_u128() << 8), address, 0)];
    };
    set(&mut staying, "m", "2025-01-01T00:00:00Z", "10.0.0.5");
    fixture.put(&staying).await;
    for (text, moment, address, is_first) in [
        ("a", "2024-01-01T00:00:00Z", "9.255.255.255", true),
        ("z", "2026-01-01T00:00:00Z", "::", false),
        ("é", "9999-01-01T00:00:00Z", "10.0.0.10", false),
        ("Z", "0001-01-01T00:00:00Z", "1.0.0.0", true),
    ] {
        set(&mut moving, text, moment, address);
        fixture.put(&moving).await;
        for field in [
            HostOrderField::CreatedAt,
            HostOrderField::UpdatedAt,
            HostOrderField::Name,
            HostOrderField::Hostname,
            HostOrderField::InterfaceIp,
        ] {
            for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
                let mut query = HostQuery::default();
                query.order_by = Some(field);
                query.order_direction = direction;
                let page =
                    fixture.inventory.list_hosts(&owner_of(fixture.organization), &query).await.unwrap();
                let first: Host = serde_json::from_slice(&page.documents[0]).unwrap();
                let expected = (direction == OrderDirection::Ascending) == is_first;
                assert_eq!(first.id == moving.id, expected, "{text} {field} {}", direction.as_str());
            }
        }
    }
}

#[tokio::test]
async fn a_host_that_moves_to_another_network_takes_its_parts_with_it() {
    let fixture = Fixture::new().await;
    let here = rich_host(3, fixture.network, &fixture.tags);
    let there = rich_host(3, fixture.other_network, &fixture.tags);
    for host in [&here, &there, &here] {
        fixture.put(host).await;
        assert_eq!(fixture.host(id(3)).await, *host);
        assert_eq!(documents(&fixture.inventory, fixture.organization).await.len(), 1);
    }
}

#[tokio::test]
async fn ports_and_services_given_up_are_free_for_others() {
    let fixture = Fixture::new().await;
    let rich = rich_host(3, fixture.network, &fixture.tags);
    fixture.put(&rich).await;
    fixture.put(&bare_host(rich.id, fixture.network)).await;
    let mut heir = bare_host(id(4), fixture.network);
    heir.services = vec![service(&heir, rich.services[0].id, "inherited", 0)];
    heir.ports = rich.ports.clone();
    for port in &mut heir.ports {
        port.host_id = heir.id;
    }
    fixture.put(&heir).await;
    assert_eq!(fixture.host(heir.id).await, heir);
    fixture.inventory.delete_host(fixture.organization, heir.id).await.unwrap();
    fixture.put(&rich).await;
}

#[tokio::test]
async fn a_deleted_host_is_gone_with_everything_in_it() {
    let fixture = Fixture::new().await;
    let host = rich_host(1, fixture.network, &fixture.tags);
    let other = rich_host(2, fixture.network, &fixture.tags);
    fixture.put(&host).await;
    fixture.put(&other).await;
    fixture.inventory.delete_host(fixture.organization, host.id).await.unwrap();
    let not_found = not_found(Entity::Host, host.id);
    assert_eq!(refusal(fixture.inventory.host(fixture.organization, host.id).await), not_found);
    assert_eq!(refusal(fixture.inventory.delete_host(fixture.organization, host.id).await), not_found);
    assert_eq!(fixture.documents().await, [serde_json::to_vec(&other).unwrap()]);
    let written = fixture.inventory.put_host(fixture.organization, host.clone()).await.unwrap();
    assert_eq!(written, Written::Created);
    assert_eq!(fixture.host(host.id).await, host);
}
