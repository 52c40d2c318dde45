//! The widths of lines.

use std::collections::HashSet;

use super::scene::Scene;
use super::words::sane;
use crate::invariant::Invariant;

/// The widths that are tried, compared with those of a picture with few lines.
const SCALES: [f64; 5] = [1.0, 0.7, 0.5, 0.35, 0.25];
/// The least width, compared with those of a picture with few lines.
const MIN_SCALE: f64 = 0.18;
/// Width of the thinnest line, in pixels.
const MIN_WIDTH: f64 = 0.75;
/// Width of the thinnest line with two strands, in pixels.
const MIN_WIDTH_OF_GROUP: f64 = 1.75;
/// The largest number of columns, and of rows, of cells that a picture is divided into.
const MAX_CELLS: f64 = 64.0;
/// The least width and height of a cell, in pixels. It has room for two lines, and space between them.
const MIN_CELL: f64 = 48.0;
/// The part of a cell that lines cover at most. If they cover more, the eye cannot follow one of them.
const MAX_COVERED: f64 = 0.45;
/// The part of all lines that may be in cells of which more is covered. Lines that end at one device are close to each
/// other there.
const MAX_CROWDED: f64 = 0.2;

/// The widths of the lines of a picture. They grow with the logarithm of the speed.
///
/// Where lines crowd, such as between the rows of a fabric, all lines of the picture are thinner. The order of their
/// widths stays.
pub(super) struct LineWidths {
    scale: f64,
}

impl LineWidths {
    /// Looks how crowded the lines of a graph are. The work is at most linear in their number of bends.
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let cells = Cells::of(scene);
        let scale = SCALES.into_iter().find(|scale| !cells.are_crowded(*scale));
        Self { scale: scale.unwrap_or(MIN_SCALE) }
    }

    /// Returns the width of a line in pixels.
    pub(super) fn line(&self, bits_per_second: Option<u64>) -> f64 {
        (unscaled(bits_per_second) * self.scale).max(MIN_WIDTH)
    }

    /// Returns the width in pixels of a line that stands for several links.
    pub(super) fn group(&self, bits_per_second: Option<u64>) -> f64 {
        ((unscaled(bits_per_second) + 2.0) * self.scale).max(MIN_WIDTH_OF_GROUP)
    }
}

/// Returns the width of a line in a picture with few lines, in pixels.
fn unscaled(bits_per_second: Option<u64>) -> f64 {
    let quarters = match bits_per_second {
        None | Some(0) => 6,
        Some(speed) => speed.ilog2().saturating_sub(18).clamp(4, 20),
    };
    f64::from(quarters) / 4.0
}

/// The area that lines cover in each cell of a picture, at their unscaled width.
struct Cells {
    covered: Vec<f64>,
    columns: usize,
    /// The width and the height of a cell.
    size: [f64; 2],
    /// The upper ends of upright lines, and the left ends of level ones. Edges that share such a line begin at the same
    /// place.
    shared: HashSet<(bool, [i64; 2])>,
}

impl Cells {
    fn of(scene: &Scene<'_>) -> Self {
        let bounds = scene.bounds();
        let size = [bounds.width, bounds.height].map(|length| (length / MAX_CELLS).max(MIN_CELL));
        let [columns, rows] =
            [bounds.width / size[0], bounds.height / size[1]].map(|count| count as usize + 1);
        let mut cells = Self { covered: vec![0.0; columns * rows], columns, size, shared: HashSet::new() };
        let place = |[x, y]: [f64; 2]| [(sane(x) - bounds.x) / size[0], (sane(y) - bounds.y) / size[1]];
        for edge in scene.edges() {
            let points: Vec<[f64; 2]> = edge.points.iter().map(|point| place(*point)).collect();
            let ends = points.iter().zip(points.iter().skip(1));
            ends.for_each(|(one, other)| cells.add(*one, *other, unscaled(edge.speed_bps)));
        }
        cells
    }

    /// Adds a straight line between two places, in pieces that are no longer than a cell.
    fn add(&mut self, one: [f64; 2], other: [f64; 2], line: f64) {
        if !self.is_first(one, other) {
            return;
        }
        let [across, down] = [other[0] - one[0], other[1] - one[1]];
        let pieces = across.abs().max(down.abs()).ceil().clamp(1.0, MAX_CELLS + 1.0);
        let area = (across * self.size[0]).hypot(down * self.size[1]) * line / pieces;
        for piece in 0..pieces as u32 {
            let part = (f64::from(piece) + 0.5) / pieces;
            let place = [one[0] + across * part, one[1] + down * part];
            let cell = place[1] as usize * self.columns + place[0] as usize;
            if let Some(covered) = self.covered.get_mut(cell).asserted() {
                *covered += area;
            }
        }
    }

    /// Returns whether no line before was upright, or level, and began at the same place.
    fn is_first(&mut self, one: [f64; 2], other: [f64; 2]) -> bool {
        let is_upright = one[0] == other[0];
        if !is_upright && one[1] != other[1] {
            return true;
        }
        let begin = [one[0].min(other[0]) * self.size[0], one[1].min(other[1]) * self.size[1]];
        self.shared.insert((is_upright, begin.map(|place| place.round() as i64)))
    }

    /// Returns whether too many lines of this scale are where they cover too much.
    fn are_crowded(&self, scale: f64) -> bool {
        let most = MAX_COVERED * self.size[0] * self.size[1];
        let crowded: f64 = self.covered.iter().filter(|covered| **covered * scale > most).sum();
        crowded > MAX_CROWDED * self.covered.iter().sum::<f64>()
    }
}
