//! Interfaces, addresses, VLANs, forwarding databases and components.

use toposcope::discovery::report::{Device, WarningCode};
use toposcope::discovery::{Format, Report, parse};

use super::file;
use crate::support::{count, with_reporter};

fn report(name: &str) -> Option<Report> {
    let format = if name.ends_with(".snmprec") { Format::Snmprec } else { Format::Snmpwalk };
    let bytes = file(name)?;
    Some(parse(format, bytes.as_slice(), &with_reporter().with_complete_tables()).unwrap())
}

fn device(name: &str) -> Option<Device> {
    Some(report(name)?.devices.remove(0))
}

/// Returns untagged, tagged and further untagged VLANs of an interface.
fn vlans(device: &Device, index: i64) -> (Option<u16>, Vec<u16>, Vec<u16>) {
    let rows = &device.tables.if_entries.as_deref().unwrap().rows;
    let vlans = rows.iter().find(|row| row.if_index == index).unwrap().vlans.clone().unwrap();
    (vlans.untagged, vlans.tagged, vlans.other_untagged)
}

/// The last byte of an address, the VLAN and the interface of a forwarding entry.
type Forwarding = (u8, Option<u16>, Option<i64>);
/// An address, its prefix length and its interface.
type Address<T> = (T, Option<u8>, Option<i64>);

fn addresses(device: &Device) -> Vec<Address<String>> {
    let rows = &device.tables.addresses.as_deref().unwrap().rows;
    rows.iter().map(|row| (row.ip_address.to_string(), row.prefix_length, row.if_index)).collect()
}

fn forwarding(device: &Device) -> Vec<Forwarding> {
    let rows = &device.tables.fdb.as_deref().unwrap().rows;
    rows.iter().map(|row| (row.mac_address.octets()[5], row.vlan, row.if_index)).collect()
}

#[test]
fn default_vlan_of_a_port_that_is_no_member_is_left_out() {
    let Some(report) = report("vlan_pvid_not_member.walk") else { return };
    for index in 1..=7 {
        assert_eq!(vlans(&report.devices[0], index), (Some(120), vec![], vec![]), "{index}");
    }
    assert_eq!(vlans(&report.devices[0], 8), (Some(1), vec![120], vec![]));
    assert_eq!(count(&report, WarningCode::PortVlanNotUntagged), 7);
}

#[test]
fn hybrid_port_keeps_all_vlans_without_a_tag() {
    let Some(device) = device("vlan_many_untagged.walk") else { return };
    assert_eq!(vlans(&device, 1), (Some(100), vec![], vec![1, 27]));
}

#[test]
fn forwarding_entries_with_other_indexes_and_ports_lead_to_interfaces() {
    let cases: &[(&str, &[Forwarding])] = &[
        ("fdb_running_index.walk", &[(0xC1, None, Some(2)), (0xC2, None, Some(1))]),
        ("fdb_jetstream.walk", &[(200, Some(1), Some(49157))]),
        ("ok_fdb_ifindex.walk", &[(200, Some(10), Some(102))]),
        ("ok_fdb_fid.walk", &[(200, Some(179), Some(2))]),
    ];
    for (name, expected) in cases {
        let Some(report) = report(name) else { return };
        assert_eq!(forwarding(&report.devices[0]), *expected, "{name}");
        assert_eq!(count(&report, WarningCode::BridgePortUnknown), 0, "{name}");
    }
}

#[test]
fn addresses_of_other_tables_and_indexes_are_read() {
    let cases: &[(&str, &[Address<&str>])] = &[
        ("ipv6_mib.walk", &[("192.0.2.9", Some(24), Some(6)), ("2001:db8::9", Some(64), Some(6))]),
        ("ip_index_number.walk", &[("192.0.2.40", Some(24), Some(1))]),
        ("ip6_new_no_length.walk", &[("2001:db8::3", None, Some(3))]),
    ];
    for (name, expected) in cases {
        let Some(device) = device(name) else { return };
        let expected: Vec<_> =
            expected.iter().map(|(ip, length, index)| ((*ip).to_owned(), *length, *index)).collect();
        assert_eq!(addresses(&device), expected, "{name}");
    }
}

#[test]
fn speeds_of_other_units_and_types_are_read() {
    let cases = [
        ("speed_bits.walk", Some(100_000_000)),
        ("speed_saturated.walk", None),
        ("speed_string.snmprec", Some(1_000_000_000)),
        ("ok_highspeed.walk", Some(10_000_000_000)),
    ];
    for (name, expected) in cases {
        let Some(device) = device(name) else { return };
        assert_eq!(device.tables.if_entries.unwrap().rows[0].speed_bps, expected, "{name}");
    }
}

#[test]
fn names_have_no_padding_and_text_of_padding_is_none() {
    let Some(device) = device("nul_names.walk") else { return };
    let row = &device.tables.if_entries.unwrap().rows[0];
    assert_eq!(row.if_descr.as_deref(), Some("eth0"));
    assert_eq!((row.if_name.as_deref(), row.if_alias.as_deref()), (Some("eth0"), None));
}

#[test]
fn serial_number_is_that_of_the_only_component_or_of_the_chassis() {
    for (name, expected) in
        [("entity_no_class.walk", "FGT0000000001"), ("ok_stack_serial.walk", "FVH00000001")]
    {
        let Some(device) = device(name) else { return };
        assert_eq!(device.serial_number.as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn mac_address_of_printable_bytes_is_read() {
    let Some(device) = device("ok_printable_mac.walk") else { return };
    assert!(device.tables.if_entries.unwrap().rows.iter().all(|row| row.mac_address.is_some()));
}
