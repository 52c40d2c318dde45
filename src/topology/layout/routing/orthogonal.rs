//! Lines of horizontal and vertical parts through rows of blocks, and to leaves in grids: down between two columns, then
//! aside.

use std::collections::{BTreeMap, BTreeSet};

use super::LANE;
use super::detour::{CLEARANCE, ObstaclesBetween};
use crate::invariant::Invariant;
use crate::topology::layout::containers::{GAP, LAYER_GAP};
use crate::topology::layout::geometry::{Point, Rect};
use crate::topology::layout::layered::{MAX_IN_A_ROW, MAX_SHARING, trunk_gap};
use crate::topology::layout::outline::Outline;

const MAX_CHANNELS: usize = 64;
/// The distance of a line from the corner of a hub beside which its leaves are.
const MARGIN: f64 = 6.0;
/// The cost of finding an obstacle, in units of the budget.
const OBSTACLE_COST: usize = 40;

/// The hubs of a diagram and their leaves.
#[derive(Debug)]
pub(super) struct Hubs<'a> {
    ranks: &'a [Option<u8>],
    neighbors: Vec<Vec<usize>>,
    rects: &'a [Rect],
    grids: Grids,
    /// Whether neighbors of a shape are below it and side by side.
    has_rows: Vec<bool>,
}

impl<'a> Hubs<'a> {
    pub(super) fn new(outline: &'a Outline, rects: &'a [Rect], tiers: &[Option<usize>]) -> Self {
        let mut neighbors = vec![Vec::new(); outline.len()];
        for (source, target) in outline.ends.iter().flatten().filter(|(source, target)| source != target) {
            neighbors[*source].push(*target);
            neighbors[*target].push(*source);
        }
        for list in &mut neighbors {
            crate::fair_threads::yield_turn();
            list.sort_unstable();
            list.dedup();
        }
        let grids = Grids::new(outline, &neighbors, rects, tiers);
        let has_rows = vec![false; outline.len()];
        let mut hubs = Self { ranks: &outline.ranks, neighbors, rects, grids, has_rows };
        for hub in 0..outline.len() {
            crate::fair_threads::yield_turn();
            let rows = hubs.is_above_row(hub);
            hubs.has_rows[hub] = rows;
        }
        hubs
    }

    fn is_above_row(&self, hub: usize) -> bool {
        let bottom = self.rects[hub].bottom();
        let below = self.neighbors[hub].iter().map(|other| self.rects[*other].y).filter(|y| *y > bottom);
        let mut tops: Vec<i64> = below.map(steps).collect();
        tops.sort_unstable();
        tops.windows(2).any(|pair| matches!(pair, [one, other] if one == other))
    }

    /// Returns the line to a leaf in a grid.
    pub(super) fn route(&self, between: &ObstaclesBetween<'_>) -> Option<Vec<Point>> {
        self.grids.route(between, &self.neighbors)
    }

    /// Returns a line down a free channel to a shape of a lower rank. The shape is in a row farther below.
    pub(super) fn channel(&self, between: &ObstaclesBetween<'_>, budget: &mut usize) -> Option<Vec<Point>> {
        let (source, target) = (between.source_index, between.target_index);
        if between.source.bottom() + LAYER_GAP < between.target.y {
            self.down(between, source, target, budget)
        } else if between.target.bottom() + LAYER_GAP < between.source.y {
            let mut line = self.down(between, target, source, budget)?;
            line.reverse();
            Some(line)
        } else {
            None
        }
    }

    fn down(
        &self,
        between: &ObstaclesBetween<'_>,
        upper_index: usize,
        lower_index: usize,
        budget: &mut usize,
    ) -> Option<Vec<Point>> {
        // In drawings without rows, oblique lines look better.
        if *budget == 0 || !self.has_rows[upper_index] || self.ranks[upper_index] > self.ranks[lower_index] {
            return None;
        }
        let [upper, lower] = [upper_index, lower_index].map(|shape| self.rects[shape]);
        let neighbors = &self.neighbors[lower_index];
        *budget = budget.saturating_sub(neighbors.len());
        // The lines of several upper shapes enter side by side, in the order of these shapes.
        let mut above: Vec<(i64, usize)> = neighbors
            .iter()
            .filter(|neighbor| self.rects[**neighbor].bottom() < lower.y)
            .map(|neighbor| (steps(self.rects[*neighbor].center().x), *neighbor))
            .collect();
        above.sort_unstable();
        let place = above.iter().position(|(_, neighbor)| *neighbor == upper_index).asserted_or_default();
        let lane = (place as f64 - (above.len().max(1) - 1) as f64 / 2.0) * LANE;
        let lane = lane.clamp(-lower.width / 3.0, lower.width / 3.0).clamp(-LAYER_GAP / 4.0, LAYER_GAP / 4.0);
        let enter = lower.center().x + lane;
        let start = Point::new(upper.center().x, upper.bottom() + LAYER_GAP / 2.0 + lane);
        let end = Point::new(enter, lower.y - LAYER_GAP / 2.0 + lane);
        let band =
            Rect::spanning(Point::new(start.x.min(end.x), start.y), Point::new(start.x.max(end.x), end.y));
        let mut channels = vec![start.x, end.x];
        let obstacles = between.obstacles_within(band.grown(GAP));
        *budget = budget.saturating_sub((obstacles.len() + MAX_CHANNELS) * OBSTACLE_COST);
        for obstacle in obstacles {
            channels.extend([obstacle.x - 1.0, obstacle.right() + 1.0]);
        }
        let detour = |x: f64| (x - start.x).abs() + (x - end.x).abs() * 0.1;
        channels.sort_by(|one, other| detour(*one).total_cmp(&detour(*other)).then(one.total_cmp(other)));
        channels.dedup();
        channels.into_iter().take(MAX_CHANNELS).find_map(|x| {
            let line = vec![
                upper.center(),
                start,
                Point::new(x, start.y),
                Point::new(x, end.y),
                end,
                Point::new(enter, lower.y + CLEARANCE.min(lower.height / 2.0)),
            ];
            between.is_line_free(&line).then_some(line)
        })
    }
}

/// Grids of leaves by their hubs. Each leaf of a grid is connected to all of them.
#[derive(Debug)]
pub(super) struct Grids {
    grids: BTreeMap<Vec<usize>, LeafGrid>,
}

/// Leaves in pairs of columns below one hub, or below several.
#[derive(Debug)]
struct LeafGrid {
    /// The right edges of the leaves, in units of 1/64 pixel.
    rights: BTreeSet<i64>,
    /// The left edge of the leftmost leaf and the right edge of the rightmost one.
    left: f64,
    right: f64,
    /// Whether all leaves are below the hubs.
    has_all: bool,
    /// Where lines turn aside below the hubs.
    bus: f64,
    /// Whether the hub has lines to other tiers, which lines to leaves beside these must not cross.
    is_tiered: bool,
    /// The distance between the columns of a pair.
    gap: f64,
    hubs: Vec<usize>,
}

impl Grids {
    pub(super) fn new(
        outline: &Outline,
        neighbors: &[Vec<usize>],
        rects: &[Rect],
        tiers: &[Option<usize>],
    ) -> Self {
        let mut leaves: BTreeMap<&[usize], Vec<Rect>> = BTreeMap::new();
        for (shape, hubs) in neighbors.iter().enumerate() {
            if (1..=MAX_SHARING).contains(&hubs.len()) {
                leaves.entry(hubs).or_default().push(rects[shape]);
            }
        }
        let grid = |(hubs, leaves): (&[usize], Vec<Rect>)| {
            crate::fair_threads::yield_turn();
            let are_tiered = hubs.iter().all(|hub| tiers[*hub].is_some());
            let mut grid = LeafGrid::of(hubs, &leaves, outline, rects)?;
            grid.is_tiered = hubs.len() == 1 && are_tiered;
            // Without tiers, leaves around a hub may be in line by chance.
            (are_tiered || grid.has_all).then(|| (hubs.to_vec(), grid))
        };
        Self { grids: leaves.into_iter().filter_map(grid).collect() }
    }

    /// Returns the line between a hub and a leaf in a grid, in either direction.
    pub(super) fn route(
        &self,
        between: &ObstaclesBetween<'_>,
        neighbors: &[Vec<usize>],
    ) -> Option<Vec<Point>> {
        let (source, target) = (between.source_index, between.target_index);
        if let Some(grid) = self.grids.get(&neighbors[target]) {
            return grid.line(between, source, between.source, between.target);
        }
        let grid = self.grids.get(&neighbors[source])?;
        let mut line = grid.line(between, target, between.target, between.source)?;
        line.reverse();
        Some(line)
    }
}

impl LeafGrid {
    fn of(hubs: &[usize], leaves: &[Rect], outline: &Outline, rects: &[Rect]) -> Option<Self> {
        let bus = hubs.iter().map(|hub| rects[*hub].bottom()).reduce(f64::max)? + LAYER_GAP / 2.0;
        let below: Vec<&Rect> = leaves.iter().filter(|leaf| leaf.y > bus).collect();
        let centers: BTreeSet<i64> = below.iter().map(|leaf| steps(leaf.center().y)).collect();
        let rights: BTreeSet<i64> = below.iter().map(|leaf| steps(leaf.right())).collect();
        // Leaves in a grid share rows or a column; leaves around a hub do not.
        let are_many = below.len() > MAX_IN_A_ROW || (below.len() > 2 && centers.len() > 1);
        let are_in_rows = are_many && centers.len() * 2 <= below.len() + 1;
        let are_in_a_column = below.len() > 1 && rights.len() == 1;
        if !are_in_rows && !are_in_a_column {
            return None;
        }
        let label_width = hubs.iter().map(|hub| outline.label_widths[*hub]).fold(0.0, f64::max);
        Some(Self {
            rights,
            left: below.iter().map(|leaf| leaf.x).fold(f64::INFINITY, f64::min),
            right: below.iter().map(|leaf| leaf.right()).fold(f64::NEG_INFINITY, f64::max),
            has_all: below.len() == leaves.len(),
            bus,
            is_tiered: false,
            gap: trunk_gap(label_width),
            hubs: hubs.to_vec(),
        })
    }

    fn line(
        &self,
        between: &ObstaclesBetween<'_>,
        hub_index: usize,
        hub: Rect,
        leaf: Rect,
    ) -> Option<Vec<Point>> {
        let place = self.hubs.iter().position(|other| *other == hub_index)?;
        let lines = self.hubs.len();
        // From a negative number for the first hub to a positive one for the last.
        let lane = place as f64 - (lines - 1) as f64 / 2.0;
        let spacing = |room: f64| LANE.min(room / lines as f64);
        let [left, right] = [leaf.x - self.gap / 2.0, leaf.right() + self.gap / 2.0];
        let right_of_other = self.rights.contains(&steps(leaf.x - self.gap));
        let xs = if right_of_other { [left, right] } else { [right, left] };
        let start = self.start(hub);
        let first = if start == hub.center().x { self.bus } else { hub.bottom() + CLEARANCE + 1.0 };
        let bus = first + spacing(LAYER_GAP / 2.0 - CLEARANCE) * place as f64;
        let y = leaf.center().y + spacing(leaf.height) * lane;
        xs.into_iter().find_map(|x| {
            let x = x + spacing(self.gap - 2.0 * CLEARANCE) * lane;
            let line = vec![
                Point::new(start, hub.center().y),
                Point::new(start, bus),
                Point::new(x, bus),
                Point::new(x, y),
                Point::new(leaf.center().x, y),
            ];
            (bus < leaf.y && between.is_line_free(&line)).then_some(line)
        })
    }

    /// Returns where lines leave a hub: at the side on which the whole grid is, or else in the middle.
    fn start(&self, hub: Rect) -> f64 {
        let center = hub.center().x;
        if !self.is_tiered {
            center
        } else if self.right + self.gap / 2.0 < center {
            hub.x + MARGIN.min(hub.width / 2.0)
        } else if self.left - self.gap / 2.0 > center {
            hub.right() - MARGIN.min(hub.width / 2.0)
        } else {
            center
        }
    }
}

/// Converts a length to units of 1/64 pixel.
fn steps(length: f64) -> i64 {
    (length * 64.0).round() as i64
}
