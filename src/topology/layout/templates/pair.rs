//! Two or three devices of the same kind, one connected with the next: they stand side by side.

use super::is_outward;
use crate::topology::layout::containers::{GAP, Level};
use crate::topology::layout::geometry::Point;

/// The room for the labels and the speed of a line, beside the widths of the labels.
const BESIDE_LABELS: f64 = 64.0;

/// Places a pair, or a row of three; `None` for other networks, and where a role or an address decides which device is above.
pub(super) fn arrange(level: &Level) -> Option<Vec<Point>> {
    let network = &level.network;
    let count = network.len();
    if !(2..=3).contains(&count) || network.edges().len() + 1 != count {
        return None;
    }
    let mut ranks = level.ranks.iter().flatten();
    let first = ranks.next();
    if ranks.any(|rank| Some(rank) != first) || (0..count).any(|node| is_outward(level, node)) {
        return None;
    }
    let mut ends: Vec<usize> = (0..count).filter(|node| network.degree(*node) == 1).collect();
    // A device without a known role rather is one that hangs at the others.
    ends.sort_by_key(|end| (level.ranks[*end].is_none(), *end));
    let middle = (0..count).filter(|node| network.degree(*node) > 1);
    let [start, end] = *ends.as_slice() else { return None };
    let order: Vec<usize> = [start].into_iter().chain(middle).chain([end]).collect();
    let height = level.sizes.iter().map(|size| size.height).fold(0.0, f64::max);
    let mut corners = vec![Point::default(); count];
    let mut x = 0.0;
    for (place, node) in order.iter().enumerate() {
        if let Some(before) = place.checked_sub(1).and_then(|before| order.get(before)) {
            let labels = level.port_width(*before, *node) + level.port_width(*node, *before);
            x += level.sizes[*before].width + (2.0 * GAP).max(labels + BESIDE_LABELS);
        }
        corners[*node] = Point::new(x, (height - level.sizes[*node].height) / 2.0);
    }
    Some(corners)
}
