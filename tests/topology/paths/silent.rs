//! Where devices were connected that the latest reports no longer show.

use toposcope::discovery::report::ArpRow;
use toposcope::inventory::{ClaimRows, MissingRows};
use toposcope::model::{OperStatus, Timestamp};
use toposcope::topology::links::{Confidence, LinkState, Method};
use toposcope::topology::paths::{LocateTarget, Location, LookupError, UnknownReason};

use super::located::{UNKNOWN, learned, locate, locate_in, ports};
use crate::links::support::{Node, links, lldp, mac, node, time};

/// Address of the device without a host.
const IP: &str = "192.0.2.9";

/// Returns the time some hours before the reports.
fn earlier(hours: i64) -> Timestamp {
    time().plus_micros(-hours * 3_600_000_000)
}

/// Lets rows be missing in the last table of a node: they were seen some hours ago, and many reports lack them.
fn without(mut node: Node, rows: ClaimRows, hours: i64) -> Node {
    let mut missing = MissingRows::new(rows, earlier(hours), earlier(hours - 1));
    missing.missed_scans = 100;
    node.claims.last_mut().unwrap().missing.push(missing);
    node
}

fn forgot(node: Node, rows: &[(i64, u8)], hours: i64) -> Node {
    let rows = rows.iter().map(|(port, address)| learned(*port, *address, None)).collect();
    without(node, ClaimRows::Fdb(rows), hours)
}

fn former_arp(node: Node, address: u8, hours: i64) -> Node {
    let row = ArpRow::new(IP.parse().unwrap(), mac(address));
    without(node.with(ClaimRows::Arp(Vec::new())), ClaimRows::Arp(vec![row]), hours)
}

fn by_ip(nodes: &[Node]) -> Result<Location, LookupError> {
    locate(nodes, &LocateTarget::Ip(IP.parse().unwrap()))
}

/// Two switches that both had learned an unknown device, the second one at a port of its own.
fn network() -> [Node; 2] {
    [
        forgot(node(1, 4).lldp(&[(1, 2, 1)]).fdb(&[(1, 2)]), &[(1, UNKNOWN)], 5),
        forgot(node(2, 4).lldp(&[(1, 1, 1)]).fdb(&[(1, 1)]), &[(2, UNKNOWN)], 5),
    ]
}

#[test]
fn silent_device_is_at_the_edge_port_that_learned_it_last() {
    let found = locate(&network(), &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(ports(&found), ["sw2 Gi0/2"]);
    assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Stale]));
    let candidate = &found.candidates[0];
    assert_eq!((candidate.confidence, candidate.last_seen), (Confidence::Inferred, Some(earlier(5))));
    let evidence = &candidate.evidence[0];
    assert_eq!((evidence.method, evidence.missing_since), (Method::Fdb, Some(earlier(4))));
}

#[test]
fn latest_of_several_former_ports_comes_first() {
    let [first, second] = network();
    let third = forgot(node(3, 4).fdb(&[]), &[(4, UNKNOWN)], 2);
    let found = locate(&[first, second, third], &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(ports(&found), ["sw3 Gi0/4", "sw2 Gi0/2"]);
    assert_eq!(found.unknown, [UnknownReason::Stale]);
}

#[test]
fn current_port_hides_former_ones() {
    let [first, second] = network();
    let nodes = [first, second, node(3, 4).fdb(&[(3, UNKNOWN)])];
    let found = locate(&nodes, &LocateTarget::Mac(mac(UNKNOWN))).unwrap();
    assert_eq!(ports(&found), ["sw3 Gi0/3"]);
    assert!(found.complete, "{:?}", found.unknown);
}

#[test]
fn host_whose_link_is_stale_is_at_the_port_of_that_link() {
    let switch = without(node(1, 4).lldp(&[]), ClaimRows::Lldp(vec![lldp(2, 3, 1)]), 5);
    let mut station = node(3, 1).lldp(&[(1, 1, 2)]);
    station.claims[0].observed_at = earlier(5);
    for target in [LocateTarget::Name("sw3".to_owned()), LocateTarget::Mac(mac(3))] {
        let found = locate(&[switch.clone(), station.clone()], &target).unwrap();
        assert_eq!(ports(&found), ["sw1 Gi0/2"], "{target:?}");
        assert_eq!((found.complete, found.unknown), (false, vec![UnknownReason::Stale]));
        let candidate = &found.candidates[0];
        assert_eq!(candidate.last_seen, Some(earlier(5)));
        assert!(candidate.evidence.iter().any(|evidence| evidence.missing_since == Some(earlier(4))));
    }
    // The device is elsewhere by now.
    let nodes = [switch, station, node(4, 2).fdb(&[(2, 3)])];
    let found = locate(&nodes, &LocateTarget::Mac(mac(3))).unwrap();
    assert_eq!(ports(&found), ["sw4 Gi0/2"]);
    assert!(found.complete, "{:?}", found.unknown);
}

#[test]
fn device_that_is_switched_off_is_at_the_port_that_is_down() {
    let switch = node(1, 4).lldp(&[]).change(|host| host.if_entries[1].oper_status = Some(OperStatus::Down));
    let switch = without(switch, ClaimRows::Lldp(vec![lldp(2, 3, 1)]), 5);
    let found = locate(&[switch, node(3, 1)], &LocateTarget::Name("sw3".to_owned())).unwrap();
    assert_eq!(ports(&found), ["sw1 Gi0/2"]);
    assert_eq!((found.candidates[0].state, found.unknown), (LinkState::Down, vec![UnknownReason::Stale]));
}

#[test]
fn ip_address_of_former_neighbor_caches_leads_to_the_port_of_its_latest_mac_address() {
    let [first, second] = network();
    let nodes = [former_arp(first, UNKNOWN, 2), former_arp(second, 77, 5)];
    let found = by_ip(&nodes).unwrap();
    assert_eq!(
        (ports(&found), &found.mac_addresses[..]),
        (vec!["sw2 Gi0/2".to_owned()], &[mac(UNKNOWN)][..])
    );
    assert_eq!((found.unknown, found.conflicts), (vec![UnknownReason::Stale], Vec::new()));
    let evidence = &found.candidates[0].evidence;
    let missing: Vec<_> = evidence.iter().map(|evidence| (evidence.method, evidence.missing_since)).collect();
    assert_eq!(missing, [(Method::Fdb, Some(earlier(4))), (Method::Arp, Some(earlier(1)))]);
}

#[test]
fn ip_address_that_no_neighbor_cache_states_any_longer_is_not_located_completely() {
    let [first, second] = network();
    let second = forgot(second, &[], 5);
    let nodes = [former_arp(first, UNKNOWN, 2), second, node(3, 4).fdb(&[(3, UNKNOWN)])];
    let found = by_ip(&nodes).unwrap();
    assert_eq!((ports(&found), found.unknown), (vec!["sw3 Gi0/3".to_owned()], vec![UnknownReason::Stale]));
}

#[test]
fn device_that_returns_or_leaves_is_located_like_in_a_network_that_is_read_anew() {
    let target = LocateTarget::Mac(mac(UNKNOWN));
    let [first, silent] = network();
    let returned = node(2, 4).lldp(&[(1, 1, 1)]).fdb(&[(1, 1), (3, UNKNOWN)]);
    let moving = node(2, 4).lldp(&[(1, 1, 1)]).fdb(&[(1, 1), (2, UNKNOWN), (3, UNKNOWN)]);
    let bare = node(2, 4);
    let mut changed = links(&[first.clone(), silent.clone()]);
    for next in [&returned, &silent, &moving, &bare, &moving, &silent, &returned] {
        changed.set(next.device());
        let nodes = [first.clone(), next.clone()];
        let expected = locate(&nodes, &target);
        assert_eq!(locate_in(&nodes, &changed, &target), expected, "{:?}", next.claims);
    }
}
