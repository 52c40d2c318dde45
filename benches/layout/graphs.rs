//! The graphs that are arranged: real ones and generated ones.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;

use toposcope::model::{LinkId, NodeId};
use toposcope::topology::layout::{AddressScope, Connection, Diagram, Shape, Size};

/// A diagram with its name.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) name: String,
    pub(crate) diagram: Diagram,
}

impl Graph {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), diagram: Diagram::default() }
    }

    fn node(&mut self, label: &str, rank: Option<u8>) -> usize {
        let index = self.diagram.shapes.len();
        let width = (label.chars().count() as f64 * 7.0 + 24.0).clamp(64.0, 180.0);
        let mut shape = Shape::new(NodeId::from_u128(index as u128 + 1), Size::new(width, 48.0));
        shape.rank = rank;
        shape.label_width = 44.0;
        self.diagram.shapes.push(shape);
        index
    }

    fn container(&mut self, label: &str) -> usize {
        let index = self.node(label, None);
        self.diagram.shapes[index].header = 24.0;
        index
    }

    fn link(&mut self, source: usize, target: usize) {
        let id = LinkId::from_u128(self.diagram.connections.len() as u128 + 1);
        self.diagram.connections.push(Connection::new(id, source, target));
    }

    /// Adds a leaf to the hub of the eleventh last shape, in its container.
    pub(crate) fn add_leaf(&mut self) {
        let peer = self.diagram.shapes.len() - 11;
        let shape = self.node("new-host", self.diagram.shapes[peer].rank);
        self.diagram.shapes[shape].parent = self.diagram.shapes[peer].parent;
        let line = self.diagram.connections.iter().find(|line| line.target == peer);
        if let Some(hub) = line.map(|line| line.source) {
            self.link(hub, shape);
        }
    }

    /// Returns the ends of all connections, each pair once, without loops.
    pub(crate) fn pairs(&self) -> BTreeSet<(usize, usize)> {
        let ends = self.diagram.connections.iter().map(|c| (c.source.min(c.target), c.source.max(c.target)));
        ends.filter(|(source, target)| source != target).collect()
    }

    /// Returns whether the graph is nearly a tree. The number of connections that close a circle is then at most a
    /// tenth of the number of nodes.
    pub(crate) fn is_tree_like(&self) -> bool {
        let pairs = self.pairs();
        let nodes = self.diagram.shapes.len();
        let components = self.distances(nodes, nodes).len();
        pairs.len() + components <= nodes + nodes / 10
    }

    /// Returns distances to all nodes, in hops, from a sample of nodes. The sample contains one node in `step`, and at
    /// least one of each component. `None`: in another component.
    pub(crate) fn distances(&self, nodes: usize, step: usize) -> Vec<Vec<Option<usize>>> {
        let mut neighbors = vec![Vec::new(); nodes];
        for (source, target) in self.pairs() {
            neighbors[source].push(target);
            neighbors[target].push(source);
        }
        let mut reached = vec![false; nodes];
        let mut tables = Vec::new();
        for start in 0..nodes {
            if reached[start] && start % step != 0 {
                continue;
            }
            let mut distances = vec![None; nodes];
            distances[start] = Some(0);
            let mut waiting = VecDeque::from([start]);
            while let Some(node) = waiting.pop_front() {
                reached[node] = true;
                for neighbor in &neighbors[node] {
                    if distances[*neighbor].is_none() {
                        distances[*neighbor] = distances[node].map(|distance: usize| distance + 1);
                        waiting.push_back(*neighbor);
                    }
                }
            }
            if step == nodes
                && reached[..start].iter().zip(&distances).any(|(old, new)| *old && new.is_some())
            {
                continue;
            }
            tables.push(distances);
        }
        tables
    }
}

/// Returns the folder of test data beside the repository, if it is there.
pub(crate) fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("TOPOSCOPE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// Reads the networks of the Internet Topology Zoo.
pub(crate) fn zoo(data: &Path) -> Vec<Graph> {
    let file = data.join("graphs/zoo.jsonl.gz");
    let text =
        Command::new("gzip").arg("-dc").arg(file).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .map(|value| {
            let mut graph = Graph::new(value["name"].as_str().unwrap_or("?"));
            for node in value["nodes"].as_array().into_iter().flatten() {
                graph.node(node.as_str().unwrap_or("?"), None);
            }
            for edge in value["edges"].as_array().into_iter().flatten() {
                let end = |place: usize| edge[place].as_u64().unwrap_or(0) as usize;
                graph.link(end(0), end(1));
            }
            graph
        })
        .collect()
}

/// Reads the networks of the labs, whose edges are the rows of the expected links.
pub(crate) fn labs(data: &Path) -> Vec<Graph> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(data.join("labs"))
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    folders.sort();
    let mut graphs = Vec::new();
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("expected.tsv")).unwrap_or_default();
        let mut graph = Graph::new(&folder.file_name().unwrap_or_default().to_string_lossy());
        let mut nodes = BTreeMap::new();
        let mut links = BTreeSet::new();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [_, _, source, source_port, target, target_port] = fields[..] else { continue };
            let ends = [(source, source_port), (target, target_port)];
            if source != target && links.insert((ends[0].min(ends[1]), ends[0].max(ends[1]))) {
                let [one, other] = [source, target].map(|name| {
                    let walked = folder.join(format!("{name}.walk.gz")).exists();
                    let rank = if name.to_lowercase().contains("router") { 0 } else { 2 - u8::from(walked) };
                    *nodes.entry(name.to_owned()).or_insert_with(|| graph.node(name, Some(rank)))
                });
                graph.link(one, other);
            }
        }
        if !graph.diagram.shapes.is_empty() {
            graphs.push(graph);
        }
    }
    graphs
}

/// Generates a campus: a core, and buildings with distribution and access switches and their leaves.
///
/// With `roles` only, all switches have the same rank.
pub(crate) fn campus(nodes: usize, roles: bool) -> Graph {
    let mut graph = Graph::new(&format!("campus of {nodes}{}", if roles { ", roles" } else { "" }));
    let rank = |layer: u8| Some(if roles { layer / 3 } else { layer });
    let cores = [1, 2].map(|number| graph.node(&format!("core-{number}"), rank(0)));
    graph.link(cores[0], cores[1]);
    graph.link(cores[0], cores[1]);
    let mut building = 0;
    while graph.diagram.shapes.len() < nodes {
        building += 1;
        let distribution = ["a", "b"].map(|side| graph.node(&format!("dist-{building}{side}"), rank(1)));
        graph.link(distribution[0], distribution[1]);
        for (core, switch) in cores.iter().flat_map(|core| distribution.map(|switch| (*core, switch))) {
            graph.link(core, switch);
        }
        for floor in 0..8 + building % 5 {
            if graph.diagram.shapes.len() >= nodes {
                break;
            }
            let access = graph.node(&format!("access-{building}-{floor}"), rank(2));
            for switch in distribution {
                graph.link(switch, access);
            }
            for port in 0..8 + (building * 7 + floor * 5) % 33 {
                if graph.diagram.shapes.len() >= nodes {
                    break;
                }
                let leaf = graph.node(&format!("host-{building}-{floor}-{port}"), rank(3));
                graph.link(access, leaf);
            }
        }
    }
    graph
}

/// Generates subnets as containers with hosts in them, and routers between.
pub(crate) fn subnets(nodes: usize) -> Graph {
    let mut graph = Graph::new(&format!("subnets of {nodes}"));
    let routers: Vec<usize> =
        (0..nodes.div_ceil(100)).map(|number| graph.node(&format!("router-{number}"), Some(0))).collect();
    let mut subnet = 0;
    while graph.diagram.shapes.len() < nodes {
        let container = graph.container(&format!("10.0.{subnet}.0/24"));
        for host in 0..3 + subnet * 13 % 40 {
            let node = graph.node(&format!("host-{subnet}-{host}"), Some(2));
            graph.diagram.shapes[node].parent = Some(container);
        }
        for step in 0..1 + subnet % 3 {
            graph.link(routers[(subnet + step * 3) % routers.len()], container);
        }
        subnet += 1;
    }
    graph
}

/// Generates a switch with this many devices. A quarter of them have public addresses.
pub(crate) fn star(nodes: usize) -> Graph {
    let mut graph = Graph::new(&format!("star of {nodes}, a quarter of them public"));
    let hub = graph.node("switch", None);
    for number in 0..nodes {
        let device = graph.node(&format!("device-{number}"), None);
        if number % 4 == 0 {
            graph.diagram.shapes[device].addresses = AddressScope::Public;
        }
        graph.link(hub, device);
    }
    graph
}

/// Generates rings of sites with chords. The rings are not connected with each other.
pub(crate) fn islands(nodes: usize, each: usize) -> Graph {
    let mut graph = Graph::new(&format!("islands of {nodes}, {each} each"));
    for start in (0..nodes).step_by(each) {
        for place in 0..each {
            graph.node(&format!("site-{}", start + place), None);
        }
        for place in 0..each {
            graph.link(start + place, start + (place + 1) % each);
            if place % 3 == 0 {
                graph.link(start + place, start + (place * 7 + 5) % each);
            }
        }
    }
    graph
}

/// Generates a mesh: sites in a ring of rings, with some connections across.
pub(crate) fn mesh(nodes: usize) -> Graph {
    let mut graph = Graph::new(&format!("mesh of {nodes}"));
    let side = (nodes as f64).sqrt() as usize;
    for node in 0..nodes {
        graph.node(&format!("site-{node}"), None);
        if node % side != 0 {
            graph.link(node - 1, node);
        }
        if node >= side && node * 7 % 5 != 0 {
            graph.link(node - side, node);
        }
    }
    graph
}

/// Generates a random graph with three connections for two nodes.
pub(crate) fn random(nodes: usize) -> Graph {
    let mut graph = Graph::new(&format!("random graph of {nodes}"));
    for node in 0..nodes {
        graph.node(&format!("site-{node}"), None);
    }
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % nodes
    };
    for _ in 0..nodes * 3 / 2 {
        let (source, target) = (next(), next());
        graph.link(source, target);
    }
    graph
}

/// Generates hubs that are connected to all other nodes.
pub(crate) fn shared_leaves(nodes: usize, hubs: usize) -> Graph {
    let mut graph = Graph::new(&format!("{hubs} hubs of {nodes}"));
    for node in 0..nodes {
        graph.node(&format!("node-{node}"), None);
        for hub in (0..hubs).filter(|_| node >= hubs) {
            graph.link(hub, node);
        }
    }
    graph
}

/// Generates hubs that are all connected to the same nodes, each with its own leaf.
pub(crate) fn shared_branches(nodes: usize, hubs: usize) -> Graph {
    let mut graph = shared_leaves(hubs + (nodes - hubs) / 2, hubs);
    graph.name = format!("{hubs} hubs with branches of {nodes}");
    for branch in hubs..graph.diagram.shapes.len() {
        let leaf = graph.node(&format!("leaf-{branch}"), None);
        graph.link(branch, leaf);
    }
    graph
}
