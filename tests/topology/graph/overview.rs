use toposcope::model::{HostId, HostRole, TopologyView};
use toposcope::topology::graph::{Detail, Graph, GraphOptions, GroupBy, Node, NodeKind, Positions, lay_out};
use toposcope::topology::links::{End, Link, LinkState};
use toposcope::topology::render::{Format, Picture};

use super::support::{Fixture, labels, node};

/// Returns a core of two switches and buildings: two distribution switches, three access switches, and computers.
fn campus(buildings: usize, computers: usize) -> Fixture {
    let mut network = Fixture::default();
    let core = ["core-1", "core-2"].map(|name| network.host(name, "switch", &[]));
    network.link((core[0], "x"), (core[1], "x"), "Confirmed");
    for building in 1..=buildings {
        let distribution =
            ["a", "b"].map(|side| network.host(&format!("dist-{building}{side}"), "switch", &[]));
        for (up, down) in core.iter().flat_map(|up| distribution.map(|down| (*up, down))) {
            network.link((up, &format!("d{building}")), (down, "up"), "Confirmed");
        }
        for floor in 1..=3 {
            let access = network.host(&format!("access-{building}-{floor}"), "switch", &[]);
            for up in distribution {
                network.link((up, &format!("a{floor}")), (access, "up"), "Confirmed");
            }
            for number in 1..=computers {
                let host = network.host(&format!("pc-{building}-{floor}-{number}"), "Windows 10", &[]);
                network.link((access, &number.to_string()), (host, "eth0"), "Reported");
            }
        }
    }
    network
}

fn options(view: TopologyView) -> GraphOptions {
    let mut options = GraphOptions::new(view);
    options.detail = Some(Detail::Overview);
    options
}

fn overview(network: &Fixture) -> Graph {
    network.graph_with(&options(TopologyView::L2))
}

fn find(network: &Fixture, name: &str) -> HostId {
    network.hosts.iter().find(|host| host.name == name).unwrap().id
}

#[test]
fn box_stands_for_what_hangs_together_without_the_core() {
    let network = campus(6, 20);
    let graph = overview(&network);
    assert_eq!(graph.detail, Detail::Overview);
    let mut expected = vec!["core-1, core-2".to_owned()];
    expected.extend((1..=6).map(|building| format!("dist-{building}a, dist-{building}b")));
    assert_eq!(labels(&graph), expected);
    let building = node(&graph, "dist-3a, dist-3b");
    assert_eq!((building.kind, building.role, building.collapsed), (NodeKind::Area, HostRole::Switch, 65));
    assert_eq!(building.detail.as_deref(), Some("5 switches, 60 workstations"));
    let counts: Vec<_> = building.folded.iter().map(|of| (of.role, of.count)).collect();
    assert_eq!(counts, [(HostRole::Workstation, 60), (HostRole::Switch, 5)]);
    assert_eq!(graph.edges.len(), 6);
    assert!(graph.edges.iter().all(|edge| (edge.bundled, edge.speed_bps) == (4, Some(4_000_000_000))));
    assert_eq!(graph.hidden.leaves, network.hosts.len());
    assert_eq!(overview(&network), graph);
}

#[test]
fn expanded_box_contains_its_devices_and_others_stay_closed() {
    let network = campus(6, 20);
    let closed = overview(&network);
    let building = node(&closed, "dist-3a, dist-3b").id;
    let mut options = options(TopologyView::L2);
    options.expand.insert(building);
    let graph = network.graph_with(&options);
    let area = node(&graph, "dist-3a, dist-3b");
    assert_eq!((area.id, area.collapsed), (building, 0));
    let inside: Vec<&Node> = graph.nodes.iter().filter(|node| node.parent_id == Some(building)).collect();
    let devices = inside.iter().map(|node| node.collapsed.max(1)).sum::<u32>();
    assert_eq!(devices, 65);
    for other in ["core-1, core-2", "dist-1a, dist-1b", "dist-6a, dist-6b"] {
        assert_eq!(node(&graph, other).id, node(&closed, other).id);
    }
    // Four links lead from the core, which is one node, to the two switches.
    let core = node(&graph, "core-1, core-2").id;
    let uplinks: Vec<u32> = graph
        .edges
        .iter()
        .filter(|edge| [edge.source, edge.target].contains(&core))
        .map(|edge| edge.bundled)
        .collect();
    assert_eq!(uplinks.iter().sum::<u32>(), 24);
    assert_eq!(uplinks.len(), 7);
}

#[test]
fn end_devices_of_an_expanded_box_are_folded_where_they_do_not_fit() {
    let network = campus(6, 400);
    let building = node(&overview(&network), "dist-3a, dist-3b").id;
    let mut options = options(TopologyView::L2);
    options.expand.insert(building);
    let graph = network.graph_with(&options);
    let group = node(&graph, "400 workstations");
    assert_eq!(group.parent_id, Some(building));
    options.expand.insert(find(&network, "access-3-2").into());
    let more = network.graph_with(&options);
    assert!(labels(&more).contains(&"pc-3-2-7"));
}

#[test]
fn state_of_a_box_is_the_worst_of_what_connects_others() {
    let mut network = campus(3, 20);
    let set = |network: &mut Fixture, name: &str, state: LinkState| {
        let id = find(network, name);
        let is_there = |end: &End| matches!(end, End::Host { host_id, .. } if *host_id == id);
        let ends = |link: &&mut Link| is_there(&link.source) || is_there(&link.target);
        network.links.iter_mut().for_each(|link| link.state = LinkState::Up);
        network.links.iter_mut().filter(ends).for_each(|link| link.state = state);
    };
    set(&mut network, "pc-1-1-1", LinkState::Down);
    let graph = overview(&network);
    let building = node(&graph, "dist-1a, dist-1b");
    assert_eq!(building.state, LinkState::Up);
    assert_eq!(building.detail.as_deref(), Some("5 switches, 60 workstations, 1 down"));
    set(&mut network, "access-1-1", LinkState::Down);
    let graph = overview(&network);
    assert_eq!(node(&graph, "dist-1a, dist-1b").state, LinkState::Down);
    assert_eq!(node(&graph, "dist-2a, dist-2b").state, LinkState::Up);
    set(&mut network, "dist-2a", LinkState::Down);
    let graph = overview(&network);
    assert!(graph.edges.iter().any(|edge| edge.state == LinkState::Degraded), "a bundle is partly down");
}

#[test]
fn locations_are_boxes_if_most_switches_have_one() {
    let mut network = campus(4, 5);
    for host in &mut network.hosts {
        let building = host.name.split('-').nth(1).and_then(|rest| rest.get(..1).map(str::to_owned));
        let is_located = host.name.starts_with("dist") || host.name.starts_with("access");
        host.sys_location = building.filter(|_| is_located).map(|building| format!("Building {building}"));
    }
    let graph = overview(&network);
    let mut expected: Vec<String> = (1..=4).map(|building| format!("Building {building}")).collect();
    expected.push("core-1, core-2".to_owned());
    assert_eq!(labels(&graph), expected);
    // Computers are with their switches.
    assert_eq!(node(&graph, "Building 2").collapsed, 20);
    // The containers of a grouped graph have the same ids.
    let mut grouped = GraphOptions::new(TopologyView::L2);
    grouped.group_by = Some(GroupBy::Location);
    let containers = network.graph_with(&grouped);
    assert_eq!(node(&graph, "Building 2").id, node(&containers, "Building 2").id);
    grouped.detail = Some(Detail::Overview);
    assert_eq!(network.graph_with(&grouped), graph);
    // One location divides nothing.
    network.hosts.iter_mut().for_each(|host| host.sys_location = Some("Campus".to_owned()));
    assert!(labels(&overview(&network)).contains(&"dist-1a, dist-1b"));
}

#[test]
fn many_parts_are_joined_by_name() {
    let mut network = Fixture::default();
    let core = network.host("core", "switch", &[]);
    for number in 0..300 {
        let access = network.host(&format!("access-{number}"), "switch", &[]);
        network.link((core, &number.to_string()), (access, "1"), "Confirmed");
        for port in 0..3 {
            let host = network.host(&format!("pc-{number}-{port}"), "Windows 10", &[]);
            network.link((access, &format!("p{port}")), (host, "1"), "Confirmed");
        }
    }
    for number in 0..500 {
        network.host(&format!("lonely-{number}"), "switch", &[]);
    }
    let graph = overview(&network);
    assert!((10..=42).contains(&graph.nodes.len()), "{:?}", labels(&graph));
    assert!(
        labels(&graph).iter().any(|label| label.starts_with("access-0 \u{2013} access-")),
        "{:?}",
        labels(&graph)
    );
    let core = node(&graph, "core");
    assert_eq!((core.kind, core.collapsed), (NodeKind::Host, 0));
}

#[test]
fn subnets_and_hypervisors_are_boxes_by_themselves() {
    let mut network = Fixture::default();
    let router = network.host("router", "router", &[]);
    for number in 1..=5 {
        let subnet = network.subnet(&format!("Floor {number}"), &format!("10.0.{number}.0/24"));
        let mut gateway = toposcope::model::Interface::new(&network.hosts[0], [10, 0, number, 1].into());
        gateway.subnet_id = Some(subnet);
        network.hosts[0].interfaces.push(gateway);
        for host in 10..30 {
            network.host(
                &format!("pc-{number}-{host}"),
                "Windows 10",
                &[(&format!("10.0.{number}.{host}"), subnet)],
            );
        }
    }
    let graph = network.graph_with(&options(TopologyView::L3));
    assert_eq!(node(&graph, "router").id, router.into());
    let floor = node(&graph, "Floor 3");
    assert_eq!((floor.kind, floor.collapsed), (NodeKind::Subnet, 20));
    assert_eq!(floor.detail.as_deref(), Some("20 workstations"));
    let mut opened = options(TopologyView::L3);
    opened.expand.insert(floor.id);
    let graph = network.graph_with(&opened);
    assert_eq!(
        graph.nodes.iter().filter(|inner| inner.parent_id == Some(node(&graph, "Floor 3").id)).count(),
        20
    );
}

#[test]
fn every_format_draws_the_overview() {
    let network = campus(6, 20);
    let mut graph = overview(&network);
    let first = node(&graph, "dist-3a, dist-3b").id;
    for expanded in [None, Some(first)] {
        if let Some(expanded) = expanded {
            let mut options = options(TopologyView::L2);
            options.expand.insert(expanded);
            graph = network.graph_with(&options);
        }
        lay_out(&mut graph, &Positions::default());
        for format in Format::ALL {
            let file = Picture::new(&graph, "Campus").render(*format).unwrap();
            assert!(file.contains("dist-1a, dist-1b") && file.contains("dist-3a"), "{format}");
        }
        let picture = Picture::new(&graph, "Campus").render(Format::Svg).unwrap();
        assert!(picture.contains(">4 links</text>"), "{picture}");
    }
}

#[test]
fn overview_of_nothing_is_empty() {
    let network = Fixture::default();
    for view in [TopologyView::L2, TopologyView::L3, TopologyView::Workloads] {
        assert!(network.graph_with(&options(view)).nodes.is_empty());
    }
}
