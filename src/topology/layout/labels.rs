//! Places of labels near the ends of lines, and in their middle.

use super::diagram::{Arrangement, Diagram, Label, LineEnd};
use super::geometry::{Point, Rect, Size};
use super::outline::Outline;
use super::space::Space;
use crate::invariant::Invariant;

/// The distance of a label from its line, and from shapes.
const DISTANCE: f64 = 3.0;
const STEP: f64 = 7.0;
const STEPS: usize = 14;
/// The length of the pieces in which lines are indexed.
const PIECE_LENGTH: f64 = 100.0;
const MAX_PIECES: f64 = 100.0;
/// Parts of a line at which labels of its middle are tried.
const MIDDLES: [f64; 11] = [0.5, 0.46, 0.54, 0.42, 0.58, 0.38, 0.62, 0.34, 0.66, 0.26, 0.74];

/// The room beside and on the lines of an arrangement, which labels take one after another.
#[derive(Debug)]
pub(in crate::topology) struct LabelRoom<'a> {
    arrangement: &'a Arrangement,
    taken: Space,
    lines: Space,
    pieces: Vec<Piece>,
}

impl<'a> LabelRoom<'a> {
    /// Returns the room that shapes, and titles and borders of containers, leave.
    pub(in crate::topology) fn new(diagram: &Diagram, arrangement: &'a Arrangement) -> Self {
        let (lines, pieces) = pieces(arrangement);
        Self { arrangement, taken: Space::holding(&obstacles(diagram, arrangement)), lines, pieces }
    }

    /// Places a label near an end of its line; `None` where there is no room for it.
    pub(in crate::topology) fn at_end(&mut self, label: &Label) -> Option<Rect> {
        let route = self.route(label.connection, label.size)?;
        self.take(label.connection, candidates(route, label))
    }

    /// Places a label on the middle of its line, or as near to it as there is room.
    pub(in crate::topology) fn on_middle(&mut self, connection: usize, size: Size) -> Option<Rect> {
        let route = self.route(connection, size)?;
        let middles = middles(route).map(|(point, _)| Rect::centered(point, size).rounded());
        self.take(connection, middles)
    }

    /// Places a label beside the middle of its line, or as near to it as there is room.
    pub(in crate::topology) fn beside_middle(&mut self, connection: usize, size: Size) -> Option<Rect> {
        let route = self.route(connection, size)?;
        let beside = middles(route).flat_map(|(point, direction)| beside(point, direction, size));
        self.take(connection, beside)
    }

    /// Places a label beside the part of a line that others share with it, as near to this end of the line as there is room.
    pub(in crate::topology) fn beside_shared(
        &mut self,
        connection: usize,
        end: LineEnd,
        size: Size,
    ) -> Option<Rect> {
        let route = self.route(connection, size)?;
        let points = from_end(route, end);
        let distances = (1..STEPS).map(|step| STEP * step as f64);
        let places = distances.flat_map(|distance| {
            let (point, direction) = along(&points, distance);
            beside(point, direction, size)
        });
        let is_on = |pair: &[Point], piece: &Piece| {
            let [from, to] = *pair else { return false };
            let line = Rect::spanning(from, to).grown(0.5);
            line.encloses(Rect::spanning(piece.from, piece.to))
        };
        self.take_if(places, |piece| route.windows(2).any(|pair| is_on(pair, piece)))
    }

    /// Removes the label that was placed last.
    pub(in crate::topology) fn remove_last(&mut self) {
        self.taken.remove_last();
    }

    /// Returns the line of a label. `None` if there is none, or the size is not valid.
    fn route(&self, connection: usize, size: Size) -> Option<&'a [Point]> {
        let is_usable = |length: f64| length.is_finite() && (0.0..=10_000.0).contains(&length);
        let route = self.arrangement.routes.get(connection)?;
        (route.len() > 1 && is_usable(size.width) && is_usable(size.height)).then_some(route.as_slice())
    }

    /// Takes the first of these places that is free, and near no other line.
    fn take(&mut self, connection: usize, places: impl Iterator<Item = Rect>) -> Option<Rect> {
        self.take_if(places, |piece| piece.owner == Some(connection))
    }

    fn take_if(
        &mut self,
        mut places: impl Iterator<Item = Rect>,
        is_own: impl Fn(&Piece) -> bool,
    ) -> Option<Rect> {
        crate::fair_threads::yield_turn();
        let place = places.find(|rect| {
            self.arrangement.bounds.encloses(*rect)
                && is_free(&self.taken, *rect)
                && self.is_unambiguous(*rect, &is_own)
        })?;
        self.taken.insert(place);
        Some(place)
    }

    /// Returns whether only its own line is near a label. Readers could not see to which line a label belongs that is
    /// near several lines, or near a piece that several lines share.
    fn is_unambiguous(&self, rect: Rect, is_own: impl Fn(&Piece) -> bool) -> bool {
        let near = rect.grown(DISTANCE + 0.5);
        let mut is_unambiguous = true;
        self.lines.overlapping(near, |index, _| {
            let piece = self.pieces[index];
            is_unambiguous = is_own(&piece) || near.clip(piece.from, piece.to).is_none();
            is_unambiguous
        });
        is_unambiguous
    }
}

/// Finds room for labels near the ends of lines; earlier ones first.
pub(super) fn place(diagram: &Diagram, arrangement: &Arrangement, labels: &[Label]) -> Vec<Option<Rect>> {
    let mut room = LabelRoom::new(diagram, arrangement);
    labels.iter().map(|label| room.at_end(label)).collect()
}

/// Returns the rectangles that labels must not cover. They are shapes that contain nothing, and the borders and titles
/// of containers.
fn obstacles(diagram: &Diagram, arrangement: &Arrangement) -> Vec<Rect> {
    let outline = Outline::of(diagram);
    let mut obstacles = Vec::new();
    for (shape, origin) in outline.origins.iter().enumerate() {
        let Some(rect) = arrangement.shapes.get(*origin).copied() else { continue };
        if !outline.is_container(shape) {
            obstacles.push(rect.grown(1.0));
            continue;
        }
        let title = Size::new(rect.width, outline.headers[shape].max(1.0));
        obstacles.push(Rect::new(rect.corner(), title));
        let side = Size::new(1.0, rect.height);
        obstacles.push(Rect::new(rect.corner(), side));
        obstacles.push(Rect::new(Point::new(rect.right() - 1.0, rect.y), side));
        obstacles.push(Rect::new(Point::new(rect.x, rect.bottom() - 1.0), Size::new(rect.width, 1.0)));
    }
    obstacles
}

/// A short piece of a line.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Point,
    to: Point,
    /// The connection; `None` if several share the piece.
    owner: Option<usize>,
}

/// Cuts all lines into short pieces, and returns them with their rectangles.
fn pieces(arrangement: &Arrangement) -> (Space, Vec<Piece>) {
    let mut found: Vec<([i64; 4], usize, Piece)> = Vec::new();
    for (connection, route) in arrangement.routes.iter().enumerate() {
        crate::fair_threads::yield_turn();
        for pair in route.windows(2) {
            let [from, to] = *pair else { continue };
            found.extend(cut(from, to).map(|(from, to)| {
                let rect = Rect::spanning(from, to);
                let edges = [rect.x, rect.y, rect.right(), rect.bottom()];
                let piece = Piece { from, to, owner: Some(connection) };
                (edges.map(|place| (place * 64.0) as i64), connection, piece)
            }));
        }
    }
    found.sort_unstable_by_key(|(key, connection, _)| (*key, *connection));
    let (mut rects, mut pieces) = (Vec::new(), Vec::new());
    for same in found.chunk_by(|one, other| one.0 == other.0) {
        crate::fair_threads::yield_turn();
        let (Some((_, first, piece)), Some((_, last, _))) = (same.first(), same.last()) else { continue };
        rects.push(Rect::spanning(piece.from, piece.to).grown(0.5));
        pieces.push(Piece { owner: (first == last).then_some(*first), ..*piece });
    }
    (Space::holding(&rects), pieces)
}

/// Cuts a segment into pieces. It is cut where its longer coordinate is a multiple of the length of pieces, so that
/// lines which share their way share pieces.
fn cut(from: Point, to: Point) -> impl Iterator<Item = (Point, Point)> {
    let along = to.minus(from);
    let is_wide = along.x.abs() > along.y.abs();
    let (start, length) = if is_wide { (from.x, along.x) } else { (from.y, along.y) };
    let piece = PIECE_LENGTH.max(length.abs() / MAX_PIECES);
    let low = (start.min(start + length) / piece).floor() as i64;
    let high = (start.max(start + length) / piece).ceil() as i64;
    (low..high.max(low + 1)).map(move |step| {
        let at = |step: i64| {
            let share = if length == 0.0 { 0.0 } else { (step as f64 * piece - start) / length };
            from.plus(along.times(share.clamp(0.0, 1.0)))
        };
        (at(step), at(step + 1))
    })
}

fn is_free(taken: &Space, rect: Rect) -> bool {
    let mut free = true;
    taken.overlapping(rect.grown(1.0), |_, _| {
        free = false;
        false
    });
    free
}

/// Returns the points of a line, from one of its ends on.
fn from_end(route: &[Point], end: LineEnd) -> Vec<Point> {
    match end {
        LineEnd::Source => route.to_vec(),
        LineEnd::Target => route.iter().rev().copied().collect(),
    }
}

/// Returns possible places of a label, those nearest to its end of the line first.
fn candidates(route: &[Point], label: &Label) -> impl Iterator<Item = Rect> {
    let points = from_end(route, label.end);
    let length = length(&points);
    let size = label.size;
    // Within the half of the line that belongs to this end; lines that share their way with others have their own part
    // at the other end.
    let shared = points.len() > 2;
    let near = (0..STEPS).map(|step| DISTANCE + STEP * step as f64);
    let near = near.take_while(move |distance| *distance < length / 2.0);
    let from_other_end = enters_aside(&points);
    let far = (0..STEPS).map(move |step| if from_other_end { step } else { STEPS - 1 - step });
    let far = far.map(move |step| length - DISTANCE - STEP * step as f64);
    let far = far.filter(move |distance| shared && *distance >= length / 2.0);
    let turned = turned(&points, size);
    let upright = near.chain(far).flat_map(move |distance| {
        let (point, direction) = along(&points, distance);
        beside(point, direction, size)
    });
    let (first, others) = turned;
    first.into_iter().chain(upright).chain(others)
}

/// Returns whether a line of horizontal and vertical parts enters its other shape from the side. Lines to leaves in a
/// grid do. The part before this shape belongs to no other line.
fn enters_aside(points: &[Point]) -> bool {
    let is_straight = |pair: &[Point]| matches!(pair, [from, to] if from.x == to.x || from.y == to.y);
    let is_aside = matches!(points, [.., before, last] if before.y == last.y);
    points.len() > 2 && is_aside && points.windows(2).all(is_straight)
}

/// Returns the two places of a label beside a point of a line that has this direction there.
fn beside(point: Point, direction: Point, size: Size) -> [Rect; 2] {
    let normal = Point::new(-direction.y, direction.x);
    let reach = (normal.x.abs() * size.width + normal.y.abs() * size.height) / 2.0 + DISTANCE;
    [-1.0, 1.0].map(|side| Rect::centered(point.plus(normal.times(reach * side)), size).rounded())
}

/// Returns points of a line and its direction there, those nearest to its middle first.
fn middles(route: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    let length = length(route);
    MIDDLES.iter().map(move |share| along(route, length * share))
}

/// Returns the places of a label turned by a quarter, along the end of a line between tiers. They are right beside the
/// shape, and farther from it, such as outside of the container that the shape is in.
fn turned(points: &[Point], size: Size) -> (Vec<Rect>, Vec<Rect>) {
    let &[from, to, _, last] = points else { return (Vec::new(), Vec::new()) };
    let is_line_of_tiers = from.x == to.x && from.y != last.y && points.len() == 4;
    let room = (to.y - from.y).abs() - size.width - DISTANCE;
    if !is_line_of_tiers || room < 0.0 {
        return (Vec::new(), Vec::new());
    }
    let turned = Size::new(size.height, size.width);
    let sign = if to.y > from.y { 1.0 } else { -1.0 };
    let reach = DISTANCE + size.height / 2.0;
    let places = |distance: f64| {
        let y = from.y + sign * (DISTANCE + distance + size.width / 2.0);
        [reach, -reach].map(|aside| Rect::centered(Point::new(from.x + aside, y), turned).rounded())
    };
    let farther = (1..STEPS).map(|step| STEP * step as f64).take_while(|distance| *distance <= room);
    (places(0.0).to_vec(), farther.flat_map(places).collect())
}

fn length(points: &[Point]) -> f64 {
    let part = |pair: &[Point]| match pair {
        [from, to] => from.distance(*to),
        _ => 0.0,
    };
    points.windows(2).map(part).sum()
}

/// Returns the point at a distance from the start of a line. Also returns the direction of the line there.
fn along(points: &[Point], mut distance: f64) -> (Point, Point) {
    let mut last = (points.first().copied().asserted_or_default(), Point::new(1.0, 0.0));
    for pair in points.windows(2) {
        let [from, to] = *pair else { continue };
        let length = from.distance(to);
        if length <= 0.0 {
            continue;
        }
        let direction = to.minus(from).times(1.0 / length);
        if distance <= length {
            return (from.plus(direction.times(distance)), direction);
        }
        distance -= length;
        last = (to, direction);
    }
    last
}
