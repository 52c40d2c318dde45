//! The order of a list, field by field. For filters, groups and pages see [`super::oracle`].

use toposcope::model::{Host, HostId, HostOrderField};

use crate::backend::{run, run_with};
use crate::common::{ELSEWHERE, Fixture, LAB, OFFICE, VAULT, address, at, guest, host, service};

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
async fn is_order(fixture: &Fixture, field: &str, ascending: &[u128]) {
    assert_eq!(fixture.ids(&format!("order_by={field}")).await, ascending, "{field}");
    assert_eq!(fixture.ids(&format!("order_by={field}&order_direction=asc")).await, ascending, "{field}");
    assert_eq!(fixture.ids(&format!("group_by={field}")).await, ascending, "{field}");
    assert_eq!(fixture.ids(&format!("group_by={field}&order_direction=desc")).await, ascending, "{field}");
    let descending: Vec<u128> = ascending.iter().rev().copied().collect();
    assert_eq!(fixture.ids(&format!("order_by={field}&order_direction=desc")).await, descending, "{field}");
}

#[test]
fn names_and_hostnames_are_in_code_point_order() {
    run(async || {
        let descending: Vec<u128> = (1..=16).rev().collect();
        let ids = || TEXTS.into_iter().rev().zip(1..);
        is_order(&Fixture::with(ids().map(|(name, id)| named(id, name))).await, "name", &descending).await;
        let hosts = ids().map(|(name, id)| with_hostname(id, Some(name)));
        is_order(&Fixture::with(hosts).await, "hostname", &descending).await;
        let fixture = Fixture::with([host(1, VAULT), host(2, OFFICE), host(3, LAB)]).await;
        is_order(&fixture, "network_id", &[2, 3, 1]).await;
    });
}

#[test]
fn natural_order_of_names_compares_numbers_by_value_and_ignores_case() {
    run(async || {
        let names = [
            "", "9.1", "10.1", "SW1", "sw2", "Sw02", "sw2-a", "sw10", "sw10b2", "sw10b10", "switch",
            "\u{e9}1",
        ];
        let ascending: Vec<u128> = (1..=12).collect();
        let by_name = Fixture::with(names.into_iter().zip(1..).map(|(name, id)| named(id, name))).await;
        is_order(&by_name, "name_natural", &ascending).await;
        let hosts = names.into_iter().zip(1..).map(|(name, id)| with_hostname(id, Some(name)));
        is_order(&Fixture::with(hosts).await, "hostname_natural", &ascending).await;
        let fixture = Fixture::with([named(2, "sw2"), named(1, "SW2"), with_hostname(3, None)]).await;
        assert_eq!(fixture.ids("order_by=name_natural&limit=2&offset=1").await, [1, 2]);
        assert_eq!(fixture.ids("order_by=name").await, [1, 3, 2]);
    });
}

#[test]
fn times_are_ordered_to_the_microsecond_and_before_1970() {
    run(async || {
        let times = [
            "0000-01-01T00:00:00Z",
            "1969-12-31T23:59:59.999999Z",
            "1970-01-01T00:00:00Z",
            "2026-08-14T12:00:00Z",
            "2026-08-14T12:00:00.000001Z",
            "9999-12-31T23:59:59.999999Z",
        ];
        let times = times.map(|time| time.parse().unwrap());
        let times = || times.into_iter().rev().zip(1..);
        let fixture =
            Fixture::with(times().map(|(created_at, id)| Host { created_at, ..host(id, OFFICE) })).await;
        is_order(&fixture, "created_at", &[6, 5, 4, 3, 2, 1]).await;
        let fixture =
            Fixture::with(times().map(|(updated_at, id)| Host { updated_at, ..host(id, OFFICE) })).await;
        is_order(&fixture, "updated_at", &[6, 5, 4, 3, 2, 1]).await;
    });
}

#[test]
fn addresses_are_ordered_numerically_with_ipv4_first_and_none_last() {
    run(async || {
        let fixture = Fixture::with([
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
        is_order(&fixture, "interface_ip", &[9, 8, 7, 6, 5, 4, 3, 2, 1]).await;
    });
}

#[test]
fn first_interface_has_the_least_position_then_id() {
    run(async || {
        let fixture = Fixture::with([
            address(1, OFFICE, &[("10.0.0.1", 5), ("10.0.0.9", -5), ("10.0.0.2", 0)]),
            address(2, OFFICE, &[("10.0.0.5", 1), ("10.0.0.1", 1), ("::", 2)]),
            address(3, OFFICE, &[("10.0.0.1", 7), ("fe80::1", 6)]),
            address(4, OFFICE, &[("10.0.0.3", i64::MAX), ("10.0.0.4", i64::MIN)]),
        ])
        .await;
        is_order(&fixture, "interface_ip", &[4, 2, 1, 3]).await;
    });
}

#[test]
fn guests_are_ordered_by_the_name_of_their_service() {
    run_with(Fixture::new, async |fixture| {
        let mut nodes = [host(1, OFFICE), host(2, VAULT)];
        nodes[0].services = vec![service(0x51, &nodes[0], "zeta"), service(0x52, &nodes[0], "Beta")];
        nodes[1].services = vec![service(0x53, &nodes[1], "alpha")];
        let mut foreign = host(9, ELSEWHERE);
        foreign.services = vec![service(0x59, &foreign, "zzz")];
        fixture.put_abroad(foreign).await;
        // Guests of a later service, of another organization's service, and of a service on the guest itself.
        fixture.put([guest(3, LAB, 0x51), guest(4, LAB, 0x52), guest(5, LAB, 0x53)]).await;
        fixture.put(nodes.clone()).await;
        fixture.put([guest(6, LAB, 0x59), guest(7, LAB, 0x5f)]).await;
        assert_eq!(fixture.ids("order_by=virtualized_by").await, [1, 2, 6, 7, 4, 5, 3]);
        assert_eq!(fixture.ids("order_by=virtualized_by&order_direction=desc").await, [3, 5, 4, 1, 2, 6, 7]);
        // Renamed, and deleted.
        nodes[0].services[0].name = "Alpha".to_owned();
        nodes[1].services.clear();
        fixture.put(nodes.clone()).await;
        assert_eq!(fixture.ids("order_by=virtualized_by").await, [1, 2, 5, 6, 7, 3, 4]);
        nodes[0].services.clear();
        fixture.put(nodes).await;
        fixture.inventory.hosts().delete(&fixture.system(), HostId::from_u128(1)).await.unwrap();
        assert_eq!(fixture.ids("order_by=virtualized_by&order_direction=desc").await, [2, 3, 4, 5, 6, 7]);
    });
}

#[test]
fn ties_are_broken_by_id_ascending_in_both_directions() {
    run(async || {
        let ids = [9, 1, 0xffff_0000_0000_0000_0000_0000_0000_0000, 3, 0x8000_0000_0000_0000_0000, 2];
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        let fixture = Fixture::with(ids.map(|id| host(id, OFFICE))).await;
        for field in HostOrderField::ALL {
            for direction in ["asc", "desc"] {
                for query in [
                    format!("order_by={field}&order_direction={direction}"),
                    format!("group_by={field}&order_direction={direction}"),
                    format!("group_by={field}&order_by=name&order_direction={direction}"),
                ] {
                    assert_eq!(fixture.ids(&query).await, sorted, "{query}");
                }
            }
        }
    });
}

/// Hosts of which many are equal in every order.
async fn with_ties(count: u128) -> Fixture {
    let networks = [OFFICE, LAB, VAULT];
    Fixture::with((1..=count).map(|id| {
        let number = i64::try_from(id * 7 % 4).unwrap();
        Host {
            name: format!("host {}", id % 3),
            hostname: (id % 2 == 0).then(|| format!("host{}", id % 5)),
            created_at: at(number),
            updated_at: at(-number),
            ..host(id, networks[usize::try_from(id % 3).unwrap()])
        }
    }))
    .await
}

#[test]
fn pages_of_any_order_neither_repeat_nor_omit_a_host() {
    run(async || {
        let fixture = with_ties(23).await;
        let groups = [None, Some(HostOrderField::Name), Some(HostOrderField::NetworkId)];
        for field in HostOrderField::ALL {
            for direction in ["asc", "desc"] {
                for group in groups {
                    let group = group.map_or(String::new(), |group| group.to_string());
                    let order = format!("order_by={field}&order_direction={direction}&group_by={group}");
                    let whole = fixture.ids(&format!("{order}&limit=0")).await;
                    assert_eq!(whole.len(), 23);
                    for size in [1, 4, 23] {
                        let mut pages = Vec::new();
                        while pages.len() < 23 {
                            let page =
                                fixture.ids(&format!("{order}&limit={size}&offset={}", pages.len())).await;
                            assert!(!page.is_empty() && page.len() <= size);
                            pages.extend(page);
                        }
                        assert_eq!(pages, whole, "{order} by {size}");
                    }
                }
            }
        }
    });
}
