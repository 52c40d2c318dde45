//! Small walks in the forms of agents that do not follow the MIBs.

use std::fmt::Write;

use toposcope::discovery::Format;
use toposcope::discovery::report::{Device, NeighborState, WarningCode};
use toposcope::model::LldpChassisIdSubtype;

use crate::support::{count, device, parsed, rows};

const IF: &str = ".1.3.6.1.2.1.2.2.1";
const IFX: &str = ".1.3.6.1.2.1.31.1.1.1";
const IP: &str = ".1.3.6.1.2.1.4";
const BRIDGE: &str = ".1.3.6.1.2.1.17";
const ENTITY: &str = ".1.3.6.1.2.1.47.1.1.1.1";

/// Writes a walk of objects and values.
fn walk(variables: &[(String, &str)]) -> String {
    variables.iter().fold(String::new(), |mut walk, (oid, value)| {
        writeln!(walk, "{oid} = {value}").unwrap();
        walk
    })
}

/// Returns a walk of Ethernet interfaces with these indexes, which are bridge ports of the same numbers.
fn switch(indexes: &[i64]) -> String {
    indexes.iter().fold(String::new(), |mut walk, index| {
        writeln!(walk, "{IF}.3.{index} = INTEGER: 6\n{BRIDGE}.1.4.1.2.{index} = INTEGER: {index}").unwrap();
        walk
    })
}

#[test]
fn speeds_are_plausible_or_unknown() {
    // (case, ifSpeed, ifHighSpeed, speed)
    let cases: &[(&str, &str, &str, Option<u64>)] = &[
        ("Cisco: both columns", "Gauge32: 4294967295", "Gauge32: 40000", Some(40_000_000_000)),
        ("Zyxel: both in bits per second", "Gauge32: 1000000000", "Gauge32: 1000000000", Some(1_000_000_000)),
        ("HP 1910: both in millions", "Gauge32: 1000", "Gauge32: 1000", Some(1_000_000_000)),
        ("Huawei: above the greatest, ifSpeed saturated", "Gauge32: 4294967295", "Gauge32: 4294967295", None),
        ("Smartax: above the greatest, without ifSpeed", "", "Gauge32: 100000000", None),
        ("above the greatest, with ifSpeed", "Gauge32: 100000000", "Gauge32: 200000000", Some(100_000_000)),
        ("the greatest", "Gauge32: 4294967295", "Gauge32: 10000000", Some(10_000_000_000_000)),
        ("Mellanox: saturated, ifHighSpeed 0", "Gauge32: 4294967295", "Gauge32: 0", None),
        ("saturated, ifHighSpeed made of it", "Gauge32: 4294967295", "Gauge32: 4294", None),
        ("Teltonika: ifHighSpeed 0", "Gauge32: 100000000", "Gauge32: 0", Some(100_000_000)),
        ("down", "Gauge32: 0", "Gauge32: 0", Some(0)),
        ("FS: text", "STRING: \"1000000000\"", "", Some(1_000_000_000)),
        ("text with padding", "STRING: \" 100000000 \"", "STRING: \"100\"", Some(100_000_000)),
        ("text that is no number", "STRING: \"auto\"", "", None),
    ];
    for (case, low, high, expected) in cases {
        let mut walk = walk(&[(format!("{IF}.3.1"), "INTEGER: 6")]);
        for (oid, value) in [(format!("{IF}.5.1"), low), (format!("{IFX}.15.1"), high)] {
            if !value.is_empty() {
                writeln!(walk, "{oid} = {value}").unwrap();
            }
        }
        let found = rows(device(Format::Snmpwalk, &walk).tables.if_entries.as_deref())[0].speed_bps;
        assert_eq!(found, *expected, "{case}");
    }
}

#[test]
fn excessive_speed_is_shown_in_a_warning() {
    let walk = walk(&[(format!("{IFX}.15.3"), "Gauge32: 100000000")]);
    let report = parsed(Format::Snmpwalk, &walk);
    let warning = report.warnings.iter().find(|warning| warning.code == WarningCode::ValueInvalid).unwrap();
    let expected = "interface 3: ifSpeed none, ifHighSpeed 100000000";
    assert_eq!((warning.count, warning.example.as_deref()), (1, Some(expected)));
}

#[test]
fn numbers_that_are_sent_as_text_are_read() {
    let walk = walk(&[
        (format!("{IF}.3.1"), "STRING: \"6\""),
        (format!("{IF}.7.1"), "STRING: \"1\""),
        (format!("{BRIDGE}.1.4.1.2.5"), "STRING: \"1\""),
        (format!("{BRIDGE}.4.3.1.2.0.0.94.0.83.1"), "STRING: \"5\""),
    ]);
    let device = device(Format::Snmpwalk, &walk);
    assert_eq!(rows(device.tables.if_entries.as_deref())[0].if_type, Some(6));
    assert_eq!(rows(device.tables.fdb.as_deref())[0].if_index, Some(1));
}

#[test]
fn padding_is_no_part_of_names() {
    let cases = [
        ("Hex-STRING: 47 69 30 2F 31 00 00", Some("Gi0/1")),
        ("Hex-STRING: 00 47 69 30 2F 31", Some("Gi0/1")),
        ("Hex-STRING: 47 00 69", Some("G\0i")),
        ("Hex-STRING: 00 00 00", None),
        ("STRING: \"\"", None),
        ("STRING: \" uplink \"", Some(" uplink ")),
    ];
    for (value, expected) in cases {
        let walk = walk(&[(format!("{IFX}.1.1"), value), (format!("{IFX}.18.1"), value)]);
        let row = rows(device(Format::Snmpwalk, &walk).tables.if_entries.as_deref()).remove(0);
        assert_eq!((row.if_name.as_deref(), row.if_alias.as_deref()), (expected, expected), "{value}");
    }
}

#[test]
fn addresses_are_found_in_indexes_of_other_forms() {
    let v6 = "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.9";
    let link_local = "254.128.0.0.0.0.0.0.0.0.0.0.0.0.0.9";
    // (case, object of the interface, address)
    let cases: &[(&str, String, &str)] = &[
        ("RFC 4293", format!("{IP}.34.1.3.1.4.192.0.2.9"), "192.0.2.9"),
        ("Cisco ASA: no length", format!("{IP}.34.1.3.1.192.0.2.9"), "192.0.2.9"),
        ("Cisco FTD: no length", format!("{IP}.34.1.3.2.{v6}"), "2001:db8::9"),
        ("OcNOS: no length, and a zone", format!("{IP}.34.1.3.2.{v6}.0.0.0.0"), "2001:db8::9"),
        ("Cisco Business: with a zone", format!("{IP}.34.1.3.4.20.{link_local}.0.0.0.7"), "fe80::9"),
        ("AudioCodes: text", format!("{IP}.34.1.3.2.9.49.57.50.46.48.46.50.46.57"), "192.0.2.9"),
        ("Ascom: type", format!("{IP}.20.1.2.1.192.0.2.9"), "192.0.2.9"),
        ("length", format!("{IP}.20.1.2.4.192.0.2.9"), "192.0.2.9"),
        ("trailing arc", format!("{IP}.20.1.2.192.0.2.9.0"), "192.0.2.9"),
    ];
    for (case, oid, expected) in cases {
        let device = device(Format::Snmpwalk, &walk(&[(oid.clone(), "INTEGER: 7")]));
        let row = rows(device.tables.addresses.as_deref()).remove(0);
        assert_eq!((row.ip_address.to_string().as_str(), row.if_index), (*expected, Some(7)), "{case}");
    }
}

#[test]
fn addresses_of_ipv6_mib_have_prefix_and_interface() {
    let table = ".1.3.6.1.2.1.55.1.8.1";
    let v6 = "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.9";
    let link_local = "254.128.0.0.0.0.0.0.0.0.0.0.0.0.0.9";
    let text = "102.101.56.48.58.58.57";
    let walk = walk(&[
        (format!("{table}.2.3.{v6}"), "INTEGER: 64"),
        (format!("{table}.2.4.16.{link_local}"), "INTEGER: 10"),
        (format!("{table}.2.5.{link_local}"), "INTEGER: 0"),
        (format!("{table}.2.6.7.{text}"), "INTEGER: 64"),
        (format!("{table}.4.7.{}", v6.replace("0.9", "0.8")), "INTEGER: 1"),
    ]);
    let device = device(Format::Snmpwalk, &walk);
    let found: Vec<_> = rows(device.tables.addresses.as_deref())
        .iter()
        .map(|row| (row.ip_address.to_string(), row.prefix_length, row.if_index))
        .collect();
    let link_local = |index, length| ("fe80::9".to_owned(), length, Some(index));
    let expected = [
        ("2001:db8::9".to_owned(), Some(64), Some(3)),
        link_local(4, Some(10)),
        link_local(5, None),
        link_local(6, Some(64)),
    ];
    assert_eq!(found, expected, "the anycast address is left out");
}

#[test]
fn symbolic_walks_have_the_tables_of_ipv6_mib() {
    let index = "3.\"20:01:0d:b8:00:00:00:00:00:00:00:00:00:00:00:09\"";
    let walk = walk(&[
        (format!("IPV6-MIB::ipv6AddrPfxLength.{index}"), "INTEGER: 64 bits"),
        (format!("IPV6-MIB::ipv6NetToMediaPhysAddress.{index}"), "STRING: 0:0:5e:0:53:1"),
    ]);
    let device = device(Format::Snmpwalk, &walk);
    let address = rows(device.tables.addresses.as_deref()).remove(0);
    assert_eq!((address.ip_address.to_string().as_str(), address.prefix_length), ("2001:db8::9", Some(64)));
    assert_eq!(rows(device.tables.arp.as_deref())[0].if_index, Some(3));
}

#[test]
fn neighbors_are_found_in_indexes_of_other_forms() {
    let mac = "Hex-STRING: 00 00 5E 00 53 01 ";
    let v6 = "32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.9";
    let running: &[(String, &str)] = &[
        (format!("{IP}.22.1.1.1"), "INTEGER: 7"),
        (format!("{IP}.22.1.2.1"), mac),
        (format!("{IP}.22.1.3.1"), "IpAddress: 192.0.2.9"),
    ];
    let one = |oid: String| vec![(oid, mac)];
    let cases = [
        ("RFC 4293", one(format!("{IP}.35.1.4.7.1.4.192.0.2.9")), "192.0.2.9"),
        ("FS: no length", one(format!("{IP}.35.1.4.7.1.192.0.2.9")), "192.0.2.9"),
        ("OcNOS: type before interface", one(format!("{IP}.35.1.4.1.7.4.192.0.2.9")), "192.0.2.9"),
        ("OcNOS: type before interface", one(format!("{IP}.35.1.4.2.7.16.{v6}")), "2001:db8::9"),
        ("CTM: type", one(format!("{IP}.22.1.2.7.1.192.0.2.9")), "192.0.2.9"),
        ("Lambdatrail: type and trailing arc", one(format!("{IP}.22.1.2.7.1.192.0.2.9.0")), "192.0.2.9"),
        ("Interseptor: running number", running.to_vec(), "192.0.2.9"),
        ("IPV6-MIB", one(format!(".1.3.6.1.2.1.55.1.12.1.2.7.{v6}")), "2001:db8::9"),
    ];
    for (case, variables, expected) in cases {
        let device = device(Format::Snmpwalk, &walk(&variables));
        let row = rows(device.tables.arp.as_deref()).remove(0);
        assert_eq!((row.ip_address.to_string().as_str(), row.if_index), (expected, Some(7)), "{case}");
    }
}

#[test]
fn neighbors_of_ipv6_mib_have_their_state() {
    let table = ".1.3.6.1.2.1.55.1.12.1";
    let mac = "Hex-STRING: 00 00 5E 00 53 01 ";
    let address = |last: u8| format!("3.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.{last}");
    let walk = walk(&[
        (format!("{table}.2.{}", address(1)), mac),
        (format!("{table}.3.{}", address(1)), "INTEGER: 3"),
        (format!("{table}.2.{}", address(2)), mac),
        (format!("{table}.4.{}", address(2)), "INTEGER: 2"),
        (format!("{table}.2.{}", address(3)), mac),
        (format!("{table}.6.{}", address(3)), "INTEGER: 2"),
    ]);
    let device = device(Format::Snmpwalk, &walk);
    let states: Vec<_> = rows(device.tables.arp.as_deref()).iter().map(|row| row.state).collect();
    assert_eq!(
        states,
        [Some(NeighborState::Static), Some(NeighborState::Stale)],
        "the invalid one is left out"
    );
}

#[test]
fn forwarding_entries_are_found_in_indexes_of_other_forms() {
    let (bridge, vlan) = (format!("{BRIDGE}.4.3.1"), format!("{BRIDGE}.7.1.2.2.1"));
    let mac = "0.0.94.0.83.200";
    let address = "Hex-STRING: 00 00 5E 00 53 C8 ";
    let one = |oid: String| vec![(oid, "INTEGER: 2")];
    let cases = [
        ("RFC 4188", one(format!("{bridge}.2.{mac}")), None),
        (
            "Cambium: running number",
            vec![(format!("{bridge}.1.9"), address), (format!("{bridge}.2.9"), "INTEGER: 2")],
            None,
        ),
        (
            "Q-BRIDGE: running number",
            vec![(format!("{vlan}.1.9"), address), (format!("{vlan}.2.9"), "INTEGER: 2")],
            None,
        ),
        ("V-Solution: length", one(format!("{vlan}.2.31.6.{mac}")), Some(31)),
        ("Zyxel IES: trailing arc", one(format!("{vlan}.2.31.{mac}.1")), Some(31)),
        ("VLAN before the address", one(format!("{bridge}.2.3001.{mac}")), None),
        ("no database", one(format!("{vlan}.2.{mac}")), None),
    ];
    for (case, variables, vlan) in cases {
        let walk = switch(&[1, 2]) + &walk(&variables);
        let row = rows(device(Format::Snmpwalk, &walk).tables.fdb.as_deref()).remove(0);
        let found = (row.mac_address.to_string(), row.if_index, row.vlan);
        assert_eq!(found, ("00:00:5E:00:53:C8".to_owned(), Some(2), vlan), "{case}");
    }
}

/// Returns the interfaces behind which entries with these port numbers are, and how many lead to none.
fn interfaces_behind(walk: &str, ports: &[i64]) -> (Vec<Option<i64>>, u64) {
    let mut walk = walk.to_owned();
    for (number, port) in ports.iter().enumerate() {
        writeln!(walk, "{BRIDGE}.4.3.1.2.0.0.94.0.83.{number} = INTEGER: {port}").unwrap();
    }
    let report = parsed(Format::Snmpwalk, &walk);
    let rows = rows(report.devices[0].tables.fdb.as_deref());
    (rows.iter().map(|row| row.if_index).collect(), count(&report, WarningCode::BridgePortUnknown))
}

#[test]
fn port_numbers_of_forwarding_entries_are_understood_by_evidence() {
    let jetstream = switch(&[49_153, 49_154, 49_155]);
    assert_eq!(interfaces_behind(&jetstream, &[1, 3]), (vec![Some(49_153), Some(49_155)], 0), "offset");
    let numbered = switch(&[10]).replace("1.4.1.2.10 = INTEGER: 10", "1.4.1.2.10 = INTEGER: 110");
    assert_eq!(interfaces_behind(&numbered, &[1]), (vec![None], 1), "the table of ports has its own numbers");
    assert_eq!(interfaces_behind(&jetstream, &[1, 4]), (vec![None, None], 2), "no such interface");
    assert_eq!(
        interfaces_behind(&jetstream, &[1, 49_153]),
        (vec![None, Some(49_153)], 1),
        "not the offset alone"
    );
    let without_ports =
        walk(&[(format!("{IF}.3.10101"), "INTEGER: 6"), (format!("{IF}.3.1"), "INTEGER: 53")]);
    assert_eq!(interfaces_behind(&without_ports, &[10_101]), (vec![Some(10_101)], 0), "interfaces");
    assert_eq!(interfaces_behind(&without_ports, &[1]), (vec![None], 1), "not Ethernet");
    let no_interface =
        walk(&[(format!("{IF}.3.1"), "INTEGER: 6"), (format!("{BRIDGE}.1.4.1.2.1"), "INTEGER: -1")]);
    assert_eq!(
        interfaces_behind(&no_interface, &[1]),
        (vec![None], 1),
        "Allied Telesis TQ: port without interface"
    );
    assert_eq!(interfaces_behind(&switch(&[1, 2]), &[0, 1]), (vec![None, Some(1)], 1), "0 is no port");
}

#[test]
fn entry_that_leads_to_no_interface_is_kept_and_shown() {
    let walk = switch(&[1]) + &walk(&[(format!("{BRIDGE}.4.3.1.2.0.0.94.0.83.1"), "INTEGER: 65")]);
    let report = parsed(Format::Snmpwalk, &walk);
    assert_eq!(rows(report.devices[0].tables.fdb.as_deref())[0].bridge_port, Some(65));
    let warning =
        report.warnings.iter().find(|warning| warning.code == WarningCode::BridgePortUnknown).unwrap();
    assert_eq!(warning.example.as_deref(), Some("00:00:5E:00:53:01 behind bridge port 65"));
}

/// Returns untagged, tagged and further untagged VLANs of interface 1 of a switch with eight ports.
fn vlans(variables: &[(&str, &str)]) -> Option<(Option<u16>, Vec<u16>, Vec<u16>)> {
    let variables: Vec<_> =
        variables.iter().map(|(oid, value)| (format!("{BRIDGE}.7.1.4.{oid}"), *value)).collect();
    let walk = switch(&[1, 2, 3, 4, 5, 6, 7, 8]) + &walk(&variables);
    let rows = rows(device(Format::Snmpwalk, &walk).tables.if_entries.as_deref());
    rows[0].vlans.clone().map(|vlans| (vlans.untagged, vlans.tagged, vlans.other_untagged))
}

#[test]
fn vlans_are_those_of_which_the_port_is_a_member() {
    let none = Vec::new();
    // (case, variables, VLANs)
    let cases: &[(&str, &[(&str, &str)], _)] = &[
        (
            "access port",
            &[("2.1.4.0.5", "Hex-STRING: 80"), ("2.1.5.0.5", "Hex-STRING: 80"), ("5.1.1.1", "Gauge32: 5")],
            Some((Some(5), none.clone(), none.clone())),
        ),
        (
            "Edgecore: tagged in the VLAN of frames without a tag",
            &[("2.1.4.0.1", "Hex-STRING: C0"), ("2.1.5.0.1", "Hex-STRING: 40"), ("5.1.1.1", "Gauge32: 1")],
            Some((None, vec![1], none.clone())),
        ),
        (
            "device without lists of untagged ports",
            &[("2.1.4.0.1", "Hex-STRING: C0"), ("2.1.5.0.1", "Hex-STRING: 00"), ("5.1.1.1", "Gauge32: 1")],
            Some((Some(1), none.clone(), none.clone())),
        ),
        ("no lists at all", &[("5.1.1.1", "Gauge32: 9")], Some((Some(9), none.clone(), none.clone()))),
        ("Arris: no VLAN", &[("5.1.1.1", "Gauge32: 4096")], None),
        (
            "PicOS: routed port",
            &[("2.1.4.0.20", "Hex-STRING: 40"), ("2.1.5.0.20", "Hex-STRING: 40"), ("5.1.1.1", "Gauge32: 1")],
            None,
        ),
        (
            "configured lists only",
            &[
                ("3.1.2.6", "Hex-STRING: 80"),
                ("3.1.4.6", "Hex-STRING: 00"),
                ("3.1.2.7", "Hex-STRING: 80"),
                ("3.1.4.7", "Hex-STRING: C0"),
            ],
            Some((Some(7), vec![6], none.clone())),
        ),
        (
            "H3C: hybrid port",
            &[
                ("2.1.4.0.1", "Hex-STRING: 80"),
                ("2.1.5.0.1", "Hex-STRING: 80"),
                ("2.1.4.0.27", "Hex-STRING: 80"),
                ("2.1.5.0.27", "Hex-STRING: 80"),
                ("2.1.4.0.99", "Hex-STRING: 80"),
                ("2.1.5.0.99", "Hex-STRING: 80"),
                ("5.1.1.1", "Gauge32: 27"),
            ],
            Some((Some(27), none.clone(), vec![1, 99])),
        ),
        (
            "FortiSwitch: no time mark",
            &[("2.1.4.5", "Hex-STRING: 80"), ("2.1.5.5", "Hex-STRING: 80")],
            Some((Some(5), none.clone(), none.clone())),
        ),
        (
            "Juniper: numbers with commas",
            &[
                ("3.1.2.5", "STRING: \"1,2,8\""),
                ("3.1.4.5", "STRING: \"2\""),
                ("3.1.2.6", "STRING: \"1,\""),
                ("3.1.4.6", "STRING: \"1\""),
            ],
            Some((Some(6), vec![5], none.clone())),
        ),
        (
            "hexadecimal digits as text",
            &[
                ("3.1.2.5", "STRING: \"81 00\""),
                ("3.1.4.5", "STRING: \"80 00\""),
                ("3.1.2.6", "STRING: \"C0 00\""),
                ("3.1.4.6", "STRING: \"00 00\""),
            ],
            Some((Some(5), vec![6], none.clone())),
        ),
        (
            "bits that are printable",
            &[("3.1.2.5", "STRING: \"A\""), ("3.1.4.5", "STRING: \"A\""), ("3.1.2.6", "Hex-STRING: 80")],
            Some((None, vec![6], none)),
        ),
    ];
    for (case, variables, expected) in cases {
        assert_eq!(vlans(variables), *expected, "{case}");
    }
}

#[test]
fn member_ports_that_are_no_interfaces_are_counted() {
    let walk = switch(&[1])
        + &walk(&[
            (format!("{BRIDGE}.7.1.4.3.1.2.5"), "Hex-STRING: C1"),
            (format!("{BRIDGE}.7.1.4.3.1.2.6"), "Hex-STRING: 01"),
        ]);
    let report = parsed(Format::Snmpwalk, &walk);
    assert_eq!(count(&report, WarningCode::VlanPortUnknown), 3);
    assert_eq!(count(&report, WarningCode::PortWithoutInterface), 1, "VLAN 6 has no other port");
}

/// Index, class, container and serial number of a component.
type Component = (u32, Option<i64>, Option<i64>, &'static str);

/// Returns the serial number of a device with these components.
fn serial(components: &[Component]) -> Option<String> {
    let mut walk = format!("{IF}.3.1 = INTEGER: 6\n");
    for (index, class, container, serial) in components {
        for (column, value) in [(4, container), (5, class)] {
            if let Some(value) = value {
                writeln!(walk, "{ENTITY}.{column}.{index} = INTEGER: {value}").unwrap();
            }
        }
        writeln!(walk, "{ENTITY}.11.{index} = STRING: \"{serial}\"").unwrap();
    }
    let device: Device = device(Format::Snmpwalk, &walk);
    device.serial_number
}

#[test]
fn serial_number_is_that_of_the_outermost_component() {
    let cases: &[(&str, &[Component], Option<&str>)] = &[
        (
            "Cisco: chassis",
            &[(1, Some(11), Some(0), ""), (1000, Some(3), Some(1), "A"), (1001, Some(9), Some(1000), "B")],
            Some("A"),
        ),
        ("Fortinet: one row", &[(7, None, None, "A")], Some("A")),
        ("ADVA: rows without class and container", &[(1, None, None, "A"), (10, None, None, "B")], Some("A")),
        (
            "rows without class and container, of which none is 1",
            &[(5, None, None, "A"), (10, None, None, "B")],
            None,
        ),
        ("Keenetic: index 0", &[(0, Some(1), None, "A")], Some("A")),
        ("root without class", &[(3, None, Some(2), "B"), (2, None, Some(0), "A")], Some("A")),
        (
            "Edgecore: unit in a stack without number",
            &[(1, Some(11), Some(0), ""), (101, Some(5), Some(1), "A"), (201, Some(9), Some(101), "B")],
            Some("A"),
        ),
        (
            "two units in a stack without number",
            &[(1, Some(11), Some(0), ""), (101, Some(5), Some(1), "A"), (102, Some(5), Some(1), "B")],
            None,
        ),
        ("components in a circle", &[(1, Some(9), Some(2), "A"), (2, Some(9), Some(1), "B")], None),
    ];
    for (case, components, expected) in cases {
        assert_eq!(serial(components).as_deref(), *expected, "{case}");
    }
}

#[test]
fn lists_of_ports_may_be_ranges() {
    let list = |vlan: u16, column: u8| format!("{BRIDGE}.7.1.4.3.1.{column}.{vlan}");
    let lists = walk(&[
        (list(10, 2), "STRING: \"1-3\""),
        (list(10, 4), "STRING: \"3\""),
        (list(20, 2), "STRING: \"1,3-4\""),
        (list(20, 4), "STRING: \"4\""),
    ]);
    let device = device(Format::Snmpwalk, &format!("{}{lists}", switch(&[1, 2, 3, 4])));
    let entries = rows(device.tables.if_entries.as_deref());
    let vlans: Vec<_> = entries.iter().map(|row| row.vlans.clone().unwrap()).collect();
    let found: Vec<_> = vlans.iter().map(|vlans| (vlans.untagged, vlans.tagged.as_slice())).collect();
    assert_eq!(found, [(None, &[10, 20][..]), (None, &[10]), (Some(10), &[20]), (Some(20), &[])]);
    // A range of more ports than any device has is no list.
    let huge = walk(&[(list(10, 2), "STRING: \"1-4000000000\"")]);
    let report = parsed(Format::Snmpwalk, &format!("{}{huge}", switch(&[1, 2])));
    assert_eq!(report.read_rows, report.used_rows + report.skipped_rows);
}

#[test]
fn every_row_of_the_oldest_neighbor_table_is_read_or_counted() {
    let cache = ".1.3.6.1.2.1.3.1.1";
    let walk = walk(&[
        (format!("{cache}.2.2.1.192.0.2.3"), "Hex-STRING: 00 00 5E 00 53 03"),
        (format!("{cache}.2.2.192.0.2.4"), "Hex-STRING: 00 00 5E 00 53 04"),
        (format!("{cache}.2.7"), "Hex-STRING: 00 00 5E 00 53 05"),
        (format!("{cache}.2"), "Hex-STRING: 00 00 5E 00 53 06"),
    ]);
    let report = parsed(Format::Snmpwalk, &walk);
    let found = rows(report.devices[0].tables.arp.as_deref());
    let found: Vec<_> = found.iter().map(|row| (row.mac_address.octets()[5], row.if_index)).collect();
    assert_eq!(found, [(3, Some(2)), (4, Some(2))]);
    assert_eq!(
        (count(&report, WarningCode::RowIncomplete), count(&report, WarningCode::RowMalformed)),
        (1, 1)
    );
}

#[test]
fn columns_of_a_neighbor_with_another_time_mark_are_joined() {
    let lldp = ".1.0.8802.1.1.2.1.4.1.1";
    let walk = walk(&[
        (format!("{lldp}.4.100.7.1"), "INTEGER: 4"),
        (format!("{lldp}.5.100.7.1"), "Hex-STRING: 00 00 5E 00 53 07"),
        (format!("{lldp}.7.100.7.1"), "STRING: \"xe-0/0/1\""),
        (format!("{lldp}.9.250.7.1"), "STRING: \"core-1\""),
        (format!("{lldp}.4.250.9.1"), "INTEGER: 7"),
        (format!("{lldp}.5.100.9.1"), "STRING: \"00:00:5E:00:53:0A\""),
        // Two neighbors of another port, each with its own name.
        (format!("{lldp}.5.100.8.1"), "Hex-STRING: 00 00 5E 00 53 08"),
        (format!("{lldp}.5.250.8.2"), "Hex-STRING: 00 00 5E 00 53 09"),
        (format!("{lldp}.9.250.8.2"), "STRING: \"core-2\""),
    ]);
    let report = parsed(Format::Snmpwalk, &walk);
    let found = rows(report.devices[0].tables.lldp.as_deref());
    let subtype = found.last().map(|row| row.chassis_id.subtype);
    let found: Vec<_> = found.iter().map(|row| (&*row.chassis_id.value, row.sys_name.as_deref())).collect();
    let expected = [
        ("00:00:5E:00:53:07", Some("core-1")),
        ("00:00:5E:00:53:08", None),
        ("00:00:5E:00:53:09", Some("core-2")),
        ("00:00:5E:00:53:0A", None),
    ];
    assert_eq!(found, expected);
    assert_eq!(subtype, Some(LldpChassisIdSubtype::LocallyAssigned));
    assert_eq!(report.read_rows, report.used_rows + report.skipped_rows);
}

#[test]
fn parts_of_a_chassis_without_a_serial_number_lend_it_none() {
    for (class, expected) in [(6, None), (7, None), (10, None), (9, Some("PART-0815"))] {
        let class = format!("INTEGER: {class}");
        let walk = walk(&[
            (format!("{ENTITY}.4.1"), "INTEGER: 0"),
            (format!("{ENTITY}.4.2"), "INTEGER: 1"),
            (format!("{ENTITY}.5.1"), "INTEGER: 3"),
            (format!("{ENTITY}.5.2"), &class),
            (format!("{ENTITY}.11.1"), "STRING: \"        \""),
            (format!("{ENTITY}.11.2"), "STRING: \"PART-0815\""),
        ]);
        assert_eq!(device(Format::Snmpwalk, &walk).serial_number.as_deref(), expected, "{class}");
    }
}

#[test]
fn addresses_that_are_sent_as_text_are_read() {
    let walk = walk(&[
        (format!("{IF}.6.3"), "STRING: \"0x00005e005303\""),
        (".1.3.6.1.4.1.9.9.23.1.2.1.1.6.3.1".to_owned(), "STRING: \"ap-1\""),
        (".1.3.6.1.4.1.9.9.23.1.2.1.1.4.3.1".to_owned(), "STRING: \"192.0.2.10\""),
    ]);
    let device = device(Format::Snmpwalk, &walk);
    assert_eq!(rows(device.tables.if_entries.as_deref())[0].mac_address.unwrap().octets()[5], 3);
    assert_eq!(rows(device.tables.cdp.as_deref())[0].address.as_deref(), Some("192.0.2.10"));
}

#[test]
fn rows_with_other_indexes_are_read_or_counted() {
    let walk = walk(&[
        (format!("{IF}.2.3"), "STRING: \"p3\""),
        (format!("{IF}.2.4.0"), "STRING: \"p4\""),
        (format!("{IP}.22.1.2.192.0.2.9"), "Hex-STRING: 00 00 5E 00 53 09"),
        (format!("{IP}.22.1.2.0.192.0.2.10"), "Hex-STRING: 00 00 5E 00 53 0A"),
        (".1.3.6.1.4.1.9.9.23.1.2.1.1.6.3".to_owned(), "STRING: \"ap-1\""),
        (".1.3.6.1.4.1.9.9.23.1.2.1.1.6.3.1.1".to_owned(), "STRING: \"ap-2\""),
        (format!("{BRIDGE}.1.4.1.2.1.1"), "INTEGER: 3"),
    ]);
    let report = parsed(Format::Snmpwalk, &walk);
    let tables = &report.devices[0].tables;
    assert_eq!(rows(tables.if_entries.as_deref()).len(), 1);
    let found = rows(tables.arp.as_deref());
    let found: Vec<_> = found.iter().map(|row| (row.mac_address.octets()[5], row.if_index)).collect();
    assert_eq!(found, [(9, None), (10, None)]);
    let found = rows(tables.cdp.as_deref());
    assert_eq!((found.len(), found[0].if_index, &*found[0].device_id), (1, Some(3), "ap-1"));
    assert_eq!(count(&report, WarningCode::RowMalformed), 3);
}

#[test]
fn masks_and_chassis_ids_may_be_text() {
    let walk = walk(&[
        (format!("{IP}.20.1.2.192.0.2.1"), "INTEGER: 2"),
        (format!("{IP}.20.1.3.192.0.2.1"), "STRING: \"255.255.255.0\""),
        (".1.0.8802.1.1.2.1.4.1.1.4.0.3.1".to_owned(), "INTEGER: 4"),
        (".1.0.8802.1.1.2.1.4.1.1.5.0.3.1".to_owned(), "STRING: \"00 00 5E 00 53 77\""),
    ]);
    let tables = device(Format::Snmpwalk, &walk).tables;
    assert_eq!(rows(tables.addresses.as_deref())[0].prefix_length, Some(24));
    assert_eq!(rows(tables.lldp.as_deref())[0].chassis_id.value, "00:00:5E:00:53:77");
}
