use toposcope::discovery::report::{AddressRow, Reporter};
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{HostId, SubnetId, Timestamp, TopologyView};
use toposcope::topology::graph::{EdgeKind, NodeKind};
use toposcope::topology::render::{Format, Picture};

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

/// Adds a host whose addresses are known with the lengths of their prefixes, and belong to no subnet.
fn masked(network: &mut Fixture, name: &str, addresses: &[(&str, u8)]) -> HostId {
    let rows = addresses.iter().map(|(address, length)| {
        let mut row = AddressRow::new(address.parse().unwrap());
        row.prefix_length = Some(*length);
        row
    });
    let rows = ClaimRows::Addresses(rows.collect());
    let addresses: Vec<(&str, SubnetId)> =
        addresses.iter().map(|(address, _)| (*address, SubnetId::nil())).collect();
    let id = network.host(name, "router", &addresses);
    let host = network.hosts.last().unwrap();
    network.claims.push(Claim::new(host, Reporter::new("test"), Timestamp::UNIX_EPOCH, rows));
    id
}

#[test]
fn addresses_and_masks_imply_subnets_where_no_stored_one_covers_them() {
    let mut network = Fixture::default();
    let office = network.subnet("Office", "10.0.0.0/16");
    let a = masked(&mut network, "a", &[("10.0.1.1", 24), ("192.0.2.1", 24), ("10.9.0.1", 30)]);
    masked(&mut network, "b", &[("192.0.2.2", 24), ("203.0.113.9", 0), ("203.0.113.10", 32)]);
    let c = masked(&mut network, "c", &[("10.9.0.2", 30)]);
    let graph = network.graph(TopologyView::L3);
    let subnets: Vec<(&str, bool, bool)> = graph
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Subnet)
        .map(|node| (node.label.as_str(), node.implied, node.entity_id.is_some()))
        .collect();
    let [stored, implied] = [("Office", false, true), ("192.0.2.0/24", true, false)];
    assert!(subnets == [stored, implied] || subnets == [implied, stored], "{subnets:?}");
    assert_eq!(node(&graph, "b").parent_id, Some(node(&graph, "192.0.2.0/24").id));
    assert!(graph.nodes.iter().any(|node| node.id == office.into()));
    let routed: Vec<_> = graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Routed).collect();
    assert_eq!(routed.len(), 1);
    assert!([routed[0].source, routed[0].target].contains(&a.into()));
    assert!([routed[0].source, routed[0].target].contains(&c.into()));
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    assert!(picture.contains(">Subnet implied by addresses and masks</text>"));
    // The same subnet has the same id in every graph.
    assert_eq!(node(&network.graph(TopologyView::L3), "192.0.2.0/24").id, node(&graph, "192.0.2.0/24").id);
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
