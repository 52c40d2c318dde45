//! Weak evidence against contradicting evidence: what is one host, what is merged, and the reasons.

use toposcope::discovery::reconcile::{
    AddressTimes, Context, Merging, Recognition, Recognized, join_pieces, recognize_with_notes,
};
use toposcope::discovery::report::{AddressRow, Device, IfEntryRow, PortRow, Table, WarningCode};
use toposcope::model::{Host, HostId, LldpChassisIdSubtype as Subtype, Protocol, Source};

use super::support::{
    Record, add_address, add_port, addresses, at, chassis, device, entries, entry_macs, host, ip, lldp, mac,
};

const A: &str = "00:1B:21:00:00:0A";
const B: &str = "00:1B:21:00:00:0B";
const SHARED: &str = "00:1B:21:00:00:FE";

fn recognized(device: &Device, hosts: &[Host]) -> Recognized {
    let times = AddressTimes::default();
    let context = Context { merging: Merging::Allowed, times: &times, observed_at: at(60) };
    recognize_with_notes(device, hosts, context)
}

/// Returns the host that matches the device, and those merged into it; `None` for a new host.
fn outcome(device: &Device, hosts: &[Host]) -> Option<(u128, Vec<u128>)> {
    match recognized(device, hosts).recognition {
        Recognition::Known { id, merged, .. } => {
            Some((id.as_u128(), merged.iter().map(HostId::as_u128).collect()))
        }
        Recognition::New => None,
        other => panic!("{other:?}"),
    }
}

fn codes(device: &Device, hosts: &[Host]) -> Vec<WarningCode> {
    recognized(device, hosts).notes.iter().map(|note| note.code).collect()
}

/// Returns an element of a scan: an address, a MAC address and a DNS name.
fn scanned(address: &str, mac_address: Option<&str>, name: Option<&str>) -> Device {
    device(|device| {
        let mut row = AddressRow::new(ip(address));
        row.mac_address = mac_address.map(mac);
        device.tables.addresses = Some(Table::truncated(vec![row]));
        device.hostname = name.map(str::to_owned);
    })
}

/// Returns a device that describes itself.
fn walked(name: &str, object: &str, address: &str, macs: &[&str]) -> Device {
    device(|device| {
        device.sys_name = Some(name.to_owned());
        device.sys_object_id = Some(object.to_owned());
        device.tables.addresses = Some(addresses(&[address]));
        device.tables.if_entries = Some(entry_macs(macs));
    })
}

/// Returns the host that a walked device became.
fn stored(id: u128, name: &str, object: &str, address: &str, macs: &[&str]) -> Host {
    host(id, |host| {
        (host.name, host.sys_name) = (name.to_owned(), Some(name.to_owned()));
        host.sys_object_id = Some(object.to_owned());
        add_address(host, address, None);
        for (index, address) in (1..).zip(macs) {
            add_port(host, index, "", Some(address));
        }
    })
}

const CISCO: &str = "1.3.6.1.4.1.9.1.1";
const JUNIPER: &str = "1.3.6.1.4.1.2636.1.1.1.2.39";

#[test]
fn common_mac_address_never_joins_devices_with_other_names_and_addresses() {
    // Juniper: fxp0 of both nodes of a cluster has one MAC address.
    let node = stored(1, "node-0", JUNIPER, "192.0.2.1", &[A, SHARED]);
    let other = walked("node-1", JUNIPER, "192.0.2.2", &[B, SHARED]);
    assert_eq!(outcome(&other, std::slice::from_ref(&node)), None);
    let note = recognized(&other, std::slice::from_ref(&node)).notes.swap_remove(0);
    assert_eq!(note.code, WarningCode::MacShared);
    let text = "node-1 and node-0 both have the MAC address 00:1B:21:00:00:FE, but their names and addresses differ: \
                two hosts";
    assert_eq!(note.text, text);
    // A router answers ARP requests for a printer behind it.
    let router = stored(1, "router", CISCO, "192.0.2.1", &[A, B]);
    let printer = scanned("192.0.2.9", Some(A), Some("printer.example.net"));
    assert_eq!(outcome(&printer, &[router]), None);
}

#[test]
fn renamed_and_renumbered_device_keeps_its_mac_addresses_and_its_host() {
    let before = stored(1, "access-1", CISCO, "192.0.2.1", &[A, B]);
    let after = walked("access-9", CISCO, "198.51.100.1", &[A, B]);
    assert_eq!(outcome(&after, &[before]), Some((1, vec![])));
}

#[test]
fn name_that_the_dns_makes_of_an_address_is_no_other_name() {
    let laptop = |address: &str, name: &str| {
        host(1, |host| {
            (host.name, host.hostname) = (name.to_owned(), Some(name.to_owned()));
            add_address(host, address, Some(A));
        })
    };
    for (before, after) in [
        ("dhcp-192-0-2-50.example.net", "dhcp-192-0-2-51.example.net"),
        ("50.2.0.192.dyn.example.net", "51.2.0.192.dyn.example.net"),
    ] {
        let moved = scanned("192.0.2.51", Some(A), Some(after));
        assert_eq!(outcome(&moved, &[laptop("192.0.2.50", before)]), Some((1, vec![])), "{after}");
    }
    let other = scanned("192.0.2.51", Some(A), Some("tv.example.net"));
    assert_eq!(outcome(&other, &[laptop("192.0.2.50", "laptop.example.net")]), None);
}

#[test]
fn device_with_another_name_and_object_id_replaced_the_one_at_its_address() {
    let before = stored(1, "old-switch", CISCO, "192.0.2.1", &[]);
    let after = walked("new-switch", JUNIPER, "192.0.2.1", &[]);
    assert_eq!(outcome(&after, std::slice::from_ref(&before)), None);
    assert_eq!(codes(&after, &[before]), [WarningCode::MergeRefused]);
}

#[test]
fn new_network_card_is_no_other_device_unless_the_chassis_id_or_the_serial_number_differs() {
    let before = stored(1, "nas", CISCO, "192.0.2.1", &[A]);
    let after = walked("nas", CISCO, "192.0.2.1", &[B]);
    assert_eq!(outcome(&after, std::slice::from_ref(&before)), Some((1, vec![])));
    assert_eq!(codes(&after, std::slice::from_ref(&before)), [WarningCode::MacChanged]);
    // A scan does not describe the device from inside.
    let scan = scanned("192.0.2.1", Some(B), Some("nas"));
    assert_eq!(outcome(&scan, std::slice::from_ref(&before)), None);
    let with_chassis =
        |value: &str| Host { chassis_id: Some(chassis(Subtype::LocallyAssigned, value)), ..before.clone() };
    let mut announced = after.clone();
    announced.chassis_id = Some(Box::new(chassis(Subtype::LocallyAssigned, "unit-b")));
    assert_eq!(outcome(&announced, &[with_chassis("unit-b")]), Some((1, vec![])));
    assert_eq!(outcome(&announced, &[with_chassis("unit-a")]), None);
    let note = recognized(&announced, &[with_chassis("unit-a")]).notes.swap_remove(0);
    assert_eq!(
        note.text,
        "nas and nas both have the address 192.0.2.1, but their chassis ids differ: two hosts"
    );
    let with_serial = Host { serial_number: Some("SN-1111".to_owned()), ..before.clone() };
    let mut other_serial = after;
    other_serial.serial_number = Some("SN-2222".to_owned());
    assert_eq!(outcome(&other_serial, &[with_serial]), None);
}

#[test]
fn host_that_has_only_a_name_is_absorbed_by_the_device_with_this_unique_name() {
    let named = host(1, |host| (host.name, host.sys_name) = ("core".to_owned(), Some("core".to_owned())));
    let scanned_host = host(2, |host| {
        host.name = "192.0.2.1".to_owned();
        add_address(host, "192.0.2.1", Some(A));
    });
    let reported = walked("core", CISCO, "192.0.2.1", &[A, B]);
    let hosts = [named.clone(), scanned_host.clone()];
    assert_eq!(outcome(&reported, &hosts), Some((2, vec![1])));
    let note = recognized(&reported, &hosts).notes.swap_remove(0);
    assert_eq!(note.code, WarningCode::HostsMerged);
    assert_eq!(note.text, "core became a part of 192.0.2.1, which has the name core");
    // By the name alone, the host that has more is meant.
    let by_name = device(|device| device.sys_name = Some("core".to_owned()));
    let known = stored(3, "core", CISCO, "192.0.2.7", &[B]);
    assert_eq!(outcome(&by_name, &[named.clone(), known]), Some((3, vec![1])));
    // Another device has the name, too.
    let other = stored(3, "core", JUNIPER, "192.0.2.3", &["00:1B:21:00:00:33"]);
    assert_eq!(outcome(&reported, &[named.clone(), scanned_host.clone(), other]), Some((2, vec![])));
    // Hosts of users stay.
    for source in [Source::Manual, Source::Unknown] {
        let by_hand = Host { source, ..named.clone() };
        assert_eq!(outcome(&reported, &[by_hand, scanned_host.clone()]), Some((2, vec![])));
    }
}

#[test]
fn hosts_of_single_addresses_are_absorbed_by_the_device_that_has_them() {
    let at_address = |id: u128, address: &str, name: Option<&str>| {
        host(id, |host| {
            host.name = address.to_owned();
            host.hostname = name.map(str::to_owned);
            add_address(host, address, None);
        })
    };
    let router = host(1, |host| {
        (host.name, host.sys_name) = ("edge".to_owned(), Some("edge".to_owned()));
        host.chassis_id = Some(chassis(Subtype::MacAddress, A));
        host.serial_number = Some("SN-1234".to_owned());
    });
    let reported = device(|device| {
        device.sys_name = Some("edge".to_owned());
        device.chassis_id = Some(Box::new(chassis(Subtype::MacAddress, A)));
        device.tables.addresses = Some(addresses(&["192.0.2.1", "198.51.100.1"]));
    });
    // The DNS calls the addresses as it likes.
    let hosts = [
        router,
        at_address(2, "192.0.2.1", Some("gw.example.net")),
        at_address(3, "198.51.100.1", None),
        at_address(4, "203.0.113.1", None),
    ];
    assert_eq!(outcome(&reported, &hosts), Some((1, vec![2, 3])));
}

#[test]
fn virtual_address_is_absorbed_by_one_router_and_joins_no_peers() {
    let virtual_address = host(1, |host| add_address(host, "192.0.2.1", Some("00:00:5E:00:01:01")));
    let backup = stored(2, "backup", CISCO, "192.0.2.3", &[B]);
    let mut master = walked("master", CISCO, "192.0.2.2", &[A]);
    master.tables.addresses = Some(addresses(&["192.0.2.1", "192.0.2.2"]));
    let known = stored(3, "master", CISCO, "192.0.2.2", &[A]);
    assert_eq!(outcome(&master, &[virtual_address, backup, known]), Some((3, vec![1])));
}

#[test]
fn pieces_of_one_device_are_joined_by_their_full_name_while_nothing_differs() {
    let by_interfaces = host(1, |host| {
        (host.name, host.sys_name) = ("core".to_owned(), Some("core".to_owned()));
        add_port(host, 1, "Gi0/1", Some(A));
    });
    let by_addresses = |address: &str| {
        device(|device| {
            device.sys_name = Some("core".to_owned());
            device.tables.addresses = Some(addresses(&[address]));
        })
    };
    assert_eq!(outcome(&by_addresses("192.0.2.1"), std::slice::from_ref(&by_interfaces)), Some((1, vec![])));
    let mut elsewhere = by_interfaces;
    add_address(&mut elsewhere, "198.51.100.1", None);
    assert_eq!(outcome(&by_addresses("192.0.2.1"), &[elsewhere]), None);
}

fn with_port(mut device: Device, number: u16) -> Device {
    let row = PortRow::new(number.try_into().unwrap(), Protocol::Tcp);
    device.tables.ports = Some(Table::complete(vec![row]));
    device
}

#[test]
fn elements_of_a_scan_are_joined_by_address_and_by_mac_address() {
    let joined = |devices: &[Device]| join_pieces(devices).len();
    let element = |address: &str, mac_address: Option<&str>, name: Option<&str>, port: u16| {
        with_port(scanned(address, mac_address, name), port)
    };
    // naabu and masscan: an element for each port.
    let by_port: Vec<Device> = (1..=40).map(|port| element("192.0.2.1", None, None, port)).collect();
    let whole = join_pieces(&by_port).into_owned();
    assert_eq!(whole.len(), 1);
    let ports = whole[0].tables.ports.as_deref().unwrap();
    assert_eq!((ports.rows.len(), ports.complete), (40, true));
    // nmap: an element for each address of a host with two of them.
    let homed = [
        element("192.0.2.1", Some(A), None, 22),
        element("192.0.2.7", Some(B), None, 22),
        element("198.51.100.1", Some(A), Some("srv.example.net"), 22),
    ];
    let whole = join_pieces(&homed).into_owned();
    assert_eq!(whole.len(), 2);
    assert_eq!(whole[0].hostname.as_deref(), Some("srv.example.net"));
    assert_eq!(whole[0].tables.addresses.as_deref().unwrap().rows.len(), 2);
    // One address with two MAC addresses, and one MAC address with two names.
    assert_eq!(
        joined(&[element("192.0.2.1", Some(A), None, 22), element("192.0.2.1", Some(B), None, 22)]),
        2
    );
    let behind = |address, name| element(address, Some(A), Some(name), 80);
    assert_eq!(
        joined(&[behind("192.0.2.1", "pc-a.example.net"), behind("192.0.2.2", "pc-b.example.net")]),
        2
    );
    // Devices that describe themselves.
    let walks = [walked("a", CISCO, "192.0.2.1", &[A]), walked("b", CISCO, "192.0.2.1", &[A])];
    assert_eq!(joined(&walks), 2);
}

/// Returns a table of interfaces that only neighbors show.
fn derived(rows: &[(i64, &str)]) -> Box<Table<IfEntryRow>> {
    Table::derived(entries(rows).rows)
}

#[test]
fn derived_interfaces_take_the_place_of_no_real_one() {
    let real = device(|device| {
        let mut table = entries(&[(10, "Gi0/7"), (11, "Gi0/8")]);
        table.rows[0].if_descr = Some("GigabitEthernet0/7".to_owned());
        table.rows[0].if_alias = Some("uplink".to_owned());
        table.rows[0].speed_bps = Some(1_000);
        device.tables.if_entries = Some(table);
    });
    // HPE Comware numbers LLDP ports from 1 and names them in full; one port is in no table of interfaces.
    let neighbors = device(|device| {
        let mut row = lldp(7, Subtype::LocallyAssigned, "neighbor");
        row.if_name = Some("GigabitEthernet0/7".to_owned());
        let mut unknown = lldp(9, Subtype::LocallyAssigned, "elsewhere");
        unknown.if_name = Some("Stack1".to_owned());
        device.tables.lldp = Some(Table::truncated(vec![row, unknown]));
        let rows = [(7, "GigabitEthernet0/7"), (8, "GigabitEthernet0/9"), (9, "Stack1")];
        device.tables.if_entries = Some(derived(&rows));
    });
    let in_order = |first: &Device, second: &Device| {
        let mut record = Record::new(first);
        record.merge(second, 0);
        record.merge(first, 0);
        let mut ports: Vec<_> = record
            .host
            .if_entries
            .iter()
            .map(|entry| {
                let neighbor = entry.lldp_chassis_id.as_ref().map(|id| id.value.clone());
                (entry.if_index, entry.if_name.clone(), entry.if_alias.clone(), entry.speed_bps, neighbor)
            })
            .collect();
        ports.sort();
        ports
    };
    let text = |text: &str| Some(text.to_owned());
    let expected = [
        (0, text("Stack1"), None, None, text("elsewhere")),
        (10, text("Gi0/7"), text("uplink"), Some(1_000), text("neighbor")),
        (11, text("Gi0/8"), None, None, None),
    ];
    assert_eq!(in_order(&real, &neighbors), expected);
    assert_eq!(in_order(&neighbors, &real), expected);
}

#[test]
fn rows_without_index_describe_the_interface_with_their_name() {
    let mut record = Record::new(&device(|device| device.tables.if_entries = Some(entries(&[(3, "eth0")]))));
    // `bridge -j vlan` knows names only.
    let vlans = device(|device| {
        let mut rows = entries(&[(0, "eth0"), (0, "eth1")]).rows;
        rows[0].if_alias = Some("lan".to_owned());
        device.tables.if_entries = Some(Table::truncated(rows));
    });
    record.merge(&vlans, 1);
    let mut found: Vec<_> = record
        .host
        .if_entries
        .iter()
        .map(|entry| (entry.if_index, entry.if_name.as_deref(), entry.if_alias.as_deref()))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [(0, Some("eth1"), None), (3, Some("eth0"), Some("lan"))]);
}

#[test]
fn later_value_counts_whatever_the_order_of_reports() {
    let located = |place: Option<&str>| {
        device(|device| {
            device.sys_name = Some("core".to_owned());
            device.sys_location = place.map(str::to_owned);
            let mut table = entries(&[(1, "eth0")]);
            table.complete = false;
            table.rows[0].if_type = place.and_then(|place| place.len().try_into().ok());
            device.tables.if_entries = Some(table);
        })
    };
    let reports = [(located(Some("rack 10")), 1), (located(Some("rack 9")), 2), (located(None), 3)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut record = Record::new(&device(|device| device.sys_name = Some("core".to_owned())));
        for place in order {
            let (device, minutes) = &reports[place];
            record.merge(device, *minutes);
        }
        assert_eq!(record.host.sys_location.as_deref(), Some("rack 9"), "{order:?}");
        assert_eq!(record.host.if_entries[0].if_type, Some(6), "{order:?}");
    }
}
