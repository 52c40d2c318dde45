//! Points, rectangles and segments.

/// A position in pixels; `y` grows downward.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The distance from the origin to the right.
    pub x: f64,
    /// The distance from the origin downward.
    pub y: f64,
}

impl Point {
    /// Creates a point.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// An extent in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// The horizontal extent.
    pub width: f64,
    /// The vertical extent.
    pub height: f64,
}

impl Size {
    /// Creates a size.
    #[must_use]
    pub const fn new(width: f64, height: f64) -> Self {
        Self { width, height }
    }
}

/// A rectangle whose sides are parallel to the axes, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// The horizontal extent.
    pub width: f64,
    /// The vertical extent.
    pub height: f64,
}

impl Rect {
    /// Creates a rectangle from its upper left corner and its extent.
    #[must_use]
    pub const fn new(corner: Point, size: Size) -> Self {
        Self { x: corner.x, y: corner.y, width: size.width, height: size.height }
    }
}
