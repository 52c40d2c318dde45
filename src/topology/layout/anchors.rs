//! Pins and earlier arrangements.
//!
//! If most shapes have a place from an earlier arrangement, all of them keep it, and new shapes are placed near their
//! neighbors. Otherwise everything is arranged anew. In both cases pins come first, and others give way.

use super::containers::GAP;
use super::containers::{Nested, PADDING, content_offset};
use super::geometry::{MAX_COORDINATE, Point, Rect, Size, rounded, rounded_up};
use super::outline::Outline;
use super::overlap;
use super::slots::Slots;
use crate::invariant::Invariant;

/// The distance of shapes that move apart. Leaves in grids and around rings are as near to each other.
const APART: f64 = GAP / 2.0;

/// A new arrangement replaces an earlier one if at most one leaf in this many moves.
const MAX_MOVED_OF: usize = 20;

/// Returns the place of each shape.
pub(super) fn place(outline: &Outline, nested: &Nested) -> Vec<Rect> {
    let fresh = nested.absolute(outline);
    let rects = |corners: &[Point]| -> Vec<Rect> {
        (0..outline.len())
            .map(|shape| Rect::new(corners[shape], nested.sizes[shape]))
            .map(within_limits)
            .collect()
    };
    let leaves = || (0..outline.len()).filter(|shape| !outline.is_container(*shape));
    let placed = leaves().filter(|leaf| outline.formers[*leaf].is_some()).count();
    let most_are_placed = placed * 2 >= leaves().count() && placed > 0;
    if !most_are_placed && outline.pins.iter().all(Option::is_none) {
        return rects(&fresh);
    }
    if most_are_placed
        && outline.pins.iter().all(Option::is_none)
        && let Some(corners) = shifted_to_formers(outline, &fresh)
    {
        return rects(&corners);
    }
    let known = if most_are_placed { former_places(outline) } else { shifted_to_pins(outline, &fresh) };
    let mut settling = Settling {
        outline,
        nested,
        slots: Slots::new(outline),
        fixed: with_pins(outline),
        rects: vec![None; outline.len()],
        shifts: vec![Point::default(); outline.len()],
    };
    for leaf in leaves() {
        if let Some(corner) = known[leaf] {
            settling.rects[leaf] = Some(Rect::new(corner, nested.sizes[leaf]).rounded());
        }
    }
    for container in outline.containers_upward() {
        settling.settle(container);
    }
    settling.finish()
}

/// Returns the places of leaves that are pinned or in an earlier arrangement.
fn former_places(outline: &Outline) -> Vec<Option<Point>> {
    (0..outline.len()).map(|shape| outline.pins[shape].or(outline.formers[shape])).collect()
}

/// Shifts an arrangement to an earlier one; `None` if more than a few leaves would not be where they were.
///
/// A new arrangement has better places for new shapes than those that are left beside the others.
fn shifted_to_formers(outline: &Outline, fresh: &[Point]) -> Option<Vec<Point>> {
    let leaves = (0..outline.len()).filter(|shape| !outline.is_container(*shape));
    let offsets: Vec<Point> =
        leaves.filter_map(|leaf| outline.formers[leaf].map(|former| former.minus(fresh[leaf]))).collect();
    let shift = median(&offsets);
    let moved = offsets.iter().filter(|offset| **offset != shift).count();
    (moved * MAX_MOVED_OF <= offsets.len()).then(|| fresh.iter().map(|corner| corner.plus(shift)).collect())
}

/// Shifts an arrangement so that pinned shapes are near their pins. Contents of pinned containers move with them.
fn shifted_to_pins(outline: &Outline, fresh: &[Point]) -> Vec<Option<Point>> {
    let offsets: Vec<Point> = (0..outline.len())
        .filter_map(|shape| outline.pins[shape].map(|pin| pin.minus(fresh[shape])))
        .collect();
    let general = median(&offsets);
    let mut shifts = vec![general; outline.len()];
    let mut places: Vec<Option<Point>> = vec![None; outline.len()];
    // Containers before their content.
    let outermost = outline.children(None).iter().copied();
    let inner = outline.containers_upward().into_iter().rev().flatten();
    let inner = inner.flat_map(|container| outline.children(Some(container))).copied();
    for shape in outermost.chain(inner) {
        let inherited = outline.parents[shape].map_or(general, |parent| shifts[parent]);
        let shift = outline.pins[shape].map_or(inherited, |pin| pin.minus(fresh[shape]));
        shifts[shape] = shift;
        places[shape] = Some(fresh[shape].plus(shift));
    }
    places
}

fn median(points: &[Point]) -> Point {
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    Point::new(
        middle(points.iter().map(|point| point.x).collect()),
        middle(points.iter().map(|point| point.y).collect()),
    )
    .rounded()
}

/// Returns which shapes are pinned, or contain pinned ones.
fn with_pins(outline: &Outline) -> Vec<bool> {
    let mut fixed: Vec<bool> = outline.pins.iter().map(Option::is_some).collect();
    for container in outline.containers_upward().into_iter().flatten() {
        if outline.children(Some(container)).iter().any(|child| fixed[*child]) {
            fixed[container] = true;
        }
    }
    fixed
}

/// Places that are settled from the innermost containers to the outermost level.
#[derive(Debug)]
struct Settling<'a> {
    outline: &'a Outline,
    nested: &'a Nested,
    slots: Slots<'a>,
    fixed: Vec<bool>,
    /// The places known so far; `None` for shapes that are placed with their container.
    rects: Vec<Option<Rect>>,
    /// By how much the content of each container moves with it.
    shifts: Vec<Point>,
}

impl Settling<'_> {
    fn settle(&mut self, container: Option<usize>) {
        let children = self.outline.children(container);
        let (known, new): (Vec<usize>, Vec<usize>) =
            children.iter().partition(|child| self.rects[**child].is_some());
        if known.is_empty() && container.is_some_and(|container| self.anchor(container).is_none()) {
            return;
        }
        self.separate(&known);
        if known.is_empty() {
            let origin = container
                .and_then(|container| Some((container, self.anchor(container)?)))
                .map_or(Point::default(), |(container, anchor)| {
                    anchor.plus(content_offset(self.outline, container))
                });
            for child in new {
                let corner = origin.plus(self.nested.corners[child]);
                self.rects[child] = Some(Rect::new(corner, self.nested.sizes[child]).rounded());
            }
        } else {
            self.slots.fill(&mut self.rects, &known, &new, &self.nested.sizes);
        }
        if let Some(container) = container {
            let rect = self.container_rect(container);
            self.rects[container] = rect;
        }
    }

    fn anchor(&self, shape: usize) -> Option<Point> {
        self.outline.pins[shape].or(self.outline.formers[shape])
    }

    /// Moves shapes apart: pinned ones stay, then large ones.
    fn separate(&mut self, shapes: &[usize]) {
        let mut rects: Vec<Rect> =
            shapes.iter().map(|shape| self.rects[*shape].asserted_or_default()).collect();
        let mut order: Vec<usize> = (0..shapes.len()).collect();
        let is_fixed = |index: &usize| self.fixed[shapes[*index]];
        let area = |index: &usize| rects[*index].width * rects[*index].height;
        order.sort_by(|one, other| {
            is_fixed(other).cmp(&is_fixed(one)).then(area(other).total_cmp(&area(one))).then(one.cmp(other))
        });
        let fixed = order.iter().filter(|index| is_fixed(index)).count();
        let before = rects.clone();
        overlap::separate(&mut rects, &order, fixed, APART);
        for ((shape, before), after) in shapes.iter().zip(before).zip(rects) {
            self.rects[*shape] = Some(after);
            self.shifts[*shape] = self.shifts[*shape].plus(after.corner().minus(before.corner()));
        }
    }

    /// Returns the rectangle around the content of a container.
    fn container_rect(&self, container: usize) -> Option<Rect> {
        let children = self.outline.children(Some(container)).iter();
        let content = children.filter_map(|child| self.rects[*child]).reduce(Rect::union)?;
        let inside = content_offset(self.outline, container);
        let least = self.outline.sizes[container];
        let size = Size::new(
            rounded_up((content.width + inside.x + PADDING).max(least.width)),
            rounded_up((content.height + inside.y + PADDING).max(least.height)),
        );
        let needed = Rect::new(content.corner().minus(inside), size);
        let anchor = self.anchor(container).map(|corner| Rect::new(corner, least));
        Some(anchor.map_or(needed, |anchor| needed.union(anchor)))
    }

    /// Moves the content of containers with them. Shapes that have no place yet are placed with their container.
    fn finish(mut self) -> Vec<Rect> {
        for container in self.outline.containers_upward().into_iter().rev().flatten() {
            let corner = self.rects[container].asserted_or_default().corner();
            let shift = self.shifts[container];
            let inside = content_offset(self.outline, container);
            for child in self.outline.children(Some(container)) {
                let rect = match self.rects[*child] {
                    Some(rect) => {
                        self.shifts[*child] = self.shifts[*child].plus(shift);
                        rect.moved(shift)
                    }
                    None => {
                        let relative = self.nested.corners[*child].plus(inside);
                        Rect::new(corner.plus(relative), self.nested.sizes[*child])
                    }
                };
                self.rects[*child] = Some(rect);
            }
        }
        self.rects.iter().map(|rect| within_limits(rect.asserted_or_default())).collect()
    }
}

/// Moves both corners within the bounds of coordinates, which preserves containment.
fn within_limits(rect: Rect) -> Rect {
    if rect.x >= -MAX_COORDINATE
        && rect.right() <= MAX_COORDINATE
        && rect.y >= -MAX_COORDINATE
        && rect.bottom() <= MAX_COORDINATE
    {
        return rect.rounded();
    }
    Rect::spanning(
        Point::new(rounded(rect.x), rounded(rect.y)),
        Point::new(rounded(rect.right()), rounded(rect.bottom())),
    )
}
