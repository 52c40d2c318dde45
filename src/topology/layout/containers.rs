//! Containers, from the innermost to the outermost. The shapes of one container are placed component by component.

use std::collections::BTreeMap;

use super::device_tiers::{DeviceTier, DeviceTiers};
use super::diagram::AddressScope;
use super::geometry::{Point, Rect, Size, rounded_up};
use super::layered::PlacedTiers;
use super::network::SimpleGraph;
use super::outline::Outline;
use super::tiers::{self, Tiers};
use super::{layered, mesh, packing, templates};

/// The distance from the border of a container to its content.
pub(super) const PADDING: f64 = 24.0;

/// The work allowed to improve drawings, in comparisons of two lines. It takes less than 0.1 s.
const BUDGET: usize = 4_000_000;
/// The work allowed for a shape even if there are many shapes.
const MIN_BUDGET_PER_SHAPE: usize = 4_000;
/// The most work allowed for all shapes if there are many.
const MAX_BUDGET: usize = 60_000_000;

/// Sizes and corners of all shapes, containers included. Corners are relative to the content of their containers.
#[derive(Debug)]
pub(super) struct Nested {
    pub(super) sizes: Vec<Size>,
    pub(super) corners: Vec<Point>,
    /// The tiers of networks that have some. `None` for leaves in grids, and for shapes of other networks.
    pub(super) tiers: Vec<Option<usize>>,
}

/// Places the shapes of each container without regard to pins and earlier arrangements.
pub(super) fn arrange(outline: &Outline) -> Nested {
    let count = outline.len();
    let links = links_by_parent(outline);
    let devices = DeviceTiers::of(outline);
    let mut nested = Nested {
        sizes: devices.as_ref().map_or(&outline.sizes, |devices| &devices.sizes).clone(),
        corners: vec![Point::default(); count],
        tiers: vec![None; count],
    };
    for container in outline.containers_upward() {
        crate::fair_threads::yield_turn();
        let children = outline.children(container);
        let mut level = Level::new(outline, &nested.sizes, children, &links[container.unwrap_or(count)]);
        match &devices {
            Some(devices) => level.set_tiers(children, devices),
            None => level.has_opaque = level.is_container.contains(&true),
        }
        let (places, extent) = level.arrange();
        for (child, place) in children.iter().zip(places) {
            (nested.corners[*child], nested.tiers[*child]) = (place.corner, place.tier);
            nested.sizes[*child] = place.size;
        }
        if let Some(container) = container {
            let least = outline.sizes[container];
            let height = extent.height + 2.0 * PADDING + outline.headers[container];
            let width = extent.width + 2.0 * PADDING;
            let size = Size::new(rounded_up(width.max(least.width)), rounded_up(height.max(least.height)));
            nested.sizes[container] = size;
        }
    }
    nested
}

/// Returns the work allowed for a shape in a diagram of this many shapes.
fn budget_per_shape(count: usize) -> usize {
    let count = count.max(1);
    (BUDGET / count).min(BUDGET_PER_SHAPE).max(MIN_BUDGET_PER_SHAPE.min(MAX_BUDGET / count))
}

/// A connection between two shapes of one level, and the widths of the labels at its ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct SiblingLink {
    pub(super) ends: (usize, usize),
    pub(super) widths: [f64; 2],
}

/// Returns the connections between children of each container. The last list is for the outermost level.
fn links_by_parent(outline: &Outline) -> Vec<Vec<SiblingLink>> {
    let mut links = vec![Vec::new(); outline.len() + 1];
    for (ends, widths) in outline.ends.iter().zip(&outline.port_widths) {
        let siblings = ends.and_then(|(source, target)| outline.siblings(source, target));
        if let Some(ends) = siblings {
            let parent = outline.parents[ends.0].unwrap_or(outline.len());
            links[parent].push(SiblingLink { ends, widths: *widths });
        }
    }
    links
}

/// Returns for each node the widths of its labels at lines to others, by the other nodes, the widest first.
fn port_widths(count: usize, links: &[SiblingLink]) -> Vec<Vec<(usize, f64)>> {
    let mut widths = vec![Vec::new(); count];
    for SiblingLink { ends: (source, target), widths: [of_source, of_target] } in links {
        crate::fair_threads::yield_turn();
        widths[*source].push((*target, *of_source));
        widths[*target].push((*source, *of_target));
    }
    for widths in &mut widths {
        widths.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    }
    widths
}

impl Nested {
    /// Returns the corners of all shapes in the coordinates of the diagram.
    pub(super) fn absolute(&self, outline: &Outline) -> Vec<Point> {
        let mut corners = self.corners.clone();
        for container in outline.containers_upward().into_iter().rev().flatten() {
            let inside = content_offset(outline, container);
            for child in outline.children(Some(container)) {
                let corner = corners[container].plus(inside).plus(self.corners[*child]);
                corners[*child] = corner;
            }
        }
        corners
    }
}

/// Returns where the content of a container begins, relative to its corner.
pub(super) fn content_offset(outline: &Outline, container: usize) -> Point {
    Point::new(PADDING, PADDING + outline.headers[container])
}

/// Maximum number of shapes of a badly proportioned hierarchy that becomes a mesh. A mesh can be turned.
const MAX_TURNED: usize = 400;
/// Layers of a wide hierarchy may become farther from each other by this factor.
const MAX_STRETCH: f64 = 2.5;
/// Extra factor for the height of a stretched hierarchy. It is needed because heights of shapes stay the same.
const STRETCH: f64 = 1.2;

/// The place of a shape, relative to the content of its container.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContainerPlace {
    pub(super) corner: Point,
    pub(super) size: Size,
    pub(super) tier: Option<usize>,
}

impl Level {
    /// Places the shapes, which are connected, and returns their places and the extent of all.
    pub(super) fn arrange_connected(&self) -> (Vec<ContainerPlace>, Size) {
        let without_tiers = |corners| PlacedTiers {
            corners,
            sizes: self.sizes.clone(),
            tiers: vec![None; self.network.len()],
        };
        let with_tiers = |tiers: Option<Tiers>| layered::arrange_tiers(self, &tiers?);
        let placed = with_tiers(tiers::of_containers(self))
            .or_else(|| templates::arrange(self).map(without_tiers))
            .or_else(|| with_tiers(tiers::infer(self)).filter(|placed| self.suits(placed)))
            .unwrap_or_else(|| without_tiers(self.arrange_without_tiers()));
        let bounds = bounds(&placed.corners, &placed.sizes);
        let places =
            placed.corners.into_iter().zip(placed.sizes).zip(placed.tiers).map(|((corner, size), tier)| {
                ContainerPlace { corner: corner.minus(bounds.corner()).rounded(), size, tier }
            });
        (places.collect(), bounds.size())
    }

    /// Returns whether tiers are a good drawing. A row of many containers, such as subnets, is too long.
    fn suits(&self, placed: &PlacedTiers) -> bool {
        !self.has_opaque || packing::fits(bounds(&placed.corners, &placed.sizes).size())
    }

    fn arrange_without_tiers(&self) -> Vec<Point> {
        layered::arrange(self)
            .map(|mut corners| {
                let extent = bounds(&corners, &self.sizes).size();
                stretch(&mut corners, extent);
                corners
            })
            .filter(|corners| {
                corners.len() > MAX_TURNED || packing::fits(bounds(corners, &self.sizes).size())
            })
            .unwrap_or_else(|| mesh::arrange(self))
    }
}

/// Returns the rectangle around shapes at these corners.
pub(super) fn bounds(corners: &[Point], sizes: &[Size]) -> Rect {
    let rects = corners.iter().zip(sizes).map(|(corner, size)| Rect::new(*corner, *size));
    rects.reduce(Rect::union).unwrap_or_default()
}

/// Enlarges the distances of layers in a hierarchy that is too wide.
fn stretch(corners: &mut [Point], extent: Size) {
    let factor = extent.width / extent.height.max(1.0) / packing::MAX_RATIO * STRETCH;
    if packing::fits(extent) || !(1.0..=MAX_STRETCH).contains(&factor) {
        return;
    }
    for corner in corners {
        corner.y *= factor;
    }
}

/// The smallest distance between shapes.
pub(super) const GAP: f64 = 28.0;
/// The vertical distance between a node and the shapes below it in a hierarchy.
pub(super) const LAYER_GAP: f64 = 72.0;
/// The most work that is allowed for a shape, in comparisons of two lines.
pub(super) const BUDGET_PER_SHAPE: usize = 100_000;

/// Shapes with the same parent, and the connections between them or their contents.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) sizes: Vec<Size>,
    pub(super) label_widths: Vec<f64>,
    /// For each node, the widths of its labels at lines to others, by the other nodes, the widest first.
    pub(super) port_widths: Vec<Vec<(usize, f64)>>,
    pub(super) ranks: Vec<Option<u8>>,
    pub(super) scopes: Vec<AddressScope>,
    /// The number of devices that each shape stands for.
    pub(super) weights: Vec<usize>,
    /// Whether each shape contains others.
    pub(super) is_container: Vec<bool>,
    /// Whether connections may end at the containers themselves, rather than at devices in them.
    pub(super) has_opaque: bool,
    /// For each shape, the highest device of it with lines to others of the level.
    pub(super) tops: Vec<Option<DeviceTier>>,
    /// For each shape, the highest device of it with lines to shapes outside of the container that all are in.
    pub(super) outward: Vec<Option<DeviceTier>>,
    pub(super) network: SimpleGraph,
    /// The work allowed to improve the drawing, in comparisons of two lines.
    pub(super) budget: usize,
}

impl Level {
    /// Creates the level of some shapes, in ascending order. Links name them by their numbers in the diagram.
    pub(super) fn new(outline: &Outline, sizes: &[Size], shapes: &[usize], links: &[SiblingLink]) -> Self {
        let number = |shape: usize| shapes.binary_search(&shape).ok();
        let numbered = |link: &SiblingLink| {
            let ends = number(link.ends.0).zip(number(link.ends.1))?;
            Some(SiblingLink { ends, ..*link })
        };
        let links: Vec<SiblingLink> = links.iter().filter_map(numbered).collect();
        Self {
            budget: budget_per_shape(outline.len()) * shapes.len(),
            sizes: shapes.iter().map(|shape| sizes[*shape]).collect(),
            label_widths: shapes.iter().map(|shape| outline.label_widths[*shape]).collect(),
            port_widths: port_widths(shapes.len(), &links),
            ranks: shapes.iter().map(|shape| outline.ranks[*shape]).collect(),
            scopes: shapes.iter().map(|shape| outline.scopes[*shape]).collect(),
            weights: shapes.iter().map(|shape| outline.weights[*shape]).collect(),
            is_container: shapes.iter().map(|shape| outline.is_container(*shape)).collect(),
            has_opaque: false,
            tops: vec![None; shapes.len()],
            outward: vec![None; shapes.len()],
            network: SimpleGraph::new(shapes.len(), links.iter().map(|link| link.ends)),
        }
    }

    fn set_tiers(&mut self, shapes: &[usize], devices: &DeviceTiers) {
        self.tops = shapes.iter().map(|shape| devices.beside[*shape]).collect();
        self.outward = shapes.iter().map(|shape| devices.outward[*shape]).collect();
    }

    /// Returns the level of some of the nodes, in ascending order.
    pub(super) fn part(&self, nodes: &[usize]) -> Self {
        let numbers: BTreeMap<usize, usize> =
            nodes.iter().enumerate().map(|(number, node)| (*node, number)).collect();
        let widths_of = |node: &usize| {
            let widths = self.port_widths[*node].iter();
            widths.filter_map(|(other, width)| Some((*numbers.get(other)?, *width))).collect()
        };
        Self {
            sizes: nodes.iter().map(|node| self.sizes[*node]).collect(),
            label_widths: nodes.iter().map(|node| self.label_widths[*node]).collect(),
            port_widths: nodes.iter().map(widths_of).collect(),
            ranks: nodes.iter().map(|node| self.ranks[*node]).collect(),
            scopes: nodes.iter().map(|node| self.scopes[*node]).collect(),
            weights: nodes.iter().map(|node| self.weights[*node]).collect(),
            is_container: nodes.iter().map(|node| self.is_container[*node]).collect(),
            has_opaque: self.has_opaque,
            tops: nodes.iter().map(|node| self.tops[*node]).collect(),
            outward: nodes.iter().map(|node| self.outward[*node]).collect(),
            network: self.network.part(nodes),
            budget: self.budget / self.network.len().max(1) * nodes.len(),
        }
    }

    /// Returns the width of the widest label at a line from one node to another. 0 without labels.
    pub(super) fn port_width(&self, node: usize, to: usize) -> f64 {
        let widths = &self.port_widths[node];
        let first = widths.get(widths.partition_point(|(other, _)| *other < to));
        first.filter(|(other, _)| *other == to).map_or(0.0, |(_, width)| *width)
    }

    /// Returns whether there is time for several attempts.
    pub(super) fn is_small_part(&self) -> bool {
        self.budget >= BUDGET_PER_SHAPE * self.network.len()
    }
}
