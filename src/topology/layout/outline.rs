//! A diagram with its faults corrected. Its order does not depend on the order of the caller's diagram.

use super::diagram::{AddressScope, Diagram, Shape};
use super::geometry::{MAX_COORDINATE, Point, Size, rounded_up};
use crate::invariant::Invariant;

const MAX_SIDE: f64 = 10_000.0;
const MAX_LABEL: f64 = 500.0;
const MAX_HEADER: f64 = 1_000.0;
const MAX_DEVICES: u32 = 1_000_000;

/// The shapes of a diagram, sorted, and their tree of containers.
#[derive(Debug)]
pub(super) struct Outline {
    /// For each shape, its index in the diagram.
    pub(super) origins: Vec<usize>,
    pub(super) sizes: Vec<Size>,
    pub(super) headers: Vec<f64>,
    pub(super) label_widths: Vec<f64>,
    pub(super) ranks: Vec<Option<u8>>,
    pub(super) scopes: Vec<AddressScope>,
    /// The number of devices that each shape stands for.
    pub(super) weights: Vec<usize>,
    pub(super) pins: Vec<Option<Point>>,
    pub(super) formers: Vec<Option<Point>>,
    pub(super) parents: Vec<Option<usize>>,
    /// The shapes in each container; the last list holds the outermost shapes.
    children: Vec<Vec<usize>>,
    depths: Vec<usize>,
    /// The ends of each connection in the diagram. `None` where one of them does not exist.
    pub(super) ends: Vec<Option<(usize, usize)>>,
    /// The widths of the labels at the ends of each connection.
    pub(super) port_widths: Vec<[f64; 2]>,
    /// The connections in the order of their ids.
    pub(super) connection_order: Vec<usize>,
}

impl Outline {
    pub(super) fn of(diagram: &Diagram) -> Self {
        let count = diagram.shapes.len();
        let mut sorted: Vec<(usize, &Shape)> = diagram.shapes.iter().enumerate().collect();
        sorted.sort_by_key(|(index, shape)| (shape.order, shape.id, *index));
        let mut positions = vec![0; count];
        for (position, (index, _)) in sorted.iter().enumerate() {
            positions[*index] = position;
        }
        let position_of = |index: usize| (index < count).then(|| positions[index]);
        let mut parents: Vec<Option<usize>> =
            sorted.iter().map(|(_, shape)| shape.parent.and_then(position_of)).collect();
        let depths = break_cycles(&mut parents);
        let mut children = vec![Vec::new(); count + 1];
        for (shape, parent) in parents.iter().enumerate() {
            children[parent.unwrap_or(count)].push(shape);
        }
        let ends = diagram
            .connections
            .iter()
            .map(|connection| position_of(connection.source).zip(position_of(connection.target)))
            .collect();
        let port_widths = diagram
            .connections
            .iter()
            .map(|connection| connection.label_widths.map(|width| usable(width, 0.0, MAX_LABEL)))
            .collect();
        let mut connection_order: Vec<usize> = (0..diagram.connections.len()).collect();
        connection_order.sort_by_key(|index| {
            let connection = &diagram.connections[*index];
            (connection.id, connection.source, connection.target, *index)
        });
        Self {
            origins: sorted.iter().map(|(index, _)| *index).collect(),
            sizes: sorted.iter().map(|(_, shape)| usable_size(shape.size)).collect(),
            headers: sorted.iter().map(|(_, shape)| usable(shape.header, 0.0, MAX_HEADER)).collect(),
            label_widths: sorted.iter().map(|(_, shape)| usable(shape.label_width, 0.0, MAX_LABEL)).collect(),
            ranks: sorted.iter().map(|(_, shape)| shape.rank).collect(),
            scopes: sorted.iter().map(|(_, shape)| shape.addresses).collect(),
            weights: sorted.iter().map(|(_, shape)| shape.devices.clamp(1, MAX_DEVICES) as usize).collect(),
            pins: sorted.iter().map(|(_, shape)| usable_point(shape.pin)).collect(),
            formers: sorted.iter().map(|(_, shape)| usable_point(shape.former)).collect(),
            parents,
            children,
            depths,
            ends,
            port_widths,
            connection_order,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.origins.len()
    }

    /// Returns the shapes in a container, or the outermost ones.
    pub(super) fn children(&self, container: Option<usize>) -> &[usize] {
        &self.children[container.unwrap_or(self.len())]
    }

    pub(super) fn is_container(&self, shape: usize) -> bool {
        !self.children(Some(shape)).is_empty()
    }

    /// Returns all containers, the innermost first; the outermost level, `None`, is the last.
    pub(super) fn containers_upward(&self) -> Vec<Option<usize>> {
        let mut containers: Vec<usize> = (0..self.len()).filter(|shape| self.is_container(*shape)).collect();
        containers.sort_by_key(|container| (usize::MAX - self.depths[*container], *container));
        containers.into_iter().map(Some).chain([None]).collect()
    }

    /// Returns the shapes that contain two shapes, or are these, and have the same parent.
    ///
    /// `None` if one of the two shapes contains the other.
    pub(super) fn siblings(&self, mut one: usize, mut other: usize) -> Option<(usize, usize)> {
        while self.depths[one] > self.depths[other] {
            one = self.parents[one]?;
        }
        while self.depths[other] > self.depths[one] {
            other = self.parents[other]?;
        }
        if one == other {
            return None;
        }
        while self.parents[one] != self.parents[other] {
            one = self.parents[one]?;
            other = self.parents[other]?;
        }
        Some((one, other))
    }

    /// Returns whether a shape is, or contains, another.
    pub(super) fn encloses(&self, container: usize, mut shape: usize) -> bool {
        while self.depths[shape] > self.depths[container] {
            match self.parents[shape] {
                Some(parent) => shape = parent,
                None => return false,
            }
        }
        shape == container
    }
}

/// Breaks cycles of containers, and returns the depth of each shape. A shape whose containers never end becomes an
/// outermost one.
fn break_cycles(parents: &mut [Option<usize>]) -> Vec<usize> {
    let count = parents.len();
    let mut depths = vec![None; count];
    let mut visits = vec![None; count];
    for start in 0..count {
        let mut path = Vec::new();
        let mut shape = start;
        while depths[shape].is_none() {
            path.push(shape);
            visits[shape] = Some(start);
            match parents[shape] {
                Some(parent) if visits[parent] == Some(start) => {
                    parents[shape] = None;
                    break;
                }
                Some(parent) => shape = parent,
                None => break,
            }
        }
        for shape in path.into_iter().rev() {
            let depth = parents[shape].map_or(0, |parent| depths[parent].asserted_or_default() + 1);
            depths[shape] = Some(depth);
        }
    }
    depths.into_iter().map(Invariant::asserted_or_default).collect()
}

fn usable(value: f64, least: f64, max: f64) -> f64 {
    // Multiples of 1/64, so that sums with coordinates are exact.
    if value.is_finite() { rounded_up(value.clamp(least, max)) } else { least }
}

fn usable_size(size: Size) -> Size {
    Size::new(usable(size.width, 1.0, MAX_SIDE), usable(size.height, 1.0, MAX_SIDE))
}

fn usable_point(point: Option<Point>) -> Option<Point> {
    point.filter(|point| point.is_finite()).map(|point| {
        Point::new(
            point.x.clamp(-MAX_COORDINATE, MAX_COORDINATE),
            point.y.clamp(-MAX_COORDINATE, MAX_COORDINATE),
        )
        .rounded()
    })
}
