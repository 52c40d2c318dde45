use toposcope::model::{HostId, HostRole, TopologyView};
use toposcope::topology::graph::{GraphOptions, NodeKind, Positions, lay_out};
use toposcope::topology::render::{Format, Picture};

use super::support::{Fixture, labels, node};

/// Returns a switch with leaves, and the switch's id.
fn star(leaves: usize) -> (Fixture, HostId) {
    let mut network = Fixture::default();
    let switch = network.host("sw", "switch", &[]);
    for index in 0..leaves {
        let host = network.host(&format!("pc{index:02}"), "Windows 10", &[]);
        network.link((switch, &format!("Gi0/{index}")), (host, "eth0"), "Reported");
    }
    (network, switch)
}

#[test]
fn leaves_beyond_eight_become_one_group() {
    let (network, switch) = star(45);

    let graph = network.graph(TopologyView::L2);

    let group = node(&graph, "+37");
    assert_eq!((group.kind, group.collapsed), (NodeKind::Group, 37));
    assert_eq!(graph.hidden.leaves, 37);
    assert_eq!(graph.nodes.len(), 10);
    assert!(graph.edges.iter().any(|edge| (edge.source, edge.target) == (switch.into(), group.id)));
}

#[test]
fn eight_leaves_are_drawn_one_by_one() {
    let (network, _) = star(8);
    assert_eq!(network.graph(TopologyView::L2).nodes.len(), 9);
}

#[test]
fn expanded_group_and_collapse_off_show_all_leaves() {
    let (network, switch) = star(45);
    let group = node(&network.graph(TopologyView::L2), "+37").id;
    for expanded in [group, switch.into()] {
        let mut options = GraphOptions::new(TopologyView::L2);
        options.expand.insert(expanded);
        assert_eq!(network.graph_with(&options).nodes.len(), 46);
    }
    let mut options = GraphOptions::new(TopologyView::L2);
    options.collapse = false;
    assert_eq!(network.graph_with(&options).nodes.len(), 46);
}

#[test]
fn group_keeps_its_id_when_leaves_come_and_go() {
    let id = |leaves| node(&star(leaves).0.graph(TopologyView::L2), &format!("+{}", leaves - 8)).id;
    assert_eq!(id(20), id(30));
}

#[test]
fn switches_at_the_end_of_one_link_are_not_folded() {
    let mut network = Fixture::default();
    let core = network.host("core", "switch", &[]);
    for index in 0..12 {
        let access = network.host(&format!("access{index:02}"), "switch", &[]);
        network.link((core, &format!("Te1/{index}")), (access, "Te1"), "Confirmed");
    }
    let graph = network.graph(TopologyView::L2);
    assert_eq!(graph.nodes.len(), 13);
    assert!(!labels(&graph).iter().any(|label| label.starts_with('+')));
}

#[test]
fn fold_says_what_is_in_it() {
    let mut network = Fixture::default();
    let hub = network.host("hub", "switch", &[]);
    for number in 0..20 {
        let description = if number < 5 { "HP LaserJet" } else { "Windows" };
        let host = network.host(&format!("host{number}"), description, &[]);
        network.link((hub, &number.to_string()), (host, "1"), "Confirmed");
    }
    let mut graph = network.graph(TopologyView::L2);
    let group = graph.nodes.iter().find(|node| node.collapsed > 0).unwrap();
    let counts: Vec<(HostRole, u32)> = group.folded.iter().map(|of| (of.role, of.count)).collect();
    assert_eq!(counts, [(HostRole::Workstation, 12)]);
    let mut options = GraphOptions::new(TopologyView::L2);
    options.collapse = false;
    assert!(network.graph_with(&options).nodes.iter().all(|node| node.folded.is_empty()));
    lay_out(&mut graph, &Positions::default());
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    assert!(picture.contains("12 workstations</title>"), "{picture}");
}
