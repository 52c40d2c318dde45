//! Networks of the worst shapes: no question may stall.

use std::time::{Duration, Instant};

use toposcope::model::{HostId, NodeId};
use toposcope::topology::paths::{FragileQuery, ImpactQuery, PathQuery, UnknownReason};

use super::networks::{connect, index};
use crate::graph::support::Fixture;

/// Upper bound of the time of a question in a debug build on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(20);

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
fn failures_in_the_worst_shapes_are_answered_in_time() {
    for (name, (network, hosts), cut_off) in
        [("chain", chain(), 1), ("star", star(), DEVICES - 2), ("complete graph", complete(400), 0)]
    {
        let index = index(&network);
        let bytes = index.link_bytes() / index.link_count();
        assert!(bytes <= 100, "{name}: {bytes} bytes a link");
        let start = Instant::now();
        let fragile = index.fragile(&FragileQuery::new());
        let scratch = start.elapsed();
        let top: Vec<NodeId> = index.top_nodes().collect();
        let mut query = ImpactQuery::new();
        query.nodes.insert(match name {
            "star" => hosts[0].into(),
            _ => hosts[1].into(),
        });
        let start = Instant::now();
        let impact = index.impact(&query).unwrap();
        let asked = start.elapsed();
        println!(
            "{name}: {bytes} bytes a link, fragile in {scratch:?}, impact in {asked:?}, top {}",
            top.len()
        );
        assert_eq!(impact.cut_off_total, cut_off, "{name}");
        assert!(
            fragile.nodes_total <= DEVICES && scratch + asked <= MAX_TIME,
            "{name}: {scratch:?}, {asked:?}"
        );
    }
}

#[test]
fn paths_in_the_worst_shapes_are_answered_in_time() {
    for (name, (network, hosts), lengths, reason) in [
        ("chain", chain(), vec![], Some(UnknownReason::WorkLimit)),
        ("star", star(), vec![2], None),
        ("complete graph", complete(400), [vec![1], vec![2; 15]].concat(), Some(UnknownReason::SpanningTree)),
    ] {
        let index = index(&network);
        let mut query = PathQuery::new(hosts[1].into(), hosts[hosts.len() - 1].into());
        query.k = 16;
        let start = Instant::now();
        let answer = index.paths(&query, |_| None).unwrap();
        println!("{name}: 16 paths in {:?}", start.elapsed());
        assert!(start.elapsed() <= MAX_TIME, "{name}: {:?}", start.elapsed());
        assert_eq!(answer.paths.iter().map(|path| path.length).collect::<Vec<_>>(), lengths, "{name}");
        assert!(!answer.complete, "{name}");
        assert!(reason.is_none_or(|reason| answer.unknown.contains(&reason)), "{name}: {:?}", answer.unknown);
    }
}

#[test]
fn pairs_in_the_worst_shapes_are_answered_in_time() {
    for (name, (mut network, _), is_complete) in
        [("chain", chain(), false), ("star", star(), true), ("complete graph", complete(400), false)]
    {
        for host in &mut network.hosts {
            host.sys_location = Some("Hall".to_owned());
        }
        let index = index(&network);
        let mut query = FragileQuery::new();
        query.pairs = true;
        let start = Instant::now();
        let fragile = index.fragile(&query);
        println!("{name}: {:?} pairs in {:?}", fragile.pairs_total, start.elapsed());
        assert!(start.elapsed() <= MAX_TIME, "{name}: {:?}", start.elapsed());
        assert_eq!(fragile.complete, is_complete, "{name}");
        assert_eq!(fragile.unknown.contains(&UnknownReason::WorkLimit), !is_complete, "{name}");
    }
}
