//! Two hubs that share many neighbors, which stand in a column between the hubs, so that their lines do not cross.
//!
//! In rows, the lines of `n` devices below two others cross `n (n - 1) / 2` times. Readers can follow them by names of ports, and
//! roles give a network an upper side. This form is for networks of which neither is known.

use std::collections::BTreeMap;

use super::is_outward;
use crate::topology::layout::containers::{GAP, Level};
use crate::topology::layout::geometry::{Point, Rect, Size};
use crate::topology::layout::packing::MAX_RATIO;

/// Number of neighbors that the hubs share, and that have no others, from which on the form is used.
const MIN_SHARED: usize = 5;
/// Maximum number of parts in a column. More make it too high.
const MAX_PARTS: usize = 24;
/// Maximum number of nodes of the network, and of one part.
const MAX_NODES: usize = 100;
const MAX_IN_PART: usize = 24;
/// The least distance of a hub from the parts beside it.
const DISTANCE: f64 = 100.0;
/// The distance of lines from other parts.
const CLEARANCE: f64 = 8.0;
/// The distance of a node from its leaves.
const LEAF_GAP: f64 = 48.0;
/// Maximum number of leaves of a node that are in a row.
const MAX_LEAVES: usize = 4;
/// The largest ratio of the width to the height. It is a little more than that of other forms, because no lines cross.
const MAX_WIDTH: f64 = 1.2 * MAX_RATIO;

/// Places the nodes of a network around two hubs; `None` for other networks.
pub(super) fn arrange(level: &Level) -> Option<Vec<Point>> {
    let count = level.network.len();
    if count > MAX_NODES || has_names_or_roles(level) {
        return None;
    }
    let hubs = hubs(level)?;
    let [mut between, mut left, mut right] = [const { Vec::new() }; 3];
    let others: Vec<usize> = (0..count).filter(|node| !hubs.contains(node)).collect();
    for part in level.network.part(&others).components() {
        crate::fair_threads::yield_turn();
        let nodes: Vec<usize> = part.into_iter().map(|place| others[place]).collect();
        let is_at = |hub: usize| nodes.iter().any(|node| is_beside(level, *node, hub));
        let column = match hubs.map(is_at) {
            [true, true] => &mut between,
            [true, false] => &mut left,
            _ => &mut right,
        };
        if nodes.len() > MAX_IN_PART || column.len() == MAX_PARTS {
            return None;
        }
        column.push(nodes);
    }
    let are_adjacent = is_beside(level, hubs[0], hubs[1]);
    let between = Column::of(level, between, are_adjacent);
    let [left, right] = [left, right].map(|parts| Column::of(level, parts, false));
    let mut corners = vec![Point::default(); count];
    between.put(Point::default(), &mut corners);
    for (hub, beside, side) in [(hubs[0], left, -1.0), (hubs[1], right, 1.0)] {
        let size = level.sizes[hub];
        let center = Point::new(side * between.distance(size), 0.0);
        corners[hub] = Rect::centered(center, size).corner();
        beside.put(center.plus(Point::new(side * beside.distance(size), 0.0)), &mut corners);
    }
    // Wide parts at the ends of a column move the hubs far away, so that nothing can be read.
    let rects = corners.iter().zip(&level.sizes).map(|(corner, size)| Rect::new(*corner, *size));
    let extent = rects.reduce(Rect::union)?.size();
    (extent.width <= MAX_WIDTH * extent.height).then_some(corners)
}

/// Returns whether most nodes have names of ports, or some have a role that others have not, or lead outward.
fn has_names_or_roles(level: &Level) -> bool {
    let first = level.ranks.first();
    let has_names = |node: &usize| level.port_widths[*node].iter().any(|(_, width)| *width > 0.0);
    level.ranks.iter().any(|rank| Some(rank) != first)
        || (0..level.network.len()).any(|node| is_outward(level, node))
        || (0..level.network.len()).filter(has_names).count() * 2 > level.network.len()
}

/// Returns the two nodes that share most nodes as neighbors without others.
fn hubs(level: &Level) -> Option<[usize; 2]> {
    let mut shared: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for node in 0..level.network.len() {
        if let [one, other] = *level.network.neighbors(node) {
            *shared.entry([one, other]).or_default() += 1;
        }
    }
    let (hubs, shared) =
        shared.into_iter().max_by_key(|(hubs, shared)| (*shared, std::cmp::Reverse(*hubs)))?;
    let are_most = shared * 2 >= level.network.len() - hubs.len();
    (shared >= MIN_SHARED && are_most).then_some(hubs)
}

fn is_beside(level: &Level, one: usize, other: usize) -> bool {
    level.network.neighbors(one).binary_search(&other).is_ok()
}

/// Returns the only node of a part that has other neighbors than this one, if there are a few others.
fn root(level: &Level, nodes: &[usize]) -> Option<usize> {
    let mut inner = nodes.iter().copied().filter(|node| level.network.degree(*node) > 1);
    let root = inner.next().or(nodes.first().copied())?;
    (inner.next().is_none() && nodes.len() <= MAX_LEAVES + 1).then_some(root)
}

/// The end of lines from a hub to a part.
#[derive(Clone, Copy, Debug)]
struct Target {
    y: f64,
    /// How far a line may be from this height where it reaches the column.
    room: f64,
    /// Half of the width of the column from its middle to this part, and of all of this part, too.
    half: f64,
    reach: f64,
}

/// Parts below each other.
#[derive(Debug, Default)]
struct Column {
    /// The places of their nodes, relative to the middle between the upper and the lower half.
    rects: Vec<(usize, Rect)>,
    /// From the middle to the ends.
    targets: Vec<Target>,
}

impl Column {
    /// Places parts, each of which is a list of nodes. Wide ones are at the ends, where no lines to others pass. Lines may run through
    /// the middle of a column with an open one.
    fn of(level: &Level, parts: Vec<Vec<usize>>, is_open: bool) -> Self {
        let (single, several): (Vec<_>, Vec<_>) = parts.into_iter().partition(|nodes| nodes.len() == 1);
        let half = single.len().div_ceil(2);
        let mut halves = [Vec::new(), Vec::new()];
        for (place, nodes) in single.into_iter().enumerate() {
            if place < half { halves[0].insert(0, nodes) } else { halves[1].push(nodes) }
        }
        for nodes in several {
            let shorter = usize::from(halves[1].len() < halves[0].len());
            halves[shorter].push(nodes);
        }
        let mut column = Self::default();
        for (half, direction) in halves.iter().zip([-1.0, 1.0]) {
            let mut y = if is_open { direction * GAP } else { direction * GAP / 2.0 };
            for nodes in half {
                y = column.add(level, nodes, y, direction);
            }
        }
        if !is_open {
            column.center();
        }
        column
    }

    /// Adds the target that a part, or its node with lines to hubs, is. All of the part is so wide.
    fn aim_at(&mut self, target: Rect, width: f64) {
        let y = target.center().y;
        let is_inner = |other: &&Target| (other.y < 0.0) == (y < 0.0);
        let inner = self.targets.iter().filter(is_inner).map(|other| other.reach).fold(0.0, f64::max);
        let half = inner.max(target.width / 2.0);
        let room = target.height / 2.0 + GAP - CLEARANCE;
        self.targets.push(Target { y, room, half, reach: half.max(width / 2.0) });
    }

    /// Adds a part above or below a height, and returns that of the next one.
    fn add(&mut self, level: &Level, nodes: &[usize], y: f64, direction: f64) -> f64 {
        if let Some(root) = root(level, nodes) {
            return self.add_tree(level, root, nodes, y, direction);
        }
        let (places, extent) = level.part(nodes).arrange_connected();
        let top = if direction < 0.0 { y - extent.height } else { y };
        let corner = Point::new(-extent.width / 2.0, top);
        for (node, place) in nodes.iter().zip(places) {
            self.rects.push((*node, Rect::new(corner.plus(place.corner), level.sizes[*node])));
        }
        self.aim_at(Rect::new(corner, extent), extent.width);
        y + direction * (extent.height + GAP)
    }

    /// Adds a node, and its leaves in a row beyond it, where no lines to others pass.
    fn add_tree(&mut self, level: &Level, root: usize, nodes: &[usize], y: f64, direction: f64) -> f64 {
        let at = |middle: f64, y: f64, node: usize| {
            let size = level.sizes[node];
            Rect::centered(Point::new(middle, y + direction * size.height / 2.0), size)
        };
        self.rects.push((root, at(0.0, y, root)));
        let end = y + direction * level.sizes[root].height;
        let leaves = || nodes.iter().copied().filter(|node| *node != root);
        let width = leaves().map(|leaf| level.sizes[leaf].width + GAP).sum::<f64>() - GAP;
        self.aim_at(at(0.0, y, root), width);
        let height = leaves().map(|leaf| level.sizes[leaf].height).fold(0.0, f64::max);
        let mut x = -width / 2.0;
        for leaf in leaves() {
            let half = level.sizes[leaf].width / 2.0;
            self.rects.push((leaf, at(x + half, end + direction * LEAF_GAP, leaf)));
            x += 2.0 * half + GAP;
        }
        let beyond = if height > 0.0 { LEAF_GAP + height } else { 0.0 };
        end + direction * (beyond + GAP)
    }

    /// Moves the parts so that their middle is that of the column.
    fn center(&mut self) {
        let bounds = self.rects.iter().map(|(_, rect)| *rect).reduce(Rect::union).unwrap_or_default();
        let up = Point::new(0.0, bounds.center().y);
        for (_, rect) in &mut self.rects {
            *rect = Rect::new(rect.corner().minus(up), rect.size());
        }
        self.targets.iter_mut().for_each(|target| target.y -= up.y);
    }

    /// Returns the distance of the center of a hub of this size at which its lines reach each part beside those to others.
    fn distance(&self, hub: Size) -> f64 {
        let widest = self.rects.iter().map(|(_, rect)| rect.x.abs()).fold(0.0, f64::max);
        let needed = self.targets.iter().map(|target| target.half * target.y.abs() / target.room);
        needed.fold(widest + hub.width / 2.0 + DISTANCE, f64::max)
    }

    fn put(&self, center: Point, corners: &mut [Point]) {
        for (node, rect) in &self.rects {
            corners[*node] = rect.corner().plus(center);
        }
    }
}
