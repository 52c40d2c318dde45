//! Failures, and devices and links that must not fail.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use serde_json::{Value, json};
use toposcope::model::{HostId, HostRole, LinkId, NodeId};
use toposcope::topology::links::{LinkMember, LinkState, VlanRange};
use toposcope::topology::paths::{
    AffectedHost, Fragile, FragileQuery, Impact, ImpactQuery, PairReason, PairedNode, PathIndex,
    UnknownReason,
};

use super::naive::Naive;
use super::networks::{connect, index, random};
use crate::graph::support::Fixture;

/// Number of random networks.
const NETWORKS: u64 = 150;

fn id(host: &AffectedHost) -> NodeId {
    host.node_id.unwrap_or_else(|| host.host_id.unwrap().into())
}

fn ids(hosts: &[AffectedHost]) -> BTreeSet<NodeId> {
    hosts.iter().map(id).collect()
}

/// Asserts that an impact is that of removal and flood.
pub(super) fn assert_impact(naive: &Naive, index: &PathIndex, query: &ImpactQuery) {
    let impact: Impact = index.impact(query).unwrap();
    let rest = naive.without(&query.nodes, &query.edges);
    let top: BTreeSet<NodeId> = index.top_nodes().collect();
    let roots = if query.from.is_empty() { &top } else { &query.from };
    let centers: BTreeSet<NodeId> = index.center_nodes().collect();
    let remaining =
        if query.from.is_empty() { naive.remaining_top(&top, &centers, &rest) } else { roots & &rest.nodes };
    let before = naive.reached(roots);
    let after = rest.reached(&remaining);
    let cut_off = naive.devices(&(&(&before - &after) - &query.nodes));
    assert_eq!(ids(&impact.cut_off), cut_off, "{query:?}");
    assert_eq!(impact.by_role.values().sum::<usize>(), cut_off.len());
    let needed = naive.needed_links(roots);
    let mut at_risk = rest.needed_links(&remaining);
    at_risk.retain(|node, now| needed.get(node).is_some_and(|before| now != before));
    assert_eq!(ids(&impact.at_risk), at_risk.into_keys().collect(), "{query:?}");
    let links =
        |host: &AffectedHost| rest.neighbors(id(host)).filter(|(node, _)| after.contains(node)).count();
    assert!(impact.at_risk.iter().all(|host| host.remaining_links == Some(links(host))), "{query:?}");
    let carried_by = &rest.tree(roots) - &naive.tree(roots);
    assert_eq!(impact.carried_by, carried_by.into_iter().collect::<Vec<LinkId>>(), "{query:?}");
}

/// Asserts that articulation points and bridges are those of their definition, and returns the number of them.
pub(super) fn assert_fragile(naive: &Naive, index: &PathIndex) -> usize {
    let mut query = FragileQuery::new();
    query.leaves = true;
    let all: Fragile = index.fragile(&query);
    let inner: BTreeSet<LinkId> =
        index.fragile(&FragileQuery::new()).edges.iter().map(|edge| edge.link_id).collect();
    let nothing = (BTreeSet::new(), BTreeSet::new());
    let top: BTreeSet<NodeId> = index.top_nodes().collect();
    let before = naive.reached(&top);
    let behind = |rest: &Naive| {
        let after = rest.reached(&naive.remaining_top(&top, &top, rest));
        naive.devices(&(&before - &after)).intersection(&rest.nodes).count()
    };
    let parts = naive.parts().len();
    let is_linked = |node: NodeId| naive.neighbors(node).next().is_some();
    for node in naive.nodes.iter().copied() {
        let rest = naive.without(&BTreeSet::from([node]), &nothing.1);
        let is_cut = is_linked(node) && rest.parts().len() > parts;
        let found =
            all.nodes.iter().find(|found| found.node_id.or(found.host_id.map(NodeId::from)) == Some(node));
        assert_eq!(found.map(|found| found.behind), is_cut.then(|| behind(&rest)), "{node}");
    }
    for wire in &naive.wires {
        let rest = naive.without(&nothing.0, &BTreeSet::from([wire.id]));
        let is_bridge = !wire.has_two_members && rest.parts().len() > parts;
        let found = all.edges.iter().find(|found| found.link_id == wire.id);
        assert_eq!(found.map(|found| found.behind), is_bridge.then(|| behind(&rest)), "{}", wire.id);
        let is_leaf = |end: &NodeId| !top.contains(end) && naive.neighbors(*end).count() == 1;
        assert_eq!(inner.contains(&wire.id), is_bridge && !wire.ends.iter().any(is_leaf), "{}", wire.id);
    }
    naive.nodes.len() + naive.wires.len()
}

/// Asserts that pairs are those of their definition, and returns the number of pairs that were compared.
pub(super) fn assert_pairs(naive: &Naive, network: &Fixture, index: &PathIndex) -> usize {
    let mut query = FragileQuery::new();
    query.pairs = true;
    query.limit = usize::MAX;
    let fragile = index.fragile(&query);
    let top: BTreeSet<NodeId> = index.top_nodes().collect();
    let (before, distances) = (naive.reached(&top), naive.distances(&top));
    let lost = |nodes: &BTreeSet<NodeId>| {
        let rest = naive.without(nodes, &BTreeSet::new());
        let after = rest.reached(&naive.remaining_top(&top, &top, &rest));
        &naive.devices(&(&before - &after)) - nodes
    };
    // All others of its part need the only node at the top of the part.
    let needs = |node: NodeId, other: NodeId| {
        let part = naive.reached(&[other].into());
        part.contains(&node) && top.contains(&other) && part.intersection(&top).count() == 1
    };
    let candidates: Vec<(NodeId, BTreeSet<NodeId>)> =
        naive.devices(&before).into_iter().map(|node| (node, lost(&[node].into()))).collect();
    let location = |node: NodeId| {
        network.hosts.iter().find(|host| NodeId::from(host.id) == node)?.sys_location.as_deref()
    };
    let is_above = |node: NodeId, other: NodeId| {
        let is_next = naive.neighbors(other).any(|(neighbor, _)| neighbor == node);
        is_next && distances[&node] <= distances[&other]
    };
    let mut expected = BTreeMap::new();
    let mut compared = 0;
    for (place, (one, lost_by_one)) in candidates.iter().enumerate() {
        for (other, lost_by_other) in &candidates[place + 1..] {
            if needs(*one, *other) || needs(*other, *one) {
                continue;
            }
            let mut reasons = Vec::new();
            reasons.extend(
                location(*one).filter(|found| location(*other) == Some(*found)).map(|_| PairReason::Location),
            );
            let is_upstream = before.iter().any(|below| is_above(*one, *below) && is_above(*other, *below));
            reasons.extend(is_upstream.then_some(PairReason::Upstream));
            if !reasons.is_empty() {
                let behind = &(&lost(&[*one, *other].into()) - lost_by_one) - lost_by_other;
                compared += 1;
                if !behind.is_empty() {
                    expected.insert([*one, *other], (reasons, behind.len()));
                }
            }
        }
    }
    let id = |node: &PairedNode| node.node_id.unwrap_or_else(|| node.host_id.unwrap().into());
    let pairs = fragile.pairs.unwrap();
    let found: BTreeMap<[NodeId; 2], (Vec<PairReason>, usize)> = pairs
        .iter()
        .map(|pair| ([id(&pair.nodes[0]), id(&pair.nodes[1])], (pair.reasons.clone(), pair.behind)))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(fragile.pairs_total, Some(pairs.len()));
    assert!(pairs.is_sorted_by_key(|pair| std::cmp::Reverse(pair.behind)));
    compared
}

#[test]
fn impact_of_random_failures_equals_removal_and_flood() {
    let mut cases = 0;
    for seed in 0..NETWORKS {
        let mut rng = Rng::with_seed(seed);
        let (hosts, links) = (rng.usize(1..12), rng.usize(..24));
        let network = random(&mut rng, hosts, links);
        let (naive, index) = (Naive::of(&network), index(&network));
        let nodes: Vec<NodeId> = naive.nodes.iter().copied().collect();
        let all_links: Vec<LinkId> = naive.wires.iter().map(|wire| wire.id).collect();
        for _ in 0..12 {
            let mut query = ImpactQuery::new();
            query.nodes = (0..rng.usize(..3)).map(|_| *rng.choice(&nodes).unwrap()).collect();
            query.edges = (0..rng.usize(..3)).filter_map(|_| rng.choice(&all_links).copied()).collect();
            query.from = (0..rng.usize(..3)).map(|_| *rng.choice(&nodes).unwrap()).collect();
            assert_impact(&naive, &index, &query);
            cases += 1;
        }
    }
    println!("{cases} impacts compared");
}

#[test]
fn cuts_of_random_networks_equal_their_definition() {
    let mut cases = 0;
    for seed in 0..NETWORKS {
        let mut rng = Rng::with_seed(seed);
        let (hosts, links) = (rng.usize(1..14), rng.usize(..24));
        let network = random(&mut rng, hosts, links);
        cases += assert_fragile(&Naive::of(&network), &index(&network));
    }
    println!("{cases} nodes and links compared");
}

#[test]
fn cuts_of_random_networks_with_segments_equal_their_definition() {
    let mut cases = 0;
    for seed in 0..NETWORKS {
        let mut rng = Rng::with_seed(seed);
        let (hosts, links) = (rng.usize(2..8), rng.usize(..12));
        let mut network = random(&mut rng, hosts, links);
        let devices: Vec<HostId> = network.hosts.iter().map(|host| host.id).collect();
        for _ in 0..rng.usize(1..3) {
            let segment = segment(&mut network);
            (0..rng.usize(1..5)).for_each(|_| attach(&mut network, segment, *rng.choice(&devices).unwrap()));
        }
        println!("seed {seed}");
        cases += assert_fragile(&Naive::of(&network), &index(&network));
    }
    println!("{cases} nodes and links compared");
}

/// Servers that are linked with each other are one part without the only router, whether one is also at segments or not.
#[test]
fn end_device_that_remains_alone_is_connected_with_a_device_on_segments() {
    for at_router in [true, false] {
        for segments in 1..=2 {
            let mut network = Fixture::default();
            let router = network.host("gw", "Cisco IOS router", &[]);
            let [alone, shared] = ["alone", "shared"].map(|name| network.host(name, "Windows server", &[]));
            let mut above = None;
            for _ in 0..segments {
                let segment = segment(&mut network);
                match above.replace(segment) {
                    None => attach(&mut network, segment, router),
                    Some(above) => {
                        network.link_of(&segment_end(above), &segment_end(segment), "Confirmed");
                    }
                }
                attach(&mut network, segment, shared);
            }
            connect(&mut network, router, alone);
            connect(&mut network, alone, shared);
            if at_router {
                connect(&mut network, router, shared);
            }
            let index = index(&network);
            assert_eq!(index.top_nodes().collect::<Vec<_>>(), [NodeId::from(router)]);
            let fragile = index.fragile(&FragileQuery::new());
            let router_of = fragile.nodes.iter().find(|node| node.host_id == Some(router)).unwrap();
            assert_eq!(router_of.behind, 0, "{at_router} {segments}");
            let mut query = ImpactQuery::new();
            query.nodes.insert(router.into());
            assert_eq!(index.impact(&query).unwrap().cut_off_total, 2);
            assert_fragile(&Naive::of(&network), &index);
        }
    }
}

/// Adds a segment, whose id is greater than those of hosts.
fn segment(network: &mut Fixture) -> NodeId {
    let id = NodeId::from_u128(u128::MAX - network.segments.len() as u128);
    network.segments.push(serde_json::from_value(json!({"id": id, "label": "segment"})).unwrap());
    id
}

fn segment_end(id: NodeId) -> Value {
    json!({"type": "segment", "id": id})
}

/// Adds a link between a segment and a host.
fn attach(network: &mut Fixture, segment: NodeId, host: HostId) {
    let host = json!({"type": "host", "host_id": host, "port": null});
    network.link_of(&segment_end(segment), &host, "Confirmed");
}

/// A router above two switches that are connected with it, with each other, and with a switch below, which has a printer.
fn campus() -> (Fixture, [NodeId; 5], Vec<LinkId>) {
    let mut network = Fixture::default();
    let router = network.host("gw", "Cisco IOS router", &[]);
    let [core1, core2, access] = ["c1", "c2", "acc"].map(|name| network.host(name, "switch", &[]));
    let subnet = network.subnet("office", "192.0.2.0/24");
    let printer = network.host("lp", "HP LaserJet printer", &[("192.0.2.9", subnet)]);
    let pairs = [
        (router, core1),
        (router, core2),
        (core1, core2),
        (core1, access),
        (core2, access),
        (access, printer),
    ];
    let links = pairs.map(|(one, other)| connect(&mut network, one, other));
    (network, [router, core1, core2, access, printer].map(NodeId::from), links.into())
}

#[test]
fn failing_core_switch_leaves_the_redundancy_of_others_at_risk() {
    let (network, [router, core1, core2, access, _], links) = campus();
    let index = index(&network);
    assert_eq!(index.top_nodes().collect::<Vec<_>>(), [router]);
    let mut query = ImpactQuery::new();
    query.nodes.insert(core1);

    let impact = index.impact(&query).unwrap();

    assert!(impact.complete);
    assert_eq!(impact.cut_off, []);
    assert_eq!(ids(&impact.at_risk), [core2, access].into());
    let remaining: BTreeSet<Option<usize>> = impact.at_risk.iter().map(|host| host.remaining_links).collect();
    assert_eq!(remaining, [Some(2)].into());
    assert!(impact.carried_by.iter().all(|link| *link == links[4]));
}

#[test]
fn links_that_take_over_without_the_vlans_of_the_links_before_make_the_answer_incomplete() {
    let (mut network, nodes, links) = campus();
    let mut query = ImpactQuery::new();
    query.nodes.insert(nodes[1]);
    for (last, expected) in [(20, vec![]), (9, vec![UnknownReason::Vlan])] {
        for link in &mut network.links {
            let takes_over = link.id == links[4];
            link.vlans = Some(vec![VlanRange { first: 1, last: if takes_over { last } else { 20 } }]);
        }
        assert_eq!(index(&network).impact(&query).unwrap().unknown, expected);
    }
}

#[test]
fn hosts_that_are_cut_off_are_counted_by_role_and_subnet() {
    let (network, [.., access, printer], links) = campus();
    let mut query = ImpactQuery::new();
    query.nodes.insert(access);

    let impact = index(&network).impact(&query).unwrap();

    assert_eq!(ids(&impact.cut_off), [printer].into());
    assert_eq!(impact.cut_off[0].role, HostRole::Printer);
    assert_eq!(impact.by_role, [("printer".to_owned(), 1)].into());
    assert_eq!((impact.by_subnet[0].subnet_id, impact.by_subnet[0].count), (network.subnets[0].id, 1));
    let fragile = index(&network).fragile(&FragileQuery::new());
    assert_eq!(
        fragile.nodes.iter().map(|node| (node.name.as_str(), node.behind)).collect::<Vec<_>>(),
        [("acc", 1)]
    );
    assert_eq!(fragile.edges, []);
    let mut leaves = FragileQuery::new();
    leaves.leaves = true;
    assert_eq!(index(&network).fragile(&leaves).edges[0].link_id, links[5]);
}

#[test]
fn all_devices_are_cut_off_if_none_of_them_remains_connected_with_another() {
    let mut network = Fixture::default();
    let [switch, desk] = ["sw", "desk"].map(|name| network.host(name, "switch", &[]));
    let servers = ["a", "b", "c"].map(|name| network.host(name, "Windows server", &[]));
    for server in servers {
        connect(&mut network, switch, server);
    }
    let mut query = ImpactQuery::new();
    query.nodes.insert(switch.into());
    let alone: BTreeSet<NodeId> = servers.map(NodeId::from).into();

    let impact = index(&network).impact(&query).unwrap();

    assert_eq!((ids(&impact.cut_off), impact.at_risk), (alone.clone(), vec![]));
    assert_eq!(index(&network).fragile(&FragileQuery::new()).nodes[0].behind, 3);
    // A switch with a device is still a network.
    let printer = network.host("lp", "HP LaserJet printer", &[]);
    connect(&mut network, switch, desk);
    connect(&mut network, desk, printer);
    assert_eq!(ids(&index(&network).impact(&query).unwrap().cut_off), alone);
}

/// A router above two switches. A hypervisor at the first runs a guest, which runs another one. The bridges learned the addresses of
/// both at the second switch, too.
fn hypervisor() -> (Fixture, [HostId; 5]) {
    let mut network = Fixture::default();
    let router = network.host("gw", "Cisco IOS router", &[]);
    let [near, far] = ["near", "far"].map(|name| network.host(name, "switch", &[]));
    let [machine, guest, inner] = ["pve", "vm", "nested"].map(|name| network.host(name, "Linux", &[]));
    for (one, other) in [(router, near), (router, far), (near, machine), (far, guest), (far, inner)] {
        connect(&mut network, one, other);
    }
    for (host, guest) in [(machine, guest), (guest, inner)] {
        let platform = network.service(host, "Proxmox VE");
        network.virtualize(guest, platform);
    }
    (network, [near, far, machine, guest, inner])
}

#[test]
fn guests_are_cut_off_with_the_hosts_that_run_them() {
    let (network, [near, far, machine, guest, inner]) = hypervisor();
    for (failing, expected) in [
        (machine, vec![guest, inner]),
        (near, vec![machine, guest, inner]),
        (guest, vec![inner]),
        (inner, vec![]),
        (far, vec![]),
    ] {
        let mut query = ImpactQuery::new();
        query.nodes.insert(failing.into());
        let impact = index(&network).impact(&query).unwrap();
        assert_eq!(ids(&impact.cut_off), expected.into_iter().map(NodeId::from).collect(), "{failing}");
        assert_eq!((impact.complete, impact.at_risk), (true, vec![]), "{failing}");
    }
}

#[test]
fn devices_behind_a_guest_are_cut_off_with_the_host_that_runs_it() {
    let mut network = Fixture::default();
    let world = network.host("isp", "Cisco IOS router", &[]);
    let [near, far] = ["near", "far"].map(|name| network.host(name, "switch", &[]));
    let machine = network.host("pve", "Linux", &[]);
    let firewall = network.host("fw", "Fortinet FortiGate firewall", &[]);
    let printer = network.host("lp", "HP LaserJet printer", &[]);
    // The address of the firewall was learned at both switches.
    for (one, other) in [(world, near), (near, machine), (near, firewall), (firewall, far), (far, printer)] {
        connect(&mut network, one, other);
    }
    let platform = network.service(machine, "Proxmox VE");
    network.virtualize(firewall, platform);
    let mut query = ImpactQuery::new();
    query.from.insert(world.into());
    query.nodes.insert(machine.into());
    let impact = index(&network).impact(&query).unwrap();
    assert_eq!(ids(&impact.cut_off), [firewall, far, printer].map(NodeId::from).into());
    // The link of the host fails, and not the host.
    query.nodes.clear();
    query.edges.insert(network.links[1].id);
    let impact = index(&network).impact(&query).unwrap();
    assert_eq!(ids(&impact.cut_off), [machine, firewall, far, printer].map(NodeId::from).into());
}

#[test]
fn largest_part_is_that_of_devices_with_links_whichever_ids_these_have() {
    let mut network = Fixture::default();
    let switch = network.host("sw", "switch", &[]);
    let servers = ["a", "b", "c"].map(|name| network.host(name, "Windows server", &[]));
    for server in servers {
        connect(&mut network, switch, server);
    }
    connect(&mut network, servers[1], servers[2]);
    let mut query = ImpactQuery::new();
    query.nodes.insert(switch.into());
    assert_eq!(ids(&index(&network).impact(&query).unwrap().cut_off), [servers[0].into()].into());
    assert_eq!(index(&network).fragile(&FragileQuery::new()).nodes[0].behind, 1);
}

#[test]
fn links_of_guests_count_if_no_path_to_the_host_that_runs_them_is_known() {
    let (mut network, [_, far, machine, guest, inner]) = hypervisor();
    network.links.remove(2);
    for (failing, expected) in [(far, vec![guest, inner]), (machine, vec![guest, inner])] {
        let mut query = ImpactQuery::new();
        query.nodes.insert(failing.into());
        let impact = index(&network).impact(&query).unwrap();
        assert_eq!(ids(&impact.cut_off), expected.into_iter().map(NodeId::from).collect(), "{failing}");
    }
}

#[test]
fn hosts_that_run_each_other_in_a_circle_are_connected_by_their_own_links() {
    let (mut network, [near, _, machine, guest, _]) = hypervisor();
    let platform = network.service(guest, "KVM");
    network.virtualize(machine, platform);
    let mut query = ImpactQuery::new();
    query.nodes.insert(near.into());
    assert_eq!(ids(&index(&network).impact(&query).unwrap().cut_off), [machine.into()].into());
}

/// Two switches of which only one is below the router, and a server that is connected with both.
fn dual_homed(description: &str) -> (Fixture, [HostId; 5], Vec<LinkId>) {
    let mut network = Fixture::default();
    let router = network.host("gw", "Cisco IOS router", &[]);
    let [near, far] = ["near", "far"].map(|name| network.host(name, "switch", &[]));
    let server = network.host("srv", description, &[]);
    let printer = network.host("lp", "HP LaserJet printer", &[]);
    let pairs = [(router, near), (router, far), (near, server), (far, server), (far, printer)];
    let links = pairs.map(|(one, other)| connect(&mut network, one, other));
    (network, [router, near, far, server, printer], links.into())
}

#[test]
fn server_with_two_links_is_no_way_between_its_switches() {
    let (mut network, [_, near, far, server, printer], links) = dual_homed("Windows server");
    let mut query = ImpactQuery::new();
    query.edges.insert(links[1]);

    let impact = index(&network).impact(&query).unwrap();
    assert_eq!(ids(&impact.cut_off), [far, printer].map(NodeId::from).into());
    assert_eq!(ids(&impact.at_risk), [server.into()].into());
    let fragile = index(&network).fragile(&FragileQuery::new());
    let edges: Vec<(LinkId, usize)> = fragile.edges.iter().map(|edge| (edge.link_id, edge.behind)).collect();
    assert_eq!(edges.iter().copied().collect::<BTreeMap<_, _>>(), [(links[0], 1), (links[1], 2)].into());
    let names = |fragile: &Fragile| {
        fragile.nodes.iter().map(|node| (node.name.clone(), node.behind)).collect::<BTreeMap<_, _>>()
    };
    // Without the router, the largest part that remains counts as the network.
    assert_eq!(names(&fragile), [("gw".to_owned(), 1), ("far".to_owned(), 1)].into());
    let mut query = ImpactQuery::new();
    query.nodes = [near.into(), far.into()].into();
    assert_eq!(
        ids(&index(&network).impact(&query).unwrap().cut_off),
        [server, printer].map(NodeId::from).into()
    );

    // A forwarding database shows that it bridges.
    network.bridges.push(server);
    let mut query = ImpactQuery::new();
    query.edges.insert(links[1]);
    assert_eq!(index(&network).impact(&query).unwrap().cut_off, []);
    assert_eq!(index(&network).fragile(&FragileQuery::new()).edges, []);
}

#[test]
fn both_switches_of_a_server_are_a_pair() {
    let (network, ..) = dual_homed("Windows server");
    let mut query = FragileQuery::new();
    query.pairs = true;
    let pairs = index(&network).fragile(&query).pairs.unwrap();
    let names: BTreeSet<&str> = pairs[0].nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!((pairs.len(), names, pairs[0].behind), (1, ["far", "near"].into(), 1));
}

#[test]
fn only_tops_of_separate_fabrics_are_a_pair() {
    let mut network = Fixture::default();
    let switches = ["a", "b"].map(|name| network.host(name, "Cisco Catalyst 2960 switch", &[]));
    let servers = ["s1", "s2"].map(|name| network.host(name, "Windows server", &[]));
    for switch in switches {
        for server in servers {
            connect(&mut network, switch, server);
        }
    }
    let tops = switches.map(NodeId::from);
    assert_eq!(index(&network).top_nodes().collect::<BTreeSet<_>>(), tops.into());
    let mut query = ImpactQuery::new();
    query.nodes = tops.into();
    assert_eq!(index(&network).impact(&query).unwrap().cut_off.len(), 2);
    let mut query = FragileQuery::new();
    query.pairs = true;
    let pairs = index(&network).fragile(&query).pairs.unwrap();
    assert_eq!((pairs.len(), pairs[0].behind, pairs[0].reasons.clone()), (1, 2, vec![PairReason::Upstream]));
    assert_eq!(assert_pairs(&Naive::of(&network), &network, &index(&network)), 1);

    // In one of the fabrics, another switch is above one of the servers.
    let access = network.host("c", "Cisco Catalyst 2960 switch", &[]);
    connect(&mut network, switches[0], access);
    connect(&mut network, access, servers[0]);
    assert_pairs(&Naive::of(&network), &network, &index(&network));
}

#[test]
fn link_of_two_members_is_no_bridge_unless_one_of_them_is_down() {
    let (mut network, _, links) = campus();
    let uplink = network.links.iter_mut().find(|link| link.id == links[5]).unwrap();
    let member = LinkMember { source_port: None, target_port: None, state: LinkState::Up, blocked: None };
    uplink.members = vec![member.clone(), member];
    let mut leaves = FragileQuery::new();
    leaves.leaves = true;
    let fragile = index(&network).fragile(&leaves);
    assert_eq!((fragile.edges.len(), fragile.degraded_lags.len()), (0, 0));

    network.links.iter_mut().find(|link| link.id == links[5]).unwrap().members[0].state = LinkState::Down;

    let fragile = index(&network).fragile(&leaves);
    assert_eq!((fragile.edges.len(), fragile.degraded_lags[0].link_id), (1, links[5]));
}

#[test]
fn all_devices_at_a_location_fail_together() {
    let (mut network, [_, core1, core2, access, printer], _) = campus();
    for host in network.hosts.iter_mut().filter(|host| [core1, core2].contains(&host.id.into())) {
        host.sys_location = Some("Basement".to_owned());
    }
    let mut query = ImpactQuery::new();
    query.locations.insert("Basement".to_owned());
    assert_eq!(ids(&index(&network).impact(&query).unwrap().cut_off), [access, printer].into());
}

#[test]
fn both_switches_above_another_one_are_a_pair_only_if_asked_for() {
    let (mut network, [_, core1, core2, ..], _) = campus();
    assert_eq!(index(&network).fragile(&FragileQuery::new()).pairs, None);
    let mut query = FragileQuery::new();
    query.pairs = true;
    let found = index(&network).fragile(&query);
    let pairs = found.pairs.unwrap();
    let names: Vec<&str> = pairs[0].nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!((pairs.len(), names), (1, vec!["c1", "c2"]));
    assert_eq!((pairs[0].behind, pairs[0].reasons.clone()), (2, vec![PairReason::Upstream]));

    for host in network.hosts.iter_mut().filter(|host| [core1, core2].contains(&host.id.into())) {
        host.sys_location = Some("Basement".to_owned());
    }
    let pairs = index(&network).fragile(&query).pairs.unwrap();
    assert_eq!(pairs[0].reasons, [PairReason::Location, PairReason::Upstream]);
}

#[test]
fn unknown_devices_are_listed_by_the_ids_of_their_nodes() {
    let (mut network, [.., access, printer], _) = campus();
    let stub = network.stub("phone");
    let host = json!({"type": "host", "host_id": access, "port": null});
    network.link_of(&host, &json!({"type": "stub", "id": stub, "port": null}), "Reported");
    let mut query = ImpactQuery::new();
    query.nodes.insert(access);
    let impact = index(&network).impact(&query).unwrap();
    assert_eq!(ids(&impact.cut_off), [printer, stub].into());
    assert_eq!(index(&network).fragile(&FragileQuery::new()).one_sided_total, 1);
}

#[test]
fn host_without_a_link_makes_answers_incomplete() {
    let (mut network, ..) = campus();
    network.host("lost", "", &[]);
    let impact = index(&network).impact(&ImpactQuery::new()).unwrap();
    assert!(!impact.complete);
    assert_eq!(impact.unknown, [UnknownReason::Links]);
    assert!(!index(&network).fragile(&FragileQuery::new()).complete);
}

#[test]
fn unknown_id_is_an_error() {
    let (network, ..) = campus();
    let mut query = ImpactQuery::new();
    query.nodes.insert(NodeId::from_u128(99));
    assert_eq!(index(&network).impact(&query).unwrap_err().id, NodeId::from_u128(99).uuid());
}

#[test]
fn lists_end_at_the_limit_and_totals_count_all() {
    let (mut network, [router, ..], _) = campus();
    let access = network.hosts.iter().find(|host| host.name == "acc").unwrap().id;
    for number in 0..20 {
        let host = network.host(&format!("pc{number}"), "Windows workstation", &[]);
        connect(&mut network, access, host);
    }
    let mut query = ImpactQuery::new();
    query.nodes.insert(access.into());
    query.from.insert(router);
    query.limit = 5;
    let impact = index(&network).impact(&query).unwrap();
    assert_eq!((impact.cut_off.len(), impact.cut_off_total), (5, 21));
}

#[test]
fn devices_are_cut_off_if_all_that_leads_to_the_world_fails_and_remain_around_a_center() {
    let mut query = ImpactQuery::new();
    let (network, [router, core1, ..], _) = campus();
    query.nodes = [router].into();
    assert_eq!(index(&network).impact(&query).unwrap().cut_off_total, 4);
    query.nodes = [router, core1].into();
    assert_eq!(index(&network).impact(&query).unwrap().cut_off_total, 3);

    let mut ring = Fixture::default();
    let switches: Vec<HostId> =
        (0..6).map(|number| ring.host(&format!("sw-{number}"), "switch", &[])).collect();
    for (one, other) in switches.iter().zip(switches.iter().cycle().skip(1)) {
        connect(&mut ring, *one, *other);
    }
    let index = index(&ring);
    query.nodes = index.center_nodes().collect();
    assert!(!query.nodes.is_empty());
    let impact = index.impact(&query).unwrap();
    assert_eq!(impact.cut_off, []);
    // The switch that they are counted from is at no risk.
    assert_eq!(impact.at_risk_total, 4);
}

#[test]
fn devices_below_a_single_link_are_at_risk_if_they_lose_one_of_two_links() {
    let mut network = Fixture::default();
    let router = network.host("gw", "Cisco IOS router", &[]);
    let [core, left, right, access] =
        ["core", "left", "right", "acc"].map(|name| network.host(name, "switch", &[]));
    let server = network.host("srv", "Windows server", &[]);
    // All of them need the link between router and core.
    for (one, other) in [
        (router, core),
        (core, left),
        (core, right),
        (left, right),
        (left, access),
        (right, access),
        (left, server),
        (right, server),
    ] {
        connect(&mut network, one, other);
    }
    let mut query = ImpactQuery::new();
    query.nodes.insert(left.into());
    let impact = index(&network).impact(&query).unwrap();
    assert_eq!(impact.cut_off, []);
    assert_eq!(ids(&impact.at_risk), [right, access, server].map(NodeId::from).into());
}
