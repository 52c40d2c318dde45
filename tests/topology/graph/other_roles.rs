//! Roles of the host application.

use std::collections::BTreeSet;

use toposcope::model::{HostRole, Redaction, TopologyView};
use toposcope::topology::graph::{
    GraphOptions, NodeKind, Positions, Redactor, RoleSource, SensitiveValues, lay_out,
};
use toposcope::topology::render::{Format, Picture};

use super::support::{Fixture, node};

fn role(text: &str) -> HostRole {
    text.parse().unwrap()
}

/// Returns a switch with leaves of these roles.
fn star(roles: impl IntoIterator<Item = String>) -> Fixture {
    let mut network = Fixture::default();
    let hub = network.host("hub", "switch", &[]);
    for (index, text) in roles.into_iter().enumerate() {
        let leaf = network.host(&format!("leaf{index:03}"), "Windows", &[]);
        network.hosts.last_mut().unwrap().role = Some(role(&text));
        network.link((hub, &index.to_string()), (leaf, "eth0"), "Confirmed");
    }
    network
}

fn drawn(network: &Fixture, format: Format) -> String {
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    Picture::new(&graph, "Network").render(format).unwrap()
}

#[test]
fn role_of_the_host_application_is_drawn_as_an_end_device_with_its_name() {
    let network = star(["x.load_balancer".to_owned()]);
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let (hub, leaf) = (node(&graph, "hub"), node(&graph, "leaf000"));
    assert_eq!(leaf.role, role("x.load_balancer"));
    assert_eq!(leaf.role_reason.as_ref().unwrap().source, RoleSource::Manual);
    assert!(hub.y < leaf.y);

    let svg = drawn(&network, Format::Svg);
    assert!(
        svg.contains("Load balancer</title>") && svg.contains("class=\"node host unknown other "),
        "{svg}"
    );
    assert!(svg.contains(">Load balancer</text>"), "the legend names the role");
    assert!(drawn(&network, Format::GraphMl).contains("<data key=\"role\">x.load_balancer</data>"));
    assert!(drawn(&network, Format::Dot).contains("tooltip=\"Load balancer\""));
    assert!(drawn(&network, Format::Json).contains("\"role\":\"x.load_balancer\""));
}

#[test]
fn filter_selects_roles_of_the_host_application() {
    let network = star(["x.a", "x.b", "x.a"].map(str::to_owned));
    let mut options = GraphOptions::new(TopologyView::L2);
    options.roles = BTreeSet::from([role("x.a"), HostRole::Switch]);
    let graph = network.graph_with(&options);
    let shown: BTreeSet<&str> = graph
        .nodes
        .iter()
        .filter(|node| matches!(node.role, HostRole::Other(_)))
        .map(|node| node.label.as_str())
        .collect();
    assert_eq!(shown, BTreeSet::from(["leaf000", "leaf002"]));
}

#[test]
fn many_roles_make_neither_a_long_group_nor_a_long_legend() {
    let network = star((0..300).map(|index| format!("x.role-{index}")));
    let graph = network.graph(TopologyView::L2);
    let group = graph.nodes.iter().find(|node| node.kind == NodeKind::Group).unwrap();
    assert_eq!(group.folded.len(), 32);
    assert_eq!(group.folded.iter().map(|of| of.count).sum::<u32>(), group.collapsed);
    assert_eq!((group.folded[0].role, group.folded[0].count), (HostRole::Unknown, 269));

    let mut options = GraphOptions::new(TopologyView::L2);
    options.collapse = false;
    let mut graph = network.graph_with(&options);
    lay_out(&mut graph, &Positions::default());
    let svg = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    let legend = svg.split("<g class=\"legend\"").nth(1).unwrap();
    assert!(legend.contains("300 other roles"), "{legend}");
    assert!(!legend.contains("Role-1"));
}

/// A share shows roles, but names no device by a text of users.
#[test]
fn redaction_names_devices_of_other_roles_without_the_role() {
    let network = star(["x.vault".to_owned()]);
    let mut graph = network.graph(TopologyView::L2);
    let kinds = [Redaction::Names];
    let values = SensitiveValues::of(&network.summaries(), &kinds);
    Redactor::new(|_| [7; 32], &kinds, &values).redact(&mut graph);
    let other = graph.nodes.iter().find(|node| matches!(node.role, HostRole::Other(_))).unwrap();
    assert!(other.label.starts_with("device-"), "{}", other.label);
}
