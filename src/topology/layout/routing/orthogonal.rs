//! Lines of horizontal and vertical parts through rows of blocks.

use super::super::geometry::{Point, Rect};
use super::super::level::GAP;
use super::super::level::LAYER_GAP;
use super::super::outline::Outline;
use super::LANE;
use super::field::{Between, CLEARANCE};
use super::grids::Grids;
use crate::invariant::Invariant;

const MOST_CHANNELS: usize = 64;
/// The cost of finding an obstacle, in units of the budget.
const OBSTACLE: usize = 40;

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
    pub(super) fn new(outline: &'a Outline, rects: &'a [Rect]) -> Self {
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
        let grids = Grids::new(outline, &neighbors, rects);
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
    pub(super) fn route(&self, between: &Between<'_>) -> Option<Vec<Point>> {
        self.grids.route(between, &self.neighbors)
    }

    /// Returns a line down a free channel to a shape of a lower rank. The shape is in a row farther below.
    pub(super) fn channel(&self, between: &Between<'_>, budget: &mut usize) -> Option<Vec<Point>> {
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
        between: &Between<'_>,
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
        *budget = budget.saturating_sub((obstacles.len() + MOST_CHANNELS) * OBSTACLE);
        for obstacle in obstacles {
            channels.extend([obstacle.x - 1.0, obstacle.right() + 1.0]);
        }
        let detour = |x: f64| (x - start.x).abs() + (x - end.x).abs() * 0.1;
        channels.sort_by(|one, other| detour(*one).total_cmp(&detour(*other)).then(one.total_cmp(other)));
        channels.dedup();
        channels.into_iter().take(MOST_CHANNELS).find_map(|x| {
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

fn steps(length: f64) -> i64 {
    (length * 64.0).round() as i64
}
