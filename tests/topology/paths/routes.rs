//! How a device is reached.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::json;
use toposcope::model::{HostId, Interface, LinkId, NodeId};
use toposcope::topology::links::{Confidence, Link, LinkState, VlanRange};
use toposcope::topology::paths::{
    LookupError, NetworkPath, Obstacle, PathHop, PathIndex, PathLayer, PathQuery, Paths, UnknownReason,
};

use super::exhaustive::Exhaustive;
use super::networks::{connect, index, random};
use crate::graph::support::Fixture;

/// Number of random networks.
const NETWORKS: u64 = 150;

fn ask(network: &Fixture, index: &PathIndex, query: &PathQuery) -> Paths {
    let links: BTreeMap<LinkId, &Link> = network.links.iter().map(|link| (link.id, link)).collect();
    index.paths(query, |id| links.get(&id).copied()).unwrap()
}

fn route(path: &NetworkPath) -> Vec<LinkId> {
    path.hops.iter().filter_map(|hop| hop.link_id).collect()
}

/// Asserts that paths are the shortest of all, unless these are too many to list, or addresses decide. Returns whether they were compared.
pub(super) fn assert_shortest(
    network: &Fixture,
    exhaustive: &Exhaustive<'_>,
    index: &PathIndex,
    query: &PathQuery,
) -> bool {
    let Some(expected) = exhaustive.routes(query, query.k + 1) else { return false };
    let answer = ask(network, index, query);
    if query.vlan.is_none() && !answer.unknown.contains(&UnknownReason::Routing) {
        // Addresses decide: frames stay within their subnet, or routers pass them on.
        return false;
    }
    let routes: Vec<Vec<LinkId>> = answer.paths.iter().map(route).collect();
    let different: BTreeSet<&Vec<LinkId>> = routes.iter().collect();
    assert_eq!(different.len(), routes.len(), "{query:?}");
    assert!(routes.iter().all(|route| expected.contains(route)), "{query:?}");
    let mut lengths: Vec<usize> = expected.iter().map(Vec::len).collect();
    lengths.sort_unstable();
    lengths.truncate(query.k);
    if answer.unknown.contains(&UnknownReason::WorkLimit) {
        // The first ones are the shortest, also if further ones would take too long to find.
        lengths.truncate(answer.paths.len());
        assert!(answer.more && !answer.complete, "{query:?}");
    }
    assert_eq!(answer.paths.iter().map(|path| path.length).collect::<Vec<_>>(), lengths, "{query:?}");
    let is_more = expected.len() > answer.paths.len();
    assert_eq!(answer.more, is_more, "{query:?}");
    assert_eq!(answer.unknown.contains(&UnknownReason::Links), expected.is_empty(), "{query:?}");
    for path in &answer.paths {
        let id = |hop: &PathHop| hop.node_id.or(hop.host_id.map(NodeId::from));
        let ends = [path.hops.first(), path.hops.last()].map(|hop| id(hop.unwrap()));
        assert_eq!(ends, [Some(query.from), Some(query.to)]);
    }
    true
}

#[test]
fn shortest_paths_of_random_networks_equal_an_exhaustive_search() {
    let mut cases = 0;
    for seed in 0..NETWORKS {
        let mut rng = Rng::with_seed(seed);
        let (hosts, links) = (rng.usize(2..8), rng.usize(..15));
        let network = random(&mut rng, hosts, links);
        let (exhaustive, index) = (Exhaustive::of(&network), index(&network));
        let ids: Vec<HostId> = network.hosts.iter().map(|host| host.id).collect();
        for _ in 0..20 {
            let (from, to) = (*rng.choice(&ids).unwrap(), *rng.choice(&ids).unwrap());
            let mut query = PathQuery::new(from.into(), to.into());
            query.vlan = [None, Some(10), Some(25)][rng.usize(..3)];
            query.k = rng.usize(1..17);
            if from != to {
                cases += usize::from(assert_shortest(&network, &exhaustive, &index, &query));
            }
        }
    }
    println!("{cases} questions compared");
}

/// Two computers at two switches that two links connect, one of them over a third switch.
struct Office {
    network: Fixture,
    computers: [HostId; 2],
    /// Computer, direct link, the two links of the detour, the other computer.
    links: [LinkId; 5],
}

impl Office {
    fn new(addresses: [&[&str]; 2]) -> Self {
        let mut network = Fixture::default();
        let office = network.subnet("office", "192.0.2.0/25");
        let lab = network.subnet("lab", "192.0.2.128/25");
        let subnet = |address: &str| if address.ends_with("129") { lab } else { office };
        let addresses =
            addresses.map(|list| list.iter().map(|address| (*address, subnet(address))).collect::<Vec<_>>());
        let one = network.host("one", "Windows workstation", &addresses[0]);
        let other = network.host("other", "Windows workstation", &addresses[1]);
        let [left, right, detour] = ["left", "right", "detour"].map(|name| network.host(name, "switch", &[]));
        let pairs = [(one, left), (left, right), (left, detour), (detour, right), (right, other)];
        let links = pairs.map(|(one, other)| connect(&mut network, one, other));
        Self { network, computers: [one, other], links }
    }

    fn link(&mut self, place: usize) -> &mut Link {
        let id = self.links[place];
        self.network.links.iter_mut().find(|link| link.id == id).unwrap()
    }

    fn ask(&self) -> Paths {
        let [one, other] = self.computers.map(NodeId::from);
        ask(&self.network, &index(&self.network), &PathQuery::new(one, other))
    }
}

#[test]
fn frames_within_a_subnet_take_the_links_that_the_spanning_tree_leaves_open() {
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.2"]]);
    for place in 1..4 {
        office.link(place).blocked = Some(place == 1);
    }
    let answer = office.ask();
    assert!(answer.complete, "{:?}", answer.unknown);
    let [_, direct, ..] = office.links;
    assert_eq!(answer.paths.len(), 1);
    let expected: Vec<LinkId> = office.links.into_iter().filter(|link| *link != direct).collect();
    assert_eq!(route(&answer.paths[0]), expected);
    let unused: Vec<_> = answer.not_used.iter().map(|link| (link.link_id, link.reason)).collect();
    assert_eq!(unused, [(direct, Obstacle::Blocked)]);
    let hop = &answer.paths[0].hops[1];
    assert_eq!((hop.layer, hop.confidence), (PathLayer::L2, Some(Confidence::Confirmed)));
    assert_eq!(hop.subnet_id, Some(office.network.subnets[0].id));
}

#[test]
fn several_paths_without_a_known_spanning_tree_are_not_complete() {
    let answer = Office::new([&["192.0.2.1"], &["192.0.2.2"]]).ask();
    assert_eq!(answer.unknown, [UnknownReason::SpanningTree]);
    assert_eq!(answer.paths.iter().map(|path| path.length).collect::<Vec<_>>(), [3, 4]);
    assert!(!answer.complete && !answer.more);
}

#[test]
fn path_between_hosts_of_unknown_subnets_is_physical_and_not_complete() {
    let mut office = Office::new([&[], &[]]);
    office.link(1).state = LinkState::Down;
    let answer = office.ask();
    assert_eq!(answer.unknown, [UnknownReason::Routing]);
    assert_eq!(answer.paths[0].length, 4);
    assert_eq!(answer.not_used[0].reason, Obstacle::Down);
}

#[test]
fn packets_into_another_subnet_go_through_the_only_router_in_both() {
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.129"]]);
    let [subnet, other] = [office.network.subnets[0].id, office.network.subnets[1].id];
    let router =
        office.network.host("gw", "Cisco IOS router", &[("192.0.2.126", subnet), ("192.0.2.254", other)]);
    let right = office.network.hosts.iter().find(|host| host.name == "right").unwrap().id;
    connect(&mut office.network, router, right);
    office.link(2).state = LinkState::Down;

    let answer = office.ask();

    assert!(answer.complete, "{:?}", answer.unknown);
    let names: Vec<&str> = answer.paths[0].hops.iter().map(|hop| hop.name.as_str()).collect();
    assert_eq!(names, ["one", "left", "right", "gw", "right", "other"]);
    let gateway = &answer.paths[0].hops[3];
    assert_eq!((gateway.layer, gateway.gateway), (PathLayer::L3, Some("192.0.2.126".parse().unwrap())));
    let subnets: Vec<_> = answer.paths[0].hops.iter().filter_map(|hop| hop.subnet_id).collect();
    assert_eq!(subnets, [subnet, subnet, subnet, other, other]);

    let addresses = [("192.0.2.125", subnet), ("192.0.2.253", other)];
    let second = office.network.host("gw2", "Cisco IOS router", &addresses);
    connect(&mut office.network, second, right);
    let answer = office.ask();
    assert_eq!((answer.unknown, answer.paths.len()), (vec![UnknownReason::Routing], 2));
}

#[test]
fn frames_are_forwarded_by_switches_and_not_by_routers() {
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.2"]]);
    let right = office.network.hosts.iter().find(|host| host.name == "right").unwrap().id;
    let left = office.network.hosts.iter().find(|host| host.name == "left").unwrap().id;
    let router = office.network.host("gw", "Cisco IOS router", &[]);
    for place in 1..4 {
        office.link(place).state = LinkState::Down;
    }
    let below = [left, right].map(|switch| connect(&mut office.network, router, switch));

    let answer = office.ask();
    assert_eq!((answer.paths, answer.unknown), (vec![], vec![UnknownReason::Links]));

    office.link(2).state = LinkState::Up;
    office.link(3).state = LinkState::Up;
    let expected: Vec<LinkId> = office.links.into_iter().filter(|link| *link != office.links[1]).collect();
    assert_eq!(route(&office.ask().paths[0]), expected);

    office.network.bridges.push(router);
    office.link(3).state = LinkState::Down;
    assert_eq!(route(&office.ask().paths[0]), [office.links[0], below[0], below[1], office.links[4]]);
}

#[test]
fn routed_packets_take_the_vlan_of_the_access_port() {
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.129"]]);
    let [subnet, other] = [office.network.subnets[0].id, office.network.subnets[1].id];
    let router =
        office.network.host("gw", "Cisco IOS router", &[("192.0.2.126", subnet), ("192.0.2.254", other)]);
    let right = office.network.hosts.iter().find(|host| host.name == "right").unwrap().id;
    let trunk = connect(&mut office.network, router, right);
    let only = |vlan: u16| Some(vec![VlanRange { first: vlan, last: vlan }]);
    for (place, vlan) in [(0, 10), (4, 20)] {
        let link = office.link(place);
        (link.vlans, link.untagged_vlan) = (only(vlan), Some(vlan));
    }
    for place in 1..4 {
        office.link(place).blocked = Some(false);
        office.link(place).vlans = Some(vec![VlanRange { first: 1, last: if place == 1 { 9 } else { 19 } }]);
    }
    let up = office.network.links.iter_mut().find(|link| link.id == trunk).unwrap();
    (up.vlans, up.untagged_vlan) = (Some(vec![VlanRange { first: 1, last: 30 }]), Some(1));

    let answer = office.ask();

    assert!(answer.complete, "{:?}", answer.unknown);
    let names: Vec<&str> = answer.paths[0].hops.iter().map(|hop| hop.name.as_str()).collect();
    assert_eq!(names, ["one", "left", "detour", "right", "gw", "right", "other"]);
    let vlans: Vec<Option<u16>> = answer.paths[0].hops.iter().map(|hop| hop.vlan).collect();
    assert_eq!(vlans, [Some(10), Some(10), Some(10), Some(10), Some(20), Some(20), None]);
}

#[test]
fn access_ports_of_different_vlans_do_not_connect_a_subnet() {
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.2"]]);
    for place in 1..4 {
        office.link(place).blocked = Some(place == 1);
    }
    for (place, vlan) in [(0, 10), (4, 20)] {
        let link = office.link(place);
        link.vlans = Some(vec![VlanRange { first: vlan, last: vlan }]);
        link.untagged_vlan = Some(vlan);
    }
    let answer = office.ask();
    assert_eq!((answer.complete, answer.unknown), (false, vec![UnknownReason::Vlan]));
}

#[test]
fn subnets_that_each_host_has_for_itself_connect_no_hosts() {
    let mut office = Office::new([&[], &[]]);
    let containers = office.network.subnet("containers", "172.17.0.0/16");
    let local = office.network.subnet("link-local", "fe80::/64");
    for (host, address) in office.network.hosts.iter_mut().take(2).zip(["fe80::1", "fe80::2"]) {
        for (address, subnet) in [("172.17.0.1", containers), (address, local)] {
            let mut interface = Interface::new(host, address.parse().unwrap());
            interface.subnet_id = Some(subnet);
            host.interfaces.push(interface);
        }
    }
    office.link(2).state = LinkState::Down;
    assert_eq!(office.ask().unknown, [UnknownReason::Routing]);
}

#[test]
fn path_to_another_subnet_without_a_router_between_is_not_complete() {
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.129"]]);
    office.link(2).state = LinkState::Down;
    let answer = office.ask();
    assert_eq!((answer.unknown, answer.paths.len()), (vec![UnknownReason::Routing], 1));
}

#[test]
fn vlan_that_no_link_between_the_switches_carries_leads_nowhere() {
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.2"]]);
    for place in 1..3 {
        office.link(place).vlans = Some(vec![VlanRange { first: 1, last: 9 }]);
    }
    let [one, other] = office.computers.map(NodeId::from);
    let mut query = PathQuery::new(one, other);
    query.vlan = Some(10);
    let answer = ask(&office.network, &index(&office.network), &query);
    assert_eq!((answer.paths.len(), answer.unknown), (0, vec![UnknownReason::Links]));
    assert_eq!(answer.not_used[0].reason, Obstacle::Vlan);
}

#[test]
fn links_without_the_vlan_of_the_access_ports_are_named_with_it() {
    let access = |vlan: u16| Some(vec![VlanRange { first: vlan, last: vlan }]);
    let mut office = Office::new([&["192.0.2.1"], &["192.0.2.2"]]);
    for place in [0, 4] {
        office.link(place).vlans = access(10);
        office.link(place).untagged_vlan = Some(10);
    }
    for place in 1..4 {
        office.link(place).blocked = Some(false);
        office.link(place).vlans = if place == 1 { access(20) } else { access(10) };
    }
    let [_, direct, ..] = office.links;
    let unused = |answer: &Paths| -> Vec<_> {
        answer.not_used.iter().map(|link| (link.link_id, link.reason, link.vlan)).collect()
    };
    let answer = office.ask();
    assert_eq!((answer.complete, answer.paths[0].length), (true, 4));
    assert_eq!(unused(&answer), [(direct, Obstacle::Vlan, Some(10))]);
    // No path carries the VLAN: the shortest one is given, with the links that lack it.
    office.link(2).vlans = access(20);
    let answer = office.ask();
    assert_eq!(
        (answer.unknown.as_slice(), answer.paths[0].length),
        (&[UnknownReason::SpanningTree, UnknownReason::Vlan][..], 3)
    );
    assert_eq!(unused(&answer), [(direct, Obstacle::Vlan, Some(10))]);
    office.link(1).state = LinkState::Down;
    assert_eq!(unused(&office.ask())[0], (direct, Obstacle::Down, None));
}

#[test]
fn paths_do_not_lead_through_end_devices() {
    let mut network = Fixture::default();
    let [left, right] = ["left", "right"].map(|name| network.host(name, "switch", &[]));
    let printer = network.host("lp", "HP LaserJet printer", &[]);
    connect(&mut network, left, printer);
    connect(&mut network, printer, right);
    let index = index(&network);
    let query = PathQuery::new(left.into(), right.into());
    assert_eq!(ask(&network, &index, &query).paths, []);
    let query = PathQuery::new(left.into(), printer.into());
    assert_eq!(ask(&network, &index, &query).paths.len(), 1);
}

#[test]
fn ports_of_a_path_are_those_of_its_links() {
    let mut network = Fixture::default();
    let [one, switch, other] = ["one", "sw", "other"].map(|name| network.host(name, "switch", &[]));
    network.link((one, "eth0"), (switch, "Gi0/1"), "Confirmed");
    network.link((other, "eth1"), (switch, "Gi0/2"), "Reported");
    let answer = ask(&network, &index(&network), &PathQuery::new(one.into(), other.into()));
    let ports: Vec<[Option<&str>; 2]> = answer.paths[0]
        .hops
        .iter()
        .map(|hop| [&hop.in_port, &hop.out_port].map(|port| port.as_ref().map(|port| port.name.as_str())))
        .collect();
    assert_eq!(ports, [[None, Some("eth0")], [Some("Gi0/1"), Some("Gi0/2")], [Some("eth1"), None]]);
    assert_eq!(answer.paths[0].hops[1].confidence, Some(Confidence::Reported));
}

#[test]
fn path_from_a_host_to_itself_is_the_host() {
    let mut network = Fixture::default();
    let host = network.host("one", "", &[]);
    let answer = ask(&network, &index(&network), &PathQuery::new(host.into(), host.into()));
    assert_eq!((answer.complete, answer.paths[0].length, answer.paths[0].hops.len()), (true, 0, 1));
}

#[test]
fn text_names_a_node_by_id_address_or_name_in_this_order() {
    let mut network = Fixture::default();
    let subnet = network.subnet("office", "192.0.2.0/24");
    let one = network.host("192.0.2.2", "", &[("192.0.2.1", subnet)]);
    let other = network.host("other", "", &[("192.0.2.2", subnet)]);
    let named = network.host(&one.to_string(), "", &[]);
    let twins = [network.host("twin", "", &[]), network.host("twin2", "", &[])];
    network.hosts.last_mut().unwrap().name = "twin".to_owned();
    let index = index(&network);
    assert_eq!(index.find(&one.to_string()), Ok(one.into()));
    assert_ne!(index.find(&one.to_string()), Ok(named.into()));
    assert_eq!(index.find("192.0.2.2"), Ok(other.into()));
    assert_eq!(index.find("other"), Ok(other.into()));
    assert_eq!(index.find("nothing"), Err(LookupError::NotFound));
    let mut candidates = twins.map(NodeId::from).to_vec();
    candidates.sort();
    let Err(LookupError::Ambiguous { candidates: found, .. }) = index.find("twin") else {
        panic!("one twin")
    };
    assert_eq!(found, candidates);
}

#[test]
fn unknown_end_is_an_error() {
    let mut network = Fixture::default();
    let host = network.host("one", "", &[]);
    let query = PathQuery::new(host.into(), NodeId::from_u128(99));
    assert_eq!(index(&network).paths(&query, |_| None).unwrap_err().id, NodeId::from_u128(99).uuid());
}

#[test]
fn segment_on_a_path_has_the_id_of_its_node() {
    let mut network = Fixture::default();
    let [one, other] = ["one", "other"].map(|name| network.host(name, "", &[]));
    let stub = network.stub("hub");
    for host in [one, other] {
        network.link_of(
            &json!({"type": "host", "host_id": host, "port": null}),
            &json!({"type": "stub", "id": stub, "port": null}),
            "Reported",
        );
    }
    let answer = ask(&network, &index(&network), &PathQuery::new(one.into(), other.into()));
    assert_eq!((answer.paths[0].hops[1].host_id, answer.paths[0].hops[1].node_id), (None, Some(stub)));
}
