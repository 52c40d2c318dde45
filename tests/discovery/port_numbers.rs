//! Numbers of ports that are not those of the MIBs.

use std::fmt::Write;

use toposcope::discovery::Format;

use crate::support::{parsed, rows};

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
