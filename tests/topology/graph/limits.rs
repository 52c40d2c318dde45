//! The size of graphs, whatever a network contains.

use serde_json::json;
use toposcope::model::{NodeId, ServiceId, TopologyView};
use toposcope::topology::graph::{Graph, GraphOptions};
use toposcope::topology::render::{FileTooLarge, Format, MAX_FILE, Picture};

use super::support::{Fixture, node};

fn count_of(graph: &Graph, code: &str) -> Option<String> {
    let warning = graph.warnings.iter().find(|warning| warning.code == code);
    warning.map(|warning| warning.params["count"].clone())
}

/// Returns hosts of which each runs the next one.
fn chain(length: usize) -> Fixture {
    let mut network = Fixture::default();
    let mut platform: Option<ServiceId> = None;
    for number in 0..length {
        let host = network.host(&format!("vm{number}"), "", &[]);
        if let Some(service) = platform {
            network.virtualize(host, service);
        }
        platform = Some(network.service(host, "Proxmox VE"));
    }
    network
}

#[test]
fn guests_in_a_long_chain_are_nested_eight_levels_deep() {
    let network = chain(500);
    let graph = network.graph(TopologyView::Workloads);
    assert_eq!(graph.nodes.len(), 500);
    let depth = |label: &str| {
        let mut depth = 0;
        let mut current = node(&graph, label).parent_id;
        while let Some(outer) = current {
            depth += 1;
            current = graph.nodes.iter().find(|node| node.id == outer).unwrap().parent_id;
        }
        depth
    };
    assert_eq!([0, 1, 8, 9, 10, 499].map(|number| depth(&format!("vm{number}"))), [0, 1, 8, 0, 1, 4]);
    assert_eq!(count_of(&graph, "guests_not_nested").as_deref(), Some("55"));
    assert_eq!(graph.edges.len(), 55, "an edge leads to each of these guests");
    for format in [Format::Dot, Format::Mermaid] {
        let file = Picture::new(&graph, "Network").render(format).unwrap();
        assert!(file.len() < 500 * 1_000, "{format}: {}", file.len());
    }
}

#[test]
fn end_devices_of_a_graph_with_more_than_50_000_nodes_are_folded() {
    let mut network = Fixture::default();
    let switch = network.host("sw", "switch", &[]);
    for _ in 0..50_001 {
        let stub = network.stub("");
        network.link_of(
            &json!({"type": "host", "host_id": switch, "port": null}),
            &json!({"type": "stub", "id": stub, "port": null}),
            "Reported",
        );
    }
    let mut options = GraphOptions::new(TopologyView::L2);
    options.collapse = false;
    let graph = network.graph_with(&options);
    assert_eq!(graph.nodes.len(), 2);
    assert_eq!(count_of(&graph, "folded_to_fit").as_deref(), Some("50000"));
}

#[test]
fn texts_of_a_graph_are_cut() {
    let mut network = Fixture::default();
    let name = "x".repeat(60_000);
    let switches = ["1", "2"].map(|end| network.host(&format!("{end}{name}"), "switch", &[]));
    network.link((switches[0], &name), (switches[1], &name), "Reported");
    let graph = network.graph(TopologyView::L2);
    assert!(
        graph.nodes.iter().all(|node| node.label.chars().count() == 256 && node.label.ends_with('\u{2026}'))
    );
    let port = graph.edges[0].source_port.as_ref().unwrap();
    assert_eq!(port.name.chars().count(), 256);
}

#[test]
fn file_larger_than_64_mib_is_refused() {
    let mut network = Fixture::default();
    network.host(&"\"".repeat(250), "switch", &[]);
    let mut graph = network.graph(TopologyView::L2);
    let node = graph.nodes.remove(0);
    for number in 0..50_000 {
        let mut copy = node.clone();
        copy.id = NodeId::from_u128(number);
        graph.nodes.push(copy);
    }
    let refused: FileTooLarge = Picture::new(&graph, "Network").render(Format::GraphMl).unwrap_err();
    assert_eq!(refused.limit, MAX_FILE);
    assert_eq!(MAX_FILE, 64 << 20);
    graph.nodes.truncate(100);
    assert!(Picture::new(&graph, "Network").render(Format::GraphMl).is_ok());
}
