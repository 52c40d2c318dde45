//! Lines to leaves in grids: down between two columns, then aside.

use std::collections::{BTreeMap, BTreeSet};

use super::super::geometry::{Point, Rect};
use super::super::layered::{MOST_IN_A_ROW, MOST_SHARING, trunk_gap};
use super::super::level::LAYER_GAP;
use super::super::outline::Outline;
use super::LANE;
use super::field::{Between, CLEARANCE};

/// Grids of leaves by their hubs. Each leaf of a grid is connected to all of them.
#[derive(Debug)]
pub(super) struct Grids {
    grids: BTreeMap<Vec<usize>, Grid>,
}

/// Leaves in pairs of columns below one hub, or below several.
#[derive(Debug)]
struct Grid {
    /// The right edges of the leaves, in units of 1/64 pixel.
    rights: BTreeSet<i64>,
    /// Where lines turn aside below the hubs.
    bus: f64,
    /// The distance between the columns of a pair.
    gap: f64,
    hubs: Vec<usize>,
}

impl Grids {
    pub(super) fn new(outline: &Outline, neighbors: &[Vec<usize>], rects: &[Rect]) -> Self {
        let mut leaves: BTreeMap<&[usize], Vec<Rect>> = BTreeMap::new();
        for (shape, hubs) in neighbors.iter().enumerate() {
            if (1..=MOST_SHARING).contains(&hubs.len()) {
                leaves.entry(hubs).or_default().push(rects[shape]);
            }
        }
        let grid = |(hubs, leaves): (&[usize], Vec<Rect>)| {
            crate::fair_threads::yield_turn();
            Some((hubs.to_vec(), Grid::of(hubs, &leaves, outline, rects)?))
        };
        Self { grids: leaves.into_iter().filter_map(grid).collect() }
    }

    /// Returns the line between a hub and a leaf in a grid, in either direction.
    pub(super) fn route(&self, between: &Between<'_>, neighbors: &[Vec<usize>]) -> Option<Vec<Point>> {
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

impl Grid {
    fn of(hubs: &[usize], leaves: &[Rect], outline: &Outline, rects: &[Rect]) -> Option<Self> {
        let bus = hubs.iter().map(|hub| rects[*hub].bottom()).reduce(f64::max)? + LAYER_GAP / 2.0;
        let below: Vec<&Rect> = leaves.iter().filter(|leaf| leaf.y > bus).collect();
        let centers: BTreeSet<i64> = below.iter().map(|leaf| steps(leaf.center().y)).collect();
        // Leaves in a grid share rows; leaves around a hub do not.
        if below.len() <= MOST_IN_A_ROW || centers.len() * 2 > below.len() + 1 {
            return None;
        }
        let label_width = hubs.iter().map(|hub| outline.label_widths[*hub]).fold(0.0, f64::max);
        Some(Self {
            rights: below.iter().map(|leaf| steps(leaf.right())).collect(),
            bus,
            gap: trunk_gap(label_width),
            hubs: hubs.to_vec(),
        })
    }

    fn line(&self, between: &Between<'_>, hub_index: usize, hub: Rect, leaf: Rect) -> Option<Vec<Point>> {
        let place = self.hubs.iter().position(|other| *other == hub_index)?;
        let lines = self.hubs.len();
        // From a negative number for the first hub to a positive one for the last.
        let lane = place as f64 - (lines - 1) as f64 / 2.0;
        let spacing = |room: f64| LANE.min(room / lines as f64);
        let [left, right] = [leaf.x - self.gap / 2.0, leaf.right() + self.gap / 2.0];
        let right_of_other = self.rights.contains(&steps(leaf.x - self.gap));
        let xs = if right_of_other { [left, right] } else { [right, left] };
        let bus = self.bus + spacing(LAYER_GAP / 2.0 - CLEARANCE) * place as f64;
        let y = leaf.center().y + spacing(leaf.height) * lane;
        xs.into_iter().find_map(|x| {
            let x = x + spacing(self.gap - 2.0 * CLEARANCE) * lane;
            let line = vec![
                hub.center(),
                Point::new(hub.center().x, bus),
                Point::new(x, bus),
                Point::new(x, y),
                Point::new(leaf.center().x, y),
            ];
            (bus < leaf.y && between.is_line_free(&line)).then_some(line)
        })
    }
}

fn steps(length: f64) -> i64 {
    (length * 64.0).round() as i64
}
