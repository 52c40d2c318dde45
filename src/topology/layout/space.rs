//! Rectangles that are found by place, through the cells of a grid.

use super::geometry::{Point, Rect, Size};

/// Rectangles in the cells of a grid.
#[derive(Debug)]
pub(super) struct Space {
    cells: CellGrid,
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
        let cells = CellGrid::new(bounds, Size::new(widths / count, heights / count));
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

    /// Removes the rectangle that was added last.
    pub(super) fn remove_last(&mut self) {
        let Some(rect) = self.rects.pop() else { return };
        for cell in self.cells.within(rect) {
            self.contents[cell].pop();
        }
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

const MAX_CELLS_PER_SIDE: f64 = 512.0;

/// A grid of cells; the outermost ones reach to infinity.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellGrid {
    origin: Point,
    cell: Size,
    columns: usize,
    rows: usize,
}

impl CellGrid {
    /// Creates a grid within these bounds, with cells of this size. The cells are larger if there would be too many.
    pub(super) fn new(bounds: Rect, wanted: Size) -> Self {
        let cell = Size::new(
            wanted.width.max(bounds.width / MAX_CELLS_PER_SIDE).max(1.0),
            wanted.height.max(bounds.height / MAX_CELLS_PER_SIDE).max(1.0),
        );
        let columns = (bounds.width / cell.width) as usize + 1;
        let rows = (bounds.height / cell.height) as usize + 1;
        Self { origin: bounds.corner(), cell, columns, rows }
    }

    pub(super) const fn count(&self) -> usize {
        self.columns * self.rows
    }

    /// Returns the cells that a rectangle touches.
    pub(super) fn within(self, rect: Rect) -> impl Iterator<Item = usize> {
        let (left, right) = self.columns_of(rect.x, rect.right());
        let (top, bottom) = self.rows_of(rect.y, rect.bottom());
        (top..=bottom).flat_map(move |row| (left..=right).map(move |column| row * self.columns + column))
    }

    /// Returns the cells that a segment touches.
    pub(super) fn along(self, from: Point, to: Point) -> impl Iterator<Item = usize> {
        let (start, end) = if from.x <= to.x { (from, to) } else { (to, from) };
        let (left, right) = self.columns_of(start.x, end.x);
        let slope = (end.y - start.y) / (end.x - start.x);
        (left..=right).flat_map(move |column| {
            // The part of the segment within this column.
            let low = if column == left { start.x } else { self.origin.x + column as f64 * self.cell.width };
            let high =
                if column == right { end.x } else { self.origin.x + (column + 1) as f64 * self.cell.width };
            let (first, last) = if slope.is_finite() && left < right {
                (start.y + (low - start.x) * slope, start.y + (high - start.x) * slope)
            } else {
                (start.y, end.y)
            };
            let (top, bottom) = self.rows_of(first.min(last), first.max(last));
            (top..=bottom).map(move |row| row * self.columns + column)
        })
    }

    fn columns_of(&self, low: f64, high: f64) -> (usize, usize) {
        let last = self.columns - 1;
        // A conversion to an integer saturates, so that places left of the grid are in its first column.
        let column = |x: f64| (((x - self.origin.x) / self.cell.width) as usize).min(last);
        (column(low), column(high))
    }

    fn rows_of(&self, low: f64, high: f64) -> (usize, usize) {
        let last = self.rows - 1;
        let row = |y: f64| (((y - self.origin.y) / self.cell.height) as usize).min(last);
        (row(low), row(high))
    }
}
