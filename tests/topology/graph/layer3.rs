use toposcope::model::{SubnetId, TopologyView};
use toposcope::topology::graph::{EdgeKind, NodeKind};

use super::support::{Fixture, node};

#[test]
fn host_of_one_subnet_is_in_it_and_host_of_two_is_between_them() {
    let mut network = Fixture::default();
    let office = network.subnet("Office", "10.0.1.0/24");
    let servers = network.subnet("Servers", "10.0.2.0/24");
    network.host("pc", "", &[("10.0.1.5", office)]);
    let router = network.host("rt", "router", &[("10.0.1.1", office), ("10.0.2.1", servers)]);

    let graph = network.graph(TopologyView::L3);

    assert_eq!(node(&graph, "pc").parent_id, Some(office.into()));
    assert_eq!(node(&graph, "pc").detail.as_deref(), Some("10.0.1.5"));
    assert_eq!(node(&graph, "rt").parent_id, None);
    assert_eq!(node(&graph, "Office").detail.as_deref(), Some("10.0.1.0/24"));
    assert_eq!(graph.edges.len(), 2);
    for edge in &graph.edges {
        assert_eq!((edge.kind, edge.source), (EdgeKind::Member, router.into()));
    }
    let position = |label: &str| graph.nodes.iter().position(|node| node.label == label).unwrap();
    assert!(position("Office") < position("pc"), "containers come first");
}

#[test]
fn subnet_of_two_addresses_is_a_link_between_its_routers() {
    for cidr in ["10.9.0.0/30", "10.9.0.0/31", "2001:db8::/127"] {
        let addresses =
            if cidr.contains(':') { ["2001:db8::", "2001:db8::1"] } else { ["10.9.0.0", "10.9.0.1"] };
        let mut network = Fixture::default();
        let transfer = network.subnet("", cidr);
        let a = network.host("a", "router", &[(addresses[0], transfer)]);
        let b = network.host("b", "router", &[(addresses[1], transfer)]);

        let graph = network.graph(TopologyView::L3);

        assert_eq!(graph.nodes.iter().filter(|node| node.kind == NodeKind::Subnet).count(), 0, "{cidr}");
        assert_eq!(graph.edges.len(), 1, "{cidr}");
        let edge = &graph.edges[0];
        assert_eq!(edge.kind, EdgeKind::Routed);
        assert_eq!(
            (edge.source.min(edge.target), edge.source.max(edge.target)),
            (a.min(b).into(), a.max(b).into())
        );
    }
}

#[test]
fn address_without_a_stated_subnet_is_in_the_one_with_the_longest_prefix() {
    let mut network = Fixture::default();
    network.subnet("Site", "10.0.0.0/8");
    let office = network.subnet("Office", "10.0.1.0/24");
    network.host("pc", "", &[("10.0.1.5", SubnetId::from_u128(1))]);

    let graph = network.graph(TopologyView::L3);

    assert_eq!(node(&graph, "pc").parent_id, Some(office.into()));
    assert!(graph.warnings.iter().any(|warning| warning.code == "empty_subnets"));
}
