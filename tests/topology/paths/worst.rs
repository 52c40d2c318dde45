//! Networks of the worst shapes: no question may stall.

use toposcope::model::{HostId, LinkId, NodeId};
use toposcope::topology::paths::{FragileQuery, ImpactQuery, PathQuery, UnknownReason};

use super::networks::{connect, index};
use crate::graph::support::Fixture;

/// Maximum number of times that a question may look at each end of each link, unless it compares paths or pairs.
const MAX_PASSES: u64 = 24;

/// Maximum number of steps of questions that compare paths or pairs: the limit of their work, and what one more comparison takes.
const MAX_STEPS: u64 = 9_000_000;

/// Number of devices of long chains and large stars.
const DEVICES: usize = 100_000;

fn hosts(network: &mut Fixture, count: usize) -> Vec<HostId> {
    (0..count).map(|number| network.host(&format!("h{number}"), "", &[])).collect()
}

fn chain() -> (Fixture, Vec<HostId>) {
    let mut network = Fixture::default();
    let hosts = hosts(&mut network, DEVICES);
    for pair in hosts.windows(2) {
        connect(&mut network, pair[0], pair[1]);
    }
    (network, hosts)
}

fn star() -> (Fixture, Vec<HostId>) {
    let mut network = Fixture::default();
    let hosts = hosts(&mut network, DEVICES);
    for host in &hosts[1..] {
        connect(&mut network, hosts[0], *host);
    }
    (network, hosts)
}

fn complete(count: usize) -> (Fixture, Vec<HostId>) {
    let mut network = Fixture::default();
    let hosts = hosts(&mut network, count);
    for (place, one) in hosts.iter().enumerate() {
        for other in &hosts[place + 1..] {
            connect(&mut network, *one, *other);
        }
    }
    (network, hosts)
}

#[test]
fn failures_in_the_worst_shapes_are_answered_with_bounded_work() {
    for (name, (network, hosts), cut_off) in
        [("chain", chain(), 1), ("star", star(), DEVICES - 1), ("complete graph", complete(400), 0)]
    {
        let index = index(&network);
        let bytes = index.link_bytes() / index.link_count();
        assert!(bytes <= 100, "{name}: {bytes} bytes a link");
        let ends = 2 * index.link_count() as u64;
        let fragile = index.fragile(&FragileQuery::new());
        let scratch = index.steps_taken();
        assert!(scratch > ends, "{name}: each link is looked at");
        let top: Vec<NodeId> = index.top_nodes().collect();
        let mut query = ImpactQuery::new();
        query.nodes.insert(match name {
            "star" => hosts[0].into(),
            _ => hosts[1].into(),
        });
        let impact = index.impact(&query).unwrap();
        let asked = index.steps_taken() - scratch;
        println!("{name}: {bytes} bytes a link, {scratch} and {asked} steps, {} at the top", top.len());
        assert_eq!(impact.cut_off_total, cut_off, "{name}");
        assert!(fragile.nodes_total <= DEVICES, "{name}");
        assert!(
            scratch <= MAX_PASSES * ends && asked <= MAX_PASSES * ends,
            "{name}: {scratch}, {asked} of {ends}"
        );
    }
}

/// Makes hosts of which each runs a switch, behind which the next one is. A bridge learned the addresses of all these switches.
fn cascade(length: usize) -> (Fixture, LinkId) {
    let mut network = Fixture::default();
    let world = network.host("isp", "Cisco IOS router", &[]);
    let mut above = world;
    for number in 0..length {
        let machine = network.host(&format!("pve{number}"), "Linux", &[]);
        let guest = network.host(&format!("vsw{number}"), "Cisco Catalyst 2960 switch", &[]);
        connect(&mut network, above, machine);
        connect(&mut network, world, guest);
        let platform = network.service(machine, "Proxmox VE");
        network.virtualize(guest, platform);
        above = guest;
    }
    let first = network.links[0].id;
    (network, first)
}

#[test]
fn failures_that_make_guests_fail_one_after_the_other_are_answered_with_bounded_work() {
    for (length, is_complete) in [(10, true), (2_000, false)] {
        let (network, link) = cascade(length);
        let index = index(&network);
        let mut query = ImpactQuery::new();
        query.edges.insert(link);
        query.from.insert(network.hosts[0].id.into());
        let impact = index.impact(&query).unwrap();
        let (steps, ends) = (index.steps_taken(), 2 * index.link_count() as u64);
        println!("{length} hosts: {} cut off, {steps} steps of {ends}", impact.cut_off_total);
        assert_eq!(impact.complete, is_complete);
        assert!(!is_complete || impact.cut_off_total == 2 * length, "{}", impact.cut_off_total);
        assert!(is_complete || impact.unknown.contains(&UnknownReason::WorkLimit), "{:?}", impact.unknown);
        assert!(steps <= MAX_PASSES * ends, "{steps} of {ends}");
    }
}

#[test]
fn paths_in_the_worst_shapes_are_answered_with_bounded_work() {
    for (name, (network, hosts), lengths, reason) in [
        ("chain", chain(), vec![], Some(UnknownReason::WorkLimit)),
        ("star", star(), vec![2], None),
        ("complete graph", complete(400), [vec![1], vec![2; 15]].concat(), Some(UnknownReason::SpanningTree)),
    ] {
        let index = index(&network);
        let mut query = PathQuery::new(hosts[1].into(), hosts[hosts.len() - 1].into());
        query.k = 16;
        let answer = index.paths(&query, |_| None).unwrap();
        let steps = index.steps_taken();
        println!("{name}: 16 paths in {steps} steps");
        assert!((1..=MAX_STEPS).contains(&steps), "{name}: {steps}");
        assert_eq!(answer.paths.iter().map(|path| path.length).collect::<Vec<_>>(), lengths, "{name}");
        assert!(!answer.complete, "{name}");
        assert!(reason.is_none_or(|reason| answer.unknown.contains(&reason)), "{name}: {:?}", answer.unknown);
    }
}

#[test]
fn pairs_in_the_worst_shapes_are_answered_with_bounded_work() {
    for (name, (mut network, _), is_complete) in
        [("chain", chain(), false), ("star", star(), true), ("complete graph", complete(400), false)]
    {
        for host in &mut network.hosts {
            host.sys_location = Some("Hall".to_owned());
        }
        let index = index(&network);
        let mut query = FragileQuery::new();
        query.pairs = true;
        let fragile = index.fragile(&query);
        let (steps, ends) = (index.steps_taken(), 2 * index.link_count() as u64);
        println!("{name}: {:?} pairs in {steps} steps", fragile.pairs_total);
        assert!(steps <= MAX_STEPS + MAX_PASSES * ends, "{name}: {steps}");
        assert_eq!(fragile.complete, is_complete, "{name}");
        assert_eq!(fragile.unknown.contains(&UnknownReason::WorkLimit), !is_complete, "{name}");
    }
}
