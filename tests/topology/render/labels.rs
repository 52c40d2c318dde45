//! Names of ports and speeds beside lines.

use std::collections::BTreeMap;

use toposcope::model::TopologyView;
use toposcope::topology::graph::{Edge, Graph, Positions, lay_out};
use toposcope::topology::links::PortRef;
use toposcope::topology::render::{Format, Picture};

use crate::graph::scenes::read::Roles;
use crate::graph::scenes::{drawn, generated};
use crate::graph::support::Fixture;

/// A text beside a line.
#[derive(Debug)]
struct Label {
    edge: String,
    text: String,
    is_port: bool,
    /// The left, upper, right and lower edge, a pixel within the text.
    edges: [f64; 4],
}

fn labels(graph: &Graph) -> Vec<Label> {
    Picture::new(graph, "Network").render(Format::Svg).unwrap().lines().filter_map(label).collect()
}

fn label(line: &str) -> Option<Label> {
    let is_port = line.starts_with("<text class=\"port\"");
    if !is_port && !line.starts_with("<text class=\"speed\"") {
        return None;
    }
    let attribute = |name: &str| line.split(&format!(" {name}=\"")).nth(1)?.split('"').next();
    let number = |name: &str| attribute(name).unwrap().parse::<f64>().unwrap();
    let text = line.split('>').nth(1)?.split('<').next()?;
    let (x, y, width) = (number("x"), number("y"), 5.5 * text.chars().count() as f64);
    let edges = if attribute("transform").is_some() {
        [x - 9.0, y - width, x - 1.0, y - 1.0]
    } else if attribute("text-anchor") == Some("end") {
        [x - width, y - 9.0, x - 1.0, y - 1.0]
    } else if is_port {
        [x + 1.0, y - 9.0, x + width, y - 1.0]
    } else {
        [x - width / 2.0, y - 9.0, x + width / 2.0, y - 1.0]
    };
    Some(Label { edge: attribute("data-edge")?.to_owned(), text: text.to_owned(), is_port, edges })
}

/// Returns whether a line runs through a rectangle.
fn runs_through([left, top, right, bottom]: [f64; 4], edge: &Edge) -> bool {
    edge.points.windows(2).any(|pair| {
        let ([x, y], [to_x, to_y]) = (pair[0], pair[1]);
        (0..=200).any(|step| {
            let share = f64::from(step) / 200.0;
            let (x, y) = (x + (to_x - x) * share, y + (to_y - y) * share);
            (left..=right).contains(&x) && (top..=bottom).contains(&y)
        })
    })
}

/// Returns the names of the ports at one end, of the members where the edge has no port of its own.
fn known(own: &Option<PortRef>, members: Vec<&Option<PortRef>>) -> usize {
    if own.is_some() { 1 } else { members.into_iter().flatten().count() }
}

/// Returns the number of ports that a label such as `Eth1–3, 7` names.
fn named(text: &str) -> usize {
    let number =
        |name: &str| name.rsplit(|last: char| !last.is_ascii_digit()).next().unwrap().parse::<usize>();
    let count = |name: &str| match name.split_once('\u{2013}') {
        Some((first, last)) => number(last).unwrap() - number(first).unwrap() + 1,
        None => 1,
    };
    text.split(", ").map(count).sum()
}

#[test]
fn no_line_runs_through_the_label_of_another_one() {
    for scene in generated::small() {
        for roles in [Roles::All, Roles::None] {
            let graph = drawn(&scene.hosts(roles, false));
            for label in labels(&graph) {
                let others = graph.edges.iter().filter(|edge| edge.id.to_string() != label.edge);
                let struck = others.filter(|edge| runs_through(label.edges, edge)).count();
                assert_eq!(struck, 0, "{}: {label:?}", scene.name);
            }
        }
    }
}

#[test]
fn nearly_all_ports_are_named() {
    for scene in generated::small() {
        for roles in [Roles::All, Roles::None] {
            let graph = drawn(&scene.hosts(roles, false));
            let labels = labels(&graph);
            let shown: usize =
                labels.iter().filter(|label| label.is_port).map(|label| named(&label.text)).sum();
            let all = graph.edges.iter().map(|edge| {
                let members = &edge.members;
                known(&edge.source_port, members.iter().map(|member| &member.source_port).collect())
                    + known(&edge.target_port, members.iter().map(|member| &member.target_port).collect())
            });
            let all: usize = all.sum();
            assert!(shown * 100 >= all * 95 && shown <= all, "{}: {shown} of {all}", scene.name);
        }
    }
}

#[test]
fn names_beside_an_upright_line_keep_their_distance_in_fonts_of_all_widths() {
    let mut network = Fixture::default();
    let switch = network.host("switch", "switch", &[]);
    let server = network.host("server", "Linux", &[]);
    network.link((switch, "TenGigabitEthernet1/0/1"), (server, "eth0"), "Confirmed");
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let [line] = graph.edges.as_slice() else { panic!("one link") };
    let [x, _] = line.points[0];
    assert!(line.points.iter().all(|point| (point[0] - x).abs() < 0.01));
    let svg = Picture::new(&graph, "Network").render(Format::Svg).unwrap();
    let texts = svg.lines().filter(|line| line.starts_with("<text class=\"port"));
    let sides = texts.map(|text| {
        let place: f64 = text.split(" x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        // The place is that of the end of the text that is nearer to the line.
        if text.contains(" text-anchor=\"end\"") { x - place } else { place - x }
    });
    let sides: Vec<f64> = sides.collect();
    assert_eq!(sides.len(), 2);
    assert!(sides.iter().all(|distance| (2.5..6.0).contains(distance)), "{sides:?}");
}

/// Returns the speeds in the picture of two spines above eight leaves, whose links have these speeds in turn.
fn speeds_of_fabric(speeds: &[Option<u64>]) -> BTreeMap<String, usize> {
    let mut network = Fixture::default();
    let spines = ["spine-a", "spine-b"].map(|name| network.host(name, "switch", &[]));
    for number in 0..8 {
        let leaf = network.host(&format!("leaf-{number}"), "switch", &[]);
        for (end, spine) in spines.into_iter().enumerate() {
            let ports = [format!("Eth{number}"), format!("Eth{end}")];
            network.link((spine, &ports[0]), (leaf, &ports[1]), "Confirmed");
        }
    }
    for (link, speed) in network.links.iter_mut().zip(speeds.iter().cycle()) {
        link.speed_bps = *speed;
    }
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let mut counts = BTreeMap::new();
    for label in labels(&graph).into_iter().filter(|label| !label.is_port) {
        *counts.entry(label.text).or_default() += 1;
    }
    counts
}

#[test]
fn common_speed_of_crossing_links_is_said_once() {
    let counts = speeds_of_fabric(&[Some(10_000_000_000)]);
    assert_eq!(counts, BTreeMap::from([("each 10G".to_owned(), 1)]));
}

#[test]
fn common_speed_of_devices_in_a_column_is_said_once_beside_it() {
    let speeds = |of_server: fn(usize) -> u64| {
        let mut network = Fixture::default();
        let core = network.host("core", "switch", &[]);
        for number in 0..3 {
            let access = network.host(&format!("access-{number}"), "switch", &[]);
            network.link((core, &format!("Gi0/{number}")), (access, "Gi0/48"), "Confirmed");
            network.links.last_mut().unwrap().speed_bps = Some(100_000_000_000);
            for place in 0..4 {
                let server = network.host(&format!("server-{number}-{place}"), "Linux", &[]);
                network.link((access, &format!("Gi0/{place}")), (server, "eth0"), "Confirmed");
                network.links.last_mut().unwrap().speed_bps = Some(of_server(place));
            }
        }
        let mut graph = network.graph(TopologyView::L2);
        lay_out(&mut graph, &Positions::default());
        let labels = labels(&graph).into_iter().filter(|label| label.text.starts_with("each "));
        labels.map(|label| label.text).collect::<Vec<String>>()
    };
    assert_eq!(speeds(|_| 25_000_000_000), ["each 25G"; 3]);
    assert!(speeds(|place| if place == 0 { 1_000_000_000 } else { 25_000_000_000 }).is_empty());
    // A device with another speed or an unknown one makes the sentence untrue.
    assert!(speeds(|place| if place == 3 { 0 } else { 25_000_000_000 }).is_empty());
    assert!(!speeds(|_| 100_000_000_000).iter().any(|text| text != "each 100G"));
}

#[test]
fn common_speed_is_not_said_of_links_whose_speed_is_unknown() {
    let counts = speeds_of_fabric(&[Some(10_000_000_000), Some(10_000_000_000), None]);
    assert!(counts.keys().all(|text| text == "10G"), "{counts:?}");
}

#[test]
fn speeds_of_a_tree_are_on_their_lines() {
    let mut network = Fixture::default();
    let core = network.host("core", "switch", &[]);
    for number in 0..4 {
        let access = network.host(&format!("access-{number}"), "switch", &[]);
        network.link((core, &format!("Gi0/{number}")), (access, "Gi0/48"), "Confirmed");
        let server = network.host(&format!("server-{number}"), "Linux", &[]);
        network.link((access, "Gi0/1"), (server, "eth0"), "Confirmed");
    }
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    let speeds: Vec<Label> = labels(&graph).into_iter().filter(|label| !label.is_port).collect();
    assert_eq!(speeds.len(), 4);
    assert!(speeds.iter().all(|label| label.text == "1G"), "{speeds:?}");
}
