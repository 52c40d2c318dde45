use serde_json::json;
use toposcope::model::{NodeId, TopologyView};
use toposcope::topology::graph::{
    BlindSpotReason, EdgeKind, GraphOptions, NodeKind, Positions, blind_spots, lay_out,
};
use toposcope::topology::links::Confidence;

use super::support::{Fixture, labels, node};

#[test]
fn layer_2_shows_switches_and_their_neighbors_and_no_other_hosts() {
    let mut network = Fixture::default();
    let switch = network.host("sw", "Cisco Catalyst 2960", &[]);
    let server = network.host("srv", "Linux", &[]);
    network.host("idle", "Linux", &[]);
    network.link((switch, "GigabitEthernet0/1"), (server, "eth0"), "Reported");

    let graph = network.graph(TopologyView::L2);

    assert_eq!(labels(&graph), ["srv", "sw"]);
    assert_eq!(graph.edges.len(), 1);
    assert_eq!(graph.edges[0].kind, EdgeKind::Physical);
    let warning = graph.warnings.iter().find(|warning| warning.code == "hosts_without_links").unwrap();
    assert_eq!(warning.params["count"], "1");
}

#[test]
fn links_below_the_least_confidence_are_left_out_and_conflicting_ones_never() {
    let mut network = Fixture::default();
    let (a, b, c) = (network.host("a", "", &[]), network.host("b", "", &[]), network.host("c", "", &[]));
    network.link((a, "1"), (b, "1"), "Inferred");
    let conflicting = network.link((a, "2"), (c, "1"), "Conflicting");
    let confirmed = network.link((b, "2"), (c, "2"), "Confirmed");
    let mut options = GraphOptions::new(TopologyView::L2);
    options.min_confidence = Confidence::Confirmed;

    let graph = network.graph_with(&options);

    let shown: Vec<_> = graph.edges.iter().map(|edge| edge.id).collect();
    assert_eq!(shown, [conflicting, confirmed]);
}

#[test]
fn focus_keeps_what_is_within_the_depth() {
    let mut network = Fixture::default();
    let hosts: Vec<_> = ["a", "b", "c", "d"].map(|name| network.host(name, "", &[])).into();
    for pair in hosts.windows(2) {
        network.link((pair[0], "1"), (pair[1], "2"), "Confirmed");
    }
    let mut options = GraphOptions::new(TopologyView::L2);
    options.focus = Some(hosts[0].into());

    assert_eq!(labels(&network.graph_with(&options)), ["a", "b"]);
    options.depth = 2;
    assert_eq!(labels(&network.graph_with(&options)), ["a", "b", "c"]);
    options.depth = 0;
    assert_eq!(labels(&network.graph_with(&options)), ["a"]);
}

#[test]
fn focus_on_an_unknown_node_gives_an_empty_graph_with_a_warning() {
    let mut network = Fixture::default();
    network.host("sw", "switch", &[]);
    let mut options = GraphOptions::new(TopologyView::L2);
    options.focus = Some(NodeId::from_u128(99));

    let graph = network.graph_with(&options);

    assert!(graph.nodes.is_empty());
    assert!(graph.warnings.iter().any(|warning| warning.code == "focus_not_found"));
}

#[test]
fn order_of_the_input_does_not_matter() {
    let mut network = Fixture::default();
    let switch = network.host("sw", "switch", &[]);
    for index in 0..20 {
        let host = network.host(&format!("h{index}"), "Linux", &[]);
        network.link((switch, &format!("Gi0/{index}")), (host, "eth0"), "Reported");
    }
    let mut first = network.graph(TopologyView::L2);
    network.hosts.reverse();
    network.links.reverse();
    let mut second = network.graph(TopologyView::L2);
    lay_out(&mut first, &Positions::default());
    lay_out(&mut second, &Positions::default());

    assert_eq!(serde_json::to_string(&first).unwrap(), serde_json::to_string(&second).unwrap());
}

#[test]
fn stub_shows_in_the_graph_and_leads_the_blind_spots() {
    let mut network = Fixture::default();
    let switch = network.host("sw", "switch", &[]);
    let stub = network.stub("unknown-core");
    network.link_of(
        &json!({"type": "host", "host_id": switch, "port": {"if_entry_id": null, "name": "Gi0/1"}}),
        &json!({"type": "stub", "id": stub, "port": null}),
        "Reported",
    );

    let graph = network.graph(TopologyView::L2);
    assert_eq!(node(&graph, "unknown-core").kind, NodeKind::Stub);

    let spots = network.with_input(&GraphOptions::new(TopologyView::L2), blind_spots);
    assert_eq!(spots[0].reason, BlindSpotReason::UnknownNeighbor);
    assert_eq!((spots[0].node_id, spots[0].count), (stub, 1));
}
