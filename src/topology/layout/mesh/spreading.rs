//! Crowds: many nodes at almost the same place, such as those with the same neighbors.

use super::super::containers::GAP;
use super::super::geometry::{Point, Rect, Size};
use super::super::packing::ASPECT;
use super::super::space::CellGrid;

/// Number of pairs of nodes in one cell above which a drawing is crowded. It is the average for each node.
const CROWD_LIMIT: usize = 24;
/// The part of an evenly filled drawing that nodes and the gaps between them cover.
const COVERAGE: f64 = 0.7;

/// Returns whether a drawing is crowded. Moving the nodes of a crowded drawing apart one by one would take too long.
pub(super) fn is_crowded(points: &[Point], sizes: &[Size]) -> bool {
    let Some(bounds) = Rect::around(points.iter().copied()) else { return false };
    let cells = CellGrid::new(bounds, mean(sizes));
    let mut counts = vec![0; cells.count()];
    for cell in points.iter().flat_map(|point| cells.within(Rect::spanning(*point, *point))) {
        counts[cell] += 1;
    }
    counts.iter().map(|count| count * count).sum::<usize>() > CROWD_LIMIT * points.len()
}

/// Distributes nodes evenly over a rectangle. Keeps their order from left to right and top to bottom if possible.
pub(super) fn spread(points: &mut [Point], sizes: &[Size]) {
    let area: f64 = sizes.iter().map(|size| footprint(*size)).sum::<f64>() / COVERAGE;
    let height = (area / ASPECT).sqrt();
    let whole = Rect::new(Point::default(), Size::new(height * ASPECT, height));
    let mean = mean(sizes);
    let mut parts = vec![(whole, (0..points.len()).collect::<Vec<usize>>())];
    while let Some((rect, mut nodes)) = parts.pop() {
        crate::fair_threads::yield_turn();
        if let [node] = *nodes.as_slice() {
            points[node] = rect.center();
            continue;
        }
        // Nodes are wider than high, and so are their parts of the rectangle.
        let is_wide = rect.width / mean.width > rect.height / mean.height;
        let key = |node: &usize| {
            let point = points[*node];
            if is_wide { (point.x, point.y) } else { (point.y, point.x) }
        };
        nodes.sort_by(|one, other| {
            let (one_key, other_key) = (key(one), key(other));
            one_key.0.total_cmp(&other_key.0).then(one_key.1.total_cmp(&other_key.1)).then(one.cmp(other))
        });
        let second = nodes.split_off(nodes.len() / 2);
        let weigh = |nodes: &[usize]| nodes.iter().map(|node| footprint(sizes[*node])).sum::<f64>();
        let share = weigh(&nodes) / (weigh(&nodes) + weigh(&second)).max(1.0);
        let (first_rect, second_rect) = halves(rect, share, is_wide);
        parts.extend(
            [(second_rect, second), (first_rect, nodes)].into_iter().filter(|part| !part.1.is_empty()),
        );
    }
}

fn halves(rect: Rect, share: f64, is_wide: bool) -> (Rect, Rect) {
    let corner = rect.corner();
    if is_wide {
        let width = rect.width * share;
        let first = Rect::new(corner, Size::new(width, rect.height));
        let rest = Size::new(rect.width - width, rect.height);
        (first, Rect::new(Point::new(corner.x + width, corner.y), rest))
    } else {
        let height = rect.height * share;
        let first = Rect::new(corner, Size::new(rect.width, height));
        let rest = Size::new(rect.width, rect.height - height);
        (first, Rect::new(Point::new(corner.x, corner.y + height), rest))
    }
}

const fn footprint(size: Size) -> f64 {
    (size.width + GAP) * (size.height + GAP)
}

fn mean(sizes: &[Size]) -> Size {
    let count = sizes.len().max(1) as f64;
    let width: f64 = sizes.iter().map(|size| size.width + GAP).sum();
    let height: f64 = sizes.iter().map(|size| size.height + GAP).sum();
    Size::new(width / count, height / count)
}
