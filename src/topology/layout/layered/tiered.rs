//! Tiers: rows of nodes, one for each tier, with leaves below their hubs.

use std::cmp::Ordering;

use super::super::containers::{Level, bounds};
use super::super::geometry::{Point, Size};
use super::super::packing::{SHEET_WIDTH, misproportion};
use super::super::tiers::Tiers;
use super::leaves::{Leaves, leaves_of_most_hubs};
use super::page::PageEstimate;
use super::spread::spread_tiers;
use super::stack::{TierRow, TierStyle};
use super::stagger::Stagger;
use super::{MAX_IN_A_ROW, blocks, ordering};

/// The distance of lines to other tiers at the border of a shape. It has room for a label that is turned upright.
pub(in super::super) const PLACE: f64 = 20.0;
/// The largest width of a shape for the labels of its lines.
const MAX_WIDTH: f64 = 1_600.0;
/// The largest ratio of width to height of tiers in one row each.
const MAX_RATIO: f64 = 16.0;
/// The same for tiers with many lines between them. In several rows, these would run together in the channels between
/// shapes.
const MAX_RATIO_OF_DENSE: f64 = 48.0;
/// Maximum number of shapes in a row of such tiers. A reader cannot trace the lines of more.
const MAX_IN_DENSE_ROW: usize = 128;
/// The width of a row that is not wrapped, compared with a square of the same area as all rows.
const ROW: f64 = 1.5;
/// Maximum number of leaves that are all side by side.
const MAX_IN_SMALL_NETWORK: usize = 8;

/// Shapes in tiers.
#[derive(Debug)]
pub(in super::super) struct PlacedTiers {
    pub(in super::super) corners: Vec<Point>,
    /// The sizes, wider than before where many lines end.
    pub(in super::super) sizes: Vec<Size>,
    /// The tier of each shape; leaves in grids have none.
    pub(in super::super) tiers: Vec<Option<usize>>,
}

/// Places the shapes of a connected level in the tiers of its network.
pub(in super::super) fn arrange_tiers(level: &Level, tiers: &Tiers) -> Option<PlacedTiers> {
    let nodes: Vec<usize> = (0..level.network.len()).collect();
    let mut level = level.part(&nodes);
    widen(&mut level, tiers);
    // These lines run where the others leave room.
    level.network = level.network.without(&tiers.odd_links);
    let keys = ordering::order(&level.network, &tiers.levels, &tiers.rows);
    let (corners, columns) = best_style(&level, tiers, &keys)?;
    let is_in_row = are_in_rows(&level, tiers, columns);
    let tier_of = |node: usize| is_in_row[node].then_some(tiers.levels[node]);
    Some(PlacedTiers { corners, sizes: level.sizes, tiers: nodes.into_iter().map(tier_of).collect() })
}

/// Returns which nodes are in the row of their tier: all but leaves in grids.
fn are_in_rows(level: &Level, tiers: &Tiers, columns: Option<usize>) -> Vec<bool> {
    let most = leaves_in_a_row(level, tiers, columns);
    let leaves_of =
        |hub: usize| level.network.neighbors(hub).iter().filter(|other| tiers.is_leaf[**other]).count();
    let are_few: Vec<bool> = (0..level.network.len()).map(|hub| leaves_of(hub) <= most).collect();
    let is_in_row =
        |node: usize| !tiers.is_leaf[node] || level.network.neighbors(node).iter().all(|hub| are_few[*hub]);
    (0..level.network.len()).map(is_in_row).collect()
}

/// Returns the largest number of leaves of a hub that are side by side.
fn leaves_in_a_row(level: &Level, tiers: &Tiers, columns: Option<usize>) -> usize {
    let leaves = Leaves::of(level, tiers);
    match columns {
        Some(_) => 1,
        None if leaves.are_rows_of_switches() => usize::MAX,
        None if leaves.count <= MAX_IN_SMALL_NETWORK => MAX_IN_SMALL_NETWORK,
        None => MAX_IN_A_ROW,
    }
}

/// Widens shapes so that the labels of their lines to other tiers have room.
pub(in super::super) fn widen(level: &mut Level, tiers: &Tiers) {
    let is_in_row = are_in_rows(level, tiers, None);
    // The lines of a container end at its content, or it is wide enough for them.
    let is_widened = |node: &usize| !tiers.is_leaf[*node] && !level.is_container[*node];
    let widened: Vec<usize> = (0..level.network.len()).filter(is_widened).collect();
    for node in widened {
        let others = || level.network.neighbors(node).iter().filter(|other| is_in_row[**other]);
        let above = others().filter(|other| tiers.levels[**other] < tiers.levels[node]).count();
        let below = others().filter(|other| tiers.levels[**other] > tiers.levels[node]).count();
        let lines = above.max(below);
        let has_labels = level.port_widths[node].iter().any(|(_, width)| *width > 0.0);
        if lines > 1 && has_labels {
            let width = &mut level.sizes[node].width;
            *width = width.max((lines as f64 * PLACE + PLACE).min(MAX_WIDTH));
        }
    }
}

/// Places tiers with leaves in rows, or in few columns, whichever has the best proportions. Returns the corners and the
/// number of columns; `None` for rows.
fn best_style(level: &Level, tiers: &Tiers, keys: &[usize]) -> Option<(Vec<Point>, Option<usize>)> {
    let rows = rows(level, tiers);
    let attempt = |columns: Option<usize>, max_row: Option<f64>| {
        let is_in_row = are_in_rows(level, tiers, columns);
        let ends = line_ends(level, tiers, &is_in_row);
        let style = TierStyle {
            is_leaf: &tiers.is_leaf,
            rows: &rows,
            columns,
            leaves_in_a_row: leaves_in_a_row(level, tiers, columns),
            max_row,
            stagger: Stagger::of(
                level,
                tiers,
                &is_in_row,
                &PageEstimate::of(level, tiers, &is_in_row, &ends),
            ),
        };
        let mut corners = blocks::arrange(level, &tiers.levels, keys, Some(&style))?;
        if max_row.is_none() {
            spread_tiers(level, tiers, &is_in_row, &ends, &mut corners);
        }
        let size = bounds(&corners, &level.sizes).size();
        Some(((corners, columns), size))
    };
    let columns = columns(level, tiers);
    let cost = |size: &Size| misproportion(*size) * (size.width * size.height).sqrt();
    let best = |max_row: Option<f64>| {
        let attempts = columns.iter().filter_map(|columns| attempt(*columns, max_row));
        attempts.min_by(|one, other| cost(&one.1).total_cmp(&cost(&other.1)))
    };
    let (placed, size) = best(None)?;
    let max_ratio = if are_dense(level, tiers) { MAX_RATIO_OF_DENSE } else { MAX_RATIO };
    if size.width <= max_ratio * size.height {
        return Some(placed);
    }
    let max_row = (size.width * size.height).sqrt() * ROW;
    let wrapped = [best(Some(max_row)), best(Some(0.0))].into_iter().flatten();
    let wrapped = wrapped.min_by(|one, other| cost(&one.1).total_cmp(&cost(&other.1)));
    wrapped.map(|(placed, _)| placed)
}

/// Returns whether most shapes that are no leaves have several lines to other tiers, and none of the tiers is too long.
fn are_dense(level: &Level, tiers: &Tiers) -> bool {
    let is_inner = |node: &usize| !tiers.is_leaf[*node];
    let mut counts = vec![0_usize; tiers.levels.iter().max().map_or(0, |deepest| deepest + 1)];
    (0..level.network.len()).filter(is_inner).for_each(|node| counts[tiers.levels[node]] += 1);
    if counts.iter().any(|count| *count > MAX_IN_DENSE_ROW) {
        return false;
    }
    let lines = level.network.edges().iter().filter(|(one, other)| {
        is_inner(one) && is_inner(other) && tiers.levels[*one] != tiers.levels[*other]
    });
    lines.count() * 2 > (0..level.network.len()).filter(is_inner).count() * 3
}

/// Returns the numbers of columns of leaves that are tried; `None` stands for rows.
///
/// To the reader, leaves that are not known to be end devices are a tier, such as access switches without known end devices. They are in
/// one row if they have room on a sheet. If not, two at a hub are below each other. Switches are in rows on more than one sheet.
fn columns(level: &Level, tiers: &Tiers) -> &'static [Option<usize>] {
    let leaves = Leaves::of(level, tiers);
    match leaves_of_most_hubs(level, tiers) {
        _ if leaves.are_rows_of_switches() => &[None],
        _ if leaves.are_tier() && leaves.width <= SHEET_WIDTH => &[None],
        0..=2 if leaves.are_tier() => &[Some(1)],
        3..=MAX_IN_A_ROW if leaves.switches > leaves.devices => &[None, Some(2)],
        _ => &[None, Some(2), Some(1)],
    }
}

/// Returns the row of each tier.
fn rows(level: &Level, tiers: &Tiers) -> Vec<TierRow> {
    let count = tiers.levels.iter().max().map_or(0, |deepest| deepest + 1);
    let mut rows: Vec<TierRow> = (0..count).map(|tier| TierRow { tier, ..TierRow::default() }).collect();
    for (node, tier) in tiers.levels.iter().enumerate() {
        let row = &mut rows[*tier];
        row.height = row.height.max(level.sizes[node].height);
        row.is_top_aligned |= level.is_container[node];
    }
    rows
}

/// Returns for each tier the ends of its lines to lower tiers, and of those to upper ones.
fn line_ends(level: &Level, tiers: &Tiers, is_in_row: &[bool]) -> Vec<[LineEnds; 2]> {
    let count = tiers.levels.iter().max().map_or(0, |deepest| deepest + 1);
    let mut ends = vec![[LineEnds::default(); 2]; count];
    for node in (0..level.network.len()).filter(|node| is_in_row[*node]) {
        let tier = tiers.levels[node];
        let side = |order: Ordering| {
            let others = level.port_widths[node]
                .iter()
                .filter(move |(other, _)| is_in_row[*other] && tiers.levels[*other].cmp(&tier) == order);
            others.map(|(_, width)| *width)
        };
        ends[tier][0].add_shape(side(Ordering::Greater));
        ends[tier][1].add_shape(side(Ordering::Less));
    }
    ends
}

/// The vertical ends of the lines on one side of a row of shapes.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct LineEnds {
    label: f64,
}

impl LineEnds {
    /// The distance of a label from the shape and from where lines turn aside, in sum.
    const DISTANCES: f64 = 8.0;
    /// The height of a label.
    const HEIGHT: f64 = 13.0;

    /// Adds the labels at lines of a shape. They are turned upright where there are several; a single one is beside its
    /// line.
    pub(in super::super) fn add_shape(&mut self, widths: impl Iterator<Item = f64>) {
        let (lines, widest) =
            widths.fold((0, 0.0_f64), |(lines, widest), width| (lines + 1, widest.max(width)));
        let needed = if lines > 1 { widest } else { widest.min(Self::HEIGHT) };
        self.label = self.label.max(needed);
    }

    /// Returns the length of the ends, along which the labels have room.
    pub(in super::super) fn length(self) -> f64 {
        self.label + Self::DISTANCES
    }
}
