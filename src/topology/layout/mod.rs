//! Positions of nodes and routes of edges.
//!
//! The module deals with rectangles and lines only. A [`Diagram`] holds shapes, some of which contain others, and
//! connections between them; [`arrange`] returns where each shape is and which way each line takes, and
//! [`place_labels`] finds room for texts near the ends of lines.
//!
//! An arrangement is a function of its diagram: it depends neither on time nor on threads, and its coordinates come
//! from additions, multiplications, divisions and square roots alone, which are the same on every machine.

#![allow(
    clippy::indexing_slicing,
    reason = "`Outline` numbers the shapes that exist, and lists about shapes, nodes and cells are as long as their numbers"
)]

mod anchors;
mod components;
mod containers;
mod device_tiers;
mod diagram;
mod geometry;
mod labels;
mod layered;
mod mesh;
mod network;
mod outline;
mod overlap;
mod packing;
mod routing;
mod slots;
mod space;
mod templates;
mod tiers;

pub use self::diagram::{AddressScope, Arrangement, Connection, Diagram, Label, LineEnd, Shape};
pub use self::geometry::{Point, Rect, Size};
pub(super) use self::labels::LabelRoom;
pub(super) use self::network::SimpleGraph;
pub(super) use self::routing::MAX_STAGGER;

use self::containers::Nested;
use self::outline::Outline;
use crate::invariant::Invariant;

/// Places the shapes of a diagram and routes its connections.
///
/// Any diagram is accepted. Indexes out of range, containers that contain themselves, and sizes and positions that are
/// not numbers are corrected or ignored. Coordinates are multiples of 1/64 within ±10^6.
#[must_use]
pub fn arrange(diagram: &Diagram) -> Arrangement {
    let outline = Outline::of(diagram);
    let nested = containers::arrange(&outline);
    let rects = anchors::place(&outline, &nested);
    routed(&outline, &nested, &rects)
}

/// Returns the places of the shapes of a diagram, in its order.
#[must_use]
pub(super) fn place(diagram: &Diagram) -> Vec<Rect> {
    let outline = Outline::of(diagram);
    let nested = containers::arrange(&outline);
    in_order_of_diagram(&outline, &anchors::place(&outline, &nested))
}

/// Routes the connections of a diagram between shapes at these places, which [`place`] has returned for it.
#[must_use]
pub(super) fn route_between(diagram: &Diagram, places: &[Rect]) -> Arrangement {
    let outline = Outline::of(diagram);
    let nested = containers::arrange(&outline);
    let rects: Vec<Rect> =
        outline.origins.iter().map(|origin| places.get(*origin).copied().asserted_or_default()).collect();
    routed(&outline, &nested, &rects)
}

fn routed(outline: &Outline, nested: &Nested, rects: &[Rect]) -> Arrangement {
    let routes = routing::route(outline, rects, &nested.tiers);
    let corners = rects.iter().flat_map(|rect| rect.corners()).chain(routes.iter().flatten().copied());
    let bounds = Rect::around(corners).unwrap_or_default();
    Arrangement { shapes: in_order_of_diagram(outline, rects), routes, bounds }
}

fn in_order_of_diagram(outline: &Outline, rects: &[Rect]) -> Vec<Rect> {
    let mut shapes = vec![Rect::default(); outline.len()];
    for (rect, origin) in rects.iter().zip(&outline.origins) {
        shapes[*origin] = *rect;
    }
    shapes
}

/// Finds room for labels near the ends of lines.
///
/// A label is within the bounds of the arrangement. It overlaps neither shapes that contain nothing, nor titles of
/// containers, nor other labels, and is near no line but its own. At a line that runs down between tiers, it may be
/// turned by a quarter: then its width is the height of the label. It is `None` where there is no room for it. Labels
/// that come first are placed first.
#[must_use]
pub fn place_labels(diagram: &Diagram, arrangement: &Arrangement, labels: &[Label]) -> Vec<Option<Rect>> {
    labels::place(diagram, arrangement, labels)
}
