//! The measures of a drawn scene.

use std::collections::{BTreeMap, BTreeSet};

use toposcope::model::NodeId;
use toposcope::topology::graph::{Edge, Node};
use toposcope::topology::layout::{Point, Rect, Size};
use toposcope::topology::links::{LinkMember, PortRef};

use super::marked;
use super::picture::Drawn;
use super::read::Scene;
use crate::metrics;

/// Roles of devices that connect others.
const INFRASTRUCTURE: [&str; 3] = ["router", "firewall", "switch"];
/// The length that two lines may share, in pixels.
const SHARED: f64 = 20.0;

/// Figures of one drawing. `None` for those that have no meaning for the scene.
#[derive(Debug)]
pub(crate) struct Measures {
    /// The largest number of heights of one tier, and whether nothing else is between them.
    heights: Option<(usize, bool)>,
    not_downward: Option<(usize, usize)>,
    ring: Option<(bool, f64)>,
    chain: Option<f64>,
    ports: (usize, usize),
    struck: (usize, usize),
    shared: usize,
    area: f64,
    has_area: bool,
}

/// Returns whether the nodes of the lowest tier are no devices that connect others.
pub(crate) fn last_tier_is_of_devices(scene: &Scene) -> bool {
    let last = scene.tiers.values().max();
    let mut names = scene.tiers.iter().filter(|(_, tier)| Some(*tier) == last).map(|(name, _)| name);
    names.all(|name| scene.role(name).is_none_or(|role| !INFRASTRUCTURE.contains(&role)))
}

impl Measures {
    pub(crate) fn of(scene: &Scene, drawn: &Drawn, has_devices: bool) -> Self {
        let is_flat = ["ring", "chain"].contains(&scene.kind.as_str());
        let has_tiers = !scene.tiers.is_empty() && !is_flat;
        let bounds = drawn.graph.bounds;
        let sizes: f64 = drawn.graph.nodes.iter().map(|node| node.width * node.height).sum();
        let page = bounds.width * bounds.height;
        Self {
            heights: has_tiers.then(|| heights(scene, drawn, has_devices)),
            not_downward: has_tiers.then(|| not_downward(scene, drawn)),
            ring: (scene.kind == "ring").then(|| ring(drawn)),
            chain: (scene.kind == "chain").then(|| page / sizes),
            ports: ports(drawn),
            struck: struck(drawn),
            shared: shared(drawn),
            area: sizes / page,
            has_area: !["ring", "chain", "chains", "rings", "mesh"].contains(&scene.kind.as_str()),
        }
    }

    pub(crate) fn heights(&self) -> String {
        self.heights.map_or_else(dash, |(count, contiguous)| {
            let text = if contiguous { format!("{count}") } else { format!("{count} apart") };
            marked(count == 1 || (count == 2 && contiguous), &text)
        })
    }

    pub(crate) fn not_downward(&self) -> String {
        self.not_downward
            .map_or_else(dash, |(count, of)| marked(count * 50 <= of, &format!("{count} of {of}")))
    }

    pub(crate) fn ring(&self) -> String {
        self.ring.map_or_else(dash, |(in_order, spread)| {
            let text = if in_order { format!("{spread:.2}") } else { format!("{spread:.2} not in order") };
            marked(in_order && spread < 0.15, &text)
        })
    }

    pub(crate) fn chain(&self) -> String {
        self.chain.map_or_else(dash, |ratio| marked(ratio <= 12.0, &format!("{ratio:.1}")))
    }

    pub(crate) fn ports(&self) -> String {
        let (drawn, of) = self.ports;
        marked(drawn * 100 >= of * 95, &format!("{drawn} of {of}"))
    }

    pub(crate) fn struck(&self) -> String {
        let (count, of) = self.struck;
        marked(count * 50 <= of, &format!("{count} of {of}"))
    }

    pub(crate) fn shared(&self) -> String {
        marked(self.shared == 0, &format!("{}", self.shared))
    }

    pub(crate) fn area(&self) -> String {
        let percent = format!("{:.1} %", self.area * 100.0);
        if self.has_area { marked(self.area >= 0.12, &percent) } else { percent }
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// Returns the center of a node.
fn center(node: &Node) -> (f64, f64) {
    (node.x + node.width / 2.0, node.y + node.height / 2.0)
}

/// Returns the height of a node in whole pixels.
fn height(node: &Node) -> i64 {
    center(node).1.round() as i64
}

/// Returns the largest number of heights of one tier, and whether heights of one tier follow each other.
fn heights(scene: &Scene, drawn: &Drawn, has_devices: bool) -> (usize, bool) {
    let nodes = drawn.nodes();
    let last = scene.tiers.values().max().copied().unwrap_or(0);
    let mut by_tier: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    for (name, tier) in scene.tiers.iter().filter(|(_, tier)| !has_devices || **tier < last) {
        by_tier.entry(*tier).or_default().extend(nodes.get(name.as_str()).map(|node| height(node)));
    }
    let count = by_tier.values().map(BTreeSet::len).max().unwrap_or(0);
    let contiguous = by_tier.iter().all(|(tier, heights)| {
        let (Some(first), Some(last)) = (heights.first(), heights.last()) else { return true };
        let others = by_tier.iter().filter(|(other, _)| *other != tier);
        others.flat_map(|(_, heights)| heights).all(|height| height < first || height > last)
    });
    (count, contiguous)
}

/// Counts the links between tiers whose upper end is not above the lower one, and all links between tiers.
fn not_downward(scene: &Scene, drawn: &Drawn) -> (usize, usize) {
    let nodes = drawn.nodes_by_id();
    let (mut count, mut of) = (0, 0);
    for edge in &drawn.graph.edges {
        let [Some(source), Some(target)] = [edge.source, edge.target].map(|end| nodes.get(&end)) else {
            continue;
        };
        let [one, other] = [source, target].map(|node| scene.tiers.get(&node.label));
        // A group and a neighbor that is no host are below the device that names them.
        let (Some(one), Some(other)) = (one.or(Some(&usize::MAX)), other.or(Some(&usize::MAX))) else {
            continue;
        };
        if one == other {
            continue;
        }
        let (upper, lower) = if one < other { (source, target) } else { (target, source) };
        of += 1;
        count += usize::from(center(upper).1 >= center(lower).1);
    }
    (count, of)
}

/// Returns whether the nodes of a ring are in its order around their center, and the spread of their distances from it.
fn ring(drawn: &Drawn) -> (bool, f64) {
    let degrees = drawn.degrees();
    let is_in_ring = |node: &&Node| degrees.get(&node.id).is_some_and(|degree| *degree > 1);
    let mut ring: Vec<&Node> = drawn.graph.nodes.iter().filter(is_in_ring).collect();
    ring.sort_by(|one, other| one.label.cmp(&other.label));
    let count = ring.len().max(1) as f64;
    let points: Vec<(f64, f64)> = ring.iter().map(|node| center(node)).collect();
    let middle_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let middle_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let radii: Vec<f64> = points.iter().map(|(x, y)| (x - middle_x).hypot(y - middle_y)).collect();
    let mean = radii.iter().sum::<f64>() / count;
    let variance = radii.iter().map(|radius| (radius - mean).powi(2)).sum::<f64>() / count;
    let angles: Vec<f64> = points.iter().map(|(x, y)| (y - middle_y).atan2(x - middle_x)).collect();
    // In order, angles fall back once in a full turn.
    let next = |place: usize| angles[(place + 1) % angles.len()];
    let falls = (0..angles.len()).filter(|place| next(*place) < angles[*place]).count();
    (falls == 1 || falls + 1 == angles.len(), variance.sqrt() / mean)
}

/// Returns the number of names of ports that are drawn, and of those that are known. A list such as `Eth1–8` names all
/// ports of parallel links.
fn ports(drawn: &Drawn) -> (usize, usize) {
    type Port = Option<PortRef>;
    let known_at = |edge: &Edge, own: &Port, of_member: fn(&LinkMember) -> &Port| {
        let members = edge.members.iter().map(of_member).filter(|_| own.is_none());
        let names =
            members.chain([own]).flatten().map(|port| port.name.clone()).filter(|name| !name.is_empty());
        names.collect::<BTreeSet<String>>().len()
    };
    let known = drawn.graph.edges.iter().map(|edge| {
        known_at(edge, &edge.source_port, |member| &member.source_port)
            + known_at(edge, &edge.target_port, |member| &member.target_port)
    });
    (drawn.labels().iter().map(|label| label.ports).sum(), known.sum())
}

/// Counts the labels that a line of another edge runs through, and all labels.
fn struck(drawn: &Drawn) -> (usize, usize) {
    let labels = drawn.labels();
    let lines: Vec<(String, &Edge)> =
        drawn.graph.edges.iter().map(|edge| (edge.id.to_string(), edge)).collect();
    let point = |[x, y]: [f64; 2]| Point::new(x, y);
    let is_struck = |label: &&super::picture::DrawnLabel| {
        let [left, top, right, bottom] = label.edges;
        let rect = Rect::new(Point::new(left, top), Size::new(right - left, bottom - top));
        let enters = |pair: &[[f64; 2]]| metrics::enters(&rect, 1.0, point(pair[0]), point(pair[1]));
        lines.iter().filter(|(id, _)| *id != label.edge).any(|(_, edge)| edge.points.windows(2).any(enters))
    };
    (labels.iter().filter(is_struck).count(), labels.len())
}

/// Counts the links between devices that connect others which share a length of their way with another such link.
fn shared(drawn: &Drawn) -> usize {
    let degrees = drawn.degrees();
    let is_inner = |id: NodeId| degrees.get(&id).is_some_and(|degree| *degree > 1);
    let mut segments: Vec<(usize, [f64; 2], [f64; 2])> = Vec::new();
    for (index, edge) in drawn.graph.edges.iter().enumerate() {
        if is_inner(edge.source) && is_inner(edge.target) {
            segments.extend(edge.points.windows(2).map(|pair| (index, pair[0], pair[1])));
        }
    }
    let mut sharing = BTreeSet::new();
    for (place, one) in segments.iter().enumerate() {
        for other in &segments[place + 1..] {
            if one.0 != other.0 && common_length(*one, *other) >= SHARED {
                sharing.extend([one.0, other.0]);
            }
        }
    }
    sharing.len()
}

/// Returns the length that two segments have in common.
fn common_length(one: (usize, [f64; 2], [f64; 2]), other: (usize, [f64; 2], [f64; 2])) -> f64 {
    let (from, to) = (one.1, one.2);
    let length = (to[0] - from[0]).hypot(to[1] - from[1]);
    if length == 0.0 {
        return 0.0;
    }
    let direction = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    let along = |point: [f64; 2]| {
        let (x, y) = (point[0] - from[0], point[1] - from[1]);
        (x * direction[0] + y * direction[1], (x * direction[1] - y * direction[0]).abs())
    };
    let ((start, start_off), (end, end_off)) = (along(other.1), along(other.2));
    if start_off > 1.0 || end_off > 1.0 {
        return 0.0;
    }
    (length.min(start.max(end)) - 0.0_f64.max(start.min(end))).max(0.0)
}

/// Returns Kendall's tau of the heights of the nodes that two drawings have in common. Pairs of equal height in one of
/// them count as half.
pub(crate) fn order_of_heights(one: &Drawn, other: &Drawn) -> f64 {
    let nodes = other.nodes_by_id();
    let heights: Vec<(i64, i64)> = one
        .graph
        .nodes
        .iter()
        .filter_map(|node| Some((height(node), height(nodes.get(&node.id)?))))
        .collect();
    let (mut same, mut all_of_one, mut all_of_other) = (0_i64, 0_i64, 0_i64);
    for (place, (first, second)) in heights.iter().enumerate() {
        for (other_first, other_second) in &heights[place + 1..] {
            let (one, other) = ((first - other_first).signum(), (second - other_second).signum());
            same += one * other;
            all_of_one += one.abs();
            all_of_other += other.abs();
        }
    }
    if all_of_one == 0 && all_of_other == 0 {
        return 1.0;
    }
    same as f64 / (all_of_one as f64 * all_of_other as f64).sqrt().max(1.0)
}

/// Returns the farthest move of a node that two drawings have in common, after the best shift, and its width.
pub(crate) fn shift_by_a_stub(one: &Drawn, other: &Drawn) -> (f64, f64) {
    let nodes = other.nodes_by_id();
    let moves: Vec<(f64, f64, f64)> = one
        .graph
        .nodes
        .iter()
        .filter_map(|node| {
            let after = nodes.get(&node.id)?;
            Some((after.x - node.x, after.y - node.y, node.width))
        })
        .collect();
    // The shift after which the farthest move is the shortest in each direction.
    let middle = |of: fn(&(f64, f64, f64)) -> f64| {
        let values = || moves.iter().map(of);
        (values().fold(f64::INFINITY, f64::min) + values().fold(f64::NEG_INFINITY, f64::max)) / 2.0
    };
    let (x, y) = (middle(|by| by.0), middle(|by| by.1));
    let farthest = moves.iter().map(|by| ((by.0 - x).hypot(by.1 - y), by.2));
    farthest.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or_default()
}
