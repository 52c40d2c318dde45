use toposcope::model::TopologyView;
use toposcope::topology::graph::{Graph, Positions, lay_out};

use super::check::render_all;
use crate::graph::support::Fixture;

/// Number of mutated graphs; `TOPOSCOPE_MUTATIONS` sets another.
const MUTATIONS: u32 = 300;

/// Characters that some format interprets.
const SPECIAL: &[char; 25] = &[
    '<', '>', '"', '\'', '&', '\\', '#', ';', ':', '{', '}', '[', ']', '(', ')', '|', '%', '`', '$', '=',
    '/', '\n', '\r', '\t', '\0',
];

fn graph(view: TopologyView) -> Graph {
    let mut network = Fixture::default();
    let subnet = network.subnet("Office", "10.0.1.0/24");
    let other = network.subnet("", "10.0.2.0/24");
    let switch = network.host("sw", "switch", &[("10.0.1.1", subnet), ("10.0.2.1", other)]);
    for index in 0..11 {
        let address = format!("10.0.1.{}", index + 10);
        let host = network.host(&format!("h{index}"), "Linux", &[(address.as_str(), subnet)]);
        network.link((switch, &format!("Gi0/{index}")), (host, "eth0"), "Reported");
    }
    let mut graph = network.graph(view);
    lay_out(&mut graph, &Positions::default());
    graph
}

fn text(random: &mut fastrand::Rng) -> String {
    let length = random.usize(0..40);
    (0..length)
        .map(|_| match random.u8(0..4) {
            0 => random.choice(*SPECIAL).unwrap_or('x'),
            1 => random.char('\0'..'\u{a0}'),
            2 => random.char(..),
            _ => random.alphanumeric(),
        })
        .collect()
}

fn number(random: &mut fastrand::Rng) -> f64 {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, -1e300, 1e-300, 0.1, 1e6];
    random.choice(odd).unwrap_or_default()
}

fn mutate(graph: &mut Graph, random: &mut fastrand::Rng) {
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    let (first, second) = (random.usize(0..nodes), random.usize(0..nodes));
    match random.u8(0..13) {
        0 => graph.nodes[first].label = text(random),
        1 => graph.nodes[first].detail = Some(text(random)),
        2 => graph.nodes[first].x = number(random),
        3 => graph.nodes[first].width = number(random),
        4 => graph.nodes[first].parent_id = Some(graph.nodes[second].id),
        5 => graph.nodes[first].id = graph.nodes[second].id,
        6 => graph.nodes[first].kind = graph.nodes[second].kind,
        7 => graph.nodes.swap(first, second),
        8 => graph.nodes[first].collapsed = random.u32(..),
        _ if edges == 0 => {}
        9 => graph.edges[random.usize(0..edges)].target = graph.nodes[first].id,
        10 => graph.edges[random.usize(0..edges)].speed_bps = Some(random.u64(..)),
        11 => graph.edges[random.usize(0..edges)].points.push([number(random), number(random)]),
        _ => {
            if let Some(port) = &mut graph.edges[random.usize(0..edges)].source_port {
                port.name = text(random);
            }
        }
    }
}

#[test]
fn mutated_graphs_give_valid_files_and_layouts() {
    let count =
        std::env::var("TOPOSCOPE_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(MUTATIONS);
    let originals = [TopologyView::L2, TopologyView::L3].map(graph);
    for seed in 0..count {
        let mut random = fastrand::Rng::with_seed(u64::from(seed));
        let mut graph = originals[(seed % 2) as usize].clone();
        for _ in 0..random.usize(1..12) {
            mutate(&mut graph, &mut random);
        }
        if random.bool() {
            lay_out(&mut graph, &Positions::default());
        }
        // JSON has no such numbers, and the writer leaves the choice of another to the reader.
        for value in graph.nodes.iter_mut().flat_map(|node| [&mut node.x, &mut node.width]) {
            *value = if value.is_finite() { *value } else { 0.0 };
        }
        for value in graph.edges.iter_mut().flat_map(|edge| edge.points.iter_mut().flatten()) {
            *value = if value.is_finite() { *value } else { 0.0 };
        }
        let title = text(&mut random);
        render_all(&graph, &title);
    }
}
