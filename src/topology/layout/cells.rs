//! The cells of a grid, by which things are found by place.

use super::geometry::{Point, Rect, Size};

const MOST_CELLS_A_SIDE: f64 = 512.0;

/// A grid of cells; the outermost ones reach to infinity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    origin: Point,
    cell: Size,
    columns: usize,
    rows: usize,
}

impl Cells {
    /// Creates a grid within these bounds, with cells of this size. The cells are larger if there would be too many.
    pub(super) fn new(bounds: Rect, wanted: Size) -> Self {
        let cell = Size::new(
            wanted.width.max(bounds.width / MOST_CELLS_A_SIDE).max(1.0),
            wanted.height.max(bounds.height / MOST_CELLS_A_SIDE).max(1.0),
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
