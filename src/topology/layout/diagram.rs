//! The input and the result of an arrangement.

use super::geometry::{Point, Rect, Size};
use crate::model::{LinkId, NodeId};

/// Shapes, and the connections between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// The shapes, in any order.
    pub shapes: Vec<Shape>,
    /// The connections, in any order.
    pub connections: Vec<Connection>,
}

/// A rectangle to be placed.
///
/// A shape that is the parent of others is a container: it is as large as its content needs, and at least as large as
/// `size`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// The identity of the shape; the order of ids breaks ties.
    pub id: NodeId,
    /// The index of the container in [`Diagram::shapes`]; `None` on the outermost level.
    pub parent: Option<usize>,
    /// The extent in pixels, label included. It is between 1 and 10,000 in each direction; other values are replaced.
    pub size: Size,
    /// The height of a container's title, in pixels; content is placed below. It has no meaning for other shapes.
    pub header: f64,
    /// The position among shapes of equal standing, smallest first. An example is the position of the label in sorted
    /// order.
    pub order: u32,
    /// The width in pixels of the widest label near the ends of lines. 0 without labels.
    ///
    /// Lines to leaves of the shape become so long that the labels have room.
    pub label_width: f64,
    /// The level in a hierarchy of roles, smallest on top; `None` when unknown.
    pub rank: Option<u8>,
    /// The evidence of the device's addresses for the side of the network that it is on.
    pub addresses: AddressScope,
    /// The number of devices that the shape stands for, at least 1: a box of an overview stands for many.
    ///
    /// The side of a network with more devices is below its center, whether they are drawn as one shape or each.
    pub devices: u32,
    /// The upper left corner where a user put the shape. It stays there, and other shapes give way.
    ///
    /// A pinned container takes its content along, and grows around content that is pinned outside of it.
    pub pin: Option<Point>,
    /// The upper left corner in an earlier arrangement. The shape moves from it as little as possible.
    pub former: Option<Point>,
}

impl Shape {
    /// Creates a shape on the outermost level, without role, pin and history.
    #[must_use]
    pub const fn new(id: NodeId, size: Size) -> Self {
        Self {
            id,
            parent: None,
            size,
            header: 0.0,
            order: 0,
            label_width: 0.0,
            rank: None,
            addresses: AddressScope::Unknown,
            devices: 1,
            pin: None,
            former: None,
        }
    }
}

/// The evidence of a device's addresses for the side of the network that it is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressScope {
    /// The addresses are private, or not known.
    #[default]
    Unknown,
    /// One of the addresses is public: the device may lead to the Internet.
    Public,
    /// The device has no address. Where several parts of the network meet only there, it stands for a provider.
    Missing,
}

/// A line between two shapes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Connection {
    /// The identity of the connection; the order of ids decides the order of parallel lines.
    pub id: LinkId,
    /// The index of the shape at one end.
    pub source: usize,
    /// The index of the shape at the other end.
    pub target: usize,
    /// The widths in pixels of the labels at the source and at the target. 0 without labels.
    ///
    /// In a network with tiers, shapes are so wide and tiers so far from each other that these labels have room beside
    /// each other, turned upright.
    pub label_widths: [f64; 2],
}

impl Connection {
    /// Creates a connection without labels.
    #[must_use]
    pub const fn new(id: LinkId, source: usize, target: usize) -> Self {
        Self { id, source, target, label_widths: [0.0; 2] }
    }
}

/// The places of everything in a diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrangement {
    /// The place of each shape, in the order of [`Diagram::shapes`].
    pub shapes: Vec<Rect>,
    /// The corners of each line, in the order of [`Diagram::connections`]. A line runs from the border of its source to
    /// the border of its target. It is empty where an end does not exist.
    pub routes: Vec<Vec<Point>>,
    /// The smallest rectangle around all shapes and lines; zero for a diagram without shapes.
    pub bounds: Rect,
}

/// A text to be placed near an end of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The index of the connection.
    pub connection: usize,
    /// The end of the line.
    pub end: LineEnd,
    /// The extent in pixels.
    pub size: Size,
}

/// One of the two ends of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineEnd {
    /// The end at the connection's source.
    Source,
    /// The end at the connection's target.
    Target,
}
