//! The states of addresses.

use toposcope::discovery::report::{
    AddressRow, ArpRow, CdpRow, Device, IfEntryRow, LldpRow, NeighborState, Report, Reporter, RouteRow, Table,
};
use toposcope::inventory::{AddressQuery, AddressState, DiscoverOptions, ErrorKind, Problem};
use toposcope::model::{IfEntry, LldpChassisId, LldpChassisIdSubtype, MacAddress};

use super::{Window, delete_host, host_at, ip, mac, subnet};
use crate::backend::run_with;
use crate::support::{Fixture, id, invalid, owner_of, refusal, time};

const AT: &str = "2026-08-01T12:00:00Z";
/// The MAC address of a group of routers (VRRP).
const SHARED_MAC: MacAddress = MacAddress::new([0x00, 0x00, 0x5e, 0x00, 0x01, 0x07]);

/// Reports the neighbor cache of a router.
async fn report(fixture: &Fixture, number: u8, at: &str, rows: Vec<ArpRow>) {
    let mut router = Device::default();
    router.sys_name = Some(format!("router-{number}"));
    router.serial_number = Some(format!("SN-ROUTER-{number}"));
    let mut entry = IfEntryRow::new(1);
    entry.mac_address = Some(mac(200 + number));
    router.tables.if_entries = Some(Table::complete(vec![entry]));
    router.tables.arp = Some(Table::complete(rows));
    report_device(fixture, at, router).await;
}

async fn report_device(fixture: &Fixture, at: &str, device: Device) {
    let mut report = Report::new(Reporter::new("collector"), time(at));
    report.devices.push(device);
    let options = DiscoverOptions::new(fixture.network);
    let caller = owner_of(fixture.organization);
    fixture.inventory.discovery().reconcile(&caller, &report, options).await.unwrap();
}

fn arp(address: &str, mac: MacAddress) -> ArpRow {
    ArpRow::new(ip(address), mac)
}

#[test]
fn free_addresses_are_neither_boundaries_nor_used_nor_seen() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/29").await);
        assert_eq!(window.free(10).await.1, 6);
        fixture.put(&host_at(&fixture, 1, &[("198.51.100.1", Some(mac(1))), ("198.51.100.3", None)])).await;
        report(&fixture, 1, AT, vec![arp("198.51.100.2", mac(2))]).await;
        assert_eq!(window.free(2).await, (vec!["198.51.100.4".to_owned(), "198.51.100.5".to_owned()], 3));
        let (used, seen) = (AddressState::Used, AddressState::Seen);
        let expected = [("198.51.100.1", used), ("198.51.100.2", seen), ("198.51.100.3", used)];
        assert_eq!(window.states().await, expected.map(|(ip, state)| (ip.to_owned(), state)));
        let mut query = AddressQuery::new();
        query.state = Some(seen);
        let found = window.list(query).await.addresses;
        assert_eq!(
            (found[0].mac, found[0].last_seen, found[0].host_id),
            (Some(mac(2)), Some(time(AT)), None)
        );
        delete_host(&fixture, 1).await;
        assert_eq!(window.free(9).await.1, 5);
    });
}

#[test]
fn next_routers_of_routing_tables_are_not_free() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/29").await);
        fixture.put(&host_at(&fixture, 1, &[("198.51.100.2", Some(mac(1)))])).await;
        let mut route = RouteRow::new("0.0.0.0/0".parse().unwrap());
        route.next_hop = Some(ip("198.51.100.1"));
        let mut own = RouteRow::new("192.0.2.0/24".parse().unwrap());
        own.next_hop = Some(ip("198.51.100.2"));
        let mut router = Device::default();
        router.sys_name = Some("router".to_owned());
        router.tables.addresses = Some(Table::truncated(vec![AddressRow::new(ip("198.51.100.2"))]));
        router.tables.routes = Some(Table::complete(vec![route, own]));
        report_device(&fixture, AT, router).await;
        assert_eq!(window.free(1).await, (vec!["198.51.100.3".to_owned()], 4));
        let known = window.known().await;
        let states: Vec<_> = known.iter().map(|address| (address.state, address.host_id.is_some())).collect();
        assert_eq!(states, [(AddressState::Seen, false), (AddressState::Used, true)]);
        assert_eq!((known[0].mac, known[0].last_seen), (None, Some(time(AT))));
    });
}

#[test]
fn addresses_that_neighbors_announce_are_not_free() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/29").await);
        let chassis = |value: &str| LldpChassisId {
            subtype: LldpChassisIdSubtype::LocallyAssigned,
            value: value.to_owned(),
        };
        let mut lldp = LldpRow::new(chassis("edge-2"));
        lldp.mgmt_addrs = vec!["198.51.100.2".to_owned(), "none".to_owned()];
        let mut cdp = CdpRow::new("edge-3");
        cdp.address = Some("198.51.100.3".to_owned());
        let mut switch = Device::default();
        switch.sys_name = Some("core".to_owned());
        switch.tables.lldp = Some(Table::complete(vec![lldp]));
        switch.tables.cdp = Some(Table::complete(vec![cdp]));
        report_device(&fixture, AT, switch).await;
        let known = window.known().await;
        let seen: Vec<_> = known.iter().map(|address| (address.state, address.last_seen)).collect();
        assert_eq!(seen, [(AddressState::Seen, Some(time(AT))); 2]);
        assert_eq!(window.free(1).await, (vec!["198.51.100.1".to_owned()], 4));
    });
}

#[test]
fn small_subnets_have_no_boundaries_and_ipv6_has_no_broadcast_address() {
    run_with(Fixture::new, async |fixture| {
        for (cidr, lowest, count) in [
            ("203.0.113.8/31", "203.0.113.8", 2),
            ("203.0.113.77/32", "203.0.113.77", 1),
            ("203.0.113.16/30", "203.0.113.17", 2),
            ("2001:db8:1::/127", "2001:db8:1::", 2),
            ("2001:db8:2::/126", "2001:db8:2::1", 3),
            ("2001:db8:3::/64", "2001:db8:3::1", u64::MAX),
            ("2001:db8:4::/48", "2001:db8:4::1", u64::MAX),
            ("10.0.0.0/8", "10.0.0.1", (1 << 24) - 2),
        ] {
            let window = Window::new(&fixture, &subnet(&fixture, cidr).await);
            let (free, total) = window.free(1).await;
            assert_eq!((free[0].as_str(), total), (lowest, count), "{cidr}");
        }
        let nested = Window::new(&fixture, &subnet(&fixture, "203.0.113.0/24").await);
        // The broadcast address of one subnet is not free in another one: 0, 16, 19 and 255 are not.
        assert_eq!(nested.free(1).await.1, 252);
    });
}

#[test]
fn entry_that_a_cache_no_longer_has_is_still_seen() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/24").await);
        report(&fixture, 1, AT, vec![arp("198.51.100.2", mac(2)), arp("198.51.100.3", mac(3))]).await;
        report(&fixture, 1, "2026-08-02T12:00:00Z", vec![arp("198.51.100.3", mac(3))]).await;
        let known = window.known().await;
        assert_eq!((known[0].state, known[0].last_seen), (AddressState::Seen, Some(time(AT))));
        assert_eq!(known[1].last_seen, Some(time("2026-08-02T12:00:00Z")));
    });
}

#[test]
fn address_with_two_devices_is_a_conflict_with_both_of_them() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/24").await);
        let both = vec![arp("198.51.100.7", mac(1)), arp("198.51.100.7", mac(2))];
        report(&fixture, 1, AT, both).await;
        let known = window.known().await;
        assert_eq!(known[0].state, AddressState::Conflict);
        let claims: Vec<Option<MacAddress>> = known[0].claims.iter().map(|claim| claim.mac).collect();
        assert_eq!(claims, [Some(mac(1)), Some(mac(2))]);

        // Two hosts, and a host with another MAC address than the cache states.
        for number in [1, 2] {
            let own = [("198.51.100.8", Some(mac(10 + number)))];
            fixture.put(&host_at(&fixture, number.into(), &own)).await;
        }
        fixture.put(&host_at(&fixture, 3, &[("198.51.100.9", Some(mac(20)))])).await;
        report(&fixture, 2, AT, vec![arp("198.51.100.9", mac(21))]).await;
        let known = window.known().await;
        assert_eq!(known.iter().filter(|address| address.state == AddressState::Conflict).count(), 3);
        let hosts: Vec<_> = known[1].claims.iter().map(|claim| claim.host_id).collect();
        assert_eq!(hosts, [Some(id(1)), Some(id(2))]);
        let claims: Vec<_> = known[2].claims.iter().map(|claim| (claim.host_id, claim.mac)).collect();
        assert_eq!(claims, [(Some(id(3)), Some(mac(20))), (None, Some(mac(21)))]);
        // The conflict ends with its cause.
        delete_host(&fixture, 2).await;
        assert_eq!(window.known().await[1].state, AddressState::Used);
    });
}

#[test]
fn addresses_of_router_groups_and_of_one_device_are_no_conflict() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/24").await);
        for number in [1, 2] {
            // A gateway of two routers, and one whose members share a MAC address.
            let own = [("198.51.100.1", Some(mac(number))), ("198.51.100.2", Some(mac(9)))];
            fixture.put(&host_at(&fixture, number.into(), &own)).await;
        }
        // The interface has no MAC address, but an entry of the host has it.
        let mut server = host_at(&fixture, 3, &[("198.51.100.3", Some(mac(30)))]);
        let entry = IfEntry { mac_address: Some(mac(31)), ..IfEntry::new(&server, 1) };
        server.if_entries = vec![IfEntry { interface_id: Some(server.interfaces[0].id), ..entry }];
        let entry = server.if_entries[0].id;
        fixture.put(&server).await;
        let rows = [("198.51.100.1", SHARED_MAC), ("198.51.100.2", mac(9)), ("198.51.100.3", mac(31))];
        let mut rows: Vec<ArpRow> = rows.map(|(address, mac)| arp(address, mac)).into();
        // No device has answered with this address.
        let mut silent = arp("198.51.100.3", mac(77));
        silent.state = Some(NeighborState::Unreachable);
        rows.push(silent);
        report(&fixture, 1, AT, rows).await;
        let known = window.known().await;
        assert!(known.iter().all(|address| address.state == AddressState::Used), "{known:#?}");
        assert_eq!((known[2].if_entry_id, known[2].host_id), (Some(entry), Some(id(3))));
    });
}

#[test]
fn limits_of_requests_are_checked() {
    run_with(Fixture::new, async |fixture| {
        let window = Window::new(&fixture, &subnet(&fixture, "198.51.100.0/30").await);
        let addresses = window.inventory.addresses();
        let out_of_range = |field: &str, max| invalid(field, Problem::OutOfRange { min: 1, max });
        for limit in [0, 10_001] {
            let listed = addresses.list(&window.caller, window.subnet, AddressQuery::free(limit)).await;
            assert_eq!(refusal(listed), out_of_range("limit", 10_000));
        }
        for count in [0, 257] {
            assert_eq!(refusal(window.reserve(count).await), out_of_range("count", 256));
        }
        let unnamed = addresses.reserve(&window.caller, window.subnet, 1, " ").await;
        assert_eq!(refusal(unnamed), invalid("name", Problem::Empty));
        let nothing = addresses.release(&window.caller, window.subnet, &[]).await;
        assert_eq!(refusal(nothing), invalid("addresses", Problem::Empty));
        let many = vec![ip("198.51.100.1"); 1_001];
        let many = addresses.release(&window.caller, window.subnet, &many).await;
        assert_eq!(refusal(many), invalid("addresses", Problem::MaxLength { max: 1_000 }));
        // All of them or none.
        assert_eq!(refusal(window.reserve(3).await), ErrorKind::AddressesExhausted { free: 2 });
        assert_eq!(window.reserve(2).await.unwrap(), [ip("198.51.100.1"), ip("198.51.100.2")]);
        assert_eq!(refusal(window.reserve(1).await), ErrorKind::AddressesExhausted { free: 0 });
    });
}
