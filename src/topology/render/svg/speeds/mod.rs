//! Speeds of links, on the middle of their lines.
//!
//! Between two rows of devices, such as the spines and the leaves of a fabric, lines cross each other nearly
//! everywhere, so that no speed could stand on its line without others running through it. There, a speed that most
//! lines have is shown once, beside one of them.

mod rows;

use std::collections::{BTreeMap, BTreeSet};

use self::rows::{Block, RowPair, Speed, branches_off, rows_of, staggered, tiers};
use super::super::changes::{on_line, sign};
use super::super::scene::Scene;
use super::super::words::{capacity, sane};
use super::labels::{HEIGHT, size};
use super::nodes::MARK;
use crate::model::{LinkId, NodeId};
use crate::topology::graph::Edge;
use crate::topology::layout::{LabelRoom, LineEnd, Rect, Size};

/// Minimum number of links whose common speed is shown once.
const MIN_COMMON: usize = 3;

/// The distance of the speed of a column from its line, beyond the usual one.
const MARGIN: f64 = 3.0;

/// The number of lines of a column beside which its speed is tried.
const MAX_TRIED: usize = 2;

/// Returns the speeds of edges where there is room. These edges are aggregation groups, links between devices that
/// connect others, and all whose lines run between the same rows as these.
pub(super) fn speeds(scene: &Scene<'_>, room: &mut LabelRoom<'_>) -> Vec<(LinkId, Rect, String)> {
    let mut placed = changes(scene, room);
    let is_minor =
        |edge: &Edge| edge.members.len() < 2 && (scene.is_leaf(edge.source) || scene.is_leaf(edge.target));
    let exists = |edge: &Edge| scene.node(edge.source).is_some() && scene.node(edge.target).is_some();
    let edges = scene.graph.edges.iter().enumerate();
    // The number of links of a bundle stands near its end.
    let edges = edges.filter(|(_, edge)| exists(edge) && edge.bundled < 2 && edge.change.is_none());
    let all = edges.map(|(index, edge)| {
        crate::fair_threads::yield_turn();
        Speed { index, edge, text: capacity(edge), is_minor: is_minor(edge) }
    });
    let (minor, major): (Vec<_>, Vec<_>) = all.partition(|speed| speed.is_minor);
    let known = major.iter().chain(&minor).filter_map(|speed| rows_of(scene, speed.edge)).collect();
    let staggered = staggered(&known);
    let rows_of =
        |edge: &Edge| rows_of(scene, edge).map(|rows| staggered.get(&rows).copied().unwrap_or(rows));
    let shared: BTreeSet<RowPair> = major.iter().filter_map(|speed| rows_of(speed.edge)).collect();
    let several =
        major.iter().chain(&minor).filter_map(|speed| speed.text.as_deref()).collect::<BTreeSet<_>>().len()
            > 1;
    // "each 100G" between two rows covers the lines to single devices, too.
    let minor = minor.into_iter().filter(|speed| {
        let is_shared = || rows_of(speed.edge).is_some_and(|rows| shared.contains(&rows));
        speed.text.is_some() && !branches_off(speed.edge) && is_shared()
    });
    for blocks in tiers(rows_of, major.into_iter().chain(minor)) {
        if place_all(&blocks, room, &mut placed) {
            continue;
        }
        for block in &blocks {
            crate::fair_threads::yield_turn();
            if !place_common(block, room, &mut placed) {
                placed.extend(block.iter().filter_map(|speed| place(speed, room)));
            }
        }
    }
    if several {
        place_of_columns(scene, room, &mut placed);
    }
    placed
}

/// Places the common speed of the devices in each column once, beside the line that they share. All lines of the column count, also those
/// whose speed is shown otherwise.
fn place_of_columns(scene: &Scene<'_>, room: &mut LabelRoom<'_>, placed: &mut Placed) {
    let mut columns: BTreeMap<NodeId, Vec<(usize, &Edge, LineEnd)>> = BTreeMap::new();
    for (index, edge) in scene.graph.edges.iter().enumerate().filter(|(_, edge)| branches_off(edge)) {
        crate::fair_threads::yield_turn();
        let (hub, end) = match [edge.source, edge.target].map(|end| scene.is_leaf(end)) {
            [true, _] => (edge.target, LineEnd::Target),
            [false, true] => (edge.source, LineEnd::Source),
            [false, false] => continue,
        };
        columns.entry(hub).or_default().push((index, edge, end));
    }
    for column in columns.into_values().filter(|column| column.len() > 1) {
        crate::fair_threads::yield_turn();
        let mut speeds = column.iter().map(|(_, edge, _)| capacity(edge).filter(|_| edge.bundled < 2));
        let Some(common) = speeds.next().flatten() else { continue };
        if !speeds.all(|speed| speed.as_ref() == Some(&common)) {
            continue;
        }
        let text = format!("each {common}");
        let size = bold(size(&text));
        let size = Size::new(size.width + 2.0 * MARGIN, size.height);
        let mut places = column
            .iter()
            .take(MAX_TRIED)
            .map(|(index, edge, end)| Some((edge.id, room.beside_shared(*index, *end, size)?)));
        if let Some((edge, place)) = places.find_map(|found| found) {
            placed.push((edge, place, text));
        }
    }
}

/// Places the signs of edges that have changed. Without room, a sign stands on its line by itself: without colors, it is what the
/// change is seen by.
fn changes(scene: &Scene<'_>, room: &mut LabelRoom<'_>) -> Placed {
    let exists = |edge: &Edge| scene.node(edge.source).is_some() && scene.node(edge.target).is_some();
    let edges = scene.graph.edges.iter().enumerate().filter(|(_, edge)| exists(edge));
    let mut placed = Vec::new();
    for (index, edge) in edges {
        crate::fair_threads::yield_turn();
        let Some(change) = edge.change else { continue };
        let mut placed_in = |text: String| {
            let size = with_mark(&text);
            let place = room.on_middle(index, size).or_else(|| room.beside_middle(index, size))?;
            Some((edge.id, place, text))
        };
        let long = on_line(edge, capacity(edge)).and_then(&mut placed_in);
        let short = long.or_else(|| placed_in(sign(change).to_owned()));
        placed.extend(short.or_else(|| on_line_in_any_case(edge, sign(change))));
    }
    placed
}

/// Returns the extent of a text whose first character is a sign, which is drawn as a mark.
fn with_mark(text: &str) -> Size {
    let mut characters = text.chars();
    characters.next();
    let rest = bold(size(characters.as_str()));
    Size::new(MARK + rest.width, HEIGHT)
}

/// Returns the place of a text in the middle of a line.
fn on_line_in_any_case(edge: &Edge, text: &str) -> Option<(LinkId, Rect, String)> {
    let lengths = edge.points.windows(2).map(|pair| match pair {
        [[x, y], [next_x, next_y]] => (sane(*next_x) - sane(*x)).hypot(sane(*next_y) - sane(*y)),
        _ => 0.0,
    });
    let (longest, _) = lengths.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let [[x, y], [next_x, next_y]] = [edge.points.get(longest)?, edge.points.get(longest + 1)?];
    let (x, y) = ((sane(*x) + sane(*next_x)) / 2.0, (sane(*y) + sane(*next_y)) / 2.0);
    let Size { width, height } = with_mark(text);
    let place = Rect { x: x - width / 2.0, y: y - height / 2.0, width, height };
    Some((edge.id, place, text.to_owned()))
}

type Placed = Vec<(LinkId, Rect, String)>;

/// Places the speeds of all links, or none of them; of minor ones, as many as have room. Returns whether it has placed them.
fn place_all(blocks: &[Block<'_>], room: &mut LabelRoom<'_>, placed: &mut Placed) -> bool {
    let before = placed.len();
    let (minor, major): (Vec<_>, Vec<_>) = blocks.iter().flatten().partition(|speed| speed.is_minor);
    for speed in major.into_iter().filter(|speed| speed.text.is_some()) {
        match place(speed, room) {
            Some(speed) => placed.push(speed),
            None => {
                placed.drain(before..).for_each(|_| room.remove_last());
                return false;
            }
        }
    }
    placed.extend(minor.into_iter().filter_map(|speed| place(speed, room)));
    true
}

/// Places the speeds that differ from the most common one, and this one once, beside one of its lines. Places none and
/// returns `false` if there is no room for one of them, or if a speed is not known.
fn place_common(block: &[Speed<'_>], room: &mut LabelRoom<'_>, placed: &mut Placed) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for speed in block.iter().filter(|speed| !speed.is_minor) {
        let Some(text) = &speed.text else { return false };
        *counts.entry(text).or_default() += 1;
    }
    let major: usize = counts.values().sum();
    let Some((common, count)) = counts.iter().max_by_key(|(_, count)| **count) else { return false };
    if *count < MIN_COMMON || *count * 2 < major {
        return false;
    }
    let is_common = |speed: &&Speed<'_>| speed.text.as_deref() == Some(*common);
    let before = placed.len();
    let others: Vec<&Speed<'_>> = block.iter().filter(|speed| !is_common(speed)).collect();
    for speed in &others {
        placed.extend(place(speed, room));
    }
    let text = if others.is_empty() { format!("each {common}") } else { format!("others {common}") };
    let size = bold(size(&text));
    // The outermost lines come first: nothing is beside them.
    let mut lines: Vec<&Speed<'_>> = block.iter().filter(is_common).collect();
    lines.sort_by(|one, other| middle(one.edge).total_cmp(&middle(other.edge)));
    let are_marked = placed.len() == before + others.len();
    let once = lines.into_iter().filter(|_| are_marked);
    let once = once.map(|speed| (speed.edge.id, room.beside_middle(speed.index, size)));
    if let Some((edge, place)) = once.filter_map(|(edge, place)| Some((edge, place?))).next() {
        placed.push((edge, place, text));
        return true;
    }
    placed.drain(before..).for_each(|_| room.remove_last());
    false
}

/// Places the speed of a link on its line, or beside it.
fn place(speed: &Speed<'_>, room: &mut LabelRoom<'_>) -> Option<(LinkId, Rect, String)> {
    let text = speed.text.as_ref()?;
    let size = bold(size(text));
    let place = room.on_middle(speed.index, size).or_else(|| room.beside_middle(speed.index, size))?;
    Some((speed.edge.id, place, text.clone()))
}

/// Returns the extent of a text in bold, which is a little wider.
const fn bold(size: Size) -> Size {
    Size::new(size.width * 1.06, HEIGHT)
}

/// Returns the horizontal middle of a line.
fn middle(edge: &Edge) -> f64 {
    let x = |point: Option<&[f64; 2]>| point.map_or(0.0, |[x, _]| sane(*x));
    x(edge.points.first()) + x(edge.points.last())
}
