//! SNMP walks: the tables of the MIBs.

use toposcope::discovery::Format;
use toposcope::discovery::report::{Capability, FdbStatus, NeighborState, StpState, TableKind, WarningCode};
use toposcope::model::{AdminStatus, LldpChassisIdSubtype, LldpPortIdSubtype, OperStatus};

use crate::support::{WALK, count, device, parsed, rows};

#[test]
fn interfaces_join_both_tables() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.if_entries.as_deref());
    assert_eq!(rows.iter().map(|row| row.if_index).collect::<Vec<_>>(), [101, 102, 201]);
    let first = &rows[0];
    assert_eq!(first.if_name.as_deref(), Some("Gi0/1"));
    assert_eq!(first.if_alias.as_deref(), Some("uplink"));
    assert_eq!(first.if_type, Some(6));
    assert_eq!(first.speed_bps, Some(10_000_000_000));
    assert_eq!(
        (first.admin_status, first.oper_status),
        (Some(AdminStatus::Up), Some(OperStatus::LowerLayerDown))
    );
    assert_eq!(rows[1].mac_address.map(|mac| mac.to_string()).as_deref(), Some("00:00:5E:00:53:02"));
    assert_eq!((rows[1].speed_bps, rows[1].oper_status), (Some(1_000_000_000), None));
    assert_eq!(rows[2].mac_address, None);
}

#[test]
fn vlans_of_ports_come_from_current_static_and_default_tables() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.if_entries.as_deref());
    let vlans = |index: usize| rows[index].vlans.clone().map(|vlans| (vlans.untagged, vlans.tagged));
    assert_eq!(vlans(0), Some((Some(10), vec![])));
    assert_eq!(vlans(1), Some((None, vec![10, 20])));
    assert_eq!(vlans(2), None);
}

#[test]
fn addresses_have_prefix_and_interface_and_no_broadcast() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.addresses.as_deref());
    let found: Vec<_> =
        rows.iter().map(|row| (row.ip_address.to_string(), row.prefix_length, row.if_index)).collect();
    let expected =
        [("192.0.2.1".to_owned(), Some(24), Some(101)), ("2001:db8::1".to_owned(), Some(64), Some(102))];
    assert_eq!(found, expected);
    assert_eq!(rows[0].mac_address.map(|mac| mac.to_string()).as_deref(), Some("00:00:5E:00:53:01"));
}

#[test]
fn neighbor_caches_leave_out_invalid_entries() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.arp.as_deref());
    let found: Vec<_> =
        rows.iter().map(|row| (row.ip_address.to_string(), row.if_index, row.state)).collect();
    let expected = [
        ("192.0.2.9".to_owned(), Some(101), None),
        ("2001:db8::9".to_owned(), Some(102), Some(NeighborState::Stale)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn forwarding_database_maps_ports_and_databases() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.fdb.as_deref());
    let find = |last: u8| rows.iter().find(|row| row.mac_address.octets()[5] == last).unwrap();
    assert_eq!(rows.len(), 3);
    let learned = find(0x20);
    assert_eq!(
        (learned.vlan, learned.if_index, learned.status),
        (Some(10), Some(102), Some(FdbStatus::Learned))
    );
    let without_vlan = find(0x21);
    assert_eq!((without_vlan.vlan, without_vlan.fdb_id, without_vlan.if_index), (None, None, Some(101)));
    // Two VLANs share database 6, and the port is given as an interface index.
    let shared = find(0x22);
    assert_eq!((shared.vlan, shared.fdb_id, shared.if_index), (None, Some(6), Some(102)));
}

#[test]
fn spanning_tree_ports_have_their_designated_bridge() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.stp.as_deref());
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].if_index, rows[0].state, rows[0].path_cost),
        (Some(101), Some(StpState::Forwarding), Some(19))
    );
    let bridge = rows[0].designated_bridge.unwrap();
    assert_eq!((bridge.priority, bridge.mac_address.to_string().as_str()), (0x800A, "00:00:5E:00:53:00"));
    assert_eq!(rows[0].designated_port, Some(0x8001));
}

#[test]
fn aggregates_come_from_attachment_and_from_the_stack() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.lag.as_deref());
    assert_eq!(
        rows.iter().map(|row| (row.if_index, row.lag_id)).collect::<Vec<_>>(),
        [(101, 201), (102, 201)]
    );
}

#[test]
fn aggregates_of_a_type_of_other_interfaces_are_known_by_their_names() {
    for (kind, name) in [
        (53, "Port-channel1"),
        (53, "Port-Channel 1"),
        (53, "Po1"),
        (54, "Trk1"),
        (53, "Eth-Trunk3"),
        (6, "Eth-Trunk3"),
        (6, "Bridge-Aggregation12"),
        (6, "lag-5"),
        (6, "bond0"),
        (53, "Vlan10"),
        (6, "Eth-Trunk3.100"),
        (6, "GigabitEthernet0/2"),
    ] {
        let walk = format!(
            ".1.3.6.1.2.1.2.2.1.2.1 = STRING: \"GigabitEthernet0/1\"\n.1.3.6.1.2.1.2.2.1.2.9 = STRING: \"{name}\"\n\
             .1.3.6.1.2.1.2.2.1.3.1 = INTEGER: 6\n.1.3.6.1.2.1.2.2.1.3.9 = INTEGER: {kind}\n\
             .1.3.6.1.2.1.31.1.2.1.3.9.1 = INTEGER: 1\n"
        );
        let table = device(Format::Snmpwalk, &walk).tables.lag;
        let members: Vec<_> =
            table.iter().flat_map(|table| &table.rows).map(|row| (row.if_index, row.lag_id)).collect();
        let is_other = matches!(name, "Vlan10" | "Eth-Trunk3.100" | "GigabitEthernet0/2");
        let expected: &[(i64, i64)] = if is_other { &[] } else { &[(1, 9)] };
        assert_eq!(members, expected, "{name}");
    }
}

#[test]
fn addresses_of_groups_are_no_neighbors() {
    let walk = ".1.3.6.1.2.1.4.22.1.2.1.192.0.2.255 = Hex-STRING: FF FF FF FF FF FF \n\
                .1.3.6.1.2.1.4.22.1.2.1.224.0.0.22 = Hex-STRING: 01 00 5E 00 00 16 \n\
                .1.3.6.1.2.1.4.22.1.2.1.192.0.2.9 = Hex-STRING: 00 00 5E 00 53 09 \n";
    let report = parsed(Format::Snmpwalk, walk);
    let neighbors = rows(report.devices[0].tables.arp.as_deref());
    assert_eq!(neighbors.iter().map(|row| row.ip_address.to_string()).collect::<Vec<_>>(), ["192.0.2.9"]);
    assert_eq!(count(&report, WarningCode::AddressShared), 2);
}

#[test]
fn lldp_neighbor_is_on_the_interface_that_its_local_port_names() {
    let device = device(Format::Snmpwalk, WALK);
    assert_eq!(device.chassis_id.unwrap().value, "00:00:5E:00:53:00");
    assert_eq!(device.capabilities, [Capability::Bridge, Capability::Router]);
    let rows = rows(device.tables.lldp.as_deref());
    assert_eq!(rows.len(), 1, "the same neighbor with two time marks is one row");
    let row = &rows[0];
    assert_eq!(
        (row.local_port_number, row.if_index, row.if_name.as_deref()),
        (Some(7), Some(101), Some("Gi0/1"))
    );
    assert_eq!(row.chassis_id.subtype, LldpChassisIdSubtype::MacAddress);
    assert_eq!(row.chassis_id.value, "00:00:5E:00:53:F0");
    assert_eq!(row.sys_name.as_deref(), Some("core-9"), "the latest time mark counts");
    assert_eq!(row.mgmt_addrs, ["192.0.2.254"]);
    assert_eq!(row.capabilities, [Capability::Router]);
    assert_eq!(row.local_port_desc.as_deref(), Some("to the core"));
}

#[test]
fn cdp_neighbor_has_address_port_and_platform() {
    let rows = rows(device(Format::Snmpwalk, WALK).tables.cdp.as_deref());
    let row = &rows[0];
    assert_eq!((row.if_index, row.if_name.as_deref()), (Some(102), Some("Gi0/2")));
    assert_eq!(row.device_id, "core-9.example.net");
    assert_eq!(row.address.as_deref(), Some("192.0.2.254"));
    assert_eq!((row.platform.as_deref(), row.native_vlan), (Some("EX-48"), Some(10)));
}

#[test]
fn chassis_is_described_by_its_physical_entity() {
    let device = device(Format::Snmpwalk, WALK);
    assert_eq!(device.serial_number.as_deref(), Some("SN-1"));
    assert_eq!((device.manufacturer.as_deref(), device.model.as_deref()), (Some("Example"), Some("EX-24")));
    assert_eq!(device.bridge_address.map(|mac| mac.to_string()).as_deref(), Some("00:00:5E:00:53:00"));
}

#[test]
fn newer_lldp_mibs_are_indexed_by_interface() {
    let mibs = [".1.3.111.2.802.1.1.13.1.4.1.1", ".1.3.6.1.4.1.6527.3.1.2.59.4.1.1"];
    for (mib, first) in mibs.into_iter().zip([5, 4]) {
        let walk = format!(
            ".1.3.6.1.2.1.2.2.1.2.33 = STRING: \"1/1/1\"\n\
             {mib}.{}.9.33.1.4 = INTEGER: 4\n{mib}.{}.9.33.1.4 = Hex-STRING: 00 00 5E 00 53 F0 \n\
             {mib}.{}.9.33.1.4 = INTEGER: 7\n{mib}.{}.9.33.1.4 = STRING: \"35700737\"\n",
            first,
            first + 1,
            first + 2,
            first + 3
        );
        let rows = rows(device(Format::Snmpwalk, &walk).tables.lldp.as_deref());
        assert_eq!(rows[0].if_index, Some(33), "{mib}");
        assert_eq!(rows[0].port_id.as_ref().map(|id| id.value.as_str()), Some("35700737"), "{mib}");
    }
}

#[test]
fn device_without_interface_table_has_the_ports_of_its_lldp_agent() {
    let walk = ".1.0.8802.1.1.2.1.3.7.1.2.5 = INTEGER: 7\n.1.0.8802.1.1.2.1.3.7.1.3.5 = STRING: \"5\"\n\
                .1.0.8802.1.1.2.1.3.7.1.4.5 = STRING: \"xe-0/0/5\"\n\
                .1.0.8802.1.1.2.1.4.1.1.4.0.5.1 = INTEGER: 7\n.1.0.8802.1.1.2.1.4.1.1.5.0.5.1 = STRING: \"x\"\n";
    let device = device(Format::Snmpwalk, walk);
    let entries = device.tables.if_entries.as_deref().unwrap();
    assert!(entries.derived && !entries.complete);
    assert_eq!((entries.rows[0].if_index, entries.rows[0].if_descr.as_deref()), (0, Some("xe-0/0/5")));
    let neighbor = &rows(device.tables.lldp.as_deref())[0];
    assert_eq!((neighbor.if_index, neighbor.local_port_number), (None, Some(5)));
    assert_eq!(neighbor.if_name.as_deref(), Some("xe-0/0/5"));
}

#[test]
fn ports_that_lldp_and_cdp_number_differently_are_one_interface() {
    let walk = ".1.3.6.1.4.1.9.9.23.1.1.1.1.6.10008 = STRING: \"FastEthernet0/8\"\n\
                .1.0.8802.1.1.2.1.3.7.1.2.8 = INTEGER: 5\n.1.0.8802.1.1.2.1.3.7.1.3.8 = STRING: \"Fa0/8\"\n\
                .1.0.8802.1.1.2.1.3.7.1.4.8 = STRING: \"FastEthernet0/8\"\n\
                .1.0.8802.1.1.2.1.4.1.1.4.0.8.1 = INTEGER: 7\n.1.0.8802.1.1.2.1.4.1.1.5.0.8.1 = STRING: \"x\"\n";
    let device = device(Format::Snmpwalk, walk);
    let entries = rows(device.tables.if_entries.as_deref());
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].if_index, 10008);
    assert_eq!(entries[0].if_name.as_deref(), Some("Fa0/8"));
    assert_eq!(entries[0].if_descr.as_deref(), Some("FastEthernet0/8"));
    assert_eq!(rows(device.tables.lldp.as_deref())[0].if_index, Some(10008));
}

#[test]
fn port_ids_of_reserved_subtype_and_binary_port_ids_are_kept() {
    let walk = ".1.3.6.1.2.1.2.2.1.2.5 = STRING: \"2/4\"\n\
                .1.0.8802.1.1.2.1.4.1.1.4.0.5.0 = INTEGER: 4\n\
                .1.0.8802.1.1.2.1.4.1.1.5.0.5.0 = STRING: \"00:1b:21:00:00:01\"\n\
                .1.0.8802.1.1.2.1.4.1.1.6.0.5.0 = INTEGER: 0\n\
                .1.0.8802.1.1.2.1.4.1.1.7.0.5.0 = STRING: \"2/5\"\n\
                .1.3.6.1.4.1.9.9.23.1.2.1.1.6.5.1 = STRING: \"a\"\n\
                .1.3.6.1.4.1.9.9.23.1.2.1.1.7.5.1 = Hex-STRING: 00 1B 21 00 00 02 \n";
    let device = device(Format::Snmpwalk, walk);
    let port_id = rows(device.tables.lldp.as_deref())[0].port_id.clone().unwrap();
    assert_eq!((port_id.subtype, port_id.value.as_str()), (LldpPortIdSubtype::LocallyAssigned, "2/5"));
    let cdp = rows(device.tables.cdp.as_deref());
    assert_eq!(cdp[0].port_id.as_deref(), Some("00:1B:21:00:00:02"));
}

#[test]
fn summaries_name_kind_length_and_completeness() {
    let summaries = device(Format::Snmpwalk, WALK).tables.summaries();
    assert_eq!(summaries.len(), 8);
    assert_eq!(
        (summaries[0].kind, summaries[0].rows, summaries[0].complete),
        (TableKind::IfEntries, 3, false)
    );
}

#[test]
fn address_of_blanks_is_no_mac_address() {
    let walk = ".1.3.6.1.2.1.2.2.1.2.1 = STRING: \"ge1\"\n.1.3.6.1.2.1.2.2.1.6.1 = Hex-STRING: 20 20 20 20 20 20 \n\
                .1.0.8802.1.1.2.1.3.1.0 = INTEGER: 4\n.1.0.8802.1.1.2.1.3.2.0 = Hex-STRING: 20 20 20 20 20 20 \n\
                .1.3.6.1.2.1.4.22.1.2.1.192.0.2.9 = Hex-STRING: 20 20 20 20 20 20 \n";
    let report = parsed(Format::Snmpwalk, walk);
    let device = &report.devices[0];
    assert_eq!(device.chassis_id, None);
    assert_eq!(rows(device.tables.if_entries.as_deref())[0].mac_address, None);
    assert!(device.tables.arp.is_none());
    assert_eq!(count(&report, WarningCode::ValueInvalid), 0);
}

#[test]
fn number_that_is_no_bridge_port_is_no_index_in_a_table_of_bridge_ports() {
    let walk = |second: u8| {
        format!(
            ".1.3.6.1.2.1.2.2.1.2.3 = STRING: \"ge3\"\n.1.3.6.1.2.1.2.2.1.2.4 = STRING: \"ge4\"\n\
             .1.3.6.1.2.1.2.2.1.2.1 = STRING: \"me0\"\n.1.3.6.1.2.1.2.2.1.2.2 = STRING: \"me1\"\n\
             .1.3.6.1.2.1.17.1.4.1.2.1 = INTEGER: 3\n.1.3.6.1.2.1.17.1.4.1.2.2 = INTEGER: 4\n\
             .1.3.6.1.2.1.17.4.3.1.2.0.0.94.0.83.1 = INTEGER: 1\n\
             .1.3.6.1.2.1.17.4.3.1.2.0.0.94.0.83.2 = INTEGER: {second}\n\
             .1.3.6.1.2.1.17.7.1.2.2.1.2.20.0.0.94.0.83.3 = INTEGER: 4\n"
        )
    };
    let indexes = |second| -> Vec<_> {
        let device = device(Format::Snmpwalk, &walk(second));
        rows(device.tables.fdb.as_deref()).iter().map(|row| row.if_index).collect()
    };
    assert_eq!(indexes(2), [Some(3), Some(4), Some(4)]);
    assert_eq!(indexes(4), [Some(3), None, Some(4)], "the numbers of the other table are indexes");
}

#[test]
fn vlans_that_no_port_has_by_their_index_have_no_ids() {
    let walk = |vlan: u16| {
        format!(
            ".1.3.6.1.2.1.1.2.0 = OID: .1.3.6.1.4.1.2636.1.1.1.2.31\n.1.3.6.1.2.1.2.2.1.2.536 = STRING: \"ge-0/0/5.0\"\n.1.3.6.1.2.1.17.1.4.1.2.536 = INTEGER: 536\n\
             .1.3.6.1.2.1.17.7.1.4.3.1.2.41 = STRING: \"536\"\n.1.3.6.1.2.1.17.7.1.4.3.1.4.41 = STRING: \"536\"\n\
             .1.3.6.1.2.1.17.7.1.4.5.1.1.536 = Gauge32: {vlan}\n\
             .1.3.6.1.2.1.17.7.1.2.2.1.2.41.0.0.94.0.83.1 = INTEGER: 536\n"
        )
    };
    for (vlan, untagged, learned) in [(888, 888, None), (41, 41, Some(41)), (1, 41, Some(41))] {
        let device = device(Format::Snmpwalk, &walk(vlan));
        let vlans = rows(device.tables.if_entries.as_deref())[0].vlans.clone().unwrap();
        assert_eq!((vlans.untagged, vlans.other_untagged, vlans.tagged), (Some(untagged), vec![], vec![]));
        assert_eq!(rows(device.tables.fdb.as_deref())[0].vlan, learned, "{vlan}");
    }
}

#[test]
fn indexes_of_other_agents_are_read() {
    let walk = ".1.3.6.1.2.1.2.2.1.2.7 = STRING: \"gei-1\"\n.1.3.6.1.2.1.17.1.4.1.2.1 = INTEGER: 7\n\
                .1.3.6.1.2.1.4.34.1.3.4.254.128.0.0.0.0.0.0.2.0.94.255.254.0.83.1.7 = INTEGER: 7\n\
                .1.3.6.1.2.1.17.7.1.4.2.1.4.907.0 = Hex-STRING: 80 \n.1.3.6.1.2.1.17.7.1.4.2.1.5.907.0 = Hex-STRING: 80 \n";
    let report = parsed(Format::Snmpwalk, walk);
    let tables = &report.devices[0].tables;
    let address = &rows(tables.addresses.as_deref())[0];
    assert_eq!(
        (address.ip_address.to_string().as_str(), address.if_index),
        ("fe80::200:5eff:fe00:5301", Some(7))
    );
    let vlans = rows(tables.if_entries.as_deref())[0].vlans.clone().unwrap();
    assert_eq!(vlans.untagged, Some(907));
    assert_eq!(count(&report, WarningCode::RowMalformed), 0);
}
