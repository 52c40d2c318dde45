//! Lines between tiers: down from the border of the upper shape, aside, and down to the border of the lower one.
//!
//! Each line has its own place at both borders, in the order of the shapes at the other ends, so that no two lines of a
//! shape share a part of their way.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::detour::{CLEARANCE, ObstaclesBetween};
use crate::topology::layout::geometry::{Point, Rect};
use crate::topology::layout::layered::{LineEnds, PLACE};
use crate::topology::layout::outline::Outline;

/// The distance of the outermost lines from the corners of a shape.
const MARGIN: f64 = 8.0;
/// The least length of the vertical ends of a line.
const END: f64 = CLEARANCE + 3.0;

/// The places of lines at the borders of shapes in tiers.
#[derive(Debug, Default)]
pub(super) struct TierLines {
    /// For each pair of shapes, the upper one first, the places of their first line and the distance to the next.
    places: BTreeMap<(usize, usize), [Spread; 2]>,
    /// The length of the vertical ends of lines that run down from each shape, and of those that come from above.
    ends: Vec<[f64; 2]>,
}

/// Lines side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    first: f64,
    step: f64,
}

impl TierLines {
    /// Allots places to the lines of each pair, of which there are as many as given.
    pub(super) fn new(
        pairs: impl Iterator<Item = ((usize, usize), usize)>,
        outline: &Outline,
        rects: &[Rect],
        tiers: &[Option<usize>],
    ) -> Self {
        let mut lower_ends: BTreeMap<usize, Vec<(f64, usize, usize)>> = BTreeMap::new();
        let mut upper_ends: BTreeMap<usize, Vec<(f64, usize, usize)>> = BTreeMap::new();
        for ((one, other), lines) in pairs {
            let (Some(first), Some(second)) = (tiers[one], tiers[other]) else { continue };
            let (upper, lower) = if first <= second { (one, other) } else { (other, one) };
            if rects[upper].bottom() + 2.0 * END < rects[lower].y {
                lower_ends.entry(upper).or_default().push((rects[lower].center().x, lower, lines));
                upper_ends.entry(lower).or_default().push((rects[upper].center().x, upper, lines));
            }
        }
        let mut places: BTreeMap<(usize, usize), [Spread; 2]> = BTreeMap::new();
        for (end, lists) in [(0, lower_ends), (1, upper_ends)] {
            for (shape, mut others) in lists {
                crate::fair_threads::yield_turn();
                others.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
                let lines: usize = others.iter().map(|(.., lines)| lines).sum();
                let rect = rects[shape];
                let gaps = lines.max(2) - 1;
                let step = PLACE.min((rect.width - 2.0 * MARGIN).max(0.0) / gaps as f64);
                let mut next = rect.center().x - step * (lines.max(1) - 1) as f64 / 2.0;
                for (_, other, lines) in others {
                    let pair = if end == 0 { (shape, other) } else { (other, shape) };
                    places.entry(pair).or_default()[end] = Spread { first: next, step };
                    next += step * lines as f64;
                }
            }
        }
        Self { places, ends: ends(outline, rects, tiers) }
    }

    /// Returns the line of a pair with this number, from the source to the target; `None` if something is in its way,
    /// or the shapes are in no tiers.
    pub(super) fn line(&self, between: &ObstaclesBetween<'_>, number: usize) -> Option<Vec<Point>> {
        let (source, target) = (between.source_index, between.target_index);
        if let Some(places) = self.places.get(&(source, target)) {
            return self.down(between, (source, target), *places, number);
        }
        let places = self.places.get(&(target, source))?;
        let mut line = self.down(between, (target, source), *places, number)?;
        line.reverse();
        Some(line)
    }

    fn down(
        &self,
        between: &ObstaclesBetween<'_>,
        (upper_index, lower_index): (usize, usize),
        places: [Spread; 2],
        number: usize,
    ) -> Option<Vec<Point>> {
        let (upper, lower) = (between.rect_of(upper_index), between.rect_of(lower_index));
        let [start, end] = places.map(|spread| spread.first + spread.step * number as f64);
        let (mut from, mut to) = (self.ends[upper_index][0], self.ends[lower_index][1]);
        if upper.bottom() + from + to + END > lower.y {
            (from, to) = (END, END);
        }
        let line = vec![
            Point::new(start, upper.bottom()),
            Point::new(start, upper.bottom() + from),
            Point::new(end, lower.y - to),
            Point::new(end, lower.y),
        ];
        between.is_line_free(&line).then_some(line)
    }
}

/// Returns the length of the vertical ends of lines at each shape: the same for all shapes of a row, so that no line runs
/// aside through the labels of others.
fn ends(outline: &Outline, rects: &[Rect], tiers: &[Option<usize>]) -> Vec<[f64; 2]> {
    // The labels at lines that run down from each shape, and at those that come from above.
    let mut labels: BTreeMap<usize, [Vec<f64>; 2]> = BTreeMap::new();
    for (ends, widths) in outline.ends.iter().zip(&outline.port_widths) {
        crate::fair_threads::yield_turn();
        let Some((source, target)) = *ends else { continue };
        let (Some(first), Some(second)) = (tiers[source], tiers[target]) else { continue };
        let sides = match first.cmp(&second) {
            Ordering::Less => [0, 1],
            Ordering::Greater => [1, 0],
            Ordering::Equal => continue,
        };
        for ((shape, side), width) in [source, target].into_iter().zip(sides).zip(widths) {
            labels.entry(shape).or_default()[side].push(*width);
        }
    }
    let row = |shape: usize| (tiers[shape], (rects[shape].center().y * 64.0).round() as i64);
    let mut by_row: BTreeMap<(Option<usize>, i64), [LineEnds; 2]> = BTreeMap::new();
    for (shape, [down, up]) in labels {
        let [lower, upper] = by_row.entry(row(shape)).or_default();
        lower.add_shape(down.into_iter());
        upper.add_shape(up.into_iter());
    }
    let ends_of = |shape: usize| by_row.get(&row(shape)).copied().unwrap_or_default();
    (0..tiers.len()).map(|shape| ends_of(shape).map(|ends| ends.length().max(END))).collect()
}
