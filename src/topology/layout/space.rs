//! Rectangles that are found by place.

use super::cells::Cells;
use super::geometry::{Point, Rect, Size};

/// Rectangles in the cells of a grid.
#[derive(Debug)]
pub(super) struct Space {
    cells: Cells,
    contents: Vec<Vec<usize>>,
    rects: Vec<Rect>,
}

impl Space {
    /// Creates an empty space for rectangles like these. Others are found as well, but less fast.
    pub(super) fn for_rects<'a>(rects: impl Iterator<Item = &'a Rect> + Clone) -> Self {
        // Rectangles that are moved apart need room around their first places.
        let area: f64 = rects.clone().map(|rect| rect.width * rect.height).sum();
        let bounds = rects.clone().copied().reduce(Rect::union).unwrap_or_default().grown(area.sqrt());
        let count = rects.clone().count().max(1) as f64;
        let widths: f64 = rects.clone().map(|rect| rect.width).sum();
        let heights: f64 = rects.map(|rect| rect.height).sum();
        let cells = Cells::new(bounds, Size::new(widths / count, heights / count));
        Self { cells, contents: vec![Vec::new(); cells.count()], rects: Vec::new() }
    }

    /// Creates a space that holds these rectangles; their indexes are their positions.
    pub(super) fn holding(rects: &[Rect]) -> Self {
        let mut space = Self::for_rects(rects.iter());
        for rect in rects {
            crate::fair_threads::yield_turn();
            space.insert(*rect);
        }
        space
    }

    /// Adds a rectangle and returns its index.
    pub(super) fn insert(&mut self, rect: Rect) -> usize {
        let index = self.rects.len();
        self.rects.push(rect);
        for cell in self.cells.within(rect) {
            self.contents[cell].push(index);
        }
        index
    }

    /// Calls a function with each rectangle that overlaps this one. The order is arbitrary, and a rectangle may be
    /// visited repeatedly.
    ///
    /// It stops when the function returns `false`.
    pub(super) fn overlapping(&self, rect: Rect, mut visit: impl FnMut(usize, Rect) -> bool) {
        for index in self.cells.within(rect).flat_map(|cell| &self.contents[cell]) {
            let other = self.rects[*index];
            if other.overlaps(rect) && !visit(*index, other) {
                return;
            }
        }
    }

    /// Calls a function with each rectangle that a segment enters. A rectangle may be visited repeatedly. It stops when
    /// the function returns `false`.
    pub(super) fn along(&self, from: Point, to: Point, mut visit: impl FnMut(usize, Rect) -> bool) {
        for index in self.cells.along(from, to).flat_map(|cell| &self.contents[cell]) {
            let rect = self.rects[*index];
            if rect.clip(from, to).is_some() && !visit(*index, rect) {
                return;
            }
        }
    }
}
