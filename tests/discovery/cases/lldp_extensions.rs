//! Aggregates and VLANs in LLDP: LLDP-EXT-DOT1-MIB, LLDP-EXT-DOT3-MIB, and lldpctl.

use toposcope::discovery::Format;
use toposcope::discovery::report::{LagRow, WarningCode};

use super::neighbors::{complete, example, interfaces, lldp, local_port, neighbor, walk};
use crate::support::{count, rows};

const DOT3: &str = ".1.0.8802.1.1.2.1.5.4623.1";
const DOT1: &str = ".1.0.8802.1.1.2.1.5.32962.1";

fn switch() -> String {
    [
        interfaces(&[(2, "bond0", 6), (16, "eth0", 6), (18, "eth1", 6)]),
        local_port(16, Some(5), Some("eth0"), None),
        local_port(18, Some(5), Some("eth1"), None),
        neighbor("0.16.1", 1, "swp3", "acc1"),
        neighbor("0.18.1", 2, "swp3", "acc2"),
    ]
    .concat()
}

#[test]
fn members_that_lldp_announces_are_in_the_table_of_aggregates() {
    for status in
        ["Hex-STRING: C0 ", "BITS: C0 aggregationCapable(0) aggregationCurrentlyActive(1)", "Hex-STRING: 03 "]
    {
        let text = format!(
            "{}{DOT3}.2.3.1.1.16 = {status}\n{DOT3}.2.3.1.2.16 = INTEGER: 2\n\
             {DOT3}.2.3.1.1.18 = Hex-STRING: 80 \n{DOT3}.2.3.1.2.18 = INTEGER: 2\n",
            switch()
        );
        assert_eq!(rows(walk(&text).devices[0].tables.lag.as_deref()), [LagRow::new(16, 2)], "{status}");
    }
}

#[test]
fn table_of_aggregates_counts_more_than_an_announcement() {
    let text = format!(
        "{}.1.2.840.10006.300.43.1.2.1.1.13.16 = INTEGER: 18\n{DOT3}.2.3.1.1.16 = Hex-STRING: C0 \n{DOT3}.2.3.1.2.16 = INTEGER: 2\n",
        switch()
    );
    assert_eq!(rows(walk(&text).devices[0].tables.lag.as_deref()), [LagRow::new(16, 18)]);
}

#[test]
fn aggregate_that_is_no_interface_is_warned_of() {
    let text = format!("{}{DOT3}.2.3.1.1.16 = Hex-STRING: C0 \n{DOT3}.2.3.1.2.16 = INTEGER: 99\n", switch());
    let report = walk(&text);
    assert!(report.devices[0].tables.lag.is_none());
    assert_eq!(count(&report, WarningCode::AggregateUnknown), 1);
}

#[test]
fn aggregate_and_vlan_of_a_neighbor_are_in_its_row() {
    let text = format!(
        "{}{DOT3}.3.3.1.1.0.16.1 = Hex-STRING: C0 \n{DOT3}.3.3.1.2.0.16.1 = INTEGER: 7\n\
         {DOT3}.3.3.1.1.0.18.1 = Hex-STRING: 80 \n{DOT3}.3.3.1.2.0.18.1 = INTEGER: 7\n\
         {DOT1}.3.1.1.1.0.16.1 = INTEGER: 10\n{DOT1}.3.1.1.1.0.18.1 = INTEGER: 0\n\
         {DOT1}.3.3.1.2.0.16.1.10 = STRING: \"office\"\n",
        switch()
    );
    let report = walk(&text);
    let seen: Vec<_> = lldp(&report).iter().map(|row| (row.if_index, row.lag_id, row.port_vlan)).collect();
    assert_eq!(seen, [(Some(16), Some(7), Some(10)), (Some(18), None, None)]);
    // The names of VLANs have no place.
    assert_eq!(example(&report, WarningCode::VariableUnread), "1.0.8802.1.1.2.1.5.32962.1.3.3");
}

#[test]
fn vlan_of_a_local_port_is_known_unless_the_bridge_states_vlans() {
    let pvid = format!("{DOT1}.2.1.1.1.16 = INTEGER: 10\n{DOT1}.2.1.1.1.18 = INTEGER: 0\n");
    let untagged = |text: &str| -> Vec<_> {
        let entries = rows(walk(text).devices[0].tables.if_entries.as_deref());
        entries.into_iter().map(|row| row.vlans.and_then(|vlans| vlans.untagged)).collect()
    };
    assert_eq!(untagged(&(switch() + &pvid)), [None, Some(10), None]);
    let bridge = ".1.3.6.1.2.1.17.1.4.1.2.1 = INTEGER: 18\n.1.3.6.1.2.1.17.7.1.4.2.1.4.0.20 = Hex-STRING: 80 \n\
                  .1.3.6.1.2.1.17.7.1.4.2.1.5.0.20 = Hex-STRING: 80 \n";
    assert_eq!(untagged(&(switch() + &pvid + bridge)), [None, None, Some(20)]);
}

#[test]
fn extensions_are_read_by_their_names() {
    let text = format!(
        "{}LLDP-EXT-DOT3-MIB::lldpXdot3LocLinkAggStatus.16 = BITS: C0 aggregationCapable(0) aggregationCurrentlyActive(1)\n\
         LLDP-EXT-DOT3-MIB::lldpXdot3LocLinkAggPortId.16 = INTEGER: 2\n\
         LLDP-EXT-DOT1-MIB::lldpXdot1RemPortVlanId.0.16.1 = INTEGER: 10\n",
        switch()
    );
    let report = walk(&text);
    assert_eq!(rows(report.devices[0].tables.lag.as_deref()), [LagRow::new(16, 2)]);
    assert_eq!(lldp(&report)[0].port_vlan, Some(10));
}

#[test]
fn newer_mib_states_vlans_by_interface() {
    let mib = ".1.3.111.2.802.1.1.13.1";
    let text = format!(
        "{}{mib}.4.1.1.5.0.16.1.1 = INTEGER: 4\n{mib}.4.1.1.6.0.16.1.1 = Hex-STRING: 00 00 5E 00 53 09 \n\
         {mib}.5.32962.1.3.1.1.1.0.16.1.1 = INTEGER: 30\n{mib}.5.32962.1.2.1.1.1.16 = INTEGER: 40\n",
        interfaces(&[(16, "eth0", 6)])
    );
    let report = walk(&text);
    assert_eq!((lldp(&report)[0].if_index, lldp(&report)[0].port_vlan), (Some(16), Some(30)));
    let vlans = rows(report.devices[0].tables.if_entries.as_deref())[0].vlans.clone();
    assert_eq!(vlans.and_then(|vlans| vlans.untagged), Some(40));
}

#[test]
fn lldpctl_states_aggregate_and_vlan_of_the_neighbor() {
    let interface = |port: &str, vlan: &str| {
        format!(
            r#"{{"lldp": {{"interface": {{"eth0": {{"via": "LLDP", "chassis": {{"acc1": {{"id": {{"type": "mac", "value": "00:00:5e:00:53:01"}}}}}},
            "port": {{"id": {{"type": "ifname", "value": "swp3"}}, {port}}}, "vlan": {vlan}}}}}}}}}"#
        )
    };
    for (port, vlan, expected) in [
        (
            r#""aggregation": "3""#,
            r#"{"vlan-id": "10", "pvid": true, "value": "office"}"#,
            (Some(3), Some(10)),
        ),
        (
            r#""aggregation": [{"value": "3"}]"#,
            r#"[{"vlan-id": "10", "pvid": false}, {"vlan-id": "20", "pvid": true}]"#,
            (Some(3), Some(20)),
        ),
        (r#""aggregation": "0""#, r#"[{"vlan-id": "10", "pvid": false}]"#, (None, None)),
        (r#""ttl": "120""#, "[]", (None, None)),
    ] {
        let report = complete(Format::Lldpctl, interface(port, vlan)).unwrap();
        let row = &lldp(&report)[0];
        assert_eq!((row.lag_id, row.port_vlan), expected, "{port} {vlan}");
    }
}

#[test]
fn lldpctl_names_the_neighbors_that_it_skips() {
    let text = r#"{"lldp": {"interface": [
        {"eth0": {"via": "FDP", "chassis": {"fdp-1": {"id": {"type": "local", "value": "x"}}}, "port": {"id": {"type": "ifname", "value": "e1"}}}},
        {"eth1": {"via": "LLDP", "chassis": {"name": "phone-7"}, "port": {"descr": "port 1"}}}]}}"#;
    let report = complete(Format::Lldpctl, text).unwrap();
    assert_eq!(
        example(&report, WarningCode::ProtocolUnread),
        "a neighbor by FDP on eth0: name fdp-1, port e1"
    );
    assert_eq!(
        example(&report, WarningCode::RowIncomplete),
        "a neighbor by LLDP on eth1: name phone-7, port port 1"
    );
    assert_eq!((report.read_rows, report.used_rows, report.skipped_rows), (2, 0, 2));
    assert!(report.devices[0].tables.lldp.as_deref().is_some_and(|table| !table.complete));
}
