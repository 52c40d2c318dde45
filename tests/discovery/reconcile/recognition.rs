//! Recognition of a device among hosts.

use toposcope::discovery::reconcile::{MatchedBy, Merging, Recognition, new_host_id, recognize};
use toposcope::discovery::report::Device;
use toposcope::model::{Host, HostId, LldpChassisIdSubtype as Subtype, NetworkId, Source};

use super::support::{
    add_address, add_port, addresses, chassis, device, entries, entry_macs, host, recognized,
};
use super::world::NETWORK;

const A: &str = "00:1B:21:00:00:0A";
const B: &str = "00:1B:21:00:00:0B";

#[track_caller]
fn assert_known(device: &Device, hosts: &[Host], id: u128, key: MatchedBy) {
    let known = Recognition::Known { id: HostId::from_u128(id), matched_by: key, merged: vec![] };
    assert_eq!(recognized(device, hosts), known);
}

#[track_caller]
fn assert_new(device: &Device, hosts: &[Host]) {
    assert_eq!(recognized(device, hosts), Recognition::New);
}

#[track_caller]
fn assert_ambiguous(device: &Device, hosts: &[Host], key: MatchedBy) {
    match recognized(device, hosts) {
        Recognition::Ambiguous { key: found, hosts: ids } => {
            assert_eq!(found, key);
            assert_eq!(ids.len(), hosts.len());
        }
        other => panic!("{other:?}"),
    }
}

fn with_serial(id: u128, serial: &str) -> Host {
    host(id, |host| host.serial_number = Some(serial.to_owned()))
}

fn with_chassis(id: u128, value: &str) -> Host {
    host(id, |host| host.chassis_id = Some(chassis(Subtype::MacAddress, value)))
}

#[test]
fn keys_are_tried_in_the_order_of_their_strength() {
    let mut hosts = vec![
        host(1, |host| host.sys_name = Some("core".to_owned())),
        host(2, |host| add_address(host, "192.0.2.1", None)),
        host(3, |host| add_port(host, 1, "", Some(A))),
        with_chassis(4, B),
        with_serial(5, "SN-1234"),
        host(6, |_| {}),
    ];
    let device = device(|device| {
        device.id = Some(HostId::from_u128(6));
        device.serial_number = Some("SN-1234".to_owned());
        device.chassis_id = Some(Box::new(chassis(Subtype::MacAddress, B)));
        device.tables.if_entries = Some(entry_macs(&[A]));
        device.tables.addresses = Some(addresses(&["192.0.2.1"]));
        device.sys_name = Some("core".to_owned());
    });
    let keys = [
        (6, MatchedBy::Id),
        (5, MatchedBy::SerialNumber),
        (4, MatchedBy::ChassisId),
        (3, MatchedBy::Mac),
        (2, MatchedBy::IpAddress),
        (1, MatchedBy::Name),
    ];
    for (id, key) in keys {
        match recognize(&device, &hosts, Merging::Forbidden) {
            Recognition::Known { id: found, matched_by, .. } => {
                assert_eq!((found, matched_by), (HostId::from_u128(id), key));
            }
            other => panic!("{other:?}"),
        }
        hosts.retain(|host| host.id != HostId::from_u128(id));
    }
    assert_new(&device, &[]);
}

#[test]
fn weaker_key_never_matches_a_host_with_another_serial_number() {
    let stored = host(1, |host| {
        host.serial_number = Some("SN-1111".to_owned());
        host.sys_name = Some("core".to_owned());
        host.chassis_id = Some(chassis(Subtype::MacAddress, A));
        add_address(host, "192.0.2.1", Some(A));
    });
    let reported = device(|device| {
        device.serial_number = Some("SN-2222".to_owned());
        device.sys_name = Some("core".to_owned());
        device.chassis_id = Some(Box::new(chassis(Subtype::MacAddress, A)));
        device.tables.addresses = Some(addresses(&["192.0.2.1"]));
    });
    assert_new(&reported, &[stored]);
}

#[test]
fn address_and_name_never_match_a_host_with_another_chassis_id() {
    let stored = host(1, |host| {
        host.sys_name = Some("core".to_owned());
        host.chassis_id = Some(chassis(Subtype::MacAddress, A));
        add_address(host, "192.0.2.1", None);
    });
    let reported = device(|device| {
        device.sys_name = Some("core".to_owned());
        device.chassis_id = Some(Box::new(chassis(Subtype::MacAddress, B)));
        device.tables.addresses = Some(addresses(&["192.0.2.1"]));
    });
    assert_new(&reported, &[stored]);
}

#[test]
fn chassis_id_may_change_to_another_address_of_the_device() {
    let stored = host(1, |host| {
        host.chassis_id = Some(chassis(Subtype::MacAddress, A));
        add_port(host, 1, "eth0", Some(A));
        add_port(host, 2, "eth1", Some(B));
    });
    let reported = device(|device| {
        device.chassis_id = Some(Box::new(chassis(Subtype::MacAddress, B)));
        device.tables.if_entries = Some(entry_macs(&[A, B]));
    });
    assert_known(&reported, &[stored], 1, MatchedBy::Mac);
}

#[test]
fn address_never_matches_a_host_with_other_mac_addresses() {
    let stored = host(1, |host| add_address(host, "192.0.2.1", Some(A)));
    let reported = device(|device| {
        device.tables.addresses = Some(addresses(&["192.0.2.1"]));
        device.tables.if_entries = Some(entry_macs(&[B]));
    });
    assert_new(&reported, std::slice::from_ref(&stored));
    let unknown = device(|device| device.tables.addresses = Some(addresses(&["192.0.2.1"])));
    assert_known(&unknown, &[stored], 1, MatchedBy::IpAddress);
}

#[test]
fn mac_address_on_two_hosts_does_not_decide() {
    let hosts = [1, 2].map(|id| {
        host(id, |host| {
            add_address(host, &format!("192.0.2.{id}"), Some(A));
            host.sys_name = Some(format!("host-{id}"));
        })
    });
    let nameless = device(|device| device.tables.if_entries = Some(entry_macs(&[A])));
    assert_ambiguous(&nameless, &hosts, MatchedBy::Mac);
    let second = device(|device| {
        device.tables.if_entries = Some(entry_macs(&[A]));
        device.tables.addresses = Some(addresses(&["192.0.2.2"]));
    });
    assert_known(&second, &hosts, 2, MatchedBy::IpAddress);
    let third = device(|device| device.tables.if_entries = Some(entry_macs(&[A, B])));
    assert_new(&third, &hosts);
}

#[test]
fn hosts_with_one_serial_number_are_ambiguous_unless_a_weaker_key_decides() {
    let hosts = [1, 2].map(|id| {
        host(id, |host| {
            host.serial_number = Some("VMware-56".to_owned());
            add_address(host, &format!("192.0.2.{id}"), None);
        })
    });
    let mut reported = device(|device| device.serial_number = Some("VMware-56".to_owned()));
    assert_ambiguous(&reported, &hosts, MatchedBy::SerialNumber);
    reported.tables.addresses = Some(addresses(&["192.0.2.2"]));
    assert_known(&reported, &hosts, 2, MatchedBy::SerialNumber);
}

#[test]
fn virtual_address_does_not_make_peers_one_host() {
    let first = host(1, |host| {
        add_address(host, "192.0.2.2", None);
        add_address(host, "192.0.2.1", None);
    });
    let second = device(|device| device.tables.addresses = Some(addresses(&["192.0.2.3", "192.0.2.1"])));
    assert_new(&second, std::slice::from_ref(&first));
    let stored = host(2, |host| add_address(host, "192.0.2.3", None));
    assert_known(&second, &[first, stored], 2, MatchedBy::IpAddress);
}

#[test]
fn name_matches_only_with_a_second_key() {
    let reported = |change: fn(&mut Device)| {
        device(|device| {
            device.sys_name = Some("core".to_owned());
            device.serial_number = Some("SN-1234".to_owned());
            change(device);
        })
    };
    let stored = host(1, |host| {
        host.hostname = Some("core.example.net".to_owned());
        host.sys_object_id = Some("1.3.6.1.4.1.9.1".to_owned());
        add_address(host, "192.0.2.1", Some("02:00:00:00:00:01"));
        add_address(host, "192.0.2.2", None);
        add_port(host, 1, "Gi0/1", None);
        add_port(host, 2, "Gi0/2", None);
    });
    let hosts = [stored];
    assert_new(&reported(|_| {}), &hosts);
    assert_new(&reported(|device| device.sys_object_id = Some("1.3.6.1.4.1.9.2".to_owned())), &hosts);
    let confirmed: [fn(&mut Device); 4] = [
        |device| device.sys_object_id = Some("1.3.6.1.4.1.9.1".to_owned()),
        |device| device.tables.addresses = Some(addresses(&["192.0.2.2", "192.0.2.9"])),
        |device| device.tables.if_entries = Some(entry_macs(&["02:00:00:00:00:01"])),
        |device| device.tables.if_entries = Some(entries(&[(7, "gi0/1"), (8, "Gi0/2")])),
    ];
    for change in confirmed {
        assert_known(&reported(change), &hosts, 1, MatchedBy::Name);
    }
}

#[test]
fn name_alone_matches_if_one_side_has_nothing_else() {
    let named = device(|device| device.sys_name = Some("core".to_owned()));
    let plain = host(1, |host| host.name = "Core".to_owned());
    assert_known(&named, std::slice::from_ref(&plain), 1, MatchedBy::Name);
    let rich = host(1, |host| {
        host.sys_name = Some("core".to_owned());
        add_address(host, "192.0.2.1", Some(A));
    });
    assert_known(&named, &[rich], 1, MatchedBy::Name);
    let richer = device(|device| {
        device.sys_name = Some("core".to_owned());
        device.tables.if_entries = Some(entry_macs(&[A]));
    });
    assert_known(&richer, std::slice::from_ref(&plain), 1, MatchedBy::Name);
    let hosts = [plain.clone(), Host { id: HostId::from_u128(2), ..plain }];
    assert_ambiguous(&named, &hosts, MatchedBy::Name);
}

#[test]
fn short_names_match_unless_both_sides_have_domains() {
    let named = |name: &str| device(|device| device.sys_name = Some(name.to_owned()));
    let stored = host(1, |host| host.sys_name = Some("core.a.example".to_owned()));
    assert_known(&named("core"), std::slice::from_ref(&stored), 1, MatchedBy::Name);
    assert_new(&named("core.b.example"), std::slice::from_ref(&stored));
    assert_known(&named("core.a.example"), &[stored], 1, MatchedBy::Name);
}

#[test]
fn hosts_are_merged_only_if_the_device_accounts_for_all_their_identities() {
    let first = host(1, |host| add_address(host, "192.0.2.1", Some(A)));
    let second = host(2, |host| add_address(host, "192.0.2.2", Some(B)));
    let reported = device(|device| {
        device.tables.if_entries = Some(entry_macs(&[A, B]));
        device.tables.addresses = Some(addresses(&["192.0.2.1", "192.0.2.2"]));
    });
    let hosts = [first.clone(), second.clone()];
    let (one, other) = (HostId::from_u128(1), HostId::from_u128(2));
    let merged = Recognition::Known { id: one, matched_by: MatchedBy::Mac, merged: vec![other] };
    assert_eq!(recognized(&reported, &hosts), merged);
    let forbidden = Recognition::Ambiguous { key: MatchedBy::Mac, hosts: vec![one, other] };
    assert_eq!(recognize(&reported, &hosts, Merging::Forbidden), forbidden);

    let mut larger = second.clone();
    add_address(&mut larger, "192.0.2.3", None);
    assert_ambiguous(&reported, &[first.clone(), larger], MatchedBy::Mac);
    let manual = Host { source: Source::Manual, ..second };
    assert_ambiguous(&reported, &[first, manual], MatchedBy::Mac);
}

#[test]
fn host_of_one_address_is_merged_into_the_device_that_has_it() {
    let switch = host(1, |host| {
        host.chassis_id = Some(chassis(Subtype::MacAddress, A));
        add_address(host, "192.0.2.1", None);
    });
    let scanned = host(2, |host| {
        host.name = "192.0.2.2".to_owned();
        add_address(host, "192.0.2.2", None);
    });
    let reported = device(|device| {
        device.chassis_id = Some(Box::new(chassis(Subtype::MacAddress, A)));
        device.tables.addresses = Some(addresses(&["192.0.2.1", "192.0.2.2"]));
    });
    let (id, merged) = (HostId::from_u128(1), vec![HostId::from_u128(2)]);
    let expected = Recognition::Known { id, matched_by: MatchedBy::ChassisId, merged };
    assert_eq!(recognized(&reported, &[switch, scanned]), expected);
}

#[test]
fn new_id_follows_from_network_and_strongest_identity() {
    let mut reported = device(|device| device.sys_name = Some("core".to_owned()));
    let by_name = new_host_id(&reported, NETWORK);
    assert!(by_name.is_some());
    reported.serial_number = Some("SN-1234".to_owned());
    let by_serial = new_host_id(&reported, NETWORK);
    assert_ne!(by_name, by_serial);
    reported.sys_name = Some("edge".to_owned());
    assert_eq!(new_host_id(&reported, NETWORK), by_serial);
    assert_ne!(new_host_id(&reported, NetworkId::from_u128(0x12)), by_serial);
    assert_eq!(new_host_id(&Device::default(), NETWORK), None);
}
