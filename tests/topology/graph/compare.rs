//! Two states of a network in one graph.

use serde_json::{Value, json};
use toposcope::model::{HostId, NodeId, Redaction, TopologyView};
use toposcope::topology::graph::{
    ChangeCounts, Detail, Edge, Graph, GraphChange, GraphComparison, GraphOptions, Node, Redactor,
    SensitiveValues, compare,
};
use toposcope::topology::render::{Format, Picture};

use super::support::Fixture;

const SWITCH: &str = "Cisco IOS Software, C2960 Software";

/// Two switches with an uplink and a computer at the first one.
struct Office {
    network: Fixture,
    switches: [HostId; 2],
    computer: HostId,
}

impl Office {
    fn new() -> Self {
        Self::with_computer_at(0, "Gi0/5")
    }

    fn with_computer_at(switch: usize, port: &str) -> Self {
        let mut network = Fixture::default();
        let switches = ["sw-1", "sw-2"].map(|name| network.host(name, SWITCH, &[]));
        let computer = network.host("pc-1", "Windows 10", &[]);
        network.link((switches[0], "Gi0/1"), (switches[1], "Gi0/1"), "Confirmed");
        network.link((switches[switch], port), (computer, "eth0"), "Confirmed");
        // Links get their ids in order.
        network.links[1].id =
            format!("00000000-0000-0000-0000-{switch:06}{:06}", port.len()).parse().unwrap();
        Self { network, switches, computer }
    }
}

fn compared(before: &Fixture, after: &Fixture) -> Graph {
    compared_with(before, after, &GraphOptions::new(TopologyView::L2))
}

fn compared_with(before: &Fixture, after: &Fixture, options: &GraphOptions) -> Graph {
    before.with_input(options, |before| after.with_input(options, |after| compare(before, after)))
}

fn node(graph: &Graph, id: HostId) -> &Node {
    graph.nodes.iter().find(|node| node.id == NodeId::from(id)).unwrap()
}

fn changed(graph: &Graph) -> Vec<(&str, GraphChange)> {
    graph.nodes.iter().filter_map(|node| Some((node.label.as_str(), node.change?))).collect()
}

fn changed_edges(graph: &Graph) -> Vec<&Edge> {
    graph.edges.iter().filter(|edge| edge.change.is_some()).collect()
}

#[test]
fn equal_states_differ_in_nothing() {
    let office = Office::new();
    let graph = compared(&office.network, &office.network);
    let present = office.network.graph(TopologyView::L2);
    assert_eq!((&graph.nodes, &graph.edges), (&present.nodes, &present.edges));
    assert_eq!(graph.comparison, Some(GraphComparison::default()));
}

#[test]
fn changes_beyond_the_focus_are_not_counted() {
    let (before, mut after) = (Office::new(), Office::new());
    let far = after.network.host("sw-3", SWITCH, &[]);
    let farther = after.network.host("sw-4", SWITCH, &[]);
    after.network.link((after.switches[1], "Gi0/9"), (far, "Gi0/1"), "Confirmed");
    after.network.link((far, "Gi0/2"), (farther, "Gi0/1"), "Confirmed");
    let mut options = GraphOptions::new(TopologyView::L2);
    let counts = |options: &GraphOptions| {
        let graph = compared_with(&before.network, &after.network, options);
        let comparison = graph.comparison.unwrap();
        (comparison.nodes.added, comparison.edges.added)
    };
    assert_eq!(counts(&options), (2, 2));
    (options.focus, options.depth) = (Some(after.switches[1].into()), 1);
    assert_eq!(counts(&options), (1, 1));
    options.focus = Some(after.computer.into());
    assert_eq!(counts(&options), (0, 0));
}

#[test]
fn cable_in_another_port_is_one_edge_that_has_moved() {
    let (before, after) = (Office::new(), Office::with_computer_at(1, "Gi0/10"));
    let graph = compared(&before.network, &after.network);
    assert_eq!((changed(&graph), graph.edges.len()), (Vec::new(), 2));
    let [edge] = changed_edges(&graph)[..] else { panic!("{:#?}", graph.edges) };
    assert_eq!(edge.change, Some(GraphChange::Moved));
    let from = edge.moved_from.as_ref().unwrap();
    assert_eq!((from.end, from.node), (after.switches[1].into(), before.switches[0].into()));
    assert_eq!((from.label.as_str(), from.port.as_ref().unwrap().name.as_str()), ("sw-1", "Gi0/5"));
    let counts = graph.comparison.unwrap();
    assert_eq!((counts.edges.added, counts.edges.removed, counts.edges.moved), (0, 0, 1));
    assert_eq!(counts.nodes, ChangeCounts::default());
}

#[test]
fn link_between_the_same_ports_is_the_same_whatever_its_id() {
    let before = Office::new();
    let mut after = Office::new();
    after.network.links[1].id = "00000000-0000-0000-0000-00000000ffff".parse().unwrap();
    assert!(changed_edges(&compared(&before.network, &after.network)).is_empty());
}

#[test]
fn host_that_is_away_is_drawn_as_it_was_with_its_link() {
    let before = Office::new();
    let mut after = Office::new();
    after.network.hosts.pop();
    after.network.links.pop();
    let graph = compared(&before.network, &after.network);
    assert_eq!(changed(&graph), [("pc-1", GraphChange::Removed)]);
    let [edge] = changed_edges(&graph)[..] else { panic!("{:#?}", graph.edges) };
    assert_eq!(edge.change, Some(GraphChange::Removed));
    let back = compared(&after.network, &before.network);
    assert_eq!(changed(&back), [("pc-1", GraphChange::Added)]);
    assert_eq!(changed_edges(&back)[0].change, Some(GraphChange::Added));
}

#[test]
fn host_that_has_lost_its_only_link_is_not_removed() {
    let before = Office::new();
    let mut after = Office::new();
    after.network.links.pop();
    let graph = compared(&before.network, &after.network);
    assert_eq!(node(&graph, after.computer).change, None);
    assert_eq!(changed_edges(&graph)[0].change, Some(GraphChange::Removed));
}

#[test]
fn renamed_host_is_the_same_node() {
    let before = Office::new();
    let mut after = Office::new();
    after.network.hosts[2].name = "reception".to_owned();
    let graph = compared(&before.network, &after.network);
    assert_eq!(node(&graph, after.computer).label, "reception");
    assert_eq!((changed(&graph), changed_edges(&graph).len()), (Vec::new(), 0));
}

#[test]
fn computer_in_place_of_another_is_an_added_and_a_removed_one() {
    let before = Office::new();
    let mut after = Office::new();
    after.network.hosts.pop();
    after.network.links.pop();
    let other = after.network.host("pc-2", "Windows 10", &[]);
    let link = after.network.link((after.switches[0], "Gi0/5"), (other, "eth0"), "Confirmed");
    after.network.links.iter_mut().filter(|own| own.id == link).for_each(|own| {
        own.id = "00000000-0000-0000-0000-00000000fffe".parse().unwrap();
    });
    let graph = compared(&before.network, &after.network);
    let mut nodes = changed(&graph);
    nodes.sort_unstable();
    assert_eq!(nodes, [("pc-1", GraphChange::Removed), ("pc-2", GraphChange::Added)]);
    let mut edges: Vec<_> = changed_edges(&graph).iter().filter_map(|edge| edge.change).collect();
    edges.sort_unstable();
    assert_eq!(edges, [GraphChange::Added, GraphChange::Removed]);
}

#[test]
fn device_that_has_been_scanned_since_is_the_same() {
    let mut before = Fixture::default();
    let switch = before.host("sw-1", SWITCH, &[]);
    let stub = before.stub("SW-2");
    let end = |port: &str| json!({"if_entry_id": null, "name": port});
    let of_host = |host: HostId, port: &str| json!({"type": "host", "host_id": host, "port": end(port)});
    let of_stub = json!({"type": "stub", "id": stub, "port": end("Gi0/1")});
    before.link_of(&of_host(switch, "Gi0/1"), &of_stub, "Reported");
    let mut after = Fixture::default();
    after.host("sw-1", SWITCH, &[]);
    let scanned = after.host("sw-2", SWITCH, &[]);
    after.link_of(&of_host(switch, "Gi0/1"), &of_host(scanned, "Gi0/1"), "Confirmed");
    after.links[0].id = "00000000-0000-0000-0000-00000000fffd".parse().unwrap();
    let graph = compared(&before, &after);
    assert_eq!((graph.nodes.len(), graph.edges.len()), (2, 1));
    assert_eq!((changed(&graph), changed_edges(&graph).len()), (Vec::new(), 0));
}

#[test]
fn parallel_links_are_marked_one_by_one() {
    let mut before = Fixture::default();
    let switches = ["sw-1", "sw-2"].map(|name| before.host(name, SWITCH, &[]));
    before.link((switches[0], "Gi0/1"), (switches[1], "Gi0/1"), "Confirmed");
    let mut after = Fixture::default();
    for name in ["sw-1", "sw-2"] {
        after.host(name, SWITCH, &[]);
    }
    for port in ["Gi0/1", "Gi0/2", "Gi0/3"] {
        after.link((switches[0], port), (switches[1], port), "Confirmed");
    }
    let graph = compared(&before, &after);
    let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.change, edge.members.len())).collect();
    assert_eq!(edges.len(), 2, "{edges:?}");
    assert!(edges.contains(&(None, 0)) && edges.contains(&(Some(GraphChange::Added), 2)), "{edges:?}");
    assert_eq!(graph.comparison.unwrap().edges.added, 2);
}

#[test]
fn end_devices_are_folded_with_those_that_share_their_change() {
    let mut before = Fixture::default();
    let switch = before.host("sw-1", SWITCH, &[]);
    let mut after = Fixture::default();
    after.host("sw-1", SWITCH, &[]);
    for number in 0..400 {
        let port = format!("Gi1/0/{number}");
        for network in [&mut before, &mut after] {
            let computer = network.host(&format!("pc-{number}"), "Windows 10", &[]);
            network.link((switch, &port), (computer, "eth0"), "Confirmed");
        }
    }
    for number in 0..300 {
        let computer = after.host(&format!("phone-{number}"), "", &[]);
        after.link((switch, &format!("Gi2/0/{number}")), (computer, "eth0"), "Confirmed");
    }
    let graph = compared(&before, &after);
    let mut groups: Vec<_> = graph
        .nodes
        .iter()
        .filter(|node| node.collapsed > 0)
        .map(|node| (node.change, node.collapsed))
        .collect();
    groups.sort_unstable();
    assert_eq!(groups, [(None, 400), (Some(GraphChange::Added), 300)]);
    let ids: std::collections::BTreeSet<NodeId> = graph.nodes.iter().map(|node| node.id).collect();
    assert_eq!(ids.len(), graph.nodes.len());
    assert_eq!(graph.comparison.unwrap().nodes.added, 300);
}

#[test]
fn hosts_that_the_view_has_no_place_for_are_counted() {
    let before = Office::new();
    let mut after = Office::new();
    after.network.host("lonely", "", &[]);
    let count = |graph: &Graph, code: &str| -> Option<String> {
        graph
            .warnings
            .iter()
            .find(|warning| warning.code == code)
            .map(|warning| warning.params["count"].clone())
    };
    let graph = compared(&before.network, &after.network);
    assert_eq!(count(&graph, "added_hosts_not_drawn").as_deref(), Some("1"));
    assert_eq!(count(&graph, "removed_hosts_not_drawn"), None);
    let back = compared(&after.network, &before.network);
    assert_eq!(count(&back, "removed_hosts_not_drawn").as_deref(), Some("1"));
}

#[test]
fn host_in_another_subnet_has_moved() {
    let state = |subnet: usize| {
        let mut network = Fixture::default();
        let subnets = [network.subnet("a", "10.1.0.0/24"), network.subnet("b", "10.2.0.0/24")];
        network.host("gw", SWITCH, &[("10.1.0.1", subnets[0]), ("10.2.0.1", subnets[1])]);
        network.host("pc", "Windows 10", &[(["10.1.0.9", "10.2.0.9"][subnet], subnets[subnet])]);
        network
    };
    let graph = compared_with(&state(0), &state(1), &GraphOptions::new(TopologyView::L3));
    let moved: Vec<_> = graph.nodes.iter().filter(|node| node.change.is_some()).collect();
    let [node] = moved[..] else { panic!("{moved:#?}") };
    assert_eq!((node.label.as_str(), node.change), ("pc", Some(GraphChange::Moved)));
    assert_eq!(node.moved_from.as_deref(), Some("a"));
}

#[test]
fn redacted_graph_does_not_name_where_a_cable_was() {
    let (before, after) = (Office::new(), Office::with_computer_at(1, "Gi0/10"));
    let mut graph = compared(&before.network, &after.network);
    let kinds = [Redaction::Names];
    let values = SensitiveValues::of(&after.network.summaries(), &kinds);
    Redactor::new(|value: &[u8]| [value.len() as u8; 32], &kinds, &values).redact(&mut graph);
    assert!(graph.edges.iter().all(|edge| edge.moved_from.is_none()));
    assert!(!serde_json::to_string(&graph).unwrap().contains("sw-1"));
}

/// Every format says what has become of each part, in signs or words.
#[test]
fn files_say_what_has_changed() {
    let (before, mut after) = (Office::new(), Office::with_computer_at(1, "Gi0/10"));
    let added = after.network.host("sw-3", SWITCH, &[]);
    after.network.link((after.switches[0], "Gi0/3"), (added, "Gi0/1"), "Confirmed");
    let mut before = before;
    let removed = before.network.host("sw-4", SWITCH, &[]);
    before.network.link((before.switches[0], "Gi0/4"), (removed, "Gi0/1"), "Confirmed");
    before.network.links[2].id = "00000000-0000-0000-0000-00000000fffc".parse().unwrap();
    let mut graph = compared(&before.network, &after.network);
    toposcope::topology::graph::lay_out(&mut graph, &toposcope::topology::graph::Positions::default());
    let rendered = |format| Picture::new(&graph, "Office").render(format).unwrap();
    for (format, expected) in [
        (
            Format::Svg,
            &[
                "change-added",
                "change-removed",
                "change-moved",
                "class=\"arrow\"",
                "Moved link",
                "from sw-1 Gi0/5",
                "Changes: 1 node added",
            ][..],
        ),
        (
            Format::Dot,
            &[
                "+ added",
                "\u{2212} removed",
                "moved from sw-1 Gi0/5",
                "dir=",
                "Office\\nChanges: 1 node added",
                "+ sw-3",
                "\u{2212} sw-4",
            ],
        ),
        (Format::Mermaid, &["change-added", "change-removed", "moved from sw-1 Gi0/5"]),
        (
            Format::GraphMl,
            &["<data key=\"change\">added</data>", "<data key=\"edge_moved_from\">sw-1 Gi0/5</data>"],
        ),
        (Format::DrawIo, &["+ sw-3", "\u{2212} sw-4", "Arrow=block", "Removed link"]),
        (Format::Json, &["\"change\":\"moved\"", "\"moved_from\":", "\"comparison\":"]),
    ] {
        let file = rendered(format);
        for text in expected {
            assert!(file.contains(text), "{format}: {text}\n{file}");
        }
    }
    let json: Value = serde_json::from_str(&rendered(Format::Json)).unwrap();
    assert_eq!(serde_json::from_value::<Graph>(json).unwrap().comparison, graph.comparison);
    assert_eq!(graph.detail, Detail::Devices);
}
