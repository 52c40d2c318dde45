//! Ports that share a cable with others, or have none: logical units, ports of bridges, tunnels.

use toposcope::discovery::report::CdpRow;
use toposcope::inventory::ClaimRows;
use toposcope::model::{Host, Interface, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress};
use toposcope::topology::links::LinkWarning;

use super::support::{described, links, lldp, mac, node};

/// Names the ports of a host in their order.
fn named(names: &'static [&'static str]) -> impl FnOnce(&mut Host) {
    move |host| {
        for (entry, name) in host.if_entries.iter_mut().zip(names) {
            entry.if_name = Some((*name).to_owned());
        }
    }
}

/// Returns rows of which each names a port of the neighbor: own port, number and port of the neighbor.
fn naming(rows: &[(i64, u8, &str)]) -> ClaimRows {
    let row = |(port, neighbor, remote): &(i64, u8, &str)| {
        let mut row = lldp(*port, *neighbor, 1);
        row.port_id.as_mut().unwrap().value = (*remote).to_owned();
        row
    };
    ClaimRows::Lldp(rows.iter().map(row).collect())
}

#[test]
fn neighbors_on_units_are_on_the_port_below_them() {
    let cases = [
        (&["ge-0/0/1", "ge-0/0/1.0"], "ge-0/0/1.0", "sw1 ge-0/0/1 -- sw2 Gi0/1: Confirmed MutualLldp"),
        (&["Gi0/0", "Gi0/0.100"], "GigabitEthernet0/0.100", "sw1 Gi0/0 -- sw2 Gi0/1: Confirmed MutualLldp"),
        // There is no such port below.
        (&["port1.1", "port1.2"], "port1.2", "sw1 port1.2 -- sw2 Gi0/1: Confirmed MutualLldp"),
    ];
    for (names, announced, expected) in cases {
        let nodes = [
            node(1, 2).change(named(names)).with(naming(&[(2, 2, "Gi0/1")])),
            node(2, 1).with(naming(&[(1, 1, announced)])),
        ];
        assert_eq!(described(&nodes), [expected]);
        // The own table and the neighbor may mean the same port by different names.
        let own_port = if names[1].starts_with("port") { 2 } else { 1 };
        let nodes =
            [node(1, 2).change(named(names)).with(naming(&[(own_port, 2, "Gi0/1")])), nodes[1].clone()];
        assert_eq!(described(&nodes), [expected]);
        assert!(links(&nodes).warnings().is_empty());
    }
}

#[test]
fn port_behind_the_name_of_its_bridge_is_found() {
    let nodes = [
        node(1, 1).with(naming(&[(1, 2, "bridge/ether5")])),
        node(2, 2).change(named(&["bridge", "ether5"])),
    ];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 ether5: Reported OneSidedLldp"]);
}

#[test]
fn tunnels_have_no_cable_and_a_warning() {
    let cases = [("Tunnel1", 131), ("vxlan10", 6), ("wg0", 1), ("gre1", 53), ("anything", 150)];
    for (name, kind) in cases {
        let tunnel = |host: &mut Host| {
            host.if_entries[1].if_name = Some(name.to_owned());
            host.if_entries[1].if_type = Some(kind);
        };
        let nodes = [
            node(1, 2).change(tunnel).with(naming(&[(1, 2, "Gi0/1"), (2, 2, name)])).fdb(&[(2, 3)]),
            node(2, 2).change(tunnel).with(naming(&[(1, 1, "Gi0/1"), (2, 1, name)])),
            node(3, 1),
        ];
        assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/1: Confirmed MutualLldp"], "{name}");
        let (port, host_id) = (nodes[0].port(2), nodes[0].host.id);
        let warning =
            LinkWarning::NeighborBehindTunnel { host_id, if_entry_id: Some(port), names: "sw2".into() };
        assert!(links(&nodes).warnings().contains(&warning), "{name}");
    }
    // An Ethernet port whose name resembles that of a tunnel.
    let ethernet = |host: &mut Host| {
        host.if_entries[0].if_name = Some("tun1".to_owned());
        host.if_entries[0].if_type = Some(6);
    };
    let nodes = [node(1, 1).change(ethernet).with(naming(&[(1, 2, "Gi0/1")])), node(2, 1)];
    assert_eq!(described(&nodes), ["sw1 tun1 -- sw2 Gi0/1: Reported OneSidedLldp"]);
}

#[test]
fn aggregate_that_is_named_on_each_member_is_one_link() {
    let nodes = [
        node(1, 3).with(naming(&[(1, 2, "Gi0/3"), (2, 2, "Gi0/3")])).lag(&[(1, 3), (2, 3)]),
        node(2, 3).lag(&[(1, 3), (2, 3)]),
    ];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/3 -- sw2 Gi0/3: Reported OneSidedLldp [Gi0/1=Gi0/3] [Gi0/2=Gi0/3]"]
    );
}

#[test]
fn texts_for_missing_names_are_no_labels() {
    for text in ["not advertised", "Not received", "N/A", "(none)"] {
        let mut row = lldp(1, 9, 1);
        row.sys_name = Some(text.to_owned());
        let nodes = [node(1, 1).with(ClaimRows::Lldp(vec![row]))];
        assert_eq!(
            described(&nodes),
            ["(00:00:5E:00:53:09) Gi0/1 -- sw1 Gi0/1: Reported OneSidedLldp"],
            "{text}"
        );
    }
}

#[test]
fn digits_of_an_address_and_names_with_a_medium_lead_to_the_port() {
    let change = |host: &mut Host| {
        for (entry, number) in host.if_entries.iter_mut().zip(0x21..) {
            entry.mac_address = Some(MacAddress::new([0, 0x1B, 0x21, 0, 0, number]));
            entry.if_name = None;
            entry.if_descr = format!("gigabitEthernet 1/0/{} : copper", entry.if_index);
        }
    };
    for announced in ["001B21000022", "GigabitEthernet1/0/2"] {
        let mut row = lldp(1, 2, 1);
        let (local, text) = (LldpPortIdSubtype::LocallyAssigned, announced.to_owned());
        row.port_id = Some(LldpPortId { subtype: local, value: text });
        row.chassis_id.subtype = LldpChassisIdSubtype::LocallyAssigned;
        row.chassis_id.value = "001B21000021".to_owned();
        row.sys_name = None;
        let nodes = [node(1, 1).with(ClaimRows::Lldp(vec![row])), node(2, 2).change(change)];
        let expected = "sw1 Gi0/1 -- sw2 gigabitEthernet 1/0/2 : copper: Reported OneSidedLldp";
        assert_eq!(described(&nodes), [expected], "{announced}");
    }
}

#[test]
fn address_of_an_aggregate_and_its_members_is_at_the_aggregate() {
    let change = |host: &mut Host| {
        for (entry, name) in host.if_entries.iter_mut().zip(["igb0", "igb1", "lagg0", "lagg0.10"]) {
            (entry.if_name, entry.mac_address) = (Some(name.to_owned()), Some(mac(0x40)));
        }
        host.if_entries[2].if_type = Some(161);
    };
    let nodes = [node(1, 1).fdb(&[(1, 0x40)]), node(2, 4).change(change)];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 lagg0: Inferred SingleSidedFdb"]);
}

#[test]
fn factory_name_leads_to_no_host() {
    let row = |port: i64, address: &str| {
        let mut row = CdpRow::new("MikroTik");
        (row.if_index, row.port_id, row.address) = (Some(port), Some("ether1".into()), Some(address.into()));
        row
    };
    let router = |host: &mut Host| {
        host.sys_name = Some("MikroTik".to_owned());
        host.chassis_id = None;
        host.if_entries[0].if_name = Some("ether1".to_owned());
        host.interfaces = vec![Interface::new(host, "192.0.2.11".parse().unwrap())];
    };
    let rows = vec![row(1, "192.0.2.11"), row(2, "192.0.2.12")];
    let nodes = [node(1, 2).with(ClaimRows::Cdp(rows)), node(2, 1).change(router)];
    assert_eq!(
        described(&nodes),
        [
            "(MikroTik) ether1 -- sw1 Gi0/2: Reported OneSidedCdp",
            "sw1 Gi0/1 -- sw2 ether1: Reported OneSidedCdp",
        ]
    );
}
