//! Where a device is connected.

use toposcope::discovery::report::ArpRow;
use toposcope::inventory::ClaimRows;
use toposcope::model::{Host, HostId, IfEntry, Interface, NetworkId, TopologyView};
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::links::{Confidence, Links, Method};
use toposcope::topology::paths::{LocateTarget, Location, LookupError, PathIndex, UnknownReason};

use crate::graph::support::with_devices;
use crate::links::support::{Node, links, mac, node, time};

/// The last byte of the address of a device that is no host.
const UNKNOWN: u8 = 99;

fn locate(nodes: &[Node], target: &LocateTarget) -> Result<Location, LookupError> {
    let found: Links = links(nodes);
    with_devices(nodes, &GraphOptions::new(TopologyView::L2), |input| {
        PathIndex::new(input).locate(&found, target)
    })
}

fn ports(location: &Location) -> Vec<String> {
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
