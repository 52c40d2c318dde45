//! A scene as it is drawn, and what its picture shows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use toposcope::model::{NetworkId, NodeId, TopologyView};
use toposcope::topology::graph::{
    Graph, GraphInput, GraphOptions, HostSummary, Node, Positions, build, lay_out,
};
use toposcope::topology::links::{Device, Links};
use toposcope::topology::render::{Format, Picture};

use super::read::{Roles, Scene};

/// The width of a character of a label, and its height, in pixels.
const CHARACTER: (f64, f64) = (6.0, 12.0);

/// A laid-out graph and its picture.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) graph: Graph,
    svg: String,
    pub(crate) time: Duration,
}

/// A text near a line.
#[derive(Debug)]
pub(crate) struct DrawnLabel {
    pub(crate) edge: String,
    /// The left, upper, right and lower edge.
    pub(crate) edges: [f64; 4],
    /// The number of ports that it names; 0 for a speed.
    pub(crate) ports: usize,
}

impl Drawn {
    pub(crate) fn of(scene: &Scene, roles: Roles, with_stub: bool) -> Self {
        let hosts = scene.hosts(roles, with_stub);
        let links = Links::new(hosts.iter().map(|host| Device::of(host, &[])), &[]);
        let summaries: Vec<HostSummary> = hosts.iter().map(|host| HostSummary::of(host, &[])).collect();
        let options = GraphOptions::new(TopologyView::L2);
        let mut input = GraphInput::new(NetworkId::from_u128(1), &options);
        input.hosts = summaries.iter().collect();
        input.links = links.links().collect();
        input.stubs = links.stubs().collect();
        input.segments = links.segments().collect();
        input.capabilities = links.capabilities();
        let mut graph = build(&input);
        let start = Instant::now();
        lay_out(&mut graph, &Positions::default());
        let time = start.elapsed();
        let svg = Picture::new(&graph, &scene.name).render(Format::Svg).unwrap_or_default();
        Self { graph, svg, time }
    }

    pub(crate) fn write(&self, folder: &str, name: &str) {
        let _ = std::fs::create_dir_all(folder);
        let path = format!("{folder}/{}.svg", name.replace(' ', "-"));
        if let Err(error) = std::fs::write(&path, &self.svg) {
            println!("{path} is not written: {error}");
        }
    }

    /// Returns the nodes by label.
    pub(crate) fn nodes(&self) -> BTreeMap<&str, &Node> {
        self.graph.nodes.iter().map(|node| (node.label.as_str(), node)).collect()
    }

    /// Returns the nodes by id: several groups may have the same label.
    pub(crate) fn nodes_by_id(&self) -> BTreeMap<NodeId, &Node> {
        self.graph.nodes.iter().map(|node| (node.id, node)).collect()
    }

    /// Returns the number of neighbors of each node.
    pub(crate) fn degrees(&self) -> BTreeMap<NodeId, usize> {
        let mut pairs: Vec<(NodeId, NodeId)> = self
            .graph
            .edges
            .iter()
            .flat_map(|edge| [(edge.source, edge.target), (edge.target, edge.source)])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut degrees = BTreeMap::new();
        for (node, _) in pairs {
            *degrees.entry(node).or_default() += 1;
        }
        degrees
    }

    /// Returns the names of ports and the speeds that the picture shows.
    pub(crate) fn labels(&self) -> Vec<DrawnLabel> {
        self.svg.lines().filter_map(label).collect()
    }
}

/// Reads a label from a line of the picture.
fn label(line: &str) -> Option<DrawnLabel> {
    let is_port = line.starts_with("<text class=\"port\"");
    if !is_port && !line.starts_with("<text class=\"speed\"") {
        return None;
    }
    let attribute = |name: &str| {
        let start = line.find(&format!(" {name}=\""))? + name.len() + 3;
        line[start..].split('"').next()
    };
    let number = |name: &str| attribute(name)?.parse::<f64>().ok();
    let text = line.split_once('>')?.1.split('<').next()?;
    let (x, y) = (number("x")?, number("y")?);
    let width = text.chars().count() as f64 * CHARACTER.0;
    // A text that is turned runs upward from its place; a speed is centered on it, and a name before its line ends there.
    let edges = if attribute("transform").is_some() {
        [x - CHARACTER.1, y - width, x, y]
    } else if attribute("text-anchor") == Some("end") {
        [x - width, y - CHARACTER.1, x, y]
    } else if is_port {
        [x, y - CHARACTER.1, x + width, y]
    } else {
        [x - width / 2.0, y - CHARACTER.1, x + width / 2.0, y]
    };
    let ports = if is_port { text.split(", ").map(ports_of).sum() } else { 0 };
    Some(DrawnLabel { edge: attribute("data-edge")?.to_owned(), edges, ports })
}

/// Returns the number of ports that a name or a range such as `Eth1–8` stands for.
fn ports_of(name: &str) -> usize {
    let number =
        |text: &str| text.rsplit(|other: char| !other.is_ascii_digit()).next()?.parse::<usize>().ok();
    let range = name.split_once('\u{2013}').and_then(|(first, last)| number(first).zip(number(last)));
    range.map_or(1, |(first, last)| (last + 1).saturating_sub(first).max(1))
}
