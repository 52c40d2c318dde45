//! Shapes as obstacles.

use super::super::geometry::{Point, Rect};
use super::super::outline::Outline;
use super::super::space::Space;

/// The distance that lines keep from foreign shapes.
pub(super) const CLEARANCE: f64 = 7.0;

/// Obstacles of a line that are considered at once.
const MOST_OBSTACLES: usize = 12;

/// All shapes.
#[derive(Debug)]
pub(super) struct Field<'a> {
    outline: &'a Outline,
    rects: &'a [Rect],
    space: Space,
}

impl<'a> Field<'a> {
    pub(super) fn new(outline: &'a Outline, rects: &'a [Rect]) -> Self {
        let grown: Vec<Rect> = rects.iter().map(|rect| rect.grown(CLEARANCE)).collect();
        Self { outline, rects, space: Space::holding(&grown) }
    }

    pub(super) fn between(&self, source_index: usize, target_index: usize) -> Between<'_> {
        Between {
            field: self,
            source: self.rects[source_index],
            target: self.rects[target_index],
            source_index,
            target_index,
        }
    }
}

/// The shapes as obstacles for the lines between two of them.
#[derive(Debug)]
pub(super) struct Between<'a> {
    field: &'a Field<'a>,
    pub(super) source: Rect,
    pub(super) target: Rect,
    pub(super) source_index: usize,
    pub(super) target_index: usize,
}

impl Between<'_> {
    /// Returns whether one of the two shapes contains the other.
    pub(super) fn nested(&self) -> bool {
        let outline = self.field.outline;
        outline.encloses(self.source_index, self.target_index)
            || outline.encloses(self.target_index, self.source_index)
    }

    /// Returns whether a shape is in the way. The two shapes, shapes in them and shapes around them are not.
    fn is_obstacle(&self, shape: usize) -> bool {
        let outline = self.field.outline;
        ![self.source_index, self.target_index]
            .into_iter()
            .any(|end| shape == end || outline.encloses(shape, end) || outline.encloses(end, shape))
    }

    /// Returns whether a segment keeps clear of all obstacles.
    pub(super) fn is_free(&self, from: Point, to: Point) -> bool {
        let mut free = true;
        self.field.space.along(from, to, |shape, _| {
            free = !self.is_obstacle(shape);
            free
        });
        free
    }

    /// Returns whether all segments of a line keep clear of all obstacles.
    pub(super) fn is_line_free(&self, line: &[Point]) -> bool {
        line.windows(2).all(|pair| match pair {
            [from, to] => self.is_free(*from, *to),
            _ => true,
        })
    }

    /// Returns some of the obstacles of a segment, each with its clearance. Obstacles within other obstacles are left
    /// out.
    pub(super) fn obstacles(&self, from: Point, to: Point) -> Vec<(usize, Rect)> {
        let mut found: Vec<(usize, Rect)> = Vec::new();
        self.field.space.along(from, to, |shape, rect| {
            if self.is_obstacle(shape) && found.iter().all(|(known, _)| *known != shape) {
                found.push((shape, rect));
            }
            found.len() < MOST_OBSTACLES
        });
        let outline = self.field.outline;
        let inner = |shape: usize| outline.parents[shape].is_some_and(|parent| self.is_obstacle(parent));
        found.retain(|(shape, _)| !inner(*shape));
        found.sort_by_key(|(shape, _)| *shape);
        found
    }

    /// Returns the obstacles within a rectangle, each with its clearance.
    pub(super) fn obstacles_within(&self, within: Rect) -> Vec<Rect> {
        let mut found: Vec<(usize, Rect)> = Vec::new();
        self.field.space.overlapping(within, |shape, rect| {
            if self.is_obstacle(shape) {
                found.push((shape, rect));
            }
            true
        });
        found.sort_by_key(|(shape, _)| *shape);
        found.dedup_by_key(|(shape, _)| *shape);
        found.into_iter().map(|(_, rect)| rect).collect()
    }
}
