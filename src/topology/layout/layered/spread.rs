//! The space between tiers, in which lines run aside.

use super::super::containers::{LAYER_GAP, Level, bounds};
use super::super::geometry::Point;
use super::super::tiers::Tiers;
use super::lanes::LANE_GAP;
use super::page::COVERED;
use super::tiered::LineEnds;

/// The distance that lines need to run aside, compared with how far the farthest one does.
const SLOPE: f64 = 0.045;
/// The least and the largest of these distances.
const ASIDE: (f64, f64) = (28.0, 140.0);
/// The distance for each line at the place where most of them run aside beside each other.
const BETWEEN_LINES: f64 = 4.0;
/// The largest distance for many lines.
const MAX_FOR_MANY: f64 = 480.0;

/// Returns the height that lines need to run aside so far.
pub(super) fn aside(distance: f64) -> f64 {
    (distance * SLOPE).clamp(ASIDE.0, ASIDE.1)
}

/// Moves tiers apart, so that lines have room to run aside between their labels.
///
/// Many lines have more room, as far as devices cover enough of the page.
pub(super) fn spread_tiers(
    level: &Level,
    tiers: &Tiers,
    is_in_row: &[bool],
    ends: &[[LineEnds; 2]],
    corners: &mut [Point],
) {
    let count = ends.len();
    let lines = lines_below(level, tiers, is_in_row, corners);
    let drops = drops(level, tiers, is_in_row, corners);
    let (mut shifts, mut wanted) = (vec![0.0; count], vec![0.0; count]);
    for tier in 1..count {
        // Lines to leaves in grids turn aside right below their hub.
        let (mut needed, mut for_many) = (0.0, 0.0);
        if let Some(farthest) = lines[tier - 1].iter().map(|[left, right]| right - left).reduce(f64::max) {
            let least = aside(farthest);
            needed = ends[tier - 1][0].length() + ends[tier][1].length() + least;
            let side_by_side = most_side_by_side(&lines[tier - 1]) as f64;
            for_many = ((side_by_side * BETWEEN_LINES).min(MAX_FOR_MANY) - least).max(0.0);
        }
        // A lower shape has its leaf, if it has one, in the lower row of leaves.
        let below_lower = if drops[tier - 1] > 0.0 { drops[tier - 1] + LANE_GAP } else { 0.0 };
        shifts[tier] = shifts[tier - 1] + (needed.max(below_lower) - LAYER_GAP).max(0.0);
        wanted[tier] = wanted[tier - 1] + for_many;
    }
    move_down(corners, &tiers.levels, &shifts);
    let most = wanted.last().copied().unwrap_or(0.0);
    if most > 0.0 {
        let room = room_below(level, corners).clamp(0.0, most);
        wanted.iter_mut().for_each(|shift| *shift *= room / most);
        move_down(corners, &tiers.levels, &wanted);
    }
}

fn move_down(corners: &mut [Point], levels: &[usize], shifts: &[f64]) {
    for (corner, tier) in corners.iter_mut().zip(levels) {
        corner.y += shifts[*tier];
    }
}

/// Returns by how much the page may be higher, so that devices still cover enough of it.
fn room_below(level: &Level, corners: &[Point]) -> f64 {
    let page = bounds(corners, &level.sizes).size();
    let devices: f64 = level.sizes.iter().map(|size| size.width * size.height).sum();
    devices / (COVERED * page.width.max(1.0)) - page.height
}

/// Returns for each tier how far each line to a lower tier runs from left to right.
fn lines_below(level: &Level, tiers: &Tiers, is_in_row: &[bool], corners: &[Point]) -> Vec<Vec<[f64; 2]>> {
    let mut lines = vec![Vec::new(); tiers.levels.iter().max().map_or(0, |deepest| deepest + 1)];
    let center = |node: usize| corners[node].x + level.sizes[node].width / 2.0;
    for (one, other) in
        level.network.edges().iter().filter(|(one, other)| is_in_row[*one] && is_in_row[*other])
    {
        if tiers.levels[*one] != tiers.levels[*other] {
            let (one_x, other_x) = (center(*one), center(*other));
            lines[tiers.levels[*one].min(tiers.levels[*other])]
                .push([one_x.min(other_x), one_x.max(other_x)]);
        }
    }
    lines
}

/// Returns the largest number of lines that pass one place from left to right.
fn most_side_by_side(lines: &[[f64; 2]]) -> usize {
    let mut begins: Vec<f64> = lines.iter().map(|[left, _]| *left).collect();
    let mut ends: Vec<f64> = lines.iter().map(|[_, right]| *right).collect();
    begins.sort_unstable_by(f64::total_cmp);
    ends.sort_unstable_by(f64::total_cmp);
    let (mut ended, mut most) = (0, 0);
    for (begun, begin) in begins.iter().enumerate() {
        while ends.get(ended).is_some_and(|end| end <= begin) {
            ended += 1;
        }
        most = most.max((begun + 1).saturating_sub(ended));
    }
    most
}

/// Returns for each tier by how much some of its shapes are lower than the others.
fn drops(level: &Level, tiers: &Tiers, is_in_row: &[bool], corners: &[Point]) -> Vec<f64> {
    let count = tiers.levels.iter().max().map_or(0, |deepest| deepest + 1);
    let mut heights: Vec<Option<(f64, f64)>> = vec![None; count];
    let is_plain = |node: &usize| is_in_row[*node] && !level.is_container[*node];
    for node in (0..level.network.len()).filter(is_plain) {
        let y = corners[node].y + level.sizes[node].height / 2.0;
        let (low, high) = heights[tiers.levels[node]].get_or_insert((y, y));
        (*low, *high) = (low.min(y), high.max(y));
    }
    heights.into_iter().map(|heights| heights.map_or(0.0, |(low, high)| high - low)).collect()
}
