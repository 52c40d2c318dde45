//! The order of a list, field by field.

use toposcope::model::{Host, HostOrderField};
use uuid::Uuid;

use crate::common::{ELSEWHERE, LAB, OFFICE, VAULT, World, address, at, guest, host, service};

fn named(id: u128, name: &str) -> Host {
    Host { name: name.to_owned(), ..host(id, OFFICE) }
}

fn with_hostname(id: u128, hostname: Option<&str>) -> Host {
    Host { hostname: hostname.map(str::to_owned), ..host(id, OFFICE) }
}

/// Texts by code point, which is neither dictionary order nor that of UTF-16. Ascending.
const TEXTS: [&str; 16] =
    ["", "\0", "\t", " ", "10", "2", "A", "Z", "Za", "a", "a\0", "ab", "é", "\u{ffee}", "😀", "\u{10ffff}"];

/// Asserts that the hosts have these orders, ascending and descending, without ties.
async fn is_order(world: &World, field: &str, ascending: &[u128]) {
    assert_eq!(world.ids(&format!("order_by={field}")).await, ascending, "{field}");
    assert_eq!(world.ids(&format!("order_by={field}&order_direction=asc")).await, ascending, "{field}");
    assert_eq!(world.ids(&format!("group_by={field}")).await, ascending, "{field}");
    assert_eq!(world.ids(&format!("group_by={field}&order_direction=desc")).await, ascending, "{field}");
    let descending: Vec<u128> = ascending.iter().rev().copied().collect();
    assert_eq!(world.ids(&format!("order_by={field}&order_direction=desc")).await, descending, "{field}");
}

#[tokio::test]
async fn names_are_in_code_point_order() {
    let hosts = TEXTS.iter().rev().zip(1..).map(|(name, id)| named(id, name));
    is_order(&World::with(hosts).await, "name", &[16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        .await;
}

#[tokio::test]
async fn hostnames_are_in_code_point_order() {
    let hosts = TEXTS.iter().rev().zip(1..).map(|(name, id)| with_hostname(id, Some(name)));
    is_order(&World::with(hosts).await, "hostname", &[16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        .await;
}

#[tokio::test]
async fn no_hostname_sorts_as_an_empty_one() {
    let hosts = [(1, Some("b")), (2, None), (3, Some("")), (4, None), (5, Some("a")), (6, Some(""))];
    let world = World::with(hosts.map(|(id, hostname)| with_hostname(id, hostname))).await;
    assert_eq!(world.ids("order_by=hostname").await, [2, 3, 4, 6, 5, 1]);
    assert_eq!(world.ids("order_by=hostname&order_direction=desc").await, [1, 5, 2, 3, 4, 6]);
}

#[tokio::test]
async fn times_are_in_order_to_the_microsecond_and_before_1970_too() {
    let times = [
        "0000-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00Z",
        "2026-08-14T12:00:00Z",
        "2026-08-14T12:00:00.000001Z",
        "9999-12-31T23:59:59.999999Z",
    ];
    let times = times.map(|time| time.parse().unwrap());
    let created = times.into_iter().rev().zip(1..);
    let world = World::with(created.map(|(created_at, id)| Host { created_at, ..host(id, OFFICE) })).await;
    is_order(&world, "created_at", &[6, 5, 4, 3, 2, 1]).await;
    let updated = times.into_iter().rev().zip(1..);
    let world = World::with(updated.map(|(updated_at, id)| Host { updated_at, ..host(id, OFFICE) })).await;
    is_order(&world, "updated_at", &[6, 5, 4, 3, 2, 1]).await;
}

#[tokio::test]
async fn networks_are_in_the_order_of_their_ids() {
    let world = World::with([host(1, VAULT), host(2, OFFICE), host(3, LAB)]).await;
    is_order(&world, "network_id", &[2, 3, 1]).await;
}

#[tokio::test]
async fn addresses_are_in_numeric_order_ipv4_before_ipv6_and_none_last() {
    let world = World::with([
        host(1, OFFICE),
        address(2, OFFICE, &[("ffff::1", 0)]),
        address(3, OFFICE, &[("::ffff:10.0.0.1", 0)]),
        address(4, OFFICE, &[("::", 0)]),
        address(5, OFFICE, &[("255.255.255.255", 0)]),
        address(6, OFFICE, &[("10.0.0.10", 0)]),
        address(7, OFFICE, &[("10.0.0.9", 0)]),
        address(8, OFFICE, &[("9.255.0.0", 0)]),
        address(9, OFFICE, &[("0.0.0.0", 0)]),
    ])
    .await;
    is_order(&world, "interface_ip", &[9, 8, 7, 6, 5, 4, 3, 2, 1]).await;
}

#[tokio::test]
async fn the_first_interface_is_that_of_the_least_position_then_id() {
    let world = World::with([
        address(1, OFFICE, &[("10.0.0.1", 5), ("10.0.0.9", -5), ("10.0.0.2", 0)]),
        address(2, OFFICE, &[("10.0.0.5", 1), ("10.0.0.1", 1), ("::", 2)]),
        address(3, OFFICE, &[("10.0.0.1", 7), ("fe80::1", 6)]),
        address(4, OFFICE, &[("10.0.0.3", i64::MAX), ("10.0.0.4", i64::MIN)]),
    ])
    .await;
    is_order(&world, "interface_ip", &[4, 2, 1, 3]).await;
}

#[tokio::test]
async fn guests_are_ordered_by_the_name_of_the_service_that_runs_them() {
    let world = World::new().await;
    let mut nodes = [host(1, OFFICE), host(2, VAULT)];
    nodes[0].services = vec![service(0x51, &nodes[0], "zeta"), service(0x52, &nodes[0], "Beta")];
    nodes[1].services = vec![service(0x53, &nodes[1], "alpha")];
    let mut foreign = host(9, ELSEWHERE);
    foreign.services = vec![service(0x59, &foreign, "zzz")];
    world.inventory.put_host(world.abroad.organization.id, foreign).await.unwrap();
    // Guests of a later service, of another organization's service, and of a service on the guest itself.
    world.put([guest(3, LAB, 0x51), guest(4, LAB, 0x52), guest(5, LAB, 0x53)]).await;
    world.put(nodes.clone()).await;
    world.put([guest(6, LAB, 0x59), guest(7, LAB, 0x5f)]).await;
    assert_eq!(world.ids("order_by=virtualized_by").await, [1, 2, 6, 7, 4, 5, 3]);
    assert_eq!(world.ids("order_by=virtualized_by&order_direction=desc").await, [3, 5, 4, 1, 2, 6, 7]);
    // Renamed, and deleted.
    nodes[0].services[0].name = "Alpha".to_owned();
    nodes[1].services.clear();
    world.put(nodes).await;
    assert_eq!(world.ids("order_by=virtualized_by").await, [1, 2, 5, 6, 7, 3, 4]);
    world.inventory.delete_host(world.home.organization.id, Uuid::from_u128(1)).await.unwrap();
    assert_eq!(world.ids("order_by=virtualized_by&order_direction=desc").await, [2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn ties_are_broken_by_id_ascending_in_both_directions() {
    let ids = [9, 1, 0xffff_0000_0000_0000_0000_0000_0000_0000, 3, 0x8000_0000_0000_0000_0000, 2];
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let world = World::with(ids.map(|id| host(id, OFFICE))).await;
    for field in HostOrderField::ALL {
        for direction in ["asc", "desc"] {
            for query in [
                format!("order_by={field}&order_direction={direction}"),
                format!("group_by={field}&order_direction={direction}"),
                format!("group_by={field}&order_by=name&order_direction={direction}"),
            ] {
                assert_eq!(world.ids(&query).await, sorted, "{query}");
            }
        }
    }
}

#[tokio::test]
async fn without_an_order_hosts_come_by_creation_and_a_direction_alone_applies_to_it() {
    let times = [(1, 30), (2, 10), (3, 20), (4, 10)];
    let world = World::with(times.map(|(id, time)| Host { created_at: at(time), ..host(id, OFFICE) })).await;
    for query in ["", "order_direction=asc", "order_by=created_at", "order_by="] {
        assert_eq!(world.ids(query).await, [2, 4, 3, 1], "{query}");
    }
    for query in ["order_direction=desc", "order_by=&order_direction=desc"] {
        assert_eq!(world.ids(query).await, [1, 3, 2, 4], "{query}");
    }
}

/// 1 and 4 are in the lab, 2, 3 and 5 in the office.
async fn grouped() -> World {
    let host = |id, network, name: &str, created| Host {
        name: name.into(),
        created_at: at(created),
        ..host(id, network)
    };
    let (b, a, c) = ("b", "a", "c");
    World::with([
        host(1, LAB, b, 5),
        host(2, OFFICE, a, 4),
        host(3, OFFICE, c, 3),
        host(4, LAB, a, 2),
        host(5, OFFICE, a, 1),
    ])
    .await
}

#[tokio::test]
async fn groups_are_ascending_and_the_direction_applies_within_them() {
    let world = grouped().await;
    for (query, expected) in [
        ("group_by=network_id&order_by=name", [2, 5, 3, 4, 1]),
        ("group_by=network_id&order_by=name&order_direction=desc", [3, 2, 5, 1, 4]),
        ("group_by=name&order_by=network_id", [2, 5, 4, 1, 3]),
        ("group_by=name&order_by=network_id&order_direction=desc", [4, 2, 5, 1, 3]),
        ("group_by=name&order_by=created_at", [5, 4, 2, 1, 3]),
        ("group_by=name&order_by=created_at&order_direction=desc", [2, 4, 5, 1, 3]),
    ] {
        assert_eq!(world.ids(query).await, expected, "{query}");
    }
}

/// The default order applies if `order_by` is missing.
#[tokio::test]
async fn within_groups_alone_hosts_come_by_creation() {
    let world = grouped().await;
    assert_eq!(world.ids("group_by=network_id").await, [5, 3, 2, 4, 1]);
    assert_eq!(world.ids("group_by=network_id&order_direction=desc").await, [2, 3, 5, 1, 4]);
}

#[tokio::test]
async fn grouping_and_ordering_by_one_field_is_grouping_by_it() {
    let world = grouped().await;
    for direction in ["", "asc", "desc"] {
        let ids = async |field| {
            world.ids(&format!("group_by={field}&order_by={field}&order_direction={direction}")).await
        };
        assert_eq!(ids("name").await, [2, 4, 5, 1, 3], "{direction}");
        assert_eq!(ids("network_id").await, [2, 3, 5, 1, 4], "{direction}");
        assert_eq!(ids("created_at").await, [5, 4, 3, 2, 1], "{direction}");
    }
}
