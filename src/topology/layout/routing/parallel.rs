//! Lines side by side, cut at the borders of their shapes.

use super::super::geometry::{Point, Rect};
use super::field::Between;

/// Returns a line shifted aside by one offset at each end. It runs from border to border.
///
/// Lines with corners have the smaller of both offsets everywhere.
pub(super) fn beside(line: &[Point], offsets: (f64, f64), between: &Between<'_>) -> Vec<Point> {
    let mut line = without_repetitions(line);
    let limit = |rect: Rect| (rect.width.min(rect.height) / 2.0 - 2.0).max(0.0);
    let start = offsets.0.clamp(-limit(between.source), limit(between.source));
    let end = offsets.1.clamp(-limit(between.target), limit(between.target));
    if let [from, to] = *line.as_slice() {
        let [first, last] = [start, end].map(|offset| shifted(&[from, to], offset));
        line = first.into_iter().take(1).chain(last.into_iter().skip(1)).collect();
    } else if start != 0.0 && end != 0.0 {
        line = shifted(&line, if start.abs() < end.abs() { start } else { end });
    }
    let mut line = cut(line, between.source);
    line.reverse();
    line = cut(line, between.target);
    line.reverse();
    line
}

/// Removes repeated points, and corners on straight lines.
fn without_repetitions(line: &[Point]) -> Vec<Point> {
    let mut result: Vec<Point> = Vec::with_capacity(line.len());
    for point in line {
        if result.last() == Some(point) {
            continue;
        }
        if let [.., before, last] = *result.as_slice()
            && before.turn(last, *point).abs() < 1e-9
        {
            result.pop();
        }
        result.push(*point);
    }
    result
}

/// Shifts each segment to its left by an offset. Joins neighbors at their new corners.
fn shifted(line: &[Point], offset: f64) -> Vec<Point> {
    let normals: Vec<Point> = line
        .windows(2)
        .map(|pair| match pair {
            [from, to] => {
                let along = to.minus(*from);
                let length = along.length().max(1e-9);
                Point::new(-along.y / length, along.x / length)
            }
            _ => Point::default(),
        })
        .collect();
    line.iter()
        .enumerate()
        .map(|(index, point)| {
            let before = index.checked_sub(1).and_then(|before| normals.get(before)).copied();
            let after = normals.get(index).copied();
            let shift = match (before, after) {
                (Some(before), Some(after)) => {
                    let sum = before.plus(after);
                    // A miter, limited at acute corners.
                    let square = (sum.x * sum.x + sum.y * sum.y).max(0.5);
                    sum.times(2.0 / square)
                }
                // A single point has no direction.
                (one, other) => one.or(other).unwrap_or_default(),
            };
            point.plus(shift.times(offset))
        })
        .collect()
}

/// Replaces the start of a line by the point on a rectangle's border. The start reaches to where the line finally
/// leaves the rectangle.
fn cut(line: Vec<Point>, rect: Rect) -> Vec<Point> {
    let last_inside = line.iter().rposition(|point| rect.contains(*point));
    let Some(inside) = last_inside else { return line };
    let (Some(from), Some(to)) = (line.get(inside).copied(), line.get(inside + 1).copied()) else {
        return line;
    };
    let border = match rect.clip(from, to) {
        Some((_, leave)) => from.plus(to.minus(from).times(leave)),
        None => from,
    };
    [border].into_iter().chain(line.into_iter().skip(inside + 1)).collect()
}
