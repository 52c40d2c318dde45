use toposcope::model::{HostId, TopologyView};
use toposcope::topology::graph::{BlindSpot, BlindSpotReason, GraphOptions, NodeKind, blind_spots, build};

use super::support::with_devices;
use crate::links::support::{Node, node};

fn spots(devices: &[Node]) -> Vec<BlindSpot> {
    with_devices(devices, &GraphOptions::new(TopologyView::L2), blind_spots)
}

/// Returns the spots without those for links that only one end reports.
fn other_spots(devices: &[Node]) -> Vec<BlindSpot> {
    let all = spots(devices).into_iter();
    all.filter(|spot| spot.reason != BlindSpotReason::OneSidedLinks).collect()
}

const fn id(number: u8) -> HostId {
    HostId::from_u128(number as u128)
}

#[test]
fn unknown_neighbor_is_a_blind_spot_that_more_reporters_raise() {
    let devices = [node(1, 4).lldp(&[(1, 8, 1), (2, 9, 1)]), node(2, 4).lldp(&[(1, 9, 2)])];
    let spots = spots(&devices);
    let found: Vec<_> = spots.iter().map(|spot| (spot.reason, spot.label.as_str(), spot.count)).collect();
    let unknown = BlindSpotReason::UnknownNeighbor;
    assert_eq!(found, [(unknown, "sw9", 2), (unknown, "sw8", 1)]);
    assert!(spots[0].weight > spots[1].weight);
    assert_eq!((spots[0].host_id, &spots[0].port), (None, &None));
}

#[test]
fn host_that_does_not_report_its_links_is_a_blind_spot() {
    let devices = [node(1, 4).lldp(&[(1, 2, 1)]), node(2, 4), node(3, 4).lldp(&[(1, 2, 2)])];
    let spots = spots(&devices);
    let [spot] = spots.as_slice() else { panic!("{spots:?}") };
    assert_eq!((spot.reason, spot.host_id, spot.count), (BlindSpotReason::OneSidedLinks, Some(id(2)), 2));
    assert_eq!((spot.node_id, spot.label.as_str()), (id(2).into(), "sw2"));
}

#[test]
fn host_whose_links_both_ends_report_is_no_blind_spot() {
    let devices = [node(1, 4).lldp(&[(1, 2, 1)]), node(2, 4).lldp(&[(1, 1, 1)])];
    assert_eq!(spots(&devices), []);
}

#[test]
fn port_that_learned_several_unknown_addresses_is_a_blind_spot() {
    let devices = [node(1, 4).fdb(&[(1, 0xF0), (1, 0xF1), (1, 0xF2), (2, 0xF3)])];
    let spots = spots(&devices);
    let [spot] = spots.as_slice() else { panic!("{spots:?}") };
    assert_eq!((spot.reason, spot.host_id, spot.count), (BlindSpotReason::CrowdedPort, Some(id(1)), 3));
    assert_eq!((spot.node_id, spot.port.as_ref().unwrap().name.as_str()), (id(1).into(), "Gi0/1"));
}

#[test]
fn port_with_several_neighbors_is_a_blind_spot_at_its_segment() {
    let devices = [node(1, 4).lldp(&[(1, 2, 1), (1, 3, 1)]), node(2, 4), node(3, 4)];
    let spots = other_spots(&devices);
    let [spot] = spots.as_slice() else { panic!("{spots:?}") };
    assert_eq!((spot.reason, spot.host_id, spot.count), (BlindSpotReason::CrowdedPort, Some(id(1)), 2));
    let graph = with_devices(&devices, &GraphOptions::new(TopologyView::L2), build);
    let segment = graph.nodes.iter().find(|node| node.kind == NodeKind::Segment).unwrap();
    assert_eq!(spot.node_id, segment.id);
}

#[test]
fn unmanaged_switch_is_a_blind_spot_in_place_of_its_port() {
    let devices = [node(1, 4).fdb(&[(1, 2), (1, 3), (1, 0xF0)]), node(2, 0), node(3, 0)];
    let spots = other_spots(&devices);
    let [spot] = spots.as_slice() else { panic!("{spots:?}") };
    assert_eq!((spot.reason, spot.host_id), (BlindSpotReason::UnmanagedSwitch, None));
    assert_eq!((spot.label.as_str(), spot.count), ("Unmanaged switch", 3));
}

#[test]
fn hosts_with_conflicting_links_are_blind_spots() {
    let devices = [node(1, 4), node(2, 4).lldp(&[(1, 1, 1)]), node(3, 4).lldp(&[(1, 1, 1)])];
    let spots = spots(&devices);
    assert!(spots.iter().all(|spot| spot.reason == BlindSpotReason::ConflictingLinks), "{spots:?}");
    let found: Vec<_> = spots.iter().map(|spot| (spot.host_id, spot.count)).collect();
    assert_eq!(found, [(Some(id(1)), 2), (Some(id(2)), 1), (Some(id(3)), 1)]);
}
