use std::collections::BTreeMap;

use toposcope::discovery::report::{AddressRow, Device, IfEntryRow, Table, WarningCode};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, ListQuery};
use toposcope::model::{Cidr, Host, Interface, Source, SourceType, Subnet, SubnetId};

use super::support::{FIRST, FOURTH, SECOND, THIRD, discover, discover_with, outcomes, report_of, switch};
use crate::backend::run;
use crate::support::{Fixture, followed, id, owner_of};

/// Returns a device with these addresses. Each has a prefix length and an interface name.
fn device(name: &str, addresses: &[(&str, Option<u8>, &str)]) -> Device {
    let mut device = Device::default();
    device.sys_name = Some(name.to_owned());
    let (mut rows, mut entries) = (Vec::new(), Vec::new());
    for ((address, length, interface), index) in addresses.iter().zip(1..) {
        let mut row = AddressRow::new(address.parse().unwrap());
        (row.prefix_length, row.if_index) = (*length, Some(index));
        rows.push(row);
        let mut entry = IfEntryRow::new(index);
        entry.if_name = Some((*interface).to_owned());
        entries.push(entry);
    }
    device.tables.addresses = Some(Table::complete(rows));
    device.tables.if_entries = Some(Table::complete(entries));
    device
}

async fn subnets(fixture: &Fixture) -> BTreeMap<String, Subnet> {
    let query = ListQuery::default();
    let page = fixture.inventory.subnets().list(&owner_of(fixture.organization), &query).await.unwrap();
    page.records.into_iter().map(|subnet| (subnet.cidr.to_string(), subnet)).collect()
}

async fn cidrs(fixture: &Fixture) -> Vec<String> {
    subnets(fixture).await.into_keys().collect()
}

async fn create(fixture: &Fixture, cidr: &str) -> Subnet {
    let subnet = Subnet::new(fixture.network, cidr, cidr.parse().unwrap());
    fixture.inventory.records().create(&owner_of(fixture.organization), subnet).await.unwrap()
}

/// Returns the subnet of each address of the network.
async fn assigned(fixture: &Fixture) -> BTreeMap<String, Option<SubnetId>> {
    let mut assigned = BTreeMap::new();
    for document in fixture.documents().await {
        let host: Host = serde_json::from_slice(document.strip_prefix(b",").unwrap_or(&document)).unwrap();
        assigned.extend(host.interfaces.iter().map(|part| (part.ip_address.to_string(), part.subnet_id)));
    }
    assigned
}

#[test]
fn prefixes_of_own_addresses_become_subnets() {
    run(async || {
        for (address, length, interface, expected) in [
            ("192.0.2.7", Some(24), "eth0", Some("192.0.2.0/24")),
            ("198.51.100.9", Some(31), "Ethernet1", Some("198.51.100.8/31")),
            ("10.20.30.40", Some(8), "ge-0/0/0.0", Some("10.0.0.0/8")),
            ("2001:db8::7", Some(64), "vlan10", Some("2001:db8::/64")),
            ("fd00::1", Some(48), "ether2", Some("fd00::/48")),
            ("::ffff:192.0.2.7", Some(120), "eth0", Some("192.0.2.0/24")),
            ("::ffff:192.0.2.7", Some(24), "eth0", None),
            ("192.0.2.7", None, "eth0", None),
            ("192.0.2.7", Some(32), "lo0", None),
            ("192.0.2.7", Some(0), "ppp0", None),
            ("192.0.2.7", Some(7), "eth0", None),
            ("192.0.2.7", Some(33), "eth0", None),
            ("2001:db8::7", Some(128), "lo", None),
            ("127.0.0.1", Some(8), "lo", None),
            ("169.254.3.4", Some(16), "eth0", None),
            ("fe80::1", Some(64), "eth0", None),
            ("::1", Some(128), "lo", None),
            ("224.0.0.5", Some(24), "eth0", None),
            ("0.0.0.0", Some(24), "eth0", None),
            ("172.17.0.1", Some(16), "docker0", None),
            ("10.88.0.1", Some(16), "podman0", None),
            ("192.168.122.1", Some(24), "virbr0", None),
        ] {
            let fixture = Fixture::new().await;
            let answer =
                discover(&fixture, vec![device("edge", &[(address, length, interface)])], FIRST).await;
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(cidrs(&fixture).await, expected, "{address} {length:?} {interface}");
            let reported: Vec<_> = answer.subnets.iter().map(|subnet| subnet.cidr.to_string()).collect();
            assert_eq!(reported, expected, "{address} {length:?} {interface}");
            for (_, subnet) in subnets(&fixture).await {
                assert_eq!(subnet.source.source_type(), SourceType::Discovery);
                let values: Vec<_> = assigned(&fixture).await.into_values().collect();
                assert_eq!(values, [Some(subnet.id)]);
            }
        }
    });
}

#[test]
fn reports_in_any_order_give_the_same_subnets() {
    run(async || {
        let scanned = {
            let mut device = Device::default();
            device.hostname = Some("printer".to_owned());
            device.tables.addresses = Some(Table::truncated(vec![AddressRow::new([192, 0, 2, 200].into())]));
            device
        };
        let devices = [
            device("router", &[("192.0.2.1", Some(24), "eth0"), ("10.0.0.1", Some(16), "eth1")]),
            device("firewall", &[("192.0.2.193", Some(26), "em0"), ("10.0.7.1", Some(24), "em1")]),
            scanned,
        ];
        let mut first = None;
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let fixture = Fixture::new().await;
            for place in order {
                discover(&fixture, vec![devices[place].clone()], FIRST).await;
            }
            let known = subnets(&fixture).await;
            assert_eq!(known.len(), 4, "{order:?}");
            let assigned = assigned(&fixture).await;
            let subnet_of = |address: &str| assigned[address];
            assert_eq!(subnet_of("192.0.2.200"), Some(known["192.0.2.192/26"].id), "{order:?}");
            assert_eq!(subnet_of("192.0.2.1"), Some(known["192.0.2.0/24"].id), "{order:?}");
            assert_eq!(subnet_of("10.0.7.1"), Some(known["10.0.7.0/24"].id), "{order:?}");
            assert_eq!(subnet_of("10.0.0.1"), Some(known["10.0.0.0/16"].id), "{order:?}");
            let by_cidr: BTreeMap<String, Option<Cidr>> = assigned
                .iter()
                .map(|(address, id)| {
                    let of_id = known.values().find(|subnet| Some(subnet.id) == *id);
                    (address.clone(), of_id.map(|subnet| subnet.cidr))
                })
                .collect();
            assert_eq!(*first.get_or_insert(by_cidr.clone()), by_cidr, "{order:?}");
        }
    });
}

#[test]
fn repeated_report_creates_no_subnet_and_writes_nothing() {
    run(async || {
        let fixture = Fixture::new().await;
        let router = device("router", &[("192.0.2.1", Some(24), "eth0")]);
        discover(&fixture, vec![router.clone()], FIRST).await;
        let commits = fixture.commits();
        let answer = discover(&fixture, vec![router], FIRST).await;
        assert_eq!((outcomes(&answer), fixture.commits()), (vec![DiscoveryOutcome::Unchanged], commits));
        assert!(answer.subnets.is_empty());
    });
}

#[test]
fn dry_run_names_the_subnets_and_stores_none() {
    run(async || {
        let fixture = Fixture::new().await;
        let router = device("router", &[("192.0.2.1", Some(24), "eth0")]);
        let options = DiscoverOptions::new(fixture.network).dry_run();
        let answer = discover_with(&fixture, vec![router.clone()], FIRST, options).await;
        assert!(cidrs(&fixture).await.is_empty());
        let stored = discover(&fixture, vec![router], FIRST).await;
        assert_eq!((answer.subnets.len(), answer.subnets), (1, stored.subnets));
    });
}

#[test]
fn subnet_that_a_user_deleted_or_changed_is_not_created_again() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let router = device("router", &[("192.0.2.1", Some(24), "eth0"), ("10.0.0.1", Some(24), "eth1")]);
        discover(&fixture, vec![router.clone()], FIRST).await;
        let known = subnets(&fixture).await;
        fixture.inventory.subnets().delete(&caller, known["192.0.2.0/24"].id).await.unwrap();
        let enlarge = |subnet: &mut Subnet| {
            subnet.cidr = "10.0.0.0/16".parse().unwrap();
            Ok(())
        };
        fixture.inventory.subnets().update(&caller, known["10.0.0.0/24"].id, enlarge).await.unwrap();
        discover(&fixture, vec![router], SECOND).await;
        assert_eq!(cidrs(&fixture).await, ["10.0.0.0/16"]);
        // The network can still be deleted.
        for document in fixture.documents().await {
            let host: Host =
                serde_json::from_slice(document.strip_prefix(b",").unwrap_or(&document)).unwrap();
            fixture.delete(host.id).await.unwrap();
        }
        fixture.inventory.subnets().delete(&caller, known["10.0.0.0/24"].id).await.unwrap();
        fixture.inventory.networks().delete(&fixture.system(), fixture.network).await.unwrap();
        assert!(
            fixture.mentioning(fixture.network).await.iter().all(|key| key.kind.as_str() != "deleted_subnet")
        );
    });
}

#[test]
fn created_changed_and_deleted_subnets_take_and_give_interfaces_at_once() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        discover(&fixture, (1..=40).map(switch).collect(), FIRST).await;
        let mut stateless = Host::with_id(id(1), fixture.network, "");
        stateless.source = Source::Unknown;
        stateless.interfaces.push(Interface::new(&stateless, "192.0.2.99".parse().unwrap()));
        fixture.put(&stateless).await;
        let wide = create(&fixture, "192.0.2.0/24").await;
        assert!(assigned(&fixture).await.values().all(|subnet| *subnet == Some(wide.id)));
        let narrow = create(&fixture, "192.0.2.0/28").await;
        let after = assigned(&fixture).await;
        assert_eq!(after.values().filter(|subnet| **subnet == Some(narrow.id)).count(), 15);
        let move_away = |subnet: &mut Subnet| {
            subnet.cidr = "192.0.2.32/28".parse().unwrap();
            Ok(())
        };
        fixture.inventory.subnets().update(&caller, narrow.id, move_away).await.unwrap();
        let after = assigned(&fixture).await;
        assert_eq!((after["192.0.2.1"], after["192.0.2.33"]), (Some(wide.id), Some(narrow.id)));
        fixture.inventory.subnets().delete(&caller, narrow.id).await.unwrap();
        assert_eq!(assigned(&fixture).await["192.0.2.33"], Some(wide.id));
    });
}

#[test]
fn subnet_that_a_user_set_stays_also_in_a_manual_host() {
    run(async || {
        let fixture = Fixture::new().await;
        let other = create(&fixture, "203.0.113.0/24").await;
        let answer = discover(&fixture, vec![switch(1)], FIRST).await;
        let mut host = fixture.host(answer.hosts[0].id.unwrap()).await;
        host.interfaces[0].subnet_id = Some(other.id);
        fixture.put(&host).await;
        let mut manual = Host::with_id(id(1), fixture.network, "desk");
        manual.source = Source::Manual;
        manual.interfaces.push(Interface::new(&manual, "192.0.2.98".parse().unwrap()));
        manual.interfaces.push(Interface::new(&manual, "192.0.2.99".parse().unwrap()));
        manual.interfaces[0].subnet_id = Some(other.id);
        fixture.put(&manual).await;
        let subnet = create(&fixture, "192.0.2.0/24").await;
        let after = assigned(&fixture).await;
        assert_eq!((after["192.0.2.1"], after["192.0.2.98"]), (Some(other.id), Some(other.id)));
        assert_eq!(after["192.0.2.99"], Some(subnet.id), "what the user left out is filled");
    });
}

#[test]
fn interfaces_that_an_earlier_report_described_decide_about_the_prefix() {
    run(async || {
        let fixture = Fixture::new().await;
        let whole = device("server", &[("172.17.0.1", Some(16), "docker0"), ("192.0.2.7", Some(24), "eth0")]);
        let mut entries = whole.clone();
        entries.tables.addresses = None;
        let mut addresses = whole;
        addresses.tables.if_entries = None;
        discover(&fixture, vec![entries], FIRST).await;
        discover(&fixture, vec![addresses], SECOND).await;
        let known = subnets(&fixture).await;
        assert_eq!(known.keys().collect::<Vec<_>>(), ["192.0.2.0/24"]);
        assert_eq!(assigned(&fixture).await["192.0.2.7"], Some(known["192.0.2.0/24"].id));
    });
}

#[test]
fn subnets_beyond_the_limit_are_counted_in_a_warning() {
    run(async || {
        let fixture = Fixture::new().await;
        let addresses: Vec<String> =
            (0..1_003_u16).map(|number| format!("10.{}.{}.1", number / 250, number % 250)).collect();
        let rows: Vec<_> = addresses.iter().map(|address| (address.as_str(), Some(24), "vlan")).collect();
        let answer = discover(&fixture, vec![device("core", &rows)], THIRD).await;
        assert_eq!(answer.subnets.len(), 1_000);
        let warning = answer.warnings.iter().find(|warning| warning.code == WarningCode::SubnetLimitReached);
        let warning = warning.expect("a warning");
        assert_eq!((warning.count, warning.example.as_deref()), (3, Some("10.4.0.0/24")));
        let answer = discover(&fixture, vec![device("core", &rows)], FOURTH).await;
        assert_eq!((answer.subnets.len(), answer.warnings.len()), (3, 0));
    });
}

#[test]
fn report_reads_no_more_on_a_network_with_more_subnets() {
    run(async || {
        let edge = device("edge", &[("10.200.0.1", Some(24), "eth0"), ("10.0.0.9", Some(24), "eth1")]);
        let mut reads = Vec::new();
        for count in [4, 100] {
            let fixture = Fixture::new().await;
            let addresses: Vec<String> = (0..count).map(|number| format!("10.{number}.0.1")).collect();
            let rows: Vec<_> = addresses.iter().map(|address| (address.as_str(), Some(24), "vlan")).collect();
            discover(&fixture, vec![device("core", &rows)], FIRST).await;
            let (inventory, probe) = fixture.probed();
            let (caller, report) = (owner_of(fixture.organization), report_of(vec![edge.clone()], SECOND));
            let answer = inventory
                .discovery()
                .reconcile(&caller, &report, DiscoverOptions::new(fixture.network))
                .await;
            assert_eq!(answer.unwrap().subnets.len(), 1);
            followed(&inventory).await;
            let mut passed = probe.take_passed();
            // Links are followed meanwhile.
            passed.sort();
            reads.push(passed);
            let (known, assigned) = (subnets(&fixture).await, assigned(&fixture).await);
            for (address, subnet) in [("10.200.0.1", "10.200.0.0/24"), ("10.0.0.9", "10.0.0.0/24")] {
                assert_eq!(assigned[address], Some(known[subnet].id));
            }
        }
        assert_eq!(reads[0], reads[1]);
    });
}
