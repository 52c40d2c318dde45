//! Numbers of ports and VLANs that are not those of the MIBs, and tables whose other half is missing.

use std::fmt::Write;

use toposcope::discovery::report::{IfEntryRow, WarningCode};
use toposcope::discovery::{Format, Report};

use crate::support::{count, parsed, rows};

const IF: &str = ".1.3.6.1.2.1.2.2.1";
const BRIDGE: &str = ".1.3.6.1.2.1.17";

/// Returns a walk of Ethernet interfaces, each with the last byte of its MAC address.
fn interfaces(interfaces: &[(i64, u8)]) -> String {
    interfaces.iter().fold(String::new(), |mut walk, (index, mac)| {
        writeln!(walk, "{IF}.3.{index} = INTEGER: 6\n{IF}.6.{index} = Hex-STRING: 00 00 5E 00 53 {mac:02X} ")
            .unwrap();
        walk
    })
}

/// Returns numbers in a column of BRIDGE-MIB by index.
fn column(column: &str, values: &[(i64, i64)]) -> String {
    values.iter().fold(String::new(), |mut walk, (index, value)| {
        writeln!(walk, "{BRIDGE}.{column}.{index} = INTEGER: {value}").unwrap();
        walk
    })
}

/// Returns lists of ports, which are one port or some with commas, by the index of their VLAN.
fn lists(column: u8, lists: &[(u16, &str)]) -> String {
    lists.iter().fold(String::new(), |mut walk, (vlan, ports)| {
        writeln!(walk, "{BRIDGE}.7.1.4.3.1.{column}.{vlan} = STRING: \"{ports}\"").unwrap();
        walk
    })
}

fn entries(report: &Report) -> Vec<IfEntryRow> {
    rows(report.devices[0].tables.if_entries.as_deref())
}

/// Returns the VLAN without a tag of each interface.
fn untagged(report: &Report) -> Vec<Option<u16>> {
    entries(report).iter().map(|row| row.vlans.as_ref().and_then(|vlans| vlans.untagged)).collect()
}

#[test]
fn own_addresses_show_whether_forwarding_entries_have_interface_indexes() {
    let own = [(1, 0xA1), (2, 0xA2), (3, 0xA3), (4, 0xA4), (9, 0xA9)];
    // Interfaces with their addresses, ports by number, entries as last bytes and numbers, expected interfaces.
    type Case<'c> = (&'c str, &'c [(i64, u8)], &'c [(i64, i64)], &'c [(u8, i64)], &'c [Option<i64>]);
    let cases: &[Case<'_>] = &[
        (
            "RouterOS: ports of other interfaces",
            &own,
            &[(2, 3), (3, 2), (20, 4)],
            &[(0xA2, 2), (0xA4, 4), (0x01, 3), (0x02, 1)],
            &[Some(3), Some(1), Some(2), Some(4)],
        ),
        (
            "RouterOS: no ports of these numbers",
            &own,
            &[(21, 1), (22, 2), (1, 4)],
            &[(0xA9, 9), (0x01, 1), (0x02, 2)],
            &[Some(1), Some(2), Some(9)],
        ),
        (
            "address that two interfaces share",
            &[(1, 0xA1), (2, 0xA2), (3, 0xA2), (4, 0xA4)],
            &[(3, 1), (1, 2)],
            &[(0xA2, 3), (0x01, 1)],
            &[Some(1), Some(3)],
        ),
        (
            "own addresses at their bridge ports",
            &own,
            &[(1, 2), (2, 3), (3, 4)],
            &[(0xA2, 1), (0xA3, 2), (0x01, 3)],
            &[Some(4), Some(2), Some(3)],
        ),
        (
            "own addresses that contradict each other",
            &own,
            &[(1, 2), (2, 3), (3, 4)],
            &[(0xA2, 1), (0xA3, 3), (0x01, 2)],
            &[Some(3), Some(2), Some(4)],
        ),
        (
            "Allied Telesis: one address by chance at the index of its interface",
            &own,
            &[(1, -1), (2, -1), (3, -1)],
            &[(0xA1, 2), (0xA3, 3), (0x01, 1)],
            &[None, None, None],
        ),
        (
            "address of all interfaces",
            &[(1, 0xA1), (2, 0xA1), (3, 0xA1)],
            &[(1, 2), (2, 3)],
            &[(0xA1, 3), (0x01, 1)],
            &[Some(2), None],
        ),
        ("no own address", &own, &[(1, 2), (2, 3)], &[(0x01, 1), (0x02, 2)], &[Some(2), Some(3)]),
    ];
    for (case, own, ports, learned, expected) in cases {
        let ports = column("1.4.1.2", ports);
        for table in ["4.3.1.2.0.0.94.0.83", "7.1.2.2.1.2.5.0.0.94.0.83"] {
            let learned: Vec<(i64, i64)> =
                learned.iter().map(|(mac, number)| (i64::from(*mac), *number)).collect();
            let report =
                parsed(Format::Snmpwalk, &format!("{}{ports}{}", interfaces(own), column(table, &learned)));
            let rows = rows(report.devices[0].tables.fdb.as_deref());
            let found: Vec<_> = rows.iter().map(|row| row.if_index).collect();
            assert_eq!(found, *expected, "{case}, {table}");
        }
    }
}

#[test]
fn vlans_of_ports_may_have_interface_indexes_beside_bridge_ports() {
    // (case, ports by number, VLANs by number, VLANs of interfaces 1 to 6)
    type Case<'c> = (&'c str, &'c [(i64, i64)], &'c [(i64, i64)], [Option<u16>; 6]);
    let cases: &[Case<'_>] = &[
        (
            "Comware: fewer numbers without a port",
            &[(1, 5), (2, 6), (9, 2), (10, 3)],
            &[(2, 20), (3, 30), (5, 50), (6, 60)],
            [None, Some(20), Some(30), None, Some(50), Some(60)],
        ),
        (
            "FortiSwitch: 0 for interfaces that are missing",
            &[(1, 2), (2, 5), (3, 6)],
            &[(1, 10), (2, 20), (3, 30), (5, 50), (6, 60), (7, 0)],
            [Some(10), Some(20), Some(30), None, Some(50), Some(60)],
        ),
        (
            "a port that is missing",
            &[(1, 2), (2, 3), (3, 4)],
            &[(1, 10), (2, 20), (3, 30), (4, 40)],
            [None, Some(10), Some(20), Some(30), None, None],
        ),
        (
            "a port that is missing, and an interface with 0",
            &[(1, 2), (2, 3), (3, 4)],
            &[(1, 10), (2, 20), (3, 30), (4, 40), (5, 0)],
            [None, Some(10), Some(20), Some(30), None, None],
        ),
        (
            "a number that is no port by either reading",
            &[(1, 2), (2, 3), (3, 4)],
            &[(1, 10), (2, 20), (3, 30), (6, 60)],
            [None, Some(10), Some(20), Some(30), None, None],
        ),
    ];
    let own = [1, 2, 3, 4, 5, 6].map(|index| (index, 0));
    for (case, ports, vlans, expected) in cases {
        let walk = interfaces(&own) + &column("1.4.1.2", ports) + &column("7.1.4.5.1.1", vlans);
        assert_eq!(untagged(&parsed(Format::Snmpwalk, &walk)), expected, "{case}");
    }
}

#[test]
fn indexes_of_vlans_of_junos_are_ids_unless_most_lists_contradict_the_ports() {
    let own = |vlans: [Option<u16>; 3]| (vlans, Vec::<u16>::new());
    // (case, lists without a tag, VLANs of ports 501 to 503, their VLANs without a tag, and tagged ones of the first)
    type Case<'c> = (&'c str, &'c [(u16, &'c str)], [i64; 3], ([Option<u16>; 3], Vec<u16>));
    let cases: &[Case<'_>] = &[
        (
            "own numbers, one of which is an id",
            &[(17, "501"), (20, "502"), (18, "503")],
            [888, 156, 17],
            own([Some(888), Some(156), Some(17)]),
        ),
        (
            "own numbers, one of which equals its id",
            &[(17, "501"), (20, "502"), (18, "503")],
            [888, 156, 18],
            own([Some(888), Some(156), Some(18)]),
        ),
        (
            "ids, one of which was configured before",
            &[(17, "501"), (20, "502"), (18, "503")],
            [17, 20, 99],
            own([Some(17), Some(20), Some(18)]),
        ),
        ("no lists of ports without a tag", &[], [4094, 4094, 4094], ([None; 3], vec![17, 18, 20])),
    ];
    for (case, without_tag, vlans, expected) in cases {
        let tagged = [(17, "501"), (20, "501"), (18, "501")];
        let egress = if without_tag.is_empty() { &tagged } else { *without_tag };
        let ports = [501, 502, 503];
        let walk = format!(
            ".1.3.6.1.2.1.1.2.0 = OID: .1.3.6.1.4.1.2636.1.1.1.2.92\n{}{}{}{}{}",
            interfaces(&ports.map(|port| (port, 0))),
            column("1.4.1.2", &ports.map(|port| (port, port))),
            lists(2, egress),
            lists(4, without_tag),
            column("7.1.4.5.1.1", &[(501, vlans[0]), (502, vlans[1]), (503, vlans[2])]),
        );
        let report = parsed(Format::Snmpwalk, &walk);
        let tagged = entries(&report)[0].vlans.clone().unwrap_or_default().tagged;
        assert_eq!((untagged(&report), tagged), (expected.0.to_vec(), expected.1.clone()), "{case}");
    }
}

#[test]
fn input_that_ends_early_shows_no_vlan_whose_other_columns_may_be_missing() {
    let learned = column("7.1.2.2.1.2.7.0.0.94.0.83", &[(1, 1)]);
    let database = column("7.1.4.2.1.3.0", &[(77, 7)]);
    let other_database = column("7.1.4.2.1.3.0", &[(7, 7)]);
    let list = format!("{BRIDGE}.7.1.4.2.1.4.0.7 = Hex-STRING: 80 \n");
    let without_tag = format!("{BRIDGE}.7.1.4.2.1.5.0.7 = Hex-STRING: 80 \n");
    let (cut, end) = (".1.3.6.1.2.1.17.7.1", "");
    // (columns, VLAN of the entry; untagged and tagged VLANs of the port; VLANs that are left out)
    let cases = [
        (vec![&*learned, cut], None, None, 0),
        (vec![&*learned, end], Some(7), None, 0),
        (vec![&*learned, &database, cut], Some(77), None, 0),
        (vec![&*learned, &other_database, &list, cut], Some(7), None, 1),
        (vec![&*learned, &list, &without_tag, cut], Some(7), Some((Some(7), vec![])), 0),
        (vec![&*learned, &list, end], Some(7), Some((None, vec![7])), 0),
    ];
    for (columns, vlan, port, left_out) in cases {
        let walk = interfaces(&[(1, 1)]) + &column("1.4.1.2", &[(1, 1)]) + &columns.concat();
        let report = parsed(Format::Snmpwalk, &walk);
        assert_eq!(rows(report.devices[0].tables.fdb.as_deref())[0].vlan, vlan, "{walk}");
        let vlans = entries(&report)[0].vlans.clone().map(|vlans| (vlans.untagged, vlans.tagged));
        assert_eq!(vlans, port, "{walk}");
        assert_eq!(count(&report, WarningCode::RowIncomplete), left_out, "{walk}");
    }
}
