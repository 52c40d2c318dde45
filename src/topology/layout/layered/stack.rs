//! Nodes side by side above rows of blocks and grids of leaves.

use std::collections::BTreeMap;

use super::super::containers::{GAP, LAYER_GAP, Level};
use super::super::geometry::{Point, Size};
use super::blocks::{BlockPart, LANE, LowerPart, join};
use super::grids;
use super::lanes::{self, Extent, Lanes, lane_of};
use super::rows::{self, ArrangedRows, DesiredCenter, Grid, RowItem, side_by_side};
use super::stagger::Stagger;

/// The part of the width of a row that many nodes above it take.
const SPREAD: f64 = 0.5;
/// The room between the two labels of a line, where its speed is, and beside them.
const BETWEEN_LABELS: f64 = 60.0;
/// The largest distance between nodes above a row.
const MAX_TOP_GAP: f64 = 400.0;

/// How the tiers of a network are placed.
#[derive(Clone, Debug)]
pub(super) struct TierStyle<'a> {
    /// Whether a node hangs below its only neighbor.
    pub(super) is_leaf: &'a [bool],
    /// The row of each tier.
    pub(super) rows: &'a [TierRow],
    /// The number of columns of leaves; `None`: as many as give good proportions, and a row for a few leaves.
    pub(super) columns: Option<usize>,
    /// The largest number of leaves of a hub that are side by side rather than in columns.
    pub(super) leaves_in_a_row: usize,
    /// The width beyond which blocks are placed in several rows; `None`: any number is placed in one.
    pub(super) max_row: Option<f64>,
    /// The shapes of which every other one is lower.
    pub(super) stagger: Stagger,
}

impl TierStyle<'_> {
    /// Returns the number of lanes.
    const fn lanes(&self) -> usize {
        lane_of(self.rows.len())
    }
}

/// The nodes of a tier side by side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TierRow {
    /// The number of the tier.
    pub(super) tier: usize,
    /// The height of its highest node.
    pub(super) height: f64,
    /// Whether the upper edges of its nodes are at the same height, rather than their centers. This is so beside
    /// containers, which lines from above reach on the shortest way.
    pub(super) is_top_aligned: bool,
}

/// Places nodes side by side above the parts below them.
pub(super) fn stack(
    level: &Level,
    tops: &[(usize, Size)],
    hanging: Vec<LowerPart>,
    style: Option<(&TierStyle<'_>, TierRow)>,
) -> BlockPart {
    let label_width = tops.iter().map(|(node, _)| level.label_widths[*node]).fold(0.0, f64::max);
    let mut hanging = gather_leaves(hanging, label_width, style.map(|(style, _)| style));
    let have_shared = hanging.iter().any(|hanging| hanging.above.len() > 1);
    if style.is_some() {
        grids::order(&mut hanging, tops.len());
    }
    let highest = tops.iter().map(|(_, size)| size.height).fold(0.0, f64::max);
    // Beside a large container, leaves are near each other.
    let is_low = |row: &TierRow| row.is_top_aligned && hanging.is_empty();
    let above = style.map_or(highest, |(_, row)| if is_low(&row) { highest } else { row.height });
    let channel = GAP + LANE * tops.len() as f64;
    let place = |hanging: &[LowerPart]| {
        let items: Vec<RowItem> = hanging.iter().map(|hanging| hanging.part.item()).collect();
        let width: f64 = items.iter().map(|item| item.size.width + GAP).sum();
        match style.map(|(style, _)| style.max_row) {
            Some(None) => in_lanes(hanging),
            Some(Some(max_row)) if width <= max_row => rows::one_row(&items),
            _ => rows::place(&items, channel, above + LAYER_GAP),
        }
    };
    if let Some((style, row)) = style.filter(|(style, _)| style.max_row.is_none()) {
        let first = lane_of(row.tier + 1);
        if tops.len() == 1 || have_shared {
            style.stagger.lower(level, style, first, &mut hanging);
        }
        hanging.iter_mut().for_each(|hanging| hanging.part.lanes.reach_up(first));
    }
    let mut rows = place(&hanging);
    if rows.channel {
        // Lines run down to leaves from right below their hub.
        hanging.sort_by_key(|hanging| !hanging.part.is_grid);
        rows = place(&hanging);
    }
    let wishes: Vec<DesiredCenter> = tops
        .iter()
        .enumerate()
        .map(|(top, (_, size))| {
            let anchors: Vec<f64> = hanging
                .iter()
                .zip(&rows.corners)
                .filter(|(hanging, _)| !rows.channel && hanging.above.contains(&top))
                .map(|(hanging, corner)| corner.x + hanging.part.anchor)
                .collect();
            let center = match (anchors.first(), anchors.last()) {
                (Some(first), Some(last)) if tops.len() == 1 => (first + last) / 2.0,
                (Some(_), Some(_)) => anchors.iter().sum::<f64>() / anchors.len() as f64,
                _ => 0.0,
            };
            DesiredCenter { center, width: size.width }
        })
        .collect();
    let gap = if style.is_some() {
        gap_of_tops(&wishes, rows.right - rows.left).max(gap_of_neighbors(level, tops))
    } else {
        2.0 * GAP
    };
    let placed: Vec<(usize, Point, Size)> = tops
        .iter()
        .zip(side_by_side(&wishes, gap))
        .map(|((node, size), center)| {
            let y = match style {
                Some((_, row)) if row.is_top_aligned => 0.0,
                Some(_) => (above - size.height) / 2.0,
                None => above - size.height,
            };
            (*node, Point::new(center - size.width / 2.0, y), *size)
        })
        .collect();
    if style.is_some() && tops.len() > 1 && !have_shared && !rows.channel {
        center_below(&mut rows, &hanging, &placed);
    }
    let lines = lines_below(&placed, &hanging, &rows);
    let parts: Vec<BlockPart> = hanging.into_iter().map(|hanging| hanging.part).collect();
    let mut part = join(&[], &ArrangedRows::default(), &placed, &parts, &rows, above);
    if let Some((style, row)) = style {
        part.lanes = if rows.channel {
            Lanes::of_box(lane_of(row.tier)..style.lanes(), Extent::of_shape(0.0, part.size.width))
        } else {
            lanes_of(&part, &placed, &lines, (&parts, &rows), row.tier)
        };
    }
    part
}

/// Places parts side by side, each as near to those left of it as the shapes of every row allow.
fn in_lanes(hanging: &[LowerPart]) -> ArrangedRows {
    let mut rows = ArrangedRows::default();
    let positions = lanes::side_by_side(hanging.iter().map(|hanging| &hanging.part.lanes));
    for (hanging, x) in hanging.iter().zip(positions) {
        rows.corners.push(Point::new(x, 0.0));
        rows.left = rows.left.min(x);
        rows.right = rows.right.max(x + hanging.part.size.width);
        rows.height = rows.height.max(hanging.part.size.height);
    }
    rows
}

/// Returns for each node on top how far its lines to the parts below run aside; `None` if it has no lines.
fn lines_below(
    tops: &[(usize, Point, Size)],
    hanging: &[LowerPart],
    rows: &ArrangedRows,
) -> Vec<Option<Extent>> {
    let mut lines: Vec<Option<Extent>> = vec![None; tops.len()];
    for (hanging, corner) in hanging.iter().zip(&rows.corners) {
        let end = Extent::of_lines(corner.x + hanging.part.anchor, 1);
        for top in &hanging.above {
            let (_, top_corner, size) = tops[*top];
            let start = Extent::of_lines(top_corner.x + size.width / 2.0, 1);
            lines[*top] = Some(lines[*top].unwrap_or(start).joined(end));
        }
    }
    lines
}

/// Returns what a block takes of the lanes: its nodes on top of that of their tier, their lines of the next one, and the parts below of
/// others.
fn lanes_of(
    part: &BlockPart,
    tops: &[(usize, Point, Size)],
    lines: &[Option<Extent>],
    (parts, rows): (&[BlockPart], &ArrangedRows),
    tier: usize,
) -> Lanes {
    let mut lanes = Lanes::default();
    for ((_, corner), (.., size)) in part.nodes.iter().zip(tops) {
        lanes.add(lane_of(tier), Extent::of_shape(corner.x, corner.x + size.width));
    }
    let shift = match (part.nodes.first(), tops.first()) {
        (Some((_, joined)), Some((_, placed, _))) => joined.x - placed.x,
        _ => 0.0,
    };
    for (part, corner) in parts.iter().zip(&rows.corners) {
        lanes.join(&part.lanes, corner.x + shift);
    }
    // Lower shapes of the tier stand beside lines that run aside, and not in them.
    lines.iter().flatten().for_each(|lines| lanes.add(lane_of(tier) + 1, lines.moved(shift)));
    lanes
}

/// Places the parts of a row below the nodes on top that each of them hangs at.
fn center_below(rows: &mut ArrangedRows, hanging: &[LowerPart], tops: &[(usize, Point, Size)]) {
    let top_of = |part: &LowerPart| part.above.first().and_then(|top| tops.get(*top));
    let wish = |part: &LowerPart| {
        let BlockPart { size, anchor, .. } = part.part;
        let center = top_of(part).map_or(0.0, |(_, corner, top)| corner.x + top.width / 2.0);
        DesiredCenter { center: center - anchor + size.width / 2.0, width: size.width }
    };
    let wishes: Vec<DesiredCenter> = hanging.iter().map(wish).collect();
    (rows.left, rows.right) = (0.0, 0.0);
    for ((corner, wish), center) in rows.corners.iter_mut().zip(&wishes).zip(side_by_side(&wishes, GAP)) {
        corner.x = center - wish.width / 2.0;
        rows.left = rows.left.min(corner.x);
        rows.right = rows.right.max(corner.x + wish.width);
    }
}

/// Returns the distance between nodes on top. It leaves room for lines between them; many nodes above a wide row stand
/// as far from each other as needed to take half of its width.
fn gap_of_tops(tops: &[DesiredCenter], width_below: f64) -> f64 {
    let widths: f64 = tops.iter().map(|top| top.width).sum();
    let gaps = tops.len().max(2) - 1;
    let spread = (width_below * SPREAD - widths) / gaps as f64;
    if tops.len() > 2 { spread.clamp(2.0 * GAP, MAX_TOP_GAP) } else { 2.0 * GAP }
}

/// Returns the distance between nodes on top at which the labels of lines between neighbors have room.
fn gap_of_neighbors(level: &Level, tops: &[(usize, Size)]) -> f64 {
    let gap = |pair: &[(usize, Size)]| match pair {
        [(one, _), (other, _)] => {
            let labels = level.port_width(*one, *other) + level.port_width(*other, *one);
            if labels > 0.0 { labels + BETWEEN_LABELS } else { 0.0 }
        }
        _ => 0.0,
    };
    tops.windows(2).map(gap).fold(0.0, f64::max)
}

/// Replaces many leaves of the same nodes by one grid.
fn gather_leaves(hanging: Vec<LowerPart>, label_width: f64, style: Option<&TierStyle<'_>>) -> Vec<LowerPart> {
    let is_leaf = |part: &BlockPart| match (part.nodes.as_slice(), style) {
        ([(node, _)], Some(style)) => style.is_leaf[*node],
        (nodes, _) => nodes.len() == 1,
    };
    let columns = style.and_then(|style| style.columns);
    let max_in_a_row = style.map_or(rows::MAX_IN_A_ROW, |style| style.leaves_in_a_row);
    let mut leaves: BTreeMap<Vec<usize>, Vec<LowerPart>> = BTreeMap::new();
    let mut gathered = Vec::new();
    for hanging in hanging {
        if is_leaf(&hanging.part) {
            leaves.entry(hanging.above.clone()).or_default().push(hanging);
        } else {
            gathered.push(hanging);
        }
    }
    for (above, mut leaves) in leaves {
        if leaves.len() <= max_in_a_row {
            gathered.append(&mut leaves);
            continue;
        }
        // Nodes are numbered as the diagram orders them.
        leaves.sort_by_key(|leaf| leaf.part.nodes.first().map(|(node, _)| *node));
        let sizes: Vec<Size> = leaves.iter().map(|leaf| leaf.part.size).collect();
        let Grid { corners, size, anchor } = rows::grid(&sizes, label_width, columns);
        let key = leaves.iter().map(|leaf| leaf.key).sum::<f64>() / leaves.len() as f64;
        let nodes = leaves.iter().flat_map(|leaf| &leaf.part.nodes).map(|(node, _)| *node);
        let lanes = leaves.first().zip(style).map_or_else(Lanes::default, |(leaf, style)| {
            let first = leaf.part.lanes.range().start;
            Lanes::of_box(first..style.lanes(), Extent::of_shape(0.0, size.width))
        });
        let part = BlockPart { size, anchor, nodes: nodes.zip(corners).collect(), is_grid: true, lanes };
        gathered.push(LowerPart { key, above, part });
    }
    gathered.sort_by(|one, other| one.key.total_cmp(&other.key));
    gathered
}
