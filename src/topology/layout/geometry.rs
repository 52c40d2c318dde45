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

    pub(super) const fn plus(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }

    pub(super) const fn times(self, factor: f64) -> Self {
        Self { x: self.x * factor, y: self.y * factor }
    }

    pub(super) fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    pub(super) fn distance(self, other: Self) -> f64 {
        self.minus(other).length()
    }

    /// Returns the orientation of three points: twice the signed area of their triangle. Negative if they turn left, as `y`
    /// grows downward.
    pub(super) const fn orientation(self, second: Self, third: Self) -> f64 {
        (second.x - self.x) * (third.y - self.y) - (second.y - self.y) * (third.x - self.x)
    }

    /// Rounds to multiples of 1/64 within the bounds of all coordinates.
    pub(super) fn rounded(self) -> Self {
        Self { x: rounded(self.x), y: rounded(self.y) }
    }

    pub(super) const fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

/// The largest coordinate, and the negative of the smallest.
pub(super) const MAX_COORDINATE: f64 = 1_000_000.0;

/// Rounds a coordinate to a multiple of 1/64 within the bounds.
pub(super) fn rounded(value: f64) -> f64 {
    // The sum turns a negative zero into zero.
    if value.is_nan() {
        0.0
    } else {
        (value * 64.0).round().clamp(-MAX_COORDINATE * 64.0, MAX_COORDINATE * 64.0) / 64.0 + 0.0
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

    pub(super) const fn centered(center: Point, size: Size) -> Self {
        Self::new(Point::new(center.x - size.width / 2.0, center.y - size.height / 2.0), size)
    }

    pub(super) const fn corner(self) -> Point {
        Point::new(self.x, self.y)
    }

    pub(super) const fn size(self) -> Size {
        Size::new(self.width, self.height)
    }

    pub(super) const fn right(self) -> f64 {
        self.x + self.width
    }

    pub(super) const fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub(super) const fn center(self) -> Point {
        Point::new(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// Returns the rectangle with its corner rounded as coordinates are.
    pub(super) fn rounded(self) -> Self {
        Self::new(self.corner().rounded(), self.size())
    }

    pub(super) const fn moved(self, by: Point) -> Self {
        Self { x: self.x + by.x, y: self.y + by.y, ..self }
    }

    /// Returns the rectangle with a margin on each side.
    pub(super) const fn grown(self, margin: f64) -> Self {
        Self {
            x: self.x - margin,
            y: self.y - margin,
            width: self.width + 2.0 * margin,
            height: self.height + 2.0 * margin,
        }
    }

    /// Returns whether the interiors of two rectangles intersect.
    pub(super) fn overlaps(self, other: Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }

    pub(super) fn contains(self, point: Point) -> bool {
        (self.x..=self.right()).contains(&point.x) && (self.y..=self.bottom()).contains(&point.y)
    }

    /// Returns whether another rectangle is within this one.
    pub(super) fn encloses(self, other: Self) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.right() <= self.right()
            && other.bottom() <= self.bottom()
    }

    /// Returns the smallest rectangle around this one and another.
    pub(super) const fn union(self, other: Self) -> Self {
        Self::spanning(
            Point::new(self.x.min(other.x), self.y.min(other.y)),
            Point::new(self.right().max(other.right()), self.bottom().max(other.bottom())),
        )
    }

    /// Creates a rectangle from two opposite corners, in any order.
    pub(super) const fn spanning(one: Point, other: Point) -> Self {
        let (x, y) = (one.x.min(other.x), one.y.min(other.y));
        Self { x, y, width: one.x.max(other.x) - x, height: one.y.max(other.y) - y }
    }

    /// Returns the smallest rectangle around all points, or `None` without points.
    pub(super) fn around(points: impl IntoIterator<Item = Point>) -> Option<Self> {
        points.into_iter().map(|point| Self::spanning(point, point)).reduce(Self::union)
    }

    /// Returns the part of a segment inside, as fractions of its length. `None` if it stays outside.
    pub(super) fn clip(self, from: Point, to: Point) -> Option<(f64, f64)> {
        let axes = [(from.x, to.x, self.x, self.right()), (from.y, to.y, self.y, self.bottom())];
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (start, end, low, high) in axes {
            let length = end - start;
            if length == 0.0 {
                if start <= low || start >= high {
                    return None;
                }
            } else {
                let (one, other) = ((low - start) / length, (high - start) / length);
                enter = enter.max(one.min(other));
                leave = leave.min(one.max(other));
            }
        }
        (enter < leave).then_some((enter, leave))
    }

    /// Returns the four corners, clockwise.
    pub(super) const fn corners(self) -> [Point; 4] {
        [
            Point::new(self.x, self.y),
            Point::new(self.right(), self.y),
            Point::new(self.right(), self.bottom()),
            Point::new(self.x, self.bottom()),
        ]
    }
}

/// Rounds up to a multiple of 1/64.
pub(super) fn rounded_up(length: f64) -> f64 {
    (length * 64.0).ceil() / 64.0
}

/// Returns whether two segments cross in a point that is an end of neither.
pub(super) fn segments_cross(first: (Point, Point), second: (Point, Point)) -> bool {
    let opposite = |one: f64, other: f64| (one > 0.0 && other < 0.0) || (one < 0.0 && other > 0.0);
    opposite(first.0.orientation(first.1, second.0), first.0.orientation(first.1, second.1))
        && opposite(second.0.orientation(second.1, first.0), second.0.orientation(second.1, first.1))
}
