//! Which devices and links have a VLAN.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use toposcope::model::{HostId, LinkId, TopologyView, Vlans};
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::links::{End, Links};
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
fn vlan_that_one_end_tags_and_the_other_does_not_is_not_carried() {
    let one = port(node(1, 1).lldp(&[(1, 2, 1)]), 0, Some(10), &[30]);
    let two = port(node(2, 1).lldp(&[(1, 1, 1)]), 0, Some(20), &[10, 30]);
    let islands = [10, 20, 30].map(|vlan| of(&[one.clone(), two.clone()], vlan).islands_total);
    assert_eq!(islands, [2, 1, 1], "VLAN 20 is at one switch only");
}

#[test]
fn server_with_a_link_to_each_of_two_islands_is_in_both_and_joins_them_not() {
    let server = node(3, 2).lldp(&[(1, 1, 1), (2, 2, 1)]);
    let server = server.change(|host| host.sys_descr = Some("Windows server".to_owned()));
    let [one, two] = [1, 2].map(|number| {
        port(node(number, 1).lldp(&[(1, 3, i64::from(number))]), 0, Some(10), &[])
            .change(|host| host.sys_descr = Some("switch".to_owned()))
    });
    let ten = of(&[one, two, port(port(server, 0, Some(10), &[]), 1, Some(10), &[])], 10);
    let islands: Vec<Vec<u128>> =
        ten.islands.iter().map(|hosts| hosts.iter().map(|host| host.uuid().as_u128()).collect()).collect();
    assert_eq!(islands, [[1, 3], [2, 3]]);
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
    let all = ask(&nodes, &VlanQuery::new());
    assert_eq!((all.vlans_total, all.complete, all.vlans.len()), (4_094, false, 1_000));
    assert_eq!(all.unknown, [UnknownReason::Links, UnknownReason::WorkLimit]);
    assert!(
        all.vlans.iter().all(|vlan| vlan.islands.is_empty()),
        "links that were not reached may join islands"
    );
}

/// Number of random networks.
const NETWORKS: u64 = 120;

/// The VLANs of the port at an end of a link, and the untagged one.
type PortSet = (BTreeSet<u16>, Option<u16>);

/// The switches, islands, and links with a fault, of one VLAN.
#[derive(Debug, Default, PartialEq, Eq)]
struct NaiveVlan {
    hosts: BTreeSet<HostId>,
    islands: BTreeSet<Vec<HostId>>,
    one_sided: BTreeSet<LinkId>,
    native_mismatch: BTreeSet<LinkId>,
}

/// Returns the VLANs of a network by their definitions.
fn naive(nodes: &[Node], links: &Links) -> BTreeMap<u16, NaiveVlan> {
    let ports: BTreeMap<(HostId, String), PortSet> = nodes
        .iter()
        .flat_map(|node| node.host.if_entries.iter().map(move |entry| (node.host.id, entry)))
        .filter_map(|(host, entry)| {
            let vlans = entry.vlans.as_ref()?;
            let all = vlans.untagged.iter().chain(&vlans.tagged).chain(&vlans.other_untagged);
            Some(((host, entry.if_name.clone()?), (all.copied().collect(), vlans.untagged)))
        })
        .collect();
    let port_at = |end: &End| match end {
        End::Host { host_id, port: Some(port), .. } => ports.get(&(*host_id, port.name.clone())),
        _ => None,
    };
    let host_at = |end: &End| match end {
        End::Host { host_id, .. } => *host_id,
        _ => panic!("all devices are hosts"),
    };
    let mut vlans: BTreeMap<u16, NaiveVlan> = BTreeMap::new();
    for ((host, _), (set, _)) in &ports {
        for vlan in set {
            vlans.entry(*vlan).or_default().hosts.insert(*host);
        }
    }
    for link in links.links() {
        let (Some((one, one_native)), Some((other, other_native))) =
            (port_at(&link.source), port_at(&link.target))
        else {
            continue;
        };
        for vlan in one.symmetric_difference(other) {
            vlans.entry(*vlan).or_default().one_sided.insert(link.id);
        }
        if let (Some(one), Some(other)) = (one_native, other_native)
            && one != other
        {
            for vlan in [one, other] {
                vlans.entry(*vlan).or_default().native_mismatch.insert(link.id);
            }
        }
    }
    for (vlan, known) in &mut vlans {
        // A link of unknown VLANs may carry all of them.
        let carries = |end: &End| port_at(end).map(|(set, _)| set.contains(vlan));
        // Frames without a tag change their VLAN where the ends differ in it.
        let is_mixed = |link: &toposcope::topology::links::Link| {
            let natives =
                [&link.source, &link.target].map(|end| port_at(end).and_then(|(_, native)| *native));
            matches!(natives, [Some(one), Some(other)] if one != other && [one, other].contains(vlan))
        };
        let is_open =
            |link: &&toposcope::topology::links::Link| match (carries(&link.source), carries(&link.target)) {
                (Some(one), Some(other)) => one && other && !is_mixed(link),
                (known, None) | (None, known) => known.unwrap_or(true),
            };
        let open: Vec<[HostId; 2]> = links
            .links()
            .filter(is_open)
            .map(|link| [host_at(&link.source), host_at(&link.target)])
            .collect();
        let mut rest = known.hosts.clone();
        while let Some(first) = rest.first().copied() {
            let mut reached = BTreeSet::from([first]);
            loop {
                let next = open.iter().filter(|ends| ends.iter().any(|end| reached.contains(end)));
                let next: BTreeSet<HostId> = next.flatten().copied().collect();
                if next.is_subset(&reached) {
                    break;
                }
                reached.extend(next);
            }
            let island = known.hosts.intersection(&reached).copied().collect();
            rest.retain(|host| !reached.contains(host));
            known.islands.insert(island);
        }
    }
    vlans
}

#[test]
fn vlans_of_random_networks_are_those_of_their_definitions() {
    let mut compared = 0;
    for seed in 0..NETWORKS {
        let mut rng = Rng::with_seed(seed);
        let count = rng.u8(2..9);
        // Each switch has a port for each other one, so that cables contradict nothing.
        let mut nodes: Vec<Node> = (1..=count).map(|number| node(number, i64::from(count))).collect();
        for one in 1..=count {
            for other in (1..one).filter(|_| rng.u8(..5) < 2) {
                let [lower, upper] = [usize::from(other) - 1, usize::from(one) - 1];
                nodes[upper] = nodes[upper].clone().lldp(&[(i64::from(other), other, i64::from(one))]);
                nodes[lower] = nodes[lower].clone().lldp(&[(i64::from(one), one, i64::from(other))]);
            }
        }
        for node in &mut nodes {
            for place in 0..usize::from(count) {
                let tagged: Vec<u16> = (10..16).filter(|_| rng.bool()).collect();
                let untagged = [None, Some(1), Some(2)][rng.usize(..3)];
                let tagged = if tagged.is_empty() { vec![10] } else { tagged };
                *node = port(node.clone(), place, untagged, &tagged);
            }
        }
        let expected = naive(&nodes, &links(&nodes));
        let found = ask(&nodes, &VlanQuery::new());
        let found: BTreeMap<u16, NaiveVlan> = found
            .vlans
            .into_iter()
            .map(|vlan| {
                let known = NaiveVlan {
                    hosts: vlan.hosts.iter().map(|host| host.host_id).collect(),
                    islands: vlan.islands.into_iter().collect(),
                    one_sided: vlan.one_sided.into_iter().collect(),
                    native_mismatch: vlan.native_mismatch.into_iter().collect(),
                };
                (vlan.vlan, known)
            })
            .collect();
        assert_eq!(found, expected, "seed {seed}");
        for (vlan, known) in found {
            let alone = of(&nodes, vlan);
            assert_eq!(
                alone.one_sided,
                known.one_sided.into_iter().collect::<Vec<_>>(),
                "seed {seed}, {vlan}"
            );
            compared += 1;
        }
    }
    println!("{compared} VLANs compared");
}

#[test]
fn ranges_of_vlans_at_both_ends_of_links_count_as_work() {
    let [odd, even]: [Vec<u16>; 2] = [1, 2].map(|first| (first..=4_094).step_by(2).collect());
    let mut nodes: Vec<Node> = (1..=30).map(|number| node(number, 30)).collect();
    for one in 1..=30_u8 {
        let others: Vec<_> = (1..=30).filter(|other| *other != one).collect();
        let rows: Vec<_> = others.iter().map(|other| (i64::from(*other), *other, i64::from(one))).collect();
        nodes[usize::from(one) - 1] = nodes[usize::from(one) - 1].clone().lldp(&rows);
    }
    for (number, node) in (1..).zip(&mut nodes) {
        for place in 0..30 {
            *node = port(node.clone(), place, None, if (number + place) % 2 == 0 { &odd } else { &even });
        }
    }
    let all = ask(&nodes, &VlanQuery::new());
    assert!(all.unknown.contains(&UnknownReason::WorkLimit), "{:?}", all.unknown);
    // One VLAN is found among thousands of ranges.
    let one = of(&nodes, 4_093);
    assert_eq!((one.hosts_total, one.hosts[0].access.len()), (30, 0));
}
