//! Lines between tiers: down from the border of the upper shape, aside, and down to the border of the lower one.
//!
//! Each line has its own place at both borders, in the order of the shapes at the other ends, so that no two lines of a
//! shape share a part of their way.

use std::collections::{BTreeMap, BTreeSet};

use super::detour::{CLEARANCE, ObstaclesBetween};
use crate::topology::layout::geometry::{Point, Rect};
use crate::topology::layout::layered::{LineEnds, PLACE};
use crate::topology::layout::outline::Outline;

/// The distance of the outermost lines from the corners of a shape.
const MARGIN: f64 = 8.0;
/// The largest distance of the centers of a row and of the one that is staggered below it.
pub(in crate::topology) const MAX_STAGGER: f64 = 100.0;
/// The least length of the vertical ends of a line.
const END: f64 = CLEARANCE + 3.0;
/// The largest distance of the heights at which neighboring lines of a shape turn aside.
const TURN_STEP: f64 = 5.0;
/// The share of the way between two turns over which the turns of a shape's lines are spread.
const TURN_SHARE: f64 = 0.4;

/// The places of lines at the borders of shapes in tiers.
#[derive(Debug)]
pub(super) struct TierLines<'a> {
    shapes: &'a TieredShapes<'a>,
    /// For each pair of shapes, the upper one first, the places of their first line and the distance to the next.
    places: BTreeMap<(usize, usize), [Spread; 2]>,
    turns: BTreeMap<Row, Turns>,
}

/// Lines side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    first: f64,
    step: f64,
    /// The place of the first line among all lines at the border of the shape, and the number of these.
    place: usize,
    total: usize,
}

impl Spread {
    /// Returns how much later than the outermost line of its side a line turns aside. If all of them turned at one height, they would
    /// run into each other.
    fn turn(self, number: usize, is_rightward: bool, height: f64) -> f64 {
        let place = self.place + number;
        debug_assert!(place < self.total, "line {place} of {}", self.total);
        let outside = if is_rightward { self.total.saturating_sub(place + 1) } else { place };
        TURN_STEP.min(TURN_SHARE * height / self.total as f64) * outside as f64
    }
}

impl<'a> TierLines<'a> {
    /// Allots places to the lines of each pair, of which there are as many as given.
    pub(super) fn new(
        pairs: impl Iterator<Item = ((usize, usize), usize)>,
        shapes: &'a TieredShapes<'a>,
    ) -> Self {
        let rects = shapes.rects;
        let mut lower_ends: BTreeMap<usize, Vec<(f64, usize, usize)>> = BTreeMap::new();
        let mut upper_ends: BTreeMap<usize, Vec<(f64, usize, usize)>> = BTreeMap::new();
        for ((one, other), lines) in pairs {
            let Some(TieredPair { upper: (upper, _), lower: (lower, _), .. }) = shapes.pair(one, other)
            else {
                continue;
            };
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
                let leftmost = rect.center().x - step * (lines.max(1) - 1) as f64 / 2.0;
                let mut place = 0;
                for (_, other, count) in others {
                    let pair = if end == 0 { (shape, other) } else { (other, shape) };
                    let first = leftmost + step * place as f64;
                    places.entry(pair).or_default()[end] = Spread { first, step, place, total: lines };
                    place += count;
                }
            }
        }
        Self { shapes, places, turns: turns(shapes) }
    }

    /// Returns the line of a pair with this number, from the source to the target; `None` if an obstacle is in its way,
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
        let TieredPair { upper: (_, above), lower: (_, below), .. } =
            self.shapes.pair(upper_index, lower_index)?;
        let (upper, lower) = (between.rect_of(upper_index), between.rect_of(lower_index));
        let [start, end] = places.map(|spread| spread.first + spread.step * number as f64);
        let turns = |shape: usize| self.turns.get(&self.shapes.row(shape)).copied().unwrap_or_default();
        let wide = (turns(above).below(upper), turns(below).above(lower));
        let narrow = (between.rect_of(above).bottom() + END, between.rect_of(below).y - END);
        let turn = if wide.0 + END > wide.1 { narrow } else { wide };
        let height = turn.1 - turn.0;
        // From below, a line to the right comes from the left.
        let [later, earlier] = [(places[0], start < end), (places[1], start > end)]
            .map(|(spread, is_rightward)| spread.turn(number, is_rightward, height));
        let line = |turn: (f64, f64)| {
            let line = vec![
                Point::new(start, upper.bottom()),
                Point::new(start, turn.0),
                Point::new(end, turn.1),
                Point::new(end, lower.y),
            ];
            (turn.0 <= turn.1 && between.is_line_free(&line)).then_some(line)
        };
        line((turn.0 + later, turn.1 - earlier)).or_else(|| line(turn))
    }
}

/// The shapes of a diagram and the tiers within each container.
#[derive(Debug)]
pub(super) struct TieredShapes<'a> {
    outline: &'a Outline,
    rects: &'a [Rect],
    tiers: &'a [Option<usize>],
    /// The tiers with containers. Shapes of such a tier have their upper edges at the same height.
    top_aligned: BTreeSet<(Option<usize>, usize)>,
}

/// Two shapes in tiers. Each comes with the shape that it is, or is in, on the level that they have in common.
#[derive(Clone, Copy, Debug)]
struct TieredPair {
    upper: (usize, usize),
    lower: (usize, usize),
    is_one_tier: bool,
}

/// A row of shapes: the container, the tier, and the height in units of 1/64 pixel.
type Row = (Option<usize>, Option<usize>, i64);

impl<'a> TieredShapes<'a> {
    pub(super) fn new(outline: &'a Outline, rects: &'a [Rect], tiers: &'a [Option<usize>]) -> Self {
        let containers = outline.containers_upward().into_iter().flatten();
        let tier = |shape: usize| Some((outline.parents[shape], tiers[shape]?));
        Self { outline, rects, tiers, top_aligned: containers.filter_map(tier).collect() }
    }

    /// Returns two shapes in their tiers; `None` if one of them is in none.
    fn pair(&self, one: usize, other: usize) -> Option<TieredPair> {
        let (first, second) = self.outline.siblings(one, other)?;
        let (first_tier, second_tier) = (self.tiers[first]?, self.tiers[second]?);
        let ends = [(one, first), (other, second)];
        let [upper, lower] = if first_tier <= second_tier { ends } else { [ends[1], ends[0]] };
        Some(TieredPair { upper, lower, is_one_tier: first_tier == second_tier })
    }

    fn has_containers(&self, shape: usize) -> bool {
        self.tiers[shape].is_some_and(|tier| self.top_aligned.contains(&(self.outline.parents[shape], tier)))
    }

    /// Returns the row of a shape on its level.
    fn row(&self, shape: usize) -> Row {
        let rect = self.rects[shape];
        let y = if self.has_containers(shape) { rect.y } else { rect.center().y };
        (self.outline.parents[shape], self.tiers[shape], (y * 64.0).round() as i64)
    }
}

/// The height at which all lines of a row turn aside, so that none runs aside through the labels of others.
#[derive(Clone, Copy, Debug)]
struct Turns {
    /// The lengths of the vertical ends of lines that run down, and of those that come from above.
    lengths: [f64; 2],
    /// The heights below and above all shapes of a row with containers.
    heights: Option<[f64; 2]>,
    /// The height above the row between whose shapes lines run down to this one.
    passed: Option<f64>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { lengths: [END; 2], heights: None, passed: None }
    }
}

impl Turns {
    /// Returns where lines turn aside that run down from a shape.
    fn below(self, shape: Rect) -> f64 {
        self.heights.map_or(shape.bottom() + self.lengths[0], |[below, _]| below)
    }

    /// Returns where lines have turned aside that come to a shape from above.
    fn above(self, shape: Rect) -> f64 {
        let own = self.heights.map_or(shape.y - self.lengths[1], |[_, above]| above);
        self.passed.map_or(own, |passed| passed.min(own))
    }
}

/// Returns the turns of each row with lines to other tiers.
fn turns(shapes: &TieredShapes<'_>) -> BTreeMap<Row, Turns> {
    let TieredShapes { outline, rects, .. } = shapes;
    // The labels at lines that run down from each shape, and at those that come from above.
    let mut labels: BTreeMap<(Row, usize), [Vec<f64>; 2]> = BTreeMap::new();
    for (ends, widths) in outline.ends.iter().zip(&outline.port_widths) {
        crate::fair_threads::yield_turn();
        let Some((source, target)) = *ends else { continue };
        let Some(pair) = shapes.pair(source, target).filter(|pair| !pair.is_one_tier) else { continue };
        for ((shape, on_level), side) in [(pair.upper, 0), (pair.lower, 1)] {
            let width = widths[usize::from(shape != source)];
            labels.entry((shapes.row(on_level), shape)).or_default()[side].push(width);
        }
    }
    let mut ends: BTreeMap<Row, [LineEnds; 2]> = BTreeMap::new();
    let mut edges: BTreeMap<Row, [f64; 2]> = BTreeMap::new();
    for ((row, shape), [down, up]) in labels {
        let [lower, upper] = ends.entry(row).or_default();
        lower.add_shape(down.into_iter());
        upper.add_shape(up.into_iter());
        let [bottom, top] = edges.entry(row).or_insert([f64::NEG_INFINITY, f64::INFINITY]);
        (*bottom, *top) = (bottom.max(rects[shape].bottom()), top.min(rects[shape].y));
    }
    let mut turns: BTreeMap<Row, Turns> = BTreeMap::new();
    // The last row and the height at which lines to it have turned aside.
    let mut last: Option<(Row, f64)> = None;
    for (row, ends) in ends {
        let lengths = ends.map(|ends| ends.length().max(END));
        let top = edges.get(&row).map_or(0.0, |[_, top]| *top);
        // Lines to a staggered row run down between the shapes of the row above it.
        let is_staggered = |(above, _): &(Row, f64)| {
            (above.0, above.1) == (row.0, row.1) && (row.2 - above.2) as f64 <= MAX_STAGGER * 64.0
        };
        let passed = last.filter(is_staggered).map(|(_, turn)| turn.min(top - lengths[1]));
        last = Some((row, passed.unwrap_or(top - lengths[1])));
        turns.insert(row, Turns { lengths, heights: None, passed });
    }
    for shape in (0..outline.len()).filter(|shape| shapes.has_containers(*shape)) {
        let row = shapes.row(shape);
        let (Some(turns), Some([bottom, top])) = (turns.get_mut(&row), edges.get(&row)) else { continue };
        // Labels that have no room within a container are beside it.
        let [down, up] = turns.lengths;
        let [below, above] = turns.heights.unwrap_or([bottom + down, top - up]);
        turns.heights = Some([below.max(rects[shape].bottom() + down), above.min(rects[shape].y - up)]);
    }
    turns
}
