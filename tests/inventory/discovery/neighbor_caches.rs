//! Hosts that a scan finds by address only, and the neighbor caches that have their MAC addresses.

use std::net::IpAddr;

use toposcope::discovery::report::{
    AddressRow, ArpRow, Device, IfEntryRow, NeighborState, Table, WarningCode,
};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, DiscoveryReport};
use toposcope::model::{Host, Interface, MacAddress, MacSource, Source};

use super::canonical::{canonical, hosts};
use super::support::{FIRST, SECOND, THIRD, discover, discover_with, open_ports, switch, switch_seeing};
use crate::backend::run;
use crate::support::{Fixture, id, owner_of};

const MAC: MacAddress = MacAddress::new([0x00, 0x1b, 0x21, 0x77, 0x00, 0x01]);
const OTHER_MAC: MacAddress = MacAddress::new([0x00, 0x1b, 0x21, 0x77, 0x00, 0x02]);
const VIRTUAL_MAC: MacAddress = MacAddress::new([0x00, 0x00, 0x5e, 0x00, 0x01, 0x07]);

const ADDRESS: &str = "198.51.100.7";
const OTHER_ADDRESS: &str = "198.51.100.8";

/// Returns a device as a scan of an address finds it: with an open port, and a MAC address if it is on the scanner's
/// link.
fn scanned(address: &str, mac: Option<MacAddress>) -> Device {
    let mut device = Device::default();
    let mut row = AddressRow::new(address.parse().unwrap());
    row.mac_address = mac;
    device.tables.addresses = Some(Table::truncated(vec![row]));
    device.tables.ports = Some(Table::truncated(open_ports(&[22])));
    device
}

/// Returns a router with a neighbor cache.
fn router(number: u8, rows: &[(&str, MacAddress)]) -> Device {
    let mut device = switch(number);
    let rows = rows.iter().map(|(address, mac)| ArpRow::new(address.parse().unwrap(), *mac));
    device.tables.arp = Some(Table::truncated(rows.collect()));
    device
}

/// Returns a device that lists its own address.
fn walked(address: &str, mac: MacAddress) -> Device {
    let mut device = Device::default();
    device.sys_name = Some("proxy".to_owned());
    device.sys_object_id = Some("1.3.6.1.4.1.9.1.1".to_owned());
    let mut entry = IfEntryRow::new(1);
    entry.if_name = Some("eth0".to_owned());
    entry.mac_address = Some(mac);
    device.tables.if_entries = Some(Table::complete(vec![entry]));
    let mut row = AddressRow::new(address.parse().unwrap());
    row.if_index = Some(1);
    device.tables.addresses = Some(Table::complete(vec![row]));
    device
}

fn interface_of<'h>(hosts: &'h [Host], address: &str) -> &'h Interface {
    let address: IpAddr = address.parse().unwrap();
    let mut found = hosts.iter().flat_map(|host| &host.interfaces).filter(|part| part.ip_address == address);
    let part = found.next().expect("a host has the address");
    assert_eq!(found.next(), None, "{address} is on one host");
    part
}

/// Returns the host with an address, the MAC address there, and the reporter.
async fn found(fixture: &Fixture, address: &str) -> (usize, Option<MacAddress>, Option<MacSource>) {
    let hosts = hosts(fixture).await;
    let part = interface_of(&hosts, address);
    let host = hosts.iter().find(|host| host.id == part.host_id).unwrap();
    (host.interfaces.len(), part.mac_address, part.mac_source)
}

fn cached(answer: &DiscoveryReport) -> Vec<(u64, String)> {
    let warnings = answer.warnings.iter().filter(|one| one.code == WarningCode::MacFromNeighborCache);
    warnings.map(|one| (one.count, one.example.clone().unwrap_or_default())).collect()
}

/// Returns all orders of some devices.
fn orders(devices: &[Device]) -> Vec<Vec<Device>> {
    if devices.len() < 2 {
        return vec![devices.to_vec()];
    }
    let mut all = Vec::new();
    for (place, first) in devices.iter().enumerate() {
        let mut others = devices.to_vec();
        others.remove(place);
        for mut order in orders(&others) {
            order.insert(0, first.clone());
            all.push(order);
        }
    }
    all
}

/// Discovers devices one by one in all orders, each order also twice. Checks that the results are equal, and returns
/// them with the number of hosts.
async fn in_all_orders(devices: &[Device]) -> (Fixture, usize) {
    let mut expected: Option<Vec<String>> = None;
    let mut last = None;
    for order in orders(devices) {
        let fixture = Fixture::new().await;
        for device in &order {
            discover(&fixture, vec![device.clone()], FIRST).await;
        }
        let found = canonical(&fixture).await;
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_eq!(expected.len(), found.len(), "{order:?}");
        for (one, other) in expected.iter().zip(&found) {
            assert_eq!(one, other, "{order:?}");
        }
        let before = fixture.documents().await;
        for device in &order {
            let answer = discover(&fixture, vec![device.clone()], FIRST).await;
            assert_eq!(answer.hosts[0].outcome, DiscoveryOutcome::Unchanged, "{order:?}");
            assert_eq!(cached(&answer), []);
        }
        assert_eq!(fixture.documents().await, before, "{order:?}");
        last = Some((fixture, found.len()));
    }
    last.unwrap()
}

#[test]
fn scanned_address_gets_the_mac_of_a_neighbor_cache_in_any_order() {
    run(async || {
        let (fixture, count) = in_all_orders(&[scanned(ADDRESS, None), router(1, &[(ADDRESS, MAC)])]).await;
        assert_eq!(count, 2);
        assert_eq!(found(&fixture, ADDRESS).await, (1, Some(MAC), Some(MacSource::NeighborCache)));
    });
}

#[test]
fn several_caches_that_agree_and_all_orders_give_one_mac() {
    run(async || {
        let rows = [(ADDRESS, MAC), (OTHER_ADDRESS, OTHER_MAC)];
        let devices =
            [scanned(ADDRESS, None), router(1, &rows), router(2, &rows), scanned(OTHER_ADDRESS, None)];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!(count, 4);
        assert_eq!(found(&fixture, ADDRESS).await.1, Some(MAC));
        assert_eq!(found(&fixture, OTHER_ADDRESS).await.1, Some(OTHER_MAC));
    });
}

#[test]
fn scan_of_another_address_with_the_mac_is_the_same_host_in_any_order() {
    run(async || {
        let devices =
            [scanned(ADDRESS, None), scanned("2001:db8::7", Some(MAC)), router(1, &[(ADDRESS, MAC)])];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!(count, 2);
        assert_eq!(found(&fixture, ADDRESS).await.0, 2);
        assert_eq!(found(&fixture, "2001:db8::7").await, (2, Some(MAC), None));
    });
}

#[test]
fn warning_names_address_mac_and_reporter_once() {
    run(async || {
        let fixture = Fixture::new().await;
        let answer = discover(&fixture, vec![scanned(ADDRESS, None)], FIRST).await;
        assert_eq!(cached(&answer), []);
        let answer = discover(&fixture, vec![router(1, &[(ADDRESS, MAC)])], FIRST).await;
        let text = format!("{ADDRESS} has the MAC address {MAC} by the neighbor cache of switch-1");
        assert_eq!(cached(&answer), [(1, text)]);
        let answer = discover(&fixture, vec![router(1, &[(ADDRESS, MAC)])], SECOND).await;
        assert_eq!(cached(&answer), []);
    });
}

#[test]
fn answer_has_the_host_into_which_the_new_one_is_merged() {
    run(async || {
        let fixture = Fixture::new().await;
        discover(&fixture, vec![scanned("2001:db8::7", Some(MAC))], FIRST).await;
        discover(&fixture, vec![router(1, &[(ADDRESS, MAC)])], FIRST).await;
        let options = DiscoverOptions::new(fixture.network).dry_run();
        let tried = discover_with(&fixture, vec![scanned(ADDRESS, None)], FIRST, options).await;
        assert_eq!(fixture.documents().await.len(), 2);
        let answer = discover(&fixture, vec![scanned(ADDRESS, None)], FIRST).await;
        assert_eq!(fixture.documents().await.len(), 2);
        let host = fixture.host(answer.hosts[0].id.unwrap()).await;
        assert_eq!(host.interfaces.len(), 2);
        assert!(answer.tables.iter().all(|table| table.device_id == host.id));
        assert_eq!(tried.warnings, answer.warnings);
        assert!(answer.warnings.iter().any(|warning| warning.code == WarningCode::HostsMerged));
    });
}

#[test]
fn virtual_macs_give_nothing() {
    run(async || {
        let devices = [scanned(ADDRESS, None), router(1, &[(ADDRESS, VIRTUAL_MAC)])];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!((count, found(&fixture, ADDRESS).await), (2, (1, None, None)));
    });
}

#[test]
fn mac_of_several_addresses_gives_nothing_and_merges_nothing() {
    run(async || {
        let rows = [(ADDRESS, MAC), (OTHER_ADDRESS, MAC)];
        let devices = [
            scanned(ADDRESS, None),
            scanned(OTHER_ADDRESS, None),
            scanned("198.51.100.1", Some(MAC)),
            router(1, &rows),
        ];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!(count, 4);
        for address in [ADDRESS, OTHER_ADDRESS] {
            assert_eq!(found(&fixture, address).await, (1, None, None));
        }
    });
}

#[test]
fn device_that_lists_other_addresses_does_not_have_the_address() {
    run(async || {
        let devices = [scanned(ADDRESS, None), walked("198.51.100.1", MAC), router(1, &[(ADDRESS, MAC)])];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!(count, 3);
        assert_eq!(found(&fixture, ADDRESS).await, (1, None, None));
        assert_eq!(found(&fixture, "198.51.100.1").await, (1, Some(MAC), None));
    });
}

#[test]
fn device_that_lists_the_address_has_it() {
    run(async || {
        let devices = [scanned(ADDRESS, None), walked(ADDRESS, MAC), router(1, &[(ADDRESS, MAC)])];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!(count, 2);
        assert_eq!(found(&fixture, ADDRESS).await, (1, Some(MAC), None));
    });
}

#[test]
fn caches_that_disagree_give_nothing() {
    run(async || {
        let devices =
            [scanned(ADDRESS, None), router(1, &[(ADDRESS, MAC)]), router(2, &[(ADDRESS, OTHER_MAC)])];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!((count, found(&fixture, ADDRESS).await), (3, (1, None, None)));
    });
}

#[test]
fn own_report_of_a_mac_replaces_the_one_of_a_cache_in_any_order() {
    run(async || {
        let devices =
            [scanned(ADDRESS, None), scanned(ADDRESS, Some(OTHER_MAC)), router(1, &[(ADDRESS, MAC)])];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!((count, found(&fixture, ADDRESS).await), (2, (1, Some(OTHER_MAC), None)));
    });
}

#[test]
fn hosts_with_different_names_stay_apart_in_any_order() {
    run(async || {
        let named = |address: &str, mac, name: &str| {
            let mut device = scanned(address, mac);
            device.hostname = Some(name.to_owned());
            device
        };
        let devices = [
            named(ADDRESS, None, "printer.example.net"),
            named(OTHER_ADDRESS, Some(MAC), "camera.example.net"),
            router(1, &[(ADDRESS, MAC)]),
        ];
        let (fixture, count) = in_all_orders(&devices).await;
        assert_eq!(count, 3);
        assert_eq!(found(&fixture, ADDRESS).await, (1, None, None));
    });
}

#[test]
fn entry_that_nothing_answered_gives_nothing() {
    run(async || {
        let mut silent = router(1, &[(ADDRESS, MAC)]);
        silent.tables.arp.as_mut().unwrap().rows[0].state = Some(NeighborState::Unreachable);
        let (fixture, _) = in_all_orders(&[scanned(ADDRESS, None), silent]).await;
        assert_eq!(found(&fixture, ADDRESS).await, (1, None, None));
    });
}

#[test]
fn newer_cache_with_another_mac_replaces_the_former_one() {
    run(async || {
        let fixture = Fixture::new().await;
        discover(&fixture, vec![scanned(ADDRESS, None), router(1, &[(ADDRESS, MAC)])], FIRST).await;
        assert_eq!(found(&fixture, ADDRESS).await.1, Some(MAC));
        discover(&fixture, vec![router(1, &[(ADDRESS, OTHER_MAC)])], SECOND).await;
        assert_eq!(found(&fixture, ADDRESS).await, (1, Some(OTHER_MAC), Some(MacSource::NeighborCache)));
        // An entry that is away is still the latest that is known.
        let mut empty = router(1, &[]);
        empty.tables.arp.as_mut().unwrap().complete = true;
        discover(&fixture, vec![empty, scanned(ADDRESS, None)], THIRD).await;
        assert_eq!(found(&fixture, ADDRESS).await.1, Some(OTHER_MAC));
    });
}

#[test]
fn hosts_that_a_user_split_stay_split() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut whole = scanned(ADDRESS, None);
        let rows = &mut whole.tables.addresses.as_mut().unwrap().rows;
        let mut other = AddressRow::new(OTHER_ADDRESS.parse().unwrap());
        other.mac_address = Some(MAC);
        rows.push(other);
        let answer = discover(&fixture, vec![whole], FIRST).await;
        let host = fixture.host(answer.hosts[0].id.unwrap()).await;
        let part = host.interfaces.iter().find(|part| part.mac_address.is_none()).unwrap();
        let mut split = toposcope::inventory::HostSplit::default();
        split.interfaces.push(part.id);
        fixture.inventory.discovery().split(&caller, host.id, &split, |_| Ok(())).await.unwrap();
        discover(&fixture, vec![router(1, &[(ADDRESS, MAC)])], SECOND).await;
        discover(&fixture, vec![scanned(ADDRESS, None), scanned(OTHER_ADDRESS, Some(MAC))], SECOND).await;
        assert_eq!(fixture.documents().await.len(), 3);
        assert_eq!(found(&fixture, ADDRESS).await, (1, None, None));
        assert_eq!(found(&fixture, OTHER_ADDRESS).await, (1, Some(MAC), None));
    });
}

#[test]
fn hosts_and_values_of_users_stay_as_they_are() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let mut desk = Host::with_id(id(1), fixture.network, "desk");
        desk.source = Source::Manual;
        desk.interfaces.push(Interface::new(&desk, ADDRESS.parse().unwrap()));
        fixture.put(&desk).await;
        discover(&fixture, vec![scanned(OTHER_ADDRESS, None)], FIRST).await;
        discover(&fixture, vec![router(1, &[(ADDRESS, MAC), (OTHER_ADDRESS, OTHER_MAC)])], FIRST).await;
        assert_eq!(found(&fixture, ADDRESS).await, (1, None, None));
        assert_eq!(found(&fixture, OTHER_ADDRESS).await.1, Some(OTHER_MAC));

        // Storing the host as it was read keeps the source; another MAC address is the user's.
        let hosts = hosts(&fixture).await;
        let host = hosts.iter().find(|host| host.name == OTHER_ADDRESS).unwrap().clone();
        let store = async |mut host: Host| {
            // As a request has it.
            host.interfaces[0].mac_source = None;
            let replace = |stored: &mut Host| {
                stored.clone_from(&host);
                Ok(())
            };
            fixture.inventory.hosts().update(&caller, host.id, replace).await.unwrap()
        };
        let mut host = store(host).await;
        assert_eq!(host.interfaces[0].mac_source, Some(MacSource::NeighborCache));
        host.interfaces[0].mac_address = Some(MAC);
        let edited = store(host).await;
        assert_eq!(edited.interfaces[0].mac_source, None);
        discover(&fixture, vec![router(1, &[(OTHER_ADDRESS, OTHER_MAC)])], SECOND).await;
        discover(&fixture, vec![scanned(OTHER_ADDRESS, None)], SECOND).await;
        assert_eq!(found(&fixture, OTHER_ADDRESS).await, (1, Some(MAC), None));
    });
}

#[test]
fn networks_do_not_share_neighbor_caches() {
    run(async || {
        let fixture = Fixture::new().await;
        discover(&fixture, vec![router(1, &[(ADDRESS, MAC)])], FIRST).await;
        let options = DiscoverOptions::new(fixture.other_network);
        let caller = owner_of(fixture.organization);
        let report = super::support::report_of(vec![scanned(ADDRESS, None)], FIRST);
        fixture.inventory.discovery().reconcile(&caller, &report, options).await.unwrap();
        assert_eq!(found(&fixture, ADDRESS).await, (1, None, None));
    });
}

#[test]
fn scanned_address_belongs_to_the_neighbor_with_its_mac() {
    run(async || {
        for is_scanned_first in [true, false] {
            let fixture = Fixture::new().await;
            let mut observer = switch_seeing(1, 2);
            let mac = MacAddress::new([0x00, 0x1b, 0x21, 0x02, 0x00, 0xff]);
            observer.tables.arp = Some(Table::truncated(vec![ArpRow::new(ADDRESS.parse().unwrap(), mac)]));
            let options = DiscoverOptions::new(fixture.network).create_neighbors();
            if is_scanned_first {
                discover(&fixture, vec![scanned(ADDRESS, None)], FIRST).await;
            }
            discover_with(&fixture, vec![observer], FIRST, options).await;
            if !is_scanned_first {
                discover(&fixture, vec![scanned(ADDRESS, None)], FIRST).await;
            }
            let hosts = hosts(&fixture).await;
            assert_eq!(hosts.len(), 2);
            let host = hosts
                .iter()
                .find(|host| host.chassis_id.is_none() || host.sys_name.as_deref() != Some("switch-1"));
            assert!(!host.unwrap().hidden, "a scan has found it");
        }
    });
}

#[test]
fn dry_run_gives_mac_addresses_to_as_many_hosts_as_an_import() {
    run(async || {
        let fixture = Fixture::new().await;
        let addresses: Vec<String> = (1..=150).map(|number| format!("198.51.100.{number}")).collect();
        let mac = |number: usize| MacAddress::new([0x00, 0x1b, 0x21, 0x77, 0x01, number as u8]);
        let rows: Vec<(&str, MacAddress)> =
            addresses.iter().enumerate().map(|(number, address)| (address.as_str(), mac(number))).collect();
        let mut devices: Vec<Device> = addresses.iter().map(|address| scanned(address, None)).collect();
        devices.push(router(9, &rows));
        let options = DiscoverOptions::new(fixture.network);
        let dry = discover_with(&fixture, devices.clone(), FIRST, options.dry_run()).await;
        let stored = discover_with(&fixture, devices, FIRST, options).await;
        assert_eq!(cached(&stored).first().map(|(count, _)| *count), Some(150));
        assert_eq!(cached(&dry).first().map(|(count, _)| *count), Some(150));
    });
}

#[test]
fn mac_of_many_hosts_is_given_to_no_further_one_and_reported() {
    run(async || {
        let fixture = Fixture::new().await;
        for number in 1..=17 {
            let mut device = walked(&format!("192.0.2.{number}"), MAC);
            device.sys_name = Some(format!("device-{number}"));
            device.serial_number = Some(format!("SN-{number:04}"));
            discover(&fixture, vec![device], FIRST).await;
        }
        discover(&fixture, vec![scanned(ADDRESS, None)], FIRST).await;
        let answer = discover(&fixture, vec![router(9, &[(ADDRESS, MAC)])], FIRST).await;
        assert_eq!(cached(&answer), []);
        assert_eq!(found(&fixture, ADDRESS).await, (1, None, None));
        let shared = answer.warnings.iter().find(|warning| warning.code == WarningCode::MacShared).unwrap();
        let example = "more than 16 hosts have the MAC address 00:1B:21:77:00:01";
        assert_eq!((shared.count, shared.example.as_deref()), (1, Some(example)));
    });
}
