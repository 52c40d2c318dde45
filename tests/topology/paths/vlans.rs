//! Which devices and links have a VLAN.

use std::time::Instant;

use toposcope::model::{HostId, TopologyView, Vlans};
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::paths::{PathIndex, UnknownReason, VlanList, VlanQuery, VlanSummary};

use crate::graph::support::with_devices;
use crate::links::support::{Node, links, node};

fn ask(nodes: &[Node], query: &VlanQuery) -> VlanList {
    let found = links(nodes);
    with_devices(nodes, &GraphOptions::new(TopologyView::L2), |input| {
        PathIndex::new(input).vlans(&found, query)
    })
}

fn of(nodes: &[Node], vlan: u16) -> VlanSummary {
    let mut query = VlanQuery::new();
    query.vlan = Some(vlan);
    ask(nodes, &query).vlans.into_iter().next().unwrap()
}

/// Gives a port VLANs.
fn port(node: Node, place: usize, untagged: Option<u16>, tagged: &[u16]) -> Node {
    let vlans = Vlans { untagged, tagged: tagged.to_vec(), ..Vlans::default() };
    node.change(|host| host.if_entries[place].vlans = Some(vlans))
}

/// Three switches in a row, with VLAN 10 at all of them, and VLAN 20 at the outer ones only.
fn row() -> [Node; 3] {
    let one = node(1, 3).lldp(&[(1, 2, 1)]);
    let two = node(2, 3).lldp(&[(1, 1, 1), (2, 3, 1)]);
    let three = node(3, 3).lldp(&[(1, 2, 2)]);
    let one = port(port(one, 0, Some(1), &[10, 20]), 1, Some(20), &[]);
    let two = port(port(two, 0, Some(1), &[10]), 1, Some(1), &[10]);
    let three = port(port(three, 0, Some(7), &[10, 20]), 2, Some(20), &[]);
    [one, two, three]
}

fn hosts(summary: &VlanSummary) -> Vec<u128> {
    summary.hosts.iter().map(|host| host.host_id.uuid().as_u128()).collect()
}

#[test]
fn vlan_that_the_middle_does_not_carry_has_two_islands() {
    let nodes = row();
    let twenty = of(&nodes, 20);
    assert_eq!(hosts(&twenty), [1, 3]);
    assert_eq!(twenty.islands, [[HostId::from_u128(1)], [HostId::from_u128(3)]]);
    assert_eq!(twenty.one_sided.len(), 2);
    assert_eq!(twenty.hosts[0].access, [nodes[0].port(2)]);
    assert_eq!(twenty.hosts[0].trunks, []);
}

#[test]
fn vlan_that_all_links_carry_is_whole() {
    let ten = of(&row(), 10);
    assert_eq!((hosts(&ten), ten.islands.len(), ten.islands_total), (vec![1, 2, 3], 1, 1));
    assert!(ten.one_sided.is_empty());
    let trunks: Vec<usize> = ten.hosts.iter().map(|host| host.trunks.len()).collect();
    assert_eq!(trunks, [1, 2, 1]);
}

#[test]
fn link_whose_ends_differ_in_the_untagged_vlan_is_listed_for_both() {
    let all = ask(&row(), &VlanQuery::new());
    let numbers: Vec<u16> = all.vlans.iter().map(|vlan| vlan.vlan).collect();
    assert_eq!((numbers, all.vlans_total, all.complete), (vec![1, 7, 10, 20], 4, true));
    let mismatches: Vec<usize> = all.vlans.iter().map(|vlan| vlan.native_mismatch.len()).collect();
    assert_eq!(mismatches, [1, 1, 0, 0]);
}

#[test]
fn link_of_unknown_vlans_may_carry_all_of_them_and_makes_the_answer_incomplete() {
    let [one, two, three] = row();
    let two = two.change(|host| host.if_entries.iter_mut().for_each(|entry| entry.vlans = None));
    let three = three.change(|host| host.if_entries[0].vlans = None);
    let one = one.change(|host| host.if_entries[0].vlans = None);
    let nodes = [one, two, three];
    let all = ask(&nodes, &VlanQuery::new());
    assert_eq!((all.complete, all.unknown), (false, vec![UnknownReason::Vlan]));
    assert_eq!(of(&nodes, 20).islands_total, 1);
}

#[test]
fn all_vlans_on_all_ports_of_large_switches_are_answered_within_a_limit() {
    let every: Vec<u16> = (1..=4_094).collect();
    let nodes: Vec<Node> = (1..=40)
        .map(|number| (0..15).fold(node(number, 15), |node, place| port(node, place, None, &every)))
        .collect();
    let start = Instant::now();
    let all = ask(&nodes, &VlanQuery::new());
    println!("{} VLANs in {:?}", all.vlans_total, start.elapsed());
    assert_eq!((all.vlans_total, all.complete, all.vlans.len()), (4_094, false, 1_000));
    assert_eq!(all.unknown, [UnknownReason::Links, UnknownReason::WorkLimit]);
    assert!(
        all.vlans.iter().all(|vlan| vlan.islands.is_empty()),
        "links that were not reached may join islands"
    );
}
