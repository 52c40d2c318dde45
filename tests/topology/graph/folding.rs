use toposcope::model::{HostId, HostRole, NodeId, TopologyView};
use toposcope::topology::graph::{
    Graph, GraphOptions, Node, NodeKind, Positions, Redactor, SensitiveValues, lay_out,
};
use toposcope::topology::render::{Format, Picture};

use super::support::{Fixture, labels, node};

/// A number of computers that do not fit on a sheet.
const CROWD: usize = 900;

/// Adds a switch with end devices, and returns its id.
fn switch(network: &mut Fixture, name: &str, leaves: usize) -> HostId {
    let switch = network.host(name, "switch", &[]);
    for index in 0..leaves {
        let host = network.host(&format!("{name}-pc{index:03}"), "Windows 10", &[]);
        network.link((switch, &format!("Gi0/{index}")), (host, "eth0"), "Reported");
    }
    switch
}

fn star(leaves: usize) -> (Fixture, HostId) {
    let mut network = Fixture::default();
    let switch = switch(&mut network, "sw", leaves);
    (network, switch)
}

fn groups(graph: &Graph) -> Vec<&Node> {
    graph.nodes.iter().filter(|node| node.kind == NodeKind::Group).collect()
}

/// Returns the size of names in points if the picture of a graph fills a landscape sheet of A3 with margins of 10 mm.
fn points_on_a3(graph: &Graph) -> f64 {
    let mut graph = graph.clone();
    lay_out(&mut graph, &Positions::default());
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    let extent = |name: &str| -> f64 {
        let after = picture.split(&format!(" {name}=\"")).nth(1).unwrap();
        after.split('"').next().unwrap().parse().unwrap()
    };
    let millimeters = (400.0 / extent("width")).min(277.0 / extent("height"));
    millimeters * 13.0 * 72.0 / 25.4
}

#[test]
fn end_devices_that_fit_on_a_sheet_are_drawn_one_by_one() {
    let (network, _) = star(45);
    let graph = network.graph(TopologyView::L2);
    assert_eq!((graph.nodes.len(), graph.hidden.leaves), (46, 0));
    assert!(points_on_a3(&graph) >= 7.0);
}

#[test]
fn end_devices_that_do_not_fit_on_a_sheet_become_one_group() {
    let (network, switch) = star(CROWD);

    let graph = network.graph(TopologyView::L2);

    let group = node(&graph, "900 workstations");
    assert_eq!((group.kind, group.collapsed, group.role), (NodeKind::Group, 900, HostRole::Workstation));
    assert_eq!((graph.hidden.leaves, graph.nodes.len()), (CROWD, 2));
    assert!(graph.edges.iter().any(|edge| (edge.source, edge.target) == (switch.into(), group.id)));
    assert_eq!(network.graph(TopologyView::L2), graph);
}

#[test]
fn largest_groups_are_folded_until_names_have_seven_points_on_a3() {
    let mut network = Fixture::default();
    let core = network.host("core", "router", &[]);
    let sizes = [30, 70, 90, 80, 60, 50, 85];
    for size in sizes {
        let name = format!("sw{size}");
        let switch = switch(&mut network, &name, size);
        network.link((core, &name), (switch, "up"), "Confirmed");
    }
    let graph = network.graph(TopologyView::L2);
    assert!(points_on_a3(&graph) >= 7.0, "{}", points_on_a3(&graph));
    let mut folded: Vec<u32> = groups(&graph).iter().map(|group| group.collapsed).collect();
    folded.sort_unstable_by(|one, other| other.cmp(one));
    assert!((1..sizes.len()).contains(&folded.len()), "{folded:?}");
    assert_eq!(folded, [90, 85, 80, 70, 60, 50, 30][..folded.len()]);
    // One group less would not be enough.
    let mut options = GraphOptions::new(TopologyView::L2);
    let last = groups(&graph).into_iter().min_by_key(|group| group.collapsed).unwrap();
    options.expand.insert(last.id);
    let with_last = network.graph_with(&options);
    assert!(points_on_a3(&with_last) < 7.0, "{}", points_on_a3(&with_last));
    // Unfolding one group does not fold others.
    assert_eq!(groups(&with_last).len(), folded.len() - 1);
}

#[test]
fn expanded_group_and_collapse_off_show_all_end_devices() {
    let (network, switch) = star(CROWD);
    let group = node(&network.graph(TopologyView::L2), "900 workstations").id;
    for expanded in [group, switch.into()] {
        let mut options = GraphOptions::new(TopologyView::L2);
        options.expand.insert(expanded);
        assert_eq!(network.graph_with(&options).nodes.len(), CROWD + 1);
    }
    let mut options = GraphOptions::new(TopologyView::L2);
    options.collapse = false;
    assert_eq!(network.graph_with(&options).nodes.len(), CROWD + 1);
}

#[test]
fn group_keeps_its_id_when_leaves_come_and_go() {
    let id = |leaves| groups(&star(leaves).0.graph(TopologyView::L2))[0].id;
    assert_eq!(id(CROWD), id(CROWD + 100));
}

#[test]
fn what_connects_others_is_never_folded() {
    let mut network = Fixture::default();
    let core = network.host("core", "switch", &[]);
    for index in 0..700 {
        let description = if index % 2 == 0 { "switch" } else { "Aironet access point" };
        let access = network.host(&format!("access{index:03}"), description, &[]);
        network.link((core, &format!("Te1/{index}")), (access, "Te1"), "Confirmed");
    }
    switch(&mut network, "sw", 2);
    let graph = network.graph(TopologyView::L2);
    assert_eq!(graph.nodes.len(), 703);
    assert!(labels(&graph).contains(&"2 workstations"), "end devices are folded where nothing else helps");
}

/// Returns a switch with end devices of several kinds, at ports in the order of their numbers.
fn kinds(of: impl Fn(usize) -> &'static str, vlan: impl Fn(usize) -> Option<u16>) -> Fixture {
    let mut network = Fixture::default();
    let hub = network.host("hub", "switch", &[]);
    for number in 0..CROWD {
        let host = network.host(&format!("host{number}"), of(number), &[]);
        network.link((hub, &format!("GigabitEthernet1/0/{}", number + 1)), (host, "1"), "Confirmed");
        network.links.last_mut().unwrap().untagged_vlan = vlan(number);
    }
    network
}

const LASERJET: &str = "HP LaserJet";
const WINDOWS: &str = "Windows 10";

#[test]
fn fold_says_what_is_in_it() {
    let kind = |number| if number % 225 == 7 { LASERJET } else { WINDOWS };
    let mut graph = kinds(kind, |_| None).graph(TopologyView::L2);
    let group = node(&graph, "896 workstations, 4 printers").clone();
    let counts: Vec<(HostRole, u32)> = group.folded.iter().map(|of| (of.role, of.count)).collect();
    assert_eq!(counts, [(HostRole::Workstation, 896), (HostRole::Printer, 4)]);
    // Printers are at nine ranges of ports, which says nothing.
    assert!(group.parts.is_empty() && group.detail.is_none());
    assert!(graph.nodes.iter().all(|node| node.folded.is_empty() == (node.collapsed == 0)));
    lay_out(&mut graph, &Positions::default());
    let picture = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    assert!(picture.contains(">896 workstations, 4 printers</text>"), "{picture}");
}

#[test]
fn fold_says_which_vlans_or_ports_divide_it() {
    let kind = |number| if number < 890 { WINDOWS } else { LASERJET };
    let parts = |network: &Fixture| {
        let graph = network.graph(TopologyView::L2);
        let group = groups(&graph)[0].clone();
        let counts = |part: &toposcope::topology::graph::FoldedPart| {
            part.folded.iter().map(|of| (of.role, of.count)).collect::<Vec<_>>()
        };
        let parts: Vec<_> =
            group.parts.iter().map(|part| (part.vlan, part.ports.clone(), counts(part))).collect();
        (parts, group)
    };
    let (workstation, printer) = (HostRole::Workstation, HostRole::Printer);

    let (by_port, group) = parts(&kinds(kind, |_| None));
    let ports = |text: &str| Some(text.to_owned());
    assert_eq!(
        by_port,
        [
            (None, ports("Gi1/0/1\u{2013}890"), vec![(workstation, 890)]),
            (None, ports("Gi1/0/891\u{2013}900"), vec![(printer, 10)]),
        ]
    );
    assert_eq!(group.detail.as_deref(), Some("Gi1/0/1\u{2013}890: 890, Gi1/0/891\u{2013}900: 10"));

    let (by_vlan, group) = parts(&kinds(kind, |number| match number {
        0..500 => Some(20),
        890.. => Some(30),
        _ => None,
    }));
    assert_eq!(
        by_vlan,
        [
            (Some(20), None, vec![(workstation, 500)]),
            (Some(30), None, vec![(printer, 10)]),
            (None, None, vec![(workstation, 390)]),
        ]
    );
    assert_eq!(group.detail.as_deref(), Some("VLAN 20: 500, VLAN 30: 10, others: 390"));

    let (of_one, group) = parts(&kinds(|_| WINDOWS, |_| Some(20)));
    assert_eq!((of_one, group.vlan), (vec![], Some(20)));
    let (of_many, _) = parts(&kinds(|_| WINDOWS, |number| u16::try_from(number % 200 + 1).ok()));
    assert_eq!(of_many.len(), 8, "{of_many:?}");
}

#[test]
fn share_without_inspection_tells_no_roles_of_folded_devices() {
    let kind = |number| if number < 890 { WINDOWS } else { LASERJET };
    let mut graph = kinds(kind, |_| None).graph(TopologyView::L2);
    let values = SensitiveValues::default();
    Redactor::new(|_| [7; 32], &[], &values).without_inspection().redact(&mut graph);
    let group = groups(&graph)[0];
    assert_eq!((group.label.as_str(), group.collapsed), ("900 devices", 900));
    assert!(group.folded.is_empty() && group.parts.is_empty() && group.detail.is_none());
}

#[test]
fn focus_is_not_folded() {
    let (network, _) = star(CROWD);
    let mut options = GraphOptions::new(TopologyView::L2);
    options.focus = Some(NodeId::from(network.hosts[1].id));
    options.depth = 2;
    let graph = network.graph_with(&options);
    assert!(labels(&graph).contains(&"sw-pc000") && graph.hidden.leaves == CROWD - 1);
}
