//! Figures of a drawing, computed in the same way for all drawings.

use toposcope::topology::layout::{Point, Rect};

use crate::graphs::Graph;

/// Shapes and lines, wherever they come from.
#[derive(Debug)]
pub(crate) struct Drawing {
    pub(crate) shapes: Vec<Rect>,
    /// The ends of each line and its corners.
    pub(crate) lines: Vec<(usize, usize, Vec<Point>)>,
}

/// Figures of one drawing, or sums of several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) overlaps: usize,
    pub(crate) crossings: usize,
    pub(crate) stress: f64,
    pub(crate) passages: usize,
    pub(crate) aspect: f64,
}

impl Figures {
    pub(crate) fn of(graph: &Graph, drawing: &Drawing) -> Self {
        let parents: Vec<Option<usize>> = graph.diagram.shapes.iter().map(|shape| shape.parent).collect();
        let flat = parents.iter().all(Option::is_none);
        let corners = drawing.shapes.iter().flat_map(|rect| {
            [Point::new(rect.x, rect.y), Point::new(rect.x + rect.width, rect.y + rect.height)]
        });
        let points: Vec<Point> =
            corners.chain(drawing.lines.iter().flat_map(|line| line.2.iter().copied())).collect();
        let extent = |of: fn(&Point) -> f64| {
            let values = points.iter().map(of);
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        Self {
            overlaps: overlaps(&drawing.shapes, &parents),
            crossings: crossings(drawing),
            stress: if flat { stress(graph, &drawing.shapes) } else { 0.0 },
            passages: passages(drawing, &parents),
            aspect: extent(|point| point.x) / extent(|point| point.y),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.overlaps += other.overlaps;
        self.crossings += other.crossings;
        self.stress += other.stress;
        self.passages += other.passages;
    }
}

fn overlap(one: &Rect, other: &Rect) -> bool {
    // Graphviz rounds its figures.
    const TOLERANCE: f64 = 0.05;
    one.x + TOLERANCE < other.x + other.width
        && other.x + TOLERANCE < one.x + one.width
        && one.y + TOLERANCE < other.y + other.height
        && other.y + TOLERANCE < one.y + one.height
}

/// Counts the pairs of shapes that overlap though neither contains the other.
fn overlaps(shapes: &[Rect], parents: &[Option<usize>]) -> usize {
    let mut order: Vec<usize> = (0..shapes.len()).collect();
    order.sort_by(|one, other| shapes[*one].x.total_cmp(&shapes[*other].x));
    let mut count = 0;
    for (place, one) in order.iter().enumerate() {
        let right = shapes[*one].x + shapes[*one].width;
        for other in order[place + 1..].iter().take_while(|other| shapes[**other].x < right) {
            let related = encloses(parents, *one, *other) || encloses(parents, *other, *one);
            count += usize::from(!related && overlap(&shapes[*one], &shapes[*other]));
        }
    }
    count
}

fn encloses(parents: &[Option<usize>], outer: usize, inner: usize) -> bool {
    let mut at = parents[inner];
    while let Some(parent) = at {
        if parent == outer {
            return true;
        }
        at = parents[parent];
    }
    false
}

/// Counts shapes that lie outside of their container.
pub(crate) fn escapes(graph: &Graph, shapes: &[Rect]) -> usize {
    let inside = |inner: &Rect, outer: &Rect| {
        inner.x >= outer.x
            && inner.y >= outer.y
            && inner.x + inner.width <= outer.x + outer.width
            && inner.y + inner.height <= outer.y + outer.height
    };
    let children = graph.diagram.shapes.iter().zip(shapes);
    children.filter(|(shape, rect)| shape.parent.is_some_and(|parent| !inside(rect, &shapes[parent]))).count()
}

/// Counts the points where lines cross; lines that merely touch or run together do not.
fn crossings(drawing: &Drawing) -> usize {
    let mut segments: Vec<(usize, Point, Point)> = Vec::new();
    for (line, (.., points)) in drawing.lines.iter().enumerate() {
        for pair in points.windows(2) {
            let (left, right) = if pair[0].x <= pair[1].x { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
            segments.push((line, left, right));
        }
    }
    segments.sort_by(|one, other| one.1.x.total_cmp(&other.1.x));
    let turn = |a: Point, b: Point, c: Point| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let opposite = |one: f64, other: f64| (one > 0.0 && other < 0.0) || (one < 0.0 && other > 0.0);
    let mut count = 0;
    for (place, (line, from, to)) in segments.iter().enumerate() {
        let (top, bottom) = (from.y.min(to.y), from.y.max(to.y));
        for (other, start, end) in segments[place + 1..].iter().take_while(|segment| segment.1.x <= to.x) {
            let apart = start.y.max(end.y) < top || start.y.min(end.y) > bottom;
            if line != other
                && !apart
                && opposite(turn(*from, *to, *start), turn(*from, *to, *end))
                && opposite(turn(*start, *end, *from), turn(*start, *end, *to))
            {
                count += 1;
            }
        }
    }
    count
}

/// Returns the normalized stress of a drawing. It is the mean squared difference between drawn distances, at the best
/// scale, and numbers of hops, relative to the number of hops.
fn stress(graph: &Graph, shapes: &[Rect]) -> f64 {
    let step = (shapes.len() / 200).max(1);
    let center = |node: usize| {
        let rect = shapes[node];
        (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0)
    };
    let mut pairs = Vec::new();
    for distances in graph.distances(shapes.len(), step) {
        let Some(source) = distances.iter().position(|distance| *distance == Some(0)) else { continue };
        let (x, y) = center(source);
        for (node, hops) in distances.iter().enumerate() {
            let Some(hops) = hops.filter(|hops| *hops > 0) else { continue };
            let (other_x, other_y) = center(node);
            pairs.push((hops as f64, ((x - other_x).powi(2) + (y - other_y).powi(2)).sqrt()));
        }
    }
    let (ratio, square) = pairs.iter().fold((0.0, 0.0), |(ratio, square), (hops, distance)| {
        (ratio + distance / hops, square + (distance / hops).powi(2))
    });
    let scale = if square > 0.0 { ratio / square } else { 0.0 };
    let sum: f64 = pairs.iter().map(|(hops, distance)| (distance * scale / hops - 1.0).powi(2)).sum();
    sum / pairs.len().max(1) as f64
}

/// Counts the pairs of a line and a foreign shape that it runs through.
fn passages(drawing: &Drawing, parents: &[Option<usize>]) -> usize {
    let mut order: Vec<usize> = (0..drawing.shapes.len()).collect();
    order.sort_by(|one, other| drawing.shapes[*one].x.total_cmp(&drawing.shapes[*other].x));
    let widest = drawing.shapes.iter().map(|rect| rect.width).fold(0.0, f64::max);
    let mut count = 0;
    for (source, target, points) in &drawing.lines {
        let (left, right) = points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(left, right), point| {
            (left.min(point.x), right.max(point.x))
        });
        let first = order.partition_point(|shape| drawing.shapes[*shape].x < left - widest);
        for shape in order[first..].iter().take_while(|shape| drawing.shapes[**shape].x <= right) {
            let related = |end: usize| {
                end == *shape || encloses(parents, *shape, end) || encloses(parents, end, *shape)
            };
            if !related(*source)
                && !related(*target)
                && points.windows(2).any(|pair| enters(&drawing.shapes[*shape], 0.5, pair[0], pair[1]))
            {
                count += 1;
            }
        }
    }
    count
}

/// Returns whether a segment runs through a rectangle, of which a margin does not count.
pub(crate) fn enters(rect: &Rect, margin: f64, from: Point, to: Point) -> bool {
    let axes = [(from.x, to.x, rect.x, rect.width), (from.y, to.y, rect.y, rect.height)];
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (start, end, low, length) in axes {
        let (low, high) = (low + margin, low + length - margin);
        if start == end {
            if start <= low || start >= high {
                return false;
            }
        } else {
            let (one, other) = ((low - start) / (end - start), (high - start) / (end - start));
            enter = enter.max(one.min(other));
            leave = leave.min(one.max(other));
        }
    }
    enter < leave
}

/// Counts the pairs of overlapping rectangles with at least one of the first `first`.
pub(crate) fn overlaps_of_first(rects: &[Rect], first: usize) -> usize {
    let mut order: Vec<usize> = (0..rects.len()).collect();
    order.sort_by(|one, other| rects[*one].x.total_cmp(&rects[*other].x));
    let mut count = 0;
    for (place, one) in order.iter().enumerate() {
        let right = rects[*one].x + rects[*one].width;
        for other in order[place + 1..].iter().take_while(|other| rects[**other].x < right) {
            count += usize::from(one.min(other) < &first && overlap(&rects[*one], &rects[*other]));
        }
    }
    count
}
