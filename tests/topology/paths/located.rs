//! Where a device is connected.

use std::collections::BTreeMap;

use toposcope::discovery::report::{ArpRow, FdbRow, FdbStatus};
use toposcope::inventory::ClaimRows;
use toposcope::model::{Host, HostId, IfEntry, Interface, NetworkId, OperStatus, TopologyView, Vlans};
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::links::{Confidence, LinkState, Links, Method};
use toposcope::topology::paths::{LocateTarget, Location, LookupError, PathIndex, UnknownReason};

use crate::graph::support::with_devices;
use crate::links::support::{Node, links, mac, node, time};

/// The last byte of the address of a device that is no host.
pub(super) const UNKNOWN: u8 = 99;

pub(super) fn locate(nodes: &[Node], target: &LocateTarget) -> Result<Location, LookupError> {
    locate_in(nodes, &links(nodes), target)
}

/// Locates a device by the links of the nodes.
pub(super) fn locate_in(
    nodes: &[Node],
    found: &Links,
    target: &LocateTarget,
) -> Result<Location, LookupError> {
    with_devices(nodes, &GraphOptions::new(TopologyView::L2), |input| {
        PathIndex::new(input).locate(found, target)
    })
}

pub(super) fn learned(port: i64, address: u8, vlan: Option<u16>) -> FdbRow {
    let mut row = FdbRow::new(mac(address));
    (row.if_index, row.vlan, row.status) = (Some(port), vlan, Some(FdbStatus::Learned));
    row
}

pub(super) fn ports(location: &Location) -> Vec<String> {
    let port = |port: &Option<String>| port.clone().unwrap_or_default();
    location.candidates.iter().map(|found| format!("{} {}", found.name, port(&found.port))).collect()
}

/// Two switches, of which the second has a host and an unknown device at ports of their own.
fn network() -> [Node; 3] {
    [
        node(1, 4).lldp(&[(1, 2, 1)]).fdb(&[(1, 2), (1, 3), (1, UNKNOWN)]),
        node(2, 4).lldp(&[(1, 1, 1)]).fdb(&[(1, 1), (2, UNKNOWN), (3, 3)]),
        node(3, 1),
    ]
}

fn arp(node: Node, address: &str, number: u8) -> Node {
    node.with(ClaimRows::Arp(vec![ArpRow::new(address.parse().unwrap(), mac(number))]))
}

#[test]
fn mac_address_is_at_the_edge_port_and_not_at_uplinks() {
    let found = locate(&network(), &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(ports(&found), ["sw2 Gi0/2"]);
    assert!(found.complete && found.conflicts.is_empty());
    let candidate = &found.candidates[0];
    assert_eq!((candidate.confidence, candidate.last_seen), (Confidence::Inferred, Some(time())));
    assert_eq!(candidate.evidence[0].method, Method::Fdb);
}

#[test]
fn host_is_at_the_other_end_of_its_link() {
    for target in [LocateTarget::Mac(mac(3)), LocateTarget::Name("sw3".to_owned())] {
        let found = locate(&network(), &target).unwrap();
        assert_eq!(ports(&found), ["sw2 Gi0/3"], "{target:?}");
        assert!(found.complete);
    }
}

#[test]
fn address_that_uplinks_alone_have_learned_is_not_located_completely() {
    let [first, second, third] = network();
    let second = Node {
        claims: second.claims.into_iter().filter(|claim| !matches!(claim.rows, ClaimRows::Fdb(_))).collect(),
        ..second
    };
    let second = second.fdb(&[(1, 1)]);
    let found = locate(&[first, second, third], &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(ports(&found), ["sw1 Gi0/1"]);
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Edge]));
}

#[test]
fn ip_address_is_located_by_the_mac_address_that_a_neighbor_cache_states() {
    let [first, second, third] = network();
    let first = arp(first, "192.0.2.9", UNKNOWN);
    let found = locate(&[first, second, third], &LocateTarget::Ip("192.0.2.9".parse().unwrap())).unwrap();
    assert_eq!(ports(&found), ["sw2 Gi0/2"]);
    let methods: Vec<Method> = found.candidates[0].evidence.iter().map(|evidence| evidence.method).collect();
    assert_eq!(methods, [Method::Fdb, Method::Arp]);
    assert_eq!(found.mac_addresses, [mac(UNKNOWN)]);
}

#[test]
fn address_that_no_port_has_learned_is_known_without_a_port() {
    let [first, second, third] = network();
    let nodes = [arp(first, "192.0.2.9", 77), second, third, node(4, 1)];
    let targets = [
        (LocateTarget::Ip("192.0.2.9".parse().unwrap()), &[mac(77)][..]),
        (LocateTarget::Mac(mac(77)), &[]),
        (LocateTarget::Name("sw4".to_owned()), &[]),
    ];
    for (target, macs) in targets {
        let found = locate(&nodes, &target).unwrap();
        assert_eq!((found.candidates_total, &found.mac_addresses[..]), (0, macs), "{target:?}");
        assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Links]), "{target:?}");
    }
}

#[test]
fn ip_address_of_two_mac_addresses_is_a_conflict_with_both() {
    let [first, second, third] = network();
    let (first, second) = (arp(first, "192.0.2.9", UNKNOWN), arp(second, "192.0.2.9", 3));
    let found = locate(&[first, second, third], &LocateTarget::Ip("192.0.2.9".parse().unwrap())).unwrap();
    assert_eq!(found.conflicts.len(), 1);
    assert_eq!(found.conflicts[0].mac_addresses, [mac(3), mac(UNKNOWN)]);
    assert_eq!(found.candidates_total, 2);
}

#[test]
fn place_that_links_or_addresses_contradict_is_not_complete() {
    let contradictory = [node(1, 4).lldp(&[(1, 3, 1)]), node(2, 4).lldp(&[(1, 3, 1)]), node(3, 1)];
    let found = locate(&contradictory, &LocateTarget::Name("sw3".to_owned())).unwrap();
    assert_eq!(found.candidates[0].confidence, Confidence::Conflicting);
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Conflict]));
    let [first, second, third] = network();
    let nodes = [arp(first, "192.0.2.9", UNKNOWN), arp(second, "192.0.2.9", 3), third];
    let found = locate(&nodes, &LocateTarget::Ip("192.0.2.9".parse().unwrap())).unwrap();
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Conflict]));
}

#[test]
fn address_that_several_ports_of_a_bridge_learned_is_at_each_of_them_with_its_vlan() {
    let rows = [
        learned(1, 1, None),
        learned(2, UNKNOWN, Some(20)),
        learned(3, UNKNOWN, Some(30)),
        learned(4, UNKNOWN, Some(40)),
        learned(4, UNKNOWN, Some(41)),
    ];
    let [first, ..] = network();
    let second = node(2, 4).lldp(&[(1, 1, 1)]).with(ClaimRows::Fdb(rows.to_vec()));
    let found = locate(&[first, second], &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    let vlans: BTreeMap<String, Option<u16>> =
        ports(&found).into_iter().zip(found.candidates.iter().map(|candidate| candidate.vlan)).collect();
    let expected = [("sw2 Gi0/2", Some(20)), ("sw2 Gi0/3", Some(30)), ("sw2 Gi0/4", None)];
    assert_eq!(vlans, expected.map(|(port, vlan)| (port.to_owned(), vlan)).into());
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Conflict]));
}

#[test]
fn candidate_has_the_vlan_of_the_entry_or_else_the_only_one_of_the_port() {
    for (row, tagged, expected) in
        [(Some(30), vec![30], Some(30)), (None, vec![], Some(1)), (None, vec![30], None)]
    {
        let [first, second, _] = network();
        let vlans = Vlans { untagged: Some(1), tagged, ..Vlans::default() };
        let second = second
            .with(ClaimRows::Fdb(vec![learned(1, 1, None), learned(2, UNKNOWN, row)]))
            .change(|host| host.if_entries[1].vlans = Some(vlans));
        let found = locate(&[first, second], &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
        assert_eq!((ports(&found), found.candidates[0].vlan), (vec!["sw2 Gi0/2".to_owned()], expected));
    }
}

#[test]
fn address_that_an_uplink_and_an_edge_port_of_a_bridge_learned_is_at_both() {
    let [first, ..] = network();
    let second = node(2, 4).lldp(&[(1, 1, 1)]).fdb(&[(1, 1), (1, UNKNOWN), (2, UNKNOWN)]);
    let found = locate(&[first, second], &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(ports(&found), ["sw2 Gi0/2", "sw2 Gi0/1"]);
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Conflict]));
}

#[test]
fn address_at_edge_ports_of_two_switches_is_a_conflict() {
    let nodes = [node(1, 4).fdb(&[(2, UNKNOWN)]), node(2, 4).fdb(&[(3, UNKNOWN)])];
    let found = locate(&nodes, &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(found.candidates_total, 2);
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Conflict]));
}

#[test]
fn port_with_other_devices_is_listed_only_if_no_port_has_the_device_alone() {
    let crowd = node(1, 4).fdb(&[(2, UNKNOWN), (2, 91), (2, 92)]);
    let found = locate(std::slice::from_ref(&crowd), &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!((ports(&found), found.unknown), (vec!["sw1 Gi0/2".to_owned()], vec![UnknownReason::Edge]));
    let nodes = [crowd, node(2, 4).fdb(&[(3, UNKNOWN)])];
    let found = locate(&nodes, &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!((ports(&found), found.complete), (vec!["sw2 Gi0/3".to_owned()], true));
}

/// A device with links to two switches: the port of the first has a state.
fn with_two_links(state: OperStatus, device: Node) -> [Node; 3] {
    let first = node(1, 4).fdb(&[(4, 90)]).lldp(&[(1, 3, 1)]);
    [
        first.change(|host| host.if_entries[0].oper_status = Some(state)),
        node(2, 4).fdb(&[(4, 91)]).lldp(&[(1, 3, 2)]),
        device.lldp(&[(1, 1, 1), (2, 2, 1)]),
    ]
}

#[test]
fn device_with_several_links_is_located_completely_while_they_are_up() {
    let found = locate(&with_two_links(OperStatus::Up, node(3, 2)), &LocateTarget::Mac(mac(3))).unwrap();
    assert_eq!((found.candidates_total, found.complete), (2, true));
    let found = locate(&with_two_links(OperStatus::Down, node(3, 2)), &LocateTarget::Mac(mac(3))).unwrap();
    assert_eq!(ports(&found), ["sw2 Gi0/1", "sw1 Gi0/1"]);
    let states: Vec<LinkState> = found.candidates.iter().map(|candidate| candidate.state).collect();
    assert_eq!(states, [LinkState::Unknown, LinkState::Down]);
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Conflict]));
}

#[test]
fn switch_is_located_completely_whether_or_not_all_of_its_links_are_up() {
    let switch = node(3, 4).fdb(&[(4, 92)]);
    let found = locate(&with_two_links(OperStatus::Down, switch), &LocateTarget::Mac(mac(3))).unwrap();
    assert_eq!(ports(&found), ["sw2 Gi0/1", "sw1 Gi0/1"]);
    assert!(found.complete, "{:?}", found.unknown);
}

#[test]
fn switches_come_before_end_devices() {
    let printer = node(1, 1).change(|host| host.sys_descr = Some("HP LaserJet printer".to_owned()));
    let nodes = [printer.lldp(&[(1, 3, 1)]), node(2, 4).fdb(&[(4, 91)]).lldp(&[(1, 3, 2)]), node(3, 2)];
    let found = locate(&nodes, &LocateTarget::Name("sw3".to_owned())).unwrap();
    assert_eq!(ports(&found), ["sw2 Gi0/1", "sw1 Gi0/1"]);
}

#[test]
fn link_without_a_port_gets_the_port_that_learned_the_address() {
    let nodes = [node(1, 4).fdb(&[(2, 3)]), node(3, 1).lldp(&[(1, 1, 0)])];
    let found = locate(&nodes, &LocateTarget::Name("sw3".to_owned())).unwrap();
    assert_eq!((ports(&found), found.complete), (vec!["sw1 Gi0/2".to_owned()], true));
}

#[test]
fn port_without_a_link_has_its_own_state() {
    let switch = node(1, 4).change(|host| host.if_entries[1].oper_status = Some(OperStatus::Up));
    let found = locate(&[switch.fdb(&[(2, UNKNOWN)])], &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(found.candidates[0].state, LinkState::Up);
}

#[test]
fn addresses_that_each_host_has_for_itself_are_no_conflict() {
    let with = |node: Node, addresses: &[&str]| {
        node.change(|host| {
            for address in addresses {
                let interface = Interface::new(host, address.parse().unwrap());
                host.interfaces.push(interface);
            }
        })
    };
    let local = ["127.0.0.1", "172.17.0.1", "169.254.1.1", "fe80::1"];
    let [first, second, third] = network();
    let first = with(first, &[&local[..], &["192.0.2.9", "172.17.0.2"]].concat());
    let nodes = [first, with(second, &[&local[..], &["192.0.2.9"]].concat()), third];
    for address in local {
        let found = locate(&nodes, &LocateTarget::Ip(address.parse().unwrap())).unwrap();
        assert_eq!(found.conflicts, [], "{address}");
    }
    let found = locate(&nodes, &LocateTarget::Ip("192.0.2.9".parse().unwrap())).unwrap();
    assert_eq!(found.conflicts[0].host_ids.len(), 2);
}

#[test]
fn gateways_that_share_an_address_with_its_mac_address_are_no_conflict() {
    let with = |node: Node, address: u8| {
        node.change(|host| {
            let interface = Interface::new(host, "192.0.2.1".parse().unwrap());
            host.interfaces.push(interface);
            host.if_entries[3].mac_address = Some(mac(address));
        })
    };
    for (address, conflicts) in [(77, 0), (78, 1)] {
        let [first, second, third] = network();
        let third = arp(third, "192.0.2.1", 77);
        let nodes = [with(first, 77), with(second, address), third];
        let found = locate(&nodes, &LocateTarget::Ip("192.0.2.1".parse().unwrap())).unwrap();
        assert_eq!(found.conflicts.len(), conflicts);
    }
}

#[test]
fn what_nothing_shows_is_not_found() {
    let absent = [
        LocateTarget::Mac(mac(200)),
        LocateTarget::Ip("192.0.2.77".parse().unwrap()),
        LocateTarget::Name("absent".to_owned()),
    ];
    for target in absent {
        assert_eq!(locate(&network(), &target), Err(LookupError::NotFound), "{target:?}");
    }
}

#[test]
fn list_of_ports_that_learned_an_address_ends_at_a_thousand() {
    let switch = |number: u128| {
        let mut switch = node(1, 1).fdb(&[(1, UNKNOWN)]);
        let id = HostId::from_u128(0x1000 + number);
        switch.host = Host::with_id(id, NetworkId::nil(), format!("s{number}"));
        switch.host.if_entries = vec![IfEntry::new(&switch.host, 1)];
        switch.claims.iter_mut().for_each(|claim| claim.host_id = id);
        switch
    };
    let switches: Vec<Node> = (0..2_000).map(switch).collect();
    let found = locate(&switches, &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!((found.candidates.len(), found.candidates_total), (1_000, 2_000));
}
