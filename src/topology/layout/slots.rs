//! Places for new shapes beside shapes that have a place.

use super::containers::GAP;
use super::containers::LAYER_GAP;
use super::geometry::{Point, Rect, Size};
use super::outline::Outline;
use super::overlap::{is_free, nearest_free};
use super::space::Space;

/// Maximum number of siblings whose surroundings are searched for a place.
const MAX_PEERS: usize = 48;

/// Finds places for new shapes.
#[derive(Debug)]
pub(super) struct Slots<'a> {
    outline: &'a Outline,
    /// The shapes that each shape is connected to.
    neighbors: Vec<Vec<usize>>,
}

impl<'a> Slots<'a> {
    pub(super) fn new(outline: &'a Outline) -> Self {
        let mut neighbors = vec![Vec::new(); outline.len()];
        for (source, target) in outline.ends.iter().flatten() {
            // Containers are connected through their content.
            if let Some((one, other)) = outline.siblings(*source, *target) {
                for (from, to) in [(*source, *target), (one, *target)] {
                    neighbors[from].push(to);
                }
                for (from, to) in [(*target, *source), (other, *source)] {
                    neighbors[from].push(to);
                }
            }
        }
        Self { outline, neighbors }
    }

    /// Places new shapes among known ones with the same parent, neighbors of placed ones first.
    pub(super) fn fill(&self, rects: &mut [Option<Rect>], known: &[usize], new: &[usize], sizes: &[Size]) {
        if new.is_empty() {
            return;
        }
        let placed: Vec<Rect> = known.iter().filter_map(|shape| rects[*shape]).collect();
        let mut space = Space::holding(&placed);
        let mut edge = placed.iter().map(|rect| rect.right()).fold(f64::NEG_INFINITY, f64::max);
        let mut siblings = known.to_vec();
        let mut waiting = new.to_vec();
        while !waiting.is_empty() {
            let (mut ready, mut later): (Vec<usize>, Vec<usize>) = waiting
                .into_iter()
                .partition(|shape| self.neighbors[*shape].iter().any(|neighbor| rects[*neighbor].is_some()));
            if ready.is_empty() {
                ready = std::mem::take(&mut later);
            }
            for shape in ready {
                let size = sizes[shape];
                let wish = self.wish(shape, size, rects, &siblings, &space);
                let rect = nearest_free(&space, Rect::new(wish, size), GAP, edge);
                edge = edge.max(rect.right());
                space.insert(rect);
                rects[shape] = Some(rect);
                siblings.push(shape);
            }
            waiting = later;
        }
    }

    /// Returns the corner where a new shape should be.
    fn wish(
        &self,
        shape: usize,
        size: Size,
        rects: &[Option<Rect>],
        siblings: &[usize],
        space: &Space,
    ) -> Point {
        let neighbors: Vec<Rect> =
            self.neighbors[shape].iter().filter_map(|neighbor| rects[*neighbor]).collect();
        let Some(around) = neighbors.iter().copied().reduce(Rect::union) else {
            let origin = Point::default();
            return beside(size, rects, siblings, origin, space).unwrap_or(origin);
        };
        let below = Point::new(around.center().x - size.width / 2.0, around.bottom() + LAYER_GAP);
        let peers = self.peers(shape);
        let center = Point::new(around.center().x, around.bottom());
        beside(size, rects, &peers, center, space).unwrap_or(below)
    }

    /// Returns the leaves of the same hub, with the same parent.
    fn peers(&self, shape: usize) -> Vec<usize> {
        let parent = self.outline.parents[shape];
        match self.distinct_neighbors(shape).as_slice() {
            [hub] => self.neighbors[*hub]
                .iter()
                .copied()
                .filter(|peer| *peer != shape && self.outline.parents[*peer] == parent)
                .filter(|peer| self.distinct_neighbors(*peer).len() == 1)
                .take(MAX_PEERS)
                .collect(),
            _ => Vec::new(),
        }
    }

    fn distinct_neighbors(&self, shape: usize) -> Vec<usize> {
        // Two are enough to distinguish a leaf from other shapes.
        let mut distinct: Vec<usize> = Vec::new();
        for neighbor in &self.neighbors[shape] {
            if !distinct.contains(neighbor) {
                distinct.push(*neighbor);
                if distinct.len() == 2 {
                    break;
                }
            }
        }
        distinct
    }
}

/// Returns the free place beside a peer that is nearest to a point.
fn beside(
    size: Size,
    rects: &[Option<Rect>],
    peers: &[usize],
    center: Point,
    space: &Space,
) -> Option<Point> {
    let places = peers.iter().rev().take(MAX_PEERS).filter_map(|peer| rects[*peer]).flat_map(|peer| {
        [
            Point::new(peer.right() + GAP, peer.y),
            Point::new(peer.x, peer.bottom() + GAP),
            Point::new(peer.x - GAP - size.width, peer.y),
        ]
    });
    let free = places.filter(|place| is_free(space, Rect::new(*place, size), GAP));
    let distance = |place: &Point| Rect::new(*place, size).center().distance(center);
    free.min_by(|one, other| distance(one).total_cmp(&distance(other)))
}
