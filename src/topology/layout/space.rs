//! A grid of cells that finds the rectangles near a place.

use super::geometry::{Point, Rect, Size};
use super::table::Table;

const MOST_CELLS_A_SIDE: f64 = 512.0;

/// Rectangles, found by place.
#[derive(Debug)]
pub(super) struct Space {
    origin: Point,
    cell: Size,
    columns: usize,
    rows: usize,
    cells: Table<Vec<usize>>,
    rects: Vec<Rect>,
}

impl Space {
    /// Creates an empty space for rectangles like these; others are found as well, but less fast.
    pub(super) fn for_rects<'a>(rects: impl Iterator<Item = &'a Rect> + Clone) -> Self {
        // Rectangles that are moved apart need room around their first places.
        let area: f64 = rects.clone().map(|rect| rect.width * rect.height).sum();
        let bounds = rects.clone().copied().reduce(Rect::union).unwrap_or_default().grown(area.sqrt());
        let count = rects.clone().count().max(1) as f64;
        let widths: f64 = rects.clone().map(|rect| rect.width).sum();
        let heights: f64 = rects.map(|rect| rect.height).sum();
        let cell = Size::new(
            (widths / count).max(bounds.width / MOST_CELLS_A_SIDE).max(1.0),
            (heights / count).max(bounds.height / MOST_CELLS_A_SIDE).max(1.0),
        );
        let columns = (bounds.width / cell.width) as usize + 1;
        let rows = (bounds.height / cell.height) as usize + 1;
        let cells = Table::new(columns * rows);
        Self { origin: bounds.corner(), cell, columns, rows, cells, rects: Vec::new() }
    }

    /// Creates a space that holds these rectangles; their indexes are their positions.
    pub(super) fn holding(rects: &[Rect]) -> Self {
        let mut space = Self::for_rects(rects.iter());
        for rect in rects {
            space.insert(*rect);
        }
        space
    }

    /// Adds a rectangle and returns its index.
    pub(super) fn insert(&mut self, rect: Rect) -> usize {
        let index = self.rects.len();
        self.rects.push(rect);
        let (left, right) = self.columns_of(rect.x, rect.right());
        let (top, bottom) = self.rows_of(rect.y, rect.bottom());
        for row in top..=bottom {
            for column in left..=right {
                self.cells.push(row * self.columns + column, index);
            }
        }
        index
    }

    /// Calls a function with each rectangle that overlaps this one, in no useful order and maybe repeatedly.
    ///
    /// It stops when the function returns `false`.
    pub(super) fn overlapping(&self, rect: Rect, mut visit: impl FnMut(usize, Rect) -> bool) {
        let (left, right) = self.columns_of(rect.x, rect.right());
        let (top, bottom) = self.rows_of(rect.y, rect.bottom());
        for row in top..=bottom {
            for column in left..=right {
                for index in self.cells.list(row * self.columns + column) {
                    let Some(other) = self.rects.get(*index) else { continue };
                    if other.overlaps(rect) && !visit(*index, *other) {
                        return;
                    }
                }
            }
        }
    }

    /// Calls a function with each rectangle that a segment enters, maybe repeatedly, until it returns `false`.
    pub(super) fn along(&self, from: Point, to: Point, mut visit: impl FnMut(usize, Rect) -> bool) {
        let (start, end) = if from.x <= to.x { (from, to) } else { (to, from) };
        let (left, right) = self.columns_of(start.x, end.x);
        let slope = (end.y - start.y) / (end.x - start.x);
        for column in left..=right {
            // The part of the segment within this column; the outermost columns reach to infinity.
            let low = if column == left { start.x } else { self.origin.x + column as f64 * self.cell.width };
            let high =
                if column == right { end.x } else { self.origin.x + (column + 1) as f64 * self.cell.width };
            let (first, last) = if slope.is_finite() && left < right {
                (start.y + (low - start.x) * slope, start.y + (high - start.x) * slope)
            } else {
                (start.y, end.y)
            };
            let (top, bottom) = self.rows_of(first.min(last), first.max(last));
            for row in top..=bottom {
                for index in self.cells.list(row * self.columns + column) {
                    let Some(rect) = self.rects.get(*index) else { continue };
                    if rect.clip(from, to).is_some() && !visit(*index, *rect) {
                        return;
                    }
                }
            }
        }
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
