//! Places of the titles of containers, beside the lines that run through their upper border.

use std::collections::BTreeMap;

use super::super::scene::Scene;
use super::super::words::sane;
use crate::model::NodeId;
use crate::topology::graph::{Edge, Node, PADDING};

/// The part of a container's height that its title takes, in pixels below the upper border.
const BAND: [f64; 2] = [4.0, 30.0];
/// The distance of a title from a line.
const DISTANCE: f64 = 5.0;
/// Maximum number of containers within each other whose titles are kept apart from the lines of one device.
const MAX_DEPTH: usize = 16;

/// The lines that run through the titles of containers.
pub(super) struct TitleLines {
    /// For each container, the left and the right end of each line within the height of its title.
    lines: BTreeMap<NodeId, Vec<[f64; 2]>>,
}

/// The place of a title.
#[derive(Clone, Copy)]
pub(super) struct TitlePlace {
    pub(super) left: f64,
    /// Whether a line runs through it.
    pub(super) is_crossed: bool,
}

impl TitleLines {
    /// Returns the lines that enter containers or leave them.
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let mut lines: BTreeMap<NodeId, Vec<[f64; 2]>> = BTreeMap::new();
        for edge in scene.edges() {
            crate::fair_threads::yield_turn();
            for container in containers_of(scene, edge) {
                lines.entry(container.id).or_default().extend(crossings(edge, sane(container.y)));
            }
        }
        for lines in lines.values_mut() {
            lines.sort_by(|one, other| one[0].total_cmp(&other[0]));
        }
        Self { lines }
    }

    /// Returns the leftmost place of a title of this width that no line runs through, at or right of a position. Without one, it is
    /// at this position.
    pub(super) fn place(&self, container: &Node, left: f64, width: f64) -> TitlePlace {
        let end = container.x + container.width - PADDING;
        let mut free = left;
        for [start, stop] in self.lines.get(&container.id).into_iter().flatten() {
            if free + width + DISTANCE <= *start {
                break;
            }
            if stop + DISTANCE > free {
                free = stop + DISTANCE;
            }
        }
        let is_crossed = free + width > end && free > left;
        TitlePlace { left: if is_crossed { left } else { free }, is_crossed }
    }
}

/// Returns the containers that one end of an edge is in.
fn containers_of<'a>(scene: &Scene<'a>, edge: &Edge) -> Vec<&'a Node> {
    let mut containers: Vec<&Node> = Vec::new();
    for end in [edge.source, edge.target] {
        let mut at = scene.node(end).and_then(|node| node.parent_id);
        for _ in 0..MAX_DEPTH {
            let Some(container) = at.and_then(|parent| scene.node(parent)) else { break };
            if containers.iter().any(|known| known.id == container.id) {
                break;
            }
            containers.push(container);
            at = container.parent_id;
        }
    }
    containers
}

/// Returns the ends of the parts of a line within the height of the title of a container at this height.
fn crossings(edge: &Edge, top: f64) -> impl Iterator<Item = [f64; 2]> {
    let [top, bottom] = BAND.map(|distance| top + distance);
    edge.points.windows(2).filter_map(move |pair| {
        let [[x, y], [next_x, next_y]] = *pair else { return None };
        let [(x, y), (next_x, next_y)] = [(sane(x), sane(y)), (sane(next_x), sane(next_y))];
        let (high, low) = (y.min(next_y).max(top), y.max(next_y).min(bottom));
        if high > low {
            return None;
        }
        let at = |height: f64| {
            let share = if y == next_y { 0.0 } else { (height - y) / (next_y - y) };
            x + (next_x - x) * share
        };
        let ends = if y == next_y { [x, next_x] } else { [at(high), at(low)] };
        Some([ends[0].min(ends[1]), ends[0].max(ends[1])])
    })
}
