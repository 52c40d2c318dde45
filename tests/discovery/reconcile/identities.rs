//! Identities of hosts and devices, and values that are none.

use toposcope::discovery::reconcile::{Identity, IdentityKind};
use toposcope::model::LldpChassisIdSubtype as Subtype;

use super::support::{add_address, add_port, addresses, chassis, device, entry_macs, host, mac};

fn kinds(identities: &[Identity]) -> Vec<IdentityKind> {
    identities.iter().map(Identity::kind).collect()
}

#[test]
fn host_has_identities_of_all_kinds_in_order_of_rank() {
    let host = host(1, |host| {
        host.sys_name = Some("Core-1.example.net".to_owned());
        host.serial_number = Some("FOC1234".to_owned());
        host.chassis_id = Some(chassis(Subtype::LocallyAssigned, "chassis-a"));
        add_address(host, "192.0.2.1", Some("00:1B:21:00:00:01"));
    });
    let identities = Identity::of_host(&host);
    let all = [
        IdentityKind::SerialNumber,
        IdentityKind::ChassisId,
        IdentityKind::Mac,
        IdentityKind::IpAddress,
        IdentityKind::Name,
        IdentityKind::ShortName,
    ];
    assert_eq!(kinds(&identities), all);
}

#[test]
fn terms_have_a_kind_and_at_most_16_bytes() {
    let host = host(1, |host| {
        host.name = "n".repeat(1_000);
        host.serial_number = Some("FOC1234".to_owned());
        add_address(host, "2001:db8::1", Some("00:1B:21:00:00:01"));
    });
    let terms: Vec<Vec<u8>> = Identity::of_host(&host).iter().map(Identity::term).collect();
    assert!(terms.iter().all(|term| (2..=17).contains(&term.len())), "{terms:?}");
    assert!(terms.contains(&vec![3, 0x00, 0x1B, 0x21, 0, 0, 1]));
    let heads: std::collections::BTreeSet<u8> = terms.iter().map(|term| term[0]).collect();
    assert_eq!(heads.len(), 5);
}

#[test]
fn placeholders_are_no_serial_numbers() {
    let placeholders = [
        "",
        "0",
        "0000000",
        "None",
        "N/A",
        "To be filled by O.E.M.",
        "<private>",
        "Default string",
        "..",
        "xxxxxxxx",
        "7",
    ];
    for text in placeholders {
        let device = device(|device| device.serial_number = Some(text.to_owned()));
        assert!(Identity::of_device(&device).is_empty(), "{text}");
    }
}

#[test]
fn serial_numbers_and_names_are_compared_without_case_and_white_space() {
    let stored = host(1, |host| {
        host.serial_number = Some("foc1234x".to_owned());
        host.hostname = Some("CORE-1".to_owned());
    });
    let reported = device(|device| {
        device.serial_number = Some(" FOC1234X\n".to_owned());
        device.sys_name = Some("core-1.".to_owned());
    });
    assert_eq!(Identity::of_host(&stored), Identity::of_device(&reported));
}

#[test]
fn only_globally_administered_unicast_addresses_of_one_port_are_identities() {
    let others = [
        "00:00:00:00:00:00",
        "02:42:AC:11:00:02",
        "01:80:C2:00:00:0E",
        "FF:FF:FF:FF:FF:FF",
        "00:00:5E:00:01:0A",
        "00:00:5E:00:02:0A",
        "00:00:0C:07:AC:01",
        "00:00:0C:9F:F0:01",
        "00:05:73:A0:00:01",
        "00:07:B4:00:01:01",
        "00:50:56:C0:00:08",
    ];
    let device_of =
        |addresses: &[&str]| device(|device| device.tables.if_entries = Some(entry_macs(addresses)));
    for address in others {
        assert!(Identity::of_device(&device_of(&[address])).is_empty(), "{address}");
    }
    assert_eq!(kinds(&Identity::of_device(&device_of(&["00:1B:21:00:00:01"]))), [IdentityKind::Mac]);
}

#[test]
fn bridge_address_and_address_in_cdp_device_id_stand_in_for_a_chassis_id() {
    let announced = device(|device| {
        device.chassis_id = Some(Box::new(chassis(Subtype::MacAddress, "00:1B:21:00:00:01")));
    });
    let bridge = device(|device| device.bridge_address = Some(mac("00:1B:21:00:00:01")));
    assert_eq!(Identity::of_device(&bridge), Identity::of_device(&announced));
    let by_cdp = device(|device| device.cdp_device_id = Some("Switch 2510B(001b21-000001)".to_owned()));
    let identities = Identity::of_device(&by_cdp);
    assert!(Identity::of_device(&announced).iter().all(|identity| identities.contains(identity)));
}

#[test]
fn loopback_and_link_local_addresses_are_no_identities() {
    for address in [
        "127.0.0.1",
        "169.254.1.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "fe80::1",
        "ff02::1",
        "::",
    ] {
        let device = device(|device| device.tables.addresses = Some(addresses(&[address])));
        assert!(Identity::of_device(&device).is_empty(), "{address}");
    }
    let mapped = device(|device| device.tables.addresses = Some(addresses(&["::ffff:192.0.2.1"])));
    let plain = device(|device| device.tables.addresses = Some(addresses(&["192.0.2.1"])));
    assert_eq!(Identity::of_device(&mapped), Identity::of_device(&plain));
}

#[test]
fn addresses_of_container_bridges_are_no_identities() {
    let host = host(1, |host| {
        add_address(host, "172.17.0.1", None);
        host.interfaces[0].name = Some("docker0".to_owned());
    });
    assert!(Identity::of_host(&host).is_empty());
}

#[test]
fn default_names_and_addresses_are_no_names() {
    for name in ["localhost", "localhost.localdomain", "(none)", "192.0.2.1", "00:1b:21:00:00:01", " "] {
        let device = device(|device| device.sys_name = Some(name.to_owned()));
        assert!(Identity::of_device(&device).is_empty(), "{name}");
    }
}

#[test]
fn serial_number_in_a_cdp_device_id_is_no_part_of_the_name() {
    let one = device(|device| device.cdp_device_id = Some("core-1(FOC1234)".to_owned()));
    let other = device(|device| device.sys_name = Some("core-1".to_owned()));
    assert_eq!(Identity::of_device(&one), Identity::of_device(&other));
}

#[test]
fn chassis_id_that_is_a_mac_address_is_recognized_in_any_subtype() {
    let identities = |subtype, value| {
        let device = device(|device| device.chassis_id = Some(Box::new(chassis(subtype, value))));
        Identity::of_device(&device)
    };
    let expected = identities(Subtype::MacAddress, "00:1B:21:00:00:01");
    assert_eq!(kinds(&expected), [IdentityKind::ChassisId, IdentityKind::Mac]);
    assert_eq!(identities(Subtype::LocallyAssigned, "00-1b-21-00-00-01"), expected);
    assert_eq!(identities(Subtype::ChassisComponent, "001b.2100.0001"), expected);
    assert_eq!(identities(Subtype::InterfaceName, "0:1b:21:0:0:1"), expected);
    assert_eq!(identities(Subtype::MacAddress, "001b21000001"), expected);
    let number = identities(Subtype::LocallyAssigned, "123456789012");
    assert_eq!(kinds(&number), [IdentityKind::ChassisId], "digits without separators are a number");
}

#[test]
fn names_of_interfaces_and_components_are_no_chassis_ids() {
    for subtype in [Subtype::InterfaceName, Subtype::InterfaceAlias, Subtype::PortComponent] {
        let device = device(|device| device.chassis_id = Some(Box::new(chassis(subtype, "eth0"))));
        assert!(Identity::of_device(&device).is_empty(), "{subtype:?}");
    }
    for value in ["127.0.0.1", "0.0.0.0", "x"] {
        let device =
            device(|device| device.chassis_id = Some(Box::new(chassis(Subtype::NetworkAddress, value))));
        assert!(Identity::of_device(&device).is_empty(), "{value}");
    }
}

#[test]
fn addresses_of_ports_are_identities_of_a_host() {
    let host = host(1, |host| add_port(host, 1, "Gi0/1", Some("00:1B:21:00:00:01")));
    assert_eq!(kinds(&Identity::of_host(&host)), [IdentityKind::Mac]);
}
