use toposcope::discovery::report::Reporter;
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{HostId, Timestamp, TopologyView};
use toposcope::topology::graph::{Graph, GraphOptions, build};

use super::support::{Fixture, labels, node, with_devices};
use crate::links::support;

fn time(day: u8) -> Timestamp {
    format!("2026-11-{day:02}T12:00:00Z").parse().unwrap()
}

/// A network in which hosts that were seen before the tenth day are stale.
fn network() -> Fixture {
    Fixture { stale_before: Some(time(10)), ..Fixture::default() }
}

/// Adds a switch that a report showed on a day.
fn switch(network: &mut Fixture, name: &str, day: u8) -> HostId {
    let id = network.host(name, "switch", &[]);
    let host = network.hosts.last().unwrap();
    network.claims.push(Claim::new(host, Reporter::new("test"), time(day), ClaimRows::Addresses(Vec::new())));
    id
}

fn hidden(network: &Fixture) -> Graph {
    let mut options = GraphOptions::new(TopologyView::L2);
    options.show_stale = false;
    network.graph_with(&options)
}

#[test]
fn host_that_recent_reports_lack_is_stale_and_can_be_left_out() {
    let mut network = network();
    let (old, new) = (switch(&mut network, "old", 9), switch(&mut network, "new", 10));
    network.link((old, "1"), (new, "1"), "Reported");

    let graph = network.graph(TopologyView::L2);
    assert!(node(&graph, "old").stale);
    assert!(!node(&graph, "new").stale);
    assert_eq!(graph.hidden.stale, 0);

    let graph = hidden(&network);
    assert_eq!(labels(&graph), ["new"]);
    assert_eq!((graph.hidden.stale, graph.edges.len()), (1, 0));
}

#[test]
fn host_that_no_report_described_is_never_stale() {
    let mut network = network();
    network.host("entered by hand", "switch", &[]);
    assert!(!network.graph(TopologyView::L2).nodes[0].stale);
    assert_eq!(hidden(&network).hidden.stale, 0);
}

#[test]
fn latest_of_several_tables_decides() {
    let mut network = network();
    switch(&mut network, "sw", 1);
    let host = network.hosts.last().unwrap();
    let rows = ClaimRows::Lldp(Vec::new());
    network.claims.push(Claim::new(host, Reporter::new("test"), time(12), rows));
    assert!(!network.graph(TopologyView::L2).nodes[0].stale);
}

#[test]
fn host_that_a_neighbor_still_sees_is_not_stale() {
    let mut devices = [support::node(1, 4).lldp(&[(1, 2, 1)]), support::node(2, 4).lldp(&[(2, 9, 1)])];
    devices[0].claims[0].observed_at = time(12);
    devices[1].claims[0].observed_at = time(2);
    let stale = |devices: &[support::Node]| {
        let graph = with_devices(devices, &GraphOptions::new(TopologyView::L2), |input| {
            let mut input = input.clone();
            input.stale_before = Some(time(10));
            build(&input)
        });
        node(&graph, "sw2").stale
    };
    assert!(!stale(&devices));
    devices[0].claims[0].observed_at = time(3);
    assert!(stale(&devices));
}

#[test]
fn folded_leaves_are_stale_together_or_not_at_all() {
    let mut network = network();
    let core = switch(&mut network, "core", 12);
    for index in 0..900 {
        let leaf = network.host(&format!("pc{index:02}"), "Windows 10", &[]);
        network.link((core, &index.to_string()), (leaf, "eth0"), "Reported");
        let host = network.hosts.last().unwrap();
        let claim = Claim::new(host, Reporter::new("test"), time(1), ClaimRows::Addresses(Vec::new()));
        network.claims.push(claim);
    }
    assert!(node(&network.graph(TopologyView::L2), "900 workstations").stale);
    network.claims.iter_mut().for_each(|claim| claim.observed_at = time(12));
    assert!(!node(&network.graph(TopologyView::L2), "900 workstations").stale);
}
