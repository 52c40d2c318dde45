//! Tiers of a network. They follow from its structure; roles and addresses only decide which side is on top.
//!
//! 1. Nodes with a single neighbor are leaves: they hang below it, and are no tier.
//! 2. Nodes with the same neighbors ([`neighborhoods`]) are one class ([`classes`]): the spines of a fabric, the two switches of a core.
//! 3. A network has tiers if its classes form a tree, but for a few [`odd_links`], or almost one, or if they do with the switches of each ring as one class ([`arcs`]), or if
//!    their kinds do ([`kinds`]). The level of a class is its distance from the center ([`tree`]), from which the ways to all nodes are shortest.
//! 4. The branches of the center that lead to the outside world go up instead of down ([`world`], [`orientation`]).

mod arcs;
mod classes;
mod containers;
mod kinds;
mod lone;
mod neighborhoods;
mod odd_links;
mod orientation;
mod tree;
mod world;

use std::collections::BTreeMap;

use self::classes::Classes;
pub(super) use self::containers::of_containers;
use self::tree::ClassTree;
use self::world::World;
use super::containers::Level;
use crate::invariant::Invariant;
use crate::union_find::UnionFind;

/// Minimum number of nodes of a network with tiers.
pub(super) const MIN_NODES: usize = 3;
/// Largest number of a level. Networks with more levels are long rather than hierarchical.
const MAX_LEVEL: usize = 24;
/// Maximum number of nodes of a class. More nodes side by side make no readable row.
const MAX_IN_A_CLASS: usize = 400;
/// The rank of switches, which is the lowest of devices that connect others.
const LOWEST_SWITCH: u8 = 3;
/// The rank of access points. Lower devices connect no others.
const LOWEST_ACCESS_POINT: u8 = 4;

/// The level of each node.
#[derive(Clone, Debug)]
pub(super) struct Tiers {
    /// The levels, 0 on top.
    pub(super) levels: Vec<usize>,
    /// Whether a node hangs below its only neighbor.
    pub(super) is_leaf: Vec<bool>,
    /// Nodes of a tier that stand side by side in this order, or in the reverse one.
    pub(super) rows: Vec<Vec<usize>>,
    /// The links that do not count for the tiers, the smaller node first.
    pub(super) odd_links: Vec<(usize, usize)>,
}

/// Returns the tiers of a connected network, or `None` if it has none.
pub(super) fn infer(level: &Level) -> Option<Tiers> {
    let network = &level.network;
    let count = network.len();
    if count < MIN_NODES {
        return None;
    }
    let world = World::of(level);
    // A box of an overview is no leaf: its neighbor is no access switch.
    let is_box =
        |node: usize| level.weights[node] > 1 && level.ranks[node].is_some_and(|rank| rank <= LOWEST_SWITCH);
    let is_inner = |node: usize| network.degree(node) > 1 || is_box(node) || level.is_container[node];
    let is_inner: Vec<bool> = (0..count).map(is_inner).collect();
    let classes = Classes::of(level, &is_inner, &world);
    if classes.len() == 0 {
        return None;
    }
    let odd_links = classes.odd_links(network);
    let (classes, tree, rows) = tree_of(level, &is_inner, &world, classes)?;
    let is_wide = (0..classes.len()).any(|class| classes.members(class).len() > MAX_IN_A_CLASS);
    // One of the two sides of the center would have too many levels.
    let is_deep = tree.depth() > 2 * MAX_LEVEL;
    if is_wide || is_deep {
        return None;
    }
    let heights = orientation::heights(&tree, &classes, &world);
    let mut levels = vec![0; count];
    let mut is_leaf = vec![false; count];
    for (node, (height, is_leaf)) in levels.iter_mut().zip(&mut is_leaf).enumerate() {
        match (classes.class_of(node), network.neighbors(node)) {
            (Some(class), neighbors) => {
                *height = heights[class];
                let hub = if let [hub] = neighbors { classes.class_of(*hub) } else { None };
                *is_leaf = !level.is_container[node] && hub.is_some_and(|hub| heights[hub] < *height);
            }
            (None, [hub]) => {
                let hub = classes.class_of(*hub).map_or(0, |class| heights[class]);
                *is_leaf = !world.contains(node) || hub > 0;
                *height = if *is_leaf { hub + 1 } else { hub - 1 };
            }
            (None, _) => return None,
        }
    }
    raise(level, &mut levels, &mut is_leaf);
    let top = levels.iter().min().copied()?;
    let levels: Vec<i64> = levels.iter().map(|height| height - top).collect();
    let levels: Vec<usize> =
        levels.iter().map(|height| usize::try_from(*height).ok().asserted_or_default()).collect();
    let are_few = levels.iter().all(|level| *level <= MAX_LEVEL);
    are_few.then_some(Tiers { levels, is_leaf, rows, odd_links })
}

/// Returns classes that form a tree, the tree, and the nodes of each arc; `None` if the network has none.
fn tree_of(
    level: &Level,
    is_inner: &[bool],
    world: &World,
    classes: Classes,
) -> Option<(Classes, ClassTree, Vec<Vec<usize>>)> {
    let with_arcs = arcs::of(level, is_inner, world, &classes)
        .and_then(|(classes, rows)| Some((ClassTree::of(&classes)?, classes, rows)));
    if let Some((tree, classes, rows)) = with_arcs {
        return Some((classes, tree, rows));
    }
    if let Some(tree) = ClassTree::of(&classes) {
        return Some((classes, tree, Vec::new()));
    }
    let kinds = kinds::of(level, is_inner, world, &classes)?;
    let tree = ClassTree::of(&kinds)?;
    Some((kinds, tree, Vec::new()))
}

/// Moves routers and firewalls above the switches that they hang below, unless they are too many for a row. Several side by side that are
/// connected with each other move together, or not at all.
fn raise(level: &Level, levels: &mut [i64], is_leaf: &mut [bool]) {
    let network = &level.network;
    let leads_out = |node: usize| level.ranks[node].is_some_and(|rank| rank <= world::LOWEST_RANK);
    let is_beside = |node: usize, other: usize| levels[other] == levels[node] && leads_out(other);
    let is_above = |node: usize, other: usize| {
        levels[other] + 1 == levels[node]
            && level.ranks[other].is_some_and(|rank| Some(rank) > level.ranks[node])
    };
    let routers = || (0..network.len()).filter(|node| leads_out(*node));
    let mut groups = UnionFind::new(network.len());
    for node in routers() {
        let beside = network.neighbors(node).iter().copied().filter(|other| is_beside(node, *other));
        beside.for_each(|other| groups.join(node, other));
    }
    // The number of lines to switches above, or `None` if there is any other line out of the group.
    let mut lines_up: BTreeMap<usize, Option<usize>> = BTreeMap::new();
    for node in routers() {
        let lines = lines_up.entry(groups.find(node)).or_insert(Some(0));
        for other in network.neighbors(node).iter().copied().filter(|other| !is_beside(node, *other)) {
            *lines = lines.filter(|_| is_above(node, other)).map(|count| count + 1);
        }
    }
    let hangs_below_switches = |node: &usize| {
        lines_up.get(&groups.find(*node)).is_some_and(|lines| lines.is_some_and(|count| count > 0))
    };
    let raised: Vec<usize> = routers().filter(hangs_below_switches).collect();
    if raised.len() <= world::MAX_OUTWARD {
        for node in raised {
            levels[node] -= 2;
            is_leaf[node] = false;
        }
    }
}
