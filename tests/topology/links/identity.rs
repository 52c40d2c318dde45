//! Identification of a neighbor's host and port.

use toposcope::discovery::report::{LldpRow, TableKind};
use toposcope::inventory::ClaimRows;
use toposcope::model::{IfEntry, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype};
use toposcope::topology::links::LinkWarning;

use super::support::{Node, chassis, described, links, lldp, mac, node};

fn row(subtype: LldpChassisIdSubtype, value: &str, name: Option<&str>) -> LldpRow {
    let mut row = LldpRow::new(LldpChassisId { subtype, value: value.to_owned() });
    row.if_index = Some(1);
    row.sys_name = name.map(str::to_owned);
    row
}

fn sees(row: LldpRow) -> Node {
    node(1, 2).with(ClaimRows::Lldp(vec![row]))
}

#[test]
fn neighbor_is_found_by_each_kind_of_identity() {
    use LldpChassisIdSubtype::{InterfaceName, LocallyAssigned, MacAddress, NetworkAddress};
    let known = node(2, 2).change(|host| {
        host.chassis_id = Some(LldpChassisId { subtype: LocallyAssigned, value: "chassis-2".to_owned() });
        host.if_entries[0].mac_address = Some(mac(0x22));
        let interface = toposcope::model::Interface::new(host, "192.0.2.2".parse().unwrap());
        host.interfaces.push(interface);
    });
    let mut managed = row(InterfaceName, "eth0", None);
    managed.mgmt_addrs = vec!["192.0.2.2".to_owned()];
    for found in [
        row(LocallyAssigned, "chassis-2", None),
        row(MacAddress, "00:00:5e:00:53:22", None),
        // A MAC address in the wrong subtype.
        row(LocallyAssigned, "00-00-5e-00-53-22", None),
        row(NetworkAddress, "192.0.2.2", None),
        row(InterfaceName, "eth0", Some("sw2")),
        row(InterfaceName, "eth0", Some("sw2.example.net")),
        managed,
    ] {
        let nodes = [sees(found.clone()), known.clone()];
        assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2: Reported OneSidedLldp"], "{found:?}");
    }
}

#[test]
fn interface_name_alone_identifies_no_device() {
    let nodes = [sees(row(LldpChassisIdSubtype::InterfaceName, "Gi0/1", None)), node(2, 2)];
    assert_eq!(described(&nodes), ["(Gi0/1) -- sw1 Gi0/1: Reported OneSidedLldp"]);
}

#[test]
fn neighbors_without_an_identity_are_stubs_of_their_ports() {
    let unnamed = |port| {
        let mut row = row(LldpChassisIdSubtype::InterfaceName, "eth0", None);
        row.if_index = Some(port);
        row
    };
    let links = links(&[node(1, 2).with(ClaimRows::Lldp(vec![unnamed(1), unnamed(2)]))]);
    assert_eq!((links.stubs().count(), links.links().count()), (2, 2));
}

#[test]
fn chassis_id_of_several_hosts_is_reported_and_identifies_none() {
    let twin = |number| node(number, 2).change(|host| host.chassis_id = Some(chassis(0x77)));
    let mut unnamed = lldp(1, 0x77, 1);
    unnamed.sys_name = None;
    let nodes = [sees(unnamed), twin(2), twin(3)];
    let links = links(&nodes);
    assert_eq!(
        super::support::describe(&links),
        ["(00:00:5E:00:53:77) Gi0/1 -- sw1 Gi0/1: Reported OneSidedLldp"]
    );
    let host_ids = vec![nodes[1].host.id, nodes[2].host.id];
    assert_eq!(
        links.warnings(),
        [
            LinkWarning::DuplicateChassisId { chassis_id: "00:00:5E:00:53:77".to_owned(), host_ids },
            LinkWarning::AmbiguousNeighbor {
                host_id: nodes[0].host.id,
                if_entry_id: Some(nodes[0].port(1)),
                names: "00:00:5E:00:53:77".to_owned(),
            },
        ]
    );
}

#[test]
fn name_distinguishes_hosts_with_one_chassis_id() {
    let twin = |number| node(number, 2).change(|host| host.chassis_id = Some(chassis(0x77)));
    let mut named = lldp(1, 0x77, 1);
    named.sys_name = Some("sw3".to_owned());
    assert_eq!(
        described(&[sees(named), twin(2), twin(3)]),
        ["sw1 Gi0/1 -- sw3 Gi0/1: Reported OneSidedLldp"]
    );
}

#[test]
fn port_is_found_by_each_kind_of_id() {
    use LldpPortIdSubtype::{InterfaceAlias, InterfaceName, LocallyAssigned, MacAddress};
    let known = node(2, 3).change(|host| {
        host.if_entries[2] = IfEntry {
            if_descr: "GigabitEthernet0/3".to_owned(),
            if_alias: Some("uplink".to_owned()),
            mac_address: Some(mac(0x23)),
            ..host.if_entries[2].clone()
        };
        host.if_entries[0].mac_address = Some(mac(0x21));
        host.if_entries[1].mac_address = Some(mac(0x21));
    });
    let port = |subtype, value: &str, description: Option<&str>| {
        let mut row = lldp(1, 2, 0);
        row.port_id = Some(LldpPortId { subtype, value: value.to_owned() });
        row.port_desc = description.map(str::to_owned);
        described(&[sees(row), known.clone()])
    };
    let found = ["sw1 Gi0/1 -- sw2 Gi0/3: Reported OneSidedLldp"];
    assert_eq!(port(InterfaceName, "Gi0/3", None), found);
    assert_eq!(port(InterfaceName, "GigabitEthernet0/3", None), found);
    assert_eq!(port(InterfaceName, "gige0/3", None), found);
    assert_eq!(port(MacAddress, "00:00:5E:00:53:23", None), found);
    assert_eq!(port(LocallyAssigned, "3", None), found);
    assert_eq!(port(InterfaceAlias, "uplink", None), found);
    assert_eq!(port(InterfaceName, "unknown", Some("Gi0/3")), found);
    // A MAC address of two ports names none.
    let unknown = ["sw1 Gi0/1 -- sw2: Reported OneSidedLldp"];
    assert_eq!(port(MacAddress, "00:00:5E:00:53:21", None), unknown);
}

#[test]
fn only_port_of_a_host_is_the_one_that_sees_its_neighbors() {
    let nodes = [node(1, 1).lldp(&[(0, 2, 1)]), node(2, 2)];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/1: Reported OneSidedLldp"]);
}

#[test]
fn tables_that_may_lack_rows_are_reported() {
    let mut truncated = node(1, 2);
    truncated.is_complete = false;
    let node = truncated.lldp(&[(1, 2, 1)]).fdb(&[(2, 9)]);
    let host_id = node.host.id;
    let warning = |kind| LinkWarning::TruncatedTable { host_id, kind };
    assert_eq!(links(&[node]).warnings(), [warning(TableKind::Lldp), warning(TableKind::Fdb)]);
}
